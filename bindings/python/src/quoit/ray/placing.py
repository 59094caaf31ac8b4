# SPDX-License-Identifier: Apache-2.0
"""Ray's groups for a group of the ledger: creation, placement, records and removal."""

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
from .records import Book, LateRecord, slice_name
from .shapes import NodeIsGone, Shape, SlicePins, pin

_log = logging.getLogger("quoit.ray")

PLACE_S = 10.0
"""How long Ray can take to place groups on free hosts."""

REMOVE_S = 10.0
"""How long removed groups can keep their chips before the ledger frees the slices anyway."""

_BLOCKED_S = 1.0


@dataclasses.dataclass(frozen=True)
class Wish:
    """A request of a caller, with its owner."""

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
    def is_known(self) -> bool:
        """Whether other processes can look for the groups by key or name."""
        return self.key is not None or bool(self.name) or self.is_detached


@dataclasses.dataclass
class Made:
    """The result of a request."""

    group: Group
    selectors: list[dict[str, str]]
    """The selector of each bundle in all slices."""
    ray_groups: list[Any]
    """One group for all slices, or one per slice in the order of the group's slices; empty during a replacement."""
    record: LateRecord | None = None
    """The record, if it is written after the caller gets the result."""

    @functools.cached_property
    def handle(self) -> str:
        """The group's NAME@ID, which never changes."""
        return self.group.handle


class NotPlacedError(Exception):
    """Ray has not placed the groups. ``excluded`` is a slice whose hosts are too small for the bundles."""

    def __init__(self, why: str, excluded: str | None = None) -> None:
        super().__init__(why)
        self.excluded = excluded


def pinned(wish: Wish, group: Group, listing: cluster.Listing) -> list[SlicePins]:
    """Returns the pins of the bundles of each slice; raises `NotPlacedError` if a host is gone from Ray."""
    try:
        return pin(wish.shape, group, wish.ledger.quoit, listing)
    except NodeIsGone as error:
        raise NotPlacedError(f"node '{error}' is gone from Ray") from None


def ray_groups_of(wish: Wish, group: Group, pins: Sequence[SlicePins]) -> Iterator[tuple[str, list[SlicePins]]]:
    """Yields the names of Ray's groups with the slices of each."""
    base = wish.name or group.name
    if not wish.shape.arguments["pg_per_slice"]:
        yield base, list(pins)
        return
    for index, one in enumerate(pins):
        yield slice_name(base, index), [one]


def create(book: Book, shape: Shape, name: str, pins: Sequence[SlicePins]) -> Any:
    """Creates a placement group with the bundles of the slices."""
    bundles = [bundle for one in pins for bundle in one.bundles]
    selectors = [selector for one in pins for selector in one.selectors]
    return book.create(bundles, selectors, shape.arguments["strategy"], name, shape.arguments["lifetime"])


def write_record(wish: Wish, made: Made) -> None:
    """Writes the record of Ray's groups, for `sync` and `attach`."""
    cluster.write_record(owners.record_key(made.group), _record_of(wish, made))


def write_late(wish: Wish, made: Made) -> LateRecord:
    """Like `write_record`, but after the caller gets the result: see `LateRecord`."""
    return LateRecord(lambda: write_record(wish, made), wish.driver)


def _record_of(wish: Wish, made: Made) -> str:
    ids = [cluster.group_id(one) for one in made.ray_groups]
    return _record(wish, {"groups": ids, "job": wish.driver.job, "selectors": made.selectors})


def write_plan(wish: Wish, group: Group, book: Book, standing: Sequence[Any] = ()) -> None:
    """Writes a record of the groups that will be made in place of `standing`, for `sync` if the driver is killed."""
    cluster.write_record(owners.record_key(group), _record(wish, {**book.plan_record(standing), "selectors": []}))


def _record(wish: Wish, record: Mapping[str, Any]) -> str:
    return json.dumps({**record, "name": wish.name, "arguments": wish.shape.arguments})


def wait_placed(ledger: RayLedger, pins: Sequence[SlicePins], ray_groups: Sequence[Any], end: float) -> None:
    """Waits until all groups are placed. Raises `NotPlacedError` with the obstacle if there is one.

    If a group of another program blocks Ray's scheduler, it waits for the end of that until `end`.
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
    ends = tuple(cluster.group_id(one) for one in ray_groups)
    for one in pins:
        for node in one.nodes:
            if node["NodeID"] not in listing.by_id:
                return f"host '{node['NodeName']}' of slice '{one.name}' is gone"
            left = listing.available.get(node["NodeID"], {})
            is_ours = any(name.endswith(ends) for name in left)
            if not is_ours and not listing.is_settling() and left.get("TPU", 0.0) < node["Resources"].get("TPU", 0.0):
                return f"host '{node['NodeName']}' of slice '{one.name}' was taken by another"
    return None


def _blocking(listing: cluster.Listing) -> str:
    """Returns a message about the groups that Ray 2.60 retries endlessly while it places no others.

    Groups whose bundles are pinned to hosts do not block: without their host they are INFEASIBLE, and Ray puts them
    aside.
    """
    names = [row["name"] or group for group, row in listing.groups.items() if _is_blocking(row)]
    if not names:
        return ""
    return f": it places nothing while '{', '.join(names)}' is RESCHEDULING: remove it, or bring its host back"


def _is_blocking(row: Mapping[str, Any]) -> bool:
    is_put_aside = bool(row.get("stats", {}).get("scheduling_state") == "INFEASIBLE")
    return bool(row["state"] == "RESCHEDULING") and not is_put_aside


def free(ledger: RayLedger, group: Group | None, ray_groups: Sequence[Any]) -> None:
    """Like `release`, but only logs a failure, which the next sync or the end of the lease resolves."""
    try:
        release(ledger, group, ray_groups)
    except errors.NotFoundError as error:
        _log.warning("%s was not released: %s", _what(group), error)


def give_up(wish: Wish, made: Made) -> None:
    """Like `free`, for a result that no caller gets."""
    if made.record is not None:
        made.record.give_up()
    free(wish.ledger, made.group, made.ray_groups)


def release(ledger: RayLedger, group: Group | None, ray_groups: Sequence[Any]) -> None:
    """Removes Ray's groups, and frees the ledger's group when Ray reports the chips as free.

    Raises:
        NotFoundError: the control plane does not answer; the ledger's group stays.
    """
    if ray_groups:
        cluster.check_answers()
        if not cluster.remove_groups(ray_groups, REMOVE_S):
            _log.warning("%s is released, and something still runs on its chips after %g s", _what(group), REMOVE_S)
    if group is None:
        return
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        ledger.quoit.release(group)
    with contextlib.suppress(errors.NotFoundError):
        cluster.delete_record(owners.record_key(group))


def _what(group: Group | None) -> str:
    return "what was made" if group is None else group.handle
