# SPDX-License-Identifier: Apache-2.0
"""Suite ray-tpu: Ray's arithmetic."""

from rows import Skip, allow_members

import quoit
from quoit.ray_rules import arithmetic

FACTOR = "RAY_TPU_RESOURCE_PER_CHIP"


def of_texts(function, *members):
    """Returns the op that calls `function` with members of a row. A missing member is None."""

    def answer(given, recorded):
        allow_members(given, members)
        return function(*(given.get(member) for member in members))

    return answer


def list_topologies(given, recorded):
    allow_members(given, ["generation"])
    return list(arithmetic.valid_topologies(given["generation"]))


def count_topologies(given, recorded):
    return len(list_topologies(given, recorded))


# --- workers ------------------------------------------------------------------------------------------------------

OF_ENV = ("env", f"env.{FACTOR}")


def text_of_env(given):
    """The text of RAY_TPU_RESOURCE_PER_CHIP in a row, which has it in "env" or in a member of its own."""
    if "env" not in given:
        return given.get(f"env.{FACTOR}")
    if not isinstance(given["env"], dict):
        raise Skip("an environment that is no object")
    return given["env"].get(FACTOR)


def resource_per_chip(given, recorded):
    allow_members(given, OF_ENV)
    return arithmetic.resource_per_chip(text_of_env(given))


def factor_of(given):
    """The factor that Ray uses: the argument, or else the environment variable."""
    factor = given.get("tpu_resource_per_chip")
    return arithmetic.resource_per_chip(text_of_env(given)) if factor is None else factor


def worker_resources(given, recorded):
    numbers = ["num_slices", "chips_per_vm"]
    allow_members(
        given,
        ["topology", "accelerator_type", "resources_per_worker", *numbers, "tpu_resource_per_chip", *OF_ENV],
    )
    asked = arithmetic.worker_resources(
        given.get("topology"),
        given.get("accelerator_type"),
        given.get("resources_per_worker"),
        tpu_resource_per_chip=factor_of(given),
        **{number: given[number] for number in numbers if number in given},
    )
    return {"num_workers": asked.num_workers, "worker_resources": asked.resources}


def slices_for_workers(given, recorded):
    arguments = ["topology", "accelerator_type", "num_workers", "resources_per_worker"]
    allow_members(given, [*arguments, "tpu_resource_per_chip", *OF_ENV])
    try:
        factor = factor_of(given)
    except quoit.InvalidError:
        return 1  # a factor that cannot be read is a refusal like any other
    asked = (given.get(argument) for argument in arguments)
    return arithmetic.slices_for_workers(*asked, tpu_resource_per_chip=factor)


def coordinator_env(given, recorded):
    allow_members(given, ["coordinator_address", "num_slices", "slice_id", "coordinator_port"])
    if given.get("coordinator_port", "") is None:
        raise Skip("None, which is Ray's own port for quoit, where Ray makes a text of it")
    arguments = given.get("coordinator_address"), given.get("num_slices"), given.get("slice_id")
    return arithmetic.coordinator_env(*arguments, given.get("coordinator_port"))


OPS = {
    "accel.VALID_TPU_TOPOLOGY.count": count_topologies,
    "accel.VALID_TPU_TOPOLOGY.list": list_topologies,
    "accel._get_default_chips_per_vm": of_texts(arithmetic.default_chips_per_vm, "topology", "accelerator_version"),
    "accel.get_chips_per_host": of_texts(arithmetic.chips_per_host, "topology", "accelerator_version"),
    "accel.get_num_chips_from_topology": of_texts(arithmetic.chips_from_topology, "topology"),
    "accel.get_num_tpu_visible_chips_per_host": of_texts(arithmetic.visible_chips_per_host, "accelerator_type"),
    "accel.get_total_chips_from_accelerator_type": of_texts(arithmetic.chips_from_type, "accelerator_type"),
    "accel.get_tpu_cores_per_chip": of_texts(arithmetic.cores_per_chip, "accelerator_type"),
    "accel.get_tpu_resource_per_chip": resource_per_chip,
    "accel.infer_tpu_pod_type_from_topology": of_texts(arithmetic.pod_type, "topology", "accelerator_type"),
    "accel.normalize_tpu_accelerator_type": of_texts(arithmetic.normalize_type, "accelerator_type"),
    "mgr.is_valid_tpu_accelerator_topology": of_texts(
        arithmetic.topology_is_valid, "tpu_accelerator_version", "tpu_topology"
    ),
    "mgr.is_valid_tpu_accelerator_type": of_texts(arithmetic.type_is_valid, "tpu_accelerator_type"),
    "util.get_tpu_coordinator_env_vars": coordinator_env,
    "util.get_tpu_num_slices_for_workers": slices_for_workers,
    "util.get_tpu_version_from_type": of_texts(arithmetic.version_from_type, "accelerator_type"),
    "util.get_tpu_worker_resources": worker_resources,
}
SAME_ORDER = {"util.get_tpu_coordinator_env_vars", "util.get_tpu_worker_resources"}
