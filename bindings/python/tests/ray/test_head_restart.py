# SPDX-License-Identifier: Apache-2.0
"""Reservations after a kill and a restart of Ray's control plane, whose storage is Redis. Skips without Redis."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import tpu_fleet

PROGRAM = """
    import time
    import quoit, quoit.ray, ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
    import tpu_fleet

    V4 = dict(topology="2x2x2", accelerator_version="v4", ledger="fleet.db")

    @ray.remote(num_cpus=0, resources={"TPU": 4})
    def worker_id():
        (labels,) = [one["Labels"] for one in ray.nodes() if one["NodeID"] == ray.get_runtime_context().get_node_id()]
        return labels["ray.io/tpu-slice-name"], labels["ray.io/tpu-worker-id"]

    def run_on(slices, bundle):
        where = PlacementGroupSchedulingStrategy(slices.placement_group, bundle)
        return ray.get(worker_id.options(scheduling_strategy=where).remote(), timeout=60)

    with tpu_fleet.Fleet(notice_soon=True) as fleet:
        for name in ("s-a", "s-b"):
            fleet.slice(name, "2x2x2", "v4-16", hosts=2)
        fleet.connect()
        serve = quoit.ray.slice_placement_group(**V4, key="serve", lifetime="detached")
        train = quoit.ray.slice_placement_group(**V4, key="train")
        ids = [one.group.id for one in (serve, train)]

        head = fleet.cluster.head_node
        head.kill_gcs_server()
        try:
            quoit.ray.slice_placement_group(**V4, timeout_s=0)
        except quoit.NotFoundError as error:
            assert "does not answer" in str(error), error
        head.start_gcs_server()

        end = time.monotonic() + 60
        while True:
            try:
                quoit.ray.sync("fleet.db")
                break
            except (quoit.NotFoundError, quoit.BusyError):  # the documentation of sync() tells callers to retry
                assert time.monotonic() < end
        for one, key, id_ in zip((serve, train), ("serve", "train"), ids):
            again = quoit.ray.attach(key=key, ledger="fleet.db")
            assert one.state == again.state == quoit.GroupState.RESERVED, (one.state, again.state)
            assert again.group.id == id_ and again.placement_groups == one.placement_groups
            assert run_on(again, 1) == (again.slice_names[0], "1")
        try:
            quoit.ray.slice_placement_group(**V4, timeout_s=0)
        except quoit.NotNowError:
            pass
        else:
            raise AssertionError("an allocated slice was allocated again")
        train.release()
        with quoit.ray.slice_placement_group(**V4, timeout_s=20) as after:
            assert after.slice_names == train.slice_names and run_on(after, 0) == (after.slice_names[0], "0")
        serve.release()
        with quoit.open("fleet.db") as ledger:
            ledger.verify()
            assert [one for one in ledger.snapshot().groups if one.state != quoit.GroupState.REMOVED] == []
    print("done")
    """


@contextlib.contextmanager
def redis_server(folder):
    """Starts a Redis server without files on the disk; yields its address."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 20
            while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.05)
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server")
def test_reservations_survive_a_restart_of_the_control_plane(tmp_path):
    with redis_server(tmp_path) as address:
        folder = str(pathlib.Path(tpu_fleet.__file__).parent)
        path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PROGRAM)],
            cwd=tmp_path,
            env={**os.environ, "RAY_REDIS_ADDRESS": address, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr
