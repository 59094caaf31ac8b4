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
	"quoit/internal/cconv"
)

// Mesh is the MaxText settings that determine a mesh. It is a plain value: NewMesh validates the fields.
type Mesh struct {
	ICI    []int64 // sizes of the axes within a slice; one can be -1
	DCN    []int64 // sizes of the same axes between slices; one can be -1; ignored for one slice
	Slices int64   // MaxText's number of slices; 0 stands for 1
	// Custom is "hybrid_ring_64x4" or "hybrid_ring_32x8"; "" for none. On one slice it is ignored unless
	// SplitPhysicalAxes is set.
	Custom            string
	SplitPhysicalAxes bool // allow_split_physical_axes
	// OptimizeForV6e is optimize_mesh_for_tpu_v6e: for 2x4 devices along one axis, the last four are reversed,
	// which undoes JAX's ring.
	OptimizeForV6e bool
}

// cSizes returns a C array and its length. It never returns NULL, which the C functions do not accept.
func cSizes(values []int64) (*C.int64_t, C.uint32_t) {
	if values == nil {
		values = []int64{}
	}
	return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(values))), C.uint32_t(len(values))
}

func (m *Mesh) flags() C.uint32_t {
	var flags C.uint32_t
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
func NewMesh(devices *quoit.Devices, spec Mesh) (mesh *quoit.Mesh, err error) {
	if len(spec.ICI) != len(spec.DCN) {
		return nil, cconv.InvalidError("DCN of '%d' sizes: expected %d, one for each of ICI", len(spec.DCN), len(spec.ICI))
	}
	if spec.Slices == 0 {
		spec.Slices = 1
	}
	var arguments cconv.Arguments
	custom := (*C.char)(arguments.Text("Custom", spec.Custom))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	err = cconv.WithDevices(devices, func(c unsafe.Pointer) error {
		var gerror *C.GError
		ici, axes := cSizes(spec.ICI)
		dcn, _ := cSizes(spec.DCN)
		cMesh := C.quoit_maxtext_mesh_new((*C.QuoitDevices)(c), ici, dcn, axes, C.int64_t(spec.Slices), custom,
			spec.flags(), &gerror)
		if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		mesh = cconv.NewMesh(unsafe.Pointer(cMesh)).(*quoit.Mesh)
		return nil
	})
	return mesh, err
}

// CheckCustomMesh checks whether the sizes within a slice fit a custom ring of MaxText, "hybrid_ring_64x4" or
// "hybrid_ring_32x8". No size can be -1. The sizes must be those in the name, with one or more additional sizes of 1.
//
// It fails with Invalid if MaxText has no such ring, or if the sizes do not fit.
func CheckCustomMesh(custom string, ici []int64) error {
	var arguments cconv.Arguments
	name := (*C.char)(arguments.Text("custom mesh", custom))
	if err := arguments.Err(); err != nil {
		return err
	}
	var gerror *C.GError
	values, axes := cSizes(ici)
	C.quoit_maxtext_custom_mesh_check(name, values, axes, &gerror)
	return cconv.ErrorFromC(unsafe.Pointer(gerror))
}

// DevicesInBox returns the devices of one slice that a single controller with a subslice_shape uses: those in the box
// that begins at the smallest coordinates, in their order. sides is the size of the box in chips along x, y, z; along a
// missing side the box has the whole slice. The caller closes the list.
//
// It fails with Invalid for more than three sides, for an empty result, and if the devices are closed.
func DevicesInBox(devices *quoit.Devices, sides []int64) (box *quoit.Devices, err error) {
	err = cconv.WithDevices(devices, func(c unsafe.Pointer) error {
		var gerror *C.GError
		values, count := cSizes(sides)
		cDevices := C.quoit_maxtext_devices_new_box((*C.QuoitDevices)(c), values, count, &gerror)
		if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		box = cconv.NewDevices(unsafe.Pointer(cDevices)).(*quoit.Devices)
		return nil
	})
	return box, err
}
