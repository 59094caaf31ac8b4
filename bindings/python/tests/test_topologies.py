# SPDX-License-Identifier: Apache-2.0
"""The place of each process of a group."""

import json
import pickle

import pytest

import quoit
from quoit import meshes

NOW = 1_800_000_000_000


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        yield opened


def reserve(ledger, slices, **arguments):
    wanted = quoit.Request("train", accelerator="v6e", topology="4x4", slices=slices, **arguments)
    return ledger.reserve(wanted, now_ms=NOW)


def test_each_host_has_a_process_with_its_environment(ledger):
    made = quoit.topology(reserve(ledger, 2))
    assert made.profile == quoit.Profile.QUOIT
    assert [(one.slice_id, one.worker_id) for one in made.processes] == [(s, w) for s in (0, 1) for w in range(4)]
    assert [process.process_id for process in made.processes] == list(range(8))
    assert made.processes[5].node_name == "v6e-4x4-1-1"
    assert made.processes[5].slice_name == "v6e-4x4-1"
    assert made.processes[5].environment == {
        "MEGASCALE_COORDINATOR_ADDRESS": "v6e-4x4-0-0",
        "MEGASCALE_NUM_SLICES": "2",
        "MEGASCALE_PORT": "8081",
        "MEGASCALE_SLICE_ID": "1",
        "TPU_ACCELERATOR_TYPE": "v6e-16",
        "TPU_NAME": "v6e-4x4-1",
        "TPU_TOPOLOGY": "4x4",
        "TPU_WORKER_HOSTNAMES": "v6e-4x4-1-0,v6e-4x4-1-1,v6e-4x4-1-2,v6e-4x4-1-3",
        "TPU_WORKER_ID": "1",
    }
    assert list(made.processes[0].environment) == sorted(made.processes[0].environment)
    assert made.processes[0].node_address is None
    assert any("addresses" in note for note in made.notes)


def test_one_slice_has_no_megascale_variables(ledger):
    made = quoit.topology(reserve(ledger, 1))
    assert not [name for one in made.processes for name in one.environment if name.startswith("MEGASCALE")]


def test_a_profile_that_needs_addresses_is_refused_without_them(ledger):
    with pytest.raises(quoit.NotNowError, match="address"):
        quoit.topology(reserve(ledger, 2), quoit.Profile.RAY_TRAIN)


def bundles(ledger, *amounts, **arguments):
    return ledger.reserve(quoit.Request("parts", bundles=list(amounts), **arguments), now_ms=NOW)


def test_each_bundle_is_a_process_of_one_job(ledger):
    made = quoit.topology(bundles(ledger, "TPU=2", "TPU=2"))
    assert (made.job, made.processes_per_host) == (quoit.Job.BOXES, 0)
    assert [(one.bundle, one.host_chips, one.chips, one.devices) for one in made.processes] == [
        (0, (0, 1), (0, 4), (0, 2)),
        (1, (2, 3), (1, 5), (1, 3)),
    ]
    assert made.processes[1].coordinates == ((1, 0, 0), (1, 1, 0))
    assert made.processes[1].environment["TPU_PROCESS_BOUNDS"] == "2,1,1"
    assert made.processes[1].node_full_name == "fleet/v6e-4x4/v6e-4x4-0-0"
    assert made.processes[1].slice_full_name == "fleet/v6e-4x4/v6e-4x4-0"


