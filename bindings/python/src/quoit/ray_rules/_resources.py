# SPDX-License-Identifier: Apache-2.0
"""Converts resources and labels: mappings to lists of libquoit, and lists of libquoit to dicts in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Callable

from .. import _c
from .._c import ffi, lib

# --- resources ----------------------------------------------------------------------------------------------------


def to_resources(amounts: Mapping[str, float], what: str) -> Any:
    """Converts a mapping to a list that is valid while the caller keeps it. `what` is the argument's name in errors."""
    handle = _c.own_handle(lib.quoit_ray_resources_new(), lib.quoit_ray_resources_free)
    for name, amount in items(amounts, what, "number"):
        lib.quoit_ray_resources_set(handle, _c.to_text(name, what), _c.to_float(amount, f"{what}[{_c.quoted(name)}]"))
    return handle


def to_resources_or_null(amounts: Mapping[str, float] | None, what: str) -> Any:
    """Like `to_resources`, with NULL for None."""
    return _c.NULL if amounts is None else to_resources(amounts, what)


def resources(pointer: Any) -> dict[str, float]:
    """Converts a list of resources to a dict; NULL gives an empty dict. The list is not freed."""
    found: dict[str, float] = {}
    while pointer != _c.NULL and (name := lib.quoit_ray_resources_get_name(pointer, len(found))) != _c.NULL:
        found[_c.text(name)] = lib.quoit_ray_resources_get_amount(pointer, len(found))
    return found


def take_resources(pointer: Any) -> dict[str, float]:
    """Converts a list of resources that the caller owns to a dict, and frees the list."""
    found = resources(pointer)
    lib.quoit_ray_resources_free(pointer)
    return found


# --- labels -------------------------------------------------------------------------------------------------------


def to_labels(labels: Mapping[str, str], what: str) -> Any:
    """Converts a mapping to a list that is valid while the caller keeps it. `what` is the argument's name in errors."""
    return _to_list(labels, what, _c.to_text)


def to_labels_or_null(labels: Mapping[str, str] | None, what: str) -> Any:
    """Like `to_labels`, with NULL for None."""
    return _c.NULL if labels is None else to_labels(labels, what)


def to_selector(selector: Mapping[str, str | None], what: str) -> Any:
    """Like `to_labels`, for a selector. A value can be None, which is no condition."""
    return _to_list(selector, what, _c.to_text_or_null)


def labels(pointer: Any) -> dict[str, str]:
    """Converts a list of labels to a dict. The list is not freed."""
    return {key: value for key, value in selector(pointer).items() if value is not None}


def take_labels(pointer: Any) -> dict[str, str]:
    """Converts a list of labels that the caller owns to a dict, and frees the list."""
    found = labels(pointer)
    lib.quoit_ray_labels_free(pointer)
    return found


def selector(pointer: Any) -> dict[str, str | None]:
    """Like `labels`, for a selector, whose values can be None."""
    keys = _c.list_until_null(lambda index: lib.quoit_ray_labels_get_key(pointer, index))
    values = (_c.text_or_none(lib.quoit_ray_labels_get_value(pointer, index)) for index in range(len(keys)))
    return dict(zip(map(_c.text, keys), values))


def take_selector(pointer: Any) -> dict[str, str | None]:
    """Like `take_labels`, for a selector, whose values can be None."""
    found = selector(pointer)
    lib.quoit_ray_labels_free(pointer)
    return found


def _to_list(values: Mapping[str, Any], what: str, to_value: Callable[[object, str], Any]) -> Any:
    handle = _c.own_handle(lib.quoit_ray_labels_new(), lib.quoit_ray_labels_free)
    for key, value in items(values, what, "str"):
        lib.quoit_ray_labels_set(handle, _c.to_text(key, what), to_value(value, f"{what}[{_c.quoted(key)}]"))
    return handle


# --- common -------------------------------------------------------------------------------------------------------


def items(values: Any, what: str, kind: str) -> Iterable[tuple[Any, Any]]:
    """Returns the items of a mapping, without checks of the keys."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{what}: expected a mapping of str to {kind}, not {type(values).__name__}")
    return values.items()


def to_int_or_null(value: int | None, what: str) -> Any:
    """Returns a pointer to a number, or NULL for None. The pointer is valid while the caller keeps it."""
    return _c.NULL if value is None else ffi.new("int64_t *", _c.to_int(value, what))


def to_ray_int_or_null(value: int | None, what: str) -> Any:
    """Like `to_int_or_null`, for an argument of Ray, where a bool is an int."""
    return _c.NULL if value is None else to_int_or_null(_c.to_ray_int(value, what), what)


def call_for_number(function: Callable[..., Any], *arguments: Any) -> int:
    """Calls a C function that writes its result to an int64_t. Returns this number, or raises the function's error."""
    slot = ffi.new("int64_t *")
    _c.call(function, *arguments, slot)
    return int(slot[0])
