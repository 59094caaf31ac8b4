// SPDX-License-Identifier: Apache-2.0

package main

// ray-train-env: the environment of each worker.

import (
	"quoit/ray"
)

// coordinatorEnvOfCall is like coordinatorEnv, for rows that have the arguments as a list: address, slices, slice, and
// optionally the port.
func coordinatorEnvOfCall(in, recorded any) (any, error) {
	r := newReader(in, "args")
	given := r.list("args")
	if r.err == nil && (len(given) < 3 || len(given) > 4) {
		r.fail("a wrong number of arguments")
	}
	if r.err != nil {
		return nil, r.err
	}
	asked := &object{}
	for index, one := range given {
		asked.set([]string{"coordinator_address", "num_slices", "slice_id", "coordinator_port"}[index], one)
	}
	return coordinatorEnv(asked, recorded)
}

// trainEnv uses the address 10.0.0.(i + 1) for worker i, and port 45678 on worker 0.
func trainEnv(in, _ any) (any, error) {
	r := newReader(in, "name", "workers", "use_tpu", "env_before", "slices", "topology", "accelerator_type",
		"resources_per_worker")
	work := ray.Work{
		Topology: r.textOr("topology", ""), AcceleratorType: r.textOr("accelerator_type", ""),
		PerWorker: r.resources("resources_per_worker"), Slices: r.integerOr("slices", 1),
	}
	workers, before := r.integer("workers"), r.variables("env_before")
	if !r.flag("use_tpu", false) {
		workers = 0
	}
	answer := []any{}
	for index := int64(0); index < workers && r.err == nil; index++ {
		env, err := ray.TrainEnv("10.0.0.1", index, work, before)
		if err != nil {
			return nil, err
		}
		answer = append(answer, (&object{}).set("index", index).
			set("initialize", []any{"10.0.0.1:45678", workers, index}).set("env", pairsToJSON(env)))
	}
	return answer, r.err
}

// hostBlocks returns the coordinates of the chips of each host, x first. Each host is a block; hosts are ordered with x
// fastest.
func hostBlocks(sizes, block []int64) [][][]int64 {
	sizes = append(append([]int64{}, sizes...), 1, 1)[:3]
	hosts := [][][]int64{}
	for z := int64(0); z < sizes[2]; z += block[2] {
		for y := int64(0); y < sizes[1]; y += block[1] {
			for x := int64(0); x < sizes[0]; x += block[0] {
				hosts = append(hosts, chipsOfBlock(x, y, z, sizes, block))
			}
		}
	}
	return hosts
}

func chipsOfBlock(x, y, z int64, sizes, block []int64) [][]int64 {
	chips := [][]int64{}
	for c := z; c < min(z+block[2], sizes[2]); c++ {
		for b := y; b < min(y+block[1], sizes[1]); b++ {
			for a := x; a < min(x+block[0], sizes[0]); a++ {
				chips = append(chips, []int64{a, b, c})
			}
		}
	}
	return chips
}

// physicalWorkerIDs returns the id that Ray computes for each host of a slice, or Ray's refusal.
func physicalWorkerIDs(in, _ any) (any, error) {
	r := newReader(in, "topology", "chip_grid", "host_block")
	topology, grid, block := r.text("topology"), r.text("chip_grid"), r.text("host_block")
	if r.err == nil && grid != "x=first (JAX order)" && grid != "x=last" {
		r.fail("a grid that is neither x first nor x last")
	}
	if r.err != nil {
		return nil, r.err
	}
	sizes, err := ray.TopologyDims(topology)
	if err != nil {
		return nil, err
	}
	if grid == "x=last" {
		for one, other := 0, len(sizes)-1; one < other; one, other = one+1, other-1 {
			sizes[one], sizes[other] = sizes[other], sizes[one]
		}
	}
	steps, err := ray.TopologyDims(block)
	if err != nil {
		return nil, err
	}
	if len(steps) != 3 || len(sizes) > 3 {
		return nil, skip("a block that does not have three dimensions")
	}
	ids := []any{}
	for _, chips := range hostBlocks(sizes, steps) {
		id, err := ray.PhysicalWorkerID(chips, topology)
		if err != nil {
			ids = append(ids, refusal{err})
		} else {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

var trainEnvOps = map[string]op{
	"get_tpu_coordinator_env_vars": {answer: coordinatorEnvOfCall},
	"ray_physical_worker_ids":      {answer: physicalWorkerIDs, refusals: true},
	"ray_train_jax_env":            {answer: trainEnv},
}
