// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import "unsafe"

// moveNumbers copies a C array and frees the C array.
func moveNumbers(numbers *C.int64_t, count C.uint32_t) []int64 {
	values := make([]int64, count)
	copy(values, unsafe.Slice((*int64)(unsafe.Pointer(numbers)), int(count)))
	C.g_free(C.gpointer(unsafe.Pointer(numbers)))
	return values
}

// numbersOfTopology returns the numbers that run returns for a topology.
func numbersOfTopology(topology string, run func(*C.char, *C.uint32_t, **C.GError) *C.int64_t) ([]int64, error) {
	var a call
	var count C.uint32_t
	var gerror *C.GError
	text := a.text("topology", topology)
	if err := a.Err(); err != nil {
		return nil, err
	}
	numbers := run(text, &count, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return moveNumbers(numbers, count), nil
}

// TopologyDims returns the numbers of a topology, which are separated by "x". Each number can have any form that
// Python's int() accepts.
//
// It fails with Invalid if one of them is not a number or exceeds 64 bits.
func TopologyDims(topology string) ([]int64, error) {
	return numbersOfTopology(topology, func(text *C.char, count *C.uint32_t, gerror **C.GError) *C.int64_t {
		return C.quoit_ray_topology_dims(text, count, gerror)
	})
}

// WorkerGrid returns the number of hosts of a slice along its axes, the slowest first, like Ray: (y, x) or (z, y, x).
// quoit's own coordinates are x first.
//
// It fails with Invalid if Ray has no grid for the topology in exactly this spelling.
func WorkerGrid(topology string) ([]int64, error) {
	return numbersOfTopology(topology, func(text *C.char, count *C.uint32_t, gerror **C.GError) *C.int64_t {
		return C.quoit_ray_worker_grid(text, count, gerror)
	})
}

// PhysicalWorkerID returns the worker id that Ray derives from the position of a host in its slice. chips has the
// coordinates of each chip of the host, x first; the position is the smallest coordinate on each axis. A missing third
// coordinate is 0, and further coordinates are ignored.
//
// It fails with Invalid if there are no chips, a chip has less than two coordinates, Ray has no grid for the topology,
// or the host is outside of it.
func PhysicalWorkerID(chips [][]int64, parentTopology string) (int64, error) {
	var a call
	var worker C.int64_t
	var gerror *C.GError
	axes := countAxes(chips)
	flat := make([]int64, 0, len(chips)*axes+1) // the capacity is never 0, so that it has a first element
	for _, chip := range chips {
		given := min(axes, len(chip))
		flat = append(append(flat, chip[:given]...), make([]int64, axes-given)...)
	}
	text := a.text("topology", parentTopology)
	if err := a.Err(); err != nil {
		return 0, err
	}
	C.quoit_ray_physical_worker_id(cNumber(&flat[:1][0]), C.uint32_t(len(chips)), C.uint32_t(axes), text, &worker, &gerror)
	if err := errorFromC(gerror); err != nil {
		return 0, err
	}
	return int64(worker), nil
}

// countAxes returns the number of coordinates per chip to pass to C: that of the chip with the most coordinates, but at
// most three. If a chip has fewer than two coordinates, it returns that smaller number, and the C function refuses the
// call.
func countAxes(chips [][]int64) int {
	if len(chips) == 0 {
		return 0
	}
	fewest, most := len(chips[0]), 0
	for _, chip := range chips {
		fewest, most = min(fewest, len(chip)), max(most, len(chip))
	}
	if fewest < 2 {
		return fewest
	}
	return min(most, 3)
}

// SubsliceLabels returns the index of the host's sub-slice for each smaller shape, as labels: "ray.io/tpu-subslice-2x4"
// is "1". It accepts a host outside of the grid.
//
// It fails with Invalid if Ray has no grid for the topology of the whole slice.
func SubsliceLabels(workerID int64, parentTopology string) (Labels, error) {
	var a call
	var gerror *C.GError
	text := a.text("topology", parentTopology)
	if err := a.Err(); err != nil {
		return nil, err
	}
	labels := C.quoit_ray_subslice_labels(C.int64_t(workerID), text, &gerror)
	return labelsOrError(labels, gerror)
}

// ParentTopologies returns the topologies of alive nodes into which a sub-slice fits by their grids, those with the
// fewest hosts first. It ignores the generation.
//
// It fails with Invalid if Ray has no grid for the sub-slice.
func (l NodeList) ParentTopologies(subslice string) ([]string, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	c := l.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	text := a.text("topology", subslice)
	if err := a.Err(); err != nil {
		return nil, err
	}
	parents := C.quoit_ray_parent_topologies(c, text, &gerror)
	return moveStrings(parents), errorFromC(gerror)
}

// IsHeadFree reports whether Ray treats the head resource of a slice as free: the first alive worker 0 has 1 of it
// available, or its available resources are unknown. It also counts as free if there is no worker 0, or if headResource
// is nil.
//
// It fails with Invalid only for text with a NUL.
func (l NodeList) IsHeadFree(slice, headResource *string) (bool, error) {
	var a call
	defer a.free()
	c := l.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	name, resource := a.textUnlessNil("slice", slice), a.textUnlessNil("resource", headResource)
	if err := a.Err(); err != nil {
		return false, err
	}
	return bool(C.quoit_ray_nodes_is_head_free(c, name, resource)), nil
}

// SubsliceChipsPerVM returns the chips per host of a sub-slice: the given number, or else DefaultChipsPerVM of the
// whole slice.
//
// It fails like DefaultChipsPerVM.
func SubsliceChipsPerVM(given *int64, parentTopology, version string) (int64, error) {
	return countWithTexts(parentTopology, version, func(parent, version *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_subslice_chips_per_vm(cNumber(given), parent, version, count, gerror)
	})
}

// --- the choice of sub-slices ---

// Subslices is what Ray has discovered about slices: for each slice name and worker id, the result of SubsliceLabels.
// The worker id is the one in the label of the node. A slice without workers counts as discovered.
type Subslices map[string]map[string]Labels

// toC converts the map to a C object, which the caller frees.
func (s Subslices) toC(a *call) *C.QuoitRaySubslices {
	c := C.quoit_ray_subslices_new()
	for slice, workers := range s {
		name := a.text("slice", slice)
		if a.Err() != nil {
			return c
		}
		C.quoit_ray_subslices_set(c, name, nil, nil)
		for worker, labels := range workers {
			id, found := a.text("worker id", worker), a.labelsOrEmpty("labels", labels)
			if a.Err() != nil {
				return c
			}
			C.quoit_ray_subslices_set(c, name, id, found)
		}
	}
	return c
}

// Subslice is a sub-slice that Find returns.
type Subslice struct {
	Index     int64
	WorkerIDs []string // in ascending order
}

// Find returns a sub-slice of a slice whose hosts all exist, are alive, and are idle in Ray's view: the one with the
// given index, or the one with the smallest index if index is nil. It returns nil if there is no such sub-slice.
//
// It fails with Invalid if an index or a required worker id is not an integer of 64 bits, or if Ray has no grid for a
// topology in a label.
func (s Subslices) Find(nodes NodeList, slice, topology string, index *int64) (*Subslice, error) {
	var a call
	var found C.int64_t
	var gerror *C.GError
	defer a.free()
	known := s.toC(&a)
	defer C.quoit_ray_subslices_free(known)
	c := nodes.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	name, shape := a.text("slice", slice), a.text("topology", topology)
	if err := a.Err(); err != nil {
		return nil, err
	}
	workers := C.quoit_ray_subslices_find(known, c, name, shape, cNumber(index), &found, &gerror)
	if err := errorFromC(gerror); err != nil || workers == nil {
		return nil, err
	}
	return &Subslice{Index: int64(found), WorkerIDs: moveStrings(workers)}, nil
}

// Undiscovered returns the slice that Ray would discover next, and its topology, which is one of parents. It is the
// first undiscovered slice whose alive nodes and head resource are free in Ray's view. Both results are "" if there is
// none.
//
// It fails with Invalid if PodType does for one of the parents.
func (s Subslices) Undiscovered(nodes NodeList, parents []string, version string) (slice, parent string, err error) {
	var a call
	var index C.uint32_t
	var gerror *C.GError
	defer a.free()
	known := s.toC(&a)
	defer C.quoit_ray_subslices_free(known)
	c := nodes.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	shapes, generation := a.texts("parents", parents), a.text("version", version)
	if err := a.Err(); err != nil {
		return "", "", err
	}
	found := C.quoit_ray_subslices_dup_undiscovered(known, c, shapes, generation, &index, &gerror)
	if err := errorFromC(gerror); err != nil || found == nil {
		return "", "", err
	}
	return moveString(found), parents[index], nil
}

// SubsliceStep is the next step of subslice_placement_group().
type SubsliceStep int

// The steps.
const (
	ReserveSubslice SubsliceStep = C.QUOIT_RAY_SUBSLICE_RESERVE  // create a placement group with the bundles of the plan
	DiscoverSlice   SubsliceStep = C.QUOIT_RAY_SUBSLICE_DISCOVER // reserve the whole slice of the plan, to discover it
)

// SubsliceRequest has the arguments of subslice_placement_group().
type SubsliceRequest struct {
	Topology           string    // "2x4", of the sub-slice; blanks around it and upper case are ignored
	AcceleratorVersion string    // "v6e"; blanks are not ignored
	ChipsPerVM         *int64    // chips per host; nil if not given
	PerBundle          Resources // of each bundle; nil stands for 1 CPU and the TPU of a host
	Index              *int64    // the index of the sub-slice; nil for any
}

// SubslicePlan is one step of subslice_placement_group().
type SubslicePlan struct {
	Step           SubsliceStep
	ParentTopology string    // of the whole slice
	Slice          string    // the name of the slice to use
	Index          int64     // the sub-slice to reserve; 0 for DiscoverSlice
	ChipsPerVM     int64     // chips per host
	Resources      Resources // of each bundle
	Bundles        []Labels  // the selectors of the bundles to reserve, one per host
}

// Plan returns Ray's next step to get a sub-slice.
//
// It fails with Invalid if Ray does not list the topology for the generation or has no grid for it, a given number is
// not positive, or no alive slice is larger. It fails with NotNow if all discovered sub-slices are in use in Ray's view
// and no undiscovered slice is left.
func (s Subslices) Plan(nodes NodeList, request SubsliceRequest) (*SubslicePlan, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	known := s.toC(&a)
	defer C.quoit_ray_subslices_free(known)
	c := nodes.toC(&a)
	defer C.quoit_ray_nodes_free(c)
	topology, version := a.text("topology", request.Topology), a.text("version", request.AcceleratorVersion)
	per := a.resourcesUnlessNil("resources", request.PerBundle)
	if err := a.Err(); err != nil {
		return nil, err
	}
	plan := C.quoit_ray_subslice_plan_new(known, c, topology, version, cNumber(request.ChipsPerVM), per,
		cNumber(request.Index), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	defer C.quoit_ray_subslice_plan_free(plan)
	bundles := make([]Labels, C.quoit_ray_subslice_plan_get_n_bundles(plan))
	for bundle := range bundles {
		bundles[bundle] = moveLabels(C.quoit_ray_subslice_plan_dup_bundle_labels(plan, C.uint32_t(bundle)))
	}
	return &SubslicePlan{
		Step:           SubsliceStep(C.quoit_ray_subslice_plan_get_step(plan)),
		ParentTopology: copyString(C.quoit_ray_subslice_plan_get_parent_topology(plan)),
		Slice:          copyString(C.quoit_ray_subslice_plan_get_slice_name(plan)),
		Index:          int64(C.quoit_ray_subslice_plan_get_index(plan)),
		ChipsPerVM:     int64(C.quoit_ray_subslice_plan_get_chips_per_vm(plan)),
		Resources:      resourcesFromC(C.quoit_ray_subslice_plan_get_resources(plan)),
		Bundles:        bundles,
	}, nil
}
