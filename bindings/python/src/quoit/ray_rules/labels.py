# SPDX-License-Identifier: Apache-2.0
"""Ray's labels and selectors, as Ray 2.60 reads and checks them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _c, errors
from .._c import call, lib
from ._resources import taken_labels, to_labels, to_selector


def labels_parse(text: str) -> dict[str, str]:
    """The labels of a command line, in their order.

    One pair of double quotes around all of it and blanks around keys and values do not count; of a key that comes twice
    the last value counts.

    Args:
        text: what ``ray start --labels`` takes: "region=us-west4,market-type=spot".

    Raises:
        InvalidError: a part between commas is no "KEY=VALUE", or a key or the value that counts is not what
            `label_check_key` and `label_check_value` accept; or the text has a NUL or a lone surrogate, as in every
            function here that takes text.
    """
    return taken_labels(call(lib.quoit_ray_labels_parse, _c.to_text(text, "text")))


def labels_parse_json(text: str | bytes) -> dict[str, str]:
    """The labels of a JSON object, in Ray's older way.

    Keys may look as they like but may not begin with "ray.io/", values may be any text; of a key that comes twice the
    last value counts.

    Args:
        text: ``{"region": "us-west4"}``.

    Raises:
        InvalidError: it is not strict JSON, no object, or has a value that is no text, or such a key; and, other than
            Ray, for text that C cannot hold: NUL, and half of a surrogate pair.
    """
    data = _c.to_document(text, "text")
    return taken_labels(call(lib.quoit_ray_labels_parse_json, data, len(data)))


def label_check_key(key: str) -> None:
    """Nothing, where Ray takes `key` as the key of a label: ``[PREFIX/]NAME``.

    A name is 1 to 63 letters, digits, '-', '_' and '.' of ASCII with a letter or digit at both ends; a prefix is at
    most 253, names or nothing between its points.

    Raises:
        InvalidError: Ray does not take it.
    """
    call(lib.quoit_ray_label_check_key, _c.to_text(key, "key"))


def label_check_value(value: str) -> None:
    """Nothing, where Ray takes `value` as the value of a label: "", or what the name of a key is made of.

    Raises:
        InvalidError: Ray does not take it.
    """
    call(lib.quoit_ray_label_check_value, _c.to_text(value, "value"))


def selector_check(selector: Mapping[str, str | None] | None) -> None:
    """Nothing, where Ray takes `selector` as a label_selector.

    Each key is as of a label, each value nothing, "v", "!v", or a list in brackets with or without "in" before it. One
    blank may follow a comma.

    Args:
        selector: keys, with what is asked of each; None asks nothing.

    Raises:
        InvalidError: for the first that Ray does not take.
    """
    asked = _c.NULL if selector is None else to_selector(selector, "selector")
    call(lib.quoit_ray_selector_check, asked)


def selector_check_value(value: str) -> None:
    """What `selector_check` checks of one value: "!in(a,b)".

    Raises:
        InvalidError: Ray refuses it.
    """
    call(lib.quoit_ray_selector_check_value, _c.to_text(value, "value"))


def selector_is_negated(value: str) -> bool:
    """Whether `value` asks that a label is none of `selector_values`, or is missing: it begins with "!"."""
    return bool(lib.quoit_ray_selector_is_negated(_c.to_text(value, "value")))


def selector_values(value: str) -> tuple[str, ...]:
    """The values that Ray's scheduler reads out of `value`, sorted by bytes, each once.

    It checks and strips nothing: "in(a, b)" is "a" and " b", "(a,b)" is one value with brackets, "in()" none.
    """
    return _c.taken_texts(lib.quoit_ray_selector_dup_values(_c.to_text(value, "value")))


def selector_holds(selector: Mapping[str, str | None], labels: Mapping[str, str]) -> bool:
    """Whether Ray's scheduler finds that a node with `labels` is what `selector` asks for. Neither is checked.

    Args:
        selector: keys, with what is asked of each; of a key whose value is None nothing is asked.
        labels: of the node.
    """
    asked, there = to_selector(selector, "selector"), to_labels(labels, "labels")
    return bool(lib.quoit_ray_selector_holds(asked, there))


def fallback_check(fallback_strategy: Iterable[Mapping[str, Any]]) -> None:
    """Nothing, where Ray takes a list of selectors to try one after the other.

    Args:
        fallback_strategy: ``[{"label_selector": {"market-type": "spot"}}]``; each element is a mapping with a
            "label_selector", and nothing else; one that is None or empty asks nothing.

    Raises:
        InvalidError: for the first that Ray does not take.
        TypeError: it has what JSON has not.
    """
    listed = _c.elements(fallback_strategy, "fallback_strategy", "mappings")
    try:
        text = json.dumps([dict(one) if isinstance(one, Mapping) else one for one in listed], allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise errors.InvalidError(f"fallback_strategy: {error}") from None
    fallback_check_json(text)


def fallback_check_json(text: str | bytes) -> None:
    """As `fallback_check`, of JSON.

    Raises:
        InvalidError: for the first that Ray does not take, and for what is not strict JSON.
    """
    data = _c.to_document(text, "text")
    call(lib.quoit_ray_fallback_check_json, data, len(data))
