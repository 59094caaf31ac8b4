# SPDX-License-Identifier: Apache-2.0
"""How the adapter creates and releases groups, on a simulated Ray."""

import os
import signal
import threading
import time

import pytest
from rays import V4, live

import quoit
import quoit.ray
from quoit.ray import acquiring, cluster, repairing, slices


def test_a_reservation_is_in_ray_and_the_ledger_until_its_release(rays, path):
    with quoit.ray.slice_placement_group(**V4, name="train", ledger=path) as slices:
        assert slices.state == quoit.GroupState.RESERVED and slices.slice_names == ("s-a",)
        assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]
    assert live(path) == [] and rays.names() == [] and rays.records == {}


def test_only_detached_groups_wait_for_the_disk(rays, path, monkeypatch):
    synced = []
    real = quoit.Ledger.batch

    def batch(ledger, **arguments):
        synced.extend(arguments.values())
        return real(ledger, **arguments)

    monkeypatch.setattr(quoit.Ledger, "batch", batch)
    quoit.ray.sync(path)
    assert synced == [False]
    for lifetime, waits in ((None, False), ("detached", True)):
        synced.clear()
        quoit.ray.slice_placement_group(**V4, lifetime=lifetime, ledger=path).release()
        assert synced == [waits, waits]
    # If sync releases a group that was removed in Ray, it also deletes the group's record. Therefore the release must
    # be durable: without the record, no process would free the group again after a power loss, because it has an owner.
    made = quoit.ray.slice_placement_group(**V4, owner="alice", ledger=path)
    made._reservation.record.write()
    rays.groups = {}
    synced.clear()
    quoit.ray.sync(path)
    assert synced == [True] and live(path) == []


def test_a_second_group_of_a_name_is_refused_and_the_first_stays(rays, path):
    first = quoit.ray.slice_placement_group(**V4, name="train", ledger=path)
    with pytest.raises(quoit.ConflictError, match="name 'train'"):
        quoit.ray.slice_placement_group(**V4, name="train", ledger=path, timeout_s=0)
    assert first.state == quoit.GroupState.RESERVED and first.placement_group is not None
    assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]


def test_a_second_group_of_a_name_without_an_answer_leaves_the_first(rays, path, monkeypatch):
    first = quoit.ray.slice_placement_group(**V4, name="train", ledger=path)

    def silent(*arguments):
        raise quoit.NotFoundError("ray: the control plane does not answer")

    monkeypatch.setattr(cluster, "create_group", silent)
    with pytest.raises(quoit.NotFoundError):
        quoit.ray.slice_placement_group(**V4, name="train", ledger=path, timeout_s=0)
    assert first.state == quoit.GroupState.RESERVED
    assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]


def test_groups_that_ray_created_without_an_answer_are_removed(rays, path, monkeypatch):
    real = cluster.create_group

    def deaf(*arguments):
        real(*arguments)
        raise quoit.NotFoundError("ray: the control plane does not answer")

    monkeypatch.setattr(cluster, "create_group", deaf)
    for name in ("", "train"):
        with pytest.raises(quoit.NotFoundError):
            quoit.ray.slice_placement_group(**V4, name=name, ledger=path, timeout_s=0)
        assert rays.n_made and live(path) == [] and rays.names() == []


def test_an_interruption_of_a_hold_frees_no_other_group_of_the_name(rays, path, monkeypatch):
    quoit.ray.slice_placement_group(**V4, name="train", ledger=path)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(quoit.Ledger, "hold", interrupted)
    for job in ("01000000", "02000000"):
        rays.job = job
        with pytest.raises(KeyboardInterrupt):
            quoit.ray.slice_placement_group(**V4, name="train", ledger=path)
        assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize("where", [
    (quoit.Ledger, "hold"), (acquiring, "compute_pins"), (cluster, "named_groups"), (cluster, "create_group"),
    (cluster, "write_record"), (cluster, "wait_placed"), (quoit.Ledger, "confirm")], ids=lambda where: where[1]
)  # fmt: skip
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("lifetime", [None, "detached"])
def test_an_interruption_at_each_step_releases_everything(rays, path, monkeypatch, where, error, when, lifetime):
    real = getattr(*where)

    def interrupted(*arguments, **named):
        monkeypatch.setattr(*where, real)
        if when == "after":
            real(*arguments, **named)
        raise error

    monkeypatch.setattr(*where, interrupted)
    with pytest.raises(error):
        quoit.ray.slice_placement_group(
            **V4, num_slices=2, pg_per_slice=True, name="train", lifetime=lifetime, ledger=path
        )
    assert live(path) == [] and rays.names() == [] and rays.records == {}


