# SPDX-License-Identifier: Apache-2.0
"""Ray's TPU arithmetic: types, topologies, chips, workers, and the environment that Ray Train gives to them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

from .. import _c
from .._c import call, ffi, lib
from ._resources import checked, taken_resources, to_ray_int_or_null, to_resources_or_null

# --- types and topologies -----------------------------------------------------------------------------------------


def normalize_type(accelerator_type: str | None) -> str:
    """The type in Ray's spelling: "v7x-8" for " TPU7X-8 ". Nothing is checked.

    Blanks around it go, capitals become small, and one leading "tpu" with an optional "-" and an optional "v" becomes
    "v".

    Args:
        accelerator_type: a generation or pod type; None gives "".

    Raises:
        InvalidError: the text has a NUL or a lone surrogate, as in every function here that takes text.
    """
    return _c.taken_text(lib.quoit_ray_normalize_type(_c.to_text_or_null(accelerator_type, "accelerator_type")))


def version_from_type(accelerator_type: str) -> str:
    """The generation, "v6e", that a type names.

    Args:
        accelerator_type: a generation as Ray's users write it: "v6e", "TPU-V6E", "tpu7x".

    Raises:
        InvalidError: it names none, as "v6e-16" and "tpuv4" do not; the message lists what Ray knows.
    """
    return _c.taken_text(call(lib.quoit_ray_version_from_type, _c.to_text(accelerator_type, "accelerator_type")))


def type_is_valid(accelerator_type: str | None) -> bool:
    """Whether Ray takes it from TPU_ACCELERATOR_TYPE; not for None.

    Only the form counts: "v99zz-1" is valid, "V4-8" is not.
    """
    return bool(lib.quoit_ray_type_is_valid(_c.to_text_or_null(accelerator_type, "accelerator_type")))


def topology_is_valid(version: str | None, topology: str | None) -> bool:
    """Whether Ray lists the topology for the generation; not for None.

    Args:
        version: a generation, in any spelling that `normalize_type` understands.
        topology: "4x4"; the order of the numbers matters, blanks around it and capitals do not.
    """
    shape = _c.to_text_or_null(topology, "topology")
    return bool(lib.quoit_ray_topology_is_valid(_c.to_text_or_null(version, "version"), shape))


def valid_topologies(version: str) -> tuple[str, ...]:
    """The topologies that Ray lists for a generation, in the order of their numbers; none for one that it does not
    know.

    Args:
        version: a generation as Ray writes it: "v5litepod".
    """
    generation = _c.to_text(version, "version")
    listed = (lib.quoit_ray_dup_valid_topology(generation, index) for index in itertools.count())
    return tuple(_c.taken_text(one) for one in itertools.takewhile(lambda one: one != _c.NULL, listed))


def pod_type(topology: str | None, accelerator_type: str | None) -> str | None:
    """The pod type of a slice, "v4-16": the generation and the number of cores; None where either is None or "".

    Whether such a topology exists is not checked; the number may have any length.

    Args:
        topology: "2x2x2".
        accelerator_type: "TPU-V4".

    Raises:
        InvalidError: either cannot be read.
    """
    shape = _c.to_text_or_null(topology, "topology")
    accelerator = _c.to_text_or_null(accelerator_type, "accelerator_type")
    return _c.taken_text_or_none(call(lib.quoit_ray_pod_type, shape, accelerator))


# --- chips and cores ----------------------------------------------------------------------------------------------


def chips_from_topology(topology: str) -> int:
    """The product of the numbers between the "x"; it may be negative or 0, as Ray's.

    There may be any number of them, in any form that Python's int() reads: " 0_4 x 4 " has 16 chips.

    Raises:
        InvalidError: one of them is none, or the product is beyond 64 bits.
    """
    return checked(lib.quoit_ray_chips_from_topology, _c.to_text(topology, "topology"))


def cores_per_chip(accelerator_type: str) -> int:
    """The TensorCores of one chip: 1 or 2.

    Args:
        accelerator_type: what begins with a generation, in small letters: "v6e", "v4-16".

    Raises:
        InvalidError: it begins with no generation of Ray's.
    """
    return checked(lib.quoit_ray_cores_per_chip, _c.to_text(accelerator_type, "accelerator_type"))


def chips_from_type(accelerator_type: str) -> int:
    """The chips of a whole slice, from the number of cores in its pod type; rounded down: 0 for "v3-1".

    Args:
        accelerator_type: a pod type: "v4-16".

    Raises:
        InvalidError: it begins with no generation, has no number, or has one beyond 64 bits.
    """
    return checked(lib.quoit_ray_chips_from_type, _c.to_text(accelerator_type, "accelerator_type"))


def visible_chips_per_host(accelerator_type: str) -> int:
    """The chips that one host shows: v5litepod and v6e of up to 8 chips all of them, everything else 4.

    Args:
        accelerator_type: a pod type: "v6e-8".

    Raises:
        InvalidError: where `chips_from_type` would, but the number is looked at for v5litepod and v6e only.
    """
    return checked(lib.quoit_ray_visible_chips_per_host, _c.to_text(accelerator_type, "accelerator_type"))


def chips_per_host(topology: str, version: str) -> int:
    """The chips of one host: v5litepod and v6e with 1x1, 2x2 or 2x4 all of them, everything else 4.

    Args:
        topology: "2x4".
        version: a generation as Ray writes it.

    Raises:
        InvalidError: the topology cannot be read.
    """
    return checked(lib.quoit_ray_chips_per_host, _c.to_text(topology, "topology"), _c.to_text(version, "version"))


def default_chips_per_vm(topology: str, version: str) -> int:
    """The chips of one host as Ray's sub-slices assume: v5litepod and v6e of up to 8 chips in any shape all, else 4.

    Args:
        topology: "2x4".
        version: a generation as Ray writes it.

    Raises:
        InvalidError: the topology cannot be read, which is tried for v5litepod and v6e only.
    """
    return checked(lib.quoit_ray_default_chips_per_vm, _c.to_text(topology, "topology"), _c.to_text(version, "version"))


def resource_per_chip(text: str | None) -> int:
    """How many units of the resource TPU one chip counts for, read in the way Ray reads its environment.

    Args:
        text: what RAY_TPU_RESOURCE_PER_CHIP is set to; None, where it is not set, gives 1.

    Raises:
        InvalidError: it is not all decimal digits, is 0, or is beyond 64 bits.
    """
    return checked(lib.quoit_ray_resource_per_chip, _c.to_text_or_null(text, "text"))


# --- workers ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class WorkerResources(_c.WithMappings):
    """How many workers fill the slices, and what each of them asks for."""

    num_workers: int
    """Over all slices."""
    resources: Mapping[str, float]
    """What one worker asks for: what was given, then 1 CPU and one host's TPU where it was not."""