def test_bundles_that_fill_slices_are_one_job(ledger):
    made = quoit.topology(reserve(ledger, 2, tpu_per_bundle="1"))
    whole = quoit.topology(
        ledger.reserve(quoit.Request("whole", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
    )
    assert (made.job, made.processes_per_host, len(made.processes)) == (quoit.Job.SLICES, 4, 32)
    assert [one.bundle for one in made.processes] == list(range(32))
    assert sorted(device for one in made.processes for device in one.devices) == list(range(32))
    assert {one.bundle for one in whole.processes} == {None}
    assert whole.processes[0].host_chips == (0, 1, 2, 3)


def test_bundles_that_form_no_box_start_apart(ledger):
    group = bundles(ledger, "TPU=1", "TPU=2")
    made = quoit.topology(group)
    assert made.job == quoit.Job.SEPARATE
    assert [one.environment["TPU_WORKER_ID"] for one in made.processes] == ["0", "0"]
    assert any("do not form one job over ICI" in note for note in made.notes)
    with pytest.raises(quoit.InvalidError, match="not one job over ICI"):
        meshes.Devices.of_group(group)


def test_a_bundle_whose_chips_form_no_box_is_refused(ledger):
    with pytest.raises(quoit.InvalidError, match="bundle '0' has the chips '0,1,2'"):
        quoit.topology(bundles(ledger, "TPU=3"))


def test_bundles_without_tpu_come_last():
    nodes = [
        {"NodeID": "1" * 56, "Alive": True, "Resources": {"CPU": 8.0}, "Labels": {}, "NodeName": "cpu"},
        {
            "NodeID": "2" * 56,
            "Alive": True,
            "Resources": {"CPU": 2.0, "TPU": 4.0, "s": 1.0, "TPU-v6e-4-head": 1.0},
            "Labels": {
                "ray.io/accelerator-type": "TPU-V6E",
                "ray.io/tpu-slice-name": "s",
                "ray.io/tpu-worker-id": "0",
                "ray.io/tpu-topology": "2x2",
                "ray.io/tpu-pod-type": "v6e-4",
            },
            "NodeName": "tpu",
        },
    ]
    with quoit.open_memory() as ledger:
        ledger.import_ray_nodes(json.dumps(nodes), now_ms=NOW)
        made = quoit.topology(bundles(ledger, "CPU=8", "TPU=4"))
    assert [(one.bundle, one.group_slice, one.host_chips) for one in made.processes] == [
        (1, 0, (0, 1, 2, 3)),
        (0, None, ()),
    ]
    assert (made.processes[1].environment, made.processes[1].slice_name) == ({}, "")
    assert made.processes[1].slice_ids == {}


def test_removed_groups_have_no_topology(ledger):
    group = reserve(ledger, 1, key="job")
    ledger.release(group, now_ms=NOW)
    removed = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=1, key="job"), now_ms=NOW)
    with pytest.raises(quoit.InvalidError):
        quoit.topology(removed)


@pytest.mark.parametrize(("group", "profile"), [("train", quoit.Profile.QUOIT), (None, None), (True, 1)])
def test_wrong_types_are_refused(ledger, group, profile):
    with pytest.raises(TypeError, match="group: expected a quoit.Group"):
        quoit.topology(group, profile)
    with pytest.raises(TypeError, match="profile: expected a Profile"):
        quoit.topology(reserve(ledger, 1), 1)


def test_a_renumbering_lists_moved_new_and_removed_processes(ledger):
    group = reserve(ledger, 2)
    ledger.set_node_state("v6e-4x4-0-2", quoit.NodeState.DEAD, now_ms=NOW)
    change = ledger.repair(group, now_ms=NOW)
    found = quoit.renumbering(quoit.topology(change.before), quoit.topology(change.after))
    assert [row.change.name for row in found.rows] == ["MOVED"] * 4 + ["JOINED"] * 4 + ["LEFT"] * 4
    assert found.n_changed == 12
    moved, joined, left = found.rows[0], found.rows[4], found.rows[8]
    assert (moved.process_before, moved.process_after) == (4, 0)
    assert (moved.slice_id_before, moved.slice_id_after) == (1, 0)
    assert (moved.worker_id_before, moved.worker_id_after, moved.counterpart) == (0, 0, None)
    assert quoit.VariableChange("MEGASCALE_SLICE_ID", "1", "0") in moved.variables
    assert (joined.process_before, joined.process_after, joined.slice_id_before) == (None, 4, None)
    assert {one.before for one in joined.variables} == {None}
    assert (left.process_before, left.process_after, left.worker_id_after) == (0, None, None)
    assert {one.after for one in left.variables} == {None}


def test_a_renumbering_without_changes_has_only_same_rows(ledger):
    made = quoit.topology(reserve(ledger, 2))
    found = quoit.renumbering(made, made)
    assert found.n_changed == 0
    assert {row.change for row in found.rows} == {quoit.ProcessChange.SAME}
    assert [row.change for row in quoit.renumbering(None, made).rows] == [quoit.ProcessChange.JOINED] * 8
    assert [row.change for row in quoit.renumbering(made, None).rows] == [quoit.ProcessChange.LEFT] * 8
    assert quoit.renumbering(None, None).rows == ()


