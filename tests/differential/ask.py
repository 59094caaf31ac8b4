# SPDX-License-Identifier: Apache-2.0
"""Runs cases on the real server and writes its answers as rows of tests/vectors."""

import model
from gcs_oracle import GcsOracle

# Runs of a case, and additional runs if Ray chooses among equal nodes.
RUNS, MORE_RUNS = 2, 4
# The most ways to break ties that are tried to count the possible answers.
MOST_WAYS = 200


def resources_and_labels(node):
    return node["res"], node.get("labels", {})


class Cluster:
    """The nodes of one case on the server, which has no other nodes. They are removed at the end."""

    def __init__(self, gcs, case):
        self.gcs = gcs
        self.nodes = case["in"]["nodes"]
        self.gone = case.get("gone", ())

    def __enter__(self):
        added = self.gcs.add_nodes(map(resources_and_labels, [*self.nodes, *self.gone]))
        self.ids = added[: len(self.nodes)]
        # Rows use the ids of the case. The server's ids are new each time, because a dead node cannot return.
        self.server_id = {node["id"]: key for node, key in zip([*self.nodes, *self.gone], added)}
        self.index = {key: i for i, key in enumerate(self.ids)}
        for node in self.gone:
            if node["how"] == "draining":
                self.gcs.drain_node(self.server_id[node["id"]])
            else:
                self.gcs.remove_nodes([self.server_id[node["id"]]])
        used = {
            key: node["avail"]
            for key, node in zip(self.ids, self.nodes)
            if node.get("avail", node["total"]) != node["total"]
        }
        if used:
            self.gcs.set_available(used)
        return self

    def __exit__(self, *_):
        self.gcs.remove_nodes(list(self.gcs.labels))

    def place(self, asked):
        soft_target = asked.get("soft_target")
        return self.gcs.place(
            asked["bundles"],
            asked["strategy"],
            selectors=asked.get("selectors"),
            topology=asked.get("topology"),
            soft_target=self.server_id.get(soft_target, soft_target),
        )

    def places_of(self, answer):
        return [self.index[key] for key in answer.nodes] if answer.result == "SUCCESS" else None

    def alive(self):
        """The current nodes in the form of a row."""
        return [
            dict(node, avail={name: e4 for name, e4 in self.gcs.available[key].items() if e4 != 0})
            for key, node in zip(self.ids, self.nodes)
            if key in self.gcs.available
        ]


def row_of(case_id, row_in, seen):
    """Makes a row; `seen` has the (result, places) of all runs."""
    answers, is_complete = model.possible(model.case_of_row(row_in), MOST_WAYS)
    listed = [
        {"result": result, "nodes": list(places) if places else None, "seen": seen.count((result, places))}
        for result, places in sorted(set(seen), key=str)
    ]
    return {
        "id": case_id,
        "suite": "placement",
        "op": "place",
        "in": row_in,
        "out": {
            "answers": listed,
            "deterministic": is_complete and len(answers) == 1 and len(listed) == 1,
            "runs": len(seen),
            "possible": len(answers) if is_complete else ">%d" % len(answers),
        },
    }


def ask_place(gcs, case):
    seen = []
    with Cluster(gcs, case) as cluster:
        ways = len(model.possible(model.case_of_row(case["in"]), 2)[0])
        for _ in range(RUNS + (MORE_RUNS if ways > 1 else 0)):
            answer = cluster.place(case["in"])
            places = cluster.places_of(answer)
            seen.append((answer.result, tuple(places) if places else None))
            gcs.release(answer)
    return [row_of(case["id"], case["in"], seen)]


def row_of_loss(cluster, asked, lost, kept, value):
    """ "in" of a row for the placement after a loss: the lost bundles as a request of their own."""
    row_in = {
        "nodes": cluster.alive(),
        "bundles": [asked["bundles"][i] for i in lost],
        "strategy": asked["strategy"],
        "exclude": sorted(node["id"] for key, node in zip(cluster.ids, cluster.nodes) if key in kept),
    }
    if asked.get("selectors"):
        row_in["selectors"] = [asked["selectors"][i] for i in lost]
    if asked.get("soft_target"):
        row_in["soft_target"] = asked["soft_target"]
    if asked.get("topology"):
        row_in["topology"] = asked["topology"]
        if kept:
            row_in["pinned"] = value
    return row_in


def ask_lose(gcs, case):
    """Yields a row for each loss."""
    asked, rows = case["in"], []
    with Cluster(gcs, case) as cluster:
        answer = cluster.place(asked)
        for n, bundle in enumerate(asked["losses"]):
            if answer.result != "SUCCESS":
                break
            dead = answer.nodes[bundle]
            lost = [i for i, key in enumerate(answer.nodes) if key == dead]
            gcs.remove_nodes([dead])
            row_in = row_of_loss(
                cluster, asked, lost, set(answer.nodes) - {dead}, answer.topology.get(asked.get("topology"))
            )
            answer = gcs.wait_replaced(answer, dead, asked["bundles"])
            index = {node["id"]: i for i, node in enumerate(row_in["nodes"])}
            places = (
                tuple(index[cluster.nodes[cluster.index[answer.nodes[i]]]["id"]] for i in lost)
                if answer.result == "SUCCESS"
                else None
            )
            rows.append(row_of("%s.%d" % (case["id"], n), row_in, [(answer.result, places)]))
        # The server retries a group that it cannot place before any other, so that group must be removed first.
        gcs.remove(answer.id)
        gcs.held.pop(answer.id, None)
    return rows


def ask_sequence(gcs, case):
    steps, placed = [], {}
    with Cluster(gcs, case) as cluster:
        for k, step in enumerate(case["in"]["steps"]):
            if step["op"] == "remove":
                answer = placed.pop(step["pg"], None)
                steps.append({"op": "remove", "pg": step["pg"] if answer else None})
                if answer:
                    gcs.release(answer)
                continue
            answer = cluster.place(step)
            steps.append({**step, "answer": {"result": answer.result, "nodes": cluster.places_of(answer)}})
            if answer.result == "SUCCESS":
                placed[k] = answer
            else:
                gcs.remove(answer.id)
        for answer in placed.values():
            gcs.remove(answer.id)
            del gcs.held[answer.id]
    return [
        {
            "id": case["id"],
            "suite": "placement-seq",
            "op": "sequence",
            "in": {"nodes": case["in"]["nodes"], "steps": steps},
            "out": "each step carries its answer",
        }
    ]


ASKERS = {"place": ask_place, "lose": ask_lose, "sequence": ask_sequence}


class Ray:
    """The server, started on first use and again after it ended."""

    def __init__(self):
        self.gcs = None

    def rows(self, case):
        if self.gcs is None:
            self.gcs = GcsOracle()
        try:
            return ASKERS[case["op"]](self.gcs, case)
        except BaseException:
            # The next case must not see what is left of this one.
            self.close()
            raise

    def close(self):
        if self.gcs is not None:
            self.gcs.close()
        self.gcs = None
