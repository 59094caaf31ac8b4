# SPDX-License-Identifier: Apache-2.0
"""The moments when the records of groups are written to Ray's control plane, on a simulated Ray."""

import json
import threading
import time

import pytest
from rays import V4, live

import quoit
import quoit.ray
from quoit.ray import cluster, ledgers, records


class Slow:
    """Replaces a function of quoit.ray.cluster. Its calls wait until the event `may` is set."""

    def __init__(self, monkeypatch, name):
        self.may, self.has_begun, self.n_calls = threading.Event(), threading.Event(), 0
        self._real = getattr(cluster, name)
        monkeypatch.setattr(cluster, name, self)

    def __call__(self, *arguments):
        self.n_calls += 1
        self.has_begun.set()
        assert self.may.wait(10)
        return self._real(*arguments)


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def records_of(rays, made):
    """The keys of the records of a group."""
    return [key for key in rays.records if key.startswith(made.group.handle)]


@pytest.fixture
def slow(rays, monkeypatch):
    made = Slow(monkeypatch, "write_record")
    yield made
    made.may.set()


def test_the_record_of_an_unnamed_group_is_deferred(rays, path, slow):
    made = quoit.ray.slice_placement_group(**V4, ledger=path)
    assert slow.has_begun.wait(10) and rays.records == {} and live(path) == [("RESERVED", ("s-a",))]
    slow.may.set()
    assert made.state == quoit.GroupState.RESERVED and len(rays.records) == 1
    made.release()
    assert rays.records == {} and rays.names() == [] and live(path) == []


@pytest.mark.parametrize("known", [{"key": "serve"}, {"name": "serve"}, {"lifetime": "detached"}], ids=repr)
def test_the_record_of_a_findable_group_is_written_before_confirmation(rays, path, known):
    quoit.ray.slice_placement_group(**V4, **known, ledger=path)
    assert [bool(one) for one in rays.records] == [True]


@pytest.mark.parametrize("use", ["state", "release", "repair"])
def test_immediate_use_waits_for_the_record(rays, path, slow, use):
    made = quoit.ray.slice_placement_group(**V4, ledger=path)
    threading.Timer(0.1, slow.may.set).start()
    if use == "state":
        assert made.state == quoit.GroupState.RESERVED
    elif use == "repair":
        assert made.repair()
    else:
        made.release()
    assert len(rays.records) == (0 if use == "release" else 1) and len(rays.groups) == len(rays.records)


def test_immediate_attach_waits_for_the_record(rays, path, slow):
    made = quoit.ray.slice_placement_group(**V4, ledger=path)
    threading.Timer(0.1, slow.may.set).start()
    other = quoit.ray.attach(name=made.group.name, ledger=path)
    assert other.slice_names == made.slice_names and other.state == quoit.GroupState.RESERVED


def test_the_record_of_an_unused_group_is_written(rays, path):
    made = quoit.ray.slice_placement_group(**V4, ledger=path)
    wait_until(lambda: rays.records)
    assert quoit.ray.attach(name=made.group.name, ledger=path).slice_names == made.slice_names


def test_a_group_that_waits_for_ray_does_not_delay_other_records(rays, path, monkeypatch):
    waiting = Slow(monkeypatch, "wait_placed")
    thread = threading.Thread(target=quoit.ray.slice_placement_group, kwargs={**V4, "ledger": path})
    thread.start()
    wait_until(lambda: waiting.n_calls)
    with monkeypatch.context() as patch:
        patch.setattr(cluster, "wait_placed", rays.wait_placed)
        quoit.ray.slice_placement_group(**V4, ledger=path)
    wait_until(lambda: len(rays.records) == 1)
    waiting.may.set()
    thread.join(10)
    wait_until(lambda: len(rays.records) == 2)
    assert len(live(path)) == 2


def test_no_record_is_pending_after_all_are_written(rays, path):
    for _ in range(3):
        quoit.ray.slice_placement_group(**V4, ledger=path).release()
    wait_until(lambda: not records._record_writer._pending)
    assert rays.records == {}


def test_a_sync_before_the_record_frees_nothing(rays, path, slow):
    made = quoit.ray.slice_placement_group(**V4, ledger=path)
    quoit.ray.sync(path)
    assert live(path) == [("RESERVED", made.slice_names)] and len(rays.groups) == 1


