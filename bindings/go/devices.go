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

	"quoit/internal/cconv"
)

// Device is a JAX device.
type Device struct {
	ID           int64    // not necessarily unique
	Coordinates  [3]int32 // x, y, z of its chip; z is 0 in two dimensions
	Core         int32    // the index of its core on the chip
	ProcessIndex int32    // the index of its process
	SliceIndex   int32    // the index of its slice; -1 if JAX gives it none
}

// Devices is a list of JAX devices of one device_kind, in the order in which JAX gets them. It does not change, and any
// number of goroutines can use it. Close frees it; the garbage collector does so if you do not. Its fields are still
// available after Close.
type Devices struct {
	Kind  string // JAX's device_kind, "TPU v6 lite", also if the list was created for "v6e"
	Count int    // number of devices

	h *cconv.Handle
}

// NewDevices returns a list of devices of a kind, which is a JAX device_kind such as "TPU v5 lite", or any system's
// name of a generation. quoit assumes that links between their chips form no rings, because the devices need not be
// whole slices.
//
// It fails with Invalid if the kind is unknown (the message has the known ones), for numbers below 0 (except a
// SliceIndex of -1, coordinates and ids), and for more than 4,194,304 devices.
func NewDevices(kind string, devices []Device) (*Devices, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	name := (*C.char)(arguments.Text("kind", kind))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_devices_new(name, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	for index := range devices {
		if err := addDevice(c, &devices[index]); err != nil {
			C.quoit_devices_free(c)
			return nil, prefixError(fmt.Sprintf("devices[%d]: ", index), err)
		}
	}
	return newDevices(c), nil
}

// prefixError puts a place in front of the message of an *Error.
func prefixError(place string, err error) error {
	var inner *Error
	if !errors.As(err, &inner) {
		return err
	}
	return &Error{Code: inner.Code, Message: place + inner.Message, cause: inner.cause}
}

func addDevice(c *C.QuoitDevices, device *Device) error {
	var gerror *C.GError
	coordinates := (*C.int32_t)(unsafe.Pointer(&device.Coordinates[0]))
	C.quoit_devices_add(c, C.int64_t(device.ID), coordinates, C.int32_t(device.Core), C.int32_t(device.ProcessIndex),
		C.int32_t(device.SliceIndex), &gerror)
	return errorFromC(gerror)
}

// SliceDevices describes the devices of whole slices.
type SliceDevices struct {
	Kind     string // the kind of the devices, as for NewDevices
	Topology string // of each slice in chips, "4x4" or "2x2x4"; any shape, in the catalogue or not
	Slices   int    // number of slices, with the slice indices 0 to n - 1; 0 stands for 1
	// ChipsPerHost is 1, 2, 4 or 8. 0 stands for JAX's hosts of 2x2 chips, or less if the slice is smaller in x or
	// y.
	ChipsPerHost int
	// DevicesPerChip is 1 or 2. 0 stands for the number of the kind: 2 for v2, v3 and 7x, else 1.
	DevicesPerChip int
}

// NewSliceDevices returns the devices of whole slices in JAX's order: by slice, then host with x fastest, then chip in
// the host with x fastest, then core. Ids count cores first, then x, y, z and slices. Process indices count hosts along
// x first, then y, z and slices. The process index depends on the place of the host and can differ from its worker id.
//
// It fails with Invalid if kind or topology is not valid, the slice cannot be divided into hosts of this size (the
// catalogue has the hosts that a slice can have if ChipsPerHost is not 0), the devices per chip are unknown, a number is
// out of range, or there are more than 4,194,304 devices.
func NewSliceDevices(spec SliceDevices) (*Devices, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	kind, topology := (*C.char)(arguments.Text("kind", spec.Kind)), (*C.char)(arguments.Text("topology", spec.Topology))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	if spec.Slices == 0 {
		spec.Slices = 1
	}
	for _, one := range []struct {
		what  string
		count int
	}{{"slices", spec.Slices}, {"chips per host", spec.ChipsPerHost}, {"devices per chip", spec.DevicesPerChip}} {
		if err := checkUnsigned(one.what, one.count); err != nil {
			return nil, err
		}
	}
	c := C.quoit_devices_new_slices(kind, topology, C.uint32_t(spec.Slices), C.uint32_t(spec.ChipsPerHost),
		C.uint32_t(spec.DevicesPerChip), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newDevices(c), nil
}

// Devices returns the devices of the group's slices, in the order of NewSliceDevices. Slice index i is the slice with
// id i in ProfileQuoit. A slice with a draining host is included. For bundles, only the devices of the group's box of
// chips in each slice are included, counted from the first chip of the box. Their process indices are process ids.
//
// It fails with Invalid for an ended group, for bundles without TPU or that do not form one job over ICI (the message
// has the reason), for slices with different device kinds, and after Close. It fails with NotNow if a slice or a bundle
// is lost, a bundle is not placed, or the properties of a slice are unknown (the message names the slice or bundle, and
// the remedy).
func (g *Group) Devices() (*Devices, error) {
	pointer, err := g.h.Use()
	if err != nil {
		return nil, err
	}
	defer g.h.Done()
	var gerror *C.GError
	c := C.quoit_devices_new_group((*C.QuoitGroup)(pointer), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newDevices(c), nil
}

func init() {
	cconv.WithDevices = func(devices any, use func(unsafe.Pointer) error) error {
		return devices.(*Devices).with(func(c *C.QuoitDevices) error { return use(unsafe.Pointer(c)) })
	}
	cconv.NewDevices = func(devices unsafe.Pointer) any { return newDevices((*C.QuoitDevices)(devices)) }
	cconv.NewMesh = func(mesh unsafe.Pointer) any { return newMesh((*C.QuoitMesh)(mesh)) }
}

func newDevices(c *C.QuoitDevices) *Devices {
	return &Devices{
		Kind:  C.GoString(C.quoit_devices_get_kind(c)),
		Count: int(C.quoit_devices_get_n_devices(c)),
		h: cconv.NewHandle("list of devices", unsafe.Pointer(c),
			func(p unsafe.Pointer) { C.quoit_devices_free((*C.QuoitDevices)(p)) }),
	}
}

// Close frees the list; later calls fail. Meshes of these devices stay valid. A second Close does nothing.
func (d *Devices) Close() {
	if d != nil {
		d.h.Close()
	}
}

func (d *Devices) with(run func(*C.QuoitDevices) error) error {
	if d == nil {
		return closedError("nil list of devices")
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
		devices = make([]Device, C.quoit_devices_get_n_devices(c))
		for index := range devices {
			devices[index] = deviceFromC(c, C.uint32_t(index))
		}
		return nil
	})
	return devices, err
}

func deviceFromC(c *C.QuoitDevices, index C.uint32_t) Device {
	coordinates := unsafe.Slice(C.quoit_devices_get_coordinates(c, index), 3)
	return Device{
		ID:           int64(C.quoit_devices_get_id(c, index)),
		Coordinates:  [3]int32{int32(coordinates[0]), int32(coordinates[1]), int32(coordinates[2])},
		Core:         int32(C.quoit_devices_get_core(c, index)),
		ProcessIndex: int32(C.quoit_devices_get_process_index(c, index)),
		SliceIndex:   int32(C.quoit_devices_get_slice_index(c, index)),
	}
}
