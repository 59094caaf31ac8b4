// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: what Ray Train computes from its arguments, and its decisions during a run.

import (
	"math"
	"strconv"
	"strings"
	"time"

	"quoit/ray"
)

const execution = "ray.train.v2._internal.execution."

var scalingMembers = []string{
	"use_tpu", "use_gpu", "topology", "accelerator_type", "num_workers", "resources_per_worker", "placement_strategy",
	"label_selector", "elastic_resize_monitor_interval_s", "trainer_resources",
}

// --- sizes ---

// readWorkers reads the number of workers, or their range. A range is a list, because JSON has no tuples.
func (r *objectReader) readWorkers(scaling *ray.Scaling) {
	pair, isRange := r.values["num_workers"].([]any)
	if !isRange {
		scaling.Workers = r.integerOrNil("num_workers")
		return
	}
	if len(pair) != 2 {
		r.fail("a range that does not have two numbers")
		return
	}
	least, ok := pair[0].(int64)
	most, too := pair[1].(int64)
	if !ok || !too {
		r.fail("Go requires an integer, and the value has another type")
		return
	}
	scaling.Range = &ray.WorkerRange{Min: least, Max: most}
}

func (r *objectReader) readSelector(scaling *ray.Scaling) {
	list, isList := r.values["label_selector"].([]any)
	if !isList {
		scaling.Selector = r.labels("label_selector")
		return
	}
	scaling.Selectors = []ray.Labels{}
	for _, one := range list {
		labels, err := toLabels(one)
		if err != nil && r.err == nil {
			r.err = err
		}
		scaling.Selectors = append(scaling.Selectors, labels)
	}
}

func readScaling(r *objectReader) (ray.Scaling, error) {
	scaling := ray.Scaling{
		Topology: r.textOr("topology", ""), AcceleratorType: r.textOr("accelerator_type", ""),
		PerWorker: r.resources("resources_per_worker"), Strategy: r.textOr("placement_strategy", ""),
	}
	if r.flag("use_gpu", false) {
		scaling.Accelerators |= ray.UseGPU
	}
	if r.flag("use_tpu", false) {
		scaling.Accelerators |= ray.UseTPU
	}
	r.readWorkers(&scaling)
	r.readSelector(&scaling)
	if seconds, given := toNumber(r.values["elastic_resize_monitor_interval_s"]); given {
		interval := time.Duration(seconds * float64(time.Second))
		if !isWhole(seconds*1000) || math.Abs(seconds) > 1e9 {
			r.fail("an interval that is not a whole number of milliseconds")
		}
		scaling.MonitorInterval = &interval
	}
	if r.has("trainer_resources") && r.values["trainer_resources"] != nil {
		r.fail("trainer_resources, which Ray Train always refuses")
	}
	return scaling, r.err
}

func scalingConfig(in, recorded any) (any, error) {
	r := newReader(in, scalingMembers...)
	scaling, err := readScaling(r)
	if err != nil {
		return nil, err
	}
	plan, err := scaling.Plan()
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	most := plan.MaxWorkers
	slices, err := plan.Slices(most)
	if err != nil {
		return nil, err
	}
	usesSlices, err := plan.UsesSlices(most)
	if err != nil {
		return nil, err
	}
	selectors := []any{}
	for worker := int64(0); worker < most; worker++ {
		labels, err := plan.Labels(worker)
		if err != nil {
			return nil, err
		}
		selectors = append(selectors, labelsToJSON(labels))
	}
	tpus, _ := plan.PerWorker.Get("TPU")
	answer := (&object{}).
		set("valid", true).
		set("min_workers", plan.MinWorkers).
		set("max_workers", most).
		set("elasticity_enabled", plan.IsElastic).
		set("resources_per_worker", resourcesToJSON(plan.PerWorker)).
		set("num_tpus_per_worker", tpus).
		set("total_resources", resourcesToJSON(plan.Total)).
		set("num_slices", slices).
		set("slice_placement_group", usesSlices).
		set("workers_per_slice", plan.WorkersPerSlice).
		set("label_selector_per_worker", selectors)
	return keepRecorded(answer, recorded), nil
}

