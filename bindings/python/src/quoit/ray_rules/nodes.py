# SPDX-License-Identifier: Apache-2.0
"""A list of Ray's nodes, as ray.nodes() and Ray's availability give it, and the slices that are counted in it.

Ray 2.60 counts a slice as ready when none of its hosts has less TPU available than it has in all; but it leaves out of
the availability what is wholly used, and takes what is left out for free. So a slice that somebody uses to the last
chip is ready in Ray's eyes. `count_ready_slices` says what Ray says; `count_free_slices` counts those that can be had.
For a fleet that quoit keeps, ask its snapshot, which knows of holds and drains too.

A node is a mapping as ray.nodes() gives it: NodeID, Alive, Labels and Resources are looked at, the rest is not. One
that does not say Alive is not alive; the others may be missing or None. Nothing is checked but types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable

from .. import _c
from .._c import lib
from ._resources import items, to_int_or_null, to_labels_or_null, to_resources, to_resources_or_null

Row = Mapping[str, Any]


def to_nodes(nodes: Iterable[Row], available: Mapping[str, Mapping[str, float]] | None = None) -> Any:
    """The list as C takes it. `available` is what each node id has left."""
    handle = _c.owned(lib.quoit_ray_nodes_new(), lib.quoit_ray_nodes_free)
    for index, row in enumerate(_c.elements(nodes, "nodes", "mappings")):
        _add(handle, row, f"nodes[{index}]")
    for node_id, left in () if available is None else items(available, "available", "resources"):
        named = _c.to_text(node_id, "available")
        amounts = to_resources(left, f"available[{_c.shown(node_id)}]")
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
    """How many slices Ray calls intact.

    They are nodes alive, of this pod type and of one slice name, whose TPU make up exactly what the topology has, one
    of them worker 0. A node that alone has as much is a slice whatever it is called. Only the pod type is looked at, so
    that 4x4 and 2x8, or 2x2x4 and 4x2x2, count together, and worker ids may repeat. Like Ray it refuses nothing: what
    cannot be read counts as no slice.

    Args:
        nodes: as ray.nodes() gives them.
        topology: of each slice, "4x4".
        accelerator_type: "TPU-V6E", or the generation.
        tpu_resource_per_chip: how many units of TPU one chip counts for; None for 1.

    Raises:
        InvalidError: a text has a NUL or a lone surrogate, or the number is beyond 64 bits.
        TypeError: an argument, or what is looked at of a node, has another type.
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
    """How many of `count_slices` Ray calls ready: no member has less TPU available than in all.

    A member of which no available TPU is told counts as free, though that is how Ray tells of one that is wholly used.

    Args:
        nodes: as ray.nodes() gives them.
        available: what each node id has left.
        topology: of each slice, "4x4".
        accelerator_type: "TPU-V6E", or the generation.
        tpu_resource_per_chip: how many units of TPU one chip counts for; None for 1.

    Raises:
        InvalidError: as `count_slices`.
        TypeError: as `count_slices`.
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
    """How many slices can be had whole.

    It differs from Ray's counts in this: a member of which no available TPU is told is used; a member that says
    ray.io/tpu-topology must say this topology; nodes of one slice name are one slice also where one of them alone has
    enough; and worker ids, where there are several members, are 0 and on, each once.

    The arguments are those of `count_ready_slices`.

    Raises:
        InvalidError: as `count_slices`.
        TypeError: as `count_slices`.
    """
    listed = to_nodes(nodes, available)
    return _count(lib.quoit_ray_count_free_slices, listed, topology, accelerator_type, tpu_resource_per_chip)


def nodes_of_slice(nodes: Iterable[Row], slice_name: str | None) -> tuple[str, ...]:
    """The ids of the nodes that are alive and in the slice, in their order.

    Args:
        nodes: as ray.nodes() gives them.
        slice_name: a slice; None for the nodes that name none.

    Raises:
        InvalidError: a text has a NUL or a lone surrogate.
        TypeError: as `count_slices`.
    """
    listed, name = to_nodes(nodes), _c.to_text_or_null(slice_name, "slice_name")
    n_rows, found = lib.quoit_ray_nodes_get_n(listed), []
    row = lib.quoit_ray_nodes_find_of_slice(listed, name, 0)
    while row < n_rows:
        found.append(_c.text(lib.quoit_ray_nodes_get_id(listed, row)))
        row = lib.quoit_ray_nodes_find_of_slice(listed, name, row + 1)
    return tuple(found)


def slice_name_of_node(node: Row) -> str | None:
    """The slice that a node says it is in: its label ray.io/tpu-slice-name; None without one.

    Raises:
        InvalidError: a text has a NUL or a lone surrogate.
        TypeError: as `count_slices`.
    """
    listed = to_nodes([node])
    return _c.text_or_none(lib.quoit_ray_nodes_get_slice_name(listed, 0))
