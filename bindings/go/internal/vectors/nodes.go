// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: counting slices in node lists.

import "quoit/ray"

const (
	sliceNameLabel = "ray.io/tpu-slice-name"
	workerIDLabel  = "ray.io/tpu-worker-id"
	topologyLabel  = "ray.io/tpu-topology"
)

// nodeList combines the output of ray.nodes() with the available resources by node id. For a node, null means the same
// as a missing entry.
func nodeList(nodes []any, available any) (ray.NodeList, error) {
	left, ok := available.(*object)
	if !ok && available != nil {
		return nil, skip("Go requires what is available, and the value has another type")
	}
	list := ray.NodeList{}
	for _, one := range nodes {
		given, ok := one.(*object)
		if !ok {
			return nil, skip("Go requires a node, and the value has another type")
		}
		r := &objectReader{object: given}
		node := ray.Node{
			ID: r.textOr("NodeID", ""), Dead: !r.flag("Alive", false), Labels: r.labels("Labels"),
			Total: r.resources("Resources"),
		}
		if left != nil {
			node.Available = (&objectReader{object: left}).resources(node.ID)
		}
		if r.err != nil {
			return nil, r.err
		}
		list = append(list, node)
	}
	return list, nil
}

// countedSlices reads the input of the ops that count slices. Without a connection to Ray there are no nodes.
func countedSlices(in any) (ray.NodeList, ray.SliceClass, error) {
	r := newReader(in, "topology", "accelerator_type", "nodes", "available", "tpu_resource_per_chip", "ray_initialized")
	kind := ray.SliceClass{
		Topology: r.textOr("topology", ""), AcceleratorType: r.textOr("accelerator_type", ""),
		ResourcePerChip: r.integerOrNil("tpu_resource_per_chip"),
	}
	rows := r.list("nodes")
	if !r.flag("ray_initialized", true) {
		rows = nil
	}
	if r.err != nil {
		return nil, kind, r.err
	}
	list, err := nodeList(rows, r.values["available"])
	return list, kind, err
}

func countIntact(in, _ any) (any, error) {
	list, kind, err := countedSlices(in)
	if err != nil {
		return nil, err
	}
	count, err := list.Slices(kind)
	return int64(count), err
}

func countReady(in, _ any) (any, error) {
	list, kind, err := countedSlices(in)
	if err != nil {
		return nil, err
	}
	count, err := list.ReadySlices(kind)
	return int64(count), err
}

func countBoth(in, recorded any) (any, error) {
	ready, err := countReady(in, recorded)
	if err != nil {
		return nil, err
	}
	intact, err := countIntact(in, recorded)
	return (&object{}).set("ready", ready).set("intact", intact), err
}

func nodesOfSlice(in, _ any) (any, error) {
	r := newReader(in, "slice_name", "nodes")
	slice, rows := r.textOrNil("slice_name"), r.list("nodes")
	if r.err != nil {
		return nil, r.err
	}
	list, err := nodeList(rows, nil)
	if err != nil {
		return nil, err
	}
	ids, err := list.OfSlice(slice)
	return (&object{}).set("node_ids", textsToJSON(ids)), err
}

func sliceNameOfNode(in, _ any) (any, error) {
	r := newReader(in, "node")
	if r.err != nil {
		return nil, r.err
	}
	list, err := nodeList([]any{r.values["node"]}, nil)
	if err != nil {
		return nil, err
	}
	names, err := list.SliceNames()
	if err != nil {
		return nil, err
	}
	return textToJSON(names[0]), nil
}

var nodeOps = map[string]op{
	"util.get_num_ready_tpu_slices":                      {answer: countReady},
	"util.get_num_ready_tpu_slices + get_num_tpu_slices": {answer: countBoth, sameOrder: true},
	"util.get_num_tpu_slices":                            {answer: countIntact},
	"util.get_tpu_nodes_for_slice":                       {answer: nodesOfSlice},
	"util.get_tpu_slice_name_from_node":                  {answer: sliceNameOfNode},
}
