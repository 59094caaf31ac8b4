// SPDX-License-Identifier: Apache-2.0

package maxtext

/*
#cgo pkg-config: quoit
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/door"
)

// Links is what the devices of an axis are joined by.
type Links int

// What devices may be joined by.
const (
	ICI Links = C.QUOIT_MAXTEXT_ICI // within a slice: ici_*_parallelism
	DCN Links = C.QUOIT_MAXTEXT_DCN // between slices: dcn_*_parallelism
)

// Fill is the sizes with the one that is -1 filled in, as MaxText does it: sizes are multiplied modulo 2^64 and divided in
// floating-point numbers. Sizes of 0 and below pass where MaxText lets them pass: -2 twice for 4. The target is what they
// are to multiply to: the devices of a slice, or the slices. Whose sizes they are matters for the message alone.
//
// It fails with Invalid when more than one size is -1, when what it stands for is no whole number from 1, when the sizes do
// not multiply to the target, and for links that are neither ICI nor DCN.
func Fill(links Links, sizes []int64, target int64) ([]int64, error) {
	filled := append([]int64{}, sizes...)
	var gerror *C.GError
	C.quoit_maxtext_fill(C.QuoitMaxtextLinks(links), (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(filled))),
		C.unsigned(len(filled)), C.int64_t(target), &gerror)
	if err := door.Take(unsafe.Pointer(gerror)); err != nil {
		return nil, err
	}
	return filled, nil
}

// Accelerator is a value of MaxText's compile_topology.
type Accelerator struct {
	Name       string  // "v5p-8"
	Platform   string  // "tpu", or "gpu" for the one that is none
	Topology   string  // as libtpu calls it, "v5:2x2x1"; "" where it is no TPU
	ChipConfig string  // "megacore" where two cores are one device, else "default"; "" where it is no TPU
	HostBounds [3]int  // the chips of a host along x, y and z, 0 where it is no TPU; MaxText knows no hosts of 8 chips
	Wraps      [3]bool // whether x, y and z close to rings
	Devices    int     // the JAX devices of a slice
}

// Accelerators are all that MaxText lists, those of a generation by size.
func Accelerators() []Accelerator {
	var accelerators []Accelerator
	for {
		c := C.quoit_maxtext_get_accelerator(C.unsigned(len(accelerators)))
		if c == nil {
			return accelerators
		}
		accelerators = append(accelerators, acceleratorOf(c))
	}
}

// LookupAccelerator is the accelerator of that name, in MaxText's own spelling: "v6e-16".
//
// It fails with Invalid when MaxText lists none; the message names the one that comes nearest.
func LookupAccelerator(name string) (Accelerator, error) {
	var arguments door.Arguments
	var gerror *C.GError
	text := (*C.char)(arguments.Text("name", name))
	if err := arguments.Err(); err != nil {
		return Accelerator{}, err
	}
	c := C.quoit_maxtext_lookup_accelerator(text, &gerror)
	if err := door.Take(unsafe.Pointer(gerror)); err != nil {
		return Accelerator{}, err
	}
	return acceleratorOf(c), nil
}

func acceleratorOf(c *C.QuoitMaxtextAccelerator) Accelerator {
	made := Accelerator{
		Name:       C.GoString(C.quoit_maxtext_accelerator_get_name(c)),
		Platform:   C.GoString(C.quoit_maxtext_accelerator_get_platform(c)),
		Topology:   C.GoString(C.quoit_maxtext_accelerator_get_topology(c)),
		ChipConfig: C.GoString(C.quoit_maxtext_accelerator_get_chip_config(c)),
		Devices:    int(C.quoit_maxtext_accelerator_get_n_devices(c)),
	}
	for axis := range made.HostBounds {
		made.HostBounds[axis] = int(C.quoit_maxtext_accelerator_get_host_bound(c, C.unsigned(axis)))
		made.Wraps[axis] = C.quoit_maxtext_accelerator_wraps(c, C.unsigned(axis)) == 1
	}
	return made
}
