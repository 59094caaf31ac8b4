// SPDX-License-Identifier: Apache-2.0

package main

// maxtext: MaxText's fill of -1 and its table of accelerators.

import "quoit/maxtext"

func fillAxes(in, _ any) (any, error) {
	r := read(in, "values", "target", "kind")
	kinds := map[string]maxtext.Links{"ICI": maxtext.ICI, "DCN": maxtext.DCN}
	links, known := kinds[r.text("kind")]
	if !known {
		r.fail("a kind of parallelism other than ICI and DCN")
	}
	sizes, target := []int64{}, r.integer("target")
	for _, one := range r.list("values") {
		size, ok := one.(int64)
		if !ok {
			r.fail("another type where Go takes an integer")
		}
		sizes = append(sizes, size)
	}
	if r.err != nil {
		return nil, r.err
	}
	filled, err := maxtext.Fill(links, sizes, target)
	return ofNumbers(filled), err
}

// accelerator: rings are recorded as 0 and 1.
func accelerator(in, _ any) (any, error) {
	r := read(in, "name")
	name := r.text("name")
	if r.err != nil {
		return nil, r.err
	}
	one, err := maxtext.LookupAccelerator(name)
	if err != nil {
		return nil, err
	}
	if one.Topology == "" {
		return []any{one.Platform, nil, nil, nil, int64(one.Devices), nil}, nil
	}
	rings := []any{}
	for _, wraps := range one.Wraps {
		ring := int64(0)
		if wraps {
			ring = 1
		}
		rings = append(rings, ring)
	}
	return []any{one.Platform, one.Topology, one.ChipConfig, ofInts(one.HostBounds[:]), int64(one.Devices), rings}, nil
}

var maxtextOps = map[string]op{
	"fill_unspecified_mesh_axes": {answer: fillAxes},
	"maxtext_accelerator":        {answer: accelerator},
}
