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

// TopologyDims returns the numbers between the "x", in any form that Python's int() accepts.
//
// It fails with Invalid if one of them is not a number or exceeds 64 bits.
func TopologyDims(topology string) ([]int64, error) {
	return dims(topology, func(text *C.char, count *C.unsigned, gerror **C.GError) *C.int64_t {
		return C.quoit_ray_topology_dims(text, count, gerror)
	})
}

// WorkerGrid returns the number of hosts of a slice along its axes, the slowest first, like Ray: (y, x) or (z, y, x).
// quoit's own coordinates are x first.
//
// It fails with Invalid if Ray has no grid for the topology in exactly this spelling.
func WorkerGrid(topology string) ([]int64, error) {
	return dims(topology, func(text *C.char, count *C.unsigned, gerror **C.GError) *C.int64_t {
		return C.quoit_ray_worker_grid(text, count, gerror)
	})
}

// PhysicalWorkerID returns the id that Ray gives a host by its position, which is the smallest coordinates of its
// chips, x first. A missing third coordinate is 0; further coordinates are ignored.
//
// It fails with Invalid if there are no chips, a chip has less than two coordinates, Ray has no grid for the topology,
// or the host is outside of it.
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

// axesOf returns the number of coordinates to read of each chip: the most that a chip has, up to three, if each has two
// or more.
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
	return takenLabelsOrError(labels, gerror)
}

// ParentTopologies returns the topologies of alive nodes into which a sub-slice fits by their grids, those with the
// fewest hosts first. It ignores the generation.
//
// It fails with Invalid if Ray has no grid for the sub-slice.
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

// HeadLooksFree reports whether Ray treats the head of a slice as free: the first alive worker 0 has 1 of the resource
// available, or its available resources are unknown. It is also free if there is no worker 0 or no resource (nil).
//
// It fails with Invalid only for text with a NUL.
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

// SubsliceChipsPerVM returns the chips per host of a sub-slice: the given number, or else DefaultChipsPerVM of the
// whole slice.
//
// It fails like DefaultChipsPerVM.
func SubsliceChipsPerVM(given *int64, parentTopology, version string) (int64, error) {
	return counted(parentTopology, version, func(parent, version *C.char, count *C.int64_t, gerror **C.GError) {
		C.quoit_ray_subslice_chips_per_vm(number(given), parent, version, count, gerror)
	})
}

// --- the choice of sub-slices ---

// Subslices is what Ray has discovered about slices: the labels of SubsliceLabels, by the name of the slice and the
// worker id in its node's label. A slice without workers counts as discovered.
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

// Subslice is a sub-slice that Find returns.
type Subslice struct {
	Index     int64
	WorkerIDs []string // in ascending order
}

// Find returns the first sub-slice of a slice by index, or the one with the given index, whose hosts all exist, are
// alive and are idle in Ray's view; nil if no sub-slice matches.
//
// It fails with Invalid if an index or a required worker id is not an integer of 64 bits, or if Ray has no grid for a
// topology in a label.
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

// Undiscovered returns the slice that Ray would discover next, and its topology, which is one of parents: the first
// undiscovered slice whose alive nodes and head are free in Ray's view. Both are "" if no slice matches.
//
// It fails with Invalid if PodType does for one of the parents.
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

// SubsliceStep is the next step of subslice_placement_group().
type SubsliceStep int

// The steps.
const (
	ReserveSubslice SubsliceStep = C.QUOIT_RAY_SUBSLICE_RESERVE  // create a placement group with these bundles
	DiscoverSlice   SubsliceStep = C.QUOIT_RAY_SUBSLICE_DISCOVER // first reserve this whole slice, to discover it
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
// not positive, or no alive slice is larger. It fails with NotNow if all discovered ones are in use in Ray's view and
// no undiscovered one is left.
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
