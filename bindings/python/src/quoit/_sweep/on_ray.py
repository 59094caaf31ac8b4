# SPDX-License-Identifier: Apache-2.0
"""Runs the chunks of a sweep on a Ray cluster. Uses only public functions of Ray."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from typing import Any

from .. import errors
from .cases import Done, Lost, Plan, Worker, describe_error
from .runners import WAIT_S, Outcome, Piece, Runner

_IN_FLIGHT = 2
"""How many chunks each CPU has: one that runs, and one that waits, so that the CPU is never idle."""
_COUNT_S = 5.0
"""How often the CPUs of the cluster are counted: a cluster can grow while the sweep runs."""
_workers: dict[str, Worker] = {}
"""In a worker of Ray: the worker of the last sweep."""


class OnRay(Runner):
    """Runs pieces as tasks of Ray with one CPU each. Connects to Ray as `ray.init()` does, unless it is connected.

    The plan is in Ray's object store, and each worker reads it once.
    """

    def __init__(self, plan: Plan, key: str, n_workers: int | None) -> None:
        self._ray = ray = import_ray()
        if not ray.is_initialized():
            ray.init()
        self._fixed = n_workers
        self._counted_at = float("-inf")
        self._count()
        self._plan = [ray.put(plan)]  # in a list, because Ray reads the objects of direct arguments for each task
        self._key = key
        self._task = ray.remote(_run).options(num_cpus=1, max_retries=0, name="quoit sweep")
        self._running: dict[Any, Piece] = {}

    def _count(self) -> None:
        if self._fixed is not None:
            self.n_workers = self._fixed
        elif time.monotonic() - self._counted_at > _COUNT_S:
            self._counted_at = time.monotonic()
            self.n_workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def has_room(self) -> bool:
        return len(self._running) < self.n_workers * (1 if self._fixed is not None else _IN_FLIGHT)

    def submit(self, piece: Piece, cases: Sequence[str]) -> None:
        self._running[self._task.remote(self._plan, self._key, piece.first, list(cases))] = piece

    def wait(self) -> Iterable[tuple[Piece, Outcome]]:
        self._count()
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=WAIT_S)
        return [(self._running.pop(task), self._outcome(task)) for task in ready]

    def _outcome(self, task: Any) -> Outcome:
        exceptions = self._ray.exceptions
        try:
            answer = self._ray.get(task)
        except exceptions.RayTaskError as error:
            raise errors.InvalidError(
                f"a worker of Ray cannot run the sweep: {describe_error(error.cause)}: expected the same quoit, and the "
                "modules of the scenario, on all nodes"
            ) from None
        except exceptions.RayError as error:  # its process, its node or its objects are gone
            return Lost(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": "))
        if isinstance(answer, errors.Error):
            raise answer
        assert isinstance(answer, Done)
        return answer

    def stop(self) -> None:
        for task in self._running:
            with contextlib.suppress(Exception):  # Ray may be gone, which is why the sweep stops
                self._ray.cancel(task)
        self._running = {}


def import_ray() -> Any:
    """Imports Ray.

    Raises:
        ImportError: Ray is not installed.
    """
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise ImportError("on 'ray' needs Ray: pip install 'quoit[ray]'") from error
    return ray


def _run(plan: list[Any], key: str, first: int, cases: list[str]) -> Done | errors.Error:
    """Runs in a worker of Ray."""
    worker = _workers.get(key)
    if worker is None:
        import ray

        try:
            worker = Worker.of_plan(ray.get(plan[0]))
        except errors.Error as error:
            return error
        _workers.clear()
        _workers[key] = worker
    return worker.run(first, cases)
