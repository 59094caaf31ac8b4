// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// Host is what Ray knows about a TPU host. nil means unknown.
type Host struct {
	PodType         *string // the pod type of its slice, "v6e-16"
	SliceName       *string // the name of its slice
	WorkerID        *string // its worker id in the slice; text, because it can have any length or be negative
	Topology        *string // the topology of its slice, stripped and in lower case
	AcceleratorType *string // the generation of its chips, "TPU-V6E"
	// Resources is the resources of the host in addition to its chips: 1 of its slice's name and, on worker 0, 1 of
	// the head resource, "TPU-v6e-16-head". It is nil if the slice, worker id or pod type is unknown.
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
	cEnv, cMetadata := a.pairs("env", env), a.pairs("metadata", metadata)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_host_new(cEnv, cMetadata)
	defer C.quoit_ray_host_free(c)
	return &Host{
		PodType:         copyStringOrNil(C.quoit_ray_host_get_pod_type(c)),
		SliceName:       copyStringOrNil(C.quoit_ray_host_get_slice_name(c)),
		WorkerID:        copyStringOrNil(C.quoit_ray_host_get_worker_id(c)),
		Topology:        copyStringOrNil(C.quoit_ray_host_get_topology(c)),
		AcceleratorType: copyStringOrNil(C.quoit_ray_host_get_accelerator_type(c)),
		Resources:       resourcesFromC(C.quoit_ray_host_get_resources(c)),
		Labels:          labelsFromC(C.quoit_ray_host_get_labels(c)),
	}, nil
}

// copyStringOrNil copies a C string. It returns nil for NULL.
func copyStringOrNil(text *C.char) *string {
	if text == nil {
		return nil
	}
	value := C.GoString(text)
	return &value
}

// PodWorkers returns the number of hosts of a slice if all hosts have the same number of chips, rounded up. The result
// is -1 if the host has no chips, because Ray returns no answer in this case.
//
// It fails with Invalid if the pod type is nil or does not begin with a generation of Ray, its number of cores cannot
// be parsed, or the result exceeds 64 bits.
func PodWorkers(podType *string, chipsOnHost int64) (int64, error) {
	var a call
	var workers C.int64_t
	var gerror *C.GError
	text := a.textUnlessNil("pod type", podType)
	if err := a.Err(); err != nil {
		return 0, err
	}
	C.quoit_ray_pod_workers(text, C.int64_t(chipsOnHost), &workers, &gerror)
	if err := errorFromC(gerror); err != nil {
		return 0, err
	}
	return int64(workers), nil
}

// RayletNode is the input of a raylet, which is Ray's daemon on a node: its arguments, and what it detects on the
// machine.
type RayletNode struct {
	Address    string            // becomes the resource "node:ADDRESS"
	Env        map[string]string // the environment of the host
	Metadata   map[string]string // as for NewHost
	Predefined Resources         // CPU, GPU, memory (bytes) and object_store_memory (bytes); detected if missing
	Custom     Resources         // the other resources of its arguments, including TPU
	Labels     Labels            // the labels of its arguments, which Ray does not validate
	Chips      int64             // the chips that Ray detects on the machine
}

// Offer returns the resources and labels that the raylet reports for the node. The node is a TPU host if it has the
// resource TPU. If the arguments have no TPU, it is the number of detected chips, but at most the number of chips in
// TPU_VISIBLE_CHIPS. RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS have precedence over the arguments, and the
// arguments over Ray's own labels. The resources for the slice name and the head replace custom resources with the same
// names. Amounts of 0 are left out.
//
// It fails with Invalid if an amount is not a whole number of 0 to 1e14, TPU exceeds the visible chips, a variable
// cannot be parsed, or a resource has the name that Ray reserves for its head node. Unlike Ray, it also fails for a
// label in RAY_OVERRIDE_LABELS that is not text, and for a resource in RAY_OVERRIDE_RESOURCES that is not a number,
// whatever its name.
func (n RayletNode) Offer() (Resources, Labels, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	address := a.text("address", n.Address)
	env, metadata := a.pairs("env", n.Env), a.pairs("metadata", n.Metadata)
	predefined, custom := a.resourcesUnlessNil("predefined", n.Predefined), a.resourcesUnlessNil("custom", n.Custom)
	labels := a.labelsUnlessNil("labels", n.Labels)
	if err := a.Err(); err != nil {
		return nil, nil, err
	}
	c := C.quoit_ray_node_new(address, env, metadata, predefined, custom, labels, C.int64_t(n.Chips), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, nil, err
	}
	defer C.quoit_ray_node_free(c)
	return resourcesFromC(C.quoit_ray_node_get_resources(c)), labelsFromC(C.quoit_ray_node_get_labels(c)), nil
}

// VisibleIDs returns the ids that Ray derives from TPU_VISIBLE_CHIPS: the parts between commas, unchanged, or if
// RAY_TPU_RESOURCE_PER_CHIP is 2 or more, that many ids for each chip. It returns nil if TPU_VISIBLE_CHIPS is not set.
//
// It fails with Invalid if RAY_TPU_RESOURCE_PER_CHIP cannot be parsed, if a chip cannot be parsed that has several ids,
// or if there would be more than 65536 ids.
func VisibleIDs(env map[string]string) ([]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	cEnv := a.pairs("env", env)
	if err := a.Err(); err != nil {
		return nil, err
	}
	ids := C.quoit_ray_visible_ids(cEnv, &gerror)
	return moveStrings(ids), errorFromC(gerror)
}

