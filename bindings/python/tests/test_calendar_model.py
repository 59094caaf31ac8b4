# SPDX-License-Identifier: Apache-2.0
"""Drawn calls on a ledger and on an independent model of calendar, quotas, reservations ahead and backfill.

QUOIT_TEST_SCALE=40 takes 100,000 steps.
"""

import dataclasses
import os
import random

import pytest
from calendar_model import FITS, FOREVER, NEVER, NOT_NOW, Group, Kind, Model, Quota, Rule, Window

import quoit

BEGIN = 1_800_000_000_000
MINUTE = 60_000
FLEET = "v6e 4x4 x4 pool=a; v6e 4x4 x3 pool=b; v6e 2x2 x4 pool=c; v5e 2x2 x3 pool=d"
BIG = Kind("v6e", "4x4", 16, (("a", 4), ("b", 3)))
SMALL = Kind("v6e", "2x2", 4, (("c", 4),))
OTHER = Kind("v5e", "2x2", 4, (("d", 3),))
KINDS = BIG, SMALL, OTHER
OWNERS, TEAMS = (None, "ana", "bo"), (None, "x", "y")
BACKFILLS = {
    "none": quoit.Backfill.NONE,
    "easy": quoit.Backfill.EASY,
    "conservative": quoit.Backfill.CONSERVATIVE,
}
N_RUNS, N_STEPS = 25, 100
SCALE = float(os.environ.get("QUOIT_TEST_SCALE", "1"))
SEED = int(os.environ.get("QUOIT_TEST_SEED", "1"))


def outcome(call):
    """Returns the verdict, and the result of the call or None."""
    try:
        return FITS, call()
    except quoit.NotNowError:
        return NOT_NOW, None
    except quoit.NeverError:
        return NEVER, None


