# SPDX-License-Identifier: Apache-2.0
"""Acquires slices: holds them in the ledger, creates Ray's groups, and confirms the hold; or undoes everything."""

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
from .ledgers import live_group
from .placing import (
    NotPlacedError,
    Reservation,
    SliceGroupRequest,
    compute_pins,
    create_ray_group,
    defer_record,
    name_ray_groups,
    release_or_log,
    wait_placed,
    write_planned_record,
    write_record,
)
from .records import CreatedGroups, DeferredRecord
from .refusals import to_refusal
from .shapes import SlicePins, list_foreign_slices
from .uninterrupted import run_uninterrupted

HOLD_S = 60.0
"""The lease of a hold. If the driver is killed before it confirms the hold, the slices are free after this time."""

FRESH_S = 10.0
"""The greatest age of the ledger's state in the first attempt. If the hosts have changed in the meantime, Ray does not
place the groups. Then the next attempt synchronises first.
"""

_SETTLE_S = 1.0
"""How long Ray can take to report the chips of removed groups as free."""
_LONGEST_PAUSE_S = 0.25


class KeyInUseError(Exception):
    """A live group of another driver, or of another call, has the request key."""


def acquire_slices(group_request: SliceGroupRequest, timeout_s: float) -> Reservation:
    """Holds slices, creates Ray's groups and confirms the hold. Retries until the request fits, or for `timeout_s`.

    If the function raises, also because of an interrupt, it has undone everything.

    Raises:
        KeyInUseError: a live group has the request key.
        NotNowError: the request did not fit within `timeout_s`.
        NeverError: the request would not fit even if nothing was in use.
    """
    end = time.monotonic() + timeout_s
    excluded: dict[str, str] = {}
    within_s = FRESH_S
    while True:
        attempt = _Attempt(group_request, excluded)
        try:
            attempt.hold(end, timeout_s, within_s)
            return attempt.place(end)
        except NotPlacedError as error:
            attempt.undo()
            if error.excluded is not None:
                excluded[error.excluded] = str(error)
            elif within_s == 0 and time.monotonic() >= end:
                raise to_refusal(group_request, errors.NotNowError(str(error)), attempt.request, timeout_s) from None
            # A sync during the hold counted the use of these hosts by other programs as use by this group. Therefore
            # the next attempt synchronises again.
            within_s = 0.0
        except BaseException:
            attempt.undo()
            raise


