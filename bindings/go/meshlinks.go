// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"
	"unsafe"

	"quoit/internal/cconv"
)

// MeshNetwork is the network between the devices along an axis.
type MeshNetwork int

// The networks.
const (
	MeshNetworkNone      MeshNetwork = C.QUOIT_MESH_NETWORK_NONE        // the axis has one device
	MeshNetworkChip      MeshNetwork = C.QUOIT_MESH_NETWORK_CHIP        // the devices along the axis are cores of one chip
	MeshNetworkICI       MeshNetwork = C.QUOIT_MESH_NETWORK_ICI         // the devices are in one slice
	MeshNetworkDCN       MeshNetwork = C.QUOIT_MESH_NETWORK_DCN         // each device is in a different slice
	MeshNetworkICIAndDCN MeshNetwork = C.QUOIT_MESH_NETWORK_ICI_AND_DCN // several slices, with several devices in each
)

var meshNetworkNames = map[MeshNetwork]string{
	MeshNetworkNone: "NONE", MeshNetworkChip: "CHIP", MeshNetworkICI: "ICI", MeshNetworkDCN: "DCN",
	MeshNetworkICIAndDCN: "ICI_AND_DCN",
}

// String returns the name of the network.
func (n MeshNetwork) String() string { return nameOf(meshNetworkNames, n) }

// MeshForm is the shape that the devices along an axis form in their slice.
type MeshForm int

// The forms.
const (
	MeshFormNone  MeshForm = C.QUOIT_MESH_FORM_NONE  // no two devices are in the same slice
	MeshFormLine  MeshForm = C.QUOIT_MESH_FORM_LINE  // each device is one hop from the next
	MeshFormRing  MeshForm = C.QUOIT_MESH_FORM_RING  // a line of three or more whose last device is one hop from the first
	MeshFormJumps MeshForm = C.QUOIT_MESH_FORM_JUMPS // some devices are more than one hop from the next
)

var meshFormNames = map[MeshForm]string{
	MeshFormNone: "NONE", MeshFormLine: "LINE", MeshFormRing: "RING", MeshFormJumps: "JUMPS",
}

// String returns the name of the form.
func (f MeshForm) String() string { return nameOf(meshFormNames, f) }

// MeshLinks is how the devices of a mesh are connected, axis by axis. It does not change, any number of goroutines can
// use it, and it outlives the mesh and the devices. Close frees it; the garbage collector does so if you do not. Its
// axes are still available after Close.
type MeshLinks struct {
	Axes []AxisLinks // in the order of the mesh's axes

	h *cconv.Handle
}

// AxisLinks is how the devices along one axis are connected. A line is the devices that differ only in their index on
// that axis. Each axis is reported by its worst line. A hop is a link between neighbouring chips; cores of one chip are
// 0 hops apart.
type AxisLinks struct {
	Network  MeshNetwork
	Form     MeshForm
	Hops     int    // the most hops from a device to the next one in its slice
	HopsBack int    // the most hops from the last device to the first one in its slice
	Physical string // the axes of the slice that a line uses, and how many places of each: "x 4, y 2 of 8"; "" for none
}

