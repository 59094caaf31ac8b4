// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// NormalizeType rewrites the beginning of a type to Ray's spelling: it strips blanks, converts to lower case, and
// replaces one leading "tpu", with an optional "-" and an optional "v", by "v". It does not validate the type. Like
// every function of this package that takes text, it fails with Invalid for text with a NUL.
func NormalizeType(acceleratorType string) (string, error) {
	var a call
	text := a.text("accelerator type", acceleratorType)
	if err := a.Err(); err != nil {
		return "", err
	}
	return moveString(C.quoit_ray_normalize_type(text)), nil
}

// VersionFromType returns the generation of a type, "v6e" for "TPU-V6E".
//
// It fails with Invalid if the type has no generation, such as "v6e-16" and "tpuv4"; the message lists the generations
// of Ray.
func VersionFromType(acceleratorType string) (string, error) {
	var a call
	var gerror *C.GError
	text := a.text("accelerator type", acceleratorType)
	if err := a.Err(); err != nil {
		return "", err
	}
	version := C.quoit_ray_version_from_type(text, &gerror)
	return moveString(version), errorFromC(gerror)
}

// TypeIsValid reports whether Ray accepts a type in TPU_ACCELERATOR_TYPE. Only the form counts: "v99zz-1" is valid,
// "V4-8" is not.
func TypeIsValid(acceleratorType string) bool {
	var a call
	text := a.text("accelerator type", acceleratorType)
	return a.Err() == nil && bool(C.quoit_ray_type_is_valid(text))
}

// TopologyIsValid reports whether Ray lists a topology for a generation. The order of the numbers matters.
func TopologyIsValid(version, topology string) bool {
	var a call
	generation, shape := a.text("version", version), a.text("topology", topology)
	return a.Err() == nil && bool(C.quoit_ray_topology_is_valid(generation, shape))
}

// ValidTopologies returns the topologies that Ray lists for a generation, in the order of their numbers. It returns nil
// for an unknown generation.
func ValidTopologies(version string) []string {
	var a call
	var topologies []string
	generation := a.text("version", version)
	if a.Err() != nil {
		return nil
	}
	for {
		topology := C.quoit_ray_dup_valid_topology(generation, C.uint32_t(len(topologies)))
		if topology == nil {
			return topologies
		}
		topologies = append(topologies, moveString(topology))
	}
}

// countWithTexts returns the number that a C function writes for one or two texts.
func countWithTexts(first, second string, run func(*C.char, *C.char, *C.int64_t, **C.GError)) (int64, error) {
	var a call
	var count C.int64_t
	var gerror *C.GError
	cFirst, cSecond := a.text("text", first), a.text("text", second)
	if err := a.Err(); err != nil {
		return 0, err
	}
	run(cFirst, cSecond, &count, &gerror)
	if err := errorFromC(gerror); err != nil {
		return 0, err
	}
	return int64(count), nil
}

// ChipsFromTopology multiplies the numbers between the "x". There can be any number of them, in any form that Python's
// int() accepts.
//
// It fails with Invalid if one of them is not a number, or if the product exceeds 64 bits.
func ChipsFromTopology(topology string) (int64, error) {
	return countWithTexts(topology, "", func(topology, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_chips_from_topology(topology, count, gerror)
	})
}

// CoresPerChip returns the number of TensorCores of a chip.
//
// It fails with Invalid if the type does not begin with a generation of Ray.
func CoresPerChip(acceleratorType string) (int64, error) {
	return countWithTexts(acceleratorType, "", func(kind, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_cores_per_chip(kind, count, gerror)
	})
}

// ChipsFromType returns the number of chips of a slice, from the number of cores in its pod type.
//
// It fails with Invalid if the type does not begin with a generation, or has no number or one beyond 64 bits.
func ChipsFromType(acceleratorType string) (int64, error) {
	return countWithTexts(acceleratorType, "", func(kind, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_chips_from_type(kind, count, gerror)
	})
}

// VisibleChipsPerHost returns the number of all chips of a v5litepod or v6e slice with up to 8 chips, and 4 for
// everything else.
//
// It fails with Invalid like ChipsFromType, but checks the number only for v5litepod and v6e.
func VisibleChipsPerHost(acceleratorType string) (int64, error) {
	return countWithTexts(acceleratorType, "", func(kind, _ *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_visible_chips_per_host(kind, count, gerror)
	})
}

// ChipsPerHost returns the number of all chips of a v5litepod or v6e slice of 1x1, 2x2 or 2x4, and 4 for everything
// else.
//
// It fails with Invalid if the topology cannot be parsed.
func ChipsPerHost(topology, version string) (int64, error) {
	return countWithTexts(topology, version, func(topology, version *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_chips_per_host(topology, version, count, gerror)
	})
}

// DefaultChipsPerVM returns the default of Ray's sub-slices: the number of all chips of a v5litepod or v6e slice with
// up to 8 chips in any shape, and 4 for everything else.
//
// It fails with Invalid if the topology cannot be parsed, which it tries only for v5litepod and v6e.
func DefaultChipsPerVM(topology, version string) (int64, error) {
	return countWithTexts(topology, version, func(topology, version *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_default_chips_per_vm(topology, version, count, gerror)
	})
}

