# SPDX-License-Identifier: Apache-2.0
"""Cases and results as JSON: each value has exactly one text, which any process reads back as the same value."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable

from .. import _c, errors

_MOST_LEVELS = 100
"""How deep a value can be nested. Python's own parser refuses about 1,000 levels, depending on who calls it."""
_encode = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode


def to_text(value: object, what: str) -> str:
    """Returns the text of a value. `what` is the name of the value in error messages.

    Raises:
        InvalidError: the value is not JSON; the message has the place inside the value.
    """
    _check(value, what, _MOST_LEVELS)
    try:
        return _encode(value)
    except ValueError as error:  # an int with more digits than Python converts
        raise errors.InvalidError(f"{what}: expected JSON: {error}") from None


def _check(value: object, place: str, n_levels: int) -> None:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise errors.InvalidError(f"{place} '{float(value)}': expected a finite number, because JSON has no other")
    elif isinstance(value, (dict, list, tuple)):
        if n_levels == 0:
            raise errors.InvalidError(f"{place}: expected at most {_MOST_LEVELS} levels of lists and dicts")
        if isinstance(value, dict):
            for key, one in value.items():
                if not isinstance(key, str):
                    raise errors.InvalidError(f"{place}: key {_c.quoted(key)}: expected a str, not {_kind(key)}")
                _check(one, f"{place}[{key!r}]", n_levels - 1)
        else:
            for index, one in enumerate(value):
                _check(one, f"{place}[{index}]", n_levels - 1)
    elif not isinstance(value, (str, int)):
        raise errors.InvalidError(
            f"{place} {_c.quoted(value)}: expected JSON (None, a bool, int, float, str, list or dict), not {_kind(value)}"
        )


def _kind(value: object) -> str:
    return type(value).__name__


def list_texts(cases: object) -> list[str]:
    """Returns the text of each case. A number n means the cases 0 to n - 1.

    Raises:
        InvalidError: the number is negative, or a case is not JSON.
        TypeError: `cases` is neither a number nor iterable.
    """
    if hasattr(type(cases), "__index__"):
        return list(map(str, range(_c.to_int(cases, "cases", range(2**31)))))
    values: Iterable[object] = _c.to_iterable(cases, "cases", "JSON values, or a number")
    return [to_text(value, f"cases[{number}]") for number, value in enumerate(values)]


def digest(texts: Iterable[str]) -> str:
    """Returns the SHA-256 of texts, each of which is one line."""
    sha = hashlib.sha256()
    for text in texts:
        sha.update(text.encode() + b"\n")
    return sha.hexdigest()
