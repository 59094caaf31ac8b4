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

// Mesh is the input of MaxText for a mesh. It is a plain value: NewMesh validates the fields.
type Mesh struct {
	ICI    []int64 // sizes of the axes within a slice; one can be -1
	DCN    []int64 // sizes of the axes between slices, one for each of ICI; one can be -1; ignored for one slice
	Slices int64   // MaxText's number of slices; 0 stands for 1
	// Custom is "hybrid_ring_64x4" or "hybrid_ring_32x8"; "" for none. On one slice it is ignored unless
	// SplitPhysicalAxes is set.
	Custom            string
	SplitPhysicalAxes bool // allow_split_physical_axes
	// OptimizeForV6e is optimize_mesh_for_tpu_v6e: for 2x4 devices along one axis, the last four are reversed,
	// which undoes JAX's ring.
	OptimizeForV6e bool
}

// sizes returns a C array and its length. The C function does not accept NULL, also for an empty array.
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

// NewMesh returns the mesh that MaxText makes of the devices of all slices: JAX's mesh, or a custom ring in each slice
// of 16x16 devices. The caller closes it.
//
// It fails with Invalid like Fill, Devices.Mesh and Devices.HybridMesh, if DCN and ICI have different lengths, and if
// there is no such custom mesh or it does not fit these sizes.
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

// CheckCustomMesh checks whether MaxText has a custom ring, "hybrid_ring_64x4" or "hybrid_ring_32x8", for these sizes
// within a slice, in which no size is -1. The sizes must be those of the name, with one or more additional sizes of 1.
//
// It fails with Invalid if MaxText does not have it.
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

// DevicesInBox returns the devices of one slice that a single controller with a subslice_shape uses: those in the box
// that begins at the smallest coordinates, in their order. sides is the size of the box in chips along x, y, z; along a
// missing side the box has the whole slice. The caller closes the list.
//
// It fails with Invalid for more than three sides, for an empty result, and if the devices are closed.
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
