# SPDX-License-Identifier: Apache-2.0
"""A model of calendar, quotas, reservations ahead and backfill that counts slices by pool and time.

It is written from `docs/ahead.md`, `docs/quotas.md` and `docs/scheduler.md`, and knows no slice by name. Nodes never
fail. A method that asks for slices returns the verdict: FITS, NOT_NOW or NEVER.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

FITS, NOT_NOW, NEVER = "fits", "not now", "never"
FOREVER = math.inf


@dataclasses.dataclass(frozen=True)
class Kind:
    """A class of slices, and its pools with their numbers of slices."""

    accelerator: str
    topology: str
    chips: int
    pools: tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True)
class Rule:
    """Which slices a request accepts."""

    kind: Kind
    pool: str | None = None

    def pools(self):
        return [(name, n) for name, n in self.kind.pools if self.pool in (None, name)]

    def total(self):
        return sum(n for _, n in self.pools())


@dataclasses.dataclass
class Group:
    """A live group."""

    name: str
    rule: Rule
    n: int
    begin: float
    lease_end: float | None = None
    expected_end: float | None = None
    is_held: bool = False
    owner: str | None = None
    team: str | None = None
    range: tuple[int, int] | None = None
    pools: dict[str, int] | None = None  # how many slices of each pool it has; None: not begun

    def certain_end(self):
        """Until when it counts as having its slices, for what lies ahead."""
        if self.is_held or self.lease_end is None:
            return FOREVER
        return max(self.lease_end, self.expected_end or 0)

    def assumed_end(self, now):
        """When it is assumed to end, for starts and plans."""
        if self.expected_end is not None:
            return self.expected_end if self.expected_end > now else now + 1
        return FOREVER if self.lease_end is None else self.lease_end

    @property
    def chips(self):
        return self.n * self.rule.kind.chips


@dataclasses.dataclass(frozen=True)
class Window:
    name: str
    pool: str
    begin: int
    end: int


@dataclasses.dataclass(frozen=True)
class Quota:
    name: str
    owner: str | None
    team: str | None
    accelerator: str | None
    topology: str | None
    chips: int
    most: int | None
    cohort: str | None

    def counts(self, group):
        if self.owner is not None and group.owner != self.owner:
            return False
        if self.team is not None and group.team != self.team:
            return False
        kind = group.rule.kind
        return self.accelerator in (None, kind.accelerator) and self.topology in (None, kind.topology)

    def used(self, groups):
        return sum(group.chips for group in groups if self.counts(group))


@dataclasses.dataclass(frozen=True)
class Demand:
    """Slices for a time: in the given pools, or split in any way between the allowed ones."""

    allowed: tuple[str, ...]
    n: int
    begin: float
    end: float
    fixed: tuple[tuple[str, int], ...] | None = None


class Model:
    def __init__(self, now):
        self.now = now
        self.groups: dict[str, Group] = {}
        self.windows: dict[str, Window] = {}
        self.quotas: dict[str, Quota] = {}

    # --- time ---

    def advance(self, now):
        """Ends leases and windows. Returns the groups that begin; the caller sets their `pools`."""
        self.now = now
        self.groups = {name: one for name, one in self.groups.items() if one.lease_end is None or one.lease_end > now}
        self.windows = {name: one for name, one in self.windows.items() if one.end > now}
        return [one for one in self.groups.values() if one.pools is None and one.begin <= now]

    def ahead(self):
        return [one for one in self.groups.values() if one.begin > self.now]

    def lies_ahead(self):
        return bool(self.ahead() or self.windows)

    def n_free(self, kind):
        used = sum(one.n for one in self.groups.values() if one.begin <= self.now and one.rule.kind == kind)
        return sum(n for _, n in kind.pools) - used

    # --- slices over time ---

    def _demand(self, group):
        fixed = None if group.pools is None else tuple(group.pools.items())
        return Demand(tuple(name for name, _ in group.rule.pools()), group.n, group.begin, group.certain_end(), fixed)

    def _feasible(self, kind, demands):
        """Whether all demands can have their slices, for some split of those that are not fixed."""
        caps = dict(kind.pools)
        fixed = [one for one in demands if one.fixed is not None]
        free = [one for one in demands if one.fixed is None]
        load = {name: [] for name in caps}  # (n, begin, end)
        for one in fixed:
            for name, n in one.fixed:
                load[name].append((n, one.begin, one.end))
        choices = []
        for one in free:
            allowed = [name for name in one.allowed if not self._is_closed(name, one.begin, one.end)]
            choices.append([split for split in _splits(one.n, len(allowed))] if allowed else [])
            choices[-1] = [tuple(zip(allowed, split)) for split in choices[-1]]

        def room(name, extra_begin, extra_end):
            """The least number of free slices of the pool in that time."""
            times = [extra_begin] + [begin for _, begin, _ in load[name] if extra_begin < begin < extra_end]
            return min(caps[name] - sum(n for n, begin, end in load[name] if begin <= at < end) for at in times)

        def search(at):
            if at == len(free):
                return True
            one = free[at]
            for split in choices[at]:
                if all(n == 0 or n <= room(name, one.begin, one.end) for name, n in split):
                    for name, n in split:
                        load[name].append((n, one.begin, one.end))
                    found = search(at + 1)
                    for name, _ in split:
                        load[name].pop()
                    if found:
                        return True
            return False

        return search(0)

    def _is_closed(self, pool, begin, end):
        return any(one.pool == pool and one.begin < end and begin < one.end for one in self.windows.values())

    def can_place(self, rule, n, begin, end, at=None, without=()):
        """Whether n slices can be granted for that time, beside all groups that live at the time `at`."""
        at = self.now if at is None else at
        demands = []
        for one in self.groups.values():
            if one.rule.kind != rule.kind or one.name in without:
                continue
            if one.assumed_end(self.now) <= at and at > self.now:
                continue
            demands.append(self._demand(one))
        new = Demand(tuple(name for name, _ in rule.pools()), n, begin, end)
        return self._feasible(rule.kind, [*demands, new])

    def keeps_promises(self, kind, changed=None):
        """Whether all reservations ahead of the class get their slices; `changed` replaces a group."""
        groups = {**self.groups, **({changed.name: changed} if changed else {})}
        return self._feasible(kind, [self._demand(one) for one in groups.values() if one.rule.kind == kind])

    def is_exact(self, rule):
        """Whether a refusal is a proof: no window, and all reservations ahead of the class have the same rule."""
        ahead = {one.rule for one in self.ahead() if one.rule.kind == rule.kind}
        return not self.windows and (not ahead or ahead == {rule})

    # --- quotas ---

    def admits(self, group, groups=None):
        groups = list(self.groups.values()) if groups is None else groups
        return all(self._admits(quota, group, groups) for quota in self.quotas.values() if quota.counts(group))

    def _admits(self, quota, group, groups):
        wanted = quota.used(groups) + group.chips
        if wanted <= quota.chips:
            return True
        if quota.cohort is None or (quota.most is not None and wanted > quota.most):
            return False
        key = quota.cohort, quota.accelerator, quota.topology
        lenders = [one for one in self.quotas.values() if (one.cohort, one.accelerator, one.topology) == key]
        return sum(one.used(groups) for one in lenders) + group.chips <= sum(one.chips for one in lenders)

    def can_move(self, group, moved):
        """Whether the group can get other labels: the quotas that count it only then must admit it."""
        others = [one for one in self.groups.values() if one is not group]
        new = [quota for quota in self.quotas.values() if quota.counts(moved) and not quota.counts(group)]
        return all(self._admits(quota, moved, others) for quota in new)

    def quota_verdict(self, group, groups=None):
        if self.admits(group, groups):
            return FITS
        return NOT_NOW if self.admits(group, []) else NEVER

    # --- verdicts ---

    def verdict(self, group, end):
        """The verdict for a new group, which counts until `end` for what lies ahead."""
        if group.n > group.rule.total() or self.quota_verdict(group) == NEVER:
            return NEVER
        if not self.admits(group) or not self.can_place(group.rule, group.n, group.begin, end):
            return NOT_NOW
        return FITS

    def request_end(self, at, lease, runtime):
        """Until when a request that starts at that time can have its slices."""
        if lease is None:
            return FOREVER
        return at + max(lease, runtime or 0)

    def count_range(self, group, least, most):
        """How many slices a request for a range gets; 0: it is refused."""
        best = 0
        for n in range(least, most + 1):
            one = dataclasses.replace(group, n=n)
            if self.verdict(one, one.certain_end()) == FITS:
                best = n
        return best

    # --- starts ---

    def find_start(self, group, lease, runtime):
        """The earliest time at which the request fits if nothing else is requested; None: unknown."""
        if group.n > group.rule.total() or self.quota_verdict(group) == NEVER:
            return NEVER
        times = {self.now}
        for one in self.groups.values():
            times.add(one.assumed_end(self.now))
        times.update(one.end for one in self.windows.values())
        for at in sorted(times):
            if at == FOREVER or at < self.now:
                continue
            left = [one for one in self.groups.values() if at == self.now or one.assumed_end(self.now) > at]
            end = self.request_end(at, lease, runtime) if self.lies_ahead() else FOREVER
            if self.admits(group, left) and self.can_place(group.rule, group.n, at, end, at=at):
                return at
        return None

    # --- plans ---

    def plan(self, queue, backfill):
        """Plans requests of one rule: (group, lease, runtime) each. Returns (state, start, n) for each.

        `backfill` is "none", "easy" or "conservative".
        """
        ahead = self.lies_ahead()
        taken: list[Demand] = []  # what the plan has given or promised
        started: list[Group] = []
        promised: list[tuple[int, Group]] = []  # with the start
        rows = []
        has_promise = is_blocked = False
        for group, lease, runtime in queue:
            if group.n > group.rule.total() or self.quota_verdict(group) == NEVER:
                rows.append(["refused", None, 0])
                continue
            length = FOREVER if lease is None and (ahead or runtime is None) else runtime or lease
            if ahead and lease is not None:
                length = max(lease, runtime or 0)
            if is_blocked or not self._keeps_quotas(group, started, promised, self.now + length):
                rows.append(["waits", None, 0])
                is_blocked |= backfill == "none"
                continue
            start = self._first_start(group, length, taken, started)
            if start == self.now:
                taken.append(self._take(group, start, length))
                lease_end = None if lease is None else self.now + lease
                expected_end = None if runtime is None else self.now + runtime
                started.append(dataclasses.replace(group, lease_end=lease_end, expected_end=expected_end))
                rows.append(["starts", start, group.n])
                continue
            gets_promise = (
                start is not None
                and not (has_promise and backfill != "conservative")
                and self._keeps_quotas(group, started, promised, start + length)
            )
            rows.append(["waits", start if gets_promise else None, 0])
            if gets_promise:
                taken.append(self._take(group, start, length))
                promised.append((start, group))
                has_promise = True
            is_blocked |= backfill == "none"
        return rows

    def _keeps_quotas(self, group, started, promised, end):
        """Whether the quotas admit the group until `end`, beside those that are promised a start before."""
        if not any(quota.counts(group) for quota in self.quotas.values()):
            return True
        before = [one for start, one in promised if start < end]
        others = [*self.groups.values(), *started, *before]
        return self.admits(group, others) and all(
            self.admits(one, [group, *(other for other in others if other is not one)]) for one in before
        )

    def _take(self, group, start, length):
        return Demand(tuple(name for name, _ in group.rule.pools()), group.n, start, start + length)

    def _first_start(self, group, length, taken, started):
        times = {self.now} | {one.assumed_end(self.now) for one in self.groups.values()} | {one.end for one in taken}
        for at in sorted(times):
            if at == FOREVER or at < self.now:
                continue
            new = self._take(group, at, length)
            if self._keeps_plan(group, taken, new) and self._keeps_ahead(group, taken, started, new):
                return at
        return None

    def _keeps_plan(self, group, taken, new):
        """Whether `new` fits beside what the plan has promised, if groups end as assumed."""
        demands = [*taken, new]
        for one in self.groups.values():
            if one.rule.kind == group.rule.kind:
                end = one.certain_end() if one.begin > self.now else one.assumed_end(self.now)
                demands.append(dataclasses.replace(self._demand(one), end=end))
        return self._feasible(group.rule.kind, demands)

    def _keeps_ahead(self, group, taken, started, new):
        """Whether `new` can be granted at its time beside what lies ahead, for which only certain ends count.

        Groups have ended then as assumed, also those that start now.
        """
        demands = [*(one for one in taken if self.now < one.begin <= new.begin), new]
        for one in [*self.groups.values(), *started]:
            ended = new.begin > self.now and one.assumed_end(self.now) <= new.begin
            if one.rule.kind == group.rule.kind and not ended:
                demands.append(self._demand(one))
        return not self.ahead() or self._feasible(group.rule.kind, demands)


def _splits(n, parts):
    """All ways to write n as a sum of `parts` numbers from 0."""
    if parts == 1:
        return [(n,)]
    return [(first, *rest) for (first,) in itertools.product(range(n + 1)) for rest in _splits(n - first, parts - 1)]
