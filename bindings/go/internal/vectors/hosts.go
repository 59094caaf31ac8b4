// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: hosts, their nodes and chips, and the launchers that start them.

import (
	"strconv"
	"strings"

	"quoit/ray"
)

// singleVariables has the members of a row that set one variable, and the names of the variables.
var singleVariables = map[string]string{
	"tpu_name": "TPU_NAME", "worker_id": "TPU_WORKER_ID", "resource_per_chip": factorVariable,
}

// hostInput is the environment of a host, and the content of its metadata server.
type hostInput struct {
	env, metadata map[string]string
}

func readHost(in any, members ...string) (*objectReader, hostInput) {
	members = append(members, "env", "metadata", "source", "value", "tpu_name", "worker_id", "resource_per_chip")
	if given, ok := in.(*object); ok {
		for _, key := range given.keys {
			if strings.HasPrefix(key, "env.") || strings.HasPrefix(key, "metadata.") {
				members = append(members, key)
			}
		}
	}
	r := newReader(in, members...)
	if r.err != nil {
		return r, hostInput{}
	}
	all := hostInput{r.variables("env"), map[string]string{}}
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
		case singleVariables[member] != "":
			r.addVariable(all.env, singleVariables[member], r.values[member])
		}
	}
	return r, all
}

func (r *objectReader) addSource(all hostInput) {
	switch source := r.values["source"]; source {
	case nil:
	case "gke":
		r.addVariable(all.env, "TPU_WORKER_ID", r.values["value"])
	case "gce":
		r.addVariable(all.metadata, "agent-worker-number", r.values["value"])
	default:
		r.fail("a source that quoit does not model")
	}
}

// variables returns an environment from an object. null means that the variable is not set; a number becomes text.
func (r *objectReader) variables(member string) map[string]string {
	variables := map[string]string{}
	switch one := r.values[member].(type) {
	case nil:
	case *object:
		for _, name := range one.keys {
			r.addVariable(variables, name, one.values[name])
		}
	default:
		r.fail("an environment that is not an object")
	}
	return variables
}

func (r *objectReader) addVariable(variables map[string]string, name string, value any) {
	if strings.Contains(name, "=") {
		r.fail("a variable whose name has a '='")
	}
	switch one := value.(type) {
	case nil:
		delete(variables, name)
	case string:
		variables[name] = one
	case int64:
		variables[name] = strconv.FormatInt(one, 10)
	default:
		r.fail("Go requires a text, and the value has another type")
	}
}

// --- identity ---

