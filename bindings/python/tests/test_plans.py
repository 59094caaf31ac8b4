# SPDX-License-Identifier: Apache-2.0
"""Plans of queues: documented examples, and comparisons with a model that has one calendar per slice."""

import random

import pytest

import quoit
from quoit import Backfill, QueuedState

NOW = 1_800_000_000_000
MINUTE = 60_000


def request(name, slices=1, minutes=None, **arguments):
    if minutes is not None:
        arguments["expected_runtime_ms"] = minutes * MINUTE
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, **arguments)


def plan(ledger, requests, backfill, now_ms=NOW):
    """Plans a queue and commits the plan. Returns the minute of each start, or else "waits" or an error code."""
    with ledger.snapshot().fork() as fork:
        rows = fork.plan_queue(requests, backfill=backfill, now_ms=now_ms)
        ledger.commit_fork(fork, now_ms=now_ms)
    return [
        row.code if row.code is not None else "waits" if row.start_ms is None else (row.start_ms - NOW) // MINUTE
        for row in rows
    ]


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x10", now_ms=NOW)
        yield opened


# --- the textbook case: A runs on 6 of 10 slices for an hour; B needs 8; C and D are short and long ---


@pytest.mark.parametrize(
    ("backfill", "starts"),
    [
        # No request starts before B.
        (Backfill.NONE, [60, "waits", "waits", "waits", "waits"]),
        # C ends before B starts; D has the two slices that B does not need; E would delay B.
        (Backfill.EASY, [60, 0, 0, "waits", "waits"]),
        # The same, but E and F are also promised a start, after the end of B.
        (Backfill.CONSERVATIVE, [60, 0, 0, 90, 90]),
    ],
)
def test_backfill(ledger, backfill, starts):
    ledger.reserve(request("a", 6, 60), now_ms=NOW)
    queue = [request("b", 8, 30), request("c", 2, 60), request("d", 2, 120), request("e", 3, 90), request("f", 2, 30)]
    assert plan(ledger, queue, backfill) == starts
    running = {group.name for group in ledger.snapshot().groups}
    assert running == {"a"} | {row.name for row, start in zip(queue, starts) if start == 0}


def test_easy_delays_only_later_requests(ledger):
    """EASY lets a job take slices that the second waiting job could have had; conservative does not."""
    ledger.reserve(request("a", 8, 60), now_ms=NOW)
    queue = [request("b", 9, 60), request("c", 4, 60), request("d", 1, 600)]
    assert plan(ledger, queue, Backfill.EASY) == [60, "waits", 0]
    ledger.release("d", now_ms=NOW)
    assert plan(ledger, queue, Backfill.CONSERVATIVE) == [60, 120, 0]
    ledger.release("d", now_ms=NOW)
    queue[1] = request("c", 10, 60)
    assert plan(ledger, queue, Backfill.CONSERVATIVE) == [60, 120, 180]


def test_a_lease_ends_a_request_too(ledger):
    ledger.reserve(request("a", 9, 60), now_ms=NOW)
    queue = [request("b", 10), request("c", 1, lease_ms=60 * MINUTE), request("d", 1, 30)]
    assert plan(ledger, queue, Backfill.EASY) == [60, 0, "waits"]
    assert ledger.group("c").until_ms == NOW + 60 * MINUTE


def test_leases_that_ended_are_free(ledger):
    ledger.reserve(request("a", 10, lease_ms=MINUTE), now_ms=NOW)
    assert plan(ledger, [request("b", 10)], Backfill.NONE, NOW + MINUTE) == [1]
    with pytest.raises(quoit.ExpiredError):
        ledger.group("a")
    assert len(ledger.group("b").slices) == 10


def test_a_request_without_a_known_start_is_promised_nothing(ledger):
    ledger.reserve(request("a", 6), now_ms=NOW)
    queue = [request("b", 8), request("c", 4)]
    assert plan(ledger, queue, Backfill.NONE) == ["waits", "waits"]
    assert plan(ledger, queue, Backfill.CONSERVATIVE) == ["waits", 0]


def test_requests_that_can_never_start_are_refused_and_block_nobody(ledger):
    ledger.reserve(request("a", 6, 60), now_ms=NOW)
    queue = [
        request("b", 11),
        request("c", 1, pool="nowhere"),
        quoit.Request("d", accelerator="v5p", topology="2x2x1", slices=1),
        request("a", 1),
        request("e", 4),
    ]
    codes = quoit.ErrorCode
    refusals = [codes.NEVER, codes.NOT_FOUND, codes.NEVER, codes.CONFLICT]
    assert plan(ledger, queue, Backfill.NONE) == [*refusals, 0]