class Run:
    """One ledger and its model."""

    model_class = Model

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ledger = quoit.open_memory()
        self.model = self.model_class(BEGIN)
        self.ledger.import_fleet_text(FLEET, now_ms=BEGIN)
        self.n_named = 0
        # Many runs have no pools in rules, windows or quotas, so that refusals are proofs.
        self.has_pools = self.random.random() < 0.3
        self.has_windows = self.random.random() < 0.3
        self.has_quotas = self.random.random() < 0.5
        self.counts = {}

    @property
    def now(self):
        return self.model.now

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def name(self, prefix):
        self.n_named += 1
        return f"{prefix}{self.n_named}"

    def minutes(self, first, last):
        return MINUTE * self.random.randint(first, last)

    # --- requests ---

    def draw_group(self, prefix, rule=None):
        """Returns a group that begins now, with n slices, without times."""
        kind = self.random.choice([BIG, BIG, *KINDS])
        pool = self.random.choice([None, "a", "b"]) if self.has_pools and kind is BIG else None
        rule = rule or Rule(kind, pool)
        n = self.random.randint(1, 4)
        owner, team = self.random.choice(OWNERS), self.random.choice(TEAMS)
        return Group(self.name(prefix), rule, n, self.now, owner=owner, team=team)

    def request(self, group, lease=None, runtime=None):
        return quoit.Request(
            group.name,
            accelerator=group.rule.kind.accelerator,
            topology=group.rule.kind.topology,
            slices=group.range or group.n,
            pool=group.rule.pool,
            owner=group.owner,
            labels={"team": group.team} if group.team else None,
            lease_ms=lease,
            expected_runtime_ms=runtime,
        )

    def pools_of(self, found):
        pools = {}
        for one in found.slices:
            pool = one.name.rpartition("-")[0]
            pools[pool] = pools.get(pool, 0) + 1
        return pools

    def add(self, group, found):
        """Adds a granted group to the model."""
        group.n = len(found.slices)
        group.pools = None if group.begin > self.now else self.pools_of(found)
        self.model.groups[group.name] = group
        assert self.model.keeps_promises(group.rule.kind), "a promise cannot be kept"
        self.count("granted")

    def compare(self, rule, expected, verdict, what):
        """A refusal beside other rules or windows can be wrong, as docs/ahead.md states; a grant cannot."""
        if expected == verdict:
            return
        assert expected == FITS and verdict == NOT_NOW and not self.model.is_exact(rule), (what, expected, verdict)
        self.count("greedy refusals")

    def change(self, call):
        """Makes the call on the ledger, or on a fork that is committed. Returns the group."""
        if self.random.random() < 0.8:
            return call(self.ledger)
        fork = self.ledger.snapshot().fork()
        group = call(fork)
        self.ledger.commit_fork(fork, now_ms=self.now)
        self.count("commits")
        return self.ledger.group(group.name)

    # --- steps ---

    def reserve(self):
        group = self.draw_group("g")
        lease = self.random.choice([None, self.minutes(1, 10), self.minutes(1, 10)])
        runtime = self.random.choice([None, None, self.minutes(1, 12)])
        if self.random.random() < 0.2:
            group.range = group.n, group.n + self.random.randint(0, 3)
        group.lease_end = None if lease is None else self.now + lease
        group.expected_end = None if runtime is None else self.now + runtime
        request = self.request(group, lease, runtime)
        expected = self.model.verdict(group, group.certain_end())
        explained = self.ledger.snapshot().as_of(self.now).explain(request)
        verdict, found = outcome(lambda: self.change(lambda book: book.reserve(request, now_ms=self.now)))
        assert explained.verdict.name.lower().replace("_", " ") == verdict
        self.compare(group.rule, expected, verdict, group)
        if found is not None:
            if group.range and self.model.is_exact(group.rule):
                most = self.model.count_range(group, *group.range)
                # Beside promises that move, an elastic request can get fewer than would fit.
                assert group.range[0] <= len(found.slices) <= most
                assert len(found.slices) == most or self.model.ahead()
            self.add(group, found)

    def hold(self):
        group = self.draw_group("h")
        lease = self.minutes(1, 8)
        group.is_held, group.lease_end = True, self.now + lease
        request = self.request(group)
        verdict, found = outcome(lambda: self.change(lambda book: book.hold(request, lease, now_ms=self.now)))
        self.compare(group.rule, self.model.verdict(group, FOREVER), verdict, group)
        if found is not None:
            self.add(group, found)

    def reserve_at(self):
        group = self.draw_group("r")
        group.begin = self.now + self.minutes(1, 12)
        group.lease_end = self.random.choice([None, group.begin + self.minutes(1, 8), group.begin + self.minutes(1, 8)])
        request = self.request(group)
        verdict, found = outcome(
            lambda: self.change(lambda book: book.reserve_at(request, group.begin, group.lease_end, now_ms=self.now))
        )
        expected = self.model.verdict(group, group.certain_end())
        self.compare(group.rule, expected, verdict, group)
        if found is not None:
            assert len(found.slices) == group.n
            self.add(group, found)
            self.count("reserved ahead")

    def some_group(self):
        return self.random.choice(list(self.model.groups.values())) if self.model.groups else None

    def release(self):
        group = self.some_group()
        if group is not None:
            self.ledger.release(group.name, now_ms=self.now)
            del self.model.groups[group.name]

    def confirm(self):
        group = self.some_group()
        if group is None:
            return
        lease = self.random.choice([0, self.minutes(1, 8)])
        if group.begin > self.now:
            with pytest.raises(quoit.ConflictError):
                self.ledger.confirm(group.name, lease_ms=lease, now_ms=self.now)
            return
        self.ledger.confirm(group.name, lease_ms=lease, now_ms=self.now)
        if group.is_held:
            group.is_held, group.lease_end = False, self.now + lease if lease else None

    def renew(self):
        group = self.some_group()
        if group is None:
            return
        lease = self.minutes(1, 12)
        longer = dataclasses.replace(group, lease_end=self.now + lease)
        if group.begin > self.now or group.lease_end is None:
            can = False
        else:
            can = self.model.keeps_promises(group.rule.kind, longer)
            if longer.certain_end() > group.certain_end():
                for pool in group.pools:
                    can = can and not self.model._is_closed(pool, self.now, longer.certain_end())
        try:
            self.ledger.renew(group.name, lease, now_ms=self.now)
        except quoit.ConflictError:
            assert not can or not self.model.is_exact(group.rule), "the renewal keeps all promises"
            return
        assert can or self.model.windows, "the renewal breaks a promise"
        group.lease_end = longer.lease_end
        assert self.model.keeps_promises(group.rule.kind), "a promise cannot be kept"
        self.count("renewed")

    def resize(self):
        group = self.some_group()
        if group is None:
            return
        n = self.random.randint(1, 5)
        more = dataclasses.replace(group, n=n - group.n, pools=None, begin=self.now)
        try:
            verdict, change = outcome(lambda: self.ledger.resize(group.name, n, now_ms=self.now))
        except quoit.ConflictError:
            assert group.begin > self.now
            return
        except quoit.InvalidError:
            assert group.range and not group.range[0] <= n <= group.range[1]
            return
        if n > group.n:
            expected = NOT_NOW
            if n > group.rule.total():
                expected = NEVER
            elif self.model.admits(more) and self.model.can_place(more.rule, more.n, self.now, group.certain_end()):
                expected = FITS
            if {expected, verdict} == {NOT_NOW, NEVER}:
                assert self.has_quotas, (expected, verdict)  # the quota may never admit it
            else:
                self.compare(group.rule, expected, verdict, (group, n))
        else:
            assert verdict == FITS
        if change is not None:
            group.n, group.pools = n, self.pools_of(change.after)
            assert self.model.keeps_promises(group.rule.kind), "a promise cannot be kept"
            self.count("resized")

    def add_window(self):
        pool = self.random.choice("abcd")
        begin = self.now + self.minutes(-2, 8)
        window = Window(self.name("w"), pool, begin, max(begin, self.now) + self.minutes(1, 5))
        kind = next(kind for kind in KINDS if pool in dict(kind.pools))
        was_exact = not self.model.windows and len({one.rule for one in self.model.ahead()}) <= 1
        self.model.windows[window.name] = window
        can = self.model.keeps_promises(kind)
        scope = quoit.WindowScope.POOL
        try:
            self.ledger.add_window(window.name, scope, pool, window.begin, window.end, now_ms=self.now)
        except quoit.ConflictError:
            assert not can or not was_exact or self.model.ahead(), "nothing needs the pool"
            del self.model.windows[window.name]
            return
        assert can, "the window breaks a promise"
        self.count("windows")

    def set_quota(self):
        kind = self.random.choice(KINDS)
        depth = self.random.randint(0, 2)
        owner, team = self.random.choice([("ana", None), ("bo", None), (None, "x"), (None, "y")])
        nominal = 4 * self.random.randint(0, 16)
        cohort = self.random.choice([None, "red"])
        most = nominal + 4 * self.random.randint(0, 8) if cohort and self.random.random() < 0.5 else None
        quota = Quota(
            self.random.choice("pqr"),
            owner,
            team,
            kind.accelerator if depth > 0 else None,
            kind.topology if depth > 1 else None,
            nominal,
            most,
            cohort,
        )
        target = quota.owner, quota.team, quota.accelerator, quota.topology
        same = [
            one
            for one in self.model.quotas.values()
            if one.name != quota.name and (one.owner, one.team, one.accelerator, one.topology) == target
        ]
        try:
            self.ledger.set_quota(
                quota.name,
                quota.chips,
                owner=owner,
                label=f"team={team}" if team else None,
                accelerator=quota.accelerator,
                topology=quota.topology,
                max_chips=most,
                cohort=cohort,
                now_ms=self.now,
            )
        except quoit.ConflictError:
            assert same
            return
        assert not same
        self.model.quotas[quota.name] = quota

    def remove_record(self):
        """Removes a window, or a quota."""
        records = [*self.model.windows, *self.model.quotas]
        if not records:
            return
        name = self.random.choice(records)
        if self.model.windows.pop(name, None) is not None:
            self.ledger.remove_window(name, now_ms=self.now)
        else:
            del self.model.quotas[name]
            self.ledger.remove_quota(name, now_ms=self.now)
        self.count("removed records")

    def set_expected_end(self):
        """An estimate after the lease can contradict promises, and nobody prevents that. So it is at most the lease."""
        group = self.some_group()
        if group is None or group.begin > self.now or group.is_held:
            return
        latest = self.now + 12 * MINUTE if group.lease_end is None else group.lease_end
        end = self.random.choice([None, group.begin, self.now, *range(self.now, latest + 1, MINUTE)])
        self.ledger.set_expected_end(group.name, end, now_ms=self.now)
        group.expected_end = end
        self.count("estimates")

    def set_team(self):
        group = self.some_group()
        if group is None:
            return
        moved = dataclasses.replace(group, team=self.random.choice(TEAMS))
        can = self.model.can_move(group, moved)
        try:
            self.ledger.set_labels(group.name, {"team": moved.team}, now_ms=self.now)
        except quoit.ConflictError:
            assert not can, "the quotas admit the group with the label"
            self.count("labels over quota")
            return
        assert can, "a quota does not admit the group with the label"
        group.team = moved.team

    def find_start(self):
        group = self.draw_group("s")
        lease = self.random.choice([None, self.minutes(1, 8)])
        runtime = self.random.choice([None, self.minutes(1, 8)])
        expected = self.model.find_start(group, lease, runtime)
        request = self.request(group, lease, runtime)
        verdict, start = outcome(lambda: self.ledger.snapshot().find_start(request, now_ms=self.now))
        if expected == NEVER:
            assert verdict == NEVER
        elif self.model.is_exact(group.rule):
            assert verdict == FITS and start.time_ms == expected, (start.time_ms, expected)
            self.count("starts")
        else:
            assert start.time_ms is None or (expected is not None and start.time_ms >= expected)

    def plan_queue(self):
        kind = self.random.choice(KINDS)
        rule = Rule(kind)
        if not self.model.is_exact(rule) or any(
            one.rule != rule for one in self.model.groups.values() if one.begin > self.now
        ):
            return
        backfill = self.random.choice(list(BACKFILLS))
        queue = []
        for _ in range(self.random.randint(1, 6)):
            group = self.draw_group("q", rule)
            lease = self.random.choice([None, self.minutes(1, 8), self.minutes(1, 8)])
            runtime = self.random.choice([None, self.minutes(1, 8), self.minutes(1, 8)])
            queue.append((group, lease, runtime))
        fork = self.ledger.snapshot().fork()
        requests = [self.request(*one) for one in queue]
        plan = fork.plan_queue(requests, backfill=BACKFILLS[backfill], now_ms=self.now)
        expected = self.model.plan(queue, backfill)
        found = [[one.state.name.lower(), one.start_ms, len(one.group.slices) if one.group else 0] for one in plan]
        for one, other in zip(found, expected):
            if self.model.ahead() and one[:2] == ["waits", None] and other[0] == "waits":
                self.count("unknown starts")  # docs/scheduler.md: beside what lies ahead, a start can be unknown
                break
            assert one == other, (backfill, found, expected)
        self.count("plans")
        if self.random.random() < 0.5:
            return
        self.ledger.commit_fork(fork, now_ms=self.now)
        for (group, lease, runtime), row in zip(queue, plan):
            if row.state == quoit.QueuedState.STARTS:
                group.lease_end = None if lease is None else self.now + lease
                group.expected_end = None if runtime is None else self.now + runtime
                self.add(group, self.ledger.group(group.name))

    # --- a run ---

    def advance(self):
        begun = self.model.advance(self.now + MINUTE * self.random.choice([0, 0, 1, 1, 2]))
        snapshot = self.ledger.snapshot().as_of(self.now)
        for group in begun:
            group.pools = self.pools_of(snapshot.lookup_group(group.name))
            self.count("begun")

    def check(self):
        snapshot = self.ledger.snapshot().as_of(self.now)
        snapshot.check()
        live = {one.name: one for one in snapshot.groups if one.state != quoit.GroupState.REMOVED}
        assert live.keys() == self.model.groups.keys()
        for name, group in self.model.groups.items():
            state = quoit.GroupState.RESERVED
            if group.is_held:
                state = quoit.GroupState.HELD
            elif group.begin > self.now:
                state = quoit.GroupState.AHEAD
            assert live[name].state == state, (name, live[name].state, state)
            assert len(live[name].slices) == group.n
            assert live[name].until_ms == group.lease_end
        for kind in KINDS:
            free = sum(
                bool(one.flags & quoit.SliceFlags.FREE)
                for one in snapshot.slices
                if one.accelerator == kind.accelerator and one.topology == kind.topology
            )
            assert free == self.model.n_free(kind)
        assert {one.name for one in snapshot.windows} == self.model.windows.keys()
        used = {one.name: int(one.used) for one in snapshot.quotas}
        groups = list(self.model.groups.values())
        assert used == {name: quota.used(groups) for name, quota in self.model.quotas.items()}

    def step(self):
        self.advance()
        steps = [self.reserve] * 4 + [self.reserve_at] * 3 + [self.release] * 3 + [self.find_start] * 3
        steps += [self.hold, self.confirm, self.renew, self.renew, self.resize, self.plan_queue, self.plan_queue]
        steps += [self.set_expected_end, self.set_team, self.remove_record]
        steps += [self.add_window] * self.has_windows + [self.set_quota] * 2 * self.has_quotas
        self.random.choice(steps)()
        self.check()


