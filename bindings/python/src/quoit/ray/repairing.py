# SPDX-License-Identifier: Apache-2.0
"""Replaces the lost slices of a group."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from .. import errors
from ..groups import Group, GroupSliceState
from ..reports import Report
from . import cluster
from .ends import to_its_end
from .placing import (
    REMOVE_S,
    Made,
    NotPlacedError,
    Wish,
    create,
    free,
    pinned,
    ray_groups_of,
    wait_placed,
    write_plan,
    write_record,
)
from .records import Book
from .refusals import NoRoomError
from .shapes import foreign

_PAUSE_S = 0.1


def repair(wish: Wish, made: Made, timeout_s: float) -> Made:
    """Replaces the lost and leaving slices in the ledger, and makes only the new groups in Ray.

    After the change in the ledger, any exception, also an interrupt, releases everything.

    Raises:
        NotNowError, NeverError: there is no other slice, and nothing has changed.
    """
    end = time.monotonic() + timeout_s
    book, group = Book(), None
    try:
        group = _chosen(wish, made, end)
        kept = _kept(wish, made, group)
        if len(kept) == len(group.slices) and made.ray_groups:
            return Made(group, made.selectors, made.ray_groups)
        return _replaced(wish, made, group, kept, book, end)
    except BaseException as error:
        after = group or _changed(wish, made)
        if after is not None:
            to_its_end(lambda: free(wish.ledger, after, [*made.ray_groups, *book.made()]))
        if isinstance(error, NotPlacedError):
            raise NoRoomError(f"{made.group.handle} was repaired, and is given back: {error}") from None
        raise


def _replaced(wish: Wish, made: Made, group: Group, kept: Mapping[str, Any], book: Book, end: float) -> Made:
    """Returns the result with the kept groups of Ray and the new ones."""
    pins = pinned(wish, group, wish.ledger.listing(0.0))
    names = {row["name"] for row in cluster.rows(list(kept.values()))}
    free_names = [name for name, _ in ray_groups_of(wish, group, pins) if name not in names]
    gone = [one for one in made.ray_groups if one not in kept.values()]
    book.plan(free_names, is_unique=False)
    # A record without groups means that they are being replaced, so that no sync counts them as gone.
    write_plan(wish, group, book, made.ray_groups)
    cluster.remove_groups(gone, REMOVE_S)
    result = Made(group, [dict(selector) for one in pins for selector in one.selectors], [])
    for slices in [[one] for one in pins] if wish.shape.arguments["pg_per_slice"] else [pins]:
        one = kept.get(slices[0].name)
        result.ray_groups.append(one if one is not None else create(book, wish.shape, free_names.pop(0), slices))
    write_record(wish, result)
    wait_placed(wish.ledger, pins, book.groups, end)
    return result


def _changed(wish: Wish, made: Made) -> Group | None:
    """Returns the group if the ledger changed its slices before the call was interrupted; else None."""
    wish.ledger.quoit.refresh()
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        group = wish.ledger.quoit.group(made.group)
        return group if _names(group) != _names(made.group) else None
    return None


def explain(wish: Wish, group: Group) -> Report:
    """Explains whether there are other slices for the lost ones.

    Raises:
        ConflictError: no slice is lost.
        NotFoundError: the group is gone.
    """
    snapshot = wish.ledger.quoit.snapshot()
    lost = [one for one in snapshot.lookup_group(group).slices if one.state is not GroupSliceState.WHOLE]
    if not lost:
        raise errors.ConflictError(f"{group.handle} has lost no slice: nothing is to be explained")
    excluded = foreign(wish.shape.accelerator, snapshot, wish.ledger.source)
    return snapshot.explain(wish.shape.request(group.name, excluded=excluded, slices=len(lost)))


def _chosen(wish: Wish, made: Made, end: float) -> Group:
    """Repairs the group in the ledger and returns it."""
    while True:
        wish.ledger.listing(0.0)
        try:
            with wish.ledger.quoit.batch():
                after = wish.ledger.quoit.repair(made.group).after
                assert after is not None
                _check_source(wish, after)
            return after
        except errors.RefusedError as error:
            if isinstance(error, errors.NeverError) or time.monotonic() >= end:
                kind = NoRoomError if isinstance(error, errors.NotNowError) else errors.NeverError
                refused = kind(f"{made.group.handle}: {error}")
                with contextlib.suppress(errors.Error):
                    refused.report = explain(wish, made.group)
                raise refused from None
        time.sleep(max(0.0, min(_PAUSE_S, end - time.monotonic())))


def _check_source(wish: Wish, group: Group) -> None:
    """Raises if a slice belongs to a source that was added after the request, which does not exclude it."""
    snapshot = wish.ledger.quoit.snapshot()
    others = [one.name for one in group.slices if snapshot.lookup_slice(one.name).pool.source != wish.ledger.source]
    if others:
        raise errors.NotNowError(f"slice '{others[0]}' is free, and is not of source '{wish.ledger.source}'")


def _kept(wish: Wish, made: Made, group: Group) -> dict[str, Any]:
    """Returns the groups of Ray that are kept, by slice name."""
    stands = [row["state"] == "CREATED" for row in cluster.rows(made.ray_groups)]
    before, after = _names(made.group), _names(group)
    if wish.shape.arguments["pg_per_slice"]:
        return {name: one for name, one, is_whole in zip(before, made.ray_groups, stands) if is_whole and name in after}
    return dict.fromkeys(after, made.ray_groups[0]) if all(stands) and stands and before == after else {}


def _names(group: Group) -> list[str]:
    return [one.name for one in group.slices]
