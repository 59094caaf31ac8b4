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

	"quoit/internal/door"
)

// Axis is an axis of a torus, in the order of the numbers of a topology.
type Axis int

// The axes.
const (
	AxisX Axis = C.QUOIT_AXIS_X
	AxisY Axis = C.QUOIT_AXIS_Y
	AxisZ Axis = C.QUOIT_AXIS_Z
)

var axisNames = map[Axis]string{AxisX: "X", AxisY: "Y", AxisZ: "Z"}

// String returns the name of the axis.
func (a Axis) String() string { return named(axisNames, a) }

// Direction is a direction along an axis.
type Direction int

// The directions.
const (
	DirectionUp   Direction = C.QUOIT_DIRECTION_UP
	DirectionDown Direction = C.QUOIT_DIRECTION_DOWN
)

var directionNames = map[Direction]string{DirectionUp: "UP", DirectionDown: "DOWN"}

// String returns the name of the direction.
func (d Direction) String() string { return named(directionNames, d) }

// Wiring is how the links that close the axes are connected.
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
func (w Wiring) String() string { return named(wiringNames, w) }

// Place is a position or a size along x, y and z. In two dimensions z is 0 for a position and 1 for a size.
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
	Chips     int // number of chips
	Hosts     int // number of hosts
	Devices   int // number of JAX devices: one per chip, or two if JAX sees each core
	Length    Place
	Host      Place     // the size of the block of chips in a host: 2 by 2 for four, 2 by 4 for eight
	Rings     [3]bool   // whether links connect the two ends of x, y and z; otherwise the axis is a line
	Twist     [3][3]int // how many chips the closing link of the first axis is shifted along the second; 0 if straight
	Bisection int       // the fewest links that a cut into halves severs; 0 for a single chip
	h         *door.Handle
}

// NewCoordinates returns the torus of a slice of the topology, according to the catalogue. accelerator is any system's
// name of the generation; a chipsPerHost of 0 stands for Ray's default. The cost does not depend on the size.
//
// It fails with Invalid if the generation is unknown, the topology is not valid (the message has the byte, or names the
// nearest valid one) or does not exist with such hosts, the topology cannot be twisted, or the wiring is unknown to
// libquoit.
func NewCoordinates(accelerator, topology string, chipsPerHost int, wiring Wiring) (*Coordinates, error) {
	var arguments door.Arguments
	var gerror *C.GError
	kind, shape := (*C.char)(arguments.Text("accelerator", accelerator)), (*C.char)(arguments.Text("topology", topology))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	if err := checkUnsigned("chips a host", chipsPerHost); err != nil {
		return nil, err
	}
	c := C.quoit_coordinates_new(kind, shape, C.unsigned(chipsPerHost), C.QuoitWiring(wiring), &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	free := func(p unsafe.Pointer) { C.quoit_coordinates_free((*C.QuoitCoordinates)(p)) }
	made := &Coordinates{
		Chips:     int(chips(c)),
		Hosts:     int(hosts(c)),
		Devices:   int(devices(c)),
		Length:    placeOf(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_length(c, axis) }),
		Host:      placeOf(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_host_length(c, axis) }),
		Bisection: int(C.quoit_coordinates_get_bisection(c)),
		h:         door.NewHandle("coordinates", unsafe.Pointer(c), free),
	}
	for axis := range made.Rings {
		made.Rings[axis] = bool(C.quoit_coordinates_is_ring(c, C.QuoitAxis(axis)))
		for along := range made.Twist[axis] {
			made.Twist[axis][along] = int(C.quoit_coordinates_get_twist(c, C.QuoitAxis(axis), C.QuoitAxis(along)))
		}
	}
	return made, nil
}

func chips(torus *C.QuoitCoordinates) C.uint32_t   { return C.quoit_coordinates_get_n_chips(torus) }
func hosts(torus *C.QuoitCoordinates) C.uint32_t   { return C.quoit_coordinates_get_n_hosts(torus) }
func devices(torus *C.QuoitCoordinates) C.uint32_t { return C.quoit_coordinates_get_n_devices(torus) }

func placeOf(along func(C.QuoitAxis) C.uint32_t) Place {
	return Place{int(along(C.QUOIT_AXIS_X)), int(along(C.QUOIT_AXIS_Y)), int(along(C.QUOIT_AXIS_Z))}
}

// checkUnsigned checks that a number fits C's unsigned types.
func checkUnsigned[Integer ~int | ~int64](what string, number Integer) error {
	if number < 0 || int64(number) > math.MaxUint32 {
		return door.Invalid("%s '%d': expected 0 to %d", what, number, uint32(math.MaxUint32))
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
		return closed("nil coordinates")
	}
	pointer, err := c.h.Use()
	if err != nil {
		return err
	}
	defer c.h.Done()
	return run((*C.QuoitCoordinates)(pointer))
}

// number checks that a number is below count and runs a function on it.
func (c *Coordinates) number(what string, number int, count func(*C.QuoitCoordinates) C.uint32_t,
	run func(*C.QuoitCoordinates, C.uint32_t)) error {
	return c.with(func(torus *C.QuoitCoordinates) error {
		if err := checkNumber(what, number, count(torus)); err != nil {
			return err
		}
		run(torus, C.uint32_t(number))
		return nil
	})
}

