// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/door"
)

// MeshFlags is how a mesh is made: none, or several.
type MeshFlags uint32

// How a mesh may be made.
const (
	// MeshContiguousSubmeshes is contiguous_submeshes; Devices.Mesh alone has it.
	MeshContiguousSubmeshes MeshFlags = C.QUOIT_MESH_CONTIGUOUS_SUBMESHES
	// MeshSplitPhysicalAxes is allow_split_physical_axes.
	MeshSplitPhysicalAxes MeshFlags = C.QUOIT_MESH_SPLIT_PHYSICAL_AXES
	// MeshProcessGranules is process_is_granule; Devices.HybridMesh alone has this and the next.
	MeshProcessGranules MeshFlags = C.QUOIT_MESH_PROCESS_GRANULES
	// MeshGranulesAsListed is granules in the order of their first device: should_sort_granules_by_key is False.
	MeshGranulesAsListed MeshFlags = C.QUOIT_MESH_GRANULES_AS_LISTED
)

var meshFlagNames = []string{"CONTIGUOUS_SUBMESHES", "SPLIT_PHYSICAL_AXES", "PROCESS_GRANULES", "GRANULES_AS_LISTED"}

// String is the names of all that are set, with bars between them.
func (f MeshFlags) String() string { return namedFlags(meshFlagNames, f) }

// MeshOrder is where the order of devices comes from.
type MeshOrder int

// Where the order of devices may come from.
const (
	MeshOrderTorus  MeshOrder = C.QUOIT_MESH_ORDER_TORUS  // physical axes, or parts of them, were given to the axes of the mesh
	MeshOrderRing   MeshOrder = C.QUOIT_MESH_ORDER_RING   // JAX has a ring for just these devices; the sizes only cut it
	MeshOrderListed MeshOrder = C.QUOIT_MESH_ORDER_LISTED // the order of the list
)

var meshOrderNames = map[MeshOrder]string{MeshOrderTorus: "TORUS", MeshOrderRing: "RING", MeshOrderListed: "LISTED"}

// String is the name of the order.
func (o MeshOrder) String() string { return named(meshOrderNames, o) }

// Mesh is devices in an array, and how they came there. Close frees what it keeps for Devices.Links; the garbage collector
// does where that is forgotten. What it says is there also then.
//
// An axis that talks more belongs further back in the shape: JAX deals the physical axes out from the last one on.
type Mesh struct {
	Shape    []int     // the devices along each axis, those of all granules
	DCNShape []int     // the granules along each axis; 1 where the axis does not leave them
	IDs      []int64   // of the devices in the places of the mesh, row-major: the last axis is the fastest
	Indices  []int     // the same devices by their places in the list that the mesh was made of
	Granules []Granule // row-major in DCNShape; one for a mesh that is not hybrid

	h *door.Handle
}

// Granule is a slice, or a process, of a mesh.
type Granule struct {
	Key   int // its slice index, or process index; -1 for a mesh that is not hybrid
	Order MeshOrder
	// Physical is the axes that were dealt out: none but in MeshOrderTorus. Where submeshes are to be contiguous, z comes
	// before y.
	Physical []PhysicalAxis
}

// PhysicalAxis is one of a granule, and who has it.
type PhysicalAxis struct {
	Name   string // "x", "y", "z" or "core"; "4" to "7" for the further axes of NewTorusMesh
	Size   int    // the devices along it
	Shares []int  // how much of it each axis of the mesh has; 1: nothing. They multiply to its size
}

// Mesh is what create_device_mesh() of JAX 0.12 makes of the devices of one slice, or of a box in it: the same devices in
// the same places. The sizes multiply to the devices.
//
// It fails with Invalid where JAX refuses: sizes that do not multiply to the devices (the message names the nearest that
// do), devices that are no box of chips without holes, an axis that no whole physical axes make up (the message names
// shapes that can be had; or allow to split), contiguous submeshes of a shape that has none, and more than 64 axes, or
// physical axes times axes where they are split; for flags of another mesh; and after Close.
func (d *Devices) Mesh(sizes []int64, flags MeshFlags) (*Mesh, error) {
	return d.mesh(func(c *C.QuoitDevices, gerror **C.GError) *C.QuoitMesh {
		return C.quoit_mesh_new(c, numbers(sizes), C.unsigned(len(sizes)), C.unsigned(flags), gerror)
	})
}

// HybridMesh is what create_hybrid_device_mesh() makes of the devices of several granules, slices or processes: sizes is
// the shape of the mesh in each granule (ICI), dcnSizes that of the granules (DCN). Each size of the mesh is the one times
// the other, which is the slow digit. Of two shapes of different lengths the shorter has axes of size 1 put in front.
//
// It fails with Invalid as Mesh for any granule, when dcnSizes do not multiply to the granules (the message names the
// nearest that do), and when a device has no slice index (pass MeshProcessGranules).
func (d *Devices) HybridMesh(sizes, dcnSizes []int64, flags MeshFlags) (*Mesh, error) {
	return d.mesh(func(c *C.QuoitDevices, gerror **C.GError) *C.QuoitMesh {
		return C.quoit_mesh_new_hybrid(c, numbers(sizes), C.unsigned(len(sizes)), numbers(dcnSizes),
			C.unsigned(len(dcnSizes)), C.unsigned(flags), gerror)
	})
}

