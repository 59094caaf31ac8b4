# SPDX-License-Identifier: Apache-2.0
"""A ledger on the head's volume, after kill -9 of all processes of the head: docs/ray-head.md."""

import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest
from conftest import ray, tpu_fleet

MANIFEST = pathlib.Path(__file__).resolve().parents[4] / "contrib" / "ray" / "raycluster-ledger.yaml"

HEADER = """
    import sys, time, pathlib
    import quoit, quoit.ray
    V4 = dict(topology="2x2x2", accelerator_version="v4", ledger="volume/fleet.db")

    def names(ledger):
        groups = [one for one in ledger.snapshot().groups if not one.source and one.state != quoit.GroupState.REMOVED]
        return {one.name: (one.state.name, [s.name for s in one.slices]) for one in groups}
    """

# Holds slices until the head is killed: one slice that outlives its driver, and one that ends with it.
JOB = """
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    ray.init(address=sys.argv[1], namespace="t", log_to_driver=False, logging_level="error")
    serve = quoit.ray.slice_placement_group(**V4, name="serve", lifetime="detached")
    train = quoit.ray.slice_placement_group(**V4, name="train", lease_s=6)

    @ray.remote(num_cpus=0, resources={"TPU": 4}, name="server", lifetime="detached")
    class Server:
        n_calls = 0

        def call(self):
            self.n_calls += 1
            return self.n_calls

    where = PlacementGroupSchedulingStrategy(serve.placement_group, 0)
    assert ray.get(Server.options(scheduling_strategy=where).remote().call.remote()) == 1
    print(serve.group.handle, serve.placement_group.id.hex(), flush=True)
    time.sleep(600)
    """

# A driver on another node than the head.
FAR = """
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    ray.init(address=sys.argv[1], _node_ip_address="127.0.0.2", log_to_driver=False, logging_level="error")
    far = quoit.ray.slice_placement_group(**V4, name="far", lease_s=6)
    print("reserved", flush=True)
    sys.stdin.readline()
    assert far.state == quoit.GroupState.RESERVED, far.state
    task = ray.remote(num_cpus=0, resources={"TPU": 4})(lambda: "ran")
    where = PlacementGroupSchedulingStrategy(far.placement_group, 0)
    print(ray.get(task.options(scheduling_strategy=where).remote(), timeout=60), flush=True)
    far.release()
    """

# A driver of the new head.
AFTER = """
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    ray.init(address=sys.argv[1], namespace="t", log_to_driver=False, logging_level="error")
    is_kept, handle, group = sys.argv[2] == "kept", *sys.argv[3:]

    def wait(condition, what, within_s=60):
        end = time.monotonic() + within_s
        while True:
            try:
                if condition():
                    return
            except (quoit.NotFoundError, quoit.BusyError, quoit.ConflictError) as error:
                what = f"{what}: {error}"
            assert time.monotonic() < end, what
            time.sleep(0.5)

    wait(lambda: quoit.ray.sync(V4["ledger"]), "a sync")
    ledger = quoit.open(V4["ledger"])
    # The driver of `train` has ended with the head, and that of `far` if its raylet has.
    wait(lambda: quoit.ray.sync(V4["ledger"]) and "train" not in names(quoit.open(V4["ledger"])), "train has ended")

    if is_kept:
        serve = quoit.ray.attach(name="serve", ledger=V4["ledger"])
        assert serve.group.handle == handle and serve.placement_group.id.hex() == group
        assert serve.state == quoit.GroupState.RESERVED, serve.state

        @ray.remote(num_cpus=0, resources={"TPU": 4})
        def host():
            return ray.get_runtime_context().get_node_id()

        assert ray.get(ray.get_actor("server").call.remote(), timeout=60) == 2
        where = PlacementGroupSchedulingStrategy(serve.placement_group, 1)
        assert ray.get(host.options(scheduling_strategy=where).remote(), timeout=60)
        assert names(quoit.open(V4["ledger"]))["by-hand"][0] == "RESERVED"
        with quoit.ray.slice_placement_group(**V4) as free:
            taken = {one for _, slices in names(ledger).values() for one in slices} - set(free.slice_names)
            assert len(taken) == 3, taken
        ray.kill(ray.get_actor("server"))
        serve.release()
    else:
        # Ray has lost the placement groups, so the ledger has freed the detached slice. The group that no driver of
        # Ray owns still has its place, but other nodes are there now.
        wait(lambda: quoit.ray.sync(V4["ledger"]) and "far" not in names(quoit.open(V4["ledger"])), "far has ended")
        found = names(quoit.open(V4["ledger"]))
        assert set(found) == {"by-hand"} and found["by-hand"][0] == "RESCHEDULING", found
        with quoit.open(V4["ledger"]) as ledger:
            explained = ledger.snapshot().explain_group("by-hand")
            assert explained.verdict == quoit.Verdict.FITS, str(explained)
            ledger.repair("by-hand")
            assert names(ledger)["by-hand"][0] == "RESERVED"
        with quoit.ray.slice_placement_group(**V4, num_slices=2, timeout_s=20):
            pass
    quoit.open(V4["ledger"]).verify()
    print("done")
    """