// VisibleEnv returns the environment of a process after Ray has restricted the process to some chips or devices. Ray
// sets TPU_VISIBLE_CHIPS, and for one or two chips TPU_CHIPS_PER_HOST_BOUNDS and TPU_HOST_BOUNDS. If the process has
// all chips of the node, Ray removes the restriction.
//
// It fails with Invalid if RAY_TPU_RESOURCE_PER_CHIP or an id cannot be parsed.
func VisibleEnv(ids []string, chipsOnNode int64, env map[string]string) (map[string]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	cIDs, cEnv := a.texts("ids", ids), a.pairs("env", env)
	if err := a.Err(); err != nil {
		return nil, err
	}
	after := C.quoit_ray_visible_env(cIDs, C.int64_t(chipsOnNode), cEnv, &gerror)
	return movePairs(after), errorFromC(gerror)
}

// QuantityIsValid reports whether Ray accepts an amount of TPU for a task or an actor: 1, 2, 4 or 8. Bundles of
// placement groups have no such limit.
func QuantityIsValid(quantity float64) bool {
	return bool(C.quoit_ray_quantity_is_valid(C.double(quantity)))
}

// AmountToTenThousandths returns an amount in ten-thousandths, like Ray: it multiplies in double precision and truncates
// toward zero, so that 0.57 becomes 5699. If the product does not fit in 64 bits, is infinite or not a number, the
// result is the smallest int64.
func AmountToTenThousandths(amount float64) int64 {
	return int64(C.quoit_ray_amount_to_ten_thousandths(C.double(amount)))
}

// --- launchers ---

// GKEPodType returns the pod type that KubeRay's autoscaler derives from the node selectors of a worker group,
// cloud.google.com/gke-tpu-topology and cloud.google.com/gke-tpu-accelerator. The result is "" if Ray does not know the
// accelerator, or if a selector is missing (nil).
//
// It fails with Invalid if the topology cannot be parsed.
func GKEPodType(topology, accelerator *string) (string, error) {
	var a call
	var gerror *C.GError
	cTopology, cAccelerator := a.textUnlessNil("topology", topology), a.textUnlessNil("accelerator", accelerator)
	if err := a.Err(); err != nil {
		return "", err
	}
	podType := C.quoit_ray_gke_pod_type(cTopology, cAccelerator, &gerror)
	return moveString(podType), errorFromC(gerror)
}

// GCENode is a TPU node of Ray's cluster launcher: its acceleratorType, or the type and topology of its
// acceleratorConfig. nil means that the field is missing.
type GCENode struct {
	AcceleratorType *string // "v4-8"
	Type            *string // "V4"
	Topology        *string // "2x2x1"
}

// toC converts the fields to C strings; NULL for nil.
func (n GCENode) toC(a *call) (accelerator, kind, topology *C.char) {
	return a.textUnlessNil("accelerator type", n.AcceleratorType), a.textUnlessNil("type", n.Type),
		a.textUnlessNil("topology", n.Topology)
}

// Check checks whether Ray's cluster launcher accepts the node: with a type that passes TypeIsValid, or else with a
// configuration whose type is "V5LITE_POD" or "V" and a generation other than V2 and V3, and whose topology has two or
// three numbers.
//
// It fails with Invalid if Ray refuses the node.
func (n GCENode) Check() error {
	var a call
	var gerror *C.GError
	accelerator, kind, topology := n.toC(&a)
	if err := a.Err(); err != nil {
		return err
	}
	C.quoit_ray_gce_check_accelerator(accelerator, kind, topology, &gerror)
	return errorFromC(gerror)
}

// PodType returns the pod type of the configuration, "v5litepod-16". It does not call Check.
//
// It fails with Invalid if type or topology is nil or cannot be parsed.
func (n GCENode) PodType() (string, error) {
	var a call
	var gerror *C.GError
	_, kind, topology := n.toC(&a)
	if err := a.Err(); err != nil {
		return "", err
	}
	podType := C.quoit_ray_gce_pod_type(kind, topology, &gerror)
	return moveString(podType), errorFromC(gerror)
}

// IsSingleHost reports whether Ray's cluster launcher treats the node's slice as a single host: it has at most
// VisibleChipsPerHost chips. It does not call Check.
//
// It fails with Invalid if the chips or the generation cannot be parsed.
func (n GCENode) IsSingleHost() (bool, error) {
	var a call
	var single C.bool
	var gerror *C.GError
	accelerator, kind, topology := n.toC(&a)
	if err := a.Err(); err != nil {
		return false, err
	}
	C.quoit_ray_gce_is_single_host(accelerator, kind, topology, &single, &gerror)
	if err := errorFromC(gerror); err != nil {
		return false, err
	}
	return bool(single), nil
}
