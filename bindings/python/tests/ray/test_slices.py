# SPDX-License-Identifier: Apache-2.0
"""slice_placement_group on a real cluster."""

import pytest
import ray
from conftest import free_chips, hosts_of, wait_until

import quoit
import quoit.ray
from quoit.ray import acquiring, cluster


def live_groups(path):
    """The live groups that belong to no source, read through a new handle."""
    with quoit.open(path) as ledger:
        return [one for one in ledger.snapshot().groups if not one.source and one.state != quoit.GroupState.REMOVED]


def test_bundles_are_on_the_workers_of_the_allocated_slices(path):
    with quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger=path) as slices:
        assert slices.slice_names == ("s-a", "s-b")
        assert hosts_of(slices.placement_group) == [(name, worker) for name in ("s-a", "s-b") for worker in range(4)]
        assert slices.state == quoit.GroupState.RESERVED
        assert [one.state for one in live_groups(path)] == [quoit.GroupState.RESERVED]
        assert free_chips() == 0
        assert slices.environment(5)["TPU_WORKER_ID"] == "1" and slices.environment(5)["MEGASCALE_SLICE_ID"] == "1"
    assert slices.state == quoit.GroupState.REMOVED and slices.placement_group is None
    assert live_groups(path) == [] and free_chips() == 32


def test_the_attributes_are_those_that_rays_helper_has(path):
    with quoit.ray.slice_placement_group("4x4", "TPU-V6E", {"TPU": 2}, ledger=path) as slices:
        theirs = ["chips_per_host", "devices_per_host", "num_hosts", "num_bundles", "topology", "accelerator_version"]
        assert [getattr(slices, name) for name in theirs] == [4, 4, 4, 8, "4x4", "v6e"]
        assert slices.bundle_resources == {"CPU": 1, "TPU": 2} and slices.head_placement_groups == []
        assert hosts_of(slices.placement_group) == [("s-a", bundle // 2) for bundle in range(8)]
        assert slices.slice_placement_group == slices.placement_group
        for name in dir(ray.util.tpu.SlicePlacementGroup):
            assert name.startswith("_") or hasattr(type(slices), name), name
        with pytest.raises(ValueError, match="pg_per_slice"):
            slices.slice_placement_groups
        slices.release_head_pgs(0)


def test_each_slice_can_have_its_own_placement_group(path):
    with quoit.ray.slice_placement_group(
        "4x4", "v6e", num_slices=2, pg_per_slice=True, name="job", ledger=path
    ) as slices:
        assert [hosts_of(one)[0] for one in slices.slice_placement_groups] == [("s-a", 0), ("s-b", 0)]
        assert ray.util.get_placement_group("job_slice_1") == slices.slice_placement_groups[1]
        with pytest.raises(ValueError, match="pg_per_slice"):
            slices.placement_group


def test_a_refusal_has_a_report_and_leaves_nothing(path):
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path):
        with pytest.raises(quoit.NotNowError, match="2 slices of v6e 4x4.*1 short") as refused:
            quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, timeout_s=0, ledger=path)
        assert isinstance(refused.value, TimeoutError)
        assert refused.value.report.n_free_now == 1 and refused.value.report.reasons
        with pytest.raises(quoit.NeverError, match="3 slices of v6e 4x4") as never:
            quoit.ray.slice_placement_group("4x4", "v6e", num_slices=3, ledger=path)
        assert never.value.report.verdict == quoit.Verdict.NEVER
        assert len(live_groups(path)) == 1 and free_chips() == 16


def test_arguments_that_ray_would_never_place_are_refused_before_anything_is_held(path):
    refused = [
        dict(strategy="STRICT_PACK"),
        dict(strategy="STRICT_SPREAD", resources_per_bundle={"TPU": 1}),
        dict(strategy="spread"),
        dict(resources_per_bundle={"TPU": 8}),
        dict(resources_per_bundle={"TPU": 3}),
        dict(num_slices=0),
        dict(num_slices=-1),
        dict(lifetime="always"),
        dict(bundle_label_selector=[{"a": "b"}]),
        dict(bundle_label_selector=[{"a": str(i)} for i in range(4)]),
        dict(timeout_s=-1),
        dict(chips_per_vm=0),
    ]
    for arguments in refused:
        with pytest.raises(quoit.InvalidError):
            quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, **arguments)
    for arguments in [("4x4a", "v6e"), ("3x5", "v6e"), ("4x4", "v9")]:
        with pytest.raises(quoit.InvalidError):
            quoit.ray.slice_placement_group(*arguments, ledger=path)
    for arguments in [
        dict(num_slices=1.0),
        dict(timeout_s="1"),
        dict(lease_s=None),
        dict(name=7),
    ]:
        with pytest.raises(TypeError):
            quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, **arguments)
    assert not path.exists() or live_groups(path) == []
    assert free_chips() == 32


