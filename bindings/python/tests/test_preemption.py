# SPDX-License-Identifier: Apache-2.0
"""Preemption: examples, and a search of all sets of groups on small fleets."""

import itertools
import random

import pytest

import quoit

NOW = 1_800_000_000_000
HOUR = 3_600_000


def request(name="urgent", slices=1, priority=10, **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, priority=priority, **arguments)


def names(preemption):
    return [group.name for group in preemption.groups]


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x8", now_ms=NOW)
        yield opened


def reserve(ledger, name, slices, priority, now_ms=NOW, **arguments):
    return ledger.reserve(request(name, slices, priority, **arguments), now_ms=now_ms)


def test_nothing_is_released_for_a_request_that_fits(ledger):
    reserve(ledger, "a", 4, 1)
    assert ledger.snapshot().find_preemption(request(slices=4), now_ms=NOW) == quoit.Preemption((), True)


def test_the_greatest_priority_decides_then_chips_then_time(ledger):
    reserve(ledger, "low", 4, 1)
    reserve(ledger, "high-1", 1, 5)
    reserve(ledger, "high-2", 1, 5, NOW + HOUR)
    reserve(ledger, "higher", 2, 7, NOW + HOUR)
    snapshot = ledger.snapshot()

    def released(slices, priority=10):
        found = snapshot.find_preemption(request(slices=slices, priority=priority), now_ms=NOW + 2 * HOUR)
        assert found.is_cheapest
        return names(found)

    assert released(1) == ["low"]  # although a group of higher priority has fewer chips
    assert released(5) == ["low", "high-2"]  # which has run for a shorter time than high-1
    assert released(6) == ["low", "high-2", "high-1"]
    assert released(7) == ["low", "high-2", "higher"]
    with pytest.raises(quoit.NotNowError, match="at most 6 of 7 slices, even if all groups of a priority below 7 are"):
        released(7, priority=7)
    with pytest.raises(quoit.NeverError, match="at most 8 of 9 slices"):
        released(9)


def test_only_own_groups_of_lower_priority_are_released(ledger):
    reserve(ledger, "same", 4, 10)
    reserve(ledger, "lower", 4, 9)
    snapshot = ledger.snapshot()
    assert names(snapshot.find_preemption(request(), now_ms=NOW)) == ["lower"]
    with pytest.raises(quoit.NotNowError, match="even if all groups of a priority below 9 are released"):
        snapshot.find_preemption(request(priority=9), now_ms=NOW)
    with pytest.raises(quoit.NotFoundError):
        snapshot.find_preemption(request(pool="nowhere"), now_ms=NOW)


def test_slices_that_would_not_be_free_do_not_count(ledger):
    reserve(ledger, "a", 4, 1, named=[f"v6e-4x4-{n}" for n in range(4)])
    reserve(ledger, "b", 4, 2)
    for node in ("v6e-4x4-0-0", "v6e-4x4-1-3"):
        ledger.drain_node(node, now_ms=NOW)
    snapshot = ledger.snapshot()
    assert names(snapshot.find_preemption(request(slices=2), now_ms=NOW)) == ["a"]
    # Three slices: b alone has them.
    assert names(snapshot.find_preemption(request(slices=3), now_ms=NOW)) == ["b"]
    assert names(snapshot.find_preemption(request(slices=6), now_ms=NOW)) == ["a", "b"]


def test_the_plan_can_be_committed(ledger):
    reserve(ledger, "a", 8, 1)
    with ledger.snapshot().fork() as fork:
        for group in fork.snapshot().find_preemption(request(slices=3), now_ms=NOW).groups:
            fork.release(group, now_ms=NOW)
        fork.reserve(request(slices=3), now_ms=NOW)
        ledger.commit_fork(fork, now_ms=NOW)
    assert [group.name for group in ledger.snapshot().groups] == ["urgent"]


def test_bundles(ledger):
    reserve(ledger, "a", 4, 1)
    reserve(ledger, "b", 4, 2)
    wanted = quoit.Request("urgent", bundles=[{"TPU": 4}] * 17, strategy=quoit.Strategy.STRICT_SPREAD, priority=3)
    found = ledger.snapshot().find_preemption(wanted, now_ms=NOW)
    assert (names(found), found.is_cheapest) == (["a", "b"], True)
    wanted = quoit.Request("urgent", bundles=[{"TPU": 4}], policy=quoit.Policy.RAY, priority=3)
    assert names(ledger.snapshot().find_preemption(wanted, now_ms=NOW)) == ["a"]
    wanted = quoit.Request("urgent", bundles=[{"TPU": 4}], priority=1)
    with pytest.raises(quoit.NotNowError, match="and no group has a priority below 1"):
        ledger.snapshot().find_preemption(wanted, now_ms=NOW)