def test_a_topology_can_be_pickled(ledger):
    made = quoit.topology(reserve(ledger, 2))
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made
    assert hash(copy) == hash(made)
    assert copy.processes[3].environment == made.processes[3].environment
    with pytest.raises(quoit.InvalidError, match="after: expected a result of quoit.topology"):
        quoit.renumbering(made, copy)
    with pytest.raises(TypeError, match="before: expected a quoit.Topology or None"):
        quoit.renumbering("train", made)


MANIFEST = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: c}
spec:
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: h, resources: {limits: {cpu: '8'}}}]}}
  workerGroupSpecs:
  - groupName: tpu
    replicas: 3
    numOfHosts: 4
    rayStartParams: {}
    template:
      spec:
        nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 4x4}
        containers:
        - name: w
          resources: {limits: {cpu: '8', google.com/tpu: '4'}}
          env: [{name: MEGASCALE_NUM_SLICES, value: '2'}]
"""


@pytest.fixture
def cluster():
    with quoit.open_memory() as opened:
        opened.import_raycluster(MANIFEST, now_ms=NOW)
        yield opened


def test_pytorch_has_one_process_per_chip():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v5p 2x2x2 pool=p", now_ms=NOW)
        group = opened.reserve(quoit.Request("train", accelerator="v5p", topology="2x2x2", slices=1), now_ms=NOW)
        made = quoit.topology(group, processes_per_host=4)
    assert (made.processes_per_host, len(made.processes)) == (4, 8)
    process = made.processes[6]
    assert (process.worker_id, process.local_index) == (1, 2)
    assert process.environment["TPU_PROCESS_BOUNDS"] == "2,2,2"
    assert process.environment["TPU_CHIPS_PER_PROCESS_BOUNDS"] == "1,1,1"
    assert process.environment["TPU_VISIBLE_CHIPS"] == "2"
    assert process.environment["CLOUD_TPU_TASK_ID"] == "6"
    assert process.environment["TPU_PROCESS_PORT"] == "8473"
    assert (process.chips, process.coordinates, process.devices) == ((5,), ((1, 0, 1),), (5,))
    assert sorted(chip for one in made.processes for chip in one.chips) == list(range(8))


def test_jax_computes_the_process_ids_of_several_processes_per_host(ledger):
    made = quoit.topology(reserve(ledger, 2), processes_per_host=2)
    found = [quoit.identity.jax_cluster(one.environment) for one in made.processes]
    assert [one.process_id() for one in found] == list(range(16))
    assert {one.process_count() for one in found} == {16}


def test_the_chips_of_a_process_are_those_of_its_host(ledger):
    torus = quoit.coordinates.torus("v6e", "4x4")
    for one in quoit.topology(reserve(ledger, 2)).processes:
        assert one.chips == tuple(sorted(torus.worker_chips(one.worker_id)))
        assert one.coordinates == tuple(torus.chip_at(chip) for chip in one.chips)
        assert one.devices == tuple(16 * one.slice_id + chip for chip in one.chips)


def test_profiles_can_number_slices_differently(cluster):
    first = cluster.reserve(quoit.Request("one", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
    group = reserve(cluster, 2)
    assert first.slices[0].name == "tpu-0"
    made = quoit.topology(group, quoit.Profile.KUBERAY)
    process = made.processes[5]
    assert (process.slice_id, process.group_slice, process.environment["MEGASCALE_SLICE_ID"]) == (2, 1, "2")
    profile = quoit.Profile
    assert process.slice_ids == {profile.QUOIT: 1, profile.RAY_TRAIN: 1, profile.KUBERAY: 2, profile.JOBSET: 1}
    assert any("Ray Train numbers slices" in note for note in made.notes)
    assert profile.KUBERAY not in quoit.topology(reserve_fleet()).processes[0].slice_ids


def reserve_fleet():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4", now_ms=NOW)
        return reserve(opened, 1)


def test_a_jobset_names_its_pods(ledger):
    made = quoit.topology(reserve(ledger, 2), quoit.Profile.JOBSET, jobset="mine", replicated_job="workers")
    environment = made.processes[6].environment
    assert environment["TPU_WORKER_HOSTNAMES"].split(",")[2] == "mine-workers-1-2.mine"
    assert (environment["JOB_COMPLETION_INDEX"], environment["MEGASCALE_SLICE_ID"]) == ("2", "1")
    assert environment["MEGASCALE_COORDINATOR_ADDRESS"] == "mine-workers-0-0.mine"


def test_a_leader_worker_set_names_its_pods(ledger):
    lws = quoit.LeaderWorkerSet("serve", "team", leader_apart=True, own_subdomains=True)
    environment = quoit.topology(reserve(ledger, 2), quoit.Profile.LWS, lws=lws).processes[5].environment
    assert environment["TPU_WORKER_HOSTNAMES"].split(",")[1] == "serve-1-2.serve-1"
    assert (environment["TPU_NAME"], environment["TPU_WORKER_ID"]) == ("serve-1", "1")
    assert (environment["LWS_LEADER_ADDRESS"], environment["LWS_GROUP_SIZE"]) == ("serve-1.serve-1.team", "5")


def test_a_job_names_its_pods(ledger):
    made = quoit.topology(reserve(ledger, 1), quoit.Profile.JOB, job="train", subdomain="hosts")
    environment = made.processes[3].environment
    assert environment["TPU_WORKER_HOSTNAMES"].endswith("train-2.hosts,train-3.hosts")
    assert (environment["JOB_COMPLETION_INDEX"], environment["TPU_WORKER_ID"]) == ("3", "3")


LWS = """
kind: LeaderWorkerSet
metadata: {name: serve}
spec:
  leaderWorkerTemplate:
    size: 4
    subGroupPolicy: {subGroupSize: 2}
    workerTemplate:
      spec:
        nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x4}
        containers: [{name: a, resources: {limits: {google.com/tpu: "${CHIPS}"}}}]
