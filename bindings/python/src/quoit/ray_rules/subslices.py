# SPDX-License-Identifier: Apache-2.0
"""Ray's sub-slices: cuboids of hosts inside a slice, as Ray 2.60 numbers, labels and chooses them.

This is Ray's view of a slice and no second geometry: Ray reads "2x4" and "2x2x4" with the last axis fastest, (y, x) and
(z, y, x), where quoit, GKE and JAX read x first; the sub-slices 0 and 1 of shape 2x4 in 4x4 are its rows. In three
dimensions different hosts may have one number, because Ray's blocks are not those of the machines. No placement of
quoit's uses it.

Ray takes a host of which no available TPU is told for a free one, though that is how it tells of one that is wholly
used: it chooses an occupied sub-slice again, and the group waits. What is asked here answers so too.

Nodes are mappings as ray.nodes() gives them, `available` is what each node id has left, and `known` is what Ray has
found out of slices, its cache: for each slice, for each worker id, `subslice_labels` of that worker; a slice with no
workers is known, and nothing of it. Everything is pure: no state, no environment, no clock.
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

# --- places in a slice --------------------------------------------------------------------------------------------


def topology_dims(topology: str) -> tuple[int, ...]:
    """The numbers between the "x", in any form that Python's int() reads.

    Raises:
        InvalidError: one of them is none, or is beyond 64 bits.
    """
    return _dims(lib.quoit_ray_topology_dims, topology)


def worker_grid(topology: str) -> tuple[int, ...]:
    """The hosts of a slice along its 2 or 3 axes, the slowest first: (y, x) or (z, y, x).

    Args:
        topology: exactly as Ray writes it, "2x2x4".

    Raises:
        InvalidError: Ray has no grid for it: it has them for some topologies only, among which 1x1, 2x8 and whatever is
            larger than 16x16 or 16x16x24 are not.
    """
    return _dims(lib.quoit_ray_worker_grid, topology)


def _dims(function: Callable[..., Any], topology: str) -> tuple[int, ...]:
    n_dims = ffi.new("unsigned *")
    numbers = call(function, _c.to_text(topology, "topology"), n_dims)
    dims = tuple(numbers[axis] for axis in range(n_dims[0]))
    lib.g_free(numbers)
    return dims


def physical_worker_id(coords: Iterable[Sequence[int]], parent_topology: str) -> int:
    """Where Ray thinks that a host stands in the grid, by the least of its chips' coordinates.

    It is below 0 for coordinates below 0.

    Args:
        coords: (x, y) or (x, y, z) of each chip of the host; a third that is not known is 0, what is behind it is not
            read.
        parent_topology: of the whole slice, "4x4".

    Raises:
        InvalidError: there are no chips or less than two coordinates of one, Ray has no grid for the topology, or the
            host stands outside of it.
        TypeError: an argument has another type.
    """
    chips = [
        list(_c.elements(chip, f"coords[{index}]", "int"))
        for index, chip in enumerate(_c.elements(coords, "coords", "coordinates"))
    ]
    worker_grid(parent_topology)  # refused before coordinates are read, as by Ray
    least, most = min(map(len, chips), default=0), max(map(len, chips), default=0)
    n_axes = min(most, 3) if least >= 2 else least
    numbers = [0] * (len(chips) * n_axes)
    for index, chip in enumerate(chips if least >= 2 else []):
        for axis, number in enumerate(chip[:n_axes]):
            numbers[index * n_axes + axis] = _c.to_int(number, f"coords[{index}][{axis}]")
    parent = _c.to_text(parent_topology, "parent_topology")
    array = ffi.new("int64_t[]", numbers)
    return _resources.checked(lib.quoit_ray_physical_worker_id, array, len(chips), n_axes, parent)


def subslice_labels(worker_id: int, parent_topology: str) -> dict[str, str]:
    """The sub-slice of each smaller shape that a host belongs to: "ray.io/tpu-subslice-2x4" is "1".

    Shapes that do not divide the slice are labelled too, and then not all of their sub-slices have all hosts.

    Args:
        worker_id: the place of the host in the grid, `physical_worker_id`; one outside of it is not refused.
        parent_topology: of the whole slice, "4x4".

    Raises:
        InvalidError: Ray has no grid for the topology.
    """
    parent = _c.to_text(parent_topology, "parent_topology")
    labels = call(lib.quoit_ray_subslice_labels, _c.to_int(worker_id, "worker_id"), parent)
    return _resources.taken_labels(labels)


def parent_topologies(nodes: Iterable[Row], subslice_topology: str) -> tuple[str, ...]:
    """The topologies of nodes alive in which a sub-slice fits, by their grids, those of the fewest hosts first.

    The generation is not looked at.

    Raises:
        InvalidError: Ray has no grid for `subslice_topology`.
        TypeError: an argument, or what is looked at of a node, has another type.
    """
    topology = _c.to_text(subslice_topology, "subslice_topology")
    return _c.taken_texts(call(lib.quoit_ray_parent_topologies, to_nodes(nodes), topology))


def subslice_chips_per_vm(chips_per_vm: int | None, parent_topology: str, version: str) -> int:
    """The chips of a host of a sub-slice: those given, else Ray's default for the whole slice.

    Args:
        chips_per_vm: as it was given.
        parent_topology: of the whole slice.
        version: the generation as Ray writes it.

    Raises:
        InvalidError: none were given, and the topology cannot be read.
    """
    given = _resources.to_int_or_null(chips_per_vm, "chips_per_vm")
    parent, generation = _c.to_text(parent_topology, "parent_topology"), _c.to_text(version, "version")
    return _resources.checked(lib.quoit_ray_subslice_chips_per_vm, given, parent, generation)


# --- what is free in Ray's eyes -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Subslice:
    """A sub-slice of a slice."""

    index: int
    worker_ids: tuple[str, ...]
    """Of all its hosts, the least first."""


def head_looks_free(
    nodes: Iterable[Row], available: Available | None, slice_name: str | None, head_resource: str | None
) -> bool:
    """Whether Ray takes the head of a slice for free.

    Of its first worker 0 that is alive, 1 of the head resource is available or nothing is told. So it is without a
    worker 0, and without a head resource.

    Args:
        nodes: as ray.nodes() gives them.
        available: what each node id has left.
        slice_name: a slice; None for the nodes that name none.
        head_resource: "TPU-v6e-16-head".
    """
    name = _c.to_text_or_null(slice_name, "slice_name")
    resource = _c.to_text_or_null(head_resource, "head_resource")
    return bool(lib.quoit_ray_head_looks_free(to_nodes(nodes, available), name, resource))


def find_subslice(
    known: Known,
    nodes: Iterable[Row],
    available: Available | None,
    slice_name: str,
    topology: str,
    subslice_index: int | None = None,
) -> Subslice | None:
    """The first sub-slice of a slice, by its index, that has all its hosts, each alive and in Ray's eyes idle.

    Where rows bear one worker id the last of them counts, dead or alive.

    Args:
        known: what Ray has found out.
        nodes: as ray.nodes() gives them.
        available: what each node id has left.
        slice_name: the slice to look in.
        topology: of the sub-slice, "2x4".
        subslice_index: the only sub-slice that will do; None for the first.

    Returns:
        None: there is none.

    Raises:
        InvalidError: an index or a worker id that is needed is no integer of 64 bits, or Ray has no grid for a topology
            that is labelled.
        TypeError: an argument, or what is looked at of a node, has another type.
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
    return None if workers == _c.NULL else Subslice(int(found[0]), _c.taken_texts(workers))


