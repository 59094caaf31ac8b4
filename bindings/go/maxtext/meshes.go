// SPDX-License-Identifier: Apache-2.0

package maxtext

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit"
	"quoit/internal/door"
)

// Mesh is what MaxText is to make a mesh of. It is a value: what a field says is checked by NewMesh.
type Mesh struct {
	ICI    []int64 // the sizes of the axes within a slice, of which one may be -1
	DCN    []int64 // those between slices, likewise, one for each of ICI; not looked at for one slice
	Slices int64   // how many slices MaxText takes there to be; 0 stands for 1
	// Custom is "hybrid_ring_64x4" or "hybrid_ring_32x8"; "" for none. On one slice it is not looked at where physical axes
	// are not split.
	Custom            string
	SplitPhysicalAxes bool // allow_split_physical_axes
	// OptimizeForV6e is optimize_mesh_for_tpu_v6e: of 2x4 devices along one axis the last four are reversed, which undoes
	// JAX's ring.
	OptimizeForV6e bool
}

// sizes are an array of C, which takes no NULL for none.
func sizes(values []int64) (*C.int64_t, C.unsigned) {
	if values == nil {
		values = []int64{}
	}
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(values))), C.unsigned(len(values))
}

func (m *Mesh) flags() C.unsigned {
	var flags C.unsigned
	if m.SplitPhysicalAxes {
		flags |= C.QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES
	}
	if m.OptimizeForV6e {
		flags |= C.QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E
	}
	return flags
}

// NewMesh is the mesh that MaxText makes of the devices of all slices: JAX's, or a ring of its own in each slice of 16x16
// devices. The caller closes it.
//
// It fails with Invalid as Fill, Devices.Mesh and Devices.HybridMesh, when DCN has not as many sizes as ICI, and when there
// is no such custom mesh or it is not for these sizes.
func NewMesh(devices *quoit.Devices, asked Mesh) (mesh *quoit.Mesh, err error) {
	if len(asked.ICI) != len(asked.DCN) {
		return nil, door.Invalid("DCN of '%d' sizes: expected %d, one for each of ICI", len(asked.DCN), len(asked.ICI))
	}
	if asked.Slices == 0 {
		asked.Slices = 1
	}
	var arguments door.Arguments
	custom := (*C.char)(arguments.Text("Custom", asked.Custom))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	err = door.LendDevices(devices, func(c unsafe.Pointer) error {
		var gerror *C.GError
		ici, axes := sizes(asked.ICI)
		dcn, _ := sizes(asked.DCN)
		made := C.quoit_maxtext_mesh_new((*C.QuoitDevices)(c), ici, dcn, axes, C.int64_t(asked.Slices), custom,
			asked.flags(), &gerror)
		if err := door.Take(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		mesh = door.OwnedMesh(unsafe.Pointer(made)).(*quoit.Mesh)
		return nil
	})
	return mesh, err
}

// CheckCustomMesh says whether MaxText has a ring of its own, "hybrid_ring_64x4" or "hybrid_ring_32x8", for these sizes
// within a slice, filled: those of its name, with one or more of 1 beside them.
//
// It fails with Invalid when it has not.
func CheckCustomMesh(custom string, ici []int64) error {
	var arguments door.Arguments
	name := (*C.char)(arguments.Text("custom mesh", custom))
	if err := arguments.Err(); err != nil {
		return err
	}
	var gerror *C.GError
	values, axes := sizes(ici)
	C.quoit_maxtext_custom_mesh_check(name, values, axes, &gerror)
	return door.Take(unsafe.Pointer(gerror))
}

// DevicesInBox is what a single controller keeps of one slice where it has a subslice_shape: the devices in the box from the
// smallest coordinates, in their order. The sides are those of the box in chips, x, y, z; it goes through where there is no
// side. The caller closes the list.
//
// It fails with Invalid for more than three sides, when nothing is kept, and when the devices are closed.
func DevicesInBox(devices *quoit.Devices, sides []int64) (kept *quoit.Devices, err error) {
	err = door.LendDevices(devices, func(c unsafe.Pointer) error {
		var gerror *C.GError
		values, count := sizes(sides)
		made := C.quoit_maxtext_devices_new_box((*C.QuoitDevices)(c), values, count, &gerror)
		if err := door.Take(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		kept = door.OwnedDevices(unsafe.Pointer(made)).(*quoit.Devices)
		return nil
	})
	return kept, err
}
