# SPDX-License-Identifier: Apache-2.0
"""The verbs of a ledger that read, exchange and shorten its journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _c
from ._c import call, ffi, lib
from ._ledger_verbs import LedgerVerbs

if TYPE_CHECKING:
    from .feeds import Feed
    from .journal import Checkpoint, JournalEntry, StoredEntry, Trimmed


class JournalVerbs(LedgerVerbs):
    """Entries, feeds and checkpoints."""

    __slots__ = ()

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
