# SPDX-License-Identifier: Apache-2.0
"""A simulated Ray cluster, to test quoit.ray without Ray.

The simulation replaces the functions of `quoit.ray.cluster`; libquoit is the real one. Tests with the real Ray are in
the folder ray.
"""

import contextlib
import json

import quoit
import quoit.ray
from quoit.ray import cluster, records, slices, versions

V4 = dict(topology="2x2x2", accelerator_version="v4")
"""The arguments for one slice. The simulated cluster has two slices, s-a and s-b, with two hosts of four chips each."""


class PlacementGroup:
    """A placement group by id."""

    def __init__(self, identity):
        self.id = bytes.fromhex(identity)

    def __eq__(self, other):
        return isinstance(other, PlacementGroup) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return "PlacementGroup(%s)" % self.id.hex()


class Rays:
    """A simulated cluster and its driver. The adapter's next call sees attributes that a test has changed."""

    def __init__(self):
        self.job = "01000000"
        self.dead = set()
        """The ended jobs."""
        self.actor = ""
        """The actor that this process is, if any."""
        self.dead_actors = set()
        self.cluster = "c" * 56
        self.groups = {}
        """For each live group by id, its row of Ray's list, with its job and lifetime added."""
        self.records = {}
        self.slices = "ab"
        """The slices, one letter each."""
        self.lost = set()
        """Names of lost hosts: "a1"."""
        self.used = {}
        """The resources that tasks use: (host, resource) to amount."""
        self.is_connected = True
        self.n_made = 0

    # --- actions of a test ---

    def driver_ends(self, job="02000000"):
        """Simulates kill -9 of the driver. Ray removes its groups, except detached ones. This process is then `job`."""
        slices._unreleased.clear()
        self.dead.add(self.job)
        self.groups = {one: row for one, row in self.groups.items() if row["lifetime"] or row["job"] != self.job}
        self.job = job

    def lose(self, host):
        """Simulates the loss of a host. Groups with bundles on it become RESCHEDULING."""
        self.lost.add(host)
        gone = self.node_id(host)
        for row in self.groups.values():
            for bundle, node in row["bundles_to_node_id"].items():
                if node == gone:
                    row["bundles_to_node_id"][bundle] = ""
                    row.update(state="RESCHEDULING", stats={"scheduling_state": "INFEASIBLE"})

    def restart_cluster(self):
        """Starts a new cluster on the same machines."""
        slices._unreleased.clear()
        self.cluster, self.job = "d" * 56, "01000000"
        self.groups, self.records, self.dead = {}, {}, set()

    def names(self):
        """The names of the live groups."""
        return sorted(row["name"] for row in self.groups.values())

    def node_id(self, host):
        """Returns Ray's node id of a host. It differs between clusters, so that a restarted cluster has new nodes."""
        return ("%02x" % (ord(host[0]) + 16 * int(host[1]))) * 27 + self.cluster[:2]

    # --- calls of the adapter ---

    def list_now(self):
        nodes = [self._node(name, worker) for name in self.slices for worker in range(2)]
        available = {node["NodeID"]: dict(node["Resources"]) for node in nodes if node["Alive"]}
        for (host, resource), amount in self.used.items():
            _take(available.get(self.node_id(host), {}), {resource: amount})
        for row in self.groups.values():
            for bundle, node in row["bundles_to_node_id"].items():
                _take(available.get(node, {}), row["bundles"][bundle])
        groups = {one: {k: v for k, v in row.items() if k not in _OURS} for one, row in self.groups.items()}
        return cluster.Listing(nodes, groups, available, self.cluster)

    def create_group(self, bundles, selectors, strategy, name, lifetime):
        if name and name in self.names():
            raise quoit.ConflictError(f"name '{name}': a placement group of this namespace has it already")
        self.n_made += 1
        identity = "%036x" % self.n_made
        nodes = [node for node in self.list_now().nodes if node["Alive"]]
        self.groups[identity] = {
            "placement_group_id": identity,
            "name": name,
            "bundles": {index: dict(bundle) for index, bundle in enumerate(bundles)},
            "bundles_to_node_id": {index: _place(nodes, selector) for index, selector in enumerate(selectors)},
            "strategy": strategy,
            "state": "CREATED",
            "stats": {},
            "job": self.job,
            "lifetime": lifetime,
        }
        return PlacementGroup(identity)

    def wait_placed(self, groups):
        if any(one.id.hex() not in self.groups for one in groups):
            raise cluster.RemovedError("removed by another")
        return all(self.groups[one.id.hex()]["state"] == "CREATED" for one in groups)

    def rows(self, groups):
        return [dict(self.groups.get(one.id.hex(), {"state": "REMOVED", "name": ""})) for one in groups]

    def named_groups(self, names, job):
        theirs = (one for one, row in self.groups.items() if row["name"] in names and row["job"] == job)
        return [PlacementGroup(one) for one in theirs]

    def remove_groups(self, groups, timeout_s):
        for one in groups:
            self.groups.pop(one.id.hex(), None)
        return True

    def write_record(self, key, record):
        self.records[key] = record

    def read_records(self, keys):
        return {key: json.loads(self.records[key]) for key in keys if key in self.records}

    def list_record_keys(self):
        return list(self.records)

    def delete_record(self, key):
        self.records.pop(key, None)

    def _node(self, name, worker):
        host = f"{name}{worker}"
        resources = {"TPU": 4.0, "CPU": 2.0, "memory": 1e9, "object_store_memory": 1e8}
        if worker == 0:
            resources["TPU-v4-16-head"] = 1.0
        is_alive = host not in self.lost
        return {
            "NodeID": self.node_id(host),
            "Alive": is_alive,
            "alive": is_alive,
            "NodeName": f"h-{host}",
            "NodeManagerAddress": f"127.{ord(self.cluster[0])}.{ord(name)}.{worker + 1}",
            "NodeManagerHostname": "h",
            "NodeManagerPort": 1,
            "ObjectManagerPort": 1,
            "ObjectStoreSocketName": "",
            "RayletSocketName": "",
            "MetricsExportPort": 1,
            "RuntimeEnvAgentPort": 1,
            "DeathReason": 0,
            "DeathReasonMessage": "",
            "Resources": resources,
            "Labels": {
                "ray.io/tpu-slice-name": f"s-{name}",
                "ray.io/tpu-worker-id": str(worker),
                "ray.io/tpu-topology": "2x2x2",
                "ray.io/tpu-pod-type": "v4-16",
                "ray.io/accelerator-type": "TPU-V4",
            },
        }