def worker_resources(
    topology: str,
    accelerator_type: str,
    resources_per_worker: Mapping[str, float] | None = None,
    *,
    num_slices: int = 1,
    chips_per_vm: int | None = None,
    tpu_resource_per_chip: int | None = None,
) -> WorkerResources:
    """How many workers fill the slices, and what each of them asks for. Whether such a topology exists is not checked.

    Args:
        topology: of one slice, "4x4".
        accelerator_type: "TPU-V6E", as for `version_from_type`.
        resources_per_worker: what the user asks for each worker; not changed.
        num_slices: 0 and less give 0 and fewer workers.
        chips_per_vm: the chips of one host; None for `chips_per_host`.
        tpu_resource_per_chip: how many units of TPU one chip counts for; None for 1.

    Raises:
        InvalidError: topology or type cannot be read, a given number is not positive, the TPU of one worker does not
            divide those of a slice (ask for a divisor), or there are more workers than 64 bits count.
        TypeError: an argument has another type, as everywhere here.
    """
    # The names keep alive what the arguments point to.
    wanted = to_resources_or_null(resources_per_worker, "resources_per_worker")
    chips = to_ray_int_or_null(chips_per_vm, "chips_per_vm")
    factor = to_ray_int_or_null(tpu_resource_per_chip, "tpu_resource_per_chip")
    n_workers = ffi.new("int64_t *")
    asked = call(
        lib.quoit_ray_worker_resources,
        _c.to_text(topology, "topology"),
        _c.to_text(accelerator_type, "accelerator_type"),
        wanted,
        _c.to_ray_int(num_slices, "num_slices"),
        chips,
        factor,
        n_workers,
    )
    return WorkerResources(int(n_workers[0]), taken_resources(asked))


