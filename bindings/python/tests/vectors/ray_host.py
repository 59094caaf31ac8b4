# SPDX-License-Identifier: Apache-2.0
"""Suite ray-tpu: hosts, their nodes and chips, and the launchers that start hosts."""

from rows import Skip, allow_members, refusal

import quoit
from quoit.ray_rules import hosts

# --- inputs of a host: rows have whole environments, single variables, or results of Ray's own functions ------------

VARIABLES = {"tpu_name": "TPU_NAME", "worker_id": "TPU_WORKER_ID", "resource_per_chip": "RAY_TPU_RESOURCE_PER_CHIP"}
HOST_MEMBERS = ["env", "metadata", "source", "value", *VARIABLES]
SOURCES = {"gke": "TPU_WORKER_ID", "gce": "agent-worker-number"}


def object_or_empty(value):
    if value is not None and not isinstance(value, dict):
        raise Skip("an environment that is no object")
    return value or {}


def host_input(given):
    """The environment, and the metadata server's answer to each query."""
    metadata = given.get("metadata")
    found = {"env": dict(object_or_empty(given.get("env")))}
    found["metadata"] = {"accelerator-type": metadata} if isinstance(metadata, str) else dict(object_or_empty(metadata))
    if given.get("source") is not None:
        if given["source"] not in SOURCES:
            raise Skip("quoit has no such source")
        found["env" if given["source"] == "gke" else "metadata"][SOURCES[given["source"]]] = given.get("value")
    for member, value in given.items():
        where, _, name = member.partition(".")
        if where in found and name:
            found[where][name] = value
        if member in VARIABLES:
            found["env"][VARIABLES[member]] = value
    return string_values(found["env"]), string_values(found["metadata"])


def string_values(variables):
    """The variables with their values as strings. Variables whose value is None are left out."""
    if any("=" in name for name in variables):
        raise Skip("no variable can have this name")
    is_number = {name: isinstance(value, int) and not isinstance(value, bool) for name, value in variables.items()}
    return {name: str(value) if is_number[name] else value for name, value in variables.items() if value is not None}


def only_host_members(given, *members):
    if isinstance(given, dict):
        given = [name for name in given if not name.startswith(("env.", "metadata."))]
        given = dict.fromkeys(given)
    allow_members(given, [*HOST_MEMBERS, *members])


def host_of(given):
    only_host_members(given)
    return hosts.host(*host_input(given))


# --- identity -------------------------------------------------------------------------------------------------------


def all_of_host(given, recorded):
    host = host_of(given)
    return {
        "pod_type": host.pod_type,
        "name": host.slice_name,
        "worker_id": host.worker_id,
        "topology": host.topology,
        "accelerator_type": host.accelerator_type,
        "additional_resources": host.resources,
        "labels": host.labels,
    }


def of_host(attribute):
    return lambda given, recorded: getattr(host_of(given), attribute)


def additional_resources(given, recorded):
    return {"resources": host_of(given).resources}


def pod_workers(given, recorded):
    only_host_members(given, "chips_on_node", "pod_type")
    pod_type = given["pod_type"] if "pod_type" in given else hosts.host(*host_input(given)).pod_type
    return hosts.pod_workers(pod_type, given.get("chips_on_node"))


def resolve(given, recorded):
    """The resources and labels of a node. Rows do not record the memory, because it depends on the machine."""
    only_host_members(given, "resources", "labels", "chips_detected", "num_cpus", "node_ip")
    if given.get("num_cpus") is None or given.get("node_ip") is None:
        raise Skip("the answer depends on the machine that Ray ran on")
    env, metadata = host_input(given)
    node = hosts.node(
        given["node_ip"],
        env=env,
        metadata=metadata,
        predefined={"CPU": given["num_cpus"]},
        resources=given.get("resources"),
        labels=given.get("labels"),
        chips=given.get("chips_detected") or 0,
    )
    memory = ("memory", "object_store_memory")
    resources = {name: amount for name, amount in node.resources.items() if name not in memory}
    return {"resources": resources, "labels": node.labels}


# --- visible chips of a process --------------------------------------------------------------------------------------

VISIBLE_VARIABLES = ("TPU_VISIBLE_CHIPS", "TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS")


def visible_ids(given, recorded):
    only_host_members(given)
    ids = hosts.visible_ids(host_input(given)[0])
    return ids if ids is None else list(ids)


def visible_variables(env):
    return {name: env[name] for name in VISIBLE_VARIABLES if name in env}


