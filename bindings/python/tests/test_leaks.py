# SPDX-License-Identifier: Apache-2.0
"""Ten thousand of each kind of thing leave no more behind than two thousand did."""

import os
import pathlib
import subprocess
import sys

import leaks
import pytest

# What is left of a cycle on average, with room for a heap that breathes: an error that is lost is more than 100 bytes.
MOST_BYTES, BREATH = 8, 384 * 1024
MOST_BLOCKS = 100  # of Python's own, in all


def left(kind):
    """How many cycles there were, and what was left: bytes, Python's blocks, and objects that could not be collected."""
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1", "G_DEBUG": "fatal-criticals"}
    done = subprocess.run(
        [sys.executable, pathlib.Path(leaks.__file__), kind],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return map(int, done.stdout.split())


@pytest.mark.parametrize("kind", leaks.KINDS)
def test_many_cycles_leave_nothing_behind(kind):
    n, n_bytes, n_blocks, n_garbage = left(kind)
    assert n_bytes <= n * MOST_BYTES + BREATH, f"{n_bytes / n:.0f} bytes a cycle"
    assert (n_blocks <= MOST_BLOCKS, n_garbage) == (True, 0), f"{n_blocks} blocks"


def test_an_error_that_nobody_frees_is_found():
    n, n_bytes, _, _ = left("a_leak")
    assert n_bytes > n * MOST_BYTES + BREATH
