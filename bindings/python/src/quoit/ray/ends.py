# SPDX-License-Identifier: Apache-2.0
"""Work that no signal ends half-way."""

from __future__ import annotations

import concurrent.futures
import threading
from typing import Callable


def to_its_end(work: Callable[[], None]) -> None:
    """Does it in a thread, which signals do not reach; what they raise meanwhile is raised when it is done."""
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
            # A signal may come before it is known whether the thread began: then there are two, and one of them works.
            if not once.locked():
                threading.Thread(target=run, name="quoit gives back", daemon=True).start()
            concurrent.futures.wait([done])
        except KeyboardInterrupt as error:
            interruption = error
    if interruption is not None:
        raise interruption
    done.result()
