// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/cconv"
)

// FragmentationPart is about the parts of one shape in the slices of a class.
type FragmentationPart struct {
	Topology  string
	WeightPPM uint32 // the weight of the shape in millionths, rounded down
	Least     uint64 // a number of parts that fit at once
	Most      uint64 // a number of parts such that more cannot fit; if it is equal to Least, the number is exact
}

// Fragmentation is how much of the free hosts of one class is no use for parts of slices.
type Fragmentation struct {
	FreeHosts uint64
	LeastPPM  uint32 // in millionths, rounded down; 0 if no host is free. If it is not known exactly, a lower bound
	MostPPM   uint32 // equal to LeastPPM if the fragmentation is known exactly; else an upper bound
	Parts     []FragmentationPart
}

// MeasureFragmentation measures the fragmentation of each class, in the order of the classes of the snapshot. It is 0 if
// parts of each shape can use all free hosts, and 1 if no part fits. Hosts of partly used slices count too. steps limits
// the work for each shape and each different set of free hosts of a slice; 0 is the default.
//
// It fails only after Close, with Invalid.
func (s *Snapshot) MeasureFragmentation(steps uint64) ([]Fragmentation, error) {
	var measured *C.QuoitFragmentation
	err := s.with(func(c *C.QuoitSnapshot) error {
		measured = C.quoit_snapshot_measure_fragmentation(c, C.uint64_t(steps))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return takeFragmentation(measured), nil
}

// MeasureJoinedFragmentation measures how much of the free cubes in blocks is no use for joined slices, for each class in
// the order of the classes of the snapshot. Classes of other slices have no parts. See
// quoit_snapshot_measure_joined_fragmentation() in quoit/fragmentation.h.
//
// It fails with Invalid if cubes is CubesNone or not one of the constants, and after Close.
func (s *Snapshot) MeasureJoinedFragmentation(cubes Cubes) ([]Fragmentation, error) {
	var measured *C.QuoitFragmentation
	err := s.with(func(c *C.QuoitSnapshot) error {
		if cubes <= CubesNone || cubes > CubesAdjacent {
			return cconv.InvalidError("cubes '%d': expected CubesAny, CubesAnyTwisted or CubesAdjacent", int(cubes))
		}
		measured = C.quoit_snapshot_measure_joined_fragmentation(c, C.QuoitCubes(cubes))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return takeFragmentation(measured), nil
}

// takeFragmentation reads the classes and frees them.
func takeFragmentation(measured *C.QuoitFragmentation) []Fragmentation {
	defer C.quoit_fragmentation_free(measured)
	classes := make([]Fragmentation, int(C.quoit_fragmentation_get_n_classes(measured)))
	for i := range classes {
		class := C.uint32_t(i)
		classes[i] = Fragmentation{
			FreeHosts: uint64(C.quoit_fragmentation_get_n_hosts(measured, class)),
			LeastPPM:  uint32(C.quoit_fragmentation_get_least(measured, class)),
			MostPPM:   uint32(C.quoit_fragmentation_get_most(measured, class)),
		}
		for part := C.uint32_t(0); part < C.quoit_fragmentation_get_n_parts(measured, class); part++ {
			classes[i].Parts = append(classes[i].Parts, FragmentationPart{
				Topology:  cconv.MoveString(unsafe.Pointer(C.quoit_fragmentation_dup_part_topology(measured, class, part))),
				WeightPPM: uint32(C.quoit_fragmentation_get_part_weight(measured, class, part)),
				Least:     uint64(C.quoit_fragmentation_get_part_least(measured, class, part)),
				Most:      uint64(C.quoit_fragmentation_get_part_most(measured, class, part)),
			})
		}
	}
	return classes
}
