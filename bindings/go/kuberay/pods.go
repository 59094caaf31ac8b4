// SPDX-License-Identifier: Apache-2.0

package kuberay

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/door"
	"quoit/webhook"
)

// Event is what may happen to a pod between two passes.
type Event int

// The events.
const (
	Failed    Event = C.QUOIT_KUBERAY_EVENT_FAILED    // its phase is Failed or Succeeded
	Ended     Event = C.QUOIT_KUBERAY_EVENT_ENDED     // its Ray container has ended, and its restartPolicy is Never
	Restarted Event = C.QUOIT_KUBERAY_EVENT_RESTARTED // its Ray container has ended, and its restartPolicy is another
	Gone      Event = C.QUOIT_KUBERAY_EVENT_GONE      // somebody else has deleted it, or its node is gone
	Named     Event = C.QUOIT_KUBERAY_EVENT_NAMED     // scaleStrategy.workersToDelete names it, as the autoscaler does
)

// Pod is one of a worker group. It is a value: what becomes of it, Pods says anew.
type Pod struct {
	Serial  uint64 // which pod it is, of all that the cluster ever had: 0 for the first
	Group   string // the name of its group
	Replica int64  // its replica index, a place that survives replacement; -1 where it has none
	Host    int64  // its host index in the replica; -1 where it has none, as where the replica has one host
	// Incarnation is which of the replicas of several hosts that were ever made it belongs to, 0 for the first; -1 where the
	// replica has no name, as where it has one host.
	Incarnation int64
	// Labels are those that KubeRay gives it, without those that only the template has. The random end of the name of its
	// replica is the incarnation: "GROUP-<0>".
	Labels map[string]string
}

// Pass is what a pass of the operator did.
type Pass struct {
	Requeued    string // what the operator says where the pass ended early and another follows; "": it came to its end
	IsArbitrary bool   // it deleted some of a group's pods of which the operator does not say which: here the last ones go
}

// Reconcile is one pass of the operator over the groups, in their order. Of several hosts a replica lives and dies as one: an
// incomplete one is deleted and ends the pass; one with a host that has failed is replaced in the pass, most often under its
// own index; one of which a pod is named is deleted and ends the pass. New replicas take the lowest free indices.
//
// It fails with Invalid when the groups are to have more than 65536 pods together, or these more than 256 MiB of environment (no
// pod has changed), and after Close.
func (c *Cluster) Reconcile() (done Pass, err error) {
	err = c.with(func(kuberay *C.QuoitKuberay) error {
		var requeued *C.char
		var gerror *C.GError
		C.quoit_kuberay_reconcile(kuberay, &requeued, &gerror)
		if err := door.Take(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		done = Pass{C.GoString(requeued), C.quoit_kuberay_is_arbitrary(kuberay) == 1}
		return nil
	})
	return done, err
}

// Pods are those that there are, in the order of groups, then of replicas and hosts, or of age where they have no indices.
//
// It fails with Invalid after Close.
func (c *Cluster) Pods() (pods []Pod, err error) {
	err = c.with(func(kuberay *C.QuoitKuberay) error {
		pods = make([]Pod, C.quoit_kuberay_get_n_pods(kuberay))
		for index := range pods {
			pods[index] = podOf(kuberay, C.uint32_t(index))
		}
		return nil
	})
	return pods, err
}

func podOf(c *C.QuoitKuberay, pod C.uint32_t) Pod {
	return Pod{
		Serial:      uint64(C.quoit_kuberay_get_pod_serial(c, pod)),
		Group:       C.GoString(C.quoit_kuberay_get_group_name(c, C.quoit_kuberay_get_pod_group(c, pod))),
		Replica:     int64(C.quoit_kuberay_get_pod_replica(c, pod)),
		Host:        int64(C.quoit_kuberay_get_pod_host(c, pod)),
		Incarnation: int64(C.quoit_kuberay_get_pod_incarnation(c, pod)),
		Labels:      door.TakenPairs(unsafe.Pointer(C.quoit_kuberay_dup_pod_labels(c, pod))),
	}
}

// onPod runs what is to be done with the pod of that serial.
func (c *Cluster) onPod(serial uint64, run func(*C.QuoitKuberay, C.uint32_t) error) error {
	return c.with(func(kuberay *C.QuoitKuberay) error {
		for pod := C.uint32_t(0); pod < C.quoit_kuberay_get_n_pods(kuberay); pod++ {
			if uint64(C.quoit_kuberay_get_pod_serial(kuberay, pod)) == serial {
				return run(kuberay, pod)
			}
		}
		return door.NotFound("pod '%d': expected the serial of a pod that is there", serial)
	})
}

// Mark says what happens to the pod of that serial, to be seen by the next pass; one that is gone is gone at once.
//
// It fails with NotFound when the pod is no longer there; Invalid for an event that is none, and after Close.
func (c *Cluster) Mark(serial uint64, event Event) error {
	switch event {
	case Failed, Ended, Restarted, Gone, Named:
	default:
		return door.Invalid("event '%d': expected one of Failed, Ended, Restarted, Gone, Named", event)
	}
	return c.onPod(serial, func(kuberay *C.QuoitKuberay, pod C.uint32_t) error {
		C.quoit_kuberay_mark_pod(kuberay, pod, C.QuoitKuberayEvent(event))
		return nil
	})
}

// Mutate is what the TPU webhook wrote into the pod of that serial when it was made. A pod without both indices it numbers
// by the pods that there were then.
//
// It fails with NotFound when the pod is no longer there; Invalid as webhook.Mutate, when the pod was not admitted for it,
// and after Close.
func (c *Cluster) Mutate(serial uint64) (patch *webhook.Patch, err error) {
	err = c.onPod(serial, func(kuberay *C.QuoitKuberay, pod C.uint32_t) error {
		var gerror *C.GError
		made := C.quoit_kuberay_mutate_pod(kuberay, pod, &gerror)
		if err := door.Take(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		group := C.quoit_kuberay_get_pod_group(kuberay, pod)
		containers := int(C.quoit_kuberay_get_group_containers(kuberay, group))
		patch = door.TakenPatch(unsafe.Pointer(made), containers).(*webhook.Patch)
		return nil
	})
	return patch, err
}

// Admit is the pod of that serial as it is once the TPU webhook has seen it: its labels, and which variables its processes
// get.
//
// It fails as Mutate.
func (c *Cluster) Admit(serial uint64) (admitted *webhook.Admitted, err error) {
	err = c.onPod(serial, func(kuberay *C.QuoitKuberay, pod C.uint32_t) error {
		var gerror *C.GError
		made := C.quoit_kuberay_admit_pod(kuberay, pod, &gerror)
		if err := door.Take(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		admitted = door.TakenAdmitted(unsafe.Pointer(made)).(*webhook.Admitted)
		return nil
	})
	return admitted, err
}
