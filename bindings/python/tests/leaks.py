# SPDX-License-Identifier: Apache-2.0
"""Makes and drops one kind of thing many times, and prints what that left behind: `python leaks.py KIND`."""

from __future__ import annotations

import gc
import resource
import sys
import tempfile

import quoit
from quoit import ray_rules

NOW = 1_790_000_000_000
FLEET = "v6e 4x4 x6"
WARM_UP, CYCLES = 2_000, 10_000
A_WORLD = 200  # a ledger in memory keeps its journal: so many cycles have one


class World:
    def __init__(self):
        self.ledger = quoit.open_memory()
        self.ledger.import_fleet_text(FLEET, now_ms=NOW)
        self.request = request()
        self.group = self.ledger.reserve(request("other", slices=(1, 2)), now_ms=NOW)
        self.snapshot = self.ledger.snapshot()


def request(name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", **{"slices": 1, **arguments})


def refused(error, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except error:
        return
    raise AssertionError(f"expected {error.__name__}")


def a_request(_world):
    request(owner="o", selectors={"a": "in(b,c)"}, named=["x", "y"], excluded=["z"], lease_ms=5)


def a_request_of_bundles(_world):
    quoit.Request("b", bundles=["TPU=4", {"CPU": 1, "x,y": "0.5"}], strategy=quoit.Strategy.SPREAD)
    quoit.Request.from_bundles_file("b", '[{"TPU": 4}, {"CPU": 1}]')


def a_reservation(world):
    world.ledger.release(world.ledger.reserve(world.request, now_ms=NOW), now_ms=NOW)


def a_hold(world):
    group = world.ledger.hold(world.request, 1000, now_ms=NOW)
    world.ledger.renew(group, 2000, now_ms=NOW)
    world.ledger.confirm(group, now_ms=NOW)
    world.ledger.release(group.name, now_ms=NOW)


def a_group_in_full(world):
    group = world.ledger.reserve(request(tpu_per_bundle="1"), now_ms=NOW)
    assert len(group.bundles) == 16 and repr(group) and hash(group) and group == group.__deepcopy__({})
    world.ledger.release(group, now_ms=NOW)


def a_resize(world):
    world.ledger.resize(world.group, 1, now_ms=NOW)
    world.ledger.resize(world.group, 2, now_ms=NOW)


def a_refusal(world):
    refused(quoit.NotNowError, world.ledger.reserve, request(slices=5), now_ms=NOW)
    refused(quoit.NeverError, world.ledger.reserve, request(slices=7), now_ms=NOW)
    refused(quoit.NotFoundError, world.ledger.release, "nobody", now_ms=NOW)


def bad_input(world):
    refused(quoit.InvalidError, request, "a\0b")
    refused(quoit.InvalidError, request, named=["a", "\ud800"])
    refused(quoit.InvalidError, quoit.Request, "x", topology="4x")
    refused(TypeError, request, selectors={"a": 1})
    refused(quoit.InvalidError, world.ledger.import_fleet_text, "v6e 4x4 x", now_ms=NOW)
    refused(quoit.InvalidError, world.ledger.import_ray_nodes, b"[1]", now_ms=NOW)
    refused(quoit.InvalidError, world.ledger.reserve, world.request, now_ms=10**5000)
    refused(TypeError, world.ledger.reserve, None)
    refused(TypeError, quoit.Group, 5)


def a_snapshot(world):
    snapshot = world.ledger.snapshot()
    assert snapshot.seq and len(snapshot.slices) == 6 and snapshot.lookup_slice("v6e-4x4-0").n_hosts == 4
    assert snapshot.nodes[0].resources and snapshot.groups[0].id and snapshot.pools and snapshot.classes
    refused(quoit.NotFoundError, snapshot.lookup_node, "nobody")


def a_document(world):
    assert world.snapshot.to_json()


def a_fork(world):
    with world.snapshot.fork() as fork:
        fork.release(fork.reserve(world.request, now_ms=NOW), now_ms=NOW)
        refused(quoit.NotNowError, fork.reserve, request(slices=5), now_ms=NOW)


def a_report(world):
    report = world.snapshot.explain(request(slices=5))
    assert report.reasons


def an_import(world):
    world.ledger.import_fleet_text(FLEET, now_ms=NOW)
    said = quoit.Input(quoit.SourceKind.FLEET, FLEET, source="fleet")
    assert world.ledger.import_input(said, now_ms=NOW).n_nodes == 24


def a_journal(world):
    assert world.ledger.changes_since(0)


def a_topology(world):
    assert quoit.topology(world.group)


def a_batch(world):
    with world.ledger.batch():
        a_reservation(world)


def a_ledger(_world):
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4", now_ms=NOW)
        ledger.set_actor("me")


def a_ledger_in_a_file(world):
    if not hasattr(world, "folder"):
        world.folder = tempfile.TemporaryDirectory()
        quoit.create(f"{world.folder.name}/fleet.db").close()
    with quoit.open(f"{world.folder.name}/fleet.db") as ledger:
        ledger.refresh()
    refused(quoit.ConflictError, quoit.create, f"{world.folder.name}/fleet.db")


def rules_of_ray(_world):
    assert ray_rules.pod_type("4x4", "TPU-V6E")
    refused(quoit.InvalidError, ray_rules.pod_type, "4x", "TPU-V6E")


def the_catalogue(_world):
    assert quoit.catalogue.generations()


def a_check(_world):
    assert quoit.check_manifest("kind: RayCluster\n") is not None


def a_leak(_world):
    """What the test must find: an error that nobody frees."""
    from quoit import _c

    slot = _c.ffi.new("GError **")
    _c.lib.quoit_request_set_topology(quoit.Request("x")._handle, b"4x", slot)


KINDS = {
    function.__name__: function
    for function in (
        a_request,
        a_request_of_bundles,
        a_reservation,
        a_hold,
        a_group_in_full,
        a_resize,
        a_refusal,
        bad_input,
        a_snapshot,
        a_document,
        a_fork,
        a_report,
        an_import,
        a_journal,
        a_topology,
        a_batch,
        a_ledger,
        a_ledger_in_a_file,
        rules_of_ray,
        the_catalogue,
        a_check,
    )
}
FEWER = {"a_ledger_in_a_file": 2_000, "the_catalogue": 2_000}


def cycle(function, n):
    for number in range(n):
        if number % A_WORLD == 0:
            world = World()
        function(world)


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def main(kind):
    function, n = globals()[kind], FEWER.get(kind, CYCLES)
    cycle(function, min(WARM_UP, n))
    gc.collect()
    blocks, memory = sys.getallocatedblocks(), resident()
    cycle(function, n)
    gc.collect()
    print(n, resident() - memory, sys.getallocatedblocks() - blocks, len(gc.garbage))


if __name__ == "__main__":
    main(sys.argv[1])
