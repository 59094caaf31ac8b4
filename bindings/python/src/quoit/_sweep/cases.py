# SPDX-License-Identifier: Apache-2.0
"""Runs cases in one process. Everything that a result depends on is in a `Plan`, a number and a case."""

from __future__ import annotations

import dataclasses
import json
import pickle
import random
import time
import traceback
from collections.abc import Sequence
from typing import Any, Callable

from .. import _c, errors
from .._version import library_version
from ..snapshots import Snapshot
from .code import name_scenario
from .values import to_text

CHUNK_S = 0.2
"""How long the cases of a chunk should take. Longer chunks lose more when a process is killed."""
_LONGEST_S = 2 * CHUNK_S
_YEAR_2000_MS = 946_684_800_000


@dataclasses.dataclass(frozen=True)
class Plan:
    """What each process of a sweep needs once."""

    snapshot: bytes
    scenario: bytes
    """The pickled scenario."""
    seed: int
    version: str
    """The version of quoit."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """A case whose scenario raised, or whose result is not JSON."""

    number: int
    message: str
    trace: str
    """The traceback of the scenario; empty if the result is not JSON."""
    error: BaseException | None = None
    """The exception; None if it is one of another process."""

    def __reduce__(self) -> Any:
        return Failure, (self.number, self.message, self.trace)  # exceptions of scenarios need not be picklable


@dataclasses.dataclass(frozen=True)
class Done:
    """The results of the first cases of a chunk, and the failure that ended it."""

    texts: list[str]
    failure: Failure | None
    seconds: float


@dataclasses.dataclass(frozen=True)
class Lost:
    """A chunk without results, because its process ended."""

    reason: str


class Worker:
    """Rebuilds the snapshot once, and then runs any number of cases."""

    def __init__(self, plan: Plan, scenario: Callable[..., Any]) -> None:
        self._scenario = scenario
        self._snapshot = Snapshot.from_bytes(plan.snapshot)
        self._seed = plan.seed

    @classmethod
    def of_plan(cls, plan: Plan) -> Worker:
        """Returns a worker of another process, with the scenario of the plan.

        Raises:
            VersionError: this process has another version of quoit than the one that planned the sweep.
            InvalidError: this process cannot import the scenario.
        """
        if library_version() != plan.version:
            raise errors.VersionError(f"a worker has quoit '{library_version()}': expected '{plan.version}'")
        try:
            scenario = pickle.loads(plan.scenario)
        except Exception as error:
            raise errors.InvalidError(
                f"a worker cannot import the scenario: {describe_error(error)}: expected a function at the top level of a "
                "module, or of the program's file"
            ) from None
        return cls(plan, scenario)

    def run(self, first: int, cases: Sequence[str]) -> Done:
        """Runs cases until one fails, or the chunk takes too long. Returns the results of those that are done."""
        texts: list[str] = []
        failure = None
        begin = time.perf_counter()
        with _c.clock_stands_at(_time_of(self._snapshot)):
            for number, case in enumerate(cases, first):
                failure = self._run_case(number, case, texts)
                if failure is not None or time.perf_counter() - begin > _LONGEST_S:
                    break
        return Done(texts, failure, time.perf_counter() - begin)

    def _run_case(self, number: int, case: str, texts: list[str]) -> Failure | None:
        source = random.Random(f"{self._seed}/{number}")
        try:
            with self._snapshot.fork() as fork:
                result = self._scenario(fork, json.loads(case), source)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit, which would end only this process
            trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            name = name_scenario(self._scenario)
            return Failure(number, f"case {number}: scenario '{name}' raised {describe_error(error)}", trace, error)
        try:
            texts.append(to_text(result, "result"))
        except errors.InvalidError as error:
            return Failure(number, f"case {number}: scenario '{name_scenario(self._scenario)}': {error}", "", error)
        return None


def describe_error(error: BaseException) -> str:
    """Returns the class and the message of an exception, also if its message cannot be made."""
    try:
        return f"{type(error).__qualname__}: {error}".rstrip(": ")
    except Exception:
        return type(error).__qualname__


def _time_of(snapshot: Snapshot) -> int:
    return _YEAR_2000_MS if snapshot.clock_ms is None else snapshot.clock_ms
