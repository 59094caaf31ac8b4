// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"

	"quoit/internal/door"
)

// MeshChoice is one mesh that can be made of axes of given sizes.
type MeshChoice struct {
	Axes  []MeshChoiceAxis // in their order in the mesh
	Flags MeshFlags        // the flags to make the mesh with: MeshSplitPhysicalAxes or 0
}

// MeshChoiceAxis is one axis of such a mesh.
type MeshChoiceAxis struct {
	Given   int // the index of the given axis
	DCNSize int // the part of its size that is between slices; 1 for none
	// AllReduce is the least time of an all-reduce along it, like MeshLinks.AllReduce, if Known. It is not known if
	// no bandwidth is published.
	AllReduce time.Duration
	Known     bool
}

// MeshChoices returns the ways in which JAX can lay out axes of given sizes on the devices, the best first. They differ
// in the order of the axes, in the axes that span slices, and in whether physical axes are split.
//
// sizes are those of the whole mesh, ordered by communication: the last axis has the most. The best choice has the
// shortest all-reduce of the given number of bytes along the last axis, then along the axis before it, and so on. If no
// bandwidth is published or times are equal, links inside a slice come before links between slices, then axes without
// jumps, then fewer hops, then no split axes, then the order that is nearest to the given one. Of several meshes whose
// axes all use the same links, one is returned. Axes of size 1 stay in their places.
//
// dcnSizes states for each axis the part of its size that is between slices; nil allows any.
//
// It fails with Invalid if the product of the sizes is not the number of devices (the message names the nearest sizes
// that fit) or does not match the slices, for more than 6 axes longer than 1, if there are too many ways to try in a
// few seconds (pass dcnSizes, or fewer axes), for bytes below 0, and after Close. If JAX refuses all of them, it fails
// like HybridMesh for the first one.
func (d *Devices) MeshChoices(sizes, dcnSizes []int64, bytes int64) (choices []MeshChoice, err error) {
	if dcnSizes != nil && len(dcnSizes) != len(sizes) {
		return nil, door.Invalid("DCN sizes: expected %d, one an axis, found %d", len(sizes), len(dcnSizes))
	}
	if err := checkBytes(bytes); err != nil {
		return nil, err
	}
	err = d.with(func(devices *C.QuoitDevices) error {
		var gerror *C.GError
		c := C.quoit_mesh_choices_new(devices, numbers(sizes), C.unsigned(len(sizes)), numbers(dcnSizes), C.int64_t(bytes),
			&gerror)
		if err := take(gerror); err != nil {
			return err
		}
		defer C.quoit_mesh_choices_free(c)
		choices = make([]MeshChoice, C.quoit_mesh_choices_get_n(c))
		for choice := range choices {
			choices[choice] = meshChoiceOf(c, C.unsigned(choice), len(sizes))
		}
		return nil
	})
	return choices, err
}

func meshChoiceOf(c *C.QuoitMeshChoices, choice C.unsigned, axes int) MeshChoice {
	made := MeshChoice{
		Axes:  make([]MeshChoiceAxis, axes),
		Flags: MeshFlags(C.quoit_mesh_choices_get_flags(c, choice)),
	}
	for index := range made.Axes {
		place := C.unsigned(index)
		least, known := knownTime(C.quoit_mesh_choices_get_all_reduce_ns(c, choice, place))
		made.Axes[index] = MeshChoiceAxis{
			Given:     int(C.quoit_mesh_choices_get_axis(c, choice, place)),
			DCNSize:   int(C.quoit_mesh_choices_get_dcn_size(c, choice, place)),
			AllReduce: least,
			Known:     known,
		}
	}
	return made
}
