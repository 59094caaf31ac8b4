# SPDX-License-Identifier: Apache-2.0
"""Ledgers: the state of a fleet, in a database file that several processes share, or in memory."""

from __future__ import annotations

import contextlib
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _c, errors
from ._batches import _Batch
from ._c import call, ffi, lib
from ._ledger_groups import GroupVerbs
from ._ledger_imports import ImportVerbs
from ._ledger_journal import JournalVerbs
from ._ledger_nodes import NodeVerbs
from ._ledger_owners import OwnerVerbs
from ._ledger_verbs import gather

if TYPE_CHECKING:
    from .forks import Fork
    from .groups import Group
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


@gather
class Ledger(GroupVerbs, OwnerVerbs, NodeVerbs, ImportVerbs, JournalVerbs):
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
