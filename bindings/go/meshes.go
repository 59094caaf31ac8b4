// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/cconv"
)

// MeshFlags is a set of options for making a mesh.
type MeshFlags uint32

// The options.
const (
	// MeshContiguousSubmeshes is JAX's contiguous_submeshes; only for Devices.Mesh.
	MeshContiguousSubmeshes MeshFlags = C.QUOIT_MESH_CONTIGUOUS_SUBMESHES
	// MeshSplitPhysicalAxes is JAX's allow_split_physical_axes.
	MeshSplitPhysicalAxes MeshFlags = C.QUOIT_MESH_SPLIT_PHYSICAL_AXES
	// MeshProcessGranules is JAX's process_is_granule; only for Devices.HybridMesh.
	MeshProcessGranules MeshFlags = C.QUOIT_MESH_PROCESS_GRANULES
	// MeshGranulesAsListed orders granules by their first device, like should_sort_granules_by_key=False of JAX;
	// only for Devices.HybridMesh.
	MeshGranulesAsListed MeshFlags = C.QUOIT_MESH_GRANULES_AS_LISTED
)

var meshFlagNames = []string{"CONTIGUOUS_SUBMESHES", "SPLIT_PHYSICAL_AXES", "PROCESS_GRANULES", "GRANULES_AS_LISTED"}

// String returns the names of the options, separated by bars.
func (f MeshFlags) String() string { return flagNames(meshFlagNames, f) }

// MeshOrder is how JAX chose the order of the devices of a granule.
type MeshOrder int

// The ways in which JAX chooses the order of devices.
const (
	MeshOrderTorus  MeshOrder = C.QUOIT_MESH_ORDER_TORUS  // the axes of the mesh have physical axes, or parts of them
	MeshOrderRing   MeshOrder = C.QUOIT_MESH_ORDER_RING   // a ring that JAX has for exactly these devices; sizes divide it
	MeshOrderListed MeshOrder = C.QUOIT_MESH_ORDER_LISTED // the order of the list of devices
)

var meshOrderNames = map[MeshOrder]string{MeshOrderTorus: "TORUS", MeshOrderRing: "RING", MeshOrderListed: "LISTED"}

// String returns the name of the order.
func (o MeshOrder) String() string { return nameOf(meshOrderNames, o) }

// Mesh is an array of devices, and how JAX made it. Close frees the C data that Devices.Links needs; the garbage
// collector does so if you do not. The fields are still available after Close.
//
// Put axes with more communication later in the shape: JAX assigns physical axes from the last axis to the first.
type Mesh struct {
	Shape    []int     // devices along each axis, in all granules together
	DCNShape []int     // granules along each axis; 1 if the axis stays inside granules
	IDs      []int64   // device ids in row-major order: the index on the last axis changes fastest
	Indices  []int     // the same devices, as indices in the list from which the mesh was made
	Granules []Granule // in row-major order of DCNShape; one for a mesh that is not hybrid

	h *cconv.Handle
}

// Granule is a part of a mesh inside which JAX uses ICI: a slice, or a process. DCN connects granules.
type Granule struct {
	Key   int // its slice index or process index; -1 for a mesh that is not hybrid
	Order MeshOrder
	// Physical is the physical axes that were assigned, only for MeshOrderTorus. With MeshContiguousSubmeshes, z
	// comes before y.
	Physical []PhysicalAxis
}

// PhysicalAxis is a physical axis of a granule, and how it is divided among the axes of the mesh.
type PhysicalAxis struct {
	Name   string // "x", "y", "z" or "core"; "4" to "7" for the other axes of NewTorusMesh
	Size   int    // devices along the physical axis
	Shares []int  // the factor of Size that each axis of the mesh has; 1 for none. The product is Size
}

// Mesh returns the mesh that create_device_mesh() of JAX 0.12 makes of the devices of one slice, or of a box in it: the
// same devices in the same places. The product of the sizes must be the number of devices.
//
// It fails with Invalid if JAX refuses: for sizes with another product (the message names the nearest sizes that fit),
// for devices that are not a box of chips without holes, for an axis that is not a product of whole physical axes (the
// message names possible shapes; or use MeshSplitPhysicalAxes), for contiguous submeshes of a shape that has none, and
// for more than 64 axes (with MeshSplitPhysicalAxes, if the number of physical axes times the number of axes exceeds
// 64). It also fails with Invalid for flags that are only for HybridMesh, and after Close.
func (d *Devices) Mesh(sizes []int64, flags MeshFlags) (*Mesh, error) {
	return d.mesh(func(c *C.QuoitDevices, gerror **C.GError) *C.QuoitMesh {
		return C.quoit_mesh_new(c, cNumbers(sizes), C.uint32_t(len(sizes)), C.uint32_t(flags), gerror)
	})
}

