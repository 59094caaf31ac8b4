# SPDX-License-Identifier: Apache-2.0
"""A host with TPU chips as Ray 2.60 sees it: who it is, what its node offers, which chips a process may see.

Nothing is read from the process: an environment is an argument, and so is what a metadata server would say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _c
from .._c import call, ffi, lib
from ._resources import checked, to_labels_or_null, to_resources_or_null
from ._resources import labels as labels_of
from ._resources import resources as resources_of

# --- who it is ----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Host(_c.WithMappings):
    """Who a TPU host is in Ray's eyes. What it is not told is None."""

    pod_type: str | None
    """Of its slice, "v6e-16", in Ray's spelling, when what it is told passes `type_is_valid`."""
    slice_name: str | None
    """Taken as it is."""
    worker_id: int | None
    """Its number in the slice, when Python's int() reads it; it may be negative."""
    topology: str | None
    """Of its slice, "4x4", stripped and in small letters; nothing else is checked, and it may be empty."""
    accelerator_type: str | None
    """The generation of its chips, "TPU-V6E", out of the pod type."""
    resources: Mapping[str, float] | None
    """What it offers beside chips once slice, worker id and pod type are known: 1 of its slice's name, and as worker 0
    one slice head, "TPU-v6e-16-head"."""
    labels: Mapping[str, str]
    """What is known of it: ray.io/tpu-slice-name, ray.io/tpu-worker-id, ray.io/tpu-topology, ray.io/tpu-pod-type."""


def host(env: Mapping[str, str] | None = None, metadata: Mapping[str, str] | None = None) -> Host:
    """Who a host is, as Ray finds out on GKE and on GCE.

    A variable that is set and not empty wins over the metadata, also where its value is of no use.

    Args:
        env: of the host: TPU_ACCELERATOR_TYPE, TPU_NAME, TPU_WORKER_ID, TPU_TOPOLOGY.
        metadata: "accelerator-type", "instance-id", "agent-worker-number", "tpu-env"; None where no server answers.

    Raises:
        InvalidError: a name has a '=', or a text has a NUL or a lone surrogate, as in every function here that takes
            text.
    """
    before, told = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
    handle = _c.owned(lib.quoit_ray_host_new(before, told), lib.quoit_ray_host_free)
    worker_id = _c.text_or_none(lib.quoit_ray_host_get_worker_id(handle))
    offered = lib.quoit_ray_host_get_resources(handle)
    return Host(
        _c.text_or_none(lib.quoit_ray_host_get_pod_type(handle)),
        _c.text_or_none(lib.quoit_ray_host_get_slice_name(handle)),
        None if worker_id is None else int(worker_id),
        _c.text_or_none(lib.quoit_ray_host_get_topology(handle)),
        _c.text_or_none(lib.quoit_ray_host_get_accelerator_type(handle)),
        None if offered == _c.NULL else resources_of(offered),
        labels_of(lib.quoit_ray_host_get_labels(handle)),
    )


def pod_workers(pod_type: str | None, chips_on_host: int) -> int | None:
    """How many hosts like this one a slice has; one that is not full counts. None where there are no chips.

    Args:
        pod_type: of the host, "v4-16".
        chips_on_host: the chips of this host.

    Raises:
        InvalidError: the pod type is None or begins with no generation of Ray's, its number of cores cannot be read, or
            the answer is beyond 64 bits.
    """
    accelerator, chips = _c.to_text_or_null(pod_type, "pod_type"), _c.to_int(chips_on_host, "chips_on_host")
    n_workers = checked(lib.quoit_ray_pod_workers, accelerator, chips)
    return n_workers if n_workers >= 0 else None


# --- what its node offers -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Node(_c.WithMappings):
    """What a node offers to Ray, and how it is labelled."""

    resources: Mapping[str, float]
    labels: Mapping[str, str]


def node(
    address: str,
    *,
    env: Mapping[str, str] | None = None,
    metadata: Mapping[str, str] | None = None,
    predefined: Mapping[str, float] | None = None,
    resources: Mapping[str, float] | None = None,
    labels: Mapping[str, str] | None = None,
    chips: int = 0,
) -> Node:
    """What a raylet, not the head's, makes of what it is given and finds out.

    It is a TPU host when TPU is more than 0; what is not given is detected, and no more than TPU_VISIBLE_CHIPS has.
    RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS win over what is given, and that over Ray's own labels; but the names
    of slice and slice head replace a custom resource of theirs. Amounts of 0 are left out. On a host that has other
    accelerators too, Ray may choose those.

    Args:
        address: of the node; it becomes the resource "node:ADDRESS".
        env: of the host.
        metadata: as for `host`.
        predefined: CPU, GPU, memory (bytes) and object_store_memory (bytes), which Ray detects where they are not
            given.
        resources: the other resources that it is given, TPU among them.
        labels: those that it is given; not checked.
        chips: the chips that Ray would detect on the machine.

    Raises:
        InvalidError: an amount is not a whole number of 0 to 1e14, TPU is more than what is visible, a variable cannot
            be read, or a resource has the name of Ray's head; and, other than Ray, for a label in RAY_OVERRIDE_LABELS
            that is no text, and a resource in RAY_OVERRIDE_RESOURCES that is no number whatever its name.
    """
    # The names keep alive what the arguments point to.
    before, told = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
    detected = to_resources_or_null(predefined, "predefined")
    custom = to_resources_or_null(resources, "resources")
    given = to_labels_or_null(labels, "labels")
    found = call(
        lib.quoit_ray_node_new,
        _c.to_text(address, "address"),
        before,
        told,
        detected,
        custom,
        given,
        _c.to_int(chips, "chips"),
    )
    handle = _c.owned(found, lib.quoit_ray_node_free)
    offered = resources_of(lib.quoit_ray_node_get_resources(handle))
    return Node(offered, labels_of(lib.quoit_ray_node_get_labels(handle)))


