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

	"quoit/internal/cconv"
	"quoit/webhook"
)

// Options is the configuration of the operator.
type Options struct {
	Autoscaling    bool // spec.enableInTreeAutoscaling: surplus pods stay until the autoscaler names them for deletion
	RandomDeletion bool // ENABLE_RANDOM_POD_DELETE: the operator deletes surplus pods even with Autoscaling
	NoIndices      bool // the feature gate RayMultiHostIndexing is off, as before KubeRay 1.6: pods get no indices
}

// flags converts the options to the flags of C.
func (o Options) flags() C.uint32_t {
	var flags C.uint32_t
	for _, option := range []struct {
		isSet bool
		flag  C.uint32_t
	}{
		{o.Autoscaling, C.QUOIT_KUBERAY_AUTOSCALING}, {o.RandomDeletion, C.QUOIT_KUBERAY_RANDOM_DELETION},
		{o.NoIndices, C.QUOIT_KUBERAY_NO_INDICES},
	} {
		if option.isSet {
			flags |= option.flag
		}
	}
	return flags
}

// CheckedName returns what KubeRay's function CheckName makes of a name: the last 50 bytes, with "r" in place of a
// leading digit or punctuation mark. The TPU webhook uses it for the name of the headless service. The result can begin
// inside a UTF-8 character.
//
// It fails with Invalid for text with a NUL.
func CheckedName(name string) (string, error) {
	return convertName(name, func(text *C.char) *C.char { return C.quoit_kuberay_dup_checked_name(text) })
}

// PodPrefix returns the prefix of the names of a group's pods for "CLUSTER-GROUP": the first 50 bytes in lower case,
// and "-worker-". Kubernetes appends five random characters.
//
// It fails with Invalid for text with a NUL.
func PodPrefix(name string) (string, error) {
	return convertName(name, func(text *C.char) *C.char { return C.quoit_kuberay_dup_pod_prefix(text) })
}

// convertName returns what convert makes of a name.
func convertName(name string, convert func(*C.char) *C.char) (string, error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("name", name))
	if err := arguments.Err(); err != nil {
		return "", err
	}
	return cconv.MoveString(unsafe.Pointer(convert(text))), nil
}

// Cluster is the worker groups of a RayCluster and their pods. Goroutines that use one cluster wait for each other.
// Close frees it; the garbage collector does so if you do not. Every method that returns an error fails with Invalid
// after Close.
type Cluster struct {
	Name string // the name of the RayCluster
	// IsNameAssumed is true if the name of the RayCluster is not known yet. KubeRay appends "-" and five random
	// characters to the name of the cluster of a RayJob or RayService. Name has "xxxxx" in their place, unless the
	// manifest was read back from Kubernetes.
	IsNameAssumed bool
	LongestName   int // the largest length of metadata.name, in bytes, with which the hosts of a slice find each other
	// Notes describe what is not known about the variables of a manifest, such as a ConfigMap in a container's
	// envFrom that is neither in the file nor optional.
	Notes []string

	h  *cconv.Handle
	mu sync.Mutex // a C object is not safe for concurrent use, which h allows
}

// New returns a cluster without groups.
//
// It fails with Invalid for a name with a NUL.
func New(name string, options Options) (*Cluster, error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("name", name))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	return newCluster(C.quoit_kuberay_new(text, options.flags())), nil
}

// ParseManifest returns the cluster of a manifest with its worker groups and without pods; the first pass creates them.
// The manifest is YAML with one RayCluster, RayJob or RayService. variables has values for each ${NAME} in it.
// Autoscaling is on if options.Autoscaling or the manifest turns it on. A suspended group, and each group of a
// suspended cluster, gets no pods. KubeRay appends five random characters to the name of a RayJob's or RayService's
// cluster, which are "xxxxx" here. ParseManifest accepts groups that cannot form a slice; quoit.CheckManifest reports
// them.
//
// It fails with Invalid if the text is not YAML, has none or several of these objects, or has an invalid value in a
// field that ParseManifest reads (the message begins with the line), and if variables has an invalid name or lacks a
// name.
func ParseManifest(text []byte, variables map[string]string, options Options) (*Cluster, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	defer arguments.Free()
	data, length := arguments.Bytes(text)
	pairs := (**C.char)(arguments.Pairs("variables", variables))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_kuberay_parse_manifest((*C.char)(data), C.size_t(length), pairs, options.flags(), &gerror)
	if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
		return nil, err
	}
	return newCluster(c), nil
}

func newCluster(c *C.QuoitKuberay) *Cluster {
	notes := make([]string, C.quoit_kuberay_get_n_notes(c))
	for number := range notes {
		notes[number] = C.GoString(C.quoit_kuberay_get_note(c, C.uint32_t(number)))
	}
	return &Cluster{
		Name:          C.GoString(C.quoit_kuberay_get_cluster(c)),
		IsNameAssumed: bool(C.quoit_kuberay_is_name_assumed(c)),
		LongestName:   int(C.quoit_kuberay_get_longest_name(c)),
		Notes:         notes,
		h: cconv.NewHandle("KubeRay cluster", unsafe.Pointer(c),
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
		return cconv.NewClosedError("nil KubeRay cluster")
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
		return cconv.ErrorFromC(unsafe.Pointer(gerror))
	})
}

