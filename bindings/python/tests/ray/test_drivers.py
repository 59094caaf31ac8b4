# SPDX-License-Identifier: Apache-2.0
"""Several drivers on one ledger: waiting callers get released slices, and reservations end with their driver."""

import subprocess
import sys
import textwrap
import threading
import time

import pytest
import ray
from conftest import free_chips, hosts_of, wait_until
from test_slices import live_groups

import quoit
import quoit.ray
from quoit.ray import cluster
from quoit.ray.slices import LEASE_S


def holder_script(path, arguments="num_slices=2"):
    """The script of a driver that reserves slices, prints their names, and releases them after a line of input."""
    return f"""
        slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger={str(path)!r}, {arguments})
        print(*slices.slice_names, flush=True)
        input()
        slices.release()
        print("released", flush=True)
        input()
        """


def requester_script(path, arguments):
    """The script of a driver that prints "ready", reads a line, requests slices, and prints their names or the error.

    It ends after another line of input.
    """
    return f"""
        print("ready", flush=True)
        input()
        try:
            slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger={str(path)!r}, {arguments})
            print(*slices.slice_names, flush=True)
        except quoit.Error as error:
            print(type(error).__name__, flush=True)
        input()
        """


def test_only_one_of_several_callers_gets_all_slices(path, driver):
    callers = [driver(requester_script(path, "num_slices=2, timeout_s=0")) for _ in range(3)]
    assert [one.line() for one in callers] == ["ready"] * 3
    for one in callers:
        one.go()
    assert sorted(one.line() for one in callers) == ["SlicesNotFreeError", "SlicesNotFreeError", "s-a s-b"]
    assert len(live_groups(path)) == 1


def test_a_waiting_driver_gets_slices_that_another_releases(path, driver):
    one, two = driver(holder_script(path)), driver(requester_script(path, "num_slices=2, timeout_s=20"))
    assert one.line() == "s-a s-b" and two.line() == "ready"
    two.go()
    time.sleep(0.5)
    one.go()
    assert one.line() == "released" and two.line() == "s-a s-b"


def test_slices_of_a_killed_driver_can_be_reserved_at_once(path, driver):
    other = driver(holder_script(path))
    assert other.line() == "s-a s-b"
    other.kill()
    # The timeout is shorter than the lease of the killed driver, so the slices are free before the lease ends.
    with quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger=path, timeout_s=LEASE_S / 3) as slices:
        assert slices.slice_names == ("s-a", "s-b")


@pytest.mark.parametrize("owner", [None, "team"])
def test_a_killed_and_restarted_driver_gets_live_slices_by_its_key(path, driver, owner):
    other = driver(holder_script(path, f"key='job', owner={owner!r}"))
    assert other.line() == "s-a"
    (held,) = live_groups(path)
    other.kill()
    with quoit.ray.slice_placement_group("4x4", "v6e", key="job", owner=owner, ledger=path, timeout_s=20) as slices:
        assert slices.group.id != held.id and slices.state == quoit.GroupState.RESERVED
        assert [group.id for group in live_groups(path)] == [slices.group.id]
        assert hosts_of(slices.placement_group)[3] == (slices.slice_names[0], 3)


@pytest.mark.parametrize("imports", [("quoit.ray.slices", "ray"), ("ray", "quoit.ray.slices")], ids="-".join)
def test_slices_are_released_at_exit_with_any_import_order(path, fleet, imports):
    text = f"""
        import {imports[0]}
        import {imports[1]}
        import quoit.ray
        ray.init(address={fleet.cluster.address!r}, namespace="other", logging_level="error", log_to_driver=False)
        quoit.ray.slice_placement_group("4x4", "v6e", ledger={str(path)!r})
        """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert live_groups(path) == []


def test_a_driver_killed_between_hold_and_confirmation_leaves_nothing(path, driver):
    other = driver(f"""
        from quoit.ray import cluster
        cluster.create_group = lambda *_: (print("held", flush=True), input())
        quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger={str(path)!r})
        """)
    assert other.line() == "held"
    wait_until(lambda: [one.state for one in live_groups(path)] == [quoit.GroupState.HELD])
    quoit.ray.sync(path)
    assert [one.state for one in live_groups(path)] == [quoit.GroupState.HELD]
    other.kill()
    wait_until(lambda: quoit.ray.sync(path) and live_groups(path) == [])


def test_the_end_of_a_driver_releases_its_slices(path, driver):
    other = driver(holder_script(path))
    assert other.line() == "s-a s-b"
    other.process.stdin.write("")
    other.process.stdin.close()  # input() raises EOFError, and the program ends
    other.process.wait()
    assert live_groups(path) == []


