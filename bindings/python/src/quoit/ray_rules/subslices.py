# SPDX-License-Identifier: Apache-2.0
"""A model of Ray 2.60's sub-slices: cuboids of hosts in a slice, as Ray numbers, labels and chooses them.

For sub-slices, Ray reads "2x4" as (y, x) and "2x2x4" as (z, y, x), while quoit, GKE and JAX read x first. Therefore the
sub-slices 0 and 1 of shape 2x4 in a 4x4 are rows of the slice. In three dimensions, different hosts can get the same
number, because Ray's blocks of chips differ from those of the hardware. No placement of quoit uses this model.

Ray counts a host as free if no amount of available TPU is listed for it. But Ray lists fully used hosts in this way.
Therefore Ray can choose a used sub-slice again, and the group waits. The model gives the same answers.

Nodes are the mappings that ray.nodes() returns. `available` has the free resources of each node id. `known` is Ray's
cache of discovered slices: for each slice and worker id, the `subslice_labels` of that worker. If an entry has no
workers, Ray does not discover the slice again, and finds no sub-slice in it. The functions use no state, environment or
clock.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from .. import _c
from .._c import call, ffi, lib
from . import _resources
from .nodes import Row, to_nodes

Available = Mapping[str, Mapping[str, float]]
Known = Mapping[str, Mapping[str, Mapping[str, str]]]

# --- coordinates --------------------------------------------------------------------------------------------------


def topology_dims(topology: str) -> tuple[int, ...]:
    """Returns the numbers of a topology, which "x" separates, in any form that Python's int() accepts.

    Raises:
        InvalidError: int() refuses a number, or a number is beyond 64 bits.
    """
    return _read_dims(lib.quoit_ray_topology_dims, topology)


def worker_grid(topology: str) -> tuple[int, ...]:
    """Returns the number of hosts of a slice along its 2 or 3 axes, the slowest first: (y, x) or (z, y, x).

    Args:
        topology: in exactly Ray's spelling, "2x2x4".

    Raises:
        InvalidError: Ray has no grid for the topology. Ray has grids for some topologies only: for example none for
            1x1, 2x8 and topologies larger than 16x16 or 16x16x24.
    """
    return _read_dims(lib.quoit_ray_worker_grid, topology)


def _read_dims(function: Callable[..., Any], topology: str) -> tuple[int, ...]:
    n_dims = ffi.new("uint32_t *")
    numbers = call(function, _c.to_text(topology, "topology"), n_dims)
    dims = tuple(numbers[axis] for axis in range(n_dims[0]))
    lib.g_free(numbers)
    return dims


def physical_worker_id(coords: Iterable[Sequence[int]], parent_topology: str) -> int:
    """Returns the number that Ray computes for a host in the grid, from the smallest coordinates of its chips.

    The number is negative for negative coordinates.

    Args:
        coords: (x, y) or (x, y, z) of each chip of the host. A missing z is 0; further coordinates are ignored.
        parent_topology: the topology of the whole slice, "4x4".

    Raises:
        InvalidError: there are no chips, a chip has fewer than two coordinates, Ray has no grid for the topology,
            or the host is outside the grid.
        TypeError: an argument has another type.
    """
    chips = [
        list(_c.to_iterable(chip, f"coords[{index}]", "int"))
        for index, chip in enumerate(_c.to_iterable(coords, "coords", "coordinates"))
    ]
    worker_grid(parent_topology)  # like Ray, check the topology before the coordinates
    least, most = min(map(len, chips), default=0), max(map(len, chips), default=0)
    n_axes = min(most, 3) if least >= 2 else least
    numbers = [0] * (len(chips) * n_axes)
    for index, chip in enumerate(chips if least >= 2 else []):
        for axis, number in enumerate(chip[:n_axes]):
            numbers[index * n_axes + axis] = _c.to_int(number, f"coords[{index}][{axis}]")
    parent = _c.to_text(parent_topology, "parent_topology")
    array = ffi.new("int64_t[]", numbers)
    return _resources.call_for_number(lib.quoit_ray_physical_worker_id, array, len(chips), n_axes, parent)


def subslice_labels(worker_id: int, parent_topology: str) -> dict[str, str]:
    """Returns the labels of a host's sub-slices, one for each smaller shape: "ray.io/tpu-subslice-2x4" is "1".

    There are also labels for shapes that do not divide the slice; some of their sub-slices are incomplete.

    Args:
        worker_id: the number of the host in the grid (`physical_worker_id`). A number outside the grid is accepted.
        parent_topology: the topology of the whole slice, "4x4".

    Raises:
        InvalidError: Ray has no grid for the topology.
    """
    parent = _c.to_text(parent_topology, "parent_topology")
    labels = call(lib.quoit_ray_subslice_labels, _c.to_int(worker_id, "worker_id"), parent)
    return _resources.take_labels(labels)


def parent_topologies(nodes: Iterable[Row], subslice_topology: str) -> tuple[str, ...]:
    """Returns the topologies of alive nodes whose grids can contain the sub-slice, sorted by their numbers of hosts.

    The generations of the nodes are ignored.

    Raises:
        InvalidError: Ray has no grid for `subslice_topology`.
        TypeError: an argument, or a field of a node that is read, has another type.
    """
    topology = _c.to_text(subslice_topology, "subslice_topology")
    return _c.take_texts(call(lib.quoit_ray_parent_topologies, to_nodes(nodes), topology))


def subslice_chips_per_vm(chips_per_vm: int | None, parent_topology: str, version: str) -> int:
    """Returns the chips of a host of a sub-slice: `chips_per_vm`, or without it Ray's default for the whole slice.

    Args:
        chips_per_vm: the given number, or None.
        parent_topology: the topology of the whole slice.
        version: the generation in Ray's spelling.

    Raises:
        InvalidError: no number was given, and the topology cannot be read.
    """
    given = _resources.to_int_or_null(chips_per_vm, "chips_per_vm")
    parent, generation = _c.to_text(parent_topology, "parent_topology"), _c.to_text(version, "version")
    return _resources.call_for_number(lib.quoit_ray_subslice_chips_per_vm, given, parent, generation)


# --- free slices, by Ray's rules ----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Subslice:
    """A sub-slice of a slice."""

    index: int
    worker_ids: tuple[str, ...]
    """The worker ids of all its hosts, the smallest first."""


def is_head_free(
    nodes: Iterable[Row], available: Available | None, slice_name: str | None, head_resource: str | None
) -> bool:
    """Returns whether Ray counts the head of a slice as free.

    The head counts as free if the first alive worker 0 has 1 of the head resource available, or if `available` lists no
    amount for it. The head also counts as free if there is no alive worker 0, or if `head_resource` is None.

    Args:
        nodes: the rows of ray.nodes().
        available: the free resources of each node id.
        slice_name: a slice; None for the nodes without a slice name.
        head_resource: "TPU-v6e-16-head".
    """
    name = _c.to_text_or_null(slice_name, "slice_name")
    resource = _c.to_text_or_null(head_resource, "head_resource")
    return bool(lib.quoit_ray_nodes_is_head_free(to_nodes(nodes, available), name, resource))


def find_subslice(
    known: Known,
    nodes: Iterable[Row],
    available: Available | None,
    slice_name: str,
    topology: str,
    subslice_index: int | None = None,
) -> Subslice | None:
    """Returns the first sub-slice of a slice, by index, whose hosts are all alive and idle by Ray's rules.

    If several rows have the same worker id, the last row counts, dead or alive.

    Args:
        known: Ray's cache.
        nodes: the rows of ray.nodes().
        available: the free resources of each node id.
        slice_name: the slice to search.
        topology: the topology of the sub-slice, "2x4".
        subslice_index: the only acceptable sub-slice; None for the first.

    Returns:
        The sub-slice; None if there is none.

    Raises:
        InvalidError: an index or a worker id that is needed is not an integer of 64 bits, or Ray has no grid for a
            labelled topology.
        TypeError: an argument, or a field of a node that is read, has another type.
    """
    found = ffi.new("int64_t *")
    workers = call(
        lib.quoit_ray_subslices_find,
        _to_known(known),
        to_nodes(nodes, available),
        _c.to_text(slice_name, "slice_name"),
        _c.to_text(topology, "topology"),
        _resources.to_int_or_null(subslice_index, "subslice_index"),
        found,
    )
    return None if workers == _c.NULL else Subslice(int(found[0]), _c.take_texts(workers))


def next_slice_to_discover(
    known: Known, nodes: Iterable[Row], available: Available | None, parents: Sequence[str], version: str
) -> tuple[str, str] | None:
    """Returns the slice that Ray would discover next: the first slice that is not in `known`, with free nodes and head.

    Nodes and heads are free by Ray's rules.

    Args:
        known: Ray's cache.
        nodes: the rows of ray.nodes().
        available: the free resources of each node id.
        parents: acceptable topologies, in order of preference.
        version: the generation in Ray's spelling.

    Returns:
        The topology and the name of the slice; None if there is none.

    Raises:
        InvalidError: one of `parents`, or the generation, cannot be read.
        TypeError: an argument, or a field of a node that is read, has another type.
    """
    topologies, parent = _c.to_texts(parents, "parents"), ffi.new("uint32_t *")
    name = call(
        lib.quoit_ray_subslices_dup_undiscovered,
        _to_known(known),
        to_nodes(nodes, available),
        topologies,
        _c.to_text(version, "version"),
        parent,
    )
    return None if name == _c.NULL else (_c.text(topologies[parent[0]]), _c.take_text(name))


def _to_known(known: Known) -> Any:
    handle = _c.own_handle(lib.quoit_ray_subslices_new(), lib.quoit_ray_subslices_free)
    for slice_name, workers in _resources.items(known, "known", "workers"):
        name, place = _c.to_text(slice_name, "known"), f"known[{_c.quoted(slice_name)}]"
        lib.quoit_ray_subslices_set(handle, name, _c.NULL, _c.NULL)
        for worker_id, labels in _resources.items(workers, place, "labels"):
            worker = _c.to_text(worker_id, place)
            own = _resources.to_labels(labels, f"{place}[{_c.quoted(worker_id)}]")
            lib.quoit_ray_subslices_set(handle, name, worker, own)
    return handle


# --- Ray's next step ----------------------------------------------------------------------------------------------


class SubsliceStep(_c.Code):
    """The next step of Ray's subslice_placement_group()."""

    RESERVE = 0
    """Ray makes a placement group of the bundles."""
    DISCOVER = 1
    """Ray reserves the whole slice to discover its hosts, and then releases the slice again."""


