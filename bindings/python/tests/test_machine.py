# SPDX-License-Identifier: Apache-2.0
"""Runs all operations in any order on two handles of one database file, and compares them with a small model."""

import contextlib
import os
import tempfile

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from model import ENDED, Model

import quoit

BEGIN = 1_790_000_000_000
N_SLICES, N_HOSTS = 4, 4
NODES = [f"v6e-4x4-{one}-{host}" for one in range(N_SLICES) for host in range(N_HOSTS)]
STATES = {"alive": quoit.NodeState.ALIVE, "draining": quoit.NodeState.DRAINING, "dead": quoit.NodeState.DEAD}

handles = st.integers(0, 1)
names = st.sampled_from(["a", "b", "c"])
owners = st.sampled_from([None, "x", "y"])
leases = st.sampled_from([0, 1, 1_000, 60_000])
whole_leases = st.sampled_from([1, 1_000, 60_000])
numbers = st.sampled_from([(1, 1), (2, 2), (4, 4), (5, 5), (1, 3), (2, 5)])


class Machine(RuleBasedStateMachine):
    """Each rule makes one call. It first gets the expected result or exception from the model, and then compares."""

    model_class = Model

    @initialize()
    def begin(self):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.path = os.path.join(self.folder.name, "fleet.db")
        self.now = BEGIN
        self.ledgers = [quoit.create(self.path), quoit.open(self.path)]
        self.ledgers[0].import_fleet_text(f"v6e 4x4 x{N_SLICES}", now_ms=self.now)
        self.model = self.model_class(NODES)
        self.past = []  # every group that ever existed

    def teardown(self):
        if hasattr(self, "ledgers"):
            for ledger in self.ledgers:
                ledger.close()
            self.folder.cleanup()

    def both(self, expected, done):
        """The model's result and the ledger's result; None if both refuse in the same way."""
        self.model.tick(self.now)
        try:
            wanted = expected()
        except quoit.Error as error:
            with pytest.raises(quoit.Error) as refused:
                done()
            assert type(refused.value) is type(error), f"{refused.value}: expected {type(error).__name__}"
            return None
        return wanted, done()

    def ref(self, name, pick):
        """Chooses a group by NAME only, or a group that ever existed. Returns name, id or None, and the argument."""
        if pick is None or not self.past:
            return name, None, name
        group = self.past[pick % len(self.past)]
        return group.name, group.id, group

    # --- operations ---

    def take(self, handle, asked, key, lease, confirmed):
        name, least, most, owner = asked
        ledger = self.ledgers[handle]
        request = quoit.Request(
            name,
            accelerator="v6e",
            topology="4x4",
            slices=least if least == most else (least, most),
            owner=owner,
            key=key,
            lease_ms=lease or None,
        )
        verb = (lambda: ledger.reserve(request, now_ms=self.now)) if confirmed else (
            lambda: ledger.hold(request, lease, now_ms=self.now)
        )  # fmt: skip
        both = self.both(lambda: self.model.reserve(asked, key, lease, self.now, confirmed), verb)
        if both is None:
            return
        (held, n), group = both
        if n == 0:
            assert group.id == held.id and (group.state == quoit.GroupState.REMOVED) == bool(held.gone)
            return
        assert len(group.slices) == n
        self.model.add(held, group.id, {one.name for one in group.slices})
        self.past.append(group)

    @rule(
        handle=handles,
        name=names,
        number=numbers,
        owner=owners,
        key=st.sampled_from([None, None, "k", "l"]),
        lease=leases,
    )
    def reserve(self, handle, name, number, owner, key, lease):
        self.take(handle, (name, *number, owner), key, lease, True)

    @rule(
        handle=handles,
        name=names,
        number=numbers,
        owner=owners,
        key=st.sampled_from([None, None, "k"]),
        lease=whole_leases,
    )
    def hold(self, handle, name, number, owner, key, lease):
        self.take(handle, (name, *number, owner), key, lease, False)

    @rule(handle=handles, name=names, pick=st.none() | st.integers(0, 20), lease=leases)
    def confirm(self, handle, name, pick, lease):
        name, number, given = self.ref(name, pick)
        self.both(
            lambda: self.model.confirm(name, number, lease, self.now),
            lambda: self.ledgers[handle].confirm(given, lease_ms=lease, now_ms=self.now),
        )

    @rule(handle=handles, name=names, pick=st.none() | st.integers(0, 20), lease=whole_leases)
    def renew(self, handle, name, pick, lease):
        name, number, given = self.ref(name, pick)
        self.both(
            lambda: self.model.renew(name, number, lease, self.now),
            lambda: self.ledgers[handle].renew(given, lease, now_ms=self.now),
        )

    @rule(handle=handles, name=names, pick=st.none() | st.integers(0, 20))
    def release(self, handle, name, pick):
        name, number, given = self.ref(name, pick)
        both = self.both(
            lambda: self.model.find(name, number), lambda: self.ledgers[handle].release(given, now_ms=self.now)
        )
        if both is not None:
            self.model.remove(both[0], "released")

    @rule(handle=handles, pick=st.integers(0, 20))
    def forget(self, handle, pick):
        name, number, given = self.ref("a", pick)
        if number is not None:
            self.both(
                lambda: self.model.forget(name, number), lambda: self.ledgers[handle].forget(given, now_ms=self.now)
            )

    @rule(handle=handles, name=names, pick=st.none() | st.integers(0, 20), n=st.integers(0, 5))
    def resize(self, handle, name, pick, n):
        name, number, given = self.ref(name, pick)
        both = self.both(
            lambda: self.model.resize(name, number, n),
            lambda: self.ledgers[handle].resize(given, n, now_ms=self.now),
        )
        if both is not None:
            held, change = both
            self.changed(held, change, n)
            lost = {one for one in held.slices if self.model.must_be_replaced(one)}
            assert len(lost) == 0 or n >= len(change.before.slices) or self.freed_only_lost_slices(change)

    def freed_only_lost_slices(self, change):
        kept = {one.name for one in change.after.slices}
        return all(self.model.must_be_replaced(one.name) for one in change.before.slices if one.name not in kept)

    @rule(handle=handles, name=names, pick=st.none() | st.integers(0, 20))
    def repair(self, handle, name, pick):
        name, number, given = self.ref(name, pick)

        def expected():
            held = self.model.find(name, number)
            self.model.number(sum(map(self.model.must_be_replaced, held.slices)), 0)
            return held

        both = self.both(expected, lambda: self.ledgers[handle].repair(given, now_ms=self.now))
        if both is not None:
            held, change = both
            whole = {one for one in held.slices if not self.model.must_be_replaced(one)}
            self.changed(held, change, len(held.slices))
            assert whole <= held.slices and not any(map(self.model.must_be_replaced, held.slices))

    def changed(self, held, change, n):
        before, after = ({one.name for one in group.slices} for group in (change.before, change.after))
        assert before == held.slices and len(after) == n and change.is_unchanged == (before == after)
        self.model.take(held, after, keep=before & after)

    @rule(handle=handles, name=names, pick=st.integers(0, 3))
    def release_slice(self, handle, name, pick):
        held = self.model.live.get(name)
        wanted = f"v6e-4x4-{pick}"

        def expected():
            held = self.model.find(name)
            if wanted not in held.slices:
                raise quoit.NotFoundError
            return held

        both = self.both(expected, lambda: self.ledgers[handle].release_slice(name, wanted, now_ms=self.now))
        if both is not None:
            held, change = both
            left = held.slices - {wanted}
            assert (change.after is None) == (not left)
            if left:
                self.changed(held, change, len(left))
            else:
                self.model.remove(held, "released")

    @rule(handle=handles, owner=owners.filter(bool), lease=leases)
    def set_owner(self, handle, owner, lease):
        self.model.tick(self.now)
        self.ledgers[handle].set_owner(owner, lease_ms=lease, now_ms=self.now)
        self.model.owners[owner] = self.now + lease if lease else None

    @rule(handle=handles, owner=owners.filter(bool), lease=whole_leases)
    def renew_owner(self, handle, owner, lease):
        self.both(
            lambda: self.model.renew_owner(owner, lease, self.now),
            lambda: self.ledgers[handle].renew_owner(owner, lease, now_ms=self.now),
        )

    @rule(handle=handles, owner=owners.filter(bool))
    def end_owner(self, handle, owner):
        both = self.both(
            lambda: self.model.end_owner(owner), lambda: self.ledgers[handle].end_owner(owner, now_ms=self.now)
        )
        assert both is None or both[0] == both[1]

    @rule(handle=handles, node=st.sampled_from(NODES), state=st.sampled_from(sorted(STATES)))
    def set_node_state(self, handle, node, state):
        self.model.tick(self.now)
        self.ledgers[handle].set_node_state(node, STATES[state], now_ms=self.now)
        self.model.state[node] = state

    @rule(ms=st.sampled_from([0, 1, 999, 1_000, 59_000, 60_000]))
    def wait(self, ms):
        self.now += ms

    @rule(handle=handles, name=names)
    def give_up_a_batch(self, handle, name):
        ledger = self.ledgers[handle]
        with pytest.raises(ZeroDivisionError), ledger.batch():
            for verb in (
                lambda: ledger.reserve(request_of(name), now_ms=self.now),
                lambda: ledger.release(name, now_ms=self.now),
            ):
                with contextlib.suppress(quoit.Error):
                    verb()
            raise ZeroDivisionError

    @rule(handle=handles)
    def reopen(self, handle):
        self.ledgers[handle].close()
        self.ledgers[handle] = quoit.open(self.path)

    @rule()
    def import_again(self):
        change = self.ledgers[0].import_fleet_text(f"v6e 4x4 x{N_SLICES}", now_ms=self.now)
        assert change.n_nodes == len(NODES) and not change.is_new
        self.model.tick(self.now)

    # --- invariants ---

    @invariant()
    def both_handles_know_what_the_model_knows(self):
        if not hasattr(self, "ledgers"):
            return
        self.model.tick(self.now)
        for ledger in self.ledgers:
            ledger.refresh()
            ledger.verify()
            snapshot = ledger.snapshot().as_of(self.now)
            snapshot.check()
            free = {one.name for one in snapshot.slices if one.flags & quoit.SliceFlags.FREE}
            assert free == self.model.free()
            groups = {one.name: one for one in snapshot.groups if one.state != quoit.GroupState.REMOVED}
            assert {name: one.id for name, one in groups.items()} == {
                name: held.id for name, held in self.model.live.items()
            }
            for name, group in groups.items():
                held = self.model.live[name]
                assert {one.name for one in group.slices} == held.slices
                assert group.until_ms == self.model.until(held)
                assert group.owner == (held.asked[3] or "") and group.key == (held.key or "")
            known = {one.name: one.until_ms for one in snapshot.owners}
            assert known == {name: until for name, until in self.model.owners.items() if until != ENDED}


