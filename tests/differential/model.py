# SPDX-License-Identifier: Apache-2.0
"""Ray 2.60.0's placement decision, as an executable specification in plain Python.

Input is the view of Ray's control plane: candidate nodes with total and available amounts (integers, ten-thousandths)
and labels; bundles as {resource: number}; selectors per bundle. Output is ("SUCCESS", [node of each bundle]),
("FAILED", None) or ("INFEASIBLE", None).

Ray breaks ties by the order of a hash set, which changes from call to call. If several nodes have the best score, the
model calls a callback: `agrees` follows a given answer, `reachable` tries all choices.

    model.py FILE.ndjson...     do recorded answers agree with the model?
"""

import itertools
import json
import sys

MASK = (1 << 64) - 1
PREDEFINED = {"CPU": 0, "memory": 1, "GPU": 2, "object_store_memory": 3}
IMPLICIT = "node:__internal_implicit_resource_"
# Ray adds the terms of a score in varying order, so the last bits of a sum are not significant.
EPSILON = 1e-12
# The most choices that are tried for one case.
MOST_CHOICES = 20000

# --- amounts and names


def fixed(number):
    """Ten-thousandths: multiplied as a double, truncated toward zero."""
    return int(float(number) * 10000)


def std_hash(text):
    """libstdc++'s std::hash<std::string> on 64 bits, as a signed number."""
    data = text.encode()
    multiplier = 0xC6A4A7935BD1E995
    whole = len(data) & ~7
    h = (0xC70F6907 ^ (len(data) * multiplier)) & MASK
    for i in range(0, whole, 8):
        k = (int.from_bytes(data[i : i + 8], "little") * multiplier) & MASK
        k = ((k ^ k >> 47) * multiplier) & MASK
        h = ((h ^ k) * multiplier) & MASK
    if len(data) & 7:
        h = ((h ^ int.from_bytes(data[whole:], "little")) * multiplier) & MASK
    h = ((h ^ h >> 47) * multiplier) & MASK
    h ^= h >> 47
    return h - (1 << 64) if h >> 63 else h


def resource_id(name):
    return PREDEFINED[name] if name in PREDEFINED else std_hash(name)


def amount(amounts, name):
    """A node has one of each implicit resource that it does not list, and none of any other."""
    return amounts.get(name, 10000 if name.startswith(IMPLICIT) else 0)


# --- labels


def parse_selector(text):
    """Returns (negated, values). Does not trim."""
    negated = text.startswith("!")
    if negated:
        text = text[1:]
    if text.startswith("in(") and text.endswith(")"):
        pieces = text[3:-1].split(",")
        if pieces[-1] == "":  # only an empty last piece is dropped
            pieces.pop()
        return negated, frozenset(pieces)
    return negated, frozenset([text])


def constraints_of(selector):
    return [(key, *parse_selector(text)) for key, text in (selector or {}).items()]


def do_labels_match(labels, constraints):
    return all((labels.get(key) in values) != negated for key, negated, values in constraints)


# --- libstdc++'s std::sort: introsort, threshold 16, median of three


def insert_unguarded(v, less, last):
    value = v[last]
    while less(value, v[last - 1]):
        v[last] = v[last - 1]
        last -= 1
    v[last] = value


def insertion_sort(v, less, n):
    for i in range(1, n):
        if less(v[i], v[0]):
            v.insert(0, v.pop(i))
        else:
            insert_unguarded(v, less, i)


def median(v, less, a, b, c):
    if less(v[a], v[b]):
        return b if less(v[b], v[c]) else c if less(v[a], v[c]) else a
    return a if less(v[a], v[c]) else c if less(v[b], v[c]) else b


