// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"testing"

	"quoit"
)

func newDevices(t *testing.T, kind, topology string, count int) *quoit.Devices {
	t.Helper()
	devices := must[*quoit.Devices](t)(quoit.NewSliceDevices(quoit.SliceDevices{Kind: kind, Topology: topology, Slices: count}))
	t.Cleanup(devices.Close)
	return devices
}

func TestGroupDevicesAreThoseOfItsSlices(t *testing.T) {
	group := reserve(t, newLedger(t, "v6e 4x4 x3"), sliceRequest("train", 2))
	devices := must[*quoit.Devices](t)(group.Devices())
	defer devices.Close()
	if devices.Kind != "TPU v6 lite" || devices.Count != 32 {
		t.Errorf("%+v", devices)
	}
	listed := must[[]quoit.Device](t)(devices.List())
	if !reflect.DeepEqual(listed, must[[]quoit.Device](t)(newDevices(t, "v6e", "4x4", 2).List())) {
		t.Errorf("%+v", listed)
	}
	if last := listed[31]; last != (quoit.Device{ID: 31, Coordinates: [3]int32{3, 3, 0}, ProcessIndex: 7, SliceIndex: 1}) {
		t.Errorf("%+v", last)
	}
	again := must[*quoit.Devices](t)(quoit.NewDevices(devices.Kind, listed))
	if !reflect.DeepEqual(listed, must[[]quoit.Device](t)(again.List())) {
		t.Error("a list that was created from a list differs from it")
	}
	wantCode(t, errorOf(reserve(t, newLedger(t, "v6e 4x4"), &quoit.Request{
		Name: "part", Bundles: []quoit.BundleRequest{{Amounts: "TPU=1"}, {Amounts: "TPU=2"}},
	}).Devices()), quoit.Invalid)
}

// errorOf returns only the error of a call.
func errorOf[Value any](_ Value, err error) error { return err }

func TestInvalidDevicesAreRefused(t *testing.T) {
	for _, asked := range []quoit.SliceDevices{
		{Kind: "v9", Topology: "4x4"}, {Kind: "v6e", Topology: "4x"}, {Kind: "v6e", Topology: "4x4", Slices: -1},
		{Kind: "v6e", Topology: "4x4", ChipsPerHost: 3}, {Kind: "v6e", Topology: "4x4", DevicesPerChip: -1},
		{Kind: "v6e", Topology: "99999x99999"}, {Kind: "v6e", Topology: "4x4\x00"}, {Kind: "v6e", Topology: "4x4", Slices: 1 << 40},
	} {
		wantCode(t, errorOf(quoit.NewSliceDevices(asked)), quoit.Invalid)
	}
	wantCode(t, errorOf(quoit.NewDevices("v9", nil)), quoit.Invalid)
	_, err := quoit.NewDevices("v6e", []quoit.Device{{SliceIndex: -1}, {Core: -1}})
	wantCode(t, err, quoit.Invalid)
	if !strings.HasPrefix(err.Error(), "devices[1]: ") {
		t.Errorf("'%v': expected the place of the device", err)
	}
}

func TestHybridMeshReportsPhysicalAxesOfGranules(t *testing.T) {
	devices := newDevices(t, "v5p", "4x4x4", 2)
	mesh := must[*quoit.Mesh](t)(devices.HybridMesh([]int64{1, 16, 4}, []int64{2, 1, 1}, 0))
	defer mesh.Close()
	if !reflect.DeepEqual(mesh.Shape, []int{2, 16, 4}) || !reflect.DeepEqual(mesh.DCNShape, []int{2, 1, 1}) {
		t.Errorf("%v of %v", mesh.Shape, mesh.DCNShape)
	}
	if len(mesh.Granules) != 2 || mesh.Granules[1].Key != 1 || mesh.Granules[1].Order != quoit.MeshOrderTorus {
		t.Fatalf("%+v", mesh.Granules)
	}
	for _, axis := range mesh.Granules[1].Physical {
		if product := axis.Shares[0] * axis.Shares[1] * axis.Shares[2]; product != axis.Size || axis.Size != 4 {
			t.Errorf("%+v", axis)
		}
	}
	seen := map[int64]bool{}
	listed := must[[]quoit.Device](t)(devices.List())
	for place, id := range mesh.IDs {
		seen[id] = true
		if listed[mesh.Indices[place]].ID != id {
			t.Errorf("place %d has device %d and index %d", place, id, mesh.Indices[place])
		}
	}
	if len(seen) != 128 || mesh.IDs[0] != 0 || mesh.IDs[64] != 64 {
		t.Errorf("%d devices, %v", len(seen), mesh.IDs)
	}
}

