// SPDX-License-Identifier: Apache-2.0

package webhook

/*
#cgo pkg-config: quoit
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"fmt"
	"sort"
	"unsafe"

	_ "quoit" // sets cconv.NewError
	"quoit/internal/cconv"
)

// The keys of the node selectors that the webhook reads, and the topology key of all affinity terms that it sets.
const (
	TopologySelector    = "cloud.google.com/gke-tpu-topology"    // "4x4"
	AcceleratorSelector = "cloud.google.com/gke-tpu-accelerator" // "tpu-v6e-slice"
	TopologyKey         = "cloud.google.com/gke-nodepool"
)

// Pod is a pod, or the template of a worker group, with the fields that the webhook reads.
type Pod struct {
	Labels     map[string]string // such as "ray.io/cluster" and "ray.io/group"
	Selectors  map[string]string // its node selectors
	Containers []Container
}

// Container is a container of a pod.
type Container struct {
	Request *string // google.com/tpu in its requests, "4"; nil if it is missing
	Limit   *string // google.com/tpu in its limits
	Env     []EnvVar
}

// EnvVar is a variable of a container. A name can occur twice.
type EnvVar struct {
	Name  string
	Value *string // nil if it has a valueFrom
}

// CheckGroup returns the message with which the webhook denies a worker group of a RayCluster, given by the template of
// its pods and its numOfHosts; "" if the webhook accepts the group. If a RayCluster has several groups, the first one
// that is refused or denied decides. The webhook compares the hosts with the chips of the topology divided by the chips
// of a pod, in 32-bit integer arithmetic.
//
// It fails with Invalid if the webhook returns an error, which Kubernetes shows as "Failed to validate RayCluster":
// numOfHosts, containers or the topology are missing, or a number of the topology cannot be parsed. It also fails with
// Invalid if chips are not a Kubernetes quantity or are negative.
func CheckGroup(template Pod, hosts int64) (denial string, err error) {
	c, err := template.toC("template")
	if err != nil {
		return "", err
	}
	defer C.quoit_webhook_pod_free(c)
	var message *C.char
	var gerror *C.GError
	C.quoit_webhook_check_group(c, C.int64_t(hosts), &message, &gerror)
	if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
		return "", err
	}
	return C.GoString(message), nil
}

func init() {
	cconv.WithPod = func(pod any, what string, use func(unsafe.Pointer) error) error {
		c, err := pod.(*Pod).toC(what)
		if err != nil {
			return err
		}
		defer C.quoit_webhook_pod_free(c)
		return use(unsafe.Pointer(c))
	}
	cconv.MovePatch = func(patch unsafe.Pointer, containers int) any {
		c := (*C.QuoitWebhookPatch)(patch)
		defer C.quoit_webhook_patch_free(c)
		return patchFromC(c, containers)
	}
	cconv.MoveAdmitted = func(pod unsafe.Pointer) any {
		c := (*C.QuoitWebhookPod)(pod)
		defer C.quoit_webhook_pod_free(c)
		return admittedFromC(c)
	}
}

// toC converts the pod to a C object, which copies its data. The caller frees it.
func (p *Pod) toC(what string) (*C.QuoitWebhookPod, error) {
	c := C.quoit_webhook_pod_new()
	err := setTexts(what+".Labels", p.Labels, func(key, value *C.char) { C.quoit_webhook_pod_set_label(c, key, value) })
	if err == nil {
		err = setTexts(what+".Selectors", p.Selectors,
			func(key, value *C.char) { C.quoit_webhook_pod_set_selector(c, key, value) })
	}
	for index := 0; index < len(p.Containers) && err == nil; index++ {
		err = p.Containers[index].add(c, fmt.Sprintf("%s.Containers[%d]", what, index))
	}
	if err != nil {
		C.quoit_webhook_pod_free(c)
		return nil, err
	}
	return c, nil
}

// setTexts passes keys and values to set. They are sorted by key, so that the error does not depend on the order of the
// map if several texts are invalid.
func setTexts(what string, texts map[string]string, set func(key, value *C.char)) error {
	var arguments cconv.Arguments
	keys := make([]string, 0, len(texts))
	for key := range texts {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		name, value := (*C.char)(arguments.Text(what, key)), (*C.char)(arguments.Text(what, texts[key]))
		if err := arguments.Err(); err != nil {
			return err
		}
		set(name, value)
	}
	return nil
}

// add adds the container to a C pod. what is its name for messages.
func (c *Container) add(pod *C.QuoitWebhookPod, what string) error {
	var arguments cconv.Arguments
	var gerror *C.GError
	request := (*C.char)(arguments.TextUnlessNil(what+".Request", c.Request))
	limit := (*C.char)(arguments.TextUnlessNil(what+".Limit", c.Limit))
	if err := arguments.Err(); err != nil {
		return err
	}
	C.quoit_webhook_pod_add_container(pod, request, limit, &gerror)
	if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
		return err
	}
	for index, variable := range c.Env {
		place := fmt.Sprintf("%s.Env[%d]", what, index)
		name := (*C.char)(arguments.Text(place, variable.Name))
		value := (*C.char)(arguments.TextUnlessNil(place, variable.Value))
		if err := arguments.Err(); err != nil {
			return err
		}
		C.quoit_webhook_pod_add_variable(pod, name, value)
	}
	return nil
}
