# SPDX-License-Identifier: Apache-2.0
"""Runs Ray Train on slices that quoit reserves.

A ``JaxTrainer`` of Ray 2.60 reserves its own slices, one head after the other, when it starts its workers, and releases
them at every restart. With a callback of this module in ``RunConfig(callbacks=[...])``, it runs the workers on slices
of quoit instead. Nothing else about the trainer changes.

* `UseSlices` runs the workers on slices that the caller has reserved. The caller releases them.
* `ReserveSlices` lets the run reserve its own slices in the ledger. The run keeps them over restarts, replaces those
  that lose a host, and releases them when it ends.

Ray computes the ranks. It sorts slices by their names as text (``s-10`` before ``s-9``), and the workers of a slice by
bundle, which quoit pins to worker ids. That is the order of `quoit.Profile.RAY_TRAIN`. Ray's JAX backend sets the
environment of the workers.

The callbacks replace Ray's class of worker groups (``TrainController.worker_group_cls``), for which Ray has no public
API. They check for the private features that they use, and raise `quoit.VersionError` if Ray lacks one.
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

# With an accelerator type in the ScalingConfig, every worker requests 0.001 of this resource. quoit's bundles do not
# have it: they are pinned to their hosts.
_ACCELERATOR_TYPE = "accelerator_type:"

# How long a host can take to accept a connection before it counts as lost.
_ANSWER_S = 5.0

_PAUSE_S = 0.25

_log = logging.getLogger("quoit.ray")


def scaling_config(slices: SlicePlacementGroup, **options: Any) -> ScalingConfig:
    """Returns the ``ScalingConfig`` of a job that fills `slices`: one worker per bundle, with all its resources.

    Args:
        slices: a reservation.
        **options: further arguments of ``ray.train.ScalingConfig``; they override those from `slices`.

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
    """The placement group of a worker group."""

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
        # An actor that requests the accelerator type would not fit into the bundles, which do not have it.
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
        # Ray sends the configuration to the workers too. Without the callback in it, they do not need quoit.
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
    Train waits for the worker. Therefore this function connects to the raylet of each host. If one does not answer, it
    waits until Ray detects the loss, because the repair needs that.
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

    Use ``RunConfig(callbacks=[UseSlices(slices)])`` and `scaling_config` of the same slices. Worker i, in the order of
    the placement group, runs in bundle i; a job with fewer slices uses the first ones. Nothing else is reserved, and
    nothing is released when the run ends or fails. A restart (``FailureConfig(max_failures=...)``) uses the same
    bundles.

    If the reservation has lost a host, the run ends with ``ray.train.ControllerError``, and its ``controller_failure``
    is a `quoit.ConflictError`: repair the reservation and call fit() again. If the workers need more than the bundles
    have, it is a `quoit.InvalidError`.

    Args:
        slices: a reservation in one placement group. The callback uses its state at construction: make another one
            after ``repair()``.

    Raises:
        quoit.ConflictError: it was released.
        quoit.InvalidError: it has one placement group per slice; Ray Train needs a single one.
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
    (``FailureConfig(max_failures=...)``): other jobs cannot take them, and only those that have lost a host are
    replaced. An elastic run releases them at each restart, because Ray counts free resources to choose its size. The
    slices are released when the run ends, fails, or is interrupted. If its processes are killed, they end like any
    reservation of a dead driver.

    If the slices are not free now, the run fails like Ray's own runs and tries again within
    ``FailureConfig(controller_failure_limit=...)``; the message has the reason. If they can never be free, it ends at
    once with ``ray.train.ControllerError``, and its ``controller_failure`` is the `quoit.NeverError`.

    Args:
        ledger: the ledger's file, on the machine of the driver; None: the driver's $QUOIT_DB, else ``./quoit.db``.
        retry_never: True if an autoscaler can add slices that no node list has yet: requests that can never fit are
            then retried like those that do not fit now.
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
        # The run opens the ledger in another process. It is opened here too, so that errors are raised early.
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
        # A run that resumes another one has the same name. The id makes the name unique.
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
                # Without a release, the slices are free when the lease ends. An exception would hide the result of the
                # run.
                _log.warning("%s were not released: %s", _describe_slices(slices), error)

    async def before_controller_shutdown(self) -> None:
        """Releases the slices after the run has ended or failed, when its workers have stopped."""
        self._release()

    def before_controller_abort(self) -> None:
        """Releases the slices of an interrupted run. If workers still run, it waits until they have stopped."""
        self._keeps_slices = False
        if not self._is_running:
            self._release()
