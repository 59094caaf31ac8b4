# SPDX-License-Identifier: Apache-2.0
"""The ledger as this process shares it with other drivers, and what keeps it in step with the cluster."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any, Callable, Union

from .. import errors
from .. import ledger as _ledger
from ..groups import Group, GroupState
from ..imports import Import, Input
from ..ledger import Ledger
from ..ray_rules.arithmetic import resource_per_chip
from . import cluster, owners, versions
from .records import groups_of, stands
from .shapes import foreign

LedgerLike = Union[str, "os.PathLike[str]", Ledger, None]
"""A ledger as the calls of this package take it: its file, the open ledger, or None for $QUOIT_DB, else ./quoit.db."""

_MADE_S = 2.0
_REMOVED_S = 2.0
_MOST_PINS = 64

SOURCE = "ray"
"""What the cluster is called in the ledger unless a call says otherwise."""


class RayLedger:
    """A ledger and the cluster that it is kept in step with; one a process for each of both."""

    def __init__(self, quoit: Ledger, source: str) -> None:
        self.quoit = quoit
        self.source = source
        self.tpu_per_chip: int | None = None
        self._lock = threading.RLock()
        self._signs: dict[str, owners.SignOfLife] = {}
        self._ending: set[str] = set()
        self._cleared: set[str] = set()
        self._listing: cluster.Listing | None = None
        self._listed_at = float("-inf")

    def listing(self, within_s: float) -> cluster.Listing:
        """What the ledger was last told, by this process, not longer ago than `within_s`; else it is told anew."""
        with self._lock:
            listing = self._listing
            if (
                listing is not None
                and time.monotonic() - self._listed_at < within_s
                and listing.cluster == cluster.connected_driver().cluster
            ):
                return listing
            self.sync()
            assert self._listing is not None
            return self._listing

    def sign_of_life(self, owner: str) -> owners.SignOfLife:
        """The one of that owner."""
        with self._lock:
            if owner not in self._signs:
                self._signs[owner] = owners.SignOfLife(self.quoit, owner)
            return self._signs[owner]

    def sync(self) -> Import:
        """Writes what Ray says now, and lets go of what is gone there: see `quoit.ray.sync`."""
        with self._lock:
            self.quoit.refresh()
            live = self.live_groups()
            # A record is read before the lists that its groups are looked for in: it is written after they are made.
            records = cluster.read_records([owners.record_key(group) for group in live])
            dead = cluster.dead_jobs()
            listing = cluster.list_now()
            self._check_source(listing)
            ending = {group.owner for group in live if self._has_ended(group.owner, listing, dead)}
            # Ray removes what a driver had some time after it says that it is dead.
            standing = {
                group.owner
                for group in live
                if self._is_here(group.owner, listing) and stands(group, records.get(owners.record_key(group)), listing)
            }
            gone = [group for group in live if self._is_gone(group, records, listing, dead)]
            for record in filter(None, (records.get(owners.record_key(group)) for group in gone)):
                _remove(record, listing)
            # What a power loss takes back of it Ray says again, but for what is gone: of that the record goes, too.
            with self.quoit.batch(synced=bool(gone)):
                result = self.quoit.sync_input(listing.to_input(self.source, _factor(self.tpu_per_chip)))
                for group in gone:
                    _free(self.quoit.release, group)
                for owner in ending - standing:
                    _free(self.quoit.end_owner, owner)
            for group in gone:
                cluster.delete_record(owners.record_key(group))
            self._clear_abandoned(listing, dead)
            self._ending = ending
            self._work_out(listing)
            self._listing, self._listed_at = listing, time.monotonic()
            return result

    def _work_out(self, listing: cluster.Listing) -> None:
        """Makes ready what those who ask for the same again will need of it."""
        before = self._listing
        if before is None:
            return
        snapshot = self.quoit.snapshot()
        # Others are asking for more of it meanwhile.
        for accelerator in list(before.foreign):
            listing.foreign[accelerator] = foreign(accelerator, snapshot, self.source)
        if len(before.pins) <= _MOST_PINS and before.nodes == listing.nodes:
            listing.pins.update(before.pins)

    def _clear_abandoned(self, listing: cluster.Listing, dead: set[str]) -> None:
        """Removes from Ray what drivers were killed making: nobody holds it, and what is detached would stay for ever.

        Of holds that are over the ledger knows those that ended by themselves; each is looked for once.
        """
        groups = self.quoit.snapshot().groups
        ended = {owners.record_key(one) for one in groups if not one.source and one.state is GroupState.REMOVED}
        records = cluster.read_records(sorted(ended - self._cleared)) if ended - self._cleared else {}
        abandoned = {key: record for key, record in records.items() if record.get("job") in dead}
        for key, record in abandoned.items():
            _remove(record, listing)
            cluster.delete_record(key)
        self._cleared = ended - (records.keys() - abandoned.keys())

    def live_groups(self) -> list[Group]:
        """The groups of the ledger's own making that have something."""
        return [group for group in self.quoit.snapshot().groups if _is_live(group)]

    def is_ending(self, group: Group) -> bool:
        """Whether it was seen that the driver has ended for which the group is held."""
        with self._lock:
            return group.owner in self._ending

    def _is_here(self, name: str, listing: cluster.Listing) -> bool:
        """Whether the owner is a driver of this cluster, or all of them."""
        owner = owners.parse(name)
        return owner is not None and owner.source == self.source and owner.cluster == owners.short(listing.cluster)

    def _has_ended(self, name: str, listing: cluster.Listing, dead: set[str]) -> bool:
        owner = owners.parse(name)
        if owner is None or owner.source != self.source:
            return False
        return owner.cluster != owners.short(listing.cluster) or owner.job in dead

    def _check_source(self, listing: cluster.Listing) -> None:
        """Raises where drivers of another cluster live that hold slices of what they call the same."""
        now_ms = time.time() * 1000
        for one in self.quoit.snapshot().owners:
            owner = owners.parse(one.name)
            if owner is None or owner.source != self.source or owner.cluster == owners.short(listing.cluster):
                continue
            # A driver that this process was before is known to have ended.
            if one.n_groups and one.until_ms is not None and one.until_ms > now_ms and one.name not in self._signs:
                raise SourceTakenError(
                    f"source '{self.source}': drivers of cluster '{owner.cluster}' hold slices of it, and gave a sign "
                    f"of life that counts for {(one.until_ms - now_ms) / 1000:.0f} s more: expected another source= "
                    f"for cluster '{owners.short(listing.cluster)}', or that they have ended"
                )

    def _is_gone(
        self, group: Group, records: Mapping[str, Mapping[str, Any]], listing: cluster.Listing, dead: set[str]
    ) -> bool:
        key = owners.record_key(group)
        record = records.get(key)
        if group.state is GroupState.HELD or stands(group, record, listing):
            return False
        if record is None:
            # Its maker was killed before it was written down; or it was made by other means.
            if not self._is_here(group.owner, listing):
                return False
            # Written since: of groups that were there before the list.
            record = cluster.read_records([key]).get(key)
            return record is None or (bool(record["groups"]) and not stands(group, record, listing))
        # Without groups it says that they are being replaced, by a driver that lives.
        if not record["groups"]:
            return record.get("job") in dead
        # Whoever replaces a group of Ray's takes the record away first: it is still the same where nobody does.
        return cluster.read_records([key]).get(key) == record


