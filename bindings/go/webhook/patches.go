// SPDX-License-Identifier: Apache-2.0

package webhook

/*
#include <stdlib.h>
#include <quoit/models.h>
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
func Mutate(pod Pod, others []Pod) (patch *Patch, err error) {
	err = pod.mutated(others, func(_ *C.QuoitWebhookPod, c *C.QuoitWebhookPatch) {
		patch = patchOf(c, len(pod.Containers))
	})
	return patch, err
}

// mutated runs what is to be done with the pod as C has it, and what the webhook writes into it.
func (p *Pod) mutated(others []Pod, run func(*C.QuoitWebhookPod, *C.QuoitWebhookPatch)) error {
	c, err := p.opened("pod")
	if err != nil {
		return err
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
			return err
		}
	}
	var gerror *C.GError
	patch := C.quoit_webhook_mutate(c, (**C.QuoitWebhookPod)(array), &gerror)
	if err := door.Take(unsafe.Pointer(gerror)); err != nil {
		return err
	}
	defer C.quoit_webhook_patch_free(patch)
	run(c, patch)
	return nil
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

// Admitted is a pod as it is once the webhook has seen it. It is a value.
type Admitted struct {
	Labels     map[string]string
	Containers [][]AdmittedVariable // the variables of each container, its own before those that were added
}

// AdmittedVariable is one of a container that the webhook has seen.
type AdmittedVariable struct {
	Variable       // its value as it is written, before Kubernetes expands $(NAME); nil where it comes from elsewhere
	IsWritten bool // the webhook added it; false for one of the container's own
	IsSeen    bool // a process gets it: of several of a name Kubernetes takes the last, also where that is empty
}

// Admit is what a pod is once the webhook has seen it: its labels, and which variables its processes get. Others are those of
// Mutate.
//
// It fails as Mutate.
func Admit(pod Pod, others []Pod) (admitted *Admitted, err error) {
	err = pod.mutated(others, func(c *C.QuoitWebhookPod, patch *C.QuoitWebhookPatch) {
		C.quoit_webhook_pod_apply(c, patch)
		admitted = admittedOf(c)
	})
	return admitted, err
}

func admittedOf(c *C.QuoitWebhookPod) *Admitted {
	admitted := &Admitted{
		Labels:     door.TakenPairs(unsafe.Pointer(C.quoit_webhook_pod_dup_labels(c))),
		Containers: make([][]AdmittedVariable, C.quoit_webhook_pod_get_n_containers(c)),
	}
	for index := range admitted.Containers {
		container := C.uint32_t(index)
		variables := make([]AdmittedVariable, C.quoit_webhook_pod_get_n_variables(c, container))
		for number := range variables {
			variables[number] = admittedVariableOf(c, container, C.uint32_t(number))
		}
		admitted.Containers[index] = variables
	}
	return admitted
}

func admittedVariableOf(c *C.QuoitWebhookPod, container, variable C.uint32_t) AdmittedVariable {
	value := unsafe.Pointer(C.quoit_webhook_pod_get_variable_value(c, container, variable))
	return AdmittedVariable{
		Variable: Variable{
			Name:  C.GoString(C.quoit_webhook_pod_get_variable_name(c, container, variable)),
			Value: door.StringOrNil(value),
			Field: C.GoString(C.quoit_webhook_pod_get_variable_field(c, container, variable)),
		},
		IsWritten: C.quoit_webhook_pod_is_variable_written(c, container, variable) == 1,
		IsSeen:    C.quoit_webhook_pod_is_variable_seen(c, container, variable) == 1,
	}
}

// Applied is the pod with all that the webhook adds, to be one of the others of the next. The pod itself stays as it is.
//
// It fails as Mutate.
func (p Pod) Applied(others []Pod) (Pod, error) {
	admitted, err := Admit(p, others)
	if err != nil {
		return Pod{}, err
	}
	containers := append([]Container{}, p.Containers...)
	for index := range containers {
		env := make([]EnvVar, len(admitted.Containers[index]))
		for number, variable := range admitted.Containers[index] {
			env[number] = EnvVar{variable.Name, variable.Value}
		}
		containers[index].Env = env
	}
	return Pod{Labels: admitted.Labels, Selectors: p.Selectors, Containers: containers}, nil
}
