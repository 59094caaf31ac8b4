// SPDX-License-Identifier: Apache-2.0

// The pods of a LeaderWorkerSet after its real webhook has changed them. Reads one case per line, {"in": {"set": ...}},
// and writes the line with "out": the variables for TPU jobs in the containers that request TPU, pod by pod. "err" stands
// for a set or a pod that the webhook refuses. "go run . draw" writes the cases of tests/vectors/lws.ndjson, without "out".
//
// The webhook is LeaderWorkerSet's own code. What its controller and the StatefulSet controller write into a pod before
// (name, subdomain, labels and annotations) is written here in the same way (pkg/controllers of LeaderWorkerSet).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	lwsv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"
	accelerator "sigs.k8s.io/lws/pkg/utils/accelerators"
	"sigs.k8s.io/lws/pkg/webhooks"
)

type Input struct {
	Set json.RawMessage `json:"set"`
}

type Pod struct {
	Name       string              `json:"name"`
	Containers []map[string]string `json:"containers"`
}

type Output struct {
	Pods []Pod `json:"pods"`
}

type Refusal struct {
	Class string `json:"class"`
}

type Case struct {
	ID    string   `json:"id"`
	Suite string   `json:"suite"`
	Op    string   `json:"op"`
	Note  string   `json:"note"`
	Since string   `json:"since,omitempty"` // the first version of LeaderWorkerSet with this answer; "": 0.8 or earlier
	In    Input    `json:"in"`
	Out   *Output  `json:"out,omitempty"`
	Err   *Refusal `json:"err,omitempty"`
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "lws:", err)
		os.Exit(1)
	}
}

func requestsTPU(container corev1.Container) bool {
	return accelerator.PodRequestsTPUs(corev1.PodSpec{Containers: []corev1.Container{container}})
}

// A later variable of the same name replaces an earlier one, as in Kubernetes.
func variables(container corev1.Container) map[string]string {
	found := map[string]string{}
	for _, variable := range container.Env {
		if strings.HasPrefix(variable.Name, "TPU_") || strings.HasPrefix(variable.Name, "LWS_") {
			found[variable.Name] = variable.Value
		}
	}
	return found
}

func describe(pod *corev1.Pod) (Pod, bool) {
	described := Pod{Name: pod.Name}
	for _, container := range pod.Spec.Containers {
		if requestsTPU(container) {
			described.Containers = append(described.Containers, variables(container))
		}
	}
	return described, len(described.Containers) > 0
}

// makeLeader does what the LeaderWorkerSet controller does: pkg/controllers/leaderworkerset_controller.go.
func makeLeader(set *lwsv1.LeaderWorkerSet, group int) *corev1.Pod {
	template := set.Spec.LeaderWorkerTemplate.LeaderTemplate
	if template == nil {
		template = &set.Spec.LeaderWorkerTemplate.WorkerTemplate
	}
	pod := newPod(set, template, fmt.Sprintf("%s-%d", set.Name, group), set.Name)
	pod.Labels[lwsv1.WorkerIndexLabelKey] = "0"
	if policy := set.Spec.LeaderWorkerTemplate.SubGroupPolicy; policy != nil {
		pod.Annotations[lwsv1.SubGroupPolicyTypeAnnotationKey] = string(*policy.Type)
	}
	if *set.Spec.NetworkConfig.SubdomainPolicy == lwsv1.SubdomainUniquePerReplica {
		pod.Annotations[lwsv1.SubdomainPolicyAnnotationKey] = string(lwsv1.SubdomainUniquePerReplica)
	}
	return pod
}

// makeWorker does what the pod controller does: pkg/controllers/pod_controller.go.
func makeWorker(set *lwsv1.LeaderWorkerSet, leader *corev1.Pod, index int) *corev1.Pod {
	service := leader.Name
	if *set.Spec.NetworkConfig.SubdomainPolicy == lwsv1.SubdomainShared {
		service = set.Name
	}
	name := fmt.Sprintf("%s-%d", leader.Name, index)
	pod := newPod(set, &set.Spec.LeaderWorkerTemplate.WorkerTemplate, name, service)
	pod.Labels[lwsv1.GroupIndexLabelKey] = leader.Labels[lwsv1.GroupIndexLabelKey]
	pod.Annotations[lwsv1.LeaderPodNameAnnotationKey] = leader.Name
	accelerator.AddTPUAnnotations(*leader, pod.Annotations)
	return pod
}

// newPod also does what the StatefulSet controller does: the name, and the service as subdomain.
func newPod(set *lwsv1.LeaderWorkerSet, template *corev1.PodTemplateSpec, name, service string) *corev1.Pod {
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	pod.Name, pod.Namespace, pod.Spec.Subdomain = name, set.Namespace, service
	pod.Labels = map[string]string{lwsv1.SetNameLabelKey: set.Name}
	pod.Annotations = map[string]string{
		lwsv1.SizeAnnotationKey: strconv.Itoa(int(*set.Spec.LeaderWorkerTemplate.Size)),
	}
	if policy := set.Spec.LeaderWorkerTemplate.SubGroupPolicy; policy != nil {
		pod.Annotations[lwsv1.SubGroupSizeAnnotationKey] = strconv.Itoa(int(*policy.SubGroupSize))
	}
	return pod
}

func run(input Input) (*Output, error) {
	set := &lwsv1.LeaderWorkerSet{}
	if err := json.Unmarshal(input.Set, set); err != nil {
		return nil, err
	}
	if set.Namespace == "" {
		set.Namespace = "default"
	}
	one := int32(1)
	if set.Spec.Replicas == nil { // default of the schema
		set.Spec.Replicas = &one
	}
	if set.Spec.LeaderWorkerTemplate.Size == nil {
		set.Spec.LeaderWorkerTemplate.Size = &one
	}
	ctx := context.Background()
	if err := (&webhooks.LeaderWorkerSetWebhook{}).Default(ctx, set); err != nil {
		return nil, err
	}
	if policy := set.Spec.LeaderWorkerTemplate.SubGroupPolicy; policy != nil && policy.Type == nil {
		kind := lwsv1.SubGroupPolicyTypeLeaderWorker // default of the schema
		policy.Type = &kind
	}
	if _, err := (&webhooks.LeaderWorkerSetWebhook{}).ValidateCreate(ctx, set); err != nil {
		return nil, nil
	}

	output := &Output{}
	webhook := webhooks.NewPodWebhook(nil)
	admit := func(pod *corev1.Pod) error {
		if err := webhook.Default(ctx, pod); err != nil {
			return err
		}
		if described, ok := describe(pod); ok {
			output.Pods = append(output.Pods, described)
		}
		return nil
	}
	for group := 0; group < int(*set.Spec.Replicas); group++ {
		leader := makeLeader(set, group)
		if err := admit(leader); err != nil {
			return nil, nil
		}
		for index := 1; index < int(*set.Spec.LeaderWorkerTemplate.Size); index++ {
			if err := admit(makeWorker(set, leader, index)); err != nil {
				return nil, nil
			}
		}
	}
	return output, nil
}

func main() {
	writer := bufio.NewWriter(os.Stdout)
	defer writer.Flush()
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	if len(os.Args) == 2 && os.Args[1] == "draw" {
		for _, one := range draw() {
			fail(encoder.Encode(one))
		}
		return
	}
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		var one Case
		fail(json.Unmarshal(scanner.Bytes(), &one))
		output, err := run(one.In)
		fail(err)
		one.Out, one.Err = output, nil
		if output == nil {
			one.Err = &Refusal{"Refused"}
		}
		fail(encoder.Encode(one))
	}
	fail(scanner.Err())
}
