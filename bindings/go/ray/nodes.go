// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// Node is a row of a node list: a node as in ray.nodes(), and its available resources.
type Node struct {
	ID     string
	Dead   bool
	Labels Labels
	Total  Resources
	// Available is the free resources of the node; nil if they are unknown. A resource that is missing in it is
	// completely used, because Ray leaves those out. If several rows have the same id, the last one with a value
	// counts.
	Available Resources
}

// NodeList is a node list, in its order, including dead nodes. An id can occur twice, as in Ray's input.
type NodeList []Node

// opened converts the list to a C object. a.free does not free it.
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

// SliceNames returns the label ray.io/tpu-slice-name of each node, row by row; "" if the node has none.
//
// It fails with Invalid only for text with a NUL.
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

// OfSlice returns the ids of the alive nodes of a slice; nil means the nodes without a slice name.
//
// It fails with Invalid only for text with a NUL.
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

// SliceKind selects the slices to count: a topology, "4x4", and a type, "TPU-V6E", or the generation. ResourcePerChip
// is the number of TPU units per chip; nil stands for 1.
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

// Slices counts the slices that Ray calls intact: alive nodes of this pod type with the same slice name, whose TPU sum
// is exactly that of the topology, and of which one is worker 0. A node that alone has this amount is a slice, whatever
// its slice name. Like in Ray, nodes that cannot be parsed do not count.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) Slices(kind SliceKind) (int, error) {
	return l.counted(kind, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.unsigned {
		return C.quoit_ray_count_slices(c, topology, kind, factor)
	})
}

// ReadySlices counts those of Slices that Ray calls ready: no member has less available TPU than its total. A member
// without an available amount of TPU counts as free, although Ray reports a completely used node in the same way.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) ReadySlices(kind SliceKind) (int, error) {
	return l.counted(kind, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.unsigned {
		return C.quoit_ray_count_ready_slices(c, topology, kind, factor)
	})
}

// FreeSlices counts the slices that are completely free. A member without an available amount of TPU counts as used,
// the topology labels of members must equal this topology, and the worker ids of several members must be 0 to n - 1,
// each once.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) FreeSlices(kind SliceKind) (int, error) {
	return l.counted(kind, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.unsigned {
		return C.quoit_ray_count_free_slices(c, topology, kind, factor)
	})
}