def test_a_driver_without_heartbeats_loses_its_groups_after_the_lease(path, driver):
    other = driver(f"""
        from quoit.ray import owners
        owners.LeaseRenewer._renew = lambda *_: True
        slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger={str(path)!r}, lease_s=4)
        print(*slices.slice_names, flush=True)
        input()
        """)
    assert other.line() == "s-a"
    (held,) = live_groups(path)
    assert held.state == quoit.GroupState.RESERVED

    def has_it():
        with quoit.open(path) as ledger:
            groups = ledger.snapshot().as_of().groups
        return [one for one in groups if one.id == held.id and one.state == quoit.GroupState.RESERVED]

    wait_until(lambda: not has_it(), within_s=60)
    # The placement group of that driver still exists, so sync marks slice s-a as used, and it is not allocated.
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0) as slices:
        assert slices.slice_names == ("s-b",)


def test_heartbeats_keep_groups_after_the_first_lease(path):
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, lease_s=6) as slices:
        first_until_ms = slices.group.until_ms
        wait_until(lambda: time.time() * 1000 > first_until_ms, within_s=60)
        quoit.ray.sync(path)
        assert slices.state == quoit.GroupState.RESERVED and slices.group.until_ms > first_until_ms


def test_the_next_sync_frees_a_group_that_was_removed_in_ray(path):
    slices = quoit.ray.slice_placement_group("4x4", "v6e", ledger=path)
    ray.util.remove_placement_group(slices.placement_group)
    wait_until(lambda: free_chips() == 32)
    quoit.ray.sync(path)
    assert live_groups(path) == [] and slices.state == quoit.GroupState.REMOVED
    slices.release()


def test_detached_slices_survive_their_driver_and_are_found_by_key_and_name(path, driver):
    other = driver(
        holder_script(path, "lifetime='detached', key='serve', name='serve-slices', num_slices=2, pg_per_slice=True")
    )
    assert other.line() == "s-a s-b"
    before = cluster.dead_jobs()
    other.kill()
    wait_until(lambda: cluster.dead_jobs() > before)
    quoit.ray.sync(path)
    found = quoit.ray.attach(key="serve", ledger=path)
    assert found.slice_names == ("s-a", "s-b") and found.state == quoit.GroupState.RESERVED
    assert [hosts_of(one)[3] for one in found.slice_placement_groups] == [("s-a", 3), ("s-b", 3)]
    assert found.bundle_label_selector[5] == {"ray.io/tpu-slice-name": "s-b", "ray.io/tpu-worker-id": "1"}
    again = quoit.ray.slice_placement_group(
        "4x4",
        "v6e",
        num_slices=2,
        pg_per_slice=True,
        lifetime="detached",
        key="serve",
        name="serve-slices",
        ledger=path,
    )
    assert again.slice_placement_groups == found.slice_placement_groups
    assert quoit.ray.attach(name=found.group.name, ledger=path).group == found.group
    with pytest.raises(quoit.ConflictError, match="key 'serve'"):
        quoit.ray.slice_placement_group("4x4", "v6e", num_slices=1, key="serve", ledger=path)
    found.release()
    assert live_groups(path) == [] and free_chips() == 32
    with pytest.raises(quoit.NotFoundError, match="serve"):
        quoit.ray.attach(key="serve", ledger=path)


def test_the_next_sync_frees_a_detached_group_that_was_removed_in_ray(path, driver):
    other = driver(holder_script(path, "lifetime='detached', key='serve'"))
    assert other.line() == "s-a"
    other.kill()
    ray.util.remove_placement_group(quoit.ray.attach(key="serve", ledger=path).placement_group)
    wait_until(lambda: free_chips() == 32)
    quoit.ray.sync(path)
    assert live_groups(path) == []


def test_a_key_can_be_used_again_after_a_release(path):
    first = quoit.ray.slice_placement_group("4x4", "v6e", key="job", ledger=path)
    assert (
        quoit.ray.slice_placement_group("4x4", "v6e", key="job", ledger=path).placement_group == first.placement_group
    )
    assert len(live_groups(path)) == 1
    first.release()
    with quoit.ray.slice_placement_group("4x4", "v6e", key="job", ledger=path) as second:
        assert second.group.id != first.group.id


