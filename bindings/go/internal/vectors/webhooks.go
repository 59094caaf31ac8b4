// SPDX-License-Identifier: Apache-2.0

package main

// webhook: the TPU webhook's checks of worker groups and its changes of pods.

import (
	"strings"

	"quoit/webhook"
)

// readObjectMember returns a reader of a nested object. If it has other members than the given ones, the row is
// skipped.
func (r *objectReader) readObjectMember(value any, members ...string) *objectReader {
	inner := newReader(value, members...)
	r.addError(inner)
	return inner
}

func (r *objectReader) addError(inner *objectReader) {
	if inner.err != nil && r.err == nil {
		r.err = inner.err
	}
}

// readContainer reads a container. "tpu" is the limit, which Kubernetes also makes the request.
func (r *objectReader) readContainer(value any) webhook.Container {
	one := r.readObjectMember(value, "tpu", "request", "limit", "env")
	container := webhook.Container{Request: one.textOrNil("request"), Limit: one.textOrNil("limit")}
	if !one.has("limit") {
		container.Limit = one.textOrNil("tpu")
	}
	for _, pair := range one.list("env") {
		given, ok := pair.([]any)
		if !ok || len(given) != 2 {
			one.fail("a variable that is not a pair")
			continue
		}
		variable := webhook.EnvVar{}
		name, isText := given[0].(string)
		if text, ok := given[1].(string); ok && text != "<fieldRef>" {
			variable.Value = &text
		} else if !ok {
			isText = false
		}
		if !isText {
			one.fail("Go requires a text, and the value has another type")
		}
		variable.Name = name
		container.Env = append(container.Env, variable)
	}
	r.addError(one)
	return container
}

// readPod reads a pod. Empty texts count as missing.
func (r *objectReader) readPod() webhook.Pod {
	pod := webhook.Pod{Labels: r.variables("labels"), Selectors: map[string]string{}}
	for member, key := range map[string]string{"cluster": "ray.io/cluster", "group": "ray.io/group"} {
		if text := r.textOr(member, ""); text != "" {
			pod.Labels[key] = text
		}
	}
	for member, key := range map[string]string{
		"topology": webhook.TopologySelector, "accelerator": webhook.AcceleratorSelector,
	} {
		if text := r.textOr(member, ""); text != "" {
			pod.Selectors[key] = text
		}
	}
	for _, one := range r.list("containers") {
		pod.Containers = append(pod.Containers, r.readContainer(one))
	}
	return pod
}

// validate returns the result of the first group that is refused or denied.
func validate(in, _ any) (any, error) {
	r := newReader(in, "groups")
	for _, one := range r.list("groups") {
		group := r.readObjectMember(one, "accelerator", "containers", "numOfHosts", "replicas", "topology")
		pod, hosts := group.readPod(), group.integer("numOfHosts")
		if r.addError(group); r.err != nil {
			return nil, r.err
		}
		denial, err := webhook.CheckGroup(pod, hosts)
		if err != nil {
			return answerOr(nil, err)
		}
		if denial != "" {
			return (&object{}).set("allowed", false).set("message", denial), nil
		}
	}
	return (&object{}).set("allowed", true), r.err
}

// --- pods ---

func variablesToJSON(variables []webhook.Variable) any {
	rows := []any{}
	for _, one := range variables {
		value := "fieldRef:" + one.Field
		if one.Value != nil {
			value = *one.Value
		}
		rows = append(rows, []any{one.Name, value})
	}
	return rows
}

func termToJSON(patch *webhook.Patch, which webhook.Term) *object {
	found := (&object{}).set("match", textsToJSON(patch.Affinity[which])).set("topologyKey", webhook.TopologyKey)
	if which == webhook.Others {
		found.set("namespaces", textsToJSON(patch.Affinity[webhook.Namespaces]))
	}
	return found
}

// affinityToJSON returns the affinity, or "set" for rows that record only that there is one.
func affinityToJSON(patch *webhook.Patch, recorded any) any {
	if wanted, ok := recorded.(*object); ok && wanted.values["affinity"] == "set" {
		return "set"
	}
	apart := []any{termToJSON(patch, webhook.Apart), termToJSON(patch, webhook.Others)}
	return (&object{}).set("podAffinity", []any{termToJSON(patch, webhook.Together)}).set("podAntiAffinity", apart)
}

