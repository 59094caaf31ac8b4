// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: Ray's arithmetic.

import "quoit/ray"

const factorVariable = "RAY_TPU_RESOURCE_PER_CHIP"

// textOp returns an op that calls a function with one text argument.
func textOp[Value any](member string, function func(string) (Value, error), answer func(Value) any) op {
	return op{answer: func(in, _ any) (any, error) {
		given := newReader(in, member)
		text := given.text(member)
		if given.err != nil {
			return nil, given.err
		}
		value, err := function(text)
		return answer(value), err
	}}
}

// twoTextOp returns an op that calls a function with two text arguments. If acceptsNull is set, null becomes "".
func twoTextOp[Value any](first, second string, acceptsNull bool, function func(string, string) (Value, error),
	answer func(Value) any) op {
	return op{answer: func(in, _ any) (any, error) {
		given := newReader(in, first, second)
		one, two := given.textOr(first, ""), given.textOr(second, "")
		if !acceptsNull {
			one, two = given.text(first), given.text(second)
		}
		if given.err != nil {
			return nil, given.err
		}
		value, err := function(one, two)
		return answer(value), err
	}}
}

func toAny[Value any](value Value) any { return value }

func listTopologies(in, _ any) (any, error) {
	given := newReader(in, "generation")
	generation := given.text("generation")
	return textsToJSON(ray.ValidTopologies(generation)), given.err
}

func countTopologies(in, recorded any) (any, error) {
	topologies, err := listTopologies(in, recorded)
	if err != nil {
		return nil, err
	}
	return int64(len(topologies.([]any))), nil
}

// --- workers ---

// factorText returns RAY_TPU_RESOURCE_PER_CHIP of a row, which has "env" as an object, or a member "env.NAME".
func (r *objectReader) factorText() *string {
	if !r.has("env") {
		return r.textOrNil("env." + factorVariable)
	}
	env, ok := r.values["env"].(*object)
	if !ok {
		r.fail("an environment that is not an object")
		return nil
	}
	return (&objectReader{object: env}).textOrNil(factorVariable)
}

// factor returns the TPU units per chip that Ray would use: the argument if there is one, else the variable of the
// environment.
func (r *objectReader) factor() (*int64, error) {
	if given := r.integerOrNil("tpu_resource_per_chip"); given != nil || r.err != nil {
		return given, r.err
	}
	text := r.factorText()
	if r.err != nil {
		return nil, r.err
	}
	factor, err := ray.ResourcePerChip(text)
	return &factor, err
}

func resourcePerChip(in, _ any) (any, error) {
	given := newReader(in, "env", "env."+factorVariable)
	text := given.factorText()
	if given.err != nil {
		return nil, given.err
	}
	return toResult(ray.ResourcePerChip(text))
}

// toResult returns its arguments with the types of an op: a value of any type, and an error.
func toResult[Value any](value Value, err error) (any, error) {
	return value, err
}

func workerResources(in, _ any) (any, error) {
	given := newReader(in, "topology", "accelerator_type", "resources_per_worker", "num_slices", "chips_per_vm",
		"tpu_resource_per_chip", "env", "env."+factorVariable)
	work := ray.Work{
		Topology:        given.text("topology"),
		AcceleratorType: given.text("accelerator_type"),
		PerWorker:       given.resources("resources_per_worker"),
		Slices:          given.integerOr("num_slices", 1),
		ChipsPerVM:      given.integerOrNil("chips_per_vm"),
	}
	if given.err != nil {
		return nil, given.err
	}
	var err error
	if work.ResourcePerChip, err = given.factor(); err != nil {
		return nil, err
	}
	workers, perWorker, err := ray.WorkerResources(work)
	if err != nil {
		return nil, err
	}
	return (&object{}).set("num_workers", workers).set("worker_resources", resourcesToJSON(perWorker)), nil
}

func slicesForWorkers(in, _ any) (any, error) {
	given := newReader(in, "topology", "accelerator_type", "num_workers", "resources_per_worker", "tpu_resource_per_chip",
		"env", "env."+factorVariable)
	work := ray.Work{
		Topology:        given.textOr("topology", ""),
		AcceleratorType: given.textOr("accelerator_type", ""),
		PerWorker:       given.resources("resources_per_worker"),
	}
	workers := given.integer("num_workers")
	if given.err != nil {
		return nil, given.err
	}
	factor, err := given.factor()
	if given.err != nil {
		return nil, given.err
	}
	if err != nil {
		return int64(1), nil // an invalid factor counts like any other refusal
	}
	work.ResourcePerChip = factor
	return toResult(ray.SlicesForWorkers(work, workers))
}

func coordinatorEnv(in, _ any) (any, error) {
	given := newReader(in, "coordinator_address", "num_slices", "slice_id", "coordinator_port")
	if given.has("coordinator_port") && given.values["coordinator_port"] == nil {
		return nil, skip("a port of null, which Ray converts to text and quoit treats as the default")
	}
	address, slices := given.text("coordinator_address"), given.integer("num_slices")
	id, port := given.integer("slice_id"), given.textOr("coordinator_port", "")
	if given.err != nil {
		return nil, given.err
	}
	env, err := ray.CoordinatorEnv(address, slices, id, port)
	return pairsToJSON(env), err
}

func withoutError[Value any](function func(string) Value) func(string) (Value, error) {
	return func(text string) (Value, error) { return function(text), nil }
}

func withoutErrorOfTwo[Value any](function func(string, string) Value) func(string, string) (Value, error) {
	return func(one, two string) (Value, error) { return function(one, two), nil }
}

var arithmeticOps = map[string]op{
	"accel.VALID_TPU_TOPOLOGY.count":              {answer: countTopologies},
	"accel.VALID_TPU_TOPOLOGY.list":               {answer: listTopologies},
	"accel._get_default_chips_per_vm":             twoTextOp("topology", "accelerator_version", false, ray.DefaultChipsPerVM, toAny),
	"accel.get_chips_per_host":                    twoTextOp("topology", "accelerator_version", false, ray.ChipsPerHost, toAny),
	"accel.get_num_chips_from_topology":           textOp("topology", ray.ChipsFromTopology, toAny),
	"accel.get_num_tpu_visible_chips_per_host":    textOp("accelerator_type", ray.VisibleChipsPerHost, toAny),
	"accel.get_total_chips_from_accelerator_type": textOp("accelerator_type", ray.ChipsFromType, toAny),
	"accel.get_tpu_cores_per_chip":                textOp("accelerator_type", ray.CoresPerChip, toAny),
	"accel.get_tpu_resource_per_chip":             {answer: resourcePerChip},
	"accel.infer_tpu_pod_type_from_topology":      twoTextOp("topology", "accelerator_type", true, ray.PodType, textToJSON),
	"accel.normalize_tpu_accelerator_type":        textOp("accelerator_type", ray.NormalizeType, toAny),
	"mgr.is_valid_tpu_accelerator_topology": twoTextOp("tpu_accelerator_version", "tpu_topology", true,
		withoutErrorOfTwo(ray.TopologyIsValid), toAny),
	"mgr.is_valid_tpu_accelerator_type":   textOp("tpu_accelerator_type", withoutError(ray.TypeIsValid), toAny),
	"util.get_tpu_coordinator_env_vars":   {answer: coordinatorEnv},
	"util.get_tpu_num_slices_for_workers": {answer: slicesForWorkers},
	"util.get_tpu_version_from_type":      textOp("accelerator_type", ray.VersionFromType, toAny),
	"util.get_tpu_worker_resources":       {answer: workerResources, sameOrder: true},
}