def test_a_repeated_request_has_its_group_already(ledger):
    first = ledger.reserve(request("a", 6, 60, key="job-1"), now_ms=NOW)
    with ledger.snapshot().fork() as fork:
        (row,) = fork.plan_queue([request("a", 6, 60, key="job-1")], now_ms=NOW)
        assert (row.state, row.group) == (QueuedState.STARTS, first)
        assert fork.snapshot().seq == ledger.snapshot().seq
    ledger.release("a", now_ms=NOW)
    with ledger.snapshot().fork() as fork:
        (row,) = fork.plan_queue([request("a", 6, 60, key="job-1")], now_ms=NOW)
        assert (row.state, row.group.state) == (QueuedState.STARTS, quoit.GroupState.REMOVED)


def test_an_elastic_request_gets_what_is_left(ledger):
    ledger.reserve(request("a", 4, 60), now_ms=NOW)
    queue = [request("b", 8, 30), request("c", (1, 9), 600), request("d", (2, 9), 60)]
    assert plan(ledger, queue, Backfill.EASY) == [60, 0, 0]
    # b needs 8 of 10 slices after an hour. So c can keep two slices; d gets the other four, which it frees in time.
    assert [len(ledger.group(name).slices) for name in "cd"] == [2, 4]


def test_bad_arguments(ledger):
    with ledger.snapshot().fork() as fork:
        with pytest.raises(quoit.InvalidError, match="2000 to 2199"):
            fork.plan_queue([request("a")], now_ms=5)
        with pytest.raises(TypeError, match="expected a quoit.Request"):
            fork.plan_queue(["a"], now_ms=NOW)
        assert fork.plan_queue([], now_ms=NOW) == ()
        assert fork.snapshot().seq == ledger.snapshot().seq


def test_marks_undo_a_plan(ledger):
    with ledger.snapshot().fork() as fork:
        mark = fork.mark()
        assert fork.plan_queue([request("a", 10)], now_ms=NOW)[0].state == QueuedState.STARTS
        fork.roll_back(mark)
        assert fork.plan_queue([request("b", 10)], now_ms=NOW)[0].state == QueuedState.STARTS
        assert [group.name for group in fork.snapshot().groups] == ["b"]


def test_slices_that_few_requests_accept_are_taken_first(ledger):
    ledger.import_fleet_text("v6e 4x4 x1 pool=a; v6e 4x4 x2 pool=b", now_ms=NOW)
    ledger.reserve(request("r", 3, 1), now_ms=NOW)
    queue = [request("any", 2, 60), request("b", 1, 60, pool="b")]
    assert plan(ledger, queue, Backfill.CONSERVATIVE) == [1, 1]
    ledger.release("r", now_ms=NOW + MINUTE)
    assert plan(ledger, queue, Backfill.CONSERVATIVE, NOW + MINUTE) == [1, 1]
    assert {row.name[0] for row in ledger.group("any").slices} == {"a", "b"}


def test_an_elastic_request_leaves_what_later_requests_are_promised(ledger):
    ledger.reserve(request("a", 8, 60), now_ms=NOW)
    queue = [request("b", (4, 10), 100), request("c", 4, 30)]
    assert plan(ledger, queue, Backfill.CONSERVATIVE) == [60, 60]
    ledger.release("a", now_ms=NOW + 60 * MINUTE)
    assert plan(ledger, queue, Backfill.CONSERVATIVE, NOW + 60 * MINUTE) == [60, 60]
    assert len(ledger.group("b").slices) == 6


@pytest.mark.parametrize("wrong", [{"minutes": 10**9}, {"lease_ms": 2**62}])
def test_requests_that_are_never_valid_are_refused_at_once(ledger, wrong):
    ledger.reserve(request("a", 6, 60), now_ms=NOW)
    starts = plan(ledger, [request("b", 8, **wrong), request("c", 1)], Backfill.NONE)
    assert starts == [quoit.ErrorCode.INVALID, 0]


def test_owners_are_checked_after_keys_and_names(ledger):
    ledger.set_owner("team", lease_ms=MINUTE, now_ms=NOW)
    first = ledger.reserve(request("a", 1, owner="team", key="job"), now_ms=NOW)
    late = NOW + 2 * MINUTE
    with ledger.snapshot().fork() as fork:
        repeated, new = fork.plan_queue(
            [request("a", 1, owner="team", key="job"), request("b", owner="team")], now_ms=late
        )
        assert (repeated.state, repeated.group.id) == (QueuedState.STARTS, first.id)
        assert new.code == quoit.ErrorCode.EXPIRED


