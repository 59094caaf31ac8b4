# SPDX-License-Identifier: Apache-2.0
"""Suite cluster-env: which cluster JAX detects for a process, and how JAX divides a host's chips among processes."""

import dataclasses

from ray_host import object_or_empty, string_values
from rows import Skip, allow_members, keep_recorded, refusal

import quoit
from quoit import identity

Kind = identity.JaxClusterKind


def answer(call):
    """Returns the result of `call`, or the message of its exception in the form of a recorded refusal."""
    try:
        return call()
    except quoit.InvalidError as error:
        return refusal(error)


def facts(cluster):
    """The values of a detected cluster. JAX computes each value separately, so each can be a refusal."""
    return {
        "coordinator": answer(cluster.coordinator),
        "process_count": answer(cluster.process_count),
        "process_id": answer(cluster.process_id),
        "workers": answer(cluster.workers),
    }


def arguments(process_input):
    """The arguments that JAX finds for initialize(): coordinator, number of processes, process id, local_device_ids.

    On TPU hosts, JAX never sets the last one.
    """
    cluster = identity.jax_cluster(*process_input)
    if cluster.kind == Kind.NONE:
        return [None] * 4
    return [cluster.coordinator(), cluster.process_count(), cluster.process_id(), None]


def detect(given, recorded):
    """The values of a cluster of each type, whichever JAX would choose; and the arguments of the chosen cluster."""
    allow_members(given, ["name", "env", "tpu_vm", "metadata", "file", "gke_present", "gce_present"])
    if not given.get("tpu_vm", True):
        raise Skip("no TPU host: its cluster is not modelled")
    env, metadata = (string_values(object_or_empty(given.get(member))) for member in ("env", "metadata"))
    process_input = env, metadata, given.get("file")
    found = {
        "gke": facts(identity.JaxCluster(Kind.GKE_TPU, *process_input)),
        "gce": facts(identity.JaxCluster(Kind.GCE_TPU, *process_input)),
        "auto": answer(lambda: arguments(process_input)),
    }
    return keep_recorded(found, recorded)


def process_bounds(given, recorded):
    allow_members(given, ["version", "host_chips", "chips_per_process"])
    found = identity.jax_process_bounds(given["version"], given["host_chips"], given["chips_per_process"])
    return dataclasses.asdict(found)


OPS = {"jax_cluster_detect": detect, "tpu_process_bounds": process_bounds}
REFUSALS = {"jax_cluster_detect"}
