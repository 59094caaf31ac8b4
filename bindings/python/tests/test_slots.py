# SPDX-License-Identifier: Apache-2.0
"""Counts of parts, whose proofs are checked here without quoit."""

from __future__ import annotations

import itertools

import pytest

import quoit

NOW = 1_790_000_000_000


def places(shape, free, grid, wraps=False):
    """Every place of the shape, in hosts, and of its turns: a set of worker ids that are all free."""
    found = set()
    for turn in set(itertools.permutations(shape)):
        if any(side > length for side, length in zip(turn, grid)):
            continue
        starts = [range(n) if wraps else range(n - side + 1) for n, side in zip(grid, turn)]
        for x0, y0, z0 in itertools.product(*starts):
            hosts = frozenset(
                ((z0 + z) % grid[2] * grid[1] + (y0 + y) % grid[1]) * grid[0] + (x0 + x) % grid[0]
                for x, y, z in itertools.product(*(range(side) for side in turn))
            )
            if hosts <= free:
                found.add(hosts)
    return found


def greatest(places, free):
    """The greatest number of places without a common host, by trying all of them."""
    if not places:
        return 0
    host = min(min(place) for place in places)
    rest = {place for place in places if host not in place}
    without = greatest(rest, free)
    return max(
        [without] + [1 + greatest({q for q in rest if not q & place}, free) for place in places if host in place]
    )


def read_certificate(text):
    for line in text.splitlines():
        name, *members = line.split(" ")
        fields = dict(member.split("=", 1) for member in members)
        hosts = [int(one) for one in fields["free"].split(",") if one]
        weights = [int(one) for one in fields["weights"].split(",") if one]
        yield name, int(fields["most"]), int(fields["unit"]), dict(zip(hosts, weights, strict=True))


def check(slots, shape, grid, wraps=False):
    """Checks the proof of each slice, and returns the sums of what the proofs and the definition give."""
    proven = exact = 0
    for _name, most, unit, weights in read_certificate(slots.certificate):
        found = places(shape, frozenset(weights), grid, wraps)
        assert all(sum(weights[host] for host in place) >= unit for place in found)
        assert sum(weights.values()) // unit <= most
        proven += most
        exact += greatest(found, frozenset(weights))
    return proven, exact


def test_parts_are_counted_now_and_under_assumptions():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 8x8 x2 pool=p", now_ms=NOW)  # 4x4 hosts each
    ledger.drain_nodes(["p-0-0"], now_ms=NOW)
    ledger.set_node_states(["p-0-5"], quoit.NodeState.DEAD, now_ms=NOW)
    request = quoit.Request("train", accelerator="v6e", topology="8x8", slices=1, lease_ms=60_000)
    ledger.reserve(request, now_ms=NOW)
    snapshot = ledger.snapshot()

    now, undrained, ended, mended = snapshot.count_slots("v6e", "4x4", until_ms=NOW + 60_000)
    assert [one.assumption for one in (now, undrained, ended, mended)] == list(quoit.SlotsIf)
    # The first slice lacks hosts 0 and 5, so that three parts of 2x2 hosts are left.
    assert (now.least, now.most) == (3, 3)
    assert (undrained.least, undrained.most) == (3, 3)
    assert (ended.least, ended.most) == (7, 7)
    assert (mended.least, mended.most) == (4, 4)
    assert [one.topology for one in snapshot.count_slots("v6e")[::4]] == ["2x2", "2x4", "4x4", "4x8", "8x8"]


@pytest.mark.parametrize("dead", [[], [5], [0, 6, 10], [1, 4, 7, 11, 14], [3, 5, 9]])
def test_counts_are_those_of_all_packings_and_proven(dead):
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 8x8 pool=p", now_ms=NOW)
    if dead:
        ledger.set_node_states([f"p-0-{host}" for host in dead], quoit.NodeState.DEAD, now_ms=NOW)
    snapshot = ledger.snapshot()
    for topology, shape in (("2x4", (1, 2, 1)), ("4x4", (2, 2, 1)), ("4x8", (2, 4, 1))):
        now = snapshot.count_slots("v6e", topology)[0]
        proven, exact = check(now, shape, (4, 4, 1))
        assert now.least == exact
        assert now.most == proven == exact


