# SPDX-License-Identifier: Apache-2.0
"""The only access to libquoit: calls of its functions, and the conversion of their arguments and results.

No other module imports the extension. Callers of the package never get C objects.
"""

from __future__ import annotations

import contextlib
import contextvars
import enum
import itertools
import operator
import os
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable, NoReturn, TypeVar, cast

from . import errors

try:
    from ._quoit import ffi as ffi
    from ._quoit import lib as lib
except ImportError as error:
    _remedy = (
        "; libquoit is missing, or older than the one that the package was built with: install it where the linker "
        "searches (LD_LIBRARY_PATH), or use a wheel of './dev wheel'"
        if "libquoit" in str(error) or "symbol" in str(error)  # errors of the dynamic linker
        else ""
    )
    raise ImportError(f"quoit's extension cannot be loaded: {error}{_remedy}") from error

NULL = ffi.NULL
_Self = TypeVar("_Self")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

INT64 = range(-(2**63), 2**63)
UINT32 = range(2**32)
INT32 = range(-(2**31), 2**31)
UINT64 = range(2**64)

# cffi does not keep the objects alive that an array points to. This dictionary keeps them alive as long as the array.
_elements_of: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


# --- calls --------------------------------------------------------------------------------------------------------


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls `function` and returns its result, or raises the exception for the GError that it set."""
    slot = ffi.new("GError **")
    result = function(*arguments, slot)
    if slot[0] != NULL:
        raise take_error(slot[0])
    return result


def call_or_explain(function: Callable[..., Any], *arguments: Any) -> Any:
    """Like `call`, for a function that returns a report if placement refuses: the exception has it as ``report``."""
    slot = ffi.new("QuoitReport **")
    try:
        return call(function, *arguments, slot)
    except errors.RefusedError as error:
        if slot[0] != NULL:
            error._unread = ffi.gc(slot[0], lib.quoit_report_unref)
        raise


def take_error(gerror: Any) -> errors.Error:
    """Converts `gerror` to an exception, and frees it."""
    code, message = gerror.code, ffi.string(gerror.message).decode("utf-8", "backslashreplace")
    lib.g_error_free(gerror)
    error_class = errors.BY_CODE.get(code)
    if error_class is not None:
        return error_class(message)
    unknown = errors.Error(message)
    unknown.code = code
    return unknown


def own_handle(pointer: Any, free: Any) -> Any:
    """Returns `pointer` with a destructor, which runs when the last reference is gone.

    A running call has a reference to the handle, so that the object is never freed during the call, in any thread.
    """
    return ffi.gc(pointer, free)


# --- arguments ----------------------------------------------------------------------------------------------------


def plain_str(value: str) -> str:
    """Returns the characters of `value`, even if a subclass of str overrides its conversion."""
    return str.__str__(value)


def quoted(value: object) -> str:
    """Returns `value` in the form of error messages: in quotes, shortened and printable."""
    try:
        name = plain_str(value if isinstance(value, str) else repr(value))
    except Exception:
        return f"a {type(value).__name__}"
    name = name if len(name) <= 80 else name[:77] + "..."
    if not name.isprintable():
        name = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in name)
    return f"'{name}'"


def _quoted_number(number: int) -> str:
    """Returns a number in quotes, or its length, because Python refuses to format very long numbers."""
    return f"'{number}'" if number.bit_length() < 512 else f"'a number of {number.bit_length()} bits'"


def to_text(value: object, what: str) -> bytes:
    """Converts a str to UTF-8 for C. `what` is the name of the argument, here and in the functions below."""
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a str, not {type(value).__name__}")
    try:
        data = str.encode(value)
    except UnicodeEncodeError as error:
        raise errors.InvalidError(
            f"{what}: expected Unicode text, found a lone surrogate at character {error.start}"
        ) from None
    if b"\0" in data:
        raise errors.InvalidError(
            f"{what} {quoted(value)}: expected text without NUL, found one at byte {data.index(0)}"
        )
    return data


def to_text_or_null(value: object, what: str) -> Any:
    return NULL if value is None else to_text(value, what)


def to_path(value: object, what: str, kind: str) -> bytes:
    """Converts a path for the operating system. `kind` is the kind of file."""
    given = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(given, str):
        raise TypeError(f"{what}: expected a str or os.PathLike[str], not {type(value).__name__}")
    name = plain_str(given)
    if not name:
        raise errors.InvalidError(f"{what} '': expected the name of {kind}")
    if "\0" in name:
        raise errors.InvalidError(f"{what} {quoted(name)}: expected a name without NUL")
    try:
        return os.fsencode(name)
    except UnicodeEncodeError as error:
        raise errors.InvalidError(
            f"{what} {quoted(name)}: expected a name of {kind}, found a lone surrogate at character {error.start}"
        ) from None


def to_document(value: object, what: str) -> bytes:
    """Converts the text of a file: bytes stay as they are, a str becomes UTF-8. libquoit's parsers refuse NUL."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a str or bytes, not {type(value).__name__}")
    return str.encode(value, "utf-8", "surrogatepass")


