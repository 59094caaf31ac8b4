# SPDX-License-Identifier: Apache-2.0
"""Measures how long it takes to reserve, place and reserve again two slices: with Ray's helper, with quoit, and by
hand.

All three are measured alternately, so that other load on the machine affects each of them. By hand means: a program
that knows the plan creates the same groups as quoit and waits for them. By hand and quoit run more rounds, because
their medians differ by milliseconds only. In those rounds both have just read Ray's lists. Otherwise quoit reads them
during a reservation if they are more than ten seconds old.
"""

import statistics
import tempfile
import time

from stage import TWO_V6E_SLICES, Stage

NAME = "speed"
SETUP = TWO_V6E_SLICES
ROUNDS = 9
MORE_ROUNDS = 80
PAUSE_S = 0.2
SLICES = 2
TIMEOUT_S = 30
PLACED, AGAIN = "reserve, until placed", "release and reserve again, until placed"
KNOWN = "reserve, until placed, with Ray's lists at hand"


class Refused(Exception):
    """A reservation failed, so there is nothing to measure."""


def taken(caller, call, **arguments):
    answer = caller(call, **arguments)
    if answer.error is not None:
        raise Refused("%s, %s: %s: %s" % (caller.name, call, answer.error, answer.message))
    return answer


def measure(fleet):
    """{operation: {side: median in seconds}}."""
    with tempfile.TemporaryDirectory(prefix="ql") as folder, Stage(fleet, SETUP, "quoit", folder) as stage:
        callers = {side: stage.caller_of(side) for side in ("ray", "quoit", "by hand")}
        arguments = {side: {"slices": SLICES, "timeout_s": TIMEOUT_S} for side in ("ray", "quoit")}
        taken(callers["quoit"], "reserve", **arguments["quoit"])
        arguments["by hand"] = {"plan": taken(callers["quoit"], "plan").value, "timeout_s": TIMEOUT_S}
        taken(callers["quoit"], "release")
        took = {what: {side: [] for side in callers} for what in (PLACED, AGAIN)}
        took[KNOWN] = {side: [] for side in ("quoit", "by hand")}
        # The first round is not counted, because it starts the worker processes that Ray's helper needs.
        for round_ in range(1 + ROUNDS + MORE_ROUNDS):
            what = PLACED if round_ <= ROUNDS else KNOWN
            # The order changes each round, so that no side always follows another. All slices must be free again first.
            turns = [(side, caller) for side, caller in callers.items() if side in took[what]]
            for side, caller in turns if round_ % 2 else reversed(turns):
                stage.wait_until_free()
                if what == KNOWN:
                    taken(caller, "ask_for_lists")
                time.sleep(PAUSE_S)
                first = taken(caller, "reserve", **arguments[side])
                second = taken(caller, "reserve_again", **arguments[side])
                taken(caller, "release")
                if round_ > 0:
                    took[what][side].append(first.seconds)
                    took[AGAIN][side].append(second.seconds)
    return {
        what: {side: statistics.median(values) for side, values in by_side.items()} for what, by_side in took.items()
    }


def claims(measured):
    placed, again = measured[PLACED], measured[AGAIN]
    ratio = measured[KNOWN]["quoit"] / measured[KNOWN]["by hand"]
    return [
        ("two slices are had faster than by Ray's helper", placed["quoit"] < placed["ray"]),
        ("two slices take at most 1.2 times what the same groups take by hand: %.2f" % ratio, ratio <= 1.2),
        ("slices are released and had again within 0.2 s", again["quoit"] <= 0.2),
    ]
