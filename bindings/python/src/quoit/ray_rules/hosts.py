# SPDX-License-Identifier: Apache-2.0
"""A host with TPU chips in Ray 2.60: its identity, the resources of its node, and the visible chips of a process.

Nothing is read from the process. The environment and the answers of a metadata server are arguments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _c
from .._c import call, ffi, lib
from ._resources import call_for_number, to_labels_or_null, to_resources_or_null
from ._resources import labels as labels_of
from ._resources import resources as resources_of

# --- identity -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Host(_c.WithFrozenMappings):
    """The identity of a TPU host in Ray. Unknown facts are None."""

    pod_type: str | None
    """The pod type of the host's slice, "v6e-16", in Ray's spelling. None if `type_is_valid` refuses it."""
    slice_name: str | None
    """The name of the host's slice, without changes."""
    worker_id: int | None
    """The host's number in the slice. It can be negative. None if Python's int() refuses the text."""
    topology: str | None
    """The topology of the host's slice, "4x4", stripped and in lower case. It is not checked, and can be empty."""
    accelerator_type: str | None
    """The generation of the host's chips, "TPU-V6E". Ray derives it from the pod type."""
    resources: Mapping[str, float] | None
    """The resources other than chips; None unless slice, worker id and pod type are known.

    Each host has 1 of a resource with the name of its slice. Worker 0 also has 1 of the head resource,
    "TPU-v6e-16-head".
    """
    labels: Mapping[str, str]
    """The known labels among ray.io/tpu-slice-name, ray.io/tpu-worker-id, ray.io/tpu-topology, ray.io/tpu-pod-type."""


def host(env: Mapping[str, str] | None = None, metadata: Mapping[str, str] | None = None) -> Host:
    """Returns the identity that Ray finds for a host on GKE or GCE.

    A variable that is set and not empty overrides the metadata, even if its value is not valid.

    Args:
        env: the environment of the host; Ray reads TPU_ACCELERATOR_TYPE, TPU_NAME, TPU_WORKER_ID and TPU_TOPOLOGY.
        metadata: the metadata server's values of "accelerator-type", "instance-id", "agent-worker-number" and
            "tpu-env"; None: no server answers.

    Raises:
        InvalidError: a name has a '=', or a text has a NUL or a lone surrogate. This is true for every function here
            that takes text.
    """
    env_pairs, metadata_pairs = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
    handle = _c.own_handle(lib.quoit_ray_host_new(env_pairs, metadata_pairs), lib.quoit_ray_host_free)
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
    """Returns the number of hosts of a slice whose hosts have `chips_on_host` chips, rounded up; None without chips.

    Args:
        pod_type: the pod type of the host, "v4-16".
        chips_on_host: the chips of this host.

    Raises:
        InvalidError: the pod type is None or does not begin with a generation of Ray, its number of cores cannot be
            read, or the result is beyond 64 bits.
    """
    accelerator, chips = _c.to_text_or_null(pod_type, "pod_type"), _c.to_int(chips_on_host, "chips_on_host")
    n_workers = call_for_number(lib.quoit_ray_pod_workers, accelerator, chips)
    return n_workers if n_workers >= 0 else None


# --- node ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Node(_c.WithFrozenMappings):
    """The resources and labels of a Ray node."""

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
    """Returns the resources and labels of the node of a raylet. The raylet of the head is not modelled.

    The node is a TPU host if it has more than 0 TPU. If TPU is not given, Ray detects it, limited by TPU_VISIBLE_CHIPS.
    RAY_OVERRIDE_RESOURCES and RAY_OVERRIDE_LABELS override the arguments, and the arguments override Ray's own labels.
    But the resources that Ray adds for the slice and its head override given resources with the same names. Amounts of
    0 are left out. On a host that also has accelerators of other kinds, Ray can choose one of those instead of TPU.

    Args:
        address: the address of the node, for the resource "node:ADDRESS".
        env: the environment of the host.
        metadata: like for `host`.
        predefined: CPU, GPU, memory (bytes) and object_store_memory (bytes), as given or as Ray detects them.
        resources: the other given resources, TPU among them.
        labels: the given labels; not checked.
        chips: the chips that Ray would detect on the machine.

    Raises:
        InvalidError: an amount is not a whole number from 0 to 1e14, TPU is more than the visible chips, a variable
            cannot be read, or a resource has the name of Ray's head. Unlike Ray, this function also refuses a label in
            RAY_OVERRIDE_LABELS that is not text, and a resource in RAY_OVERRIDE_RESOURCES that is not a number.
    """
    # These references keep the C objects alive during the call.
    env_pairs, metadata_pairs = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
    detected = to_resources_or_null(predefined, "predefined")
    custom = to_resources_or_null(resources, "resources")
    given = to_labels_or_null(labels, "labels")
    found = call(
        lib.quoit_ray_node_new,
        _c.to_text(address, "address"),
        env_pairs,
        metadata_pairs,
        detected,
        custom,
        given,
        _c.to_int(chips, "chips"),
    )
    handle = _c.own_handle(found, lib.quoit_ray_node_free)
    offered = resources_of(lib.quoit_ray_node_get_resources(handle))
    return Node(offered, labels_of(lib.quoit_ray_node_get_labels(handle)))


# --- visible chips ------------------------------------------------------------------------------------------------


