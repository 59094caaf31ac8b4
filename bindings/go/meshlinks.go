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

	"quoit/internal/door"
)

// MeshNetwork is the network over which the devices along an axis communicate.
type MeshNetwork int

// The networks.
const (
	MeshNetworkNone      MeshNetwork = C.QUOIT_MESH_NETWORK_NONE        // the axis has one device
	MeshNetworkChip      MeshNetwork = C.QUOIT_MESH_NETWORK_CHIP        // the devices of a line are cores of one chip
	MeshNetworkICI       MeshNetwork = C.QUOIT_MESH_NETWORK_ICI         // they are in one slice
	MeshNetworkDCN       MeshNetwork = C.QUOIT_MESH_NETWORK_DCN         // each is in a different slice
	MeshNetworkICIAndDCN MeshNetwork = C.QUOIT_MESH_NETWORK_ICI_AND_DCN // they are in several slices, several in each
)

var meshNetworkNames = map[MeshNetwork]string{
	MeshNetworkNone: "NONE", MeshNetworkChip: "CHIP", MeshNetworkICI: "ICI", MeshNetworkDCN: "DCN",
	MeshNetworkICIAndDCN: "ICI_AND_DCN",
}

// String returns the name of the network.
func (n MeshNetwork) String() string { return named(meshNetworkNames, n) }

// MeshForm is how the devices along an axis are connected in their slice.
type MeshForm int

// The forms.
const (
	MeshFormNone  MeshForm = C.QUOIT_MESH_FORM_NONE  // no two of them are in one slice
	MeshFormLine  MeshForm = C.QUOIT_MESH_FORM_LINE  // each is one hop from the next
	MeshFormRing  MeshForm = C.QUOIT_MESH_FORM_RING  // a line of three or more whose last device is one hop from the first
	MeshFormJumps MeshForm = C.QUOIT_MESH_FORM_JUMPS // some are more than one hop from the next
)

var meshFormNames = map[MeshForm]string{
	MeshFormNone: "NONE", MeshFormLine: "LINE", MeshFormRing: "RING", MeshFormJumps: "JUMPS",
}

// String returns the name of the form.
func (f MeshForm) String() string { return named(meshFormNames, f) }

// MeshLinks is the networks of a mesh's axes. It does not change, any number of goroutines can use it, and it outlives
// the mesh and the devices. Close frees it; the garbage collector does so if you do not. Its axes are still available
// after Close.
type MeshLinks struct {
	Axes []AxisLinks

	h *door.Handle
}

// AxisLinks is how the devices along one axis communicate. A line is the devices along one axis at one place of all
// other axes. Each axis is reported by its worst line. A hop is a link between neighbouring chips; cores of one chip
// are 0 hops apart.
type AxisLinks struct {
	Network  MeshNetwork
	Form     MeshForm
	Hops     int    // the most hops from a device to the next one in its slice
	HopsBack int    // the most hops from the last device to the first one in its slice
	Physical string // the slice's axes along the line, and the places on each: "x 4, y 2 of 8"; "" for none
}

// Links finds the links between devices along the axes of a mesh that was made of these devices. For devices of whole
// slices the catalogue says which axes form rings. For lists that were created device by device, no axis counts as a
// ring.
//
// It fails with Invalid if the mesh was made of another list, and after Close of either.
func (d *Devices) Links(mesh *Mesh) (links *MeshLinks, err error) {
	if mesh == nil {
		return nil, closed("nil mesh")
	}
	pointer, err := mesh.h.Use()
	if err != nil {
		return nil, err
	}
	defer mesh.h.Done()
	err = d.with(func(devices *C.QuoitDevices) error {
		var gerror *C.GError
		c := C.quoit_mesh_links_new(devices, (*C.QuoitMesh)(pointer), &gerror)
		if err := take(gerror); err != nil {
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
		h: door.NewHandle("links", unsafe.Pointer(c),
			func(p unsafe.Pointer) { C.quoit_mesh_links_free((*C.QuoitMeshLinks)(p)) }),
	}
	for index := range links.Axes {
		axis := C.unsigned(index)
		links.Axes[index] = AxisLinks{
			Network:  MeshNetwork(C.quoit_mesh_links_get_network(c, axis)),
			Form:     MeshForm(C.quoit_mesh_links_get_form(c, axis)),
			Hops:     int(C.quoit_mesh_links_get_hops(c, axis)),
			HopsBack: int(C.quoit_mesh_links_get_hops_back(c, axis)),
			Physical: taken(C.quoit_mesh_links_dup_physical(c, axis)),
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
// number of bytes, while all lines of the axis do one at the same time. It assumes the bandwidths of the catalogue,
// that all links of a device to others of its line are busy in both directions, and no latency. A jump over h hops gets
// 1/h of its links. Across slices, each chip first gathers its own shard. The time is not known if no bandwidth is
// published, such as between cores of a chip.
//
// It fails with Invalid for an axis out of range, bytes below 0, and after Close.
func (l *MeshLinks) AllGather(axis int, bytes int64) (least time.Duration, known bool, err error) {
	return l.least(axis, bytes, func(c *C.QuoitMeshLinks, number C.unsigned) C.int64_t {
		return C.quoit_mesh_links_get_all_gather_ns(c, number, C.int64_t(bytes))
	})
}

// AllReduce returns a lower bound for the time of an all-reduce along an axis of the given number of bytes per device.
// It is the time of a reduce-scatter, which equals that of an all-gather, plus an all-gather.
//
// It fails like AllGather.
func (l *MeshLinks) AllReduce(axis int, bytes int64) (least time.Duration, known bool, err error) {
	return l.least(axis, bytes, func(c *C.QuoitMeshLinks, number C.unsigned) C.int64_t {
		return C.quoit_mesh_links_get_all_reduce_ns(c, number, C.int64_t(bytes))
	})
}

func (l *MeshLinks) least(axis int, bytes int64, ask func(*C.QuoitMeshLinks, C.unsigned) C.int64_t) (time.Duration, bool,
	error) {
	if l == nil {
		return 0, false, closed("nil links")
	}
	pointer, err := l.h.Use()
	if err != nil {
		return 0, false, err
	}
	defer l.h.Done()
	if err := checkNumber("axis", axis, C.uint32_t(len(l.Axes))); err != nil {
		return 0, false, err
	}
	if err := checkBytes(bytes); err != nil {
		return 0, false, err
	}
	least, known := knownTime(ask((*C.QuoitMeshLinks)(pointer), C.unsigned(axis)))
	return least, known, nil
}

func checkBytes(bytes int64) error {
	if bytes < 0 {
		return door.Invalid("bytes '%d': expected 0 or more", bytes)
	}
	return nil
}

// knownTime converts nanoseconds; -1 means that the time is not known.
func knownTime(ns C.int64_t) (time.Duration, bool) {
	if ns < 0 {
		return 0, false
	}
	return time.Duration(ns), true
}
