# SPDX-License-Identifier: Apache-2.0
"""Ledgers shared with other drivers, and their synchronisation with the cluster."""

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
"""A ledger argument: its file, the open ledger, or None for $QUOIT_DB, else ./quoit.db."""

_MADE_S = 2.0
_REMOVED_S = 2.0
_MOST_PINS = 64

SOURCE = "ray"
"""The default name of the cluster in the ledger."""


class RayLedger:
    """A ledger with the cluster that it follows; one per process for each pair."""

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
        """Returns the listing of this process's last sync if it is younger than `within_s`; else synchronises."""
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
        """Returns the object that renews the lease of that owner."""
        with self._lock:
            if owner not in self._signs:
                self._signs[owner] = owners.SignOfLife(self.quoit, owner)
            return self._signs[owner]

    def sync(self) -> Import:
        """Writes the present state of Ray, and frees what is gone there: see `quoit.ray.sync`."""
        with self._lock:
            self.quoit.refresh()
            live = self.live_groups()
            # Read the records before the lists of groups: a record is written after its groups exist.
            records = cluster.read_records([owners.record_key(group) for group in live])
            dead = cluster.dead_jobs()
            listing = cluster.list_now()
            self._check_source(listing)
            ending = {group.owner for group in live if self._has_ended(group.owner, listing, dead)}
            # Ray removes the groups of a driver some time after it reports the driver as dead.
            standing = {
                group.owner
                for group in live
                if self._is_here(group.owner, listing) and stands(group, records.get(owners.record_key(group)), listing)
            }
            gone = [group for group in live if self._is_gone(group, records, listing, dead)]
            for record in filter(None, (records.get(owners.record_key(group)) for group in gone)):
                _remove(record, listing)
            # After a power loss Ray still reports the imported state, so that only a removal must be durable: its
            # record is deleted.
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
        """Prepares what later requests of the same form need."""
        before = self._listing
        if before is None:
            return
        snapshot = self.quoit.snapshot()
        # copied, because other threads can add entries
        for accelerator in list(before.foreign):
            listing.foreign[accelerator] = foreign(accelerator, snapshot, self.source)
        if len(before.pins) <= _MOST_PINS and before.nodes == listing.nodes:
            listing.pins.update(before.pins)

    def _clear_abandoned(self, listing: cluster.Listing, dead: set[str]) -> None:
        """Removes from Ray the groups of drivers that were killed while they made them.

        Otherwise detached groups would stay for ever.

        The ledger keeps a record of holds that expired; each is searched once.
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
        """Returns the live groups of the ledger, without those of sources."""
        return [group for group in self.quoit.snapshot().groups if _is_live(group)]

    def is_ending(self, group: Group) -> bool:
        """Whether the last sync found that the driver of the group's owner has ended."""
        with self._lock:
            return group.owner in self._ending

    def _is_here(self, name: str, listing: cluster.Listing) -> bool:
        """Whether the owner is a driver, or the detached owner, of this cluster."""
        owner = owners.parse(name)
        return owner is not None and owner.source == self.source and owner.cluster == owners.short(listing.cluster)

    def _has_ended(self, name: str, listing: cluster.Listing, dead: set[str]) -> bool:
        owner = owners.parse(name)
        if owner is None or owner.source != self.source:
            return False
        return owner.cluster != owners.short(listing.cluster) or owner.job in dead

    def _check_source(self, listing: cluster.Listing) -> None:
        """Raises if live drivers of another cluster hold slices of a source with the same name."""
        now_ms = time.time() * 1000
        for one in self.quoit.snapshot().owners:
            owner = owners.parse(one.name)
            if owner is None or owner.source != self.source or owner.cluster == owners.short(listing.cluster):
                continue
            # owners of this process are excluded: it was their driver, and has ended
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
            # Its driver was killed before it wrote the record; or the group was made by other means.
            if not self._is_here(group.owner, listing):
                return False
            # Read it again: it can have been written since. It counts only if its groups existed before the list.
            record = cluster.read_records([key]).get(key)
            return record is None or (bool(record["groups"]) and not stands(group, record, listing))
        # A record without groups means that a live driver is replacing them.
        if not record["groups"]:
            return record.get("job") in dead
        # A driver that replaces groups first changes the record: an unchanged record means that no driver does.
        return cluster.read_records([key]).get(key) == record


class SourceTakenError(errors.ConflictError):
    """Live drivers of another cluster use the same source name in the ledger."""


def _remove(record: Mapping[str, Any], listing: cluster.Listing) -> None:
    """Removes from Ray the remaining groups of a record."""
    left = groups_of(record, listing)
    if left:
        cluster.remove_groups(left, _REMOVED_S)


def _is_live(group: Group) -> bool:
    """Whether the group is live and does not belong to a source."""
    return not group.source and group.state is not GroupState.REMOVED


def _free(free: Callable[[Any], object], what: Any) -> None:
    """Frees something that another process can have freed in the meantime."""
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        free(what)


def _factor(tpu_per_chip: int | None) -> int | None:
    return tpu_per_chip if tpu_per_chip is not None else resource_per_chip(cluster.tpu_per_chip_text())


# --- open ledgers -------------------------------------------------------------------------------------------------

_Place = Union[tuple[int, int], None]
"""The identity of a file (device, inode); None: there is no file."""

