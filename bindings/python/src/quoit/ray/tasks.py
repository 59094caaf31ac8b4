# SPDX-License-Identifier: Apache-2.0
"""One task or actor a host of reserved slices, each with the environment of where it stands."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _c, errors
from ..groups import GroupState

if TYPE_CHECKING:
    from . import SlicePlacementGroup

__all__ = ["run_on_slice"]

# What joins the slices of a job into one: a job that has a slice for itself must not see it.
_MULTISLICE = "MEGASCALE_"


def run_on_slice(
    fn: Any,
    *args: Any,
    tpu_slice: SlicePlacementGroup,
    slice_index: int | None = None,
    multislice: bool = False,
    env: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> list[Any]:
    """Starts one task, or one actor, in each bundle of a reservation: unless bundles are smaller, one a host.

    Each takes all TPU of its bundle and no CPU, and finds in its environment, before any of its code runs, where it
    stands: ``TPU_WORKER_ID``, ``TPU_WORKER_HOSTNAMES``, ``TPU_NAME``, ``TPU_TOPOLOGY``, ``TPU_ACCELERATOR_TYPE``, as
    ``tpu_slice.environment()`` says. Bundles of one host have that host's.

    Args:
        fn: a function or a class, plain or made by ``ray.remote``.
        *args: given to each.
        tpu_slice: the reservation. It stays the caller's: nothing is given back here.
        slice_index: only this slice of it, 0 for the first; None for all.
        multislice: True: the slices are one job, and ``MEGASCALE_COORDINATOR_ADDRESS``, ``_PORT``, ``_NUM_SLICES`` and
            ``_SLICE_ID`` say so where there are several. False: each slice is a job of its own, and none of them is
            set.
        env: further variables, which go before those above.
        options: of Ray, as ``{"max_retries": 0}``. What says where to run and with what is said here all the same; of a
            ``runtime_env``, here or in the decorator, all is kept, and its ``env_vars`` go before the variables above.
        **kwargs: given to each.

    Returns:
        Object references, or actor handles, slice by slice in the order of ``tpu_slice.slice_names`` and in a slice by
        worker id.

    Raises:
        TypeError: `fn` cannot be made remote, or an argument is of another type.
        quoit.ConflictError: the reservation was given back, or has lost a host: repair it.
        quoit.InvalidError: `slice_index` is not one of the reservation's.
        quoit.NotNowError: addresses of its hosts are not known.
    """
    remote = _made_remote(fn)
    chosen = _slices_chosen(slice_index, tpu_slice.num_slices)
    state = tpu_slice.state
    if state is not GroupState.RESERVED:
        raise errors.ConflictError(
            f"{tpu_slice.group.handle} is '{state.name}': expected RESERVED: repair it, or reserve anew"
        )
    # Ray's options(runtime_env=...) replaces that of the decorator whole.
    own = {**getattr(remote, "_default_options", {}), **(options or {})}
    runtime_env = dict(own.get("runtime_env") or {})
    groups = tpu_slice.placement_groups
    per_slice = tpu_slice.num_bundles // tpu_slice.num_slices
    per_host = tpu_slice.num_bundles // tpu_slice.num_hosts

    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    started = []
    for bundle in (bundle for one in chosen for bundle in range(one * per_slice, (one + 1) * per_slice)):
        where = tpu_slice.environment(bundle // per_host)
        if not multislice:
            where = {name: value for name, value in where.items() if not name.startswith(_MULTISLICE)}
        group, index = (groups[0], bundle) if len(groups) == 1 else (groups[bundle // per_slice], bundle % per_slice)
        stated = {
            **(options or {}),
            "num_cpus": 0,
            "resources": {"TPU": tpu_slice.bundle_resources["TPU"]},
            "runtime_env": {**runtime_env, "env_vars": {**where, **runtime_env.get("env_vars", {}), **(env or {})}},
            "scheduling_strategy": strategies.PlacementGroupSchedulingStrategy(
                placement_group=group, placement_group_bundle_index=index
            ),
        }
        started.append(remote.options(**stated).remote(*args, **kwargs))
    return started


def _made_remote(fn: Any) -> Any:
    if hasattr(fn, "options") and hasattr(fn, "remote"):
        return fn
    if not callable(fn):
        raise TypeError(f"fn: expected a function or a class, or one made by ray.remote, not {type(fn).__name__}")
    ray: Any = importlib.import_module("ray")
    return ray.remote(fn)


def _slices_chosen(slice_index: int | None, n_slices: int) -> range:
    if slice_index is None:
        return range(n_slices)
    one = _c.to_int(slice_index, "slice_index", range(n_slices))
    return range(one, one + 1)
