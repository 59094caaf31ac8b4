// SPDX-License-Identifier: Apache-2.0

package main

// webhook over HTTP: quoit decides about the pod or the group, and the runner creates the HTTP response.

import (
	"errors"

	"quoit"
	"quoit/webhook"
)

// valueAt returns the value at the end of a path of members; nil if it does not exist.
func valueAt(value any, members ...string) any {
	for _, member := range members {
		one, ok := value.(*object)
		if !ok {
			return nil
		}
		value = one.values[member]
	}
	return value
}

// textsAt returns the texts by name in the object at the end of a path of members; empty if it does not exist.
func textsAt(value any, members ...string) map[string]string {
	wrapper := &object{}
	wrapper.set("texts", valueAt(value, members...))
	return (&objectReader{object: wrapper}).variables("texts")
}

func elementsAt(value any, members ...string) []any {
	elements, _ := valueAt(value, members...).([]any)
	return elements
}

func textAt(value any, members ...string) *string {
	if text, ok := valueAt(value, members...).(string); ok {
		return &text
	}
	return nil
}

// podFromObject converts a Kubernetes pod or template. Missing fields become empty.
func podFromObject(value any) webhook.Pod {
	pod := webhook.Pod{
		Labels: textsAt(value, "metadata", "labels"), Selectors: textsAt(value, "spec", "nodeSelector"),
	}
	for _, one := range elementsAt(value, "spec", "containers") {
		container := webhook.Container{
			Request: textAt(one, "resources", "requests", "google.com/tpu"),
			Limit:   textAt(one, "resources", "limits", "google.com/tpu"),
		}
		for _, variable := range elementsAt(one, "env") {
			container.Env = append(container.Env, envVarFromObject(variable))
		}
		pod.Containers = append(pod.Containers, container)
	}
	return pod
}

func envVarFromObject(value any) webhook.EnvVar {
	variable := webhook.EnvVar{Value: textAt(value, "value")}
	if name := textAt(value, "name"); name != nil {
		variable.Name = *name
	}
	if variable.Value == nil && valueAt(value, "valueFrom") == nil {
		variable.Value = new(string)
	}
	return variable
}

func admissionResponse(allowed bool) any {
	return (&object{}).set("status", int64(200)).set("allowed", allowed).set("patch", "")
}

// admitPod answers a request for a pod. Like the webhook, it ignores the object of operations other than CREATE.
func admitPod(request any) (any, error) {
	pod := webhook.Pod{}
	if valueAt(request, "operation") == "CREATE" {
		pod = podFromObject(valueAt(request, "object"))
	}
	patch, err := webhook.Mutate(pod, nil)
	if err == nil && !patch.IsEmpty {
		err = skip("a patch in JSON")
	}
	return admissionResponse(true), err
}

func admitCluster(request any) (any, error) {
	for _, group := range elementsAt(request, "object", "spec", "workerGroupSpecs") {
		hosts, _ := valueAt(group, "numOfHosts").(int64)
		denial, err := webhook.CheckGroup(podFromObject(valueAt(group, "template")), hosts)
		if err != nil {
			return nil, err
		}
		if denial != "" {
			return admissionResponse(false), nil
		}
	}
	return admissionResponse(true), nil
}

var endpoints = map[string]struct {
	kind    string
	admit   func(request any) (any, error)
	refusal string
}{
	"/mutate":   {"Pod", admitPod, "Failed to mutate Pod"},
	"/validate": {"RayCluster", admitCluster, "Failed to validate RayCluster"},
}

func statusResponse(status int64, sentence string) any {
	return (&object{}).set("status", status).set("body", sentence)
}

func answerHTTP(in, _ any) (any, error) {
	r := newReader(in, "path", "body")
	page, known := endpoints[r.text("path")]
	if !known {
		r.fail("a path that the webhook does not serve")
	}
	body := r.text("body")
	if r.err != nil {
		return nil, r.err
	}
	review, err := readJSON([]byte(body))
	if err != nil {
		return statusResponse(400, "Error decoding request body"), nil
	}
	if valueAt(review, "request", "kind", "kind") != page.kind {
		return statusResponse(400, "Invalid Kind"), nil
	}
	answer, err := page.admit(valueAt(review, "request"))
	if errors.Is(err, quoit.Invalid) {
		return statusResponse(403, page.refusal), nil
	}
	return answer, err
}
