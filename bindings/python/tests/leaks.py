# SPDX-License-Identifier: Apache-2.0
"""Makes and drops one kind of object many times, and prints how much memory is not freed: `python leaks.py KIND`."""

from __future__ import annotations

import ctypes
import functools
import gc
import json
import os
import pathlib
import sys
import tempfile

import quoit
from quoit import meshes, ray_rules

NOW = 1_790_000_000_000
FLEET = "v6e 4x4 x6"
WARM_UP, CYCLES = 50, 50  # the cycles before the measurement, and in each measured part
PARTS = 3
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # for files that need not survive a crash
MANIFEST = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: "${NAME}"}
spec:
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: h, resources: {limits: {cpu: "1"}}}]}}
  workerGroupSpecs:
  - groupName: tpu
    replicas: 1
    minReplicas: 1
    maxReplicas: 1
    numOfHosts: ${HOSTS}
    rayStartParams: {}
    template:
      spec:
        containers: [{name: w, resources: {limits: {google.com/tpu: "4", cpu: "8"}, requests: {google.com/tpu: "4"}}}]
        nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}
"""
LABELS = [ray_rules.subslice_labels(worker, "4x4") for worker in range(4)]
HOSTS = [
    {
        "NodeID": f"{worker:056x}",
        "Alive": True,
        "NodeManagerAddress": f"10.0.0.{worker}",
        "NodeName": f"10.0.0.{worker}",
        "Resources": {"TPU": 4.0, "CPU": 8.0},
        "Labels": {
            "ray.io/tpu-slice-name": "s",
            "ray.io/tpu-worker-id": str(worker),
            "ray.io/tpu-topology": "4x4",
            "ray.io/accelerator-type": "TPU-V6E",
        },
    }
    for worker in range(4)
]


class World:
    """The objects that the cycles use. Those that only few kinds need are made on first use."""

    def __init__(self):
        self.ledger = quoit.open_memory()
        self.ledger.import_fleet_text(FLEET, now_ms=NOW)
        self.request = request()
        self.group = self.ledger.reserve(request("other", slices=(1, 2)), now_ms=NOW)
        self.snapshot = self.ledger.snapshot()

    @functools.cached_property
    def folder(self):
        return tempfile.TemporaryDirectory(dir=MEMORY)

    @functools.cached_property
    def path(self):
        """The path of a ledger file."""
        quoit.create(f"{self.folder.name}/fleet.db").close()
        return f"{self.folder.name}/fleet.db"

    @functools.cached_property
    def kept(self):
        """The open ledger of the file at `path`."""
        ledger = quoit.open(self.path)
        ledger.import_fleet_text(FLEET, now_ms=NOW)
        return ledger

    @functools.cached_property
    def past(self):
        """A ledger whose journal has effects of many kinds."""
        ledger = quoit.open_memory()
        ledger.import_fleet_text(FLEET, now_ms=NOW)
        ledger.set_actor("me")
        ledger.set_owner("team", lease_ms=1000, now_ms=NOW)
        group = ledger.reserve(request(slices=(1, 3), owner="team", key="key"), now_ms=NOW)
        ledger.resize(group, 2, now_ms=NOW)
        ledger.drain_node("v6e-4x4-5-0", now_ms=NOW)
        ledger.set_node_state("v6e-4x4-0-0", quoit.NodeState.DEAD, now_ms=NOW)
        ledger.repair(group, now_ms=NOW)
        ledger.release_slice(group, ledger.group("train").slices[0].name, now_ms=NOW)
        ledger.reserve(quoit.Request("half", bundles=["TPU=2"]), now_ms=NOW)
        ledger.confirm(ledger.hold(request("held"), 1000, now_ms=NOW), now_ms=NOW)
        ledger.end_owner("team", now_ms=NOW)
        ledger.forget(group.handle, now_ms=NOW)
        ledger.import_fleet_text(FLEET + "; v5p 2x2x2", now_ms=NOW)
        return ledger


def request(name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", **{"slices": 1, **arguments})


def refused(error, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except error:
        return
    raise AssertionError(f"expected {error.__name__}")


def a_request(_world):
    request(owner="o", selectors={"a": "in(b,c)"}, named=["x", "y"], excluded=["z"], lease_ms=5).renamed("another")


def a_request_of_bundles(_world):
    quoit.Request("b", bundles=["TPU=4", {"CPU": 1, "x,y": "0.5"}], strategy=quoit.Strategy.SPREAD)
    quoit.Request.from_bundles_file("b", '[{"TPU": 4}, {"CPU": 1}]').renamed("another")


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


def a_mesh(_world):
    devices = meshes.Devices.of_slices("v6e", "2x2", 2)
    mesh = meshes.create_hybrid_device_mesh((1, 4), (2, 1), devices)
    assert meshes.axis_links(devices, mesh, 1000) and meshes.choices((2, 4), devices)
    refused(quoit.InvalidError, meshes.create_device_mesh, (3, 3), devices)
    refused(quoit.InvalidError, meshes.Devices, "v6e", [meshes.Device(0, (0, 0, 0), -1)])


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
    text = quoit.Input(quoit.SourceKind.FLEET, FLEET, source="fleet")
    assert world.ledger.import_input(text, now_ms=NOW).n_nodes == 24


def an_import_of_a_manifest(world):
    made = world.ledger.import_raycluster(MANIFEST, variables={"NAME": "lab", "HOSTS": "4"}, now_ms=NOW)
    assert (made.source, made.n_nodes) == ("lab", 5)  # 4 hosts and the head
    refused(quoit.InvalidError, world.ledger.import_raycluster, MANIFEST, variables={"NAME": "lab"}, now_ms=NOW)


def an_import_of_documents(world):
    available = json.dumps({one["NodeID"]: one["Resources"] for one in HOSTS})
    valid = quoit.Input(quoit.SourceKind.RAY_NODES, json.dumps(HOSTS), ray_groups="{}", ray_available=available)
    assert world.ledger.import_input(valid, now_ms=NOW).n_nodes == 4
    world.ledger.sync_input(valid, now_ms=NOW)
    invalid = quoit.Input(quoit.SourceKind.RAY_NODES, json.dumps(HOSTS), ray_groups="[", ray_available=available)
    refused(quoit.InvalidError, world.ledger.import_input, invalid, now_ms=NOW)


def an_import_of_nodes(world):
    nodes = [quoit.NodeFacts(f"n{index}", resources={"CPU": 8}, labels={"rack": "a"}) for index in range(4)]
    valid = quoit.Input(quoit.SourceKind.RAY_NODES, nodes=nodes, source="nodes")
    assert world.ledger.sync_input(valid, now_ms=NOW).n_nodes == 4
    world.ledger.update_nodes([{"name": "n4"}], remove=["n4-gone"], source="nodes", now_ms=NOW)
    world.ledger.update_nodes(remove=["n4"], source="nodes", now_ms=NOW)
    refused(quoit.InvalidError, world.ledger.update_nodes, [{"name": "n", "labels": {"-": ""}}], now_ms=NOW)


def a_journal(world):
    kinds = {effect.type for entry in world.past.changes_since(0) for effect in entry.effects}
    assert len(kinds) >= 7


def a_view_of_the_past(world):
    assert world.past.snapshot_at(3).groups and not world.past.snapshot_at(1).groups
    refused(quoit.NotFoundError, world.past.snapshot_at, 999)


def a_compaction(world):
    world.kept.release(world.kept.reserve(world.request, now_ms=NOW), now_ms=NOW)
    seq = world.kept.snapshot().seq
    world.kept.compact_journal(seq, now_ms=NOW)
    assert world.kept.read_checkpoint()
    refused(quoit.NotFoundError, world.kept.changes_since, 0)


def a_verification(world):
    world.past.verify()
    world.past.snapshot().check()


def a_backup(world):
    copy = f"{world.folder.name}/copy.db"
    world.kept.backup(copy)
    refused(quoit.ConflictError, world.kept.backup, copy)
    os.unlink(copy)


def a_text(world):
    path = pathlib.Path(world.folder.name, "text")
    path.write_text(FLEET)
    assert quoit.load_text(path) == FLEET.encode()
    refused(quoit.NotFoundError, quoit.load_text, path.with_name("none"))


def an_owner(world):
    world.ledger.set_owner("team", lease_ms=1000, now_ms=NOW)
    world.ledger.reserve(request(owner="team"), now_ms=NOW)
    world.ledger.renew_owner("team", 2000, now_ms=NOW)
    assert world.ledger.snapshot().owners
    assert world.ledger.end_owner("team", now_ms=NOW) == 1
    refused(quoit.NotFoundError, world.ledger.end_owner, "team", now_ms=NOW)


def a_slice_that_is_released(world):
    change = world.ledger.release_slice(world.group, world.ledger.group("other").slices[1].name, now_ms=NOW)
    assert (len(change.before.slices), len(change.after.slices)) == (2, 1)
    world.ledger.resize(world.group, 2, now_ms=NOW)
    refused(quoit.NotFoundError, world.ledger.release_slice, world.group, "none", now_ms=NOW)


def a_repair(world):
    lost = world.ledger.group("other").slices[0].workers[0].name
    world.ledger.set_node_state(lost, quoit.NodeState.DEAD, now_ms=NOW)
    assert world.ledger.repair(world.group, now_ms=NOW).before
    world.ledger.set_node_state(lost, quoit.NodeState.ALIVE, now_ms=NOW)


def a_renumbering(world):
    change = world.ledger.resize(world.group, 1, now_ms=NOW)
    assert quoit.renumbering(quoit.topology(change.before), quoit.topology(change.after)).n_changed
    assert quoit.renumbering(None, quoit.topology(change.after)).rows
    world.ledger.resize(world.group, 2, now_ms=NOW)


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
    with quoit.open(world.path) as ledger:
        ledger.refresh()
    refused(quoit.ConflictError, quoit.create, world.path)


def rules_of_ray(_world):
    assert ray_rules.pod_type("4x4", "TPU-V6E")
    refused(quoit.InvalidError, ray_rules.pod_type, "4x", "TPU-V6E")


def a_cluster_of_rays(_world):
    nodes = [ray_rules.ClusterNode(name, {"TPU": 4}, labels={"ray.io/tpu-slice-name": "s"}) for name in "ab"]
    cluster = ray_rules.Cluster(nodes)
    cluster.set_label("a", "zone", "z")
    cluster.set_resource("b", "CPU", 8, 4)
    group = ray_rules.PlacementGroup([{"TPU": 4}] * 2, bundle_label_selector=[{"ray.io/tpu-slice-name": "s"}] * 2)
    placed = group.place(cluster)
    assert group.is_possible(cluster, placed) and group.bundle_order()
    group.is_determined(cluster)
    cluster.allocate(group, placed.nodes)
    refused(quoit.InvalidError, cluster.allocate, group, ["a", "none"])
    cluster.deallocate(group, placed.nodes)
    refused(quoit.InvalidError, ray_rules.PlacementGroup, [{"TPU": 4}], "NONE")


def a_scaling_of_rays(_world):
    scaling = ray_rules.ScalingConfig(use_tpu=True, topology="4x4", accelerator_type="TPU-V6E", num_workers=(4, 12))
    assert scaling.worker_resources and scaling.total_resources and scaling.slice_placement_group(8)
    assert scaling.placement_strategy
    plain = ray_rules.ScalingConfig(num_workers=2, label_selector={"zone": "z"})
    assert plain.label_selector_per_worker(2)
    assert ray_rules.rank_by_slice(["s"] * 4, ["a", "b", "c", "d"])
    refused(quoit.InvalidError, ray_rules.ScalingConfig, use_tpu=True, num_workers=(4, 1))


def sub_slices_of_rays(_world):
    known = {"s": {str(worker): labels for worker, labels in enumerate(LABELS)}}
    assert ray_rules.find_subslice(known, HOSTS, {}, "s", "2x4")
    assert ray_rules.parent_topologies(HOSTS, "2x4")
    assert ray_rules.subslice_placement_group(known, HOSTS, {}, "2x4", "v6e").bundle_label_selector
    refused(quoit.InvalidError, ray_rules.worker_grid, "1x1")


def the_catalogue(_world):
    assert quoit.catalogue.generations()


def the_coordinates(_world):
    assert quoit.coordinates.torus("v4", "4x4x8", wiring=quoit.coordinates.Wiring.TWISTED).hops(0, 127)
    refused(quoit.InvalidError, quoit.coordinates.torus, "v6e", "99999x99999")


def a_process_to_jax(_world):
    cluster = quoit.identity.jax_cluster({"TPU_WORKER_HOSTNAMES": "a,b", "TPU_WORKER_ID": "x"}, {"tpu-env": "A: 'b'"})
    assert cluster.workers() and cluster.coordinator() and cluster.process_count()
    refused(quoit.InvalidError, cluster.process_id)
    refused(quoit.InvalidError, quoit.identity.jax_cluster, {"TPU_PROCESS_ADDRESSES_PATH": "/f"})
    assert quoit.identity.jax_process_bounds("v6e", 8, 4).process_bounds


def pods_of_the_webhook(_world):
    labels = {"ray.io/cluster": "c", "ray.io/group": "g"}
    containers = [quoit.webhook.Container(limit="4", env=[("TPU_NAME", "n")])]
    pod = quoit.webhook.Pod(labels, {quoit.webhook.TOPOLOGY: "4x4"}, containers)
    patch = quoit.webhook.mutate(pod, [quoit.webhook.applied(pod)])
    assert len(quoit.webhook.admit(pod).containers[0]) == 5
    assert patch.hostname == "g-0-1" and quoit.webhook.check_group(pod, 5)
    refused(quoit.InvalidError, quoit.webhook.mutate, quoit.webhook.Pod({}, {}, containers))
    refused(quoit.InvalidError, quoit.webhook.check_group, quoit.webhook.Pod(), 1)


def a_check(_world):
    assert len(quoit.check_manifest(MANIFEST, variables={"NAME": "lab", "HOSTS": "3"}))
    refused(quoit.InvalidError, quoit.check_manifest, "a: [")


def a_check_of_a_job(_world):
    slices = {"accelerator": "v6e", "topology": "4x4", "num_slices": 2}
    settings = ["ici_tensor_parallelism=3", "steps=1", "steps=2", "a", "b=c", "mesh_axes=[data,fsdp]"]
    workers = {"num_workers": (4, 12), "resources_per_worker": {"TPU": 4}}
    assert quoit.maxtext.check(settings, **slices, **workers).findings
    assert quoit.maxtext.check(configs={"a.yml": "steps: x\nstep: [4]\n"}, **slices).findings
    refused(quoit.InvalidError, quoit.maxtext.check, configs={"a.yml": "- a"}, **slices)
    assert quoit.maxtext.check(["custom_mesh=x", "compile_topology=v4-8"], **slices, num_workers=7).findings
    assert quoit.maxtext.fill([-1, 4], 16) == (4, 4)
    devices = quoit.meshes.Devices.of_slices("v6e", "16x16", 2)
    assert quoit.maxtext.create_device_mesh(devices, [64, 4, 1], [2, 1, 1], 2, custom_mesh="hybrid_ring_64x4").ids
    assert quoit.maxtext.devices_in_box(devices, [2, 2])
    refused(quoit.InvalidError, quoit.maxtext.create_device_mesh, devices, [3], [1])
    refused(quoit.InvalidError, quoit.maxtext.check, settings)
    refused(quoit.InvalidError, quoit.maxtext.lookup_accelerator, "v6e-17")


def a_leak(_world):
    """Leaks the error of a call. test_leaks.py checks that the measurement detects this leak."""
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
        a_mesh,
        a_document,
        a_fork,
        a_report,
        an_import,
        an_import_of_a_manifest,
        an_import_of_documents,
        an_import_of_nodes,
        a_journal,
        a_view_of_the_past,
        a_compaction,
        a_verification,
        a_backup,
        a_text,
        an_owner,
        a_slice_that_is_released,
        a_repair,
        a_renumbering,
        a_topology,
        a_batch,
        a_ledger,
        a_ledger_in_a_file,
        rules_of_ray,
        a_cluster_of_rays,
        a_scaling_of_rays,
        sub_slices_of_rays,
        the_catalogue,
        the_coordinates,
        a_process_to_jax,
        pods_of_the_webhook,
        a_check,
        a_check_of_a_job,
    )
}


def cycle(function, n):
    world = World()
    for _ in range(n):
        function(world)


class MallInfo(ctypes.Structure):
    """The C type `struct mallinfo2`."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in [
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        ]
    )


MALLINFO = getattr(ctypes.CDLL(None), "mallinfo2", None)  # of the GNU C library
if MALLINFO is not None:
    MALLINFO.restype = MallInfo


def used():
    """Returns the bytes of all blocks that malloc() has given out."""
    info = MALLINFO()
    return info.uordblks + info.hblkhd


def growth(function):
    """Returns the growth in one part, in bytes and in blocks of Python."""
    blocks, memory = sys.getallocatedblocks(), used()
    cycle(function, CYCLES)
    gc.collect()
    return used() - memory, sys.getallocatedblocks() - blocks


def main(kind):
    """Prints the number of uncollectable objects, and the growth in each part."""
    function = globals()[kind]
    cycle(function, WARM_UP)
    gc.collect()
    print(len(gc.garbage), *[number for _ in range(PARTS) for number in growth(function)])


if __name__ == "__main__":
    main(sys.argv[1])
