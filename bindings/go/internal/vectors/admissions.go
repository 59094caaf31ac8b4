// SPDX-License-Identifier: Apache-2.0

package main

// webhook over HTTP: the runner itself creates the frame, the status and the sentence of a response.

import (
	"errors"

	"quoit"
	"quoit/webhook"
)

// at returns the value at the end of a path of members; nil if it does not exist.
func at(value any, members ...string) any {
	for _, member := range members {
		one, ok := value.(*object)
		if !ok {
			return nil
		}
		value = one.values[member]
	}
	return value
}

func textsAt(value any, members ...string) map[string]string {
	found := &object{}
	found.set("texts", at(value, members...))
	return (&reading{object: found}).variables("texts")
}

func elementsAt(value any, members ...string) []any {
	elements, _ := at(value, members...).([]any)
	return elements
}

func textAt(value any, members ...string) *string {
	if text, ok := at(value, members...).(string); ok {
		return &text
	}
	return nil
}

// podOfObject converts a Kubernetes pod or template. Missing fields become empty.
func podOfObject(value any) webhook.Pod {
	pod := webhook.Pod{
		Labels: textsAt(value, "metadata", "labels"), Selectors: textsAt(value, "spec", "nodeSelector"),
	}
	for _, one := range elementsAt(value, "spec", "containers") {
		container := webhook.Container{
			Request: textAt(one, "resources", "requests", "google.com/tpu"),
			Limit:   textAt(one, "resources", "limits", "google.com/tpu"),
		}
		for _, variable := range elementsAt(one, "env") {
			container.Env = append(container.Env, envVarOfObject(variable))
		}
		pod.Containers = append(pod.Containers, container)
	}
	return pod
}

func envVarOfObject(value any) webhook.EnvVar {
	variable := webhook.EnvVar{Value: textAt(value, "value")}
	if name := textAt(value, "name"); name != nil {
		variable.Name = *name
	}
	if variable.Value == nil && at(value, "valueFrom") == nil {
		variable.Value = new(string)
	}
	return variable
}

func ofAdmission(allowed bool) any {
	return (&object{}).set("status", int64(200)).set("allowed", allowed).set("patch", "")
}

// admitPod ignores the object of operations other than CREATE.
func admitPod(request any) (any, error) {
	pod := webhook.Pod{}
	if at(request, "operation") == "CREATE" {
		pod = podOfObject(at(request, "object"))
	}
	patch, err := webhook.Mutate(pod, nil)
	if err == nil && !patch.IsEmpty {
		err = skip("a patch in the words of JSON")
	}
	return ofAdmission(true), err
}

func admitCluster(request any) (any, error) {
	for _, group := range elementsAt(request, "object", "spec", "workerGroupSpecs") {
		hosts, _ := at(group, "numOfHosts").(int64)
		denial, err := webhook.CheckGroup(podOfObject(at(group, "template")), hosts)
		if err != nil {
			return nil, err
		}
		if denial != "" {
			return ofAdmission(false), nil
		}
	}
	return ofAdmission(true), nil
}

var pages = map[string]struct {
	kind    string
	admit   func(request any) (any, error)
	refusal string
}{
	"/mutate":   {"Pod", admitPod, "Failed to mutate Pod"},
	"/validate": {"RayCluster", admitCluster, "Failed to validate RayCluster"},
}

func ofStatus(status int64, sentence string) any {
	return (&object{}).set("status", status).set("body", sentence)
}

func askOverHTTP(in, _ any) (any, error) {
	r := read(in, "path", "body")
	page, known := pages[r.text("path")]
	if !known {
		r.fail("a page that the webhook has not")
	}
	body := r.text("body")
	if r.err != nil {
		return nil, r.err
	}
	review, err := readJSON([]byte(body))
	if err != nil {
		return ofStatus(400, "Error decoding request body"), nil
	}
	if at(review, "request", "kind", "kind") != page.kind {
		return ofStatus(400, "Invalid Kind"), nil
	}
	answer, err := page.admit(at(review, "request"))
	if errors.Is(err, quoit.Invalid) {
		return ofStatus(403, page.refusal), nil
	}
	return answer, err
}