def test_a_driver_killed_before_the_record_leaves_nothing(rays, path, slow):
    quoit.ray.slice_placement_group(**V4, ledger=path)
    standing = dict(rays.groups)
    rays.driver_ends()
    # Ray has not removed the driver's group yet. Therefore its slice counts as used, and is not allocated.
    rays.groups = standing
    with pytest.raises(quoit.NotNowError):
        quoit.ray.slice_placement_group(**V4, num_slices=2, ledger=path, timeout_s=0)
    rays.groups = {}
    quoit.ray.sync(path)
    assert live(path) == []


@pytest.mark.parametrize("is_used", [True, False])
def test_a_failed_record_is_written_later_or_on_the_next_use(rays, path, monkeypatch, is_used):
    real, n_calls = cluster.write_record, []

    def deaf(*arguments):
        n_calls.append(1)
        if len(n_calls) == 1:
            raise quoit.NotFoundError("ray: the control plane does not answer")
        real(*arguments)

    monkeypatch.setattr(cluster, "write_record", deaf)
    made = quoit.ray.slice_placement_group(**V4, ledger=path)
    wait_until(lambda: n_calls)
    assert not is_used or made.state == quoit.GroupState.RESERVED
    wait_until(lambda: len(rays.records) == 1)
    assert len(n_calls) == 2
    made.release()
    assert rays.records == {} and rays.names() == [] and live(path) == []


def test_an_actor_killed_before_the_record_leaves_nothing(rays, path, slow):
    quoit.ray.slice_placement_group(**V4, pg_per_slice=True, num_slices=2, ledger=path)
    quoit.ray.sync(path)
    assert len(live(path)) == 1
    rays.groups = {}
    quoit.ray.sync(path)
    assert live(path) == []


def test_a_record_written_during_a_sync_does_not_keep_removed_groups(rays, path, slow, monkeypatch):
    made = quoit.ray.slice_placement_group(**V4, ledger=path)
    rays.groups = {}
    real = rays.list_now

    def list_now():
        slow.may.set()
        made._reservation.record.write()
        return real()

    monkeypatch.setattr(cluster, "list_now", list_now)
    quoit.ray.sync(path)
    assert live(path) == [] and rays.records == {}


def test_number_like_arguments_are_recorded_as_numbers(rays, path):
    class One:
        def __index__(self):
            return 1

    true = type("bool_", (), {"__bool__": lambda _: True})()  # like numpy's
    made = quoit.ray.slice_placement_group(**V4, num_slices=One(), pg_per_slice=true, key="k", ledger=path)
    assert len(made.slice_placement_groups) == 1
    (record,) = rays.records.values()
    arguments = json.loads(record)["arguments"]
    assert (arguments["num_slices"], arguments["pg_per_slice"]) == (1, True)
    assert quoit.ray.attach(key="k", ledger=path).num_slices == 1


def test_a_bool_argument_is_recorded_as_a_number(rays, path):
    quoit.ray.slice_placement_group(**V4, num_slices=True, chips_per_vm=None, key="k", ledger=path)
    (record,) = rays.records.values()
    assert type(json.loads(record)["arguments"]["num_slices"]) is int
    assert quoit.ray.attach(key="k", ledger=path).num_slices == 1


def test_a_pending_record_of_an_ended_driver_is_not_written(rays, path, slow):
    quoit.ray.slice_placement_group(**V4, ledger=path)
    other = quoit.ray.slice_placement_group(**V4, ledger=path)
    rays.driver_ends()
    slow.may.set()
    wait_until(lambda: not records._record_writer._pending)
    assert len(rays.records) <= 1 and records_of(rays, other) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interruption_after_the_confirmation_releases_everything(rays, path, monkeypatch, error, when):
    real = records.DeferredRecord.allow

    def interrupted(record):
        if when == "after":
            real(record)
            record.write()
        raise error

    monkeypatch.setattr(records.DeferredRecord, "allow", interrupted)
    with pytest.raises(error):
        quoit.ray.slice_placement_group(**V4, ledger=path)
    assert live(path) == [] and rays.names() == [] and rays.records == {}
    ledger = ledgers.get_ray_ledger(path)
    assert [renewer._names for renewer in ledger._renewers.values()] == [set()]
