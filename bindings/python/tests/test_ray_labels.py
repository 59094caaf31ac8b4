# SPDX-License-Identifier: Apache-2.0
"""The Python functions for Ray's labels and selectors."""

import pytest

import quoit
from quoit.ray_rules import labels as rules


def test_labels_are_parsed_from_a_command_line_and_from_json():
    assert list(rules.labels_parse('" b = 1 ,a=2,b=3"').items()) == [("b", "3"), ("a", "2")]
    assert rules.labels_parse_json('{"region": "us-west4"}') == rules.labels_parse_json(b'{"region": "us-west4"}')
    for refused in (lambda: rules.labels_parse("region"), lambda: rules.labels_parse_json('{"ray.io/x": "y"}')):
        with pytest.raises(quoit.InvalidError):
            refused()


def test_checks_accept_valid_labels_and_selectors():
    assert rules.label_check_key("ray.io/tpu-slice-name") is None
    assert rules.label_check_value("") is None
    assert rules.selector_check(None) is None
    assert rules.selector_check({"a": "!in(b,c)", "d": None}) is None
    assert rules.selector_check_value("in(a, b)") is None
    assert rules.fallback_check([{"label_selector": {"market-type": "spot"}}, {"label_selector": None}]) is None


@pytest.mark.parametrize(
    "refused",
    [
        lambda: rules.label_check_key("-a"),
        lambda: rules.label_check_key("a" * 64),
        lambda: rules.label_check_value("a b"),
        lambda: rules.label_check_value("é"),
        lambda: rules.selector_check({"a": "in()"}),
        lambda: rules.selector_check_value("!"),
        lambda: rules.fallback_check([{"selector": {}}]),
        lambda: rules.fallback_check([1]),
        lambda: rules.fallback_check([{"label_selector": {"a": float("nan")}}]),
        lambda: rules.fallback_check_json("["),
    ],
)
def test_checks_refuse_invalid_labels_and_selectors(refused):
    with pytest.raises(quoit.InvalidError):
        refused()


@pytest.mark.parametrize(
    "refused",
    [
        lambda: rules.label_check_key(None),
        lambda: rules.selector_check({"a": 1}),
        lambda: rules.selector_check([("a", "b")]),
        lambda: rules.selector_holds({}, None),
        lambda: rules.selector_holds({}, {"a": None}),
        lambda: rules.fallback_check({"label_selector": {}}),
        lambda: rules.fallback_check([{"label_selector": {"a": object()}}]),
        lambda: rules.fallback_check(None),
    ],
)
def test_other_types_raise_type_error(refused):
    with pytest.raises(TypeError):
        refused()


def test_the_scheduler_strips_nothing():
    assert rules.selector_values("in(b, a,b)") == (" a", "b")
    assert rules.selector_values("in()") == ()
    assert rules.selector_is_negated("!in(a)") and not rules.selector_is_negated("in(a)")
    assert rules.selector_holds({"a": "!x"}, {}) is True
    assert rules.selector_holds({"a": "in(x,y)", "b": None}, {"a": "y"}) is True
    assert rules.selector_holds({"a": "in(x, y)"}, {"a": "y"}) is False
