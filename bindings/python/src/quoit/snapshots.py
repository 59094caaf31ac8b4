# SPDX-License-Identifier: Apache-2.0
"""The fleet at one journal entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _c
from ._c import call, ffi, lib
from ._views import Rows, View
from .fleet import (
    Node,
    Owner,
    Pool,
    Resource,
    Slice,
    SliceClass,
    Source,
    class_of,
    owner_of,
    pool_of,
    resource_of,
    source_of,
)
from .groups import Group, group_text, owned_group
from .reports import Report, taken_report
from .requests import Request, handle_of

if TYPE_CHECKING:
    from .forks import Fork


class GraphForm(_c.Code):
    """How a graph is written."""

    DOT = 1
    """For Graphviz."""
    JGF = 2
    """The JSON graph that Fluxion's resource-query reads."""


class Snapshot(View):
    """The fleet at one journal entry: immutable, readable from any number of threads while others write.

    `Ledger.snapshot` takes one, at the cost of a reference; it outlives the ledger that it came from. Sources, pools,
    slices and nodes stand in natural order of their names, nodes by worker id within their slice. `nodes`, `slices` and
    `groups` make each row when it is asked for.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<quoit.Snapshot at {self.seq}: {len(self.nodes)} nodes, {len(self.slices)} slices>"

    @property
    def seq(self) -> int:
        """The number of the last journal entry that it contains; 0: none."""
        return int(lib.quoit_snapshot_get_seq(self._handle))

    @property
    def epoch(self) -> int:
        """How often the ledger had been restored from a backup."""
        return int(lib.quoit_snapshot_get_epoch(self._handle))

    @property
    def layout_number(self) -> int:
        """Snapshots with the same number, in one process, have the same pools, slices and nodes at the same places of their lists."""
        return int(lib.quoit_snapshot_get_layout_number(self._handle))

    @property
    def clock_ms(self) -> int | None:
        """The ledger's clock: the time of that entry in milliseconds since 1970 UTC; None: there is none yet."""
        return lib.quoit_snapshot_get_clock_ms(self._handle) or None

    def as_of(self, now_ms: int | None = None) -> Snapshot:
        """The fleet as a change at that moment would find it: what is held on leases that have ended is free.

        What decides, as `Ledger.reserve`, does the same by itself; this is for looking. Nothing is written.

        Args:
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Raises:
            InvalidError: a clock outside the years 2000 to 2199.
        """
        return owned_snapshot(call(lib.quoit_snapshot_as_of, self._handle, _c.clock(now_ms)))

    def explain(self, request: Request) -> Report:
        """Whether the request fits now, and why not: the decision that `Ledger.reserve` would make, without making it.

        Costs a look at every slice, or node. A request that does not fit is no failure: see `Report.verdict`.

        Raises:
            InvalidError: the request is not complete, not in the catalogue, or says what does not go together.
            NotFoundError: it names a pool, slice or node that is not there.
        """
        return taken_report(call(lib.quoit_snapshot_explain, self._handle, handle_of(request)))

    def explain_group(self, group: str | Group) -> Report:
        """Why bundles of a group that are not placed, or have lost their nodes, are not placed now.

        Of a group that Ray has made no label selectors are known, and no strategy where the list had none.

        Raises:
            NotFoundError: there is no such group.
            ConflictError: all of it is placed.
        """
        return taken_report(call(lib.quoit_snapshot_explain_group, self._handle, group_text(group)))

    def to_json(self) -> str:
        """Everything that the ledger knows, as a document with "schema": "quoit/1". Equal states give equal text."""
        return _c.taken_text(lib.quoit_snapshot_dup_json(self._handle))

    def to_graph(self, form: GraphForm = GraphForm.DOT) -> str:
        """The fleet as a graph: fleet, sources, pools, slices, nodes, chips and groups; what contains what, the links
        (``ici``, ``dcn``), and what groups hold. Equal states give equal text.

        Args:
            form: how it is written.

        Raises:
            InvalidError: there is no such form.
        """
        return _c.taken_text(call(lib.quoit_snapshot_dup_graph, self._handle, _c.to_member(GraphForm, form, "form")))

    def check(self) -> None:
        """Counts everything again: summaries, indexes, who holds what. For tests and for the suspicious.

        Raises:
            FailedError: a bug of quoit; the message names the contradiction.
        """
        call(lib.quoit_snapshot_check, self._handle)

    def fork(self) -> Fork:
        """A private copy to change, for what-if; it shares all that it does not change."""
        from .forks import owned_fork

        return owned_fork(lib.quoit_snapshot_fork(self._handle))

    # --- what there is ---

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the nodes came from."""
        return tuple(source_of(self._handle, at) for at in range(lib.quoit_snapshot_get_n_sources(self._handle)))

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools of all sources."""
        return tuple(pool_of(self._handle, at) for at in range(lib.quoit_snapshot_get_n_pools(self._handle)))

    @property
    def classes(self) -> tuple[SliceClass, ...]:
        """The kinds of slices that there are, counted; the cost does not depend on the size of the fleet."""
        return tuple(class_of(self._handle, at) for at in range(lib.quoit_snapshot_get_n_classes(self._handle)))

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Sums over the nodes that are not dead, sorted by name; but not a resource for each slice's name."""
        return tuple(resource_of(self._handle, at) for at in range(lib.quoit_snapshot_get_n_resources(self._handle)))

    @property
    def owners(self) -> tuple[Owner, ...]:
        """The owners that are set, in the order in which they were."""
        return tuple(owner_of(self._handle, at) for at in range(lib.quoit_snapshot_get_n_owners(self._handle)))

    @property
    def slices(self) -> Sequence[Slice]:
        """All slices."""
        handle = self._handle
        return Rows(lambda index: Slice(handle, index), range(lib.quoit_snapshot_get_n_slices(handle)))

    @property
    def nodes(self) -> Sequence[Node]:
        """All nodes, dead ones included."""
        handle = self._handle
        return Rows(lambda index: Node(handle, index), range(lib.quoit_snapshot_get_n_nodes(handle)))

    @property
    def groups(self) -> Sequence[Group]:
        """The groups that are kept, by id: live ones, and removed ones that a request key names."""
        handle = self._handle
        numbers = range(lib.quoit_snapshot_get_n_groups(handle))
        return Rows(lambda index: owned_group(lib.quoit_snapshot_dup_group(handle, index)), numbers)

    def lookup_slice(self, name: str) -> Slice:
        """The slice of that short or full name.

        Raises:
            NotFoundError: there is none.
            InvalidError: the short name is ambiguous: the message has full names.
        """
        return Slice(self._handle, self._lookup(lib.quoit_snapshot_lookup_slice, name))

    def lookup_node(self, name: str) -> Node:
        """The node of that short or full name.

        Raises:
            NotFoundError: there is none.
            InvalidError: the short name is ambiguous: the message has full names.
        """
        return Node(self._handle, self._lookup(lib.quoit_snapshot_lookup_node, name))

    def _lookup(self, lookup: Any, name: str) -> int:
        number = ffi.new("uint32_t *")
        call(lookup, self._handle, _c.to_text(name, "name"), number)
        return int(number[0])

    def lookup_group(self, name: str | Group) -> Group:
        """The live group of that name (NAME, NAME@ID, or a `Group`, which is its NAME@ID), as it is here.

        Raises:
            NotFoundError: no live group bears the name.
            ConflictError: the id is not that of the group that bears it now.
            InvalidError: it is neither NAME nor NAME@ID.
        """
        return owned_group(call(lib.quoit_snapshot_lookup_group, self._handle, group_text(name)))

    def group_by_id(self, id: int) -> Group:
        """The group with that id, also after its end while its record is kept.

        Raises:
            NotFoundError: no live or recorded group has the id.
        """
        return owned_group(call(lib.quoit_snapshot_lookup_group_by_id, self._handle, _c.to_int(id, "id", _c.UINT64)))

    def group_by_key(self, key: str) -> Group:
        """The group of a request key, also after its end until `Ledger.forget`.

        Raises:
            NotFoundError: no live or recorded group has the key.
        """
        return owned_group(call(lib.quoit_snapshot_lookup_group_by_key, self._handle, _c.to_text(key, "key")))

    def groups_of_owner(self, owner: str) -> tuple[Group, ...]:
        """The live groups of an owner, by id; the owner need not be set."""
        text = _c.to_text(owner, "owner")
        numbers = range(lib.quoit_snapshot_count_owner_groups(self._handle, text))
        return tuple(owned_group(lib.quoit_snapshot_dup_owner_group(self._handle, text, number)) for number in numbers)

    def node_by_id(self, node_id: int) -> Node | None:
        """The node with that durable id; None if this snapshot has none."""
        index = int(lib.quoit_snapshot_find_node(self._handle, _c.to_int(node_id, "node_id", range(2**32))))
        return None if index < 0 else Node(self._handle, index)


def owned_snapshot(pointer: Any) -> Snapshot:
    """The snapshot that is the caller's."""
    return Snapshot(_c.owned(pointer, lib.quoit_snapshot_unref))
