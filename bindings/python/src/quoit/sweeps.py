# SPDX-License-Identifier: Apache-2.0
"""Sweeps: thousands of what-ifs on one snapshot."""

from __future__ import annotations

import dataclasses
import hashlib
import heapq
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Callable, Literal, get_args, overload

from . import _c, errors
from ._frames import import_pandas
from ._sweep.bar import Bar, terminal
from ._sweep.cases import CHUNK_S, Failure, Lost, Plan
from ._sweep.code import digest_scenario, name_scenario
from ._sweep.folder import Folder
from ._sweep.runners import Here, Outcome, Piece, Processes, Runner, pickle_scenario
from ._sweep.values import digest, list_texts
from ._version import library_version
from .snapshots import Snapshot

if TYPE_CHECKING:
    import random

    from .forks import Fork

_Where = Literal["here", "processes", "ray"]
_TRIES = 3
"""How often a case can end its process before the sweep ends."""
_GROWTH = 8
"""How much longer a chunk can be than the longest one before: the first cases may be the cheapest."""


class Sweep(Sequence[Any]):
    """The results of a sweep, in the order of its cases. `sweep` makes it.

    Each access to a result reads it from its JSON text again, so that a changed result changes nothing else.
    """

    __slots__ = ("_cases", "_n_resumed", "_seconds", "_texts")

    def __init__(self, cases: list[str], texts: list[str], n_resumed: int, seconds: float) -> None:
        self._cases, self._texts, self._n_resumed, self._seconds = cases, texts, n_resumed, seconds

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [json.loads(text) for text in self._texts[index]]
        return json.loads(self._texts[index])

    def __repr__(self) -> str:
        return f"<quoit.Sweep of {len(self)} {'case' if len(self) == 1 else 'cases'}>"

    @property
    def cases(self) -> tuple[Any, ...]:
        """The cases, as the scenario got them."""
        return tuple(json.loads(text) for text in self._cases)

    @property
    def n_resumed(self) -> int:
        """How many results were read from the folder, because they were known before."""
        return self._n_resumed

    @property
    def seconds(self) -> float:
        """How long the other cases took together, with the start of the workers."""
        return self._seconds

    @property
    def sha256(self) -> str:
        """The SHA-256 of `to_json_lines`. It is the same wherever the sweep runs."""
        return digest(self._texts)

    def to_json_lines(self) -> str:
        """Returns the results as JSON, one line each, as in ``results.jsonl``. Equal sweeps give equal text."""
        return "".join(text + "\n" for text in self._texts)

    def frame(self) -> Any:
        """Returns a ``pandas.DataFrame`` with one row for each case, whose index is the number of the case.

        The columns are the keys of the cases, then the keys of the results. Values without keys are in the columns
        ``case`` and ``result``. If a name would appear twice, the columns are NAME_case and NAME_result.

        Raises:
            ImportError: pandas is not installed.
            InvalidError: a column would still appear twice.
        """
        pandas = import_pandas("Sweep.frame()")
        cases, results = _columns(self.cases, "case"), _columns(self[:], "result")
        both = set(cases) & set(results)
        columns: dict[str, Sequence[Any]] = {}
        for part, suffix in ((cases, "_case"), (results, "_result")):
            for key, values in part.items():
                name = key + suffix if key in both else key
                if name in columns:
                    raise errors.InvalidError(f"column {_c.quoted(name)}: expected different keys in cases and results")
                columns[name] = values
        return pandas.DataFrame(columns, index=pandas.RangeIndex(len(self), name="number"))


def _columns(values: Sequence[Any], name: str) -> dict[str, Sequence[Any]]:
    """Returns the values of each key; None if a value does not have the key."""
    if not values or not all(isinstance(value, dict) for value in values):
        return {name: values}
    keys = dict.fromkeys(key for value in values for key in value)
    return {key: [value.get(key) for value in values] for key in keys}