// MakeMesh is what jax.make_mesh() makes of the first devices, as many as the sizes multiply to. Physical axes are split on
// v5e alone.
//
// It fails with Invalid as Mesh, when there are too few devices, and when those taken are of several slices.
func (d *Devices) MakeMesh(sizes []int64) (*Mesh, error) {
	return d.mesh(func(c *C.QuoitDevices, gerror **C.GError) *C.QuoitMesh {
		return C.quoit_mesh_make(c, numbers(sizes), C.unsigned(len(sizes)), gerror)
	})
}

func (d *Devices) mesh(ask func(*C.QuoitDevices, **C.GError) *C.QuoitMesh) (mesh *Mesh, err error) {
	err = d.with(func(c *C.QuoitDevices) error {
		var gerror *C.GError
		made := ask(c, &gerror)
		if err := take(gerror); err != nil {
			return err
		}
		mesh = newMesh(made)
		return nil
	})
	return mesh, err
}

// NewTorusMesh is how physical axes of these sizes are dealt out to the axes of a mesh, whatever devices are there: what
// Devices.Mesh does where it has no ring. The ids of the mesh are the places of the torus, row-major. The kind is as for
// NewDevices, or ""; on "TPU7x" and "TPU7" the last of four axes, the cores, goes first. One size may be -1, and is 1 then,
// where whole physical axes make up the others.
//
// It fails with Invalid as Devices.Mesh, and for physical sizes that are not positive, more than 8 of them, or more than
// 4,194,304 places.
func NewTorusMesh(kind string, physicalSizes, sizes []int64, flags MeshFlags) (*Mesh, error) {
	var arguments door.Arguments
	var gerror *C.GError
	name := (*C.char)(arguments.TextOrNull("kind", kind))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_mesh_new_torus(name, numbers(physicalSizes), C.unsigned(len(physicalSizes)), numbers(sizes),
		C.unsigned(len(sizes)), C.unsigned(flags), &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return newMesh(c), nil
}

// numbers are an array of C; NULL for none.
func numbers(values []int64) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(values)))
}

func newMesh(c *C.QuoitMesh) *Mesh {
	axes, devices := int(C.quoit_mesh_get_n_axes(c)), int(C.quoit_mesh_get_n_devices(c))
	mesh := &Mesh{
		Shape:    make([]int, axes),
		DCNShape: make([]int, axes),
		IDs:      make([]int64, devices),
		Indices:  make([]int, devices),
		Granules: make([]Granule, C.quoit_mesh_get_n_granules(c)),
		h:        door.NewHandle("mesh", unsafe.Pointer(c), func(p unsafe.Pointer) { C.quoit_mesh_free((*C.QuoitMesh)(p)) }),
	}
	for axis := range mesh.Shape {
		mesh.Shape[axis] = int(C.quoit_mesh_get_size(c, C.unsigned(axis)))
		mesh.DCNShape[axis] = int(C.quoit_mesh_get_dcn_size(c, C.unsigned(axis)))
	}
	for place, id := range unsafe.Slice(C.quoit_mesh_get_ids(c), devices) {
		mesh.IDs[place] = int64(id)
	}
	for place, index := range unsafe.Slice(C.quoit_mesh_get_indices(c), devices) {
		mesh.Indices[place] = int(index)
	}
	for granule := range mesh.Granules {
		mesh.Granules[granule] = granuleOf(c, C.uint32_t(granule), axes)
	}
	return mesh
}

func granuleOf(c *C.QuoitMesh, granule C.uint32_t, axes int) Granule {
	physical := make([]PhysicalAxis, C.quoit_mesh_get_n_physical_axes(c, granule))
	for index := range physical {
		number := C.unsigned(index)
		shares := make([]int, axes)
		for axis := range shares {
			shares[axis] = int(C.quoit_mesh_get_share(c, granule, number, C.unsigned(axis)))
		}
		physical[index] = PhysicalAxis{
			Name:   C.GoString(C.quoit_mesh_get_physical_axis(c, granule, number)),
			Size:   int(C.quoit_mesh_get_physical_size(c, granule, number)),
			Shares: shares,
		}
	}
	return Granule{
		Key:      int(C.quoit_mesh_get_granule_key(c, granule)),
		Order:    MeshOrder(C.quoit_mesh_get_order(c, granule)),
		Physical: physical,
	}
}

// Close frees what the mesh keeps. To close twice does nothing.
func (m *Mesh) Close() {
	if m != nil {
		m.h.Close()
	}
}
