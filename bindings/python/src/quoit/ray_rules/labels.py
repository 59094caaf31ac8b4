# SPDX-License-Identifier: Apache-2.0
"""Ray 2.60's labels and selectors: parsing and checks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _c, errors
from .._c import call, lib
from ._resources import take_labels, to_labels, to_selector


def labels_parse(text: str) -> dict[str, str]:
    """Returns the labels of a command line, in their order.

    One pair of double quotes around the text, and blanks around keys and values, are ignored. If a key occurs twice,
    the last value is used.

    Args:
        text: the value of ``ray start --labels``: "region=us-west4,market-type=spot".

    Raises:
        InvalidError: a part between commas is not "KEY=VALUE", `label_check_key` refuses a key, `label_check_value`
            refuses a used value, or the text has a NUL or a lone surrogate. The last rule is true for every function
            here that takes text.
    """
    return take_labels(call(lib.quoit_ray_labels_parse, _c.to_text(text, "text")))


def labels_parse_json(text: str | bytes) -> dict[str, str]:
    """Returns the labels of a JSON object, in Ray's older format.

    Keys can have any form except that they must not begin with "ray.io/". Values can be any text. If a key occurs
    twice, the last value is used.

    Args:
        text: ``{"region": "us-west4"}``.

    Raises:
        InvalidError: the text is not strict JSON or not an object, a value is not text, or a key begins with "ray.io/".
            Unlike Ray, this function also refuses text with NUL or a lone surrogate.
    """
    data = _c.to_document(text, "text")
    return take_labels(call(lib.quoit_ray_labels_parse_json, data, len(data)))


def label_check_key(key: str) -> None:
    """Checks that Ray accepts `key` as the key of a label: ``[PREFIX/]NAME``.

    A name is 1 to 63 ASCII letters, digits, '-', '_' and '.' with a letter or digit at both ends. A prefix has at most
    253 characters; its parts between dots are names or empty.

    Raises:
        InvalidError: Ray refuses the key.
    """
    call(lib.quoit_ray_label_check_key, _c.to_text(key, "key"))


def label_check_value(value: str) -> None:
    """Checks that Ray accepts `value` as the value of a label: "", or a name like the NAME of `label_check_key`.

    Raises:
        InvalidError: Ray refuses the value.
    """
    call(lib.quoit_ray_label_check_value, _c.to_text(value, "value"))


def selector_check(selector: Mapping[str, str | None] | None) -> None:
    """Checks that Ray accepts `selector` as a label_selector.

    Each key has the form of a label's key. Each value is "", "v", "!v", "in(a,b)", "!in(a,b)", or such a list without
    "in". One blank can follow a comma.

    Args:
        selector: the condition for each key; None is no condition.

    Raises:
        InvalidError: Ray refuses the selector; the message has the first error.
    """
    selector_list = _c.NULL if selector is None else to_selector(selector, "selector")
    call(lib.quoit_ray_selector_check, selector_list)


def selector_check_value(value: str) -> None:
    """Checks one value of a selector, such as "!in(a,b)", like `selector_check`.

    Raises:
        InvalidError: Ray refuses the value.
    """
    call(lib.quoit_ray_selector_check_value, _c.to_text(value, "value"))


def selector_is_negated(value: str) -> bool:
    """Returns whether `value` begins with "!". If so, the label must be missing, or not be one of `selector_values`."""
    return bool(lib.quoit_ray_selector_is_negated(_c.to_text(value, "value")))


def selector_values(value: str) -> tuple[str, ...]:
    """Returns the values that Ray's scheduler parses from `value`, sorted by bytes, without duplicates.

    The scheduler checks and strips nothing. "in(a, b)" has the values "a" and " b", "(a,b)" has the one value "(a,b)",
    and "in()" has no values.
    """
    return _c.take_texts(lib.quoit_ray_selector_dup_values(_c.to_text(value, "value")))


def selector_holds(selector: Mapping[str, str | None], labels: Mapping[str, str]) -> bool:
    """Returns whether Ray's scheduler accepts a node with `labels` for `selector`. The arguments are not checked.

    Args:
        selector: the condition for each key; None is no condition.
        labels: the labels of the node.
    """
    selector_list, label_list = to_selector(selector, "selector"), to_labels(labels, "labels")
    return bool(lib.quoit_ray_selector_holds(selector_list, label_list))


def fallback_check(fallback_strategy: Iterable[Mapping[str, Any]]) -> None:
    """Checks that Ray accepts a fallback strategy: a list of selectors that Ray tries in order.

    Args:
        fallback_strategy: ``[{"label_selector": {"market-type": "spot"}}]``; each element is a mapping with only a
            "label_selector", which can be None or empty.

    Raises:
        InvalidError: Ray refuses the list; the message has the first error.
        TypeError: the list has a value that JSON cannot express.
    """
    listed = _c.to_iterable(fallback_strategy, "fallback_strategy", "mappings")
    try:
        text = json.dumps([dict(one) if isinstance(one, Mapping) else one for one in listed], allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise errors.InvalidError(f"fallback_strategy: {error}") from None
    fallback_check_json(text)


def fallback_check_json(text: str | bytes) -> None:
    """Like `fallback_check`, for a list as JSON text.

    Raises:
        InvalidError: Ray refuses the list, or the text is not strict JSON.
    """
    data = _c.to_document(text, "text")
    call(lib.quoit_ray_fallback_check_json, data, len(data))
