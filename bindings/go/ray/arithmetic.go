// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// NormalizeType rewrites the beginning of a type to Ray's spelling: blanks around it go, capitals become small, and one
// leading "tpu" with an optional "-" and an optional "v" becomes "v". Nothing is checked but that there is no NUL, for
// which it fails with Invalid, as every function here that takes text.
func NormalizeType(acceleratorType string) (string, error) {
	var a call
	text := a.text("accelerator type", acceleratorType)
	if err := a.Err(); err != nil {
		return "", err
	}
	return taken(C.quoit_ray_normalize_type(text)), nil
}

// VersionFromType is the generation that a type names, "v6e" of "TPU-V6E".
//
// It fails with Invalid when it names none; the message lists what Ray knows. "v6e-16" and "tpuv4" name none.
func VersionFromType(acceleratorType string) (string, error) {
	var a call
	var gerror *C.GError
	text := a.text("accelerator type", acceleratorType)
	if err := a.Err(); err != nil {
		return "", err
	}
	version := C.quoit_ray_version_from_type(text, &gerror)
	return taken(version), take(gerror)
}

// TypeIsValid says whether Ray takes a type from TPU_ACCELERATOR_TYPE. Only the form counts: "v99zz-1" is valid, "V4-8"
// is not.
func TypeIsValid(acceleratorType string) bool {
	var a call
	text := a.text("accelerator type", acceleratorType)
	return a.Err() == nil && C.quoit_ray_type_is_valid(text) == 1
}

// TopologyIsValid says whether Ray lists a topology for a generation. The order of the numbers matters.
func TopologyIsValid(version, topology string) bool {
	var a call
	generation, shape := a.text("version", version), a.text("topology", topology)
	return a.Err() == nil && C.quoit_ray_topology_is_valid(generation, shape) == 1
}

// ValidTopologies are those that Ray lists for a generation, in the order of their numbers; none of one that it does not
// know.
func ValidTopologies(version string) []string {
	var a call
	var topologies []string
	generation := a.text("version", version)
	if a.Err() != nil {
		return nil
	}
	for {
		topology := C.quoit_ray_dup_valid_topology(generation, C.unsigned(len(topologies)))
		if topology == nil {
			return topologies
		}
		topologies = append(topologies, taken(topology))
	}
}

// counted is a number that a function of one or two texts writes, unless it fails.
func counted(first, second string, run func(*C.char, *C.char, *C.int64_t, **C.GError)) (int64, error) {
	var a call
	var count C.int64_t
	var gerror *C.GError
	one, two := a.text("text", first), a.text("text", second)
	if err := a.Err(); err != nil {
		return 0, err
	}
	run(one, two, &count, &gerror)
	if err := take(gerror); err != nil {
		return 0, err
	}
	return int64(count), nil
}

// ChipsFromTopology multiplies the numbers between the "x". There may be any number of them, in any form that Python's
// int() reads.
//
// It fails with Invalid when one of them is none, or when the product is beyond 64 bits.
func ChipsFromTopology(topology string) (int64, error) {
	return counted(topology, "", func(topology, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_chips_from_topology(topology, count, gerror)
	})
}

// CoresPerChip is how many TensorCores one chip has.
//
// It fails with Invalid when the type begins with no generation of Ray's.
func CoresPerChip(acceleratorType string) (int64, error) {
	return counted(acceleratorType, "", func(kind, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_cores_per_chip(kind, count, gerror)
	})
}

// ChipsFromType is how many chips a whole slice has, from the number of cores in its pod type.
//
// It fails with Invalid when the type begins with no generation, has no number, or has one beyond 64 bits.
func ChipsFromType(acceleratorType string) (int64, error) {
	return counted(acceleratorType, "", func(kind, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_chips_from_type(kind, count, gerror)
	})
}

// VisibleChipsPerHost is all chips of a v5litepod or v6e slice of up to 8; of everything else 4.
//
// It fails with Invalid where ChipsFromType would, but looks at the number for v5litepod and v6e only.
func VisibleChipsPerHost(acceleratorType string) (int64, error) {
	return counted(acceleratorType, "", func(kind, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_visible_chips_per_host(kind, count, gerror)
	})
}

// ChipsPerHost is all chips of a v5litepod or v6e slice of 1x1, 2x2 or 2x4; of everything else 4.
//
// It fails with Invalid when the topology cannot be read.
func ChipsPerHost(topology, version string) (int64, error) {
	return counted(topology, version, func(topology, version *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_chips_per_host(topology, version, count, gerror)
	})
}

// DefaultChipsPerVM is what Ray's sub-slices assume: all chips of a v5litepod or v6e slice of up to 8 in any shape; of
// everything else 4.
//
// It fails with Invalid when the topology cannot be read, which is tried for v5litepod and v6e only.
func DefaultChipsPerVM(topology, version string) (int64, error) {
	return counted(topology, version, func(topology, version *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_default_chips_per_vm(topology, version, count, gerror)
	})
}