PROGRAM = """
    import os, subprocess
    import tpu_fleet

    storage, job, far, after = sys.argv[1:]
    pathlib.Path("volume").mkdir()
    with tpu_fleet.Fleet(notice_soon=True) as fleet:
        hosts = []
        for name in ("s-a", "s-b", "s-c", "s-d"):
            fleet.slice(name, "2x2x2", "v4-16", hosts=2)
            hosts += [f"{name}/0", f"{name}/1"]
        fleet._settle()
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        near_driver = subprocess.Popen([sys.executable, "-c", job, fleet.address], **pipes)
        far_driver = subprocess.Popen([sys.executable, "-c", far, fleet.address], **pipes)
        try:
            serve = near_driver.stdout.readline().split()
            assert far_driver.stdout.readline() == "reserved\\n"
            with quoit.open("volume/fleet.db") as ledger:
                ledger.reserve(quoit.Request("by-hand", accelerator="v4", topology="2x2x2", slices=1))
                before = names(ledger)
            assert set(before) == {"serve", "train", "far", "by-hand"}, before
            fleet.kill_head()
            near_driver.kill()

            # The ledger needs no Ray.
            with quoit.open("volume/fleet.db") as ledger:
                assert names(ledger)["serve"] == before["serve"] and names(ledger)["by-hand"] == before["by-hand"]
                try:
                    ledger.reserve(quoit.Request("more", accelerator="v4", topology="2x2x2", slices=2))
                except quoit.NotNowError as error:
                    pass
                else:
                    raise AssertionError("a reserved slice was reserved again")

            fleet.start_head()
            if storage == "memory":
                for host in hosts:  # the old raylets do not belong to the new cluster
                    fleet.kill(host)
                far_driver.kill()
                for host in hosts:
                    fleet.replace(host)
            else:
                assert pathlib.Path("volume/ray/session_name").exists()
            fleet.wait(lambda: len(fleet.cluster.global_state._live_node_ids()) == 9, 90, "all hosts", interval_s=0.5)
            state = "kept" if storage == "rocksdb" else "lost"
            subprocess.run([sys.executable, "-c", after, fleet.address, state, *serve], check=True, timeout=200)
            if storage == "rocksdb":
                far_driver.stdin.write("go\\n")
                far_driver.stdin.flush()
                # Ray may print on this stream that the raylet of the killed head has ended.
                said = list(iter(far_driver.stdout.readline, ""))
                assert "ran\\n" in said and far_driver.wait() == 0, said
        finally:
            near_driver.kill()
            far_driver.kill()
    """


@pytest.mark.parametrize("storage", ["memory", "rocksdb"])
def test_reservations_after_the_head_was_killed(tmp_path, storage):
    if storage == "rocksdb" and tuple(map(int, ray.__version__.split(".")[:2])) < (2, 60):
        pytest.skip(f"Ray {ray.__version__} has no such storage")
    programs = [textwrap.dedent(HEADER) + textwrap.dedent(one) for one in (PROGRAM, JOB, FAR, AFTER)]
    folder = str(pathlib.Path(tpu_fleet.__file__).parent)
    # The environment of the head in the manifest, with the volume in this folder.
    found = re.findall(r"- name: (RAY_gcs_storage\w*)\n *value: (.*)\n", MANIFEST.read_text())
    environment = {name: value.replace("/state/", f"{tmp_path}/volume/") for name, value in found}
    assert set(environment) == {"RAY_gcs_storage", "RAY_gcs_storage_path"}
    path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", programs[0], storage, *programs[1:]],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, **(environment if storage == "rocksdb" else {})},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout + done.stderr
