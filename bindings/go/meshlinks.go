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

// MeshNetwork is what the devices along an axis talk over.
type MeshNetwork int

// What devices may talk over.
const (
	MeshNetworkNone      MeshNetwork = C.QUOIT_MESH_NETWORK_NONE        // the axis has one device
	MeshNetworkChip      MeshNetwork = C.QUOIT_MESH_NETWORK_CHIP        // the devices of a line are cores of one chip
	MeshNetworkICI       MeshNetwork = C.QUOIT_MESH_NETWORK_ICI         // they are of one slice
	MeshNetworkDCN       MeshNetwork = C.QUOIT_MESH_NETWORK_DCN         // each is of another slice
	MeshNetworkICIAndDCN MeshNetwork = C.QUOIT_MESH_NETWORK_ICI_AND_DCN // they are of several slices, several of each
)

var meshNetworkNames = map[MeshNetwork]string{
	MeshNetworkNone: "NONE", MeshNetworkChip: "CHIP", MeshNetworkICI: "ICI", MeshNetworkDCN: "DCN",
	MeshNetworkICIAndDCN: "ICI_AND_DCN",
}

// String is the name of the network.
func (n MeshNetwork) String() string { return named(meshNetworkNames, n) }

// MeshForm is how the devices along an axis stand to each other in their slice.
type MeshForm int

// How devices may stand to each other.
const (
	MeshFormNone  MeshForm = C.QUOIT_MESH_FORM_NONE  // no two of them are in one slice
	MeshFormLine  MeshForm = C.QUOIT_MESH_FORM_LINE  // each is one hop from the next
	MeshFormRing  MeshForm = C.QUOIT_MESH_FORM_RING  // and the last of three or more is one hop from the first
	MeshFormJumps MeshForm = C.QUOIT_MESH_FORM_JUMPS // some are further from the next
)

var meshFormNames = map[MeshForm]string{
	MeshFormNone: "NONE", MeshFormLine: "LINE", MeshFormRing: "RING", MeshFormJumps: "JUMPS",
}

// String is the name of the form.
func (f MeshForm) String() string { return named(meshFormNames, f) }

// MeshLinks is what the axes of a mesh talk over. It does not change, any number of goroutines may ask it, and it outlives
// the mesh and the devices. Close frees it; the garbage collector does where that is forgotten. Its axes are there also
// then.
type MeshLinks struct {
	Axes []AxisLinks

	h *door.Handle
}

// AxisLinks is what the devices along one axis talk over. A line of the mesh is the devices along one axis, all other
// places being the same; of an axis the worst of its lines is told. A hop is a link between neighbouring chips; cores of one
// chip are none apart.
type AxisLinks struct {
	Network  MeshNetwork
	Form     MeshForm
	Hops     int    // the most from a device to the next along the axis that is in its slice
	HopsBack int    // the most from the last device along the axis to the first that is in its slice
	Physical string // the axes of the slice that they stand along, and the places they take of each: "x 4, y 2 of 8"; "" for none
}

// Links follows the lines of a mesh that was made of these devices over the links between them. Links along an axis of the
// slice close to a ring where the catalogue says so of the slice's shape: that is known of devices of whole slices, and
// taken for not so of lists that were made one by one.
//
// It fails with Invalid when the mesh was made of another list, and after Close of either.
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

// Close frees what the links keep; calls that come later fail. To close twice does nothing.
func (l *MeshLinks) Close() {
	if l != nil {
		l.h.Close()
	}
}

// AllGather is the least time of an all-gather along an axis after which each device has so many bytes, when all lines of
// the axis do one at once: what the links can carry by the catalogue's bandwidths, all links of a device to others of its
// line busy in both directions, without latency. A jump over h hops has a share of 1/h of its links. Across slices shards
// are gathered first, each by its own chip. Not known where no bandwidth is published, such as between cores of a chip.
//
// It fails with Invalid for a number that no axis has, bytes below 0, and after Close.
func (l *MeshLinks) AllGather(axis int, bytes int64) (least time.Duration, known bool, err error) {
	return l.least(axis, bytes, func(c *C.QuoitMeshLinks, number C.unsigned) C.int64_t {
		return C.quoit_mesh_links_get_all_gather_ns(c, number, C.int64_t(bytes))
	})
}

// AllReduce is the least time of an all-reduce along an axis of so many bytes a device: of a reduce-scatter, which takes as
// long as an all-gather, and that.
//
// It fails as AllGather does.
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

// knownTime is a time in nanoseconds, of which -1 stands for none.
func knownTime(ns C.int64_t) (time.Duration, bool) {
	if ns < 0 {
		return 0, false
	}
	return time.Duration(ns), true
}