"""


def test_a_manifest_has_the_names_of_its_pods():
    manifest = quoit.Input(quoit.SourceKind.RAYCLUSTER, LWS, variables={"CHIPS": "4"})
    with quoit.open_memory() as opened:
        opened.import_input(manifest, now_ms=NOW)
        request = quoit.Request("g", accelerator="v6e", topology="2x4", slices=2, chips_per_host=4)
        group = opened.reserve(request, now_ms=NOW)
        made = quoit.manifest_topology(group, manifest, "serve")
        assert made.profile == quoit.Profile.LWS
        assert made.processes[3].environment["TPU_WORKER_HOSTNAMES"] == "serve-0-2.serve,serve-0-3.serve"
        with pytest.raises(quoit.NotFoundError, match="pool 'other'"):
            quoit.manifest_topology(group, manifest, "other")
        with pytest.raises(quoit.InvalidError, match="the input is no manifest"):
            quoit.manifest_topology(group, quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4"), "serve")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"processes_per_host": 3}, "processes per host '3': expected 1, 2, 4 or 8"),
        ({"processes_per_host": -1}, "processes_per_host '-1'"),
        ({"processes_per_host": 8}, "expected at most the 4 chips of a host"),
        ({"profile": quoit.Profile.JOBSET, "jobset": "No"}, "JobSet 'No'"),
        ({"profile": quoit.Profile.JOBSET, "jobset": "n" * 60}, "at most 63 bytes"),
        ({"profile": quoit.Profile.JOBSET, "replicated_job": ""}, "replicated job ''"),
        ({"profile": quoit.Profile.LWS, "lws": quoit.LeaderWorkerSet("1a")}, "LeaderWorkerSet '1a'"),
        ({"profile": quoit.Profile.LWS, "lws": quoit.LeaderWorkerSet(subgroups=2)}, "expected a multiple of 2"),
        ({"profile": quoit.Profile.JOB, "job": "train"}, "expected a subdomain"),
        ({"profile": quoit.Profile.JOB, "subdomain": "A"}, "subdomain 'A'"),
    ],
)
def test_impossible_launches_are_refused(ledger, arguments, message):
    with pytest.raises(quoit.InvalidError, match=message):
        quoit.topology(reserve(ledger, 1), **arguments)


def test_a_profile_that_needs_a_manifest_is_refused_without_it(ledger):
    with pytest.raises(quoit.NotNowError, match="needs the manifest of the RayCluster"):
        quoit.topology(reserve(ledger, 1), quoit.Profile.KUBERAY)
