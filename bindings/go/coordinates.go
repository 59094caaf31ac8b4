// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"math"
	"unsafe"

	"quoit/internal/cconv"
)

// Axis is an axis of a torus. The numbers of a topology are the lengths along x, y and z, in this order.
type Axis int

// The axes.
const (
	AxisX Axis = C.QUOIT_AXIS_X
	AxisY Axis = C.QUOIT_AXIS_Y
	AxisZ Axis = C.QUOIT_AXIS_Z
)

var axisNames = map[Axis]string{AxisX: "X", AxisY: "Y", AxisZ: "Z"}

// String returns the name of the axis.
func (a Axis) String() string { return nameOf(axisNames, a) }

// Direction is a direction along an axis.
type Direction int

// The directions.
const (
	DirectionUp   Direction = C.QUOIT_DIRECTION_UP
	DirectionDown Direction = C.QUOIT_DIRECTION_DOWN
)

var directionNames = map[Direction]string{DirectionUp: "UP", DirectionDown: "DOWN"}

// String returns the name of the direction.
func (d Direction) String() string { return nameOf(directionNames, d) }

// Wiring is how the links that close the rings of a torus are connected.
type Wiring int

// The wirings.
const (
	// WiringStraight connects the two ends of each line. GKE announces only this wiring.
	WiringStraight Wiring = C.QUOIT_WIRING_STRAIGHT
	// WiringTwisted shifts the closing links of the short axes by half of the long axes (k of 2k). Only the shapes
	// k k 2k and k 2k 2k can have it: see Shape.Twistable.
	WiringTwisted Wiring = C.QUOIT_WIRING_TWISTED
)

var wiringNames = map[Wiring]string{WiringStraight: "STRAIGHT", WiringTwisted: "TWISTED"}

// String returns the name of the wiring.
func (w Wiring) String() string { return nameOf(wiringNames, w) }

// Place is a position, or a size, along x, y and z. In two dimensions z is 0 for a position and 1 for a size.
type Place struct {
	X, Y, Z int
}

// Coordinates is the torus of one topology. It depends only on the topology, not on a fleet. It does not change, and
// any number of goroutines can use it. Close frees it; the garbage collector does so if you do not. Its fields are
// still available after Close.
//
// Chips, hosts and JAX devices are numbered with x fastest, then y, then z, like in JAX and GKE. The number of a host
// is its worker id. The devices of a chip have consecutive numbers.
type Coordinates struct {
	Chips     int       // number of chips
	Hosts     int       // number of hosts
	Devices   int       // number of JAX devices: one per chip, or two if JAX sees each core
	Length    Place     // the number of chips along each axis
	Host      Place     // the size of the block of chips in a host: 2x2 for four chips, 2x4 for eight
	Rings     [3]bool   // whether links connect the two ends of x, y and z; otherwise the axis is a line
	Twist     [3][3]int // how many chips the closing link of the first axis is shifted along the second; 0 if straight
	Bisection int       // the fewest links that a cut into halves severs; 0 for a single chip

	h *cconv.Handle
}

// NewCoordinates returns the torus of a slice of the topology, according to the catalogue. accelerator is any system's
// name of the generation; a chipsPerHost of 0 stands for Ray's default. The cost does not depend on the size.
//
// It fails with Invalid if the generation is unknown, the topology is not valid (the message has the byte, or names the
// nearest valid one) or does not exist with such hosts, the topology cannot be twisted, or the wiring is unknown to
// libquoit.
func NewCoordinates(accelerator, topology string, chipsPerHost int, wiring Wiring) (*Coordinates, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	generation := (*C.char)(arguments.Text("accelerator", accelerator))
	shape := (*C.char)(arguments.Text("topology", topology))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	if err := checkUnsigned("chips per host", chipsPerHost); err != nil {
		return nil, err
	}
	c := C.quoit_coordinates_new(generation, shape, C.uint32_t(chipsPerHost), C.QuoitWiring(wiring), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	free := func(p unsafe.Pointer) { C.quoit_coordinates_free((*C.QuoitCoordinates)(p)) }
	torus := &Coordinates{
		Chips:     int(countChips(c)),
		Hosts:     int(countHosts(c)),
		Devices:   int(countDevices(c)),
		Length:    placeFromC(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_length(c, axis) }),
		Host:      placeFromC(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_host_length(c, axis) }),
		Bisection: int(C.quoit_coordinates_get_bisection(c)),
		h:         cconv.NewHandle("coordinates", unsafe.Pointer(c), free),
	}
	for axis := range torus.Rings {
		torus.Rings[axis] = bool(C.quoit_coordinates_is_ring(c, C.QuoitAxis(axis)))
		for other := range torus.Twist[axis] {
			torus.Twist[axis][other] = int(C.quoit_coordinates_get_twist(c, C.QuoitAxis(axis), C.QuoitAxis(other)))
		}
	}
	return torus, nil
}

