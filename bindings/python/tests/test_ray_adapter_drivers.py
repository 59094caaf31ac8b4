# SPDX-License-Identifier: Apache-2.0
"""Drivers and clusters that end, and the effect on later drivers, on a simulated Ray."""

import pytest
from rays import V4, live

import quoit
import quoit.ray
from quoit.ray import cluster, ledgers, repairing, slices


def make(path, **named):
    return quoit.ray.slice_placement_group(**{**V4, "ledger": path, "timeout_s": 0, **named})


def forget_process_state(path):
    """Drops the state that this process keeps about the ledger. Then it acts like a new process."""
    for _, known in ledgers._opened.values():
        known._renewers.clear()
    ledgers._opened.clear()


# --- a key ---


@pytest.mark.parametrize("owner", [None, "team"])
def test_a_restarted_driver_gets_a_new_reservation_for_its_key(rays, path, owner):
    first = make(path, key="job", owner=owner)
    rays.driver_ends()
    second = make(path, key="job", owner=owner)
    assert second.state == quoit.GroupState.RESERVED and second.group.id != first.group.id
    assert live(path) == [("RESERVED", ("s-a",))] and len(rays.groups) == 1


def test_a_key_does_not_return_groups_of_a_dead_driver(rays, path, monkeypatch):
    make(path, key="job")
    standing = dict(rays.groups)
    rays.driver_ends()
    rays.groups = standing
    with pytest.raises(quoit.NotNowError, match="driver that has ended"):
        make(path, key="job")
    with pytest.raises(quoit.NotFoundError):
        quoit.ray.attach(key="job", ledger=path)
    real = slices.time.sleep
    monkeypatch.setattr(slices.time, "sleep", lambda seconds: (rays.groups.clear(), real(seconds)))
    assert make(path, key="job").state == quoit.GroupState.RESERVED


