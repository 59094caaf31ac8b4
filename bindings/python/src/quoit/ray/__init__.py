# SPDX-License-Identifier: Apache-2.0
"""Creates Ray placement groups on the slices that quoit allocates, in a running Ray cluster.

`slice_placement_group` takes the arguments of ray.util.tpu.slice_placement_group(). It reserves all slices or none,
callers do not compete for hosts, and a refusal has a report of its reasons. All drivers of a cluster use one ledger
file:

    import ray, quoit.ray
    ray.init()
    with quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger="/var/lib/quoit/fleet.db") as slices:
        ...  # slices.placement_group, slices.slice_names, slices.environment(0)

Importing this module does not import Ray.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .free import FreeSlice, free_slices
    from .ledgers import LedgerLike, fleet_from_ray, sync
    from .pending import PendingGroup, explain_pending
    from .refusals import SlicesNotFreeError
    from .slices import SlicePlacementGroup, attach, explain, slice_placement_group
    from .tasks import run_on_slice

_HOMES = {
    "FreeSlice": "free",
    "LedgerLike": "ledgers",
    "PendingGroup": "pending",
    "SlicesNotFreeError": "refusals",
    "SlicePlacementGroup": "slices",
    "attach": "slices",
    "explain": "slices",
    "explain_pending": "pending",
    "fleet_from_ray": "ledgers",
    "free_slices": "free",
    "run_on_slice": "tasks",
    "slice_placement_group": "slices",
    "sync": "ledgers",
}

__all__ = [
    "FreeSlice",
    "LedgerLike",
    "PendingGroup",
    "SlicePlacementGroup",
    "SlicesNotFreeError",
    "attach",
    "explain",
    "explain_pending",
    "fleet_from_ray",
    "free_slices",
    "run_on_slice",
    "slice_placement_group",
    "sync",
]


if not TYPE_CHECKING:  # with __getattr__, mypy would accept any name

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
