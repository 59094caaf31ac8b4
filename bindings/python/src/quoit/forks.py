# SPDX-License-Identifier: Apache-2.0
"""Forks: private copies of a fleet for what-if questions and plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _c, errors
from ._c import call, lib
from ._locks import ThreadLock
from .fleet import NodeState, WindowScope
from .groups import Group, GroupChange, take_change, to_group_name, to_group_names, wrap_group
from .imports import Import, Input, open_input, open_update, take_import
from .plans import Backfill, Queued, take_queue_plan
from .requests import Request, request_handle
from .snapshots import Snapshot, wrap_snapshot

if TYPE_CHECKING:
    from .nodes import NodeFacts


class Fork(_c.Uncopyable):
    """A private, mutable copy of a snapshot, from `Snapshot.fork`.

    Changes of a fork follow the same rules as changes of a ledger. Only `Ledger.commit_fork` writes them. The methods
    take the arguments of the methods of `Ledger` with the same name, and raise the same exceptions, except those of a
    database. As a context manager, a fork closes itself. Calls from several threads wait for each other. In a child of
    fork(2), calls raise `FailedError`: make another fork from a snapshot there.
    """

    __slots__ = ("__weakref__", "_handle", "_lock")

    _pickle_advice = "make another fork from a snapshot, also in another process"

    def __init__(self, handle: Any) -> None:
        self._handle = _c.check_handle(handle, Fork, "Snapshot.fork")
        self._lock = ThreadLock("fork")

    def __enter__(self) -> Fork:
        with self._lock.acquire():
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
        with self._lock.acquire():
            return call(function, self._open(), *arguments)

    def _call_with(self, function: Callable[..., Any], ledger: Any, *arguments: Any) -> Any:
        """Like `_call`, for a function of a ledger that has the fork as its second argument."""
        with self._lock.acquire():
            return call(function, ledger, self._open(), *arguments)

    def _place(self, function: Callable[..., Any], *arguments: Any) -> Any:
        with self._lock.acquire():
            return _c.call_or_explain(function, self._open(), *arguments)

    def close(self) -> None:
        """Closes the fork, after the calls of other threads. Closing it again does nothing."""
        self._handle = None

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._handle is None

    def mark(self) -> int:
        """Marks the present state of the fork. `roll_back` with the returned mark restores the state."""
        with self._lock.acquire():
            return int(lib.quoit_fork_mark(self._open()))

    def roll_back(self, mark: int) -> None:
        """Undoes all changes since the mark, and makes later marks invalid.

        Raises:
            InvalidError: the fork has no such mark.
        """
        self._call(lib.quoit_fork_roll_back, _c.to_int(mark, "mark", range(2**32)))

    def snapshot(self) -> Snapshot:
        """Returns the present state of the fork."""
        with self._lock.acquire():
            return wrap_snapshot(lib.quoit_fork_snapshot(self._open()))

    def reserve(self, request: Request, *, now_ms: int | None = None) -> Group:
        """Like `Ledger.reserve`, on the fork only.

        Raises:
            NotNowError, NeverError, ConflictError, ExpiredError, InvalidError, NotFoundError: like `Ledger.reserve`.
        """
        return wrap_group(self._place(lib.quoit_fork_reserve, request_handle(request), _c.clock(now_ms)))

    def reserve_all(self, requests: Iterable[Request], *, now_ms: int | None = None) -> tuple[Group, ...]:
        """Like `Ledger.reserve_all`, on the fork only.

        Raises:
            NotNowError, NeverError, ConflictError, ExpiredError, InvalidError, NotFoundError: like `Ledger.reserve_all`.
        """
        kept = list(_c.to_iterable(requests, "requests", "Request"))
        handles = _c.ffi.new("QuoitRequest *[]", [request_handle(request) for request in kept])
        groups = _c.ffi.new("QuoitGroup *[]", len(kept))
        self._place(lib.quoit_fork_reserve_all, handles, len(kept), _c.clock(now_ms), groups)
        return tuple(wrap_group(group) for group in groups)

    def reserve_at(
        self, request: Request, from_ms: int, until_ms: int | None = None, *, now_ms: int | None = None
    ) -> Group:
        """Like `Ledger.reserve_at`, on the fork only.

        Raises:
            NotNowError, NeverError, ConflictError, ExpiredError, InvalidError, NotFoundError: like `Ledger.reserve_at`.
        """
        begin, end = _c.to_int(from_ms, "from_ms"), 0 if until_ms is None else _c.to_int(until_ms, "until_ms")
        return wrap_group(self._place(lib.quoit_fork_reserve_at, request_handle(request), begin, end, _c.clock(now_ms)))

    def hold(self, request: Request, lease_ms: int, *, now_ms: int | None = None) -> Group:
        """Like `Ledger.hold`, on the fork only.

        Raises:
            NotNowError, NeverError, ConflictError, ExpiredError, InvalidError, NotFoundError: like `Ledger.hold`.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return wrap_group(self._place(lib.quoit_fork_hold, request_handle(request), lease, _c.clock(now_ms)))

    def confirm(self, group: str | Group, *, lease_ms: int = 0, now_ms: int | None = None) -> Group:
        """Like `Ledger.confirm`, on the fork only.

        Raises:
            NotFoundError, ConflictError, ExpiredError, InvalidError: like `Ledger.confirm`.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return wrap_group(self._call(lib.quoit_fork_confirm, to_group_name(group), lease, _c.clock(now_ms)))

    def renew(self, group: str | Group, lease_ms: int, *, now_ms: int | None = None) -> Group:
        """Like `Ledger.renew`, on the fork only.

        Raises:
            NotFoundError, ConflictError, ExpiredError, InvalidError: like `Ledger.renew`.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        return wrap_group(self._call(lib.quoit_fork_renew, to_group_name(group), lease, _c.clock(now_ms)))

    def renew_groups(self, groups: Iterable[str | Group], lease_ms: int, *, now_ms: int | None = None) -> None:
        """Like `Ledger.renew_groups`, on the fork only.

        Raises:
            NotFoundError, ConflictError, ExpiredError: like `Ledger.renew`.
        """
        names, lease = to_group_names(groups), _c.to_int(lease_ms, "lease_ms")
        self._call(lib.quoit_fork_renew_groups, names, len(names) - 1, lease, _c.clock(now_ms))

    def set_expected_end(self, group: str | Group, end_ms: int | None, *, now_ms: int | None = None) -> Group:
        """Like `Ledger.set_expected_end`, on the fork only.

        Raises:
            InvalidError, NotFoundError, ConflictError, ExpiredError: like `Ledger.set_expected_end`.
        """
        end = 0 if end_ms is None else _c.to_int(end_ms, "end_ms")
        return wrap_group(self._call(lib.quoit_fork_set_expected_end, to_group_name(group), end, _c.clock(now_ms)))

    def set_priority(self, group: str | Group, priority: int, *, now_ms: int | None = None) -> Group:
        """Like `Ledger.set_priority`, on the fork only.

        Raises:
            NotFoundError, ConflictError, ExpiredError: like `Ledger.set_priority`.
        """
        number = _c.to_int(priority, "priority", _c.INT32)
        return wrap_group(self._call(lib.quoit_fork_set_priority, to_group_name(group), number, _c.clock(now_ms)))

    def set_labels(self, group: str | Group, labels: Mapping[str, str | None], *, now_ms: int | None = None) -> Group:
        """Like `Ledger.set_labels`, on the fork only.

        Raises:
            InvalidError, NotFoundError, ConflictError, ExpiredError: like `Ledger.set_labels`.
        """
        keys, values, n_labels = _c.to_labels(labels, "labels")
        name, now = to_group_name(group), _c.clock(now_ms)
        return wrap_group(self._call(lib.quoit_fork_set_labels, name, keys, values, n_labels, now))

    def release(self, group: str | Group, *, reason: str | None = None, now_ms: int | None = None) -> None:
        """Like `Ledger.release`, on the fork only.

        Raises:
            InvalidError, NotFoundError, ConflictError, ExpiredError: like `Ledger.release`.
        """
        if reason is None:
            self._call(lib.quoit_fork_release, to_group_name(group), _c.clock(now_ms))
        else:
            arguments = to_group_name(group), _c.to_text(reason, "reason"), _c.clock(now_ms)
            self._call(lib.quoit_fork_release_with_reason, *arguments)

    def resize(self, group: str | Group, slices: int, *, now_ms: int | None = None) -> GroupChange:
        """Like `Ledger.resize`, on the fork only.

        Raises:
            InvalidError, NotNowError, NeverError, NotFoundError, ConflictError, ExpiredError: like `Ledger.resize`.
        """
        number = _c.to_int(slices, "slices")
        return take_change(self._place(lib.quoit_fork_resize, to_group_name(group), number, _c.clock(now_ms)))

    def resize_between(self, group: str | Group, least: int, most: int, *, now_ms: int | None = None) -> GroupChange:
        """Like `Ledger.resize_between`, on the fork only.

        Raises:
            InvalidError, NotNowError, NeverError, NotFoundError, ConflictError, ExpiredError: like
                `Ledger.resize_between`.
        """
        numbers = _c.to_int(least, "least"), _c.to_int(most, "most")
        arguments = to_group_name(group), *numbers, _c.clock(now_ms)
        return take_change(self._place(lib.quoit_fork_resize_between, *arguments))

    def repair(self, group: str | Group, *, now_ms: int | None = None) -> GroupChange:
        """Like `Ledger.repair`, on the fork only.

        Raises:
            NotNowError, NeverError, NotFoundError, ConflictError, ExpiredError: like `Ledger.repair`.
        """
        return take_change(self._place(lib.quoit_fork_repair, to_group_name(group), _c.clock(now_ms)))

    def release_slice(self, group: str | Group, slice: str, *, now_ms: int | None = None) -> GroupChange:
        """Like `Ledger.release_slice`, on the fork only.

        Raises:
            NotFoundError, InvalidError, ConflictError, ExpiredError: like `Ledger.release_slice`.
        """
        name = _c.to_text(slice, "slice")
        return take_change(self._call(lib.quoit_fork_release_slice, to_group_name(group), name, _c.clock(now_ms)))

    def forget(self, group: str | Group, *, now_ms: int | None = None) -> None:
        """Like `Ledger.forget`, on the fork only. A commit does not conflict with others who have forgotten it too.

        Raises:
            NotFoundError, ConflictError, InvalidError: like `Ledger.forget`.
        """
        self._call(lib.quoit_fork_forget, to_group_name(group), _c.clock(now_ms))

    def forget_key(self, key: str, *, now_ms: int | None = None) -> None:
        """Like `Ledger.forget_key`, on the fork only.

        A commit forgets the group that has the key on the fork, not another one that others have given the key since.

        Raises:
            NotFoundError, ConflictError: like `Ledger.forget`.
        """
        self._call(lib.quoit_fork_forget_key, _c.to_text(key, "key"), _c.clock(now_ms))

    def forget_before(self, before_ms: int, *, now_ms: int | None = None) -> int:
        """Like `Ledger.forget_before`, on the fork only. Returns the number of forgotten records.

        A commit forgets the groups that have ended on the fork, not those that have ended in the ledger since.
        """
        n_groups = _c.ffi.new("uint32_t *")
        self._call(lib.quoit_fork_forget_before, _c.clock(before_ms), _c.clock(now_ms), n_groups)
        return int(n_groups[0])

    def set_owner(self, owner: str, *, lease_ms: int = 0, now_ms: int | None = None) -> None:
        """Like `Ledger.set_owner`, on the fork only.

        Raises:
            InvalidError: like `Ledger.set_owner`.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        self._call(lib.quoit_fork_set_owner, _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

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
        """Like `Ledger.set_quota`, on the fork only.

        Raises:
            InvalidError, ConflictError: like `Ledger.set_quota`.
        """
        arguments = _c.to_quota(name, chips, owner, label, accelerator, topology, max_chips, cohort, now_ms)
        self._call(lib.quoit_fork_set_quota, *arguments)

    def remove_quota(self, name: str, *, now_ms: int | None = None) -> None:
        """Like `Ledger.remove_quota`, on the fork only.

        Raises:
            NotFoundError: like `Ledger.remove_quota`.
        """
        self._call(lib.quoit_fork_remove_quota, _c.to_text(name, "name"), _c.clock(now_ms))

    def renew_owner(self, owner: str, lease_ms: int, *, now_ms: int | None = None) -> None:
        """Like `Ledger.renew_owner`, on the fork only.

        Raises:
            NotFoundError, ExpiredError, ConflictError: like `Ledger.renew_owner`.
        """
        lease = _c.to_int(lease_ms, "lease_ms")
        self._call(lib.quoit_fork_renew_owner, _c.to_text(owner, "owner"), lease, _c.clock(now_ms))

    def end_owner(self, owner: str, *, now_ms: int | None = None) -> int:
        """Like `Ledger.end_owner`, on the fork only. Returns the number of freed groups.

        Raises:
            NotFoundError, ExpiredError: like `Ledger.end_owner`.
        """
        n_groups = _c.ffi.new("uint32_t *")
        self._call(lib.quoit_fork_end_owner, _c.to_text(owner, "owner"), _c.clock(now_ms), n_groups)
        return int(n_groups[0])

    def add_window(
        self, name: str, scope: WindowScope, target: str, from_ms: int, until_ms: int, *, now_ms: int | None = None
    ) -> None:
        """Like `Ledger.add_window`, on the fork only.

        Raises:
            ConflictError, InvalidError, NotFoundError: like `Ledger.add_window`.
        """
        number, now = _c.to_member(WindowScope, scope, "scope"), _c.clock(now_ms)
        texts = _c.to_text(name, "name"), number, _c.to_text(target, "target")
        times = _c.to_int(from_ms, "from_ms"), _c.to_int(until_ms, "until_ms")
        self._call(lib.quoit_fork_add_window, *texts, *times, now)

    def remove_window(self, name: str, *, now_ms: int | None = None) -> None:
        """Like `Ledger.remove_window`, on the fork only.

        Raises:
            NotFoundError: like `Ledger.remove_window`.
        """
        self._call(lib.quoit_fork_remove_window, _c.to_text(name, "name"), _c.clock(now_ms))

    def set_node_states(self, nodes: Iterable[str], state: NodeState, *, now_ms: int | None = None) -> None:
        """Like `Ledger.set_node_states`, on the fork only.

        Raises:
            NotFoundError, InvalidError: like `Ledger.set_node_state`.
        """
        names, number = _c.to_texts(nodes, "nodes"), _c.to_member(NodeState, state, "state")
        self._call(lib.quoit_fork_set_node_states, names, len(names) - 1, number, _c.clock(now_ms))

    def drain_nodes(self, nodes: Iterable[str], *, now_ms: int | None = None) -> None:
        """Like `Ledger.drain_nodes`, on the fork only.

        Raises:
            NotFoundError, InvalidError, ConflictError: like `Ledger.drain_node`.
        """
        names = _c.to_texts(nodes, "nodes")
        self._call(lib.quoit_fork_drain_nodes, names, len(names) - 1, _c.clock(now_ms))

    def undrain_nodes(self, nodes: Iterable[str], *, now_ms: int | None = None) -> None:
        """Like `Ledger.undrain_nodes`, on the fork only.

        Raises:
            NotFoundError, InvalidError, ConflictError: like `Ledger.drain_node`.
        """
        names = _c.to_texts(nodes, "nodes")
        self._call(lib.quoit_fork_undrain_nodes, names, len(names) - 1, _c.clock(now_ms))

    def set_node_state(self, node: str, state: NodeState, *, now_ms: int | None = None) -> None:
        """Like `Ledger.set_node_state`, on the fork only.

        Raises:
            NotFoundError, InvalidError: like `Ledger.set_node_state`.
        """
        number = _c.to_member(NodeState, state, "state")
        self._call(lib.quoit_fork_set_node_state, _c.to_text(node, "node"), number, _c.clock(now_ms))

    def plan_queue(
        self, requests: Iterable[Request], *, backfill: Backfill = Backfill.EASY, now_ms: int | None = None
    ) -> tuple[Queued, ...]:
        """Plans a queue of requests in its order, and reserves on the fork the requests that start now.

        The caller commits the fork with `Ledger.commit_fork`, and plans again when a group ends, a request arrives or
        the fleet changes.

        Groups are assumed to end as for `Snapshot.find_start`. A request of the queue is assumed to need its slices
        for its expected run time, or else until its lease ends, and forever if it has neither. If anything lies ahead
        (`Ledger.reserve_at`, `Ledger.add_window`), it needs them until its lease ends, or until its expected end if
        that is later, and forever without a lease. The plan promises slices to a request that has to wait. A later
        request starts now only if, at each time, enough slices are left for the promises to earlier requests (see
        `Backfill`). The slices of a waiting request are chosen when it starts.

        If a request waits for a group without a known end, its start is unknown. Such a request is promised nothing and
        delays no other request, except with `Backfill.NONE`. Bundles that have to wait are promised nodes: those that
        they would get if only groups that have already started ended. No other request of the queue gets these nodes
        before. If an earlier request needs the nodes, the start of the bundles is unknown.

        Args:
            requests: the queue, the first request first.
            backfill: which requests may start although an earlier request has to wait.
            now_ms: milliseconds since 1970 UTC; None: this machine's clock.

        Returns:
            One `Queued` for each request, in the same order. If a single request is not valid, its `Queued` has the
                error.

        Raises:
            InvalidError: the clock is not valid.
        """
        kept = list(_c.to_iterable(requests, "requests", "Request"))
        handles = _c.ffi.new("QuoitRequest *[]", [request_handle(request) for request in kept])
        number = _c.to_member(Backfill, backfill, "backfill")
        plan = self._call(lib.quoit_fork_plan_queue, handles, len(kept), number, _c.clock(now_ms))
        return take_queue_plan(plan)

    def import_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Like `Ledger.import_input`, on the fork only: returns what the input would change.

        Raises:
            InvalidError, ConflictError, NotFoundError: like `Ledger.import_input`.
        """
        return take_import(self._call(lib.quoit_fork_import, open_input(input), _c.clock(now_ms)))

    def sync_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Like `Ledger.sync_input`, on the fork only: returns what the input would change.

        Raises:
            InvalidError, ConflictError, NotFoundError: like `Ledger.sync_input`.
        """
        return take_import(self._call(lib.quoit_fork_sync, open_input(input), _c.clock(now_ms)))

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
        """Like `Ledger.update_nodes`, on the fork only.

        Raises:
            InvalidError, ConflictError, NotFoundError: like `Ledger.update_nodes`.
        """
        update = open_update(nodes, remove, source, join, tpu_per_chip)
        return take_import(self._call(lib.quoit_fork_update_nodes, update, _c.clock(now_ms)))


def wrap_fork(pointer: Any) -> Fork:
    """Returns a fork that frees the handle."""
    return Fork(_c.own_handle(pointer, lib.quoit_fork_free))