class _Attempt:
    """One hold in the ledger, and Ray's groups for it."""

    def __init__(self, group_request: SliceGroupRequest, excluded: Mapping[str, str]) -> None:
        self._group_request = group_request
        self._ledger = group_request.ledger
        self._excluded = excluded
        # Whether a call of hold() was started. If the call was interrupted, the ledger can have the hold although
        # `_group` is not set.
        self._may_hold = False
        # The greatest group id before the hold. Groups with a greater id were made later.
        self._last_id = 0
        self._foreign_slices: list[str] = []
        self._group: Group | None = None
        self._pins: list[SlicePins] = []
        self._listing: cluster.Listing | None = None
        self._created = CreatedGroups()
        self._record: DeferredRecord | None = None
        self._creation: concurrent.futures.Future[None] | None = None
        # With a key, each call uses a unique name, so that the requests of several calls at once differ. Then only one
        # of these calls gets the group of the key, and the ledger refuses the other calls with ConflictError.
        base = group_request.name or group_request.shape.default_name
        self.request = self._request(base if group_request.name and group_request.key is None else _unique_name(base))

    def _request(self, name: str) -> Request:
        given = self._group_request
        return given.shape.request(name, given.key, given.owner, (*self._excluded, *self._foreign_slices))

    # --- hold ---

    def hold(self, end: float, timeout_s: float, within_s: float) -> None:
        """Holds slices as soon as the request fits.

        The method refuses the request only after two new listings. A single listing can show external use where there
        is none, if other programs change something between Ray's lists.
        """
        pause_s, n_refused = 0.02, 0
        settled = time.monotonic() + _SETTLE_S
        while True:
            self._listing = self._ledger.listing(within_s)
            try:
                self._hold_slices(self._listing)
                return
            except (errors.NotNowError, errors.NeverError) as error:
                n_refused += within_s == 0
                is_settling = self._listing.has_leftover_resources() and time.monotonic() < settled
                is_known = n_refused >= 2 and not is_settling
                if is_known and (isinstance(error, errors.NeverError) or time.monotonic() >= end):
                    raise to_refusal(
                        self._group_request, error, self.request, timeout_s, self._excluded, self._listing
                    ) from None
            if within_s == 0:
                time.sleep(max(0.0, min(pause_s, end - time.monotonic())) if is_known else 0.02)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            within_s = 0.0

    def _hold_slices(self, listing: cluster.Listing) -> None:
        self._exclude_foreign(listing)
        while self._group is None:
            self._begin_hold()
            try:
                # Ray creates the groups while the hold is written to the disk. Detached groups are created later, when
                # the hold is durable: if this process ended before that, they would stay in Ray without a hold.
                with self._batch():
                    group = self._ledger.quoit.hold(self.request, int(HOLD_S * 1000))
                    self._pins = self._checked_pins(group, listing)
                    if not self._group_request.is_detached:
                        self._creation = _creators.submit(self._create_groups, group)
                self._group = group
            except errors.Error as error:
                self._may_hold = False
                if self._creation is not None or not self._can_retry(error, listing):
                    raise

    def _begin_hold(self) -> None:
        if self.request.name == self._group_request.name:
            groups = self._ledger.quoit.snapshot().groups
            self._last_id = groups[-1].id if groups else 0
        self._may_hold = True

    def _exclude_foreign(self, listing: cluster.Listing) -> None:
        """Excludes the slices of other sources. The list of these slices is cached in the listing.

        Slices that were added after the list was made need no exclusion: Ray does not list their hosts, so that the
        pins fail.
        """
        found: list[str] | None = listing.foreign_slices.get(self._group_request.shape.accelerator)
        if found is None:
            found = self._list_foreign(listing)
        self._set_foreign(found)

    def _list_foreign(self, listing: cluster.Listing) -> list[str]:
        accelerator = self._group_request.shape.accelerator
        found = list_foreign_slices(accelerator, self._ledger.quoit.snapshot(), self._ledger.source)
        listing.foreign_slices[accelerator] = found
        return found

    def _set_foreign(self, slices: list[str]) -> bool:
        """Sets the excluded slices of other sources. Returns whether they changed."""
        before, self._foreign_slices = self._foreign_slices, slices
        if slices != before:
            self.request = self._request(self.request.name)
        return slices != before

    def _checked_pins(self, group: Group, listing: cluster.Listing) -> list[SlicePins]:
        pins = compute_pins(self._group_request, group, listing)
        for one in pins:
            if one.shortage is not None:
                raise NotPlacedError(one.shortage, one.name)
        return pins

    def _can_retry(self, error: errors.Error, listing: cluster.Listing) -> bool:
        """Removes the cause of the error if possible. Returns whether the cause is removed, so that a retry is useful.

        To remove the cause, the method registers an expired owner again, updates the excluded slices, forgets the ended
        group of the key, or changes the name.
        """
        if isinstance(error, errors.ExpiredError):
            self._ledger.quoit.set_owner(self._group_request.owner, lease_ms=int(self._group_request.lease_s * 1000))
            return True
        if isinstance(error, errors.NotFoundError):
            # The request excludes a slice that the ledger no longer has.
            self._ledger.quoit.refresh()
            return self._set_foreign(self._list_foreign(listing))
        if not isinstance(error, errors.ConflictError):
            return False
        if self._group_request.key is not None:
            if live_group(self._ledger, key=self._group_request.key) is not None:
                raise KeyInUseError from None
            # The key belongs to an ended group. If its driver was killed, Ray can still have its placement groups. A
            # sync finds them by their record, so the sync must come before the ledger forgets the key.
            self._listing = self._ledger.listing(0.0)
            if self._forget_key(self._group_request.key):
                return True
        elif self.request.name == self._group_request.name:
            # Another group of the ledger has the name. Ray allows the same name in another namespace.
            self.request = self._request(_unique_name(self._group_request.name))
            return True
        return False

    def _forget_key(self, key: str) -> bool:
        try:
            self._ledger.quoit.forget_key(key)
        except (errors.NotFoundError, errors.ConflictError):
            return False
        return True

    # --- place ---

    def place(self, end: float) -> Reservation:
        """Creates Ray's groups on the held slices, and confirms the hold when all groups are placed."""
        assert self._group is not None
        if self._creation is None:
            self._creation = _creators.submit(self._create_groups, self._group)
        self._wait_created(self._creation)
        selectors = [dict(selector) for pins in self._pins for selector in pins.selectors]
        reservation = Reservation(self._group, selectors, self._created.groups)
        if self._group_request.is_findable:
            write_record(self._group_request, reservation)
        else:
            # The record is written later: no other process needs it yet, and Ray's control plane is busy with the
            # placement. If this driver is killed before that, Ray removes the groups, and the next sync searches the
            # groups by name.
            self._record = reservation.record = defer_record(self._group_request, reservation)
        # The batch and the handle need no answer of Ray, so they are made before the wait.
        batch, handle = self._batch(), reservation.handle
        wait_placed(self._ledger, self._pins, self._created.groups, end)
        with batch:
            reservation.group = self._ledger.quoit.confirm(handle)
        return reservation

    def _wait_created(self, creation: concurrent.futures.Future[None]) -> None:
        try:
            creation.result(cluster.REPLY_S)
        except concurrent.futures.TimeoutError:
            raise errors.NotFoundError(
                f"ray: the control plane does not answer: waited {cluster.REPLY_S:g} s"
            ) from None

    def _batch(self) -> contextlib.AbstractContextManager[None]:
        # Groups that are not detached end with their driver, and a power loss ends the driver. If the ledger loses the
        # group in a power loss, it is therefore still correct, and the batch need not wait for the disk.
        return self._ledger.quoit.batch(synced=self._group_request.is_detached)

    def _create_groups(self, group: Group) -> None:
        # An old answer of the control plane is enough, because _wait_created() limits the wait for the next answer.
        cluster.check_answers(cluster.REPLY_S)
        named = list(name_ray_groups(self._group_request, group, self._pins))
        self._created.reserve_names([name for name, _ in named], is_unique=not self._group_request.name)
        if self._group_request.is_detached:
            write_planned_record(self._group_request, group, self._created)
        for name, pins in named:
            create_ray_group(self._created, self._group_request.shape, name, pins)

    # --- undo ---

    def undo(self) -> None:
        """Removes Ray's groups, then releases the hold. Signals do not interrupt it."""
        run_uninterrupted(self._undo)

    def _undo(self) -> None:
        if self._record is not None:
            self._record.cancel()
        creation = self._creation
        has_started = creation is not None and not creation.cancel()
        if creation is not None and has_started and not concurrent.futures.wait([creation], cluster.REPLY_S).done:
            # The control plane does not answer. The hold keeps the slices until the groups are created and removed
            # again, or until it expires.
            creation.add_done_callback(lambda _: self._undo())
            return
        group = self._group if self._group is not None or not self._may_hold else self._find_unreported_hold()
        release_or_log(self._ledger, group, self._created.find_all())
        if group is not None and self._group_request.key is not None:
            self._forget_key(self._group_request.key)

    def _find_unreported_hold(self) -> Group | None:
        """Returns the hold that the ledger made although the call was interrupted; None if the ledger made no hold.

        A group of another call can have the same name, but that group has another owner or an older id.
        """
        group = live_group(self._ledger, name=self.request.name)
        if group is None or group.state is not GroupState.HELD or group.owner != self._group_request.owner:
            return None
        return group if group.id > self._last_id else None


def _unique_name(base: str) -> str:
    return f"{base}-{os.urandom(4).hex()}"


_creators = concurrent.futures.ThreadPoolExecutor(8, "quoit creates groups")