func TestMeshOfOneSmallSliceIsARing(t *testing.T) {
	devices := newDevices(t, "v5e", "4x4", 1)
	mesh := must[*quoit.Mesh](t)(devices.Mesh([]int64{1, 16}, 0))
	if !reflect.DeepEqual(mesh.IDs, []int64{0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4}) ||
		mesh.Granules[0].Order != quoit.MeshOrderRing || mesh.Granules[0].Key != -1 {
		t.Errorf("%+v", mesh)
	}
	made := must[*quoit.Mesh](t)(devices.MakeMesh([]int64{4, 2}))
	if len(made.IDs) != 8 {
		t.Errorf("%v: expected eight", made.IDs)
	}
	torus := must[*quoit.Mesh](t)(quoit.NewTorusMesh("", []int64{4, 4}, []int64{2, 8}, quoit.MeshSplitPhysicalAxes))
	if !reflect.DeepEqual(torus.Shape, []int{2, 8}) || len(torus.Granules[0].Physical) != 2 {
		t.Errorf("%+v", torus)
	}
}

func TestMeshesThatJAXRefusesAreRefused(t *testing.T) {
	devices, one := newDevices(t, "v6e", "8x8", 2), newDevices(t, "v6e", "8x8", 1)
	for _, err := range []error{
		errorOf(one.Mesh([]int64{63}, 0)), errorOf(one.Mesh(nil, 0)), errorOf(one.Mesh([]int64{0, 64}, 0)),
		errorOf(one.Mesh([]int64{-1, -64}, 0)), errorOf(one.Mesh([]int64{2, 32}, 0)), errorOf(one.Mesh([]int64{64}, 1<<20)),
		errorOf(one.Mesh([]int64{64}, quoit.MeshProcessGranules)), errorOf(one.Mesh([]int64{1 << 62, 64}, 0)),
		errorOf(one.Mesh(make([]int64, 65), 0)), errorOf(one.Mesh([]int64{8, 8}, quoit.MeshContiguousSubmeshes)),
		errorOf(devices.HybridMesh([]int64{64}, []int64{3}, 0)), errorOf(devices.HybridMesh([]int64{64}, nil, 0)),
		errorOf(devices.MakeMesh([]int64{128})), errorOf(one.MakeMesh([]int64{128})),
		errorOf(quoit.NewTorusMesh("", []int64{0}, []int64{1}, 0)), errorOf(quoit.NewTorusMesh("v9", []int64{4}, []int64{4}, 0)),
		errorOf(quoit.NewTorusMesh("\x00", []int64{4}, []int64{4}, 0)), errorOf(quoit.NewTorusMesh("", nil, nil, 0)),
	} {
		wantCode(t, err, quoit.Invalid)
	}
	if err := errorOf(one.Mesh([]int64{2, 32}, quoit.MeshSplitPhysicalAxes)); err != nil {
		t.Errorf("%v: expected a mesh with split axes", err)
	}
}

func TestMeshErrorsNameTheNearestValidShape(t *testing.T) {
	cube, two := newDevices(t, "v5p", "4x4x4", 1), newDevices(t, "v6e", "4x4", 2)
	many := make([]int64, 60)
	for axis := range many {
		many[axis] = 2
	}
	for _, one := range []struct {
		err     error
		message string
	}{
		{errorOf(cube.Mesh([]int64{4, 5}, 0)), "'4,5' multiplies to 20: expected 64, the number of devices, such as '4,16'"},
		{errorOf(cube.Mesh(many, 0)), "expected 64, the number of devices, such as '1,1,1,"},
		{errorOf(cube.Mesh([]int64{0, 64}, 0)), "axis 0 of size '0': expected 1 or more"},
		{errorOf(cube.Mesh([]int64{64, -1 << 63}, 0)), "axis 1 of size '-9223372036854775808': expected 1 or more"},
		{errorOf(cube.Mesh([]int64{1<<63 - 1, 1<<63 - 1}, 0)), "multiplies to more than can be counted: expected 64"},
		{errorOf(cube.Mesh([]int64{8, 8}, 0)), "is not the size of a free physical axis or the product of several (free: x 4, y 4, z 4): expected '16,4', '4,16' or '64,1'"},
		{errorOf(cube.Mesh([]int64{8, 8}, quoit.MeshContiguousSubmeshes)), "expected '16,4'"},
		{errorOf(two.HybridMesh([]int64{1, 17}, []int64{2, 1}, 0)), "granule 0: mesh shape '1,17' multiplies to 17: expected 16, the number of devices, such as '1,16'"},
		{errorOf(two.HybridMesh([]int64{1, 16}, []int64{4, 1}, 0)), "multiplies to 4: expected 2, the number of granules, such as '2,1'"},
		{errorOf(quoit.NewSliceDevices(quoit.SliceDevices{Kind: "v6e", Topology: "99999x99999"})), "topology '99999x99999': expected a number of 1 to 4096 at byte 0"},
	} {
		wantCode(t, one.err, quoit.Invalid)
		if one.err != nil && !strings.Contains(one.err.Error(), one.message) {
			t.Errorf("'%v': expected '%s'", one.err, one.message)
		}
	}
}