def slices_for_workers(
    topology: str | None,
    accelerator_type: str | None,
    num_workers: int,
    resources_per_worker: Mapping[str, float] | None = None,
    *,
    tpu_resource_per_chip: int | None = None,
) -> int:
    """How many slices the workers need, at least 1.

    Like Ray it refuses nothing: what `worker_resources` refuses counts as one slice, so ask that one first where the
    difference matters.

    Args:
        topology: of one slice, "4x4".
        accelerator_type: "TPU-V6E".
        num_workers: the workers wanted.
        resources_per_worker: what the user asks for each worker; not changed.
        tpu_resource_per_chip: how many units of TPU one chip counts for; None for 1.

    Raises:
        InvalidError: a number is beyond 64 bits.
    """
    wanted = to_resources_or_null(resources_per_worker, "resources_per_worker")
    factor = to_ray_int_or_null(tpu_resource_per_chip, "tpu_resource_per_chip")
    return int(
        lib.quoit_ray_slices_for_workers(
            _c.to_text_or_null(topology, "topology"),
            _c.to_text_or_null(accelerator_type, "accelerator_type"),
            _c.to_ray_int(num_workers, "num_workers"),
            wanted,
            factor,
        )
    )


def coordinator_env(address: str, num_slices: int, slice_id: int, port: str | None = None) -> dict[str, str]:
    """The variables by which the slices of one job find each other. Nothing is checked.

    Args:
        address: the host of the coordinator; taken as it is.
        num_slices: the slices of the job.
        slice_id: the slice of this process.
        port: the coordinator's; None for Ray's, "8081".

    Returns:
        MEGASCALE_COORDINATOR_ADDRESS, MEGASCALE_PORT, MEGASCALE_NUM_SLICES and MEGASCALE_SLICE_ID, in this order.

    Raises:
        InvalidError: a number is beyond 64 bits.
    """
    return _c.taken_pairs(
        lib.quoit_ray_coordinator_env(
            _c.to_text(address, "address"),
            _c.to_int(num_slices, "num_slices"),
            _c.to_int(slice_id, "slice_id"),
            _c.to_text_or_null(port, "port"),
        )
    )


def train_env(
    address: str,
    index: int,
    num_slices: int,
    topology: str,
    accelerator_type: str,
    resources_per_worker: Mapping[str, float] | None = None,
    env: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """What Ray Train's JAX backend makes of a worker's environment.

    JAX_PLATFORMS is set where it is empty or not set; for more than one slice the MEGASCALE_ variables are set instead
    of what they were, except that a port that is set is kept. A worker beyond what the slices hold falls into the last
    slice.

    Args:
        address: of worker 0.
        index: of the worker, in Ray's order: slices sorted as text, workers of a slice by id.
        num_slices: slices of the job.
        topology: of each slice, "4x4".
        accelerator_type: "TPU-V6E".
        resources_per_worker: what each worker asks for; None: the chips of a host.
        env: the worker's environment so far; not changed.

    Returns:
        The environment with the changes.

    Raises:
        InvalidError: as `worker_resources` for one slice, when there is more than one.
    """
    wanted: Any = to_resources_or_null(resources_per_worker, "resources_per_worker")
    before: Any = _c.to_pairs(env, "env")
    return _c.taken_pairs(
        call(
            lib.quoit_ray_train_env,
            _c.to_text(address, "address"),
            _c.to_int(index, "index"),
            _c.to_int(num_slices, "num_slices"),
            _c.to_text(topology, "topology"),
            _c.to_text(accelerator_type, "accelerator_type"),
            wanted,
            before,
        )
    )