def test_concurrent_callers_with_one_key_share_one_reservation(path, driver):
    script = requester_script(path, "key='job', timeout_s=20, name='train', lifetime='detached'")
    callers = [driver(script) for _ in range(3)]
    assert [one.line() for one in callers] == ["ready"] * 3
    for one in callers:
        one.go()
    assert [one.line() for one in callers] == ["s-a"] * 3
    assert len(live_groups(path)) == 1 and free_chips() == 16
    quoit.ray.attach(key="job", ledger=path).release()


def test_two_jobs_can_use_the_same_name(path, driver):
    other = driver(holder_script(path, "name='train'"))
    assert other.line() == "s-a"
    with quoit.ray.slice_placement_group("4x4", "v6e", name="train", ledger=path) as slices:
        assert slices.slice_names == ("s-b",) and slices.group.name.startswith("train-")
        assert ray.util.get_placement_group("train") == slices.placement_group
        # In one namespace Ray refuses the second name, and no group remains.
        other.go()
        assert other.line() == "released"
        with pytest.raises(quoit.ConflictError, match="name 'train'"):
            quoit.ray.slice_placement_group("4x4", "v6e", name="train", ledger=path, timeout_s=0)
        assert len(live_groups(path)) == 1 and slices.state == quoit.GroupState.RESERVED


def test_slices_that_other_programs_use_in_ray_are_not_allocated(path):
    group = ray.util.placement_group([{"TPU-v6e-16-head": 1}], bundle_label_selector=[{"ray.io/tpu-slice-name": "s-a"}])
    assert group.wait(5)
    report = quoit.ray.sync(path)
    assert report.is_new and report.n_nodes == len(ray.nodes())
    with quoit.open(path) as ledger:
        assert [one.source for one in ledger.snapshot().groups] == ["ray"]
    with quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0) as slices:
        assert slices.slice_names == ("s-b",)
    assert quoit.ray.explain("4x4", "v6e", 2, ledger=path).n_free_now == 1
    ray.util.remove_placement_group(group)


def test_a_group_that_ray_made_and_that_waits_is_explained(path):
    heads = [{"TPU-v6e-16-head": 1}]
    holders = [ray.util.placement_group(heads, name=name) for name in ("job-a", "")]
    assert all(one.wait(10) for one in holders)
    waiting = ray.util.placement_group(heads)
    unnamed, pending = holders[1].id.hex(), waiting.id.hex()
    for one in (waiting, pending):
        found = quoit.ray.explain(one, ledger=path)
        assert (found.group.name, found.report.verdict) == (pending, quoit.Verdict.NOT_NOW)
        assert f"{pending}@" in found.hold_and_wait and "waits for 'TPU-v6e-16-head'" in found.hold_and_wait
        assert "job-a@" in found.hold_and_wait and f"{unnamed}@" in found.hold_and_wait
        assert found.hold_and_wait in str(found)
    named = ray.util.placement_group([{"TPU": 4, "CPU": 1000}], name="large")
    found = quoit.ray.explain("large", ledger=path)
    assert (found.group.name, found.report.verdict, found.hold_and_wait) == ("large", quoit.Verdict.NEVER, None)
    with pytest.raises(quoit.ConflictError):
        quoit.ray.explain("job-a", ledger=path)
    with pytest.raises(quoit.NotFoundError, match="group 'no-such-group': Ray has no such placement group"):
        quoit.ray.explain("no-such-group", ledger=path)
    for one in (*holders, waiting, named):
        ray.util.remove_placement_group(one)


def test_threads_of_one_driver_can_reserve_concurrently(path):
    got, refused = [], []

    def ask():
        try:
            got.append(quoit.ray.slice_placement_group("4x4", "v6e", ledger=path, timeout_s=0))
        except quoit.NotNowError as error:
            refused.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(one.slice_names for one in got) == [("s-a",), ("s-b",)] and len(refused) == 2
    threads = [threading.Thread(target=one.release) for one in got * 2]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert live_groups(path) == [] and free_chips() == 32


def test_a_ledger_in_memory_can_be_used(fleet, path):
    with quoit.open_memory() as ledger:
        with quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger=ledger):
            with pytest.raises(quoit.NotNowError):
                quoit.ray.slice_placement_group("4x4", "v6e", ledger=ledger, timeout_s=0)
        with quoit.ray.slice_placement_group("4x4", "v6e", num_slices=2, ledger=ledger, timeout_s=0):
            pass
        ledger.verify()


def test_the_default_ledger_is_that_of_the_command(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QUOIT_DB", raising=False)
    with pytest.raises(quoit.NotFoundError, match="QUOIT_DB"):
        quoit.ray.sync()
    monkeypatch.setenv("QUOIT_DB", str(path))
    assert quoit.ray.sync().is_new and path.exists()
