# SPDX-License-Identifier: Apache-2.0
"""Replaces the lost slices of a group, and changes its number of slices."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from .. import errors
from ..forks import Fork
from ..groups import Group, GroupSliceState
from ..ledger import Ledger
from ..reports import Report
from . import cluster
from .placing import (
    REMOVE_S,
    NotPlacedError,
    Reservation,
    SliceGroupRequest,
    compute_pins,
    create_ray_group,
    name_ray_groups,
    release_or_log,
    wait_placed,
    write_planned_record,
    write_record,
)
from .records import CreatedGroups
from .refusals import SlicesNotFreeError, describe
from .shapes import list_foreign_slices
from .uninterrupted import run_uninterrupted

_PAUSE_S = 0.1


def repair(
    group_request: SliceGroupRequest, reservation: Reservation, timeout_s: float, n_slices: int | None = None
) -> Reservation:
    """Replaces the lost and leaving slices in the ledger, and creates placement groups in Ray for the new slices.

    If an exception or an interrupt comes after the change in the ledger, the whole reservation is released.

    Args:
        group_request: the request. If `n_slices` is given, its shape has that number of slices.
        reservation: the reservation.
        timeout_s: how long to wait for free slices.
        n_slices: the new number of slices; None: the present number.

    Raises:
        NotNowError, NeverError: there is no other slice, and nothing has changed.
    """
    end = time.monotonic() + timeout_s
    created, group = CreatedGroups(), None
    try:
        group = _repair_in_ledger(group_request, reservation, end, n_slices)
        kept = _list_kept_groups(group_request, reservation, group)
        if len(kept) == len(group.slices) == len(reservation.group.slices) and reservation.ray_groups:
            return Reservation(group, reservation.selectors, reservation.ray_groups)
        return _replace_groups(group_request, reservation, group, kept, created, end)
    except BaseException as error:
        after = group or _find_repaired_group(group_request, reservation)
        if after is not None:
            run_uninterrupted(
                lambda: release_or_log(group_request.ledger, after, [*reservation.ray_groups, *created.find_all()])
            )
        if isinstance(error, NotPlacedError):
            raise SlicesNotFreeError(
                f"{reservation.group.handle} was repaired, but Ray cannot place it, so it is released: {error}"
            ) from None
        raise


def _replace_groups(
    group_request: SliceGroupRequest,
    reservation: Reservation,
    group: Group,
    kept: Mapping[str, Any],
    created: CreatedGroups,
    end: float,
) -> Reservation:
    """Replaces the placement groups that are not in `kept`. Returns the new reservation."""
    pins = compute_pins(group_request, group, group_request.ledger.listing(0.0))
    names = {row["name"] for row in cluster.rows(list(kept.values()))}
    free_names = [name for name, _ in name_ray_groups(group_request, group, pins) if name not in names]
    gone = [one for one in reservation.ray_groups if one not in kept.values()]
    created.reserve_names(free_names, is_unique=False)
    # The record has no groups until all groups are replaced. While this driver lives, a sync does not release a group
    # with such a record.
    write_planned_record(group_request, group, created, reservation.ray_groups)
    cluster.remove_groups(gone, REMOVE_S)
    result = Reservation(group, [dict(selector) for one in pins for selector in one.selectors], [])
    for slices in [[one] for one in pins] if group_request.shape.arguments["pg_per_slice"] else [pins]:
        ray_group = kept.get(slices[0].name)
        if ray_group is None:
            ray_group = create_ray_group(created, group_request.shape, free_names.pop(0), slices)
        result.ray_groups.append(ray_group)
    write_record(group_request, result)
    wait_placed(group_request.ledger, pins, created.groups, end)
    return result


def _find_repaired_group(group_request: SliceGroupRequest, reservation: Reservation) -> Group | None:
    """Returns the group if the ledger changed its slices before the call was interrupted. Else returns None."""
    group_request.ledger.quoit.refresh()
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        group = group_request.ledger.quoit.group(reservation.group)
        return group if _names(group) != _names(reservation.group) else None
    return None


def explain(group_request: SliceGroupRequest, group: Group) -> Report:
    """Reports whether other slices can replace the lost ones now, and if not, why.

    Raises:
        ConflictError: no slice is lost.
        NotFoundError: the group was released.
    """
    snapshot = group_request.ledger.quoit.snapshot()
    lost = [one for one in snapshot.lookup_group(group).slices if one.state is not GroupSliceState.WHOLE]
    if not lost:
        raise errors.ConflictError(f"{group.handle} has lost no slice: there is nothing to explain")
    excluded = list_foreign_slices(group_request.shape.accelerator, snapshot, group_request.ledger.source)
    return snapshot.explain(group_request.shape.request(group.name, excluded=excluded, slices=len(lost)))


def change_slices(quoit: Ledger | Fork, group: Group, n_slices: int | None = None) -> Group:
    """Replaces the lost and leaving slices of a group, and gives it `n_slices` slices. Returns the group after that.

    Intact slices stay, as far as the number allows it. If a step is refused, earlier steps stay: call this in a batch
    of the ledger, or on a fork.

    Raises:
        NotNowError, NeverError: too few slices are free.
        NotFoundError, ConflictError, ExpiredError: the group has ended.
    """
    after: Group | None = None
    if n_slices is not None:
        # Grows only after the repair, because a group grows only beside the slices that it has.
        after = quoit.resize(group, min(n_slices, len(group.slices))).after
    after = quoit.repair(after or group).after
    assert after is not None
    if n_slices is not None and len(after.slices) < n_slices:
        after = quoit.resize(after, n_slices).after
    assert after is not None
    return after


def _repair_in_ledger(
    group_request: SliceGroupRequest, reservation: Reservation, end: float, n_slices: int | None
) -> Group:
    """Changes the group in the ledger and returns it. Retries until `end` if too few slices are free."""
    while True:
        group_request.ledger.listing(0.0)
        try:
            with group_request.ledger.quoit.batch():
                present = group_request.ledger.quoit.group(reservation.group)
                after = change_slices(group_request.ledger.quoit, present, n_slices)
                _check_source(group_request, after)
            return after
        except errors.RefusedError as error:
            if isinstance(error, errors.NeverError) or time.monotonic() >= end:
                kind = SlicesNotFreeError if isinstance(error, errors.NotNowError) else errors.NeverError
                refused = kind(f"{reservation.group.handle}: {describe(error)}")
                refused._report = error.report
                if refused.report is None:  # _check_source() refused
                    with contextlib.suppress(errors.Error):
                        refused._report = explain(group_request, reservation.group)
                raise refused from None
        time.sleep(max(0.0, min(_PAUSE_S, end - time.monotonic())))


def _check_source(group_request: SliceGroupRequest, group: Group) -> None:
    """Raises if a slice belongs to another source.

    The request excludes the slices of other sources, but only of sources that existed when the request was made.
    """
    snapshot, source = group_request.ledger.quoit.snapshot(), group_request.ledger.source
    others = [one.name for one in group.slices if snapshot.lookup_slice(one.name).pool.source != source]
    if others:
        raise errors.NotNowError(f"slice '{others[0]}' is free, but does not belong to source '{source}'")


def _list_kept_groups(group_request: SliceGroupRequest, reservation: Reservation, group: Group) -> dict[str, Any]:
    """Returns the placement groups that need no replacement, by slice name."""
    are_placed = [row["state"] == "CREATED" for row in cluster.rows(reservation.ray_groups)]
    before, after = _names(reservation.group), _names(group)
    if group_request.shape.arguments["pg_per_slice"]:
        rows = zip(before, reservation.ray_groups, are_placed)
        return {name: one for name, one, is_placed in rows if is_placed and name in after}
    is_unchanged = before == after and bool(are_placed) and all(are_placed)
    return dict.fromkeys(after, reservation.ray_groups[0]) if is_unchanged else {}


def _names(group: Group) -> list[str]:
    return [one.name for one in group.slices]
