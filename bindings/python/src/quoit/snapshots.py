# SPDX-License-Identifier: Apache-2.0
"""Snapshots: the fleet at one journal entry."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import _c, _frames, _html, errors
from ._c import call, ffi, lib
from ._views import Rows, View
from .defragmentation import Defragmentation, plan_defragmentation, plan_joined_defragmentation
from .fleet import (
    Node,
    Owner,
    Pool,
    Quota,
    Resource,
    Slice,
    SliceClass,
    Source,
    Window,
    read_class,
    read_owner,
    read_pool,
    read_quota,
    read_resource,
    read_source,
    read_window,
)
from .fragmentation import Fragmentation, measure_fragmentation, measure_joined_fragmentation
from .groups import Group, to_group_name, wrap_group
from .purchases import BlockPrice, CubePrice, Price, Purchase, PurchaseStart, plan_purchase
from .reports import Report, Verdict, take_report
from .requests import Cubes, Cut, Request, request_handle

if TYPE_CHECKING:
    from .forks import Fork


class GraphForm(_c.Code):
    """The format of a graph."""

    DOT = 1
    """For Graphviz."""
    JGF = 2
    """The JSON graph that Fluxion's resource-query reads."""


class SlotsIf(_c.Code):
    """What is assumed when slots are counted; see `Snapshot.count_slots`."""

    NOW = 0
    """Hosts that are alive, not draining and wholly unused now."""
    UNDRAINED = 1
    """As if draining hosts were not draining."""
    GROUPS_ENDED = 2
    """At a later time: without groups that have ended by then."""
    MENDED = 3
    """As if known dead hosts, and draining ones, were alive."""


@dataclasses.dataclass(frozen=True)
class Slots:
    """How many parts of one shape fit at once under one assumption."""

    topology: str
    assumption: SlotsIf
    least: int
    """A number of parts that fit."""
    most: int
    """A number of parts such that more cannot fit. If it is equal to `least`, the count is exact."""
    certificate: str
    """The proof of `most`: a line for each slice, as described for quoit_slots_dup_certificate() in quoit/slots.h."""


@dataclasses.dataclass(frozen=True)
class GroupEnd:
    """The end of a group for which a request waits."""

    group: Group
    time_ms: int
    is_estimate: bool
    """Whether `time_ms` is the expected end of the group; otherwise it is the end of a lease."""
    is_overdue: bool
    """Whether the expected end has passed."""


@dataclasses.dataclass(frozen=True)
class Start:
    """When a request fits; see `Snapshot.find_start`."""

    time_ms: int | None
    """The time; None if the request has to wait for a group whose end is unknown."""
    ends: tuple[GroupEnd, ...]
    """The groups for which the request waits, in the order of their ends; empty if the request fits now."""
    alternative: int = 0
    """Which alternative of the request fits first, counted from 1; 0: the request itself."""


@dataclasses.dataclass(frozen=True)
class Growth:
    """How much a group could grow now; see `Snapshot.test_growth`."""

    n_now: int
    """The number of slices that the group could have now; its present number if it cannot grow."""
    n_most: int
    """The most slices that its request allows, at least its present number."""


@dataclasses.dataclass(frozen=True)
class Preemption:
    """The groups to release so that a request fits; see `Snapshot.find_preemption`."""

    groups: tuple[Group, ...]
    """The groups, by priority, then by cost; empty if the request fits now. None of them can be left out."""
    is_cheapest: bool
    """Whether it is proven that no other set is cheaper."""
    alternative: int = 0
    """Which alternative of the request fits then, counted from 1; 0: the request itself. It is the cheapest one."""


def _take_slots(handle: Any) -> tuple[Slots, ...]:
    slots = _c.own_handle(handle, lib.quoit_slots_free)
    return tuple(
        Slots(
            _c.take_text(lib.quoit_slots_dup_topology(slots, row)),
            assumption,
            int(lib.quoit_slots_get_least(slots, row, assumption)),
            int(lib.quoit_slots_get_most(slots, row, assumption)),
            _c.take_text(lib.quoit_slots_dup_certificate(slots, row, assumption)),
        )
        for row in range(lib.quoit_slots_get_n_rows(slots))
        for assumption in SlotsIf
    )


