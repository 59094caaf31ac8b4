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

// Options is how the operator runs.
type Options struct {
	Autoscaling    bool // spec.enableInTreeAutoscaling: what is too many stays until the autoscaler names it
	RandomDeletion bool // ENABLE_RANDOM_POD_DELETE is true in its environment: it does not stay all the same
	NoIndices      bool // its gate RayMultiHostIndexing is off, as before 1.6: pods without indices, one by one
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

// CheckedName is KubeRay's CheckName, which the TPU webhook asks for the name of the headless service: the last 50 bytes,
// and "r" in place of a digit or a punctuation mark that comes first. It may begin within a character of UTF-8.
//
// It fails with Invalid for text that holds NUL.
func CheckedName(name string) (string, error) {
	return nameOf(name, func(text *C.char) *C.char { return C.quoit_kuberay_dup_checked_name(text) })
}

// PodPrefix is what the names of a group's pods begin with, given "CLUSTER-GROUP"; Kubernetes appends five random
// characters. It is the first 50 bytes, in lower case, and "-worker-".
//
// It fails with Invalid for text that holds NUL.
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

// Cluster is the worker groups of a RayCluster and the pods that there are. It changes; goroutines that use it take turns.
// Close frees it; the garbage collector does where that is forgotten. Every method that can fail does with Invalid after
// Close.
type Cluster struct {
	Name string // of the RayCluster
	// IsNameAssumed says that nobody knows yet what the RayCluster will be called: KubeRay ends the name of a RayJob's or
	// RayService's cluster with "-" and five random characters, for which "xxxxx" stands until the manifest is read back from
	// Kubernetes.
	IsNameAssumed bool
	LongestName   int // bytes that the manifest's metadata.name may have if hosts of a slice are to find each other

	h  *door.Handle
	mu sync.Mutex // a use of the handle does not exclude another
}

// New is a cluster without groups.
//
// It fails with Invalid for a name that holds NUL.
func New(name string, options Options) (*Cluster, error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("name", name))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	return newCluster(C.quoit_kuberay_new(text, options.flags())), nil
}

// ParseManifest is the cluster of a manifest, YAML with one RayCluster, RayJob or RayService, with its worker groups, and no
// pods yet: the first pass makes them. Variables are what each ${NAME} in it stands for. Options count beside what the
// manifest says of autoscaling. A group that is suspended, or that of a suspended cluster, is to have no pods. KubeRay ends
// the name of a RayJob's or RayService's cluster with five random characters, "xxxxx" here. What no slice can be is not
// refused: quoit.CheckManifest says what is wrong.
//
// It fails with Invalid when the text is not YAML, has no such object or two, or a field that is read is none of
// Kubernetes's (the message begins with the line), and when variables are no names, or lack one.
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

// Close frees what the cluster keeps; calls that come later fail. To close twice does nothing.
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

// Service is the headless service as KubeRay calls it; "" where each group has one host. The TPU webhook tells the hosts
// another name where this one has more than 50 bytes or begins with a digit: CheckNames refuses that.
//
// It fails with Invalid after Close.
func (c *Cluster) Service() (name string, err error) {
	err = c.with(func(kuberay *C.QuoitKuberay) error {
		name = C.GoString(C.quoit_kuberay_get_service(kuberay))
		return nil
	})
	return name, err
}

// CheckNames says whether the hosts of the groups that ask for TPUs will find each other: the headless service is called as
// the TPU webhook says, and all host names that it makes for the replicas up to the wanted ones are DNS labels of at most 63
// bytes.
//
// It fails with Invalid when one does not hold (the message has the name and how much shorter it has to be), and after
// Close.
func (c *Cluster) CheckNames() error {
	return c.with(func(kuberay *C.QuoitKuberay) error {
		var gerror *C.GError
		C.quoit_kuberay_check_names(kuberay, &gerror)
		return door.Take(unsafe.Pointer(gerror))
	})
}

// CheckGroup is what the TPU webhook says of a group when the RayCluster is applied; "": it has nothing against it. For one
// that it refuses or denies there is no cluster, and so no pod of any group.
//
// It fails with NotFound when there is no such group; Invalid as webhook.CheckGroup, and after Close.
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

// Group is a worker group as it is added.
type Group struct {
	Name     string       // groupName
	Hosts    int64        // numOfHosts
	Replicas int64        // wanted, of 32 bits
	Template *webhook.Pod // of its pods; nil: one that asks for no TPUs
}

// GroupInfo is a worker group that is there.
type GroupInfo struct {
	Name       string
	Hosts      int64 // numOfHosts
	Containers int   // of each of its pods
	// Desired is how many pods it is to have: the replicas within their bounds, times the hosts of each, in 32 bits as the
	// operator counts, which may wrap below 0; none while it is suspended.
	Desired int
}

// AddGroup adds a group behind the others, without bounds.
//
// It fails with Invalid when a group has that name, the hosts are not 0 to 2147483647, the replicas are no number of 32
// bits, or the template is none (as webhook.Mutate), and after Close.
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

// Groups are the worker groups, in their order.
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

// onGroup runs what is to be done with the group of that name.
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

// SetReplicas says how many replicas of a group are wanted; the bounds of the group decide where it is beyond them.
//
// It fails with NotFound when there is no such group; Invalid for what is no number of 32 bits, and after Close.
func (c *Cluster) SetReplicas(group string, replicas int64) error {
	if err := check32("replicas", replicas); err != nil {
		return err
	}
	return c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		C.quoit_kuberay_set_replicas(kuberay, number, C.int32_t(replicas))
	})
}

// SetBounds says how few and how many replicas of a group there may be: minReplicas, 0 where it is not set, and
// maxReplicas, 2147483647 where it is not set.
//
// It fails with NotFound when there is no such group; Invalid for what is no number of 32 bits, and after Close.
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

// Suspend says that a group is to have no pods, until it is resumed.
//
// It fails with NotFound when there is no such group; Invalid after Close.
func (c *Cluster) Suspend(group string) error {
	return c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		C.quoit_kuberay_suspend_group(kuberay, number)
	})
}

// Resume says that a group is to have its pods again.
//
// It fails with NotFound when there is no such group; Invalid after Close.
func (c *Cluster) Resume(group string) error {
	return c.onGroup(group, func(kuberay *C.QuoitKuberay, number C.uint32_t) {
		C.quoit_kuberay_resume_group(kuberay, number)
	})
}
