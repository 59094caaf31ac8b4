// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import "quoit/internal/cconv"

// Layout is how the bundles are divided into placement groups.
type Layout int

// The layouts.
const (
	OneGroup      Layout = C.QUOIT_RAY_LAYOUT_ONE_GROUP       // one placement group has the bundles of all slices
	GroupPerSlice Layout = C.QUOIT_RAY_LAYOUT_GROUP_PER_SLICE // each slice has its own placement group
)

// SliceRequest has the arguments of Ray's slice_placement_group().
type SliceRequest struct {
	Topology           string // "4x4", of each slice; blanks around it and upper case are ignored
	AcceleratorVersion string // "v6e", "TPU-V6E"; blanks around it are ignored
	// Slices is num_slices; nil stands for 1.
	Slices *int64
	// ChipsPerVM is chips_per_vm; nil stands for ChipsPerHost.
	ChipsPerVM *int64
	// ResourcePerChip is tpu_resource_per_chip; nil stands for 1. Ray's default is RAY_TPU_RESOURCE_PER_CHIP.
	ResourcePerChip *int64
	// PerBundle is resources_per_bundle. If CPU or TPU is missing, it is added like in WorkerResources.
	PerBundle Resources
	// Strategy is "SPREAD", "PACK", "STRICT_SPREAD" or "STRICT_PACK"; "" stands for SPREAD. It is not validated,
	// because Ray validates it only when it creates the groups.
	Strategy string
	// Name is the name of the group; "" for none.
	Name string
	// Lifetime is "detached", or "" if the groups end with their creator.
	Lifetime string
	// Layout is pg_per_slice.
	Layout Layout
	// BundleSelectors is bundle_label_selector: empty, or one selector for each bundle of all slices.
	BundleSelectors []Labels
	// SliceNames has the names of the slices whose heads were reserved, by the index of the slice.
	SliceNames map[int64]string
}

// SliceGroup is what Ray creates for a SliceRequest: bundles, selectors, placement groups and heads.
type SliceGroup struct {
	Topology        string // in Ray's spelling
	Version         string // the generation in Ray's spelling
	Slices          int64  // the number of requested slices
	ChipsPerHost    int64
	DevicesPerHost  int64 // the amount of TPU of one host
	Hosts           int64 // the number of hosts of all slices, at least one per slice
	BundleCount     int64 // the number of bundles of all slices; negative if Slices is negative
	BundlesPerSlice int64
	Resources       Resources // of each bundle
	IsSingleHost    bool      // single-host slices have no heads, and their bundles select no slice
	Strategy        string    // the strategy of each placement group
	Lifetime        string    // the lifetime of each placement group; "" for none

	Bundles      []Labels // the selectors of the bundles, slice by slice
	Heads        []Head   // the heads, in the order in which Ray reserves them
	HeadResource string   // the head resource; the bundle of each head needs 1 of it
	HeadLabels   Labels   // the selector of the bundle of each head
	Groups       []PlacedGroup
}

// Head is a placement group with the head resource of one slice. Ray reserves it before it creates the placement groups
// for the bundles, to find the slice.
type Head struct {
	Slice int64 // the index of the slice
}

// PlacedGroup is a placement group with some of the bundles of a SliceGroup: the first group has the first bundles, and
// so on.
type PlacedGroup struct {
	Name    string // "" for none
	Bundles int64  // the number of its bundles
}

// maxBundles is the largest number of bundles, heads or groups in a result. It exceeds any fleet.
const maxBundles = 10_000_000

// toC converts the request to a C object, which the caller frees. It returns NULL if an argument cannot be converted.
func (r *SliceRequest) toC(a *call) *C.QuoitRaySliceRequest {
	topology, version := a.text("topology", r.Topology), a.text("accelerator version", r.AcceleratorVersion)
	per := a.resourcesUnlessNil("resources", r.PerBundle)
	strategy, name := a.text("strategy", r.Strategy), a.text("name", r.Name)
	lifetime := a.textUnlessEmpty("lifetime", r.Lifetime)
	selectors := make([]*C.QuoitRayLabels, len(r.BundleSelectors))
	for index, labels := range r.BundleSelectors {
		selectors[index] = a.labelsUnlessNil("selector", labels)
	}
	if a.Err() != nil {
		return nil
	}
	c := C.quoit_ray_slice_request_new(topology, version)
	if r.Slices != nil {
		C.quoit_ray_slice_request_set_n_slices(c, C.int64_t(*r.Slices))
	}
	if r.ChipsPerVM != nil {
		C.quoit_ray_slice_request_set_chips_per_vm(c, C.int64_t(*r.ChipsPerVM))
	}
	if r.ResourcePerChip != nil {
		C.quoit_ray_slice_request_set_resource_per_chip(c, C.int64_t(*r.ResourcePerChip))
	}
	if r.Strategy != "" {
		C.quoit_ray_slice_request_set_strategy(c, strategy)
	}
	C.quoit_ray_slice_request_set_resources(c, per)
	C.quoit_ray_slice_request_set_name(c, name)
	C.quoit_ray_slice_request_set_lifetime(c, lifetime)
	C.quoit_ray_slice_request_set_layout(c, C.QuoitRaySliceLayout(r.Layout))
	for _, selector := range selectors {
		C.quoit_ray_slice_request_add_selector(c, selector)
	}
	return c
}

