# SPDX-License-Identifier: Apache-2.0
"""Suite ray-core: the arguments and refusals of placement_group(), and the order in which Ray places bundles."""

import ast
import math

from rows import Skip, allow_members

from quoit.ray_rules import placement

ARGUMENTS = {
    "bundles": "bundles",
    "strategy": "strategy",
    "topology_strategy": "topology_strategy",
    "lifetime": "lifetime",
    "_soft_target_node_id": "soft_target_node_id",
    "bundle_label_selector": "bundle_label_selector",
}


class _NotJson(ast.NodeTransformer):
    """Replaces the names nan and inf by their values. Python prints floats in this way, but cannot read them."""

    def visit_Name(self, node):
        return ast.Constant(getattr(math, node.id)) if node.id in ("nan", "inf") else node


def python_value(value):
    """Converts a value of a row. Values that JSON cannot express are recorded in Python's syntax: "[{'CPU': nan}]"."""
    if not isinstance(value, str):
        return value
    try:
        value = ast.literal_eval(_NotJson().visit(ast.parse(value, mode="eval").body))
    except (SyntaxError, ValueError):
        return value
    if isinstance(value, tuple):
        raise Skip("the row has a tuple, and quoit accepts any sequence")
    return value


def bundles_of(value):
    """The bundles of a row. Ray accepts True as the amount 1; quoit refuses a bool, so it gets the number."""
    bundles = python_value(value)
    if not isinstance(bundles, list) or not all(isinstance(one, dict) for one in bundles):
        return bundles
    return [{name: int(n) if isinstance(n, bool) else n for name, n in one.items()} for one in bundles]


def selectors_of(value):
    """The selectors of a row. A bundle whose selector is None has no selector, like with {}."""
    return [{} if one is None else one for one in value] if isinstance(value, list) else value


def validate_placement_group(given, recorded):
    allow_members(given, ["name", *ARGUMENTS])
    arguments = {ARGUMENTS[name]: value for name, value in given.items() if name in ARGUMENTS}
    arguments["bundles"] = bundles_of(given.get("bundles"))
    arguments["bundle_label_selector"] = selectors_of(given.get("bundle_label_selector"))
    placement.PlacementGroup(**arguments).check()


def resource_id(given, recorded):
    return str(placement.resource_id(given))


def bundle_order(given, recorded):
    return list(placement.PlacementGroup(bundles_of(given)).bundle_order())


OPS = {
    "bundle_order": bundle_order,
    "resource_id": resource_id,
    "validate_placement_group": validate_placement_group,
}
