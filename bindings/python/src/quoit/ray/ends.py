# SPDX-License-Identifier: Apache-2.0
"""Runs work that no signal can interrupt."""

from __future__ import annotations

import concurrent.futures
import threading
from typing import Callable


def to_its_end(work: Callable[[], None]) -> None:
    """Runs `work` in a thread, which signals do not reach. A KeyboardInterrupt is raised when the work is done."""
    done: concurrent.futures.Future[None] = concurrent.futures.Future()
    once = threading.Lock()

    def run() -> None:
        if not once.acquire(blocking=False):
            return
        try:
            work()
            done.set_result(None)
        except BaseException as error:
            done.set_exception(error)

    interruption: KeyboardInterrupt | None = None
    while not done.done():
        try:
            # A signal can come before it is known whether the thread started. Then a second one starts; only one does
            # the work.
            if not once.locked():
                threading.Thread(target=run, name="quoit gives back", daemon=True).start()
            concurrent.futures.wait([done])
        except KeyboardInterrupt as error:
            interruption = error
    if interruption is not None:
        raise interruption
    done.result()
