// SPDX-License-Identifier: Apache-2.0

package maxtext_test

import (
	"errors"
	"fmt"
	"log"
	"reflect"
	"sort"
	"strings"
	"testing"

	"quoit"
	"quoit/maxtext"
)

func newDevices(t *testing.T, topology string, slices int) *quoit.Devices {
	t.Helper()
	devices, err := quoit.NewSliceDevices(quoit.SliceDevices{Kind: "v6e", Topology: topology, Slices: slices})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(devices.Close)
	return devices
}

func newMesh(t *testing.T, devices *quoit.Devices, asked maxtext.Mesh) *quoit.Mesh {
	t.Helper()
	mesh, err := maxtext.NewMesh(devices, asked)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mesh.Close)
	return mesh
}

func TestMeshWithoutCustomRingEqualsThatOfJAX(t *testing.T) {
	devices := newDevices(t, "4x4", 2)
	mesh := newMesh(t, devices, maxtext.Mesh{ICI: []int64{1, -1}, DCN: []int64{-1, 1}, Slices: 2})
	expected, err := devices.HybridMesh([]int64{1, 16}, []int64{2, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer expected.Close()
	if !reflect.DeepEqual(mesh.Shape, expected.Shape) || !reflect.DeepEqual(mesh.IDs, expected.IDs) {
		t.Errorf("%v %v: expected %v %v", mesh.Shape, mesh.IDs, expected.Shape, expected.IDs)
	}
	links, err := devices.Links(mesh)
	if err != nil {
		t.Fatal(err)
	}
	defer links.Close()
	if links.Axes[0].Network != quoit.MeshNetworkDCN || links.Axes[1].Network != quoit.MeshNetworkICI {
		t.Errorf("%+v", links.Axes)
	}
}

func TestCustomRingIsUsedInEachSlice(t *testing.T) {
	mesh := newMesh(t, newDevices(t, "16x16", 2), maxtext.Mesh{
		ICI: []int64{1, 4, 64}, DCN: []int64{2, 1, 1}, Slices: 2, Custom: "hybrid_ring_64x4",
	})
	if !reflect.DeepEqual(mesh.Shape, []int{2, 4, 64}) || !reflect.DeepEqual(mesh.IDs[:4], []int64{0, 1, 17, 16}) {
		t.Errorf("%v %v", mesh.Shape, mesh.IDs[:4])
	}
	for place, id := range mesh.IDs[:256] {
		if mesh.IDs[256+place] != id+256 {
			t.Errorf("place %d has device %d in the first slice and %d in the second", place, id, mesh.IDs[256+place])
		}
	}
	ids := append([]int64{}, mesh.IDs...)
	sort.Slice(ids, func(one, other int) bool { return ids[one] < ids[other] })
	for index, id := range ids {
		if id != int64(index) {
			t.Fatalf("device %d is missing", index)
		}
	}
}

func TestPhysicalAxesAreSplitOnlyIfAllowed(t *testing.T) {
	devices, asked := newDevices(t, "4x4", 1), maxtext.Mesh{ICI: []int64{2, -1}, DCN: []int64{1, 1}}
	_, err := maxtext.NewMesh(devices, asked)
	wantInvalid(t, err)
	asked.SplitPhysicalAxes = true
	if mesh := newMesh(t, devices, asked); !reflect.DeepEqual(mesh.Shape, []int{2, 8}) {
		t.Errorf("%v", mesh.Shape)
	}
}

func TestBoxHasDevicesFromTheSmallestCoordinates(t *testing.T) {
	devices := newDevices(t, "8x8", 1)
	box, err := maxtext.DevicesInBox(devices, []int64{2, 2})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	list, err := box.List()
	if err != nil || len(list) != 4 || list[1].ID != 1 || list[2].ID != 8 || box.Kind != devices.Kind {
		t.Errorf("%+v, %v", list, err)
	}
	all, err := maxtext.DevicesInBox(devices, nil)
	if err != nil || all.Count != 64 {
		t.Errorf("%+v, %v", all, err)
	}
	all.Close()
	for _, sides := range [][]int64{{0}, {-1, 2}, {1, 1, 1, 1}} {
		_, err := maxtext.DevicesInBox(devices, sides)
		wantInvalid(t, err)
	}
	box.Close()
	_, err = maxtext.DevicesInBox(box, nil)
	if wantInvalid(t, err); !errors.Is(err, quoit.ErrClosed) {
		t.Errorf("%v: expected ErrClosed", err)
	}
	_, err = maxtext.NewMesh(nil, maxtext.Mesh{ICI: []int64{1}, DCN: []int64{1}})
	wantInvalid(t, err)
}

func TestMeshesThatMaxTextRefusesAreRefused(t *testing.T) {
	devices := newDevices(t, "4x4", 1)
	for _, one := range []struct {
		asked   maxtext.Mesh
		message string
	}{
		{maxtext.Mesh{ICI: []int64{3, -1}, DCN: []int64{1, 1}}, "ICI sizes '3,-1'"},
		{maxtext.Mesh{ICI: []int64{16}, DCN: []int64{1, 1}}, "DCN of '2' sizes: expected 1"},
		{maxtext.Mesh{ICI: []int64{16}, DCN: []int64{1}, Slices: -1}, "slices '-1'"},
		{maxtext.Mesh{ICI: []int64{-1}, DCN: []int64{2}, Slices: 2}, "'2'"},
		{maxtext.Mesh{ICI: []int64{16}, DCN: []int64{1}, Custom: "x", SplitPhysicalAxes: true}, "custom_mesh 'x'"},
		{maxtext.Mesh{ICI: []int64{16}, DCN: []int64{1}, Custom: "\x00"}, "Custom "},
		{maxtext.Mesh{}, ""},
	} {
		_, err := maxtext.NewMesh(devices, one.asked)
		if wantInvalid(t, err); err != nil && !strings.Contains(err.Error(), one.message) {
			t.Errorf("'%v': expected '%s'", err, one.message)
		}
	}
	if err := maxtext.CheckCustomMesh("hybrid_ring_64x4", []int64{1, 64, 4}); err != nil {
		t.Error(err)
	}
	wantInvalid(t, maxtext.CheckCustomMesh("hybrid_ring_64x4", nil))
	for _, name := range []string{"hybrid_ring_64x4", "hybrid_ring_32x8", "", "\x00"} {
		wantInvalid(t, maxtext.CheckCustomMesh(name, []int64{64, 4}))
	}
}

// optimize_mesh_for_tpu_v6e undoes JAX's ring.
func ExampleNewMesh() {
	devices, err := quoit.NewSliceDevices(quoit.SliceDevices{Kind: "v6e", Topology: "2x4"})
	if err != nil {
		log.Fatal(err)
	}
	defer devices.Close()
	for _, optimize := range []bool{false, true} {
		mesh, err := maxtext.NewMesh(devices, maxtext.Mesh{ICI: []int64{-1}, DCN: []int64{1}, OptimizeForV6e: optimize})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(mesh.Shape, mesh.IDs)
		mesh.Close()
	}
	// Output:
	// [8] [0 1 2 3 7 6 5 4]
	// [8] [0 1 2 3 4 5 6 7]
}
