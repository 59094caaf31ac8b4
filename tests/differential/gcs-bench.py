# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of a group in the real gcs_server: four bundles of four chips, STRICT_SPREAD, on the hosts of one
named slice.

Prints lines of SCENARIO, FLEET and nanoseconds per group, separated by tabs, as the benchmarks read them. CPU time is
that of the server alone; wall clock includes the acknowledgements of the simulated raylets.
"""

import time

from gcs_oracle import GcsOracle

SLICE = "ray.io/tpu-slice-name"
HOSTS = 4
HOST = {"CPU": 180.0, "TPU": 4.0, "memory": 700e9}
GROUP = "4 bundles STRICT_SPREAD by slice name"


def add_slices(gcs, n_nodes):
    """Returns the node ids of each slice."""
    nodes = [(HOST, {SLICE: "slice-%d" % (i // HOSTS), "ray.io/tpu-worker-id": str(i % HOSTS)}) for i in range(n_nodes)]
    ids = []
    for start in range(0, n_nodes, 500):
        ids += gcs.add_nodes(nodes[start : start + 500])
    return [ids[i : i + HOSTS] for i in range(0, n_nodes, HOSTS)]


def place(gcs, slice_number):
    return gcs.place([{"TPU": 4.0}] * HOSTS, "STRICT_SPREAD", selectors=[{SLICE: "slice-%d" % slice_number}] * HOSTS)


class Meter:
    """Seconds of the server's CPU time and of wall clock since its creation."""

    def __init__(self, gcs):
        self.gcs, self.cpu, self.wall = gcs, gcs.cpu_seconds(), time.monotonic()

    def show(self, scenario, fleet, n):
        cpu, wall = self.gcs.cpu_seconds() - self.cpu, time.monotonic() - self.wall
        for what, seconds in (("gcs_server CPU", cpu), ("gcs_server", wall)):
            print("%s, %s\t%s\t%d" % (scenario, what, fleet, seconds / n * 1e9), flush=True)


def expect(answer, result):
    if answer.result != result:
        raise SystemExit("expected %s, got %s" % (result, answer))


def measure_asking(gcs, slices, result, scenario, fleet):
    meter = Meter(gcs)
    for k in slices:
        answer = place(gcs, k)
        expect(answer, result)
        gcs.remove(answer.id)
    meter.show("%s and remove %s" % (scenario, GROUP), fleet, len(slices))


def measure_placing(n_nodes, fleet, n_groups):
    with GcsOracle() as gcs:
        n_slices = len(add_slices(gcs, n_nodes))
        for k in range(5):  # the first calls open connections
            gcs.remove(place(gcs, k).id)
        measured = range(n_slices - n_groups, n_slices)
        measure_asking(gcs, measured, "SUCCESS", "place", fleet)
        # No node has reported since, so the hosts of these slices are still in use.
        measure_asking(gcs, measured, "FAILED", "refuse", fleet)


def measure_turnover(n_nodes, fleet, n_groups):
    """Repeatedly creates one group per slice, removes all groups, and lets the nodes report."""
    with GcsOracle() as gcs:
        slices = add_slices(gcs, n_nodes)
        meter, left = Meter(gcs), n_groups
        while left > 0:
            placed = [place(gcs, k) for k in range(min(left, len(slices)))]
            for answer in placed:
                expect(answer, "SUCCESS")
                gcs.remove(answer.id)
                for node, amounts in gcs.held.pop(answer.id):
                    gcs.available[node] = {
                        name: gcs.available[node][name] + amounts.get(name, 0) for name in gcs.total[node]
                    }
            gcs.report([node for answer in placed for node in answer.nodes])
            left -= len(placed)
        meter.show(f"{n_groups:,} groups requested, placed and removed", fleet, n_groups)


if __name__ == "__main__":
    measure_placing(1000, "1k nodes", 200)
    measure_placing(10000, "10k nodes", 100)
    measure_turnover(1000, "1k nodes", 1000)
