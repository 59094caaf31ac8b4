# SPDX-License-Identifier: Apache-2.0
"""Scenarios for sweeps, in a module that other processes can import."""

import os
import signal
import sys
import time
from pathlib import Path

import quoit

NOW = 1_700_000_000_000  # in the past, so that a use of this machine's clock would be noticed
N_SLICES = 12


def snapshot(n_slices=N_SLICES):
    """A fleet with a group, a dead node, a window, an owner and a quota: things that a rebuilt snapshot has to have."""
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(f"v6e 4x4 x{n_slices}", now_ms=NOW)
        ledger.set_owner("team", now_ms=NOW)
        ledger.set_quota("team", 64, owner="team", now_ms=NOW)
        ledger.reserve(quoit.Request("held", accelerator="v6e", topology="4x4", slices=2, owner="team"), now_ms=NOW)
        ledger.set_node_state("v6e-4x4-5-1", quoit.NodeState.DEAD, now_ms=NOW)
        ledger.add_window("service", quoit.WindowScope.SLICE, "v6e-4x4-6", NOW + 1000, NOW + 2000, now_ms=NOW)
        return ledger.snapshot()


def lose_and_place(fork, case, random):
    """Kills hosts of drawn slices, and counts the jobs that still fit. The result has all kinds of JSON."""
    n_dead = case["dead"] if isinstance(case, dict) else case % 5
    dead = [f"v6e-4x4-{random.randrange(N_SLICES)}-0" for _ in range(n_dead)]
    fork.set_node_states(dead, quoit.NodeState.DEAD)
    placed = []
    for number in range(6):
        wanted = quoit.Request(f"job-{number}", accelerator="v6e", topology="4x4", slices=random.choice((1, 2, 3)))
        try:
            placed.append(fork.hold(wanted, 1_000))
        except quoit.NotNowError as error:
            return {
                "placed": [group.slices[0].name for group in placed],
                "until": [group.until_ms for group in placed],
                "draw": random.random(),
                "reason": str(error),
                "more": None,
                "größe": (True, 2**70, "ü\n\ud800"),
            }
    return {"placed": len(placed)}


def clock_and_random(fork, case, random):
    """The numbers that a case begins with."""
    group = fork.hold(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1), 1_000)
    return [case, random.random(), group.until_ms]


def echo(fork, case, random):
    return case


def change_case(fork, case, random):
    case.append(len(case))
    return case


def wait(fork, case, random):
    time.sleep(case["seconds"])
    return random.random()


def fail_from_three(fork, case, random):
    """Case 3 fails later than the cases after it."""
    if case == 3:
        time.sleep(0.3)
    if case >= 3:
        raise ZeroDivisionError(f"case is {case}")
    return case


def exit_at_two(fork, case, random):
    if case == 2:
        sys.exit("enough")
    return case


def nan_at_two(fork, case, random):
    return {"value": [1.0, float("nan") if case == 2 else 2.0]}


def end_process_once(fork, case, random):
    """Ends its process for each case that has a file, which it removes before."""
    mark = Path(case["folder"], str(case["number"]))
    if mark.exists():
        mark.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return case["number"] + random.random()


def end_process_at_five(fork, case, random):
    if case == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return case
