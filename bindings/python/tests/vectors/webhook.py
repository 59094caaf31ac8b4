# SPDX-License-Identifier: Apache-2.0
"""Suite webhook: the TPU webhook's validation of worker groups, and its variables in pods."""

import json

from rows import Skip, allow_members, refusal

import quoit
from quoit import webhook

Term = webhook.WebhookTerm
POD = ["accelerator", "cluster", "containers", "group", "labels", "topology"]


def container_of(given):
    """The container of a row. The member "tpu" is a limit; Kubernetes uses a limit without a request as the request."""
    allow_members(given, ["tpu", "request", "limit", "env"])
    limit = given.get("limit", given.get("tpu"))
    env = [(name, None if value == "<fieldRef>" else value) for name, value in given.get("env") or []]
    return webhook.Container(given.get("request"), limit, env)


def pod_of(given):
    """The pod of a row. Members with an empty value are left out."""
    selectors = {webhook.TOPOLOGY: given.get("topology"), webhook.ACCELERATOR: given.get("accelerator")}
    labels = {"ray.io/cluster": given.get("cluster"), "ray.io/group": given.get("group")}
    return webhook.Pod(
        {**(given.get("labels") or {}), **{key: value for key, value in labels.items() if value}},
        {key: value for key, value in selectors.items() if value},
        tuple(map(container_of, given.get("containers") or [])),
    )


def validate(given, recorded):
    """The webhook's answer for a RayCluster: that for the first group that it refuses or denies, else "allowed"."""
    allow_members(given, ["groups"])
    for group in given["groups"]:
        allow_members(group, ["accelerator", "containers", "numOfHosts", "replicas", "topology"])
        try:
            denial = webhook.check_group(pod_of(group), group["numOfHosts"])
        except quoit.InvalidError as error:
            return refusal(error)
        if denial is not None:
            return {"allowed": False, "message": denial}
    return {"allowed": True}


# --- pods ---------------------------------------------------------------------------------------------------------


def variables(container):
    return [[one.name, f"fieldRef:{one.field}" if one.field else one.value] for one in container]


def term(patch, which):
    found = {"match": patch.affinity[which], "topologyKey": webhook.TOPOLOGY_KEY}
    return {**found, "namespaces": patch.affinity[Term.NAMESPACES]} if which == Term.OTHERS else found


def affinity(patch, recorded):
    """The affinity in Kubernetes' form; or "set" if the row records only that there is one."""
    if isinstance(recorded, dict) and recorded.get("affinity") == "set":
        return "set"
    apart = [term(patch, which) for which in (Term.APART, Term.OTHERS)]
    return {"podAffinity": [term(patch, Term.TOGETHER)], "podAntiAffinity": apart}


def mutate(given, recorded):
    allow_members(given, POD)
    try:
        patch = webhook.mutate(pod_of(given))
    except quoit.InvalidError as error:
        return refusal(error)
    if patch.is_empty:
        return {"unchanged": True}
    found = {
        "env": list(map(variables, patch.containers)),
        "hostname": patch.hostname,
        "subdomain": patch.subdomain,
        "labels": patch.replica_label and {"replicaIndex": patch.replica_label},
        "affinity": affinity(patch, recorded) if patch.affinity else None,
    }
    return {member: value for member, value in found.items() if value is not None}


# --- pods that are created and removed -------------------------------------------------------------------------------


def written(containers, name):
    """The values of the variable in all containers that have it."""
    return [one.value for container in containers for one in container if one.name == name]


def created(patch):
    found = {
        "TPU_WORKER_ID": ",".join(written(patch.containers, "TPU_WORKER_ID")),
        "TPU_NAME": written(patch.containers, "TPU_NAME")[0],
        "replicaIndex": patch.replica_label,
    }
    if patch.hostname is None:
        return found
    hosts = written(patch.containers, "TPU_WORKER_HOSTNAMES")[0]
    return {**found, "hostname": patch.hostname, "first_host": hosts.split(",")[0]}


def sequence(given, recorded):
    """The webhook's answer to each step. A pod that is terminating counts as removed."""
    allow_members(given, [*POD, "steps"])
    pods, answers = {}, []
    for step in given["steps"]:
        if step["op"] not in ("create", "delete", "terminating"):
            raise Skip("the step is not part of a pod's life cycle")
        if step["op"] != "create":
            pods.pop(step["pod"], None)
            answers.append({})
            continue
        pod = pod_of(given)
        patch = webhook.mutate(pod, pods.values())
        pods[step["pod"]] = webhook.applied(pod, pods.values())
        answers.append(created(patch))
    return answers


# --- HTTP requests: these functions add the status and the body, which the package does not compute -------------------


def pod_of_object(given):
    """Converts a pod or a pod template of Kubernetes. Missing members count as empty."""
    spec = given.get("spec", {})
    labels = given.get("metadata", {}).get("labels", {})
    return webhook.Pod(
        labels, spec.get("nodeSelector", {}), tuple(map(container_of_object, spec.get("containers", [])))
    )


def container_of_object(given):
    request, limit = (
        given.get("resources", {}).get(which, {}).get("google.com/tpu") for which in ("requests", "limits")
    )
    env = [(one["name"], one.get("value", None if "valueFrom" in one else "")) for one in given.get("env", [])]
    return webhook.Container(request, limit, env)


def admit_pod(request):
    """The answer to an admission request for a pod. The webhook reads the pod only if the operation is CREATE."""
    patch = webhook.mutate(pod_of_object(request["object"] if request.get("operation") == "CREATE" else {}))
    if not patch.is_empty:
        raise Skip("the package returns no JSON patch")
    return {"status": 200, "allowed": True, "patch": ""}


def admit_cluster(request):
    denials = (
        webhook.check_group(pod_of_object(group["template"]), group.get("numOfHosts", 0))
        for group in request["object"]["spec"].get("workerGroupSpecs", [])
    )
    return {"status": 200, "allowed": not any(denial is not None for denial in denials), "patch": ""}


PAGES = {
    "/mutate": ("Pod", admit_pod, "Failed to mutate Pod"),
    "/validate": ("RayCluster", admit_cluster, "Failed to validate RayCluster"),
}


def http(given, recorded):
    allow_members(given, ["path", "body"])
    if given["path"] not in PAGES:
        raise Skip("the webhook has no such page")
    kind, admit, sentence = PAGES[given["path"]]
    try:
        request = json.loads(given["body"]).get("request") or {}
    except ValueError:
        return {"status": 400, "body": "Error decoding request body"}
    if request.get("kind", {}).get("kind") != kind:
        return {"status": 400, "body": "Invalid Kind"}
    try:
        return admit(request)
    except quoit.InvalidError:
        return {"status": 403, "body": sentence}


OPS = {"webhook_http": http, "webhook_mutate": mutate, "webhook_sequence": sequence, "webhook_validate": validate}
REFUSALS = {*OPS} - {"webhook_http"}