# --- bundles ---


def test_bundles_that_can_never_be_placed_are_refused(ledger):
    large = quoit.Request("large", bundles=[{"TPU": 8}])
    lost = quoit.Request("lost", bundles=[{"TPU": 4}], pool="nowhere")
    for backfill in Backfill.__members__.values():
        codes = [quoit.ErrorCode.NEVER, quoit.ErrorCode.NOT_FOUND, 0]
        assert plan(ledger, [large, lost, request("c", 1)], backfill) == codes
        ledger.release("c", now_ms=NOW)


def test_bundles_may_use_hosts_that_nobody_is_promised():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4 x2", now_ms=NOW)
        spread = {"strategy": quoit.Strategy.SPREAD}
        for number in range(2):
            half = {"bundles": [{"TPU": 4}] * 2, "named": [f"v6e-4x4-{number}"], "expected_runtime_ms": MINUTE}
            ledger.reserve(quoit.Request(f"half-{number}", **half, **spread), now_ms=NOW)
        queue = [request("b", 1, 60), quoit.Request("d", bundles=[{"TPU": 4}], **spread)]
        assert plan(ledger, queue, Backfill.EASY) == [1, 0]


def test_bundles_take_nothing_from_waiting_slices(ledger):
    ledger.reserve(request("a", 6, 60), now_ms=NOW)
    bundles = {"bundles": [{"TPU": 4}] * 4, "strategy": quoit.Strategy.STRICT_SPREAD}
    queue = [
        request("b", 8, 30),
        quoit.Request("long", **bundles),
        quoit.Request("longer", **bundles),
        quoit.Request("longest", **bundles),
        quoit.Request("short", **bundles, expected_runtime_ms=60 * MINUTE),
    ]
    assert plan(ledger, queue, Backfill.EASY) == [60, 0, 0, "waits", 0]


def test_waiting_bundles_keep_their_nodes(ledger):
    ledger.reserve(request("a", 9, 60), now_ms=NOW)
    bundles = quoit.Request("b", bundles=[{"TPU": 4}] * 8, strategy=quoit.Strategy.STRICT_SPREAD)
    later = [request("c", 1), request("d", 1, 30), request("e", 8, 30)]
    # The bundles are promised the hosts of two slices, and they have no end. So eight slices are never free again, and
    # e has to wait.
    assert plan(ledger, [bundles, *later], Backfill.CONSERVATIVE) == [60, 0, 60, "waits"]
    ledger.release("a", now_ms=NOW)
    assert plan(ledger, [bundles], Backfill.NONE) == [0]


# --- against a model ---


class Model:
    """A fleet with a calendar for each slice: a list of (since, until), the times in which the slice is not free."""

    def __init__(self, pools):
        self.pools = pools
        self.used = {slice: [] for slices in pools.values() for slice in slices}

    def candidates(self, pool):
        return [slice for name, slices in self.pools.items() if pool in (None, name) for slice in slices]

    def is_free(self, slice, start, end):
        return all(until <= start or end <= since for since, until in self.used[slice])

    def n_free(self, pool, start, end):
        return sum(self.is_free(slice, start, end) for slice in self.candidates(pool))


def drawn_case(draw):
    pools = {name: draw.randrange(2, 7) for name in ("p", "q", "r")[: draw.randrange(1, 4)]}
    running = [(draw.randrange(1, 4), draw.choice([None, *range(1, 9)])) for _ in range(draw.randrange(1, 7))]
    queue = [
        (
            draw.randrange(1, 6),
            draw.choice([None, *range(1, 9), *range(1, 9)]),
            draw.choice([None, None, *pools]),
        )
        for _ in range(draw.randrange(1, 12))
    ]
    return pools, running, queue


FOREVER = 10**9


