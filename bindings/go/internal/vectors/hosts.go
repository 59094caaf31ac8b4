// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: hosts, their nodes and chips, and the launchers that start them.

import (
	"strconv"
	"strings"

	"quoit/ray"
)

// toldVariables are the variables that a row can set one by one.
var toldVariables = map[string]string{
	"tpu_name": "TPU_NAME", "worker_id": "TPU_WORKER_ID", "resource_per_chip": factorVariable,
}

// told is the environment of a host, and the answers of its metadata server.
type told struct {
	env, metadata map[string]string
}

func readHost(in any, members ...string) (*reading, told) {
	members = append(members, "env", "metadata", "source", "value", "tpu_name", "worker_id", "resource_per_chip")
	if given, ok := in.(*object); ok {
		for _, key := range given.keys {
			if strings.HasPrefix(key, "env.") || strings.HasPrefix(key, "metadata.") {
				members = append(members, key)
			}
		}
	}
	r := read(in, members...)
	if r.err != nil {
		return r, told{}
	}
	all := told{r.variables("env"), map[string]string{}}
	if kind, ok := r.values["metadata"].(string); ok {
		all.metadata["accelerator-type"] = kind
	} else {
		all.metadata = r.variables("metadata")
	}
	r.addSource(all)
	for _, member := range r.keys {
		where, name, inside := strings.Cut(member, ".")
		switch {
		case inside && where == "env":
			r.addVariable(all.env, name, r.values[member])
		case inside:
			r.addVariable(all.metadata, name, r.values[member])
		case toldVariables[member] != "":
			r.addVariable(all.env, toldVariables[member], r.values[member])
		}
	}
	return r, all
}

func (r *reading) addSource(all told) {
	switch source := r.values["source"]; source {
	case nil:
	case "gke":
		r.addVariable(all.env, "TPU_WORKER_ID", r.values["value"])
	case "gce":
		r.addVariable(all.metadata, "agent-worker-number", r.values["value"])
	default:
		r.fail("a source that quoit has not")
	}
}

// variables returns a whole environment. null means not set; a number becomes text.
func (r *reading) variables(member string) map[string]string {
	variables := map[string]string{}
	switch one := r.values[member].(type) {
	case nil:
	case *object:
		for _, name := range one.keys {
			r.addVariable(variables, name, one.values[name])
		}
	default:
		r.fail("an environment that is no object")
	}
	return variables
}

func (r *reading) addVariable(variables map[string]string, name string, value any) {
	if strings.Contains(name, "=") {
		r.fail("a variable that cannot be")
	}
	switch one := value.(type) {
	case nil:
		delete(variables, name)
	case string:
		variables[name] = one
	case int64:
		variables[name] = strconv.FormatInt(one, 10)
	default:
		r.fail("another type where Go takes a text")
	}
}

// --- identity ---

func hostOf(in any) (*ray.Host, error) {
	r, said := readHost(in)
	if r.err != nil {
		return nil, r.err
	}
	return ray.NewHost(said.env, said.metadata)
}

// workerID returns the worker id as a number if it is one, as in the rows.
func workerID(host *ray.Host) any {
	if host.WorkerID == nil {
		return nil
	}
	number, err := strconv.ParseInt(*host.WorkerID, 10, 64)
	if err != nil {
		return *host.WorkerID
	}
	return number
}

func ofHost(answer func(*ray.Host) any) op {
	return op{answer: func(in, _ any) (any, error) {
		host, err := hostOf(in)
		if err != nil {
			return nil, err
		}
		return answer(host), nil
	}}
}

func allOfHost(host *ray.Host) any {
	return (&object{}).
		set("pod_type", ofTextOrNil(host.PodType)).
		set("name", ofTextOrNil(host.SliceName)).
		set("worker_id", workerID(host)).
		set("topology", ofTextOrNil(host.Topology)).
		set("accelerator_type", ofTextOrNil(host.AcceleratorType)).
		set("additional_resources", ofResources(host.Resources)).
		set("labels", ofLabels(host.Labels))
}

func podWorkers(in, _ any) (any, error) {
	r, said := readHost(in, "chips_on_node", "pod_type")
	kind, chips := r.textOrNil("pod_type"), r.integer("chips_on_node")
	if r.err != nil {
		return nil, r.err
	}
	if !r.has("pod_type") {
		host, err := ray.NewHost(said.env, said.metadata)
		if err != nil {
			return nil, err
		}
		kind = host.PodType
	}
	workers, err := ray.PodWorkers(kind, chips)
	if workers < 0 {
		return nil, err
	}
	return workers, err
}

