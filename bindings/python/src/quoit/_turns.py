# SPDX-License-Identifier: Apache-2.0
"""Turns: libquoit lets one thread at a time into a value that changes, and a call of cffi lets other threads run."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

from . import errors


class Turns:
    """The turns of the threads of one process at a value of theirs: ``with turns.take(): ...``.

    A handler of a signal, which comes between two instructions of whoever has the turn, has it too.

    Args:
        what: the value as an error names it.
    """

    __slots__ = ("_lock", "_process", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.RLock()
        self._process = os.getpid()

    def take(self) -> AbstractContextManager[object]:
        """Waits for the turn when it is entered.

        Raises:
            FailedError: in a child of fork(2), where a thread that is not there may have the turn for ever.
        """
        if self._process != os.getpid():
            raise errors.FailedError(f"the {self._what} was made before fork(2): make it anew in the child")
        return self._lock
