# SPDX-License-Identifier: Apache-2.0
"""One ledger for two clusters, on a simulated Ray: no driver gets slices of another cluster."""

import pytest
from rays import V4, Rays, live

import quoit
import quoit.ray


@pytest.fixture(params=["pool=aaa", "pool=zzz"])
def path(request, tmp_path):
    """A ledger with two slices of another source. This cluster does not have their hosts."""
    path = tmp_path / "fleet.db"
    with quoit.create(path) as ledger:
        ledger.import_fleet_text(f"v4 2x2x2 x2 {request.param}", source="other")
    return path


def test_slices_of_another_source_are_never_allocated(rays, path):
    assert quoit.ray.explain("2x2x2", "v4", 2, ledger=path).verdict == quoit.Verdict.FITS
    assert quoit.ray.explain("2x2x2", "v4", 3, ledger=path).verdict == quoit.Verdict.NEVER
    with quoit.ray.slice_placement_group(**V4, num_slices=2, ledger=path, timeout_s=0) as slices:
        assert slices.slice_names == ("s-a", "s-b")
        with pytest.raises(quoit.NotNowError):
            quoit.ray.slice_placement_group(**V4, ledger=path, timeout_s=0)
    with pytest.raises(quoit.NeverError):
        quoit.ray.slice_placement_group(**V4, num_slices=3, ledger=path, timeout_s=0)
    assert live(path) == []


def test_a_lost_slice_is_never_replaced_by_one_of_another_source(rays, path):
    slices = quoit.ray.slice_placement_group(**V4, num_slices=2, ledger=path, timeout_s=0)
    rays.lose("a1")
    with pytest.raises(quoit.NotNowError):
        slices.repair()
    assert slices.explain().verdict != quoit.Verdict.FITS
    assert live(path) == [("RESCHEDULING", ("s-a", "s-b"))]


@pytest.mark.parametrize("pool", ["aaa", "zzz"])
def test_a_lost_slice_is_never_replaced_by_one_of_a_newer_source(rays, tmp_path, pool):
    path = tmp_path / "fleet.db"
    slices = quoit.ray.slice_placement_group(**V4, num_slices=2, ledger=path, timeout_s=0)
    with quoit.open(path) as ledger:
        ledger.import_fleet_text(f"v4 2x2x2 x2 pool={pool}", source="other")
    rays.lose("a1")
    with pytest.raises(quoit.NotNowError):
        slices.repair()
    assert live(path) == [("RESCHEDULING", ("s-a", "s-b"))] and len(rays.groups) == 1


def test_a_lost_slice_is_replaced_after_the_other_source_was_removed(rays, path):
    slices = quoit.ray.slice_placement_group(**V4, ledger=path, timeout_s=0)
    with quoit.open(path) as ledger:
        ledger.sync_input(quoit.Input(quoit.SourceKind.FLEET, "v4 2x2x4 x1", source="other", complete=True))
    rays.lose("a1")
    assert slices.repair() and slices.slice_names == ("s-b",)


def test_two_clusters_can_have_hosts_and_slices_of_the_same_names(rays, tmp_path):
    path = tmp_path / "fleet.db"
    first = quoit.ray.slice_placement_group(**V4, num_slices=2, source="first", ledger=path, timeout_s=0)
    standing, rays.groups = rays.groups, {}
    rays.cluster = "d" * 56
    with quoit.ray.slice_placement_group(**V4, num_slices=2, source="second", ledger=path, timeout_s=0) as second:
        assert second.slice_names == tuple(f"second/{pool_of(path)}/s-{name}" for name in "ab")
        assert len(rays.groups) == 1 and second.state == quoit.GroupState.RESERVED
        selected = [one["ray.io/tpu-slice-name"] for one in second.bundle_label_selector]
        assert selected == ["s-a", "s-a", "s-b", "s-b"]
    rays.groups, rays.cluster = standing, "c" * 56
    assert first.group.state == quoit.GroupState.RESERVED


def pool_of(path):
    with quoit.open(path) as ledger:
        return ledger.snapshot().slices[0].pool.name


@pytest.mark.parametrize("pool", ["aaa", "zzz"])
def test_slices_of_a_source_newer_than_the_last_list_are_never_allocated(rays, tmp_path, pool):
    path = tmp_path / "fleet.db"
    quoit.ray.slice_placement_group(**V4, ledger=path).release()
    with quoit.open(path) as ledger:
        ledger.import_fleet_text(f"v4 2x2x2 x9 pool={pool}", source="other")
    with quoit.ray.slice_placement_group(**V4, num_slices=2, ledger=path, timeout_s=0) as slices:
        assert slices.slice_names == ("s-a", "s-b") and live(path) == [("RESERVED", ("s-a", "s-b"))]


def test_a_source_that_was_removed_after_the_last_list_blocks_no_request(rays, tmp_path):
    path = tmp_path / "fleet.db"
    with quoit.create(path) as ledger:
        ledger.import_fleet_text("v4 2x2x2 x2 pool=aaa", source="other")
    for _ in range(2):
        quoit.ray.slice_placement_group(**V4, ledger=path, timeout_s=0).release()
        with quoit.open(path) as ledger:
            ledger.sync_input(quoit.Input(quoit.SourceKind.FLEET, "v5p 2x2x1 x1", source="other", complete=True))


@pytest.mark.parametrize("source", ["aaa", "zzz"])
def test_another_cluster_with_the_same_host_names_never_gets_this_clusters_slices(rays, tmp_path, source):
    path = tmp_path / "fleet.db"
    quoit.ray.slice_placement_group(**V4, num_slices=2, ledger=path).release()
    other = Rays()
    other.cluster = "d" * 56
    with quoit.open(path) as ledger:
        ledger.sync_input(other.list_now().to_input(source, 1))
    with quoit.ray.slice_placement_group(**V4, num_slices=2, ledger=path, timeout_s=0) as slices:
        assert slices.slice_names == ("ray/default/s-a", "ray/default/s-b")


def test_groups_of_another_cluster_do_not_count_as_placed_here(rays, path):
    quoit.ray.slice_placement_group(**V4, name="train", lifetime="detached", ledger=path)
    rays.restart_cluster()
    rays.create_group([{"CPU": 1}], [{}], "PACK", "train", None)
    quoit.ray.sync(path)
    assert live(path) == []


def test_a_ledger_in_a_renamed_folder_is_found(rays, tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    first.mkdir()
    quoit.ray.slice_placement_group(**V4, lifetime="detached", ledger=first / "fleet.db").release()
    first.rename(second)
    with quoit.ray.slice_placement_group(**V4, ledger=second / "fleet.db", timeout_s=0):
        assert live(second / "fleet.db") == [("RESERVED", ("s-a",))]


def test_a_new_ledger_at_the_path_of_a_moved_one_is_opened(rays, tmp_path):
    path, aside = tmp_path / "fleet.db", tmp_path / "aside.db"
    made = quoit.ray.slice_placement_group(**V4, lifetime="detached", ledger=path)
    made.release()
    path.rename(aside)
    (tmp_path / "link.db").symlink_to(path)
    for name in (path, tmp_path / "link.db"):
        with quoit.ray.slice_placement_group(**V4, ledger=name, timeout_s=0):
            assert live(path) == [("RESERVED", ("s-a",))]
