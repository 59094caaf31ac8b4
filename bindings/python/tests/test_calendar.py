# SPDX-License-Identifier: Apache-2.0
"""Reservations ahead, and windows of the calendar."""

import pytest

import quoit
from quoit import GroupState, WindowScope

NOW = 1_750_000_000_000
HOUR = 3_600_000
EVENING, MORNING = NOW + 8 * HOUR, NOW + 16 * HOUR


def request(name, slices=1, **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, **arguments)


def names(group):
    return [one.name for one in group.slices]


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3 pool=big zone=z", now_ms=NOW)
        yield opened


@pytest.fixture(params=["ledger", "fork"])
def target(request, ledger):
    return ledger if request.param == "ledger" else ledger.snapshot().fork()


def test_reservation_ahead_holds_nothing_before_it_begins(target):
    group = target.reserve_at(request("night", 2), EVENING, MORNING, now_ms=NOW)
    assert (group.state, group.begins_ms, group.until_ms, len(group.slices)) == (GroupState.AHEAD, EVENING, MORNING, 2)
    assert target.reserve(request("day", 3, lease_ms=8 * HOUR), now_ms=NOW).begins_ms is None
    with pytest.raises(quoit.ConflictError, match=r"promised to 'night@1', which begins at"):
        target.renew("day", 8 * HOUR + 1, now_ms=NOW)
    before, begun = (target.snapshot().as_of(at_ms).lookup_group("night") for at_ms in (EVENING - 1, EVENING))
    assert (before.state, begun.state, begun.begins_ms) == (GroupState.AHEAD, GroupState.RESERVED, EVENING)
    assert before != begun
    assert target.set_priority("night", 1, now_ms=EVENING).state == GroupState.RESERVED
    assert target.renew("night", 12 * HOUR, now_ms=EVENING).until_ms == EVENING + 12 * HOUR


def test_reservation_ahead_without_an_end_stays_until_its_release(target):
    group = target.reserve_at(request("long"), EVENING, now_ms=NOW)
    assert group.until_ms is None
    target.release(group, now_ms=NOW)
    assert [one.state for one in target.snapshot().groups] == []


def test_promised_slices_are_granted_only_to_leases_that_end_before(target):
    target.reserve_at(request("night", 2), EVENING, MORNING, now_ms=NOW)
    with pytest.raises(quoit.NotNowError) as raised:
        target.reserve(request("day", 2), now_ms=NOW)
    assert raised.value.report.verdict == quoit.Verdict.NOT_NOW
    target.reserve(request("estimate", 1, expected_runtime_ms=HOUR), now_ms=NOW)
    snapshot = target.snapshot()
    assert snapshot.test(request("x", 1, expected_runtime_ms=HOUR))[0] == quoit.Verdict.NOT_NOW
    assert snapshot.test(request("x", 2, lease_ms=8 * HOUR))[0] == quoit.Verdict.FITS
    assert snapshot.find_start(request("x", 2), now_ms=NOW).time_ms == MORNING
    assert snapshot.find_start(request("x", 2, lease_ms=8 * HOUR), now_ms=NOW).time_ms == NOW


def test_windows_are_added_listed_and_removed(target):
    target.reserve_at(request("night", 2), EVENING, MORNING, now_ms=NOW)
    target.add_window("service", WindowScope.SLICE, "big-0", EVENING, MORNING, now_ms=NOW)
    target.add_window("disk", WindowScope.NODE, "big-1-0", MORNING, MORNING + 1, now_ms=NOW)
    target.add_window("zone", WindowScope.ZONE, "z", MORNING + HOUR, MORNING + 2 * HOUR, now_ms=NOW)
    target.add_window("early", WindowScope.POOL, "big", NOW - HOUR, NOW + 1, now_ms=NOW)
    early, service, *_ = windows = target.snapshot().windows
    assert [one.name for one in windows] == ["early", "service", "disk", "zone"]
    assert service == quoit.Window("service", WindowScope.SLICE, "big-0", EVENING, MORNING)
    assert (early.scope, early.target) == (WindowScope.POOL, "big")
    assert names(target.snapshot().lookup_group("night")) == ["big-1", "big-2"]
    assert [one.name for one in target.snapshot().as_of(NOW + 1).windows] == ["service", "disk", "zone"]
    seq = target.snapshot().seq
    target.add_window("service", WindowScope.SLICE, "big-0", EVENING, MORNING, now_ms=NOW)
    assert target.snapshot().seq == seq, "the same window again writes no entry"
    target.remove_window("service", now_ms=NOW)
    with pytest.raises(quoit.NotFoundError, match="no window 'service'"):
        target.remove_window("service", now_ms=NOW)


def test_report_names_the_window(target):
    target.add_window("service", WindowScope.POOL, "big", NOW, MORNING, now_ms=NOW)
    report = target.snapshot().explain(request("x"))
    assert report.verdict == quoit.Verdict.NOT_NOW
    (step,) = report.options[0].steps
    assert (step.kind, step.group, step.until_ms) == (quoit.StepKind.WINDOW_ENDS, "service", MORNING)


