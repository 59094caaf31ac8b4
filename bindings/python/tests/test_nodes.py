# SPDX-License-Identifier: Apache-2.0
"""Nodes without a text: imports, syncs, and updates of a few of them."""

import json
import random

import pytest

import quoit

NOW = 1_767_225_600_000


def host(slice, worker, **more):
    return quoit.NodeFacts(
        f"{slice}-{worker}",
        pool="a",
        slice=slice,
        worker_id=worker,
        accelerator="v6e",
        topology="4x4",
        resources={"TPU": 4, "CPU": "0.5"},
        **more,
    )


def fleet(n_slices=2):
    return (host(f"s{index}", worker) for index in range(n_slices) for worker in range(4))


def nodes_input(nodes, **more):
    return quoit.Input(quoit.SourceKind.RAY_NODES, nodes=nodes, **more)


@pytest.fixture
def ledger():
    with quoit.open_memory() as ledger:
        assert ledger.import_input(nodes_input(fleet()), now_ms=NOW).n_nodes == 8
        yield ledger


def train(ledger):
    request = quoit.Request("train", accelerator="v6e", topology="4x4", slices=1)
    return ledger.reserve(request, now_ms=NOW)


def changes(imported):
    return [(one.kind.name, one.name) for one in imported.changes]


def test_nodes_make_slices_that_can_be_reserved(ledger):
    group = train(ledger)
    assert [one.name for one in group.slices] == ["s0"]
    node = ledger.snapshot().lookup_node("s0-1")
    assert (node.pool.name, node.worker_id) == ("a", 1)
    assert {one.name: one.amounts.total for one in node.resources}["CPU"] == "0.5"


def test_mapping_and_facts_are_the_same_node():
    facts = dict(name="n", id="i", address="10.0.0.1", state=quoit.NodeState.DRAINING, pool="p", labels={"k": "v"})
    found = []
    for given in (facts, quoit.NodeFacts(**facts)):
        with quoit.open_memory() as ledger:
            ledger.import_input(nodes_input([given]), now_ms=NOW)
            found.append(ledger.snapshot().to_json())
    assert found[0] == found[1]


def ray_row(facts):
    labels = {
        "ray.io/node-group": facts.pool,
        "ray.io/tpu-slice-name": facts.slice,
        "ray.io/tpu-worker-id": str(facts.worker_id),
        "ray.io/tpu-topology": facts.topology,
        "ray.io/tpu-pod-type": "v6e-16",
        "ray.io/accelerator-type": "TPU-V6E",
    }
    return {
        "node_id": facts.id,
        "node_name": facts.name,
        "node_ip": facts.address,
        "state": facts.state.name,
        "resources_total": {name: float(amount) for name, amount in facts.resources.items()},
        "labels": {**labels, **facts.labels},
    }


def test_random_fleets_equal_those_of_rays_json():
    draw = random.Random(1)
    for _ in range(20):
        nodes = [
            host(
                f"s{index // 4}",
                index % 4,
                id=f"{index:056x}",
                address=f"10.0.0.{index}",
                state=draw.choice(list(quoit.NodeState)),
                labels={"zone": draw.choice("ab")},
            )
            for index in range(24)
            if draw.random() < 0.9
        ]
        found = []
        for given in (
            nodes_input(nodes),
            quoit.Input(quoit.SourceKind.RAY_NODES, json.dumps(list(map(ray_row, nodes)))),
        ):
            with quoit.open_memory() as ledger:
                ledger.import_input(given, now_ms=NOW)
                found.append(ledger.snapshot().to_json())
        assert found[0] == found[1]


def test_update_changes_a_few_nodes(ledger):
    train(ledger)
    result = ledger.update_nodes(
        [host("s1", 0, state=quoit.NodeState.DEAD), host("s2", 0)], remove=["s0-3"], now_ms=NOW
    )
    assert changes(result) == [("STATE", "s1-0"), ("ADDED", "s2-0"), ("LOST", "s0-3"), ("GROUP_SLICE", "train")]
    assert result.n_nodes == 9
    assert ledger.snapshot().lookup_node("s0-3").state == quoit.NodeState.DEAD
    assert not ledger.update_nodes(remove=["s0-3", "nobody"], now_ms=NOW).changes


