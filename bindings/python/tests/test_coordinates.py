# SPDX-License-Identifier: Apache-2.0
"""The places of chips and hosts on the torus of their slice."""

import copy
import dataclasses
import itertools
import math
import pickle

import pytest

import quoit
from quoit import catalogue, coordinates
from quoit.coordinates import Axis, Direction, Wiring


def small_ones():
    """Yields the topologies of every generation with at most 64 chips, and the smallest one of each twisted form."""
    for generation in catalogue.generations():
        for one in generation.topologies:
            if one.chips <= 64:
                yield coordinates.torus(generation.id, one.shape, one.chips_per_host), one
    for shape in ("4x4x8", "4x8x8"):
        one = catalogue.lookup_generation("v5p").lookup_topology(shape)
        yield coordinates.torus("v5p", shape, wiring=Wiring.TWISTED), one


SMALL = list(small_ones())


def numbers(shape):
    return tuple((*map(int, shape.split("x")), 1))[:3]


def neighbours(torus, chip):
    found = (torus.find_neighbour(chip, axis, way) for axis, way in itertools.product(Axis, Direction))
    return {one for one in found if one is not None}


@pytest.mark.parametrize(("torus", "topology"), SMALL, ids=lambda one: getattr(one, "topology", ""))
def test_a_torus_matches_the_catalogue(torus, topology):
    assert torus.lengths == numbers(topology.shape)
    assert torus.host_lengths == numbers(topology.host_block)
    assert "".join(axis for axis, ring in zip("xyz", torus.rings) if ring) == topology.wrap
    assert (torus.n_chips, torus.n_hosts) == (topology.chips, topology.hosts)
    assert (torus.n_devices, torus.chips_per_host) == (topology.jax_devices, topology.chips_per_host)


