# SPDX-License-Identifier: Apache-2.0
"""Lost hosts, and the repair of the groups that had them."""

import time

import pytest
import ray
from conftest import free_chips, hosts_of, wait_until
from test_slices import live_groups

import quoit
import quoit.ray
from quoit.ray import cluster


@pytest.fixture
def losing(fleet, path):
    """A function that kills hosts, and waits until Ray detects the loss. At the end, the lost hosts are replaced."""
    lost = []

    def lose(*hosts):
        for host in hosts:
            lost.append(host)
            fleet.kill(host)
        wait_until(lambda: n_alive() == 9 - len(lost), within_s=30)

    yield lose
    quoit.ray.sync(path)
    for host in lost:
        fleet.replace(host)
    wait_until(lambda: n_alive() == 9, within_s=60)


def n_alive():
    return sum(node["Alive"] for node in ray.nodes())


def rays_word(group):
    return ray.util.placement_group_table(group)["state"]


def test_a_group_that_lost_a_host_is_rescheduling_and_can_be_repaired(path, losing, driver):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    assert slices.slice_names == ("s-a",)
    with pytest.raises(quoit.ConflictError):
        slices.explain()
    losing("s-a/1")
    wait_until(lambda: rays_word(slices.placement_group) == "RESCHEDULING")
    assert slices.state == quoit.GroupState.RESCHEDULING
    # The group that has lost a host does not block other callers.
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0) as others:
        assert others.slice_names == ("s-b",)
    assert slices.explain().verdict == quoit.Verdict.FITS
    broken = slices.placement_group
    assert slices.repair()
    assert slices.slice_names == ("s-b",) and slices.state == quoit.GroupState.RESERVED
    assert hosts_of(slices.placement_group) == [("s-b", worker) for worker in range(4)]
    assert rays_word(broken) == "REMOVED"
    assert slices.environment(0)["TPU_WORKER_HOSTNAMES"].count(",") == 3
    slices.release()
    assert live_groups(path) == []


def test_with_a_group_per_slice_a_repair_creates_only_the_new_group(path, losing):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, pg_per_slice=True, name="job", ledger=path)
    first, second = slices.slice_placement_groups
    losing("s-b/2")
    wait_until(lambda: slices.state == quoit.GroupState.RESCHEDULING)
    with pytest.raises(quoit.NotNowError):
        slices.repair()
    assert slices.slice_placement_groups == [first, second] and len(live_groups(path)) == 1
    assert slices.repair(give_up=True) is False
    assert slices.state == quoit.GroupState.REMOVED and live_groups(path) == [] and free_chips() == 28


def test_intact_slices_keep_their_groups(path, losing):
    one = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    slices = quoit.ray.slice_placement_group("4x4", "v6e", pg_per_slice=True, ledger=path)
    assert slices.slice_names == ("s-b",)
    one.release()
    before = slices.slice_placement_groups
    assert slices.repair() and slices.slice_placement_groups == before
    losing("s-b/0")
    wait_until(lambda: slices.state == quoit.GroupState.RESCHEDULING)
    assert slices.repair() and slices.slice_names == ("s-a",) and slices.state == quoit.GroupState.RESERVED
    slices.release()


def test_a_slice_with_a_dead_host_is_never_allocated(path, losing):
    losing("s-a/3")
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=5) as slices:
        assert slices.slice_names == ("s-b",)
        with pytest.raises(quoit.NotNowError):
            quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0)


def test_a_replaced_host_repairs_its_group(path, losing, fleet):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    losing("s-a/1")
    wait_until(lambda: slices.state == quoit.GroupState.RESCHEDULING)
    fleet.replace("s-a/1")
    wait_until(lambda: rays_word(slices.placement_group) == "CREATED", within_s=60)
    fleet.kill("s-a/1")  # because the fixture replaces this host at the end
    wait_until(lambda: n_alive() == 8, within_s=30)
    slices.release()


def test_the_refusal_names_a_group_that_blocks_ray(path, losing):
    theirs = ray.util.placement_group(
        [{"TPU": 4}] * 4, strategy="SPREAD", name="theirs", bundle_label_selector=[{"ray.io/tpu-slice-name": "s-a"}] * 4
    )
    assert theirs.wait(5)
    losing("s-a/1")
    wait_until(lambda: rays_word(theirs) == "RESCHEDULING")
    with pytest.raises(quoit.NotNowError, match="places nothing while 'theirs' is RESCHEDULING"):
        quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0)
    assert live_groups(path) == []
    ray.util.remove_placement_group(theirs)
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=5) as slices:
        assert slices.slice_names == ("s-b",)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_repair_releases_everything(path, losing, monkeypatch, error):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    losing("s-a/1")
    wait_until(lambda: slices.state == quoit.GroupState.RESCHEDULING)

    def interrupted(*_):
        raise error

    monkeypatch.setattr(cluster, "wait_placed", interrupted)
    with pytest.raises(error):
        slices.repair()
    monkeypatch.undo()
    assert live_groups(path) == [] and free_chips() == 28
    assert slices.state == quoit.GroupState.REMOVED


def test_repair_waits_for_a_slice_until_the_timeout(path, losing):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    other = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    losing("s-a/1")
    wait_until(lambda: slices.state == quoit.GroupState.RESCHEDULING)
    began = time.monotonic()
    with pytest.raises(quoit.NotNowError) as refused:
        slices.repair(timeout_s=0.5)
    assert time.monotonic() - began >= 0.5 and refused.value.report is not None
    other.release()
    assert slices.repair() and slices.slice_names == ("s-b",)
    slices.release()
    with pytest.raises(quoit.NotFoundError, match="released"):
        slices.repair()
