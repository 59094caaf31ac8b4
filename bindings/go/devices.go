// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"quoit/internal/door"
)

// Device is a JAX device.
type Device struct {
	ID           int64    // two devices can have the same id
	Coordinates  [3]int32 // x, y, z of its chip; z is 0 in two dimensions
	Core         int32    // its number on the chip
	ProcessIndex int32    // of its process
	SliceIndex   int32    // of its slice; -1 if JAX gives it none
}

// Devices is a list of JAX devices of one kind, in the order in which JAX gets them. It does not change, and any number
// of goroutines can use it. Close frees it; the garbage collector does so if you do not. Its fields are still available
// after Close.
type Devices struct {
	Kind  string // JAX's name: "TPU v6 lite", also for a list of "v6e"
	Count int

	h *door.Handle
}

// NewDevices returns a list of devices of a kind, which is a JAX device_kind such as "TPU v5 lite", or any system's
// name of a generation. quoit assumes that links between their chips form no rings, because the devices need not be
// whole slices.
//
// It fails with Invalid if the kind is unknown (the message has the known ones), for numbers below 0 (except a
// SliceIndex of -1, coordinates and ids), and for more than 4,194,304 devices.
func NewDevices(kind string, devices []Device) (*Devices, error) {
	var arguments door.Arguments
	var gerror *C.GError
	name := (*C.char)(arguments.Text("kind", kind))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_devices_new(name, &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	for index := range devices {
		if err := addDevice(c, &devices[index]); err != nil {
			C.quoit_devices_free(c)
			return nil, prefixed(fmt.Sprintf("devices[%d]: ", index), err)
		}
	}
	return newDevices(c), nil
}

// prefixed puts a place in front of the message of an *Error.
func prefixed(place string, err error) error {
	var of *Error
	if !errors.As(err, &of) {
		return err
	}
	return &Error{Code: of.Code, Message: place + of.Message, cause: of.cause}
}

func addDevice(c *C.QuoitDevices, device *Device) error {
	var gerror *C.GError
	coordinates := (*C.int32_t)(unsafe.Pointer(&device.Coordinates[0]))
	C.quoit_devices_add(c, C.int64_t(device.ID), coordinates, C.int32_t(device.Core), C.int32_t(device.ProcessIndex),
		C.int32_t(device.SliceIndex), &gerror)
	return take(gerror)
}

// SliceDevices describes the devices of whole slices.
type SliceDevices struct {
	Kind     string // as for NewDevices
	Topology string // of each slice in chips, "4x4" or "2x2x4"; any shape, in the catalogue or not
	Slices   int    // number of slices, with the slice indices 0 to n - 1; 0 stands for 1
	// ChipsPerHost is 1, 2, 4 or 8. 0 stands for JAX's hosts of 2x2 chips, or less if the slice is smaller in x or
	// y.
	ChipsPerHost int
	// DevicesPerChip is 1 or 2. 0 stands for the number of the kind: 2 for v2, v3 and 7x, else 1.
	DevicesPerChip int
}

// NewSliceDevices returns the devices of whole slices in JAX's order: by slice, then host with x fastest, then chip in
// the host with x fastest, then core. Ids count cores, x, y, z, slices. Process indices count hosts in x, y, z, slices.
// The process index depends on the place of the host and need not be its worker id.
//
// It fails with Invalid if kind or topology is not valid, hosts do not tile the slice (the catalogue has the hosts that
// a slice can have if ChipsPerHost is not 0), or the devices per chip are unknown, for numbers out of range, and for
// more than 4,194,304 devices.
func NewSliceDevices(asked SliceDevices) (*Devices, error) {
	var arguments door.Arguments
	var gerror *C.GError
	kind, topology := (*C.char)(arguments.Text("kind", asked.Kind)), (*C.char)(arguments.Text("topology", asked.Topology))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	if asked.Slices == 0 {
		asked.Slices = 1
	}
	for _, one := range []struct {
		what  string
		count int
	}{{"slices", asked.Slices}, {"chips a host", asked.ChipsPerHost}, {"devices a chip", asked.DevicesPerChip}} {
		if err := checkUnsigned(one.what, one.count); err != nil {
			return nil, err
		}
	}
	c := C.quoit_devices_new_slices(kind, topology, C.uint32_t(asked.Slices), C.unsigned(asked.ChipsPerHost),
		C.unsigned(asked.DevicesPerChip), &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return newDevices(c), nil
}

// Devices returns the devices of the group's slices, in the order of NewSliceDevices. Slice index i is the slice with
// id i in ProfileQuoit. A slice that is leaving is included. For bundles, these are the devices of their part of each
// slice, counted from its first chip, and the process index is the process id.
//
// It fails with Invalid for an ended group, for bundles without TPU or that do not form one job over ICI (the message
// has the reason), for slices of several kinds, and after Close. It fails with NotNow if a slice or a bundle is lost, a
// bundle is not placed, or the properties of a slice are unknown (the message names it and the remedy).
func (g *Group) Devices() (*Devices, error) {
	pointer, err := g.h.Use()
	if err != nil {
		return nil, err
	}
	defer g.h.Done()
	var gerror *C.GError
	c := C.quoit_devices_new_group((*C.QuoitGroup)(pointer), &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return newDevices(c), nil
}

func init() {
	door.LendDevices = func(devices any, use func(unsafe.Pointer) error) error {
		return devices.(*Devices).with(func(c *C.QuoitDevices) error { return use(unsafe.Pointer(c)) })
	}
	door.OwnedDevices = func(devices unsafe.Pointer) any { return newDevices((*C.QuoitDevices)(devices)) }
	door.OwnedMesh = func(mesh unsafe.Pointer) any { return newMesh((*C.QuoitMesh)(mesh)) }
}

func newDevices(c *C.QuoitDevices) *Devices {
	return &Devices{
		Kind:  C.GoString(C.quoit_devices_get_kind(c)),
		Count: int(C.quoit_devices_get_n(c)),
		h: door.NewHandle("list of devices", unsafe.Pointer(c),
			func(p unsafe.Pointer) { C.quoit_devices_free((*C.QuoitDevices)(p)) }),
	}
}

// Close frees the list; later calls fail. Meshes that were made of it stay. A second Close does nothing.
func (d *Devices) Close() {
	if d != nil {
		d.h.Close()
	}
}

func (d *Devices) with(run func(*C.QuoitDevices) error) error {
	if d == nil {
		return closed("nil list of devices")
	}
	pointer, err := d.h.Use()
	if err != nil {
		return err
	}
	defer d.h.Done()
	return run((*C.QuoitDevices)(pointer))
}

// List returns the devices, in their order.
//
// It fails with Invalid after Close.
func (d *Devices) List() (devices []Device, err error) {
	err = d.with(func(c *C.QuoitDevices) error {
		devices = make([]Device, C.quoit_devices_get_n(c))
		for index := range devices {
			devices[index] = deviceOf(c, C.uint32_t(index))
		}
		return nil
	})
	return devices, err
}

func deviceOf(c *C.QuoitDevices, index C.uint32_t) Device {
	at := unsafe.Slice(C.quoit_devices_get_coordinates(c, index), 3)
	return Device{
		ID:           int64(C.quoit_devices_get_id(c, index)),
		Coordinates:  [3]int32{int32(at[0]), int32(at[1]), int32(at[2])},
		Core:         int32(C.quoit_devices_get_core(c, index)),
		ProcessIndex: int32(C.quoit_devices_get_process_index(c, index)),
		SliceIndex:   int32(C.quoit_devices_get_slice_index(c, index)),
	}
}
