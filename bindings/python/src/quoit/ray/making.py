# SPDX-License-Identifier: Apache-2.0
"""Acquires slices: holds them in the ledger, makes Ray's groups, confirms the hold; or undoes everything."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import time
from collections.abc import Mapping

from .. import errors
from ..groups import Group, GroupState
from ..requests import Request
from . import cluster
from .ends import to_its_end
from .ledgers import live_group
from .placing import (
    Made,
    NotPlacedError,
    Wish,
    create,
    free,
    pinned,
    ray_groups_of,
    wait_placed,
    write_late,
    write_plan,
    write_record,
)
from .records import Book, LateRecord
from .refusals import refusal
from .shapes import SlicePins, foreign

HOLD_S = 60.0
"""The lease of an unconfirmed hold. If the driver is killed before the confirmation, the slices are free after it."""

FRESH_S = 10.0
"""The allowed age of the ledger's state for the first try. If the hosts changed since, Ray does not place the groups.

Before a refusal the ledger is always synchronised.
"""

_SETTLE_S = 1.0
_LONGEST_PAUSE_S = 0.25


class HeldElsewhere(Exception):
    """A live group of another driver or call has the request key."""


def make(wish: Wish, timeout_s: float) -> Made:
    """Holds slices, makes Ray's groups and confirms. Retries until the request fits, or for `timeout_s`.

    Undoes everything on any other exception, also on an interrupt. Raises `HeldElsewhere` for the request key.

    Raises:
        NotNowError: the request did not fit in that time.
        NeverError: the request would not fit an empty fleet either.
    """
    end = time.monotonic() + timeout_s
    excluded: dict[str, str] = {}
    within_s = FRESH_S
    while True:
        attempt = _Attempt(wish, excluded)
        try:
            attempt.hold(end, timeout_s, within_s)
            return attempt.place(end)
        except NotPlacedError as error:
            attempt.give_back()
            if error.excluded is not None:
                excluded[error.excluded] = str(error)
            elif within_s == 0 and time.monotonic() >= end:
                raise refusal(wish, errors.NotNowError(str(error)), attempt.request, timeout_s) from None
            # A sync during the hold assigned use by others on these hosts to this group, so synchronise again.
            within_s = 0.0
        except BaseException:
            attempt.give_back()
            raise


class _Attempt:
    """One hold, and Ray's groups for it."""

    def __init__(self, wish: Wish, excluded: Mapping[str, str]) -> None:
        self._wish = wish
        self._ledger = wish.ledger
        self._excluded = excluded
        self._is_asking = False
        self._last_id = 0
        self._foreign: list[str] = []
        self._group: Group | None = None
        self._pins: list[SlicePins] = []
        self._listing: cluster.Listing | None = None
        self._book = Book()
        self._record: LateRecord | None = None
        self._making: concurrent.futures.Future[None] | None = None
        # With a key each call has a unique name, so that the ledger gives the key's group to one call only.
        base = wish.name or wish.shape.title
        self.request = self._request(base if wish.name and wish.key is None else _unique(base))

    def _request(self, name: str) -> Request:
        return self._wish.shape.request(name, self._wish.key, self._wish.owner, (*self._excluded, *self._foreign))

    # --- hold ---

    def hold(self, end: float, timeout_s: float, within_s: float) -> None:
        """Holds as soon as the request fits. A recent state of the ledger is enough for a success.

        A refusal needs two new listings, because changes of others between Ray's lists can look like external use.
        """
        pause_s, n_refused = 0.02, 0
        settled = time.monotonic() + _SETTLE_S
        while True:
            self._listing = self._ledger.listing(within_s)
            try:
                self._held(self._listing)
                return
            except (errors.NotNowError, errors.NeverError) as error:
                n_refused += within_s == 0
                is_known = n_refused >= 2 and not (self._listing.is_settling() and time.monotonic() < settled)
                if is_known and (isinstance(error, errors.NeverError) or time.monotonic() >= end):
                    raise refusal(self._wish, error, self.request, timeout_s, self._excluded, self._listing) from None
            if within_s == 0:
                time.sleep(max(0.0, min(pause_s, end - time.monotonic())) if is_known else 0.02)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            within_s = 0.0

    def _held(self, listing: cluster.Listing) -> None:
        self._exclude(listing)
        while self._group is None:
            self._begin_asking()
            try:
                # Ray makes the groups while the hold is written. Detached groups wait until it is durable: they would
                # stay if this process ended in between.
                with self._batch():
                    group = self._ledger.quoit.hold(self.request, int(HOLD_S * 1000))
                    self._pins = self._pinned(group, listing)
                    if not self._wish.is_detached:
                        self._making = _makers.submit(self._make, group)
                self._group = group
            except errors.Error as error:
                self._is_asking = False
                if self._making is not None or not self._is_mended(error, listing):
                    raise

    def _begin_asking(self) -> None:
        if self.request.name == self._wish.name:
            groups = self._ledger.quoit.snapshot().groups
            self._last_id = groups[-1].id if groups else 0
        self._is_asking = True

    def _exclude(self, listing: cluster.Listing) -> None:
        """Excludes the slices of other sources, as of the sync of the listing or of its first use.

        A slice that was added since then has hosts that Ray does not list.
        """
        found: list[str] | None = listing.foreign.get(self._wish.shape.accelerator)
        if found is None:
            found = self._foreign_now(listing)
        self._ask_without(found)

    def _foreign_now(self, listing: cluster.Listing) -> list[str]:
        accelerator = self._wish.shape.accelerator
        found = listing.foreign[accelerator] = foreign(accelerator, self._ledger.quoit.snapshot(), self._ledger.source)
        return found

    def _ask_without(self, slices: list[str]) -> bool:
        """Sets the excluded slices of other sources. Returns whether they changed."""
        before, self._foreign = self._foreign, slices
        if slices != before:
            self.request = self._request(self.request.name)
        return slices != before

    def _pinned(self, group: Group, listing: cluster.Listing) -> list[SlicePins]:
        pins = pinned(self._wish, group, listing)
        for one in pins:
            if one.shortage is not None:
                raise NotPlacedError(one.shortage, one.name)
        return pins

    def _is_mended(self, error: errors.Error, listing: cluster.Listing) -> bool:
        """Returns whether to retry, with another name, a new lease of the owner, or other excluded slices."""
        if isinstance(error, errors.ExpiredError):
            self._ledger.quoit.set_owner(self._wish.owner, lease_ms=int(self._wish.lease_s * 1000))
            return True
        if isinstance(error, errors.NotFoundError):
            # An excluded slice can have gone with its source.
            self._ledger.quoit.refresh()
            return self._ask_without(self._foreign_now(listing))
        if not isinstance(error, errors.ConflictError):
            return False
        if self._wish.key is not None:
            if live_group(self._ledger, key=self._wish.key) is not None:
                raise HeldElsewhere from None
            # The record of the key's group leads to groups that a killed driver left in Ray, so sync before it is
            # forgotten.
            self._listing = self._ledger.listing(0.0)
            if self._is_over(self._wish.key):
                return True
        elif self.request.name == self._wish.name:
            # Ray's names are per namespace, so that two jobs can use the same name.
            self.request = self._request(_unique(self._wish.name))
            return True
        return False

    def _is_over(self, key: str) -> bool:
        try:
            self._ledger.quoit.forget_key(key)
        except (errors.NotFoundError, errors.ConflictError):
            return False
        return True

    # --- place ---

    def place(self, end: float) -> Made:
        """Makes Ray's groups on the held slices, and confirms the hold when all are placed."""
        assert self._group is not None
        if self._making is None:
            self._making = _makers.submit(self._make, self._group)
        self._have_made(self._making)
        made = Made(self._group, [dict(one) for pins in self._pins for one in pins.selectors], self._book.groups)
        if self._wish.is_known:
            write_record(self._wish, made)
        else:
            # No other process needs the record yet, and Ray's control plane is busy with the placement. If this driver
            # is killed before it is written, Ray removes its groups, and the next sync finds them by name.
            self._record = made.record = write_late(self._wish, made)
        # Prepare everything possible before the wait.
        batch, handle = self._batch(), made.handle
        wait_placed(self._ledger, self._pins, self._book.groups, end)
        with batch:
            made.group = self._ledger.quoit.confirm(handle)
        return made

    def _have_made(self, making: concurrent.futures.Future[None]) -> None:
        try:
            making.result(cluster.REPLY_S)
        except concurrent.futures.TimeoutError:
            raise errors.NotFoundError(
                f"ray: the control plane does not answer: waited {cluster.REPLY_S:g} s"
            ) from None

    def _batch(self) -> contextlib.AbstractContextManager[None]:
        # A power loss of this machine also ends its drivers and their groups in Ray, so that a ledger without them is
        # correct.
        return self._ledger.quoit.batch(synced=self._wish.is_detached)

    def _make(self, group: Group) -> None:
        # A recent answer is enough, because the next one is waited for.
        cluster.check_answers(cluster.REPLY_S)
        named = list(ray_groups_of(self._wish, group, self._pins))
        self._book.plan([name for name, _ in named], is_unique=not self._wish.name)
        if self._wish.is_detached:
            write_plan(self._wish, group, self._book)
        for name, pins in named:
            create(self._book, self._wish.shape, name, pins)

    # --- undo ---

    def give_back(self) -> None:
        """Removes Ray's groups, then releases the hold. Signals are handled afterwards."""
        to_its_end(self._give_back)

    def _give_back(self) -> None:
        if self._record is not None:
            self._record.give_up()
        making = self._making
        if making is not None and not making.cancel() and not concurrent.futures.wait([making], cluster.REPLY_S).done:
            # The hold keeps the slices until the groups are made or the hold expires.
            making.add_done_callback(lambda _: self._give_back())
            return
        group = self._group if self._group is not None or not self._is_asking else self._unheard()
        free(self._ledger, group, self._book.made())
        if group is not None and self._wish.key is not None:
            self._is_over(self._wish.key)

    def _unheard(self) -> Group | None:
        """Returns the hold that the ledger made before the call was interrupted; another group can have the name."""
        group = live_group(self._ledger, name=self.request.name)
        if group is None or group.state is not GroupState.HELD or group.owner != self._wish.owner:
            return None
        return group if group.id > self._last_id else None


def _unique(base: str) -> str:
    return f"{base}-{os.urandom(4).hex()}"


_makers = concurrent.futures.ThreadPoolExecutor(8, "quoit makes groups")
