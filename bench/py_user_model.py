#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The peer of the benchmark: a careful Python user's code to reserve whole 4x4 slices (4 hosts each) in memory.

Prints lines of SCENARIO, FLEET and the best nanoseconds of one operation, separated by tabs. Scenarios and fleets have
the names of the benchmark.
"""

import random
import time

BATCH = 64
REPEAT = 300


class Indexed:
    """Counts the free hosts of each slice, and keeps the set of fully free slices."""

    def __init__(self, n):
        self.owner = [None] * n
        self.left = [4] * (n // 4)
        self.free = dict.fromkeys(range(n // 4))

    def fill(self, fraction):
        slices = list(range(len(self.left)))
        random.Random(1).shuffle(slices)
        for k in slices[: int(len(slices) * fraction)]:
            self._take(k, "x")

    def _take(self, k, who):
        del self.free[k]
        self.left[k] = 0
        self.owner[4 * k : 4 * k + 4] = [who] * 4

    def reserve(self, k, who="job"):
        if len(self.free) < k:
            return None
        free = iter(self.free)
        got = [next(free) for _ in range(k)]
        for g in got:
            self._take(g, who)
        return got

    def release(self, got):
        for g in got or []:
            self.left[g] = 4
            self.owner[4 * g : 4 * g + 4] = [None] * 4
            self.free[g] = None


def best(model, slices, groups):
    """The best time of a reservation and of a release, measured in batches, so that reading the clock adds little."""
    reserve = release = float("inf")
    for _ in range(REPEAT):
        start = time.perf_counter_ns()
        got = [model.reserve(slices) for _ in range(groups)]
        middle = time.perf_counter_ns()
        for g in got:
            model.release(g)
        end = time.perf_counter_ns()
        reserve = min(reserve, (middle - start) / groups)
        release = min(release, (end - middle) / groups)
    return reserve, release


def main():
    for percent in (0, 50, 97):
        fleet = f"100k nodes, {percent} % full"
        for name, slices, groups in (("1 slice, 64 times", 1, BATCH), ("64 slices", 64, 1)):
            model = Indexed(100000)
            model.fill(percent / 100)
            reserve, release = best(model, slices, groups)
            print(f"reserve {name}", fleet, f"{reserve:.1f}", sep="\t")
            print(f"release {name}", fleet, f"{release:.1f}", sep="\t")


if __name__ == "__main__":
    main()
