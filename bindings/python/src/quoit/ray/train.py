# SPDX-License-Identifier: Apache-2.0
"""Ray Train on the slices that quoit reserved.

A ``JaxTrainer`` of Ray 2.60 reserves its own slices, one head after the other, when it starts its workers, and gives
them back at every restart. A callback of this module, in ``RunConfig(callbacks=[...])``, puts the workers on slices of
quoit's instead; the trainer is Ray's own and everything else of it stays as it is.

* `UseSlices` runs the workers on slices that the caller holds. The caller gives them back.
* `ReserveSlices` has the run reserve its slices itself, in the ledger, keep them over restarts, replace those that
  lose a host, and give them back when it ends.

Ranks are Ray's: slices by their names as text (``s-10`` before ``s-9``), and in a slice bundle after bundle, which
quoit pins to worker ids; that is the order of the profile ``ray-train`` of `quoit.Topology`. The environment of the
workers is the one that Ray's JAX backend makes.

Ray has a place for another kind of worker group (``TrainController.worker_group_cls``), but no public way to it. What
is used of it is looked for when a callback is made: a Ray that lacks it is refused with `quoit.VersionError`.
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
from .ledgers import file_of, ledger_of

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

# A ScalingConfig with an accelerator type has every worker ask for a thousandth of this, which no bundle needs that is
# pinned to a slice.
_ACCELERATOR_TYPE = "accelerator_type:"

# How long a host may take to answer before it is said to be gone.
_ANSWER_S = 5.0

_PAUSE_S = 0.25

_log = logging.getLogger("quoit.ray")


def scaling_config(slices: SlicePlacementGroup, **options: Any) -> ScalingConfig:
    """The ``ScalingConfig`` of a job that fills `slices`: one worker a bundle, with all that the bundle has.

    Args:
        slices: a reservation.
        **options: further arguments of ``ray.train.ScalingConfig``; they go before what follows from `slices`.

    Returns:
        The configuration, for a trainer that has ``UseSlices(slices)`` among its callbacks.

    Raises:
        ValueError: Ray's, for options that it refuses.
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


def _named(slices: SlicePlacementGroup) -> str:
    return "slices " + ", ".join(f"'{name}'" for name in slices.slice_names)


def _without_type(resources: Mapping[str, float]) -> dict[str, float]:
    return {name: amount for name, amount in resources.items() if not name.startswith(_ACCELERATOR_TYPE)}


_EXECUTION = "ray.train.v2._internal.execution"
NEEDED = (
    versions.Feature(
        "another kind of worker group", f"{_EXECUTION}.controller.controller", "TrainController.worker_group_cls"
    ),
    versions.Feature(
        "a worker group's own placement group",
        f"{_EXECUTION}.worker_group.worker_group",
        "WorkerGroup._create_placement_group",
        "worker_group_context",
    ),
    versions.Feature(
        "callbacks before a controller starts",
        f"{_EXECUTION}.callback",
        "ControllerCallback.after_controller_start",
        "train_run_context",
    ),
    versions.Feature(
        "a handle of a placement group",
        f"{_EXECUTION}.worker_group.placement_group_handle",
        "PlacementGroupHandle.wait",
    ),
)
"""What is used of Ray Train that it does not promise."""


def _check_ray() -> None:
    if not is_v2_enabled():
        raise errors.VersionError("RAY_TRAIN_V2_ENABLED '0': expected Ray Train's second version")
    lacking = versions.missing(NEEDED)
    if lacking:
        raise errors.VersionError(
            f"ray '{ray.__version__}': expected {', '.join(lacking)}, as {versions.TESTED[-1]} has"
        )


class _Handle(PlacementGroupHandle):
    """What a worker group knows of the placement group it runs in."""

    def __init__(self, placement_group: PlacementGroup, give_back: Callable[[], None]) -> None:
        self._placement_group = placement_group
        self._give_back = give_back

    @property
    def placement_group(self) -> PlacementGroup:
        return self._placement_group

    def ready(self) -> Any:
        return self._placement_group.ready()

    def wait(self, timeout_seconds: float = 30) -> bool:
        return bool(self._placement_group.wait(timeout_seconds))

    def shutdown(self) -> None:
        self._give_back()


class _SlicesWorkerGroup(WorkerGroup):
    """A worker group that asks its callback for a placement group."""

    def __init__(
        self,
        train_run_context: TrainRunContext,
        worker_group_context: WorkerGroupContext,
        callbacks: list[Any] | None = None,
    ) -> None:
        # The bundles have no part of the accelerator type: an actor that asks for it would fit into none.
        resources = _without_type(worker_group_context.resources_per_worker)
        context = dataclasses.replace(worker_group_context, resources_per_worker=resources)
        super().__init__(train_run_context, context, callbacks)

    def _create_placement_group(
        self, scaling_config: ScalingConfig, worker_group_context: WorkerGroupContext
    ) -> PlacementGroupHandle:
        source = next(callback for callback in self._callbacks if isinstance(callback, _SlicesCallback))
        return source.place(scaling_config, worker_group_context, self._worker_group_start_timeout_s)


