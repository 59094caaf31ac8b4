# SPDX-License-Identifier: Apache-2.0
"""The positions of the chips, hosts and JAX devices of a slice on its torus, and the distances between them.

Positions depend only on the topology; no fleet or database is needed. All numbers count along x first, like in JAX and
GKE. The number of a host is its worker id.

>>> import quoit
>>> torus = quoit.coordinates.torus("v6e", "4x4")
>>> torus.worker_chips(1), torus.chip_at(6), torus.hops(0, 15)
((2, 6, 3, 7), (2, 1, 0), 6)
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, TypeVar

from . import _c, errors
from ._c import call, lib

_Value = TypeVar("_Value")

Place = tuple[int, int, int]
"""Coordinates x, y and z from 0. z is 0 in a topology of two dimensions."""


class Axis(_c.Code):
    """The axes of a torus, in the order of the numbers of a topology."""

    X = 0
    Y = 1
    Z = 2


class Direction(_c.Code):
    """A direction along an axis."""

    UP = 1
    DOWN = 2


class Wiring(_c.Code):
    """How the links that close the axes are connected."""

    STRAIGHT = 1
    """Each link that closes an axis connects the two ends of one line. GKE announces no other wiring."""
    TWISTED = 2
    """The links that close the short axes (length k) are shifted by k, half the length, along the long axes (2k).

    Only topologies of the form k,k,2k and k,2k,2k can be twisted: see `catalogue.Topology.is_twistable`.
    """


@dataclasses.dataclass(frozen=True)
class Torus:
    """The torus of a topology, from `torus`. Chips, hosts and devices are numbered from 0."""

    accelerator: str
    topology: str
    chips_per_host: int
    wiring: Wiring
    lengths: Place
    """The number of chips along each axis."""
    host_lengths: Place
    """The number of chips of a host along each axis."""
    rings: tuple[bool, bool, bool]
    """For each axis, whether links connect its two ends, so that it is a ring; otherwise the axis is a line."""
    twist: tuple[Place, Place, Place]
    """For each axis, by how many chips its closing links are shifted along each axis."""
    n_chips: int
    n_hosts: int
    n_devices: int
    """The number of JAX devices."""
    bisection: int
    """The number of links that a cut of the torus into two halves severs: the smallest number over the axes."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def chip_at(self, chip: int) -> Place:
        """Returns the coordinates of a chip.

        Raises:
            InvalidError: there is no chip with that number.
        """
        number = self._chip(chip)
        return _for_each_axis(lambda axis: int(lib.quoit_coordinates_get_chip_at(self._handle, number, axis)))

    def find_chip(self, x: int, y: int, z: int = 0) -> int | None:
        """Returns the number of the chip at these coordinates; None outside the torus.

        Raises:
            InvalidError: a coordinate is below 0 or beyond 32 bits.
        """
        return _number(lib.quoit_coordinates_find_chip(self._handle, *_place(x, y, z)))

    def worker_at(self, worker_id: int) -> Place:
        """Returns the coordinates of a host, counted in hosts.

        Raises:
            InvalidError: there is no host with that worker id.
        """
        number = self._worker(worker_id)
        return _for_each_axis(lambda axis: int(lib.quoit_coordinates_get_worker_at(self._handle, number, axis)))

    def find_worker(self, x: int, y: int, z: int = 0) -> int | None:
        """Returns the worker id of the host at these coordinates, counted in hosts; None outside the torus.

        Raises:
            InvalidError: a coordinate is below 0 or beyond 32 bits.
        """
        return _number(lib.quoit_coordinates_find_worker(self._handle, *_place(x, y, z)))

    def chip_worker(self, chip: int) -> int:
        """Returns the worker id of the host that has the chip.

        Raises:
            InvalidError: there is no chip with that number.
        """
        return int(lib.quoit_coordinates_get_chip_worker(self._handle, self._chip(chip)))

    def chip_index_on_host(self, chip: int) -> int:
        """Returns the index of the chip on its host, as in `PlacedBundle.chips` and TPU_VISIBLE_CHIPS.

        Chips 0 and 1 are neighbours along y, like in JAX's bounds of 1,2,1.

        Raises:
            InvalidError: there is no chip with that number.
        """
        return int(lib.quoit_coordinates_get_chip_index_on_host(self._handle, self._chip(chip)))

    def worker_chips(self, worker_id: int) -> tuple[int, ...]:
        """Returns the chips of the host, in the order of their indices on the host.

        Raises:
            InvalidError: there is no host with that worker id.
        """
        number = self._worker(worker_id)
        return tuple(
            int(lib.quoit_coordinates_get_worker_chip(self._handle, number, index_on_host))
            for index_on_host in range(self.chips_per_host)
        )

    def device_chip(self, device: int) -> int:
        """Returns the chip of the JAX device.

        Raises:
            InvalidError: there is no device with that id.
        """
        number = _c.to_int(device, "device", range(lib.quoit_coordinates_get_n_devices(self._handle)))
        return int(lib.quoit_coordinates_get_device_chip(self._handle, number))

    def chip_devices(self, chip: int) -> tuple[int, ...]:
        """Returns the ids, within the slice, of the chip's JAX devices.

        Raises:
            InvalidError: there is no chip with that number.
        """
        number = self._chip(chip)
        return tuple(
            int(lib.quoit_coordinates_get_chip_device(self._handle, number, core))
            for core in range(self.n_devices // self.n_chips)
        )

    def find_neighbour(self, chip: int, axis: Axis, direction: Direction) -> int | None:
        """Returns the chip at the other end of a link. At the end of a ring, this is the link that closes the ring.

        None: there is no link in that direction.

        Raises:
            InvalidError: there is no such chip, axis or direction.
        """
        number = self._chip(chip)
        direction_of_link = _known_member(Axis, axis, "axis"), _known_member(Direction, direction, "direction")
        return _number(lib.quoit_coordinates_find_neighbour(self._handle, number, *direction_of_link))

    def hops(self, start: int, end: int) -> int:
        """Returns the number of links of a shortest path between two chips.

        Raises:
            InvalidError: there is no chip with one of the numbers.
        """
        return int(lib.quoit_coordinates_get_hops(self._handle, self._chip(start, "start"), self._chip(end, "end")))

    @property
    def _handle(self) -> Any:
        """The handle of libquoit. A torus from a pickle has no handle, and makes a new one at the first access."""
        given = self.accelerator, self.topology, self.chips_per_host, self.wiring
        return _c.cached(self, "_new_handle", lambda: _new_handle(*given))

    def _chip(self, chip: object, what: str = "chip") -> int:
        return _c.to_int(chip, what, range(lib.quoit_coordinates_get_n_chips(self._handle)))

    def _worker(self, worker_id: object) -> int:
        return _c.to_int(worker_id, "worker_id", range(lib.quoit_coordinates_get_n_hosts(self._handle)))


def torus(accelerator: str, topology: str, chips_per_host: int = 0, wiring: Wiring = Wiring.STRAIGHT) -> Torus:
    """Returns the torus of a slice of that topology on such hosts.

    Args:
        accelerator: any system's name of the generation: "v6e", "TPU-V5LITEPOD".
        topology: "4x4", "2x2x4".
        chips_per_host: the chips of each host; 0 for Ray's default, like in `catalogue.Generation.lookup_topology`.
        wiring: how the axes are closed.

    Raises:
        InvalidError: the generation is unknown; the generation has no such topology (the message has the wrong byte, or
            the nearest topology); the topology is never built from such hosts; or it cannot be twisted.
    """
    handle = _new_handle(accelerator, topology, chips_per_host, wiring)
    n_chips, n_hosts = lib.quoit_coordinates_get_n_chips(handle), lib.quoit_coordinates_get_n_hosts(handle)
    return Torus(
        accelerator=_c.plain_str(accelerator),
        topology=_c.plain_str(topology),
        chips_per_host=int(n_chips // n_hosts),
        wiring=wiring,
        lengths=_for_each_axis(lambda axis: int(lib.quoit_coordinates_get_length(handle, axis))),
        host_lengths=_for_each_axis(lambda axis: int(lib.quoit_coordinates_get_host_length(handle, axis))),
        rings=_for_each_axis(lambda axis: bool(lib.quoit_coordinates_is_ring(handle, axis))),
        twist=_for_each_axis(
            lambda axis: _for_each_axis(lambda along: int(lib.quoit_coordinates_get_twist(handle, axis, along)))
        ),
        n_chips=int(n_chips),
        n_hosts=int(n_hosts),
        n_devices=int(lib.quoit_coordinates_get_n_devices(handle)),
        bisection=int(lib.quoit_coordinates_get_bisection(handle)),
    )


def _new_handle(accelerator: object, topology: object, chips_per_host: object, wiring: object) -> Any:
    pointer = call(
        lib.quoit_coordinates_new,
        _c.to_text(accelerator, "accelerator"),
        _c.to_text(topology, "topology"),
        _c.to_int(chips_per_host, "chips_per_host", _c.UINT32),
        _c.to_member(Wiring, wiring, "wiring"),
    )
    return _c.own_handle(pointer, lib.quoit_coordinates_free)


def _known_member(kind: type[_c.Code], value: object, what: str) -> int:
    """Converts a member. Refuses unknown members, because libquoit aborts for them."""
    number = _c.to_member(kind, value, what)
    if number not in kind.__members__.values():
        raise errors.InvalidError(f"{what} '{number}': expected one of {', '.join(kind.__members__)}")
    return number


def _for_each_axis(get: Callable[[int], _Value]) -> tuple[_Value, _Value, _Value]:
    return get(Axis.X), get(Axis.Y), get(Axis.Z)


def _place(*numbers: int) -> tuple[int, ...]:
    return tuple(_c.to_int(number, axis, _c.UINT32) for number, axis in zip(numbers, "xyz"))


def _number(number: int) -> int | None:
    return None if number < 0 else int(number)