def test_interrupts_during_the_undo_are_deferred(rays, path, monkeypatch):
    real = cluster.remove_groups

    def unplaced(groups):
        raise KeyboardInterrupt

    def slow(*arguments):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        return real(*arguments)

    monkeypatch.setattr(cluster, "wait_placed", unplaced)
    monkeypatch.setattr(cluster, "remove_groups", slow)
    with pytest.raises(KeyboardInterrupt):
        quoit.ray.slice_placement_group(**V4, ledger=path)
    assert live(path) == [] and rays.names() == [] and rays.records == {}


class Killed(BaseException):
    """Simulates kill -9: the code after it, which would release something, does not run."""


def kill(monkeypatch, where, when, call):
    """Makes the call, and simulates that the driver is killed before or after the step `where` of the call."""
    real = getattr(*where)

    def killed(*arguments):
        if when == "after":
            real(*arguments)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(*where, killed)
        patch.setattr(acquiring._Attempt, "undo", lambda _: None)
        patch.setattr(repairing, "release_or_log", lambda *_: None)
        with pytest.raises(Killed):
            call()


STEPS = [(cluster, "write_record"), (cluster, "create_group"), (cluster, "wait_placed")]


@pytest.mark.parametrize("where", STEPS, ids=lambda where: where[1])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["", "serve"])
def test_groups_of_a_driver_killed_during_creation_are_removed_from_ray(rays, path, monkeypatch, where, when, name):
    detached = dict(V4, name=name, lifetime="detached", ledger=path)
    other = quoit.ray.slice_placement_group(**{**detached, "name": "other"})
    monkeypatch.setattr(acquiring, "HOLD_S", 0.05)
    kill(monkeypatch, where, when, lambda: quoit.ray.slice_placement_group(**detached, key="serve"))
    rays.driver_ends()
    time.sleep(0.1)
    quoit.ray.sync(path)
    assert live(path) == [("RESERVED", other.slice_names)] and rays.names() == ["other"] and len(rays.records) == 1
    monkeypatch.setattr(acquiring, "HOLD_S", 60.0)
    assert quoit.ray.slice_placement_group(**detached, key="serve", timeout_s=0).state == quoit.GroupState.RESERVED


@pytest.mark.parametrize("name", ["", "serve"])
def test_a_retry_with_the_key_of_a_killed_driver_gets_a_new_reservation(rays, path, monkeypatch, name):
    detached = dict(V4, name=name, key="serve", lifetime="detached", ledger=path)
    with monkeypatch.context() as patch:
        patch.setattr(acquiring, "HOLD_S", 0.05)
        kill(monkeypatch, STEPS[1], "after", lambda: quoit.ray.slice_placement_group(**detached))
    rays.driver_ends()
    time.sleep(0.1)
    # The ledger's state is fresh, so Ray is not read again.
    for module in (acquiring, slices):
        monkeypatch.setattr(module, "FRESH_S", 1000.0)
    again = quoit.ray.slice_placement_group(**detached, timeout_s=0)
    assert again.state == quoit.GroupState.RESERVED
    assert len(rays.groups) == 1 and len(rays.records) == 1


def test_unfinished_groups_of_a_live_driver_stay_after_the_hold_expires(rays, path, monkeypatch):
    monkeypatch.setattr(acquiring, "HOLD_S", 0.05)
    detached = dict(V4, lifetime="detached", ledger=path)
    kill(monkeypatch, STEPS[-1], "after", lambda: quoit.ray.slice_placement_group(**detached))
    time.sleep(0.1)
    for _ in range(2):
        quoit.ray.sync(path)
        assert live(path) == [] and len(rays.groups) == 1
    rays.driver_ends()
    quoit.ray.sync(path)
    assert rays.groups == {} and rays.records == {}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("pg_per_slice", [False, True])
