// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// Host is what Ray knows about a TPU host. nil means unknown.
type Host struct {
	PodType         *string // of its slice, "v6e-16"
	SliceName       *string
	WorkerID        *string // its number in the slice; text because it can have any length or be negative
	Topology        *string // of its slice, stripped and in lower case
	AcceleratorType *string // the generation of its chips, "TPU-V6E"
	// Resources is the resources of the host in addition to its chips: 1 of its slice's name and, on worker 0, one
	// slice head, "TPU-v6e-16-head". It is nil until slice, worker id and pod type are known.
	Resources Resources
	Labels    Labels // the same facts as labels
}

// NewHost detects a host like Ray does on GKE and on GCE, from its environment (TPU_ACCELERATOR_TYPE, TPU_NAME,
// TPU_WORKER_ID, TPU_TOPOLOGY) and its metadata server ("accelerator-type", "instance-id", "agent-worker-number",
// "tpu-env"). nil metadata means that no server answers. A variable that is set and not empty has precedence over the
// metadata, even if its value is not valid.
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

// PodWorkers returns the number of hosts of a slice, if each has the same number of chips as this one. A host that is
// not full counts. The result is -1 if the host has no chips, because Ray gives no answer then.
//
// It fails with Invalid if the pod type is nil or does not begin with a generation of Ray, its number of cores cannot
// be parsed, or the result exceeds 64 bits.
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

// RayletNode is the input of a raylet: its arguments and what it detects.
type RayletNode struct {
	Address    string            // becomes the resource "node:ADDRESS"
	Env        map[string]string // the environment of the host
	Metadata   map[string]string // as for NewHost
	Predefined Resources         // CPU, GPU, memory (bytes) and object_store_memory (bytes); detected if missing
	Custom     Resources         // the other resources of its arguments, including TPU
	Labels     Labels            // the labels of its arguments; not validated
	Chips      int64             // the chips that Ray detects on the machine
}

// Offer returns the resources and labels of the node. The node is a TPU host if it has TPU. Without an argument, TPU is
// the number of detected chips, but at most that of TPU_VISIBLE_CHIPS. RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS
// have precedence over the arguments, and these over Ray's own labels. The resources of the slice name and the slice
// head replace custom resources with their names. Amounts of 0 are left out.
//
// It fails with Invalid if an amount is not a whole number of 0 to 1e14, TPU exceeds the visible chips, a variable
// cannot be parsed, or a resource has the name of Ray's head. Unlike Ray, it also fails for a label in
// RAY_OVERRIDE_LABELS that is not text, and for a resource in RAY_OVERRIDE_RESOURCES that is not a number, whatever its
// name.
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

// VisibleIDs returns the ids in TPU_VISIBLE_CHIPS: its parts between commas, unchanged, or if RAY_TPU_RESOURCE_PER_CHIP
// is 2 or more, that many ids for each chip. It returns nil if TPU_VISIBLE_CHIPS is not set.
//
// It fails with Invalid if that factor or, with a factor, a chip cannot be parsed, or if there would be more than 65536
// ids.
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

// VisibleEnv returns the environment of a process after Ray has restricted it to its chips or devices. Ray sets
// TPU_VISIBLE_CHIPS, and for one or two chips TPU_CHIPS_PER_HOST_BOUNDS and TPU_HOST_BOUNDS. A process with as many
// chips as the node sees all of them.
//
// It fails with Invalid if RAY_TPU_RESOURCE_PER_CHIP or an id cannot be parsed.
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

// QuantityIsValid reports whether Ray accepts an amount of TPU for a task or an actor: 1, 2, 4 or 8. Bundles of
// placement groups have no such limit.
func QuantityIsValid(quantity float64) bool {
	return C.quoit_ray_quantity_is_valid(C.double(quantity)) == 1
}

// Units returns the amount in ten-thousandths, like Ray: the product in double precision, truncated toward zero, such
// as 5699 for 0.57. If the product does not fit in 64 bits, is infinite or not a number, the result is the most
// negative number.
func Units(amount float64) int64 {
	return int64(C.quoit_ray_units(C.double(amount)))
}

// --- launchers ---

// GKEPodType returns the pod type that KubeRay's autoscaler expects of a worker group, from its node selectors
// cloud.google.com/gke-tpu-topology and cloud.google.com/gke-tpu-accelerator. The result is "" if Ray does not know the
// accelerator, or either one is missing (nil).
//
// It fails with Invalid if the topology cannot be parsed.
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

// GCENode is a TPU node of Ray's cluster launcher: its acceleratorType, or the type and topology of its
// acceleratorConfig. nil means that the field is missing.
type GCENode struct {
	AcceleratorType *string // "v4-8"
	Type            *string // "V4"
	Topology        *string // "2x2x1"
}

func (n GCENode) opened(a *call) (accelerator, kind, topology *C.char) {
	return a.textOrNil("accelerator type", n.AcceleratorType), a.textOrNil("type", n.Type),
		a.textOrNil("topology", n.Topology)
}

// Check checks whether Ray's cluster launcher accepts the node: with a type that passes TypeIsValid, or else with a
// configuration whose type is "V5LITE_POD" or "V" and a generation other than V2 and V3, and whose topology has two or
// three numbers.
//
// It fails with Invalid if Ray refuses the node.
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

// PodType returns the pod type of the configuration, "v5litepod-16". It does not call Check.
//
// It fails with Invalid if type or topology is nil or cannot be parsed.
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

// IsSingleHost reports whether Ray's cluster launcher treats the node's slice as a single host: it has at most
// VisibleChipsPerHost chips. It does not call Check.
//
// It fails with Invalid if the chips or the generation cannot be parsed.
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
