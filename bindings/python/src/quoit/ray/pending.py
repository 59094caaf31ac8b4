# SPDX-License-Identifier: Apache-2.0
"""Explains why a placement group waits that Ray itself, or another library, has made."""

from __future__ import annotations

import dataclasses
from typing import Any

from .. import errors
from ..groups import Group
from ..reports import Report
from . import cluster, versions
from .ledgers import SOURCE, LedgerLike, get_ray_ledger


@dataclasses.dataclass(frozen=True)
class PendingGroup:
    """Why a placement group has no nodes yet."""

    group: Group
    """The group in the ledger. Its name is that of Ray's group, or else the id."""
    report: Report
    """Whether the group fits now, what removed the nodes, and what would help."""
    hold_and_wait: str | None
    """Names the group and those that have only a head of a slice, if callers can block each other; else None."""

    def __str__(self) -> str:
        return str(self.report) if self.hold_and_wait is None else f"{self.report}\n{self.hold_and_wait}"


def explain_pending(pending: Any, *, ledger: LedgerLike = None, source: str = SOURCE) -> PendingGroup:
    """Explains why a placement group waits. The group can be one that Ray itself, or another library, has made.

    Writes the present state of Ray into the ledger first, like `quoit.ray.sync`.

    Args:
        pending: the PlacementGroup, or its id in hexadecimal digits, or its name.
        ledger: like for `slice_placement_group`.
        source: like for `slice_placement_group`.

    Raises:
        NotFoundError: Ray has no such group, or has removed it.
        InvalidError: several groups have this name: use the id.
        ConflictError: the group has all of its bundles, or belongs to a group of the ledger.
    """
    versions.check()
    cluster.check_connected()
    ray_ledger = get_ray_ledger(ledger, source)
    listing = ray_ledger.listing(0)
    found = _find(pending, listing)
    names = {found, listing.groups[found]["name"]}
    snapshot = ray_ledger.quoit.snapshot()
    group = next((one for one in snapshot.groups if one.source == source and one.name in names), None)
    if group is None:  # the ledger has a group of its own for it, which it was made with
        raise errors.ConflictError(f"group '{found}': it belongs to a group of the ledger: see attach()")
    return PendingGroup(group, snapshot.explain_group(group), snapshot.hold_and_wait(group))


def _find(pending: Any, listing: cluster.Listing) -> str:
    """Returns the id of a group."""
    name = pending if isinstance(pending, str) else cluster.group_id(pending)
    if name in listing.groups:
        return name
    found = [one for one, row in listing.groups.items() if row["name"] == name]
    if len(found) > 1:
        raise errors.InvalidError(f"group '{name}': {len(found)} groups have this name: expected an id")
    if not found:
        raise errors.NotFoundError(f"group '{name}': Ray has no such placement group, or has removed it")
    return found[0]
