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

	"quoit/internal/cconv"
)

// Term is a term of the pod affinity that the webhook sets.
type Term int

// The terms.
const (
	Together   Term = C.QUOIT_WEBHOOK_TERM_TOGETHER   // pods of a slice are on the same node pool
	Apart      Term = C.QUOIT_WEBHOOK_TERM_APART      // pods of other slices of the cluster are on other node pools
	Others     Term = C.QUOIT_WEBHOOK_TERM_OTHERS     // pods of other clusters are on other node pools
	Namespaces Term = C.QUOIT_WEBHOOK_TERM_NAMESPACES // the namespaces to which Others applies
)

// Patch is the changes that the webhook makes to a pod. It is a plain value.
type Patch struct {
	IsEmpty      bool              // the pod requests no TPUs and is not changed
	HostName     string            // GROUP-REPLICA-HOST, of any length; "" if the slice has one host
	Subdomain    string            // the headless service, for DNS names of hosts; "" if the slice has one host
	ReplicaLabel string            // the label "replicaIndex", GROUP-REPLICA, set if KubeRay has set no indices; else ""
	Affinity     map[Term][]string // the requirements of each term, "ray.io/cluster In c"; empty if the slice has one host
	Containers   [][]Variable      // the variables added to each container, in the order of the pod; nil for an empty patch
}

// Variable is a variable that the webhook adds after those of the container.
type Variable struct {
	Name  string
	Value *string // nil if the value comes from a field of the pod
	Field string  // that field, "status.hostIP"; "" if Value is not nil
}

// Mutate returns the changes of the webhook to a pod that is created. For a topology that the webhook cannot parse, the
// slice has one host. Indices in labels are used without a range check. others are the existing pods of the pod's
// group, after the webhook has changed them (Pod.Applied), without those that are being deleted. The webhook uses them
// only if KubeRay has set no indices.
//
// It fails with Invalid if the webhook returns an error, which Kubernetes shows as "Failed to mutate Pod": labels,
// containers or the topology are missing, an index is not a number, or the worker ids of others are missing or occur
// twice. It also fails with Invalid if chips are not a Kubernetes quantity or are negative, and, unlike the webhook,
// for more than 262144 hosts.
func Mutate(pod Pod, others []Pod) (patch *Patch, err error) {
	err = pod.withPatch(others, func(_ *C.QuoitWebhookPod, c *C.QuoitWebhookPatch) {
		patch = patchFromC(c, len(pod.Containers))
	})
	return patch, err
}

// withPatch calls run with the C pod and the webhook's patch for it.
func (p *Pod) withPatch(others []Pod, run func(*C.QuoitWebhookPod, *C.QuoitWebhookPatch)) error {
	c, err := p.toC("pod")
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
		if entries[index], err = others[index].toC(fmt.Sprintf("others[%d]", index)); err != nil {
			return err
		}
	}
	var gerror *C.GError
	patch := C.quoit_webhook_mutate(c, (**C.QuoitWebhookPod)(array), &gerror)
	if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
		return err
	}
	defer C.quoit_webhook_patch_free(patch)
	run(c, patch)
	return nil
}

func patchFromC(c *C.QuoitWebhookPatch, containers int) *Patch {
	patch := &Patch{
		IsEmpty:      bool(C.quoit_webhook_patch_is_empty(c)),
		HostName:     C.GoString(C.quoit_webhook_patch_get_hostname(c)),
		Subdomain:    C.GoString(C.quoit_webhook_patch_get_subdomain(c)),
		ReplicaLabel: C.GoString(C.quoit_webhook_patch_get_replica_label(c)),
		Affinity:     map[Term][]string{},
	}
	for _, term := range []Term{Together, Apart, Others, Namespaces} {
		if requirements := requirementsFromC(c, term); requirements != nil {
			patch.Affinity[term] = requirements
		}
	}
	for container := 0; container < containers && !patch.IsEmpty; container++ {
		patch.Containers = append(patch.Containers, variablesFromC(c, C.uint32_t(container)))
	}
	return patch
}

func requirementsFromC(c *C.QuoitWebhookPatch, term Term) []string {
	var requirements []string
	for {
		text := C.quoit_webhook_patch_get_affinity(c, C.QuoitWebhookTerm(term), C.uint32_t(len(requirements)))
		if text == nil {
			return requirements
		}
		requirements = append(requirements, C.GoString(text))
	}
}

func variablesFromC(c *C.QuoitWebhookPatch, container C.uint32_t) []Variable {
	variables := make([]Variable, C.quoit_webhook_patch_get_n_variables(c, container))
	for index := range variables {
		variable := C.uint32_t(index)
		value := unsafe.Pointer(C.quoit_webhook_patch_get_variable_value(c, container, variable))
		variables[index] = Variable{
			Name:  C.GoString(C.quoit_webhook_patch_get_variable_name(c, container, variable)),
			Value: cconv.CopyStringOrNil(value),
			Field: C.GoString(C.quoit_webhook_patch_get_variable_field(c, container, variable)),
		}
	}
	return variables
}

// Admitted is a pod after the webhook has changed it. It is a plain value.
type Admitted struct {
	Labels     map[string]string
	Containers [][]AdmittedVariable // the variables of each container: its own, then the added ones
}

// AdmittedVariable is a variable of a container after the webhook has changed it.
type AdmittedVariable struct {
	Variable         // the value before Kubernetes expands $(NAME); nil if it has a valueFrom
	IsWritten   bool // true if the webhook added it, false if the container had it
	IsEffective bool // true if a process gets it: Kubernetes uses the last variable of a name, even if its value is empty
}

// Admit returns a pod after the webhook has changed it: its labels, and the variables of its processes. others is as
// for Mutate.
//
// It fails like Mutate.
func Admit(pod Pod, others []Pod) (admitted *Admitted, err error) {
	err = pod.withPatch(others, func(c *C.QuoitWebhookPod, patch *C.QuoitWebhookPatch) {
		C.quoit_webhook_pod_apply(c, patch)
		admitted = admittedFromC(c)
	})
	return admitted, err
}

func admittedFromC(c *C.QuoitWebhookPod) *Admitted {
	admitted := &Admitted{
		Labels:     cconv.MovePairs(unsafe.Pointer(C.quoit_webhook_pod_dup_labels(c))),
		Containers: make([][]AdmittedVariable, C.quoit_webhook_pod_get_n_containers(c)),
	}
	for index := range admitted.Containers {
		container := C.uint32_t(index)
		variables := make([]AdmittedVariable, C.quoit_webhook_pod_get_n_variables(c, container))
		for number := range variables {
			variables[number] = admittedVariableFromC(c, container, C.uint32_t(number))
		}
		admitted.Containers[index] = variables
	}
	return admitted
}

func admittedVariableFromC(c *C.QuoitWebhookPod, container, variable C.uint32_t) AdmittedVariable {
	value := unsafe.Pointer(C.quoit_webhook_pod_get_variable_value(c, container, variable))
	return AdmittedVariable{
		Variable: Variable{
			Name:  C.GoString(C.quoit_webhook_pod_get_variable_name(c, container, variable)),
			Value: cconv.CopyStringOrNil(value),
			Field: C.GoString(C.quoit_webhook_pod_get_variable_field(c, container, variable)),
		},
		IsWritten:   bool(C.quoit_webhook_pod_is_variable_written(c, container, variable)),
		IsEffective: bool(C.quoit_webhook_pod_is_variable_effective(c, container, variable)),
	}
}

// Applied returns a copy of the pod with the webhook's changes. Pass it as one of others for the next pods.
//
// It fails like Mutate.
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
