// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: Ray's arithmetic.

import "quoit/ray"

const factorVariable = "RAY_TPU_RESOURCE_PER_CHIP"

// ofOne returns an op with one text argument.
func ofOne[Value any](member string, function func(string) (Value, error), answer func(Value) any) op {
	return op{answer: func(in, _ any) (any, error) {
		given := read(in, member)
		text := given.text(member)
		if given.err != nil {
			return nil, given.err
		}
		value, err := function(text)
		return answer(value), err
	}}
}

// ofTwo returns an op with two text arguments. With isNone, null becomes "".
func ofTwo[Value any](first, second string, isNone bool, function func(string, string) (Value, error),
	answer func(Value) any) op {
	return op{answer: func(in, _ any) (any, error) {
		given := read(in, first, second)
		one, two := given.textOr(first, ""), given.textOr(second, "")
		if !isNone {
			one, two = given.text(first), given.text(second)
		}
		if given.err != nil {
			return nil, given.err
		}
		value, err := function(one, two)
		return answer(value), err
	}}
}

func anyOf[Value any](value Value) any { return value }

func listTopologies(in, _ any) (any, error) {
	given := read(in, "generation")
	generation := given.text("generation")
	return ofTexts(ray.ValidTopologies(generation)), given.err
}

func countTopologies(in, recorded any) (any, error) {
	listed, err := listTopologies(in, recorded)
	if err != nil {
		return nil, err
	}
	return int64(len(listed.([]any))), nil
}

// --- workers ---

// factorText returns the factor in a row's environment, which has one of two forms.
func (r *reading) factorText() *string {
	if !r.has("env") {
		return r.textOrNil("env." + factorVariable)
	}
	env, ok := r.values["env"].(*object)
	if !ok {
		r.fail("an environment that is no object")
		return nil
	}
	return (&reading{object: env}).textOrNil(factorVariable)
}

// factor returns the factor that Ray would use: the argument, or else that of the environment.
func (r *reading) factor() (*int64, error) {
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
	given := read(in, "env", "env."+factorVariable)
	text := given.factorText()
	if given.err != nil {
		return nil, given.err
	}
	return wrapped(ray.ResourcePerChip(text))
}

// wrapped returns a result of any type as the result of an op.
func wrapped[Value any](value Value, err error) (any, error) {
	return value, err
}

func workerResources(in, _ any) (any, error) {
	given := read(in, "topology", "accelerator_type", "resources_per_worker", "num_slices", "chips_per_vm",
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
	workers, each, err := ray.WorkerResources(work)
	if err != nil {
		return nil, err
	}
	return (&object{}).set("num_workers", workers).set("worker_resources", ofResources(each)), nil
}

func slicesForWorkers(in, _ any) (any, error) {
	given := read(in, "topology", "accelerator_type", "num_workers", "resources_per_worker", "tpu_resource_per_chip",
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
	return wrapped(ray.SlicesForWorkers(work, workers))
}

func coordinatorEnv(in, _ any) (any, error) {
	given := read(in, "coordinator_address", "num_slices", "slice_id", "coordinator_port")
	if given.has("coordinator_port") && given.values["coordinator_port"] == nil {
		return nil, skip("null, which is Ray's own port for quoit, where Ray makes a text of it")
	}
	address, slices := given.text("coordinator_address"), given.integer("num_slices")
	id, port := given.integer("slice_id"), given.textOr("coordinator_port", "")
	if given.err != nil {
		return nil, given.err
	}
	env, err := ray.CoordinatorEnv(address, slices, id, port)
	return ofPairs(env), err
}

func plain[Value any](function func(string) Value) func(string) (Value, error) {
	return func(text string) (Value, error) { return function(text), nil }
}

func plainOfTwo[Value any](function func(string, string) Value) func(string, string) (Value, error) {
	return func(one, two string) (Value, error) { return function(one, two), nil }
}

var arithmeticOps = map[string]op{
	"accel.VALID_TPU_TOPOLOGY.count":              {answer: countTopologies},
	"accel.VALID_TPU_TOPOLOGY.list":               {answer: listTopologies},
	"accel._get_default_chips_per_vm":             ofTwo("topology", "accelerator_version", false, ray.DefaultChipsPerVM, anyOf),
	"accel.get_chips_per_host":                    ofTwo("topology", "accelerator_version", false, ray.ChipsPerHost, anyOf),
	"accel.get_num_chips_from_topology":           ofOne("topology", ray.ChipsFromTopology, anyOf),
	"accel.get_num_tpu_visible_chips_per_host":    ofOne("accelerator_type", ray.VisibleChipsPerHost, anyOf),
	"accel.get_total_chips_from_accelerator_type": ofOne("accelerator_type", ray.ChipsFromType, anyOf),
	"accel.get_tpu_cores_per_chip":                ofOne("accelerator_type", ray.CoresPerChip, anyOf),
	"accel.get_tpu_resource_per_chip":             {answer: resourcePerChip},
	"accel.infer_tpu_pod_type_from_topology":      ofTwo("topology", "accelerator_type", true, ray.PodType, ofText),
	"accel.normalize_tpu_accelerator_type":        ofOne("accelerator_type", ray.NormalizeType, anyOf),
	"mgr.is_valid_tpu_accelerator_topology": ofTwo("tpu_accelerator_version", "tpu_topology", true,
		plainOfTwo(ray.TopologyIsValid), anyOf),
	"mgr.is_valid_tpu_accelerator_type":   ofOne("tpu_accelerator_type", plain(ray.TypeIsValid), anyOf),
	"util.get_tpu_coordinator_env_vars":   {answer: coordinatorEnv},
	"util.get_tpu_num_slices_for_workers": {answer: slicesForWorkers},
	"util.get_tpu_version_from_type":      ofOne("accelerator_type", ray.VersionFromType, anyOf),
	"util.get_tpu_worker_resources":       {answer: workerResources, sameOrder: true},
}
