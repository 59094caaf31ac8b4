# SPDX-License-Identifier: Apache-2.0
"""The release of groups by any object that represents them, on a simulated Ray."""

import atexit
import logging
import sys
import threading

import pytest
from rays import V4, live

import quoit
import quoit.ray
from quoit.ray import cluster, slices


def make(path, **named):
    return quoit.ray.slice_placement_group(**{**V4, "ledger": path, "timeout_s": 0, **named})


def silent(*_):
    raise quoit.NotFoundError("ray: the control plane does not answer")


# --- Ray does not answer ---


@pytest.mark.parametrize("lifetime", [None, "detached"])
@pytest.mark.parametrize("where", ["read_records", "remove_groups"])
def test_a_failed_release_raises_and_can_be_repeated(rays, path, monkeypatch, lifetime, where):
    made = make(path, lifetime=lifetime)
    with monkeypatch.context() as patch:
        patch.setattr(cluster, where, silent)
        with pytest.raises(quoit.NotFoundError, match="does not answer"):
            made.release()
    assert made.state == quoit.GroupState.RESERVED and len(live(path)) == 1 and made.placement_group is not None
    made.release()
    assert live(path) == [] and rays.groups == {}


def test_a_with_block_raises_if_the_release_fails(rays, path, monkeypatch):
    made = make(path)
    with monkeypatch.context() as patch:
        patch.setattr(cluster, "remove_groups", silent)
        with pytest.raises(quoit.NotFoundError):
            with made:
                pass
    assert len(live(path)) == 1


def test_a_failed_release_does_not_hide_the_error_of_the_block(rays, path, monkeypatch, caplog):
    made = make(path)
    with monkeypatch.context() as patch:
        patch.setattr(cluster, "remove_groups", silent)
        with pytest.raises(ZeroDivisionError), caplog.at_level(logging.WARNING, "quoit.ray"):
            with made:
                1 / 0
    assert made.group.handle in caplog.text and len(live(path)) == 1


def test_a_failed_release_at_exit_does_not_prevent_the_others(rays, path, monkeypatch, caplog):
    first, second = make(path), make(path)
    real = cluster.remove_groups

    def fails_once(groups, timeout_s):
        if groups == first.placement_groups:
            raise quoit.BusyError("the first")
        return real(groups, timeout_s)

    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING, "quoit.ray"):
        patch.setattr(cluster, "remove_groups", fails_once)
        slices._release_all()
    assert first.group.handle in caplog.text and second.group.handle not in caplog.text
    assert live(path) == [("RESERVED", ("s-a",))] and second.state == quoit.GroupState.REMOVED


def test_the_exit_function_is_registered_after_rays(rays, path, monkeypatch):
    registered = []
    monkeypatch.setattr(atexit, "register", registered.append)
    monkeypatch.setattr(slices, "_registered", -1)
    make(path, lifetime="detached")
    assert registered == []
    make(path)
    assert registered == [slices._release_all]


# --- another driver ---


@pytest.mark.parametrize("end", ["shutdown", "another job", "another cluster"])
def test_releasing_groups_of_an_ended_driver_does_nothing(rays, path, monkeypatch, end):
    made = make(path)
    if end == "shutdown":
        rays.is_connected = False
    elif end == "another job":
        rays.driver_ends()
    else:
        rays.restart_cluster()
    monkeypatch.setattr(cluster, "remove_groups", silent)
    assert made.state == quoit.GroupState.REMOVED
    with pytest.raises(quoit.NotFoundError, match="released"):
        made.repair()
    made.release()
    assert made.placement_group is None


def test_a_driver_of_another_cluster_cannot_release_detached_groups(rays, path):
    made = make(path, lifetime="detached", name="d")
    groups, records, rays.cluster = rays.groups, rays.records, "e" * 56
    rays.groups, rays.records = {}, {}
    for call in (made.release, made.repair, made.explain, lambda: made.state):
        with pytest.raises(quoit.ConflictError, match="cluster '" + "e" * 56 + "': expected '" + "c" * 56):
            call()
    assert len(live(path)) == 1
    rays.groups, rays.records, rays.cluster = groups, records, "c" * 56
    made.release()
    assert live(path) == [] and rays.groups == {}


# --- another handle ---


def two_handles(rays, path):
    maker = make(path, lifetime="detached", key="k")
    return maker, quoit.ray.attach(key="k", ledger=path)


def test_a_release_after_a_repair_elsewhere_releases_the_new_groups(rays, path):
    maker, other = two_handles(rays, path)
    rays.lose("a1")
    quoit.ray.sync(path)
    other.repair()
    maker.release()
    assert live(path) == [] and rays.groups == {} and rays.records == {}
    assert other.state == quoit.GroupState.REMOVED
    with pytest.raises(quoit.NotFoundError, match="released"):
        other.repair()
    other.release()