def sweep(
    snapshot: Snapshot,
    scenario: Callable[[Fork, Any, random.Random], Any],
    cases: int | Iterable[Any],
    *,
    seed: int = 0,
    on: _Where = "here",
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Sweep:
    """Answers many what-if questions about one snapshot, and returns the answers in the order of the questions.

    For each case, the scenario gets a private fork of the snapshot, the case, and a source of random numbers. It changes
    the fork, and returns what happened as JSON: None, a bool, int, finite float or str, or lists and dicts of them. A
    scenario has no clock: in calls without ``now_ms``, the time is the clock of the snapshot.

    The source of random numbers of case i is ``random.Random(f"{seed}/{i}")``. So results depend only on the snapshot,
    the scenario, the cases and the seed. They are the same, byte by byte, in one process, in several, and on Ray.

    With `out`, results are written to that folder as they become known, and a sweep that was interrupted continues from
    there. The last file is ``results.jsonl``, with one line for each case. The folder belongs to one sweep: one with
    another snapshot, scenario, cases or seed, or another version of quoit or Python, is refused. Of the scenario, the
    code counts, with that of the functions and classes of its module that it uses, and the values that it uses.

    Args:
        snapshot: the state in which each case begins.
        scenario: called as ``scenario(fork, case, random)``. For "processes", other processes must be able to import
            it: a function at the top level of a module. The program must begin the sweep below
            ``if __name__ == "__main__":``.
        cases: JSON values; the scenario gets a copy of its case. A number n means the cases 0 to n - 1.
        seed: any number of 64 bits.
        on: "here" (in this process), "processes" (in processes of this machine) or "ray" (in tasks with one CPU each on
            the Ray cluster that `ray.init()` finds; quoit must be installed on its nodes).
        workers: how many cases run at the same time. None: one for each CPU. Not for "here".
        out: a folder, which is created if it is missing; None: results are only returned.
        progress: whether to draw a progress bar on the standard error. None: if it is a terminal.

    Raises:
        InvalidError: an argument is not valid, the scenario raised, or its result is not JSON; the message has the number
            of the case. It is always the first such case, whose exception is the cause of this one. The results of the
            cases before it are written.
        ConflictError: `out` has another sweep, or other files.
        BusyError: another process runs a sweep in `out`.
        StoreError: `out` cannot be written. Results that were written before stay.
        DamagedError: the description of the sweep in `out` cannot be read.
        VersionError: a node of Ray has another version of quoit, or a later quoit wrote `out`.
        FailedError: the same case has ended its process three times.
        ImportError: Ray is not installed.
    """
    return _Run(snapshot, scenario, cases, seed, on, workers, out, progress).run()


class _Run:
    """One call of `sweep`: checks the arguments, then gives chunks to a runner until all results are known."""

    def __init__(
        self, snapshot: Any, scenario: Any, cases: Any, seed: Any, on: Any, workers: Any, out: Any, progress: Any
    ) -> None:
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"snapshot: expected a quoit.Snapshot, not {type(snapshot).__name__}")
        if not callable(scenario):
            raise TypeError(f"scenario: expected a function, not {type(scenario).__name__}")
        if _c.to_text(on, "on").decode() not in get_args(_Where):
            raise errors.InvalidError(f"on {_c.quoted(on)}: expected one of {', '.join(get_args(_Where))}")
        if workers is not None and on == "here":
            raise errors.InvalidError("workers: expected None with on 'here', where one case runs at a time")
        self._workers = None if workers is None else _c.to_int(workers, "workers", range(1, 100_001))
        self._out = None if out is None else os.fsdecode(_c.to_path(out, "out", "a folder"))
        self._stream = sys.stderr if progress is not None and _c.to_bool(progress, "progress") else None
        if progress is None:
            self._stream = terminal()
        self._on, self._scenario = on, scenario
        self._seed = _c.to_int(seed, "seed")
        self._cases = list_texts(cases)
        self._snapshot = snapshot.to_bytes()
        self._seq = snapshot.seq
        self._texts: list[str | None] = [None] * len(self._cases)
        self._n_known = 0
        self._longest = 0
        self._each_s = 0.0
        self._failure: Failure | None = None

    def run(self) -> Sweep:
        with ExitStack() as stack:
            folder = None if self._out is None else stack.enter_context(Folder(self._out, self._about()))
            if folder is not None:
                for first, texts in folder.read(len(self._cases)):
                    self._take(first, texts)
            n_resumed = self._n_known
            bar = Bar(len(self._cases), n_resumed, self._stream)
            begin = time.perf_counter()
            if n_resumed < len(self._cases):
                runner = stack.enter_context(self._runner(len(self._cases) - n_resumed))
                try:
                    self._work(runner, folder, bar)
                finally:
                    bar.end(self._n_known)
            seconds = time.perf_counter() - begin
            results = [text for text in self._texts if text is not None]
            if folder is not None:
                folder.finish(results)
        return Sweep(self._cases, results, n_resumed, seconds)

    def _about(self) -> dict[str, Any]:
        return {
            "quoit": library_version(),
            "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
            "seed": self._seed,
            "snapshot": {"entry": self._seq, "sha256": hashlib.sha256(self._snapshot).hexdigest()},
            "scenario": {"name": name_scenario(self._scenario), "sha256": digest_scenario(self._scenario)},
            "cases": {"number": len(self._cases), "sha256": digest(self._cases)},
        }

    def _runner(self, n_left: int) -> Runner:
        plan = Plan(self._snapshot, b"", self._seed, library_version())
        if self._on == "here":
            return Here(plan, self._scenario)
        if self._on == "processes":
            workers = self._workers or len(os.sched_getaffinity(0))
            return Processes(dataclasses.replace(plan, scenario=pickle_scenario(self._scenario)), min(workers, n_left))
        from ._sweep.on_ray import OnRay, import_ray

        dumps = import_ray().cloudpickle.dumps
        plan = dataclasses.replace(plan, scenario=pickle_scenario(self._scenario, dumps))
        return OnRay(plan, os.urandom(16).hex(), self._workers)

    # --- chunks ---

    def _work(self, runner: Runner, folder: Folder | None, bar: Bar) -> None:
        """Runs all cases that have no result. After a failure, only the cases before it: one of them can fail too."""
        todo = self._missing()
        running: set[Piece] = set()
        while todo or running:
            while todo and runner.has_room():
                piece = self._cut(todo, runner.n_workers)
                runner.submit(piece, self._cases[piece.first : piece.end])
                running.add(piece)
            for piece, outcome in runner.wait():
                running.remove(piece)
                for rest in self._settle(piece, outcome, folder):
                    heapq.heappush(todo, rest)
            if self._failure is not None:
                end = self._failure.number
                todo = [dataclasses.replace(piece, end=min(piece.end, end)) for piece in todo if piece.first < end]
                heapq.heapify(todo)
                if not todo and not any(piece.first < end for piece in running):
                    raise _error_of(self._failure)
            bar.show(self._n_known)

    def _missing(self) -> list[Piece]:
        todo = []
        first = None
        for number, text in enumerate([*self._texts, ""]):
            if text is None and first is None:
                first = number
            elif text is not None and first is not None:
                todo.append(Piece(first, number))
                first = None
        return todo

    def _cut(self, todo: list[Piece], n_workers: int) -> Piece:
        """Takes a chunk from the first piece. It takes about `CHUNK_S`, or less so that no worker ends much later."""
        piece = heapq.heappop(todo)
        n_left = sum(one.end - one.first for one in (piece, *todo))
        size = _GROWTH * self._longest
        if self._each_s > 0:
            size = min(size, int(CHUNK_S / self._each_s))
        size = max(1, min(size, n_left // (2 * n_workers)))
        if piece.end - piece.first <= size or piece.n_lost > 0:
            return piece
        heapq.heappush(todo, Piece(piece.first + size, piece.end))
        return Piece(piece.first, piece.first + size)

    def _settle(self, piece: Piece, outcome: Outcome, folder: Folder | None) -> list[Piece]:
        """Keeps the results of a piece. Returns the pieces that have to run again."""
        if isinstance(outcome, Lost):
            return _split(piece, outcome)
        if outcome.texts:
            if folder is not None:
                folder.add(piece.first, outcome.texts)
            self._take(piece.first, outcome.texts)
            self._longest = max(self._longest, len(outcome.texts))
            self._each_s = (self._each_s + outcome.seconds / len(outcome.texts)) / (2 if self._each_s > 0 else 1)
        rest = piece.first + len(outcome.texts)
        if outcome.failure is not None:
            if self._failure is None or outcome.failure.number < self._failure.number:
                self._failure = outcome.failure
            return []
        return [Piece(rest, piece.end)] if rest < piece.end else []

    def _take(self, first: int, texts: list[str]) -> None:
        for number, text in enumerate(texts, first):
            self._n_known += self._texts[number] is None
            self._texts[number] = text


def _split(piece: Piece, lost: Lost) -> list[Piece]:
    """Returns smaller pieces, so that a case that ends its process is found; any other one gets its result."""
    if piece.end - piece.first > 1:
        middle = (piece.first + piece.end) // 2
        return [Piece(piece.first, middle), Piece(middle, piece.end)]
    if piece.n_lost + 1 == _TRIES:
        raise errors.FailedError(
            f"case {piece.first}: its worker ended {_TRIES} times ({lost.reason}): expected a scenario that returns"
        )
    return [Piece(piece.first, piece.end, piece.n_lost + 1)]


def _error_of(failure: Failure) -> errors.Error:
    error = errors.InvalidError(failure.message)
    error.__cause__ = failure.error
    if failure.error is None and failure.trace:
        error.__cause__ = _OtherTrace(failure.trace)
    return error


class _OtherTrace(Exception):
    """The traceback of another process, as text."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'