// The error names the lost slice. After ReleaseSlice, the group has the devices of the remaining slice.
func TestDegradedGroupHasNoDevicesUntilItsLostSliceIsReleased(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	reserve(t, ledger, sliceRequest("train", 2))
	devices := func() (*quoit.Devices, error) {
		return must[*quoit.Group](t)(newSnapshot(t, ledger).Group("train")).Devices()
	}
	if err := ledger.SetNodeState(bg, "v6e-4x4-1-3", quoit.NodeDead, now); err != nil {
		t.Fatal(err)
	}
	err := errorOf(devices())
	wantCode(t, err, quoit.NotNow)
	if err != nil && !strings.Contains(err.Error(), "slice 'v6e-4x4-1' is lost") {
		t.Errorf("%v", err)
	}
	must[*quoit.GroupChange](t)(ledger.ReleaseSlice(bg, "train", "v6e-4x4-1", now))
	left := must[*quoit.Devices](t)(devices())
	wantCode(t, errorOf(left.HybridMesh([]int64{1, 16}, []int64{2, 1}, 0)), quoit.Invalid)
	must[*quoit.Mesh](t)(left.Mesh([]int64{16}, 0))
}

func TestLinksReportNetworkAndTimesOfEachAxis(t *testing.T) {
	devices := newDevices(t, "v5e", "16x16", 2)
	mesh := must[*quoit.Mesh](t)(devices.HybridMesh([]int64{1, 16, 16}, []int64{2, 1, 1}, 0))
	links := must[*quoit.MeshLinks](t)(devices.Links(mesh))
	defer links.Close()
	if data, model := links.Axes[0], links.Axes[2]; data.Network != quoit.MeshNetworkDCN || data.Form != quoit.MeshFormNone ||
		model.Network != quoit.MeshNetworkICI || model.Form != quoit.MeshFormRing || model.Hops != 1 || model.HopsBack != 1 ||
		!strings.HasSuffix(model.Physical, " 16") {
		t.Errorf("%+v", links.Axes)
	}
	slow, known, err := links.AllReduce(0, 1<<30)
	if !known || err != nil {
		t.Fatalf("%v, %v", slow, err)
	}
	fast, _, _ := links.AllReduce(2, 1<<30)
	if gathered, _, _ := links.AllGather(2, 1<<30); fast <= 0 || fast >= slow || gathered <= 0 || gathered >= fast {
		t.Errorf("all-gather %v, all-reduce %v, between slices %v", gathered, fast, slow)
	}
	cores := newDevices(t, "tpu7x", "2x2x1", 1)
	unknown := must[*quoit.MeshLinks](t)(cores.Links(must[*quoit.Mesh](t)(cores.Mesh([]int64{4, 2}, 0))))
	if time, known, err := unknown.AllReduce(1, 1); known || err != nil || unknown.Axes[1].Network != quoit.MeshNetworkChip {
		t.Errorf("%v, %t, %v on %v", time, known, err, unknown.Axes[1])
	}
	for _, err := range []error{
		errorOf(newDevices(t, "v5e", "4x4", 1).Links(mesh)), errorOfThree(links.AllReduce(3, 1)), errorOfThree(links.AllReduce(-1, 1)),
		errorOfThree(links.AllGather(0, -1)), errorOf(devices.Links(nil)), errorOf(devices.Links(&quoit.Mesh{})),
	} {
		wantCode(t, err, quoit.Invalid)
	}
}

// errorOfThree returns only the error of a call with three results.
func errorOfThree[First, Second any](_ First, _ Second, err error) error { return err }

