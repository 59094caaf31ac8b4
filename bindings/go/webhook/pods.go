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

	_ "quoit" // sets door.NewError
	"quoit/internal/door"
)

// The keys of the node selectors that the webhook reads, and the topology key of all affinity terms that it sets.
const (
	TopologySelector    = "cloud.google.com/gke-tpu-topology"    // "4x4"
	AcceleratorSelector = "cloud.google.com/gke-tpu-accelerator" // "tpu-v6e-slice"
	TopologyKey         = "cloud.google.com/gke-nodepool"
)

// Pod is a pod, or the template of a worker group, with the fields that the webhook reads.
type Pod struct {
	Labels     map[string]string // "ray.io/cluster", "ray.io/group"...
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

// CheckGroup returns the webhook's denial of a worker group of a RayCluster, which is its template and its numOfHosts;
// "" if the webhook accepts the group. With several groups, the first one that is refused or denied decides. The
// webhook compares the hosts with the chips of the topology divided by those of a pod, as 32-bit integers without
// remainder.
//
// It fails with Invalid if the webhook returns an error, which Kubernetes shows as "Failed to validate RayCluster":
// numOfHosts, containers or the topology are missing, or a number of the topology cannot be parsed. It also fails with
// Invalid if chips are not a Kubernetes quantity or are negative.
func CheckGroup(template Pod, hosts int64) (denial string, err error) {
	c, err := template.opened("template")
	if err != nil {
		return "", err
	}
	defer C.quoit_webhook_pod_free(c)
	var said *C.char
	var gerror *C.GError
	C.quoit_webhook_check_group(c, C.int64_t(hosts), &said, &gerror)
	if err := door.Take(unsafe.Pointer(gerror)); err != nil {
		return "", err
	}
	return C.GoString(said), nil
}

func init() {
	door.LendPod = func(pod any, what string, use func(unsafe.Pointer) error) error {
		c, err := pod.(*Pod).opened(what)
		if err != nil {
			return err
		}
		defer C.quoit_webhook_pod_free(c)
		return use(unsafe.Pointer(c))
	}
	door.TakenPatch = func(patch unsafe.Pointer, containers int) any {
		c := (*C.QuoitWebhookPatch)(patch)
		defer C.quoit_webhook_patch_free(c)
		return patchOf(c, containers)
	}
	door.TakenAdmitted = func(pod unsafe.Pointer) any {
		c := (*C.QuoitWebhookPod)(pod)
		defer C.quoit_webhook_pod_free(c)
		return admittedOf(c)
	}
}

// opened converts the pod to a C object, which copies its data. The caller frees it.
func (p *Pod) opened(what string) (*C.QuoitWebhookPod, error) {
	c := C.quoit_webhook_pod_new()
	err := eachText(what+".Labels", p.Labels, func(key, value *C.char) { C.quoit_webhook_pod_set_label(c, key, value) })
	if err == nil {
		err = eachText(what+".Selectors", p.Selectors,
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

// eachText passes keys and values to C, sorted by key, so that an error always names the same one of several invalid
// texts.
func eachText(what string, texts map[string]string, set func(key, value *C.char)) error {
	var arguments door.Arguments
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

func (c *Container) add(pod *C.QuoitWebhookPod, what string) error {
	var arguments door.Arguments
	var gerror *C.GError
	request := (*C.char)(arguments.TextOrNil(what+".Request", c.Request))
	limit := (*C.char)(arguments.TextOrNil(what+".Limit", c.Limit))
	if err := arguments.Err(); err != nil {
		return err
	}
	C.quoit_webhook_pod_add_container(pod, request, limit, &gerror)
	if err := door.Take(unsafe.Pointer(gerror)); err != nil {
		return err
	}
	for index, variable := range c.Env {
		place := fmt.Sprintf("%s.Env[%d]", what, index)
		name := (*C.char)(arguments.Text(place, variable.Name))
		value := (*C.char)(arguments.TextOrNil(place, variable.Value))
		if err := arguments.Err(); err != nil {
			return err
		}
		C.quoit_webhook_pod_add_variable(pod, name, value)
	}
	return nil
}
