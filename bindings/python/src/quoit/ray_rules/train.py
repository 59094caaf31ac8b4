# SPDX-License-Identifier: Apache-2.0
"""A model of Ray Train 2.60, without Ray: the workers, slices and ranks of a ScalingConfig for a JaxTrainer.

The model also computes how many workers an elastic job would run, and whether Ray retries after a failure. It uses no
environment or clock. Only `FailurePolicy` has state: the numbers of failures.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .. import _c
from .._c import call, ffi, lib
from .._locks import ThreadLock
from ..errors import InvalidError
from . import _resources
from .slices import SliceGroup, take_request

Selector = Mapping[str, "str | None"]


class _Accelerators(_c.Code):
    """The accelerators of the workers. Ray has two flags, use_gpu and use_tpu, and refuses both together."""

    NONE = 0
    GPU = 1
    TPU = 2
    BOTH = 3


class ScalingConfig(_c.Immutable):
    """The arguments of a ScalingConfig of Ray Train, and their meaning. Immutable.

    The constructor checks the arguments like Ray. Like Ray, it does not check that the topology exists. Ray checks the
    topology when it makes the worker group, and here `slice_placement_group` checks it.

    Args:
        num_workers: the number of workers, with 0 for Ray's local mode; or a tuple (fewest, most) for an elastic
            job, even if both are equal.
        use_gpu: whether the workers use GPUs.
        use_tpu: whether the workers use TPUs. Ray refuses GPUs and TPUs together.
        topology: the topology of each slice, "4x4".
        accelerator_type: "TPU-V6E".
        resources_per_worker: the resources of each worker. None and an empty mapping have different meanings.
        placement_strategy: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD". It is not checked here, because Ray checks
            it only when it makes the group.
        label_selector: one label selector for all workers; or a list with one selector for each worker, as long as
            the largest number of workers.
        elastic_resize_monitor_interval_s: how often the size of a running elastic job is checked, in seconds. The
            interval is rounded to a millisecond.
        tpu_resource_per_chip: how many units of the resource TPU one chip counts for; None is 1. Ray reads
            RAY_TPU_RESOURCE_PER_CHIP of the driver for this: pass its value.
        trainer_resources: None. Ray Train V2 accepts no other value.

    Raises:
        InvalidError: `num_workers` has another form; numbers are below 0 or in the wrong order; TPU or GPU are
            requested but not used, or used but not requested; several workers on TPU have no topology, no type, or
            a selector; the topology cannot be read; the workers do not fill whole slices; the number of selectors
            is not the largest number of workers; or `trainer_resources` were given.
        TypeError: another argument has another type.
    """

    __slots__ = ("_has_selector", "_plan")

    _has_selector: bool
    _plan: Any

    def __init__(
        self,
        *,
        num_workers: int | tuple[int, int] = 1,
        use_gpu: bool = False,
        use_tpu: bool = False,
        topology: str | None = None,
        accelerator_type: str | None = None,
        resources_per_worker: Mapping[str, float] | None = None,
        placement_strategy: str = "PACK",
        label_selector: Selector | Sequence[Selector] | None = None,
        elastic_resize_monitor_interval_s: float = 60.0,
        tpu_resource_per_chip: int | None = None,
        trainer_resources: None = None,
    ) -> None:
        if trainer_resources is not None:
            raise InvalidError(f"trainer_resources {_c.quoted(trainer_resources)}: expected None in Ray Train V2")
        scaling = _c.own_handle(lib.quoit_ray_scaling_new(), lib.quoit_ray_scaling_free)
        _set_workers(scaling, num_workers)
        gpu = _Accelerators.GPU * _c.to_bool(use_gpu, "use_gpu")
        tpu = _Accelerators.TPU * _c.to_bool(use_tpu, "use_tpu")
        lib.quoit_ray_scaling_set_accelerators(scaling, _Accelerators(gpu | tpu))
        lib.quoit_ray_scaling_set_topology(scaling, _c.to_text_or_null(topology, "topology"))
        lib.quoit_ray_scaling_set_accelerator_type(scaling, _c.to_text_or_null(accelerator_type, "accelerator_type"))
        resources = _resources.to_resources_or_null(resources_per_worker, "resources_per_worker")
        lib.quoit_ray_scaling_set_resources(scaling, resources)
        lib.quoit_ray_scaling_set_strategy(scaling, _c.to_text(placement_strategy, "placement_strategy"))
        _set_selectors(scaling, label_selector)
        lib.quoit_ray_scaling_set_monitor_interval(scaling, _interval_ms(elastic_resize_monitor_interval_s))
        if tpu_resource_per_chip is not None:
            factor = _c.to_int(tpu_resource_per_chip, "tpu_resource_per_chip")
            lib.quoit_ray_scaling_set_resource_per_chip(scaling, factor)
        plan = _c.own_handle(call(lib.quoit_ray_train_plan_new, scaling), lib.quoit_ray_train_plan_free)
        object.__setattr__(self, "_has_selector", label_selector is not None)
        object.__setattr__(self, "_plan", plan)

    def __repr__(self) -> str:
        workers = f"{self.min_workers} to {self.max_workers} workers"
        return f"<quoit.ray_rules.ScalingConfig of {workers} with {self.worker_resources}>"

    @property
    def min_workers(self) -> int:
        """The smallest number of workers."""
        return int(lib.quoit_ray_train_plan_get_min_workers(self._plan))

    @property
    def max_workers(self) -> int:
        """The largest number of workers."""
        return int(lib.quoit_ray_train_plan_get_max_workers(self._plan))

    @property
    def elasticity_enabled(self) -> bool:
        """Whether a range of workers was requested."""
        return bool(lib.quoit_ray_train_plan_is_elastic(self._plan))

    @property
    def worker_resources(self) -> dict[str, float]:
        """The resources of each worker. With `accelerator_type`, they include 0.001 of "accelerator_type:TPU-V6E"."""
        return _resources.resources(lib.quoit_ray_train_plan_get_resources(self._plan))

    @property
    def num_tpus_per_worker(self) -> float:
        """The amount of TPU in `worker_resources`."""
        return self.worker_resources.get("TPU", 0.0)

    @property
    def total_resources(self) -> dict[str, float]:
        """The resources of `max_workers` workers together."""
        return _resources.take_resources(lib.quoit_ray_train_plan_dup_total_resources(self._plan))

    @property
    def placement_strategy(self) -> str:
        """The strategy of the placement group."""
        return _c.text(lib.quoit_ray_train_plan_get_strategy(self._plan))

    @property
    def workers_per_slice(self) -> int:
        """The number of workers that fill one slice; 0 if the job requests no slices."""
        return int(lib.quoit_ray_train_plan_get_workers_per_slice(self._plan))

    @property
    def uses_slices(self) -> bool:
        """Whether Ray runs the workers on slices; otherwise it uses a plain placement group."""
        request = lib.quoit_ray_train_plan_dup_slice_request(self._plan, self.max_workers)
        lib.quoit_ray_slice_request_free(request)
        return bool(request != _c.NULL)

    def num_slices(self, num_workers: int) -> int:
        """Returns the number of slices that Ray computes for the workers of one run; 1 if the job requests none."""
        return int(lib.quoit_ray_train_plan_n_slices(self._plan, _c.to_int(num_workers, "num_workers")))

    def slice_placement_group(self, num_workers: int) -> SliceGroup | None:
        """Returns Ray's request for slices for this number of workers; None: a plain placement group.

        Raises:
            InvalidError: Ray refuses the request when it makes the worker group, for example because Ray does not list
                the topology.
        """
        request = lib.quoit_ray_train_plan_dup_slice_request(self._plan, _c.to_int(num_workers, "num_workers"))
        return None if request == _c.NULL else take_request(request)

    def label_selector_per_worker(self, num_workers: int) -> tuple[dict[str, str | None], ...] | None:
        """Returns the label selectors of `num_workers` workers, at most `max_workers`; None if none was given."""
        if not self._has_selector:
            return None
        workers = range(min(_c.to_int(num_workers, "num_workers"), self.max_workers))
        return tuple(_resources.selector(lib.quoit_ray_train_plan_get_labels(self._plan, worker)) for worker in workers)

    def count_possible_workers(
        self, reserved_resources: Mapping[str, Mapping[str, float]], num_intact_slices: int | None = None
    ) -> int:
        """Returns how many workers an elastic job would run.

        The result is the number of workers that fit on the nodes, but at most `max_workers`. If the workers run on
        slices, only workers of whole slices count. Like Ray, it divides floating-point numbers, so that a worker can
        seem not to fit: on a node with 0.5 of a resource, not five but four workers with 0.1 each can fit.

        Args:
            reserved_resources: the job's resources on each node.
            num_intact_slices: the result of Ray's get_num_tpu_slices(), which limits the workers; None: no limit, like
                in Ray if it cannot determine the number.

        Raises:
            InvalidError: workers request negative amounts, or amounts of nodes are not finite.
        """
        what = "reserved_resources"
        nodes = [
            _resources.to_resources(amounts, f"{what}[{_c.quoted(node)}]")
            for node, amounts in _resources.items(reserved_resources, what, "resources")
        ]
        intact = _resources.to_int_or_null(num_intact_slices, "num_intact_slices")
        array = ffi.new("QuoitRayResources *[]", nodes)
        return _resources.call_for_number(lib.quoit_ray_train_count_possible, self._plan, array, len(nodes), intact)

    def would_start(self, possible_workers: int | None) -> bool:
        """Returns whether an elastic job starts with this number of workers. If it is unknown (None), the job waits."""
        possible = _resources.to_int_or_null(possible_workers, "possible_workers")
        return bool(lib.quoit_ray_train_would_start(self._plan, possible))

    def is_resize_check_due(self, started_ms: int, checked_ms: int | None, now_ms: int) -> bool:
        """Returns whether it is time to check the size of a running elastic job.

        If the result is True, pass this `now_ms` as `checked_ms` in the next call. All times are in milliseconds of one
        clock, with any origin.

        Args:
            started_ms: when the workers started.
            checked_ms: when the size was last checked; None: not yet.
            now_ms: the caller's clock.
        """
        checked = _resources.to_int_or_null(checked_ms, "checked_ms")
        started = _c.to_int(started_ms, "started_ms")
        return bool(lib.quoit_ray_train_is_resize_check_due(self._plan, started, checked, _c.to_int(now_ms, "now_ms")))

    def would_resize(self, num_running: int, possible_workers: int | None) -> bool:
        """Returns whether a running elastic job restarts with another size, when its size is checked.

        Args:
            num_running: the running workers.
            possible_workers: the result of `count_possible_workers`; None: it is unknown, and the job continues.
        """
        possible = _resources.to_int_or_null(possible_workers, "possible_workers")
        return bool(lib.quoit_ray_train_would_resize(self._plan, _c.to_int(num_running, "num_running"), possible))


def _set_workers(scaling: Any, num_workers: object) -> None:
    """Sets the number of workers. Accepts a bool and refuses numpy's integers, because Ray checks with isinstance()."""
    is_range = isinstance(num_workers, tuple)
    ends: Sequence[object] = num_workers if isinstance(num_workers, tuple) else (num_workers,)
    numbers = [_c.to_ray_int(number, "num_workers") for number in ends if isinstance(number, int)]
    if len(numbers) != len(ends) or len(ends) != (2 if is_range else 1):
        raise InvalidError(f"num_workers {_c.quoted(num_workers)}: expected an int or a tuple of two ints")
    if is_range:
        lib.quoit_ray_scaling_set_worker_range(scaling, *numbers)
    else:
        lib.quoit_ray_scaling_set_n_workers(scaling, *numbers)