// HybridMesh returns the mesh that create_hybrid_device_mesh() makes of the devices of several granules, which are
// slices or processes. sizes is the shape of the mesh in each granule (ICI), and dcnSizes is the shape of the granules
// (DCN). Each size of the mesh is the product of the two; along an axis, the devices of one granule are adjacent. If
// one shape is shorter, axes of size 1 are put in front of it.
//
// It fails with Invalid like Mesh for any granule, if the product of dcnSizes is not the number of granules (the
// message names the nearest sizes that fit), and if a device has no slice index (pass MeshProcessGranules).
func (d *Devices) HybridMesh(sizes, dcnSizes []int64, flags MeshFlags) (*Mesh, error) {
	return d.mesh(func(c *C.QuoitDevices, gerror **C.GError) *C.QuoitMesh {
		return C.quoit_mesh_new_hybrid(c, cNumbers(sizes), C.uint32_t(len(sizes)), cNumbers(dcnSizes),
			C.uint32_t(len(dcnSizes)), C.uint32_t(flags), gerror)
	})
}

// MakeMesh returns the mesh that jax.make_mesh() makes of the first devices, as many as the product of the sizes. It
// splits physical axes only on v5e.
//
// It fails with Invalid like Mesh, if there are too few devices, and if the devices are in several slices.
func (d *Devices) MakeMesh(sizes []int64) (*Mesh, error) {
	return d.mesh(func(c *C.QuoitDevices, gerror **C.GError) *C.QuoitMesh {
		return C.quoit_mesh_new_auto(c, cNumbers(sizes), C.uint32_t(len(sizes)), gerror)
	})
}

// mesh returns the mesh that create creates.
func (d *Devices) mesh(create func(*C.QuoitDevices, **C.GError) *C.QuoitMesh) (mesh *Mesh, err error) {
	err = d.with(func(c *C.QuoitDevices) error {
		var gerror *C.GError
		cMesh := create(c, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		mesh = newMesh(cMesh)
		return nil
	})
	return mesh, err
}

// NewTorusMesh assigns physical axes of given sizes to the axes of a mesh, like Devices.Mesh when JAX has no ring for
// the devices. It needs no devices: the ids of the mesh number the places of the torus in row-major order. kind is as
// for NewDevices, or ""; on "TPU7x" and "TPU7" the last of four axes, the cores, is assigned first. One size can be -1,
// and becomes 1, if whole physical axes make up the other sizes.
//
// It fails with Invalid like Devices.Mesh, and for physical sizes that are not positive, more than 8 of them, or more
// than 4,194,304 places.
func NewTorusMesh(kind string, physicalSizes, sizes []int64, flags MeshFlags) (*Mesh, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	name := (*C.char)(arguments.TextUnlessEmpty("kind", kind))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_mesh_new_torus(name, cNumbers(physicalSizes), C.uint32_t(len(physicalSizes)), cNumbers(sizes),
		C.uint32_t(len(sizes)), C.uint32_t(flags), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newMesh(c), nil
}

// cNumbers returns a pointer to the elements of a Go slice for C. It returns NULL for nil.
func cNumbers(values []int64) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(values)))
}

func newMesh(c *C.QuoitMesh) *Mesh {
	free := func(p unsafe.Pointer) { C.quoit_mesh_free((*C.QuoitMesh)(p)) }
	axes, devices := int(C.quoit_mesh_get_n_axes(c)), int(C.quoit_mesh_get_n_devices(c))
	mesh := &Mesh{
		Shape:    make([]int, axes),
		DCNShape: make([]int, axes),
		IDs:      make([]int64, devices),
		Indices:  make([]int, devices),
		Granules: make([]Granule, C.quoit_mesh_get_n_granules(c)),
		h:        cconv.NewHandle("mesh", unsafe.Pointer(c), free),
	}
	for axis := range mesh.Shape {
		mesh.Shape[axis] = int(C.quoit_mesh_get_size(c, C.uint32_t(axis)))
		mesh.DCNShape[axis] = int(C.quoit_mesh_get_dcn_size(c, C.uint32_t(axis)))
	}
	for place, id := range unsafe.Slice(C.quoit_mesh_get_ids(c), devices) {
		mesh.IDs[place] = int64(id)
	}
	for place, index := range unsafe.Slice(C.quoit_mesh_get_indices(c), devices) {
		mesh.Indices[place] = int(index)
	}
	for granule := range mesh.Granules {
		mesh.Granules[granule] = granuleFromC(c, C.uint32_t(granule), axes)
	}
	return mesh
}

func granuleFromC(c *C.QuoitMesh, granule C.uint32_t, axes int) Granule {
	physical := make([]PhysicalAxis, C.quoit_mesh_get_n_physical_axes(c, granule))
	for index := range physical {
		physicalAxis := C.uint32_t(index)
		shares := make([]int, axes)
		for axis := range shares {
			shares[axis] = int(C.quoit_mesh_get_share(c, granule, physicalAxis, C.uint32_t(axis)))
		}
		physical[index] = PhysicalAxis{
			Name:   C.GoString(C.quoit_mesh_get_physical_axis(c, granule, physicalAxis)),
			Size:   int(C.quoit_mesh_get_physical_size(c, granule, physicalAxis)),
			Shares: shares,
		}
	}
	return Granule{
		Key:      int(C.quoit_mesh_get_granule_key(c, granule)),
		Order:    MeshOrder(C.quoit_mesh_get_order(c, granule)),
		Physical: physical,
	}
}

// Close frees the mesh. A second Close does nothing.
func (m *Mesh) Close() {
	if m != nil {
		m.h.Close()
	}
}