// resolve leaves out the memory, because it depends on the machine and is not recorded.
func resolve(in, _ any) (any, error) {
	r, said := readHost(in, "resources", "labels", "chips_detected", "num_cpus", "node_ip")
	if r.err == nil && (r.values["num_cpus"] == nil || r.values["node_ip"] == nil) {
		r.fail("an answer of the machine that Ray ran on")
	}
	cpus, _ := numberOf(r.values["num_cpus"])
	node := ray.RayletNode{
		Address: r.text("node_ip"), Env: said.env, Metadata: said.metadata, Custom: r.resources("resources"),
		Predefined: ray.Resources{{Name: "CPU", Amount: cpus}}, Labels: r.labels("labels"),
		Chips: r.integerOr("chips_detected", 0),
	}
	if r.err != nil {
		return nil, r.err
	}
	resources, labels, err := node.Offer()
	if err != nil {
		return nil, err
	}
	offered := &object{}
	for _, one := range resources {
		if one.Name != "memory" && one.Name != "object_store_memory" {
			offered.set(one.Name, one.Amount)
		}
	}
	return (&object{}).set("resources", offered).set("labels", ofLabels(labels)), nil
}

// --- visible chips ---

var seenVariables = []string{"TPU_VISIBLE_CHIPS", "TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS"}

func seen(env map[string]string) *object {
	answer := &object{}
	for _, name := range seenVariables {
		if value, set := env[name]; set {
			answer.set(name, value)
		}
	}
	return answer
}

func visibleIDs(in, _ any) (any, error) {
	r, said := readHost(in)
	if r.err != nil {
		return nil, r.err
	}
	ids, err := ray.VisibleIDs(said.env)
	if ids == nil {
		return nil, err
	}
	return ofTexts(ids), err
}

// visibleEnv handles two kinds of rows: those with chips have the resulting environment, and those with devices have
// what Ray sets and removes.
func visibleEnv(in, _ any) (any, error) {
	if given, ok := in.(*object); ok && given.has("devices_on_node") {
		return visibleChange(in)
	}
	r, said := readHost(in, "chips_on_node", "visible")
	ids, chips := r.texts("visible"), r.integer("chips_on_node")
	if r.err != nil {
		return nil, r.err
	}
	env, err := ray.VisibleEnv(ids, chips, said.env)
	return (&object{}).set("env_after", seen(env)), err
}

func visibleChange(in any) (any, error) {
	r, said := readHost(in, "devices_on_node", "visible")
	ids, devices := r.texts("visible"), r.integer("devices_on_node")
	if r.err != nil {
		return nil, r.err
	}
	if _, set := said.env["TPU_VISIBLE_CHIPS"]; !set {
		said.env["TPU_VISIBLE_CHIPS"] = "something" // so that its removal is visible
	}
	env, err := ray.VisibleEnv(ids, devices, said.env)
	if err != nil {
		return nil, err
	}
	set, unset := &object{}, []any{}
	for _, name := range seenVariables {
		before, was := said.env[name]
		after, is := env[name]
		if is && (!was || before != after) {
			set.set(name, after)
		} else if was && !is {
			unset = append(unset, name)
		}
	}
	return (&object{}).set("set", set).set("unset", unset), nil
}

// setVisibleChips is like visibleEnv, for ray-train-env.
func setVisibleChips(in, _ any) (any, error) {
	r := read(in, "node_accelerators", "ids", "env_before")
	chips, env := r.integer("node_accelerators"), r.variables("env_before")
	ids := []string{}
	for _, one := range r.list("ids") {
		if number, ok := one.(int64); ok {
			one = strconv.FormatInt(number, 10)
		}
		text, ok := one.(string)
		if !ok {
			r.fail("another type where Go takes a text")
		}
		ids = append(ids, text)
	}
	if r.err != nil {
		return nil, r.err
	}
	after, err := ray.VisibleEnv(ids, chips, env)
	return seen(after), err
}