def _set_selectors(scaling: Any, label_selector: Selector | Sequence[Selector] | None) -> None:
    if label_selector is None:
        return
    if isinstance(label_selector, Mapping):
        lib.quoit_ray_scaling_set_selector(scaling, _resources.to_selector(label_selector, "label_selector"))
        return
    listed = _c.to_iterable(label_selector, "label_selector", "mappings")
    each = [_resources.to_selector(one, f"label_selector[{index}]") for index, one in enumerate(listed)]
    lib.quoit_ray_scaling_set_selectors(scaling, ffi.new("QuoitRayLabels *[]", each), len(each))


def _interval_ms(seconds: object) -> int:
    """Converts the interval to milliseconds. In Ray's comparison, NaN means no wait, and infinity an endless one."""
    number = _c.to_float(seconds, "elastic_resize_monitor_interval_s")
    if math.isnan(number):
        return 0
    return -1 if number < 0 else round(min(number * 1000, 2.0**62))


# --- ranks --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class WorkerRank:
    """The ranks of a worker. The index of this object in its tuple is the world rank of the worker."""

    worker: int
    """The index of the worker in the arguments."""
    local_rank: int
    """The index among the workers of the same node."""
    local_world_size: int
    """The number of workers on the worker's node."""
    node_rank: int
    """The index of the worker's node, in the order in which nodes get ranks."""


