# SPDX-License-Identifier: Apache-2.0
"""Feeds: the journal entries of a ledger as they are written, with a file descriptor to wait for them."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from . import _c, errors
from ._c import call, lib
from ._locks import ThreadLock
from .journal import JournalEntry, take_entries


class Feed(_c.Uncopyable):
    """The journal entries after one of them, from `Ledger.feed`.

    A feed has a file descriptor, so that `select.select`, `selectors` and `asyncio.loop.add_reader` accept it. It
    becomes readable after each commit of an entry, by this process or another one. Then call `read`. It can also become
    readable without a new entry. As a context manager, a feed closes itself. Calls from several threads wait for each
    other. In a child of fork(2), calls raise `FailedError`.
    """

    __slots__ = ("__weakref__", "_handle", "_lock")

    _pickle_advice = "make another feed from a ledger, also in another process"

    def __init__(self, handle: Any) -> None:
        self._handle = _c.check_handle(handle, Feed, "Ledger.feed")
        self._lock = ThreadLock("feed")

    def __enter__(self) -> Feed:
        with self._lock.acquire():
            self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<quoit.Feed closed>" if self.is_closed else "<quoit.Feed>"

    def _open(self) -> Any:
        handle = self._handle
        if handle is None:
            raise errors.InvalidError("the feed has been closed")
        return handle

    def close(self) -> None:
        """Closes the feed and its descriptor, after the calls of other threads. Closing it again does nothing."""
        self._handle = None

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def fileno(self) -> int:
        """Returns the descriptor. It is readable at once. Wait for it, but do not read, write or close it."""
        with self._lock.acquire():
            return int(lib.quoit_feed_get_fd(self._open()))

    @property
    def seq(self) -> int:
        """The last entry that `read` has returned, or the one that the feed began with."""
        with self._lock.acquire():
            return int(lib.quoit_feed_get_seq(self._open()))

    def read(self) -> tuple[JournalEntry, ...]:
        """Returns the entries that the feed has not returned yet; () if there are none. It does not wait for entries.

        The descriptor is unreadable afterwards until there is another entry. If the call raises, it is readable, so that
        a loop tries again.

        Raises:
            NotFoundError: a checkpoint has replaced the next entries: make a new feed from the ``seq`` of a snapshot.
            ConflictError: the ledger was restored: open it again. Also inside a batch of the same thread.
        """
        with self._lock.acquire():
            return take_entries(call(lib.quoit_feed_read, self._open()))