func quantity(in, _ any) (any, error) {
	r := read(in, "quantity")
	amount, ok := numberOf(r.values["quantity"])
	if !ok {
		r.fail("another type where Go takes a number")
	}
	return (&object{}).set("ok", ray.QuantityIsValid(amount)), r.err
}

func fixedPoint(in, _ any) (any, error) {
	if amount, ok := numberOf(in); ok {
		return ray.Units(amount), nil
	}
	return nil, skip("another type where Go takes a number")
}

// --- launchers ---

func gkePodType(in, _ any) (any, error) {
	r := read(in, "topology", "accelerator")
	topology, accelerator := r.textOrNil("topology"), r.textOrNil("accelerator")
	if r.err != nil {
		return nil, r.err
	}
	kind, err := ray.GKEPodType(topology, accelerator)
	return ofText(kind), err
}

func valueOrRefusal[Value any](value Value, err error) any {
	if err != nil {
		return refusal{err}
	}
	return (&object{}).set("value", any(value))
}

// gce returns what Ray's launcher derives from one node. The type is only requested for a node with a configuration.
func gce(in, _ any) (any, error) {
	r := read(in, "acceleratorType", "acceleratorConfig")
	node := ray.GCENode{AcceleratorType: r.textOrNil("acceleratorType")}
	if r.err != nil {
		return nil, r.err
	}
	if r.has("acceleratorConfig") {
		config := read(r.values["acceleratorConfig"], "type", "topology")
		node.Type, node.Topology = config.textOrNil("type"), config.textOrNil("topology")
		if config.err != nil {
			return nil, config.err
		}
		if node.AcceleratorType != nil && node.Type == nil && node.Topology == nil {
			return nil, skip("an empty configuration beside a type")
		}
	}
	answer := &object{}
	answer.set("validate", valueOrRefusal[any](nil, node.Check()))
	if r.has("acceleratorConfig") {
		answer.set("type", valueOrRefusal(node.PodType()))
	}
	return answer.set("single_host", valueOrRefusal(node.IsSingleHost())), nil
}

const (
	ofNode   = "mgr.get_current_node_"
	ofConfig = "ray.autoscaler._private.gcp.config."
)

var hostOps = map[string]op{
	ofNode + "accelerator_labels": ofHost(func(h *ray.Host) any { return ofLabels(h.Labels) }),
	ofNode + "accelerator_type":   ofHost(func(h *ray.Host) any { return ofTextOrNil(h.AcceleratorType) }),
	ofNode + "additional_resources": ofHost(func(h *ray.Host) any {
		return (&object{}).set("resources", ofResources(h.Resources))
	}),
	ofNode + "tpu_name":      ofHost(func(h *ray.Host) any { return ofTextOrNil(h.SliceName) }),
	ofNode + "tpu_pod_type":  ofHost(func(h *ray.Host) any { return ofTextOrNil(h.PodType) }),
	ofNode + "tpu_topology":  ofHost(func(h *ray.Host) any { return ofTextOrNil(h.Topology) }),
	ofNode + "tpu_worker_id": ofHost(workerID),
	ofNode + "{tpu_pod_type,tpu_name,tpu_worker_id,tpu_topology,accelerator_type,additional_resources," +
		"accelerator_labels}": ofHost(allOfHost),
	"mgr.get_current_process_visible_accelerator_ids":                                      {answer: visibleIDs},
	"mgr.get_num_workers_in_current_tpu_pod":                                               {answer: podWorkers},
	"mgr.set_current_process_visible_accelerator_ids":                                      {answer: visibleEnv},
	"mgr.validate_resource_request_quantity":                                               {answer: quantity},
	"ray._private.resource_and_label_spec.ResourceAndLabelSpec.resolve":                    {answer: resolve},
	ofConfig + "{_validate_tpu_config,_is_single_host_tpu}":                                {answer: gce, refusals: true},
	ofConfig + "{_validate_tpu_config,tpu_accelerator_config_to_type,_is_single_host_tpu}": {answer: gce, refusals: true},
	"ray.autoscaler._private.kuberay.utils.tpu_node_selectors_to_type":                     {answer: gkePodType},
	"util.get_current_pod_worker_count (TPUAcceleratorManager.get_num_workers_in_current_tpu_pod)": {
		answer: podWorkers,
	},
	"fixed_point":       {answer: fixedPoint},
	"set_visible_chips": {answer: setVisibleChips},
}