# --- which chips a process sees -----------------------------------------------------------------------------------


def visible_ids(env: Mapping[str, str] | None) -> tuple[str, ...] | None:
    """The ids that TPU_VISIBLE_CHIPS leaves to a process; None where it is not set.

    They are its parts between commas as they are; where RAY_TPU_RESOURCE_PER_CHIP is 2 or more, so many for each chip.

    Args:
        env: of the process.

    Raises:
        InvalidError: that factor or, with one, a chip cannot be read, or there would be more than 65536 ids.
    """
    before = _c.to_pairs(env, "env")
    ids = call(lib.quoit_ray_visible_ids, before)
    return None if ids == _c.NULL else _c.taken_texts(ids)


def visible_env(ids: Iterable[str], chips_on_node: int, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """What Ray makes of a process's environment so that it sees just its chips.

    TPU_VISIBLE_CHIPS is set, and for one or two chips TPU_CHIPS_PER_HOST_BOUNDS and TPU_HOST_BOUNDS. Who is given as
    many as the node has sees all. RAY_EXPERIMENTAL_NOSET_TPU_VISIBLE_CHIPS leaves everything as it is.

    Args:
        ids: the chips, or devices, that the process is given.
        chips_on_node: how many Ray detects on the node.
        env: of the process so far; not changed.

    Returns:
        The environment with the changes.

    Raises:
        InvalidError: RAY_TPU_RESOURCE_PER_CHIP or an id cannot be read.
    """
    given: Any = _c.to_texts(ids, "ids")
    before: Any = _c.to_pairs(env, "env")
    return _c.taken_pairs(call(lib.quoit_ray_visible_env, given, _c.to_int(chips_on_node, "chips_on_node"), before))


def quantity_is_valid(quantity: float) -> bool:
    """Whether a task or an actor may ask for so much TPU: 1, 2, 4 and 8. Bundles are not held to that."""
    return bool(lib.quoit_ray_quantity_is_valid(_c.to_float(quantity, "quantity")))


def units(amount: float) -> int:
    """The ten-thousandths that Ray counts of an amount: the product in double, cut toward zero: 5699 for 0.57.

    Other than quoit, Ray takes any double: of one whose product no 64 bits hold, infinite or not a number, it makes the
    most negative number, on x86.
    """
    return int(lib.quoit_ray_units(_c.to_float(amount, "amount")))


# --- those who start machines -------------------------------------------------------------------------------------


def gke_pod_type(topology: str | None, accelerator: str | None) -> str | None:
    """The pod type that KubeRay's autoscaler expects of a worker group, "v6e-16".

    Whether such a topology exists is not checked. None: Ray does not know the accelerator, or one of both is missing.

    Args:
        topology: the node selector cloud.google.com/gke-tpu-topology, "4x4".
        accelerator: the node selector cloud.google.com/gke-tpu-accelerator, "tpu-v6e-slice".

    Raises:
        InvalidError: the topology cannot be read.
    """
    shape, selected = _c.to_text_or_null(topology, "topology"), _c.to_text_or_null(accelerator, "accelerator")
    return _c.taken_text_or_none(call(lib.quoit_ray_gke_pod_type, shape, selected))


def _gce(accelerator_type: str | None, type: str | None, topology: str | None) -> tuple[Any, Any, Any]:
    accelerator = _c.to_text_or_null(accelerator_type, "accelerator_type")
    return accelerator, _c.to_text_or_null(type, "type"), _c.to_text_or_null(topology, "topology")


def gce_check(accelerator_type: str | None, type: str | None = None, topology: str | None = None) -> None:
    """Nothing, where Ray's cluster launcher takes a TPU node.

    It takes a type that passes `type_is_valid`, or else a configuration: "V5LITE_POD" or "V" and a generation, but not
    V2 or V3, and two or three numbers.

    Args:
        accelerator_type: acceleratorType of the node, "v4-8"; None where it has none.
        type: acceleratorConfig.type, "V4"; None where it has none.
        topology: acceleratorConfig.topology, "2x2x1"; None where it has none.

    Raises:
        InvalidError: it does not take it.
    """
    call(lib.quoit_ray_gce_check, *_gce(accelerator_type, type, topology))


def gce_pod_type(type: str | None, topology: str | None) -> str:
    """The pod type of a configuration, checked or not: "v5litepod-16".

    Args:
        type: acceleratorConfig.type, "V5LITE_POD".
        topology: acceleratorConfig.topology, "4x4"; blanks around the numbers do not matter, capitals do.

    Raises:
        InvalidError: either is None or cannot be read.
    """
    _, config, shape = _gce(None, type, topology)
    return _c.taken_text(call(lib.quoit_ray_gce_pod_type, config, shape))


def gce_is_single_host(accelerator_type: str | None, type: str | None = None, topology: str | None = None) -> bool:
    """Whether Ray's cluster launcher takes the slice of a TPU node, checked or not, for one host.

    It is one with no more chips than `visible_chips_per_host`. The arguments are those of `gce_check`.

    Raises:
        InvalidError: the chips or the generation cannot be read.
    """
    is_single = ffi.new("int *")
    call(lib.quoit_ray_gce_is_single_host, *_gce(accelerator_type, type, topology), is_single)
    return bool(is_single[0])
