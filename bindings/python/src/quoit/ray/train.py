# SPDX-License-Identifier: Apache-2.0
"""Runs Ray Train on slices that quoit reserves.

A ``JaxTrainer`` of Ray 2.60 reserves its own slices, one head after the other, when it starts its workers, and releases
the slices at every restart. With a callback of this module in ``RunConfig(callbacks=[...])``, the trainer runs its
workers on slices of quoit instead. Nothing else about the trainer changes.

* `UseSlices` runs the workers on slices that the caller has reserved. The caller releases them.
* `ReserveSlices` lets the run reserve its own slices in the ledger. The run keeps its slices over restarts, replaces
  slices that lose a host, and releases all slices when it ends. An elastic run grows and shrinks without a moment in
  which another job can take a slice that stays.

Ray computes the ranks. Ray sorts slices by their names as text (``s-10`` before ``s-9``), and the workers of a slice by
bundle. quoit pins bundles to worker ids, so that the order is that of `quoit.Profile.RAY_TRAIN`. Ray's JAX backend sets
the environment of the workers. When a run of `ReserveSlices` restarts on other slices, the slices that stay keep their
slice ids, and so their ranks, as far as ids from 0 to n - 1 allow it.

The callbacks replace Ray's class of worker groups (``TrainController.worker_group_cls``), and for elastic runs the
number of workers that Ray thinks possible. Ray has no public API for either. The callbacks check for the private
features that they use, and raise `quoit.VersionError` if Ray lacks one.
"""

from __future__ import annotations

import abc
import dataclasses
import logging
import os
import socket
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

from .. import errors
from ..groups import GroupState
from . import elastic, versions
from .ledgers import SOURCE, get_ray_ledger, ledger_path

try:
    import ray
    from ray.train.v2._internal.constants import is_v2_enabled
    from ray.train.v2._internal.exceptions import WorkerGroupStartupFailedError
    from ray.train.v2._internal.execution.callback import ControllerCallback, WorkerGroupCallback
    from ray.train.v2._internal.execution.controller.controller import TrainController
    from ray.train.v2._internal.execution.worker_group.placement_group_handle import PlacementGroupHandle
    from ray.train.v2._internal.execution.worker_group.worker_group import WorkerGroup
    from ray.train.v2.api.config import ScalingConfig
    from ray.util.placement_group import PlacementGroup, placement_group_table
except ImportError as error:
    if (error.name or "").startswith("ray."):
        raise errors.VersionError(f"ray: expected '{error.name}', as {versions.TESTED[-1]} has") from error
    raise ModuleNotFoundError(
        f"quoit.ray.train needs Ray Train: pip install 'ray[train]=={versions.TESTED[-1]}' ({error})"
    ) from error

if TYPE_CHECKING:
    from ray.train.v2._internal.execution.context import TrainRunContext
    from ray.train.v2._internal.execution.worker_group import WorkerGroupContext

    from . import SlicePlacementGroup
    from .shapes import Shape

__all__ = ["ReserveSlices", "UseSlices", "scaling_config"]

# If the ScalingConfig has an accelerator type, every worker requests 0.001 of a resource with this prefix. quoit's
# bundles do not have this resource, because they are pinned to their hosts and do not need it.
_ACCELERATOR_TYPE = "accelerator_type:"

# How long a host can take to accept a connection before it counts as lost.
_ANSWER_S = 5.0

# How long Ray can take to notice the loss of a host; with its defaults, up to 15 s.
_NOTICE_S = 30.0

# How long an elastic run waits for slices that were free a moment ago, before it decides on its size again.
_RACE_S = 5.0

_PAUSE_S = 0.25

_log = logging.getLogger("quoit.ray")


def scaling_config(slices: SlicePlacementGroup, **options: Any) -> ScalingConfig:
    """Returns the ``ScalingConfig`` of a job that fills `slices`: each worker gets all resources of one bundle.

    Args:
        slices: a reservation.
        **options: further arguments of ``ray.train.ScalingConfig``. They override arguments that follow from `slices`.

    Returns:
        The configuration, for a trainer with ``UseSlices(slices)`` in its callbacks.

    Raises:
        ValueError: Ray refuses the options.
    """
    return ScalingConfig(
        **{
            "use_tpu": True,
            "topology": slices.topology,
            "accelerator_type": f"TPU-{slices.accelerator_version.upper()}",
            "num_workers": slices.num_bundles,
            "resources_per_worker": dict(slices.bundle_resources),
            **options,
        }
    )