// at returns the number that find returns for a place; -1 if the place is outside.
func (c *Coordinates) at(place Place, find func(*C.QuoitCoordinates, [3]C.uint32_t) C.int64_t) (number int, err error) {
	number = -1
	err = c.with(func(torus *C.QuoitCoordinates) error {
		var along [3]C.uint32_t
		for axis, distance := range []int{place.X, place.Y, place.Z} {
			if checkUnsigned("place", distance) != nil {
				return nil
			}
			along[axis] = C.uint32_t(distance)
		}
		number = int(find(torus, along))
		return nil
	})
	return number, err
}

// --- chips ---

// ChipPlace returns the place of a chip.
//
// It fails with Invalid for a number out of range, and after Close.
func (c *Coordinates) ChipPlace(chip int) (place Place, err error) {
	err = c.number("chip", chip, chips, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		place = placeOf(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_chip_at(torus, number, axis) })
	})
	return place, err
}

// ChipAt returns the number of the chip at a place; -1 if the place is outside.
//
// It fails with Invalid after Close.
func (c *Coordinates) ChipAt(place Place) (chip int, err error) {
	return c.at(place, func(torus *C.QuoitCoordinates, along [3]C.uint32_t) C.int64_t {
		return C.quoit_coordinates_find_chip(torus, along[0], along[1], along[2])
	})
}

// Neighbour returns the chip at the other end of a chip's link in a direction, including the links that close a ring;
// -1 if there is no such link.
//
// It fails with Invalid for a chip out of range, an unknown axis or direction, and after Close.
func (c *Coordinates) Neighbour(chip int, axis Axis, direction Direction) (neighbour int, err error) {
	if _, known := axisNames[axis]; !known {
		return -1, door.Invalid("axis '%v': expected AxisX, AxisY or AxisZ", axis)
	}
	if _, known := directionNames[direction]; !known {
		return -1, door.Invalid("direction '%v': expected DirectionUp or DirectionDown", direction)
	}
	neighbour = -1
	err = c.number("chip", chip, chips, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		neighbour = int(C.quoit_coordinates_find_neighbour(torus, number, C.QuoitAxis(axis), C.QuoitDirection(direction)))
	})
	return neighbour, err
}

// Hops returns the number of links of a shortest path between two chips.
//
// It fails with Invalid for a chip out of range, and after Close.
func (c *Coordinates) Hops(from, to int) (hops int, err error) {
	err = c.with(func(torus *C.QuoitCoordinates) error {
		for _, chip := range []int{from, to} {
			if err := checkNumber("chip", chip, chips(torus)); err != nil {
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
	err = c.number("worker", workerID, hosts, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		place = placeOf(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_worker_at(torus, number, axis) })
	})
	return place, err
}

// WorkerAt returns the worker id of the host at a place, in units of hosts; -1 if the place is outside.
//
// It fails with Invalid after Close.
func (c *Coordinates) WorkerAt(place Place) (workerID int, err error) {
	return c.at(place, func(torus *C.QuoitCoordinates, along [3]C.uint32_t) C.int64_t {
		return C.quoit_coordinates_find_worker(torus, along[0], along[1], along[2])
	})
}

// ChipWorker returns the worker id of the chip's host, and the chip's number in the host, which is its bit in bundles
// and its number in TPU_VISIBLE_CHIPS. Chips 0 and 1 of a host are neighbours along y, as in JAX's bounds 1,2,1.
//
// It fails with Invalid for a chip out of range, and after Close.
func (c *Coordinates) ChipWorker(chip int) (workerID, local int, err error) {
	err = c.number("chip", chip, chips, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		workerID = int(C.quoit_coordinates_get_chip_worker(torus, number))
		local = int(C.quoit_coordinates_get_chip_local(torus, number))
	})
	return workerID, local, err
}

// WorkerChip returns the number of the chip that has the number local in a host.
//
// It fails with Invalid for a worker id or a local number out of range, and after Close.
func (c *Coordinates) WorkerChip(workerID, local int) (chip int, err error) {
	err = c.with(func(torus *C.QuoitCoordinates) error {
		if err := checkNumber("worker", workerID, hosts(torus)); err != nil {
			return err
		}
		if err := checkNumber("chip of a host", local, chips(torus)/hosts(torus)); err != nil {
			return err
		}
		chip = int(C.quoit_coordinates_get_worker_chip(torus, C.uint32_t(workerID), C.uint32_t(local)))
		return nil
	})
	return chip, err
}

// --- JAX devices ---

// DeviceChip returns the chip of a JAX device.
//
// It fails with Invalid for a device out of range, and after Close.
func (c *Coordinates) DeviceChip(device int) (chip int, err error) {
	err = c.number("device", device, devices, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		chip = int(C.quoit_coordinates_get_device_chip(torus, number))
	})
	return chip, err
}

// ChipDevice returns the id, in the slice, of the JAX device of a chip's core.
//
// It fails with Invalid for a chip out of range, a core that is not a JAX device, and after Close.
func (c *Coordinates) ChipDevice(chip, core int) (device int, err error) {
	err = c.with(func(torus *C.QuoitCoordinates) error {
		if err := checkNumber("chip", chip, chips(torus)); err != nil {
			return err
		}
		if err := checkNumber("core", core, devices(torus)/chips(torus)); err != nil {
			return err
		}
		device = int(C.quoit_coordinates_get_chip_device(torus, C.uint32_t(chip), C.uint32_t(core)))
		return nil
	})
	return device, err
}
