# SPDX-License-Identifier: Apache-2.0
"""Requests that join cubes."""

import json

import pytest

import quoit
from quoit import Cubes, PlacePolicy, Request

NOW = 1_800_000_000_000


def request(name, topology, slices, cubes, accelerator="v5p", **more):
    return Request(name, accelerator=accelerator, topology=topology, slices=slices, cubes=cubes, **more)


@pytest.fixture
def ledger():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v5p 4x4x4 x8 pool=p block=b grid=2x2x2; v5p 4x4x4 x1 pool=q", now_ms=NOW)
        yield ledger


def node(cube, host, labels):
    return {
        "kind": "Node",
        "metadata": {
            "name": f"node-{cube}-{host:02}",
            "labels": {
                "cloud.google.com/gke-nodepool": f"pool-{cube}",
                "cloud.google.com/gke-tpu-accelerator": "tpu7x",
                "cloud.google.com/gke-tpu-topology": "4x4x4",
                "cloud.google.com/gce-topology-block": "block",
                **labels,
            },
        },
        "status": {"capacity": {"google.com/tpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def cluster(has_ids):
    nodes = []
    for cube in range(2):
        for host in range(16):
            labels = {"cloud.google.com/gke-tpu-partition-4x4x4-id": f"cube-{cube}"} if has_ids else {}
            nodes.append(node(cube, host, labels))
    return json.dumps({"kind": "List", "items": nodes})


def test_joined_slices_have_a_shape_and_cubes(ledger):
    group = ledger.reserve(request("g", "4x8x8", 1, Cubes.ADJACENT), now_ms=NOW)
    (one,) = group.slices
    assert (one.joined, one.part) == ((4, 8, 8), None)
    assert len(one.worker_slices) == len(one.workers) == 64
    assert sorted(set(one.worker_slices)) == ["p-0", "p-2", "p-4", "p-6"]
    assert group.request == "v5p 4x8x8 x 1 hostchips=4 cubes=adjacent"
    whole = ledger.reserve(Request("w", accelerator="v5p", topology="4x4x4", slices=1), now_ms=NOW)
    assert (whole.slices[0].joined, whole.slices[0].worker_slices) == (None, ())


def test_a_joined_slice_has_the_environment_of_its_topology(ledger):
    group = ledger.reserve(request("g", "4x4x8", 2, Cubes.ANY), now_ms=NOW)
    processes = quoit.topology(group).processes
    assert [one.environment["TPU_WORKER_ID"] for one in processes] == [str(worker) for worker in range(32)] * 2
    assert {one.environment["TPU_TOPOLOGY"] for one in processes} == {"4x4x8"}
    assert {one.environment["TPU_NAME"] for one in processes} == {"g-0", "g-1"}


def test_policies_and_answers(ledger):
    for place in PlacePolicy:
        ledger.reserve(request(place.name, "4x4x4", 1, Cubes.ANY, place=place), now_ms=NOW)
    report = ledger.snapshot().explain(request("x", "8x8x8", 1, Cubes.ANY))
    assert (report.verdict, report.n_possible) == (quoit.Verdict.NOT_NOW, 1)
    assert [one.constraint.name for one in report.reasons] == ["ALLOCATED", "BLOCK"]


@pytest.mark.parametrize(
    ("topology", "cubes", "accelerator", "more", "message"),
    [
        ("2x2x4", Cubes.ANY, "v5p", {}, "topology '2x2x4' with cubes 'any'"),
        ("4x4x8", Cubes.ANY_TWISTED, "tpu7x", {}, "cubes 'any-twisted': expected v4 or v5p"),
        ("4x4", Cubes.ANY, "v6e", {}, "v6e has none"),
        ("4x4x8", Cubes.ANY, "v5p", {"cut": quoit.Cut.ANY}, "cubes 'any' and cut 'any'"),
    ],
)
def test_wrong_requests(ledger, topology, cubes, accelerator, more, message):
    with pytest.raises(quoit.InvalidError, match=message):
        ledger.reserve(request("x", topology, 1, cubes, accelerator, **more), now_ms=NOW)


def test_slice_objects():
    with quoit.open_memory() as ledger:
        ledger.import_k8s_nodes(cluster(has_ids=True), now_ms=NOW)
        group = ledger.reserve(request("train", "4x4x8", 1, Cubes.ANY, "tpu7x"), now_ms=NOW)
        assert group.gke_slice(0).endswith('topology: 4x4x8\n  partitionIds:\n  - "cube-0"\n  - "cube-1"\n')
        for wrong in (-1, 1):
            with pytest.raises(quoit.InvalidError, match=f"slice_id {wrong}: expected one of the 1 slices"):
                group.gke_slice(wrong)
    with quoit.open_memory() as ledger:
        ledger.import_k8s_nodes(cluster(has_ids=False), now_ms=NOW)
        group = ledger.reserve(request("train", "4x4x8", 1, Cubes.ANY, "tpu7x"), now_ms=NOW)
        with pytest.raises(quoit.NotFoundError, match="has no label cloud.google.com/gke-tpu-partition-4x4x4-id"):
            group.gke_slice(0)
