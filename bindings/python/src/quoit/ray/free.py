# SPDX-License-Identifier: Apache-2.0
"""Which slices can be had now."""

from __future__ import annotations

import dataclasses

from .. import ray_rules
from ..fleet import NodeState, Slice, SliceFlags
from .ledgers import SOURCE, LedgerLike, ledger_of, sync

__all__ = ["FreeSlice", "free_slices"]


@dataclasses.dataclass(frozen=True)
class FreeSlice:
    """A slice that is whole, alive, not draining, and used by nobody."""

    name: str
    """As Ray's labels have it."""
    accelerator_version: str
    """The generation by Ray's name, as "v5litepod"."""
    topology: str
    num_hosts: int
    chips_per_host: int
    head_address: str | None
    """The address of the host of worker 0."""


def free_slices(
    topology: str | None = None,
    accelerator_version: str | None = None,
    *,
    ledger: LedgerLike = None,
    source: str = SOURCE,
    tpu_per_chip: int | None = None,
) -> tuple[FreeSlice, ...]:
    """The slices of the cluster that could be reserved now, as the ledger and Ray say it: what anybody holds, drains,
    or uses with a plain task or actor is not among them.

    The answer is one of a moment: `slice_placement_group` may find another. `sync` comes first.

    Args:
        topology: only of that shape, as "4x4".
        accelerator_version: only of that generation, as "v6e" or "TPU-V6E".
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db.
        source: what the cluster is called in the ledger; slices of others are not told.
        tpu_per_chip: as of `sync`.

    Returns:
        Them, in natural order of their names.

    Raises:
        InvalidError: no such generation.
        NotFoundError, VersionError, BusyError: as `sync`.
    """
    version = None if accelerator_version is None else ray_rules.version_from_type(accelerator_version.strip())
    shape = None if topology is None else topology.strip().lower()
    sync(ledger, source=source, tpu_per_chip=tpu_per_chip)
    return tuple(
        _free_slice(one)
        for one in ledger_of(ledger, source).quoit.snapshot().slices
        if SliceFlags.FREE in one.flags
        and one.pool.source == source
        and shape in (None, one.topology)
        and version in (None, one.accelerator)
    )


def _free_slice(one: Slice) -> FreeSlice:
    # It is intact: all of this is known, and the first of its nodes that live is worker 0.
    assert one.accelerator and one.topology and one.n_hosts and one.chips_per_host
    head = next(node for node in one.nodes if node.state is not NodeState.DEAD)
    return FreeSlice(one.name, one.accelerator, one.topology, one.n_hosts, one.chips_per_host, head.address)
