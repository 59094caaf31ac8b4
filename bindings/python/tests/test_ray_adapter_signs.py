# SPDX-License-Identifier: Apache-2.0
"""The heartbeats of a driver, which renew its lease, on a simulated Ray."""

import gc
import threading
import time
import weakref

import pytest
from rays import V4, live

import quoit
import quoit.ray


def heartbeat_threads():
    return [one for one in threading.enumerate() if one.name == "quoit lease renewer"]


def owners(path):
    with quoit.open(path) as ledger:
        return ledger.snapshot().owners


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_repeated_use_of_a_ledger_starts_one_thread(rays):
    before = len(heartbeat_threads())
    with quoit.open_memory() as ledger:
        for _ in range(5):
            with quoit.ray.slice_placement_group(**V4, ledger=ledger):
                pass
        assert len(heartbeat_threads()) == before + 1


def test_an_unreferenced_ledger_is_freed(rays):
    ledger = quoit.open_memory()
    quoit.ray.sync(ledger)
    seen = weakref.ref(ledger)
    del ledger
    gc.collect()
    assert seen() is None


def test_heartbeats_extend_the_lease(rays, path):
    with quoit.ray.slice_placement_group(**V4, ledger=path, lease_s=5) as slices:
        (first,) = owners(path)
        wait_until(lambda: owners(path)[0].until_ms > first.until_ms)
        assert slices.state == quoit.GroupState.RESERVED and owners(path)[0].registered_ms == first.registered_ms


@pytest.mark.parametrize("end", ["shutdown", "another job", "another cluster"])
def test_heartbeats_end_with_their_driver(rays, path, end):
    before = set(heartbeat_threads())
    quoit.ray.slice_placement_group(**V4, ledger=path, lease_s=0.3)
    assert set(heartbeat_threads()) - before
    if end == "shutdown":
        rays.is_connected = False
    elif end == "another job":
        rays.job = "02000000"
    else:
        rays.cluster = "d" * 56
    wait_until(lambda: not set(heartbeat_threads()) - before)
    with quoit.open(path) as ledger:
        wait_until(lambda: ledger.snapshot().as_of().owners == ())


@pytest.mark.parametrize("lease_s", [0, -1, 1e-9, float("inf"), float("nan"), 1e300, 367 * 86400])
def test_an_invalid_lease_is_refused_before_anything_is_held(rays, path, lease_s):
    with pytest.raises(quoit.InvalidError, match="lease_s '"):
        quoit.ray.slice_placement_group(**V4, ledger=path, lease_s=lease_s)
    assert rays.n_made == 0 and not path.exists()


@pytest.mark.parametrize("leases", [(50, 1000), (1000, 50)])
def test_the_longer_of_two_leases_of_an_owner_is_used(rays, path, leases):
    began = time.time() * 1000
    for lease_s in leases:
        quoit.ray.slice_placement_group(**V4, ledger=path, lease_s=lease_s)
    (owner,) = owners(path)
    assert owner.until_ms >= began + 1_000_000 and len(live(path)) == 2


def test_a_longer_lease_from_another_process_is_kept(rays, path):
    began = time.time() * 1000
    quoit.create(path).close()
    with quoit.open(path) as ledger:
        ledger.set_owner("team", lease_ms=1_000_000)
    quoit.ray.slice_placement_group(**V4, ledger=path, lease_s=1, owner="team")
    assert owners(path)[0].until_ms >= began + 1_000_000


def test_an_owner_without_a_lease_gets_none(rays, path):
    quoit.create(path).close()
    with quoit.open(path) as ledger:
        ledger.set_owner("team")
    quoit.ray.slice_placement_group(**V4, ledger=path, lease_s=1, owner="team")
    assert owners(path)[0].until_ms is None
