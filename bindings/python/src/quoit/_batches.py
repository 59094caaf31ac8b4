# SPDX-License-Identifier: Apache-2.0
"""Batches: changes that become one transaction."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import errors
from ._c import call, lib

if TYPE_CHECKING:
    from .ledger import Ledger


class _Batch:
    """The context manager of a batch. It always ends the batch, because an open batch blocks all other writers."""

    _handle: Any = None

    def __init__(self, ledger: Ledger, begin: Any) -> None:
        self._ledger = ledger
        self._begin = begin

    def __enter__(self) -> None:
        handle = self._ledger._open()
        if self._handle is not None:
            raise errors.ConflictError("this batch is open already")
        try:
            self._handle = handle
            call(self._begin, handle)
        except errors.ConflictError:
            self._handle = None  # this thread has another open batch, which continues
            raise
        except BaseException:
            self._cancel()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is None:
            raise errors.ConflictError("this batch is not open")
        if kind is not None:
            self._cancel()
            return
        try:
            call(lib.quoit_ledger_commit_batch, self._handle)
            self._handle = None
        except BaseException:
            self._cancel()
            raise

    def __del__(self) -> None:
        self._cancel()  # if an interrupt has ended __enter__ or __exit__ early, the batch is still open

    def _cancel(self) -> None:
        if self._handle is not None:
            lib.quoit_ledger_cancel_batch(self._handle)
            self._handle = None
