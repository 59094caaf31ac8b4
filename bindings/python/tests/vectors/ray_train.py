# SPDX-License-Identifier: Apache-2.0
"""Suite ray-tpu: how Ray Train interprets its arguments, and what it decides during runs."""

from rows import Skip, allow_members, keep_recorded

from quoit.ray_rules.arithmetic import slices_for_workers, train_env
from quoit.ray_rules.train import (
    FailureDecision,
    FailureKind,
    FailurePolicy,
    ScalingConfig,
    rank_by_node,
    rank_by_slice,
    slice_id,
)

EXECUTION = "ray.train.v2._internal.execution."
ARGUMENTS = [
    "use_tpu",
    "use_gpu",
    "topology",
    "accelerator_type",
    "num_workers",
    "resources_per_worker",
    "placement_strategy",
    "label_selector",
    "elastic_resize_monitor_interval_s",
    "trainer_resources",
]

# --- sizes --------------------------------------------------------------------------------------------------------


def read_scaling(given, **defaults):
    """The ScalingConfig of a row. A list of numbers of workers was a tuple, which JSON cannot express."""
    arguments = {**defaults, **{name: given[name] for name in ARGUMENTS if name in given}}
    if isinstance(arguments.get("num_workers"), list):
        arguments["num_workers"] = tuple(arguments["num_workers"])
    return ScalingConfig(**arguments)


def scaling_config(given, recorded):
    allow_members(given, ARGUMENTS)
    scaling = read_scaling(given)
    most = scaling.max_workers
    answer = {
        "valid": True,
        "min_workers": scaling.min_workers,
        "max_workers": most,
        "elasticity_enabled": scaling.elasticity_enabled,
        "resources_per_worker": scaling.worker_resources,
        "num_tpus_per_worker": scaling.num_tpus_per_worker,
        "total_resources": scaling.total_resources,
        "num_slices": scaling.num_slices(most),
        "slice_placement_group": scaling.uses_slices,
        "workers_per_slice": scaling.workers_per_slice,
        "label_selector_per_worker": list(scaling.label_selector_per_worker(most) or [{}] * most),
    }
    return keep_recorded(answer, recorded)


def amount_of(value):
    """Converts an amount of a row: a number, or the text "0.1 added 5 times in floating point" for that sum."""
    if not isinstance(value, str):
        return value
    step, _, times = value.replace(" times in floating point", "").partition(" added ")
    return sum([float(step)] * int(times))


def count_possible(given, recorded):
    """The number of possible workers. Rows with a topology use TPU, rows that request GPU use GPU, others neither."""
    allow_members(
        given, ["topology", "accelerator_type", "num_workers", "resources_per_worker", "nodes", "node", "intact_slices"]
    )
    uses_gpu = (given.get("resources_per_worker") or {}).get("GPU", 0) > 0
    scaling = read_scaling(given, use_tpu="topology" in given, use_gpu=uses_gpu)
    node = {name: amount_of(value) for name, value in given["node"].items()}
    nodes = {str(index): node for index in range(given["nodes"])}
    return scaling.count_possible_workers(nodes, given.get("intact_slices"))


# --- runs ---------------------------------------------------------------------------------------------------------

FAILURES = {
    "worker": FailureKind.WORKER,
    "startup_failed": FailureKind.STARTUP_FAILED,
    "startup_timeout": FailureKind.STARTUP_TIMEOUT,
    "preemption": FailureKind.PREEMPTION,
    "controller_other": FailureKind.CONTROLLER,
}


def decide_failures(given, recorded):
    """The decisions about the failures of a row, which has a list of errors or a number of failures of workers."""
    if "failures" in given:
        allow_members(given, ["max_failures", "failures"])
        policy, errors = FailurePolicy(given["max_failures"]), ["worker"] * given["failures"]
    else:
        allow_members(given, ["failure_config", "errors"])
        policy, errors = FailurePolicy(**given["failure_config"]), given["errors"]
    if not set(errors) <= set(FAILURES):
        raise Skip("a failure of another name")
    decisions = [FailureDecision(policy.make_decision(FAILURES[name])).name for name in errors]
    return {"decisions": decisions} if "failures" in given else decisions


def ranks_by_node(given, recorded):
    allow_members(given, ["node_ids", "first_id"])
    node_ids = given["node_ids"]
    return {"order": [node_ids[one.worker] for one in rank_by_node(node_ids, first_id=given.get("first_id"))]}


def ranks_by_slice(given, recorded):
    allow_members(given, ["pod_names_in_actor_order"])
    names = given["pod_names_in_actor_order"]
    return {"actor_index_by_rank": [one.worker for one in rank_by_slice(names, ["10.0.0.1"] * len(names))]}


def slice_ids(given, recorded):
    allow_members(given, ["num_workers", "workers_per_slice", "num_slices"])
    ranks = range(given["num_workers"])
    return {"slice_ids": [slice_id(rank, given["workers_per_slice"], given["num_slices"]) for rank in ranks]}


def ids_of_slices(names, id_of_rank, num_slices):
    """The id of each slice, from the id of its first worker. Slices without names are called "slice-A", "slice-B"..."""
    names = names or [f"slice-{chr(ord('A') + index)}" for index in range(num_slices)]
    return {name: id_of_rank[index * len(id_of_rank) // num_slices] for index, name in enumerate(names)}


def jax_environment(given, recorded):
    allow_members(
        given, ["topology", "accelerator_type", "num_workers", "slices", "worker_env", "resources_per_worker"]
    )
    topology, accelerator_type = given.get("topology"), given["accelerator_type"]
    resources = given.get("resources_per_worker")
    num_slices = slices_for_workers(topology, accelerator_type, given["num_workers"], resources)
    job = num_slices, topology or "", accelerator_type, resources, given.get("worker_env")
    envs = [train_env("ip of world rank 0", rank, *job) for rank in range(given["num_workers"])]
    variables = ["MEGASCALE_COORDINATOR_ADDRESS", "MEGASCALE_NUM_SLICES", "MEGASCALE_PORT", "MEGASCALE_SLICE_ID"]
    answer = {name: envs[-1].get(name) for name in variables}
    answer["slice_id_per_rank"] = [env.get("MEGASCALE_SLICE_ID") for env in envs]
    if num_slices > 1:
        answer["MEGASCALE_SLICE_ID"] = ids_of_slices(given.get("slices"), answer["slice_id_per_rank"], num_slices)
    return answer


OPS = {
    EXECUTION + "failure_handling.default.DefaultFailurePolicy.make_decision": decide_failures,
    EXECUTION + "scaling_policy.elastic.ElasticScalingPolicy._count_possible_workers": count_possible,
    EXECUTION + "worker_group.worker_group.WorkerGroup._sort_workers_by_gpu_id_grouped_by_node": ranks_by_node,
    EXECUTION + "worker_group.worker_group.WorkerGroup._sort_workers_by_tpu_pod_name": ranks_by_slice,
    "ray.train.v2.api.config.ScalingConfig": scaling_config,
    "ray.train.v2.jax.config._JaxBackend.on_start": slice_ids,
    "ray.train.v2.jax.config._setup_jax_distributed_environment": jax_environment,
}