def rank_by_slice(slice_names: Sequence[str | None], nodes: Sequence[str]) -> tuple[WorkerRank, ...]:
    """Ranks workers with TPU: by slice name as text, "s-10" before "s-9"; the workers of a slice in the given order.

    Ray does not sort the workers of a slice by worker id.

    Args:
        slice_names: the TPU_NAME of each worker's process, in the order of bundles; None without one.
        nodes: the address of each worker's node.

    Raises:
        InvalidError: there are not as many nodes as names.
    """
    listed = list(_c.to_iterable(slice_names, "slice_names", "str"))
    names = _c.to_texts(["" if name is None else name for name in listed], "slice_names")
    addresses = _c.to_texts(nodes, "nodes")
    _check_length("nodes", len(addresses) - 1, len(listed))
    return _take_ranks(lib.quoit_ray_ranks_new_by_slice(names, addresses, len(listed)), len(listed))


def rank_by_node(
    node_ids: Sequence[str], lowest_gpu: Sequence[int] | None = None, first_id: str | None = None
) -> tuple[WorkerRank, ...]:
    """Ranks workers without TPU: by node, in the order of their first workers, and on a node by their lowest GPU.

    Args:
        node_ids: the id of each worker's node, in the order of bundles.
        lowest_gpu: the lowest GPU of each worker; None for workers without GPU.
        first_id: the id of the node that always comes first.

    Raises:
        InvalidError: there are not as many GPUs as workers.
    """
    nodes = _c.to_texts(node_ids, "node_ids")
    num_workers = len(nodes) - 1
    gpus = _c.NULL
    if lowest_gpu is not None:
        listed = list(_c.to_iterable(lowest_gpu, "lowest_gpu", "int"))
        _check_length("lowest_gpu", len(listed), num_workers)
        gpus = ffi.new("int64_t[]", [_c.to_int(gpu, f"lowest_gpu[{index}]") for index, gpu in enumerate(listed)])
    first = _c.to_text_or_null(first_id, "first_id")
    return _take_ranks(lib.quoit_ray_ranks_new_by_node(nodes, gpus, first, num_workers), num_workers)