def run_all(first, n_runs, run_class=Run):
    counts = {}
    for seed in range(first, first + n_runs):
        run = run_class(seed)
        for step in range(N_STEPS):
            try:
                run.step()
            except BaseException as error:
                error.args = (f"seed {seed}, step {step}", *error.args)
                raise
        run.ledger.verify()
        run.ledger.close()
        for what, n in run.counts.items():
            counts[what] = counts.get(what, 0) + n
    return counts


def test_the_ledger_matches_the_model():
    print(f"QUOIT_TEST_SEED={SEED}")
    n_runs = max(1, int(N_RUNS * SCALE))
    counts = run_all(SEED, n_runs)
    print(counts)
    names = "granted", "reserved ahead", "begun", "renewed", "starts", "plans", "windows", "commits", "estimates"
    for what in (*names, "removed records"):
        assert counts[what] > n_runs / 5, (what, counts)
    assert counts.get("greedy refusals", 0) * 20 < counts["granted"]


# --- planted defects ---


class EstimatesKeepPromises(Model):
    """Counts a group without a lease until its expected end, for what lies ahead."""

    def _demand(self, group):
        demand = super()._demand(group)
        if group.lease_end is None and group.expected_end is not None:
            demand = dataclasses.replace(demand, end=group.expected_end)
        return demand


