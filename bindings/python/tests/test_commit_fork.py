# SPDX-License-Identifier: Apache-2.0
"""Forks are committed as one entry, unless something that they depend on has changed."""

import json
import random
import threading

import pytest

import quoit

NOW = 1_800_000_000_000


def new_ledger(n_slices=4):
    ledger = quoit.open_memory()
    ledger.import_fleet_text(f"v6e 4x4 x{n_slices}", now_ms=NOW)
    return ledger


def request(name="train", slices=1, **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, **arguments)


def names(snapshot):
    return sorted(group.name for group in snapshot.groups)


# --- what a commit writes
# ---------------------------------------------------------------------------------


def test_everything_done_on_a_fork_is_one_entry():
    ledger = new_ledger()
    ledger.reserve(request("old", 2), now_ms=NOW)
    before = ledger.snapshot().seq
    fork = ledger.snapshot().fork()
    fork.release("old", now_ms=NOW)
    fork.reserve(request("a", 2), now_ms=NOW)
    fork.hold(request("b"), 60_000, now_ms=NOW)
    fork.resize("a", 3, now_ms=NOW)
    fork.set_node_state("v6e-4x4-0-0", quoit.NodeState.DRAINING, now_ms=NOW)
    expected = fork.snapshot()
    ledger.commit_fork(fork, now_ms=NOW)
    now = ledger.snapshot()
    assert now.seq == before + 1
    assert list(now.groups) == list(expected.groups) == list(fork.snapshot().groups)
    assert now.lookup_node("v6e-4x4-0-0").state == quoit.NodeState.DRAINING
    (change,) = ledger.changes_since(before)
    assert change.verb == "commit-fork"
    ledger.verify()


def test_a_fork_without_changes_writes_nothing():
    ledger = new_ledger()
    before = ledger.snapshot().seq
    ledger.commit_fork(ledger.snapshot().fork(), now_ms=NOW)
    assert ledger.snapshot().seq == before