class SourceTakenError(errors.ConflictError):
    """Another cluster is called the same in the ledger, and its drivers live."""


def _remove(record: Mapping[str, Any], listing: cluster.Listing) -> None:
    """Removes from Ray what is left of what the record tells of."""
    left = groups_of(record, listing)
    if left:
        cluster.remove_groups(left, _REMOVED_S)


def _is_live(group: Group) -> bool:
    """Whether the group is of the ledger's own making, and has something."""
    return not group.source and group.state is not GroupState.REMOVED


def _free(free: Callable[[Any], object], what: Any) -> None:
    """Frees what somebody else may have freed since it was looked at."""
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        free(what)


def _factor(tpu_per_chip: int | None) -> int | None:
    return tpu_per_chip if tpu_per_chip is not None else resource_per_chip(cluster.tpu_per_chip_text())


# --- which ledger -------------------------------------------------------------------------------------------------

_Place = Union[tuple[int, int], None]
"""Which file it is; None: there is none."""

_opened: dict[tuple[int, str, str], tuple[_Place, RayLedger]] = {}
_lock = threading.Lock()


def ledger_of(ledger: LedgerLike, source: str = SOURCE) -> RayLedger:
    """The ledger that is meant: the open one, or the file's, opened once a process.

    A file that is named and is not there is made; ./quoit.db, which nobody named, is not.

    Raises:
        NotFoundError: no ledger was named, and there is no ./quoit.db.
        TypeError: it is neither a path nor a ledger.
        Error: as `quoit.open` and `quoit.create`.
    """
    with _lock:
        if isinstance(ledger, Ledger):
            known_of_it: dict[str, RayLedger] = ledger._companions
            return known_of_it.setdefault(source, RayLedger(ledger, source))
        path, is_named = _path_of(ledger)
        known = _known_at(path, source)
        if known is None:
            known = _known_or_opened(os.path.realpath(path), source, is_named=is_named)
            # To resolve a path takes longer than to look which file is there.
            if os.path.isabs(path):
                _opened[os.getpid(), path, source] = known
        return known[1]


def _known_at(path: str, source: str) -> tuple[_Place, RayLedger] | None:
    """What was opened by that path, where the file that stands there now is still that."""
    known = _opened.get((os.getpid(), path, source))
    if known is None or known[0] is None or known[1].quoit.is_closed:
        return None
    return known if known[0] == _place_of(path) else None


def _known_or_opened(path: str, source: str, *, is_named: bool) -> tuple[_Place, RayLedger]:
    known = _known_at(path, source)
    if known is None:
        before = _place_of(path)
        ledger = RayLedger(_open(path, is_named=is_named), source)
        after = _place_of(path)
        # One that was replaced meanwhile is opened anew the next time.
        known = _opened[os.getpid(), path, source] = after if before in (None, after) else None, ledger
    return known


