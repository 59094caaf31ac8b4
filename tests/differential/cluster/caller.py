# SPDX-License-Identifier: Apache-2.0
"""One caller: a Ray driver that receives its calls on standard input.

    caller.py '{"side": NAME, "address": RAY'S, "shape": [...], "ledger": PATH}'
    <- {"ready": true}
    -> {"call": "reserve", "arguments": {"slices": 2, "timeout_s": 4}, "at": SECONDS SINCE 1970 or null, "work_s": null}
    <- {"error": CLASS or null, "message": TEXT, "seconds": S, "value": ..., "hosts": [...], "recorded": true}

`hosts` has the hosts of the bundles in their order. `recorded` is whether the ledger, if there is one, has the same
hosts. With `work_s` the caller keeps its slices for that time, and releases them before it answers. It exits at the end
of its input.
"""

import json
import os
import sys
import time

# Keeps the output of Ray and its workers apart from the answers.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import ray  # noqa: E402
import sides  # noqa: E402
from ray.util.placement_group import placement_group_table  # noqa: E402
from tpu_fleet import node_name  # noqa: E402


def hosts_of(groups):
    """The host of each bundle, in the order of the groups and their bundles; None for an unplaced bundle."""
    names = {row["NodeID"]: node_name(row) for row in ray.nodes() if row["Alive"]}
    hosts = []
    for group in groups:
        placed = placement_group_table(group)["bundles_to_node_id"]
        hosts += [names.get(placed[index]) for index in sorted(placed, key=int)]
    return hosts


def answer_to(side, call, arguments, work_s):
    answer = {"error": None, "message": "", "value": None, "hosts": [], "recorded": None}
    began = time.monotonic()
    try:
        answer["value"] = getattr(side, call)(**arguments)
    except Exception as error:  # pylint: disable=broad-except
        answer.update(error=type(error).__name__, message=str(error))
    answer["seconds"] = time.monotonic() - began
    if answer["error"] is None and call in ("reserve", "reserve_again", "repair"):
        answer.update(hosts=hosts_of(side.groups()), recorded=side.is_recorded(), value=side.slice_names())
        if work_s is not None:
            time.sleep(work_s)
            side.release()
    return answer


def say(message):
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def main():
    settings = json.loads(sys.argv[1])
    ray.init(address=settings["address"], namespace="t", logging_level="error", log_to_driver=False)
    side = sides.SIDES[settings["side"]](sides.Shape(*settings["shape"]), settings["ledger"])
    say({"ready": True})
    for line in sys.stdin:
        command = json.loads(line)
        if command["at"] is not None:
            time.sleep(max(0, command["at"] - time.time()))
        say(answer_to(side, command["call"], command["arguments"], command["work_s"]))


if __name__ == "__main__":
    main()
