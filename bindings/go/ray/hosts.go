// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// Host is who a TPU host is in Ray's eyes; nil is what it is not told.
type Host struct {
	PodType         *string // of its slice, "v6e-16"
	SliceName       *string
	WorkerID        *string // its number in the slice: text because it may be of any length, and negative
	Topology        *string // of its slice, stripped and in small letters
	AcceleratorType *string // the generation of its chips, "TPU-V6E"
	// Resources that it offers beside chips once slice, worker id and pod type are known: 1 of its slice's name, and as
	// worker 0 one slice head, "TPU-v6e-16-head"; nil before.
	Resources Resources
	Labels    Labels // what is known of it, as labels
}

// NewHost finds out who a host is, as Ray does on GKE and on GCE, by its environment (TPU_ACCELERATOR_TYPE, TPU_NAME,
// TPU_WORKER_ID, TPU_TOPOLOGY) and what a metadata server says ("accelerator-type", "instance-id",
// "agent-worker-number", "tpu-env"); nil: where none answers. A variable that is set and not empty wins over the
// metadata, also where its value is of no use.
//
// It fails with Invalid for a name with a '=', and for text with a NUL.
func NewHost(env, metadata map[string]string) (*Host, error) {
	var a call
	defer a.free()
	before, told := a.pairs("env", env), a.pairs("metadata", metadata)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_host_new(before, told)
	defer C.quoit_ray_host_free(c)
	return &Host{
		PodType:         borrowedOrNil(C.quoit_ray_host_get_pod_type(c)),
		SliceName:       borrowedOrNil(C.quoit_ray_host_get_slice_name(c)),
		WorkerID:        borrowedOrNil(C.quoit_ray_host_get_worker_id(c)),
		Topology:        borrowedOrNil(C.quoit_ray_host_get_topology(c)),
		AcceleratorType: borrowedOrNil(C.quoit_ray_host_get_accelerator_type(c)),
		Resources:       resourcesOf(C.quoit_ray_host_get_resources(c)),
		Labels:          labelsFrom(C.quoit_ray_host_get_labels(c)),
	}, nil
}

func borrowedOrNil(text *C.char) *string {
	if text == nil {
		return nil
	}
	value := C.GoString(text)
	return &value
}

// PodWorkers is how many hosts like one of so many chips a slice has; one that is not full counts. It is -1 when there are
// no chips, where Ray says nothing.
//
// It fails with Invalid when the pod type is nil or begins with no generation of Ray's, its number of cores cannot be
// read, or the answer is beyond 64 bits.
func PodWorkers(podType *string, chipsOnHost int64) (int64, error) {
	var a call
	var workers C.int64_t
	var gerror *C.GError
	text := a.textOrNil("pod type", podType)
	if err := a.Err(); err != nil {
		return 0, err
	}
	C.quoit_ray_pod_workers(text, C.int64_t(chipsOnHost), &workers, &gerror)
	if err := take(gerror); err != nil {
		return 0, err
	}
	return int64(workers), nil
}

// RayletNode is what a raylet is given and finds out.
type RayletNode struct {
	Address    string            // it becomes the resource "node:ADDRESS"
	Env        map[string]string // of the host
	Metadata   map[string]string // as for NewHost
	Predefined Resources         // CPU, GPU, memory (bytes) and object_store_memory (bytes); detected where not given
	Custom     Resources         // the other resources that it is given, TPU among them
	Labels     Labels            // those that it is given; not checked
	Chips      int64             // those that Ray would detect on the machine
}

// Offer is what the node offers, and how it is labelled. It is a TPU host when TPU is more than 0; what is not given is
// detected, and no more than TPU_VISIBLE_CHIPS has. RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS win over what is given,
// and that over Ray's own labels; but the names of slice and slice head replace a custom resource of theirs. Amounts of 0
// are left out.
//
// It fails with Invalid when an amount is not a whole number of 0 to 1e14, TPU is more than what is visible, a variable
// cannot be read, or a resource has the name of Ray's head; and, other than Ray, for a label in RAY_OVERRIDE_LABELS that
// is no text, and a resource in RAY_OVERRIDE_RESOURCES that is no number whatever its name.
func (n RayletNode) Offer() (Resources, Labels, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	address := a.text("address", n.Address)
	env, metadata := a.pairs("env", n.Env), a.pairs("metadata", n.Metadata)
	predefined, custom := a.resourcesOrNil("predefined", n.Predefined), a.resourcesOrNil("custom", n.Custom)
	labels := a.labelsOrNil("labels", n.Labels)
	if err := a.Err(); err != nil {
		return nil, nil, err
	}
	c := C.quoit_ray_node_new(address, env, metadata, predefined, custom, labels, C.int64_t(n.Chips), &gerror)
	if err := take(gerror); err != nil {
		return nil, nil, err
	}
	defer C.quoit_ray_node_free(c)
	return resourcesOf(C.quoit_ray_node_get_resources(c)), labelsFrom(C.quoit_ray_node_get_labels(c)), nil
}