def partition(v, less, first, last):
    pivot = median(v, less, first + 1, first + (last - first) // 2, last - 1)
    v[first], v[pivot] = v[pivot], v[first]
    low, high = first + 1, last
    while True:
        while less(v[low], v[first]):
            low += 1
        high -= 1
        while less(v[first], v[high]):
            high -= 1
        if low >= high:
            return low
        v[low], v[high] = v[high], v[low]
        low += 1


def sift(v, less, first, hole, length, value):
    top = child = hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if less(v[first + child], v[first + child - 1]):
            child -= 1
        v[first + hole] = v[first + child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * child + 1
        v[first + hole] = v[first + child]
        hole = child
    while hole > top and less(v[first + (hole - 1) // 2], value):
        v[first + hole] = v[first + (hole - 1) // 2]
        hole = (hole - 1) // 2
    v[first + hole] = value


def heap_sort(v, less, first, last):
    n = last - first
    for parent in range((n - 2) // 2, -1, -1):
        sift(v, less, first, parent, n, v[first + parent])
    while n > 1:
        n -= 1
        value = v[first + n]
        v[first + n] = v[first]
        sift(v, less, first, 0, n, value)


def introsort(v, less, first, last, depth):
    while last - first > 16:
        if depth == 0:
            heap_sort(v, less, first, last)
            return
        depth -= 1
        cut = partition(v, less, first, last)
        introsort(v, less, cut, last, depth)
        last = cut


def std_sort(v, less):
    introsort(v, less, 0, len(v), 2 * (len(v).bit_length() - 1))
    insertion_sort(v, less, min(16, len(v)))
    for i in range(16, len(v)):
        insert_unguarded(v, less, i)


# --- the decision


class Node:
    def __init__(self, node_id, total, available, labels):
        self.id, self.total, self.available, self.labels = node_id, total, dict(available), labels


class Bundle:
    def __init__(self, amounts, constraints):
        self.amounts, self.constraints = amounts, constraints

    def is_feasible(self, node):
        return self._fits(node.total) and do_labels_match(node.labels, self.constraints)

    def is_available(self, node):
        return self._fits(node.available) and do_labels_match(node.labels, self.constraints)

    def _fits(self, amounts):
        return all(amount(amounts, name) >= e4 for name, e4 in self.amounts.items())

    def score(self, node):
        """The score of a node; higher is better. None if the bundle does not fit."""
        if not self.is_available(node):
            return None
        free = [(amount(node.available, name) / 10000, e4 / 10000) for name, e4 in self.amounts.items()]
        return sum((a - b) / a for a, b in free if a != 0)

    def take_from(self, node):
        for name, e4 in self.amounts.items():
            node.available[name] = max(0, amount(node.available, name) - e4)


def best_node(bundle, candidates, choose):
    scores = [(bundle.score(node), node) for node in candidates]
    scores = [(score, node) for score, node in scores if score is not None]
    if not scores:
        return None
    top = max(score for score, _ in scores)
    ties = [node for score, node in scores if score >= top - EPSILON]
    return ties[0] if len(ties) == 1 else choose(ties)


def bundle_order(bundles):
    """Descending: GPU, custom resources by ascending id, object store memory, memory, CPU."""
    custom = sorted({name for b in bundles for name in b.amounts if name not in PREDEFINED}, key=resource_id)
    names = ["GPU", *custom, "object_store_memory", "memory", "CPU"]
    keys = [tuple(b.amounts.get(name, 0) for name in names) for b in bundles]
    order = list(range(len(bundles)))
    std_sort(order, lambda i, j: keys[i] > keys[j])
    return order


def sum_of(bundles):
    total = {}
    for bundle in bundles:
        for name, e4 in bundle.amounts.items():
            total[name] = total.get(name, 0) + e4
    return Bundle(total, [constraint for bundle in bundles for constraint in bundle.constraints])


def place_strict_pack(bundles, candidates, soft_target, choose):
    whole = sum_of(bundles)
    if not any(whole.is_feasible(node) for node in candidates):
        return "INFEASIBLE", None
    node = next((n for n in candidates if n.id == soft_target and whole.is_available(n)), None)
    node = node or best_node(whole, candidates, lambda ties: choose(0, ties))
    return ("SUCCESS", [node.id] * len(bundles)) if node else ("FAILED", None)


def place_pack(bundles, candidates, choose):
    places = [None] * len(bundles)
    left = bundle_order(bundles)
    while left:
        first = left[0]
        node = best_node(bundles[first], candidates, lambda ties, i=first: choose(i, ties))
        if node is None:
            return "FAILED", None
        rest = []
        for i in left:
            if i == first or bundles[i].is_available(node):
                bundles[i].take_from(node)
                places[i] = node.id
            else:
                rest.append(i)
        left = rest
        candidates.remove(node)
    return "SUCCESS", places


def place_spread(bundles, candidates, choose):
    places = [None] * len(bundles)
    used = []
    for i in bundle_order(bundles):
        node = best_node(bundles[i], candidates, lambda ties, i=i: choose(i, ties))
        if node is not None:
            candidates.remove(node)
            used.append(node)
        else:
            node = best_node(bundles[i], used, lambda ties, i=i: choose(i, ties))
            if node is None:
                return "FAILED", None
        bundles[i].take_from(node)
        places[i] = node.id
    return "SUCCESS", places


def place_strict_spread(bundles, candidates, choose):
    places = [None] * len(bundles)
    for i in bundle_order(bundles):
        node = best_node(bundles[i], candidates, lambda ties, i=i: choose(i, ties))
        if node is None:
            return "FAILED", None
        candidates.remove(node)
        places[i] = node.id
    return "SUCCESS", places


PLACERS = {"PACK": place_pack, "SPREAD": place_spread, "STRICT_SPREAD": place_strict_spread}


def decide_among(nodes, case, choose):
    """The decision node by node, among these nodes."""
    bundles, strategy = case["bundles"], case["strategy"]
    candidates = [
        Node(n.id, n.total, n.available, n.labels)
        for n in nodes
        if strategy != "STRICT_SPREAD" or n.id not in case["exclude"]
    ]
    if not candidates:
        return "INFEASIBLE", None
    if strategy == "STRICT_PACK":
        return place_strict_pack(bundles, candidates, case["soft_target"], choose)
    if strategy == "STRICT_SPREAD" and len(candidates) < len(bundles):
        return "INFEASIBLE", None
    if not all(any(b.is_feasible(node) for node in candidates) for b in bundles):
        return "INFEASIBLE", None
    return PLACERS[strategy](bundles, candidates, choose)


def groups_of(nodes, label, pinned):
    groups = {}
    for node in nodes:
        value = node.labels.get(label)
        if value and pinned in (None, value):
            groups.setdefault(value, []).append(node)
    return groups


def decide(case, choose):
    """choose (bundle index, equally good nodes or values) returns one of them. For values, the index is None."""
    if not case["topology"]:
        return decide_among(case["nodes"], case, choose)

    groups = groups_of(case["nodes"], case["topology"], case["pinned"])
    total = sum_of(case["bundles"])
    left, has_failed = list(groups), False
    while left:
        value = left[0] if len(left) == 1 else choose(None, left)
        left.remove(value)
        group = groups[value]
        if not all(any(b.is_feasible(node) for node in group) for b in case["bundles"]):
            continue
        if any(sum(amount(node.total, name) for node in group) < e4 for name, e4 in total.amounts.items()):
            continue
        result, places = decide_among(group, case, choose)
        if result == "SUCCESS":
            return result, places
        has_failed = has_failed or result == "FAILED"
    return "FAILED" if has_failed else "INFEASIBLE", None


# --- possible answers


def reachable(case):
    """Yields the answer of every way to break the ties. The same answer may occur again."""
    script = []
    while True:
        widths = []

        def choose(_, ties):
            if len(widths) == len(script):  # noqa: B023
                script.append(0)
            widths.append(len(ties))  # noqa: B023
            return ties[script[len(widths) - 1]]  # noqa: B023

        result, places = decide(case, choose)
        yield result, tuple(places) if places else None

        del script[len(widths) :]
        while script and script[-1] + 1 == widths[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


def possible(case, most):
    """The set of answers after `most` ways to break the ties, and whether it is complete."""
    ways = reachable(case)
    answers = set(itertools.islice(ways, most))
    return answers, next(ways, None) is None


class NotEqual(Exception):
    """The answer contains a choice that is not among the best."""


def agrees(case, result, places):
    """Whether Ray can give this answer. (With more than MOST_CHOICES ways to fail, an answer that was not found counts
    as possible.)
    """
    if result != "SUCCESS":
        ways = 0
        for answer in itertools.islice(reachable(case), MOST_CHOICES):
            if answer == (result, None):
                return True
            ways += 1
        return ways == MOST_CHOICES

    by_id = {node.id: node for node in case["nodes"]}
    if any(place not in by_id for place in places):
        return False

    def choose(i, ties):
        if i is None:
            value = by_id[places[0]].labels.get(case["topology"])
            return value if value in ties else ties[0]
        if by_id[places[i]].id not in [node.id for node in ties]:
            raise NotEqual
        return next(node for node in ties if node.id == places[i])

    try:
        return decide(case, choose) == ("SUCCESS", list(places))
    except NotEqual:
        return False


# --- rows of recorded answers


def case_of(nodes, asked):
    """Makes a case of "in" of a row, or of a step of a sequence."""
    selectors = asked.get("selectors") or [{}] * len(asked["bundles"])
    bundles = [
        Bundle({name: fixed(x) for name, x in b.items() if fixed(x) != 0}, constraints_of(s))
        for b, s in zip(asked["bundles"], selectors)
    ]
    return {
        "nodes": nodes,
        "bundles": bundles,
        "strategy": asked["strategy"],
        "topology": asked.get("topology"),
        "soft_target": asked.get("soft_target"),
        "exclude": frozenset(asked.get("exclude", ())),
        "pinned": asked.get("pinned"),
    }


def case_of_row(row_in):
    return case_of([Node(n["id"], n["total"], n["avail"], n.get("labels", {})) for n in row_in["nodes"]], row_in)


def ids_of(nodes, answer):
    return [nodes[i]["id"] for i in answer["nodes"]] if answer["nodes"] else None


def check_place(row):
    """None, or a description of the disagreement with the model."""
    case = case_of_row(row["in"])
    for answer in row["out"]["answers"]:
        if not agrees(case, answer["result"], ids_of(row["in"]["nodes"], answer)):
            return "Ray's %s %s is not possible" % (answer["result"], answer["nodes"])
    return None


def check_sequence(row):
    """Applies Ray's answers step by step."""
    state = {n["id"]: Node(n["id"], n["total"], n["total"], n.get("labels", {})) for n in row["in"]["nodes"]}
    held = {}
    for k, step in enumerate(row["in"]["steps"]):
        if step["op"] == "remove":
            for node_id, bundle in held.pop(step["pg"], ()):
                node = state[node_id]
                for name, e4 in bundle.amounts.items():
                    node.available[name] = min(amount(node.total, name), node.available.get(name, 0) + e4)
            continue
        case = case_of(list(state.values()), step)
        places = ids_of(row["in"]["nodes"], step["answer"])
        if not agrees(case, step["answer"]["result"], places):
            return "Ray's %s %s of step %d is not possible" % (step["answer"]["result"], step["answer"]["nodes"], k)
        held[k] = list(zip(places or (), case["bundles"]))
        for node_id, bundle in held[k]:
            bundle.take_from(state[node_id])
    return None


CHECKS = {"place": check_place, "sequence": check_sequence}


def check(row):
    return CHECKS[row["op"]](row)


def main(paths):
    n = bad = 0
    for path in paths:
        with open(path) as rows:
            for row in map(json.loads, rows):
                what = check(row)
                n += 1
                bad += what is not None
                if what is not None:
                    print("%s: %s" % (row["id"], what))
    print("%d rows, %d disagreements" % (n, bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
