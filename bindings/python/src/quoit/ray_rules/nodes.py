# SPDX-License-Identifier: Apache-2.0
"""Counts slices in a list of Ray's nodes, from ray.nodes() and Ray's available resources.

Ray 2.60 counts a slice as ready if none of its hosts has less TPU available than in total. But Ray's list of available
resources leaves out fully used resources, and Ray counts a missing resource as free. Therefore Ray counts a fully used
slice as ready. `count_ready_slices` returns Ray's count; `count_free_slices` counts the slices that you can really get.
For a fleet in a ledger, use a snapshot instead, which also knows about holds and drains.

A node is one of the mappings that ray.nodes() returns. Only NodeID, Alive, Labels and Resources are read. A node
without Alive is not alive; the other fields can be missing or None. Only the types of the fields are checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable

from .. import _c
from .._c import lib
from ._resources import items, to_int_or_null, to_labels_or_null, to_resources, to_resources_or_null

Row = Mapping[str, Any]


def to_nodes(nodes: Iterable[Row], available: Mapping[str, Mapping[str, float]] | None = None) -> Any:
    """Returns the list for C. `available` has the free resources of each node id."""
    handle = _c.own_handle(lib.quoit_ray_nodes_new(), lib.quoit_ray_nodes_free)
    for index, row in enumerate(_c.to_iterable(nodes, "nodes", "mappings")):
        _add(handle, row, f"nodes[{index}]")
    for node_id, left in () if available is None else items(available, "available", "resources"):
        named = _c.to_text(node_id, "available")
        amounts = to_resources(left, f"available[{_c.quoted(node_id)}]")
        lib.quoit_ray_nodes_set_available(handle, named, amounts)
    return handle


def _add(handle: Any, row: Row, what: str) -> None:
    if not isinstance(row, Mapping):
        raise TypeError(f"{what}: expected a mapping, not {type(row).__name__}")
    node_id, alive = row.get("NodeID"), row.get("Alive", False)
    named = _c.to_text("" if node_id is None else node_id, f"{what}['NodeID']")
    labels = to_labels_or_null(row.get("Labels"), f"{what}['Labels']")
    total = to_resources_or_null(row.get("Resources"), f"{what}['Resources']")
    if not isinstance(alive, bool):
        raise TypeError(f"{what}['Alive']: expected a bool, not {type(alive).__name__}")
    index = lib.quoit_ray_nodes_add(handle, named, labels, total)
    if not alive:
        lib.quoit_ray_nodes_set_dead(handle, index)


def _count(
    count: Callable[..., Any],
    nodes: Any,
    topology: str | None,
    accelerator_type: str | None,
    tpu_resource_per_chip: int | None,
) -> int:
    shape = _c.to_text_or_null(topology, "topology")
    accelerator = _c.to_text_or_null(accelerator_type, "accelerator_type")
    factor = to_int_or_null(tpu_resource_per_chip, "tpu_resource_per_chip")
    return int(count(nodes, shape, accelerator, factor))


def count_slices(
    nodes: Iterable[Row],
    topology: str | None,
    accelerator_type: str | None,
    *,
    tpu_resource_per_chip: int | None = None,
) -> int:
    """Returns how many slices Ray counts as intact.

    Alive nodes count as an intact slice if they have the requested pod type and the same slice name, if their TPU adds
    up to exactly the TPU of the topology, and if one of them is worker 0. A single node with that much TPU counts as a
    slice, whatever its slice name. Ray compares only the pod type, so that 4x4 and 2x8, or 2x2x4 and 4x2x2, count
    together. Worker ids can repeat. Like Ray, the function refuses nothing: unreadable input counts as no slice.

    Args:
        nodes: the rows of ray.nodes().
        topology: the topology of each slice, "4x4".
        accelerator_type: "TPU-V6E", or the generation.
        tpu_resource_per_chip: how many units of TPU one chip counts for; None for 1.

    Raises:
        InvalidError: a text has a NUL or a lone surrogate, or the number is beyond 64 bits.
        TypeError: an argument, or a field of a node that is read, has another type.
    """
    return _count(lib.quoit_ray_count_slices, to_nodes(nodes), topology, accelerator_type, tpu_resource_per_chip)


def count_ready_slices(
    nodes: Iterable[Row],
    available: Mapping[str, Mapping[str, float]] | None,
    topology: str | None,
    accelerator_type: str | None,
    *,
    tpu_resource_per_chip: int | None = None,
) -> int:
    """Returns how many slices of `count_slices` Ray counts as ready: no node has less TPU available than in total.

    A node without an available amount of TPU counts as free, although Ray lists fully used nodes in this way.

    Args:
        nodes: the rows of ray.nodes().
        available: the free resources of each node id.
        topology: the topology of each slice, "4x4".
        accelerator_type: "TPU-V6E", or the generation.
        tpu_resource_per_chip: how many units of TPU one chip counts for; None for 1.

    Raises:
        InvalidError: like `count_slices`.
        TypeError: like `count_slices`.
    """
    listed = to_nodes(nodes, available)
    return _count(lib.quoit_ray_count_ready_slices, listed, topology, accelerator_type, tpu_resource_per_chip)


def count_free_slices(
    nodes: Iterable[Row],
    available: Mapping[str, Mapping[str, float]] | None,
    topology: str | None,
    accelerator_type: str | None,
    *,
    tpu_resource_per_chip: int | None = None,
) -> int:
    """Returns how many whole slices are really free.

    The count differs from Ray's counts in four rules. A node without an available amount of TPU is in use. A
    ray.io/tpu-topology label must match the topology. Nodes with the same slice name are one slice, even if one of them
    alone has enough TPU. The worker ids of several nodes must be 0, 1, 2 and so on, without duplicates.

    The arguments are those of `count_ready_slices`.

    Raises:
        InvalidError: like `count_slices`.
        TypeError: like `count_slices`.
    """
    listed = to_nodes(nodes, available)
    return _count(lib.quoit_ray_count_free_slices, listed, topology, accelerator_type, tpu_resource_per_chip)


def nodes_of_slice(nodes: Iterable[Row], slice_name: str | None) -> tuple[str, ...]:
    """Returns the ids of the alive nodes of a slice, in the order of `nodes`.

    Args:
        nodes: the rows of ray.nodes().
        slice_name: a slice; None for the nodes without a slice name.

    Raises:
        InvalidError: a text has a NUL or a lone surrogate.
        TypeError: like `count_slices`.
    """
    listed, name = to_nodes(nodes), _c.to_text_or_null(slice_name, "slice_name")
    n_rows, found = lib.quoit_ray_nodes_get_n(listed), []
    row = lib.quoit_ray_nodes_find_slice_node(listed, name, 0)
    while row < n_rows:
        found.append(_c.text(lib.quoit_ray_nodes_get_id(listed, row)))
        row = lib.quoit_ray_nodes_find_slice_node(listed, name, row + 1)
    return tuple(found)


def slice_name_of_node(node: Row) -> str | None:
    """Returns the value of a node's label ray.io/tpu-slice-name; None if the node does not have the label.

    Raises:
        InvalidError: a text has a NUL or a lone surrogate.
        TypeError: like `count_slices`.
    """
    listed = to_nodes([node])
    return _c.text_or_none(lib.quoit_ray_nodes_get_slice_name(listed, 0))