def to_bytes(value: object, what: str) -> bytes:
    """Converts bytes, a bytearray or a memoryview."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{what}: expected bytes, not {type(value).__name__}")
    return bytes(value)


def to_int(value: object, what: str, allowed: range = INT64) -> int:
    """Converts an int or an integer of another library (numpy). Refuses bool and float."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__") or type(value).__name__ in ("bool_", "bool"):
        raise TypeError(f"{what}: expected an int, not {type(value).__name__}")
    # Before Python 3.10, index() can return an instance of a subclass of int, for which `in range` is a linear search.
    number = int.__index__(operator.index(value))  # type: ignore[arg-type]
    if number not in allowed:
        raise errors.InvalidError(f"{what} {_quoted_number(number)}: expected {allowed[0]} to {allowed[-1]}")
    return number


def to_ray_int(value: object, what: str) -> int:
    """Converts an int argument of Ray. A bool is accepted as 1 or 0, because Ray calculates with it."""
    return int(value) if isinstance(value, bool) else to_int(value, what)


def to_float(value: object, what: str) -> float:
    """Converts a float or an int. Refuses bool."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise TypeError(f"{what}: expected a number, not {type(value).__name__}")
    if not isinstance(value, float):
        try:
            return float(to_int(value, what, range(-(2**1000), 2**1000)))
        except TypeError:
            if not hasattr(type(value), "__float__") or isinstance(value, (str, bytes)):
                raise TypeError(f"{what}: expected a number, not {type(value).__name__}") from None
    try:
        return float(value)  # type: ignore[arg-type]
    except ValueError as error:  # a class whose __float__ fails for some values
        raise errors.InvalidError(f"{what} {quoted(value)}: expected a number: {error}") from None


def to_bool(value: object, what: str) -> bool:
    """Converts a bool. Refuses other types."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{what}: expected a bool, not {type(value).__name__}")


def to_iterable(values: Any, what: str, kind: str) -> Iterable[Any]:
    """Returns `values` if it is iterable. Refuses text and mappings. `kind` describes the elements."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: expected a sequence of {kind}, not {type(values).__name__}")
    return values


def to_texts(values: object, what: str) -> Any:
    """Returns a NULL-terminated array of texts, valid while the caller keeps a reference to it."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: expected a sequence of str, not {type(values).__name__}")
    texts = [ffi.new("char[]", to_text(value, f"{what}[{index}]")) for index, value in enumerate(values)]
    array = ffi.new("char *[]", [*texts, NULL])
    _elements_of[array] = texts
    return array


MAX_LABELS = 64
"""The greatest number of labels of a group, and of a call that sets labels."""


def to_labels(labels: object, what: str) -> tuple[Any, Any, int]:
    """Converts a mapping of labels: returns arrays of keys and values, NULL for None, and their length.

    Does not convert more labels than libquoit needs to refuse them.
    """
    if not isinstance(labels, Mapping):
        raise TypeError(f"{what}: expected a mapping of str to str, not {type(labels).__name__}")
    keys, values = [], []
    for key, value in itertools.islice(labels.items(), MAX_LABELS + 1):
        keys.append(ffi.new("char[]", to_text(key, what)))
        values.append(NULL if value is None else ffi.new("char[]", to_text(value, f"{what}[{quoted(key)}]")))
    arrays = ffi.new("char *[]", [*keys, NULL]), ffi.new("char *[]", [*values, NULL])
    for array, texts in zip(arrays, (keys, values)):
        _elements_of[array] = texts
    return *arrays, len(keys)


