# SPDX-License-Identifier: Apache-2.0
"""The ledgers that this process has opened, and their synchronisation with the Ray cluster."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Union

from .. import errors
from .. import ledger as _ledger
from ..groups import Group, GroupState
from ..imports import Import, Input
from ..ledger import Ledger
from ..ray_rules.arithmetic import resource_per_chip
from . import cluster, owners, versions
from .records import has_ray_group, list_existing_groups
from .shapes import list_foreign_slices

LedgerLike = Union[str, "os.PathLike[str]", Ledger, None]
"""A ledger argument: its file, the open ledger, or None for $QUOIT_DB, else ./quoit.db."""

_CREATION_S = 2.0
"""How long another driver can take to create the file."""
_REMOVAL_S = 2.0
_MAX_CACHED_PINS = 64

SOURCE = "ray"
"""The default name of the cluster in the ledger."""


class RayLedger:
    """A ledger, and the name of the Ray cluster in it. A process has one object for each ledger and name."""

    def __init__(self, quoit: Ledger, source: str) -> None:
        self.quoit = quoit
        self.source = source
        self.tpu_per_chip: int | None = None
        self._lock = threading.RLock()
        self._renewers: dict[str, owners.LeaseRenewer] = {}
        self._ending_owners: set[str] = set()
        self._searched_keys: set[str] = set()
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

    def lease_renewer(self, owner: str) -> owners.LeaseRenewer:
        """Returns the object that renews the lease of that owner."""
        with self._lock:
            if owner not in self._renewers:
                self._renewers[owner] = owners.LeaseRenewer(self.quoit, owner)
            return self._renewers[owner]

    def sync(self) -> Import:
        """Writes the present state of Ray into the ledger, and frees what Ray no longer uses: see `quoit.ray.sync`."""
        with self._lock:
            self.quoit.refresh()
            live = self.live_groups()
            # The records are read before Ray's groups are listed. The groups of a record exist before it is written, so
            # that the list contains them.
            records = cluster.read_records([owners.record_key(group) for group in live])
            dead = cluster.dead_jobs()
            listing = cluster.list_now()
            self._check_source(listing)
            ending_owners = {group.owner for group in live if self._has_ended(group.owner, listing, dead)}
            dead_actors = _find_dead_actors(records.values())
            # Ray removes the groups of a driver some time after it reports the driver as dead.
            placed_owners = {
                group.owner
                for group in live
                if self._is_of_this_cluster(group.owner, listing)
                and has_ray_group(group, records.get(owners.record_key(group)), listing)
            }
            gone = [group for group in live if self._is_gone(group, records, listing, dead, dead_actors)]
            for record in filter(None, (records.get(owners.record_key(group)) for group in gone)):
                _remove_recorded_groups(record, listing)
            # If a power loss undoes the import, the next sync imports the same state again. A release must be durable,
            # because the record of the group is deleted after it.
            with self.quoit.batch(synced=bool(gone)):
                result = self.quoit.sync_input(listing.to_input(self.source, _tpu_per_chip(self.tpu_per_chip)))
                for group in gone:
                    _free_if_live(self.quoit.release, group)
                for owner in ending_owners - placed_owners:
                    _free_if_live(self.quoit.end_owner, owner)
            for group in gone:
                cluster.delete_record(owners.record_key(group))
            self._clear_abandoned(listing, dead)
            self._ending_owners = ending_owners
            self._carry_over_caches(listing)
            self._listing, self._listed_at = listing, time.monotonic()
            return result

    def _carry_over_caches(self, listing: cluster.Listing) -> None:
        """Copies the caches of the previous listing that are still valid, because jobs often repeat a request."""
        before = self._listing
        if before is None:
            return
        snapshot = self.quoit.snapshot()
        # list() makes a copy, because other threads can add entries during the loop.
        for accelerator in list(before.foreign_slices):
            listing.foreign_slices[accelerator] = list_foreign_slices(accelerator, snapshot, self.source)
        if len(before.pins) <= _MAX_CACHED_PINS and before.nodes == listing.nodes:
            listing.pins.update(before.pins)

    def _clear_abandoned(self, listing: cluster.Listing, dead: set[str]) -> None:
        """Removes from Ray the groups of drivers that were killed before they confirmed the hold, and of dead actors.

        Otherwise detached groups of these drivers would stay for ever, and groups of an actor as long as its driver.
        The holds of these drivers have expired, but the ledger keeps the ended groups for some time. Their records, and
        those of groups that the ledger no longer has, are read until the maker is known to be dead or not to matter.
        """
        groups = [one for one in self.quoit.snapshot().groups if not one.source]
        ended = {owners.record_key(one) for one in groups if one.state is GroupState.REMOVED}
        live = {owners.record_key(one) for one in groups} - ended
        keys = (ended | set(cluster.list_record_keys())) - live
        unknown = keys - self._searched_keys
        records = cluster.read_records(sorted(unknown)) if unknown else {}
        dead_actors = _find_dead_actors(records.values())
        abandoned = {
            key: record
            for key, record in records.items()
            if record.get("actor") in dead_actors or (key in ended and record.get("job") in dead)
        }
        for key, record in abandoned.items():
            _remove_recorded_groups(record, listing)
            cluster.delete_record(key)
        # A record is read again if its group has ended, or if its actor lives: the maker can die later.
        again = {key for key, record in records.items() if key in ended or record.get("actor")} - abandoned.keys()
        self._searched_keys = keys - again

    def live_groups(self) -> list[Group]:
        """Returns the live groups of the ledger, without those of sources."""
        return [group for group in self.quoit.snapshot().groups if _is_live(group)]

    def is_ending(self, group: Group) -> bool:
        """Returns whether the driver of the group's owner had ended at the last sync."""
        with self._lock:
            return group.owner in self._ending_owners

    def _is_of_this_cluster(self, name: str, listing: cluster.Listing) -> bool:
        """Whether the owner is a driver, or the detached owner, of this cluster."""
        owner = owners.parse(name)
        if owner is None or owner.source != self.source:
            return False
        return owner.cluster == owners.cluster_prefix(listing.cluster)

    def _has_ended(self, name: str, listing: cluster.Listing, dead: set[str]) -> bool:
        owner = owners.parse(name)
        if owner is None or owner.source != self.source:
            return False
        return owner.cluster != owners.cluster_prefix(listing.cluster) or owner.job in dead

    def _check_source(self, listing: cluster.Listing) -> None:
        """Raises if live drivers of another cluster hold slices of a source with the same name."""
        now_ms = time.time() * 1000
        for one in self.quoit.snapshot().owners:
            owner = owners.parse(one.name)
            if owner is None or owner.source != self.source or owner.cluster == owners.cluster_prefix(listing.cluster):
                continue
            # An owner that this process renews is from an earlier connection of this process to another cluster. That
            # driver has ended, so its lease does not matter.
            if one.n_groups and one.until_ms is not None and one.until_ms > now_ms and one.name not in self._renewers:
                raise SourceTakenError(
                    f"source '{self.source}': drivers of cluster '{owner.cluster}' hold slices of it, with a lease of "
                    f"{(one.until_ms - now_ms) / 1000:.0f} s more: expected another source= for cluster "
                    f"'{owners.cluster_prefix(listing.cluster)}', or that these drivers have ended"
                )

    def _is_gone(
        self,
        group: Group,
        records: Mapping[str, Mapping[str, Any]],
        listing: cluster.Listing,
        dead: set[str],
        dead_actors: set[str],
    ) -> bool:
        """Returns whether a group of the ledger has no placement groups in Ray, and no driver is creating them.

        Placement groups of an actor that has died do not count, because Ray removes them only when the driver ends.
        """
        key = owners.record_key(group)
        record = records.get(key)
        if group.state is GroupState.HELD:
            return False
        if record is not None and record.get("actor") in dead_actors:
            return cluster.read_records([key]).get(key) == record  # another driver may have repaired the group
        if has_ray_group(group, record, listing):
            return False
        if record is None:
            # The driver was killed before it wrote the record, or another program made the group.
            if not self._is_of_this_cluster(group.owner, listing):
                return False
            # The record can have been written in the meantime, so it is read again.
            record = cluster.read_records([key]).get(key)
            return record is None or (bool(record["groups"]) and not has_ray_group(group, record, listing))
        # A record without groups: a driver is creating or replacing them.
        if not record["groups"]:
            return record.get("job") in dead
        # A driver changes the record before it replaces groups. If the record is unchanged, no driver replaces them.
        return cluster.read_records([key]).get(key) == record


