# SPDX-License-Identifier: Apache-2.0
"""Runs Ray Train on slices that quoit reserves.

A ``JaxTrainer`` of Ray 2.60 reserves its own slices, one head after the other, when it starts its workers, and releases
the slices at every restart. With a callback of this module in ``RunConfig(callbacks=[...])``, the trainer runs its
workers on slices of quoit instead. Nothing else about the trainer changes.

* `UseSlices` runs the workers on slices that the caller has reserved. The caller releases them.
* `ReserveSlices` lets the run reserve its own slices in the ledger. The run keeps its slices over restarts, replaces
  slices that lose a host, and releases all slices when it ends.

Ray computes the ranks. Ray sorts slices by their names as text (``s-10`` before ``s-9``), and the workers of a slice by
bundle. quoit pins bundles to worker ids, so that the order is that of `quoit.Profile.RAY_TRAIN`. Ray's JAX backend sets
the environment of the workers.

The callbacks replace Ray's class of worker groups (``TrainController.worker_group_cls``), for which Ray has no public
API. The callbacks check for the private features that they use, and raise `quoit.VersionError` if Ray lacks one.
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
from . import versions
from .ledgers import get_ray_ledger, ledger_path

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

__all__ = ["ReserveSlices", "UseSlices", "scaling_config"]

# If the ScalingConfig has an accelerator type, every worker requests 0.001 of a resource with this prefix. quoit's
# bundles do not have this resource, because they are pinned to their hosts and do not need it.
_ACCELERATOR_TYPE = "accelerator_type:"

# How long a host can take to accept a connection before it counts as lost.
_ANSWER_S = 5.0

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


def _check_ray() -> None:
    if not is_v2_enabled():
        raise errors.VersionError("RAY_TRAIN_V2_ENABLED '0': expected Ray Train's second version")
    lacking = versions.missing(NEEDED)
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

    def _create_placement_group(
        self, scaling_config: ScalingConfig, worker_group_context: WorkerGroupContext
    ) -> PlacementGroupHandle:
        source = next(callback for callback in self._callbacks if isinstance(callback, _SlicesCallback))
        return source.place(scaling_config, worker_group_context, self._worker_group_start_timeout_s)


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
    replaced. An elastic run releases its slices at each restart, because Ray chooses the size of the run by the free
    resources. The slices are released when the run ends, fails, or is interrupted. If the processes of the run are
    killed, its slices end like any reservation of a dead driver.

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
        self._keeps_slices = True

    def after_controller_start(self, train_run_context: TrainRunContext) -> None:
        """Sets the group's name, and whether the size of the run can change."""
        super().after_controller_start(train_run_context)
        # A run that resumes an earlier run has the same name. The id of the run makes the group's name unique.
        name = f"{train_run_context.run_config.name}-{train_run_context.run_id[:8]}"
        self._options = {"name": name, **self._options}
        if train_run_context.scaling_config.elasticity_enabled:
            self._keeps_slices = False

    def place(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> PlacementGroupHandle:
        """Returns the run's placement group: its present one, repaired if necessary, or a new one."""
        try:
            slices = self._slices or self._reserve(scaling_config, context, timeout_s)
            self._slices = slices
            if _describe_loss(slices.placement_group, timeout_s):
                slices.repair()
            lost = _describe_loss(slices.placement_group, timeout_s)
            if lost is not None:
                raise errors.NotNowError(f"{_describe_slices(slices)}: {lost}")
        except errors.RefusedError as error:
            self._release()
            if isinstance(error, errors.NeverError) and not self._can_gain_slices:
                raise
            raise WorkerGroupStartupFailedError(str(error)) from error
        self._is_running = True
        return _Handle(slices.placement_group, self._on_workers_stopped)

    def _reserve(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> SlicePlacementGroup:
        from .slices import slice_placement_group

        topology, accelerator_type = scaling_config.topology, scaling_config.accelerator_type
        if not (scaling_config.use_tpu and topology and accelerator_type):
            raise errors.InvalidError(
                "scaling_config: expected use_tpu, topology and accelerator_type, which define the slices"
            )
        return slice_placement_group(
            topology,
            accelerator_type,
            num_slices=context.num_slices,
            resources_per_bundle=context.resources_per_worker,
            ledger=self._ledger,
            timeout_s=timeout_s,
            **self._options,
        )

    def _on_workers_stopped(self) -> None:
        self._is_running = False
        if not self._keeps_slices:
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
        self._keeps_slices = False
        if not self._is_running:
            self._release()