def to_pairs(values: Mapping[str, str] | None, what: str) -> Any:
    """Converts a mapping to NAME=VALUE texts, and None to NULL."""
    if values is None:
        return NULL
    if not isinstance(values, Mapping):
        raise TypeError(f"{what}: expected a mapping of str to str, not {type(values).__name__}")
    pairs = []
    for name, value in values.items():
        if b"=" in to_text(name, what):
            raise errors.InvalidError(f"{what} {quoted(name)}: expected a name without '='")
        to_text(value, f"{what}[{quoted(name)}]")
        pairs.append(plain_str(name) + "=" + plain_str(value))
    return to_texts(pairs, what)


def to_member(kind: type[enum.IntEnum], value: object, what: str) -> int:
    """Converts a member of the enum `kind`. Refuses a plain int, and the members ``UNKNOWN_n`` of a `Code`."""
    if not isinstance(value, kind):
        raise TypeError(f"{what}: expected a {kind.__name__}, not {type(value).__name__}")
    if value not in kind.__members__.values():
        known = ", ".join(kind.__members__)
        raise errors.InvalidError(f"{what} {_quoted_number(int(value))}: expected one of {known}")
    return int(value)


_standing_clock: contextvars.ContextVar[int | None] = contextvars.ContextVar("quoit's clock", default=None)


def clock(now_ms: object) -> int:
    """Returns `now_ms`, or this machine's clock for None, in milliseconds since 1970 UTC."""
    if now_ms is not None:
        return to_int(now_ms, "now_ms")
    standing_ms = _standing_clock.get()
    return time.time_ns() // 1_000_000 if standing_ms is None else standing_ms


@contextlib.contextmanager
def clock_stands_at(now_ms: int) -> Iterator[None]:
    """In this context, `clock` returns `now_ms` instead of this machine's clock. Other threads are not affected."""
    token = _standing_clock.set(now_ms)
    try:
        yield
    finally:
        _standing_clock.reset(token)


def to_quota(
    name: object,
    chips: object,
    owner: object,
    label: object,
    accelerator: object,
    topology: object,
    max_chips: object,
    cohort: object,
    now_ms: object,
) -> tuple[Any, ...]:
    """Converts the arguments of `Ledger.set_quota`, in the order of C."""
    owner_text, label_text = to_text_or_null(owner, "owner"), to_text_or_null(label, "label")
    rest = (
        to_text_or_null(accelerator, "accelerator"),
        to_text_or_null(topology, "topology"),
        to_int(chips, "chips"),
        -1 if max_chips is None else to_int(max_chips, "max_chips", range(INT64.stop)),
        to_text_or_null(cohort, "cohort"),
        clock(now_ms),
    )
    first = to_text(name, "name")
    if (owner is None) == (label is None):
        raise errors.InvalidError(f"quota {quoted(name)}: expected either an owner or a label")
    if label is None:
        return (first, NULL, owner_text, *rest)
    key, equals, value = label_text.partition(b"=")
    if not equals:
        raise errors.InvalidError(f"label {quoted(label)}: expected KEY=VALUE")
    return (first, key, value, *rest)


# --- results ------------------------------------------------------------------------------------------------------


def text(pointer: Any) -> str:
    """Converts a borrowed text that is not NULL."""
    return str(ffi.string(pointer).decode("utf-8", "backslashreplace"))


def text_or_none(pointer: Any) -> str | None:
    return None if pointer == NULL else text(pointer)


def amount_text(amount: Any) -> str:
    """Returns a QuoitAmount as decimal text."""
    return take_text(lib.quoit_amount_format(amount))


def take_text(pointer: Any) -> str:
    """Converts a text that the caller owns, and frees it."""
    value = text(pointer)
    lib.g_free(pointer)
    return value


def take_bytes(pointer: Any, length: int) -> bytes:
    """Converts bytes that the caller owns, and frees them."""
    value = bytes(ffi.buffer(pointer, length))
    lib.g_free(pointer)
    return value


