# SPDX-License-Identifier: Apache-2.0
"""How the adapter replaces lost slices, on a simulated Ray."""

import pytest
from rays import V4, live

import quoit
import quoit.ray
from quoit.ray import cluster, repairing


def test_a_lost_slice_is_replaced_by_another(rays, path):
    with quoit.ray.slice_placement_group(**V4, name="train", ledger=path) as slices:
        rays.lose("a1")
        quoit.ray.sync(path)
        assert slices.state == quoit.GroupState.RESCHEDULING
        assert slices.repair()
        assert slices.slice_names == ("s-b",) and slices.state == quoit.GroupState.RESERVED
        assert live(path) == [("RESERVED", ("s-b",))] and rays.names() == ["train"]
    assert live(path) == [] and rays.names() == [] and rays.records == {}


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize("where", [
    (repairing, "compute_pins"), (cluster, "named_groups"), (cluster, "remove_groups"), (cluster, "create_group"),
    (cluster, "write_record"), (cluster, "wait_placed")], ids=lambda where: where[1]
)  # fmt: skip
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("pg_per_slice", [False, True])
def test_an_interruption_after_the_ledgers_repair_releases_everything(
    rays, path, monkeypatch, where, error, when, pg_per_slice
):
    slices = quoit.ray.slice_placement_group(
        **V4, name="train", pg_per_slice=pg_per_slice, lifetime="detached", ledger=path
    )
    rays.lose("a1")
    quoit.ray.sync(path)
    real = getattr(*where)

    def interrupted(*arguments, **named):
        monkeypatch.setattr(*where, real)
        if when == "after":
            real(*arguments, **named)
        raise error

    monkeypatch.setattr(*where, interrupted)
    with pytest.raises(error):
        slices.repair()
    assert live(path) == [] and rays.names() == [] and rays.records == {}
    assert slices.state == quoit.GroupState.REMOVED


@pytest.mark.parametrize(
    "where", [(quoit.Ledger, "repair"), (repairing, "_repair_in_ledger")], ids=lambda where: where[1]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interruption_of_the_ledgers_repair_leaves_all_or_nothing(rays, path, monkeypatch, where, when):
    slices = quoit.ray.slice_placement_group(**V4, name="train", lifetime="detached", ledger=path)
    rays.lose("a1")
    quoit.ray.sync(path)
    real = getattr(*where)

    def interrupted(*arguments):
        if when == "after":
            real(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(*where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        slices.repair()
    if (when, where[1]) == ("after", "_repair_in_ledger"):
        assert live(path) == [] and rays.names() == [] and rays.records == {}
    else:
        assert live(path) == [("RESCHEDULING", ("s-a",))] and rays.names() == ["train"]