BAD_TIMES = [
    (NOW, MORNING, "after"),
    (NOW - 1, MORNING, "after"),
    (0, MORNING, "from '"),
    (-1, MORNING, "from '"),
    (EVENING, EVENING, "until"),
    (EVENING, NOW, "until"),
    (EVENING, -1, "until"),
    (EVENING, 2**62, "until"),
    (2**62, None, "from"),
]


@pytest.mark.parametrize(("from_ms", "until_ms", "message"), BAD_TIMES)
def test_bad_times_change_nothing(target, from_ms, until_ms, message):
    before = target.snapshot().to_json()
    with pytest.raises(quoit.InvalidError, match=message):
        target.reserve_at(request("x"), from_ms, until_ms, now_ms=NOW)
    if until_ms is not None and from_ms in (EVENING, 0, -1):
        with pytest.raises(quoit.InvalidError, match=message.split(" ")[0]):
            target.add_window("x", WindowScope.POOL, "big", from_ms, until_ms, now_ms=NOW)
    assert target.snapshot().to_json() == before


def test_bad_requests_and_windows_change_nothing(target):
    target.reserve_at(request("night", 3), EVENING, MORNING, now_ms=NOW)
    target.add_window("service", WindowScope.POOL, "big", MORNING, MORNING + 1, now_ms=NOW)
    before = target.snapshot().to_json()
    period = EVENING, MORNING
    with pytest.raises(quoit.InvalidError, match="lease"):
        target.reserve_at(request("x", lease_ms=1), *period, now_ms=NOW)
    with pytest.raises(quoit.NotNowError) as raised:
        target.reserve_at(request("x"), *period, now_ms=NOW)
    assert raised.value.report.options
    with pytest.raises(quoit.NeverError):
        target.reserve_at(request("x", 4), *period, now_ms=NOW)
    with pytest.raises(quoit.ConflictError, match="night"):
        target.reserve_at(request("night"), MORNING + 1, None, now_ms=NOW)
    for name, scope, place, error in [
        ("service", WindowScope.NODE, "big-0-0", quoit.ConflictError),
        ("x", WindowScope.SLICE, "big-1", quoit.ConflictError),
        ("x", WindowScope.SLICE, "big-9", quoit.NotFoundError),
        ("x", WindowScope.ZONE, "", quoit.InvalidError),
        ("", WindowScope.ZONE, "z", quoit.InvalidError),
        ("a/b", WindowScope.ZONE, "z", quoit.InvalidError),
        ("x", WindowScope(0), "z", quoit.InvalidError),
        ("x", WindowScope(5), "z", quoit.InvalidError),
        ("x", 4, "z", TypeError),
    ]:
        with pytest.raises(error):
            target.add_window(name, scope, place, *period, now_ms=NOW)
    for call in target.repair, target.confirm:
        with pytest.raises(quoit.ConflictError, match="is a reservation ahead"):
            call("night", now_ms=NOW)
    assert target.snapshot().to_json() == before


def test_calendar_survives_a_restart_and_is_verified(path):
    with quoit.create(path) as ledger:
        ledger.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        group = ledger.reserve_at(request("night", 2, key="k"), EVENING, MORNING, now_ms=NOW)
        ledger.add_window("service", WindowScope.SLICE, "v6e-4x4-0", EVENING, MORNING, now_ms=NOW)
        windows = ledger.snapshot().windows
        seq = ledger.snapshot().seq
    with quoit.open(path) as ledger:
        assert ledger.snapshot().windows == windows
        found = ledger.group("night@1")
        assert (found.state, names(found)) == (GroupState.AHEAD, ["v6e-4x4-1", "v6e-4x4-2"])
        assert ledger.reserve_at(request("night", 2, key="k"), EVENING, MORNING, now_ms=NOW).id == group.id
        ledger.verify()
        ledger.set_priority("night", 1, now_ms=EVENING)
        assert [entry.verb for entry in ledger.changes_since(seq)] == ["begin", "update"]
        ledger.compact_journal(ledger.snapshot().seq, now_ms=EVENING)
        ledger.verify()
    with quoit.open(path) as ledger:
        assert ledger.group("night").state == GroupState.RESERVED
        assert ledger.snapshot().windows == windows


def test_fork_with_a_calendar_is_committed(ledger):
    fork = ledger.snapshot().fork()
    fork.add_window("service", WindowScope.SLICE, "big-0", EVENING, MORNING, now_ms=NOW)
    fork.reserve_at(request("night", 2), EVENING, MORNING, now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    assert [one.name for one in ledger.snapshot().windows] == ["service"]
    assert names(ledger.group("night")) == ["big-1", "big-2"]
    ledger.verify()


def test_queue_plan_keeps_promised_slices(ledger):
    ledger.reserve_at(request("night", 2), EVENING, MORNING, now_ms=NOW)
    fork = ledger.snapshot().fork()
    queue = [request("forever", 2), request("short", 2, lease_ms=8 * HOUR), request("small", 1)]
    forever, short, small = fork.plan_queue(queue, now_ms=NOW)
    assert (forever.state, forever.start_ms) == (quoit.QueuedState.WAITS, MORNING)
    assert short.state == quoit.QueuedState.STARTS
    assert small.state == quoit.QueuedState.STARTS
