# SPDX-License-Identifier: Apache-2.0
"""How many slices an elastic job could have now, and which slice id each of them gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import errors
from ..groups import Group, GroupSliceState
from .ledgers import RayLedger
from .repairing import change_slices
from .shapes import Shape, check_shape, list_foreign_slices

FRESH_S = 1.0
"""The greatest age of the ledger's state for a count. Ray also reads its resources at most once in this time."""

_SHAPE_OPTIONS = ("chips_per_vm", "tpu_resource_per_chip", "bundle_label_selector")


def slice_shape(topology: str, accelerator: str, resources: Mapping[str, float], options: Mapping[str, Any]) -> Shape:
    """Returns the shape of one slice of a job.

    Args:
        topology: the topology of each slice.
        accelerator: the generation, or Ray's accelerator type.
        resources: the resources of each worker.
        options: arguments of `quoit.ray.slice_placement_group`. Options that do not change the shape are ignored.

    Raises:
        InvalidError, TypeError: like `quoit.ray.slice_placement_group`.
    """
    given = {name: options.get(name) for name in _SHAPE_OPTIONS}
    arguments = {
        **given,
        "topology": topology,
        "accelerator_version": accelerator,
        "resources_per_bundle": dict(resources),
        "strategy": options.get("strategy", "SPREAD"),
        "name": "",
        "lifetime": None,
        "num_slices": 1,
        "bundle_label_selector": None,
        "pg_per_slice": False,
    }
    shape = check_shape(arguments)
    selectors = given["bundle_label_selector"]
    if not selectors:
        return shape
    return check_shape({**arguments, "bundle_label_selector": list(selectors[: shape.rules.bundles_per_slice])})


def count_slices(ledger: RayLedger, shape: Shape, group: Group | None, least: int, most: int) -> int:
    """Returns the largest number from `least` to `most` of intact slices that a job could have now; 0 if there is none.

    Args:
        ledger: the ledger, which is synchronised if its state is older than `FRESH_S`.
        shape: the shape of one slice.
        group: the job's group, whose intact slices the job keeps; None: the job has no slices.
        least: the smallest sufficient number, from 1.
        most: the wanted number.

    Raises:
        NeverError: `least` slices would not fit even if nothing was in use.
        NotFoundError, BusyError: like `quoit.ray.sync`.
    """
    ledger.listing(FRESH_S)
    snapshot = ledger.quoit.snapshot()
    excluded = list_foreign_slices(shape.accelerator, snapshot, ledger.source)
    refused: errors.RefusedError | None = None
    with snapshot.fork() as fork:
        for number in range(most, least - 1, -1):
            mark = fork.mark()
            try:
                if group is None:
                    fork.reserve(shape.request("size", excluded=excluded, slices=number))
                else:
                    change_slices(fork, snapshot.lookup_group(group), number)
                return number
            except errors.RefusedError as error:
                refused = error
                fork.roll_back(mark)
    if isinstance(refused, errors.NeverError):
        raise refused
    return 0


def count_intact(group: Group) -> int:
    """Returns the number of slices of a group that are neither lost nor leaving."""
    return sum(one.state is GroupSliceState.WHOLE for one in group.slices)


def keep_places(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Returns the names of `after` in an order in which names of `before` keep their index, if that index still exists.

    The other names have the remaining indices, in the order of `after`.
    """
    kept = {index: name for index, name in enumerate(before[: len(after)]) if name in after}
    others = iter([name for name in after if name not in kept.values()])
    return [kept[index] if index in kept else next(others) for index in range(len(after))]
