# SPDX-License-Identifier: Apache-2.0
"""ray_source.py CLUSTER: import and sync --from-ray with a real Ray cluster of simulated TPU hosts.

CLUSTER is the folder of tpu_fleet.py. The command `ray` is a script that runs the one of this environment.
"""

import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, sys.argv[1])

import ray
from lib import Checks, Ledger, Lines
from ray.util.placement_group import placement_group, remove_placement_group
from tpu_fleet import Fleet


def write_command(folder):
    """The environment was moved after its installation, so its own script `ray` does not find its Python."""
    path = os.path.join(folder, "ray")
    with open(path, "w") as file:
        file.write('#!/bin/sh\nexec "%s" -m ray.scripts.scripts "$@"\n' % sys.executable)
    os.chmod(path, 0o755)


def reserve(slice_name):
    group = placement_group(
        [{"TPU": 4}] * 2,
        strategy="STRICT_SPREAD",
        name=slice_name,
        bundle_label_selector=[{"ray.io/tpu-slice-name": slice_name}] * 2,
    )
    ray.get(group.ready(), timeout=60)
    return group


def play(fleet, folder, check):
    address = fleet.address
    programs, ledgers = os.path.join(folder, "bin"), os.path.join(folder, "ledgers")
    os.mkdir(programs)
    os.mkdir(ledgers)
    write_command(programs)
    ledger = Ledger(ledgers, programs, RAY_ADDRESS=address)
    done = ledger.run("import", "--from-ray", address)
    check("a live cluster is imported", done.returncode == 0, done.stderr)
    slices = ledger.json("slices")["slices"]
    check(
        "its slices are free",
        [(s["slice"], s["topology"]) for s in slices] == [("s-a", "2x2x2"), ("s-b", "2x2x2")],
        slices,
    )
    group = reserve("s-a")
    done = ledger.run("sync", "--from-ray", "-o", "json")
    check("$RAY_ADDRESS is enough", done.returncode == 0, done.stderr)
    groups = ledger.json("groups")["groups"]
    check("a placement group is a group", [g["name"] for g in groups] == ["s-a"], groups)
    nodes = ledger.json("nodes")["nodes"]
    check(
        "on the nodes that Ray chose",
        [n["slice"] for n in nodes if n["held_by"]] == ["s-a", "s-a"],
        nodes,
    )
    done = ledger.run("sync", "--from-ray", "--timeout", "50ms")
    check(
        "a limit ends ray",
        done.returncode == 3 and "not finished after 50 ms" in done.stderr,
        done.stderr,
    )
    done = ledger.run("sync", "--from-ray", "127.0.0.1:1")
    check(
        "no cluster",
        done.returncode == 3 and "ray list nodes" in done.stderr and "exit status " in done.stderr,
        done.stderr,
    )
    print("no cluster: %s" % done.stderr.strip())
    done = ledger.run("sync", "--from-ray", "--", "--frobnicate")
    check(
        "an unknown option of ray",
        "Error: No such option" in done.stderr and "--frobnicate" in done.stderr,
        done.stderr,
    )

    loop = ledger.start("sync", "--from-ray", "--every", "1s")
    remove_placement_group(group)
    lines = Lines(loop)
    check("a removed group is a line", lines.find(" ray: group s-a"))
    fleet.kill("s-b/1")
    check("a lost host is a line", lines.find("alive -> dead"))
    loop.send_signal(signal.SIGTERM)
    check("the loop ended by SIGTERM", loop.wait(60) == -signal.SIGTERM, loop.returncode)
    check("the ledger is whole", ledger.run("verify").returncode == 0)


def main():
    checks = Checks()
    with (
        tempfile.TemporaryDirectory() as folder,
        Fleet(dashboard=True, notice_soon=True) as fleet,
    ):
        try:
            fleet.slice("s-a", "2x2x2", "v4-16", hosts=2)
            fleet.slice("s-b", "2x2x2", "v4-16", hosts=2)
            fleet.connect()
            time.sleep(1)
            play(fleet, folder, checks.check)
        except Exception as error:
            checks.check("the play went to its end", False, repr(error))
    checks.finish()


if __name__ == "__main__":
    main()