def test_a_committed_fork_continues():
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    fork.reserve(request("a"), now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    fork.release("a", now_ms=NOW)
    fork.reserve(request("b", 4), now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    assert names(ledger.snapshot()) == ["b"]


def test_new_groups_get_the_next_free_ids():
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    planned = fork.reserve(request("planned", slices=1, excluded=["v6e-4x4-0"]), now_ms=NOW)
    other = ledger.reserve(request("other"), now_ms=NOW)
    assert planned.id == other.id
    ledger.commit_fork(fork, now_ms=NOW)
    assert ledger.group("planned").id == other.id + 1 == fork.snapshot().lookup_group("planned").id
    with pytest.raises(quoit.ConflictError):
        ledger.release(planned, now_ms=NOW)


def test_a_commit_is_part_of_a_batch():
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    fork.reserve(request("a"), now_ms=NOW)
    late = ledger.snapshot().fork()
    late.reserve(request("b"), now_ms=NOW)
    with ledger.batch():
        ledger.commit_fork(fork, now_ms=NOW)
        with pytest.raises(quoit.ConflictError):
            ledger.commit_fork(late, now_ms=NOW)
        ledger.reserve(request("c"), now_ms=NOW)
    assert names(ledger.snapshot()) == ["a", "c"]
    ledger.verify()


def test_a_file_has_what_was_committed(tmp_path):
    path = tmp_path / "fleet.db"
    with quoit.create(path) as ledger:
        ledger.import_fleet_text("v6e 4x4 x4", now_ms=NOW)
        ledger.reserve(request("old", 2, key="k"), now_ms=NOW)
        fork = ledger.snapshot().fork()
        fork.release("old", now_ms=NOW)
        fork.reserve(request("new", 4), now_ms=NOW)
        ledger.commit_fork(fork, now_ms=NOW)
        expected = ledger.snapshot().to_json()
    with quoit.open(path) as ledger:
        assert ledger.snapshot().to_json() == expected
        ledger.verify()


# --- marks
# ---------------------------------------------------------------------------------


def test_a_fork_returns_to_its_marks():
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    with pytest.raises(quoit.InvalidError, match="mark '1': the fork has 0 marks"):
        fork.roll_back(1)
    fork.reserve(request("a"), now_ms=NOW)
    first = fork.mark()
    fork.reserve(request("b"), now_ms=NOW)
    second = fork.mark()
    fork.release("a", now_ms=NOW)
    fork.roll_back(second)
    assert names(fork.snapshot()) == ["a", "b"]
    fork.roll_back(first)
    fork.roll_back(first)
    with pytest.raises(quoit.InvalidError, match=f"mark '{second}': the fork has {first} marks"):
        fork.roll_back(second)
    fork.reserve(request("c"), now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    assert names(ledger.snapshot()) == ["a", "c"]
    with pytest.raises(quoit.InvalidError, match="has 0 marks"):
        fork.roll_back(first)


# --- conflicts
# ---------------------------------------------------------------------------------


def plan_new(fork):
    fork.reserve(request("planned", owner="ann", key="key"), now_ms=NOW)


def plan_release(fork):
    fork.release("old", now_ms=NOW)


def plan_resize(fork):
    fork.resize("old", 2, now_ms=NOW)


def plan_node(fork):
    fork.set_node_state("v6e-4x4-3-0", quoit.NodeState.DRAINING, now_ms=NOW)


@pytest.mark.parametrize(
    ("plan", "change", "message"),
    [
        (plan_new, lambda one: one.reserve(request("planned"), now_ms=NOW), "group name 'planned' is in use now"),
        (plan_new, lambda one: one.reserve(request("x", key="key"), now_ms=NOW), "key 'key' is in use now"),
        (plan_new, lambda one: one.reserve(request("x"), now_ms=NOW), "group 'planned': node 'v6e-4x4-1-0' is used by"),
        (
            plan_new,
            lambda one: one.drain_node("v6e-4x4-1-2", now_ms=NOW),
            "'v6e-4x4-1-2' is no longer alive and undrained",
        ),
        (plan_new, lambda one: one.sync_fleet_text("v6e 4x4 x1", now_ms=NOW), "a node of group 'planned' was removed"),
        (plan_release, lambda one: one.release("old", now_ms=NOW), "group 'old' has ended"),
        (plan_release, lambda one: one.resize("old", 2, now_ms=NOW), "group 'old' has changed"),
        (plan_resize, lambda one: one.resize("old", 3, now_ms=NOW), "group 'old' has changed"),
        (plan_resize, lambda one: one.reserve(request("x"), now_ms=NOW), "group 'old': node 'v6e-4x4-1-0' is used by"),
        (
            plan_node,
            lambda one: one.set_node_state("v6e-4x4-3-0", quoit.NodeState.DEAD, now_ms=NOW),
            "node 'v6e-4x4-3-0' has changed its state since",
        ),
    ],
)
def test_a_fork_is_refused_if_what_it_depends_on_has_changed(plan, change, message):
    ledger = new_ledger()
    ledger.reserve(request("old"), now_ms=NOW)
    fork = ledger.snapshot().fork()
    plan(fork)
    planned = fork.snapshot().to_json()
    change(ledger)
    before = ledger.snapshot()
    with pytest.raises(quoit.ConflictError, match="^fork: .*: make a new fork of a new snapshot$") as refused:
        ledger.commit_fork(fork, now_ms=NOW)
    assert message in str(refused.value)
    assert ledger.snapshot().to_json() == before.to_json() and fork.snapshot().to_json() == planned
    ledger.snapshot().check()


def ray_nodes(slices):
    """A list of Ray's nodes "n0", "n1" and so on: hosts with 4 chips of 2x4 slices.

    `slices` has the slice name and the worker id of each host.
    """
    return json.dumps(
        [
            {
                "NodeID": f"{number:056x}",
                "Alive": True,
                "NodeManagerAddress": f"10.0.0.{number}",
                "NodeName": f"n{number}",
                "Resources": {"TPU": 4.0, "CPU": 8.0},
                "Labels": {
                    "ray.io/tpu-slice-name": name,
                    "ray.io/tpu-worker-id": str(worker),
                    "ray.io/tpu-topology": "2x4",
                    "ray.io/tpu-pod-type": "v6e-8",
                    "ray.io/accelerator-type": "TPU-V6E",
                },
            }
            for number, (name, worker) in enumerate(slices)
        ]
    )


def test_a_fork_is_refused_if_its_nodes_are_in_other_slices_now():
    ledger = quoit.open_memory()
    before, after = [("a", 0), ("a", 1), ("b", 0), ("b", 1)], [("a", 0), ("b", 1), ("b", 0), ("a", 1)]
    ledger.import_ray_nodes(ray_nodes(before), now_ms=NOW)
    fork = ledger.snapshot().fork()
    wanted = quoit.Request("planned", accelerator="v6e", topology="2x4", chips_per_host=4, slices=1)
    assert [one.name for one in fork.reserve(wanted, now_ms=NOW).slices] == ["a"]
    ledger.import_ray_nodes(ray_nodes(after), now_ms=NOW)
    seq = ledger.snapshot().seq
    with pytest.raises(quoit.ConflictError, match="node 'n1' is in another slice or of another kind now"):
        ledger.commit_fork(fork, now_ms=NOW)
    assert ledger.snapshot().seq == seq
    ledger.import_ray_nodes(ray_nodes(before), now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)


def test_a_fork_of_a_snapshot_of_a_fork_is_refused():
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    fork.reserve(request("a"), now_ms=NOW)
    second = fork.snapshot().fork()
    second.reserve(request("b"), now_ms=NOW)
    with pytest.raises(quoit.InvalidError, match="a snapshot of a fork"):
        ledger.commit_fork(second, now_ms=NOW)


def test_renewed_leases_and_equal_node_states_are_no_conflict():
    ledger = new_ledger()
    ledger.hold(request("old"), 10_000, now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.resize("old", 2, now_ms=NOW)
    fork.set_node_state("v6e-4x4-3-0", quoit.NodeState.DRAINING, now_ms=NOW)
    ledger.renew("old", 60_000, now_ms=NOW + 1)
    ledger.drain_node("v6e-4x4-3-0", now_ms=NOW + 1)
    ledger.commit_fork(fork, now_ms=NOW + 1)
    group = ledger.group("old")
    assert (len(group.slices), group.until_ms) == (2, NOW + 60_001)
    ledger.verify()


def test_ended_owners_and_leases_are_refused():
    ledger = new_ledger()
    ledger.set_owner("ann", lease_ms=10_000, now_ms=NOW)
    fork = ledger.snapshot().fork()
    plan_new(fork)
    with pytest.raises(quoit.ExpiredError, match="ann"):
        ledger.commit_fork(fork, now_ms=NOW + 10_000)
    fork = ledger.snapshot().fork()
    fork.hold(request("held"), 5_000, now_ms=NOW + 10_000)
    with pytest.raises(quoit.ExpiredError, match="the lease of group 'held' has ended"):
        ledger.commit_fork(fork, now_ms=NOW + 15_000)
    with pytest.raises(quoit.InvalidError, match="expected at least"):
        ledger.commit_fork(fork, now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW + 12_000)


def test_an_ended_owner_is_refused():
    ledger = new_ledger()
    ledger.set_owner("ann", lease_ms=60_000, now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.reserve(request("planned", owner="ann"), now_ms=NOW)
    ledger.end_owner("ann", now_ms=NOW)
    with pytest.raises(quoit.ExpiredError, match="fork: owner 'ann' has ended"):
        ledger.commit_fork(fork, now_ms=NOW)
    ledger.set_owner("ann", lease_ms=60_000, now_ms=NOW)
    with pytest.raises(quoit.ExpiredError, match="fork: owner 'ann' has ended"):
        ledger.commit_fork(fork, now_ms=NOW)


def test_a_bundle_does_not_move_to_a_node_that_is_draining_now():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 2x4 x1 pool=p hostchips=4", now_ms=NOW)
    bundles = [{"TPU": 2}, {"TPU": 2}]
    spread, best = quoit.Strategy.SPREAD, quoit.Policy.BEST
    ledger.reserve(quoit.Request("b", bundles=bundles, strategy=spread, policy=best), now_ms=NOW)
    ledger.set_node_state("p-0-0", quoit.NodeState.DEAD, now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.repair("b", now_ms=NOW)
    ledger.drain_node("p-0-1", now_ms=NOW)
    with pytest.raises(quoit.ConflictError, match="node 'p-0-1' is no longer alive and undrained"):
        ledger.commit_fork(fork, now_ms=NOW)


def test_other_hardware_under_the_same_node_ids_is_refused():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x2 pool=p", now_ms=NOW)
    fork, drain = ledger.snapshot().fork(), ledger.snapshot().fork()
    fork.reserve(request(), now_ms=NOW)
    drain.set_node_state("p-0-0", quoit.NodeState.DRAINING, now_ms=NOW)
    ledger.sync_fleet_text("v5p 2x2x4 x2 pool=p", now_ms=NOW)
    for one in (fork, drain):
        with pytest.raises(quoit.ConflictError, match="node 'p-0-0' is in another slice or of another kind now"):
            ledger.commit_fork(one, now_ms=NOW)


def test_a_fork_continues_in_a_batch_like_outside():
    ledger = new_ledger(8)
    ledger.reserve(request("old"), now_ms=NOW)
    with ledger.batch():
        fork = ledger.snapshot().fork()
        fork.reserve(request("a"), now_ms=NOW)
        ledger.commit_fork(fork, now_ms=NOW)
        fork.reserve(request("b"), now_ms=NOW)
        ledger.reserve(request("x", excluded=["v6e-4x4-2"]), now_ms=NOW)
        ledger.commit_fork(fork, now_ms=NOW)
        fork.resize("old", 3, now_ms=NOW)
        ledger.resize("old", 2, now_ms=NOW)
        with pytest.raises(quoit.ConflictError, match="group 'old' has changed"):
            ledger.commit_fork(fork, now_ms=NOW)
    assert names(ledger.snapshot()) == ["a", "b", "old", "x"]
    ledger.verify()


def test_only_a_fork_can_be_committed():
    with pytest.raises(TypeError, match="fork: expected a quoit.Fork, not str"):
        new_ledger().commit_fork("fork", now_ms=NOW)


def fleet(text):
    return quoit.Input(quoit.SourceKind.FLEET, text)


def test_a_fork_that_has_synced_is_committed_with_what_follows():
    ledger = new_ledger()
    ledger.reserve(request("old"), now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.sync_input(fleet("v6e 4x4 x2; v6e 4x4 x4 pool=new dead=1.0"), now_ms=NOW)
    fork.set_node_state("new-1-0", quoit.NodeState.ALIVE, now_ms=NOW)
    fork.reserve(request("on-new", 4, pool="new"), now_ms=NOW)
    ledger.reserve(request("other"), now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    now = ledger.snapshot()
    assert len(now.slices) == 6 and names(now) == ["old", "on-new", "other"]
    assert slices_of(ledger.group("on-new")) == {f"new-{i}" for i in range(4)}
    ledger.verify()
    # The fork continues from the committed state, also with another sync.
    fork.release("on-new", now_ms=NOW)
    fork.sync_input(fleet("v6e 4x4 x2"), now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    assert len(ledger.snapshot().slices) == 2
    ledger.verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.sync_fleet_text("v6e 4x4 x5", now_ms=NOW), "the fleet was imported again since"),
        (lambda one: one.import_fleet_text("v5e 4x4", source="b", now_ms=NOW), "the fleet was imported again since"),
        (lambda one: one.reserve(request("x", 3), now_ms=NOW), "group 'x' has taken a node that an import of the fork"),
    ],
)
def test_a_fork_that_has_synced_is_refused_if_nodes_have_changed(change, message):
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    fork.sync_input(fleet("v6e 4x4 x2"), now_ms=NOW)
    change(ledger)
    before = ledger.snapshot().to_json()
    with pytest.raises(quoit.ConflictError, match=message):
        ledger.commit_fork(fork, now_ms=NOW)
    assert ledger.snapshot().to_json() == before


def test_a_fork_that_has_imported_and_forgotten_is_committed():
    ledger = new_ledger()
    for key in "ab":
        ledger.release(ledger.reserve(request(key, key=key), now_ms=NOW), now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.import_input(fleet("v6e 4x4 x6"), now_ms=NOW)
    fork.reserve(request("on-new", 6), now_ms=NOW)
    assert fork.forget_before(NOW + 1, now_ms=NOW) == 2
    ledger.forget_key("a", now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    assert ledger.snapshot().to_json() == fork.snapshot().to_json()
    assert len(ledger.snapshot().slices) == 6
    with pytest.raises(quoit.NotFoundError):
        ledger.snapshot().group_by_key("b")
    late = ledger.snapshot().fork()
    late.release("on-new", now_ms=NOW)
    late.import_input(fleet("v6e 4x4 x5"), now_ms=NOW)
    ledger.import_fleet_text("v6e 4x4 x7", now_ms=NOW)
    with pytest.raises(quoit.ConflictError, match="it has imported source 'fleet', and the fleet was imported again"):
        ledger.commit_fork(late, now_ms=NOW)
    ledger.verify()


def test_a_record_is_forgotten_only_if_its_group_has_ended():
    ledger = new_ledger()
    ledger.hold(request("held"), 1_000, now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.forget("held@1", now_ms=NOW + 1_000)
    ledger.renew("held", 60_000, now_ms=NOW)
    with pytest.raises(quoit.ConflictError, match="group 'held' has not ended"):
        ledger.commit_fork(fork, now_ms=NOW + 1_000)


def test_what_a_fork_has_held_can_end_or_be_confirmed_on_it():
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    fork.set_owner("team", lease_ms=2_000, now_ms=NOW)
    fork.hold(request("ended", key="k"), 1_000, now_ms=NOW)
    fork.hold(request("confirmed"), 1_000, now_ms=NOW)
    fork.hold(request("of-team", owner="team"), 60_000, now_ms=NOW)
    fork.confirm("confirmed", now_ms=NOW + 500)
    fork.reserve(request("late", 2), now_ms=NOW + 3_000)
    ledger.commit_fork(fork, now_ms=NOW + 3_000)
    assert names(ledger.snapshot()) == sorted(names(fork.snapshot())) == ["confirmed", "ended", "late", "of-team"]
    live = {group.name for group in ledger.snapshot().groups if group.state == quoit.GroupState.RESERVED}
    assert live == {"confirmed", "late"}
    ledger.verify()


def test_a_lease_that_a_fork_has_renewed_must_not_have_ended():
    ledger = new_ledger()
    ledger.hold(request("held"), 60_000, now_ms=NOW)
    ledger.set_owner("team", lease_ms=60_000, now_ms=NOW)
    for renew in (
        lambda one: one.renew("held", 1_000, now_ms=NOW),
        lambda one: one.renew_owner("team", 1_000, now_ms=NOW),
    ):
        fork = ledger.snapshot().fork()
        renew(fork)
        with pytest.raises(quoit.ExpiredError, match="fork: the lease of (group 'held'|owner 'team') has ended"):
            ledger.commit_fork(fork, now_ms=NOW + 1_000)
        ledger.commit_fork(fork, now_ms=NOW)
    assert ledger.group("held").until_ms == NOW + 1_000


def test_slices_and_owners_of_a_fork_are_committed():
    ledger = new_ledger()
    ledger.reserve(request("old", 3, owner="ann"), now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.release_slice("old", "v6e-4x4-1", now_ms=NOW)
    fork.set_owner("bob", now_ms=NOW)
    fork.drain_nodes(["v6e-4x4-3-0", "v6e-4x4-3-1"], now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    assert slices_of(ledger.group("old")) == {"v6e-4x4-0", "v6e-4x4-2"}
    assert [owner.name for owner in ledger.snapshot().owners] == ["bob"]
    fork.end_owner("ann", now_ms=NOW)
    ledger.commit_fork(fork, now_ms=NOW)
    assert names(ledger.snapshot()) == []
    ledger.verify()


def test_a_fork_of_another_ledger_is_refused():
    ledger, other = new_ledger(), new_ledger()
    fork = other.snapshot().fork()
    fork.reserve(request("y"), now_ms=NOW)
    with pytest.raises(quoit.InvalidError, match="another ledger"):
        ledger.commit_fork(fork, now_ms=NOW)


def test_closed_ledgers_and_forks_are_refused():
    ledger = new_ledger()
    fork = ledger.snapshot().fork()
    fork.close()
    with pytest.raises(quoit.InvalidError, match="closed"):
        ledger.commit_fork(fork, now_ms=NOW)


# --- random changes, compared with a model
# ---------------------------------------------------------------------------------


class RandomChanges:
    """Makes random changes of a ledger or a fork, and remembers the names of the groups that it has added."""

    def __init__(self, draw, target, prefix):
        self.draw, self.target, self.prefix, self.added, self.n = draw, target, prefix, set(), 0

    def change(self):
        snapshot = self.target.snapshot()
        old = [group.name for group in snapshot.groups if group.name not in self.added]
        verb = self.draw.choice(["reserve", "reserve", "hold", "release", "resize", "drain", "undrain"])
        try:
            if verb in ("reserve", "hold"):
                self.n += 1
                name = self.draw.choice([f"{self.prefix}{self.n}", f"common{self.draw.randrange(12)}"])
                if name in old:
                    return
                wanted = request(name, self.draw.randint(1, 3))
                if verb == "reserve":
                    self.target.reserve(wanted, now_ms=NOW)
                else:
                    self.target.hold(wanted, 60_000, now_ms=NOW)
                self.added.add(name)
            elif verb == "release" and old:
                self.target.release(self.draw.choice(old), now_ms=NOW)
            elif verb == "resize" and old:
                self.target.resize(self.draw.choice(old), self.draw.randint(1, 3), now_ms=NOW)
            elif verb in ("drain", "undrain"):
                state = quoit.NodeState.DRAINING if verb == "drain" else quoit.NodeState.ALIVE
                self.target.set_node_state(self.draw.choice(snapshot.nodes).name, state, now_ms=NOW)
        except (quoit.NotNowError, quoit.NeverError, quoit.ConflictError):
            pass


def live(snapshot):
    """The slices and the lease of each group. The state is left out, because the states of nodes also change it."""
    return {(group.name, group.id): (slices_of(group), group.until_ms) for group in snapshot.groups}


def hosts_of(snapshot, slices):
    return {worker.name for one in snapshot.slices if one.name in slices for worker in one.nodes}


def states(snapshot):
    return {node.name: node.state for node in snapshot.nodes}


def slices_of(group):
    return {one.name for one in group.slices}


def is_possible(base, plan, now):
    """Returns whether the changes from `base` to `plan` can be made in `now`.

    In the plan, no change may undo an earlier change, because the snapshots do not show such changes.
    """
    before, planned, present = live(base), live(plan), live(now)
    changed = [key for key, group in before.items() if planned.get(key) != group]
    if any(present.get(key) != before[key] for key in changed):
        return False
    present_states, planned_states = states(now), states(plan)
    set_states = {name for name, state in states(base).items() if planned_states[name] != state}
    if any(present_states[name] not in (states(base)[name], planned_states[name]) for name in set_states):
        return False
    kept = {name for key, (slices, _) in present.items() if key not in changed for name in slices}
    for key, group in planned.items():
        if before.get(key) == group:
            continue
        if key not in before and any(one[0] == key[0] and one not in changed for one in present):
            return False
        new = group[0] - (before[key][0] if key in before else set())
        undrained = {name for name in set_states if planned_states[name] == quoit.NodeState.ALIVE}
        hosts = hosts_of(now, new) - undrained
        if new & kept or any(present_states[name] != quoit.NodeState.ALIVE for name in hosts):
            return False
    return True


def test_random_forks_are_committed_exactly_if_nothing_they_depend_on_has_changed():
    draw, n_committed, n_refused = random.Random(20261126), 0, 0
    for number in range(150):
        ledger = new_ledger(12)
        for _ in range(draw.randrange(8)):
            RandomChanges(draw, ledger, f"old{number}-{_}-").change()
        base = ledger.snapshot()
        fork = base.fork()
        planner, other = RandomChanges(draw, fork, "fork"), RandomChanges(draw, ledger, "ledger")
        for _ in range(draw.randrange(1, 5)):
            planner.change()
        for _ in range(draw.randrange(4)):
            other.change()
        plan, now = fork.snapshot(), ledger.snapshot()
        # The model cannot decide about a plan in which one change undoes another.
        undone = plan.seq - base.seq != count_changes(base, plan)
        try:
            ledger.commit_fork(fork, now_ms=NOW)
            committed = True
        except quoit.ConflictError:
            committed = False
        if not undone:
            assert committed == is_possible(base, plan, now), number
        after = ledger.snapshot()
        after.check()
        ledger.verify()
        if committed:
            n_committed += 1
            assert list(after.groups) == list(fork.snapshot().groups)
            taken = [name for group in after.groups for name in slices_of(group)]
            assert len(taken) == len(set(taken))
            for key, group in live(plan).items():
                if live(base).get(key) != group:
                    assert slices_of(ledger.group(key[0])) == group[0]
        else:
            n_refused += 1
            assert after.to_json() == now.to_json()
    assert n_committed > 30 and n_refused > 30


def count_changes(base, plan):
    """The number of journal entries from `base` to `plan`, if no entry changes an object that another has changed."""
    before, planned = live(base), live(plan)
    n = sum(planned.get(key) != group for key, group in before.items()) + len(planned.keys() - before.keys())
    return n + sum(states(plan)[name] != state for name, state in states(base).items())


def test_planners_that_share_a_file_never_allocate_a_slice_twice(tmp_path):
    path, names_made, lock = tmp_path / "fleet.db", [], threading.Lock()
    with quoit.create(path) as ledger:
        ledger.import_fleet_text("v6e 4x4 x24", now_ms=NOW)

    def plan(worker):
        with quoit.open(path, wait_ms=60_000) as ledger:
            for number in range(6):
                while True:
                    ledger.refresh()
                    fork = ledger.snapshot().fork()
                    fork.reserve(request(f"w{worker}-{number}"), now_ms=NOW)
                    try:
                        ledger.commit_fork(fork, now_ms=NOW)
                    except quoit.ConflictError:
                        continue
                    with lock:
                        names_made.append(f"w{worker}-{number}")
                    break

    threads = [threading.Thread(target=plan, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with quoit.open(path) as ledger:
        ledger.verify()
        groups = ledger.snapshot().groups
        assert sorted(group.name for group in groups) == sorted(names_made) and len(groups) == 24
        assert len({name for group in groups for name in slices_of(group)}) == 24