def _place_of(path: str) -> _Place:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def file_of(ledger: str | os.PathLike[str] | None) -> str:
    """The ledger's file that is meant, as other processes find it.

    Raises:
        TypeError: it is no path.
    """
    return os.path.realpath(_path_of(ledger)[0])


def _path_of(ledger: str | os.PathLike[str] | None) -> tuple[str, bool]:
    """The path as it was given, and whether anybody has."""
    named = os.environ.get("QUOIT_DB") or None if ledger is None else os.fspath(ledger)
    if named is not None and not isinstance(named, str):
        raise TypeError(f"ledger: expected a str, os.PathLike[str] or quoit.Ledger, not {type(ledger).__name__}")
    return named or "quoit.db", named is not None


def _open(path: str, *, is_named: bool) -> Ledger:
    if not is_named and not os.path.exists(path):
        raise errors.NotFoundError(
            "ledger: expected its file as ledger=PATH or in QUOIT_DB, or a './quoit.db' (quoit init)"
        )
    if not os.path.exists(path):
        _make(path)
    end = time.monotonic() + _MADE_S
    while True:
        try:
            return _ledger.open(path) if _is_begun(path) else _ledger.create(path)
        except (errors.ConflictError, errors.InvalidError, errors.BusyError):
            # Another driver may be making it at this moment: it is not quoit's until that is done.
            if time.monotonic() >= end or not _is_young(path):
                raise
        time.sleep(0.01)


def _make(path: str) -> None:
    """Makes a ledger beside, which gets its name when it is whole: a driver that is killed meanwhile leaves none."""
    new = f"{path}.{uuid.uuid4().hex[:8]}.new"
    try:
        _ledger.create(new).close()
        # Another driver was quicker, or the file system has no links: then it is made in place.
        with contextlib.suppress(OSError):
            os.link(new, path)
    finally:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new + suffix)


def _is_begun(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _is_young(path: str) -> bool:
    try:
        return time.time() - os.path.getmtime(path) < _MADE_S
    except FileNotFoundError:
        return True


# --- public -------------------------------------------------------------------------------------------------------


def fleet_from_ray(*, source: str = SOURCE, tpu_per_chip: int | None = None) -> Input:
    """What the running Ray cluster says now, for `Ledger.sync_input`, `Ledger.import_input` or `Fork.sync_input`.

    Nodes, placement groups and what is available are of one moment as nearly as Ray tells it: all are asked for again
    when groups changed between, or when the lists contradict each other. Nothing is written.

    Args:
        source: what the cluster is called in the ledger.
        tpu_per_chip: units of the resource TPU that one chip counts for; None: RAY_TPU_RESOURCE_PER_CHIP, else 1.

    Raises:
        NotFoundError: there is no cluster, or it does not answer: ray.init() first, or wait for it.
        VersionError: the installed Ray lacks what is needed; the message says what.
        InvalidError: the driver is a Ray Client (ray://).
        BusyError: the cluster changes too fast for lists of one moment: retry.
    """
    versions.check()
    cluster.check_connected()
    cluster.check_answers()
    return cluster.list_now().to_input(source, _factor(tpu_per_chip))


def sync(ledger: LedgerLike = None, *, source: str = SOURCE, tpu_per_chip: int | None = None) -> Import:
    """Writes what the running Ray cluster says now into the ledger, and frees what nobody uses there any more.

    Plain tasks and actors become external use, be it of a host's CPU alone, and keep their slices from being given.
    Placement groups that others made are groups of the source; those that stand where a group of the ledger does are
    what that one's owner has started, and not held twice. What `slice_placement_group` has made is released when its
    placement groups are gone from Ray, or when the driver that made it has ended; never between the hold and the
    confirmation of a driver that lives.

    `slice_placement_group` does this by itself: call it for the ledger's other users, such as `quoit status`.

    Args:
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db.
        source: what the cluster is called in the ledger. Two clusters need two names; a cluster that was started anew
            may have the name of the one before when the drivers of that have ended, or their leases.
        tpu_per_chip: units of the resource TPU that one chip counts for; None: RAY_TPU_RESOURCE_PER_CHIP, else 1.

    Returns:
        The difference to what the ledger knew.

    Raises:
        NotFoundError, VersionError, InvalidError, BusyError: as `fleet_from_ray`.
        ConflictError: drivers of another cluster hold slices of this source; nothing was written. Name another.
        Error: as `quoit.open` and `Ledger.sync_input`.
    """
    versions.check()
    cluster.check_connected()
    held = ledger_of(ledger, source)
    held.tpu_per_chip = tpu_per_chip if tpu_per_chip is not None else held.tpu_per_chip
    return held.sync()


def live_group(ledger: RayLedger, *, key: str | None = None, name: str | None = None) -> Group | None:
    """The live group of the ledger's own that bears the request key, or the name; None: there is none."""
    ledger.quoit.refresh()
    for group in ledger.live_groups():
        if group.key == key if key is not None else group.name == name:
            return group
    return None
