# SPDX-License-Identifier: Apache-2.0
"""A runner with a planted defect. The differential test must detect each defect.

planted.py                   lists the defects
planted.py DEFECT FILE...    prints what tests/vectors/run with this defect would print for the rows of these files
"""

import functools
import json
import sys

import model

true_decide_among, true_groups_of = model.decide_among, model.groups_of
true_resource_id, true_parse_selector = model.resource_id, model.parse_selector


def stable_sort(v, less):
    v.sort(key=functools.cmp_to_key(lambda i, j: -1 if less(i, j) else int(less(j, i))))


def unsigned_id(name):
    return true_resource_id(name) % (1 << 64)


def trimmed_selector(text):
    negated, values = true_parse_selector(text)
    return negated, frozenset(value.strip() for value in values)


def best_fit(bundle, candidates, choose):
    fitting = [node for node in candidates if bundle.score(node) is not None]
    if not fitting:
        return None
    bottom = min(bundle.score(node) for node in fitting)
    return choose([node for node in fitting if bundle.score(node) <= bottom + model.EPSILON])


def first_fit(bundle, candidates, _):
    return next((node for node in candidates if bundle.is_available(node)), None)


def never_infeasible(nodes, case, choose):
    result, places = true_decide_among(nodes, case, choose)
    return ("FAILED" if result == "INFEASIBLE" else result), places


def without_soft_target(nodes, case, choose):
    return true_decide_among(nodes, {**case, "soft_target": None}, choose)


def without_exclusion(nodes, case, choose):
    return true_decide_among(nodes, {**case, "exclude": frozenset()}, choose)


def unpinned(nodes, label, _):
    return true_groups_of(nodes, label, None)


def rounded(number):
    return int(float(number) * 10000 + 0.5)


def explicit_amount(amounts, name):
    return amounts.get(name, 0)


# The function that each defect replaces, and its replacement.
DEFECTS = {
    "equal bundles keep their order": (vars(model), "std_sort", stable_sort),
    "names are ordered by unsigned hashes": (vars(model), "resource_id", unsigned_id),
    "selectors are trimmed": (vars(model), "parse_selector", trimmed_selector),
    "the best fit is chosen": (vars(model), "best_node", best_fit),
    "the first fit is chosen": (vars(model), "best_node", first_fit),
    "nothing is infeasible": (vars(model), "decide_among", never_infeasible),
    "the soft target is ignored": (vars(model), "decide_among", without_soft_target),
    "nodes of survivors are not excluded": (vars(model), "decide_among", without_exclusion),
    "lost bundles may go to another value": (vars(model), "groups_of", unpinned),
    "SPREAD does not use a node twice": (model.PLACERS, "SPREAD", model.place_strict_spread),
    "PACK does not fill a node": (model.PLACERS, "PACK", model.place_spread),
    "amounts are rounded": (vars(model), "fixed", rounded),
    "implicit resources are not implied": (vars(model), "amount", explicit_amount),
}


def main(defect, paths):
    where, name, value = DEFECTS[defect]
    where[name] = value
    n = bad = 0
    for path in paths:
        with open(path) as rows:
            for row in map(json.loads, rows):
                what = model.check(row)
                n += 1
                bad += what is not None
                if what is not None:
                    print("FAIL %s %s: got another answer, %s" % (row["id"], row["op"], what))
    print("%d passed, %d failed, 0 skipped" % (n - bad, bad))
    return bad != 0


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print("\n".join(DEFECTS))
    else:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
