// SPDX-License-Identifier: Apache-2.0

package kuberay

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/cconv"
	"quoit/webhook"
)

// Event is what can happen to a pod between two passes.
type Event int

// The events.
const (
	Failed    Event = C.QUOIT_KUBERAY_EVENT_FAILED    // the pod's phase is Failed or Succeeded
	Ended     Event = C.QUOIT_KUBERAY_EVENT_ENDED     // its Ray container has ended, with restartPolicy Never
	Restarted Event = C.QUOIT_KUBERAY_EVENT_RESTARTED // its Ray container has ended, with another restartPolicy
	Gone      Event = C.QUOIT_KUBERAY_EVENT_GONE      // it was deleted by another client, or its node is gone
	ToDelete  Event = C.QUOIT_KUBERAY_EVENT_TO_DELETE // scaleStrategy.workersToDelete names it, usually by the autoscaler
)

// Pod is the state of a pod of a worker group when Cluster.Pods was called.
type Pod struct {
	Serial  uint64 // the number of pods that the cluster created before it; it identifies the pod
	Group   string // the name of its group
	Replica int64  // its replica index, which a replacement keeps; -1 if it has none
	Host    int64  // its host index in the replica; -1 if it has none, such as in a replica with one host
	// Incarnation is the number of replicas with several hosts that the cluster created before its replica; -1 if
	// its replica has one host.
	Incarnation int64
	// Labels is the labels that KubeRay sets, without those of the template. In the name of the replica, the
	// incarnation stands for KubeRay's random characters: "GROUP-<0>".
	Labels map[string]string
}

// Pass is the result of one pass of the operator.
type Pass struct {
	Requeued string // the operator's message if the pass ended early and another one follows; otherwise ""
	// IsDeletionArbitrary is true if the pass deleted pods that the operator chooses arbitrarily. quoit deletes the
	// last pods.
	IsDeletionArbitrary bool
}

// Reconcile runs one pass of the operator over the groups, in their order. A replica with several hosts is deleted and
// created as a whole: an incomplete replica is deleted and ends the pass; a replica with a failed host is replaced in
// the pass, usually with the same index; a replica with a pod named for deletion is deleted and ends the pass. New
// replicas get the lowest free indices.
//
// It fails with Invalid if the groups should have more than 65536 pods together, or their environments would need more
// than 256 MiB (in both cases no pod has changed), and after Close.
func (c *Cluster) Reconcile() (pass Pass, err error) {
	err = c.with(func(kuberay *C.QuoitKuberay) error {
		var requeued *C.char
		var gerror *C.GError
		C.quoit_kuberay_reconcile(kuberay, &requeued, &gerror)
		if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		pass = Pass{C.GoString(requeued), bool(C.quoit_kuberay_is_deletion_arbitrary(kuberay))}
		return nil
	})
	return pass, err
}

// Pods returns the pods, ordered by group, then by replica and host, or by age if they have no indices.
//
// It fails with Invalid after Close.
func (c *Cluster) Pods() (pods []Pod, err error) {
	err = c.with(func(kuberay *C.QuoitKuberay) error {
		pods = make([]Pod, C.quoit_kuberay_get_n_pods(kuberay))
		for index := range pods {
			pods[index] = podFromC(kuberay, C.uint32_t(index))
		}
		return nil
	})
	return pods, err
}

func podFromC(c *C.QuoitKuberay, pod C.uint32_t) Pod {
	return Pod{
		Serial:      uint64(C.quoit_kuberay_get_pod_serial(c, pod)),
		Group:       C.GoString(C.quoit_kuberay_get_group_name(c, C.quoit_kuberay_get_pod_group(c, pod))),
		Replica:     int64(C.quoit_kuberay_get_pod_replica(c, pod)),
		Host:        int64(C.quoit_kuberay_get_pod_host(c, pod)),
		Incarnation: int64(C.quoit_kuberay_get_pod_incarnation(c, pod)),
		Labels:      cconv.MovePairs(unsafe.Pointer(C.quoit_kuberay_dup_pod_labels(c, pod))),
	}
}

// withPod calls run with the index of the pod with that serial.
func (c *Cluster) withPod(serial uint64, run func(*C.QuoitKuberay, C.uint32_t) error) error {
	return c.with(func(kuberay *C.QuoitKuberay) error {
		for pod := C.uint32_t(0); pod < C.quoit_kuberay_get_n_pods(kuberay); pod++ {
			if uint64(C.quoit_kuberay_get_pod_serial(kuberay, pod)) == serial {
				return run(kuberay, pod)
			}
		}
		return cconv.NotFoundError("pod '%d': the cluster has no pod with this serial", serial)
	})
}

// Mark records an event of a pod, given by its serial, for the next pass. Gone removes the pod immediately.
//
// It fails with NotFound if the pod does not exist any more, and with Invalid for an unknown event, and after Close.
func (c *Cluster) Mark(serial uint64, event Event) error {
	switch event {
	case Failed, Ended, Restarted, Gone, ToDelete:
	default:
		return cconv.InvalidError("event '%d': expected one of Failed, Ended, Restarted, Gone, ToDelete", event)
	}
	return c.withPod(serial, func(kuberay *C.QuoitKuberay, pod C.uint32_t) error {
		C.quoit_kuberay_mark_pod(kuberay, pod, C.QuoitKuberayEvent(event))
		return nil
	})
}

// Mutate returns the changes that the TPU webhook made to a pod, given by its serial, when it was created. For a pod
// without both indices, the webhook derives them from the pods that existed then.
//
// It fails with NotFound if the pod does not exist any more, and with Invalid if the webhook refused the pod (like
// webhook.Mutate), and after Close.
func (c *Cluster) Mutate(serial uint64) (patch *webhook.Patch, err error) {
	err = c.withPod(serial, func(kuberay *C.QuoitKuberay, pod C.uint32_t) error {
		var gerror *C.GError
		cPatch := C.quoit_kuberay_mutate_pod(kuberay, pod, &gerror)
		if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		group := C.quoit_kuberay_get_pod_group(kuberay, pod)
		containers := int(C.quoit_kuberay_get_group_containers(kuberay, group))
		patch = cconv.MovePatch(unsafe.Pointer(cPatch), containers).(*webhook.Patch)
		return nil
	})
	return patch, err
}

// Admit returns a pod, given by its serial, after the TPU webhook has changed it: its labels, and the variables of its
// processes. These include the variables of envFrom, and $(NAME) is replaced by the value of an earlier variable.
//
// It fails like Mutate, and with Invalid if the variables of a container have more than 6 MiB.
func (c *Cluster) Admit(serial uint64) (admitted *webhook.Admitted, err error) {
	err = c.withPod(serial, func(kuberay *C.QuoitKuberay, pod C.uint32_t) error {
		var gerror *C.GError
		cPod := C.quoit_kuberay_admit_pod(kuberay, pod, &gerror)
		if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		admitted = cconv.MoveAdmitted(unsafe.Pointer(cPod)).(*webhook.Admitted)
		return nil
	})
	return admitted, err
}
