# SPDX-License-Identifier: Apache-2.0
"""Imports of Kubernetes nodes with their pods, which have the worker id and the address of each node."""

import json
import pathlib

import pytest

import quoit

NOW = 1_790_000_000_000
WEBHOOK = pathlib.Path(__file__).resolve().parents[3] / "tests" / "vectors" / "webhook.ndjson"
FIELD = "fieldRef:"


def node(name, accelerator="tpu-v6e-slice", topology="2x4", chips=4):
    labels = {"gke-nodepool": "p", "gke-tpu-accelerator": accelerator, "gke-tpu-topology": topology}
    return {
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"u-{name}",
            "labels": {f"cloud.google.com/{k}": v for k, v in labels.items()},
        },
        "status": {"capacity": {"google.com/tpu": str(chips)}, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def container(env, chips=4):
    return {"env": env, "resources": {"limits": {"google.com/tpu": str(chips)}}}


def pod(of, containers, address, **spec):
    return {
        "kind": "Pod",
        "metadata": {"name": f"w-{of}"},
        "spec": {"nodeName": of, "containers": containers, **spec},
        "status": {"phase": "Running", "podIP": address},
    }


def listed(*items):
    return json.dumps({"kind": "List", "items": items})


def import_nodes(ledger, nodes, pods=None):
    ledger.import_input(quoit.Input(quoit.SourceKind.K8S_NODES, nodes, k8s_pods=pods), now_ms=NOW)
    return ledger.snapshot().nodes


def test_pods_give_nodes_their_worker_ids():
    nodes = listed(node("a"), node("b"))
    pods = listed(
        pod("a", [container([{"name": "TPU_WORKER_ID", "value": "1"}])], "10.4.0.1"),
        pod("b", [container([{"name": "TPU_WORKER_ID", "value": "0"}])], "10.4.0.2"),
    )
    with quoit.open_memory() as ledger:
        assumed = import_nodes(ledger, nodes)
        assert [(one.name, one.assumptions) for one in assumed] == [
            ("a", quoit.NodeAssumptions.WORKER_ID),
            ("b", quoit.NodeAssumptions.WORKER_ID),
        ]
        found = [(one.name, one.worker_id, one.address, one.assumptions) for one in import_nodes(ledger, nodes, pods)]
        none = quoit.NodeAssumptions(0)
        assert found == [("b", 0, "10.4.0.2", none), ("a", 1, "10.4.0.1", none)]
        with pytest.raises(quoit.InvalidError, match=r"pods: \$\.items\[0\].*'x'"):
            import_nodes(ledger, nodes, pods.replace('"1"}', '"x"}'))


def written(env):
    """The variables of a container, in the format of Kubernetes' API."""
    for name, value in env:
        if value.startswith(FIELD):
            yield {"name": name, "valueFrom": {"fieldRef": {"fieldPath": value.removeprefix(FIELD)}}}
        else:
            yield {"name": name, "value": value}


def hosts_of(accelerator, topology, n_chips):
    """The number of hosts of the slice; None if there is no such slice."""
    try:
        return quoit.catalogue.lookup_generation(accelerator).lookup_topology(topology, n_chips).hosts
    except (quoit.InvalidError, quoit.NotFoundError):
        return None


def recorded():
    """Yields recorded pods of the TPU webhook: the node, the containers, the host name, and the slice's hosts."""
    for line in WEBHOOK.read_text().splitlines():
        row = json.loads(line)
        given, out = row["in"], row["out"]
        asked = [one.get("tpu", "") for one in given.get("containers") or []]
        if row["op"] != "webhook_mutate" or "hostname" not in out or not all(one.isdigit() for one in asked):
            continue
        n_chips = sum(map(int, asked))
        n_hosts = hosts_of(given["accelerator"], given["topology"], n_chips)
        if n_hosts is not None:
            machine = node("n", given["accelerator"], given["topology"], n_chips)
            containers = [container(list(written(env)), int(n)) for env, n in zip(out["env"], asked)]
            yield pytest.param(machine, containers, out["hostname"], n_hosts, id=row["id"])


@pytest.mark.parametrize(("machine", "containers", "host_name", "n_hosts"), list(recorded()))
def test_the_webhooks_variables_in_a_pod_identify_its_host(machine, containers, host_name, n_hosts):
    host = int(host_name.rpartition("-")[2])
    pods = listed(pod("n", containers, "10.4.0.1", hostname=host_name))
    with quoit.open_memory() as ledger:
        if host >= n_hosts:
            with pytest.raises(
                quoit.InvalidError, match=f"worker id '{host}' of node 'n': expected 0 to {n_hosts - 1}"
            ):
                import_nodes(ledger, json.dumps(machine), pods)
        else:
            (found,) = import_nodes(ledger, json.dumps(machine), pods)
            assert (found.worker_id, found.assumptions) == (host, quoit.NodeAssumptions(0))
