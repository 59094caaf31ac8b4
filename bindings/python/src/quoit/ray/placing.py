# SPDX-License-Identifier: Apache-2.0
"""Ray's groups of a group of the ledger: made, waited for, written down, removed."""

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
"""How long Ray may take to place groups on hosts that are free."""

REMOVE_S = 10.0
"""How long removed groups may keep their chips before the ledger gives them back all the same."""

_BLOCKED_S = 1.0


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a caller wants, and in whose name."""

    ledger: RayLedger
    shape: Shape
    name: str
    """Of Ray's groups; "": that of the ledger's group."""
    key: str | None
    owner: str
    lease_s: float
    driver: cluster.Driver
    """That asks."""

    @property
    def is_detached(self) -> bool:
        """Whether the groups outlive the driver: then nothing of this process keeps them."""
        return bool(self.shape.arguments["lifetime"] == "detached")

    @property
    def is_known(self) -> bool:
        """Whether others can ask for what is made of it by a name that they know."""
        return self.key is not None or bool(self.name) or self.is_detached


@dataclasses.dataclass
class Made:
    """What was made of a wish."""

    group: Group
    selectors: list[dict[str, str]]
    """Where Ray puts each bundle, over all slices."""
    ray_groups: list[Any]
    """One for all slices, or one a slice, in the order of the group's slices; none while they are being replaced."""
    record: LateRecord | None = None
    """Of what is written down while its caller goes on."""

    @functools.cached_property
    def handle(self) -> str:
        """The group's, which is the same for as long as it lives."""
        return self.group.handle


class NotPlacedError(Exception):
    """Ray has not placed the groups. ``excluded``: a slice whose hosts could never have them."""

    def __init__(self, why: str, excluded: str | None = None) -> None:
        super().__init__(why)
        self.excluded = excluded


def pinned(wish: Wish, group: Group, listing: cluster.Listing) -> list[SlicePins]:
    """Where the bundles of each slice go; `NotPlacedError` where Ray has a host no more."""
    try:
        return pin(wish.shape, group, wish.ledger.quoit, listing)
    except NodeIsGone as error:
        raise NotPlacedError(f"node '{error}' is gone from Ray") from None


def ray_groups_of(wish: Wish, group: Group, pins: Sequence[SlicePins]) -> Iterator[tuple[str, list[SlicePins]]]:
    """The names of Ray's groups, and the slices of each."""
    base = wish.name or group.name
    if not wish.shape.arguments["pg_per_slice"]:
        yield base, list(pins)
        return
    for index, one in enumerate(pins):
        yield slice_name(base, index), [one]


def create(book: Book, shape: Shape, name: str, pins: Sequence[SlicePins]) -> Any:
    """A placement group of the slices' bundles."""
    bundles = [bundle for one in pins for bundle in one.bundles]
    selectors = [selector for one in pins for selector in one.selectors]
    return book.create(bundles, selectors, shape.arguments["strategy"], name, shape.arguments["lifetime"])


def write_record(wish: Wish, made: Made) -> None:
    """Says what Ray's groups of a group are, to `sync` and to `attach`."""
    cluster.write_record(owners.record_key(made.group), _record_of(wish, made))


def write_late(wish: Wish, made: Made) -> LateRecord:
    """`write_record`, when the caller has the answer: see `LateRecord`."""
    return LateRecord(lambda: write_record(wish, made), wish.driver)


def _record_of(wish: Wish, made: Made) -> str:
    ids = [cluster.group_id(one) for one in made.ray_groups]
    return _record(wish, {"groups": ids, "job": wish.driver.job, "selectors": made.selectors})


def write_plan(wish: Wish, group: Group, book: Book, standing: Sequence[Any] = ()) -> None:
    """Says, to `sync`, what will be made for a group in the place of what is `standing`: should the driver be killed
    before it is."""
    cluster.write_record(owners.record_key(group), _record(wish, {**book.plan_record(standing), "selectors": []}))


def _record(wish: Wish, record: Mapping[str, Any]) -> str:
    return json.dumps({**record, "name": wish.name, "arguments": wish.shape.arguments})


def wait_placed(ledger: RayLedger, pins: Sequence[SlicePins], ray_groups: Sequence[Any], end: float) -> None:
    """Waits until all are placed, for as long as nothing is in their way: a `NotPlacedError` says what is.

    Another group that stops Ray altogether may be mended; it is waited for until `end`.
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
    """The groups that Ray 2.60 tries to place again and again, and no other beside them.

    One whose bundles are pinned to hosts is not of them: without its host it is INFEASIBLE, and put aside.
    """
    names = [row["name"] or group for group, row in listing.groups.items() if _is_blocking(row)]
    if not names:
        return ""
    return f": it places nothing while '{', '.join(names)}' is RESCHEDULING: remove it, or bring its host back"


def _is_blocking(row: Mapping[str, Any]) -> bool:
    is_put_aside = bool(row.get("stats", {}).get("scheduling_state") == "INFEASIBLE")
    return bool(row["state"] == "RESCHEDULING") and not is_put_aside


def free(ledger: RayLedger, group: Group | None, ray_groups: Sequence[Any]) -> None:
    """`release`, of what nobody else can give back any more: what cannot be done is said, and left to the next sync, or
    to the end of the lease."""
    try:
        release(ledger, group, ray_groups)
    except errors.NotFoundError as error:
        _log.warning("%s was not released: %s", _what(group), error)


def give_up(wish: Wish, made: Made) -> None:
    """`free`, of what was made for nobody."""
    if made.record is not None:
        made.record.give_up()
    free(wish.ledger, made.group, made.ray_groups)


def release(ledger: RayLedger, group: Group | None, ray_groups: Sequence[Any]) -> None:
    """Removes Ray's groups, and frees in the ledger when Ray shows that their chips are free.

    Raises:
        NotFoundError: the control plane does not answer: nothing is free in the ledger.
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
