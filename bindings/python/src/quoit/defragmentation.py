# SPDX-License-Identifier: Apache-2.0
"""Defragmentation: which bundles to move so that whole slices become free."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c
from ._c import call, lib


class DefragmentationState(_c.Code):
    """What is known about a plan of moves."""

    BEST = 0
    """No other moves of bundles make more chips free, or as many with fewer moves."""
    ALL_TRIED = 1
    """No other set of slices to close is better; moves of another kind may be."""
    FOUND = 2
    """The search ended before it tried all sets; the bounds hold."""


@dataclasses.dataclass(frozen=True)
class BundleMove:
    """The move of one bundle to another node; in a plan for joined slices, of one cube to another."""

    group: str
    """NAME@ID."""
    bundle: int
    """The index of the bundle in its group; for a cube, the slice id that it has before."""
    from_node: str
    to_node: str
    gain: int
    """How many chips get into free slices by this move, after the moves before it."""


@dataclasses.dataclass(frozen=True)
class Defragmentation:
    """Which bundles to move; see `Snapshot.plan_defragmentation`."""

    state: DefragmentationState
    gain: int
    """How many more chips are in free slices after the moves."""
    gain_bound: int
    """No moves of bundles get more chips into free slices."""
    moves_bound: int
    """As many chips cannot become free with fewer moves."""
    slices: tuple[str, ...]
    """The slices whose hosts are to be drained before, and undrained after the repairs: source/pool/name."""
    groups: tuple[str, ...]
    """The groups to repair, in this order: NAME@ID."""
    moves: tuple[BundleMove, ...]


def plan_defragmentation(snapshot: Any, steps: int) -> Defragmentation:
    """Plans moves for the handle of a snapshot. For the modules of this package."""
    return _take(snapshot, lib.quoit_snapshot_plan_defragmentation(snapshot, _c.to_int(steps, "steps", _c.UINT64)))


def plan_joined_defragmentation(
    snapshot: Any, accelerator: str, topology: str, cubes: int, steps: int
) -> Defragmentation:
    """Plans moves of cubes for the handle of a snapshot. For the modules of this package."""
    return _take(
        snapshot,
        call(
            lib.quoit_snapshot_plan_joined_defragmentation,
            snapshot,
            _c.to_text(accelerator, "accelerator"),
            _c.to_text(topology, "topology"),
            cubes,
            _c.to_int(steps, "steps", _c.UINT64),
        ),
    )


def _take(snapshot: Any, handle: Any) -> Defragmentation:
    plan = _c.own_handle(handle, lib.quoit_defragmentation_free)
    groups = tuple(
        _c.take_text(lib.quoit_defragmentation_dup_group(plan, index))
        for index in range(lib.quoit_defragmentation_get_n_groups(plan))
    )
    slices = (
        lib.quoit_defragmentation_get_slice(plan, index)
        for index in range(lib.quoit_defragmentation_get_n_slices(plan))
    )
    return Defragmentation(
        DefragmentationState(lib.quoit_defragmentation_get_state(plan)),
        int(lib.quoit_defragmentation_get_gain(plan)),
        int(lib.quoit_defragmentation_get_gain_bound(plan)),
        int(lib.quoit_defragmentation_get_moves_bound(plan)),
        tuple(_c.take_text(lib.quoit_snapshot_dup_slice_full_name(snapshot, index)) for index in slices),
        groups,
        tuple(
            BundleMove(
                groups[lib.quoit_defragmentation_get_move_group(plan, index)],
                int(lib.quoit_defragmentation_get_move_bundle(plan, index)),
                _c.take_text(lib.quoit_defragmentation_dup_move_from(plan, index)),
                _c.take_text(lib.quoit_defragmentation_dup_move_to(plan, index)),
                int(lib.quoit_defragmentation_get_move_gain(plan, index)),
            )
            for index in range(lib.quoit_defragmentation_get_n_moves(plan))
        ),
    )