func countChips(torus *C.QuoitCoordinates) C.uint32_t { return C.quoit_coordinates_get_n_chips(torus) }
func countHosts(torus *C.QuoitCoordinates) C.uint32_t { return C.quoit_coordinates_get_n_hosts(torus) }
func countDevices(torus *C.QuoitCoordinates) C.uint32_t {
	return C.quoit_coordinates_get_n_devices(torus)
}

// placeFromC returns the place whose coordinate on each axis coordinate returns.
func placeFromC(coordinate func(C.QuoitAxis) C.uint32_t) Place {
	return Place{int(coordinate(C.QUOIT_AXIS_X)), int(coordinate(C.QUOIT_AXIS_Y)), int(coordinate(C.QUOIT_AXIS_Z))}
}

// checkUnsigned checks that a number fits C's unsigned types. what is its name for messages.
func checkUnsigned[Integer ~int | ~int64](what string, number Integer) error {
	if number < 0 || int64(number) > math.MaxUint32 {
		return cconv.InvalidError("%s '%d': expected 0 to %d", what, number, uint32(math.MaxUint32))
	}
	return nil
}

// Close frees the coordinates; later calls fail. A second Close does nothing.
func (c *Coordinates) Close() {
	if c != nil {
		c.h.Close()
	}
}

func (c *Coordinates) with(run func(*C.QuoitCoordinates) error) error {
	if c == nil {
		return closedError("nil coordinates")
	}
	pointer, err := c.h.Use()
	if err != nil {
		return err
	}
	defer c.h.Done()
	return run((*C.QuoitCoordinates)(pointer))
}

// withIndex checks that an index is below count and calls run with it. what is the indexed object for messages.
func (c *Coordinates) withIndex(what string, index int, count func(*C.QuoitCoordinates) C.uint32_t,
	run func(*C.QuoitCoordinates, C.uint32_t)) error {
	return c.with(func(torus *C.QuoitCoordinates) error {
		if err := checkIndex(what, index, count(torus)); err != nil {
			return err
		}
		run(torus, C.uint32_t(index))
		return nil
	})
}

// find returns the chip or host that findAt finds at a place; -1 if the place is outside the torus.
func (c *Coordinates) find(
	place Place, findAt func(*C.QuoitCoordinates, [3]C.uint32_t) C.int64_t,
) (index int, err error) {
	index = -1
	err = c.with(func(torus *C.QuoitCoordinates) error {
		var coordinates [3]C.uint32_t
		for axis, coordinate := range []int{place.X, place.Y, place.Z} {
			if checkUnsigned("place", coordinate) != nil {
				return nil
			}
			coordinates[axis] = C.uint32_t(coordinate)
		}
		index = int(findAt(torus, coordinates))
		return nil
	})
	return index, err
}

// --- chips ---

// ChipPlace returns the place of a chip.
//
// It fails with Invalid for a chip out of range, and after Close.
func (c *Coordinates) ChipPlace(chip int) (place Place, err error) {
	err = c.withIndex("chip", chip, countChips, func(torus *C.QuoitCoordinates, index C.uint32_t) {
		place = placeFromC(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_chip_at(torus, index, axis) })
	})
	return place, err
}

// ChipAt returns the chip at a place; -1 if the place is outside the torus.
//
// It fails with Invalid after Close.
func (c *Coordinates) ChipAt(place Place) (chip int, err error) {
	return c.find(place, func(torus *C.QuoitCoordinates, at [3]C.uint32_t) C.int64_t {
		return C.quoit_coordinates_find_chip(torus, at[0], at[1], at[2])
	})
}

// Neighbour returns the chip at the other end of a chip's link in a direction, including the links that close a ring;
// -1 if there is no such link.
//
// It fails with Invalid for a chip out of range, an unknown axis or direction, and after Close.
func (c *Coordinates) Neighbour(chip int, axis Axis, direction Direction) (neighbour int, err error) {
	if _, known := axisNames[axis]; !known {
		return -1, cconv.InvalidError("axis '%v': expected AxisX, AxisY or AxisZ", axis)
	}
	if _, known := directionNames[direction]; !known {
		return -1, cconv.InvalidError("direction '%v': expected DirectionUp or DirectionDown", direction)
	}
	neighbour = -1
	err = c.withIndex("chip", chip, countChips, func(torus *C.QuoitCoordinates, index C.uint32_t) {
		neighbour = int(C.quoit_coordinates_find_neighbour(torus, index, C.QuoitAxis(axis), C.QuoitDirection(direction)))
	})
	return neighbour, err
}

