// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"
	"unsafe"

	"quoit/internal/cconv"
)

// Cut is how parts may be cut from slices. A part is a box of whole hosts.
type Cut int

// The ways to cut.
const (
	CutWhole        Cut = C.QUOIT_CUT_WHOLE          // only whole slices
	CutAligned      Cut = C.QUOIT_CUT_ALIGNED        // at multiples of the part's sides along each axis, and not turned
	CutAny          Cut = C.QUOIT_CUT_ANY            // from any host on, and turned if the hosts allow it
	CutAnyOrWrapped Cut = C.QUOIT_CUT_ANY_OR_WRAPPED // also across wraparound links
	CutPartition    Cut = C.QUOIT_CUT_PARTITION      // GKE's partitions of a cube
)

// Cubes is which cubes may be joined into one slice: cubes of one block that are intact and wholly free.
type Cubes int

// The cubes that may be joined.
const (
	CubesNone       Cubes = C.QUOIT_CUBES_NONE        // slices are not joined
	CubesAny        Cubes = C.QUOIT_CUBES_ANY         // any cubes of the block, as optical circuit switches can join them
	CubesAnyTwisted Cubes = C.QUOIT_CUBES_ANY_TWISTED // also, the slice is wired as a twisted torus
	CubesAdjacent   Cubes = C.QUOIT_CUBES_ADJACENT    // at adjacent positions, for static cabling; turned where that is a topology
)

// PlacePolicy is which places parts get, or which blocks cubes are from. A policy never changes whether a request fits.
type PlacePolicy int

// The policies for places.
const (
	PlaceBest   PlacePolicy = C.QUOIT_PLACE_BEST   // what costs later requests least, now and until the group ends
	PlaceFirst  PlacePolicy = C.QUOIT_PLACE_FIRST  // the first slice in natural order with a place, and its lowest worker
	PlacePack   PlacePolicy = C.QUOIT_PLACE_PACK   // the slice with the fewest free hosts that has a place
	PlaceSpread PlacePolicy = C.QUOIT_PLACE_SPREAD // the slice with the most free hosts
)

// SlotsIf is what is assumed when slots are counted.
type SlotsIf int

// The assumptions.
const (
	SlotsNow         SlotsIf = C.QUOIT_SLOTS_NOW          // hosts that are alive, not draining and wholly unused now
	SlotsUndrained   SlotsIf = C.QUOIT_SLOTS_UNDRAINED    // as if draining hosts were not draining
	SlotsGroupsEnded SlotsIf = C.QUOIT_SLOTS_GROUPS_ENDED // at a later time, without groups that have ended by then
	SlotsMended      SlotsIf = C.QUOIT_SLOTS_MENDED       // as if known dead hosts, and draining ones, were alive
)

// Slots is how many parts of one shape fit at once under one assumption. If Least and Most are equal, the count is exact.
type Slots struct {
	Topology    string
	Assumption  SlotsIf
	Least       uint32 // a number of parts that fit
	Most        uint32 // a number of parts such that more cannot fit
	Certificate string // the proof of Most: see quoit_slots_dup_certificate() in quoit/slots.h
}

// CountSlots counts how many parts of a shape the slices can hold at once, now and under assumptions. An empty topology
// means each shape that the catalogue lists and the fleet has a slice for. until is the later time of SlotsGroupsEnded.
// steps limits the work for each different set of free hosts of a slice; 0 is the default.
//
// It fails with Invalid if the generation is unknown, if it cannot have the topology, or if cut is not one of the constants,
// and with NotFound if no slice of the fleet is large enough.
func (s *Snapshot) CountSlots(accelerator, topology string, cut Cut, until time.Time, steps uint64) ([]Slots, error) {
	var arguments cconv.Arguments
	cAccelerator := (*C.char)(arguments.Text("accelerator", accelerator))
	cTopology := (*C.char)(arguments.TextUnlessEmpty("topology", topology))
	err := arguments.Err()
	if err == nil && (cut < CutWhole || cut > CutPartition) {
		err = cconv.InvalidError("cut '%d': expected a constant of type Cut", int(cut))
	}
	if err != nil {
		return nil, err
	}
	var counted *C.QuoitSlots
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		counted = C.quoit_snapshot_count_slots(c, cAccelerator, cTopology, C.QuoitCut(cut), C.int64_t(unixMs(until)),
			C.uint64_t(steps), &gerror)
		return errorFromC(gerror)
	})
	if err != nil {
		return nil, err
	}
	return takeSlots(counted), nil
}

// CountJoinedSlots counts how many slices of a topology can be joined from the free cubes of the blocks, now and under
// assumptions. An empty topology means each one that the catalogue lists and a block is large enough for. until is the
// later time of SlotsGroupsEnded.
//
// It fails with Invalid if the generation is unknown, has no cubes or cannot have the topology, or if cubes is CubesNone
// or not one of the constants, and with NotFound if no block of the fleet is large enough.
func (s *Snapshot) CountJoinedSlots(accelerator, topology string, cubes Cubes, until time.Time) ([]Slots, error) {
	var arguments cconv.Arguments
	cAccelerator := (*C.char)(arguments.Text("accelerator", accelerator))
	cTopology := (*C.char)(arguments.TextUnlessEmpty("topology", topology))
	err := arguments.Err()
	if err == nil && (cubes < CubesNone || cubes > CubesAdjacent) {
		err = cconv.InvalidError("cubes '%d': expected a constant of type Cubes", int(cubes))
	}
	if err != nil {
		return nil, err
	}
	var counted *C.QuoitSlots
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		counted = C.quoit_snapshot_count_joined_slots(c, cAccelerator, cTopology, C.QuoitCubes(cubes),
			C.int64_t(unixMs(until)), &gerror)
		return errorFromC(gerror)
	})
	if err != nil {
		return nil, err
	}
	return takeSlots(counted), nil
}

// takeSlots reads the counts and frees them.
func takeSlots(counted *C.QuoitSlots) []Slots {
	defer C.quoit_slots_free(counted)
	var slots []Slots
	for row := C.uint32_t(0); row < C.quoit_slots_get_n_rows(counted); row++ {
		for assumption := SlotsNow; assumption <= SlotsMended; assumption++ {
			slots = append(slots, Slots{
				Topology:   cconv.MoveString(unsafe.Pointer(C.quoit_slots_dup_topology(counted, row))),
				Assumption: assumption,
				Least:      uint32(C.quoit_slots_get_least(counted, row, C.QuoitSlotsIf(assumption))),
				Most:       uint32(C.quoit_slots_get_most(counted, row, C.QuoitSlotsIf(assumption))),
				Certificate: cconv.MoveString(unsafe.Pointer(
					C.quoit_slots_dup_certificate(counted, row, C.QuoitSlotsIf(assumption)))),
			})
		}
	}
	return slots
}
