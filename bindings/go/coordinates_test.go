// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"fmt"
	"log"
	"testing"

	"quoit"
)

func newCoordinates(t *testing.T, accelerator, topology string, wiring quoit.Wiring) *quoit.Coordinates {
	t.Helper()
	torus := must[*quoit.Coordinates](t)(quoit.NewCoordinates(accelerator, topology, 0, wiring))
	t.Cleanup(torus.Close)
	return torus
}

func TestPlacesAndIndicesOfChipsAndHostsAreInverse(t *testing.T) {
	torus := newCoordinates(t, "v5p", "4x4x8", quoit.WiringStraight)
	if torus.Chips != 128 || torus.Hosts != 32 || torus.Devices != 128 || torus.Bisection != 32 ||
		torus.Length != (quoit.Place{X: 4, Y: 4, Z: 8}) || torus.Host != (quoit.Place{X: 2, Y: 2, Z: 1}) ||
		torus.Rings != [3]bool{true, true, true} || torus.Twist != [3][3]int{} {
		t.Errorf("%+v", torus)
	}
	for chip := 0; chip < torus.Chips; chip++ {
		place := must[quoit.Place](t)(torus.ChipPlace(chip))
		if place != (quoit.Place{X: chip % 4, Y: chip / 4 % 4, Z: chip / 16}) {
			t.Errorf("chip %d is at %+v", chip, place)
		}
		if again := must[int](t)(torus.ChipAt(place)); again != chip {
			t.Errorf("chip at %+v is %d: expected %d", place, again, chip)
		}
		worker, indexOnHost, err := torus.ChipWorker(chip)
		if err != nil || must[int](t)(torus.WorkerChip(worker, indexOnHost)) != chip {
			t.Errorf("chip %d is %d of host %d, %v", chip, indexOnHost, worker, err)
		}
	}
	for worker := 0; worker < torus.Hosts; worker++ {
		if again := must[int](t)(torus.WorkerAt(must[quoit.Place](t)(torus.WorkerPlace(worker)))); again != worker {
			t.Errorf("worker %d has the place of worker %d", worker, again)
		}
	}
	for _, outside := range []quoit.Place{{X: 4}, {Y: -1}, {Z: 8}, {X: 1 << 40}} {
		if chip := must[int](t)(torus.ChipAt(outside)); chip != -1 {
			t.Errorf("chip at %+v is %d: expected -1", outside, chip)
		}
		if worker := must[int](t)(torus.WorkerAt(outside)); worker != -1 {
			t.Errorf("worker at %+v is %d: expected -1", outside, worker)
		}
	}
}

func TestDevicesOfAChipAreConsecutive(t *testing.T) {
	torus := newCoordinates(t, "tpu7x", "2x2x1", quoit.WiringStraight)
	for device := 0; device < torus.Devices; device++ {
		chip := must[int](t)(torus.DeviceChip(device))
		if chip != device/2 || must[int](t)(torus.ChipDevice(chip, device%2)) != device {
			t.Errorf("device %d is on chip %d", device, chip)
		}
	}
	if torus.Devices != 8 {
		t.Errorf("%d devices: expected 8", torus.Devices)
	}
}

func TestClosingLinkOfTwistedAxisIsShifted(t *testing.T) {
	straight := newCoordinates(t, "v4", "4x4x8", quoit.WiringStraight)
	twisted := newCoordinates(t, "v4", "4x4x8", quoit.WiringTwisted)
	if twisted.Twist[quoit.AxisX][quoit.AxisZ] != 4 || twisted.Twist[quoit.AxisZ][quoit.AxisX] != 0 {
		t.Errorf("%v", twisted.Twist)
	}
	for torus, expected := range map[*quoit.Coordinates]quoit.Place{straight: {X: 3}, twisted: {X: 3, Z: 4}} {
		chip := must[int](t)(torus.Neighbour(0, quoit.AxisX, quoit.DirectionDown))
		if place := must[quoit.Place](t)(torus.ChipPlace(chip)); place != expected {
			t.Errorf("the neighbour of chip 0 is at %+v: expected %+v", place, expected)
		}
		if must[int](t)(torus.Hops(0, chip)) != 1 || must[int](t)(torus.Hops(0, 0)) != 0 {
			t.Error("a neighbour is not one hop away")
		}
	}
	line := newCoordinates(t, "v6e", "4x4", quoit.WiringStraight)
	if end := must[int](t)(line.Neighbour(0, quoit.AxisX, quoit.DirectionDown)); end != -1 {
		t.Errorf("the first chip of a line has the neighbour %d: expected -1", end)
	}
}

func TestInvalidTopologiesAndIndicesAreRefused(t *testing.T) {
	for _, one := range []struct {
		accelerator, topology string
		chips                 int
		wiring                quoit.Wiring
	}{
		{"v9", "4x4", 0, quoit.WiringStraight}, {"v6e", "4x", 0, quoit.WiringStraight}, {"v6e", "5x4", 0, quoit.WiringStraight},
		{"v6e", "4x4", 3, quoit.WiringStraight}, {"v6e", "4x4", -1, quoit.WiringStraight}, {"v6e", "4x4", 0, quoit.WiringTwisted},
		{"v6e", "4x4", 0, 9}, {"v6e\x00", "4x4", 0, quoit.WiringStraight}, {"v6e", "4x4", 1 << 40, quoit.WiringStraight},
	} {
		_, err := quoit.NewCoordinates(one.accelerator, one.topology, one.chips, one.wiring)
		wantCode(t, err, quoit.Invalid)
	}
	torus := newCoordinates(t, "v6e", "4x4", quoit.WiringStraight)
	for _, number := range []int{-1, 16, 1 << 40} {
		_, place := torus.ChipPlace(number)
		_, host := torus.WorkerPlace(number)
		_, _, owner := torus.ChipWorker(number)
		_, worker := torus.WorkerChip(number, 0)
		_, indexOnHost := torus.WorkerChip(0, number)
		_, device := torus.DeviceChip(number)
		_, chip := torus.ChipDevice(number, 0)
		_, core := torus.ChipDevice(0, number)
		_, neighbour := torus.Neighbour(number, quoit.AxisX, quoit.DirectionUp)
		_, from := torus.Hops(number, 0)
		_, to := torus.Hops(0, number)
		for _, err := range []error{place, host, owner, worker, indexOnHost, device, chip, core, neighbour, from, to} {
			wantCode(t, err, quoit.Invalid)
		}
	}
	_, err := torus.Neighbour(0, 3, quoit.DirectionUp)
	wantCode(t, err, quoit.Invalid)
	_, err = torus.Neighbour(0, quoit.AxisX, 3)
	wantCode(t, err, quoit.Invalid)
}

func ExampleNewCoordinates() {
	torus, err := quoit.NewCoordinates("v5e", "8x16", 0, quoit.WiringStraight)
	if err != nil {
		log.Fatal(err)
	}
	defer torus.Close()
	place, err := torus.ChipPlace(127)
	if err != nil {
		log.Fatal(err)
	}
	hops, err := torus.Hops(0, 127)
	if err != nil {
		log.Fatal(err)
	}
	worker, indexOnHost, err := torus.ChipWorker(127)
	fmt.Println(place, torus.Rings, hops, worker, indexOnHost, err)
	// Output: {7 15 0} [false true false] 8 31 3 <nil>
}
