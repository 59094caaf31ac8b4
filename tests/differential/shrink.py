# SPDX-License-Identifier: Apache-2.0
"""Makes a case smaller as long as a party still disagrees with Ray about it. Ray answers every smaller case."""

import copy

# Limit of Ray's answers per disagreement.
MOST_ASKED = 400


def halves_and_ones(n):
    """The parts of n things to leave out: first large pieces, then each thing."""
    size = n // 2
    while size > 1:
        yield from (range(start, min(start + size, n)) for start in range(0, n, size))
        size //= 2
    yield from ([i] for i in range(n))


def without(listed, left_out):
    return [x for i, x in enumerate(listed) if i not in left_out]


def requests_of(case):
    """All requests with bundles."""
    return [step for step in case["in"]["steps"] if step["op"] == "place"] if "steps" in case["in"] else [case["in"]]


def fewer_steps(case):
    steps = case["in"].get("steps", ())
    for left_out in halves_and_ones(len(steps)):
        smaller = copy.deepcopy(case)
        place_of = {old: new for new, old in enumerate(without(range(len(steps)), left_out))}
        kept = [step for step in without(smaller["in"]["steps"], left_out) if step.get("pg", -1) in (-1, *place_of)]
        # The removal of a left-out group is dropped too, which would shift the numbers again; skip such a combination.
        if len(kept) != len(place_of):
            continue
        for step in kept:
            if step["op"] == "remove":
                step["pg"] = place_of[step["pg"]]
        smaller["in"]["steps"] = kept
        yield smaller


def fewer_nodes(case):
    for group in (case["in"]["nodes"], case.get("gone", ())):
        for left_out in halves_and_ones(len(group)):
            smaller = copy.deepcopy(case)
            into = smaller["in"]["nodes"] if group is case["in"]["nodes"] else smaller["gone"]
            into[:] = without(into, left_out)
            yield smaller


def fewer_losses(case):
    for left_out in halves_and_ones(len(case["in"].get("losses", ()))):
        smaller = copy.deepcopy(case)
        smaller["in"]["losses"] = without(smaller["in"]["losses"], left_out)
        if smaller["in"]["losses"]:
            yield smaller


def fewer_bundles(case):
    for r, request in enumerate(requests_of(case)):
        n = len(request["bundles"])
        for left_out in halves_and_ones(n):
            if len(left_out) == n or any(b in left_out for b in request.get("losses", ())):
                continue
            smaller = copy.deepcopy(case)
            changed = requests_of(smaller)[r]
            changed["bundles"] = without(changed["bundles"], left_out)
            if changed.get("selectors"):
                changed["selectors"] = without(changed["selectors"], left_out)
            if "losses" in changed:
                place_of = {old: new for new, old in enumerate(without(range(n), left_out))}
                changed["losses"] = [place_of[b] for b in changed["losses"]]
            yield smaller


def fewer_demands(case):
    """Drops the selectors, the soft target, the topology label, or one key of one selector."""
    for r, request in enumerate(requests_of(case)):
        for member in ("selectors", "soft_target", "topology"):
            if request.get(member):
                smaller = copy.deepcopy(case)
                del requests_of(smaller)[r][member]
                yield smaller
        for b, selector in enumerate(request.get("selectors") or ()):
            for key in selector:
                smaller = copy.deepcopy(case)
                del requests_of(smaller)[r]["selectors"][b][key]
                yield smaller


def fewer_resources(case):
    names = {name for request in requests_of(case) for bundle in request["bundles"] for name in bundle}
    names.update(name for node in case["in"]["nodes"] for name in node["res"])
    for name in sorted(names):
        smaller = copy.deepcopy(case)
        for node in smaller["in"]["nodes"]:
            for amounts in (node["res"], node["total"], node.get("avail", {})):
                amounts.pop(name, None)
        bundles = [bundle for request in requests_of(smaller) for bundle in request["bundles"]]
        for bundle in bundles:
            bundle.pop(name, None)
        if all(bundles):  # a bundle must not be empty
            yield smaller
    for r, request in enumerate(requests_of(case)):
        for b, bundle in enumerate(request["bundles"]):
            for name in bundle if len(bundle) > 1 else ():
                smaller = copy.deepcopy(case)
                del requests_of(smaller)[r]["bundles"][b][name]
                yield smaller


def plainer_nodes(case):
    """A node without used resources, or without one of its labels or resources."""
    for i, node in enumerate(case["in"]["nodes"]):
        if node.get("avail", node["total"]) != node["total"]:
            smaller = copy.deepcopy(case)
            smaller["in"]["nodes"][i]["avail"] = dict(node["total"])
            yield smaller
        for key in node.get("labels", ()):
            smaller = copy.deepcopy(case)
            del smaller["in"]["nodes"][i]["labels"][key]
            yield smaller
        for name in node["res"]:
            smaller = copy.deepcopy(case)
            for amounts in (
                smaller["in"]["nodes"][i][member] for member in ("res", "total", "avail") if member in node
            ):
                amounts.pop(name, None)
            yield smaller


def smaller_cases(case):
    for fewer in (fewer_steps, fewer_nodes, fewer_losses, fewer_bundles, fewer_demands, fewer_resources, plainer_nodes):
        yield from fewer(case)


def shrink(case, disagreement):
    """Returns the row of the smallest case that still disagrees. disagreement (case) returns the disagreeing row, or
    None.
    """
    row, asked = disagreement(case), 1
    is_smaller = row is not None
    while is_smaller:
        is_smaller = False
        for smaller in smaller_cases(case):
            if asked == MOST_ASKED:
                return row
            asked += 1
            found = disagreement(smaller)
            if found is not None:
                case, row, is_smaller = smaller, found, True
                break
    return row
