# SPDX-License-Identifier: Apache-2.0
"""The verbs of a ledger that make, change and end groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import _c
from ._c import call, ffi, lib
from ._ledger_verbs import LedgerVerbs
from .groups import Group, GroupChange, take_change, to_group_name, to_group_names, wrap_group
from .requests import Request, request_handle


class GroupVerbs(LedgerVerbs):
    """Requests, leases, facts, releases and changes of groups."""

    __slots__ = ()

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