// ResourcePerChip parses RAY_TPU_RESOURCE_PER_CHIP like Ray; nil means that it is not set.
//
// It fails with Invalid if the text is not only decimal digits, is 0, or exceeds 64 bits.
func ResourcePerChip(text *string) (int64, error) {
	var a call
	var factor C.int64_t
	var gerror *C.GError
	value := a.textUnlessNil("resource per chip", text)
	if err := a.Err(); err != nil {
		return 0, err
	}
	C.quoit_ray_resource_per_chip(value, &factor, &gerror)
	if err := errorFromC(gerror); err != nil {
		return 0, err
	}
	return int64(factor), nil
}

// PodType returns the pod type of a slice, which is the generation and the number of cores, "v4-16"; "" if either
// argument is "". It does not check that the topology exists. The number can have any length.
//
// It fails with Invalid if either argument cannot be parsed.
func PodType(topology, acceleratorType string) (string, error) {
	var a call
	var gerror *C.GError
	shape, kind := a.text("topology", topology), a.text("accelerator type", acceleratorType)
	if err := a.Err(); err != nil {
		return "", err
	}
	podType := C.quoit_ray_pod_type(shape, kind, &gerror)
	return moveString(podType), errorFromC(gerror)
}

// --- workers ---

// Work describes the workers of a job on whole slices.
type Work struct {
	Topology        string
	AcceleratorType string
	// PerWorker is the resources of each worker; nil stands for 1 CPU and the TPU of one host.
	PerWorker Resources
	// Slices is the number of slices.
	Slices int64
	// ChipsPerVM is the number of chips per host; nil stands for ChipsPerHost.
	ChipsPerVM *int64
	// ResourcePerChip is the number of TPU units per chip; nil stands for 1.
	ResourcePerChip *int64
}

// WorkerResources returns the number of workers that fill the slices, and the resources of each: PerWorker, plus 1 CPU
// and the TPU of one host if PerWorker does not have them. It does not check that the topology exists.
//
// It fails with Invalid if topology or type cannot be parsed, a given number is not positive, the TPU of a slice is not
// a multiple of that of a worker, or the number of workers exceeds 64 bits.
func WorkerResources(work Work) (workers int64, each Resources, err error) {
	var a call
	var count C.int64_t
	var gerror *C.GError
	defer a.free()
	topology, kind := a.text("topology", work.Topology), a.text("accelerator type", work.AcceleratorType)
	per := a.resourcesUnlessNil("resources", work.PerWorker)
	if err := a.Err(); err != nil {
		return 0, nil, err
	}
	perWorker := C.quoit_ray_worker_resources(topology, kind, per, C.int64_t(work.Slices), cNumber(work.ChipsPerVM),
		cNumber(work.ResourcePerChip), &count, &gerror)
	if err := errorFromC(gerror); err != nil {
		return 0, nil, err
	}
	return int64(count), moveResources(perWorker), nil
}

// SlicesForWorkers returns the number of slices that a number of workers needs, at least 1. It ignores work.Slices.
// Like in Ray, work that WorkerResources refuses needs one slice; call WorkerResources first if the difference matters.
//
// It fails with Invalid only for text with a NUL.
func SlicesForWorkers(work Work, workers int64) (int64, error) {
	var a call
	defer a.free()
	topology, kind := a.text("topology", work.Topology), a.text("accelerator type", work.AcceleratorType)
	per := a.resourcesUnlessNil("resources", work.PerWorker)
	if err := a.Err(); err != nil {
		return 0, err
	}
	return int64(C.quoit_ray_slices_for_workers(topology, kind, C.int64_t(workers), per,
		cNumber(work.ResourcePerChip))), nil
}

// CoordinatorEnv returns the variables by which the slices of a job find each other: MEGASCALE_COORDINATOR_ADDRESS,
// MEGASCALE_PORT, MEGASCALE_NUM_SLICES and MEGASCALE_SLICE_ID. A port of "" stands for Ray's default.
//
// It fails with Invalid only for text with a NUL.
func CoordinatorEnv(address string, slices, sliceID int64, port string) (map[string]string, error) {
	var a call
	cAddress, cPort := a.text("address", address), a.textUnlessEmpty("port", port)
	if err := a.Err(); err != nil {
		return nil, err
	}
	return movePairs(C.quoit_ray_coordinator_env(cAddress, C.int64_t(slices), C.int64_t(sliceID), cPort)), nil
}

// TrainEnv returns the environment of a worker, given by its index, of a job with work.Slices slices: the variables in
// before, and those that Ray Train's JAX backend sets. Workers beyond the capacity of the slices belong to the last
// slice.
//
// If there is more than one slice, it fails with Invalid like WorkerResources for one slice.
func TrainEnv(address string, index int64, work Work, before map[string]string) (map[string]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	cAddress, topology := a.text("address", address), a.text("topology", work.Topology)
	kind := a.text("accelerator type", work.AcceleratorType)
	per, env := a.resourcesUnlessNil("resources", work.PerWorker), a.pairs("before", before)
	if err := a.Err(); err != nil {
		return nil, err
	}
	after := C.quoit_ray_train_env(cAddress, C.int64_t(index), C.int64_t(work.Slices), topology, kind, per, env, &gerror)
	return movePairs(after), errorFromC(gerror)
}
