# SPDX-License-Identifier: Apache-2.0
"""Ray's placement groups of a group of the ledger: creation, wait for placement, records and removal."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import errors
from ..groups import Group
from . import cluster, owners
from .ledgers import RayLedger
from .records import CreatedGroups, DeferredRecord, slice_group_name
from .shapes import NodeGoneError, Shape, SlicePins, pin_bundles

_log = logging.getLogger("quoit.ray")

PLACE_S = 10.0
"""How long Ray can take to place groups on free hosts."""

REMOVE_S = 10.0
"""How long to wait until Ray frees the chips of removed groups. After that, the ledger frees the slices anyway."""

_BLOCKED_S = 1.0
"""The shortest wait for Ray's placement while another group blocks Ray's scheduler."""


@dataclasses.dataclass(frozen=True)
class SliceGroupRequest:
    """The arguments of one call of `slice_placement_group` after their checks, with the owner and the driver."""

    ledger: RayLedger
    shape: Shape
    name: str
    """The name of Ray's groups; "": the name of the ledger's group."""
    key: str | None
    owner: str
    lease_s: float
    driver: cluster.Driver
    """The driver that makes the request."""

    @property
    def is_detached(self) -> bool:
        """Whether the groups outlive the driver, so that this process does not renew their lease."""
        return bool(self.shape.arguments["lifetime"] == "detached")

    @property
    def is_findable(self) -> bool:
        """Whether other processes can search for the groups, by key or name."""
        return self.key is not None or bool(self.name) or self.is_detached


@dataclasses.dataclass
class Reservation:
    """A group of the ledger with its placement groups in Ray."""

    group: Group
    selectors: list[dict[str, str]]
    """The label selector of each bundle, slice by slice."""
    ray_groups: list[Any]
    """Ray's placement groups: one for all slices, or one for each slice in the order of the group's slices.

    Empty while the placement groups are replaced.
    """
    record: DeferredRecord | None = None
    """The group's record, if it is written only after the caller has its result; else None."""

    @functools.cached_property
    def handle(self) -> str:
        """The group's NAME@ID, which never changes."""
        return self.group.handle


class NotPlacedError(Exception):
    """Ray has not placed the groups. ``excluded`` is a slice that is too small: the next attempt must exclude it."""

    def __init__(self, why: str, excluded: str | None = None) -> None:
        super().__init__(why)
        self.excluded = excluded


def compute_pins(group_request: SliceGroupRequest, group: Group, listing: cluster.Listing) -> list[SlicePins]:
    """Returns the bundles of each slice, pinned to hosts. Raises `NotPlacedError` if Ray has lost a host."""
    try:
        return pin_bundles(group_request.shape, group, group_request.ledger.quoit, listing)
    except NodeGoneError as error:
        raise NotPlacedError(f"node '{error}' is gone from Ray") from None


def name_ray_groups(
    group_request: SliceGroupRequest, group: Group, pins: Sequence[SlicePins]
) -> Iterator[tuple[str, list[SlicePins]]]:
    """Yields the name of each placement group to create, with its slices."""
    base = group_request.name or group.name
    if not group_request.shape.arguments["pg_per_slice"]:
        yield base, list(pins)
        return
    for index, one in enumerate(pins):
        yield slice_group_name(base, index), [one]


def create_ray_group(created: CreatedGroups, shape: Shape, name: str, pins: Sequence[SlicePins]) -> Any:
    """Creates a placement group with the bundles of the slices."""
    bundles = [bundle for one in pins for bundle in one.bundles]
    selectors = [selector for one in pins for selector in one.selectors]
    return created.create_group(bundles, selectors, shape.arguments["strategy"], name, shape.arguments["lifetime"])


def write_record(group_request: SliceGroupRequest, reservation: Reservation) -> None:
    """Writes the record of Ray's groups, for `sync` and `attach`."""
    cluster.write_record(owners.record_key(reservation.group), _format_reservation(group_request, reservation))


def defer_record(group_request: SliceGroupRequest, reservation: Reservation) -> DeferredRecord:
    """Like `write_record`, but the record is written after the caller has its result: see `DeferredRecord`."""
    return DeferredRecord(lambda: write_record(group_request, reservation), group_request.driver)


def _format_reservation(group_request: SliceGroupRequest, reservation: Reservation) -> str:
    ids = [cluster.group_id(one) for one in reservation.ray_groups]
    return _record(group_request, {"groups": ids, "job": group_request.driver.job, "selectors": reservation.selectors})


