# SPDX-License-Identifier: Apache-2.0
"""A progress bar on the terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from typing import TextIO

_REDRAW_S = 0.1
_WIDTH = 24


class Bar:
    """Shows how many cases have results. On a stream that is not a terminal, it shows nothing.

    Args:
        n_cases: the number of cases.
        n_before: how many of them had results before.
        stream: where to draw; None: nowhere.
    """

    def __init__(self, n_cases: int, n_before: int, stream: TextIO | None) -> None:
        self._n_cases, self._n_before, self._stream = n_cases, n_before, stream
        self._begin = self._drawn_at = time.monotonic()
        self._is_drawn = False

    def show(self, n_done: int) -> None:
        """Draws the bar again, unless that was just done."""
        now = time.monotonic()
        if self._stream is not None and now - self._drawn_at >= _REDRAW_S:
            self._drawn_at = now
            self._draw(_line(n_done, self._n_cases, self._n_before, now - self._begin))

    def end(self, n_done: int) -> None:
        """Replaces a drawn bar by its last state, and ends its line."""
        if self._is_drawn:
            self._draw(_line(n_done, self._n_cases, self._n_before, time.monotonic() - self._begin), "\n")

    def _draw(self, text: str, end: str = "") -> None:
        assert self._stream is not None
        self._is_drawn = True
        with contextlib.suppress(OSError, ValueError):  # a terminal that is gone does not end the sweep
            self._stream.write("\r\x1b[K" + text[: shutil.get_terminal_size().columns - 1] + end)
            self._stream.flush()


def terminal() -> TextIO | None:
    """Returns the standard error if it is a terminal that can redraw a line."""
    with contextlib.suppress(AttributeError, ValueError):  # a process can have no standard error, or a closed one
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            return sys.stderr
    return None


def _line(n_done: int, n_cases: int, n_before: int, seconds: float) -> str:
    share = n_done / n_cases if n_cases else 1.0
    full = int(share * _WIDTH)
    n_new = n_done - n_before
    bar = "#" * full + "-" * (_WIDTH - full)
    line = f"[{bar}] {n_done:,} of {n_cases:,} cases, {int(share * 100)} %"
    if n_new > 0:
        each = seconds / n_new
        line += f", {_duration(each)} a case"
        if n_done < n_cases:
            line += f", {_duration(each * (n_cases - n_done))} left"
    return line


def _duration(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = int(seconds // 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
