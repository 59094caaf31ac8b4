#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of a case of a sweep. With an argument, on Ray with two CPUs; else in this process and in two others.

Prints lines of SCENARIO, FLEET and the best nanoseconds a case, separated by tabs.
"""

import os
import sys
import time

import quoit

FLEET, SLICES, NOW = "100k nodes", 25_000, 1_767_225_600_000
CASES, REPEAT = 20_000, 3


def do_nothing(fork, case, random):
    return None


def lose_and_place(fork, case, random):
    """Kills up to four hosts, then reserves 1 to 8 slices four times."""
    for _ in range(case["dead"]):
        fork.set_node_state(f"v6e-4x4-{random.randrange(SLICES)}-0", quoit.NodeState.DEAD)
    for number in range(4):
        slices = random.choice((1, 2, 4, 8))
        fork.reserve(quoit.Request(f"job-{number}", accelerator="v6e", topology="4x4", slices=slices))
    return {"placed": 4}


def best(snapshot, scenario, **arguments):
    """The best time, and the best CPU time of this process and the processes that it has waited for."""
    cases = [{"dead": number % 5} for number in range(CASES)]
    times, cpu_times, hashes = [], [], set()
    for _ in range(REPEAT):
        before = os.times()
        sweep = quoit.sweep(snapshot, scenario, cases, **arguments)
        cpu_times.append(sum(os.times()[:4]) - sum(before[:4]))
        times.append(sweep.seconds)
        hashes.add(sweep.sha256)
    assert len(hashes) == 1
    return min(times) / CASES * 1e9, min(cpu_times) / CASES * 1e9


def best_rebuild(snapshot):
    """The time of a sweep without work, which is that of the bytes and of the rebuilt snapshot."""
    times = []
    for _ in range(10):
        begin = time.perf_counter_ns()
        quoit.sweep(snapshot, do_nothing, 1)
        times.append(time.perf_counter_ns() - begin)
    return min(times)


def main():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(f"v6e 4x4 x{SLICES}", now_ms=NOW)
        snapshot = ledger.snapshot()
    if len(sys.argv) > 1:
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        rows = {"a case of 4 requests, on Ray with 2 CPUs": best(snapshot, lose_and_place, on="ray")[0]}
    else:
        two, two_cpu = best(snapshot, lose_and_place, on="processes", workers=2)
        rows = {
            "a sweep of 1 case: bytes of the snapshot, and back": best_rebuild(snapshot),
            "a case that does nothing": best(snapshot, do_nothing)[0],
            "a case of 4 requests": best(snapshot, lose_and_place)[0],
            "a case of 4 requests, in 2 processes": two,
            "a case of 4 requests, in 2 processes, CPU time of both": two_cpu,
        }
    for scenario, ns in rows.items():
        print(f"{scenario}\t{FLEET}\t{ns:.0f}")


if __name__ == "__main__":
    main()
