# SPDX-License-Identifier: Apache-2.0
"""The identity of a scenario: a hash of its code and of the values that it was made with.

The code is that of the function, and of the functions and classes of its module that it uses. Comments, line numbers
and the name of the module do not count. Bytecode is compared, not text, because functions of an interactive session
have no text.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import io
import pickle
import types
from collections.abc import Iterator
from typing import Any


def digest_scenario(scenario: object) -> str:
    """Returns the hash of a scenario, which is a function or another callable."""
    target = scenario
    while isinstance(target, (functools.partial, types.MethodType)):
        target = target.func if isinstance(target, functools.partial) else target.__func__
    module = getattr(target if hasattr(target, "__qualname__") else type(target), "__module__", None)
    return hashlib.sha256("\n".join(_Walk(module).describe(scenario)).encode("utf-8", "backslashreplace")).hexdigest()


def name_scenario(scenario: object) -> str:
    """Returns the name of a scenario for messages."""
    if isinstance(scenario, functools.partial):
        return name_scenario(scenario.func)
    return str(getattr(scenario, "__qualname__", None) or type(scenario).__qualname__)


class _Walk:
    """Describes values as lines of text. Everything that the lines depend on is the same in each process."""

    def __init__(self, module: str | None) -> None:
        self._module = module
        self._seen: dict[int, int] = {}
        self._kept: list[object] = []  # so that no id is used twice

    def describe(self, value: Any) -> Iterator[str]:
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, type(...))):
            yield f"{type(value).__name__} {value!r}"
            return
        # Whether equal constants are one object depends on how Python loaded the module.
        if not isinstance(value, (tuple, frozenset, types.CodeType)):
            if id(value) in self._seen:
                yield f"again {self._seen[id(value)]}"
                return
            self._seen[id(value)] = len(self._seen)
            self._kept.append(value)
        if isinstance(value, (list, tuple)):
            yield from self._list(type(value).__name__, value)
        elif isinstance(value, (set, frozenset)):
            yield from self._list(
                type(value).__name__, sorted("\n".join(_Walk(self._module).describe(v)) for v in value)
            )
        elif isinstance(value, dict):
            yield from self._list("dict", [part for item in value.items() for part in item])
        elif isinstance(value, types.CodeType):
            yield from self._code(value)
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.MethodType):
            yield from self._list("method", [value.__func__, value.__self__])
        elif isinstance(value, functools.partial):
            yield from self._list("partial", [value.func, value.args, value.keywords])
        elif isinstance(value, (staticmethod, classmethod)):
            yield from self._list(type(value).__name__, [value.__func__])
        elif isinstance(value, property):
            yield from self._list("property", [value.fget, value.fset, value.fdel])
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, types.ModuleType):
            yield f"module {value.__name__}"
        else:
            yield from self._object(value)

    def _list(self, kind: str, values: Any) -> Iterator[str]:
        yield f"{kind} {len(values)}"
        for value in values:
            yield from self.describe(value)

    def _code(self, code: types.CodeType) -> Iterator[str]:
        yield f"code {code.co_name} {code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount} {code.co_flags}"
        yield code.co_code.hex()
        for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            yield " ".join(names)
        yield getattr(code, "co_exceptiontable", b"").hex()
        yield from self._list("constants", code.co_consts)

    def _function(self, function: types.FunctionType) -> Iterator[str]:
        if function.__module__ != self._module:
            yield f"function {function.__module__}.{function.__qualname__}"
            return
        yield f"function {function.__qualname__}"
        yield from self.describe(function.__code__)
        yield from self.describe(function.__defaults__)
        yield from self.describe(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                contents = cell.cell_contents
            except ValueError:  # not assigned yet
                yield "empty"
            else:
                yield from self.describe(contents)
        for name in sorted(set(_global_names(function.__code__))):
            if name in function.__globals__:
                yield f"global {name}"
                yield from self.describe(function.__globals__[name])

    def _class(self, kind: type) -> Iterator[str]:
        yield (
            f"class {kind.__qualname__}"
            if kind.__module__ == self._module
            else f"class {kind.__module__}.{kind.__qualname__}"
        )
        if kind.__module__ == self._module:
            yield from self._list("bases", kind.__bases__)
            for name, member in sorted(vars(kind).items()):
                if name not in _OF_CLASSES and not isinstance(
                    member, (types.GetSetDescriptorType, types.MemberDescriptorType)
                ):
                    yield f"member {name}"
                    yield from self.describe(member)

    def _object(self, value: object) -> Iterator[str]:
        yield from self.describe(type(value))
        if type(value).__module__ == self._module and hasattr(value, "__dict__"):
            yield from self.describe(vars(value))
            return
        data = io.BytesIO()
        pickler = pickle.Pickler(data, protocol=4)
        pickler.fast = True  # without references to equal parts, which depend on how Python loaded the module
        try:
            pickler.dump(value)
        except Exception:  # classes raise what they like; two such values cannot be distinguished
            yield "unknown"
        else:
            yield hashlib.sha256(data.getvalue()).hexdigest()


_OF_CLASSES = frozenset(
    ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__")
)


def _global_names(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)
