# SPDX-License-Identifier: Apache-2.0
"""Locks for values of libquoit that allow one thread at a time; calls through cffi let other threads run."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

from . import errors


class Turns:
    """The lock of one mutable value, for the threads of one process: ``with turns.take(): ...``.

    It is reentrant, because a signal handler can run while its thread has the lock.

    Args:
        what: the name of the value in error messages.
    """

    __slots__ = ("_lock", "_process", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.RLock()
        self._process = os.getpid()

    def take(self) -> AbstractContextManager[object]:
        """Returns a context manager that waits for the lock.

        Raises:
            FailedError: in a child of fork(2), where a thread that does not exist there can have the lock.
        """
        if self._process != os.getpid():
            raise errors.FailedError(f"the {self._what} was made before fork(2): make it anew in the child")
        return self._lock
