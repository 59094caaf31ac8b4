// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// Node is a row of a node list: what ray.nodes() says of a node, and what it has available.
type Node struct {
	ID     string
	Dead   bool
	Labels Labels
	Total  Resources
	// Available is what the node has left: nil where nothing is told of it. What is not in it is left out, as Ray leaves
	// out what is wholly used. Of rows of one id the last that says it counts.
	Available Resources
}

// NodeList is a node list, in its order, dead ones too; an id may come twice, as it may in what Ray is told.
type NodeList []Node

// opened is the list as C has it, which a.free does not free.
func (l NodeList) opened(a *call) *C.QuoitRayNodes {
	c := C.quoit_ray_nodes_new()
	for _, one := range l {
		id := a.text("id", one.ID)
		labels, total := a.labelsOrNil("labels", one.Labels), a.resourcesOrNil("resources", one.Total)
		available := a.resourcesOrNil("available", one.Available)
		if a.Err() != nil {
			break
		}
		row := C.quoit_ray_nodes_add(c, id, labels, total)
		if one.Dead {
			C.quoit_ray_nodes_set_dead(c, row)
		}
		if available != nil {
			C.quoit_ray_nodes_set_available(c, id, available)
		}
	}
	return c
}

// SliceNames are the slices that the nodes say they are in, their labels ray.io/tpu-slice-name, row by row; "" without
// one.
//
// It fails with Invalid for text with a NUL alone.
func (l NodeList) SliceNames() ([]string, error) {
	var a call
	defer a.free()
	c := l.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	if err := a.Err(); err != nil {
		return nil, err
	}
	names := make([]string, C.quoit_ray_nodes_get_n(c))
	for row := range names {
		names[row] = borrowed(C.quoit_ray_nodes_get_slice_name(c, C.unsigned(row)))
	}
	return names, nil
}

// OfSlice is the ids of the nodes that are alive and in a slice; nil: of those that name none.
//
// It fails with Invalid for text with a NUL alone.
func (l NodeList) OfSlice(slice *string) ([]string, error) {
	var a call
	defer a.free()
	c := l.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	name := a.textOrNil("slice", slice)
	if err := a.Err(); err != nil {
		return nil, err
	}
	ids := []string{}
	count := C.quoit_ray_nodes_get_n(c)
	for row := C.quoit_ray_nodes_find_of_slice(c, name, 0); row < count; {
		ids = append(ids, borrowed(C.quoit_ray_nodes_get_id(c, row)))
		row = C.quoit_ray_nodes_find_of_slice(c, name, row+1)
	}
	return ids, nil
}

// SliceKind is which slices are counted: of a topology, "4x4", and a type, "TPU-V6E", or the generation. ResourcePerChip is
// how many units of TPU one chip counts for; nil: 1.
type SliceKind struct {
	Topology        string
	AcceleratorType string
	ResourcePerChip *int64
}

func (l NodeList) counted(kind SliceKind,
	run func(*C.QuoitRayNodes, *C.char, *C.char, *C.int64_t) C.unsigned) (int, error) {
	var a call
	defer a.free()
	c := l.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	topology, accelerator := a.textOrNull("topology", kind.Topology), a.textOrNull("type", kind.AcceleratorType)
	if err := a.Err(); err != nil {
		return 0, err
	}
	return int(run(c, topology, accelerator, number(kind.ResourcePerChip))), nil
}

// Slices counts those that Ray calls intact: nodes alive, of this pod type and of one slice name, whose TPU make up
// exactly what the topology has, one of them worker 0. A node that alone has as much is a slice whatever it is called.
// What cannot be read counts as no slice, as for Ray.
//
// It fails with Invalid for text with a NUL alone.
func (l NodeList) Slices(kind SliceKind) (int, error) {
	return l.counted(kind, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.unsigned {
		return C.quoit_ray_count_slices(c, topology, kind, factor)
	})
}

// ReadySlices counts those of Slices that Ray calls ready: no member has less TPU available than in all. A member of which
// no available TPU is told counts as free, though that is how Ray tells of one that is wholly used.
//
// It fails with Invalid for text with a NUL alone.
func (l NodeList) ReadySlices(kind SliceKind) (int, error) {
	return l.counted(kind, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.unsigned {
		return C.quoit_ray_count_ready_slices(c, topology, kind, factor)
	})
}

// FreeSlices counts those that can be had whole: a member of which no available TPU is told is used, the topology that
// members say must be this one, and worker ids, where there are several members, are 0 and on, each once.
//
// It fails with Invalid for text with a NUL alone.
func (l NodeList) FreeSlices(kind SliceKind) (int, error) {
	return l.counted(kind, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.unsigned {
		return C.quoit_ray_count_free_slices(c, topology, kind, factor)
	})
}