def write_planned_record(
    group_request: SliceGroupRequest, group: Group, created: CreatedGroups, replaced_groups: Sequence[Any] = ()
) -> None:
    """Writes a record of the groups that will be created in place of `replaced_groups`.

    If the driver is killed before they are complete, `sync` finds the record and removes the groups.
    """
    planned = {**created.planned_record(replaced_groups), "selectors": []}
    cluster.write_record(owners.record_key(group), _record(group_request, planned))


def _record(group_request: SliceGroupRequest, record: Mapping[str, Any]) -> str:
    actor = "" if group_request.is_detached else cluster.current_actor()
    return json.dumps(
        {**record, "actor": actor, "name": group_request.name, "arguments": group_request.shape.arguments}
    )


def wait_placed(ledger: RayLedger, pins: Sequence[SlicePins], ray_groups: Sequence[Any], end: float) -> None:
    """Waits until Ray has placed all groups. Raises `NotPlacedError` with the reason if Ray cannot place them.

    If a group of another program blocks Ray's scheduler, the function waits until `end` for the end of the blocking.
    """
    began = time.monotonic()
    while not _are_placed(ray_groups):
        listing = ledger.listing(0.0)
        obstacle = _obstacle(pins, ray_groups, listing)
        if obstacle is not None:
            raise NotPlacedError(obstacle)
        blocking = _blocking(listing)
        waited = time.monotonic() - began
        if waited >= PLACE_S or (blocking and waited >= _BLOCKED_S and time.monotonic() >= end):
            raise NotPlacedError(f"Ray has not placed the groups in {waited:.1f} s{blocking}")


def _are_placed(ray_groups: Sequence[Any]) -> bool:
    try:
        return cluster.wait_placed(ray_groups)
    except cluster.RemovedError as error:
        raise NotPlacedError(str(error)) from None


def _obstacle(pins: Sequence[SlicePins], ray_groups: Sequence[Any], listing: cluster.Listing) -> str | None:
    id_suffixes = tuple(cluster.group_id(one) for one in ray_groups)
    for one in pins:
        for node in one.nodes:
            if node["NodeID"] not in listing.by_id:
                return f"host '{node['NodeName']}' of slice '{one.name}' is gone from Ray"
            left = listing.available.get(node["NodeID"], {})
            is_ours = any(name.endswith(id_suffixes) for name in left)
            is_used = left.get("TPU", 0.0) < node["Resources"].get("TPU", 0.0)
            if is_used and not is_ours and not listing.has_leftover_resources():
                return f"host '{node['NodeName']}' of slice '{one.name}' is in use by another program"
    return None


def _blocking(listing: cluster.Listing) -> str:
    """Returns a message about groups that block Ray 2.60; "" if there are none.

    A group that has lost a host blocks Ray: Ray retries it endlessly, and places no other groups. A group whose bundles
    are pinned to the lost host does not block: Ray detects that it is INFEASIBLE, and continues with other groups.
    """
    names = [row["name"] or group for group, row in listing.groups.items() if _is_blocking(row)]
    if not names:
        return ""
    return f": it places nothing while '{', '.join(names)}' is RESCHEDULING: remove that group, or restart its host"


def _is_blocking(row: Mapping[str, Any]) -> bool:
    is_infeasible = bool(row.get("stats", {}).get("scheduling_state") == "INFEASIBLE")
    return bool(row["state"] == "RESCHEDULING") and not is_infeasible


def release_or_log(ledger: RayLedger, group: Group | None, ray_groups: Sequence[Any]) -> None:
    """Like `release`, but only logs a failure. In that case the next sync, or the end of the lease, frees the group."""
    try:
        release(ledger, group, ray_groups)
    except errors.NotFoundError as error:
        _log.warning("%s was not released: %s", _group_title(group), error)


def cancel(group_request: SliceGroupRequest, reservation: Reservation) -> None:
    """Like `release_or_log`, for a reservation that no caller has got."""
    if reservation.record is not None:
        reservation.record.cancel()
    release_or_log(group_request.ledger, reservation.group, reservation.ray_groups)


def release(ledger: RayLedger, group: Group | None, ray_groups: Sequence[Any]) -> None:
    """Removes Ray's groups, and releases the ledger's group when Ray reports the chips as free.

    Raises:
        NotFoundError: the control plane does not answer. The ledger's group stays.
    """
    if ray_groups:
        cluster.check_answers()
        if not cluster.remove_groups(ray_groups, REMOVE_S):
            title = _group_title(group)
            _log.warning("%s is released, but its chips are still in use after %g s", title, REMOVE_S)
    if group is None:
        return
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        ledger.quoit.release(group)
    with contextlib.suppress(errors.NotFoundError):
        cluster.delete_record(owners.record_key(group))


def _group_title(group: Group | None) -> str:
    return "an unfinished reservation" if group is None else group.handle
