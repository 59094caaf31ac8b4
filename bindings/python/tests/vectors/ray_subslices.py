# SPDX-License-Identifier: Apache-2.0
"""Suite ray-tpu: the places of sub-slices, and Ray's choice among sub-slices."""

import math

from rows import Skip, allow_members, keep_recorded

from quoit.ray_rules import subslices

TOPOLOGY = "ray.io/tpu-topology"
SLICE_NAME = "ray.io/tpu-slice-name"
WORKER_ID = "ray.io/tpu-worker-id"

# --- places ---------------------------------------------------------------------------------------------------------


def topology_dims(given, recorded):
    allow_members(given, ["topology"])
    return list(subslices.topology_dims(given["topology"]))


def worker_grid(given, recorded):
    allow_members(given, ["topology"])
    return list(subslices.worker_grid(given["topology"]))


def physical_worker_id(given, recorded):
    allow_members(given, ["coords", "parent_topology"])
    return subslices.physical_worker_id(given["coords"], given["parent_topology"])


def subslice_labels(given, recorded):
    allow_members(given, ["physical_worker_id", "parent_topology"])
    return subslices.subslice_labels(given["physical_worker_id"], given["parent_topology"])


def nodes_of(topologies, alive=True):
    return [{"Alive": alive, "Labels": {TOPOLOGY: topology}} for topology in topologies or [] if topology is not None]


def parent_topologies(given, recorded):
    """The parent topologies. For long lists, rows record the sorted topologies, and the numbers of hosts in order."""
    allow_members(given, ["subslice_topology", "alive_topologies", "dead_topologies"])
    nodes = nodes_of(given.get("alive_topologies")) + nodes_of(given.get("dead_topologies"), alive=False)
    parents = subslices.parent_topologies(nodes, given["subslice_topology"])
    if not isinstance(recorded, dict):
        return list(parents)
    hosts = [math.prod(subslices.worker_grid(parent)) for parent in parents]
    return keep_recorded({"value_as_set": sorted(parents), "worker_counts_in_order": hosts}, recorded)


def chips_per_vm(given, recorded):
    allow_members(given, ["user_chips_per_vm", "parent_topology", "version"])
    return subslices.subslice_chips_per_vm(given["user_chips_per_vm"], given["parent_topology"], given["version"])


# --- choice ---------------------------------------------------------------------------------------------------------


def worker(slice_name, worker_id, tpu, topology="4x4"):
    labels = {SLICE_NAME: slice_name, WORKER_ID: worker_id, TOPOLOGY: topology}
    return {"NodeID": f"n{worker_id}", "Alive": True, "Labels": labels, "Resources": {"TPU": tpu}}


def is_head_free(given, recorded):
    allow_members(given, ["available_on_worker_0", "head_resource"])
    available = {"n0": given["available_on_worker_0"]} if given["available_on_worker_0"] is not None else {}
    return subslices.is_head_free([worker("s", "0", 4)], available, "s", given["head_resource"])


def read_workers(given):
    """The labels of each worker, and the TPU of a node. Some rows describe the workers of a 4x4 slice in words."""
    labels = given["worker_labels"]
    if labels == "4x4 slice, worker k has 2x2 index k and 2x4 index k//2, 4 TPU each":
        return {str(index): subslices.subslice_labels(index, "4x4") for index in range(4)}, 4
    if not isinstance(labels, dict):
        raise Skip("labels of workers in another form")
    return labels, given["node_total_TPU"]


def find_subslice(given, recorded):
    members = ["worker_labels", "node_total_TPU", "node_free_TPU", "available"]
    allow_members(given, ["slice", "subslice_topology", "subslice_index", *members])
    labels, tpu = read_workers(given)
    nodes = [worker("s", worker_id, tpu) for worker_id in labels]
    available = {f"n{worker_id}": {"TPU": free} for worker_id, free in (given.get("node_free_TPU") or {}).items()}
    available.update(given.get("available") or {})
    index = given.get("subslice_index")
    found = subslices.find_subslice({"s": labels}, nodes, available, "s", given["subslice_topology"], index)
    return {
        "worker_ids": list(found.worker_ids) if found else None,
        "subslice_index": found.index if found else None,
    }


def find_undiscovered(given, recorded):
    """The next slice to discover. A row has nodes and resources, or the free TPU of each worker of a 4x4 slice."""
    allow_members(given, ["nodes", "available", "slice", "free", "cached", "head_avail"])
    name, free = given.get("slice"), given.get("free") or []
    nodes = (given.get("nodes") or []) + [worker(name, str(index), 4) for index in range(len(free))]
    available = dict(given.get("available") or {})
    available.update({f"n{index}": {"TPU": left} for index, left in enumerate(free)})
    if "head_avail" in given:
        available["n0"]["TPU-v6e-16-head"] = given["head_avail"]
    known = {name: {}} if given.get("cached") else {}
    found = subslices.next_slice_to_discover(known, nodes, available, ["4x4"], "v6e")
    return list(found) if found else None


def subslice_group(given, recorded):
    """Ray's plan in a cluster with one idle slice of each topology of "cluster", none of which is discovered."""
    allow_members(given, ["subslice_topology", "accelerator_version", "chips_per_vm", "cluster"])
    nodes = [worker(f"slice-{index}", "0", 4, one) for index, one in enumerate(given.get("cluster") or [])]
    shape = given["subslice_topology"], given["accelerator_version"], given.get("chips_per_vm")
    plan = subslices.subslice_placement_group({}, nodes, {}, *shape)
    return keep_recorded({"parent_topology": plan.parent_topology, "chips_per_host": plan.chips_per_host}, recorded)


OPS = {
    "accel._build_subslice_labels": subslice_labels,
    "accel._get_physical_worker_id_from_coords": physical_worker_id,
    "accel._get_worker_dims_for_topology": worker_grid,
    "accel._parse_topology_dims": topology_dims,
    "util._find_available_subslice": find_subslice,
    "util._find_undiscovered_idle_slice": find_undiscovered,
    "util._find_valid_parent_topologies": parent_topologies,
    "util._resolve_chips_per_vm": chips_per_vm,
    "util._slice_head_available": is_head_free,
    "util.subslice_placement_group": subslice_group,
}