_opened: dict[tuple[int, str, str], tuple[_Place, RayLedger]] = {}
_lock = threading.Lock()


def ledger_of(ledger: LedgerLike, source: str = SOURCE) -> RayLedger:
    """Returns the ledger for an argument: the open one, or that of the file, which is opened once per process.

    A named file that does not exist is created; the default ./quoit.db is not.

    Raises:
        NotFoundError: no ledger was named, and there is no ./quoit.db.
        TypeError: it is not a path or a ledger.
        Error: like `quoit.open` and `quoit.create`.
    """
    with _lock:
        if isinstance(ledger, Ledger):
            known_of_it: dict[str, RayLedger] = ledger._companions
            return known_of_it.setdefault(source, RayLedger(ledger, source))
        path, is_named = _path_of(ledger)
        known = _known_at(path, source)
        if known is None:
            known = _known_or_opened(os.path.realpath(path), source, is_named=is_named)
            # Also cache the unresolved path: to resolve it takes longer than to check the identity of the file.
            if os.path.isabs(path):
                _opened[os.getpid(), path, source] = known
        return known[1]


def _known_at(path: str, source: str) -> tuple[_Place, RayLedger] | None:
    """Returns the ledger that was opened with that path, if the path still has the same file."""
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
        # A file that was replaced during the open is opened again the next time.
        known = _opened[os.getpid(), path, source] = after if before in (None, after) else None, ledger
    return known


def _place_of(path: str) -> _Place:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def file_of(ledger: str | os.PathLike[str] | None) -> str:
    """Returns the resolved path of the ledger's file, for other processes.

    Raises:
        TypeError: it is not a path.
    """
    return os.path.realpath(_path_of(ledger)[0])


def _path_of(ledger: str | os.PathLike[str] | None) -> tuple[str, bool]:
    """Returns the path as given, and whether the argument or $QUOIT_DB gave it."""
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
            # Another driver can be creating the file now: until it is done, it is not a quoit database.
            if time.monotonic() >= end or not _is_young(path):
                raise
        time.sleep(0.01)


def _make(path: str) -> None:
    """Creates a ledger under a temporary name and links it when it is complete.

    A driver that is killed in between leaves no partial ledger.
    """
    new = f"{path}.{uuid.uuid4().hex[:8]}.new"
    try:
        _ledger.create(new).close()
        # if the link exists, another driver was faster; without support for links the caller creates it in place
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


# --- public functions ---------------------------------------------------------------------------------------------


def fleet_from_ray(*, source: str = SOURCE, tpu_per_chip: int | None = None) -> Input:
    """Returns the present state of the Ray cluster, as an input of `Ledger.sync_input` and the other imports.

    Nodes, placement groups and available resources are of one moment, as far as Ray allows: all are read again if
    groups changed in the meantime, or if the lists contradict each other. Nothing is written.

    Args:
        source: the cluster's name in the ledger.
        tpu_per_chip: units of the resource TPU that one chip counts for; None: RAY_TPU_RESOURCE_PER_CHIP, else 1.

    Raises:
        NotFoundError: there is no cluster, or it does not answer: call ray.init() first, or wait for it.
        VersionError: the installed Ray lacks a required feature, which the message names.
        InvalidError: the driver is a Ray Client (ray://).
        BusyError: the cluster changes too fast for lists of one moment: retry.
    """
    versions.check()
    cluster.check_connected()
    cluster.check_answers()
    return cluster.list_now().to_input(source, _factor(tpu_per_chip))


def sync(ledger: LedgerLike = None, *, source: str = SOURCE, tpu_per_chip: int | None = None) -> Import:
    """Writes the present state of the Ray cluster into the ledger, and frees what is no longer used there.

    Plain tasks and actors become external use of their hosts, even if they only use CPU, and keep the slices of these
    hosts from being allocated. Placement groups of other programs become groups of the source. Those on the hosts of a
    group of the ledger belong to its owner, and are not counted again. A group of `slice_placement_group` is released
    when its placement groups are gone from Ray, or when its driver has ended; but never between hold and confirmation
    of a live driver.

    `slice_placement_group` calls this itself: you only need it for other users of the ledger, such as `quoit status`.

    Args:
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db.
        source: the cluster's name in the ledger. Two clusters need two names. A restarted cluster can reuse the
            name when the old drivers or their leases have ended.
        tpu_per_chip: units of the resource TPU that one chip counts for; None: RAY_TPU_RESOURCE_PER_CHIP, else 1.

    Returns:
        The difference from the old state of the ledger.

    Raises:
        NotFoundError, VersionError, InvalidError, BusyError: like `fleet_from_ray`.
        ConflictError: drivers of another cluster hold slices of this source; nothing was written. Use another name.
        Error: like `quoit.open` and `Ledger.sync_input`.
    """
    versions.check()
    cluster.check_connected()
    held = ledger_of(ledger, source)
    held.tpu_per_chip = tpu_per_chip if tpu_per_chip is not None else held.tpu_per_chip
    return held.sync()


def live_group(ledger: RayLedger, *, key: str | None = None, name: str | None = None) -> Group | None:
    """Returns the live group with the request key, or the name, without groups of sources; None without one."""
    ledger.quoit.refresh()
    for group in ledger.live_groups():
        if group.key == key if key is not None else group.name == name:
            return group
    return None
