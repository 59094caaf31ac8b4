# SPDX-License-Identifier: Apache-2.0
"""Computes the expected processes of an elastic job independently, and compares them with quoit's output.

  elastic-job.py env PROFILE FILE SLICE...           FILE: `quoit env -o json`
  elastic-job.py change FILE SLICE... -- SLICE...    FILE: `quoit resize|repair -o json`, before and after

SLICE is REPLICA.INCARNATION of the worker group tpu-group, v6e 4x4: its host W has the address
10.REPLICA.INCARNATION.W, which is also its node's name.
"""

import json
import sys


def order_by_number(slices):
    return sorted(slices, key=lambda s: int(s.split(".")[0]))


def order_by_text(slices):
    return sorted(slices, key=lambda s: "tpu-group-" + s.split(".")[0])


def hosts_of(a_slice):
    return ["10.%s.%d" % (a_slice, worker) for worker in range(4)]


def megascale(slices, slice_id):
    if len(slices) == 1:
        return {}
    return {
        "MEGASCALE_COORDINATOR_ADDRESS": hosts_of(slices[0])[0],
        "MEGASCALE_NUM_SLICES": str(len(slices)),
        "MEGASCALE_PORT": "8081",
        "MEGASCALE_SLICE_ID": str(slice_id),
    }


def quoit_environment(slices, slice_id, worker):
    return dict(
        megascale(slices, slice_id),
        TPU_ACCELERATOR_TYPE="v6e-16",
        TPU_NAME="tpu-group-" + slices[slice_id].split(".")[0],
        TPU_TOPOLOGY="4x4",
        TPU_WORKER_HOSTNAMES=",".join(hosts_of(slices[slice_id])),
        TPU_WORKER_ID=str(worker),
    )


def ray_train_environment(slices, slice_id, _worker):
    return dict(megascale(slices, slice_id), JAX_PLATFORMS="tpu")


PROFILES = {"quoit": (order_by_number, quoit_environment), "ray-train": (order_by_text, ray_train_environment)}


def processes_of(slices, profile):
    """By host: process id, slice id, worker id, environment."""
    order, environment = PROFILES[profile]
    slices = order(slices)
    return {
        host: (4 * slice_id + worker, slice_id, worker, environment(slices, slice_id, worker))
        for slice_id, a_slice in enumerate(slices)
        for worker, host in enumerate(hosts_of(a_slice))
    }


def differ(what, got, expected):
    if got != expected:
        print("%s:\n  is       %r\n  expected %r" % (what, got, expected))
    return got != expected


def check_env(document, profile, slices):
    got = {
        p["address"]: (p["process_id"], p["slice_id"], p["worker_id"], p["environment"]) for p in document["processes"]
    }
    wrong = differ("processes", len(document["processes"]), 4 * len(slices))
    for host, expected in processes_of(slices, profile).items():
        wrong |= differ(host, got.get(host), expected)
    return wrong


def word_of(was, now):
    if was is None or now is None:
        return "joined" if was is None else "left"
    return "moved" if was[:3] != now[:3] else "changed" if was[3] != now[3] else "same"


def difference(was, now):
    before, after = (was[3] if was else {}), (now[3] if now else {})
    return {
        name: (before.get(name), after.get(name))
        for name in set(before) | set(after)
        if before.get(name) != after.get(name)
    }


def counterpart(host, others):
    """The host with the same worker id in another incarnation of the same replica."""
    octets = host.split(".")
    same = [o for o in others if o.split(".")[1] == octets[1] and o.split(".")[3] == octets[3]]
    return same[0] if same else None


def check_row(row, was, now, joined, left):
    nothing = (None, None, None)
    host = row["node"]
    wrong = differ(host + " is", row["change"], word_of(was, now))
    wrong |= differ(
        host + " was", tuple(row[n + "_before"] for n in ("process", "slice_id", "worker_id")), (was or nothing)[:3]
    )
    wrong |= differ(
        host + " has", tuple(row[n + "_after"] for n in ("process", "slice_id", "worker_id")), (now or nothing)[:3]
    )
    wrong |= differ(
        host + " sees", {v["name"]: (v["before"], v["after"]) for v in row["variables"]}, difference(was, now)
    )
    if was is None and counterpart(host, left):
        wrong |= differ(host + " comes for", row["in_place_of"], counterpart(host, left))
    if now is None and counterpart(host, joined):
        wrong |= differ(host + " goes for", row["replaced_by"], counterpart(host, joined))
    return wrong


def check_change(document, before, after):
    before, after = processes_of(before, "quoit"), processes_of(after, "quoit")
    rows = document["renumbering"]
    joined, left = set(after) - set(before), set(before) - set(after)
    wrong = differ("hosts", sorted(r["node"] for r in rows), sorted(set(before) | set(after)))
    for row in rows:
        wrong |= check_row(row, before.get(row["node"]), after.get(row["node"]), joined, left)
    return wrong


def main(arguments):
    kind, words = arguments[0], arguments[1:]
    profile = words.pop(0) if kind == "env" else None
    with open(words.pop(0), encoding="utf-8") as file:
        document = json.load(file)
    if kind == "env":
        return check_env(document, profile, words)
    middle = words.index("--")
    return check_change(document, words[:middle], words[middle + 1 :])


sys.exit(main(sys.argv[1:]))
