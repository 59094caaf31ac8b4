# SPDX-License-Identifier: Apache-2.0
"""Placement of groups, compared with recorded answers of Ray's GCS.

If Ray's answer is not determined, the model must find Ray's and quoit's answers possible. Otherwise the answers must be
equal.
"""

from ray_groups import bundles_of, selectors_of
from rows import Disagreement

from quoit.ray_rules.placement import Cluster, Placement, PlacementGroup, PlacementResult

BUDGET = 20000  # how many placements the model may try to decide about an answer without nodes


def read_cluster(given):
    cluster = Cluster()
    for node in given["nodes"]:
        cluster.add_node(node["id"])
        free = node.get("avail", node["total"])
        for resource, total in node["total"].items():
            cluster.set_resource_ten_thousandths(node["id"], resource, total, free.get(resource, 0))
        for key, value in node.get("labels", {}).items():
            cluster.set_label(node["id"], key, value)
    return cluster


def read_group(given):
    levels = {"ray.io/node-id": given["strategy"]}
    if given.get("topology") is not None:
        levels[given["topology"]] = "STRICT_PACK"
    return PlacementGroup(
        bundles_of(given["bundles"]),
        topology_strategy=levels,
        bundle_label_selector=selectors_of(given.get("selectors")),
        soft_target_node_id=given.get("soft_target"),
        bound=given.get("pinned"),
        excluded=given.get("exclude", ()),
    )


def read_answer(answer, cluster):
    result = PlacementResult[answer["result"]]
    if result is not PlacementResult.SUCCESS:
        return Placement(result, None)
    return Placement(result, tuple(cluster.node_ids[number] for number in answer["nodes"]))


def check_possible(group, cluster, answer, whose):
    possible = group.is_possible(cluster, answer, BUDGET)
    if not possible:
        known = "is not possible" if possible is False else "is not known to be possible"
        raise Disagreement(f"{whose} answer {answer}, which {known}")


def ask(group, cluster):
    ours = group.place(cluster)
    check_possible(group, cluster, ours, "our")
    return ours


def check_determined(group, cluster, recorded):
    """Compares whether the answer is determined. If "possible" is no number, the recorder stopped counting answers."""
    if not recorded["deterministic"] and not isinstance(recorded.get("possible"), (int, float)):
        return
    determined = group.is_determined(cluster, BUDGET)
    if determined is not recorded["deterministic"]:
        raise Disagreement(f"determined is {determined}")


def place(given, recorded):
    cluster, group = read_cluster(given), read_group(given)
    ours = ask(group, cluster)
    check_determined(group, cluster, recorded)
    for answer in recorded["answers"]:
        theirs = read_answer(answer, cluster)
        check_possible(group, cluster, theirs, "Ray's")
        if recorded["deterministic"] and theirs != ours:
            raise Disagreement(f"{ours} where Ray says {theirs}")
    return recorded


def sequence(given, recorded):
    """Placements and removals one after the other. Each step starts from Ray's answers to the earlier steps."""
    cluster, placed = read_cluster(given), {}
    for index, step in enumerate(given["steps"]):
        if step["op"] == "remove":
            if step["pg"] is not None:
                cluster.deallocate(*placed[step["pg"]])
            continue
        group = read_group(step)
        ask(group, cluster)
        theirs = read_answer(step["answer"], cluster)
        check_possible(group, cluster, theirs, f"step {index}: Ray's")
        if theirs.nodes is not None:
            cluster.allocate(group, theirs.nodes)
            placed[index] = group, theirs.nodes
    return recorded


OPS = {"place": place, "sequence": sequence}
