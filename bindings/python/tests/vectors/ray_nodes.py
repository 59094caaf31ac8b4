# SPDX-License-Identifier: Apache-2.0
"""Suite ray-tpu: the numbers of slices in lists of nodes."""

from rows import allow_members

from quoit.ray_rules import nodes

COUNTED = ["topology", "accelerator_type", "nodes", "available", "tpu_resource_per_chip", "ray_initialized"]


def listed(given):
    """The nodes of a row. If the row states that Ray is not initialized, Ray returns no nodes."""
    return (given.get("nodes") or []) if given.get("ray_initialized", True) else []


def shape_of(given):
    return given.get("topology"), given.get("accelerator_type")


def count_intact(given, recorded):
    allow_members(given, COUNTED)
    factor = given.get("tpu_resource_per_chip")
    return nodes.count_slices(listed(given), *shape_of(given), tpu_resource_per_chip=factor)


def count_ready(given, recorded):
    """A node that is null in "available" counts like a node that is not in it."""
    allow_members(given, COUNTED)
    factor = given.get("tpu_resource_per_chip")
    available = {name: left for name, left in (given.get("available") or {}).items() if left is not None}
    return nodes.count_ready_slices(listed(given), available, *shape_of(given), tpu_resource_per_chip=factor)


def count_both(given, recorded):
    return {"ready": count_ready(given, recorded), "intact": count_intact(given, recorded)}


def nodes_of_slice(given, recorded):
    allow_members(given, ["slice_name", "nodes"])
    return {"node_ids": list(nodes.nodes_of_slice(listed(given), given.get("slice_name")))}


def slice_name_of_node(given, recorded):
    allow_members(given, ["node"])
    return nodes.slice_name_of_node(given.get("node"))


OPS = {
    "util.get_num_ready_tpu_slices": count_ready,
    "util.get_num_ready_tpu_slices + get_num_tpu_slices": count_both,
    "util.get_num_tpu_slices": count_intact,
    "util.get_tpu_nodes_for_slice": nodes_of_slice,
    "util.get_tpu_slice_name_from_node": slice_name_of_node,
}
SAME_ORDER = {"util.get_num_ready_tpu_slices + get_num_tpu_slices"}
