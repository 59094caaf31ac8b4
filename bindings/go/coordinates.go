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

// Axis is one of a torus, in the order of a topology's numbers.
type Axis int

// The axes.
const (
	AxisX Axis = C.QUOIT_AXIS_X
	AxisY Axis = C.QUOIT_AXIS_Y
	AxisZ Axis = C.QUOIT_AXIS_Z
)

var axisNames = map[Axis]string{AxisX: "X", AxisY: "Y", AxisZ: "Z"}

// String is the name of the axis.
func (a Axis) String() string { return named(axisNames, a) }

// Direction is which way along an axis.
type Direction int

// The directions.
const (
	DirectionUp   Direction = C.QUOIT_DIRECTION_UP
	DirectionDown Direction = C.QUOIT_DIRECTION_DOWN
)

var directionNames = map[Direction]string{DirectionUp: "UP", DirectionDown: "DOWN"}

// String is the name of the direction.
func (d Direction) String() string { return named(directionNames, d) }

// Wiring is how the links that close the axes are laid.
type Wiring int

// The wirings.
const (
	// WiringStraight: each link comes out where it began, on the other end of its axis. GKE announces nothing else.
	WiringStraight Wiring = C.QUOIT_WIRING_STRAIGHT
	// WiringTwisted: those of the short axes come out half way along the long ones, k of 2k further; which only k k 2k and
	// k 2k 2k can have: Shape.Twistable.
	WiringTwisted Wiring = C.QUOIT_WIRING_TWISTED
)

var wiringNames = map[Wiring]string{WiringStraight: "STRAIGHT", WiringTwisted: "TWISTED"}

// String is the name of the wiring.
func (w Wiring) String() string { return named(wiringNames, w) }

// Place is where something is along x, y and z, or how long something is along them. In two dimensions z is 0, and as a
// length 1.
type Place struct {
	X, Y, Z int
}

// Coordinates is the torus of one topology: facts of a topology alone, without a fleet. It does not change, and any number
// of goroutines may ask it. Close frees it; the garbage collector does where that is forgotten. Its fields are there also
// then.
//
// Chips, hosts and JAX devices are numbered x first, as JAX and GKE do: chip 1 is one further along x than chip 0; when x
// is through comes the next y, and then the next z. A host's number is its worker id. The devices of a chip follow each
// other.
type Coordinates struct {
	Chips     int // their numbers are below it
	Hosts     int // their worker ids are below it
	Devices   int // what JAX calls devices: one a chip, or two where JAX sees each core
	Length    Place
	Host      Place     // the chips of a host, which are a block: 2 by 2 for four, 2 by 4 for eight
	Rings     [3]bool   // whether links join the two ends of x, y, z; else it is a line
	Twist     [3][3]int // how many chips further along the second axis the link that closes the first comes out; 0: it does not
	Bisection int       // the links severed by the cut into halves that severs the fewest; 0 for a single chip
	h         *door.Handle
}

// NewCoordinates is the torus of a slice of that topology, as the catalogue has it: accelerator is any system's name of the
// generation, chipsPerHost 0 what Ray assumes. It costs the same for any size.
//
// It fails with Invalid when nobody calls a generation so, when topology is none of it (the message has the byte, or names
// the nearest) or is never built of such hosts, when it cannot be twisted, and for a wiring that libquoit does not know.
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

// checkUnsigned is whether C has such a number.
func checkUnsigned[Integer ~int | ~int64](what string, number Integer) error {
	if number < 0 || int64(number) > math.MaxUint32 {
		return door.Invalid("%s '%d': expected 0 to %d", what, number, uint32(math.MaxUint32))
	}
	return nil
}

// Close frees what the coordinates keep; calls that come later fail. To close twice does nothing.
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

// number is what is asked of what has a number below count.
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

// at is the number of what stands at a place; -1: that is beyond an end.
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

// ChipPlace is where the chip of a number is, from 0.
//
// It fails with Invalid for a number that no chip has, and after Close.
func (c *Coordinates) ChipPlace(chip int) (place Place, err error) {
	err = c.number("chip", chip, chips, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		place = placeOf(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_chip_at(torus, number, axis) })
	})
	return place, err
}

// ChipAt is the number of the chip at a place, from 0; -1: that is beyond an end.
//
// It fails with Invalid after Close.
func (c *Coordinates) ChipAt(place Place) (chip int, err error) {
	return c.at(place, func(torus *C.QuoitCoordinates, along [3]C.uint32_t) C.int64_t {
		return C.quoit_coordinates_find_chip(torus, along[0], along[1], along[2])
	})
}

// Neighbour is the chip at the other end of the link of a chip that leads that way: one further, or behind the link that
// closes the ring; -1: there is no such link.
//
// It fails with Invalid for a number that no chip has, what is no axis or direction, and after Close.
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

// Hops is the links of a shortest way between two chips.
//
// It fails with Invalid for a number that no chip has, and after Close.
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

// WorkerPlace is where the host of a worker id is, counted in hosts, from 0. Its first chip is as many times as far as a
// host is long.
//
// It fails with Invalid for a worker id that no host has, and after Close.
func (c *Coordinates) WorkerPlace(workerID int) (place Place, err error) {
	err = c.number("worker", workerID, hosts, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		place = placeOf(func(axis C.QuoitAxis) C.uint32_t { return C.quoit_coordinates_get_worker_at(torus, number, axis) })
	})
	return place, err
}

// WorkerAt is the worker id of the host at a place, counted in hosts, from 0; -1: that is beyond an end.
//
// It fails with Invalid after Close.
func (c *Coordinates) WorkerAt(place Place) (workerID int, err error) {
	return c.at(place, func(torus *C.QuoitCoordinates, along [3]C.uint32_t) C.int64_t {
		return C.quoit_coordinates_find_worker(torus, along[0], along[1], along[2])
	})
}

// ChipWorker is the worker id of the host that has a chip, and the chip's number among those of the host: the bit that
// bundles of the host know it by, and what TPU_VISIBLE_CHIPS has. Chips 0 and 1 are beside each other along y, as JAX's bounds
// of 1,2,1 have them.
//
// It fails with Invalid for a number that no chip has, and after Close.
func (c *Coordinates) ChipWorker(chip int) (workerID, local int, err error) {
	err = c.number("chip", chip, chips, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		workerID = int(C.quoit_coordinates_get_chip_worker(torus, number))
		local = int(C.quoit_coordinates_get_chip_local(torus, number))
	})
	return workerID, local, err
}

// WorkerChip is the number of the chip that has a number, local, among those of a host.
//
// It fails with Invalid for a worker id that no host has, a number that none of its chips has, and after Close.
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

// DeviceChip is the chip that a JAX device is on.
//
// It fails with Invalid for a number that no device has, and after Close.
func (c *Coordinates) DeviceChip(device int) (chip int, err error) {
	err = c.number("device", device, devices, func(torus *C.QuoitCoordinates, number C.uint32_t) {
		chip = int(C.quoit_coordinates_get_device_chip(torus, number))
	})
	return chip, err
}

// ChipDevice is the id, in the slice, of the JAX device that a core of a chip is.
//
// It fails with Invalid for a number that no chip has, a core that JAX does not see, and after Close.
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