# --- against a search of all sets ---

PRIORITY = 3


def chips(group):
    if group.bundles:
        return sum(float(bundle.resources.get("TPU", 0)) for bundle in group.bundles)
    return 16 * len(group.slices)


def cost(groups, now_ms):
    sizes = [chips(group) for group in groups]
    return (
        max(group.priority for group in groups),
        sum(sizes),
        sum(-(-size // 1) * ((now_ms - group.created_ms) // 1000) for size, group in zip(sizes, groups)),
    )


def fits_without(snapshot, wanted, groups, now_ms):
    with snapshot.fork() as fork:
        for group in groups:
            fork.release(group, now_ms=now_ms)
        return fork.snapshot().explain(wanted).verdict == quoit.Verdict.FITS


def cheapest(snapshot, wanted, now_ms):
    """The least cost of a set of groups without which the request fits; None if there is none."""
    lower = [group for group in snapshot.groups if group.priority < PRIORITY]
    costs = [
        cost(groups, now_ms)
        for n in range(1, len(lower) + 1)
        for groups in itertools.combinations(lower, n)
        if fits_without(snapshot, wanted, groups, now_ms)
    ]
    return min(costs, default=None)


def fill(draw, ledger):
    for number in range(draw.randrange(2, 8)):
        now_ms = NOW + draw.randrange(5) * HOUR
        arguments = {"priority": draw.randrange(-2, 5)}
        kind = draw.randrange(6)
        try:
            if kind == 0:
                bundles = [{"TPU": draw.choice([1, 2, 4])}] * draw.randrange(1, 6)
                strategy = draw.choice([quoit.Strategy.PACK, quoit.Strategy.SPREAD])
                ledger.reserve(
                    quoit.Request(f"g{number}", bundles=bundles, strategy=strategy, **arguments), now_ms=now_ms
                )
            elif kind == 1:
                ledger.reserve(request(f"g{number}", 1, tpu_per_bundle="2", **arguments), now_ms=now_ms)
            elif kind == 2:
                ledger.reserve(request(f"g{number}", (1, draw.randrange(2, 5)), **arguments), now_ms=now_ms)
            else:
                ledger.reserve(request(f"g{number}", draw.randrange(1, 4), **arguments), now_ms=now_ms)
        except quoit.RefusedError:
            continue


def drawn_request(draw):
    if draw.random() < 0.3:
        bundles = [{"TPU": draw.choice([2, 4])}] * draw.randrange(1, 12)
        return quoit.Request("x", bundles=bundles, strategy=quoit.Strategy.STRICT_SPREAD, priority=PRIORITY)
    pool = draw.choice([None, None, "a", "b"])
    return request("x", draw.randrange(1, 7), PRIORITY, pool=pool)


# Priorities can be negative, and elastic groups end as a whole.
def test_drawn_preemptions_are_the_cheapest():
    draw = random.Random(20261126)
    n_released = 0
    for number in range(150):
        with quoit.open_memory() as ledger:
            ledger.import_fleet_text("v6e 4x4 x4 pool=a; v6e 4x4 x3 pool=b", now_ms=NOW)
            fill(draw, ledger)
            if draw.random() < 0.3:
                ledger.drain_node(draw.choice([node.name for node in ledger.snapshot().nodes]), now_ms=NOW + 5 * HOUR)
            snapshot, now_ms = ledger.snapshot(), NOW + 6 * HOUR
            wanted = drawn_request(draw)
            if snapshot.explain(wanted).verdict == quoit.Verdict.FITS:
                assert snapshot.find_preemption(wanted, now_ms=now_ms) == quoit.Preemption((), True)
                continue
            expected = cheapest(snapshot, wanted, now_ms)
            if expected is None:
                with pytest.raises(quoit.RefusedError):
                    snapshot.find_preemption(wanted, now_ms=now_ms)
                continue
            found = snapshot.find_preemption(wanted, now_ms=now_ms)
            assert found.is_cheapest
            assert fits_without(snapshot, wanted, found.groups, now_ms), number
            assert cost(found.groups, now_ms) == expected, (number, names(found))
            n_released += 1
    assert n_released > 40
