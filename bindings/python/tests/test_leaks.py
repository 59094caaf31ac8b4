# SPDX-License-Identifier: Apache-2.0
"""Many of each kind of thing leave nothing behind that as many more leave again."""

import os
import pathlib
import subprocess
import sys

import leaks
import pytest

MOST_BYTES = 24  # of a cycle on average: malloc() takes 32 for the least thing that is lost
MOST_BLOCKS = 100  # of Python's own, in all


def left(kind):
    """What each part of a run leaves at least: bytes a cycle, Python's blocks in all, and what cannot be collected.

    A heap that still settles grows in some of them, a leak in all.
    """
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "G_DEBUG": "fatal-criticals"}
    done = subprocess.run(
        [sys.executable, pathlib.Path(leaks.__file__), kind],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    n_cycles, n_garbage, *parts = map(int, done.stdout.split())
    assert len(parts) == 2 * leaks.PARTS
    return min(parts[0::2]) / n_cycles, min(parts[1::2]), n_garbage


@pytest.mark.parametrize("kind", leaks.KINDS)
def test_many_cycles_leave_nothing_behind(kind):
    n_bytes, n_blocks, n_garbage = left(kind)
    assert n_bytes <= MOST_BYTES, f"{n_bytes:.0f} bytes a cycle"
    assert (n_blocks <= MOST_BLOCKS, n_garbage) == (True, 0), f"{n_blocks} blocks"


def test_an_error_that_nobody_frees_is_found():
    assert left("a_leak")[0] > 4 * MOST_BYTES