def test_a_resource_that_no_host_has_is_never_available(path):
    with pytest.raises(quoit.NeverError, match="has 2 CPU, but its bundles need 8"):
        quoit.ray.slice_placement_group("4x4", "v6e", {"CPU": 8, "TPU": 4}, ledger=path)
    assert live_groups(path) == [] and free_chips() == 32


def test_slices_can_be_requested_by_name(path):
    labels = [{"ray.io/tpu-slice-name": "s-b"}] * 4
    with quoit.ray.slice_placement_group("4x4", "v6e", bundle_label_selector=labels, ledger=path) as slices:
        assert slices.slice_names == ("s-b",)
        with pytest.raises(quoit.NotNowError):
            quoit.ray.slice_placement_group("4x4", "v6e", bundle_label_selector=labels, ledger=path, timeout_s=0)


def test_a_slice_with_an_actor_is_not_allocated(path):
    @ray.remote(num_cpus=0, resources={"TPU": 1}, label_selector={"ray.io/tpu-slice-name": "s-a"})
    class Actor:
        def ping(self):
            return True

    actor = Actor.remote()
    assert ray.get(actor.ping.remote())
    wait_until(lambda: free_chips() == 31)
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path) as slices:
        assert slices.slice_names == ("s-b",)
        with pytest.raises(quoit.NotNowError):
            quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0)
    ray.kill(actor)


def test_newly_used_chips_cost_one_more_attempt(path):
    quoit.ray.sync(path)
    group = ray.util.placement_group([{"TPU": 4}], bundle_label_selector=[{"ray.io/tpu-slice-name": "s-a"}])
    assert group.wait(5)
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=5) as slices:
        assert slices.slice_names == ("s-b",)
    ray.util.remove_placement_group(group)


def test_a_group_that_another_program_removes_is_never_returned(path, monkeypatch):
    real, removed = cluster.create_group, []

    def removed_once(*arguments):
        group = real(*arguments)
        if not removed:
            removed.append(group)
            assert group.wait(5)
            ray.util.remove_placement_group(group)
            wait_until(lambda: ray.util.placement_group_table(group)["state"] == "REMOVED")
        return group

    monkeypatch.setattr(cluster, "create_group", removed_once)
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=5) as slices:
        assert removed and slices.placement_groups != removed
        assert slices.state == quoit.GroupState.RESERVED and hosts_of(slices.placement_group)[0][1] == 0


def test_rays_helper_does_not_use_allocated_slices(path):
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path) as ours:
        theirs = ray.util.tpu.slice_placement_group("4x4", "v6e", head_reservation_timeout_s=20)
        assert theirs.placement_group.wait(10)
        assert {name for name, _ in hosts_of(theirs.placement_group)} == {"s-b"} and ours.slice_names == ("s-a",)
        with pytest.raises(TimeoutError):
            ray.util.tpu.slice_placement_group("4x4", "v6e", head_reservation_timeout_s=1)
        with pytest.raises(quoit.NotNowError):
            quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0)
        theirs.shutdown()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize(
    "where", [(quoit.Ledger, "hold"), (acquiring, "compute_pins"), (cluster, "create_group"), (cluster, "write_record"),
              (cluster, "wait_placed"), (quoit.Ledger, "confirm")], ids=lambda where: where[1]
)  # fmt: skip
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interruption_at_each_step_releases_everything(path, monkeypatch, where, error, when):
    real = getattr(*where)

    def interrupted(*arguments, **named):
        if when == "after":
            real(*arguments, **named)
        raise error

    monkeypatch.setattr(*where, interrupted)
    with pytest.raises(error):
        # A group with a name writes its record during the call. Without a name, it would write it after the call.
        name = "train" if where[1] == "write_record" else ""
        quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, pg_per_slice=True, name=name, ledger=path)
    monkeypatch.undo()
    assert live_groups(path) == []
    assert [row for row in ray.util.placement_group_table().values() if row["state"] != "REMOVED"] == []
    with quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger=path, timeout_s=0):
        pass
