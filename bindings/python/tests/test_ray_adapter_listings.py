# SPDX-License-Identifier: Apache-2.0
"""The lists that the adapter reads from Ray, and the caches that belong to a listing."""

import pytest
from rays import V4

import quoit
import quoit.ray
from quoit.ray import ledgers, shapes
from quoit.ray.cluster import Listing

LIVE, REMOVED = "1a" * 18, "2b" * 18


@pytest.mark.parametrize(
    ("resource", "has_leftover_resources"),
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
def test_leftover_resources_of_removed_groups_are_detected(resource, has_leftover_resources):
    listing = Listing([], {LIVE: {}}, {"node": {"CPU": 1.0, resource: 1.0}}, "c" * 56)
    assert listing.has_leftover_resources() is has_leftover_resources


def test_bundles_are_pinned_again_when_the_nodes_have_changed(rays, path, monkeypatch):
    pinned = []
    monkeypatch.setattr(shapes, "_pin_slice", lambda *given, real=shapes._pin_slice: pinned.append(1) or real(*given))

    def reserve():
        with quoit.ray.slice_placement_group(**V4, ledger=path) as made:
            return made.bundle_label_selector

    first = reserve()
    quoit.ray.sync(path)
    assert (reserve(), len(pinned)) == (first, 1)
    rays.restart_cluster()
    quoit.ray.sync(path)
    assert (reserve(), len(pinned)) == (first, 2)


def test_a_large_cache_of_pins_is_dropped(rays, path):
    with quoit.ray.slice_placement_group(**V4, ledger=path):
        pass
    ledger = ledgers.get_ray_ledger(path)
    quoit.ray.sync(path)
    assert len(ledger._listing.pins) == len(ledger._listing.foreign_slices) == 1
    ledger._listing.pins.update(dict.fromkeys(range(100)))
    quoit.ray.sync(path)
    assert (len(ledger._listing.pins), len(ledger._listing.foreign_slices)) == (0, 1)


def test_the_cache_of_a_listing_can_grow_during_a_sync(rays, path, monkeypatch):
    with quoit.ray.slice_placement_group(**V4, ledger=path):
        pass
    before = ledgers.get_ray_ledger(path)._listing

    def list_foreign_slices(*given, real=ledgers.list_foreign_slices):
        before.foreign_slices["another"] = []
        return real(*given)

    monkeypatch.setattr(ledgers, "list_foreign_slices", list_foreign_slices)
    quoit.ray.sync(path)
    assert list(before.foreign_slices) == ["v4", "another"]
