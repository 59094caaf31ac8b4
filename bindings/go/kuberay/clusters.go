// SPDX-License-Identifier: Apache-2.0

package kuberay

/*
#cgo pkg-config: quoit
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"math"
	"sync"
	"unsafe"

	"quoit/internal/door"
	"quoit/webhook"
)

// Options is the configuration of the operator.
type Options struct {
	Autoscaling    bool // spec.enableInTreeAutoscaling: surplus pods stay until the autoscaler names them
	RandomDeletion bool // ENABLE_RANDOM_POD_DELETE is true: surplus pods are deleted nevertheless
	NoIndices      bool // the gate RayMultiHostIndexing is off, as before 1.6: pods without indices, one by one
}

func (o Options) flags() C.uint32_t {
	var flags C.uint32_t
	for _, one := range []struct {
		isSet bool
		flag  C.uint32_t
	}{
		{o.Autoscaling, C.QUOIT_KUBERAY_AUTOSCALING}, {o.RandomDeletion, C.QUOIT_KUBERAY_RANDOM_DELETION},
		{o.NoIndices, C.QUOIT_KUBERAY_NO_INDICES},
	} {
		if one.isSet {
			flags |= one.flag
		}
	}
	return flags
}

// CheckedName returns KubeRay's CheckName of a name, which the TPU webhook uses for the headless service: the last 50
// bytes, with "r" in place of a leading digit or punctuation mark. The result can begin inside a UTF-8 character.
//
// It fails with Invalid for text with a NUL.
func CheckedName(name string) (string, error) {
	return nameOf(name, func(text *C.char) *C.char { return C.quoit_kuberay_dup_checked_name(text) })
}

// PodPrefix returns the prefix of the names of a group's pods for "CLUSTER-GROUP": the first 50 bytes in lower case,
// and "-worker-". Kubernetes appends five random characters.
//
// It fails with Invalid for text with a NUL.
func PodPrefix(name string) (string, error) {
	return nameOf(name, func(text *C.char) *C.char { return C.quoit_kuberay_dup_pod_prefix(text) })
}

func nameOf(name string, made func(*C.char) *C.char) (string, error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("name", name))
	if err := arguments.Err(); err != nil {
		return "", err
	}
	return door.TakenString(unsafe.Pointer(made(text))), nil
}

// Cluster is the worker groups of a RayCluster and their pods. Goroutines that use one cluster wait for each other.
// Close frees it; the garbage collector does so if you do not. Every method that returns an error fails with Invalid
// after Close.
type Cluster struct {
	Name string // of the RayCluster
	// IsNameAssumed is true if the name of the RayCluster is not known yet. KubeRay appends "-" and five random
	// characters to the name of a RayJob's or RayService's cluster. Name has "xxxxx" instead until the manifest is
	// read back from Kubernetes.
	IsNameAssumed bool
	LongestName   int // the most bytes of the manifest's metadata.name with which the hosts of a slice find each other

	h  *door.Handle
	mu sync.Mutex // the handle allows concurrent uses
}

// New returns a cluster without groups.
//
// It fails with Invalid for a name with a NUL.
func New(name string, options Options) (*Cluster, error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("name", name))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	return newCluster(C.quoit_kuberay_new(text, options.flags())), nil
}

// ParseManifest returns the cluster of a manifest with its worker groups and without pods; the first pass creates them.
// The manifest is YAML with one RayCluster, RayJob or RayService. variables has values for each ${NAME} in it.
// options.Autoscaling applies in addition to the manifest's autoscaling. A suspended group, and each group of a
// suspended cluster, gets no pods. KubeRay appends five random characters to the name of a RayJob's or RayService's
// cluster, which are "xxxxx" here. Groups that cannot form a slice are not refused: quoit.CheckManifest reports them.
//
// It fails with Invalid if the text is not YAML, has none or several of these objects, or has an invalid value in a
// field that is read (the message begins with the line), and if variables has an invalid name or lacks one.
func ParseManifest(text []byte, variables map[string]string, options Options) (*Cluster, error) {
	var arguments door.Arguments
	var gerror *C.GError
	defer arguments.Free()
	data, length := arguments.Document(text)
	pairs := (**C.char)(arguments.Pairs("variables", variables))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_kuberay_parse_manifest((*C.char)(data), C.size_t(length), pairs, options.flags(), &gerror)
	if err := door.Take(unsafe.Pointer(gerror)); err != nil {
		return nil, err
	}
	return newCluster(c), nil
}

func newCluster(c *C.QuoitKuberay) *Cluster {
	return &Cluster{
		Name:          C.GoString(C.quoit_kuberay_get_cluster(c)),
		IsNameAssumed: C.quoit_kuberay_is_name_assumed(c) == 1,
		LongestName:   int(C.quoit_kuberay_get_longest_name(c)),
		h: door.NewHandle("KubeRay cluster", unsafe.Pointer(c),
			func(p unsafe.Pointer) { C.quoit_kuberay_free((*C.QuoitKuberay)(p)) }),
	}
}

// Close frees the cluster. A second Close does nothing.
func (c *Cluster) Close() {
	if c != nil {
		c.h.Close()
	}
}

func (c *Cluster) with(run func(*C.QuoitKuberay) error) error {
	if c == nil {
		return door.NewClosedError("nil KubeRay cluster")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pointer, err := c.h.Use()
	if err != nil {
		return err
	}
	defer c.h.Done()
	return run((*C.QuoitKuberay)(pointer))
}

// Service returns KubeRay's name of the headless service; "" if each group has one host. If the name has more than 50
// bytes or begins with a digit, the TPU webhook writes a different name into the pods, and CheckNames fails.
//
// It fails with Invalid after Close.
func (c *Cluster) Service() (name string, err error) {
	err = c.with(func(kuberay *C.QuoitKuberay) error {
		name = C.GoString(C.quoit_kuberay_get_service(kuberay))
		return nil
	})
	return name, err
}

// CheckNames checks whether the hosts of groups with TPUs can find each other: the headless service has the name that
// the TPU webhook writes, and all host names of the replicas up to the requested number are DNS labels of at most 63
// bytes.
//
// It fails with Invalid if either check fails (the message has the name and how much shorter it must be), and after
// Close.
func (c *Cluster) CheckNames() error {
	return c.with(func(kuberay *C.QuoitKuberay) error {
		var gerror *C.GError
		C.quoit_kuberay_check_names(kuberay, &gerror)
		return door.Take(unsafe.Pointer(gerror))
	})
}

// CheckGroup returns the denial of the TPU webhook for a group when the RayCluster is applied; "" if the webhook
// accepts it. If any group is refused or denied, Kubernetes does not create the RayCluster, so no group gets pods.
//
// It fails with NotFound if there is no such group, and with Invalid like webhook.CheckGroup, and after Close.
func (c *Cluster) CheckGroup(group string) (denial string, err error) {
	var gerror *C.GError
	err = c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		var said *C.char
		if C.quoit_kuberay_check_group(kuberay, number, &said, &gerror) == 1 {
			denial = C.GoString(said)
		}
	})
	if err != nil {
		return "", err
	}
	return denial, door.Take(unsafe.Pointer(gerror))
}

// --- groups ---

// Group describes a worker group to add.
type Group struct {
	Name     string       // groupName
	Hosts    int64        // numOfHosts
	Replicas int64        // requested replicas, of 32 bits
	Template *webhook.Pod // of its pods; nil stands for one without TPUs
}

// GroupInfo is a worker group of a cluster.
type GroupInfo struct {
	Name       string
	Hosts      int64 // numOfHosts
	Containers int   // of each of its pods
	// Desired is the number of pods that the group should have: the replicas within their bounds, times the hosts
	// of each; 0 while it is suspended. Like in the operator, it has 32 bits and can overflow below 0.
	Desired int
}

// AddGroup adds a group after the others, without bounds.
//
// It fails with Invalid if a group has that name, the hosts are not in 0 to 2147483647, the replicas do not fit in 32
// bits, or the template is not valid (like webhook.Mutate), and after Close.
func (c *Cluster) AddGroup(group Group) error {
	if err := check32("replicas", group.Replicas); err != nil {
		return err
	}
	var arguments door.Arguments
	name := (*C.char)(arguments.Text("group", group.Name))
	if err := arguments.Err(); err != nil {
		return err
	}
	return c.with(func(kuberay *C.QuoitKuberay) error {
		add := func(pod unsafe.Pointer) error {
			var gerror *C.GError
			C.quoit_kuberay_add_group(kuberay, name, C.int64_t(group.Hosts), (*C.QuoitWebhookPod)(pod), &gerror)
			return door.Take(unsafe.Pointer(gerror))
		}
		var err error
		if group.Template == nil {
			err = add(nil)
		} else {
			err = door.LendPod(group.Template, "Template", add)
		}
		if err == nil {
			last := C.quoit_kuberay_get_n_groups(kuberay) - 1
			C.quoit_kuberay_set_replicas(kuberay, last, C.int32_t(group.Replicas))
		}
		return err
	})
}

func check32(what string, number int64) error {
	if number < math.MinInt32 || number > math.MaxInt32 {
		return door.Invalid("%s '%d': expected %d to %d", what, number, math.MinInt32, math.MaxInt32)
	}
	return nil
}

// Groups returns the worker groups, in their order.
//
// It fails with Invalid after Close.
func (c *Cluster) Groups() (groups []GroupInfo, err error) {
	err = c.with(func(kuberay *C.QuoitKuberay) error {
		groups = make([]GroupInfo, C.quoit_kuberay_get_n_groups(kuberay))
		for index := range groups {
			group := C.uint32_t(index)
			groups[index] = GroupInfo{
				Name:       C.GoString(C.quoit_kuberay_get_group_name(kuberay, group)),
				Hosts:      int64(C.quoit_kuberay_get_group_hosts(kuberay, group)),
				Containers: int(C.quoit_kuberay_get_group_containers(kuberay, group)),
				Desired:    int(C.quoit_kuberay_get_n_desired(kuberay, group)),
			}
		}
		return nil
	})
	return groups, err
}

// onGroup runs a function on the group of that name.
func (c *Cluster) onGroup(name string, run func(*C.QuoitKuberay, C.uint32_t)) error {
	return c.with(func(kuberay *C.QuoitKuberay) error {
		for group := C.uint32_t(0); group < C.quoit_kuberay_get_n_groups(kuberay); group++ {
			if C.GoString(C.quoit_kuberay_get_group_name(kuberay, group)) == name {
				run(kuberay, group)
				return nil
			}
		}
		return door.NotFound("group %s: expected the name of a group", door.Shown(name))
	})
}

// SetReplicas sets the requested replicas of a group. The bounds of the group limit them.
//
// It fails with NotFound if there is no such group, and with Invalid for a number that does not fit in 32 bits, and
// after Close.
func (c *Cluster) SetReplicas(group string, replicas int64) error {
	if err := check32("replicas", replicas); err != nil {
		return err
	}
	return c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		C.quoit_kuberay_set_replicas(kuberay, number, C.int32_t(replicas))
	})
}

// SetBounds sets the bounds of the replicas of a group: minReplicas, which is 0 by default, and maxReplicas, which is
// 2147483647 by default.
//
// It fails with NotFound if there is no such group, and with Invalid for a number that does not fit in 32 bits, and
// after Close.
func (c *Cluster) SetBounds(group string, lowest, highest int64) error {
	if err := check32("lowest", lowest); err != nil {
		return err
	}
	if err := check32("highest", highest); err != nil {
		return err
	}
	return c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		C.quoit_kuberay_set_bounds(kuberay, number, C.int32_t(lowest), C.int32_t(highest))
	})
}

// Suspend reduces the desired pods of a group to 0 until Resume.
//
// It fails with NotFound if there is no such group, and with Invalid after Close.
func (c *Cluster) Suspend(group string) error {
	return c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		C.quoit_kuberay_suspend_group(kuberay, number)
	})
}

// Resume reverts Suspend.
//
// It fails with NotFound if there is no such group, and with Invalid after Close.
func (c *Cluster) Resume(group string) error {
	return c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		C.quoit_kuberay_resume_group(kuberay, number)
	})
}