// toAmount returns an amount, or computes an amount that the row describes as a floating-point sum: "0.1 added 5 times
// in floating point".
func toAmount(value any) (float64, bool) {
	words, ok := value.(string)
	if !ok {
		return toNumber(value)
	}
	step, count, ok := strings.Cut(strings.ReplaceAll(words, " times in floating point", ""), " added ")
	if !ok {
		return 0, false
	}
	one, err := strconv.ParseFloat(step, 64)
	times, wrong := strconv.Atoi(count)
	sum := 0.0
	for ; times > 0; times-- {
		sum += one
	}
	return sum, err == nil && wrong == nil
}

// countPossible derives the kind of accelerators, which the rows do not have: a topology means TPU, and a GPU resource
// means GPU.
func countPossible(in, _ any) (any, error) {
	r := newReader(in, "topology", "accelerator_type", "num_workers", "resources_per_worker", "nodes", "node", "intact_slices")
	scaling, err := readScaling(r)
	if err != nil {
		return nil, err
	}
	if gpus, _ := scaling.PerWorker.Get("GPU"); gpus > 0 {
		scaling.Accelerators |= ray.UseGPU
	}
	if r.has("topology") {
		scaling.Accelerators |= ray.UseTPU
	}
	given, ok := r.values["node"].(*object)
	if !ok {
		return nil, skip("Go requires resources, and the value has another type")
	}
	node := ray.Resources{}
	for _, name := range given.keys {
		amount, ok := toAmount(given.values[name])
		if !ok {
			return nil, skip("Go requires an amount, and the value has another type")
		}
		node = append(node, ray.Amount{Name: name, Amount: amount})
	}
	nodes := make([]ray.Resources, r.integer("nodes"))
	for index := range nodes {
		nodes[index] = node
	}
	intact := r.integerOrNil("intact_slices")
	if r.err != nil {
		return nil, r.err
	}
	plan, err := scaling.Plan()
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	return toResult(plan.CountPossible(nodes, intact))
}

// --- runs ---

var failureKinds = map[string]ray.FailureKind{
	"worker": ray.WorkerFailure, "startup_failed": ray.StartupFailed, "startup_timeout": ray.StartupTimeout,
	"preemption": ray.Preemption, "controller_other": ray.ControllerFailure,
}

// decideFailures handles rows with a list of errors and their answers, and rows with a number of worker errors.
func decideFailures(in, _ any) (any, error) {
	limits := ray.FailureLimits{Worker: 0, Controller: -1, Preemption: -1}
	given, ok := in.(*object)
	if ok && given.has("failures") {
		r := newReader(in, "max_failures", "failures")
		limits.Worker = r.integer("max_failures")
		kinds := make([]ray.FailureKind, r.integer("failures"))
		return (&object{}).set("decisions", decisions(limits.Retries(kinds))), r.err
	}
	r := newReader(in, "failure_config", "errors")
	config := newReader(r.values["failure_config"], "max_failures", "controller_failure_limit", "max_preemption_failures")
	limits.Worker = config.integerOr("max_failures", limits.Worker)
	limits.Controller = config.integerOr("controller_failure_limit", limits.Controller)
	limits.Preemption = config.integerOr("max_preemption_failures", limits.Preemption)
	kinds := []ray.FailureKind{}
	for _, name := range r.texts("errors") {
		kind, known := failureKinds[name]
		if !known {
			r.fail("an unknown failure")
		}
		kinds = append(kinds, kind)
	}
	if r.err == nil {
		r.err = config.err
	}
	return decisions(limits.Retries(kinds)), r.err
}

func decisions(retries []bool) []any {
	decisions := []any{}
	for _, retry := range retries {
		if retry {
			decisions = append(decisions, "RETRY")
		} else {
			decisions = append(decisions, "RAISE")
		}
	}
	return decisions
}

func ranksByNode(in, _ any) (any, error) {
	r := newReader(in, "node_ids", "first_id")
	ids, first := r.texts("node_ids"), r.textOrNil("first_id")
	if r.err != nil {
		return nil, r.err
	}
	ranks, err := ray.RankByNode(ids, nil, first)
	order := []any{}
	for _, one := range ranks {
		order = append(order, ids[one.Worker])
	}
	return (&object{}).set("order", order), err
}

