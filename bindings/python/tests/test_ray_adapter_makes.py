# SPDX-License-Identifier: Apache-2.0
"""How the adapter makes groups and gives them back, on a stand-in for Ray."""

import pytest
from rays import V4, live, stand_in

import quoit
import quoit.ray


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