@pytest.mark.parametrize(
    "other",
    [
        dict(pg_per_slice=False),
        dict(resources_per_bundle={"TPU": 1}),
        dict(num_slices=1),
        dict(strategy="PACK"),
        dict(name="other"),
        dict(lifetime="detached"),
        dict(bundle_label_selector=[{"ray.io/tpu-slice-name": name} for name in ("s-a", "s-a", "s-b", "s-b")]),
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_key_with_a_different_request_is_refused(rays, path, other):
    asked = dict(num_slices=2, pg_per_slice=True, key="k")
    first = make(path, **asked)
    assert make(path, **asked).placement_groups == first.placement_groups
    (name,) = other
    with pytest.raises(quoit.ConflictError, match=rf"key 'k': {name} '.*': expected {name} '"):
        make(path, **{**asked, **other})
    assert len(live(path)) == 1 and len(rays.groups) == 2


def test_a_request_in_another_spelling_is_the_same(rays, path):
    first = make(path, key="k")
    words = dict(accelerator_version="TPU-V4", resources_per_bundle={"CPU": 1, "TPU": 4}, chips_per_vm=4)
    assert make(path, key="k", **words).placement_group == first.placement_group


def test_a_group_is_found_by_key_and_by_name(rays, path):
    made = make(path, name="serve", key="k", lifetime="detached")
    assert quoit.ray.attach(name="serve", ledger=path).group == made.group
    assert quoit.ray.attach(key="k", ledger=path).group == made.group
    found = quoit.ray.attach(name=made.group.name, ledger=path)
    assert found.group == made.group and found.key == "k"


def test_an_ambiguous_name_is_refused_with_both_groups(rays, path, monkeypatch):
    # Ray's names belong to a namespace, of which the simulation has only one.
    monkeypatch.setattr(rays, "names", lambda: [])
    first, second = make(path, name="serve", key="a"), make(path, name="serve", key="b")
    with pytest.raises(quoit.ConflictError, match=f"{first.group.name}.*{second.group.name}"):
        quoit.ray.attach(name="serve", ledger=path)


# --- a driver that ends ---


def test_slices_are_free_in_ray_before_they_are_free_in_the_ledger(rays, path):
    make(path, name="serve")
    standing = dict(rays.groups)
    rays.driver_ends()
    rays.groups = standing
    quoit.ray.sync(path)
    assert live(path) == [("RESERVED", ("s-a",))]
    rays.groups = {}
    quoit.ray.sync(path)
    assert live(path) == []


class Killed(BaseException):
    """Simulates kill -9: the code after it, which would release something, does not run."""


def kill_amid_repair(rays, path, monkeypatch):
    one = make(path, lifetime="detached", key="k")
    rays.lose("a1")
    quoit.ray.sync(path)

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(cluster, "create_group", killed)
        patch.setattr(repairing, "release_or_log", lambda *_: None)
        with pytest.raises(Killed):
            one.repair()


def test_a_group_is_released_if_its_driver_is_killed_during_a_repair(rays, path, monkeypatch):
    kill_amid_repair(rays, path, monkeypatch)
    quoit.ray.sync(path)
    assert len(live(path)) == 1, "its driver lives, and may be repairing it"
    with pytest.raises(quoit.NotNowError, match="repaired"):
        quoit.ray.attach(key="k", ledger=path)
    rays.driver_ends()
    again = make(path, lifetime="detached", key="k")
    assert again.state == quoit.GroupState.RESERVED and again.placement_group is not None
    assert live(path) == [("RESERVED", ("s-b",))] and len(rays.groups) == 1 and len(rays.records) == 1


# --- a cluster that ends ---


@pytest.mark.parametrize("owner", [None, "team", "a|b:c", "x|ray:y"])
def test_detached_groups_end_with_their_cluster(rays, path, owner):
    make(path, lifetime="detached", key="serve", owner=owner)
    quoit.ray.sync(path)
    assert len(live(path)) == 1
    rays.restart_cluster()
    forget_process_state(path)
    assert make(path, lifetime="detached", key="serve", owner=owner).state == quoit.GroupState.RESERVED
    assert len(live(path)) == 1


def test_the_owner_of_a_detached_group_starts_with_the_given_name(rays, path):
    made = make(path, lifetime="detached", owner="team")
    assert made.group.owner == "team|ray:ray:cccccccccccc:detached"


def test_a_second_cluster_of_the_same_name_is_refused_while_drivers_of_the_first_live(rays, path):
    make(path, num_slices=2)
    rays.restart_cluster()
    forget_process_state(path)
    for call in (quoit.ray.sync, lambda ledger: make(ledger)):
        with pytest.raises(quoit.ConflictError, match="source 'ray'.*expected another source="):
            call(path)
    assert live(path) == [("RESERVED", ("s-a", "s-b"))]


def test_a_restarted_cluster_waits_for_the_leases_of_the_old_one(rays, path):
    make(path, num_slices=2, lease_s=0.5)
    rays.restart_cluster()
    forget_process_state(path)
    assert make(path, num_slices=2, timeout_s=60).state == quoit.GroupState.RESERVED
    assert live(path) == [("RESERVED", ("s-a", "s-b"))]


def test_a_driver_can_move_to_another_cluster_without_waiting(rays, path):
    make(path, num_slices=2)
    rays.restart_cluster()
    assert make(path, num_slices=2).state == quoit.GroupState.RESERVED


# --- actors ---


def actor_dies(rays):
    """Simulates kill -9 of the actor that has made groups. This process is then its driver. Ray keeps the groups."""
    slices._unreleased.clear()
    rays.dead_actors.add(rays.actor)
    rays.actor = ""


def test_the_slices_of_a_dead_actor_are_free_although_its_driver_lives(rays, path):
    rays.actor = "a1"
    make(path, name="train")
    quoit.ray.sync(path)
    assert live(path) == [("RESERVED", ("s-a",))]
    actor_dies(rays)
    assert rays.names() == ["train"]
    quoit.ray.sync(path)
    assert live(path) == [] and rays.names() == [] and rays.records == {}


def test_the_placement_groups_of_a_dead_actor_are_removed_after_the_end_of_its_lease(rays, path):
    rays.actor = "a1"
    group = make(path, name="train").group
    actor_dies(rays)
    with quoit.open(path) as ledger:
        ledger.end_owner(group.owner)
    assert live(path) == [] and rays.names() == ["train"]
    quoit.ray.sync(path)
    assert rays.names() == [] and rays.records == {}


def test_a_detached_group_outlives_the_actor_that_made_it(rays, path):
    rays.actor = "a1"
    make(path, name="serve", lifetime="detached")
    actor_dies(rays)
    quoit.ray.sync(path)
    assert live(path) == [("RESERVED", ("s-a",))] and rays.names() == ["serve"]


def test_a_group_that_another_driver_has_repaired_outlives_the_actor_that_made_it(rays, path):
    rays.actor = "a1"
    made = make(path, name="train")
    actor_dies(rays)
    rays.dead_actors.clear()
    rays.lose("a1")
    quoit.ray.attach(name="train", ledger=path).repair()
    rays.dead_actors.add("a1")
    quoit.ray.sync(path)
    assert live(path) == [("RESERVED", ("s-b",))] and made.state == quoit.GroupState.RESERVED


def test_an_actor_has_a_lease_of_its_own(rays, path):
    driver = make(path, name="first").group.owner
    rays.actor = "a1"
    actor = make(path, name="train").group.owner
    assert driver == f"ray:ray:{'c' * 12}:01000000" and actor == f"actor:a1|{driver}"
    with quoit.open(path) as ledger:
        assert {one.name for one in ledger.snapshot().owners if one.until_ms} == {driver, actor}
    actor_dies(rays)
    quoit.ray.sync(path)
    assert live(path) == [("RESERVED", ("s-a",))]
    rays.driver_ends()
    quoit.ray.sync(path)
    assert live(path) == []