def request_of(name):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=1)


# QUOIT_EXAMPLES=2000 runs more examples, with another seed each time.
EXAMPLES = os.environ.get("QUOIT_EXAMPLES")
SETTINGS = settings(
    max_examples=int(EXAMPLES or 25),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=EXAMPLES is None,
    database=None,
)


def test_two_handles_of_a_file_match_the_model():
    run_state_machine_as_test(Machine, settings=SETTINGS)


# --- planted defects that the machine detects ------------------------------------------------------------------------
# Each of these models has one wrong rule, which its name states.


class LateReleaseFrees(Model):
    def find(self, name, number=None):
        return super().find(name) if name in self.live else super().find(name, number)


class LeaseLastsTooLong(Model):
    def tick(self, now):
        super().tick(now - 1)


class DrainingIsFree(Model):
    def must_be_replaced(self, slice_name):
        return any(state == "dead" for node, state in self.state.items() if node.rpartition("-")[0] == slice_name)


class OwnersEndFreesNothing(Model):
    def tick(self, now):
        before, self.live = self.live, {name: held for name, held in self.live.items() if held.asked[3] is None}
        super().tick(now)
        self.live.update({name: held for name, held in before.items() if held.asked[3] is not None})


class KeyIsForgottenWithItsGroup(Model):
    def remove(self, held, why):
        super().remove(held, why)
        held.key = None


