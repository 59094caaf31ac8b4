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

// MeshChoice is one of the meshes that axes of given sizes can be.
type MeshChoice struct {
	Axes  []MeshChoiceAxis // in the order in which they stand in the mesh
	Flags MeshFlags        // what the mesh has to be made with: MeshSplitPhysicalAxes or nothing
}

// MeshChoiceAxis is the axis at one place of such a mesh.
type MeshChoiceAxis struct {
	Given   int // which of the given axes it is
	DCNSize int // how much of it goes from slice to slice; 1 for nothing
	// AllReduce is the least time of an all-reduce along it, as MeshLinks.AllReduce has it, where Known: nobody tells it
	// where no bandwidth is published.
	AllReduce time.Duration
	Known     bool
}

// MeshChoices is the ways in which JAX can lay axes of given sizes out on the devices, the best first: in which order the
// axes stand, which of them go from slice to slice, and whether physical axes are split. The sizes are those of the whole
// mesh, in the order in which the axes talk, the last the most; the best choice is the one in which that axis has its
// all-reduce, of so many bytes, in the least time, and among those the one that is best for the axis before it, and so on.
// Where no bandwidth is published, and among equal times, it is links inside the slice before those between slices, then
// axes that do not jump, then fewer hops, then no axis that is split, then what is nearer to the order that was given. Of
// meshes in which every axis talks over the same links one is told. Axes of size 1 stay where they are.
//
// The dcnSizes, one for each axis, say how much of it goes from slice to slice; nil: any.
//
// It fails with Invalid for sizes that do not multiply to the devices (the message names the nearest that do) or not to the
// slices, for more than 6 axes that are longer than 1, for more ways than can be tried in a few seconds (pass dcnSizes, or
// fewer axes), for bytes below 0, and after Close. Where JAX refuses all of them it is what HybridMesh says of the first.
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
