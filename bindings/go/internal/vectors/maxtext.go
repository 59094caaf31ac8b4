// SPDX-License-Identifier: Apache-2.0

package main

// maxtext: how MaxText replaces -1, its table of accelerators, and its meshes.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"quoit"
	"quoit/maxtext"
)

func fillAxes(in, _ any) (any, error) {
	r := newReader(in, "values", "target", "kind")
	kinds := map[string]maxtext.Links{"ICI": maxtext.ICI, "DCN": maxtext.DCN}
	links, known := kinds[r.text("kind")]
	if !known {
		r.fail("a kind of parallelism other than ICI and DCN")
	}
	sizes, target := []int64{}, r.integer("target")
	for _, one := range r.list("values") {
		size, ok := one.(int64)
		if !ok {
			r.fail("Go requires an integer, and the value has another type")
		}
		sizes = append(sizes, size)
	}
	if r.err != nil {
		return nil, r.err
	}
	filled, err := maxtext.Fill(links, sizes, target)
	return integersToJSON(filled), err
}

// accelerator returns an entry of MaxText's table. The rows record rings as 0 and 1.
func accelerator(in, _ any) (any, error) {
	r := newReader(in, "name")
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
	return []any{one.Platform, one.Topology, one.ChipConfig, intsToJSON(one.HostBounds[:]), int64(one.Devices), rings}, nil
}

// --- meshes ---

// integers returns a list of integers; MaxText takes no other sizes.
func (r *objectReader) integers(member string) []int64 {
	numbers := []int64{}
	for _, one := range r.list(member) {
		number, ok := one.(int64)
		if !ok {
			r.fail("Go requires an integer, and the value has another type")
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// sides returns the sides of a box, such as "2,2,1".
func (r *objectReader) sides(text string) []int64 {
	sides := []int64{}
	for _, word := range strings.Split(text, ",") {
		side, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil {
			r.fail("a box whose sides are not integers")
		}
		sides = append(sides, side)
	}
	return sides
}

// maxtextDevices returns the devices of a row, or those of a box if a single controller uses a part of one slice. The
// caller closes them.
func maxtextDevices(r, options *objectReader) (*quoit.Devices, error) {
	asked := quoit.SliceDevices{Kind: r.text("k"), Topology: r.text("t"), Slices: int(r.integer("slices"))}
	if asked.Slices == 0 {
		r.fail("0 slices, which Go treats as 1")
	}
	box := options.textOr("subslice_shape", "")
	single := options.flag("enable_single_controller", false)
	isBox := asked.Slices == 1 && box != "" && single
	var sides []int64
	if isBox {
		sides = options.sides(box)
	}
	if r.addError(options); r.err != nil {
		return nil, r.err
	}
	devices, err := quoit.NewSliceDevices(asked)
	if err != nil || !isBox {
		return devices, err
	}
	defer devices.Close()
	return maxtext.DevicesInBox(devices, sides)
}

// checkLongMesh checks the ids of a large mesh. The rows have the first 16 ids, and the beginning of the SHA-256 of all
// ids joined with commas.
func checkLongMesh(r *objectReader, ids []int64) error {
	words := make([]string, len(ids))
	for index, id := range ids {
		words[index] = strconv.FormatInt(id, 10)
	}
	sum := sha256.Sum256([]byte(strings.Join(words, ",")))
	hash, first := hex.EncodeToString(sum[:]), r.integers("first16")
	begin, wanted := ids[:min(16, len(ids))], r.text("sha256_16")
	if r.err != nil {
		return r.err
	}
	if jsonText(integersToJSON(begin)) != jsonText(integersToJSON(first)) || wanted == "" || !strings.HasPrefix(hash, wanted) {
		return disagreement(fmt.Sprintf("ids %v, hash %s", begin, hash))
	}
	return nil
}

// missingSliceCount is for one row that has its number of slices only in its note.
func missingSliceCount(row *object) string {
	if note, _ := row.values["note"].(string); strings.HasPrefix(note, "num_slices does not divide") {
		return "the row does not have the number of slices"
	}
	return ""
}

func maxtextMesh(in, _ any) (any, error) {
	r := newReader(in, "axes", "k", "t", "slices", "ici", "dcn", "opts", "first16", "sha256_16", "strategy", "ok")
	if r.has("strategy") {
		strategy, ici := r.text("strategy"), r.integers("ici")
		if r.err != nil {
			return nil, r.err
		}
		return (&object{}).set("shape", nil).set("ids", nil), maxtext.CheckCustomMesh(strategy, ici)
	}
	options := newReader(&object{})
	if r.values["opts"] != nil {
		options = r.readObjectMember(r.values["opts"], "allow_split_physical_axes", "custom_mesh", "optimize_mesh_for_tpu_v6e",
			"enable_single_controller", "subslice_shape")
	}
	asked := maxtext.Mesh{
		ICI: r.integers("ici"), DCN: r.integers("dcn"), Slices: r.integer("slices"),
		Custom:            options.textOr("custom_mesh", ""),
		SplitPhysicalAxes: options.flag("allow_split_physical_axes", false),
		OptimizeForV6e:    options.flag("optimize_mesh_for_tpu_v6e", false),
	}
	devices, err := maxtextDevices(r, options)
	if err != nil {
		return nil, err
	}
	defer devices.Close()
	mesh, err := maxtext.NewMesh(devices, asked)
	if err != nil {
		return nil, err
	}
	defer mesh.Close()
	input := (&object{}).set("shape", intsToJSON(mesh.Shape))
	if !r.has("sha256_16") {
		return input.set("ids", integersToJSON(mesh.IDs)), nil
	}
	return input.set("ids", nil), checkLongMesh(r, mesh.IDs)
}

var maxtextOps = map[string]op{
	"maxtext_create_device_mesh": {answer: maxtextMesh, missing: missingSliceCount},
	"fill_unspecified_mesh_axes": {answer: fillAxes},
	"maxtext_accelerator":        {answer: accelerator},
}
