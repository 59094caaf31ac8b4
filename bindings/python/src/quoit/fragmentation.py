# SPDX-License-Identifier: Apache-2.0
"""Fragmentation: how much of the free hosts of a class is no use for parts of slices."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c
from ._c import lib


@dataclasses.dataclass(frozen=True)
class FragmentationPart:
    """The parts of one shape in the slices of a class."""

    topology: str
    weight_ppm: int
    """The weight of the shape in millionths, rounded down."""
    least: int
    """A number of parts that fit at once."""
    most: int
    """A number of parts such that more cannot fit. If it is equal to `least`, the number is exact."""


@dataclasses.dataclass(frozen=True)
class Fragmentation:
    """The fragmentation of one class; see `Snapshot.measure_fragmentation`."""

    free_hosts: int
    least_ppm: int
    """The fragmentation in millionths, rounded down; 0 if no host is free. If it is not known exactly, a lower bound."""
    most_ppm: int
    """Equal to `least_ppm` if the fragmentation is known exactly; else an upper bound."""
    parts: tuple[FragmentationPart, ...]
    """The shapes that the catalogue lists and that fit into a slice, in the order of the catalogue."""


def _read_part(handle: Any, index: int, part: int) -> FragmentationPart:
    return FragmentationPart(
        _c.take_text(lib.quoit_fragmentation_dup_part_topology(handle, index, part)),
        int(lib.quoit_fragmentation_get_part_weight(handle, index, part)),
        int(lib.quoit_fragmentation_get_part_least(handle, index, part)),
        int(lib.quoit_fragmentation_get_part_most(handle, index, part)),
    )


def measure_fragmentation(snapshot: Any, steps: int) -> tuple[Fragmentation, ...]:
    """Measures the fragmentation for the handle of a snapshot. For the modules of this package."""
    return _take(lib.quoit_snapshot_measure_fragmentation(snapshot, _c.to_int(steps, "steps", _c.UINT64)))


def measure_joined_fragmentation(snapshot: Any, cubes: int) -> tuple[Fragmentation, ...]:
    """Measures the fragmentation of cubes for the handle of a snapshot. For the modules of this package."""
    return _take(lib.quoit_snapshot_measure_joined_fragmentation(snapshot, cubes))


def _take(measured: Any) -> tuple[Fragmentation, ...]:
    handle = _c.own_handle(measured, lib.quoit_fragmentation_free)
    return tuple(
        Fragmentation(
            int(lib.quoit_fragmentation_get_n_hosts(handle, index)),
            int(lib.quoit_fragmentation_get_least(handle, index)),
            int(lib.quoit_fragmentation_get_most(handle, index)),
            tuple(
                _read_part(handle, index, part) for part in range(lib.quoit_fragmentation_get_n_parts(handle, index))
            ),
        )
        for index in range(lib.quoit_fragmentation_get_n_classes(handle))
    )
