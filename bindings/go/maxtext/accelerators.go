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

	"quoit/internal/cconv"
)

// Links is the kind of links between the devices of an axis.
type Links int

// The kinds of links.
const (
	ICI Links = C.QUOIT_MAXTEXT_ICI // within a slice: ici_*_parallelism
	DCN Links = C.QUOIT_MAXTEXT_DCN // between slices: dcn_*_parallelism
)

// Fill returns a copy of the sizes. A size of -1 is replaced so that the product of all sizes is target: the number of
// devices of a slice for ICI, the number of slices for DCN. links changes only the words of error messages.
//
// Like MaxText, Fill multiplies modulo 2^64, divides in floating point, and accepts sizes of 0 and below if the product
// is right, such as -2 and -2 for 4.
//
// It fails with Invalid if more than one size is -1, if the replaced size is not a whole number from 1, if the product
// of the sizes is not the target, and for links that are neither ICI nor DCN.
func Fill(links Links, sizes []int64, target int64) ([]int64, error) {
	filled := append([]int64{}, sizes...)
	var gerror *C.GError
	C.quoit_maxtext_fill(C.QuoitMaxtextLinks(links), (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(filled))),
		C.uint32_t(len(filled)), C.int64_t(target), &gerror)
	if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
		return nil, err
	}
	return filled, nil
}

// Accelerator is a value of MaxText's compile_topology.
type Accelerator struct {
	Name       string  // "v5p-8"
	Platform   string  // "tpu", or "gpu" for the only accelerator that is not a TPU
	Topology   string  // libtpu's name, "v5:2x2x1"; "" if it is not a TPU
	ChipConfig string  // "megacore" if two cores are one device, else "default"; "" if it is not a TPU
	HostBounds [3]int  // chips of a host along x, y and z; 0 if it is not a TPU
	Wraps      [3]bool // whether x, y and z form rings
	Devices    int     // JAX devices of a slice
}

// Accelerators returns all accelerators that MaxText lists. Those of one generation are ordered by size.
func Accelerators() []Accelerator {
	var accelerators []Accelerator
	for {
		c := C.quoit_maxtext_get_accelerator(C.uint32_t(len(accelerators)))
		if c == nil {
			return accelerators
		}
		accelerators = append(accelerators, acceleratorFromC(c))
	}
}

// LookupAccelerator returns the accelerator with a name in MaxText's spelling, "v6e-16".
//
// It fails with Invalid if MaxText does not list it; the message has the nearest one.
func LookupAccelerator(name string) (Accelerator, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	text := (*C.char)(arguments.Text("name", name))
	if err := arguments.Err(); err != nil {
		return Accelerator{}, err
	}
	c := C.quoit_maxtext_lookup_accelerator(text, &gerror)
	if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
		return Accelerator{}, err
	}
	return acceleratorFromC(c), nil
}

func acceleratorFromC(c *C.QuoitMaxtextAccelerator) Accelerator {
	accelerator := Accelerator{
		Name:       C.GoString(C.quoit_maxtext_accelerator_get_name(c)),
		Platform:   C.GoString(C.quoit_maxtext_accelerator_get_platform(c)),
		Topology:   C.GoString(C.quoit_maxtext_accelerator_get_topology(c)),
		ChipConfig: C.GoString(C.quoit_maxtext_accelerator_get_chip_config(c)),
		Devices:    int(C.quoit_maxtext_accelerator_get_n_devices(c)),
	}
	for axis := range accelerator.HostBounds {
		accelerator.HostBounds[axis] = int(C.quoit_maxtext_accelerator_get_host_bound(c, C.uint32_t(axis)))
		accelerator.Wraps[axis] = bool(C.quoit_maxtext_accelerator_wraps(c, C.uint32_t(axis)))
	}
	return accelerator
}
