# SPDX-License-Identifier: Apache-2.0
"""Missing and hanging clusters, and unsupported versions of Ray: errors are clear, and nothing stays allocated."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import ray
from conftest import free_chips, tpu_fleet, wait_until
from test_slices import live_groups

import quoit
import quoit.ray
from quoit.ray import versions


def run(text, **named):
    """Runs a program and returns its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120, **named
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_quoit_ray_does_not_import_ray():
    assert run("import quoit.ray, sys; print('ray' in sys.modules, 'numpy' in sys.modules)") == "False False"


def test_without_a_cluster_every_call_raises_with_a_remedy(tmp_path):
    output = run(f"""
        import quoit, quoit.ray as q
        path = {str(tmp_path / "fleet.db")!r}
        for call in (lambda: q.slice_placement_group("4x4", "v6e", ledger=path), lambda: q.sync(path), q.fleet_from_ray,
                     lambda: q.attach(key="a", ledger=path), lambda: q.explain("4x4", "v6e", ledger=path)):
            try:
                call()
            except quoit.NotFoundError as error:
                print("ray.init()" in str(error))
        """)
    assert output.split() == ["True"] * 5
    assert not (tmp_path / "fleet.db").exists()


def test_without_ray_the_error_has_a_remedy():
    output = run("""
        import sys
        sys.modules["ray"] = None
        import quoit.ray
        try:
            quoit.ray.fleet_from_ray()
        except ModuleNotFoundError as error:
            print(error)
        """)
    assert "pip install 'ray==2.60.0'" in output


@pytest.mark.parametrize("feature", versions.NEEDED, ids=lambda one: one.name)
def test_a_missing_feature_of_ray_is_named(feature):
    lacking = versions.Feature(
        feature.description, feature.module, feature.name + "_of_another_version", feature.parameter
    )
    assert versions.missing((feature,)) == ()
    (named,) = versions.missing((lacking,))
    assert feature.description in named


def test_an_unsupported_ray_is_refused_before_anything_is_held(path, monkeypatch):
    real = ray.util.placement_group
    module = sys.modules["ray.util.placement_group"]
    # Ray 2.48's signature, without label selectors.
    monkeypatch.setattr(
        module, "placement_group", lambda bundles, strategy="PACK", name="", lifetime=None: real(bundles)
    )
    monkeypatch.setattr(versions, "_checked", False)
    with pytest.raises(quoit.VersionError, match="label selectors of bundles"):
        quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    monkeypatch.undo()
    assert not path.exists()


def test_the_message_names_hosts_without_labels(path, fleet):
    added = fleet.cluster.add_node(
        num_cpus=1, resources={"TPU": 4}, object_store_memory=80 * 2**20, node_ip_address="127.0.0.99"
    )
    try:
        wait_until(lambda: free_chips() == 36, within_s=60)
        with pytest.raises(quoit.NeverError, match="'127.0.0.99' have TPU but no label 'ray.io/tpu-slice-name'"):
            quoit.ray.slice_placement_group("4x4", "v6e", num_slices=3, ledger=path)
        assert live_groups(path) == []
        with quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger=path):
            pass
    finally:
        fleet.cluster.remove_node(added)
        wait_until(lambda: free_chips() == 32, within_s=60)


def test_a_control_plane_that_does_not_answer_raises_and_nothing_is_held(path, fleet):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    made = slices.placement_groups
    server = fleet.cluster.head_node.all_processes["gcs_server"][0].process
    os.kill(server.pid, signal.SIGSTOP)
    time.sleep(0.5)  # longer than quoit.ray trusts the last answer of the control plane
    try:
        began = time.monotonic()
        with pytest.raises(quoit.NotFoundError, match="does not answer"):
            quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
        with pytest.raises(quoit.NotFoundError, match="does not answer"):
            quoit.ray.sync(path)
        with pytest.raises(quoit.NotFoundError, match="does not answer"):
            slices.state
        with pytest.raises(quoit.NotFoundError, match="does not answer"):
            slices.release()
        # Each of the four calls must end early. Ray's own calls would wait for a minute each.
        assert time.monotonic() - began < 60
    finally:
        os.kill(server.pid, signal.SIGCONT)
    # Ray now creates the group that was requested during the hang, and the adapter removes the group.
    wait_until(lambda: [one.id for one in live_groups(path)] == [slices.group.id] and free_chips() == 16)
    assert slices.placement_groups == made
    slices.release()
    assert live_groups(path) == [] and free_chips() == 32
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path):
        pass


def test_no_call_waits_long_for_a_hanging_control_plane(path, fleet):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", key="job", lifetime="detached", ledger=path)
    server = fleet.cluster.head_node.all_processes["gcs_server"][0].process
    calls = {
        "state": lambda: slices.state,
        "repair": slices.repair,
        "attach": lambda: quoit.ray.attach(key="job", ledger=path),
        "explain": lambda: quoit.ray.explain("4x4", "v6e", ledger=path),
        "explain of a group": slices.explain,
        "sync": lambda: quoit.ray.sync(path),
        "fleet_from_ray": quoit.ray.fleet_from_ray,
        "release": slices.release,
    }
    took = {}
    try:
        for name, call in calls.items():
            os.kill(server.pid, signal.SIGCONT)
            quoit.ray.sync(path)
            os.kill(server.pid, signal.SIGSTOP)
            # A call that Ray receives just before it hangs waits until Ray's own timeout. The pause avoids that case.
            time.sleep(0.3)
            alarm = threading.Timer(40, os.kill, (server.pid, signal.SIGCONT))
            alarm.start()
            began = time.monotonic()
            try:
                call()
            except quoit.NotFoundError as error:
                assert "does not answer" in str(error)
            took[name] = round(time.monotonic() - began, 1)
            alarm.cancel()
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert max(took.values()) < 20, took
    quoit.ray.attach(key="job", ledger=path).release()


def test_a_restarted_cluster_has_no_groups_of_the_old_one(tmp_path):
    path = tmp_path / "fleet.db"
    text = f"""
        import sys
        sys.path.insert(0, {os.path.dirname(tpu_fleet.__file__)!r})
        import tpu_fleet, quoit, quoit.ray
        with tpu_fleet.Fleet() as fleet:
            fleet.slice("s-a", "2x2x2", "v4-16", hosts=2)
            fleet.connect()
            kept = dict(lifetime="detached", key="serve", ledger={str(path)!r})
            slices = quoit.ray.slice_placement_group("2x2x2", "v4", **kept)
            print(slices.group.id, flush=True)
        """
    first, second = run(text), run(text)
    assert int(second) > int(first)


def test_a_release_after_ray_shutdown_is_completed_by_the_next_sync(path, driver):
    other = driver(f"""
        slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger={str(path)!r})
        ray.shutdown()
        slices.release()
        print("released", flush=True)
        input()
        """)
    assert other.line() == "released"
    wait_until(lambda: quoit.ray.sync(path) and live_groups(path) == [])
    # Ray shows the resources of a dead driver as free shortly after its groups are removed.
    wait_until(lambda: free_chips() == 32)
