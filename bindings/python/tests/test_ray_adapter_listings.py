# SPDX-License-Identifier: Apache-2.0
"""Reading Ray's lists."""

import pytest
from rays import V4

import quoit
import quoit.ray
from quoit.ray import ledgers, shapes
from quoit.ray.cluster import Listing

LIVE, REMOVED = "1a" * 18, "2b" * 18


@pytest.mark.parametrize(
    ("resource", "is_settling"),
    [
        (f"TPU_group_{REMOVED}", True),
        (f"TPU_group_3_{REMOVED}", True),
        (f"bundle_group_12_{REMOVED}", True),
        (f"TPU-v6e-16-head_group_0_{REMOVED}", True),
        (f"TPU_group_0_{LIVE}", False),
        (f"bundle_group_{LIVE}", False),
        ("TPU", False),
        ("my_group_a", False),
        ("rack_group_7", False),
        (f"rack_group_{'2b' * 17}", False),
        (f"rack_group_{'2b' * 17}zz", False),
    ],
)
def test_a_cluster_settles_while_a_node_lists_what_a_removed_group_had(resource, is_settling):
    listing = Listing([], {LIVE: {}}, {"node": {"CPU": 1.0, resource: 1.0}}, "c" * 56)
    assert listing.is_settling() is is_settling


def test_bundles_are_pinned_anew_when_the_nodes_have_changed(rays, path, monkeypatch):
    pinned = []
    monkeypatch.setattr(shapes, "_pin_slice", lambda *given, real=shapes._pin_slice: pinned.append(1) or real(*given))

    def reserve():
        with quoit.ray.slice_placement_group(**V4, ledger=path) as made:
            return made.bundle_label_selector

    first = reserve()
    quoit.ray.sync(path)
    assert (reserve(), len(pinned)) == (first, 1)
    rays.begin_anew()
    quoit.ray.sync(path)
    assert (reserve(), len(pinned)) == (first, 2)


def test_what_was_worked_out_for_many_is_not_kept(rays, path):
    with quoit.ray.slice_placement_group(**V4, ledger=path):
        pass
    ledger = ledgers.ledger_of(path)
    quoit.ray.sync(path)
    assert len(ledger._listing.pins) == len(ledger._listing.foreign) == 1
    ledger._listing.pins.update(dict.fromkeys(range(100)))
    quoit.ray.sync(path)
    assert (len(ledger._listing.pins), len(ledger._listing.foreign)) == (0, 1)


def test_others_may_ask_for_more_of_a_list_while_the_next_is_worked_out(rays, path, monkeypatch):
    with quoit.ray.slice_placement_group(**V4, ledger=path):
        pass
    before = ledgers.ledger_of(path)._listing

    def foreign(*given, real=ledgers.foreign):
        before.foreign["another"] = []
        return real(*given)

    monkeypatch.setattr(ledgers, "foreign", foreign)
    quoit.ray.sync(path)
    assert list(before.foreign) == ["v4", "another"]
