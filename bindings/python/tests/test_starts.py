# SPDX-License-Identifier: Apache-2.0
"""When a request will fit: examples, and comparisons with a step-by-step search on forks."""

import random

import pytest

import quoit

NOW = 1_800_000_000_000


def request(name="train", slices=1, **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, **arguments)


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x4", now_ms=NOW)
        yield opened


def ends_of(start):
    return [(end.group.name, end.time_ms - NOW, end.is_estimate, end.is_overdue) for end in start.ends]


def test_a_request_waits_for_leases_and_estimates(ledger):
    ledger.reserve(request("leased", lease_ms=3_000), now_ms=NOW)
    ledger.reserve(request("estimated", expected_runtime_ms=1_000), now_ms=NOW)
    ledger.reserve(request("both", lease_ms=1_900, expected_runtime_ms=2_000), now_ms=NOW)
    ledger.reserve(request("unknown"), now_ms=NOW)
    snapshot = ledger.snapshot()
    starts = [snapshot.find_start(request("x", n), now_ms=NOW) for n in (1, 2, 3, 4)]
    assert [start.time_ms for start in starts] == [NOW + 1_000, NOW + 2_000, NOW + 3_000, None]
    assert ends_of(starts[0]) == [("estimated", 1_000, True, False)]
    assert ends_of(starts[2]) == [
        ("estimated", 1_000, True, False),
        ("both", 2_000, True, False),
        ("leased", 3_000, False, False),
    ]
    assert starts[3].ends == ()
    # An estimate that has passed counts as the next millisecond.
    late = snapshot.find_start(request("x"), now_ms=NOW + 1_500)
    assert (late.time_ms, ends_of(late)) == (NOW + 1_501, [("estimated", 1_501, True, True)])
    # A lease that has ended needs no wait.
    assert snapshot.find_start(request("x"), now_ms=NOW + 3_000) == quoit.Start(NOW + 3_000, ())
    ledger.release("unknown", now_ms=NOW)
    assert ledger.snapshot().find_start(request("x"), now_ms=NOW) == quoit.Start(NOW, ())


def test_the_lease_of_an_owner_ends_its_groups(ledger):
    ledger.set_owner("team", lease_ms=5_000, now_ms=NOW)
    ledger.reserve(request("owned", 4, owner="team"), now_ms=NOW)
    start = ledger.snapshot().find_start(request("x", 4), now_ms=NOW)
    assert (start.time_ms, ends_of(start)) == (NOW + 5_000, [("owned", 5_000, False, False)])


def test_slices_that_do_not_become_free_do_not_count(ledger):
    ledger.reserve(request("a", 4, expected_runtime_ms=1_000), now_ms=NOW)
    ledger.drain_node("v6e-4x4-0-0", now_ms=NOW)
    ledger.set_node_state("v6e-4x4-1-0", quoit.NodeState.DEAD, now_ms=NOW)
    snapshot = ledger.snapshot()
    assert snapshot.find_start(request("x", 2), now_ms=NOW).time_ms == NOW + 1_000
    assert snapshot.find_start(request("x", 3), now_ms=NOW) == quoit.Start(None, ())
    with pytest.raises(quoit.NeverError, match="at most 4 of 5 slices, even if all groups end"):
        snapshot.find_start(request("x", 5), now_ms=NOW)
    with pytest.raises(quoit.InvalidError, match="2000 to 2199"):
        snapshot.find_start(request("x"), now_ms=0)


def test_bundles_wait_for_the_groups_on_their_nodes(ledger):
    ledger.reserve(request("a", 3, expected_runtime_ms=5_000), now_ms=NOW)
    for number in range(4):
        half = quoit.Request(
            f"h{number}", bundles=[{"TPU": 2}], expected_runtime_ms=1_000 * (number + 1), named=["v6e-4x4-3"]
        )
        ledger.reserve(half, now_ms=NOW)
    wanted = quoit.Request("x", bundles=[{"TPU": 4}] * 3, strategy=quoit.Strategy.STRICT_SPREAD)
    start = ledger.snapshot().find_start(wanted, now_ms=NOW)
    assert start.time_ms is not None
    fork = ledger.snapshot().fork()
    for end in start.ends:
        fork.release(end.group, now_ms=NOW)
    fork.reserve(wanted, now_ms=NOW)


def test_drawn_starts_are_those_of_a_search_step_by_step():
    draw = random.Random(20261126)
    n_waits = 0
    for number in range(120):
        with quoit.open_memory() as ledger:
            ledger.import_fleet_text("v6e 4x4 x6 pool=a; v6e 4x4 x5 pool=b zone=z busy=2", now_ms=NOW)
            fill(draw, ledger)
            snapshot = ledger.snapshot()
            for wanted in drawn_requests(draw):
                expected = first_time(snapshot, wanted)
                found = snapshot.find_start(wanted, now_ms=NOW)
                assert found.time_ms == expected, (number, wanted)
                n_waits += expected not in (None, NOW)
    assert n_waits > 100


def fill(draw, ledger):
    for number in range(draw.randrange(3, 12)):
        times = {}
        if draw.random() < 0.6:
            times["expected_runtime_ms"] = draw.randrange(1, 6) * 1_000
        if draw.random() < 0.4:
            times["lease_ms"] = draw.randrange(1, 6) * 1_000
        kind = draw.randrange(4)
        try:
            if kind == 0:
                bundles = [{"TPU": draw.choice([1, 2, 4])}] * draw.randrange(1, 4)
                ledger.reserve(quoit.Request(f"g{number}", bundles=bundles, **times), now_ms=NOW)
            elif kind == 1:
                ledger.reserve(request(f"g{number}", 1, tpu_per_bundle="1", **times), now_ms=NOW)
            else:
                ledger.reserve(request(f"g{number}", draw.randrange(1, 4), **times), now_ms=NOW)
        except (quoit.NotNowError, quoit.NeverError):
            pass
    for _ in range(draw.randrange(3)):
        node = draw.choice(ledger.snapshot().nodes).full_name
        ledger.set_node_state(node, draw.choice([quoit.NodeState.DEAD, quoit.NodeState.DRAINING]), now_ms=NOW)


def drawn_requests(draw):
    yield request("x", draw.randrange(1, 5))
    yield request("x", (1, 3))
    yield request("x", draw.randrange(1, 4), pool=draw.choice("ab"))
    yield request("x", draw.randrange(1, 6), excluded=["a-0", "b-1"])
    yield quoit.Request("x", bundles=[{"TPU": draw.choice([1, 3, 4])}] * draw.randrange(1, 9))
    yield quoit.Request(
        "x", bundles=[{"TPU": 4}] * draw.randrange(1, 9), strategy=quoit.Strategy.SPREAD, policy=quoit.Policy.RAY
    )


def first_time(snapshot, wanted):
    """Searches the start: releases groups on a fork in the order of their ends, until the request fits."""
    ends = {}
    for group in snapshot.groups:
        time = group.expected_end_ms or group.until_ms
        if time is not None:
            ends.setdefault(time, []).append(group)
    fork = snapshot.fork()
    for time in [NOW, *sorted(ends)]:
        for group in ends.get(time, ()):
            fork.release(group, now_ms=NOW)
        trial = fork.snapshot().fork()
        try:
            trial.reserve(wanted, now_ms=NOW)
            return time
        except (quoit.NotNowError, quoit.NeverError):
            pass
    return None
