# SPDX-License-Identifier: Apache-2.0
"""The identity of a process in JAX."""

import copy

import pytest

import quoit
from quoit import identity

NOW = 1_800_000_000_000
POD = {"TPU_WORKER_HOSTNAMES": "a,b", "TPU_WORKER_ID": "1"}
VM = {"agent-worker-number": "0", "worker-network-endpoints": "x:y:10.0.0.1,x:y:10.0.0.2"}
Kind = identity.JaxClusterKind


def test_a_pod_is_identified_by_its_environment():
    cluster = identity.jax_cluster(POD)
    assert (cluster.kind, cluster.workers()) == (Kind.GKE_TPU, ("a", "b"))
    assert (cluster.coordinator(), cluster.process_count(), cluster.process_id()) == ("a:8482", 2, 1)


def test_a_vm_has_priority_unless_the_metadata_server_is_disabled():
    assert identity.jax_cluster(POD, VM).workers() == ("10.0.0.1", "10.0.0.2")
    assert identity.jax_cluster({**POD, "TPU_SKIP_MDS_QUERY": ""}, VM).kind == Kind.GKE_TPU
    assert identity.JaxCluster(Kind.GKE_TPU, POD, VM).workers() == ("a", "b")


def test_without_a_cluster_the_kind_is_none():
    cluster = identity.jax_cluster({"TPU_WORKER_ID": "0"})
    assert cluster.kind == Kind.NONE
    for ask in (cluster.workers, cluster.coordinator, cluster.process_count, cluster.process_id):
        with pytest.raises(quoit.NotFoundError, match="JAX finds no cluster"):
            ask()


def test_other_facts_are_available_if_one_is_refused():
    cluster = identity.jax_cluster({**POD, "TPU_WORKER_ID": "one"})
    assert cluster.process_count() == 2
    with pytest.raises(quoit.InvalidError, match="TPU_WORKER_ID 'one': expected an integer"):
        cluster.process_id()


def test_the_addresses_file_is_an_argument(tmp_path):
    path = tmp_path / "addresses"
    path.write_text("wrong", encoding="utf-8")
    env = {**POD, "TPU_PROCESS_ADDRESSES_PATH": str(path)}
    assert identity.jax_cluster(env, None, "c:1,d:1\n").workers() == ("c:1", "d:1")
    with pytest.raises(quoit.InvalidError, match="JAX raises RuntimeError 'Failed to read TPU process addresses file"):
        identity.jax_cluster(env)
    pod = identity.JaxCluster(Kind.GKE_TPU, {**env, "MEGASCALE_COORDINATOR_ADDRESS": "c"})
    with pytest.raises(quoit.InvalidError, match="JAX raises RuntimeError"):
        pod.coordinator()


@pytest.mark.parametrize("slices", [1, 3])
def test_jax_process_ids_match_the_topology(slices):
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        wanted = quoit.Request("train", accelerator="v6e", topology="4x4", slices=slices)
        made = quoit.topology(ledger.reserve(wanted, now_ms=NOW))
    clusters = [identity.jax_cluster(one.environment) for one in made.processes]
    assert [one.process_id() for one in clusters] == list(range(4 * slices))
    assert {one.process_count() for one in clusters} == {4 * slices}
    assert {one.coordinator() for one in clusters} == {"v6e-4x4-0-0:8482"}


MANIFEST = """
kind: RayCluster
metadata: {name: c}
spec:
  headGroupSpec: {template: {spec: {containers: [{}]}}}
  workerGroupSpecs:
  - groupName: g
    replicas: 2
    numOfHosts: 4
    template:
      spec:
        nodeSelector:
          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
          cloud.google.com/gke-tpu-topology: 4x4
        containers: [{resources: {limits: {google.com/tpu: 4}}}]
"""


def facts_of(cluster):
    def fact(ask):
        try:
            return ask()
        except quoit.Error as error:
            return type(error), str(error)

    asked = cluster.workers, cluster.coordinator, cluster.process_count, cluster.process_id
    return cluster.kind, *(fact(one) for one in asked)


@pytest.mark.parametrize(
    ("profile", "per_host"),
    [(quoit.Profile.QUOIT, 1), (quoit.Profile.QUOIT, 4), (quoit.Profile.KUBERAY, 1), (quoit.Profile.JOBSET, 4)],
)
def test_the_cluster_of_a_process_matches_its_environment(profile, per_host):
    with quoit.open_memory() as ledger:
        ledger.import_raycluster(MANIFEST, now_ms=NOW)
        group = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=2), now_ms=NOW)
        made = quoit.topology(group, profile, processes_per_host=per_host)
    assert len(made.processes) == 8 * per_host
    for process_id, process in enumerate(made.processes):
        of_process = identity.jax_cluster_of_process(made, process_id)
        assert facts_of(of_process) == facts_of(identity.jax_cluster(process.environment))


def test_an_unknown_process_is_refused():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4", now_ms=NOW)
        wanted = quoit.Request("train", accelerator="v6e", topology="4x4", slices=1)
        made = quoit.topology(ledger.reserve(wanted, now_ms=NOW))
    for wrong in (-1, 4, 2**63):
        with pytest.raises(quoit.InvalidError, match="process_id"):
            identity.jax_cluster_of_process(made, wrong)
    with pytest.raises(quoit.InvalidError, match="found a copy"):
        identity.jax_cluster_of_process(copy.copy(made), 0)
    for wrong in (None, made.processes, "made"):
        with pytest.raises(TypeError):
            identity.jax_cluster_of_process(wrong, 0)


def test_bounds_accept_any_name_of_the_generation():
    assert identity.jax_process_bounds("TPU-V6E", 8, 4) == identity.ProcessBounds("1,2,1", "2,2,1")
    assert identity.jax_process_bounds("v5litepod", 8, 4) == identity.ProcessBounds("2,1,1", "2,2,1")
    assert identity.jax_process_bounds("tpu8i", 4, 2) == identity.ProcessBounds("2,1,1", "2,1,1")
    with pytest.raises(quoit.InvalidError, match="chips of a process '2': expected one of 1, 4, 8"):
        identity.jax_process_bounds("v6e", 8, 2)


def test_a_cluster_takes_texts_and_is_immutable():
    with pytest.raises(TypeError, match="kind: expected a JaxClusterKind, not int"):
        identity.JaxCluster(2, POD)
    with pytest.raises(quoit.InvalidError, match="env 'A=': expected a name without '='"):
        identity.jax_cluster({"A=": "b"})
    cluster = identity.jax_cluster(POD)
    assert copy.copy(cluster) is cluster
    with pytest.raises(AttributeError, match="a JaxCluster cannot be changed: kind"):
        cluster.kind = Kind.NONE