func hostOf(in any) (*ray.Host, error) {
	r, input := readHost(in)
	if r.err != nil {
		return nil, r.err
	}
	return ray.NewHost(input.env, input.metadata)
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

func hostOp(answer func(*ray.Host) any) op {
	return op{answer: func(in, _ any) (any, error) {
		host, err := hostOf(in)
		if err != nil {
			return nil, err
		}
		return answer(host), nil
	}}
}

func hostToJSON(host *ray.Host) any {
	return (&object{}).
		set("pod_type", textPointerToJSON(host.PodType)).
		set("name", textPointerToJSON(host.SliceName)).
		set("worker_id", workerID(host)).
		set("topology", textPointerToJSON(host.Topology)).
		set("accelerator_type", textPointerToJSON(host.AcceleratorType)).
		set("additional_resources", resourcesToJSON(host.Resources)).
		set("labels", labelsToJSON(host.Labels))
}

func podWorkers(in, _ any) (any, error) {
	r, input := readHost(in, "chips_on_node", "pod_type")
	kind, chips := r.textOrNil("pod_type"), r.integer("chips_on_node")
	if r.err != nil {
		return nil, r.err
	}
	if !r.has("pod_type") {
		host, err := ray.NewHost(input.env, input.metadata)
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

// resolve returns the resources and labels of a node, except the memory, which depends on the machine and is not
// recorded.
func resolve(in, _ any) (any, error) {
	r, input := readHost(in, "resources", "labels", "chips_detected", "num_cpus", "node_ip")
	if r.err == nil && (r.values["num_cpus"] == nil || r.values["node_ip"] == nil) {
		r.fail("an answer that depends on the machine on which Ray ran")
	}
	cpus, _ := toNumber(r.values["num_cpus"])
	node := ray.RayletNode{
		Address: r.text("node_ip"), Env: input.env, Metadata: input.metadata, Custom: r.resources("resources"),
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
	return (&object{}).set("resources", offered).set("labels", labelsToJSON(labels)), nil
}

// --- visible chips ---

var visibleVariableNames = []string{"TPU_VISIBLE_CHIPS", "TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS"}

func visibleVariables(env map[string]string) *object {
	answer := &object{}
	for _, name := range visibleVariableNames {
		if value, set := env[name]; set {
			answer.set(name, value)
		}
	}
	return answer
}

func visibleIDs(in, _ any) (any, error) {
	r, input := readHost(in)
	if r.err != nil {
		return nil, r.err
	}
	ids, err := ray.VisibleIDs(input.env)
	if ids == nil {
		return nil, err
	}
	return textsToJSON(ids), err
}

// visibleEnv handles two kinds of rows: those with chips have the resulting environment, and those with devices have
// what Ray sets and removes.
func visibleEnv(in, _ any) (any, error) {
	if given, ok := in.(*object); ok && given.has("devices_on_node") {
		return visibleChange(in)
	}
	r, input := readHost(in, "chips_on_node", "visible")
	ids, chips := r.texts("visible"), r.integer("chips_on_node")
	if r.err != nil {
		return nil, r.err
	}
	env, err := ray.VisibleEnv(ids, chips, input.env)
	return (&object{}).set("env_after", visibleVariables(env)), err
}

func visibleChange(in any) (any, error) {
	r, input := readHost(in, "devices_on_node", "visible")
	ids, devices := r.texts("visible"), r.integer("devices_on_node")
	if r.err != nil {
		return nil, r.err
	}
	if _, set := input.env["TPU_VISIBLE_CHIPS"]; !set {
		input.env["TPU_VISIBLE_CHIPS"] = "placeholder" // so that the answer shows if Ray removes the variable
	}
	env, err := ray.VisibleEnv(ids, devices, input.env)
	if err != nil {
		return nil, err
	}
	set, unset := &object{}, []any{}
	for _, name := range visibleVariableNames {
		before, was := input.env[name]
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
	r := newReader(in, "node_accelerators", "ids", "env_before")
	chips, env := r.integer("node_accelerators"), r.variables("env_before")
	ids := []string{}
	for _, one := range r.list("ids") {
		if number, ok := one.(int64); ok {
			one = strconv.FormatInt(number, 10)
		}
		text, ok := one.(string)
		if !ok {
			r.fail("Go requires a text, and the value has another type")
		}
		ids = append(ids, text)
	}
	if r.err != nil {
		return nil, r.err
	}
	after, err := ray.VisibleEnv(ids, chips, env)
	return visibleVariables(after), err
}

func quantity(in, _ any) (any, error) {
	r := newReader(in, "quantity")
	amount, ok := toNumber(r.values["quantity"])
	if !ok {
		r.fail("Go requires a number, and the value has another type")
	}
	return (&object{}).set("ok", ray.QuantityIsValid(amount)), r.err
}

func fixedPoint(in, _ any) (any, error) {
	if amount, ok := toNumber(in); ok {
		return ray.AmountToTenThousandths(amount), nil
	}
	return nil, skip("Go requires a number, and the value has another type")
}

// --- launchers ---

func gkePodType(in, _ any) (any, error) {
	r := newReader(in, "topology", "accelerator")
	topology, accelerator := r.textOrNil("topology"), r.textOrNil("accelerator")
	if r.err != nil {
		return nil, r.err
	}
	kind, err := ray.GKEPodType(topology, accelerator)
	return textToJSON(kind), err
}

func valueOrRefusal[Value any](value Value, err error) any {
	if err != nil {
		return refusal{err}
	}
	return (&object{}).set("value", any(value))
}

// gceNode returns what Ray's launcher derives from one node. Rows without a configuration do not record the type.
func gceNode(in, _ any) (any, error) {
	r := newReader(in, "acceleratorType", "acceleratorConfig")
	node := ray.GCENode{AcceleratorType: r.textOrNil("acceleratorType")}
	if r.err != nil {
		return nil, r.err
	}
	if r.has("acceleratorConfig") {
		config := newReader(r.values["acceleratorConfig"], "type", "topology")
		node.Type, node.Topology = config.textOrNil("type"), config.textOrNil("topology")
		if config.err != nil {
			return nil, config.err
		}
		if node.AcceleratorType != nil && node.Type == nil && node.Topology == nil {
			return nil, skip("an empty configuration in addition to a type")
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
	nodePrefix   = "mgr.get_current_node_"
	configPrefix = "ray.autoscaler._private.gcp.config."
)

var hostOps = map[string]op{
	nodePrefix + "accelerator_labels": hostOp(func(h *ray.Host) any { return labelsToJSON(h.Labels) }),
	nodePrefix + "accelerator_type":   hostOp(func(h *ray.Host) any { return textPointerToJSON(h.AcceleratorType) }),
	nodePrefix + "additional_resources": hostOp(func(h *ray.Host) any {
		return (&object{}).set("resources", resourcesToJSON(h.Resources))
	}),
	nodePrefix + "tpu_name":      hostOp(func(h *ray.Host) any { return textPointerToJSON(h.SliceName) }),
	nodePrefix + "tpu_pod_type":  hostOp(func(h *ray.Host) any { return textPointerToJSON(h.PodType) }),
	nodePrefix + "tpu_topology":  hostOp(func(h *ray.Host) any { return textPointerToJSON(h.Topology) }),
	nodePrefix + "tpu_worker_id": hostOp(workerID),
	nodePrefix + "{tpu_pod_type,tpu_name,tpu_worker_id,tpu_topology,accelerator_type,additional_resources," +
		"accelerator_labels}": hostOp(hostToJSON),
	"mgr.get_current_process_visible_accelerator_ids":                                          {answer: visibleIDs},
	"mgr.get_num_workers_in_current_tpu_pod":                                                   {answer: podWorkers},
	"mgr.set_current_process_visible_accelerator_ids":                                          {answer: visibleEnv},
	"mgr.validate_resource_request_quantity":                                                   {answer: quantity},
	"ray._private.resource_and_label_spec.ResourceAndLabelSpec.resolve":                        {answer: resolve},
	configPrefix + "{_validate_tpu_config,_is_single_host_tpu}":                                {answer: gceNode, refusals: true},
	configPrefix + "{_validate_tpu_config,tpu_accelerator_config_to_type,_is_single_host_tpu}": {answer: gceNode, refusals: true},
	"ray.autoscaler._private.kuberay.utils.tpu_node_selectors_to_type":                         {answer: gkePodType},
	"util.get_current_pod_worker_count (TPUAcceleratorManager.get_num_workers_in_current_tpu_pod)": {
		answer: podWorkers,
	},
	"fixed_point":       {answer: fixedPoint},
	"set_visible_chips": {answer: setVisibleChips},
}