def test_state_shows_a_repair_by_another_object(rays, path):
    maker, other = two_handles(rays, path)
    rays.lose("a1")
    quoit.ray.sync(path)
    assert maker.state == quoit.GroupState.RESCHEDULING
    other.repair()
    assert maker.state == quoit.GroupState.RESERVED
    assert maker.slice_names == ("s-b",) and maker.placement_group == other.placement_group
    assert maker.bundle_label_selector == other.bundle_label_selector


def test_a_group_repaired_elsewhere_is_not_repaired_again(rays, path):
    maker, other = two_handles(rays, path)
    rays.lose("a1")
    quoit.ray.sync(path)
    other.repair()
    assert maker.repair() and maker.placement_group == other.placement_group
    assert len(rays.groups) == 1 and live(path) == [("RESERVED", ("s-b",))]


def test_a_group_that_is_being_repaired_elsewhere_is_refused(rays, path, monkeypatch):
    maker, other = two_handles(rays, path)
    rays.lose("a1")
    quoit.ray.sync(path)
    real, seen = cluster.create_group, []

    def meanwhile(*arguments):
        seen.append(maker.state)
        for call in (maker.release, maker.repair):
            with pytest.raises(quoit.NotNowError, match="being repaired"):
                call()
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(cluster, "create_group", meanwhile)
        assert other.repair()
    assert seen == [quoit.GroupState.PENDING]
    assert maker.state == quoit.GroupState.RESERVED and live(path) == [("RESERVED", ("s-b",))]


# --- interruptions ---


def interrupted_at(line, call):
    """Interrupts `call` at the line-th line that it executes in slices.py. Returns whether it has so many lines."""
    left = [line]

    def trace(frame, event, _):
        if frame.f_code.co_filename != slices.__file__:
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("named", [{}, {"key": "k"}, {"lifetime": "detached"}], ids=str)
def test_an_interruption_at_any_line_releases_everything(rays, path, named):
    line, made = 1, []
    while interrupted_at(line, lambda: made.append(make(path, **named))):
        assert not path.exists() or live(path) == [], line
        assert rays.groups == {} and slices._unreleased == {}, line
        line += 1
    assert line > 50 and len(live(path)) == 1
    made.pop().release()


# --- threads ---


def run_all(*calls):
    """Runs the calls in parallel threads, and returns the exceptions that they raise."""
    raised = []

    def run(call):
        try:
            call()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return raised


def test_threads_that_reserve_and_release_never_have_the_same_slice(rays, path):
    quoit.ray.sync(path)
    has, both = [], []

    def cycle():
        for _ in range(20):
            with make(path, timeout_s=60) as one:
                has.append(one.slice_names)
                if len(has) != len(set(has)):
                    both.append(tuple(has))
                has.remove(one.slice_names)

    assert run_all(cycle, cycle, cycle) == []
    assert both == [] and live(path) == [] and rays.groups == {}
    with quoit.open(path) as ledger:
        ledger.verify()


@pytest.mark.parametrize("repetition", range(10))
def test_state_can_be_read_during_a_release(rays, path, repetition):
    order = {quoit.GroupState.RESERVED: 0, quoit.GroupState.REMOVED: 1}
    one, seen, is_reading, is_done = make(path), [], threading.Event(), threading.Event()

    def read_state():
        try:
            while not is_done.is_set():
                seen.append(one.state)
                is_reading.set()
            seen.append(one.state)
        finally:
            is_reading.set()

    def release():
        is_reading.wait()
        try:
            one.release()
        finally:
            is_done.set()

    assert run_all(read_state, release, release) == []
    assert set(seen) == set(order) and seen == sorted(seen, key=order.get)
    assert live(path) == [] and rays.groups == {}


def test_groups_replaced_during_a_state_query_are_not_reported_as_removed(rays, path, monkeypatch):
    one = make(path)
    rays.lose("a1")
    quoit.ray.sync(path)
    rows = cluster.rows

    def late(groups):
        monkeypatch.setattr(cluster, "rows", rows)
        assert one.repair()
        return rows(groups)

    monkeypatch.setattr(cluster, "rows", late)
    assert one.state == quoit.GroupState.PENDING
    assert one.state == quoit.GroupState.RESERVED and one.slice_names == ("s-b",)
    one.release()


def test_state_can_be_read_during_a_repair(rays, path):
    one = make(path)
    rays.lose("a1")
    quoit.ray.sync(path)
    seen, is_done = [], threading.Event()

    def read_state():
        while not is_done.is_set():
            seen.append(one.state)

    def repair():
        try:
            assert one.repair()
        finally:
            is_done.set()

    assert run_all(read_state, repair) == []
    assert one.state == quoit.GroupState.RESERVED and one.slice_names == ("s-b",)
    assert set(seen) <= {quoit.GroupState.RESCHEDULING, quoit.GroupState.PENDING, quoit.GroupState.RESERVED}
    one.release()
    assert live(path) == [] and rays.groups == {}