// VisibleIDs are the ids that TPU_VISIBLE_CHIPS leaves to a process: its parts between commas as they are; where
// RAY_TPU_RESOURCE_PER_CHIP is 2 or more, so many for each chip. They are nil where TPU_VISIBLE_CHIPS is not set.
//
// It fails with Invalid when that factor or, with one, a chip cannot be read, or there would be more than 65536 ids.
func VisibleIDs(env map[string]string) ([]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	before := a.pairs("env", env)
	if err := a.Err(); err != nil {
		return nil, err
	}
	ids := C.quoit_ray_visible_ids(before, &gerror)
	return takenStrings(ids), take(gerror)
}

// VisibleEnv is what Ray makes of a process's environment so that it sees just its chips, or devices: TPU_VISIBLE_CHIPS,
// and for one or two chips TPU_CHIPS_PER_HOST_BOUNDS and TPU_HOST_BOUNDS. Who is given as many as the node has sees all.
//
// It fails with Invalid when RAY_TPU_RESOURCE_PER_CHIP or an id cannot be read.
func VisibleEnv(ids []string, chipsOnNode int64, env map[string]string) (map[string]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	given, before := a.texts("ids", ids), a.pairs("env", env)
	if err := a.Err(); err != nil {
		return nil, err
	}
	after := C.quoit_ray_visible_env(given, C.int64_t(chipsOnNode), before, &gerror)
	return takenPairs(after), take(gerror)
}

// QuantityIsValid says whether Ray takes so much TPU for a task or an actor: 1, 2, 4 and 8. Bundles of placement groups are
// not held to that.
func QuantityIsValid(quantity float64) bool {
	return C.quoit_ray_quantity_is_valid(C.double(quantity)) == 1
}

// Units is the ten-thousandths that Ray counts: the product in double, cut toward zero, 5699 for 0.57. Of one whose product
// no 64 bits hold, infinite or not a number, it makes the most negative number.
func Units(amount float64) int64 {
	return int64(C.quoit_ray_units(C.double(amount)))
}

// --- those who start machines ---

// GKEPodType is the pod type that KubeRay's autoscaler expects of a worker group, by its node selectors
// cloud.google.com/gke-tpu-topology and cloud.google.com/gke-tpu-accelerator. It is "" where Ray does not know the
// accelerator, or one of both is missing (nil).
//
// It fails with Invalid when the topology cannot be read.
func GKEPodType(topology, accelerator *string) (string, error) {
	var a call
	var gerror *C.GError
	shape, selected := a.textOrNil("topology", topology), a.textOrNil("accelerator", accelerator)
	if err := a.Err(); err != nil {
		return "", err
	}
	podType := C.quoit_ray_gke_pod_type(shape, selected, &gerror)
	return taken(podType), take(gerror)
}

// GCENode is a TPU node of Ray's cluster launcher: its acceleratorType, or acceleratorConfig's type and topology; nil is
// what it does not have.
type GCENode struct {
	AcceleratorType *string // "v4-8"
	Type            *string // "V4"
	Topology        *string // "2x2x1"
}

func (n GCENode) opened(a *call) (accelerator, kind, topology *C.char) {
	return a.textOrNil("accelerator type", n.AcceleratorType), a.textOrNil("type", n.Type),
		a.textOrNil("topology", n.Topology)
}

// Check says whether Ray's cluster launcher takes the node: a type that passes TypeIsValid, or else a configuration:
// "V5LITE_POD" or "V" and a generation, but not V2 or V3, and two or three numbers.
//
// It fails with Invalid when it does not.
func (n GCENode) Check() error {
	var a call
	var gerror *C.GError
	accelerator, kind, topology := n.opened(&a)
	if err := a.Err(); err != nil {
		return err
	}
	C.quoit_ray_gce_check(accelerator, kind, topology, &gerror)
	return take(gerror)
}

// PodType is that of the configuration, checked or not: "v5litepod-16".
//
// It fails with Invalid when type or topology is nil or cannot be read.
func (n GCENode) PodType() (string, error) {
	var a call
	var gerror *C.GError
	_, kind, topology := n.opened(&a)
	if err := a.Err(); err != nil {
		return "", err
	}
	podType := C.quoit_ray_gce_pod_type(kind, topology, &gerror)
	return taken(podType), take(gerror)
}

// IsSingleHost says whether Ray's cluster launcher takes the slice of the node, checked or not, for one host: one with no
// more chips than VisibleChipsPerHost.
//
// It fails with Invalid when the chips or the generation cannot be read.
func (n GCENode) IsSingleHost() (bool, error) {
	var a call
	var single C.int
	var gerror *C.GError
	accelerator, kind, topology := n.opened(&a)
	if err := a.Err(); err != nil {
		return false, err
	}
	C.quoit_ray_gce_is_single_host(accelerator, kind, topology, &single, &gerror)
	if err := take(gerror); err != nil {
		return false, err
	}
	return single == 1, nil
}