def visible_env(given, recorded):
    """The variables that restrict a process. Rows about chips record their values; for devices see visible_change()."""
    if isinstance(given, dict) and "devices_on_node" in given:
        return visible_change(given)
    only_host_members(given, "chips_on_node", "visible")
    after = hosts.visible_env(given.get("visible"), given.get("chips_on_node"), host_input(given)[0])
    return {"env_after": visible_variables(after)}


def visible_change(given):
    """The variables that Ray sets, and those that it removes. Rows about devices record these changes."""
    only_host_members(given, "devices_on_node", "visible")
    # With a value before, it is visible whether Ray removes the variable.
    before = {"TPU_VISIBLE_CHIPS": "something", **host_input(given)[0]}
    after = hosts.visible_env(given.get("visible"), given["devices_on_node"], before)
    return {
        "set": {name: value for name, value in visible_variables(after).items() if before.get(name) != value},
        "unset": [name for name in VISIBLE_VARIABLES if name in before and name not in after],
    }


def set_visible_chips(given, recorded):
    """The variables that restrict a process, for rows of the suite ray-train-env."""
    allow_members(given, ["node_accelerators", "ids", "env_before"])
    ids = [str(one) if isinstance(one, int) else one for one in given.get("ids")]
    before = string_values(object_or_empty(given.get("env_before")))
    return visible_variables(hosts.visible_env(ids, given.get("node_accelerators"), before))


def quantity(given, recorded):
    allow_members(given, ["quantity"])
    return {"ok": hosts.quantity_is_valid(given.get("quantity"))}


def fixed_point(given, recorded):
    return hosts.amount_to_ten_thousandths(given)


# --- launchers ------------------------------------------------------------------------------------------------------


def gke_pod_type(given, recorded):
    allow_members(given, ["topology", "accelerator"])
    return hosts.gke_pod_type(given.get("topology"), given.get("accelerator"))


def value_or_refusal(function, *arguments):
    try:
        return {"value": function(*arguments)}
    except quoit.InvalidError as error:
        return refusal(error)


def gce(given, recorded):
    """The answers of three functions of Ray's launcher about a node. Only a node with a configuration has a "type"."""
    allow_members(given, ["acceleratorType", "acceleratorConfig"])
    accelerator, config = given.get("acceleratorType"), given.get("acceleratorConfig", {})
    allow_members(config, ["type", "topology"])
    shape = config.get("type"), config.get("topology")
    if "acceleratorConfig" in given and accelerator is not None and shape == (None, None):
        raise Skip("an empty configuration together with a type")
    answer = {"validate": value_or_refusal(hosts.gce_check_accelerator, accelerator, *shape)}
    if "acceleratorConfig" in given:
        answer["type"] = value_or_refusal(hosts.gce_pod_type, *shape)
    answer["single_host"] = value_or_refusal(hosts.gce_is_single_host, accelerator, *shape)
    return answer


NODE = "mgr.get_current_node_"
CONFIG = "ray.autoscaler._private.gcp.config."

OPS = {
    NODE + "accelerator_labels": of_host("labels"),
    NODE + "accelerator_type": of_host("accelerator_type"),
    NODE + "additional_resources": additional_resources,
    NODE + "tpu_name": of_host("slice_name"),
    NODE + "tpu_pod_type": of_host("pod_type"),
    NODE + "tpu_topology": of_host("topology"),
    NODE + "tpu_worker_id": of_host("worker_id"),
    NODE + "{tpu_pod_type,tpu_name,tpu_worker_id,tpu_topology,accelerator_type,additional_resources,"
    "accelerator_labels}": all_of_host,
    "mgr.get_current_process_visible_accelerator_ids": visible_ids,
    "mgr.get_num_workers_in_current_tpu_pod": pod_workers,
    "mgr.set_current_process_visible_accelerator_ids": visible_env,
    "mgr.validate_resource_request_quantity": quantity,
    "ray._private.resource_and_label_spec.ResourceAndLabelSpec.resolve": resolve,
    CONFIG + "{_validate_tpu_config,_is_single_host_tpu}": gce,
    CONFIG + "{_validate_tpu_config,tpu_accelerator_config_to_type,_is_single_host_tpu}": gce,
    "ray.autoscaler._private.kuberay.utils.tpu_node_selectors_to_type": gke_pod_type,
    "util.get_current_pod_worker_count (TPUAcceleratorManager.get_num_workers_in_current_tpu_pod)": pod_workers,
    "fixed_point": fixed_point,
    "set_visible_chips": set_visible_chips,
}
REFUSALS = {name for name in OPS if name.startswith(CONFIG)}