// SlicePlacementGroup returns what Ray's slice_placement_group() requests from the cluster. Like Ray, it accepts a
// negative number of slices.
//
// It fails with Invalid like WorkerResources, if Ray does not list the topology for the generation, if the number of
// selectors is neither 0 nor that of the bundles, if the number of slices is 0, if SliceNames has an index without a
// head, if a count exceeds 64 bits, and if there are more than ten million bundles.
func SlicePlacementGroup(request SliceRequest) (*SliceGroup, error) {
	var a call
	defer a.free()
	cRequest := request.toC(&a)
	if err := a.Err(); err != nil {
		return nil, err
	}
	defer C.quoit_ray_slice_request_free(cRequest)
	return newSliceGroup(&a, cRequest, request.SliceNames)
}

// newSliceGroup returns what Ray creates for a request, with names of slices by the index of the slice.
func newSliceGroup(a *call, cRequest *C.QuoitRaySliceRequest, names map[int64]string) (*SliceGroup, error) {
	var gerror *C.GError
	c := C.quoit_ray_slice_group_new(cRequest, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	defer C.quoit_ray_slice_group_free(c)
	for slice, name := range names {
		text := a.text("slice", name)
		if err := a.Err(); err != nil {
			return nil, err
		}
		C.quoit_ray_slice_group_set_slice_name(c, C.int64_t(slice), text, &gerror)
		if err := errorFromC(gerror); err != nil {
			return nil, err
		}
	}
	return sliceGroupFromC(c)
}

func sliceGroupFromC(c *C.QuoitRaySliceGroup) (*SliceGroup, error) {
	group := &SliceGroup{
		Topology:        copyString(C.quoit_ray_slice_group_get_topology(c)),
		Version:         copyString(C.quoit_ray_slice_group_get_version(c)),
		Slices:          int64(C.quoit_ray_slice_group_get_n_slices(c)),
		ChipsPerHost:    int64(C.quoit_ray_slice_group_get_chips_per_host(c)),
		DevicesPerHost:  int64(C.quoit_ray_slice_group_get_devices_per_host(c)),
		Hosts:           int64(C.quoit_ray_slice_group_get_n_hosts(c)),
		BundleCount:     int64(C.quoit_ray_slice_group_get_n_bundles(c)),
		BundlesPerSlice: int64(C.quoit_ray_slice_group_get_bundles_per_slice(c)),
		Resources:       resourcesFromC(C.quoit_ray_slice_group_get_resources(c)),
		IsSingleHost:    bool(C.quoit_ray_slice_group_is_single_host(c)),
		Strategy:        copyString(C.quoit_ray_slice_group_get_strategy(c)),
		Lifetime:        copyString(C.quoit_ray_slice_group_get_lifetime(c)),
		HeadResource:    copyString(C.quoit_ray_slice_group_get_head_resource(c)),
		HeadLabels:      labelsFromC(C.quoit_ray_slice_group_get_head_labels(c)),
	}
	heads, groups := C.quoit_ray_slice_group_get_n_heads(c), C.quoit_ray_slice_group_get_n_groups(c)
	if group.BundleCount > maxBundles || heads > maxBundles || groups > maxBundles {
		return nil, cconv.InvalidError("bundles '%d': expected at most %d", group.BundleCount, maxBundles)
	}
	for bundle := C.int64_t(0); bundle < C.int64_t(group.BundleCount); bundle++ {
		group.Bundles = append(group.Bundles, moveLabels(C.quoit_ray_slice_group_dup_bundle_labels(c, bundle)))
	}
	for head := C.int64_t(0); head < heads; head++ {
		group.Heads = append(group.Heads, Head{int64(C.quoit_ray_slice_group_get_head_slice(c, head))})
	}
	for index := C.int64_t(0); index < groups; index++ {
		group.Groups = append(group.Groups, PlacedGroup{
			Name:    moveString(C.quoit_ray_slice_group_dup_group_name(c, index)),
			Bundles: int64(C.quoit_ray_slice_group_get_group_n_bundles(c, index)),
		})
	}
	return group, nil
}

// CheckLayout checks whether a request has a layout, like the two properties of Ray's object: slice_placement_group
// refuses several groups, and slice_placement_groups refuses a single group.
//
// It fails with Invalid if the request is refused or has another layout.
func CheckLayout(request SliceRequest, layout Layout) error {
	var a call
	var gerror *C.GError
	defer a.free()
	cRequest := request.toC(&a)
	if err := a.Err(); err != nil {
		return err
	}
	defer C.quoit_ray_slice_request_free(cRequest)
	c := C.quoit_ray_slice_group_new(cRequest, &gerror)
	if err := errorFromC(gerror); err != nil {
		return err
	}
	defer C.quoit_ray_slice_group_free(c)
	C.quoit_ray_slice_group_check_layout(c, C.QuoitRaySliceLayout(layout), &gerror)
	return errorFromC(gerror)
}
