# SPDX-License-Identifier: Apache-2.0
"""Where the chunks of a sweep run: in this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Callable, Union

from .. import errors
from .cases import Done, Lost, Plan, Worker, describe_error
from .code import name_scenario

WAIT_S = 0.5
"""How long `Runner.wait` waits at most, so that the progress bar moves."""
_END_S = 5.0

Outcome = Union[Done, Lost]


@dataclasses.dataclass(frozen=True, order=True)
class Piece:
    """Cases that are not done: the numbers from `first` to `end` - 1."""

    first: int
    end: int
    n_lost: int = 0
    """How often the process of exactly this piece has ended."""


class Runner:
    """Runs pieces. As a context manager, it stops everything that still runs."""

    n_workers = 1

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def has_room(self) -> bool:
        """Whether another piece can be submitted now."""
        raise NotImplementedError

    def submit(self, piece: Piece, cases: Sequence[str]) -> None:
        """Begins a piece."""
        raise NotImplementedError

    def wait(self) -> Iterable[tuple[Piece, Outcome]]:
        """Waits for a time, and returns the pieces that have ended."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stops everything that still runs."""


class Here(Runner):
    """Runs pieces in this process, in `wait`."""

    def __init__(self, plan: Plan, scenario: Callable[..., Any]) -> None:
        self._worker = Worker(plan, scenario)
        self._next: tuple[Piece, Sequence[str]] | None = None

    def has_room(self) -> bool:
        return self._next is None

    def submit(self, piece: Piece, cases: Sequence[str]) -> None:
        self._next = piece, cases

    def wait(self) -> Iterable[tuple[Piece, Outcome]]:
        assert self._next is not None
        piece, cases = self._next
        self._next = None
        return [(piece, self._worker.run(piece.first, cases))]


# --- processes ----------------------------------------------------------------------------------------------------


class Processes(Runner):
    """Runs pieces in processes of this machine, which are spawned because objects of libquoit do not survive fork(2)."""

    def __init__(self, plan: Plan, n_workers: int) -> None:
        if getattr(multiprocessing.process.current_process(), "_inheriting", False):
            raise errors.InvalidError(
                "on 'processes': the program begins a sweep while a worker imports it: "
                "expected the call below 'if __name__ == \"__main__\":'"
            )
        self.n_workers = n_workers
        self._plan = plan
        self._context = multiprocessing.get_context("spawn")
        self._busy: dict[Connection, _Process] = {}
        # All of them start before the first one gets its plan, which waits until the process has started.
        self._idle: list[_Process] = []
        try:
            for _ in range(n_workers):
                self._idle.append(_Process(self._context, plan))
        except BaseException:
            self.stop()
            raise

    def has_room(self) -> bool:
        return len(self._busy) < self.n_workers

    def submit(self, piece: Piece, cases: Sequence[str]) -> None:
        process = self._idle.pop() if self._idle else _Process(self._context, self._plan)
        self._busy[process.pipe] = process
        process.begin(piece, cases)

    def wait(self) -> Iterable[tuple[Piece, Outcome]]:
        ended = []
        for pipe in multiprocessing.connection.wait(list(self._busy), WAIT_S):
            assert isinstance(pipe, Connection)
            process = self._busy[pipe]
            outcome = process.receive()
            if outcome is None:
                continue
            del self._busy[pipe]
            if isinstance(outcome, Done):
                self._idle.append(process)
            else:
                process.kill()
            ended.append((process.piece, outcome))
        return ended

    def stop(self) -> None:
        processes = [*self._idle, *self._busy.values()]
        self._idle, self._busy = [], {}
        for process in processes:
            process.kill()


class _Process:
    """One worker process, and the pipe to it."""

    def __init__(self, context: multiprocessing.context.SpawnContext, plan: Plan) -> None:
        self.pipe, its_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(its_end,), name="quoit sweep", daemon=True)
        self._plan: Plan | None = plan
        self._is_ready = False
        self.piece = Piece(0, 0)
        try:
            with _without_main_without_file(), _interrupts_wait():
                self._process.start()
        except OSError as error:
            self.pipe.close()
            raise errors.FailedError(f"a worker cannot be started: {error.strerror}: expected fewer workers") from error
        finally:
            its_end.close()

    def begin(self, piece: Piece, cases: Sequence[str]) -> None:
        self.piece = piece
        if self._plan is not None:
            self._send(self._plan)
            self._plan = None
        self._send((piece.first, cases))

    def _send(self, value: object) -> None:
        with contextlib.suppress(OSError):  # the process has ended: receive() finds out why
            self.pipe.send(value)

    def receive(self) -> Outcome | None:
        """Returns the outcome of the piece; None if the process has only become ready."""
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join(_END_S)
            code = self._process.exitcode
            reason = f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"
            if not self._is_ready:
                raise errors.InvalidError(
                    f"a worker ended with {reason} before its first case: expected a program whose file other processes "
                    "can import, with the sweep below 'if __name__ == \"__main__\":'"
                ) from None
            return Lost(reason)
        if isinstance(answer, errors.Error):
            raise answer
        if answer is None:
            self._is_ready = True
            return None
        assert isinstance(answer, Done)
        return answer

    def kill(self) -> None:
        self._process.kill()
        self._process.join(_END_S)
        self.pipe.close()


@contextlib.contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Blocks SIGINT. A process that is started in this context never gets it: the first process decides what to do."""
    resource_tracker.ensure_running()  # the first start of a process would start it, and unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_main_without_file() -> Iterator[None]:
    """A spawned process imports the program's file. A name that is no file, such as '<stdin>', cannot be imported."""
    main = sys.modules.get("__main__")
    name = getattr(main, "__file__", None)
    if main is None or name is None or os.path.exists(name):
        yield
        return
    del main.__file__
    try:
        yield
    finally:
        main.__file__ = name


def _serve(pipe: Connection) -> None:
    """Runs in the worker process until the other end of the pipe is closed."""
    with contextlib.suppress(EOFError, OSError):
        plan = pipe.recv()
        try:
            worker = Worker.of_plan(plan)
        except errors.Error as error:
            pipe.send(error)
            return
        pipe.send(None)
        while True:
            first, cases = pipe.recv()
            pipe.send(worker.run(first, cases))


def pickle_scenario(scenario: Callable[..., Any], dumps: Callable[[Any], bytes] = pickle.dumps) -> bytes:
    """Returns the scenario for another process.

    Raises:
        InvalidError: it cannot be pickled.
    """
    try:
        return dumps(scenario)
    except Exception as error:
        raise errors.InvalidError(
            f"scenario '{name_scenario(scenario)}': expected a function at the top level of a module, which other "
            f"processes can import: {describe_error(error)}"
        ) from None