def visible_ids(env: Mapping[str, str] | None) -> tuple[str, ...] | None:
    """Returns the ids that TPU_VISIBLE_CHIPS gives a process; None if the variable is not set.

    The ids are the parts of the variable between commas, without changes. If RAY_TPU_RESOURCE_PER_CHIP is 2 or more,
    each chip has that many ids.

    Args:
        env: the environment of the process.

    Raises:
        InvalidError: RAY_TPU_RESOURCE_PER_CHIP cannot be read; or it is set, and the number of a chip cannot be read;
            or there would be more than 65536 ids.
    """
    env_pairs = _c.to_pairs(env, "env")
    ids = call(lib.quoit_ray_visible_ids, env_pairs)
    return None if ids == _c.NULL else _c.take_texts(ids)


def visible_env(ids: Iterable[str], chips_on_node: int, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the environment with which Ray restricts a process to its chips.

    Ray sets TPU_VISIBLE_CHIPS, and for one or two chips also TPU_CHIPS_PER_HOST_BOUNDS and TPU_HOST_BOUNDS. A process
    with as many chips as the node sees all chips. RAY_EXPERIMENTAL_NOSET_TPU_VISIBLE_CHIPS prevents all changes.

    Args:
        ids: the ids of the process's chips, in the form of `visible_ids`.
        chips_on_node: the number that Ray detects on the node.
        env: the environment of the process before; not changed.

    Returns:
        The environment with the changes.

    Raises:
        InvalidError: RAY_TPU_RESOURCE_PER_CHIP or an id cannot be read.
    """
    given: Any = _c.to_texts(ids, "ids")
    env_pairs: Any = _c.to_pairs(env, "env")
    return _c.take_pairs(call(lib.quoit_ray_visible_env, given, _c.to_int(chips_on_node, "chips_on_node"), env_pairs))


def quantity_is_valid(quantity: float) -> bool:
    """Returns whether a task or an actor can request this quantity of TPU: 1, 2, 4 or 8. Bundles have no such limit."""
    return bool(lib.quoit_ray_quantity_is_valid(_c.to_float(quantity, "quantity")))


def amount_to_ten_thousandths(amount: float) -> int:
    """Returns an amount in Ray's ten-thousandths: 5699 for 0.57. Ray multiplies doubles, and truncates toward zero.

    Unlike quoit, Ray accepts any double. On x86 it converts infinities, NaN and products beyond 64 bits to the most
    negative number.
    """
    return int(lib.quoit_ray_amount_to_ten_thousandths(_c.to_float(amount, "amount")))


# --- autoscaler and cluster launcher ------------------------------------------------------------------------------


def gke_pod_type(topology: str | None, accelerator: str | None) -> str | None:
    """Returns the pod type that KubeRay's autoscaler expects of a worker group, "v6e-16".

    The topology need not exist. None: Ray does not know the accelerator, or an argument is None.

    Args:
        topology: the node selector cloud.google.com/gke-tpu-topology, "4x4".
        accelerator: the node selector cloud.google.com/gke-tpu-accelerator, "tpu-v6e-slice".

    Raises:
        InvalidError: the topology cannot be read.
    """
    shape, selected = _c.to_text_or_null(topology, "topology"), _c.to_text_or_null(accelerator, "accelerator")
    return _c.take_text_or_none(call(lib.quoit_ray_gke_pod_type, shape, selected))


def _gce(accelerator_type: str | None, type: str | None, topology: str | None) -> tuple[Any, Any, Any]:
    accelerator = _c.to_text_or_null(accelerator_type, "accelerator_type")
    return accelerator, _c.to_text_or_null(type, "type"), _c.to_text_or_null(topology, "topology")


def gce_check_accelerator(accelerator_type: str | None, type: str | None = None, topology: str | None = None) -> None:
    """Checks that Ray's cluster launcher accepts a TPU node.

    The launcher accepts an acceleratorType that passes `type_is_valid`, or an acceleratorConfig. The type of an
    acceleratorConfig is "V5LITE_POD", or "V" and the number of a generation other than 2 and 3. Its topology has two or
    three numbers.

    Args:
        accelerator_type: acceleratorType of the node, "v4-8"; None if it has none.
        type: acceleratorConfig.type, "V4"; None if it has none.
        topology: acceleratorConfig.topology, "2x2x1"; None if it has none.

    Raises:
        InvalidError: the launcher refuses the node.
    """
    call(lib.quoit_ray_gce_check_accelerator, *_gce(accelerator_type, type, topology))


def gce_pod_type(type: str | None, topology: str | None) -> str:
    """Returns the pod type of an acceleratorConfig: "v5litepod-16". Its node need not pass `gce_check_accelerator`.

    Args:
        type: acceleratorConfig.type, "V5LITE_POD".
        topology: acceleratorConfig.topology, "4x4". Blanks around the numbers do not matter, but case does.

    Raises:
        InvalidError: an argument is None or cannot be read.
    """
    _, config, shape = _gce(None, type, topology)
    return _c.take_text(call(lib.quoit_ray_gce_pod_type, config, shape))


def gce_is_single_host(accelerator_type: str | None, type: str | None = None, topology: str | None = None) -> bool:
    """Returns whether Ray's cluster launcher treats the slice of a TPU node as one host.

    A slice with at most `visible_chips_per_host` chips counts as one host. The arguments are those of
    `gce_check_accelerator`, but the node need not pass that check.

    Raises:
        InvalidError: the chips or the generation cannot be read.
    """
    is_single = ffi.new("bool *")
    call(lib.quoit_ray_gce_is_single_host, *_gce(accelerator_type, type, topology), is_single)
    return bool(is_single[0])