class ElasticTakesTheLeast(Model):
    def number(self, least, most):
        return min(super().number(least, most), max(least, 1))


class TooManyIsOnlyNotNow(Model):
    def number(self, least, most):
        try:
            return super().number(least, most)
        except quoit.NeverError:
            raise quoit.NotNowError from None


WRONG_MODELS = (
    LateReleaseFrees,
    LeaseLastsTooLong,
    DrainingIsFree,
    OwnersEndFreesNothing,
    KeyIsForgottenWithItsGroup,
    ElasticTakesTheLeast,
    TooManyIsOnlyNotNow,
)


@pytest.mark.parametrize("wrong_model", WRONG_MODELS)
def test_the_machine_detects_a_wrong_model(wrong_model):
    found = settings(SETTINGS, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, pytest.fail.Exception, quoit.Error)):
        run_state_machine_as_test(type("Compared", (Machine,), {"model_class": wrong_model}), settings=found)


class LedgerWithoutReleases:
    """A ledger with a planted defect: it never writes a release."""

    def __init__(self, ledger):
        self.ledger = ledger

    def release(self, group, now_ms):
        self.ledger.snapshot().fork().release(group, now_ms=now_ms)

    def __getattr__(self, name):
        return getattr(self.ledger, name)


class MachineWithDefect(Machine):
    """A machine in which one of the two ledgers has the defect."""

    @initialize()
    def begin(self):
        super().begin()
        self.ledgers[1] = LedgerWithoutReleases(self.ledgers[1])


def test_the_machine_detects_a_lost_update():
    found = settings(SETTINGS, max_examples=300, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises((AssertionError, pytest.fail.Exception, quoit.Error)):
        run_state_machine_as_test(MachineWithDefect, settings=found)