def test_groups_of_a_driver_killed_during_a_repair_are_removed_from_ray(rays, path, monkeypatch, when, pg_per_slice):
    made = quoit.ray.slice_placement_group(
        **V4, name="serve", lifetime="detached", pg_per_slice=pg_per_slice, ledger=path
    )
    rays.lose("a1")
    quoit.ray.sync(path)
    kill(monkeypatch, (cluster, "create_group"), when, made.repair)
    rays.driver_ends()
    quoit.ray.sync(path)
    assert live(path) == [] and rays.names() == [] and rays.records == {}


@pytest.mark.parametrize("n_times", [1, 100])
def test_a_group_that_another_program_removes_is_never_returned(rays, path, monkeypatch, n_times):
    real, removed = cluster.create_group, []

    def removed_at_once(*arguments):
        group = real(*arguments)
        if len(removed) < n_times:
            removed.append(group)
            cluster.remove_groups([group], 1)
        return group

    monkeypatch.setattr(cluster, "create_group", removed_at_once)
    if n_times == 1:
        assert quoit.ray.slice_placement_group(**V4, ledger=path).state == quoit.GroupState.RESERVED
        return
    with pytest.raises(quoit.NotNowError, match="removed by another"):
        quoit.ray.slice_placement_group(**V4, ledger=path, timeout_s=0)
    assert live(path) == [] and rays.names() == [] and rays.records == {}


def test_a_group_that_loses_its_host_during_placement_is_never_returned(rays, path, monkeypatch):
    real = cluster.create_group

    def lost_at_once(*arguments):
        group = real(*arguments)
        rays.lose("a1")
        return group

    monkeypatch.setattr(cluster, "create_group", lost_at_once)
    slices = quoit.ray.slice_placement_group(**V4, ledger=path, timeout_s=1)
    assert slices.slice_names == ("s-b",) and slices.state == quoit.GroupState.RESERVED
    assert live(path) == [("RESERVED", ("s-b",))] and len(rays.groups) == 1


@pytest.mark.parametrize("use", [("TPU", 1.0), ("CPU", 0.5)], ids=lambda use: use[0])
def test_a_slice_with_a_plain_task_is_not_allocated(rays, path, use):
    resource, amount = use
    rays.used[("a1", resource)] = amount
    with quoit.ray.slice_placement_group(**V4, ledger=path, timeout_s=0) as slices:
        assert slices.slice_names == ("s-b",)
        with pytest.raises(quoit.NotNowError, match="external use of"):
            quoit.ray.slice_placement_group(**V4, ledger=path, timeout_s=0)


def test_another_driver_can_complete_a_repair_of_a_killed_driver(rays, path, monkeypatch):
    made = quoit.ray.slice_placement_group(**V4, key="serve", lifetime="detached", ledger=path)
    rays.lose("a1")
    quoit.ray.sync(path)
    kill(monkeypatch, (repairing, "_repair_in_ledger"), "after", made.repair)
    rays.driver_ends()
    other = quoit.ray.attach(key="serve", ledger=path)
    assert other.state == quoit.GroupState.RESCHEDULING
    assert other.repair() and other.state == quoit.GroupState.RESERVED and other.slice_names == ("s-b",)
    assert live(path) == [("RESERVED", ("s-b",))] and len(rays.groups) == 1 and len(rays.records) == 1


@pytest.mark.parametrize("lifetime", [None, "detached"])
def test_a_hanging_control_plane_ends_the_creation_of_groups(rays, path, monkeypatch, lifetime):
    real, answers = cluster.create_group, threading.Event()

    def hangs(*arguments):
        answers.wait(10)
        return real(*arguments)

    monkeypatch.setattr(cluster, "create_group", hangs)
    monkeypatch.setattr(cluster, "REPLY_S", 0.2)
    began = time.monotonic()
    with pytest.raises(quoit.NotFoundError, match="does not answer"):
        quoit.ray.slice_placement_group(**V4, lifetime=lifetime, ledger=path)
    assert time.monotonic() - began < 5
    # The chips stay allocated until the adapter knows whether the groups exist.
    assert live(path) == [("HELD", ("s-a",))] and rays.names() == []
    answers.set()
    end = time.monotonic() + 5
    while live(path) and time.monotonic() < end:
        time.sleep(0.01)
    assert live(path) == [] and rays.names() == [] and rays.records == {}
