# SPDX-License-Identifier: Apache-2.0
"""What if: a private copy of a fleet that can be changed."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable

from . import _c, errors
from ._c import call, lib
from ._turns import Turns
from .fleet import NodeState
from .groups import Group, GroupChange, group_text, owned_group, taken_change
from .imports import Import, Input, opened, taken_import
from .requests import Request, handle_of
from .snapshots import Snapshot, owned_snapshot


class Fork(_c.Unsent):
    """A private copy of a snapshot that can be changed: the live code on a copy, of which nothing is ever written.

    `Snapshot.fork` makes one; a context manager that closes it. Its verbs are those of `Ledger`, take the same arguments
    and raise the same, but never what a database causes. Calls from several threads queue. In the child of a fork(2)
    they raise `FailedError`: make another of a snapshot there.
    """

    __slots__ = ("__weakref__", "_handle", "_turns")

    _instead = "make another of a snapshot, in the other process too"

    def __init__(self, handle: Any) -> None:
        self._handle = _c.checked_handle(handle, Fork, "Snapshot.fork")
        self._turns = Turns("what-if fork")

    def __enter__(self) -> Fork:
        with self._turns.take():
            self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<quoit.Fork closed>" if self.is_closed else "<quoit.Fork>"

    def _open(self) -> Any:
        handle = self._handle
        if handle is None:
            raise errors.InvalidError("the fork has been closed")
        return handle

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._turns.take():
            return call(function, self._open(), *arguments)

    def _place(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._turns.take():
            return _c.call_or_explain(function, self._open(), *arguments)

    def close(self) -> None:
        """Drops it. Calls in other threads end first. To close twice does nothing."""
        self._handle = None

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def snapshot(self) -> Snapshot:
        """The fork as it is now."""
        with self._turns.take():
            return owned_snapshot(lib.quoit_fork_snapshot(self._open()))

    def reserve(self, request: Request, *, now_ms: int | None = None) -> Group:
        """As `Ledger.reserve`, on the fork alone.

        Raises:
            NotNowError, NeverError, ConflictError, ExpiredError, InvalidError, NotFoundError: as there.
        """
        return owned_group(self._place(lib.quoit_fork_reserve, handle_of(request), _c.clock(now_ms)))

    def hold(self, request: Request, lease_ms: int, *, now_ms: int | None = None) -> Group:
        """As `Ledger.hold`, on the fork alone.

        Raises:
            NotNowError, NeverError, ConflictError, ExpiredError, InvalidError, NotFoundError: as there.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return owned_group(self._place(lib.quoit_fork_hold, handle_of(request), lease, _c.clock(now_ms)))

    def release(self, group: str | Group, *, now_ms: int | None = None) -> None:
        """As `Ledger.release`, on the fork alone.

        Raises:
            NotFoundError, ConflictError, ExpiredError: as there.
        """
        self._call(lib.quoit_fork_release, group_text(group), _c.clock(now_ms))

    def resize(self, group: str | Group, slices: int, *, now_ms: int | None = None) -> GroupChange:
        """As `Ledger.resize`, on the fork alone.

        Raises:
            InvalidError, NotNowError, NeverError, NotFoundError, ConflictError, ExpiredError: as there.
        """
        number = _c.to_int(slices, "slices")
        return taken_change(self._place(lib.quoit_fork_resize, group_text(group), number, _c.clock(now_ms)))

    def repair(self, group: str | Group, *, now_ms: int | None = None) -> GroupChange:
        """As `Ledger.repair`, on the fork alone.

        Raises:
            NotNowError, NeverError, NotFoundError, ConflictError, ExpiredError: as there.
        """
        return taken_change(self._place(lib.quoit_fork_repair, group_text(group), _c.clock(now_ms)))

    def set_node_state(self, node: str, state: NodeState, *, now_ms: int | None = None) -> None:
        """As `Ledger.set_node_state`, on the fork alone.

        Raises:
            NotFoundError, InvalidError: as there.
        """
        number = _c.to_member(NodeState, state, "state")
        self._call(lib.quoit_fork_set_node_state, _c.to_text(node, "node"), number, _c.clock(now_ms))

    def sync_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """As `Ledger.sync_input`, on the fork alone: what it would change.

        Raises:
            InvalidError, ConflictError, NotFoundError: as there.
        """
        return taken_import(self._call(lib.quoit_fork_sync, opened(input), _c.clock(now_ms)))


def owned_fork(pointer: Any) -> Fork:
    """The fork that is the caller's."""
    return Fork(_c.owned(pointer, lib.quoit_fork_free))