def _describe_slices(slices: SlicePlacementGroup) -> str:
    return "slices " + ", ".join(f"'{name}'" for name in slices.slice_names)


def _without_type(resources: Mapping[str, float]) -> dict[str, float]:
    return {name: amount for name, amount in resources.items() if not name.startswith(_ACCELERATOR_TYPE)}


_EXECUTION = "ray.train.v2._internal.execution"
NEEDED_IF_ELASTIC = (
    versions.Feature(
        "the possible number of workers of an elastic run",
        f"{_EXECUTION}.scaling_policy.elastic",
        "ElasticScalingPolicy._count_possible_workers",
    ),
)
"""The private features of Ray Train that this module uses for elastic runs only."""

NEEDED = (
    versions.Feature(
        "the class of worker groups", f"{_EXECUTION}.controller.controller", "TrainController.worker_group_cls"
    ),
    versions.Feature(
        "the creation of a worker group's placement group",
        f"{_EXECUTION}.worker_group.worker_group",
        "WorkerGroup._create_placement_group",
        "worker_group_context",
    ),
    versions.Feature(
        "the creation of the workers of a worker group",
        f"{_EXECUTION}.worker_group.worker_group",
        "WorkerGroup._create_workers",
        "placement_group",
    ),
    versions.Feature("the rank of a worker", f"{_EXECUTION}.context", "DistributedContext", "world_rank"),
    versions.Feature("the node of a worker", f"{_EXECUTION}.worker_group.worker", "ActorMetadata", "node_id"),
    versions.Feature(
        "a callback after the start of the controller",
        f"{_EXECUTION}.callback",
        "ControllerCallback.after_controller_start",
        "train_run_context",
    ),
    versions.Feature(
        "the handle of a placement group",
        f"{_EXECUTION}.worker_group.placement_group_handle",
        "PlacementGroupHandle.wait",
    ),
)
"""The private features of Ray Train that this module uses."""


def _check_ray(needed: tuple[versions.Feature, ...] = NEEDED) -> None:
    if not is_v2_enabled():
        raise errors.VersionError("RAY_TRAIN_V2_ENABLED '0': expected Ray Train's second version")
    lacking = versions.missing(needed)
    if lacking:
        raise errors.VersionError(
            f"ray '{ray.__version__}': expected {', '.join(lacking)}, as {versions.TESTED[-1]} has"
        )


class _Handle(PlacementGroupHandle):
    """The handle by which a worker group of Ray Train uses its placement group and releases it."""

    def __init__(self, placement_group: PlacementGroup, release: Callable[[], None]) -> None:
        self._placement_group = placement_group
        self._release = release

    @property
    def placement_group(self) -> PlacementGroup:
        return self._placement_group

    def ready(self) -> Any:
        return self._placement_group.ready()

    def wait(self, timeout_seconds: float = 30) -> bool:
        return bool(self._placement_group.wait(timeout_seconds))

    def shutdown(self) -> None:
        self._release()


class _SlicesWorkerGroup(WorkerGroup):
    """A worker group that gets its placement group from the callback."""

    def __init__(
        self,
        train_run_context: TrainRunContext,
        worker_group_context: WorkerGroupContext,
        callbacks: list[Any] | None = None,
    ) -> None:
        # An actor that requests the resource of the accelerator type would not fit into the bundles, which lack it.
        resources = _without_type(worker_group_context.resources_per_worker)
        context = dataclasses.replace(worker_group_context, resources_per_worker=resources)
        super().__init__(train_run_context, context, callbacks)

    @property
    def _source(self) -> _SlicesCallback:
        return next(callback for callback in self._callbacks if isinstance(callback, _SlicesCallback))

    def _create_placement_group(
        self, scaling_config: ScalingConfig, worker_group_context: WorkerGroupContext
    ) -> PlacementGroupHandle:
        return self._source.place(scaling_config, worker_group_context, self._worker_group_start_timeout_s)

    def _create_workers(
        self, num_workers: int, placement_group: PlacementGroup, *arguments: Any, **named: Any
    ) -> list[Any]:
        workers: list[Any] = super()._create_workers(num_workers, placement_group, *arguments, **named)
        if named.get("placement_group_bundle_indices") is not None:
            return workers  # some workers are replaced by others in the same bundles, with the same ranks
        return self._source.order(workers)