@pytest.mark.parametrize(("torus", "topology"), SMALL, ids=lambda one: getattr(one, "topology", ""))
def test_every_conversion_can_be_inverted(torus, topology):
    places = [torus.chip_at(chip) for chip in range(torus.n_chips)]
    assert sorted(places, key=lambda place: place[::-1]) == places, "x first"
    assert [torus.find_chip(*place) for place in places] == list(range(torus.n_chips))
    hosts = [torus.worker_at(worker) for worker in range(torus.n_hosts)]
    assert [torus.find_worker(*place) for place in hosts] == list(range(torus.n_hosts))
    dealt = [chip for worker in range(torus.n_hosts) for chip in torus.worker_chips(worker)]
    assert sorted(dealt) == list(range(torus.n_chips))
    for worker, chips in enumerate(map(torus.worker_chips, range(torus.n_hosts))):
        assert [torus.chip_worker(chip) for chip in chips] == [worker] * len(chips)
        assert [torus.chip_index_on_host(chip) for chip in chips] == list(range(len(chips)))
    devices = [device for chip in range(torus.n_chips) for device in torus.chip_devices(chip)]
    assert devices == list(range(torus.n_devices))
    assert all(torus.device_chip(device) == device * torus.n_chips // torus.n_devices for device in devices)


@pytest.mark.parametrize(("torus", "topology"), SMALL, ids=lambda one: getattr(one, "topology", ""))
def test_hops_count_steps_between_neighbours(torus, topology):
    for start in range(0, torus.n_chips, 1 + torus.n_chips // 16):
        hops, edge = {start: 0}, {start}
        while edge:
            edge = {one for chip in edge for one in neighbours(torus, chip)} - hops.keys()
            hops.update(dict.fromkeys(edge, max(hops.values()) + 1))
        assert hops == {chip: torus.hops(start, chip) for chip in range(torus.n_chips)}
    assert all(chip in neighbours(torus, one) for chip in range(torus.n_chips) for one in neighbours(torus, chip))


def test_a_2x4_has_one_or_two_hosts():
    one, two = coordinates.torus("v6e", "2x4"), coordinates.torus("v6e", "2x4", 4)
    assert (one.n_hosts, one.worker_chips(0)) == (1, (0, 2, 1, 3, 4, 6, 5, 7))
    assert (two.n_hosts, two.worker_chips(0), two.worker_chips(1)) == (2, (0, 2, 1, 3), (4, 6, 5, 7))
    assert two.worker_at(1) == (0, 1, 0) and two.find_worker(0, 2) is None


def test_a_twist_shortens_paths_and_widens_the_bisection():
    straight, twisted = (coordinates.torus("v4", "4x4x8", wiring=wiring) for wiring in Wiring)
    assert straight.twist == ((0, 0, 0),) * 3
    assert twisted.twist == ((0, 0, 4), (0, 0, 4), (0, 0, 0))
    assert twisted.find_neighbour(0, Axis.X, Direction.DOWN) == twisted.find_chip(3, 0, 4)
    assert (straight.bisection, twisted.bisection) == (32, 64)
    farthest = [max(torus.hops(0, chip) for chip in range(128)) for torus in (straight, twisted)]
    assert farthest == [8, 6]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("v6e", "99999x99999"), quoit.InvalidError, "'99999x99999'"),
        (("v6e", "3x5"), quoit.InvalidError, "nearest"),
        (("h100", "4x4"), quoit.InvalidError, "'h100'"),
        (("v6e", "4x4", 8), quoit.InvalidError, "chips per host '8'"),
        (("v6e", "4x4", -1), quoit.InvalidError, "chips_per_host '-1'"),
        (("v6e", "4x4", 4, Wiring.TWISTED), quoit.InvalidError, "can be twisted"),
        (("v6e", "4x4", 4, Wiring(9)), quoit.InvalidError, "wiring '9'"),
        (("v6e", "4x4", 4, 1), TypeError, "wiring: expected a Wiring"),
        ((6, "4x4"), TypeError, "accelerator: expected a str"),
    ],
)
def test_an_invalid_torus_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        coordinates.torus(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda torus: torus.chip_at(16), "chip '16': expected 0 to 15"),
        (lambda torus: torus.chip_worker(-1), "chip '-1': expected 0 to 15"),
        (lambda torus: torus.chip_index_on_host(2**70), "chip '1180591620717411303424'"),
        (lambda torus: torus.chip_devices(16), "chip '16'"),
        (lambda torus: torus.worker_at(4), "worker_id '4': expected 0 to 3"),
        (lambda torus: torus.worker_chips(4), "worker_id '4'"),
        (lambda torus: torus.device_chip(16), "device '16': expected 0 to 15"),
        (lambda torus: torus.find_chip(-1, 0), "x '-1'"),
        (lambda torus: torus.find_worker(0, 2**32), "y '4294967296'"),
        (lambda torus: torus.hops(0, 16), "end '16'"),
        (lambda torus: torus.find_neighbour(16, Axis.X, Direction.UP), "chip '16'"),
        (lambda torus: torus.find_neighbour(0, Axis(3), Direction.UP), "axis '3': expected one of X, Y, Z"),
        (lambda torus: torus.find_neighbour(0, Axis.X, Direction(0)), "direction '0': expected one of UP, DOWN"),
    ],
)
def test_invalid_arguments_of_queries_are_refused(call, message):
    with pytest.raises(quoit.InvalidError, match=message):
        call(coordinates.torus("v6e", "4x4"))


def test_a_torus_can_be_compared_and_pickled():
    torus = coordinates.torus("v5p", "2x2x4")
    assert torus == coordinates.torus("v5p", "2x2x4") != coordinates.torus("v5p", "2x2x2")
    for same in (pickle.loads(pickle.dumps(torus)), copy.deepcopy(torus), dataclasses.replace(torus)):
        assert same == torus and hash(same) == hash(torus)
        assert same.hops(0, 15) == torus.hops(0, 15) == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        torus.n_chips = 1
    assert math.prod(torus.lengths) == torus.n_chips


def test_a_torus_built_by_hand_is_checked_by_the_library():
    made_up = dataclasses.replace(coordinates.torus("v6e", "4x4"), n_chips=1000, n_devices=1000)
    with pytest.raises(quoit.InvalidError, match="chip '999'"):
        made_up.chip_at(999)
    with pytest.raises(quoit.InvalidError, match="'5x5'"):
        dataclasses.replace(made_up, topology="5x5").chip_at(0)