_OURS = ("job", "lifetime")


def _place(nodes, selector):
    labels = ({**node["Labels"], "ray.io/node-id": node["NodeID"]} for node in nodes)
    fits = [all(one.get(key) == value for key, value in selector.items()) for one in labels]
    return nodes[fits.index(True)]["NodeID"]


def _take(available, amounts):
    for resource, amount in amounts.items():
        available[resource] = available.get(resource, 0.0) - amount
        if available[resource] <= 0:
            del available[resource]


@contextlib.contextmanager
def stand_in(monkeypatch):
    """Replaces Ray by a simulation. At the end, removes what the test has left in the modules of the adapter."""
    made = Rays()
    monkeypatch.setattr(versions, "check", lambda: None)
    for name in ("list_now", "create_group", "wait_placed", "rows", "named_groups", "remove_groups", "write_record",
                 "read_records", "list_record_keys", "delete_record"):  # fmt: skip
        monkeypatch.setattr(cluster, name, lambda *arguments, name=name: getattr(made, name)(*arguments))
    monkeypatch.setattr(cluster, "is_connected", lambda: made.is_connected)
    monkeypatch.setattr(cluster, "check_connected", lambda: None)
    monkeypatch.setattr(cluster, "connected_driver", lambda: cluster.Driver(made.cluster, made.job))
    monkeypatch.setattr(cluster, "dead_jobs", lambda: set(made.dead))
    monkeypatch.setattr(cluster, "current_actor", lambda: made.actor)
    monkeypatch.setattr(cluster, "is_actor_dead", lambda actor: actor in made.dead_actors)
    monkeypatch.setattr(cluster, "get_group", PlacementGroup)
    yield made
    made.is_connected = True
    slices._release_all()
    slices._unreleased.clear()
    # A pending record must not be written later, into the simulation of the next test.
    for one in list(records._record_writer._pending):
        one.cancel()


def live(path):
    """The state and the slices of each live group that belongs to no source, read through a new handle."""
    with quoit.open(path) as ledger:
        groups = [one for one in ledger.snapshot().groups if not one.source]
    return [
        (one.state.name, tuple(slice_.name for slice_ in one.slices))
        for one in groups
        if one.state != quoit.GroupState.REMOVED
    ]