def _find_dead_actors(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """Returns the dead ones of the actors that have written the records."""
    actors = {record.get("actor") or "" for record in records} - {""}
    return {actor for actor in actors if cluster.is_actor_dead(actor)}


class SourceTakenError(errors.ConflictError):
    """Live drivers of another cluster use the same source name in the ledger."""


def _remove_recorded_groups(record: Mapping[str, Any], listing: cluster.Listing) -> None:
    """Removes the groups of a record that still exist in Ray."""
    left = list_existing_groups(record, listing)
    if left:
        cluster.remove_groups(left, _REMOVAL_S)


def _is_live(group: Group) -> bool:
    """Whether the group is live and does not belong to a source."""
    return not group.source and group.state is not GroupState.REMOVED


def _free_if_live(free: Callable[[Any], object], what: Any) -> None:
    """Calls `free`, and ignores the errors if another process has freed `what` in the meantime."""
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        free(what)


def _tpu_per_chip(tpu_per_chip: int | None) -> int | None:
    return tpu_per_chip if tpu_per_chip is not None else resource_per_chip(cluster.tpu_per_chip_text())


# --- open ledgers -------------------------------------------------------------------------------------------------

_FileIdentity = Union[tuple[int, int], None]
"""The identity of a file (device, inode); None: there is no file."""

_opened: dict[tuple[int, str, str], tuple[_FileIdentity, RayLedger]] = {}
_lock = threading.Lock()


def get_ray_ledger(ledger: LedgerLike, source: str = SOURCE) -> RayLedger:
    """Returns the ledger for a `LedgerLike` argument. A file is opened once per process.

    A file that the argument or $QUOIT_DB names is created if it does not exist. The default ./quoit.db is not created.

    Raises:
        NotFoundError: no ledger was named, and there is no ./quoit.db.
        TypeError: it is not a path or a ledger.
        Error: like `quoit.open` and `quoit.create`.
    """
    with _lock:
        if isinstance(ledger, Ledger):
            companions: dict[str, RayLedger] = ledger._companions
            return companions.setdefault(source, RayLedger(ledger, source))
        path, is_named = _resolve_argument(ledger)
        known = _cached_ledger(path, source)
        if known is None:
            known = _cached_or_opened_ledger(os.path.realpath(path), source, is_named=is_named)
            # The unresolved path is cached too: then the next call only has to check the file's identity, which takes
            # less time than to resolve the path.
            if os.path.isabs(path):
                _opened[os.getpid(), path, source] = known
        return known[1]


def _cached_ledger(path: str, source: str) -> tuple[_FileIdentity, RayLedger] | None:
    """Returns the ledger that was opened with that path, if the path still has the same file."""
    known = _opened.get((os.getpid(), path, source))
    if known is None or known[0] is None or known[1].quoit.is_closed:
        return None
    return known if known[0] == _file_identity(path) else None


def _cached_or_opened_ledger(path: str, source: str, *, is_named: bool) -> tuple[_FileIdentity, RayLedger]:
    known = _cached_ledger(path, source)
    if known is None:
        before = _file_identity(path)
        ledger = RayLedger(_open(path, is_named=is_named), source)
        after = _file_identity(path)
        # If the file was replaced during the open, the identity is None, so that the next call opens the file again.
        known = _opened[os.getpid(), path, source] = after if before in (None, after) else None, ledger
    return known


def _file_identity(path: str) -> _FileIdentity:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def ledger_path(ledger: str | os.PathLike[str] | None) -> str:
    """Returns the absolute path of the ledger's file, for other processes.

    Raises:
        TypeError: it is not a path.
    """
    return os.path.realpath(_resolve_argument(ledger)[0])


def _resolve_argument(ledger: str | os.PathLike[str] | None) -> tuple[str, bool]:
    """Returns the path, and whether it is from the argument or $QUOIT_DB; else it is the default."""
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
        _create_file(path)
    end = time.monotonic() + _CREATION_S
    while True:
        _remove_second_names(path)
        try:
            return _ledger.open(path) if _has_content(path) else _ledger.create(path)
        except (errors.ConflictError, errors.InvalidError, errors.BusyError):
            # Another driver can be creating the file now. Until it is done, the file is not a quoit database.
            if time.monotonic() >= end or not _is_recent(path):
                raise
        time.sleep(0.01)


def _create_file(path: str) -> None:
    """Creates a ledger under a temporary name, and links it to `path` when it is complete.

    If the driver is killed before the link, there is no incomplete ledger at `path`.
    """
    new = f"{path}.{uuid.uuid4().hex[:8]}.new"
    try:
        _ledger.create(new).close()
        # If the link exists already, another driver was faster. If links are not supported, the caller creates the
        # ledger at `path`.
        with contextlib.suppress(OSError):
            os.link(new, path)
    finally:
        for suffix in ("", "-wal", "-shm", "-head"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new + suffix)


def _remove_second_names(path: str) -> None:
    """Removes the temporary names of the file at `path`, which a driver leaves if it is killed after the link.

    libquoit refuses a file with two names. A driver that is not killed removes its temporary name itself.
    """
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(path)
        if found.st_nlink < 2:
            return
        folder, base = os.path.split(os.path.abspath(path))
        for name in os.listdir(folder):
            other = os.path.join(folder, name)
            if name.startswith(base + ".") and name.endswith(".new") and os.path.samestat(os.stat(other), found):
                os.unlink(other)


def _has_content(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _is_recent(path: str) -> bool:
    try:
        return time.time() - os.path.getmtime(path) < _CREATION_S
    except FileNotFoundError:
        return True


# --- public functions ---------------------------------------------------------------------------------------------


def fleet_from_ray(*, source: str = SOURCE, tpu_per_chip: int | None = None) -> Input:
    """Returns the present state of the Ray cluster, as an input of `Ledger.sync_input` and the other imports.

    Nodes, placement groups and available resources are of one moment, as far as Ray allows: all lists are read again if
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
    return cluster.list_now().to_input(source, _tpu_per_chip(tpu_per_chip))


def sync(ledger: LedgerLike = None, *, source: str = SOURCE, tpu_per_chip: int | None = None) -> Import:
    """Writes the present state of the Ray cluster into the ledger, and frees what is no longer used there.

    Plain tasks and actors become external use of their hosts, even if they only use CPU. Slices with external use are
    not allocated. Placement groups of other programs become groups of the source. But a placement group on hosts that a
    group of the ledger has belongs to the owner of that group, and is not counted again. A group of
    `slice_placement_group` is released when Ray no longer has its placement groups, or when its driver has ended. It is
    never released while a live driver is about to confirm it.

    `slice_placement_group` calls `sync` itself. Call it only to update the ledger for other users of it, such as
    `quoit status`.

    Args:
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db.
        source: the cluster's name in the ledger. Two clusters in one ledger need two names. A restarted cluster can use
            the same name again when the old drivers or their leases have ended.
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
    ray_ledger = get_ray_ledger(ledger, source)
    ray_ledger.tpu_per_chip = tpu_per_chip if tpu_per_chip is not None else ray_ledger.tpu_per_chip
    return ray_ledger.sync()


def live_group(ledger: RayLedger, *, key: str | None = None, name: str | None = None) -> Group | None:
    """Returns the live group with the request key or the name; None if there is none. Groups of sources are ignored."""
    ledger.quoit.refresh()
    for group in ledger.live_groups():
        if group.key == key if key is not None else group.name == name:
            return group
    return None
