# SPDX-License-Identifier: Apache-2.0
"""Starts one task or actor in each bundle of reserved slices, with the environment for the bundle's host."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _c, errors
from ..groups import GroupState

if TYPE_CHECKING:
    from . import SlicePlacementGroup

__all__ = ["run_on_slice"]

# The prefix of the variables that connect the slices of a job. A job on a single slice must not have them.
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
    """Starts one task, or one actor, in each bundle of a reservation: one per host, unless bundles are smaller.

    Each task or actor takes all TPU of its bundle and no CPU. Before its code runs, ``TPU_WORKER_ID``,
    ``TPU_WORKER_HOSTNAMES``, ``TPU_NAME``, ``TPU_TOPOLOGY`` and ``TPU_ACCELERATOR_TYPE`` are set to the values of
    ``tpu_slice.environment()``. Bundles of one host have the same values.

    Args:
        fn: a function or a class, plain or from ``ray.remote``.
        *args: arguments for each call.
        tpu_slice: the reservation. The caller still has to release it.
        slice_index: the index of a slice of the reservation, from 0: only this slice is used. None: all slices.
        multislice: True: the slices form one job, and with several slices ``MEGASCALE_COORDINATOR_ADDRESS``,
            ``_PORT``, ``_NUM_SLICES`` and ``_SLICE_ID`` are set. False: each slice is a separate job, and these
            variables are not set.
        env: further variables, which override the variables above.
        options: options of Ray, such as ``{"max_retries": 0}``. This function overrides the options for placement and
            resources. It keeps a ``runtime_env`` of the options or of the decorator, whose ``env_vars`` override the
            variables above, but not `env`.
        **kwargs: keyword arguments for each call.

    Returns:
        Object references, or actor handles, slice by slice in the order of ``tpu_slice.slice_names``. Those of a slice
            are in the order of worker ids.

    Raises:
        TypeError: `fn` cannot be made remote, or an argument has another type.
        quoit.ConflictError: the reservation was released, or has lost a host: repair it.
        quoit.InvalidError: the reservation has no slice `slice_index`.
        quoit.NotNowError: addresses of its hosts are unknown.
    """
    remote = _to_remote(fn)
    chosen = _selected_slices(slice_index, tpu_slice.num_slices)
    state = tpu_slice.state
    if state is not GroupState.RESERVED:
        raise errors.ConflictError(
            f"{tpu_slice.group.handle} is '{state.name}': expected RESERVED: repair it, or reserve again"
        )
    # Ray's options(runtime_env=...) replaces the whole runtime_env of the decorator, so the two are merged here.
    own = {**getattr(remote, "_default_options", {}), **(options or {})}
    runtime_env = dict(own.get("runtime_env") or {})
    groups = tpu_slice.placement_groups
    per_slice = tpu_slice.num_bundles // tpu_slice.num_slices
    per_host = tpu_slice.num_bundles // tpu_slice.num_hosts

    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    started = []
    for bundle in (bundle for one in chosen for bundle in range(one * per_slice, (one + 1) * per_slice)):
        variables = tpu_slice.environment(bundle // per_host)
        if not multislice:
            variables = {name: value for name, value in variables.items() if not name.startswith(_MULTISLICE)}
        group, index = (groups[0], bundle) if len(groups) == 1 else (groups[bundle // per_slice], bundle % per_slice)
        call_options = {
            **(options or {}),
            "num_cpus": 0,
            "resources": {"TPU": tpu_slice.bundle_resources["TPU"]},
            "runtime_env": {**runtime_env, "env_vars": {**variables, **runtime_env.get("env_vars", {}), **(env or {})}},
            "scheduling_strategy": strategies.PlacementGroupSchedulingStrategy(
                placement_group=group, placement_group_bundle_index=index
            ),
        }
        started.append(remote.options(**call_options).remote(*args, **kwargs))
    return started


def _to_remote(fn: Any) -> Any:
    if hasattr(fn, "options") and hasattr(fn, "remote"):
        return fn
    if not callable(fn):
        raise TypeError(f"fn: expected a function or a class, or one made by ray.remote, not {type(fn).__name__}")
    ray: Any = importlib.import_module("ray")
    return ray.remote(fn)


def _selected_slices(slice_index: int | None, n_slices: int) -> range:
    if slice_index is None:
        return range(n_slices)
    one = _c.to_int(slice_index, "slice_index", range(n_slices))
    return range(one, one + 1)
