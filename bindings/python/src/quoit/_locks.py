# SPDX-License-Identifier: Apache-2.0
"""Locks for libquoit objects that are not thread-safe. They are needed because cffi releases the GIL during a call."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

from . import errors


class ThreadLock:
    """The lock of one mutable object, for the threads of one process: ``with lock.acquire(): ...``.

    The lock is reentrant, because a signal handler can use the object while its own thread has the lock.

    Args:
        object_name: the name of the object in error messages.
    """

    __slots__ = ("_lock", "_object_name", "_process")

    def __init__(self, object_name: str) -> None:
        self._object_name = object_name
        self._lock = threading.RLock()
        self._process = os.getpid()

    def acquire(self) -> AbstractContextManager[object]:
        """Returns a context manager that waits for the lock.

        Raises:
            FailedError: in a child of fork(2). The lock can belong to a thread of the parent, which would never
                release it in the child.
        """
        if self._process != os.getpid():
            raise errors.FailedError(f"the {self._object_name} was made before fork(2): make another one in the child")
        return self._lock
