# SPDX-License-Identifier: Apache-2.0
"""KubeRay's arithmetic and names of pods, as readers of manifests have them: groups make a manifest, pods its nodes."""

import json

from rows import Skip, only

import quoit

FIELDS = ("replicas", "minReplicas", "maxReplicas", "numOfHosts")
POD = {"spec": {"containers": [{}]}}


def group_of(name, given, names):
    """A worker group, whose numbers are called as the row calls them."""
    group = {"groupName": name, "template": POD}
    for field, called in zip(FIELDS, names):
        if given.get(called) is not None:
            if given[called] < 0:
                raise Skip("a negative number, which quoit refuses")
            group[field] = given[called]
    return group


def manifest_of(groups):
    spec = {"headGroupSpec": {"template": POD}, "workerGroupSpecs": groups}
    return json.dumps({"kind": "RayCluster", "metadata": {"name": "c"}, "spec": spec})


def desired(given, recorded):
    """How many pods a group is to have."""
    only(given, ["numOfHosts", "replicas", "min", "max", "suspend"])
    group = group_of("g", given, ("replicas", "min", "max", "numOfHosts"))
    if given.get("suspend"):
        group["suspend"] = True
    try:
        with quoit.open_memory() as ledger:
            return ledger.import_raycluster(manifest_of([group])).n_nodes - 1
    except quoit.InvalidError as error:
        if "pods" in str(error):
            raise Skip("more pods than a fleet has: quoit refuses what KubeRay does not guard") from None
        raise


# --- reconcile ----------------------------------------------------------------------------------------------------


def pod_of(node, replicas):
    """Node GROUP-R is a replica of one host; GROUP-R-H is of the n-th of several hosts that was made."""
    name = node.pool.name
    replica, _, host = node.name[len(name) + 1 :].partition("-")
    if not host:
        return f"{name} replica={replica} host= name="
    number = replicas.setdefault((name, replica), len(replicas))
    return f"{name} replica={replica} host={host} name={name}-<{number}>"


def reconcile(given, recorded):
    """What a first pass makes; what becomes of pods later is not a manifest's matter."""
    only(given, ["autoscaling", "multi_host_indexing", "groups", "steps"])
    if given.get("steps") != ["reconcile"]:
        raise Skip("pods that come and go: a manifest has those that are desired")
    if not given.get("multi_host_indexing", True):
        raise Skip("an operator without indices, as before 1.6")
    groups = []
    for each in given.get("groups") or []:
        only(each, ["groupName", *FIELDS])
        if each.get("groupName") is None:
            raise Skip("a group without a name, which quoit refuses")
        groups.append(group_of(each["groupName"], each, FIELDS))
    with quoit.open_memory() as ledger:
        ledger.import_raycluster(manifest_of(groups))
        replicas = {}
        pods = [pod_of(node, replicas) for node in ledger.snapshot().nodes if not node.is_ray_head]
    return [{"pods": sorted(pods)}]


OPS = {"kuberay_desired": desired, "kuberay_reconcile": reconcile}