class HeldGroupsEnd(Model):
    """Counts a held group until its lease ends, for what lies ahead."""

    def _demand(self, group):
        demand = super()._demand(group)
        return dataclasses.replace(demand, end=group.lease_end) if group.is_held else demand


class CohortsLendMore(Model):
    """Counts only the quota's own use for borrowing."""

    def _admits(self, quota, group, groups):
        wanted = quota.used(groups) + group.chips
        return wanted <= quota.chips or (quota.cohort is not None and (quota.most is None or wanted <= quota.most))


class AheadIsFree(Model):
    """Quotas do not count reservations ahead."""

    def admits(self, group, groups=None):
        groups = list(self.groups.values()) if groups is None else groups
        return super().admits(group, [one for one in groups if one.begin <= self.now])


class LabelsMoveFreely(Model):
    """Labels are not checked."""

    def can_move(self, group, moved):
        return True


# The first run is one that detects the defect, as long as runs are drawn in the same way.
@pytest.mark.parametrize(
    ("wrong", "first"),
    [(EstimatesKeepPromises, 1), (HeldGroupsEnd, 2), (CohortsLendMore, 2), (AheadIsFree, 30), (LabelsMoveFreely, 45)],
)
def test_a_wrong_model_is_detected(wrong, first):
    with pytest.raises(AssertionError):
        run_all(first, 200, type("WrongRun", (Run,), {"model_class": wrong}))
