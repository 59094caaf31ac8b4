# SPDX-License-Identifier: Apache-2.0
"""The verbs of `Ledger` are in classes by subject, of which `Ledger` is made."""

from __future__ import annotations

import types
from typing import Any, TypeVar

from . import _c

_Class = TypeVar("_Class", bound=type)


class LedgerVerbs(_c.Uncopyable):
    """The base of these classes."""

    __slots__ = ()

    def _open(self) -> Any:
        """Returns the handle of the ledger; raises if it is closed."""
        raise NotImplementedError


def gather(ledger: _Class) -> _Class:
    """Gives a class the verbs of its bases as its own. Documentation, messages and pickles name this class."""
    for verbs in ledger.__bases__:
        for name, value in vars(verbs).items():
            if isinstance(value, types.FunctionType):
                value.__qualname__ = f"{ledger.__qualname__}.{name}"
                value.__module__ = ledger.__module__
                setattr(ledger, name, value)
    return ledger