func ranksBySlice(in, _ any) (any, error) {
	r := newReader(in, "pod_names_in_actor_order")
	names, nodes := []*string{}, []string{}
	for _, one := range r.list("pod_names_in_actor_order") {
		member := &objectReader{object: (&object{}).set("name", one), err: r.err}
		names, nodes = append(names, member.textOrNil("name")), append(nodes, "10.0.0.1")
		r.err = member.err
	}
	if r.err != nil {
		return nil, r.err
	}
	ranks, err := ray.RankBySlice(names, nodes)
	order := []any{}
	for _, one := range ranks {
		order = append(order, int64(one.Worker))
	}
	return (&object{}).set("actor_index_by_rank", order), err
}

func sliceIDs(in, _ any) (any, error) {
	r := newReader(in, "num_workers", "workers_per_slice", "num_slices")
	workers, perSlice, slices := r.integer("num_workers"), r.integer("workers_per_slice"), r.integer("num_slices")
	ids := []any{}
	for rank := int64(0); rank < workers && r.err == nil; rank++ {
		ids = append(ids, ray.SliceID(rank, perSlice, slices))
	}
	return (&object{}).set("slice_ids", ids), r.err
}

// sliceIDsByName returns the id of each slice, which is the same on all its workers. Rows without names use "slice-A"
// and so on.
func sliceIDsByName(names []string, ofRank []any, slices int64) *object {
	if len(names) == 0 {
		for index := int64(0); index < slices; index++ {
			names = append(names, "slice-"+string(rune('A'+index)))
		}
	}
	ids := &object{}
	for index, name := range names {
		ids.set(name, ofRank[index*len(ofRank)/int(slices)])
	}
	return ids
}

func jaxEnvironment(in, _ any) (any, error) {
	r := newReader(in, "topology", "accelerator_type", "num_workers", "slices", "worker_env", "resources_per_worker")
	work := ray.Work{
		Topology: r.textOr("topology", ""), AcceleratorType: r.text("accelerator_type"),
		PerWorker: r.resources("resources_per_worker"),
	}
	workers, before := r.integer("num_workers"), r.variables("worker_env")
	names := r.texts("slices")
	if r.err != nil {
		return nil, r.err
	}
	var err error
	if work.Slices, err = ray.SlicesForWorkers(work, workers); err != nil {
		return nil, err
	}
	answer, ofRank := &object{}, []any{}
	for rank := int64(0); rank < workers; rank++ {
		env, err := ray.TrainEnv("ip of world rank 0", rank, work, before)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"COORDINATOR_ADDRESS", "NUM_SLICES", "PORT", "SLICE_ID"} {
			answer.set("MEGASCALE_"+name, variableToJSON(env, "MEGASCALE_"+name))
		}
		ofRank = append(ofRank, variableToJSON(env, "MEGASCALE_SLICE_ID"))
	}
	answer.set("slice_id_per_rank", ofRank)
	if work.Slices > 1 {
		answer.set("MEGASCALE_SLICE_ID", sliceIDsByName(names, ofRank, work.Slices))
	}
	return answer, nil
}

func variableToJSON(env map[string]string, name string) any {
	if value, set := env[name]; set {
		return value
	}
	return nil
}

var trainOps = map[string]op{
	execution + "failure_handling.default.DefaultFailurePolicy.make_decision":                   {answer: decideFailures},
	execution + "scaling_policy.elastic.ElasticScalingPolicy._count_possible_workers":           {answer: countPossible},
	execution + "worker_group.worker_group.WorkerGroup._sort_workers_by_gpu_id_grouped_by_node": {answer: ranksByNode},
	execution + "worker_group.worker_group.WorkerGroup._sort_workers_by_tpu_pod_name":           {answer: ranksBySlice},
	"ray.train.v2.api.config.ScalingConfig":                                                     {answer: scalingConfig},
	"ray.train.v2.jax.config._JaxBackend.on_start":                                              {answer: sliceIDs},
	"ray.train.v2.jax.config._setup_jax_distributed_environment":                                {answer: jaxEnvironment},
}