def take_start(handle: Any) -> Start:
    """Returns the value of a C start, and frees it. For the modules of this package."""
    start = _c.own_handle(handle, lib.quoit_start_free)
    ends = tuple(
        GroupEnd(
            wrap_group(lib.quoit_start_dup_end_group(start, at)),
            int(lib.quoit_start_get_end_ms(start, at)),
            bool(lib.quoit_start_end_is_estimate(start, at)),
            bool(lib.quoit_start_end_is_overdue(start, at)),
        )
        for at in range(lib.quoit_start_get_n_ends(start))
    )
    return Start(int(lib.quoit_start_get_time_ms(start)) or None, ends, int(lib.quoit_start_get_alternative(start)))


class Snapshot(View):
    """The fleet at one journal entry. A snapshot is immutable: any number of threads can read it while others write.

    `Ledger.snapshot` returns a snapshot in constant time, without a copy. A snapshot stays valid after the ledger is
    closed. Sources, pools, slices and nodes are in natural order of their names. The nodes of a slice are in the order
    of worker ids. `nodes`, `slices` and `groups` are sequences that make each element when it is read.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<quoit.Snapshot at {self.seq}: {len(self.nodes)} nodes, {len(self.slices)} slices>"

    def _repr_html_(self) -> str:
        return _html.of_snapshot(self)

    def nodes_frame(self) -> Any:
        """Returns a ``pandas.DataFrame`` of the nodes, whose index is the full name.

        The columns are name, source, pool, slice, worker_id, chips, state, state_reason, address, groups (the handles
        of the groups that use the node, as a tuple) and external.

        Raises:
            ImportError: pandas is not installed.
        """
        return _frames.nodes_frame(self)

    def slices_frame(self) -> Any:
        """Returns a ``pandas.DataFrame`` of the slices, whose index is the full name.

        The columns are name, source, pool, accelerator, topology, chips_per_host, hosts, missing, intact, free and
        problem.

        Raises:
            ImportError: pandas is not installed.
        """
        return _frames.slices_frame(self)

    def groups_frame(self) -> Any:
        """Returns a ``pandas.DataFrame`` of the groups, whose index is the handle NAME@ID.

        The columns are name, id, state, owner, priority, request, slices, workers, created, begins, until,
        expected_end, ended and source. Times are timestamps in UTC.

        Raises:
            ImportError: pandas is not installed.
        """
        return _frames.groups_frame(self)

    @property
    def seq(self) -> int:
        """The sequence number of the last journal entry that the snapshot contains; 0: no entry."""
        return int(lib.quoit_snapshot_get_seq(self._handle))

    @property
    def epoch(self) -> int:
        """How often the ledger was restored from a backup."""
        return int(lib.quoit_snapshot_get_epoch(self._handle))

    @property
    def layout_number(self) -> int:
        """A number that identifies the layout within this process.

        Snapshots with the same number have the same pools, slices and nodes at the same indices.
        """
        return int(lib.quoit_snapshot_get_layout_number(self._handle))

    @property
    def clock_ms(self) -> int | None:
        """The ledger's clock: the time of the last entry in milliseconds since 1970 UTC; None without entries."""
        return lib.quoit_snapshot_get_clock_ms(self._handle) or None

    @property
    def keep_ms(self) -> int | None:
        """How long the ledger keeps journal entries and records (`Ledger.set_keep`); None: for ever; 0: the default."""
        keep_ms = int(lib.quoit_snapshot_get_keep_ms(self._handle))
        return None if keep_ms == _c.INT64.stop - 1 else keep_ms

    @property
    def link(self) -> str | None:
        """A hash over the last entry and all entries before it, as 64 hexadecimal digits.

        None for a state that is in no journal: that of a fork or a batch with changes, of `as_of` with changes, or of a
        ledger of `open_memory`.
        """
        return _c.take_text(lib.quoit_snapshot_dup_link(self._handle)) or None

    def to_bytes(self) -> bytes:
        """Returns the whole state as bytes, for `from_bytes` in any process. The same state gives the same bytes."""
        length = ffi.new("size_t *")
        return _c.take_bytes(lib.quoit_snapshot_dup_bytes(self._handle, length), length[0])

    @staticmethod
    def from_bytes(data: bytes) -> Snapshot:
        """Returns the snapshot of `to_bytes`. The bytes may come from a place that cannot be trusted.

        Raises:
            InvalidError: `data` is no snapshot.
            VersionError: a newer quoit wrote it.
            DamagedError: it was changed or cut off, or contradicts itself.
            TypeError: `data` is not bytes.
        """
        given = _c.to_bytes(data, "data")
        return wrap_snapshot(call(lib.quoit_snapshot_from_bytes, given, len(given)))

    def as_of(self, now_ms: int | None = None) -> Snapshot:
        """Returns the fleet as it would be at that time.

        Slices and nodes of leases that have ended by then are free, and reservations ahead whose time has come have
        begun. Changes such as `Ledger.reserve` do this automatically; this method is for readers. Nothing is written.

        Args:
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Raises:
            InvalidError: the clock is outside the years 2000 to 2199.
        """
        return wrap_snapshot(call(lib.quoit_snapshot_as_of, self._handle, _c.clock(now_ms)))

    def explain(self, request: Request) -> Report:
        """Reports whether the request fits now, and if not, why. `Ledger.reserve` would make the same decision.

        *Now* is the time of the snapshot (`as_of`). Slices that are promised to a reservation ahead, or belong to a
        window of the calendar, fit only a request whose lease ends before. A request without a lease counts forever.

        A request that does not fit raises nothing: see `Report.verdict`. `test` finds only the verdict, and is faster.

        Raises:
            InvalidError: the request is incomplete or contradictory, or its slices are not in the catalogue.
            NotFoundError: the request names an unknown pool, slice or node.
        """
        return take_report(call(lib.quoit_snapshot_explain, self._handle, request_handle(request)))

    def test(self, request: Request) -> tuple[Verdict, int]:
        """Decides like `Ledger.reserve`, without a report. A request that does not fit raises nothing.

        If the request has no pool, zone, selector or slice name, the cost does not depend on the size of the fleet.

        Returns:
            The verdict, and the number of free slices that the request accepts.

        Raises:
            InvalidError: the request has bundles or is incomplete, or its slices are not in the catalogue.
            NotFoundError: the request names an unknown pool or slice.
        """
        verdict, n_free = _c.ffi.new("QuoitVerdict *"), _c.ffi.new("uint32_t *")
        call(lib.quoit_snapshot_test, self._handle, request_handle(request), verdict, n_free)
        return Verdict(verdict[0]), int(n_free[0])

    def find_start(self, request: Request, *, now_ms: int | None = None) -> Start:
        """Finds the earliest time from which on the request fits.

        Each group is assumed to end at its expected end, or at the end of its lease if it has no expected end. An
        expected end that has passed counts as the next millisecond. A group with neither is assumed to stay. It is also
        assumed that nothing else is requested until that time, and that nodes stay as they are.

        Reservations ahead and windows count: from the start on, the slices are free for the whole lease of the request,
        or forever without a lease. The request can also wait for reservations ahead to end; windows are not listed.

        Raises:
            NeverError: the request is for slices, and would not fit if all groups ended.
            InvalidError: the request is incomplete or contradictory, or its slices are not in the catalogue.
            NotFoundError: the request names an unknown pool, slice or node.
        """
        return take_start(call(lib.quoit_snapshot_find_start, self._handle, request_handle(request), _c.clock(now_ms)))

    def test_growth(self, group: str | Group) -> Growth:
        """Finds how much a group of slices could grow now with `Ledger.resize_between`. It changes nothing.

        Raises:
            InvalidError: the group does not have whole slices.
            NotFoundError, ExpiredError: like `Ledger.resize`.
            ConflictError: like `Ledger.resize`; also if the group has not begun.
        """
        n_now, n_most = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        call(lib.quoit_snapshot_test_growth, self._handle, to_group_name(group), n_now, n_most)
        return Growth(int(n_now[0]), int(n_most[0]))

    def find_growth(self, group: str | Group, slices: int, *, now_ms: int | None = None) -> Start:
        """Finds the earliest time from which on a group could have that number of slices.

        The answer assumes what `find_start` assumes, and that the group itself does not end before.

        Raises:
            NeverError: the group could not have so many slices if all other groups ended.
            InvalidError: the number is below 1 or outside the range of the request, or the group does not have whole
                slices.
            NotFoundError, ConflictError, ExpiredError: like `test_growth`.
        """
        arguments = to_group_name(group), _c.to_int(slices, "slices"), _c.clock(now_ms)
        return take_start(call(lib.quoit_snapshot_find_growth, self._handle, *arguments))

    def count_slots(
        self,
        accelerator: str,
        topology: str | None = None,
        *,
        cut: Cut = Cut.ANY,
        until_ms: int | None = None,
        steps: int = 0,
    ) -> tuple[Slots, ...]:
        """Counts how many parts of a shape the slices can hold at once, now and under assumptions.

        Args:
            accelerator: the TPU generation, as for `Request`.
            topology: the shape of a part; None: each shape that the catalogue lists and the fleet has a slice for.
            cut: how parts may be cut.
            until_ms: the later time of `SlotsIf.GROUPS_ENDED`; None: now.
            steps: limits the work for each different set of free hosts of a slice; 0: the default. If the limit ends
                the search, `Slots.least` and `Slots.most` differ.

        Returns:
            For each shape one element per assumption, in the order of `SlotsIf`.

        Raises:
            InvalidError: the generation is unknown, or it cannot have the topology.
            NotFoundError: no slice of the fleet is large enough.
        """
        return _take_slots(
            call(
                lib.quoit_snapshot_count_slots,
                self._handle,
                _c.to_text(accelerator, "accelerator"),
                _c.to_text_or_null(topology, "topology"),
                _c.to_member(Cut, cut, "cut"),
                _c.clock(until_ms),
                _c.to_int(steps, "steps", _c.UINT64),
            )
        )

    def count_joined_slots(
        self,
        accelerator: str,
        topology: str | None = None,
        *,
        cubes: Cubes = Cubes.ANY,
        until_ms: int | None = None,
    ) -> tuple[Slots, ...]:
        """Counts how many slices can be joined from the free cubes of the blocks, now and under assumptions.

        Args:
            accelerator: the TPU generation, as for `Request`.
            topology: the topology of a joined slice; None: each one that the catalogue lists and a block is large
                enough for.
            cubes: which cubes may be joined.
            until_ms: the later time of `SlotsIf.GROUPS_ENDED`; None: now.

        Returns:
            For each topology one element per assumption, in the order of `SlotsIf`.

        Raises:
            InvalidError: the generation is unknown, has no cubes or cannot have the topology, or `cubes` is
                `Cubes.NONE`.
            NotFoundError: no block of the fleet is large enough.
        """
        return _take_slots(
            call(
                lib.quoit_snapshot_count_joined_slots,
                self._handle,
                _c.to_text(accelerator, "accelerator"),
                _c.to_text_or_null(topology, "topology"),
                _c.to_member(Cubes, cubes, "cubes"),
                _c.clock(until_ms),
            )
        )

    def plan_defragmentation(self, *, steps: int = 0) -> Defragmentation:
        """Plans which bundles to move so that the most chips get into free slices, with the fewest moves.

        It changes nothing. To make the moves, drain the hosts of `Defragmentation.slices` (`Ledger.drain_nodes`), repair
        the groups in their order (`Ledger.repair`), and undrain the hosts. If nothing else has changed, that makes
        exactly these moves.

        Args:
            steps: limits the work: one step is one repair of a group on a fork; 0: the default.
        """
        return plan_defragmentation(self._handle, steps)

    def plan_joined_defragmentation(
        self, accelerator: str, topology: str, *, cubes: Cubes = Cubes.ANY, steps: int = 0
    ) -> Defragmentation:
        """Plans which cubes of groups to move to other blocks so that the most slices can be joined from free cubes.

        It changes nothing. The plan is carried out like that of `plan_defragmentation`. Its moves are those of cubes:
        `BundleMove.bundle` is the slice id, and the names are those of cubes.

        Args:
            accelerator: the TPU generation, as for `Request`.
            topology: the topology of the slices to make room for.
            cubes: which cubes may be joined.
            steps: limits the work: one step is one repair of a group on a fork; 0: the default.

        Raises:
            InvalidError: the generation is unknown, has no cubes or cannot have the topology, or `cubes` is
                `Cubes.NONE`.
            NotFoundError: no block of the fleet is large enough.
        """
        member = _c.to_member(Cubes, cubes, "cubes")
        return plan_joined_defragmentation(self._handle, accelerator, topology, member, steps)

    def measure_fragmentation(self, *, steps: int = 0) -> tuple[Fragmentation, ...]:
        """Measures how much of the free hosts of each class is no use for parts of slices.

        The fragmentation is 0 if parts of each shape can use all free hosts, and 1 if no part fits. Hosts of partly used
        slices count too. Past states have theirs: use `Ledger.snapshot_at`.

        Args:
            steps: limits the work for each shape and each different set of free hosts of a slice; 0: the default.

        Returns:
            One element for each class, in the order of `classes`.
        """
        return measure_fragmentation(self._handle, steps)

    def measure_joined_fragmentation(self, cubes: Cubes = Cubes.ANY) -> tuple[Fragmentation, ...]:
        """Measures how much of the free cubes in blocks is no use for joined slices.

        Args:
            cubes: which cubes may be joined.

        Returns:
            One element for each class, in the order of `classes`. Classes of other slices have no parts.

        Raises:
            InvalidError: `cubes` is `Cubes.NONE`.
        """
        member = _c.to_member(Cubes, cubes, "cubes")
        if member == Cubes.NONE:
            raise errors.InvalidError("cubes 'NONE': expected ANY, ANY_TWISTED or ADJACENT")
        return measure_joined_fragmentation(self._handle, member)

    def plan_purchase(
        self,
        queue: str | Iterable[Request],
        prices: str | Iterable[Price | CubePrice | BlockPrice] | None = None,
        *,
        start: PurchaseStart = PurchaseStart.FREE,
        steps: int = 0,
    ) -> Purchase:
        """Finds the cheapest slices to buy so that all requests of a queue can be granted at the same time.

        A request with alternatives can be granted by any of them. Each slice that joins cubes gets all of them in one
        block. Requests keep their slices forever. Nothing is reserved.

        Args:
            queue: requests for slices without pools, zones, names and labels; or text with one request on each line,
                such as "v6e 4x4 x 2". Of an elastic request, the least number of slices counts.
            prices: what slices, cubes of blocks and new blocks cost; or text with one price on each line, such as
                "v6e 4x4 10.75/hour limit=8". None: each slice costs as many units as it has chips, so that the answer
                is the smallest shortfall.
            start: what is there before.
            steps: limits the work; 0: the default. If the limit ends the search, the state is `PurchaseState.FOUND`
                or `PurchaseState.UNKNOWN`.

        Raises:
            InvalidError: a request or a price is not valid; for text, the message has the number of the line. Or
                several sources have a block of the name in a price, or a block has two prices.
            NotFoundError: the fleet has no block of the name in a price.
        """
        return plan_purchase(self._handle, queue, prices, start, steps)

    def find_preemption(self, request: Request, *, now_ms: int | None = None) -> Preemption:
        """Finds the cheapest set of groups whose release makes the request fit now. It changes nothing.

        Only groups with a lower priority than the request are released, and only those that callers of this ledger have
        made. Reservations ahead that begin before the request certainly ends can be released too; windows cannot. Sets
        of groups are compared by the greatest priority of a released group, then by the chips of all released groups,
        and then by the chip seconds that these groups have run.

        For slices the result is the cheapest set, except with more than 16 million pairs of a group and a needed slice
        (the chips are then at most twice the least possible number), or if more than 12 groups are connected by slices
        that they share. For bundles, if a quota does not admit the request then, or if reservations ahead are in the
        way, all sets are tried if at most 10 groups have a lower priority. Otherwise groups are released by priority
        and cost until the request fits, and those that need not be released stay.

        Raises:
            NotNowError: the request does not fit even if all groups of a lower priority are released.
            NeverError: the request is for slices, and would not fit if all groups ended.
            InvalidError: the request is incomplete, contradictory or not in the catalogue.
            NotFoundError: it names an unknown pool, slice or node.
        """
        preemption = _c.own_handle(
            call(lib.quoit_snapshot_find_preemption, self._handle, request_handle(request), _c.clock(now_ms)),
            lib.quoit_preemption_free,
        )
        groups = tuple(
            wrap_group(lib.quoit_preemption_dup_group(preemption, at))
            for at in range(lib.quoit_preemption_get_n_groups(preemption))
        )
        alternative = int(lib.quoit_preemption_get_alternative(preemption))
        return Preemption(groups, bool(lib.quoit_preemption_is_cheapest(preemption)), alternative)

    def explain_group(self, group: str | Group) -> Report:
        """Reports whether a group can have now what it has lost, or what was never placed.

        The report on a group of slices states whether repair() would succeed, and counts the slices that the group
        keeps as well. The report on a group of bundles is about those that have no node.

        If Ray placed the group, the ledger does not know its label selectors. The ledger knows its strategy only if the
        imported list has it.

        Raises:
            NotFoundError: there is no such group.
            ConflictError: the group has all of its slices or bundles, or has not begun.
        """
        return take_report(call(lib.quoit_snapshot_explain_group, self._handle, to_group_name(group)))

    def hold_and_wait(self, group: str | Group) -> str | None:
        """Describes a deadlock of Ray's callers, if the group waits in one; else returns None.

        Ray's callers reserve the heads of their slices one after the other, so two of them can each have a head and
        wait for another one. The sentence names the group, the resource for which it waits, and the groups that have
        nothing but a head of that type.

        Raises:
            NotFoundError: there is no such group.
        """
        text = call(lib.quoit_snapshot_dup_hold_and_wait, self._handle, to_group_name(group))
        return _c.take_text(text) or None

    def to_json(self) -> str:
        """Returns the whole state as a document with "schema": "quoit/1". Equal states give equal text."""
        return _c.take_text(lib.quoit_snapshot_dup_json(self._handle))

    def to_fleet_text(self) -> str:
        """Returns the slices and groups as fleet text.

        `Ledger.import_fleet_text` of it, into an empty ledger, makes slices of the same classes, with the same numbers
        of free, draining and degraded ones, and the groups of whole, intact slices. Nodes outside of slices,
        reservations ahead, windows and quotas are left out.

        Raises:
            NotFoundError: there is no slice to write.
        """
        return _c.take_text(call(lib.quoit_snapshot_dup_fleet_text, self._handle))

    def to_graph(self, form: GraphForm = GraphForm.DOT) -> str:
        """Returns the fleet as a graph. Equal states give equal text.

        The vertices are the fleet, sources, pools, slices, nodes, chips and groups. The edges are containment, links
        (``ici``, ``dcn``), and the use of nodes by groups (``holds``).

        Args:
            form: the format.

        Raises:
            InvalidError: there is no such format.
        """
        return _c.take_text(call(lib.quoit_snapshot_dup_graph, self._handle, _c.to_member(GraphForm, form, "form")))

    def check(self) -> None:
        """Recomputes all summaries, indexes and allocations, and compares them with the stored values. For tests.

        Raises:
            FailedError: a bug of quoit; the message names the contradiction.
        """
        call(lib.quoit_snapshot_check, self._handle)

    def fork(self) -> Fork:
        """Returns a private mutable copy for what-if questions and plans. The copy shares unchanged data."""
        from .forks import wrap_fork

        return wrap_fork(lib.quoit_snapshot_fork(self._handle))

    # --- contents ---

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources of the nodes."""
        return tuple(read_source(self._handle, at) for at in range(lib.quoit_snapshot_get_n_sources(self._handle)))

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools of all sources."""
        return tuple(read_pool(self._handle, at) for at in range(lib.quoit_snapshot_get_n_pools(self._handle)))

    @property
    def classes(self) -> tuple[SliceClass, ...]:
        """The classes of slices, with counts. The cost does not depend on the size of the fleet."""
        return tuple(read_class(self._handle, at) for at in range(lib.quoit_snapshot_get_n_classes(self._handle)))

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Sums over all nodes, sorted by name, without the resources that are slice names."""
        return tuple(read_resource(self._handle, at) for at in range(lib.quoit_snapshot_get_n_resources(self._handle)))

    @property
    def owners(self) -> tuple[Owner, ...]:
        """The registered owners, in the order of their registration."""
        return tuple(read_owner(self._handle, at) for at in range(lib.quoit_snapshot_get_n_owners(self._handle)))

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of the calendar that have not ended, in the order of their beginnings."""
        return tuple(read_window(self._handle, at) for at in range(lib.quoit_snapshot_get_n_windows(self._handle)))

    @property
    def quotas(self) -> tuple[Quota, ...]:
        """The quotas, in natural order of their names."""
        return tuple(read_quota(self._handle, at) for at in range(lib.quoit_snapshot_get_n_quotas(self._handle)))

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
        """The groups with a record, by id: all live groups, and removed groups whose record is kept."""
        handle = self._handle
        numbers = range(lib.quoit_snapshot_get_n_groups(handle))
        return Rows(lambda index: wrap_group(lib.quoit_snapshot_dup_group(handle, index)), numbers)

    def lookup_slice(self, name: str) -> Slice:
        """Returns the slice with that short or full name.

        Raises:
            NotFoundError: there is no such slice.
            InvalidError: the short name is ambiguous; the message has full names.
        """
        return Slice(self._handle, self._lookup(lib.quoit_snapshot_lookup_slice, name))

    def lookup_node(self, name: str) -> Node:
        """Returns the node with that short or full name.

        Raises:
            NotFoundError: there is no such node.
            InvalidError: the short name is ambiguous; the message has full names.
        """
        return Node(self._handle, self._lookup(lib.quoit_snapshot_lookup_node, name))

    def _lookup(self, lookup: Any, name: str) -> int:
        number = ffi.new("uint32_t *")
        call(lookup, self._handle, _c.to_text(name, "name"), number)
        return int(number[0])

    def lookup_group(self, name: str | Group) -> Group:
        """Returns the live group with that name (NAME, NAME@ID, or a `Group`, which means its NAME@ID).

        Raises:
            NotFoundError: no live group has the name.
            ConflictError: the live group of that name has another id.
            InvalidError: the text is neither NAME nor NAME@ID.
        """
        return wrap_group(call(lib.quoit_snapshot_lookup_group, self._handle, to_group_name(name)))

    def group_by_id(self, id: int) -> Group:
        """Returns the group with that id, also after its end while its record is kept.

        Raises:
            NotFoundError: no live or recorded group has the id.
        """
        return wrap_group(call(lib.quoit_snapshot_lookup_group_by_id, self._handle, _c.to_int(id, "id", _c.UINT64)))

    def group_by_key(self, key: str) -> Group:
        """Returns the group of a request key, also after its end until `Ledger.forget`.

        Raises:
            NotFoundError: no live or recorded group has the key.
        """
        return wrap_group(call(lib.quoit_snapshot_lookup_group_by_key, self._handle, _c.to_text(key, "key")))

    def groups_of_owner(self, owner: str) -> tuple[Group, ...]:
        """Returns the live groups of an owner, by id. The owner need not be registered."""
        text = _c.to_text(owner, "owner")
        numbers = range(lib.quoit_snapshot_count_owner_groups(self._handle, text))
        return tuple(wrap_group(lib.quoit_snapshot_dup_owner_group(self._handle, text, number)) for number in numbers)

    def node_by_id(self, node_id: int) -> Node | None:
        """Returns the node with that durable id; None if this snapshot has no such node."""
        index = int(lib.quoit_snapshot_find_node(self._handle, _c.to_int(node_id, "node_id", range(2**32))))
        return None if index < 0 else Node(self._handle, index)


def wrap_snapshot(pointer: Any) -> Snapshot:
    """Returns a snapshot that frees the handle."""
    return Snapshot(_c.own_handle(pointer, lib.quoit_snapshot_unref))
