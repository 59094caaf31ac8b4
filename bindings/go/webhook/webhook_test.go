// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"testing"

	"quoit"
	"quoit/webhook"
)

func newPod(topology, chips string) webhook.Pod {
	return webhook.Pod{
		Labels: map[string]string{"ray.io/cluster": "c", "ray.io/group": "g"},
		Selectors: map[string]string{
			webhook.TopologySelector: topology, webhook.AcceleratorSelector: "tpu-v6e-slice",
		},
		Containers: []webhook.Container{{Limit: &chips}},
	}
}

func mutate(t *testing.T, pod webhook.Pod, others ...webhook.Pod) *webhook.Patch {
	t.Helper()
	patch, err := webhook.Mutate(pod, others)
	if err != nil {
		t.Fatal(err)
	}
	return patch
}

func wantInvalid(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, quoit.Invalid) {
		t.Errorf("%v: expected INVALID", err)
	}
}

func valueOf(patch *webhook.Patch, name string) string {
	for _, variable := range patch.Containers[0] {
		if variable.Name == name && variable.Value != nil {
			return *variable.Value
		}
	}
	return ""
}

func TestCheckGroupDeniesWrongNumberOfHosts(t *testing.T) {
	for hosts, denied := range map[int64]bool{4: false, 3: true, 1 << 40: true} {
		denial, err := webhook.CheckGroup(newPod("4x4", "4"), hosts)
		if err != nil || (denial != "") != denied {
			t.Errorf("%d hosts: '%s', %v", hosts, denial, err)
		}
	}
	if denial, err := webhook.CheckGroup(webhook.Pod{Containers: []webhook.Container{{}}}, 1); denial != "" || err != nil {
		t.Errorf("a group without TPUs: '%s', %v", denial, err)
	}
	for _, wrong := range []webhook.Pod{newPod("4xq", "4"), newPod("", "4"), newPod("4x4", "four"), newPod("4x4", "-4"), newPod("4x4\x00", "4")} {
		_, err := webhook.CheckGroup(wrong, 4)
		wantInvalid(t, err)
	}
	_, err := webhook.CheckGroup(newPod("4x4", "4"), 0)
	wantInvalid(t, err)
}

func TestPodsGetTheNextFreeHostAndReplaceDeletedPods(t *testing.T) {
	var pods []webhook.Pod
	for host := 0; host < 4; host++ {
		pod := newPod("4x4", "4")
		patch := mutate(t, pod, pods...)
		if id := valueOf(patch, "TPU_WORKER_ID"); id != fmt.Sprint(host) || patch.HostName != fmt.Sprintf("g-0-%d", host) ||
			patch.Subdomain != "c-headless" || patch.ReplicaLabel != "g-0" {
			t.Errorf("host %d has the worker id %s: %+v", host, id, patch)
		}
		applied, err := pod.Applied(pods)
		if err != nil || len(pod.Labels) != 2 || len(pod.Containers[0].Env) != 0 || applied.Labels["replicaIndex"] != "g-0" {
			t.Errorf("%+v, before %+v: %v", applied, pod, err)
		}
		pods = append(pods, applied)
	}
	if fifth := mutate(t, newPod("4x4", "4"), pods...); fifth.HostName != "g-1-0" {
		t.Errorf("the fifth pod has the host name %s: expected g-1-0", fifth.HostName)
	}
	if again := mutate(t, newPod("4x4", "4"), pods[0], pods[2], pods[3]); again.HostName != "g-0-1" {
		t.Errorf("the pod that replaces the second one has the host name %s: expected g-0-1", again.HostName)
	}
	_, err := webhook.Mutate(newPod("4x4", "4"), []webhook.Pod{pods[0], pods[0]})
	wantInvalid(t, err)
}