class _SlicesCallback(ControllerCallback, WorkerGroupCallback, abc.ABC):
    """Gives a controller another kind of worker group."""

    def after_controller_start(self, train_run_context: TrainRunContext) -> None:
        """The controller, an actor and so a process of its own, starts its worker groups on slices from now on."""
        # The workers are sent the configuration. They need no callback of their controller's, and so no quoit.
        run_config = train_run_context.run_config
        run_config.callbacks = [c for c in run_config.callbacks or () if not isinstance(c, _SlicesCallback)]
        TrainController.worker_group_cls = _SlicesWorkerGroup

    @abc.abstractmethod
    def place(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> PlacementGroupHandle:
        """A placement group whose first bundles take the workers of `context`."""


def _check_bundles(slices: str, bundle: Mapping[str, float], n_bundles: int, context: WorkerGroupContext) -> None:
    if context.num_workers > n_bundles:
        raise errors.InvalidError(
            f"num_workers '{context.num_workers}': expected at most {n_bundles}, the bundles of {slices}"
        )
    for name, amount in context.resources_per_worker.items():
        if amount > bundle.get(name, 0):
            raise errors.InvalidError(
                f"resources_per_worker '{name}': '{amount:g}': expected at most {bundle.get(name, 0):g}, "
                f"what a bundle of {slices} has"
            )


def _lost(placement_group: PlacementGroup, timeout_s: float) -> str | None:
    """What of the group cannot take a worker; None: all of it can.

    Ray notices after some 15 s that a host is gone. A worker that is started on it before waits for ever, and Ray
    Train with it: so its raylet is asked. Where it is silent Ray is given the time to notice, as nothing can be
    repaired before.
    """
    until = time.monotonic() + timeout_s
    while True:
        row = placement_group_table(placement_group)
        state = row.get("state", "REMOVED")
        if state != "CREATED":
            return f"placement group '{placement_group.id.hex()}' is '{state}'"
        silent = _silent(set(row["bundles_to_node_id"].values()))
        if silent is None or time.monotonic() > until:
            return silent
        time.sleep(_PAUSE_S)


def _silent(identities: set[str]) -> str | None:
    """A node that does not answer, and why; None: all do."""
    nodes: Callable[[], list[dict[str, Any]]] = ray.nodes
    for node in nodes():
        if node["NodeID"] in identities:
            try:
                socket.create_connection((node["NodeManagerAddress"], node["NodeManagerPort"]), _ANSWER_S).close()
            except OSError as error:
                return f"host '{node['NodeManagerAddress']}' does not answer: {error.strerror or error}"
    return None


class UseSlices(_SlicesCallback):
    """Runs the workers of a trainer on slices that the caller holds.

    Goes into ``RunConfig(callbacks=[UseSlices(slices)])``, beside `scaling_config` of the same slices. Worker i of the
    placement group's order runs in bundle i; a job of fewer slices takes the first ones. Nothing else is reserved, and
    nothing is given back: not when the run ends, not when it fails. A restart (``FailureConfig(max_failures=...)``)
    takes the same bundles again.

    A run whose reservation has lost a host ends with ``ray.train.ControllerError``, of which ``controller_failure`` is
    a `quoit.ConflictError`: the caller repairs the reservation and fits again. It ends with `quoit.InvalidError` there
    when the workers want more than the bundles have.

    Args:
        slices: a reservation in one placement group. What it holds when this object is made is what is used: after a
            ``repair()`` make another.

    Raises:
        quoit.ConflictError: it was given back.
        quoit.InvalidError: it has one placement group a slice; Ray Train works in one.
        quoit.VersionError: this Ray Train cannot be made to use it; the message names what is missing.
    """

    def __init__(self, slices: SlicePlacementGroup) -> None:
        _check_ray()
        self._placement_group = slices.placement_group
        if self._placement_group is None:
            raise errors.ConflictError(
                f"slices of {slices.group.handle}: expected a reservation that was not given back"
            )
        self._name = _named(slices)
        self._bundle = dict(slices.bundle_resources)
        self._n_bundles = slices.num_bundles

    def place(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> PlacementGroupHandle:
        """The caller's placement group, when all that a worker needs is in it and its hosts answer."""
        _check_bundles(self._name, self._bundle, self._n_bundles, context)
        lost = _lost(self._placement_group, timeout_s)
        if lost is not None:
            raise errors.ConflictError(
                f"{self._name}: {lost}: expected a reservation that is whole: repair it, and fit again"
            )
        return _Handle(self._placement_group, lambda: None)


class ReserveSlices(_SlicesCallback):
    """Has a run reserve its slices itself, in a ledger, all of them or none.

    Goes into ``RunConfig(callbacks=[ReserveSlices(ledger="fleet.db")])``; how many slices, and of what, the run's own
    ``ScalingConfig`` says, with ``use_tpu``, ``topology``, ``accelerator_type`` and ``num_workers``. The slices stay
    the run's over restarts (``FailureConfig(max_failures=...)``): nobody takes them in between, and only those that
    have lost a host are replaced. An elastic run gives them back at each restart, since Ray counts what is free to
    choose its size. They are given back when the run ends, fails, or is interrupted; when its processes are killed, as
    any reservation is whose driver is dead.

    A run that cannot have them now is refused as one of Ray's own is, and tries again within
    ``FailureConfig(controller_failure_limit=...)``; the reason is in the message. One that could never have them ends
    at once with ``ray.train.ControllerError``, of which ``controller_failure`` is the `quoit.NeverError`.

    Args:
        ledger: its file, on the machine of the driver; None: $QUOIT_DB, else ``./quoit.db``, as the driver has them.
        retry_never: True where an autoscaler may bring slices that no node list has yet: that a request could never be
            met is then refused like one that cannot be met now.
        **options: further arguments of `quoit.ray.slice_placement_group`, such as ``bundle_label_selector``.

    Raises:
        quoit.VersionError: this Ray Train cannot be made to use it; the message names what is missing.
        quoit.NotFoundError: no ledger was named, and there is no ``./quoit.db``.
        quoit.Error: as `quoit.open` and `quoit.create`.
    """

    def __init__(
        self, ledger: str | os.PathLike[str] | None = None, *, retry_never: bool = False, **options: Any
    ) -> None:
        _check_ray()
        # What the controller could not open is refused here.
        ledger_of(ledger)
        self._ledger = file_of(ledger)
        self._retry_never = retry_never
        self._options = options
        self._slices: SlicePlacementGroup | None = None
        self._is_running = False
        self._keeps = True

    def after_controller_start(self, train_run_context: TrainRunContext) -> None:
        """The run is named, and says whether its size may change."""
        super().after_controller_start(train_run_context)
        # The run's own name may be that of the run before, which it resumes.
        name = f"{train_run_context.run_config.name}-{train_run_context.run_id[:8]}"
        self._options = {"name": name, **self._options}
        if train_run_context.scaling_config.elasticity_enabled:
            self._keeps = False

    def place(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> PlacementGroupHandle:
        """The run's placement group: the one that it has, mended, or a new one."""
        try:
            slices = self._slices or self._reserved(scaling_config, context, timeout_s)
            self._slices = slices
            if _lost(slices.placement_group, timeout_s):
                slices.repair()
            lost = _lost(slices.placement_group, timeout_s)
            if lost is not None:
                raise errors.NotNowError(f"{_named(slices)}: {lost}")
        except errors.RefusedError as error:
            self._give_back()
            if isinstance(error, errors.NeverError) and not self._retry_never:
                raise
            raise WorkerGroupStartupFailedError(str(error)) from error
        self._is_running = True
        return _Handle(slices.placement_group, self._stopped)

    def _reserved(
        self, scaling_config: ScalingConfig, context: WorkerGroupContext, timeout_s: float
    ) -> SlicePlacementGroup:
        from .slices import slice_placement_group

        topology, accelerator_type = scaling_config.topology, scaling_config.accelerator_type
        if not (scaling_config.use_tpu and topology and accelerator_type):
            raise errors.InvalidError(
                "scaling_config: expected use_tpu, topology and accelerator_type, which say what to reserve"
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

    def _stopped(self) -> None:
        self._is_running = False
        if not self._keeps:
            self._give_back()

    def _give_back(self) -> None:
        slices, self._slices = self._slices, None
        if slices is not None:
            try:
                slices.release()
            except errors.Error as error:
                # It ends with the run's processes, and what the run came to is not to be hidden by it.
                _log.warning("%s were not released: %s", _named(slices), error)

    async def before_controller_shutdown(self) -> None:
        """The run has ended or failed; its workers have stopped."""
        self._give_back()

    def before_controller_abort(self) -> None:
        """The run is interrupted: its workers, where it has some, stop next."""
        self._keeps = False
        if not self._is_running:
            self._give_back()
