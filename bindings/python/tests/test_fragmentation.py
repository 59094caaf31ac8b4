# SPDX-License-Identifier: Apache-2.0
"""Fragmentation, compared with rational arithmetic over a search of all packings of small slices."""

import functools
import itertools
import random
from fractions import Fraction

import pytest

import quoit

NOW = 1_790_000_000_000


def places_of(grid, box):
    """All places of a box of hosts, each as a frozenset of worker ids; turned too."""
    places = set()
    for width, height in {box, box[::-1]}:
        for x, y in itertools.product(range(grid[0] - width + 1), range(grid[1] - height + 1)):
            places.add(frozenset((y + j) * grid[0] + x + i for i in range(width) for j in range(height)))
    return places


def count_places(grid, box):
    return sum(
        (grid[0] - width + 1) * (grid[1] - height + 1)
        for width, height in {box, box[::-1]}
        if width <= grid[0] and height <= grid[1]
    )


def packed(grid, box, free):
    places = [place for place in places_of(grid, box) if place <= free]

    @functools.cache
    def best(left):
        if not left:
            return 0
        host = min(left)
        rest = best(left - {host})
        return max([rest, *(1 + best(left - place) for place in places if host in place and place <= left)])

    return best(frozenset(free))


def expected(grid, free_sets, shapes):
    """The fragmentation of slices with these free hosts, for boxes of hosts of 2x2 chips."""
    free = sum(map(len, free_sets))
    weights = {box: Fraction(4 * box[0] * box[1] * 65536 // count_places(grid, box)) for box in shapes}
    total = sum(
        weight * (1 - Fraction(sum(packed(grid, box, one) for one in free_sets) * box[0] * box[1], free))
        for box, weight in weights.items()
    )
    return int(total / sum(weights.values()) * 1_000_000)


BOXES = {"2x2": (1, 1), "2x4": (1, 2), "4x4": (2, 2), "4x8": (2, 4), "8x8": (4, 4)}


@pytest.mark.parametrize("seed", range(25))
def test_drawn_slices_have_the_expected_fragmentation(seed):
    draw = random.Random(seed)
    topology = draw.choice(["4x4", "4x8", "8x8"])
    grid = tuple(int(side) // 2 for side in topology.split("x"))
    slices = draw.randrange(1, 4)
    dead = {
        (one, host)
        for one in range(slices)
        for host in range(grid[0] * grid[1])
        if draw.random() < draw.choice((0.1, 0.4))
    }
    words = ",".join(f"{one}.{host}" for one, host in sorted(dead))
    ledger = quoit.open_memory()
    ledger.import_fleet_text(f"v6e {topology} x{slices}" + (f" dead={words}" if dead else ""), now_ms=NOW)
    measured = ledger.snapshot().measure_fragmentation()[0]
    free = [frozenset(host for host in range(grid[0] * grid[1]) if (one, host) not in dead) for one in range(slices)]
    shapes = [box for name, box in BOXES.items() if count_places(grid, box) > 0]
    assert measured.free_hosts == sum(map(len, free))
    assert [part.topology for part in measured.parts] == [name for name, box in BOXES.items() if box in shapes]
    assert [part.least for part in measured.parts] == [sum(packed(grid, box, one) for one in free) for box in shapes]
    assert measured.least_ppm == measured.most_ppm
    assert measured.least_ppm == (expected(grid, free, shapes) if measured.free_hosts else 0)


def test_an_intact_fleet_is_not_fragmented():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 8x8 x2; v5p 4x4x8; v6e 2x2 x3", now_ms=NOW)
    snapshot = ledger.snapshot()
    assert [one.least_ppm for one in snapshot.measure_fragmentation()] == [0] * len(snapshot.classes)
    parts = snapshot.measure_fragmentation()[0].parts
    assert 999_990 <= sum(part.weight_ppm for part in parts) <= 1_000_000


def test_partly_used_slices_count_and_the_past_differs():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x2", now_ms=NOW)
    ledger.reserve(quoit.Request("one", bundles=["TPU=4", "TPU=4"], strategy=quoit.Strategy.STRICT_SPREAD), now_ms=NOW)
    now, before = (one.measure_fragmentation()[0] for one in (ledger.snapshot(), ledger.snapshot_at(1)))
    assert (now.free_hosts, before.free_hosts, before.least_ppm) == (6, 8, 0)
    assert now.least_ppm > 0


def test_a_class_without_free_hosts_has_none():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x1 busy=0", now_ms=NOW)
    assert (
        ledger.snapshot().measure_fragmentation()[0].free_hosts,
        ledger.snapshot().measure_fragmentation()[0].least_ppm,
    ) == (0, 0)


def test_a_budget_gives_bounds():
    ledger = quoit.open_memory()
    draw = random.Random(1)
    dead = ",".join(f"0.{host}" for host in range(64) if draw.random() < 0.3)
    ledger.import_fleet_text(f"v6e 16x16 dead={dead}", now_ms=NOW)
    exact = ledger.snapshot().measure_fragmentation()[0]
    rough = ledger.snapshot().measure_fragmentation(steps=1)[0]
    assert rough.least_ppm <= exact.least_ppm <= exact.most_ppm <= rough.most_ppm


def test_cubes_in_blocks_are_measured():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x4 pool=b block=b; v6e 4x4", now_ms=NOW)
    for pool in "ab":
        ledger.reserve(quoit.Request(pool, accelerator="v5p", topology="4x4x4", slices=1, pool=pool), now_ms=NOW)
    measured = [one for one in ledger.snapshot().measure_joined_fragmentation() if one.parts]
    assert [(one.free_hosts, one.least_ppm, one.most_ppm) for one in measured] == [(96, 525252, 525252)]
    assert [(part.topology, part.least) for part in measured[0].parts] == [
        ("4x4x4", 6),
        ("4x4x8", 2),
        ("4x4x12", 2),
        ("4x4x16", 0),
    ]
    assert not any(one.parts for one in ledger.snapshot().measure_joined_fragmentation(quoit.Cubes.ADJACENT))
    with pytest.raises(quoit.InvalidError, match="NONE"):
        ledger.snapshot().measure_joined_fragmentation(quoit.Cubes.NONE)
