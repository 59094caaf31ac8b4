# SPDX-License-Identifier: Apache-2.0
"""No memory leaks if many objects of each kind are made and dropped."""

import os
import pathlib
import subprocess
import sys

import leaks
import pytest

MOST_BYTES = 4  # per cycle on average; a leaked block of malloc() in each cycle would add at least 32
MOST_BLOCKS = 40  # blocks of Python, in all cycles of a part together
# With these settings malloc() keeps no freed blocks, so the count is exact, and GLib's slices are blocks of malloc().
EXACT = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0", "G_SLICE": "always-malloc"}

pytestmark = pytest.mark.skipif(leaks.MALLINFO is None, reason="the C library cannot count its blocks (mallinfo2)")


def smallest_growth(kind):
    """Runs leaks.py for a kind of object.

    Returns the growth in bytes per cycle and in blocks of Python, and the number of uncollectable objects. The growth
    is the smallest of all parts of the run: a leak adds memory in all parts, a table that grows once only in one.
    """
    environment = {**os.environ, **EXACT, "MALLOC_ARENA_MAX": "1", "G_DEBUG": "fatal-criticals"}
    done = subprocess.run(
        [sys.executable, pathlib.Path(leaks.__file__), kind],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    n_garbage, *parts = map(int, done.stdout.split())
    assert len(parts) == 2 * leaks.PARTS
    return min(parts[0::2]) / leaks.CYCLES, min(parts[1::2]), n_garbage


@pytest.mark.parametrize("kind", leaks.KINDS)
def test_repeated_use_leaks_no_memory(kind):
    n_bytes, n_blocks, n_garbage = smallest_growth(kind)
    assert n_bytes <= MOST_BYTES, f"{n_bytes:.1f} bytes a cycle"
    assert (n_blocks <= MOST_BLOCKS, n_garbage) == (True, 0), f"{n_blocks} blocks"


def test_a_leaked_error_is_detected():
    assert smallest_growth("a_leak")[0] > 4 * MOST_BYTES
