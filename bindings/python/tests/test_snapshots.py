# SPDX-License-Identifier: Apache-2.0
"""The fleet in a snapshot."""

import json
import pickle
import textwrap

import pytest

import quoit

FLEET = "v6e 4x4 x3; v5p 2x2x4 x2 pool=big zone=us-east5-b busy=0 dead=1.2"
NOW = 1_800_000_000_000


def amounts(total, **states):
    """Returns amounts; the states that are not given are 0."""
    names = ("available", "draining", "held", "reserved", "external", "down", "lost")
    return quoit.Amounts(total=total, **{**dict.fromkeys(names, "0"), **states})


MANIFEST = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: lab}
spec:
  headGroupSpec:
    rayStartParams: {}
    template:
      spec:
        containers:
        - {name: head, image: rayproject/ray:2.60.0, resources: {limits: {cpu: "4", memory: 8Gi}}}
  workerGroupSpecs:
  - groupName: tpus
    replicas: 1
    minReplicas: 1
    maxReplicas: 1
    numOfHosts: 4
    rayStartParams: {}
    template:
      spec:
        containers:
        - name: worker
          image: rayproject/ray:2.60.0
          resources: {limits: {google.com/tpu: "4", cpu: "8", memory: 16Gi}}
        nodeSelector:
          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
          cloud.google.com/gke-tpu-topology: 4x4