@dataclasses.dataclass(frozen=True)
class SubslicePlan(_c.WithFrozenMappings):
    """One step of Ray's subslice_placement_group()."""

    step: SubsliceStep
    parent_topology: str
    """The topology of the whole slice."""
    slice_name: str
    """The slice that the step uses."""
    subslice_index: int | None
    """The sub-slice that is reserved; None for a discovery."""
    chips_per_host: int
    bundle_resources: Mapping[str, float]
    """The resources of each bundle."""
    bundle_label_selector: tuple[Mapping[str, str], ...]
    """The selector of each bundle: slice and worker id. Each host has one bundle. Empty for a discovery."""


def subslice_placement_group(
    known: Known,
    nodes: Iterable[Row],
    available: Available | None,
    subslice_topology: str,
    accelerator_version: str,
    chips_per_vm: int | None = None,
    resources_per_bundle: Mapping[str, float] | None = None,
    subslice_index: int | None = None,
) -> SubslicePlan:
    """Returns Ray's next step to get a sub-slice.

    Args:
        known: Ray's cache.
        nodes: the rows of ray.nodes().
        available: the free resources of each node id.
        subslice_topology: "2x4". Surrounding blanks and case do not matter.
        accelerator_version: "v6e". It must not have surrounding blanks.
        chips_per_vm: the chips of one host; None for Ray's default.
        resources_per_bundle: the resources of each bundle; None for 1 CPU and the TPU of a host.
        subslice_index: the only acceptable sub-slice; None for the first.

    Raises:
        InvalidError: Ray does not list the topology for the generation or has no grid for it, a given number is not
            positive, or no alive slice is larger.
        NotNowError: all known sub-slices are in use by Ray's rules, and there is no slice left to discover: wait.
        TypeError: an argument, or a field of a node that is read, has another type.
    """
    plan = call(
        lib.quoit_ray_subslice_plan_new,
        _to_known(known),
        to_nodes(nodes, available),
        _c.to_text(subslice_topology, "subslice_topology"),
        _c.to_text(accelerator_version, "accelerator_version"),
        _resources.to_int_or_null(chips_per_vm, "chips_per_vm"),
        _resources.to_resources_or_null(resources_per_bundle, "resources_per_bundle"),
        _resources.to_int_or_null(subslice_index, "subslice_index"),
    )
    return _read_plan(_c.own_handle(plan, lib.quoit_ray_subslice_plan_free))


def _read_plan(plan: Any) -> SubslicePlan:
    step = SubsliceStep(lib.quoit_ray_subslice_plan_get_step(plan))
    return SubslicePlan(
        step,
        _c.text(lib.quoit_ray_subslice_plan_get_parent_topology(plan)),
        _c.text(lib.quoit_ray_subslice_plan_get_slice_name(plan)),
        int(lib.quoit_ray_subslice_plan_get_index(plan)) if step == SubsliceStep.RESERVE else None,
        int(lib.quoit_ray_subslice_plan_get_chips_per_vm(plan)),
        _resources.resources(lib.quoit_ray_subslice_plan_get_resources(plan)),
        tuple(
            _resources.take_labels(lib.quoit_ray_subslice_plan_dup_bundle_labels(plan, bundle))
            for bundle in range(lib.quoit_ray_subslice_plan_get_n_bundles(plan))
        ),
    )
