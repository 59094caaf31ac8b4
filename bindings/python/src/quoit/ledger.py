# SPDX-License-Identifier: Apache-2.0
"""Ledgers: the state of a fleet, in a database file that several processes share, or in memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _c, errors
from ._batches import _Batch
from ._c import call, ffi, lib
from .groups import Group, GroupChange, take_change, to_group_name, to_group_names, wrap_group
from .imports import Import, Input, SourceKind, open_input, open_update, take_import
from .requests import Request, request_handle

if TYPE_CHECKING:
    from .feeds import Feed
    from .fleet import NodeState, WindowScope
    from .forks import Fork
    from .journal import Checkpoint, JournalEntry, StoredEntry, Trimmed
    from .nodes import NodeFacts
    from .snapshots import Snapshot

WAIT_MS = 5_000
"""The default ``wait_ms`` of `create` and `open`: how long calls wait for other writers, in milliseconds."""
_WAITS = range(_c.INT64.stop)


def create(path: str | os.PathLike[str], *, wait_ms: int = WAIT_MS) -> Ledger:
    """Creates an empty database with mode 0600 and opens it. If `path` is an empty file, that file is used.

    On a server, makes quoit's tables if they are missing, and a fleet of that name.

    Args:
        path: path of the database file, or the URL of a ledger in PostgreSQL: postgresql://HOST/DATABASE#FLEET, also
            with postgres://.
        wait_ms: how long calls of the ledger wait for other writers, in milliseconds; 0: they do not wait. Connecting
            to a server may take up to 10 s more, and so may its answers, counted from the last bytes that were sent or
            received.

    Raises:
        ConflictError: the file or the fleet exists already, or another process creates it at the same time: `open` it.
        InvalidError: `path` is empty, contains NUL or is a URL without the name of a fleet, or `wait_ms` is below 0.
        StoreError: the file cannot be written, its file system is not known to have safe locks, the server cannot be
            used, or libquoit was built without PostgreSQL.
        VersionError, DamagedError, BusyError: depending on what the existing file is.
    """
    return Ledger(call(lib.quoit_ledger_create, _path(path), _c.to_int(wait_ms, "wait_ms", _WAITS)))


def open(path: str | os.PathLike[str], *, wait_ms: int = WAIT_MS) -> Ledger:
    """Opens a database and reads its saved state. Only a database of an older quoit is changed: it is upgraded.

    Args:
        path: path of the database file, or the URL of a ledger in PostgreSQL: postgresql://HOST/DATABASE#FLEET, also
            with postgres://.
        wait_ms: how long calls of the ledger wait for other writers, in milliseconds; 0: they do not wait. Connecting
            to a server may take up to 10 s more, and so may its answers, counted from the last bytes that were sent or
            received.

    Raises:
        NotFoundError: there is no file, or the database has no such fleet; `create` creates one.
        InvalidError: the file is not a quoit database, `path` is empty, contains NUL or is a URL without the name of a
            fleet, or `wait_ms` is below 0.
        VersionError: the database belongs to a newer quoit.
        DamagedError: the database is truncated, contradicts itself, or has triggers or views that quoit did not create.
        StoreError: the database cannot be read; an older quoit wrote it, and it cannot be written for the upgrade; the
            server cannot be used; or libquoit was built without PostgreSQL.
        BusyError: another process has locked the database for longer than `wait_ms`.
    """
    return Ledger(call(lib.quoit_ledger_open, _path(path), _c.to_int(wait_ms, "wait_ms", _WAITS)))


def restore(
    path: str | os.PathLike[str],
    backup: str | os.PathLike[str],
    *,
    actor: str | None = None,
    wait_ms: int = WAIT_MS,
    now_ms: int | None = None,
) -> None:
    """Replaces a ledger by a backup and begins a new epoch, so that no group id is ever used twice.

    The backup is verified first, and its file is not changed. Open handles of the ledger raise `ConflictError`: open
    the file again. If `backup` is `path`, the ledger continues from the content of the file in a new epoch.

    Args:
        path: path of the database file, which can be missing or damaged.
        backup: a file that `Ledger.backup` wrote.
        actor: the name that the journal records for this change.
        wait_ms: how long to wait for other writers, in milliseconds; 0: do not wait.
        now_ms: milliseconds since 1970 UTC; None: this machine's clock.

    Raises:
        NotFoundError: there is no backup.
        DamagedError, VersionError: depending on the content of the backup.
        ConflictError: `path` and `backup` are different ledgers.
        InvalidError: `path` is not a ledger, or a path is empty or contains NUL.
        BusyError: the database at `path` cannot be read, and a process still uses it.
        StoreError: the disk refuses. Nothing has changed.
    """
    call(
        lib.quoit_ledger_restore,
        _path(path),
        _path(backup),
        _c.to_int(wait_ms, "wait_ms", _WAITS),
        _c.to_text_or_null(actor, "actor"),
        _c.clock(now_ms),
    )


def open_memory() -> Ledger:
    """Creates an empty ledger in memory. It has the same rules and calls as a ledger in a file, but is not durable."""
    return Ledger(lib.quoit_ledger_open_memory())


def open_snapshot(snapshot: Snapshot | None = None) -> Ledger:
    """Opens a ledger in memory whose entries you can store in a place of your own, as bytes.

    It begins with the state of `snapshot`; None: with an empty fleet. If the snapshot has a `Snapshot.link`, the ledger
    continues its history; otherwise it begins a history of its own. See `Ledger.batch_entries` and
    `Ledger.apply_entry`.

    Raises:
        StoreError: the system gives no random number for the identity of a new history.
        TypeError: `snapshot` is neither a `Snapshot` nor None.
    """
    from .snapshots import Snapshot

    if snapshot is not None and not isinstance(snapshot, Snapshot):
        raise TypeError(f"snapshot: expected a Snapshot or None, not {type(snapshot).__name__}")
    return Ledger(call(lib.quoit_ledger_open_snapshot, ffi.NULL if snapshot is None else snapshot._handle))


def _path(path: str | os.PathLike[str]) -> bytes:
    return _c.to_path(path, "path", "a file")


def load_text(path: str | os.PathLike[str]) -> bytes:
    """Reads a file for one of the imports: a regular file or a pipe, of at most 256 MiB.

    Raises:
        NotFoundError: there is no such file.
        InvalidError: the file is a directory or a device, or is too large.
        StoreError: the file cannot be read.
    """
    data, length = ffi.new("char **"), ffi.new("size_t *")
    call(lib.quoit_load_text, _path(path), data, length)
    try:
        return bytes(ffi.buffer(data[0], length[0]))
    finally:
        lib.g_free(data[0])


class Ledger(_c.Uncopyable):
    """An open ledger, from `create`, `open`, `open_memory` or `open_snapshot`. As a context manager, it closes itself.

    Several threads can use one ledger: writers wait for each other; readers take snapshots and never wait for the disk.
    In a child of fork(2), calls raise `FailedError`: open the ledger again in the child. That fails if the fork
    happened inside a call or a batch.

    Each call that changes the ledger is one transaction: when the call returns, the change is on the disk; when it
    raises, nothing has changed. Only after `KeyboardInterrupt` you cannot know, because it can come just after a change
    was made: use a request key, which makes a retry safe. Python handles a signal when the present call ends. Therefore
    Ctrl-C ends a wait for another writer only after ``wait_ms``. If the waiting call is in another thread, the main
    thread can end the wait at once with `interrupt`.

    Each call that changes the ledger takes ``now_ms``, the caller's clock in milliseconds since 1970 UTC (None: this
    machine's clock). In addition to the listed exceptions, each such call can raise `InvalidError` for a clock outside
    the years 2000 to 2199, `BusyError` if another writer locks the database for longer than the ledger waits (retry),
    `CancelledError` after `interrupt`, `StoreError` if the disk refuses (nothing was written; remove the cause and
    retry), `VersionError` if a newer quoit has upgraded the database, and `DamagedError` if the database contradicts
    itself.

    Groups are named by NAME, by NAME@ID (`Group.handle`), or by a `Group`, which means its NAME@ID. With the id, a late
    or repeated call never affects a newer group of that name. Ids count from 1 in each ledger, so that another ledger
    can have a group with the same name and id. Therefore use NAME@ID or a `Group` only with its own ledger. Any handle
    of that ledger works, in any process.
    """

    __slots__ = ("__weakref__", "_companions", "_handle", "_process")

    _pickle_advice = "open its file again, in the other process too"

    def __init__(self, handle: Any) -> None:
        self._handle = _c.own_handle(
            _c.check_handle(handle, Ledger, "create, open or open_memory"), lib.quoit_ledger_unref
        )
        # Objects that other modules attach to this ledger, by name. They live as long as the ledger.
        self._companions: dict[str, Any] = {}
        self._process = os.getpid()

    def __enter__(self) -> Ledger:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<quoit.Ledger closed>" if self._handle is None else "<quoit.Ledger>"

    def _open(self) -> Any:
        handle = self._handle
        if handle is None:
            raise errors.InvalidError("the ledger has been closed")
        if self._process != os.getpid():
            raise errors.FailedError("the ledger was opened before fork(2): open it again in the child")
        return handle

    def close(self) -> None:
        """Closes the ledger, after the calls of other threads. Reservations stay. Closing it again does nothing."""
        self._handle = None

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def set_actor(self, actor: str | None) -> None:
        """Sets the name that the journal records as the actor of the following changes; None: no name."""
        lib.quoit_ledger_set_actor(self._open(), _c.to_text_or_null(actor, "actor"))

    def interrupt(self) -> None:
        """Cancels the calls of this ledger that are waiting: they raise `CancelledError`. Any thread can call this."""
        lib.quoit_ledger_interrupt(self._open())

    def lead(self, leader: str) -> int:
        """Makes this handle the leader of a ledger in PostgreSQL, and returns the term that has begun, from 1 on.

        From then on, handles that have led earlier raise `FencedError` when they write, also if they were paused
        meanwhile. Handles that have never led write as before: let each process of an active/standby scheduler lead
        before it writes.

        Args:
            leader: who leads, such as a host name; 1 to 256 bytes of UTF-8 without control characters.

        Raises:
            InvalidError: the ledger is not in PostgreSQL, or `leader` is not valid.
            ConflictError: this thread is in a batch.
            FencedError: another handle has begun a term meanwhile.
            StoreError, CancelledError: as for changes. After a failure, a term may have begun: call this again.
        """
        term = ffi.new("uint64_t *")
        call(lib.quoit_ledger_lead, self._open(), _c.to_text(leader, "leader"), term)
        return int(term[0])

    # --- snapshots ---

    def snapshot(self) -> Snapshot:
        """Returns the fleet as this handle has read it.

        The snapshot has all changes of this handle. A handle reads the changes of other handles and processes only when
        it makes a change itself, and at `refresh`.
        """
        from .snapshots import wrap_snapshot

        return wrap_snapshot(lib.quoit_ledger_snapshot(self._open()))

    def snapshot_at(self, seq: int) -> Snapshot:
        """Returns the fleet as it was after the journal entry `seq`; 0: before the first entry.

        Raises:
            NotFoundError: there is no such entry, or the entry is older than the last checkpoint.
        """
        from .snapshots import wrap_snapshot

        return wrap_snapshot(call(lib.quoit_ledger_snapshot_at, self._open(), _c.to_int(seq, "seq", _c.UINT64)))

    def refresh(self) -> None:
        """Reads the changes of other processes. The cost depends only on the number of new journal entries."""
        call(lib.quoit_ledger_refresh, self._open())

    def group(self, name: str | Group) -> Group:
        """Returns the live group with that name (NAME, NAME@ID or a `Group`), like `Snapshot.lookup_group`.

        Raises:
            NotFoundError: no live group has the name.
            ConflictError: the live group of that name has another id.
        """
        return self.snapshot().lookup_group(name)

    # --- groups ---

    def reserve(self, request: Request, *, now_ms: int | None = None) -> Group:
        """Places all slices or bundles of the request, or none, in one durable transaction.

        With a request key, a retry returns the group of the first call and reserves nothing.

        Raises:
            NotNowError, NeverError: the request does not fit. The message has the main reason; `report` of the
                exception has all reasons, and the changes that would help.
            ConflictError: the name is in use, or the key belongs to another request or to an unconfirmed hold.
            ExpiredError: the lease of the request's owner has ended; `set_owner` starts a new lease.
            InvalidError: the request is incomplete or contradictory, or its slices are not in the catalogue.
            NotFoundError: the request names an unknown pool, slice or node.
        """
        return wrap_group(
            _c.call_or_explain(lib.quoit_ledger_reserve, self._open(), request_handle(request), _c.clock(now_ms))
        )

    def reserve_all(self, requests: Iterable[Request], *, now_ms: int | None = None) -> tuple[Group, ...]:
        """Reserves several groups in one entry of the journal, all or none: for example workers and their head.

        The groups never share a slice or an amount. The requests are placed one after the other; one that is refused is
        placed first and the others after it, because these may accept something else. With a request key in each
        request, a retry returns the groups of the first call.

        Args:
            requests: 1 to 64 requests, each for another group.
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Returns:
            The groups, in the order of the requests.

        Raises:
            NotNowError, NeverError: one of the requests does not fit together with the others. The message begins with
                the name of its group. If the others have what it needs, the report has reasons and no options.
            ConflictError, ExpiredError, NotFoundError: like `reserve`, for one of the requests.
            InvalidError: like `reserve`, for two requests for one group, and for another number of requests.
        """
        kept = list(_c.to_iterable(requests, "requests", "Request"))
        handles = _c.ffi.new("QuoitRequest *[]", [request_handle(request) for request in kept])
        groups = _c.ffi.new("QuoitGroup *[]", len(kept))
        _c.call_or_explain(lib.quoit_ledger_reserve_all, self._open(), handles, len(kept), _c.clock(now_ms), groups)
        return tuple(wrap_group(group) for group in groups)

    def reserve_at(
        self, request: Request, from_ms: int, until_ms: int | None = None, *, now_ms: int | None = None
    ) -> Group:
        """Reserves all slices or bundles of the request, or none, from a later time on: a reservation ahead.

        Until `from_ms` the group is `GroupState.AHEAD`: it holds nothing, and groups whose leases end before can use
        its slices. No call grants or renews what could still have them at `from_ms`. A group without a lease counts
        forever, whatever its expected end. Which slices the group gets can change until it begins; that it gets them
        does not change while they live. If there are none because nodes fail, the group begins with dead nodes, and
        `repair` helps. `docs/ahead.md` has the rules.

        Args:
            request: the request, without a lease.
            from_ms: when the group begins, after now, in milliseconds since 1970 UTC.
            until_ms: when the group ends, after `from_ms`; None: when it is released. `renew` can extend this lease
                after the group has begun.
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Raises:
            InvalidError: like `reserve`, and if the times are not in order or the request has a lease.
            NotNowError, NeverError: like `reserve`, for the time of the reservation.
            ConflictError, ExpiredError, NotFoundError: like `reserve`.
        """
        begin, end = _c.to_int(from_ms, "from_ms"), 0 if until_ms is None else _c.to_int(until_ms, "until_ms")
        arguments = request_handle(request), begin, end, _c.clock(now_ms)
        return wrap_group(_c.call_or_explain(lib.quoit_ledger_reserve_at, self._open(), *arguments))

    def hold(self, request: Request, lease_ms: int, *, now_ms: int | None = None) -> Group:
        """Like `reserve`, but the group ends after `lease_ms` (from 1 ms) unless it is confirmed or renewed.

        Raises:
            InvalidError: like `reserve`, and for a lease below 1 ms or beyond the year 2199.
            NotNowError, NeverError, ConflictError, ExpiredError, NotFoundError: like `reserve`.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return wrap_group(
            _c.call_or_explain(lib.quoit_ledger_hold, self._open(), request_handle(request), lease, _c.clock(now_ms))
        )

    def confirm(self, group: str | Group, *, lease_ms: int = 0, now_ms: int | None = None) -> Group:
        """Makes a held group a reserved group. A group that is reserved already is not changed, so a retry is safe.

        Args:
            group: NAME, NAME@ID or the group.
            lease_ms: how long the group lives from now on unless it is renewed; 0: until it is released.

        Raises:
            NotFoundError: no live group has the name.
            ConflictError: the live group of that name has another id, or a source owns the group.
            ExpiredError: the group's lease has ended: reserve again.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return wrap_group(call(lib.quoit_ledger_confirm, self._open(), to_group_name(group), lease, _c.clock(now_ms)))

    def renew(self, group: str | Group, lease_ms: int, *, now_ms: int | None = None) -> Group:
        """Replaces the lease of a group: it ends `lease_ms` (from 1 ms) after now unless it is renewed.

        Raises:
            NotFoundError, ExpiredError: like `confirm`.
            ConflictError: like `confirm`, for a group without a lease, for a reservation ahead that has not begun, and
                if the nodes are promised to a reservation ahead, or belong to a window, that begins before the new end.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return wrap_group(call(lib.quoit_ledger_renew, self._open(), to_group_name(group), lease, _c.clock(now_ms)))

    def renew_groups(self, groups: Iterable[str | Group], lease_ms: int, *, now_ms: int | None = None) -> None:
        """Like `renew`, for many groups in one journal entry: all of them, or none.

        Raises:
            NotFoundError, ConflictError, ExpiredError: like `renew`, for the first group that cannot be renewed. The
                message names it, and no lease has changed.
        """
        names, lease = to_group_names(groups), _c.to_int(lease_ms, "lease_ms")
        call(lib.quoit_ledger_renew_groups, self._open(), names, len(names) - 1, lease, _c.clock(now_ms))

    def set_expected_end(self, group: str | Group, end_ms: int | None, *, now_ms: int | None = None) -> Group:
        """Replaces the estimate of when a group ends; None: unknown. The group does not end at that time by itself.

        Raises:
            InvalidError: the time is before the group was created, or after the year 2199.
            NotFoundError, ConflictError, ExpiredError: like `confirm`.
        """
        end = 0 if end_ms is None else _c.to_int(end_ms, "end_ms")
        return wrap_group(
            call(lib.quoit_ledger_set_expected_end, self._open(), to_group_name(group), end, _c.clock(now_ms))
        )

    def set_priority(self, group: str | Group, priority: int, *, now_ms: int | None = None) -> Group:
        """Replaces the priority of a group.

        Raises:
            NotFoundError, ConflictError, ExpiredError: like `confirm`.
        """
        number = _c.to_int(priority, "priority", _c.INT32)
        return wrap_group(
            call(lib.quoit_ledger_set_priority, self._open(), to_group_name(group), number, _c.clock(now_ms))
        )

    def set_labels(self, group: str | Group, labels: Mapping[str, str | None], *, now_ms: int | None = None) -> Group:
        """Sets labels of a group, and removes those whose value is None, in one journal entry. Other labels stay.

        Args:
            group: the group.
            labels: at most 64 labels, as for `Request`. A group has at most 64 labels.

        Raises:
            InvalidError: a label is not valid, or there are too many.
            NotFoundError, ConflictError, ExpiredError: like `confirm`.
        """
        keys, values, n_labels = _c.to_labels(labels, "labels")
        name, now = to_group_name(group), _c.clock(now_ms)
        return wrap_group(call(lib.quoit_ledger_set_labels, self._open(), name, keys, values, n_labels, now))

    def release(self, group: str | Group, *, reason: str | None = None, now_ms: int | None = None) -> None:
        """Frees everything that the group uses.

        Args:
            group: the group.
            reason: why, such as "preempted by job-7", for the journal and the record of the group
                (`Group.release_reason`): 1 to 1,024 bytes without control characters. With a reason, a group without a
                request key is recorded too, for at least a day.

        Raises:
            InvalidError: the reason is not valid.
            NotFoundError: no live group has the name.
            ConflictError: the live group of that name has another id, or a source owns the group.
            ExpiredError: the group's lease has ended, and its slices are free already.
        """
        if reason is None:
            call(lib.quoit_ledger_release, self._open(), to_group_name(group), _c.clock(now_ms))
        else:
            arguments = to_group_name(group), _c.to_text(reason, "reason"), _c.clock(now_ms)
            call(lib.quoit_ledger_release_with_reason, self._open(), *arguments)

    def forget(self, group: str | Group, *, now_ms: int | None = None) -> None:
        """Drops the record of an ended group (NAME@ID). Its request key can be used again.

        Raises:
            NotFoundError: there is no such record.
            ConflictError: the group is live: release it.
            InvalidError: no id was given.
        """
        call(lib.quoit_ledger_forget, self._open(), to_group_name(group), _c.clock(now_ms))

    def forget_key(self, key: str, *, now_ms: int | None = None) -> None:
        """Like `forget`, for the ended group that was made with the request key."""
        call(lib.quoit_ledger_forget_key, self._open(), _c.to_text(key, "key"), _c.clock(now_ms))

    def forget_before(self, before_ms: int, *, now_ms: int | None = None) -> int:
        """Deletes the records of all groups that ended before a time, and returns their number.

        The ledger keeps the record of a group with a request key until the record is forgotten. Choose a time that is
        older than any request that a caller may still retry: a retry with a forgotten key makes a new group.
        """
        n_groups = ffi.new("uint32_t *")
        call(lib.quoit_ledger_forget_before, self._open(), _c.clock(before_ms), _c.clock(now_ms), n_groups)
        return int(n_groups[0])

    # --- elastic jobs ---

    def resize(self, group: str | Group, slices: int, *, now_ms: int | None = None) -> GroupChange:
        """Grows or shrinks a group to that number of slices, completely or not at all. Lost slices are removed first.

        Afterwards the slices are in natural order again. Therefore ids and environments can also change for slices that
        stay (see `quoit.renumbering`).

        Raises:
            InvalidError: the number is below 1 or outside the range of the request, or the group does not hold whole
                slices.
            NotNowError, NeverError: too few slices are free.
            NotFoundError, ConflictError, ExpiredError: like `confirm`.
        """
        number = _c.to_int(slices, "slices")
        return take_change(
            _c.call_or_explain(lib.quoit_ledger_resize, self._open(), to_group_name(group), number, _c.clock(now_ms))
        )

    def resize_between(self, group: str | Group, least: int, most: int, *, now_ms: int | None = None) -> GroupChange:
        """Grows or shrinks a group to as many slices as possible, at least `least` and at most `most`.

        The result is that of `resize` to the largest number of this range to which it succeeds. Lost and leaving slices
        count until `repair` replaces them.

        Raises:
            InvalidError: the numbers are not in order, or outside the range of the request.
            NotNowError, NeverError: the group cannot even have `least` slices.
            NotFoundError, ConflictError, ExpiredError: like `confirm`.
        """
        numbers = _c.to_int(least, "least"), _c.to_int(most, "most")
        arguments = to_group_name(group), *numbers, _c.clock(now_ms)
        return take_change(_c.call_or_explain(lib.quoit_ledger_resize_between, self._open(), *arguments))

    def repair(self, group: str | Group, *, now_ms: int | None = None) -> GroupChange:
        """Replaces all lost and leaving slices or bundles, or none, with the smallest change.

        Raises:
            NotNowError, NeverError: too few slices are free, or the bundles do not fit. If the group can have fewer
                slices, an option of the report is to shrink it; `resize` it to that number, and repair it again.
            NotFoundError, ConflictError, ExpiredError: like `confirm`.
        """
        return take_change(
            _c.call_or_explain(lib.quoit_ledger_repair, self._open(), to_group_name(group), _c.clock(now_ms))
        )

    def release_slice(self, group: str | Group, slice: str, *, now_ms: int | None = None) -> GroupChange:
        """Frees one slice of a group, by short or full name. The group ends with its last slice.

        Raises:
            NotFoundError: there is no such group or slice, or the group does not have the slice.
            InvalidError: the group does not hold whole slices.
            ConflictError, ExpiredError: like `confirm`.
        """
        name = _c.to_text(slice, "slice")
        return take_change(
            call(lib.quoit_ledger_release_slice, self._open(), to_group_name(group), name, _c.clock(now_ms))
        )

    # --- owners ---

    def set_owner(self, owner: str, *, lease_ms: int = 0, now_ms: int | None = None) -> None:
        """Registers an owner, or replaces the lease of a registered owner. When the lease ends, its groups are freed.

        Args:
            owner: the name that requests give.
            lease_ms: how long the owner lives unless it is renewed; 0: until `end_owner`.

        Raises:
            InvalidError: the name is not valid, or the lease is below 0 or beyond the year 2199.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        call(lib.quoit_ledger_set_owner, self._open(), _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

    def set_quota(
        self,
        name: str,
        chips: int,
        *,
        owner: str | None = None,
        label: str | None = None,
        accelerator: str | None = None,
        topology: str | None = None,
        max_chips: int | None = None,
        cohort: str | None = None,
        now_ms: int | None = None,
    ) -> None:
        """Sets a quota, or replaces the quota of that name: how many chips some groups may use together.

        A quota admits a request if the chips in use, with those of the request, are at most `chips`; or, with a cohort,
        at most `max_chips`, if the cohort has as many unused. Other requests fail with `NotNowError` or `NeverError`.
        Groups keep what they have when a quota is lowered.

        Args:
            name: the name of the quota.
            chips: the nominal chips, 0 to 1,000,000,000.
            owner: the quota is for the groups of this owner. Either this or `label` is required.
            label: the quota is for the groups with this label: "team=nlp".
            accelerator: only chips of this TPU generation count; None: all chips.
            topology: only chips of slices of this topology count; it requires `accelerator`.
            max_chips: the most chips, with borrowed ones, at least `chips`; None: no limit but that of the cohort.
            cohort: the quotas of one cohort and one class lend each other what they do not use.

        Raises:
            InvalidError: a name, number or class is not valid, both or none of `owner` and `label` are given, or
                `max_chips` is more than `chips` without a cohort.
            ConflictError: another quota is for the same groups and the same class.
        """
        handle = self._open()
        arguments = _c.to_quota(name, chips, owner, label, accelerator, topology, max_chips, cohort, now_ms)
        call(lib.quoit_ledger_set_quota, handle, *arguments)

    def remove_quota(self, name: str, *, now_ms: int | None = None) -> None:
        """Removes a quota.

        Raises:
            NotFoundError: there is no quota of that name.
        """
        call(lib.quoit_ledger_remove_quota, self._open(), _c.to_text(name, "name"), _c.clock(now_ms))

    def renew_owner(self, owner: str, lease_ms: int, *, now_ms: int | None = None) -> None:
        """Renews an owner's lease (a heartbeat): the owner lives `lease_ms` (from 1 ms) from now on.

        Raises:
            NotFoundError: the owner was never set.
            ExpiredError: the lease has ended, and the owner's groups are free; `set_owner` starts a new lease.
            ConflictError: the owner has no lease.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        call(lib.quoit_ledger_renew_owner, self._open(), _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

    def end_owner(self, owner: str, *, now_ms: int | None = None) -> int:
        """Frees all groups of an owner, and removes the owner.

        Returns:
            The number of freed groups.

        Raises:
            NotFoundError: the owner was never set and has no groups.
            ExpiredError: the owner's lease has already ended.
        """
        n_groups = ffi.new("uint32_t *")
        call(lib.quoit_ledger_end_owner, self._open(), _c.to_text(owner, "owner"), _c.clock(now_ms), n_groups)
        return int(n_groups[0])

    # --- calendar ---

    def add_window(
        self, name: str, scope: WindowScope, target: str, from_ms: int, until_ms: int, *, now_ms: int | None = None
    ) -> None:
        """Adds a window of the calendar, in which the nodes of the target are not available.

        Nothing is granted or renewed there that could still have the nodes when the window begins. Reservations ahead
        get other slices. Groups that already have the nodes do not end. The window ends by itself at `until_ms`. Adding
        the same window again changes nothing.

        Args:
            name: a name that no other window has.
            scope: what `target` names.
            target: the short or full name of a node, slice or pool, or the name of a zone. Nodes that are imported
                later belong to the window too.
            from_ms: when the window begins, in milliseconds since 1970 UTC; it can be in the past.
            until_ms: when the window ends, after now and after `from_ms`.
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Raises:
            ConflictError: there is another window of that name, or reservations ahead would not get their slices.
            InvalidError: the name, the scope or the times are not valid, or the target is ambiguous.
            NotFoundError: the fleet has no such target.
        """
        from .fleet import WindowScope

        number, now = _c.to_member(WindowScope, scope, "scope"), _c.clock(now_ms)
        texts = _c.to_text(name, "name"), number, _c.to_text(target, "target")
        times = _c.to_int(from_ms, "from_ms"), _c.to_int(until_ms, "until_ms")
        call(lib.quoit_ledger_add_window, self._open(), *texts, *times, now)

    def remove_window(self, name: str, *, now_ms: int | None = None) -> None:
        """Removes a window of the calendar.

        Raises:
            NotFoundError: there is no window of that name.
        """
        call(lib.quoit_ledger_remove_window, self._open(), _c.to_text(name, "name"), _c.clock(now_ms))

    # --- nodes ---

    def set_node_state(self, node: str, state: NodeState, *, now_ms: int | None = None) -> None:
        """Sets the state of a node (short or full name).

        The node keeps this state until its source reports another state than the source reported last.

        Raises:
            NotFoundError: there is no such node.
            InvalidError: the name is ambiguous.
        """
        from .fleet import NodeState

        number = _c.to_member(NodeState, state, "state")
        call(lib.quoit_ledger_set_node_state, self._open(), _c.to_text(node, "node"), number, _c.clock(now_ms))

    def set_node_states(self, nodes: Iterable[str], state: NodeState, *, now_ms: int | None = None) -> None:
        """Like `set_node_state`, for many nodes in one journal entry: all of them, or none."""
        from .fleet import NodeState

        number = _c.to_member(NodeState, state, "state")
        self._change_nodes(lib.quoit_ledger_set_node_states, nodes, number, _c.clock(now_ms))

    def drain_nodes(self, nodes: Iterable[str], *, now_ms: int | None = None) -> None:
        """Like `drain_node`, for many nodes in one journal entry: all of them, or none."""
        self._change_nodes(lib.quoit_ledger_drain_nodes, nodes, _c.clock(now_ms))

    def undrain_nodes(self, nodes: Iterable[str], *, now_ms: int | None = None) -> None:
        """Reverts `drain_nodes`. Raises the same exceptions."""
        self._change_nodes(lib.quoit_ledger_undrain_nodes, nodes, _c.clock(now_ms))

    def _change_nodes(self, function: Any, nodes: Iterable[str], *arguments: Any) -> None:
        names = _c.to_texts(nodes, "nodes")
        call(function, self._open(), names, len(names) - 1, *arguments)

    def drain_node(self, node: str, *, now_ms: int | None = None) -> None:
        """Keeps new groups away from the node and its slice. Groups that use the node stay.

        Raises:
            NotFoundError: there is no such node.
            InvalidError: the name is ambiguous.
            ConflictError: the node is dead.
        """
        call(lib.quoit_ledger_drain_node, self._open(), _c.to_text(node, "node"), _c.clock(now_ms))

    def undrain_node(self, node: str, *, now_ms: int | None = None) -> None:
        """Reverts `drain_node`. Raises the same exceptions."""
        call(lib.quoit_ledger_undrain_node, self._open(), _c.to_text(node, "node"), _c.clock(now_ms))

    # --- imports ---

    def import_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Makes the nodes of an input the nodes of its source.

        An import replaces what the source contained before. A second import of the same input changes nothing.

        Raises:
            InvalidError: the text breaks a rule of its format (the message has the place, the value and what was
                expected), or the files of the input are of different moments or clusters.
            ConflictError: a node that a group uses would be dropped or replaced (`sync_input` keeps the node), another
                source of the same kind claims one of the machines, or a source of another kind has the source's name.
            NotFoundError: `Input.join` names an unknown source.
        """
        return take_import(call(lib.quoit_ledger_import, self._open(), open_input(input), _c.clock(now_ms)))

    def sync_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Like `import_input`, for a fleet that changes while groups hold parts of it.

        If the input lacks a node that a group uses, the node is lost: it stays in the fleet as a dead node while the
        group has it.

        Raises:
            InvalidError, ConflictError, NotFoundError: like `import_input`, except for lost nodes.
        """
        return take_import(call(lib.quoit_ledger_sync, self._open(), open_input(input), _c.clock(now_ms)))

    def update_nodes(
        self,
        nodes: Iterable[NodeFacts | Mapping[str, Any]] = (),
        *,
        remove: Iterable[str] = (),
        source: str | None = None,
        join: str | None = None,
        tpu_per_chip: int | None = None,
        now_ms: int | None = None,
    ) -> Import:
        """Adds or replaces a few nodes of a source, and removes others. All other nodes of the source stay.

        The result is that of `sync_input` with the complete list: an allocated node that is removed is lost. Removing a
        node that the source does not have changes nothing. A call without `nodes` can be for a source of any kind.

        Args:
            nodes: the nodes to add, or to replace if the source has nodes of the same ids
            remove: the ids of the nodes to remove; the name is the id of a node without one
            source: the name of the source; None: "ray"
            join: the source to join, as in `Input.join`
            tpu_per_chip: RAY_TPU_RESOURCE_PER_CHIP of the cluster; None: 1
            now_ms: the time, in milliseconds since 1970 UTC; None: this machine's clock

        Raises:
            NotFoundError: there is no such source.
            InvalidError: a fact of a node is wrong, the same id is added and removed, or a node with chips lacks Ray's
                TPU labels (`NodeFacts.slice` sets them).
            ConflictError: like `sync_input`, or another alive node of the source has the name of one of the nodes.
        """
        ledger, update = self._open(), open_update(nodes, remove, source, join, tpu_per_chip)
        return take_import(call(lib.quoit_ledger_update_nodes, ledger, update, _c.clock(now_ms)))

    def import_fleet_text(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Imports fleet text, such as "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b busy=0-1 dead=2.3".

        See `import_input`.
        """
        return self.import_input(Input(SourceKind.FLEET, text, source=source), now_ms=now_ms)

    def sync_fleet_text(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Synchronises with fleet text. See `sync_input`."""
        return self.sync_input(Input(SourceKind.FLEET, text, source=source), now_ms=now_ms)

    def import_raycluster(
        self,
        text: str | bytes,
        *,
        source: str | None = None,
        variables: Mapping[str, str] | None = None,
        now_ms: int | None = None,
    ) -> Import:
        """Imports a manifest with a RayCluster, RayJob or RayService: the nodes that KubeRay 1.7 creates.

        Without these, it imports the nodes of the pods of a JobSet, LeaderWorkerSet, Job, StatefulSet or Pod. See
        `import_input`.

        Args:
            text: YAML.
            source: the source's name; None: metadata.name.
            variables: the values of ${NAME}.
        """
        return self.import_input(Input(SourceKind.RAYCLUSTER, text, source=source, variables=variables), now_ms=now_ms)

    def sync_raycluster(
        self,
        text: str | bytes,
        *,
        source: str | None = None,
        variables: Mapping[str, str] | None = None,
        now_ms: int | None = None,
    ) -> Import:
        """Synchronises with a manifest, with the arguments of `import_raycluster`. See `sync_input`."""
        return self.sync_input(Input(SourceKind.RAYCLUSTER, text, source=source, variables=variables), now_ms=now_ms)

    def import_ray_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Imports ``ray list nodes`` as JSON or YAML, or the JSON of ray.nodes(). See `import_input`."""
        return self.import_input(Input(SourceKind.RAY_NODES, text, source=source), now_ms=now_ms)

    def sync_ray_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Synchronises with a list of Ray's nodes. See `sync_input`."""
        return self.sync_input(Input(SourceKind.RAY_NODES, text, source=source), now_ms=now_ms)

    def import_k8s_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Imports ``kubectl get nodes`` as JSON or YAML. See `import_input`."""
        return self.import_input(Input(SourceKind.K8S_NODES, text, source=source), now_ms=now_ms)

    def sync_k8s_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Synchronises with a list of Kubernetes nodes. See `sync_input`."""
        return self.sync_input(Input(SourceKind.K8S_NODES, text, source=source), now_ms=now_ms)

    # --- the database ---

    def batch(self, *, synced: bool = True) -> contextlib.AbstractContextManager[None]:
        """Commits the changes of the ``with`` block as one transaction. If the block raises, no change is made.

        The batch belongs to the thread. Other threads wait with their changes until the batch ends, and all changes of
        this thread are part of the batch. Therefore the block should not await: another task of the thread could then
        make changes in the batch.

        Args:
            synced: whether the commit waits for the disk, which takes most of the time of a change. An unsynced batch
                survives the end of this process. A power loss can undo it, until any process makes a change that waits
                for the disk. Use unsynced batches for groups that end with the machine anyway. After such a power loss,
                the ids of the undone groups are used again: do not pass these ids to another machine.

        Raises:
            ConflictError: this thread already has a batch.
            TypeError: `synced` is not a bool.
        """
        return _Batch(
            self,
            lib.quoit_ledger_begin_batch if _c.to_bool(synced, "synced") else lib.quoit_ledger_begin_unsynced_batch,
        )

    def mark_batch(self) -> int:
        """Marks the present state of this thread's batch. `roll_back_batch` with the returned mark restores the state.

        Raises:
            ConflictError: this thread has no batch.
        """
        return int(call(lib.quoit_ledger_mark_batch, self._open()))

    def roll_back_batch(self, mark: int) -> None:
        """Undoes the changes of this thread's batch since the mark, and makes later marks invalid.

        Groups that the undone changes made do not exist any more, and their ids are used again.

        Raises:
            InvalidError: the batch has no such mark.
            ConflictError: this thread has no batch.
        """
        call(lib.quoit_ledger_roll_back_batch, self._open(), _c.to_int(mark, "mark", range(2**32)))

    def commit_fork(self, fork: Fork, *, now_ms: int | None = None) -> None:
        """Writes all changes that were made on a fork of this ledger as one journal entry, or none of them.

        The ledger may have changed since the fork was made, except where the changes of the fork depend on it: the
        names, keys, owners and nodes of the fork's new groups, the groups that the fork has changed, the nodes whose
        state the fork has set, and, if it has imported or synced a source, the list of nodes. If the ledger has got
        other groups in the meantime, the new groups get other ids than on the fork. The fork continues from the committed state.

        Raises:
            ConflictError: something that the fork depends on has changed: make a new fork, and decide again.
            ExpiredError: an owner, or a lease that the fork has set, has ended.
            InvalidError: the clock is before the last change of the fork, or the fork belongs to another ledger.
        """
        from . import forks

        if not isinstance(fork, forks.Fork):
            raise TypeError(f"fork: expected a quoit.Fork, not {type(fork).__name__}")
        fork._call_with(lib.quoit_ledger_commit_fork, self._open(), _c.clock(now_ms))

    def verify(self) -> None:
        """Replays the journal and compares the result with the saved state.

        On a server, checks each link of the journal and each image.

        Raises:
            DamagedError: the result differs from the saved state: restore a backup.
        """
        call(lib.quoit_ledger_verify, self._open())

    @property
    def identity(self) -> str:
        """The random number that identifies the ledger, as 32 hexadecimal digits; "" for a ledger of `open_memory`."""
        return _c.take_text(lib.quoit_ledger_dup_identity(self._open()))

    def set_clock(self, clock_ms: int) -> None:
        """Sets the ledger's clock, forwards or back, with a journal entry. Leases that have ended stay ended.

        Raises:
            InvalidError: the time is outside the years 2000 to 2199.
        """
        call(lib.quoit_ledger_set_clock, self._open(), _c.to_int(clock_ms, "clock_ms", _c.INT64))

    def set_max_clock_jump(self, max_jump_ms: int, *, now_ms: int | None = None) -> None:
        """Sets how far the clock of a change can be ahead of the last journal entry.

        Args:
            max_jump_ms: the limit in milliseconds; 0: the default of one day, or no limit for a ledger in memory.
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Raises:
            InvalidError: the limit is below 0.
        """
        limit = _c.to_int(max_jump_ms, "max_jump_ms", _c.INT64)
        call(lib.quoit_ledger_set_max_clock_jump, self._open(), limit, _c.clock(now_ms))

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies the database, also while it is in use. Never overwrites a file, and never follows a link.

        The backup of a ledger on a server is a file with its whole history.

        Raises:
            ConflictError: `path` exists.
            StoreError: the copy cannot be written.
        """
        call(lib.quoit_ledger_backup, self._open(), _path(path))

    def copy(self, to: str | os.PathLike[str]) -> None:
        """Copies the ledger with its history to a new ledger, which can have another engine.

        The copy has the same identity, entries, groups and ids, and is verified before the call returns. Use only one
        of the two ledgers for changes.

        Args:
            to: path of a new database file, or the URL of a new ledger in PostgreSQL.

        Raises:
            InvalidError: the ledger is from `open_memory`.
            ConflictError: `to` exists, or this thread is in a batch.
            DamagedError: the journal contradicts itself.
            StoreError: `to` cannot be written. A failure leaves nothing of the copy, except a
                fleet on a server that could not be verified.
        """
        call(lib.quoit_ledger_copy, self._open(), _path(to))

    def changes_since(self, seq: int) -> tuple[JournalEntry, ...]:
        """Returns the journal entries after `seq`, oldest first.

        Raises:
            NotFoundError: `seq` is older than the last checkpoint.
        """
        from .journal import take_entries

        return take_entries(call(lib.quoit_ledger_read_journal, self._open(), _c.to_int(seq, "seq", _c.UINT64)))

    def entries_since(self, seq: int) -> tuple[StoredEntry, ...]:
        """Returns the journal entries after `seq` as bytes, oldest first, for `apply_entry` of another ledger.

        Raises:
            NotFoundError: `seq` is older than the last checkpoint.
            InvalidError: the ledger is from `open_memory`.
            DamagedError: the journal contradicts itself.
        """
        from .journal import take_stored_entries

        return take_stored_entries(call(lib.quoit_ledger_read_journal, self._open(), _c.to_int(seq, "seq", _c.UINT64)))

    def batch_entries(self) -> tuple[StoredEntry, ...]:
        """Returns the entries of this thread's batch as bytes, to store them in a place of your own before the commit.

        A refused change, and one that finds its result present, has no entry.

        Raises:
            ConflictError: this thread has no batch.
            InvalidError: the ledger is not from `open_snapshot`.
        """
        from .journal import take_stored_entries

        return take_stored_entries(call(lib.quoit_ledger_read_batch, self._open()))

    def apply_entry(self, data: bytes) -> None:
        """Applies the next entry of the same history, which another ledger has made, to a ledger of `open_snapshot`.

        In a batch of this thread it becomes part of the batch. A failure changes nothing.

        Args:
            data: `StoredEntry.data`.

        Raises:
            ConflictError: the entry is of another ledger, is not the next one, or follows another history.
            InvalidError: `data` is no entry, or the ledger is not from `open_snapshot`.
            VersionError: a newer quoit wrote the entry.
            DamagedError: `data` was changed or cut off, or the entry contradicts the state.
            TypeError: `data` is not bytes.
        """
        given = _c.to_bytes(data, "data")
        call(lib.quoit_ledger_apply_entry, self._open(), given, len(given))

    def feed(self, seq: int) -> Feed:
        """Returns a feed of the journal entries after `seq`, with a file descriptor to wait for them.

        On a server, the feed has a second connection.

        Raises:
            StoreError: the process has too many open files, the user too many inotify instances, or the second
                connection cannot be made.
        """
        from .feeds import Feed

        handle = call(lib.quoit_feed_new, self._open(), _c.to_int(seq, "seq", _c.UINT64))
        return Feed(_c.own_handle(handle, lib.quoit_feed_free))

    def compact_journal(self, before_seq: int, *, now_ms: int | None = None) -> int:
        """Replaces the journal entries before `before_seq` by a checkpoint, a verified copy of the state at that entry.

        Returns:
            The number of removed entries.

        Raises:
            InvalidError: `before_seq` is before the last checkpoint or beyond the next entry.
        """
        n_removed = ffi.new("uint64_t *")
        seq = _c.to_int(before_seq, "before_seq", _c.UINT64)
        call(lib.quoit_ledger_compact_journal, self._open(), seq, _c.clock(now_ms), n_removed)
        return int(n_removed[0])

    def set_keep(self, keep_ms: int | None, *, now_ms: int | None = None) -> None:
        """Sets how long the ledger keeps journal entries and records of ended groups.

        `trim` removes what is older. A ledger in a file also trims itself: after an import or sync, and when a ledger
        that has changed it is closed, if enough entries are old. A retry with the key of a removed record makes a new
        group.

        Args:
            keep_ms: the time in milliseconds; None: for ever; 0: the default, which is for ever in a file, and the
                last 4,096 entries in memory.

        Raises:
            InvalidError: the time is below 0.
        """
        limit = _c.INT64.stop - 1 if keep_ms is None else _c.to_int(keep_ms, "keep_ms", _c.INT64)
        call(lib.quoit_ledger_set_keep, self._open(), limit, _c.clock(now_ms))

    def trim(self, *, now_ms: int | None = None) -> Trimmed:
        """Removes what is older than `set_keep` allows: at most 65,536 entries, and records of ended groups.

        Call it when there is nothing else to do, such as once an hour.

        Raises:
            ConflictError: inside a batch.
        """
        from .journal import Trimmed

        n_entries, n_groups = ffi.new("uint64_t *"), ffi.new("uint32_t *")
        call(lib.quoit_ledger_trim, self._open(), _c.clock(now_ms), n_entries, n_groups)
        return Trimmed(int(n_entries[0]), int(n_groups[0]))

    def read_checkpoint(self) -> Checkpoint | None:
        """Returns the last checkpoint (`compact_journal`), or None."""
        from .journal import Checkpoint

        seq, made_ms = ffi.new("uint64_t *"), ffi.new("int64_t *")
        call(lib.quoit_ledger_read_checkpoint, self._open(), seq, made_ms)
        return Checkpoint(int(seq[0]), int(made_ms[0])) if seq[0] else None
