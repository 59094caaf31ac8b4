// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import "unsafe"

func takenNumbers(numbers *C.int64_t, count C.unsigned) []int64 {
	values := make([]int64, count)
	copy(values, unsafe.Slice((*int64)(unsafe.Pointer(numbers)), int(count)))
	C.g_free(C.gpointer(unsafe.Pointer(numbers)))
	return values
}

func dims(topology string, run func(*C.char, *C.unsigned, **C.GError) *C.int64_t) ([]int64, error) {
	var a call
	var count C.unsigned
	var gerror *C.GError
	text := a.text("topology", topology)
	if err := a.Err(); err != nil {
		return nil, err
	}
	numbers := run(text, &count, &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return takenNumbers(numbers, count), nil
}

// TopologyDims is the numbers between the "x", in any form that Python's int() reads.
//
// It fails with Invalid when one of them is none, or is beyond 64 bits.
func TopologyDims(topology string) ([]int64, error) {
	return dims(topology, func(text *C.char, count *C.unsigned, gerror **C.GError) *C.int64_t {
		return C.quoit_ray_topology_dims(text, count, gerror)
	})
}

// WorkerGrid is the hosts of a slice along its axes, the slowest first: (y, x) or (z, y, x), as Ray reads them. QuoitLedger's
// own coordinates are x first.
//
// It fails with Invalid when Ray has no grid for the topology, exactly as Ray writes it.
func WorkerGrid(topology string) ([]int64, error) {
	return dims(topology, func(text *C.char, count *C.unsigned, gerror **C.GError) *C.int64_t {
		return C.quoit_ray_worker_grid(text, count, gerror)
	})
}

// PhysicalWorkerID is where Ray thinks that a host stands, by the least of its chips' coordinates, x first. A third
// coordinate that is not known is 0; what is behind the third is not read.
//
// It fails with Invalid when there are no chips or less than two coordinates of one, when Ray has no grid for the
// topology, or when the host stands outside of it.
func PhysicalWorkerID(chips [][]int64, parentTopology string) (int64, error) {
	var a call
	var worker C.int64_t
	var gerror *C.GError
	axes := axesOf(chips)
	flat := make([]int64, 0, len(chips)*axes+1)
	for _, chip := range chips {
		known := min(axes, len(chip))
		flat = append(append(flat, chip[:known]...), make([]int64, axes-known)...)
	}
	text := a.text("topology", parentTopology)
	if err := a.Err(); err != nil {
		return 0, err
	}
	C.quoit_ray_physical_worker_id(number(&flat[:1][0]), C.unsigned(len(chips)), C.unsigned(axes), text, &worker, &gerror)
	if err := take(gerror); err != nil {
		return 0, err
	}
	return int64(worker), nil
}

// axesOf is how many coordinates are read of each chip: all that one of them has, up to three, where each has two.
func axesOf(chips [][]int64) int {
	if len(chips) == 0 {
		return 0
	}
	least, most := len(chips[0]), 0
	for _, chip := range chips {
		least, most = min(least, len(chip)), max(most, len(chip))
	}
	if least < 2 {
		return least
	}
	return min(most, 3)
}

// SubsliceLabels is the sub-slice of each smaller shape that a host belongs to: "ray.io/tpu-subslice-2x4" is "1". A host
// outside of the grid is not refused.
//
// It fails with Invalid when Ray has no grid for the topology of the whole slice.
func SubsliceLabels(workerID int64, parentTopology string) (Labels, error) {
	var a call
	var gerror *C.GError
	text := a.text("topology", parentTopology)
	if err := a.Err(); err != nil {
		return nil, err
	}
	labels := C.quoit_ray_subslice_labels(C.int64_t(workerID), text, &gerror)
	return takenLabelsOrError(labels, gerror)
}

// ParentTopologies are the topologies of nodes alive in which a sub-slice fits, by their grids, those of the fewest hosts
// first. The generation is not looked at.
//
// It fails with Invalid when Ray has no grid for the sub-slice.
func (l NodeList) ParentTopologies(subslice string) ([]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	c := l.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	text := a.text("topology", subslice)
	if err := a.Err(); err != nil {
		return nil, err
	}
	parents := C.quoit_ray_parent_topologies(c, text, &gerror)
	return takenStrings(parents), take(gerror)
}

// HeadLooksFree says whether Ray takes the head of a slice for free: of its first worker 0 that is alive, 1 of the resource
// is available or nothing is told. So it is without a worker 0, and without a resource (nil).
//
// It fails with Invalid for text with a NUL alone.
func (l NodeList) HeadLooksFree(slice, headResource *string) (bool, error) {
	var a call
	defer a.free()
	c := l.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	name, resource := a.textOrNil("slice", slice), a.textOrNil("resource", headResource)
	if err := a.Err(); err != nil {
		return false, err
	}
	return C.quoit_ray_head_looks_free(c, name, resource) == 1, nil
}

// SubsliceChipsPerVM is the chips of a host of a sub-slice: those given, else DefaultChipsPerVM of the whole slice.
//
// It fails with Invalid where that does.
func SubsliceChipsPerVM(given *int64, parentTopology, version string) (int64, error) {
	return counted(parentTopology, version, func(parent, version *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_subslice_chips_per_vm(number(given), parent, version, count, gerror)
	})
}

// --- which of them Ray chooses ---

// Subslices is what Ray has found out of slices: by the name of a slice, and the worker id as its node says it, the labels
// that SubsliceLabels makes. A slice without workers is known, and nothing of it.
type Subslices map[string]map[string]Labels

func (s Subslices) opened(a *call) *C.QuoitRaySubslices {
	c := C.quoit_ray_subslices_new()
	for slice, workers := range s {
		name := a.text("slice", slice)
		if a.Err() != nil {
			return c
		}
		C.quoit_ray_subslices_set(c, name, nil, nil)
		for worker, labels := range workers {
			id, found := a.text("worker id", worker), a.labelsOf("labels", labels)
			if a.Err() != nil {
				return c
			}
			C.quoit_ray_subslices_set(c, name, id, found)
		}
	}
	return c
}

// Subslice is one that was found.
type Subslice struct {
	Index     int64
	WorkerIDs []string // the least first
}

// Find is the first sub-slice of a slice, by its index, or the one of that index, that has all its hosts, each alive and in
// Ray's eyes idle; nil when there is none.
//
// It fails with Invalid when an index or a worker id that is needed is no integer of 64 bits, or when Ray has no grid for
// a topology that is labelled.
func (s Subslices) Find(nodes NodeList, slice, topology string, index *int64) (*Subslice, error) {
	var a call
	var found C.int64_t
	var gerror *C.GError
	defer a.free()
	known := s.opened(&a)
	defer C.quoit_ray_subslices_free(known)
	c := nodes.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	name, shape := a.text("slice", slice), a.text("topology", topology)
	if err := a.Err(); err != nil {
		return nil, err
	}
	workers := C.quoit_ray_subslices_find(known, c, name, shape, number(index), &found, &gerror)
	if err := take(gerror); err != nil || workers == nil {
		return nil, err
	}
	return &Subslice{Index: int64(found), WorkerIDs: takenStrings(workers)}, nil
}

// Undiscovered is the slice that Ray would find out about next, and its topology of those that will do: the first that is
// not known and whose nodes alive and head are free in its eyes. Both are "" when there is none.
//
// It fails with Invalid when PodType does for one of the parents.
func (s Subslices) Undiscovered(nodes NodeList, parents []string, version string) (slice, parent string, err error) {
	var a call
	var index C.unsigned
	var gerror *C.GError
	defer a.free()
	known := s.opened(&a)
	defer C.quoit_ray_subslices_free(known)
	c := nodes.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	shapes, generation := a.texts("parents", parents), a.text("version", version)
	if err := a.Err(); err != nil {
		return "", "", err
	}
	found := C.quoit_ray_subslices_dup_undiscovered(known, c, shapes, generation, &index, &gerror)
	if err := take(gerror); err != nil || found == nil {
		return "", "", err
	}
	return taken(found), parents[index], nil
}

// SubsliceStep is what subslice_placement_group() does next.
type SubsliceStep int

// The steps.
const (
	ReserveSubslice SubsliceStep = C.QUOIT_RAY_SUBSLICE_RESERVE  // it makes a placement group of these bundles
	DiscoverSlice   SubsliceStep = C.QUOIT_RAY_SUBSLICE_DISCOVER // it first takes this whole slice, to find out about it
)

// SubsliceRequest is the arguments of subslice_placement_group().
type SubsliceRequest struct {
	Topology           string    // "2x4", of the sub-slice; blanks around it and capitals do not matter
	AcceleratorVersion string    // "v6e"; blanks do matter
	ChipsPerVM         *int64    // the chips of one host; nil: not said
	PerBundle          Resources // what each bundle asks for; nil: 1 CPU and the TPU of a host
	Index              *int64    // the only sub-slice that will do; nil: any
}

// SubslicePlan is one step of subslice_placement_group().
type SubslicePlan struct {
	Step           SubsliceStep
	ParentTopology string    // of the whole slice
	Slice          string    // the name of the slice that it is done with
	Index          int64     // the sub-slice that is reserved; 0 where a slice is found out about
	ChipsPerVM     int64     // the chips of one host
	Resources      Resources // what each bundle asks for
	Bundles        []Labels  // what each that is reserved selects its node by, one a host
}

// Plan is what Ray does next to get a sub-slice.
//
// It fails with Invalid when Ray does not list the topology for the generation or has no grid for it, when a given number
// is not positive, or when no slice alive is larger; with NotNow when all that are known are in use in Ray's eyes, and
// none is left to find out about.
func (s Subslices) Plan(nodes NodeList, request SubsliceRequest) (*SubslicePlan, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	known := s.opened(&a)
	defer C.quoit_ray_subslices_free(known)
	c := nodes.opened(&a)
	defer C.quoit_ray_nodes_free(c)
	topology, version := a.text("topology", request.Topology), a.text("version", request.AcceleratorVersion)
	per := a.resourcesOrNil("resources", request.PerBundle)
	if err := a.Err(); err != nil {
		return nil, err
	}
	plan := C.quoit_ray_subslice_plan_new(known, c, topology, version, number(request.ChipsPerVM), per,
		number(request.Index), &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	defer C.quoit_ray_subslice_plan_free(plan)
	bundles := make([]Labels, C.quoit_ray_subslice_plan_get_n_bundles(plan))
	for bundle := range bundles {
		bundles[bundle] = takenLabels(C.quoit_ray_subslice_plan_dup_bundle_labels(plan, C.unsigned(bundle)))
	}
	return &SubslicePlan{
		Step:           SubsliceStep(C.quoit_ray_subslice_plan_get_step(plan)),
		ParentTopology: borrowed(C.quoit_ray_subslice_plan_get_parent_topology(plan)),
		Slice:          borrowed(C.quoit_ray_subslice_plan_get_slice_name(plan)),
		Index:          int64(C.quoit_ray_subslice_plan_get_index(plan)),
		ChipsPerVM:     int64(C.quoit_ray_subslice_plan_get_chips_per_vm(plan)),
		Resources:      resourcesOf(C.quoit_ray_subslice_plan_get_resources(plan)),
		Bundles:        bundles,
	}, nil
}