def test_update_on_a_fork_changes_only_the_fork(ledger):
    fork = ledger.snapshot().fork()
    assert changes(fork.update_nodes(remove=("s1-0",), now_ms=NOW)) == [("REMOVED", "s1-0")]
    assert len(ledger.snapshot().nodes) == 8
    ledger.commit_fork(fork, now_ms=NOW)
    assert len(ledger.snapshot().nodes) == 7


@pytest.mark.parametrize(
    ("node", "error", "message"),
    [
        ({}, quoit.InvalidError, "node 0: neither an id nor a name"),
        ({"name": "n", "chips": 4}, quoit.InvalidError, r"nodes\[0\]: 'chips': expected one of name, id"),
        ({"name": "n", "labels": {"-k": "v"}}, quoit.InvalidError, "node 0 'n': label '-k'"),
        (
            {"name": "n", "resources": {"CPU": -1}},
            quoit.InvalidError,
            r"nodes\[0\].resources\['CPU'\] '-1': expected 0",
        ),
        ({"name": "n", "resources": {"CPU": "1.00001"}}, quoit.InvalidError, "'1.00001': expected an amount such as 4"),
        ({"name": "n", "resources": {"CPU": "9" * 18}}, quoit.InvalidError, "expected an amount such as 4 or 0.5"),
        ({"name": "n", "resources": {"CPU": 0.5}}, TypeError, "expected an int, not float"),
        ({"name": "n", "slice": "s"}, TypeError, r"nodes\[0\].worker_id: expected an int, not NoneType"),
        ({"name": "n", "topology": "4x4"}, TypeError, r"nodes\[0\]"),
        ({"name": "n", "resources": {"TPU": "1.5"}}, quoit.InvalidError, "node 0 'n'"),
        ({"name": "n\0"}, quoit.InvalidError, r"nodes\[0\].name"),
        ({"name": 3}, TypeError, r"nodes\[0\].name: expected a str, not int"),
        ({"name": "n", "state": 1}, TypeError, r"nodes\[0\].state: expected a NodeState, not int"),
        (3, TypeError, r"nodes\[0\]: expected a NodeFacts or a mapping, not int"),
    ],
)
def test_wrong_node_is_refused_and_changes_nothing(ledger, node, error, message):
    before = ledger.snapshot().to_json()
    with pytest.raises(error, match=message):
        ledger.update_nodes([node], now_ms=NOW)
    with pytest.raises(error, match=message):
        ledger.sync_input(nodes_input([node]), now_ms=NOW)
    assert ledger.snapshot().to_json() == before


def test_nodes_and_text_exclude_each_other(ledger):
    for wrong in (
        quoit.Input(quoit.SourceKind.RAY_NODES, "[]", nodes=[]),
        quoit.Input(quoit.SourceKind.FLEET, nodes=[]),
    ):
        with pytest.raises(quoit.InvalidError, match="nodes: expected the kind RAY_NODES, and no text"):
            ledger.sync_input(wrong, now_ms=NOW)
    with pytest.raises(TypeError, match="text: expected a str or bytes, not NoneType"):
        ledger.sync_input(quoit.Input(quoit.SourceKind.RAY_NODES), now_ms=NOW)
    with pytest.raises(quoit.NotFoundError, match="no source 'other'"):
        ledger.update_nodes(source="other", now_ms=NOW)
    with pytest.raises(quoit.InvalidError, match="both added and removed"):
        ledger.update_nodes([host("s0", 0)], remove=["s0-0"], now_ms=NOW)


def test_failing_iterator_changes_nothing(ledger):
    def fail():
        yield host("s3", 0)
        raise KeyError("x")

    with pytest.raises(KeyError):
        ledger.update_nodes(fail(), now_ms=NOW)
    assert len(ledger.snapshot().nodes) == 8