def find_undiscovered_slice(
    known: Known, nodes: Iterable[Row], available: Available | None, parents: Sequence[str], version: str
) -> tuple[str, str] | None:
    """The slice that Ray would find out about next.

    It is the first that is not known and whose nodes alive and head are free in its eyes.

    Args:
        known: what Ray has found out.
        nodes: as ray.nodes() gives them.
        available: what each node id has left.
        parents: topologies, in the order in which they will do.
        version: the generation as Ray writes it.

    Returns:
        Its topology and its name; None: there is none.

    Raises:
        InvalidError: one of `parents`, or the generation, cannot be read.
        TypeError: an argument, or what is looked at of a node, has another type.
    """
    topologies, parent = _c.to_texts(parents, "parents"), ffi.new("unsigned *")
    name = call(
        lib.quoit_ray_subslices_dup_undiscovered,
        _to_known(known),
        to_nodes(nodes, available),
        topologies,
        _c.to_text(version, "version"),
        parent,
    )
    return None if name == _c.NULL else (_c.text(topologies[parent[0]]), _c.taken_text(name))


def _to_known(known: Known) -> Any:
    handle = _c.owned(lib.quoit_ray_subslices_new(), lib.quoit_ray_subslices_free)
    for slice_name, workers in _resources.items(known, "known", "workers"):
        name, place = _c.to_text(slice_name, "known"), f"known[{_c.shown(slice_name)}]"
        lib.quoit_ray_subslices_set(handle, name, _c.NULL, _c.NULL)
        for worker_id, labels in _resources.items(workers, place, "labels"):
            worker = _c.to_text(worker_id, place)
            own = _resources.to_labels(labels, f"{place}[{_c.shown(worker_id)}]")
            lib.quoit_ray_subslices_set(handle, name, worker, own)
    return handle


# --- what Ray does next -------------------------------------------------------------------------------------------


class SubsliceStep(_c.Code):
    """What Ray's subslice_placement_group() does next."""

    RESERVE = 0
    """It makes a placement group of the bundles."""
    DISCOVER = 1
    """It first takes the whole slice, to find out about it, and lets it go again."""


@dataclasses.dataclass(frozen=True)
class SubslicePlan(_c.WithMappings):
    """One step of Ray's subslice_placement_group()."""

    step: SubsliceStep
    parent_topology: str
    """Of the whole slice."""
    slice_name: str
    """The slice that it is done with."""
    subslice_index: int | None
    """The sub-slice that is reserved; None where a slice is found out about."""
    chips_per_host: int
    bundle_resources: Mapping[str, float]
    """What each bundle asks for."""
    bundle_label_selector: tuple[Mapping[str, str], ...]
    """What each bundle selects its node by, one a host: the slice, and the worker id. Empty where a slice is found out
    about."""


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
    """What Ray does next to get a sub-slice.

    Args:
        known: what Ray has found out.
        nodes: as ray.nodes() gives them.
        available: what each node id has left.
        subslice_topology: "2x4"; blanks around it and capitals do not matter.
        accelerator_version: "v6e"; blanks do matter.
        chips_per_vm: the chips of one host; None for Ray's default.
        resources_per_bundle: what each bundle asks for; None for 1 CPU and the TPU of a host.
        subslice_index: the only sub-slice that will do; None for the first.

    Raises:
        InvalidError: Ray does not list the topology for the generation or has no grid for it, a given number is not
            positive, or no slice alive is larger.
        NotNowError: all that are known are in use in Ray's eyes, and none is left to find out about: wait.
        TypeError: an argument, or what is looked at of a node, has another type.
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
    return _read_plan(_c.owned(plan, lib.quoit_ray_subslice_plan_free))


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
            _resources.taken_labels(lib.quoit_ray_subslice_plan_dup_bundle_labels(plan, bundle))
            for bundle in range(lib.quoit_ray_subslice_plan_get_n_bundles(plan))
        ),
    )
