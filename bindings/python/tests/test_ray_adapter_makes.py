# SPDX-License-Identifier: Apache-2.0
"""How the adapter makes groups and gives them back, on a stand-in for Ray."""

import os
import signal
import time

import pytest
from rays import V4, live, stand_in

import quoit
import quoit.ray
from quoit.ray import cluster, making


@pytest.fixture
def rays(monkeypatch):
    with stand_in(monkeypatch) as made:
        yield made


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fleet.db"


def test_what_is_made_stands_in_both_and_is_gone_from_both_when_released(rays, path):
    with quoit.ray.slice_placement_group(**V4, name="train", ledger=path) as slices:
        assert slices.state == quoit.GroupState.RESERVED and slices.slice_names == ("s-a",)
        assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]
    assert live(path) == [] and rays.names() == [] and rays.records == {}


def test_a_second_group_of_a_name_is_refused_and_leaves_the_first_alone(rays, path):
    first = quoit.ray.slice_placement_group(**V4, name="train", ledger=path)
    with pytest.raises(quoit.ConflictError, match="name 'train'"):
        quoit.ray.slice_placement_group(**V4, name="train", ledger=path, timeout_s=0)
    assert first.state == quoit.GroupState.RESERVED and first.placement_group is not None
    assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]


def test_a_second_group_of_a_name_whose_answer_never_came_leaves_the_first_alone(rays, path, monkeypatch):
    first = quoit.ray.slice_placement_group(**V4, name="train", ledger=path)

    def silent(*arguments):
        raise quoit.NotFoundError("ray: the control plane does not answer")

    monkeypatch.setattr(cluster, "create_group", silent)
    with pytest.raises(quoit.NotFoundError):
        quoit.ray.slice_placement_group(**V4, name="train", ledger=path, timeout_s=0)
    assert first.state == quoit.GroupState.RESERVED
    assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]


def test_what_ray_has_made_and_never_answered_for_is_removed(rays, path, monkeypatch):
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

    monkeypatch.setattr(quoit.Quoit, "hold", interrupted)
    for job in ("01000000", "02000000"):
        rays.job = job
        with pytest.raises(KeyboardInterrupt):
            quoit.ray.slice_placement_group(**V4, name="train", ledger=path)
        assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["train"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize("where", [
    (quoit.Quoit, "hold"), (making, "pin"), (cluster, "named_groups"), (cluster, "create_group"),
    (cluster, "write_record"), (cluster, "wait_placed"), (quoit.Quoit, "confirm")], ids=lambda where: where[1]
)  # fmt: skip
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("lifetime", [None, "detached"])
def test_an_interruption_at_each_step_gives_everything_back(rays, path, monkeypatch, where, error, when, lifetime):
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


def test_interruptions_of_giving_back_wait_for_its_end(rays, path, monkeypatch):
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