var podMembers = []string{"accelerator", "cluster", "containers", "group", "labels", "topology"}

func mutatePod(in, recorded any) (any, error) {
	r := newReader(in, podMembers...)
	pod := r.readPod()
	if r.err != nil {
		return nil, r.err
	}
	patch, err := webhook.Mutate(pod, nil)
	if err != nil {
		return answerOr(nil, err)
	}
	if patch.IsEmpty {
		return (&object{}).set("unchanged", true), nil
	}
	env := []any{}
	for _, container := range patch.Containers {
		env = append(env, variablesToJSON(container))
	}
	found := (&object{}).set("env", env)
	for member, text := range map[string]string{"hostname": patch.HostName, "subdomain": patch.Subdomain} {
		if text != "" {
			found.set(member, text)
		}
	}
	if patch.ReplicaLabel != "" {
		found.set("labels", (&object{}).set("replicaIndex", patch.ReplicaLabel))
	}
	if len(patch.Affinity) > 0 {
		found.set("affinity", affinityToJSON(patch, recorded))
	}
	return found, nil
}

// --- pods that are created and end ---

// writtenValues returns the values of a variable that the patch sets in the containers.
func writtenValues(patch *webhook.Patch, name string) []string {
	values := []string{}
	for _, container := range patch.Containers {
		for _, one := range container {
			if one.Name == name && one.Value != nil {
				values = append(values, *one.Value)
			}
		}
	}
	return values
}

// firstOrNull returns null for an empty list.
func firstOrNull(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	return texts[0]
}

func createdPodToJSON(patch *webhook.Patch) *object {
	found := (&object{}).set("TPU_WORKER_ID", strings.Join(writtenValues(patch, "TPU_WORKER_ID"), ",")).
		set("TPU_NAME", firstOrNull(writtenValues(patch, "TPU_NAME"))).set("replicaIndex", textToJSON(patch.ReplicaLabel))
	if patch.HostName != "" {
		hosts := strings.Join(writtenValues(patch, "TPU_WORKER_HOSTNAMES"), ",")
		first, _, _ := strings.Cut(hosts, ",")
		found.set("hostname", patch.HostName).set("first_host", first)
	}
	return found
}

// livePods are the pods that exist, in the order of their creation.
type livePods struct {
	numbers []int64
	pods    []webhook.Pod
}

func (l *livePods) add(number int64, pod webhook.Pod) {
	l.remove(number)
	l.numbers, l.pods = append(l.numbers, number), append(l.pods, pod)
}

func (l *livePods) remove(number int64) {
	for index, one := range l.numbers {
		if one == number {
			l.numbers = append(l.numbers[:index], l.numbers[index+1:]...)
			l.pods = append(l.pods[:index], l.pods[index+1:]...)
			return
		}
	}
}

// podSequence runs the steps of a row. A pod that has ended counts like one that was deleted.
func podSequence(in, _ any) (any, error) {
	r := newReader(in, append([]string{"steps"}, podMembers...)...)
	pod, live, answers := r.readPod(), livePods{}, []any{}
	for _, one := range r.list("steps") {
		step := r.readObjectMember(one, "op", "pod")
		verb, number := step.text("op"), step.integer("pod")
		if r.addError(step); r.err != nil {
			return nil, r.err
		}
		switch verb {
		case "delete", "terminating":
			live.remove(number)
			answers = append(answers, &object{})
		case "create":
			patch, err := webhook.Mutate(pod, live.pods)
			if err != nil {
				return answerOr(nil, err)
			}
			applied, err := pod.Applied(live.pods)
			if err != nil {
				return nil, err
			}
			live.add(number, applied)
			answers = append(answers, createdPodToJSON(patch))
		default:
			return nil, skip("an unknown step")
		}
	}
	return answers, r.err
}

var webhookOps = map[string]op{
	"webhook_http":     {answer: answerHTTP},
	"webhook_mutate":   {answer: mutatePod, refusals: true},
	"webhook_sequence": {answer: podSequence, refusals: true},
	"webhook_validate": {answer: validate, refusals: true},
}
