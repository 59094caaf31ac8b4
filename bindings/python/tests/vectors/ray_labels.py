# SPDX-License-Identifier: Apache-2.0
"""Suites ray-core and ray-tpu: labels and selectors.

The input of a row of ray-core is the only argument. The input of a row of ray-tpu is an object of arguments.
"""

import json

from rows import allow_members

from quoit.ray_rules import labels


def of_argument(function):
    return lambda given, recorded: function(given)


def of_member(function, member):
    def answer(given, recorded):
        allow_members(given, [member])
        return function(given.get(member))

    return answer


def check_fallback(given):
    """Checks a list, or any other value as JSON, because fallback_check() accepts only lists."""
    return labels.fallback_check(given) if isinstance(given, list) else labels.fallback_check_json(json.dumps(given))


def read_selector(given, recorded):
    operator = "NOT_IN" if labels.selector_is_negated(given) else "IN"
    return [{"operator": operator, "values": list(labels.selector_values(given))}]


def match(given, recorded):
    allow_members(given, ["labels", "selector"])
    return labels.selector_holds(given.get("selector"), given.get("labels"))


UTILS = "ray._private.label_utils."

# For each function of Ray: quoit's function, and the member of a row of ray-tpu that has the argument.
CHECKS = {
    "validate_label_key": (labels.label_check_key, "key"),
    "validate_label_selector": (labels.selector_check, "label_selector"),
    "validate_label_selector_value": (labels.selector_check_value, "selector"),
    "validate_label_value": (labels.label_check_value, "value"),
}
READERS = {
    "parse_node_labels_json": (labels.labels_parse_json, "labels_json"),
    "parse_node_labels_string": (labels.labels_parse, "labels_str"),
}

OPS = {
    "label_selector.match": match,
    "label_selector.parse": read_selector,
    "validate_fallback_strategy": of_argument(check_fallback),
    **{name: of_argument(function) for name, (function, _) in {**CHECKS, **READERS}.items()},
    **{UTILS + name: of_member(*asked) for name, asked in {**CHECKS, **READERS}.items()},
}
REFUSALS = {"validate_fallback_strategy", *CHECKS, *(UTILS + name for name in CHECKS)}
