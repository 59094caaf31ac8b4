# SPDX-License-Identifier: Apache-2.0
"""Base classes of objects that read their attributes from a C object on access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable, ClassVar, TypeVar, overload

from . import _c

T = TypeVar("T", covariant=True)


class View(_c.Immutable):
    """An immutable view of an object of libquoit."""

    __slots__ = ("__weakref__", "_handle")

    _handle: Any

    def __init__(self, handle: Any) -> None:
        object.__setattr__(self, "_handle", _c.check_handle(handle, type(self), "a ledger or a snapshot"))


class Row(View):
    """An element of a list of a snapshot, such as a node. Rows are equal if all attributes in `_FACTS` are equal."""

    __slots__ = ("_index",)

    _index: int
    _FACTS: ClassVar[tuple[str, ...]]

    def __init__(self, handle: Any, index: int) -> None:
        super().__init__(handle)
        object.__setattr__(self, "_index", index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row) or type(other) is not type(self):
            return NotImplemented
        if other._handle is self._handle and other._index == self._index:
            return True
        return all(getattr(self, fact) == getattr(other, fact) for fact in self._FACTS)

    def __hash__(self) -> int:
        return hash((type(self), getattr(self, self._FACTS[0])))


class Rows(Sequence[T]):
    """A sequence that makes each row on access. Therefore the cost depends only on the number of rows that are read.

    Args:
        make: a function that makes the row with an index of libquoit.
        numbers: the indices of the rows in libquoit.
    """

    __slots__ = ("_make", "_numbers")

    def __init__(self, make: Callable[[int], T], numbers: range) -> None:
        self._make = make
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Rows[T]: ...

    def __getitem__(self, index: int | slice) -> T | Rows[T]:
        numbers = self._numbers[index]
        return Rows(self._make, numbers) if isinstance(numbers, range) else self._make(numbers)

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._numbers)

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"
