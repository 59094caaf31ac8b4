# SPDX-License-Identifier: Apache-2.0
"""The one door to libquoit: calls, and what goes through it in either direction.

No other module imports the extension, and nothing made here is given to the caller of the package.
"""

from __future__ import annotations

import enum
import operator
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, NoReturn, TypeVar, cast

from . import errors

try:
    from ._quoit import ffi as ffi
    from ._quoit import lib as lib
except ImportError as error:
    _remedy = (
        "; libquoit is missing, or older than the one that the package was built with: install it where the linker looks "
        "(LD_LIBRARY_PATH), or use a wheel of './dev wheel'"
        if "libquoit" in str(error) or "symbol" in str(error)  # what the linker says; Python has reasons of its own
        else ""
    )
    raise ImportError(f"quoit's extension cannot be loaded: {error}{_remedy}") from error

NULL = ffi.NULL
_Self = TypeVar("_Self")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

INT64 = range(-(2**63), 2**63)
UINT32 = range(2**32)
UINT64 = range(2**64)

# What an array points into lives as long as the array.
_held_with: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


# --- calls --------------------------------------------------------------------------------------------------------


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` returns, or the exception of the GError that it set."""
    slot = ffi.new("GError **")
    result = function(*arguments, slot)
    if slot[0] != NULL:
        raise taken(slot[0])
    return result


def call_or_explain(function: Callable[..., Any], *arguments: Any) -> Any:
    """`call` of a function that hands out a report if placement refuses: the exception has it as ``report``."""
    from . import reports

    slot = ffi.new("QuoitReport **")
    try:
        return call(function, *arguments, slot)
    except errors.RefusedError as error:
        if slot[0] != NULL:
            error.report = reports.taken_report(slot[0])
        raise


def taken(gerror: Any) -> errors.Error:
    """The exception that `gerror` is; the GError is freed."""
    code, message = gerror.code, ffi.string(gerror.message).decode("utf-8", "backslashreplace")
    lib.g_error_free(gerror)
    one = errors.BY_CODE.get(code)
    if one is not None:
        return one(message)
    unknown = errors.Error(message)
    unknown.code = code
    return unknown


def owned(pointer: Any, free: Any) -> Any:
    """`pointer`, freed with the last reference to it: a call in another thread keeps what it uses alive."""
    return ffi.gc(pointer, free)


# --- in -----------------------------------------------------------------------------------------------------------


def exact(value: str) -> str:
    """`value` itself, whatever its class makes of it: what a subclass of str shows may be something else."""
    return str.__str__(value)


def shown(value: object) -> str:
    """`value` as an error names it: cut where it is long, and fit to be printed."""
    try:
        name = exact(value if isinstance(value, str) else repr(value))
    except Exception:
        return f"a {type(value).__name__}"
    name = name if len(name) <= 80 else name[:77] + "..."
    if not name.isprintable():
        name = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in name)
    return f"'{name}'"


def _shown_number(number: int) -> str:
    """Python refuses to write very long numbers, and nobody would read them."""
    return f"'{number}'" if number.bit_length() < 512 else f"'a number of {number.bit_length()} bits'"


def to_text(value: object, what: str) -> bytes:
    """A str as C takes it. `what` is the argument's name."""
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
            f"{what} {shown(value)}: expected text without NUL, found one at byte {data.index(0)}"
        )
    return data


def to_text_or_null(value: object, what: str) -> Any:
    return NULL if value is None else to_text(value, what)


def to_document(value: object, what: str) -> bytes:
    """The text of a file: bytes as they are, else as `to_text`; NUL is for the reader of that format to refuse."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a str or bytes, not {type(value).__name__}")
    return str.encode(value, "utf-8", "surrogatepass")


def to_int(value: object, what: str, allowed: range = INT64) -> int:
    """An int, or what stands for one (numpy's integers); bool and float do not."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__") or type(value).__name__ in ("bool_", "bool"):
        raise TypeError(f"{what}: expected an int, not {type(value).__name__}")
    # Exactly an int: until Python 3.10 index() left a subclass as it was, and a range then looks for it one by one.
    number = int.__index__(operator.index(value))  # type: ignore[arg-type]
    if number not in allowed:
        raise errors.InvalidError(f"{what} {_shown_number(number)}: expected {allowed[0]} to {allowed[-1]}")
    return number


def to_ray_int(value: object, what: str) -> int:
    """An argument of Ray's that is an int: Ray computes with it as it is, so True is 1 and False is 0."""
    return int(value) if isinstance(value, bool) else to_int(value, what)


def to_float(value: object, what: str) -> float:
    """A float, or an int as one; bool does not stand for one."""
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
    except ValueError as error:  # what has a __float__ for some of its values only
        raise errors.InvalidError(f"{what} {shown(value)}: expected a number: {error}") from None


def to_bool(value: object, what: str) -> bool:
    """A bool; no other value stands for one."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{what}: expected a bool, not {type(value).__name__}")


def elements(values: Any, what: str, kind: str) -> Iterable[Any]:
    """What a sequence has; a text or a mapping is none."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: expected a sequence of {kind}, not {type(values).__name__}")
    return values


def to_texts(values: object, what: str) -> Any:
    """A NULL-terminated array of texts for the length of one call; keep what is returned alive."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: expected a sequence of str, not {type(values).__name__}")
    held = [ffi.new("char[]", to_text(value, f"{what}[{index}]")) for index, value in enumerate(values)]
    array = ffi.new("char *[]", [*held, NULL])
    _held_with[array] = held
    return array


def to_pairs(values: Mapping[str, str] | None, what: str) -> Any:
    """NAME=VALUE texts of a mapping, or NULL for None."""
    if values is None:
        return NULL
    if not isinstance(values, Mapping):
        raise TypeError(f"{what}: expected a mapping of str to str, not {type(values).__name__}")
    pairs = []
    for name, value in values.items():
        if b"=" in to_text(name, what):
            raise errors.InvalidError(f"{what} {shown(name)}: expected a name without '='")
        to_text(value, f"{what}[{shown(name)}]")
        pairs.append(exact(name) + "=" + exact(value))
    return to_texts(pairs, what)


def to_member(kind: type[enum.IntEnum], value: object, what: str) -> int:
    """A member of `kind`; its number alone does not say what is meant."""
    if not isinstance(value, kind):
        raise TypeError(f"{what}: expected a {kind.__name__}, not {type(value).__name__}")
    if not 0 <= value < 2**31:  # what a C enum cannot be; which of the others there are the library knows
        known = ", ".join(kind.__members__)
        raise errors.InvalidError(f"{what} {_shown_number(int(value))}: expected one of {known}")
    return int(value)


def clock(now_ms: object) -> int:
    """The caller's clock in milliseconds since 1970 UTC, else this machine's."""
    return time.time_ns() // 1_000_000 if now_ms is None else to_int(now_ms, "now_ms")


# --- out ----------------------------------------------------------------------------------------------------------


def text(pointer: Any) -> str:
    """A borrowed text that is always there."""
    return str(ffi.string(pointer).decode("utf-8", "backslashreplace"))


def text_or_none(pointer: Any) -> str | None:
    return None if pointer == NULL else text(pointer)


def taken_text(pointer: Any) -> str:
    """A text that is the caller's; it is freed."""
    value = text(pointer)
    lib.g_free(pointer)
    return value


def taken_text_or_none(pointer: Any) -> str | None:
    return None if pointer == NULL else taken_text(pointer)


def taken_texts(pointer: Any) -> tuple[str, ...]:
    """A NULL-terminated array of texts that is the caller's; it is freed."""
    values: list[str] = []
    while pointer[len(values)] != NULL:
        values.append(text(pointer[len(values)]))
    lib.g_strfreev(pointer)
    return tuple(values)


def taken_pairs(pointer: Any) -> dict[str, str]:
    """A NULL-terminated array of NAME=VALUE that is the caller's, as a dict in its order; it is freed."""
    return dict(pair.split("=", 1) for pair in taken_texts(pointer))


def bits(mask: int) -> tuple[int, ...]:
    """The numbers of the bits that are set."""
    return tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def count_until_null(get: Callable[[int], Any]) -> Sequence[Any]:
    """get(0), get(1) and so on, up to the first NULL."""
    values: list[Any] = []
    while (value := get(len(values))) != NULL:
        values.append(value)
    return values


# --- what is made of it ---------------------------------------------------------------------------------------------


def kept(owner: object, name: str, make: Callable[[], _Value]) -> _Value:
    """What `make` gives, made once and kept in `owner`, or twice where threads come at once, which are then alike.

    functools.cached_property has one lock for all that is made, until Python 3.11, which a child of fork(2) may find taken.
    """
    values = vars(owner)
    if name not in values:
        values[name] = make()
    found: _Value = values[name]
    return found


class FrozenDict(dict[_Key, _Value]):
    """A dict that cannot be changed, and so can be hashed: json, pickle and dataclasses.asdict() take it for a dict."""

    def _refuse(self, *_arguments: object, **_named: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed: dict() of it is a copy that can")

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


class WithMappings:
    """A frozen dataclass of which the mappings are frozen too."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, tuple):
                object.__setattr__(self, name, tuple(map(_frozen, value)))
            else:
                object.__setattr__(self, name, _frozen(value))


def _frozen(value: object) -> object:
    return FrozenDict(value) if isinstance(value, Mapping) else value


class Sealed:
    """What the library has made: it cannot be changed, so that a copy is the thing itself; it stays in its process."""

    __slots__ = ()

    _instead = "make it anew in the other process"
    """What to do where it would have been pickled."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name}")

    def __copy__(self: _Self) -> _Self:
        return self

    def __deepcopy__(self: _Self, memo: object) -> _Self:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(f"cannot pickle a {_public_name(self)}, which is libquoit's: {self._instead}")


class Unsent:
    """What changes, or is open: neither a copy nor another process could have it."""

    __slots__ = ()

    _instead = "make it anew, in the other process too"
    """What to do where it would have been copied."""

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError(f"cannot copy or pickle a {_public_name(self)}: {self._instead}")


def _public_name(value: object) -> str:
    """The name of a value's class by the module that callers import it from."""
    return f"{type(value).__module__.rpartition('.')[0] or type(value).__module__}.{type(value).__name__}"


def checked_handle(handle: object, kind: type[Any], makers: str) -> Any:
    """`handle`, which only this package has to give: TypeError for a caller who makes a `kind` by hand."""
    if not isinstance(handle, ffi.CData):
        raise TypeError(f"a {kind.__name__} is made by {makers}, not from a value of {type(handle).__name__}")
    return handle


# --- enums --------------------------------------------------------------------------------------------------------


class Code(enum.IntEnum):
    """An enum of the library; its text is its name.

    A value that is newer than this package has a member of its own, ``UNKNOWN_n``.
    """

    @classmethod
    def _missing_(cls, value: object) -> Code | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        # Two of one number are one, as they are of those that are known.
        return cast(Code, cls._value2member_map_.setdefault(value, member))

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return int.__format__(self, spec) if spec else self.name
