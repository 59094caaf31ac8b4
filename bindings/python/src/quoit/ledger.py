# SPDX-License-Identifier: Apache-2.0
"""The open ledger: who has what, in a database file that any number of processes share, or in memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _c, errors
from ._c import call, ffi, lib
from .groups import Group, GroupChange, group_text, owned_group, taken_change
from .imports import Import, Input, SourceKind, opened, taken_import
from .requests import Request, handle_of

if TYPE_CHECKING:
    from .fleet import NodeState
    from .journal import Checkpoint, JournalEntry
    from .snapshots import Snapshot

WAIT_MS = 5_000
"""How long calls wait for other writers unless `create` or `open` says otherwise."""
_WAITS = range(_c.INT64.stop)


def create(path: str | os.PathLike[str], *, wait_ms: int = WAIT_MS) -> Ledger:
    """Makes a new, empty database of mode 0600 and opens it; an empty file is taken over.

    Args:
        path: of the file.
        wait_ms: how long calls may wait for other writers, in milliseconds; 0: not at all.

    Raises:
        ConflictError: there is a file already, or another process was quicker: `open` it then.
        InvalidError: `path` is empty or holds NUL, or `wait_ms` is below 0.
        StoreError: the place cannot be written, or is on a file system that is not known to have safe locks.
        VersionError, DamagedError, BusyError: by what that file is.
    """
    return Ledger(call(lib.quoit_ledger_create, _path(path), _c.to_int(wait_ms, "wait_ms", _WAITS)))


def open(path: str | os.PathLike[str], *, wait_ms: int = WAIT_MS) -> Ledger:
    """Opens a database and reads its state. Nothing in it is changed, except that one of an older quoit is upgraded.

    Args:
        path: of the file.
        wait_ms: how long calls may wait for other writers, in milliseconds; 0: not at all.

    Raises:
        NotFoundError: there is no file: `create` makes one.
        InvalidError: the file is not quoit's, `path` is empty or holds NUL, or `wait_ms` is below 0.
        VersionError: it is of a newer quoit.
        DamagedError: it is cut off, contradicts itself, or has triggers or views that quoit did not make.
        StoreError: it cannot be read, or is of an older quoit and cannot be written.
        BusyError: another process had it for longer than `wait_ms`.
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
    """Puts a backup in the place of a ledger, and begins a new epoch of it: no id of a group is ever issued twice.

    The backup is proved first and stays as it is. Ledgers that are open raise `ConflictError` until they are opened
    again. With `backup` equal to `path`, the ledger goes on from what the file contains.

    Args:
        path: of the database, which may be missing or damaged.
        backup: a file that `Ledger.backup` wrote.
        actor: who restores, for the journal.
        wait_ms: how long to wait for other writers, in milliseconds; 0: not at all.
        now_ms: milliseconds since 1970 UTC; None: this machine's clock.

    Raises:
        NotFoundError: there is no backup.
        DamagedError, VersionError: by what the backup contains.
        ConflictError: `path` is another ledger than the backup.
        InvalidError: `path` is no ledger, or a path is empty or contains NUL.
        BusyError: a process uses a database that cannot be read.
        StoreError: the disk refuses. Nothing has changed then.
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
    """An empty ledger in memory: the same rules and calls, without durability."""
    return Ledger(lib.quoit_ledger_open_memory())


def _path(path: str | os.PathLike[str]) -> bytes:
    given = os.fspath(path)
    if not isinstance(given, str):
        raise TypeError(f"path: expected a str or os.PathLike[str], not {type(path).__name__}")
    name = _c.exact(given)
    if not name:
        raise errors.InvalidError("path '': expected the name of a file")
    if "\0" in name:
        raise errors.InvalidError(f"path {_c.shown(name)}: expected a name without NUL")
    try:
        return os.fsencode(name)
    except UnicodeEncodeError as error:
        raise errors.InvalidError(
            f"path {_c.shown(name)}: expected a name of a file, found a lone surrogate at character {error.start}"
        ) from None


def load_text(path: str | os.PathLike[str]) -> bytes:
    """A whole file for one of the imports: a regular file or a pipe, of at most 256 MiB.

    Raises:
        NotFoundError: there is none.
        InvalidError: a directory, a device, or too many bytes (found before they are read).
        StoreError: it cannot be read.
    """
    data, length = ffi.new("char **"), ffi.new("size_t *")
    call(lib.quoit_load_text, _path(path), data, length)
    try:
        return bytes(ffi.buffer(data[0], length[0]))
    finally:
        lib.g_free(data[0])


class Ledger(_c.Unsent):
    """An open ledger, made by `create`, `open` or `open_memory`; a context manager that closes it.

    It may be used from several threads: writers queue, readers take snapshots and never wait for a disk. In the child
    of a fork(2) calls raise `FailedError`; open it anew there, which is refused where the fork came amid a call or a
    batch. Python sees a signal when the call ends that it came in: Ctrl-C ends a wait for another writer after
    ``wait_ms`` at the latest, or at once where a thread waits and the main one calls `interrupt`. `KeyboardInterrupt`
    may come just after a change was made: a request key tells. Every call that changes the ledger is one transaction:
    when it returns it is on the disk whole, when it raises nothing has changed.

    Each of them takes ``now_ms``, the caller's clock in milliseconds since 1970 UTC (None: this machine's), and may
    raise, beside what is said there: `InvalidError` for a clock outside the years 2000 to 2199, `BusyError` when
    another writer held the database for longer than the ledger waits (retry), `CancelledError` after `interrupt`,
    `StoreError` when the disk refuses (nothing was written; mend it and retry), `VersionError` when a newer quoit has
    upgraded the database, `DamagedError` when it contradicts itself. Groups are named by NAME, by NAME@ID
    (`Group.handle`), or by a `Group`, which is its NAME@ID: with the id a late or repeated call never touches a group
    that took the name since. Ids count from 1 in each ledger, so that NAME@ID, and a `Group`, is good for the ledger
    that it came from, through whichever handle or process: another one may have a group of that name and id.
    """

    __slots__ = ("__weakref__", "_companions", "_handle", "_process")

    _instead = "open its file again, in the other process too"

    def __init__(self, handle: Any) -> None:
        self._handle = _c.owned(
            _c.checked_handle(handle, Ledger, "create, open or open_memory"), lib.quoit_ledger_unref
        )
        # What other modules know of this ledger, and forget with it.
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
        """Closes it; what was reserved stays reserved. Calls in other threads end first. To close twice does nothing."""
        self._handle = None

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def set_actor(self, actor: str | None) -> None:
        """Who is written into the journal as asking for the changes that follow; None: nobody."""
        lib.quoit_ledger_set_actor(self._open(), _c.to_text_or_null(actor, "actor"))

    def interrupt(self) -> None:
        """Ends the waits that calls of this ledger are in, from any thread: they raise `CancelledError`."""
        lib.quoit_ledger_interrupt(self._open())

    # --- look ---

    def snapshot(self) -> Snapshot:
        """The fleet as this ledger knows it: with its own changes and those of others up to the last change or `refresh`."""
        from .snapshots import owned_snapshot

        return owned_snapshot(lib.quoit_ledger_snapshot(self._open()))

    def snapshot_at(self, seq: int) -> Snapshot:
        """The fleet as it was after the journal's entry `seq`; 0: before the first.

        Raises:
            NotFoundError: there is no such entry, or it is older than the last checkpoint.
        """
        from .snapshots import owned_snapshot

        return owned_snapshot(call(lib.quoit_ledger_snapshot_at, self._open(), _c.to_int(seq, "seq", _c.UINT64)))

    def refresh(self) -> None:
        """Reads what other processes have written; costs what changed."""
        call(lib.quoit_ledger_refresh, self._open())

    def group(self, name: str | Group) -> Group:
        """The group as this ledger knows it now: `Snapshot.lookup_group` of `snapshot`.

        Raises:
            NotFoundError: no group bears the name.
            ConflictError: the id is not that of the group that bears it now.
        """
        return self.snapshot().lookup_group(name)

    # --- hold ---

    def reserve(self, request: Request, *, now_ms: int | None = None) -> Group:
        """Places the request, all slices or bundles or none, in one durable transaction.

        With a request key a retry returns the group that was made, and reserves nothing.

        Raises:
            NotNowError, NeverError: the message has the dominant reason and what would help; `Snapshot.explain` has all.
            ConflictError: the name is taken, or the key was used for another request, or for a hold that is not confirmed.
            ExpiredError: the lease of the request's owner has ended: `set_owner` begins anew.
            InvalidError: the request is not complete, not in the catalogue, or says what does not go together.
            NotFoundError: it names a pool, slice or node that is not there.
        """
        return owned_group(
            _c.call_or_explain(lib.quoit_ledger_reserve, self._open(), handle_of(request), _c.clock(now_ms))
        )

    def hold(self, request: Request, lease_ms: int, *, now_ms: int | None = None) -> Group:
        """As `reserve`, for at most `lease_ms` (from 1 ms) unless it is confirmed or renewed before.

        Raises:
            InvalidError: also for a lease below 1 ms or beyond the year 2199.
            NotNowError, NeverError, ConflictError, ExpiredError, NotFoundError: as `reserve`.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return owned_group(
            _c.call_or_explain(lib.quoit_ledger_hold, self._open(), handle_of(request), lease, _c.clock(now_ms))
        )

    def confirm(self, group: str | Group, *, lease_ms: int = 0, now_ms: int | None = None) -> Group:
        """Makes a held group a reserved one; one that is reserved already stays as it is, so that a retry is safe.

        Args:
            group: NAME, NAME@ID or the group.
            lease_ms: how long it lives from now on unless it is renewed; 0: until it is released.

        Raises:
            NotFoundError: no group bears the name.
            ConflictError: the id is not that of the group that bears it now, or the group belongs to a source.
            ExpiredError: its lease has ended: ask for slices again.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return owned_group(call(lib.quoit_ledger_confirm, self._open(), group_text(group), lease, _c.clock(now_ms)))

    def renew(self, group: str | Group, lease_ms: int, *, now_ms: int | None = None) -> Group:
        """Gives a group that has a lease another one, which begins now: from 1 ms.

        Raises:
            NotFoundError, ExpiredError: as `confirm`.
            ConflictError: as `confirm`, and for a group without a lease.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return owned_group(call(lib.quoit_ledger_renew, self._open(), group_text(group), lease, _c.clock(now_ms)))

    def release(self, group: str | Group, *, now_ms: int | None = None) -> None:
        """Frees all that the group has.

        Raises:
            NotFoundError: no group bears the name.
            ConflictError: the id is not that of the group that bears it now, or the group belongs to a source.
            ExpiredError: its lease has ended, and it is free already.
        """
        call(lib.quoit_ledger_release, self._open(), group_text(group), _c.clock(now_ms))

    def forget(self, group: str | Group, *, now_ms: int | None = None) -> None:
        """Drops what is kept of a group that is gone (NAME@ID): its request key may be used again.

        Raises:
            NotFoundError: nothing is kept.
            ConflictError: the group is not gone: release it.
            InvalidError: no id was given.
        """
        call(lib.quoit_ledger_forget, self._open(), group_text(group), _c.clock(now_ms))

    def forget_key(self, key: str, *, now_ms: int | None = None) -> None:
        """`forget` of the group that the request key names; raises as it does."""
        call(lib.quoit_ledger_forget_key, self._open(), _c.to_text(key, "key"), _c.clock(now_ms))

    # --- elastic jobs ---

    def resize(self, group: str | Group, slices: int, *, now_ms: int | None = None) -> GroupChange:
        """Grows or shrinks a group to so many slices, wholly or not at all; it gives up lost slices first.

        Slices stand in natural order afterwards: ids and environments may be others for those that stay (`renumbering`).

        Raises:
            InvalidError: below 1, outside what the request allowed, or the group is not of whole slices.
            NotNowError, NeverError: too few slices are free.
            NotFoundError, ConflictError, ExpiredError: as `confirm`.
        """
        number = _c.to_int(slices, "slices")
        return taken_change(
            _c.call_or_explain(lib.quoit_ledger_resize, self._open(), group_text(group), number, _c.clock(now_ms))
        )

    def repair(self, group: str | Group, *, now_ms: int | None = None) -> GroupChange:
        """Replaces each slice or bundle that is lost or leaving, all of them or none, with the smallest change.

        Raises:
            NotNowError, NeverError: too few slices are free (`resize` to fewer), or the bundles find no room.
            NotFoundError, ConflictError, ExpiredError: as `confirm`.
        """
        return taken_change(
            _c.call_or_explain(lib.quoit_ledger_repair, self._open(), group_text(group), _c.clock(now_ms))
        )

    def release_slice(self, group: str | Group, slice: str, *, now_ms: int | None = None) -> GroupChange:
        """Frees one slice of a group, by short or full name; with its last slice the group goes.

        Raises:
            NotFoundError: no such group or slice, or the group does not have it.
            InvalidError: the group is not of whole slices.
            ConflictError, ExpiredError: as `confirm`.
        """
        name = _c.to_text(slice, "slice")
        return taken_change(
            call(lib.quoit_ledger_release_slice, self._open(), group_text(group), name, _c.clock(now_ms))
        )

    # --- owners ---

    def set_owner(self, owner: str, *, lease_ms: int = 0, now_ms: int | None = None) -> None:
        """Makes an owner known, or gives one that is known another lease; when that ends all that it holds is free.

        Args:
            owner: the name that requests give as theirs.
            lease_ms: how long it lives unless it is renewed; 0: until `end_owner`.

        Raises:
            InvalidError: a name that is none, a lease below 0 or beyond the year 2199.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        call(lib.quoit_ledger_set_owner, self._open(), _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

    def renew_owner(self, owner: str, lease_ms: int, *, now_ms: int | None = None) -> None:
        """The sign of life of an owner that has a lease, which lives `lease_ms` (from 1 ms) from now on.

        Raises:
            NotFoundError: it was never set.
            ExpiredError: its lease has ended, and what it held is free: `set_owner` begins anew.
            ConflictError: it has no lease.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        call(lib.quoit_ledger_renew_owner, self._open(), _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

    def end_owner(self, owner: str, *, now_ms: int | None = None) -> int:
        """Frees all that is held in the owner's name, and forgets the owner.

        Returns:
            How many groups were freed.

        Raises:
            NotFoundError: it was never set, and has nothing.
            ExpiredError: its lease has ended already.
        """
        n_groups = ffi.new("uint32_t *")
        call(lib.quoit_ledger_end_owner, self._open(), _c.to_text(owner, "owner"), _c.clock(now_ms), n_groups)
        return int(n_groups[0])

    # --- nodes ---

    def set_node_state(self, node: str, state: NodeState, *, now_ms: int | None = None) -> None:
        """Says that a node (short or full name) is alive, draining or dead, until its source says another state than it did.

        Raises:
            NotFoundError: there is no such node.
            InvalidError: the name is ambiguous.
        """
        from .fleet import NodeState

        number = _c.to_member(NodeState, state, "state")
        call(lib.quoit_ledger_set_node_state, self._open(), _c.to_text(node, "node"), number, _c.clock(now_ms))

    def drain_node(self, node: str, *, now_ms: int | None = None) -> None:
        """No new group comes to the node or its slice; groups that have it stay.

        Raises:
            NotFoundError: there is no such node.
            InvalidError: the name is ambiguous.
            ConflictError: the node is dead.
        """
        call(lib.quoit_ledger_drain_node, self._open(), _c.to_text(node, "node"), _c.clock(now_ms))

    def undrain_node(self, node: str, *, now_ms: int | None = None) -> None:
        """Takes `drain_node` back; raises as it does."""
        call(lib.quoit_ledger_undrain_node, self._open(), _c.to_text(node, "node"), _c.clock(now_ms))

    # --- imports ---

    def import_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Makes the nodes of an input the nodes of its source.

        An import replaces what the source contained before; importing the same input twice changes nothing.

        Raises:
            InvalidError: the text breaks a rule of its format (the message has the place, the value and what was expected), or its
                files are of different moments or clusters.
            ConflictError: a held node would be dropped or replaced (`sync_input` keeps it), another source of the same kind claims
                one of the machines, or the source's name belongs to a source of another kind.
            NotFoundError: `Input.join` names an unknown source.
        """
        return taken_import(call(lib.quoit_ledger_import, self._open(), opened(input), _c.clock(now_ms)))

    def sync_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Like `import_input`, for a fleet that changes while groups hold parts of it: a held node that is missing in the input
        is lost. It stays, dead, while a group has it.

        Raises:
            InvalidError, ConflictError, NotFoundError: like `import_input`, except for lost nodes.
        """
        return taken_import(call(lib.quoit_ledger_sync, self._open(), opened(input), _c.clock(now_ms)))

    def import_fleet_text(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Imports fleet text: "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b busy=0-1 dead=2.3". See `import_input`."""
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
        """Imports a manifest with a RayCluster, RayJob or RayService: the nodes that KubeRay 1.7 creates. See `import_input`.

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

    # --- the file ---

    def batch(self, *, synced: bool = True) -> contextlib.AbstractContextManager[None]:
        """Puts the changes of the block into one commit: all are durable after it, and none where it raises.

        It is the thread's: what other threads change waits for its end, and what else this thread does is in it, so
        that a block should not await.

        Args:
            synced: whether its end waits for the disk, which is most of what a change takes. Without, the batch outlives
                this process, and a power loss may take it back, until anybody's next change that waits puts it on the
                disk too: for what ends with the machine anyway.
                Ids of groups that it takes back are given again: tell them to nobody on another machine.

        Raises:
            ConflictError: a batch is open already.
            TypeError: `synced` is no bool.
        """
        return _Batch(
            self,
            lib.quoit_ledger_begin_batch if _c.to_bool(synced, "synced") else lib.quoit_ledger_begin_unsynced_batch,
        )

    def verify(self) -> None:
        """Replays the journal and compares with the state that is kept.

        Raises:
            DamagedError: they differ: restore a backup.
        """
        call(lib.quoit_ledger_verify, self._open())

    @property
    def identity(self) -> str:
        """A random number that the ledger got when it was made, as 32 hexadecimal digits; "" in memory."""
        return _c.taken_text(lib.quoit_ledger_dup_identity(self._open()))

    def set_clock(self, clock_ms: int) -> None:
        """Sets the ledger's clock, forwards or back, as one journal entry. Leases that have ended stay ended.

        Raises:
            InvalidError: a time outside the years 2000 to 2199.
        """
        call(lib.quoit_ledger_set_clock, self._open(), _c.to_int(clock_ms, "clock_ms", _c.INT64))

    def set_max_clock_jump(self, max_jump_ms: int, *, now_ms: int | None = None) -> None:
        """Sets how far a change's clock may be ahead of the last entry.

        Args:
            max_jump_ms: in milliseconds; 0: one day, and without limit in memory.
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Raises:
            InvalidError: it is below 0.
        """
        limit = _c.to_int(max_jump_ms, "max_jump_ms", _c.INT64)
        call(lib.quoit_ledger_set_max_clock_jump, self._open(), limit, _c.clock(now_ms))

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies the database while it is in use, never over a file that exists or through a link.

        Raises:
            ConflictError: there is something at `path`.
            StoreError: it cannot be written.
        """
        call(lib.quoit_ledger_backup, self._open(), _path(path))

    def changes_since(self, seq: int) -> tuple[JournalEntry, ...]:
        """The journal's entries after `seq`, oldest first.

        Raises:
            NotFoundError: `seq` is older than the last checkpoint.
        """
        from .journal import taken_entries

        return taken_entries(call(lib.quoit_ledger_read_journal, self._open(), _c.to_int(seq, "seq", _c.UINT64)))

    def compact_journal(self, before_seq: int, *, now_ms: int | None = None) -> int:
        """Writes a checked image of the state, and drops the journal's entries before `before_seq`.

        Returns:
            How many entries were dropped.

        Raises:
            InvalidError: `before_seq` is before the checkpoint that there is, or beyond the next entry.
        """
        n_removed = ffi.new("uint64_t *")
        seq = _c.to_int(before_seq, "before_seq", _c.UINT64)
        call(lib.quoit_ledger_compact_journal, self._open(), seq, _c.clock(now_ms), n_removed)
        return int(n_removed[0])

    def read_checkpoint(self) -> Checkpoint | None:
        """The last checkpoint (`compact_journal`); None: none yet."""
        from .journal import Checkpoint

        seq, made_ms = ffi.new("uint64_t *"), ffi.new("int64_t *")
        call(lib.quoit_ledger_read_checkpoint, self._open(), seq, made_ms)
        return Checkpoint(int(seq[0]), int(made_ms[0])) if seq[0] else None


class _Batch:
    """A batch of a ledger, which ends whatever comes between two instructions: a lock that stays stops every writer."""

    _handle: Any = None

    def __init__(self, ledger: Ledger, begin: Any) -> None:
        self._ledger = ledger
        self._begin = begin

    def __enter__(self) -> None:
        handle = self._ledger._open()
        if self._handle is not None:
            raise errors.ConflictError("this batch is open already")
        try:
            self._handle = handle
            call(self._begin, handle)
        except errors.ConflictError:
            self._handle = None  # it is not this one's batch that is open
            raise
        except BaseException:
            self._cancel()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is None:
            raise errors.ConflictError("this batch is not open")
        if kind is not None:
            self._cancel()
            return
        try:
            call(lib.quoit_ledger_commit_batch, self._handle)
            self._handle = None
        except BaseException:
            self._cancel()
            raise

    def __del__(self) -> None:
        self._cancel()  # of a block that was left before it was entered, or amid __exit__

    def _cancel(self) -> None:
        if self._handle is not None:
            lib.quoit_ledger_cancel_batch(self._handle)
            self._handle = None
