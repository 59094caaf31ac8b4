// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: the places of sub-slices, and which of them Ray chooses.

import (
	"fmt"
	"sort"

	"quoit/ray"
)

// --- places ---

func physicalWorkerID(in, _ any) (any, error) {
	r := newReader(in, "coords", "parent_topology")
	chips, err := toCoordinates(r.list("coords"))
	parent := r.text("parent_topology")
	if r.err != nil {
		return nil, r.err
	}
	if err != nil {
		return nil, err
	}
	return toResult(ray.PhysicalWorkerID(chips, parent))
}

func toCoordinates(values []any) ([][]int64, error) {
	chips := [][]int64{}
	for _, one := range values {
		axes, ok := one.([]any)
		if !ok {
			return nil, skip("Go requires coordinates, and the value has another type")
		}
		chip := []int64{}
		for _, axis := range axes {
			number, ok := axis.(int64)
			if !ok {
				return nil, skip("Go requires a coordinate, and the value has another type")
			}
			chip = append(chip, number)
		}
		chips = append(chips, chip)
	}
	return chips, nil
}

func subsliceLabels(in, _ any) (any, error) {
	r := newReader(in, "physical_worker_id", "parent_topology")
	worker, parent := r.integer("physical_worker_id"), r.text("parent_topology")
	if r.err != nil {
		return nil, r.err
	}
	labels, err := ray.SubsliceLabels(worker, parent)
	return labelsToJSON(labels), err
}

func (r *objectReader) nodesOf(member string, dead bool) ray.NodeList {
	list := ray.NodeList{}
	for _, one := range r.list(member) {
		switch topology := one.(type) {
		case nil:
		case string:
			list = append(list, ray.Node{Dead: dead, Labels: ray.Labels{{Key: topologyLabel, Value: topology}}})
		default:
			r.fail("Go requires a text, and the value has another type")
		}
	}
	return list
}

// parentTopologies returns the list of topologies. Rows with a long list record it as a set, and the numbers of hosts
// in the order of the list.
func parentTopologies(in, recorded any) (any, error) {
	r := newReader(in, "subslice_topology", "alive_topologies", "dead_topologies")
	nodes := append(r.nodesOf("alive_topologies", false), r.nodesOf("dead_topologies", true)...)
	subslice := r.text("subslice_topology")
	if r.err != nil {
		return nil, r.err
	}
	parents, err := nodes.ParentTopologies(subslice)
	if _, isSet := recorded.(*object); !isSet || err != nil {
		return textsToJSON(parents), err
	}
	hosts := []any{}
	for _, parent := range parents {
		grid, err := ray.WorkerGrid(parent)
		if err != nil {
			return nil, err
		}
		count := int64(1)
		for _, axis := range grid {
			count *= axis
		}
		hosts = append(hosts, count)
	}
	sort.Strings(parents)
	answer := (&object{}).set("value_as_set", textsToJSON(parents)).set("worker_counts_in_order", hosts)
	return keepRecorded(answer, recorded), nil
}

func chipsPerVM(in, _ any) (any, error) {
	r := newReader(in, "user_chips_per_vm", "parent_topology", "version")
	given, parent, version := r.integerOrNil("user_chips_per_vm"), r.text("parent_topology"), r.text("version")
	if r.err != nil {
		return nil, r.err
	}
	return toResult(ray.SubsliceChipsPerVM(given, parent, version))
}

// --- choices ---

// newWorkerNode returns a node of a slice. available is its free resources; nil if they are unknown.
func newWorkerNode(slice, id, topology string, tpu float64, available ray.Resources) ray.Node {
	return ray.Node{
		ID:        "n" + id,
		Labels:    ray.Labels{{Key: sliceNameLabel, Value: slice}, {Key: workerIDLabel, Value: id}, {Key: topologyLabel, Value: topology}},
		Total:     ray.Resources{{Name: "TPU", Amount: tpu}},
		Available: available,
	}
}

func isHeadFree(in, _ any) (any, error) {
	r := newReader(in, "available_on_worker_0", "head_resource")
	available, resource := r.resources("available_on_worker_0"), r.textOrNil("head_resource")
	if r.err != nil {
		return nil, r.err
	}
	slice := "s"
	nodes := ray.NodeList{newWorkerNode(slice, "0", "4x4", 4, available)}
	return toResult(nodes.IsHeadFree(&slice, resource))
}

// knownWorkers returns the labels of the workers by worker id, the worker ids, and the TPU of each worker. Some rows
// describe a slice of four workers in words.
func (r *objectReader) knownWorkers() (map[string]ray.Labels, []string, float64) {
	known, ids := map[string]ray.Labels{}, []string{}
	switch given := r.values["worker_labels"].(type) {
	case string:
		if given != "4x4 slice, worker k has 2x2 index k and 2x4 index k//2, 4 TPU each" {
			r.fail("worker labels in an unknown form")
		}
		for worker := int64(0); worker < 4; worker++ {
			labels, err := ray.SubsliceLabels(worker, "4x4")
			if err != nil {
				r.err = err
			}
			id := fmt.Sprint(worker)
			known[id], ids = labels, append(ids, id)
		}
		return known, ids, 4
	case *object:
		for _, id := range given.keys {
			known[id] = (&objectReader{object: given}).labels(id)
			ids = append(ids, id)
		}
	default:
		r.fail("worker labels in an unknown form")
	}
	tpu, ok := toNumber(r.values["node_total_TPU"])
	if !ok {
		r.fail("Go requires a number, and the value has another type")
	}
	return known, ids, tpu
}