"""


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text(FLEET, now_ms=NOW)
        yield opened


@pytest.fixture
def snapshot(ledger):
    return ledger.snapshot()


def one_slice(name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=1, **arguments)


def two_sources():
    """A ledger with two sources whose slices and nodes have the same short names."""
    ledger = quoit.open_memory()
    for source in ("east", "west"):
        ledger.import_fleet_text("v6e 4x4 x1", source=source, now_ms=NOW)
    return ledger


def test_a_snapshot_counts_the_contents_of_the_fleet(snapshot):
    assert (len(snapshot.nodes), len(snapshot.slices), len(snapshot.groups)) == (20, 5, 0)
    assert snapshot.sources == (quoit.Source("fleet", quoit.SourceKind.FLEET),)
    assert [(pool.name, pool.source, pool.n_slices, pool.n_nodes) for pool in snapshot.pools] == [
        ("big", "fleet", 2, 8),
        ("v6e-4x4", "fleet", 3, 12),
    ]
    assert snapshot.resources == (
        quoit.Resource("TPU", amounts("80", available="60", external="16", down="4")),
        quoit.Resource("TPU-v5p-32-head", amounts("2", available="1", external="1")),
        quoit.Resource("TPU-v6e-16-head", amounts("3", available="3")),
    )
    snapshot.check()


def test_classes_count_the_slices_in_each_condition(snapshot):
    big, small = snapshot.classes
    assert (big.accelerator, big.topology, big.chips_per_host, big.n_hosts, big.n_slices) == ("v5p", "2x2x4", 4, 4, 2)
    assert big.counts[quoit.SliceFlags.INTACT] == big.counts[quoit.SliceFlags.FULL] == 1
    assert big.counts[quoit.SliceFlags.FREE] == 0
    assert small.counts[quoit.SliceFlags.FREE] == small.n_slices == 3
    assert set(small.counts) == set(quoit.SliceFlags)
    assert hash(small) == hash(small)


def test_a_slice_has_its_conditions(snapshot):
    broken, whole = snapshot.lookup_slice("big-1"), snapshot.lookup_slice("fleet/v6e-4x4/v6e-4x4-0")
    assert quoit.SliceFlags.INTACT not in broken.flags
    assert (broken.n_missing, broken.problem, broken.faults) == (1, "node big-1-2 is dead", 0)
    assert whole.flags == quoit.SliceFlags.INTACT | quoit.SliceFlags.IDLE | quoit.SliceFlags.FREE
    assert (whole.name, whole.pool.name, whole.problem, whole.n_missing) == ("v6e-4x4-0", "v6e-4x4", None, 0)
    assert (whole.accelerator, whole.topology, whole.chips_per_host, whole.n_hosts) == ("v6e", "4x4", 4, 4)
    assert [node.worker_id for node in whole.nodes] == [0, 1, 2, 3]


def test_contradictions_of_a_slice_are_named():
    with quoit.open_memory() as ledger:
        nodes = [ray_node(worker_id) for worker_id in (0, 1, 1)]
        ledger.import_ray_nodes(json.dumps(nodes), now_ms=NOW)
        broken = ledger.snapshot().slices[0]
        assert quoit.Fault.DUPLICATE_WORKER_ID in broken.faults
        assert broken.problem is not None


ray_ids = iter(range(1000))


def ray_node(worker_id, **labels):
    number = next(ray_ids)
    return {
        "NodeID": f"{number:056x}",
        "Alive": True,
        "NodeManagerAddress": f"10.0.0.{number % 250 + 1}",
        "NodeManagerHostname": f"host-{number}",
        "NodeName": f"name-{number}",
        "Resources": {"TPU": 4.0, "CPU": 8.5, "slice-a": 1.0, **({"TPU-v6e-16-head": 1.0} if worker_id == 0 else {})},
        "Labels": {
            "ray.io/tpu-slice-name": "slice-a",
            "ray.io/tpu-worker-id": str(worker_id),
            "ray.io/tpu-pod-type": "v6e-16",
            "ray.io/tpu-topology": "4x4",
            **labels,
        },
    }


def test_a_node_has_the_facts_of_its_source():
    listed = ray_node(2, team="blue")
    with quoit.open_memory() as ledger:
        ledger.import_ray_nodes(json.dumps([listed]), now_ms=NOW)
        (node,) = ledger.snapshot().nodes
    assert node.identity == listed["NodeID"]
    assert node.address == listed["NodeManagerAddress"]
    assert (node.state, node.worker_id, node.chips) == (quoit.NodeState.ALIVE, 2, 4)
    assert (node.is_ray_head, node.is_external, node.assumptions) == (False, False, 0)
    assert (node.sources, node.pool.source, node.slice.name) == (("ray",), "ray", "slice-a")
    assert (node.label("team"), node.label("other")) == ("blue", None)
    assert {one.name: one.amounts for one in node.resources} == {
        "CPU": amounts("8.5", available="8.5"),
        "TPU": amounts("4", available="4"),
        "slice-a": amounts("1", available="1"),
    }
    assert node.chip_amounts == amounts("4", available="4")
    assert node.full_name == f"ray/{node.pool.name}/{node.name}"


def test_the_amounts_of_a_node_are_counted_by_user(ledger):
    group = ledger.reserve(quoit.Request("half", bundles=["TPU=3"], pool="v6e-4x4"), now_ms=NOW)
    snapshot = ledger.snapshot()

    def tpu(name):
        (found,) = [one for one in snapshot.lookup_node(name).resources if one.name == "TPU"]
        return found

    assert tpu(group.bundles[0].node) == quoit.NodeResource("TPU", amounts("4", available="1", reserved="3"))
    assert tpu("big-0-0") == quoit.NodeResource("TPU", amounts("4", external="4"))
    assert snapshot.lookup_node(group.bundles[0].node).chip_amounts == amounts("4", available="1", reserved="3")
    (total,) = [one.amounts for one in snapshot.resources if one.name == "TPU"]
    assert total == amounts("80", available="57", reserved="3", external="16", down="4")
    assert [snapshot.lookup_node(name).is_external for name in ("big-0-0", "big-1-0")] == [True, False]
    assert snapshot.lookup_node("big-1-2").state == quoit.NodeState.DEAD


def test_a_pool_has_the_facts_of_its_manifest():
    with quoit.open_memory() as ledger:
        ledger.import_raycluster(MANIFEST, now_ms=NOW)
        snapshot = ledger.snapshot()
    heads = [node for node in snapshot.nodes if node.is_ray_head]
    workers = [node for node in snapshot.nodes if not node.is_ray_head]
    assert (len(heads), len(workers)) == (1, 4)
    assert {node.address for node in workers} == {None}
    pools = {pool.name: pool for pool in snapshot.pools}
    assert (pools["tpus"].n_pods, pools["tpus"].cpu, pools["tpus"].memory) == (4, "32", str(4 * 16 * 2**30))
    assert [(pool.n_pods, pool.n_nodes) for pool in pools.values() if pool.name != "tpus"] == [(0, 1)]
    assert {pool.source for pool in pools.values()} == {"lab"}
    assert {node.assumptions for node in workers} == {quoit.NodeAssumptions(0)}


def test_facts_that_a_manifest_lacks_are_marked_as_assumed():
    """KubeRay chooses the end of the name of a RayJob's cluster. The names of the hosts contain the cluster's name."""
    head, spec = MANIFEST.replace("kind: RayCluster", "kind: RayJob").split("spec:\n", 1)
    job = f"{head}spec:\n  entrypoint: 'true'\n  rayClusterSpec:\n{textwrap.indent(spec, '  ')}"
    with quoit.open_memory() as ledger:
        ledger.import_raycluster(job, now_ms=NOW)
        workers = [node for node in ledger.snapshot().nodes if not node.is_ray_head]
    assert {node.assumptions for node in workers} == {quoit.NodeAssumptions.HOST_NAME}


def test_a_joined_node_has_the_sources_that_claim_it():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4 x1 pool=a", now_ms=NOW)
        place = {"ray.io/node-group": "a", "ray.io/tpu-slice-name": "a-0"}
        listed = [ray_node(worker_id, **place) for worker_id in range(4)]
        wanted = quoit.Input(quoit.SourceKind.RAY_NODES, json.dumps(listed), join="fleet")
        ledger.import_input(wanted, now_ms=NOW)
        nodes = ledger.snapshot().nodes
        assert [node.sources for node in nodes] == [("fleet", "ray")] * 4
        assert nodes[0].identity == listed[0]["NodeID"]


def test_a_node_without_a_slice_has_none():
    head = {"NodeID": "a" * 56, "Alive": True, "NodeManagerAddress": "10.1.0.1", "NodeName": "10.1.0.1",
            "Resources": {"CPU": 4.0, "node:__internal_head__": 1.0}, "Labels": {}}  # fmt: skip
    with quoit.open_memory() as ledger:
        ledger.import_ray_nodes(json.dumps([head]), now_ms=NOW)
        (node,) = ledger.snapshot().nodes
    assert (node.slice, node.worker_id, node.chips, node.is_ray_head) == (None, None, 0, True)


def test_a_node_lists_its_users(ledger):
    group = ledger.reserve(one_slice(), now_ms=NOW)
    half = ledger.reserve(quoit.Request("half", bundles=["TPU=2"]), now_ms=NOW)
    snapshot = ledger.snapshot()
    assert snapshot.lookup_node(group.slices[0].workers[0].name).users == (quoit.NodeUser(group, None, (0, 1, 2, 3)),)
    ((user,),) = [snapshot.lookup_node(half.bundles[0].node).users]
    assert user.group == half
    assert user.share == "chips 0,1: TPU 2"
    assert user.chips == half.bundles[0].chips and len(user.chips) == 2


def test_external_use_has_chips():
    listed = [ray_node(worker_id) for worker_id in range(4)]
    free = {one["NodeID"]: {"TPU": tpu} for one, tpu in zip(listed, (2.5, 4.0, 4.0, 0.0))}
    with quoit.open_memory() as ledger:
        wanted = quoit.Input(
            quoit.SourceKind.RAY_NODES, json.dumps(listed), ray_groups="[]", ray_available=json.dumps(free)
        )
        ledger.import_input(wanted, now_ms=NOW)
        assert [len(node.external_chips) for node in ledger.snapshot().nodes] == [2, 0, 0, 4]


def test_rows_are_a_sequence(snapshot):
    nodes = snapshot.nodes
    assert nodes[-1].name == nodes[19].name == "v6e-4x4-2-3"
    assert [node.name for node in nodes[:8:4]] == ["big-0-0", "big-1-0"]
    assert nodes[2] in nodes
    assert nodes.index(nodes[3]) == 3
    assert [node.name for node in reversed(nodes)][-1] == "big-0-0"
    for index in (20, -21, 2**70):
        with pytest.raises(IndexError):
            nodes[index]
    with pytest.raises(TypeError):
        nodes["big-0-0"]


def test_rows_are_made_on_access():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v5e 16x16 x1600", now_ms=NOW)
        snapshot = ledger.snapshot()
    made = []

    class Counted(quoit.Node):
        def __init__(self, *arguments):
            made.append(1)
            super().__init__(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quoit.snapshots.Node", Counted)
        nodes = snapshot.nodes
        assert len(nodes) >= 50_000
        assert nodes[-1].chips == nodes[len(nodes) // 2].chips
        assert snapshot.lookup_node(nodes[7].name).name == nodes[7].name
    assert len(made) <= 8


def test_unknown_and_ambiguous_names_are_refused():
    with two_sources() as ledger:
        snapshot = ledger.snapshot()
    for lookup, name in ((snapshot.lookup_node, "v6e-4x4-0-1"), (snapshot.lookup_slice, "v6e-4x4-0")):
        with pytest.raises(quoit.InvalidError, match="east/v6e-4x4/"):
            lookup(name)
        assert lookup(f"west/v6e-4x4/{name}").pool.source == "west"
        with pytest.raises(quoit.NotFoundError, match="'nobody'"):
            lookup("nobody")
        with pytest.raises(TypeError, match="expected a str"):
            lookup(3)
    with pytest.raises(quoit.NotFoundError):
        snapshot.lookup_group("nobody")


def test_rows_with_equal_attributes_are_equal(ledger):
    before = ledger.snapshot()
    ledger.reserve(one_slice(named=["v6e-4x4-1"]), now_ms=NOW)
    after = ledger.snapshot()
    assert before.lookup_node("v6e-4x4-0-0") == after.lookup_node("v6e-4x4-0-0")
    assert before.lookup_node("v6e-4x4-1-0") != after.lookup_node("v6e-4x4-1-0")
    assert before.lookup_slice("v6e-4x4-1") != after.lookup_slice("v6e-4x4-1")
    assert before.lookup_slice("v6e-4x4-0") == after.lookup_slice("v6e-4x4-0")
    assert len({before.lookup_node("v6e-4x4-0-0"), after.lookup_node("v6e-4x4-0-0")}) == 1
    assert before.lookup_node("v6e-4x4-0-0") != "v6e-4x4-0-0"


def test_a_snapshot_does_not_change_and_outlives_its_ledger():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(FLEET, now_ms=NOW)
        before = ledger.snapshot()
        group = ledger.reserve(one_slice(), now_ms=NOW)
        assert len(before.groups) == 0
        after = ledger.snapshot()
    assert (before.seq, after.seq) == (1, 2)
    assert (before.clock_ms, quoit.open_memory().snapshot().clock_ms) == (NOW, None)
    assert list(after.groups) == [group] == [after.lookup_group("train")]
    assert after.lookup_group(group.handle) == after.lookup_group(group)


def test_as_of_frees_groups_with_ended_leases(ledger):
    ledger.hold(one_slice(), 1_000, now_ms=NOW)
    held = ledger.snapshot()
    assert held.as_of(NOW + 999).classes == held.classes
    later = held.as_of(NOW + 1_000)
    assert later.classes[1].counts[quoit.SliceFlags.FREE] == 3 == held.classes[1].counts[quoit.SliceFlags.FREE] + 1
    assert (held.seq, later.seq) == (2, 3)
    with pytest.raises(quoit.InvalidError, match="year"):
        held.as_of(1_800_000_000)


def test_owners_are_listed_with_their_leases(ledger):
    ledger.set_owner("alice", lease_ms=5_000, now_ms=NOW)
    ledger.set_owner("bob", now_ms=NOW + 1)
    ledger.reserve(one_slice(owner="alice"), now_ms=NOW + 1)
    assert ledger.snapshot().owners == (
        quoit.Owner("alice", NOW, NOW + 5_000, 1),
        quoit.Owner("bob", NOW + 1, None, 0),
    )


def test_the_document_has_every_node_and_equal_states_give_equal_text(ledger, snapshot):
    document = json.loads(snapshot.to_json())
    assert document["schema"] == "quoit/1"
    assert snapshot.to_json().count('"big-0-0"') >= 1
    assert snapshot.to_json() == ledger.snapshot().to_json()
    ledger.drain_node("big-0-0", now_ms=NOW)
    assert snapshot.to_json() != ledger.snapshot().to_json()


@pytest.mark.parametrize("what", ["snapshot", "node", "slice"])
def test_views_cannot_be_changed_or_pickled(snapshot, what):
    view = {"snapshot": snapshot, "node": snapshot.nodes[0], "slice": snapshot.slices[0]}[what]
    with pytest.raises(AttributeError, match="cannot be changed: name"):
        view.name = "other"
    with pytest.raises(AttributeError):
        del view._handle
    with pytest.raises(TypeError, match=f"cannot pickle a quoit.{type(view).__name__}"):
        pickle.dumps(view)


def test_past_states_can_be_read(ledger):
    ledger.reserve(one_slice(), now_ms=NOW)
    assert len(ledger.snapshot_at(1).groups) == 0
    assert len(ledger.snapshot_at(2).groups) == 1
    with pytest.raises(quoit.NotFoundError):
        ledger.snapshot_at(99)


def test_a_graph_has_a_vertex_for_each_node_and_chip():
    with quoit.open_memory() as ledger:
        ledger.import_input(quoit.Input(quoit.SourceKind.FLEET, FLEET), now_ms=NOW)
        snapshot = ledger.snapshot()
        graph = json.loads(snapshot.to_graph(quoit.GraphForm.JGF))["graph"]
        types = [vertex["metadata"]["type"] for vertex in graph["nodes"]]
        assert types.count("node") == len(snapshot.nodes) and types.count("chip") == sum(
            n.chips for n in snapshot.nodes
        )
        assert snapshot.to_graph().startswith("digraph fleet {")
        with pytest.raises(TypeError):
            snapshot.to_graph("dot")


def test_a_fleet_can_be_written_as_text_and_read_again():
    ledger, copy = quoit.open_memory(), quoit.open_memory()
    with pytest.raises(quoit.NotFoundError, match="no slice that fleet text can describe"):
        ledger.snapshot().to_fleet_text()
    fleet = "v6e 4x4 x3 pool=a dead=2.1; group train v6e 4x4 x1 owner=ann until=2199-01-01T00:00Z"
    ledger.import_fleet_text(fleet, now_ms=NOW)
    text = ledger.snapshot().to_fleet_text()
    assert text == (
        "v6e 4x4 x3 pool=a dead=2.1;\ngroup train v6e 4x4 x1 pool=a slices=0 until=2199-01-01T00:00:00.000Z owner=ann\n"
    )
    copy.import_fleet_text(text, now_ms=NOW)
    assert copy.snapshot().to_fleet_text() == text
    assert [one.name for one in copy.snapshot().groups] == ["train"]
