# SPDX-License-Identifier: Apache-2.0
"""Runs work that no signal can interrupt."""

from __future__ import annotations

import concurrent.futures
import threading
from typing import Callable


def run_uninterrupted(work: Callable[[], None]) -> None:
    """Runs `work` to its end in another thread, because Python handles signals only in the main thread.

    A KeyboardInterrupt is raised when the work is done.
    """
    done: concurrent.futures.Future[None] = concurrent.futures.Future()
    started = threading.Lock()

    def run() -> None:
        if not started.acquire(blocking=False):
            return
        try:
            work()
            done.set_result(None)
        except BaseException as error:
            done.set_exception(error)

    interrupt: KeyboardInterrupt | None = None
    while not done.done():
        try:
            # If a signal interrupts start(), it is not known whether the thread runs. In that case another thread is
            # started. The lock ensures that only one of the threads does the work.
            if not started.locked():
                threading.Thread(target=run, name="quoit uninterrupted", daemon=True).start()
            concurrent.futures.wait([done])
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
    done.result()