func TestMeshChoicesCanBeMadeAndTheBestComesFirst(t *testing.T) {
	devices := newDevices(t, "v6e", "4x8", 2)
	sizes := []int64{2, 4, 8}
	choices := must[[]quoit.MeshChoice](t)(devices.MeshChoices(sizes, nil, 1<<20))
	for _, choice := range choices {
		ici, dcn := make([]int64, 3), make([]int64, 3)
		for place, axis := range choice.Axes {
			dcn[place] = int64(axis.DCNSize)
			ici[place] = sizes[axis.Given] / dcn[place]
		}
		mesh := must[*quoit.Mesh](t)(devices.HybridMesh(ici, dcn, choice.Flags))
		links := must[*quoit.MeshLinks](t)(devices.Links(mesh))
		for place, axis := range choice.Axes {
			if least, known, err := links.AllReduce(place, 1<<20); err != nil || least != axis.AllReduce || known != axis.Known {
				t.Errorf("%+v: %v, %v", axis, least, err)
			}
		}
		links.Close()
		mesh.Close()
	}
	for _, axis := range choices[0].Axes {
		if axis.Given == 2 && axis.DCNSize != 1 {
			t.Errorf("the axis with the most communication is between slices: %+v", choices[0])
		}
	}
	fixed := must[[]quoit.MeshChoice](t)(devices.MeshChoices(sizes, []int64{1, 1, 2}, 1<<20))
	if len(fixed) == 0 || len(fixed) >= len(choices) {
		t.Errorf("%d choices of %d", len(fixed), len(choices))
	}
	for _, err := range []error{
		errorOf(devices.MeshChoices([]int64{63}, nil, 0)), errorOf(devices.MeshChoices(sizes, []int64{2}, 0)),
		errorOf(devices.MeshChoices(sizes, []int64{3, 1, 1}, 0)), errorOf(devices.MeshChoices(sizes, nil, -1)),
		errorOf(devices.MeshChoices(nil, nil, 0)), errorOf(devices.MeshChoices([]int64{2, 2, 2, 2, 2, 2, 1, 2}, nil, 0)),
	} {
		wantCode(t, err, quoit.Invalid)
	}
}

func TestClosedCoordinatesClustersAndMeshesFail(t *testing.T) {
	torus := must[*quoit.Coordinates](t)(quoit.NewCoordinates("v6e", "4x4", 0, quoit.WiringStraight))
	cluster := must[*quoit.JAXCluster](t)(quoit.JAXClusterOf(quoit.JAXClusterGKETPU, quoit.JAXProcess{}))
	devices := must[*quoit.Devices](t)(quoit.NewSliceDevices(quoit.SliceDevices{Kind: "v6e", Topology: "4x4"}))
	mesh := must[*quoit.Mesh](t)(devices.Mesh([]int64{16}, 0))
	links := must[*quoit.MeshLinks](t)(devices.Links(mesh))
	for _, closer := range []interface{ Close() }{torus, cluster, devices, mesh, links} {
		closer.Close()
		closer.Close()
	}
	minMethods := map[any]int{
		torus: 9, cluster: 4, devices: 6, links: 2,
		(*quoit.Coordinates)(nil): 9, (*quoit.JAXCluster)(nil): 4, (*quoit.Devices)(nil): 6, (*quoit.MeshLinks)(nil): 2,
	}
	for value, count := range minMethods {
		failed := callEveryMethod(value)
		if len(failed) < count {
			t.Errorf("%T: %d methods can fail: expected %d or more", value, len(failed), count)
		}
		for name, err := range failed {
			if name != "Neighbour" && !errors.Is(err, quoit.ErrClosed) { // it checks its axis first
				t.Errorf("%T.%s: %v: expected ErrClosed", value, name, err)
			}
		}
	}
	_, err := torus.Neighbour(0, quoit.AxisX, quoit.DirectionUp)
	if !errors.Is(err, quoit.ErrClosed) {
		t.Errorf("%v: expected ErrClosed", err)
	}
	if torus.Chips != 16 || devices.Count != 16 || len(mesh.IDs) != 16 || len(links.Axes) != 1 {
		t.Error("Close has changed the values in Go's memory")
	}
}

func ExampleDevices_HybridMesh() {
	devices, err := quoit.NewSliceDevices(quoit.SliceDevices{Kind: "v6e", Topology: "4x4", Slices: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer devices.Close()
	mesh, err := devices.HybridMesh([]int64{1, 16}, []int64{2, 1}, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer mesh.Close()
	fmt.Println(mesh.Shape, mesh.IDs[:6], mesh.Granules[0].Order)
	_, err = devices.HybridMesh([]int64{1, 15}, []int64{2, 1}, 0)
	fmt.Println(errors.Is(err, quoit.Invalid))
	// Output:
	// [2 16] [0 1 2 3 7 6] RING
	// true
}