class _SlicesCallback(ControllerCallback, WorkerGroupCallback, abc.ABC):
    """The base class of the callbacks. It makes the controller use `_SlicesWorkerGroup`."""

    def after_controller_start(self, train_run_context: TrainRunContext) -> None:
        """Sets the class of worker groups in the controller's process, which is an actor."""
        # Ray also sends the configuration to the workers. The callback is removed from it, so that workers do not need
        # quoit.
        run_config = train_run_context.run_config
        run_config.callbacks = [c for c in run_config.callbacks or () if not isinstance(c, _SlicesCallback)]
        TrainController.worker_group_cls = _SlicesWorkerGroup

    @abc.abstractmethod
    def place(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> PlacementGroupHandle:
        """Returns a placement group whose first bundles are for the workers of `context`."""

    def order(self, workers: list[Any]) -> list[Any]:
        """Returns the new workers in the order of their ranks."""
        return workers


def _check_bundles(slices: str, bundle: Mapping[str, float], n_bundles: int, context: WorkerGroupContext) -> None:
    if context.num_workers > n_bundles:
        raise errors.InvalidError(
            f"num_workers '{context.num_workers}': expected at most {n_bundles}, the bundles of {slices}"
        )
    for name, amount in context.resources_per_worker.items():
        if amount > bundle.get(name, 0):
            raise errors.InvalidError(
                f"resources_per_worker '{name}': '{amount:g}': expected at most {bundle.get(name, 0):g}, "
                f"which a bundle of {slices} has"
            )


def _describe_loss(placement_group: PlacementGroup, timeout_s: float) -> str | None:
    """Returns a message if some workers cannot start in the group; None if all can.

    Ray detects a lost host only after about 15 s. A worker that starts on the host before that waits for ever, and Ray
    Train waits for the worker. Therefore this function connects to the raylet of each host. If a raylet does not
    answer, the function waits until Ray detects the loss, because only then the slice can be repaired.
    """
    until = time.monotonic() + timeout_s
    while True:
        row = placement_group_table(placement_group)
        state = row.get("state", "REMOVED")
        if state != "CREATED":
            return f"placement group '{placement_group.id.hex()}' is '{state}'"
        silent = _find_silent_host(set(row["bundles_to_node_id"].values()))
        if silent is None or time.monotonic() > until:
            return silent
        time.sleep(_PAUSE_S)


def _find_silent_host(identities: set[str]) -> str | None:
    """Returns a message about a host that does not answer; None if all answer."""
    nodes: Callable[[], list[dict[str, Any]]] = ray.nodes
    for node in nodes():
        if node["NodeID"] in identities:
            try:
                socket.create_connection((node["NodeManagerAddress"], node["NodeManagerPort"]), _ANSWER_S).close()
            except OSError as error:
                return f"host '{node['NodeManagerAddress']}' does not answer: {error.strerror or error}"
    return None


class UseSlices(_SlicesCallback):
    """Runs the workers of a trainer on slices that the caller has reserved.

    Use ``RunConfig(callbacks=[UseSlices(slices)])`` and `scaling_config` of the same slices. Worker i runs in bundle i
    of the placement group; a job that needs fewer slices uses the first slices. Nothing else is reserved, and nothing
    is released when the run ends or fails. A restart (``FailureConfig(max_failures=...)``) uses the same bundles.

    If the reservation has lost a host, the run ends with ``ray.train.ControllerError``, whose ``controller_failure`` is
    a `quoit.ConflictError`: repair the reservation and call fit() again. If the workers need more than the bundles
    have, ``controller_failure`` is a `quoit.InvalidError`.

    Args:
        slices: a reservation in one placement group. The callback uses the state of the reservation at construction:
            make another callback after ``repair()``.

    Raises:
        quoit.ConflictError: the reservation was released.
        quoit.InvalidError: the reservation has one placement group per slice; Ray Train needs a single group.
        quoit.VersionError: Ray Train lacks a required feature, which the message names.
    """

    def __init__(self, slices: SlicePlacementGroup) -> None:
        _check_ray()
        self._placement_group = slices.placement_group
        if self._placement_group is None:
            raise errors.ConflictError(f"slices of {slices.group.handle}: expected a reservation that was not released")
        self._name = _describe_slices(slices)
        self._bundle = dict(slices.bundle_resources)
        self._n_bundles = slices.num_bundles

    def place(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> PlacementGroupHandle:
        """Returns the caller's placement group, if it has enough resources and its hosts answer."""
        _check_bundles(self._name, self._bundle, self._n_bundles, context)
        lost = _describe_loss(self._placement_group, timeout_s)
        if lost is not None:
            raise errors.ConflictError(
                f"{self._name}: {lost}: expected an intact reservation: repair it, and call fit() again"
            )
        return _Handle(self._placement_group, lambda: None)


class ReserveSlices(_SlicesCallback):
    """Lets a run reserve its own slices in a ledger, all of them or none.

    Use ``RunConfig(callbacks=[ReserveSlices(ledger="fleet.db")])``. The run's ``ScalingConfig`` defines the slices,
    with ``use_tpu``, ``topology``, ``accelerator_type`` and ``num_workers``. The run keeps its slices over restarts
    (``FailureConfig(max_failures=...)``): other jobs cannot take the slices, and only slices that have lost a host are
    replaced. The slices are released when the run ends, fails, or is interrupted. If the processes of the run are
    killed, its slices end like any reservation of a dead driver.

    An elastic run (``num_workers=(min, max)``) also keeps its intact slices when it grows or shrinks. Ray decides the
    size by the hosts that exist, even if other jobs use them. The callback limits this size to the slices that the run
    has or could get now, so that a run starts small in a busy cluster, continues on the slices that are left, and grows
    when slices become free (``elastic_resize_monitor_interval_s``). If fewer slices than the minimum are left and no
    others are free, the run releases them all and waits, because it must not hold slices while it waits for others.

    Slices that stay keep their slice id (MEGASCALE_SLICE_ID), and their workers their ranks; a new slice takes the
    lowest id that is not in use. Ids are always 0 to n - 1, so if a run shrinks to n slices, slices with ids from n on
    get the ids of slices that are gone. A run that starts, also one that resumes an earlier run, has Ray's order.

    If the slices are not free now, the start of the workers fails, like in Ray's own runs, and Ray tries again within
    ``FailureConfig(controller_failure_limit=...)``; the message has the reason. If the request can never fit, the run
    ends at once with ``ray.train.ControllerError``, whose ``controller_failure`` is a `quoit.NeverError`.

    Args:
        ledger: the ledger's file, on the machine of the driver; None: the driver's $QUOIT_DB, else ``./quoit.db``.
        retry_never: True: a request that can never fit (`quoit.NeverError`) is retried, like a request that does not
            fit now. Use True if an autoscaler can add slices that no node list has yet.
        **options: further arguments of `quoit.ray.slice_placement_group`, such as ``bundle_label_selector``.

    Raises:
        quoit.VersionError: Ray Train lacks a required feature, which the message names.
        quoit.NotFoundError: no ledger was named, and there is no ``./quoit.db``.
        quoit.Error: like `quoit.open` and `quoit.create`.
    """

    def __init__(
        self, ledger: str | os.PathLike[str] | None = None, *, retry_never: bool = False, **options: Any
    ) -> None:
        _check_ray()
        # The run opens the ledger in another process. The driver opens it here too, so that errors are raised early.
        get_ray_ledger(ledger)
        self._ledger = ledger_path(ledger)
        self._can_gain_slices = retry_never
        self._options = options
        self._slices: SlicePlacementGroup | None = None
        self._is_running = False
        self._is_elastic = False
        self._is_aborted = False
        # The names of the slices, by slice id, of the last workers.
        self._names: list[str] = []
        # The last limit that was computed without running workers: when, for how many workers, and the limit.
        self._limit = float("-inf"), 0, 0

    def after_controller_start(self, train_run_context: TrainRunContext) -> None:
        """Sets the group's name. If the size of the run can change, limits it to the slices that the run can have."""
        super().after_controller_start(train_run_context)
        # A run that resumes an earlier run has the same name. The id of the run makes the group's name unique.
        name = f"{train_run_context.run_config.name}-{train_run_context.run_id[:8]}"
        self._options = {"name": name, **self._options}
        if train_run_context.scaling_config.elasticity_enabled:
            _check_ray(NEEDED_IF_ELASTIC)
            self._is_elastic = True
            self._limit_policy()

    def _limit_policy(self) -> None:
        from ray.train.v2._internal.execution.scaling_policy.elastic import ElasticScalingPolicy

        count = ElasticScalingPolicy._count_possible_workers

        def count_possible_workers(policy: ElasticScalingPolicy, *arguments: Any, **named: Any) -> int:
            return self.limit_workers(count(policy, *arguments, **named), policy.scaling_config)

        # With Ray, mypy refuses to replace a method; without Ray, the class has no type.
        patched: Any = ElasticScalingPolicy
        patched._count_possible_workers = count_possible_workers

    # --- the size of an elastic run ---

    def limit_workers(self, n_workers: int, scaling_config: ScalingConfig) -> int:
        """Returns the number of workers, at most `n_workers`, for which the run has slices or could get them now."""
        shape = self._slice_shape(scaling_config)
        per_slice = shape.rules.bundles_per_slice
        n_present = 0 if self._slices is None else self._slices.num_slices
        if self._is_running:
            most = n_workers // per_slice
            if most <= n_present:
                return n_workers
            return max(n_present, self._count_slices(shape, n_present, most) or 0) * per_slice
        now = time.monotonic()
        if self._limit[1] == n_workers and now - self._limit[0] < elastic.FRESH_S:
            # While Ray has too few workers, it asks again at once, without a pause.
            time.sleep(_PAUSE_S)
            return self._limit[2]
        limit = self._limit_start(shape, n_workers, scaling_config.min_workers)
        self._limit = time.monotonic(), n_workers, limit
        return limit

    def _limit_start(self, shape: Shape, n_workers: int, min_workers: int) -> int:
        per_slice = shape.rules.bundles_per_slice
        least = max(1, -(-min_workers // per_slice))
        if self._slices is not None:
            # A worker dies some time before Ray notices the loss of its host.
            _describe_loss(self._slices.placement_group, _NOTICE_S)
        number = self._count_slices(shape, least, n_workers // per_slice)
        if number is None:
            return n_workers
        if number < least:
            self._release()
        return number * per_slice

    def _count_slices(self, shape: Shape, least: int, most: int) -> int | None:
        """Returns how many slices the run could have, 0 if fewer than `least`; None if that is not known."""
        try:
            ledger = get_ray_ledger(self._ledger, self._options.get("source", SOURCE))
            group = None if self._count_intact() == 0 or self._slices is None else self._slices.group
            return elastic.count_slices(ledger, shape, group, least, most) if most >= least else 0
        except errors.NeverError:
            return 0 if self._can_gain_slices else None  # place() raises the error
        except errors.Error as error:
            _log.warning("the size of the run is not limited: %s", error)
            return None

    def _slice_shape(self, scaling_config: ScalingConfig) -> Shape:
        topology, accelerator_type = _check_scaling_config(scaling_config)
        resources = _without_type(scaling_config._resources_per_worker_not_none)
        return elastic.slice_shape(topology, accelerator_type, resources, self._options)

    def _count_intact(self) -> int:
        """Returns the number of intact slices of the reservation."""
        if self._slices is None or self._slices.state is GroupState.REMOVED:
            return 0
        return elastic.count_intact(self._slices.group)

    # --- the placement group ---

    def place(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> PlacementGroupHandle:
        """Returns the run's placement group: its present one, repaired or resized if necessary, or a new one."""
        try:
            if self._slices is not None and self._slices.state is GroupState.REMOVED:
                self._release()
            slices = self._slices or self._reserve(scaling_config, context, timeout_s)
            self._slices = slices
            is_lost = _describe_loss(slices.placement_group, timeout_s) is not None
            if slices.num_slices != context.num_slices:
                slices.resize(context.num_slices)
            elif is_lost or self._is_elastic:  # an elastic run also leaves slices with a draining host
                slices.repair()
            lost = _describe_loss(slices.placement_group, timeout_s)
            if lost is not None:
                raise errors.NotNowError(f"{_describe_slices(slices)}: {lost}")
        except errors.RefusedError as error:
            if not (self._is_elastic and self._can_continue(scaling_config)):
                self._release()
            if isinstance(error, errors.NeverError) and not self._can_gain_slices:
                raise
            raise WorkerGroupStartupFailedError(str(error)) from error
        self._is_running = True
        return _Handle(slices.placement_group, self._on_workers_stopped)

    def _can_continue(self, scaling_config: ScalingConfig) -> bool:
        """Returns whether the run can continue on the slices that it still has, without others."""
        n_workers = self._count_intact() * self._slice_shape(scaling_config).rules.bundles_per_slice
        return bool(n_workers >= max(1, scaling_config.min_workers))

    def _reserve(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> SlicePlacementGroup:
        from .slices import slice_placement_group

        topology, accelerator_type = _check_scaling_config(scaling_config)
        options = dict(self._options)
        if self._is_elastic and options.get("bundle_label_selector"):
            shape = self._slice_shape(scaling_config)
            options["bundle_label_selector"] = shape.arguments["bundle_label_selector"] * context.num_slices
        return slice_placement_group(
            topology,
            accelerator_type,
            num_slices=context.num_slices,
            resources_per_bundle=context.resources_per_worker,
            ledger=self._ledger,
            timeout_s=min(timeout_s, _RACE_S) if self._is_elastic else timeout_s,
            **options,
        )

    def order(self, workers: list[Any]) -> list[Any]:
        """Gives the workers of slices that were in the last worker group the ranks that they had there."""
        assert self._slices is not None
        names = self._slices.slice_names
        bundles_per_slice = self._slices.num_bundles // len(names)
        placed = placement_group_table(self._slices.placement_group).get("bundles_to_node_id", {})
        names_by_node = {node: names[bundle // bundles_per_slice] for bundle, node in placed.items()}
        workers_by_slice: dict[str, list[Any]] = {}
        for worker in workers:
            workers_by_slice.setdefault(names_by_node.get(worker.metadata.node_id, ""), []).append(worker)
        if "" in workers_by_slice:
            return workers  # a host was lost and came back as another node: Ray will restart the workers
        self._names = elastic.keep_places(self._names, list(workers_by_slice))
        ordered = [worker for name in self._names for worker in workers_by_slice[name]]
        addresses = list(dict.fromkeys(worker.metadata.node_ip for worker in ordered))
        for rank, worker in enumerate(ordered):
            node_rank = addresses.index(worker.metadata.node_ip)
            worker.distributed_context = dataclasses.replace(
                worker.distributed_context, world_rank=rank, node_rank=node_rank
            )
        return ordered

    # --- the end ---

    def _on_workers_stopped(self) -> None:
        self._is_running = False
        if self._is_aborted:
            self._release()

    def _release(self) -> None:
        slices, self._slices = self._slices, None
        if slices is not None:
            try:
                slices.release()
            except errors.Error as error:
                # The error is only logged, because an exception would hide the result of the run. The slices are free
                # when the lease ends.
                _log.warning("%s were not released: %s", _describe_slices(slices), error)

    async def before_controller_shutdown(self) -> None:
        """Releases the slices after the run has ended or failed, when its workers have stopped."""
        self._release()

    def before_controller_abort(self) -> None:
        """Releases the slices of an interrupted run: at once, or when its workers have stopped if they still run."""
        self._is_aborted = True
        if not self._is_running:
            self._release()


def _check_scaling_config(scaling_config: ScalingConfig) -> tuple[str, str]:
    """Returns topology and accelerator type. Raises InvalidError if they do not define slices."""
    topology, accelerator_type = scaling_config.topology, scaling_config.accelerator_type
    if not (scaling_config.use_tpu and topology and accelerator_type):
        raise errors.InvalidError(
            "scaling_config: expected use_tpu, topology and accelerator_type, which define the slices"
        )
    return topology, accelerator_type
