// SPDX-License-Identifier: Apache-2.0

package main

// mesh: the meshes that JAX 0.12 made of simulated devices.

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"quoit"
)

// toSize converts a size like Python's int(), because quoit takes only integers.
func toSize(value any) (int64, error) {
	number := 0.0
	switch one := value.(type) {
	case int64:
		return one, nil
	case float64:
		number = one
	case string:
		var err error
		number, err = strconv.ParseFloat(strings.TrimSpace(one), 64)
		if errors.Is(err, strconv.ErrSyntax) {
			return 0, skip("quoit requires integers, and a text is not a number")
		}
	default:
		return 0, skip("quoit requires integers, and the value has another type")
	}
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return 0, skip("quoit requires integers, and a number is NaN or infinite")
	}
	if math.Abs(number) >= 1<<63 {
		return 0, skip("an integer that does not fit in 64 bits")
	}
	return int64(number), nil
}

func toSizes(value any) ([]int64, error) {
	given, ok := value.([]any)
	if !ok {
		return nil, skip("quoit requires integers, and the value has another type")
	}
	sizes := make([]int64, len(given))
	for index, one := range given {
		var err error
		if sizes[index], err = toSize(one); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

func (r *objectReader) sizes(member string) []int64 {
	sizes, err := toSizes(r.values[member])
	if err != nil && r.err == nil {
		r.err = err
	}
	return sizes
}

// --- devices ---

// devicesFromRows converts rows of id, x, y, z and core to devices.
func devicesFromRows(rows []any) ([]quoit.Device, error) {
	devices := make([]quoit.Device, len(rows))
	for index, one := range rows {
		row, err := toSizes(one)
		if err != nil {
			return nil, err
		}
		if len(row) != 5 {
			return nil, skip("a device that does not have five numbers")
		}
		device := quoit.Device{ID: row[0], Core: int32(row[4]), SliceIndex: -1}
		for axis := range device.Coordinates {
			device.Coordinates[axis] = int32(row[1+axis])
		}
		for _, number := range row[1:] {
			if number != int64(int32(number)) {
				return nil, skip("an integer that does not fit in 32 bits")
			}
		}
		devices[index] = device
	}
	return devices, nil
}

// orders has a function for each name of an order. It returns the indices of n devices of a number of slices in that
// order.
var orders = map[string]func(n, slices int) []int{
	"normal":                   func(n, _ int) []int { return intRange(0, n) },
	"process order":            func(n, _ int) []int { return intRange(0, n) },
	"all but the first device": func(n, _ int) []int { return intRange(1, n) },
	"all but the last device":  func(n, _ int) []int { return intRange(0, n-1) },
	"rotated-left-1":           func(n, _ int) []int { return append(intRange(1, n), 0) },
	"reversed": func(n, _ int) []int {
		order := intRange(0, n)
		for index := range order {
			order[index] = n - 1 - index
		}
		return order
	},
	"slices reversed": func(n, slices int) []int {
		order := []int{}
		for slice := slices - 1; slice >= 0; slice-- {
			order = append(order, intRange(slice*(n/slices), (slice+1)*(n/slices))...)
		}
		return order
	},
	"interleaved": func(n, slices int) []int {
		order := []int{}
		for valueAt := 0; valueAt < n/slices; valueAt++ {
			for slice := slices - 1; slice >= 0; slice-- {
				order = append(order, slice*(n/slices)+valueAt)
			}
		}
		return order
	},
}

func intRange(from, to int) []int {
	numbers := []int{}
	for number := from; number < to; number++ {
		numbers = append(numbers, number)
	}
	return numbers
}

// deviceOrder returns the devices of the row, in its order, as indices in JAX's list of n devices.
func (r *objectReader) deviceOrder(n, slices int) ([]int, error) {
	found := []int{}
	if _, isList := r.values["order"].([]any); isList {
		for _, place := range r.sizes("order") {
			if place < 0 || place >= int64(n) {
				return nil, skip("an order of devices that this runner does not know")
			}
			found = append(found, int(place))
		}
	} else {
		order, known := orders[r.textOr("order", "normal")]
		if !known {
			return nil, skip("an order of devices that this runner does not know")
		}
		found = order(n, slices)
	}
	if all := r.textOrNil("devices"); all != nil { // "all 64": the note describes the change to JAX's list
		count, err := strconv.Atoi(strings.TrimPrefix(*all, "all "))
		if err != nil || count < 1 {
			return nil, skip("devices that this runner does not know")
		}
		found = found[:min(count, len(found))]
		if strings.HasPrefix(r.textOr("note", ""), "duplicate coordinate") {
			found = append([]int{found[0]}, found[:len(found)-1]...)
		}
	}
	return found, r.err
}

// devices returns the devices of the row. The caller closes them.
func (r *objectReader) devices() (*quoit.Devices, error) {
	kind := r.text("kind")
	if rows, isList := r.values["devices"].([]any); isList {
		devices, err := devicesFromRows(rows)
		if err != nil {
			return nil, err
		}
		return quoit.NewDevices(kind, devices)
	}
	slices := int(max(r.integerOr("slices", 1), 1))
	asked := quoit.SliceDevices{
		Kind: kind, Topology: r.textOr("topology", ""), Slices: slices, DevicesPerChip: int(r.integerOr("devices_per_chip", 0)),
	}
	if asked.Topology == "" {
		lengths := []string{}
		for _, length := range r.sizes("chips") {
			lengths = append(lengths, strconv.FormatInt(length, 10))
		}
		asked.Topology = strings.Join(lengths, "x")
	}
	if r.err != nil {
		return nil, r.err
	}
	every, err := quoit.NewSliceDevices(asked)
	if err != nil {
		return nil, err
	}
	defer every.Close()
	devicesFromRows, err := every.List()
	if err != nil {
		return nil, err
	}
	deviceOrder, err := r.deviceOrder(len(devicesFromRows), slices)
	if err != nil {
		return nil, err
	}
	chosen := make([]quoit.Device, len(deviceOrder))
	for index, place := range deviceOrder {
		chosen[index] = devicesFromRows[place]
		if strings.HasPrefix(r.textOr("note", ""), "no slice_index") {
			chosen[index].SliceIndex = -1
		}
	}
	return quoit.NewDevices(every.Kind, chosen)
}

// --- answers ---

// expandSteps returns the ids that steps and base describe. steps is pairs of a count and a step. It begins with the
// list [0], and for each pair replaces each value by count values that are step apart. Finally it replaces each value
// by its sums with the elements of base.
func expandSteps(steps, base []int64) []int64 {
	values := []int64{0}
	for valueAt := 0; valueAt+1 < len(steps); valueAt += 2 {
		next := []int64{}
		for _, value := range values {
			for count := int64(0); count < steps[valueAt]; count++ {
				next = append(next, value+count*steps[valueAt+1])
			}
		}
		values = next
	}
	ids := []int64{}
	for _, value := range values {
		for _, one := range base {
			ids = append(ids, value+one)
		}
	}
	return ids
}

// equalsSteps reports whether the row records ids as steps, and whether they equal the given ids.
func equalsSteps(ids []int64, recorded any) bool {
	wanted, ok := recorded.(*object)
	if !ok || !wanted.has("steps") {
		return false
	}
	steps, stepsErr := toSizes(wanted.values["steps"])
	base, baseErr := toSizes(wanted.values["base"])
	if stepsErr != nil || baseErr != nil {
		return false
	}
	expected := expandSteps(steps, base)
	for index := range ids {
		if index >= len(expected) || expected[index] != ids[index] {
			return false
		}
	}
	return len(expected) == len(ids)
}

func meshToJSON(mesh *quoit.Mesh, recorded any) any {
	assignment := []any{}
	for _, axis := range mesh.Granules[0].Physical {
		assignment = append(assignment, intsToJSON(axis.Shares))
	}
	input := (&object{}).set("shape", intsToJSON(mesh.Shape)).set("assignment", assignment)
	if wanted, ok := recorded.(*object); ok {
		if equalsSteps(mesh.IDs, recorded) {
			input.set("steps", wanted.values["steps"]).set("base", wanted.values["base"])
			return keepRecorded(input, recorded)
		}
		input = keepRecorded(input, recorded).(*object)
	}
	return input.set("ids", integersToJSON(mesh.IDs))
}

func intsToJSON(numbers []int) any {
	answer := []any{}
	for _, one := range numbers {
		answer = append(answer, int64(one))
	}
	return answer
}

// meshFlags returns the flags of the members that are true.
func (r *objectReader) meshFlags(members map[string]quoit.MeshFlags) quoit.MeshFlags {
	var flags quoit.MeshFlags
	for member, flag := range members {
		if r.flag(member, false) {
			flags |= flag
		}
	}
	return flags
}

// devicesOp returns an op that makes a mesh of the devices of a row.
func devicesOp(members []string, make func(r *objectReader, devices *quoit.Devices) (*quoit.Mesh, error)) op {
	return op{answer: func(in, recorded any) (any, error) {
		r := newReader(in, append([]string{"kind", "topology", "devices_per_chip", "order", "note"}, members...)...)
		if r.err != nil {
			return nil, r.err
		}
		devices, err := r.devices()
		if err != nil {
			return nil, err
		}
		defer devices.Close()
		return answered(r, recorded, func() (*quoit.Mesh, error) { return make(r, devices) })
	}}
}

func answered(r *objectReader, recorded any, make func() (*quoit.Mesh, error)) (any, error) {
	mesh, err := make()
	if r.err != nil { // make has read a member that Go does not accept
		mesh.Close()
		return nil, r.err
	}
	if err != nil {
		return nil, err
	}
	defer mesh.Close()
	return meshToJSON(mesh, recorded), nil
}

func createDeviceMesh(r *objectReader, devices *quoit.Devices) (*quoit.Mesh, error) {
	return devices.Mesh(r.sizes("mesh_shape"), r.meshFlags(map[string]quoit.MeshFlags{
		"contiguous_submeshes":      quoit.MeshContiguousSubmeshes,
		"allow_split_physical_axes": quoit.MeshSplitPhysicalAxes,
	}))
}

func createHybridDeviceMesh(r *objectReader, devices *quoit.Devices) (*quoit.Mesh, error) {
	flags := r.meshFlags(map[string]quoit.MeshFlags{
		"process_is_granule":        quoit.MeshProcessGranules,
		"allow_split_physical_axes": quoit.MeshSplitPhysicalAxes,
	})
	if !r.flag("should_sort_granules_by_key", true) {
		flags |= quoit.MeshGranulesAsListed
	}
	return devices.HybridMesh(r.sizes("ici"), r.sizes("dcn"), flags)
}

func makeMesh(r *objectReader, devices *quoit.Devices) (*quoit.Mesh, error) {
	return devices.MakeMesh(r.sizes("mesh_shape"))
}

func torusMesh(in, recorded any) (any, error) {
	r := newReader(in, "kind", "physical", "mesh_shape", "allow_split_physical_axes")
	if r.err != nil {
		return nil, r.err
	}
	return answered(r, recorded, func() (*quoit.Mesh, error) {
		flags := r.meshFlags(map[string]quoit.MeshFlags{"allow_split_physical_axes": quoit.MeshSplitPhysicalAxes})
		return quoit.NewTorusMesh(r.textOr("kind", ""), r.sizes("physical"), r.sizes("mesh_shape"), flags)
	})
}

var meshOps = map[string]op{
	"create_device_mesh": devicesOp(
		[]string{"chips", "devices", "mesh_shape", "contiguous_submeshes", "allow_split_physical_axes"}, createDeviceMesh),
	"create_device_mesh_for_nd_torus": {answer: torusMesh},
	"create_hybrid_device_mesh": devicesOp([]string{
		"slices", "ici", "dcn", "allow_split_physical_axes", "process_is_granule", "should_sort_granules_by_key",
	}, createHybridDeviceMesh),
	"make_mesh": devicesOp([]string{"slices", "mesh_shape"}, makeMesh),
}