// Hops returns the number of links of a shortest path between two chips.
//
// It fails with Invalid for a chip out of range, and after Close.
func (c *Coordinates) Hops(from, to int) (hops int, err error) {
	err = c.with(func(torus *C.QuoitCoordinates) error {
		for _, chip := range []int{from, to} {
			if err := checkIndex("chip", chip, countChips(torus)); err != nil {
				return err
			}
		}
		hops = int(C.quoit_coordinates_get_hops(torus, C.uint32_t(from), C.uint32_t(to)))
		return nil
	})
	return hops, err
}

// --- hosts ---

// WorkerPlace returns the place of the host of a worker, in units of hosts. Multiply by the size of a host (Host) to
// get the place of its first chip.
//
// It fails with Invalid for a worker id out of range, and after Close.
func (c *Coordinates) WorkerPlace(workerID int) (place Place, err error) {
	err = c.withIndex("worker", workerID, countHosts, func(torus *C.QuoitCoordinates, index C.uint32_t) {
		place = placeFromC(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_worker_at(torus, index, axis) })
	})
	return place, err
}

// WorkerAt returns the worker id of the host at a place, in units of hosts; -1 if the place is outside the torus.
//
// It fails with Invalid after Close.
func (c *Coordinates) WorkerAt(place Place) (workerID int, err error) {
	return c.find(place, func(torus *C.QuoitCoordinates, at [3]C.uint32_t) C.int64_t {
		return C.quoit_coordinates_find_worker(torus, at[0], at[1], at[2])
	})
}

// ChipWorker returns the worker id of the chip's host, and the chip's index on that host, which is its bit in bundles
// and its number in TPU_VISIBLE_CHIPS. Chips 0 and 1 of a host are neighbours along y, as in JAX's bounds 1,2,1.
//
// It fails with Invalid for a chip out of range, and after Close.
func (c *Coordinates) ChipWorker(chip int) (workerID, indexOnHost int, err error) {
	err = c.withIndex("chip", chip, countChips, func(torus *C.QuoitCoordinates, index C.uint32_t) {
		workerID = int(C.quoit_coordinates_get_chip_worker(torus, index))
		indexOnHost = int(C.quoit_coordinates_get_chip_index_on_host(torus, index))
	})
	return workerID, indexOnHost, err
}

// WorkerChip returns the chip that has index indexOnHost on a host. It reverts ChipWorker.
//
// It fails with Invalid for a worker id or an index out of range, and after Close.
func (c *Coordinates) WorkerChip(workerID, indexOnHost int) (chip int, err error) {
	err = c.with(func(torus *C.QuoitCoordinates) error {
		if err := checkIndex("worker", workerID, countHosts(torus)); err != nil {
			return err
		}
		if err := checkIndex("chip of a host", indexOnHost, countChips(torus)/countHosts(torus)); err != nil {
			return err
		}
		chip = int(C.quoit_coordinates_get_worker_chip(torus, C.uint32_t(workerID), C.uint32_t(indexOnHost)))
		return nil
	})
	return chip, err
}

// --- JAX devices ---

// DeviceChip returns the chip of a JAX device.
//
// It fails with Invalid for a device out of range, and after Close.
func (c *Coordinates) DeviceChip(device int) (chip int, err error) {
	err = c.withIndex("device", device, countDevices, func(torus *C.QuoitCoordinates, index C.uint32_t) {
		chip = int(C.quoit_coordinates_get_device_chip(torus, index))
	})
	return chip, err
}

// ChipDevice returns the id, in the slice, of the JAX device of a chip's core.
//
// It fails with Invalid for a chip out of range, a core that is not a JAX device, and after Close.
func (c *Coordinates) ChipDevice(chip, core int) (device int, err error) {
	err = c.with(func(torus *C.QuoitCoordinates) error {
		if err := checkIndex("chip", chip, countChips(torus)); err != nil {
			return err
		}
		if err := checkIndex("core", core, countDevices(torus)/countChips(torus)); err != nil {
			return err
		}
		device = int(C.quoit_coordinates_get_chip_device(torus, C.uint32_t(chip), C.uint32_t(core)))
		return nil
	})
	return device, err
}