func TestPatchHasAffinityAndVariablesOfEachContainer(t *testing.T) {
	pod := newPod("4x4", "2")
	chips, name := "2", "mine"
	pod.Containers = append(pod.Containers, webhook.Container{Request: &chips, Env: []webhook.EnvVar{
		{Name: "TPU_NAME", Value: &name}, {Name: "FROM"},
	}})
	patch := mutate(t, pod)
	if len(patch.Containers) != 2 || len(patch.Affinity[webhook.Together]) == 0 || len(patch.Affinity[webhook.Namespaces]) == 0 {
		t.Fatalf("%+v", patch)
	}
	fields := 0
	for _, variable := range patch.Containers[0] {
		if (variable.Value == nil) != (variable.Field != "") {
			t.Errorf("%+v", variable)
		}
		if variable.Field != "" {
			fields++
		}
	}
	if fields != 1 {
		t.Errorf("%d variables come from a field: expected 1", fields)
	}
	if one := mutate(t, newPod("2x2", "4")); one.HostName != "" || one.Subdomain != "" || len(one.Affinity) != 0 {
		t.Errorf("%+v: expected a slice of one host", one)
	}
}

func TestLastVariableOfANameIsEffective(t *testing.T) {
	first, err := newPod("4x4", "4").Applied(nil)
	if err != nil {
		t.Fatal(err)
	}
	pod, zero := newPod("4x4", "4"), "0"
	pod.Containers[0].Env = []webhook.EnvVar{{Name: "TPU_WORKER_ID", Value: &zero}, {Name: "TPU_NAME"}}
	admitted, err := webhook.Admit(pod, []webhook.Pod{first})
	if err != nil || admitted.Labels["replicaIndex"] != "g-0" {
		t.Fatalf("%+v, %v", admitted, err)
	}
	var ids []string
	for _, variable := range admitted.Containers[0] {
		if variable.Name == "TPU_WORKER_ID" {
			ids = append(ids, fmt.Sprintf("%s %v %v", *variable.Value, variable.IsWritten, variable.IsEffective))
		}
	}
	if want := []string{"0 false false", "1 true true"}; !reflect.DeepEqual(ids, want) {
		t.Errorf("%q: expected %q", ids, want)
	}
}

func TestAdmitAndAppliedFailWithoutATopology(t *testing.T) {
	_, err := webhook.Admit(newPod("", "4"), nil)
	wantInvalid(t, err)
	_, err = newPod("", "4").Applied(nil)
	wantInvalid(t, err)
}

func TestPodWithoutTPUsIsNotChanged(t *testing.T) {
	pod := webhook.Pod{Labels: map[string]string{"a": "b"}, Containers: []webhook.Container{{}}}
	patch := mutate(t, pod)
	if !patch.IsEmpty || patch.Containers != nil {
		t.Errorf("%+v", patch)
	}
	pod.Containers[0].Env = []webhook.EnvVar{}
	if applied, err := pod.Applied(nil); err != nil || !reflect.DeepEqual(applied, pod) {
		t.Errorf("%+v: expected %+v: %v", applied, pod, err)
	}
}

func TestMutateFailsIfTheWebhookReturnsAnError(t *testing.T) {
	nameless := newPod("4x4", "4")
	nameless.Labels = nil
	indexed := newPod("4x4", "4")
	indexed.Labels["ray.io/worker-group-replica-index"] = "first"
	indexed.Labels["ray.io/replica-host-index"] = "0"
	nul := newPod("4x4", "4")
	nul.Labels["a"], nul.Labels["b"] = "\x00", "\x00"
	for _, pod := range []webhook.Pod{nameless, indexed, nul, {}, newPod("4x4", "four"), newPod("4x4", "4\x00")} {
		_, err := webhook.Mutate(pod, nil)
		wantInvalid(t, err)
	}
	_, err := webhook.Mutate(newPod("4x4", "4"), []webhook.Pod{newPod("4x4", "4"), nul})
	wantInvalid(t, err)
	if err != nil && !strings.HasPrefix(err.Error(), "others[1].Labels ") {
		t.Errorf("'%v': expected the place", err)
	}
}

func ExampleMutate() {
	chips := "4"
	patch, err := webhook.Mutate(webhook.Pod{
		Labels:     map[string]string{"ray.io/cluster": "c", "ray.io/group": "g"},
		Selectors:  map[string]string{webhook.TopologySelector: "4x4"},
		Containers: []webhook.Container{{Limit: &chips}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(patch.HostName, patch.Subdomain, len(patch.Containers[0]))
	// Output: g-0-0 c-headless 5
}
