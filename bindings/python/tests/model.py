# SPDX-License-Identifier: Apache-2.0
"""A minimal model of a ledger whose slices are all of one class.

A method with the name of a verb raises the exception that the ledger must raise, or returns the affected group. The
model does not choose slices: `take` gets the slices that the ledger has chosen, and asserts that they were free.
"""

from __future__ import annotations

import dataclasses

import quoit

ENDED = -1  # the lease of an owner whose lease has expired


@dataclasses.dataclass
class Held:
    """A group of the model."""

    id: int
    asked: tuple[str, int, int, str | None]  # name, fewest slices, most slices, owner
    key: str | None
    until: int | None  # the end of the lease
    confirmed: bool
    slices: frozenset[str] = frozenset()
    gone: str = ""  # "released" or "expired" for an ended group


class Model:
    def __init__(self, nodes):
        self.state = dict.fromkeys(nodes, "alive")  # node name v6e-4x4-SLICE-WORKER -> state
        self.slices = sorted({node.rpartition("-")[0] for node in nodes})
        self.live = {}  # the live groups by name
        self.kept = []  # the ended groups whose record is kept, in the order of their ends
        self.owners = {}  # the end of each owner's lease, ENDED, or None without a lease
        self.last_id = 0

    def must_be_replaced(self, slice_name):
        """Whether a repair replaces the slice, because one of its nodes is dead or draining."""
        return any(state != "alive" for node, state in self.state.items() if node.rpartition("-")[0] == slice_name)

    def free(self):
        used = {one for held in self.live.values() for one in held.slices}
        return {one for one in self.slices if one not in used and not self.must_be_replaced(one)}

    def until(self, held):
        ends = [end for end in (held.until, self.owners.get(held.asked[3])) if end]
        return min(ends, default=None)

    def tick(self, now):
        """Ends the leases that have ended at `now`, and their groups."""
        ended = {name for name, until in self.owners.items() if until and until <= now and until != ENDED}
        self.owners.update(dict.fromkeys(ended, ENDED))
        for held in list(self.live.values()):
            if (held.until and held.until <= now) or held.asked[3] in ended:
                self.remove(held, "expired")

    def remove(self, held, why):
        del self.live[held.asked[0]]
        held.gone, held.slices = why, frozenset()
        if held.key or why == "expired":
            self.kept.append(held)

    def find(self, name, number=None):
        """Returns the live group with the name, and with the id `number` if that is given; else raises."""
        held = self.live.get(name)
        if held is not None and number in (None, held.id):
            return held
        late = [one for one in self.kept if one.asked[0] == name and number in (None, one.id)]
        if late and max(late, key=lambda one: one.id).gone == "expired":
            raise quoit.ExpiredError
        raise quoit.ConflictError if number else quoit.NotFoundError

    def reserve(self, asked, key, lease, now, confirmed):
        """Returns a group and the number of slices to take; 0 for the group of an earlier call with the key."""
        name, least, most, owner = asked
        for held in [*self.live.values(), *self.kept]:
            if key and held.key == key:
                if held.asked != asked or (confirmed and not held.confirmed and not held.gone):
                    raise quoit.ConflictError
                return held, 0
        if name in self.live:
            raise quoit.ConflictError
        if self.owners.get(owner) == ENDED:
            raise quoit.ExpiredError
        held = Held(0, asked, key, now + lease if lease else None, confirmed)
        return held, self.number(least, most)

    def number(self, least, most):
        """Returns the number of slices that a request for `least` to `most` slices gets; else raises."""
        if len(self.free()) < least:
            raise quoit.NeverError if least > len(self.slices) else quoit.NotNowError
        return min(most, len(self.free()))

    def take(self, held, slices, keep=frozenset()):
        """Sets the slices of a group. The group already had those in `keep`; the other ones must be free."""
        assert slices - keep <= self.free() and keep <= held.slices, (slices, keep, self.free())
        held.slices = slices

    def add(self, held, number, slices):
        assert number > self.last_id
        held.id = self.last_id = number
        self.take(held, slices)
        self.live[held.asked[0]] = held

    def resize(self, name, number, n):
        held = self.find(name, number)
        _, least, most, _ = held.asked
        if n < 1 or (least < most and not least <= n <= most):
            raise quoit.InvalidError
        if n > len(held.slices):
            if n > len(self.slices):
                raise quoit.NeverError
            self.number(n - len(held.slices), 0)
        return held

    def confirm(self, name, number, lease, now):
        held = self.find(name, number)
        if not held.confirmed:
            held.confirmed, held.until = True, now + lease if lease else None
        return held

    def renew(self, name, number, lease, now):
        held = self.find(name, number)
        if held.until is None:
            raise quoit.ConflictError
        held.until = now + lease
        return held

    def forget(self, name, number):
        for held in self.kept:
            if held.asked[0] == name and held.id == number:
                return self.kept.remove(held)
        raise quoit.ConflictError if name in self.live and self.live[name].id == number else quoit.NotFoundError

    def renew_owner(self, owner, lease, now):
        until = self.owners.get(owner, KeyError)
        if until in (KeyError, ENDED, None):
            raise {KeyError: quoit.NotFoundError, ENDED: quoit.ExpiredError, None: quoit.ConflictError}[until]
        self.owners[owner] = now + lease

    def end_owner(self, owner):
        has = [held for held in self.live.values() if held.asked[3] == owner]
        until = self.owners.get(owner, KeyError)
        if not has and until in (KeyError, ENDED):
            raise quoit.NotFoundError if until is KeyError else quoit.ExpiredError
        for held in has:
            self.remove(held, "released")
        if until != ENDED:
            self.owners.pop(owner, None)
        return len(has)