def take_text_or_none(pointer: Any) -> str | None:
    return None if pointer == NULL else take_text(pointer)


def take_texts(pointer: Any) -> tuple[str, ...]:
    """Converts a NULL-terminated array of texts that the caller owns, and frees it."""
    values: list[str] = []
    while pointer[len(values)] != NULL:
        values.append(text(pointer[len(values)]))
    lib.g_strfreev(pointer)
    return tuple(values)


def take_pairs(pointer: Any) -> dict[str, str]:
    """Converts a NULL-terminated array of NAME=VALUE texts to a dict in the same order, and frees the array."""
    return dict(pair.split("=", 1) for pair in take_texts(pointer))


def list_bits(mask: int) -> tuple[int, ...]:
    """Returns the positions of the set bits, from 0."""
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def list_until_null(get: Callable[[int], Any]) -> Sequence[Any]:
    """Returns get(0), get(1) and so on, up to the first NULL."""
    values: list[Any] = []
    while (value := get(len(values))) != NULL:
        values.append(value)
    return values


# --- classes --------------------------------------------------------------------------------------------------------


def cached(owner: object, name: str, make: Callable[[], _Value]) -> _Value:
    """Returns the result of `make`, cached in `owner`. Concurrent threads can call `make` twice; the results are equal.

    functools.cached_property is not used, because before Python 3.11 it has one lock for all instances, which can be
    locked for ever in a child of fork(2).
    """
    values = vars(owner)
    if name not in values:
        values[name] = make()
    found: _Value = values[name]
    return found


class FrozenDict(dict[_Key, _Value]):
    """An immutable, hashable dict. json, pickle and dataclasses.asdict() accept it as a dict."""

    def _refuse(self, *_arguments: object, **_named: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed: change a copy, dict(mapping), instead")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self: _Self) -> _Self:
        return self

    def __deepcopy__(self: _Self, memo: object) -> _Self:
        return self

    def __reduce__(self) -> Any:
        return FrozenDict, (dict(self),)


class WithFrozenMappings:
    """A frozen dataclass whose mappings are frozen too."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, tuple):
                object.__setattr__(self, name, tuple(map(_frozen, value)))
            else:
                object.__setattr__(self, name, _frozen(value))


def _frozen(value: object) -> object:
    return FrozenDict(value) if isinstance(value, Mapping) else value


class Immutable:
    """The base class of immutable objects of libquoit. A copy of an object is the object itself. Pickling raises."""

    __slots__ = ()

    _pickle_advice = "make it again in the other process"
    """The advice of the error message for pickle."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

    def __copy__(self: _Self) -> _Self:
        return self

    def __deepcopy__(self: _Self, memo: object) -> _Self:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(f"cannot pickle a {_public_name(self)}, an object of libquoit: {self._pickle_advice}")


class Uncopyable:
    """The base class of objects of libquoit that can change or be closed. Copying or pickling raises."""

    __slots__ = ()

    _pickle_advice = "make another one, also in another process"
    """The advice of the error message for copy and pickle."""

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(f"cannot copy or pickle a {_public_name(self)}: {self._pickle_advice}")


def _public_name(value: object) -> str:
    """Returns the name of a value's class, with the module that callers import it from."""
    return f"{type(value).__module__.rpartition('.')[0] or type(value).__module__}.{type(value).__name__}"


def check_handle(handle: object, kind: type[Any], makers: str) -> Any:
    """Returns `handle`. Raises TypeError if a user of the package calls the constructor of `kind`."""
    if not isinstance(handle, ffi.CData):
        raise TypeError(f"a {kind.__name__} is made by {makers}, not from a value of {type(handle).__name__}")
    return handle


# --- enums --------------------------------------------------------------------------------------------------------


class Code(enum.IntEnum):
    """The base class of the enums of libquoit. The text of a member is its name.

    A newer libquoit can return values that this package does not know. Such a value n becomes a member ``UNKNOWN_n``.
    """

    @classmethod
    def _missing_(cls, value: object) -> Code | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        # The same number always gives the same member, like for known members.
        return cast(Code, cls._value2member_map_.setdefault(value, member))

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return int.__format__(self, spec) if spec else self.name
