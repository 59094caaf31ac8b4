# SPDX-License-Identifier: Apache-2.0
"""Ray's TPU arithmetic: types, topologies, chips, workers, and the environment from Ray Train."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

from .. import _c
from .._c import call, ffi, lib
from ._resources import call_for_number, take_resources, to_ray_int_or_null, to_resources_or_null

# --- types and topologies -----------------------------------------------------------------------------------------


def normalize_type(accelerator_type: str | None) -> str:
    """Returns the type in Ray's spelling: "v7x-8" for " TPU7X-8 ". The text is not checked.

    Ray strips blanks and converts to lower case. Then Ray replaces a leading "tpu", "tpu-", "tpuv" or "tpu-v" by "v".

    Args:
        accelerator_type: a generation or pod type; None gives "".

    Raises:
        InvalidError: the text has a NUL or a lone surrogate. This is true for every function here that takes text.
    """
    return _c.take_text(lib.quoit_ray_normalize_type(_c.to_text_or_null(accelerator_type, "accelerator_type")))


def version_from_type(accelerator_type: str) -> str:
    """Returns the generation of a type, such as "v6e".

    Args:
        accelerator_type: a generation as users of Ray write it: "v6e", "TPU-V6E", "tpu7x".

    Raises:
        InvalidError: Ray has no such generation, for example for "v6e-16" and "tpuv4"; the message lists Ray's
            generations.
    """
    return _c.take_text(call(lib.quoit_ray_version_from_type, _c.to_text(accelerator_type, "accelerator_type")))


def type_is_valid(accelerator_type: str | None) -> bool:
    """Returns whether Ray accepts the type as the value of TPU_ACCELERATOR_TYPE; False for None.

    Ray checks only the form: "v99zz-1" is valid, "V4-8" is not.
    """
    return bool(lib.quoit_ray_type_is_valid(_c.to_text_or_null(accelerator_type, "accelerator_type")))


def topology_is_valid(version: str | None, topology: str | None) -> bool:
    """Returns whether Ray lists the topology for the generation; False for None.

    Args:
        version: a generation, in any spelling that `normalize_type` accepts.
        topology: "4x4". The order of the numbers matters; surrounding blanks and case do not.
    """
    shape = _c.to_text_or_null(topology, "topology")
    return bool(lib.quoit_ray_topology_is_valid(_c.to_text_or_null(version, "version"), shape))


def valid_topologies(version: str) -> tuple[str, ...]:
    """Returns the topologies that Ray lists for a generation, sorted by their numbers; empty for other generations.

    Args:
        version: a generation in Ray's spelling: "v5litepod".
    """
    generation = _c.to_text(version, "version")
    listed = (lib.quoit_ray_dup_valid_topology(generation, index) for index in itertools.count())
    return tuple(_c.take_text(one) for one in itertools.takewhile(lambda one: one != _c.NULL, listed))


def pod_type(topology: str | None, accelerator_type: str | None) -> str | None:
    """Returns the pod type of a slice, such as "v4-16": the generation and the number of cores; None for None or "".

    Like Ray, the function does not check that the topology exists. The number of cores can have any length.

    Args:
        topology: "2x2x2".
        accelerator_type: "TPU-V4".

    Raises:
        InvalidError: an argument cannot be read.
    """
    shape = _c.to_text_or_null(topology, "topology")
    accelerator = _c.to_text_or_null(accelerator_type, "accelerator_type")
    return _c.take_text_or_none(call(lib.quoit_ray_pod_type, shape, accelerator))


# --- chips and cores ----------------------------------------------------------------------------------------------


def chips_from_topology(topology: str) -> int:
    """Returns the product of the numbers of a topology, which "x" separates. Like in Ray, it can be negative or 0.

    The topology can have any number of numbers, in any form that Python's int() accepts: " 0_4 x 4 " has 16 chips.

    Raises:
        InvalidError: int() refuses a number, or the product is beyond 64 bits.
    """
    return call_for_number(lib.quoit_ray_chips_from_topology, _c.to_text(topology, "topology"))


def cores_per_chip(accelerator_type: str) -> int:
    """Returns the TensorCores of one chip: 1 or 2.

    Args:
        accelerator_type: text that begins with a generation, in lower case: "v6e", "v4-16".

    Raises:
        InvalidError: the text does not begin with a generation of Ray.
    """
    return call_for_number(lib.quoit_ray_cores_per_chip, _c.to_text(accelerator_type, "accelerator_type"))


def chips_from_type(accelerator_type: str) -> int:
    """Returns the chips of a whole slice, from the number of cores in its pod type, rounded down: 0 for "v3-1".

    Args:
        accelerator_type: a pod type: "v4-16".

    Raises:
        InvalidError: the text does not begin with a generation, has no number, or has a number beyond 64 bits.
    """
    return call_for_number(lib.quoit_ray_chips_from_type, _c.to_text(accelerator_type, "accelerator_type"))


def visible_chips_per_host(accelerator_type: str) -> int:
    """Returns the visible chips of one host: all chips of a v5litepod or v6e slice with up to 8 chips, otherwise 4.

    Args:
        accelerator_type: a pod type: "v6e-8".

    Raises:
        InvalidError: like `chips_from_type`, but the number is read only for v5litepod and v6e.
    """
    return call_for_number(lib.quoit_ray_visible_chips_per_host, _c.to_text(accelerator_type, "accelerator_type"))


def chips_per_host(topology: str, version: str) -> int:
    """Returns the chips of one host: all chips of a v5litepod or v6e slice of 1x1, 2x2 or 2x4, otherwise 4.

    Args:
        topology: "2x4".
        version: a generation in Ray's spelling.

    Raises:
        InvalidError: the topology cannot be read.
    """
    return call_for_number(
        lib.quoit_ray_chips_per_host, _c.to_text(topology, "topology"), _c.to_text(version, "version")
    )


def default_chips_per_vm(topology: str, version: str) -> int:
    """Returns the chips of one host, as Ray computes them for sub-slices.

    The result is all chips of a v5litepod or v6e slice with up to 8 chips, otherwise 4.

    Args:
        topology: "2x4".
        version: a generation in Ray's spelling.

    Raises:
        InvalidError: the topology cannot be read. It is only read for v5litepod and v6e.
    """
    return call_for_number(
        lib.quoit_ray_default_chips_per_vm, _c.to_text(topology, "topology"), _c.to_text(version, "version")
    )


def resource_per_chip(text: str | None) -> int:
    """Returns how many units of the resource TPU one chip counts for, parsed like Ray parses its environment.

    Args:
        text: the value of RAY_TPU_RESOURCE_PER_CHIP; None if it is not set, which gives 1.

    Raises:
        InvalidError: the text has other characters than decimal digits, or the number is 0 or beyond 64 bits.
    """
    return call_for_number(lib.quoit_ray_resource_per_chip, _c.to_text_or_null(text, "text"))


# --- workers ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class WorkerResources(_c.WithFrozenMappings):
    """The number of workers that fill the slices, and the resources of each."""

    num_workers: int
    """The number of workers of all slices."""
    resources: Mapping[str, float]
    """The resources of one worker: the given resources; and 1 CPU and the TPU of one host if they are not given."""


def worker_resources(
    topology: str,
    accelerator_type: str,
    resources_per_worker: Mapping[str, float] | None = None,
    *,
    num_slices: int = 1,
    chips_per_vm: int | None = None,
    tpu_resource_per_chip: int | None = None,
) -> WorkerResources:
    """Returns how many workers fill the slices, and the resources of each worker.

    Like Ray, the function does not check that the topology exists.

    Args:
        topology: the topology of one slice, "4x4".
        accelerator_type: "TPU-V6E", like for `version_from_type`.
        resources_per_worker: the requested resources of each worker; not changed.
        num_slices: the number of slices. With 0 or a negative number, the number of workers is 0 or negative too.
        chips_per_vm: the chips of one host; None for `chips_per_host`.
        tpu_resource_per_chip: how many units of TPU one chip counts for; None for 1.

    Raises:
        InvalidError: topology or type cannot be read, a given number is not positive, the TPU of one worker does
            not divide the TPU of a slice (request a divisor), or the number of workers is beyond 64 bits.
        TypeError: an argument has another type. This is true for every function here.
    """
    # These references keep the C objects alive during the call.
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
    return WorkerResources(int(n_workers[0]), take_resources(asked))


def slices_for_workers(
    topology: str | None,
    accelerator_type: str | None,
    num_workers: int,
    resources_per_worker: Mapping[str, float] | None = None,
    *,
    tpu_resource_per_chip: int | None = None,
) -> int:
    """Returns how many slices the workers need, at least 1.

    Like Ray, the function refuses nothing: if `worker_resources` would refuse the arguments, the result is 1. Call
    `worker_resources` first if you must find wrong arguments.

    Args:
        topology: the topology of one slice, "4x4".
        accelerator_type: "TPU-V6E".
        num_workers: the number of workers.
        resources_per_worker: the requested resources of each worker; not changed.
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
    """Returns the variables by which the slices of one job find each other. The arguments are not checked.

    Args:
        address: the host of the coordinator, used without changes.
        num_slices: the slices of the job.
        slice_id: the slice of this process.
        port: the port of the coordinator; None for Ray's, "8081".

    Returns:
        MEGASCALE_COORDINATOR_ADDRESS, MEGASCALE_PORT, MEGASCALE_NUM_SLICES and MEGASCALE_SLICE_ID, in this order.

    Raises:
        InvalidError: a number is beyond 64 bits.
    """
    return _c.take_pairs(
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
    """Returns a worker's environment after Ray Train's JAX backend has set its variables.

    The backend sets JAX_PLATFORMS if the variable is empty or not set. For more than one slice, the backend replaces
    the MEGASCALE_ variables, but keeps a port that is set. A worker that does not fit into the slices counts as a
    worker of the last slice.

    Args:
        address: the address of worker 0.
        index: the index of the worker in Ray's order: slices sorted as text, workers of a slice by id.
        num_slices: slices of the job.
        topology: the topology of each slice, "4x4".
        accelerator_type: "TPU-V6E".
        resources_per_worker: the resources of each worker; None: the chips of a host.
        env: the worker's environment before; not changed.

    Returns:
        The environment with the changes.

    Raises:
        InvalidError: the job has more than one slice, and `worker_resources` would refuse the arguments for one slice.
    """
    wanted: Any = to_resources_or_null(resources_per_worker, "resources_per_worker")
    before: Any = _c.to_pairs(env, "env")
    return _c.take_pairs(
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
