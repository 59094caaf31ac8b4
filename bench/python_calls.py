#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of the package for Python: a call like the one measured in C, and the import.

Prints lines of SCENARIO, FLEET and the best nanoseconds, separated by tabs.
"""

import subprocess
import sys
import time

import quoit

FLEET, NOW = "v6e 4x4 x1000", 1_767_225_600_000
BATCH, REPEAT, IMPORTS = 200, 60, 25
IMPORT = "import time; begin = time.perf_counter_ns(); import quoit; print(time.perf_counter_ns() - begin)"


def best_call():
    """The best time of a reservation and its release, measured in batches, so that reading the clock adds little."""
    request = quoit.Request("train", accelerator="v6e", topology="4x4", slices=1)
    best = float("inf")
    for _ in range(REPEAT):
        with quoit.open_memory() as ledger:
            ledger.import_fleet_text(FLEET, now_ms=NOW)
            begin = time.perf_counter_ns()
            for _ in range(BATCH):
                ledger.release(ledger.reserve(request, now_ms=NOW), now_ms=NOW)
            best = min(best, (time.perf_counter_ns() - begin) / BATCH)
    return best


def best_import():
    """The best time of an import in a fresh interpreter."""
    return min(int(subprocess.check_output([sys.executable, "-c", IMPORT])) for _ in range(IMPORTS))


def main():
    print(f"reserve and release\t{FLEET}\t{best_call():.0f}")
    print(f"import quoit in Python\ta new process\t{best_import():.0f}")


if __name__ == "__main__":
    main()