def run_case(draw, backfill):
    """Compares a plan with the model: no promised start is later than necessary, and no start breaks a promise."""
    pools, running, queue = drawn_case(draw)
    text = "; ".join(f"v6e 4x4 x{n} pool={name}" for name, n in pools.items())
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(text, now_ms=NOW)
        model = Model({name: [] for name in pools})
        for row in ledger.snapshot().slices:
            model.pools[row.pool.name].append(row.name)
            model.used[row.name] = []
        for number, (n, minutes) in enumerate(running):
            try:
                group = ledger.reserve(request(f"r{number}", n, minutes), now_ms=NOW)
            except quoit.RefusedError:
                continue
            for row in group.slices:
                model.used[row.name].append((0, minutes or FOREVER))
        with ledger.snapshot().fork() as fork:
            rows = fork.plan_queue(
                [request(f"q{number}", n, minutes, pool=pool) for number, (n, minutes, pool) in enumerate(queue)],
                backfill=backfill,
                now_ms=NOW,
            )
        check_plan(model, queue, rows, backfill)
        return [row.state for row in rows]


def check_plan(model, queue, rows, backfill):
    times = sorted({0, *(end for used in model.used.values() for _, end in used if end != FOREVER)})
    promised = []
    # In a plan, each promise fixes how many slices of each pool it gets. The model's search is free to choose again.
    # With several pools, the start in the plan can therefore be later than the first start that the search finds.
    is_exact = len({pool for _, _, pool in queue}) == 1
    for (n, minutes, pool), row in zip(queue, rows):
        runtime = minutes or FOREVER
        if len(model.candidates(pool)) < n:
            assert row.code == quoit.ErrorCode.NEVER and f"of {n} slices" in row.message
            continue
        assert row.state != QueuedState.REFUSED
        start = None if row.start_ms is None else (row.start_ms - NOW) // MINUTE
        if backfill == Backfill.NONE and promised:
            assert row.state == QueuedState.WAITS and start is None
            continue
        if row.state == QueuedState.STARTS:
            for taken in row.group.slices:
                assert pool is None or taken.name in model.pools[pool]
                assert model.is_free(taken.name, 0, 1)
                model.used[taken.name].append((0, runtime))
            times = sorted({*times, *(() if minutes is None else (minutes,))})
            assert len(row.group.slices) == n
            assert can_keep(model, promised)
            continue
        first = first_start(model, promised, times, n, runtime, pool)
        assert first != 0 or not is_exact, "it could have started now"
        if backfill == Backfill.EASY and any(kept[0] is not None for kept in promised):
            assert start is None
        elif is_exact:
            assert start == first
        elif start is not None:
            assert first is not None and first <= start
            assert can_keep(model, [*promised, (start, n, runtime, pool)])
        promised.append((start, n, runtime, pool))
        times = sorted({*times, *(() if start is None or runtime == FOREVER else (start + runtime,))})


def first_start(model, promised, times, n, runtime, pool):
    kept = [one for one in promised if one[0] is not None]
    return next((t for t in times if can_keep(model, [*kept, (t, n, runtime, pool)])), None)


def can_keep(model, promised):
    """Searches an assignment of slices to all promises. A request for a pool gets only slices of that pool."""
    kept = sorted((one for one in promised if one[0] is not None), key=lambda one: (one[0], one[3] is None))
    return assign(model, kept, 0)


def assign(model, kept, at):
    if at == len(kept):
        return True
    start, n, runtime, pool = kept[at]
    end = start + runtime
    by_pool = {
        name: [slice for slice in slices if model.is_free(slice, start, end)]
        for name, slices in model.pools.items()
        if pool in (None, name)
    }
    for split in splits(n, [len(free) for free in by_pool.values()]):
        chosen = [
            slice for count, free in zip(split, by_pool.values()) for slice in best_first(model, free, end)[:count]
        ]
        for slice in chosen:
            model.used[slice].append((start, end))
        done = assign(model, kept, at + 1)
        for slice in chosen:
            model.used[slice].pop()
        if done:
            return True
    return False


def best_first(model, free, end):
    """Sorts the free slices of a pool by their next use, the soonest first. Otherwise these slices are equal."""
    return sorted(
        free, key=lambda slice: min((since for since, _ in model.used[slice] if since >= end), default=FOREVER)
    )


def splits(n, most):
    if not most:
        if n == 0:
            yield ()
        return
    for count in range(min(n, most[0]), -1, -1):
        for rest in splits(n - count, most[1:]):
            yield (count, *rest)


@pytest.mark.parametrize("backfill", list(Backfill.__members__.values()))
def test_drawn_plans_keep_their_promises(backfill):
    draw = random.Random(20261126 + int(backfill))
    states = [state for _ in range(200) for state in run_case(draw, backfill)]
    assert states.count(QueuedState.STARTS) > 100
    assert states.count(QueuedState.WAITS) > 100
