// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// Node is one row of a node list: a node of ray.nodes(), and its available resources.
type Node struct {
	ID     string
	Dead   bool
	Labels Labels
	Total  Resources
	// Available is the free resources of the node; nil if they are unknown. Ray leaves out resources that are
	// completely used, so a missing resource has nothing free. If several rows have the same id, the last Available
	// that is not nil counts for all of them.
	Available Resources
}

// NodeList is a node list, in its order, including dead nodes. An id can occur twice, as in Ray's input.
type NodeList []Node

// toC converts the list to a C object. a.free does not free it.
func (l NodeList) toC(a *call) *C.QuoitRayNodes {
	c := C.quoit_ray_nodes_new()
	for _, one := range l {
		id := a.text("id", one.ID)
		labels, total := a.labelsUnlessNil("labels", one.Labels), a.resourcesUnlessNil("resources", one.Total)
		available := a.resourcesUnlessNil("available", one.Available)
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
	c := l.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	if err := a.Err(); err != nil {
		return nil, err
	}
	names := make([]string, C.quoit_ray_nodes_get_n(c))
	for row := range names {
		names[row] = copyString(C.quoit_ray_nodes_get_slice_name(c, C.uint32_t(row)))
	}
	return names, nil
}

// OfSlice returns the ids of the alive nodes of a slice. A slice of nil stands for the nodes without a slice name.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) OfSlice(slice *string) ([]string, error) {
	var a call
	defer a.free()
	c := l.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	name := a.textUnlessNil("slice", slice)
	if err := a.Err(); err != nil {
		return nil, err
	}
	ids := []string{}
	count := C.quoit_ray_nodes_get_n(c)
	for row := C.quoit_ray_nodes_find_slice_node(c, name, 0); row < count; {
		ids = append(ids, copyString(C.quoit_ray_nodes_get_id(c, row)))
		row = C.quoit_ray_nodes_find_slice_node(c, name, row+1)
	}
	return ids, nil
}

// SliceClass selects the slices to count.
type SliceClass struct {
	Topology        string // "4x4"
	AcceleratorType string // "TPU-V6E", or the generation, "v6e"
	ResourcePerChip *int64 // the number of TPU units per chip; nil stands for 1
}

// count converts the list and the class to C, and returns what run counts.
func (l NodeList) count(class SliceClass,
	run func(*C.QuoitRayNodes, *C.char, *C.char, *C.int64_t) C.uint32_t) (int, error) {
	var a call
	defer a.free()
	c := l.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	topology, accelerator := a.textUnlessEmpty("topology", class.Topology), a.textUnlessEmpty("type", class.AcceleratorType)
	if err := a.Err(); err != nil {
		return 0, err
	}
	return int(run(c, topology, accelerator, cNumber(class.ResourcePerChip))), nil
}

// Slices counts the slices that Ray calls intact: alive nodes of this pod type with the same slice name, whose sum of
// TPU is exactly that of the topology, and one of which is worker 0. A single node with that amount counts as a slice,
// whatever its slice name is. Like in Ray, nodes that cannot be parsed do not count.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) Slices(class SliceClass) (int, error) {
	return l.count(class, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.uint32_t {
		return C.quoit_ray_count_slices(c, topology, kind, factor)
	})
}

// ReadySlices counts the intact slices that Ray calls ready: no node has less available TPU than its total. A node
// without an available amount of TPU counts as free, although Ray reports a completely used node in the same way.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) ReadySlices(class SliceClass) (int, error) {
	return l.count(class, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.uint32_t {
		return C.quoit_ray_count_ready_slices(c, topology, kind, factor)
	})
}

// FreeSlices counts the slices that are really free, which Ray does not count. Unlike for ReadySlices, a node without
// an available amount of TPU counts as used, the topology labels of the nodes must equal this topology, and if there
// are several nodes, their worker ids must be 0 to n - 1, each once.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) FreeSlices(class SliceClass) (int, error) {
	return l.count(class, func(c *C.QuoitRayNodes, topology, kind *C.char, factor *C.int64_t) C.uint32_t {
		return C.quoit_ray_count_free_slices(c, topology, kind, factor)
	})
}