// Links finds the links between devices along the axes of a mesh that was made of these devices. For devices of whole
// slices, the catalogue has the axes that form rings. A list from NewDevices need not be whole slices, so Links treats
// all its axes as lines.
//
// It fails with Invalid if the mesh was made of another list, and after Close of either.
func (d *Devices) Links(mesh *Mesh) (links *MeshLinks, err error) {
	if mesh == nil {
		return nil, closedError("nil mesh")
	}
	pointer, err := mesh.h.Use()
	if err != nil {
		return nil, err
	}
	defer mesh.h.Done()
	err = d.with(func(devices *C.QuoitDevices) error {
		var gerror *C.GError
		c := C.quoit_mesh_links_new(devices, (*C.QuoitMesh)(pointer), &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		links = newMeshLinks(c, int(C.quoit_mesh_get_n_axes((*C.QuoitMesh)(pointer))))
		return nil
	})
	return links, err
}

func newMeshLinks(c *C.QuoitMeshLinks, axes int) *MeshLinks {
	links := &MeshLinks{
		Axes: make([]AxisLinks, axes),
		h: cconv.NewHandle("links", unsafe.Pointer(c),
			func(p unsafe.Pointer) { C.quoit_mesh_links_free((*C.QuoitMeshLinks)(p)) }),
	}
	for index := range links.Axes {
		axis := C.uint32_t(index)
		links.Axes[index] = AxisLinks{
			Network:  MeshNetwork(C.quoit_mesh_links_get_network(c, axis)),
			Form:     MeshForm(C.quoit_mesh_links_get_form(c, axis)),
			Hops:     int(C.quoit_mesh_links_get_hops(c, axis)),
			HopsBack: int(C.quoit_mesh_links_get_hops_back(c, axis)),
			Physical: moveString(C.quoit_mesh_links_dup_physical(c, axis)),
		}
	}
	return links
}

// Close frees the links. A second Close does nothing.
func (l *MeshLinks) Close() {
	if l != nil {
		l.h.Close()
	}
}

// AllGather returns a lower bound for the time of an all-gather along an axis, after which each device has the given
// number of bytes. All lines of the axis gather at the same time. The bound assumes the bandwidths of the catalogue and
// no latency, and that a device uses all its links to other devices of its line in both directions. A connection over h
// hops has 1/h of the bandwidth of its links. If the axis spans slices, each device first receives its share of the
// data of the other slices over DCN, and then the devices of a slice gather over ICI. known is false if no bandwidth is
// published, such as between the cores of a chip.
//
// It fails with Invalid for an axis out of range, bytes below 0, and after Close.
func (l *MeshLinks) AllGather(axis int, bytes int64) (least time.Duration, known bool, err error) {
	return l.leastTime(axis, bytes, func(c *C.QuoitMeshLinks, axis C.uint32_t) C.int64_t {
		return C.quoit_mesh_links_get_all_gather_ns(c, axis, C.int64_t(bytes))
	})
}

// AllReduce returns a lower bound for the time of an all-reduce along an axis, of the given number of bytes per device.
// It is twice the bound of AllGather: for a reduce-scatter, which takes as long as an all-gather, and for an
// all-gather.
//
// It fails like AllGather.
func (l *MeshLinks) AllReduce(axis int, bytes int64) (least time.Duration, known bool, err error) {
	return l.leastTime(axis, bytes, func(c *C.QuoitMeshLinks, axis C.uint32_t) C.int64_t {
		return C.quoit_mesh_links_get_all_reduce_ns(c, axis, C.int64_t(bytes))
	})
}

// leastTime checks the arguments and converts the nanoseconds that getNs returns for the axis. known is false if getNs
// returns -1.
func (l *MeshLinks) leastTime(
	axis int, bytes int64, getNs func(*C.QuoitMeshLinks, C.uint32_t) C.int64_t,
) (least time.Duration, known bool, err error) {
	if l == nil {
		return 0, false, closedError("nil links")
	}
	pointer, err := l.h.Use()
	if err != nil {
		return 0, false, err
	}
	defer l.h.Done()
	if err := checkIndex("axis", axis, C.uint32_t(len(l.Axes))); err != nil {
		return 0, false, err
	}
	if err := checkBytes(bytes); err != nil {
		return 0, false, err
	}
	least, known = durationFromC(getNs((*C.QuoitMeshLinks)(pointer), C.uint32_t(axis)))
	return least, known, nil
}

func checkBytes(bytes int64) error {
	if bytes < 0 {
		return cconv.InvalidError("bytes '%d': expected 0 or more", bytes)
	}
	return nil
}

// durationFromC converts nanoseconds and reports whether the time is known. C states an unknown time as -1.
func durationFromC(ns C.int64_t) (time.Duration, bool) {
	if ns < 0 {
		return 0, false
	}
	return time.Duration(ns), true
}