def _check_length(what: str, length: int, expected: int) -> None:
    if length != expected:
        raise InvalidError(f"{what} '{length}': expected one for each of {expected} workers")


def _take_ranks(pointer: Any, num_workers: int) -> tuple[WorkerRank, ...]:
    ranks = tuple(
        WorkerRank(
            int(lib.quoit_ray_ranks_get_worker(pointer, rank)),
            int(lib.quoit_ray_ranks_get_local_rank(pointer, rank)),
            int(lib.quoit_ray_ranks_get_local_size(pointer, rank)),
            int(lib.quoit_ray_ranks_get_node_rank(pointer, rank)),
        )
        for rank in range(num_workers)
    )
    lib.quoit_ray_ranks_free(pointer)
    return ranks


def slice_id(rank: int, workers_per_slice: int, num_slices: int) -> int:
    """Returns the slice that the JAX backend assigns to a worker. Only the rank of the worker determines it.

    Workers that do not fit into the slices are assigned to the last slice.

    Args:
        rank: the world rank of the worker, from 0.
        workers_per_slice: the number of workers that fill a slice, 1 or more.
        num_slices: the slices of the job, 1 or more.

    Raises:
        InvalidError: `rank` is below 0, or another number is below 1.
    """
    positive = range(1, _c.INT64.stop)
    per_slice = _c.to_int(workers_per_slice, "workers_per_slice", positive)
    slices = _c.to_int(num_slices, "num_slices", positive)
    return int(lib.quoit_ray_train_slice_id(_c.to_int(rank, "rank", range(_c.INT64.stop)), per_slice, slices))


# --- failures -----------------------------------------------------------------------------------------------------


class FailureKind(_c.Code):
    """The cause of a failed run."""

    WORKER = 0
    """A worker failed."""
    STARTUP_FAILED = 1
    """The workers could not start."""
    STARTUP_TIMEOUT = 2
    """The workers did not start in time."""
    PREEMPTION = 3
    """A node was preempted."""
    CONTROLLER = 4
    """Any other failure, also of an unknown kind."""


class FailureDecision(_c.Code):
    """Ray's reaction to a failure."""

    RAISE = 0
    """The run ends."""
    RETRY = 1
    """The run starts again."""


class FailurePolicy(_c.Uncopyable):
    """The failures of a run so far, and their limits. Any thread can use it, but not a child of fork(2).

    Each limit has its own count. -1 means no limit.

    Args:
        max_failures: the limit for failures of workers.
        controller_failure_limit: the limit for starts that fail or take too long.
        max_preemption_failures: the limit for preemptions of nodes.

    Raises:
        InvalidError: a number is beyond 64 bits.
        TypeError: an argument has another type.
    """

    __slots__ = ("_handle", "_lock")

    def __init__(
        self, max_failures: int = 0, controller_failure_limit: int = -1, max_preemption_failures: int = -1
    ) -> None:
        limits = (
            _c.to_ray_int(max_failures, "max_failures"),
            _c.to_ray_int(controller_failure_limit, "controller_failure_limit"),
            _c.to_ray_int(max_preemption_failures, "max_preemption_failures"),
        )
        self._handle = _c.own_handle(lib.quoit_ray_failures_new(*limits), lib.quoit_ray_failures_free)
        self._lock = ThreadLock("failure policy")

    def make_decision(self, kind: FailureKind) -> FailureDecision:
        """Counts a failure and returns Ray's decision.

        Raises:
            TypeError: `kind` is not a FailureKind.
            FailedError: in a child of fork(2).
        """
        number = _c.to_member(FailureKind, kind, "kind")
        with self._lock.acquire():
            return FailureDecision(lib.quoit_ray_failures_retries(self._handle, number))