def test_parts_wrap_only_where_the_slice_has_links():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v5p 8x8x8 pool=p; v6e 8x8 pool=q", now_ms=NOW)  # 4x4x8 hosts; 8x8 of v6e has no links
    ledger.set_node_states(["p-0-9", "p-0-77", "q-0-5"], quoit.NodeState.DEAD, now_ms=NOW)
    snapshot = ledger.snapshot()
    straight = snapshot.count_slots("v5p", "4x8x8")[0]
    wrapped = snapshot.count_slots("v5p", "4x8x8", cut=quoit.Cut.ANY_OR_WRAPPED)[0]
    assert straight.least <= wrapped.least <= wrapped.most
    same = [snapshot.count_slots("v6e", "4x4", cut=cut)[0] for cut in (quoit.Cut.ANY, quoit.Cut.ANY_OR_WRAPPED)]
    assert same[0] == same[1]


def test_cuts():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 8x8 pool=p; v6e 4x4 pool=small", now_ms=NOW)
    ledger.set_node_states(["p-0-0"], quoit.NodeState.DEAD, now_ms=NOW)
    snapshot = ledger.snapshot()
    cuts = quoit.Cut.ALIGNED, quoit.Cut.ANY, quoit.Cut.ANY_OR_WRAPPED
    counts = {cut: snapshot.count_slots("v6e", "4x8", cut=cut)[0].least for cut in cuts}
    assert counts[quoit.Cut.ANY] == 1
    assert counts[quoit.Cut.ALIGNED] == 1  # hosts 8 to 15
    assert snapshot.count_slots("v6e", "4x4", cut=quoit.Cut.WHOLE)[0].least == 1
    with pytest.raises(quoit.NotFoundError):
        snapshot.count_slots("v6e", "4x8", cut=quoit.Cut.WHOLE)
    with pytest.raises(quoit.NotFoundError):
        snapshot.count_slots("v6e", "4x8", cut=quoit.Cut.PARTITION)


def test_joined_slices_are_counted():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v5p 4x4x4 x8 pool=a block=a grid=2x2x2; v5p 4x4x4 x3 pool=b block=b", now_ms=NOW)
    ledger.drain_nodes(["a-0-0"], now_ms=NOW)
    request = quoit.Request("one", accelerator="v5p", topology="4x4x4", slices=1, pool="b", lease_ms=60_000)
    ledger.reserve(request, now_ms=NOW)
    snapshot = ledger.snapshot()

    counted = snapshot.count_joined_slots("v5p", "4x4x12", until_ms=NOW + 60_000)
    assert [(one.least, one.most) for one in counted] == [(2, 2), (2, 2), (3, 3), (2, 2)]
    assert counted[2].certificate.splitlines()[1] == "fleet/b most=1 unit=3 free=b-0,b-1,b-2 weights=1,1,1"
    adjacent = snapshot.count_joined_slots("v5p", cubes=quoit.Cubes.ADJACENT)
    assert [(one.topology, one.least) for one in adjacent[::4]] == [
        ("4x4x4", 7),
        ("4x4x8", 3),
        ("4x8x8", 1),
        ("8x8x8", 0),
    ]
    with pytest.raises(quoit.InvalidError, match="cubes 'none'"):
        snapshot.count_joined_slots("v5p", cubes=quoit.Cubes.NONE)
    with pytest.raises(quoit.InvalidError, match="v6e has none"):
        snapshot.count_joined_slots("v6e")
    with pytest.raises(quoit.NotFoundError, match="no block of v5p that can hold a slice of '8x8x16'"):
        snapshot.count_joined_slots("v5p", "8x8x16")


def test_wrong_arguments_are_refused():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 pool=p", now_ms=NOW)
    snapshot = ledger.snapshot()
    with pytest.raises(quoit.InvalidError, match="v9"):
        snapshot.count_slots("v9")
    with pytest.raises(quoit.InvalidError, match="3x3"):
        snapshot.count_slots("v6e", "3x3")
    with pytest.raises(quoit.NotFoundError, match="no slice of v6e from which '8x8' can be cut"):
        snapshot.count_slots("v6e", "8x8")
    with pytest.raises(quoit.NotFoundError, match="no slice of v4"):
        snapshot.count_slots("v4")
