# SPDX-License-Identifier: Apache-2.0
"""Suite kuberay: the operator's desired number of pods of a group, the pods after each step, and names."""

import re

from rows import Skip, allow_members

from quoit import kuberay

GROUP = ["groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", "suspend"]
EVENTS = {
    ("fail", "Failed"): kuberay.KuberayEvent.FAILED,
    ("fail", "Succeeded"): kuberay.KuberayEvent.FAILED,
    ("crash", "Never"): kuberay.KuberayEvent.ENDED,
    ("crash", "Always"): kuberay.KuberayEvent.RESTARTED,
    ("crash", "OnFailure"): kuberay.KuberayEvent.RESTARTED,
    ("toDelete", ""): kuberay.KuberayEvent.TO_DELETE,
    ("delete", ""): kuberay.KuberayEvent.GONE,
}


def or_else(value, otherwise):
    return otherwise if value is None else value


def add_group(cluster, name, given, lowest, highest):
    """Adds a group with the members of a row. If replicas is missing, KubeRay uses minReplicas."""
    least = or_else(given.get(lowest), 0)
    replicas = or_else(given.get("replicas"), least)
    cluster.add_group(name, hosts=or_else(given.get("numOfHosts"), 1), replicas=replicas)
    cluster.set_bounds(name, least, or_else(given.get(highest), 2**31 - 1))
    if given.get("suspend"):
        cluster.suspend(name)


def desired(given, recorded):
    """The desired number of pods of a group."""
    allow_members(given, ["numOfHosts", "replicas", "min", "max", "suspend"])
    cluster = kuberay.Kuberay("c")
    add_group(cluster, "g", given, "min", "max")
    return cluster.desired("g")


# --- steps --------------------------------------------------------------------------------------------------------


def find_pod(cluster, numbers):
    """Finds a pod of the first group by the indices of a step: replica and host, or only replica if it has one host."""
    first = next(iter(cluster.groups))
    place = (numbers[0], numbers[1] if len(numbers) > 1 else None)
    for pod in cluster.pods:
        if pod.group == first and (pod.replica, pod.host) == place:
            return pod
    raise Skip("the pod of the step does not exist")


def take_step(cluster, step):
    first = next(iter(cluster.groups))
    verb, *words = step.split(" ")
    if verb == "replicas":
        cluster.set_replicas(first, int(words[0]))
    elif (verb, words) == ("suspend", ["true"]):
        cluster.suspend(first)
    elif (verb, words) == ("suspend", ["false"]):
        cluster.resume(first)
    else:
        numbers = [int(word) for word in words if word.isdigit()]
        event = EVENTS.get((verb, "".join(word for word in words if not word.isdigit())))
        if event is None or not numbers:
            raise Skip("unknown step")
        cluster.mark(find_pod(cluster, numbers), event)


def index_text(index):
    return "" if index is None else index


def pod_of(pod):
    name = pod.labels.get("ray.io/worker-group-replica-name", "")
    return f"{pod.group} replica={index_text(pod.replica)} host={index_text(pod.host)} name={name}"


def state_of(cluster, requeue_message, seen):
    """The pods as text, and the operator's message if the pass ended early.

    Recorded replica names have numbers in the order in which they appear. Therefore the incarnations "<N>" in texts are
    renumbered in this order; `seen` has the numbers so far.
    """

    def renumbered(text):
        return re.sub("<([0-9]+)>", lambda found: f"<{seen.setdefault(found.group(1), len(seen))}>", text)

    error = {} if requeue_message is None else {"error": renumbered(requeue_message)}
    return {**error, "pods": [renumbered(text) for text in sorted(map(pod_of, cluster.pods))]}


def reconcile(given, recorded):
    """The pods after each step."""
    allow_members(given, ["autoscaling", "multi_host_indexing", "groups", "steps"])
    flags = kuberay.KuberayFlags(0)
    if given.get("autoscaling"):
        flags |= kuberay.KuberayFlags.AUTOSCALING
    if not given.get("multi_host_indexing", True):
        flags |= kuberay.KuberayFlags.NO_INDICES
    cluster, answers, seen = kuberay.Kuberay("c", flags=flags), [], {}
    for each in given.get("groups") or []:
        allow_members(each, GROUP)
        add_group(cluster, each.get("groupName") or "", each, "minReplicas", "maxReplicas")
    for step in given["steps"]:
        if step != "reconcile":
            take_step(cluster, step)
            answers.append({})
            continue
        done = cluster.reconcile()
        if done.is_deletion_arbitrary:
            raise Skip("KubeRay deletes arbitrary pods")
        answers.append(state_of(cluster, done.requeued, seen))
    return answers


# --- names --------------------------------------------------------------------------------------------------------


def check_name(given, recorded):
    if given == "":
        raise Skip("an empty name makes the Go code panic")
    return kuberay.checked_name(given)


def pod_name(given, recorded):
    return kuberay.pod_prefix(given)


OPS = {
    "kuberay_CheckName": check_name,
    "kuberay_PodName": pod_name,
    "kuberay_desired": desired,
    "kuberay_reconcile": reconcile,
}
