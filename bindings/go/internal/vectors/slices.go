// SPDX-License-Identifier: Apache-2.0

package main

// ray-tpu: the placement groups of a request for whole slices.

import (
	"fmt"

	"quoit/ray"
)

// readSliceRequest reads the request of a row. Rows about names and properties have no shape.
func readSliceRequest(in any) (ray.SliceRequest, *objectReader, error) {
	r := newReader(in, "topology", "accelerator_version", "resources_per_bundle", "strategy", "name", "lifetime",
		"num_slices", "chips_per_vm", "pg_per_slice", "bundle_label_selector", "tpu_resource_per_chip", "reserved_slice")
	request := ray.SliceRequest{
		Topology: r.textOr("topology", ""), AcceleratorVersion: r.textOr("accelerator_version", ""),
		PerBundle: r.resources("resources_per_bundle"), Strategy: r.textOr("strategy", ""), Name: r.textOr("name", ""),
		Lifetime: r.textOr("lifetime", ""), Slices: r.integerOrNil("num_slices"),
		ChipsPerVM: r.integerOrNil("chips_per_vm"), ResourcePerChip: r.integerOrNil("tpu_resource_per_chip"),
	}
	if !r.has("topology") {
		request.Topology = "4x4"
	}
	if !r.has("accelerator_version") {
		request.AcceleratorVersion = "v6e"
	}
	for _, member := range []string{"topology", "accelerator_version", "strategy", "name", "num_slices"} {
		if r.has(member) && r.values[member] == nil {
			r.fail("Go requires a value, and the value is null")
		}
	}
	if r.flag("pg_per_slice", false) {
		request.Layout = ray.GroupPerSlice
	}
	for _, one := range r.list("bundle_label_selector") {
		labels, err := toLabels(one)
		if one == nil {
			err = skip("Go requires labels, and the value is null")
		}
		if err != nil && r.err == nil {
			r.err = err
		}
		request.BundleSelectors = append(request.BundleSelectors, labels)
	}
	return request, r, r.err
}

// readSliceGroup returns the group of a row, with the slice names that the heads get: "slice-0" and so on, or the one
// that the row names.
func readSliceGroup(in any) (*ray.SliceGroup, ray.SliceRequest, error) {
	request, r, err := readSliceRequest(in)
	if err != nil {
		return nil, request, err
	}
	group, err := ray.SlicePlacementGroup(request)
	if err != nil || len(group.Heads) == 0 {
		return group, request, err
	}
	named := r.textOr("reserved_slice", "")
	request.SliceNames = map[int64]string{}
	for index, head := range group.Heads {
		request.SliceNames[head.Slice] = named
		if named == "" {
			request.SliceNames[head.Slice] = fmt.Sprintf("slice-%d", index)
		}
	}
	if r.err != nil {
		return nil, request, r.err
	}
	group, err = ray.SlicePlacementGroup(request)
	return group, request, err
}

func addGroupMembers(group *ray.SliceGroup, answer *object) *object {
	groups, names := []any{}, []any{}
	for _, one := range group.Groups {
		groups = append(groups, (&object{}).set("bundles", one.Bundles).set("strategy", group.Strategy).
			set("name", one.Name).set("lifetime", textToJSON(group.Lifetime)))
		names = append(names, one.Name)
	}
	return answer.set("worker_groups", groups).set("names", names)
}

// userValueKept reports whether each bundle with a requested slice name selects that slice.
func userValueKept(group *ray.SliceGroup, request ray.SliceRequest) bool {
	for bundle, asked := range request.BundleSelectors {
		if name, named := asked.Get(sliceNameLabel); named {
			if is, _ := group.Bundles[bundle].Get(sliceNameLabel); is != name {
				return false
			}
		}
	}
	return true
}

func sliceGroup(in, recorded any) (any, error) {
	group, request, err := readSliceGroup(in)
	if err != nil {
		return nil, err
	}
	selectors := []any{}
	for _, labels := range group.Bundles {
		selectors = append(selectors, labelsToJSON(labels))
	}
	bundles, heads := []any{}, []any{}
	var first any
	for range group.Heads {
		bundle := (&object{}).set(group.HeadResource, int64(1))
		bundles = append(bundles, []any{bundle})
		heads = append(heads, []any{labelsToJSON(group.HeadLabels)})
		first = bundle
	}
	answer := (&object{}).
		set("accelerator_version", group.Version).
		set("topology", group.Topology).
		set("chips_per_host", group.ChipsPerHost).
		set("devices_per_host", group.DevicesPerHost).
		set("num_hosts", group.Hosts).
		set("num_bundles", group.BundleCount).
		set("bundles_per_slice", group.BundlesPerSlice).
		set("head_reservations", int64(len(group.Heads))).
		set("single_host", group.IsSingleHost).
		set("bundle_resources", resourcesToJSON(group.Resources)).
		set("bundle_label_selector", selectors).
		set("bundle_labels", selectors).
		set("user_value_kept", userValueKept(group, request)).
		set("head_bundle", first).
		set("head_bundles", bundles).
		set("head_selectors", heads)
	return keepRecorded(addGroupMembers(group, answer), recorded), nil
}

// layoutOp returns an op for Ray's property of one layout.
func layoutOp(layout ray.Layout) op {
	return op{answer: func(in, recorded any) (any, error) {
		group, request, err := readSliceGroup(in)
		if err != nil {
			return nil, err
		}
		if err := ray.CheckLayout(request, layout); err != nil {
			return nil, err
		}
		return keepRecorded(addGroupMembers(group, &object{}), recorded), nil
	}}
}

var sliceOps = map[string]op{
	"util.SlicePlacementGroup":                        {answer: sliceGroup},
	"util.SlicePlacementGroup.slice_placement_group":  layoutOp(ray.OneGroup),
	"util.SlicePlacementGroup.slice_placement_groups": layoutOp(ray.GroupPerSlice),
	"util.slice_placement_group":                      {answer: sliceGroup},
}