// ResourcePerChip reads RAY_TPU_RESOURCE_PER_CHIP in the way Ray does; nil: it is not set.
//
// It fails with Invalid for what is not all decimal digits, is 0, or is beyond 64 bits.
func ResourcePerChip(text *string) (int64, error) {
	var a call
	var factor C.int64_t
	var gerror *C.GError
	value := a.textOrNil("resource per chip", text)
	if err := a.Err(); err != nil {
		return 0, err
	}
	C.quoit_ray_resource_per_chip(value, &factor, &gerror)
	if err := take(gerror); err != nil {
		return 0, err
	}
	return int64(factor), nil
}

// PodType is that of a slice: the generation and the number of cores, "v4-16"; "" when either argument is "". Whether
// such a topology exists is not checked; the number may have any length.
//
// It fails with Invalid when either cannot be read.
func PodType(topology, acceleratorType string) (string, error) {
	var a call
	var gerror *C.GError
	shape, kind := a.text("topology", topology), a.text("accelerator type", acceleratorType)
	if err := a.Err(); err != nil {
		return "", err
	}
	podType := C.quoit_ray_pod_type(shape, kind, &gerror)
	return taken(podType), take(gerror)
}

// --- workers ---

// Work is workers on whole slices.
type Work struct {
	Topology        string
	AcceleratorType string
	// PerWorker is what each worker asks for; nil: 1 CPU and one host's TPU.
	PerWorker Resources
	// Slices is how many are to be filled.
	Slices int64
	// ChipsPerVM is the chips of one host; nil: ChipsPerHost.
	ChipsPerVM *int64
	// ResourcePerChip is how many units of TPU one chip counts for; nil: 1.
	ResourcePerChip *int64
}

// WorkerResources is how many workers fill the slices, and what each of them asks for: PerWorker, then 1 CPU and one
// host's TPU where it does not have them. Whether such a topology exists is not checked.
//
// It fails with Invalid when topology or type cannot be read, a given number is not positive, the TPU of one worker does
// not divide those of a slice (ask for a divisor), or there are more workers than 64 bits count.
func WorkerResources(work Work) (workers int64, each Resources, err error) {
	var a call
	var count C.int64_t
	var gerror *C.GError
	defer a.free()
	topology, kind := a.text("topology", work.Topology), a.text("accelerator type", work.AcceleratorType)
	per := a.resourcesOrNil("resources", work.PerWorker)
	if err := a.Err(); err != nil {
		return 0, nil, err
	}
	asked := C.quoit_ray_worker_resources(topology, kind, per, C.int64_t(work.Slices), number(work.ChipsPerVM),
		number(work.ResourcePerChip), &count, &gerror)
	if err := take(gerror); err != nil {
		return 0, nil, err
	}
	return int64(count), takenResources(asked), nil
}

// SlicesForWorkers is how many slices so many workers need, at least 1; Slices of the work does not matter. What
// WorkerResources refuses counts as one slice, as for Ray, so ask that one first where the difference matters.
//
// It fails with Invalid for text with a NUL alone.
func SlicesForWorkers(work Work, workers int64) (int64, error) {
	var a call
	defer a.free()
	topology, kind := a.text("topology", work.Topology), a.text("accelerator type", work.AcceleratorType)
	per := a.resourcesOrNil("resources", work.PerWorker)
	if err := a.Err(); err != nil {
		return 0, err
	}
	return int64(C.quoit_ray_slices_for_workers(topology, kind, C.int64_t(workers), per,
		number(work.ResourcePerChip))), nil
}

// CoordinatorEnv is the variables by which the slices of one job find each other: MEGASCALE_COORDINATOR_ADDRESS,
// MEGASCALE_PORT, MEGASCALE_NUM_SLICES and MEGASCALE_SLICE_ID. A port of "" is Ray's own.
//
// It fails with Invalid for text with a NUL alone.
func CoordinatorEnv(address string, slices, sliceID int64, port string) (map[string]string, error) {
	var a call
	host, at := a.text("address", address), a.textOrNull("port", port)
	if err := a.Err(); err != nil {
		return nil, err
	}
	return takenPairs(C.quoit_ray_coordinator_env(host, C.int64_t(slices), C.int64_t(sliceID), at)), nil
}

// TrainEnv is what Ray Train's JAX backend sets for a worker, by its index, of a job of work.Slices slices, beside what
// was set before. A worker beyond what the slices hold falls into the last slice.
//
// It fails with Invalid as WorkerResources for one slice, when there is more than one.
func TrainEnv(address string, index int64, work Work, before map[string]string) (map[string]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	host, topology := a.text("address", address), a.text("topology", work.Topology)
	kind := a.text("accelerator type", work.AcceleratorType)
	per, env := a.resourcesOrNil("resources", work.PerWorker), a.pairs("before", before)
	if err := a.Err(); err != nil {
		return nil, err
	}
	after := C.quoit_ray_train_env(host, C.int64_t(index), C.int64_t(work.Slices), topology, kind, per, env, &gerror)
	return takenPairs(after), take(gerror)
}
