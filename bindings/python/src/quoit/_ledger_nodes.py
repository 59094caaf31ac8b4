# SPDX-License-Identifier: Apache-2.0
"""The verbs of a ledger for the states of nodes, and for the calendar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _c
from ._c import call, lib
from ._ledger_verbs import LedgerVerbs

if TYPE_CHECKING:
    from .fleet import NodeState, WindowScope


class NodeVerbs(LedgerVerbs):
    """States of nodes, and windows in which nodes are not available."""

    __slots__ = ()

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
