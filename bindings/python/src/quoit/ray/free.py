# SPDX-License-Identifier: Apache-2.0
"""Lists the slices that are free now."""

from __future__ import annotations

import dataclasses

from .. import ray_rules
from ..fleet import NodeState, Slice, SliceFlags
from .ledgers import SOURCE, LedgerLike, get_ray_ledger, sync
from .shapes import ray_version

__all__ = ["FreeSlice", "free_slices"]


@dataclasses.dataclass(frozen=True)
class FreeSlice:
    """A slice that is intact, idle and not draining."""

    name: str
    """The name in Ray's labels."""
    accelerator_version: str
    """Ray's name of the generation, such as "v5litepod"."""
    topology: str
    num_hosts: int
    chips_per_host: int
    head_address: str | None
    """The address of the host with worker id 0."""


def free_slices(
    topology: str | None = None,
    accelerator_version: str | None = None,
    *,
    ledger: LedgerLike = None,
    source: str = SOURCE,
    tpu_per_chip: int | None = None,
) -> tuple[FreeSlice, ...]:
    """Returns the slices of the cluster that could be reserved now, according to the ledger and Ray.

    Slices that are allocated, draining, or used by plain tasks or actors are not included. The function calls `sync`
    first. Slices can become allocated or free after the call, so `slice_placement_group` can find other free slices.

    Args:
        topology: only slices of that shape, such as "4x4".
        accelerator_version: only slices of that generation, such as "v6e" or "TPU-V6E".
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db.
        source: the cluster's name in the ledger; slices of other sources are not included.
        tpu_per_chip: like for `sync`.

    Returns:
        The slices, in natural order of their names.

    Raises:
        InvalidError: there is no such generation.
        NotFoundError, VersionError, BusyError: like `sync`.
    """
    version = None if accelerator_version is None else ray_rules.version_from_type(accelerator_version.strip())
    shape = None if topology is None else topology.strip().lower()
    sync(ledger, source=source, tpu_per_chip=tpu_per_chip)
    return tuple(
        _free_slice(one)
        for one in get_ray_ledger(ledger, source).quoit.snapshot().slices
        if SliceFlags.FREE in one.flags
        and one.pool.source == source
        and shape in (None, one.topology)
        and (version is None or (one.accelerator and version == ray_version(one.accelerator)))
    )


def _free_slice(one: Slice) -> FreeSlice:
    # A free slice is intact, so these attributes are known. Each worker of an intact slice has exactly one node that is
    # not dead. The list can also have dead nodes, which were replaced. The nodes are ordered by worker id, so the first
    # node that is not dead is worker 0.
    assert one.accelerator and one.topology and one.n_hosts and one.chips_per_host
    head = next(node for node in one.nodes if node.state is not NodeState.DEAD)
    return FreeSlice(
        one.name, ray_version(one.accelerator), one.topology, one.n_hosts, one.chips_per_host, head.address
    )