// CheckGroup returns the denial of the TPU webhook for a group when the RayCluster is applied; "" if the webhook
// accepts it. If any group is refused or denied, Kubernetes does not create the RayCluster, so no group gets pods.
//
// It fails with NotFound if there is no such group, and with Invalid like webhook.CheckGroup, and after Close.
func (c *Cluster) CheckGroup(group string) (denial string, err error) {
	var gerror *C.GError
	err = c.withGroup(group, func(kuberay *C.QuoitKuberay, index C.uint32_t) {
		var message *C.char
		if bool(C.quoit_kuberay_check_group(kuberay, index, &message, &gerror)) {
			denial = C.GoString(message)
		}
	})
	if err != nil {
		return "", err
	}
	return denial, cconv.ErrorFromC(unsafe.Pointer(gerror))
}

// --- groups ---

// Group describes a worker group to add.
type Group struct {
	Name     string       // groupName
	Hosts    int64        // numOfHosts
	Replicas int64        // the number of requested replicas, which must fit in 32 bits
	Template *webhook.Pod // the template of its pods; nil stands for a template without TPUs
}

// GroupInfo is a worker group of a cluster.
type GroupInfo struct {
	Name       string
	Hosts      int64 // numOfHosts
	Containers int   // the number of containers of each pod
	// Desired is the number of pods that the group should have: the replicas within their bounds, times the hosts
	// of each replica; 0 while the group is suspended. Like in the operator, it has 32 bits and can overflow to a
	// negative number.
	Desired int
}

// AddGroup adds a group after the others. It has no bounds until SetBounds sets them.
//
// It fails with Invalid if the name is in use, the hosts are not in 0 to 2147483647, the replicas do not fit in 32
// bits, or the template is not valid (like webhook.Mutate), and after Close.
func (c *Cluster) AddGroup(group Group) error {
	if err := checkInt32("replicas", group.Replicas); err != nil {
		return err
	}
	var arguments cconv.Arguments
	name := (*C.char)(arguments.Text("group", group.Name))
	if err := arguments.Err(); err != nil {
		return err
	}
	return c.with(func(kuberay *C.QuoitKuberay) error {
		add := func(pod unsafe.Pointer) error {
			var gerror *C.GError
			C.quoit_kuberay_add_group(kuberay, name, C.int64_t(group.Hosts), (*C.QuoitWebhookPod)(pod), &gerror)
			return cconv.ErrorFromC(unsafe.Pointer(gerror))
		}
		var err error
		if group.Template == nil {
			err = add(nil)
		} else {
			err = cconv.WithPod(group.Template, "Template", add)
		}
		if err == nil {
			last := C.quoit_kuberay_get_n_groups(kuberay) - 1
			C.quoit_kuberay_set_replicas(kuberay, last, C.int32_t(group.Replicas))
		}
		return err
	})
}

// checkInt32 checks that a number fits in 32 bits. what is its name for messages.
func checkInt32(what string, number int64) error {
	if number < math.MinInt32 || number > math.MaxInt32 {
		return cconv.InvalidError("%s '%d': expected %d to %d", what, number, math.MinInt32, math.MaxInt32)
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

// withGroup calls run with the index of the group of that name.
func (c *Cluster) withGroup(name string, run func(*C.QuoitKuberay, C.uint32_t)) error {
	return c.with(func(kuberay *C.QuoitKuberay) error {
		for group := C.uint32_t(0); group < C.quoit_kuberay_get_n_groups(kuberay); group++ {
			if C.GoString(C.quoit_kuberay_get_group_name(kuberay, group)) == name {
				run(kuberay, group)
				return nil
			}
		}
		return cconv.NotFoundError("group %s: the cluster has no group of this name", cconv.Quote(name))
	})
}

// SetReplicas sets the requested replicas of a group. The bounds of the group limit them.
//
// It fails with NotFound if there is no such group, and with Invalid for a number that does not fit in 32 bits, and
// after Close.
func (c *Cluster) SetReplicas(group string, replicas int64) error {
	if err := checkInt32("replicas", replicas); err != nil {
		return err
	}
	return c.withGroup(group, func(kuberay *C.QuoitKuberay, index C.uint32_t) {
		C.quoit_kuberay_set_replicas(kuberay, index, C.int32_t(replicas))
	})
}

// SetBounds sets the bounds of the replicas of a group: minReplicas, which is 0 by default, and maxReplicas, which is
// 2147483647 by default.
//
// It fails with NotFound if there is no such group, and with Invalid for a number that does not fit in 32 bits, and
// after Close.
func (c *Cluster) SetBounds(group string, lowest, highest int64) error {
	if err := checkInt32("lowest", lowest); err != nil {
		return err
	}
	if err := checkInt32("highest", highest); err != nil {
		return err
	}
	return c.withGroup(group, func(kuberay *C.QuoitKuberay, index C.uint32_t) {
		C.quoit_kuberay_set_bounds(kuberay, index, C.int32_t(lowest), C.int32_t(highest))
	})
}

// Suspend reduces the desired pods of a group to 0 until Resume.
//
// It fails with NotFound if there is no such group, and with Invalid after Close.
func (c *Cluster) Suspend(group string) error {
	return c.withGroup(group, func(kuberay *C.QuoitKuberay, index C.uint32_t) {
		C.quoit_kuberay_suspend_group(kuberay, index)
	})
}

// Resume ends the effect of Suspend.
//
// It fails with NotFound if there is no such group, and with Invalid after Close.
func (c *Cluster) Resume(group string) error {
	return c.withGroup(group, func(kuberay *C.QuoitKuberay, index C.uint32_t) {
		C.quoit_kuberay_resume_group(kuberay, index)
	})
}
