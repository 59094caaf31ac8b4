// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"

	"quoit/internal/cconv"
)

// MeshChoice is one way to lay out axes of given sizes as a mesh.
type MeshChoice struct {
	Axes  []MeshChoiceAxis // in their order in the mesh
	Flags MeshFlags        // the flags to make the mesh with: MeshSplitPhysicalAxes or 0
}

// MeshChoiceAxis is one axis of a MeshChoice.
type MeshChoiceAxis struct {
	Given   int // the index of the axis in the given sizes
	DCNSize int // the factor of its size that is between slices; 1 for none
	// AllReduce is a lower bound for the time of an all-reduce along the axis, as for MeshLinks.AllReduce.
	AllReduce time.Duration
	Known     bool // false if no bandwidth is published, so that AllReduce is unknown
}

// MeshChoices returns the ways in which JAX can lay out axes of given sizes on the devices, the best first. They differ
// in the order of the axes, in the axes that span slices, and in whether physical axes are split.
//
// sizes are the sizes of the whole mesh, ordered by communication: the last axis has the most. The best choice has the
// shortest all-reduce of the given number of bytes along the last axis, then along the axis before it, and so on. If no
// bandwidth is published or times are equal, the best choice has links inside a slice instead of links between slices,
// then no jumps, then the fewest hops, then no split axes, then the order that is nearest to the given one. If the axes
// of several meshes use the same links, MeshChoices returns only one of these meshes. Axes of size 1 stay in their
// places.
//
// dcnSizes has for each axis the factor of its size that is between slices; nil allows any factors.
//
// It fails with Invalid if the product of the sizes is not the number of devices (the message names the nearest sizes
// that fit) or does not match the slices, for more than 6 axes longer than 1, if there are too many ways to try in a
// few seconds (pass dcnSizes, or fewer axes), for bytes below 0, and after Close. If JAX refuses all of them, it fails
// like HybridMesh for the first one.
func (d *Devices) MeshChoices(sizes, dcnSizes []int64, bytes int64) (choices []MeshChoice, err error) {
	if dcnSizes != nil && len(dcnSizes) != len(sizes) {
		return nil, cconv.InvalidError("DCN sizes: expected %d, one per axis, found %d", len(sizes), len(dcnSizes))
	}
	if err := checkBytes(bytes); err != nil {
		return nil, err
	}
	err = d.with(func(devices *C.QuoitDevices) error {
		var gerror *C.GError
		c := C.quoit_mesh_choices_new(devices, cNumbers(sizes), C.uint32_t(len(sizes)), cNumbers(dcnSizes), C.int64_t(bytes),
			&gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		defer C.quoit_mesh_choices_free(c)
		choices = make([]MeshChoice, C.quoit_mesh_choices_get_n(c))
		for choice := range choices {
			choices[choice] = meshChoiceFromC(c, C.uint32_t(choice), len(sizes))
		}
		return nil
	})
	return choices, err
}

func meshChoiceFromC(c *C.QuoitMeshChoices, choice C.uint32_t, axes int) MeshChoice {
	result := MeshChoice{
		Axes:  make([]MeshChoiceAxis, axes),
		Flags: MeshFlags(C.quoit_mesh_choices_get_flags(c, choice)),
	}
	for index := range result.Axes {
		axis := C.uint32_t(index)
		least, known := durationFromC(C.quoit_mesh_choices_get_all_reduce_ns(c, choice, axis))
		result.Axes[index] = MeshChoiceAxis{
			Given:     int(C.quoit_mesh_choices_get_axis(c, choice, axis)),
			DCNSize:   int(C.quoit_mesh_choices_get_dcn_size(c, choice, axis)),
			AllReduce: least,
			Known:     known,
		}
	}
	return result
}
