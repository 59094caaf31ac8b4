# SPDX-License-Identifier: Apache-2.0
"""Fixtures with a real Ray cluster of simulated TPU hosts: two v6e 4x4 slices of four hosts. Tests can add hosts.

Without Ray, the tests are skipped.
"""

import pathlib
import subprocess
import sys
import textwrap
import time

import pytest

ray = pytest.importorskip("ray", minversion="2.55.0")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests" / "differential" / "cluster"))
tpu_fleet = pytest.importorskip("tpu_fleet")


from ray_versions import skip_if_different  # noqa: E402

from quoit.ray import cluster, slices  # noqa: E402


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    skip_if_different(item)


@pytest.fixture(scope="session")
def fleet():
    """The cluster, with this process as a driver."""
    with tpu_fleet.Fleet(head_cpus=2, notice_soon=True) as made:
        for name in ("s-a", "s-b"):
            made.slice(name, "4x4", "v6e-16", hosts=4)
        made.connect()
        yield made


@pytest.fixture
def path(fleet, tmp_path):
    """The path of a ledger. At the end of the test, removes its placement groups from Ray and waits for free chips."""
    yield tmp_path / "fleet.db"
    slices._release_all()
    for group, row in ray.util.placement_group_table().items():
        if row["state"] != "REMOVED":
            ray.util.remove_placement_group(cluster.get_group(group))
    if not _all_chips_return():
        _replace_leaking_hosts(fleet)


def _all_chips_return():
    try:
        wait_until(lambda: free_chips() == 32)
    except AssertionError:
        return False
    return True


def _replace_leaking_hosts(fleet):
    """Replaces the hosts that do not report all chips as free.

    Ray sometimes never frees the chips of a placement group that was removed during its creation. Every later test
    would wait for these chips.
    """
    left = ray._private.state.available_resources_per_node()
    names = fleet.id2name()
    leaking = [names[row["NodeID"]] for row in ray.nodes() if row["Alive"] and _lacks_chips(row, left)]
    print(f"Ray has not returned all chips of {', '.join(leaking)}: these hosts are replaced", file=sys.stderr)
    for host in leaking:
        fleet.kill(host)
    for host in leaking:
        fleet.replace(host)
    wait_until(lambda: free_chips() == 32, within_s=60)


def _lacks_chips(row, left):
    total = row["Resources"].get("TPU", 0)
    return left.get(row["NodeID"], {}).get("TPU", 0) < total


def free_chips():
    """The chips that Ray's control plane shows as free."""
    return sum(row.get("TPU", 0) for row in ray._private.state.available_resources_per_node().values())


def wait_until(condition, within_s=10.0):
    """Waits until condition() is true. Fails after `within_s` seconds."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "the condition is still false after %g s" % within_s
        time.sleep(0.02)


def hosts_of(group):
    """The host of each bundle of a placement group, in the order of bundles, as (slice name, worker id)."""
    labels = {node["NodeID"]: node["Labels"] for node in ray.nodes()}
    placed = ray.util.placement_group_table(group)["bundles_to_node_id"]
    return [
        (labels[placed[i]]["ray.io/tpu-slice-name"], int(labels[placed[i]]["ray.io/tpu-worker-id"]))
        for i in range(len(placed))
    ]


class Driver:
    """Another driver of the cluster, in its own process. It runs the program `text`, and exchanges lines with it."""

    def __init__(self, fleet, text):
        head = f"""
            import sys, ray, quoit, quoit.ray
            ray.init(address={fleet.cluster.address!r}, namespace="other", logging_level="error", log_to_driver=False)
            """
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(text)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def line(self):
        """The next line of the driver's output; "" if it has ended."""
        return self.process.stdout.readline().strip()

    def go(self, line=""):
        """Writes a line for the driver, which waits for it in input()."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def driver(fleet):
    """A function that starts another driver. All these drivers are killed at the end of the test."""
    made = []

    def make(text):
        made.append(Driver(fleet, text))
        return made[-1]

    yield make
    for one in made:
        if one.process.poll() is None:
            one.kill()
        one.process.stdin.close()
        one.process.stdout.close()
