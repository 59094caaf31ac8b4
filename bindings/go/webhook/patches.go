// SPDX-License-Identifier: Apache-2.0

package webhook

/*
#include <stdlib.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"fmt"
	"unsafe"

	"quoit/internal/door"
)

// Term is one of the affinity that the webhook requires.
type Term int

// The terms.
const (
	Together   Term = C.QUOIT_WEBHOOK_TERM_TOGETHER   // the node pool of the pods of the same slice
	Apart      Term = C.QUOIT_WEBHOOK_TERM_APART      // not one with pods of another slice of the cluster
	Others     Term = C.QUOIT_WEBHOOK_TERM_OTHERS     // nor one with slices of other clusters, in the namespaces of the next
	Namespaces Term = C.QUOIT_WEBHOOK_TERM_NAMESPACES // where the term before looks
)

// replicaLabel is the label that is added where KubeRay has given no indices.
const replicaLabel = "replicaIndex"

// Patch is what the webhook writes into a pod. It is a value.
type Patch struct {
	IsEmpty      bool              // the pod asks for no TPUs and stays as it is
	HostName     string            // GROUP-REPLICA-HOST, of any length; "" where the slice has one host
	Subdomain    string            // the headless service that makes the host name one of DNS; "" where the slice has one host
	ReplicaLabel string            // the label "replicaIndex", GROUP-REPLICA, which is added where KubeRay has given no indices; else ""
	Affinity     map[Term][]string // for each term its requirements, "ray.io/cluster In c"; empty where the slice has one host
	Containers   [][]Variable      // those that are added to each container, in the order of the pod; nil for an empty patch
}

// Variable is one that is added behind those that a container has.
type Variable struct {
	Name  string
	Value *string // nil where it comes from a field
	Field string  // the field of the pod that it is, "status.hostIP"; "" where it has a value
}

// Mutate is what the webhook writes into a pod that is to be created. A topology that it cannot read makes a slice of one
// host, and indices are taken from labels without a look at their range. Others are the pods of its group that there are, as
// they are after the webhook has seen them (Pod.Applied), without those that are being deleted; they matter where KubeRay
// has given the pod no indices.
//
// It fails with Invalid when the webhook answers with an error, which Kubernetes shows as "Failed to mutate Pod": labels,
// containers or the topology are missing, an index is no number, or the worker ids of others are missing or there twice;
// when chips are no quantity of Kubernetes's, or a negative one; and, other than the webhook, for more than 262144 hosts.
func Mutate(pod Pod, others []Pod) (*Patch, error) {
	c, err := pod.opened("pod")
	if err != nil {
		return nil, err
	}
	defer C.quoit_webhook_pod_free(c)
	array := C.calloc(C.size_t(len(others)+1), C.size_t(unsafe.Sizeof(uintptr(0))))
	defer C.free(array)
	entries := unsafe.Slice((**C.QuoitWebhookPod)(array), len(others)+1)
	defer func() {
		for _, other := range entries {
			C.quoit_webhook_pod_free(other)
		}
	}()
	for index := range others {
		if entries[index], err = others[index].opened(fmt.Sprintf("others[%d]", index)); err != nil {
			return nil, err
		}
	}
	var gerror *C.GError
	patch := C.quoit_webhook_mutate(c, (**C.QuoitWebhookPod)(array), &gerror)
	if err := door.Take(unsafe.Pointer(gerror)); err != nil {
		return nil, err
	}
	defer C.quoit_webhook_patch_free(patch)
	return patchOf(patch, len(pod.Containers)), nil
}

func patchOf(c *C.QuoitWebhookPatch, containers int) *Patch {
	patch := &Patch{
		IsEmpty:      C.quoit_webhook_patch_is_empty(c) == 1,
		HostName:     C.GoString(C.quoit_webhook_patch_get_hostname(c)),
		Subdomain:    C.GoString(C.quoit_webhook_patch_get_subdomain(c)),
		ReplicaLabel: C.GoString(C.quoit_webhook_patch_get_replica_label(c)),
		Affinity:     map[Term][]string{},
	}
	for _, term := range []Term{Together, Apart, Others, Namespaces} {
		if requirements := requirementsOf(c, term); requirements != nil {
			patch.Affinity[term] = requirements
		}
	}
	for container := 0; container < containers && !patch.IsEmpty; container++ {
		patch.Containers = append(patch.Containers, variablesOf(c, C.uint32_t(container)))
	}
	return patch
}

func requirementsOf(c *C.QuoitWebhookPatch, term Term) []string {
	var requirements []string
	for {
		text := C.quoit_webhook_patch_get_affinity(c, C.QuoitWebhookTerm(term), C.uint32_t(len(requirements)))
		if text == nil {
			return requirements
		}
		requirements = append(requirements, C.GoString(text))
	}
}

func variablesOf(c *C.QuoitWebhookPatch, container C.uint32_t) []Variable {
	variables := make([]Variable, C.quoit_webhook_patch_get_n_variables(c, container))
	for index := range variables {
		variable := C.uint32_t(index)
		value := unsafe.Pointer(C.quoit_webhook_patch_get_variable_value(c, container, variable))
		variables[index] = Variable{
			Name:  C.GoString(C.quoit_webhook_patch_get_variable_name(c, container, variable)),
			Value: door.StringOrNil(value),
			Field: C.GoString(C.quoit_webhook_patch_get_variable_field(c, container, variable)),
		}
	}
	return variables
}

// Applied is the pod as it is once the webhook has seen it: with the label and the variables of the patch that was made for
// it. The pod itself stays as it is.
func (p Pod) Applied(patch *Patch) Pod {
	labels := make(map[string]string, len(p.Labels)+1)
	for key, value := range p.Labels {
		labels[key] = value
	}
	if patch.ReplicaLabel != "" {
		labels[replicaLabel] = patch.ReplicaLabel
	}
	containers := append([]Container{}, p.Containers...)
	for index := 0; index < len(containers) && index < len(patch.Containers); index++ {
		env := append([]EnvVar{}, containers[index].Env...)
		for _, added := range patch.Containers[index] {
			env = append(env, EnvVar{added.Name, added.Value})
		}
		containers[index].Env = env
	}
	return Pod{Labels: labels, Selectors: p.Selectors, Containers: containers}
}