func findSubslice(in, _ any) (any, error) {
	r := newReader(in, "slice", "subslice_topology", "subslice_index", "worker_labels", "node_total_TPU", "node_free_TPU",
		"available")
	if r.err != nil {
		return nil, r.err
	}
	known, ids, tpu := r.knownWorkers()
	topology, index := r.text("subslice_topology"), r.integerOrNil("subslice_index")
	free, _ := r.values["node_free_TPU"].(*object)
	hostInput, _ := r.values["available"].(*object)
	nodes := ray.NodeList{}
	for _, id := range ids {
		var available ray.Resources
		if free != nil {
			if left, ok := toNumber(free.values[id]); ok {
				available = ray.Resources{{Name: "TPU", Amount: left}}
			}
		}
		if hostInput != nil && hostInput.has("n"+id) {
			available = (&objectReader{object: hostInput}).resources("n" + id)
		}
		nodes = append(nodes, newWorkerNode("s", id, "4x4", tpu, available))
	}
	if r.err != nil {
		return nil, r.err
	}
	found, err := ray.Subslices{"s": known}.Find(nodes, "s", topology, index)
	answer := (&object{}).set("worker_ids", nil).set("subslice_index", nil)
	if found != nil {
		answer.set("worker_ids", textsToJSON(found.WorkerIDs)).set("subslice_index", found.Index)
	}
	return answer, err
}

// findUndiscovered handles two kinds of rows: those with one 4x4 slice and the free TPU of its workers, and those with
// nodes and their available resources.
func findUndiscovered(in, _ any) (any, error) {
	r := newReader(in, "nodes", "available", "slice", "free", "cached", "head_avail")
	nodes, err := nodeList(r.list("nodes"), r.values["available"])
	slice := r.textOr("slice", "")
	for index, left := range r.list("free") {
		amount, ok := toNumber(left)
		if !ok {
			r.fail("Go requires a number, and the value has another type")
		}
		available := ray.Resources{{Name: "TPU", Amount: amount}}
		if head, given := toNumber(r.values["head_avail"]); given && index == 0 {
			available = append(available, ray.Amount{Name: "TPU-v6e-16-head", Amount: head})
		}
		nodes = append(nodes, newWorkerNode(slice, fmt.Sprint(index), "4x4", 4, available))
	}
	known := ray.Subslices{}
	if r.flag("cached", false) {
		known[slice] = nil
	}
	if r.err != nil {
		return nil, r.err
	}
	if err != nil {
		return nil, err
	}
	found, parent, err := known.Undiscovered(nodes, []string{"4x4"}, "v6e")
	if found == "" {
		return nil, err
	}
	return []any{parent, found}, err
}

// subsliceGroup builds a fleet with one idle, undiscovered slice of each topology.
func subsliceGroup(in, recorded any) (any, error) {
	r := newReader(in, "subslice_topology", "accelerator_version", "chips_per_vm", "cluster")
	request := ray.SubsliceRequest{
		Topology: r.text("subslice_topology"), AcceleratorVersion: r.text("accelerator_version"),
		ChipsPerVM: r.integerOrNil("chips_per_vm"),
	}
	nodes := ray.NodeList{}
	for index, topology := range r.texts("cluster") {
		nodes = append(nodes, newWorkerNode(fmt.Sprintf("slice-%d", index), "0", topology, 4, nil))
	}
	if r.err != nil {
		return nil, r.err
	}
	plan, err := ray.Subslices{}.Plan(nodes, request)
	if err != nil {
		return nil, err
	}
	answer := (&object{}).set("parent_topology", plan.ParentTopology).set("chips_per_host", plan.ChipsPerVM)
	return keepRecorded(answer, recorded), nil
}

var subsliceOps = map[string]op{
	"accel._build_subslice_labels":              {answer: subsliceLabels},
	"accel._get_physical_worker_id_from_coords": {answer: physicalWorkerID},
	"accel._get_worker_dims_for_topology":       textOp("topology", ray.WorkerGrid, integersToJSON),
	"accel._parse_topology_dims":                textOp("topology", ray.TopologyDims, integersToJSON),
	"util._find_available_subslice":             {answer: findSubslice},
	"util._find_undiscovered_idle_slice":        {answer: findUndiscovered},
	"util._find_valid_parent_topologies":        {answer: parentTopologies},
	"util._resolve_chips_per_vm":                {answer: chipsPerVM},
	"util._slice_head_available":                {answer: isHeadFree},
	"util.subslice_placement_group":             {answer: subsliceGroup},
}
