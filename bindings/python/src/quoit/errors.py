# SPDX-License-Identifier: Apache-2.0
"""The exception classes, one for each error code of libquoit. The codes are permanent, and are also exit statuses."""

from __future__ import annotations

import enum
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .reports import Report

_reading = threading.Lock()


class ErrorCode(enum.IntEnum):
    """The reason why a call failed."""

    FAILED = 1
    USAGE = 2
    INVALID = 3
    NOT_FOUND = 4
    NOT_NOW = 5
    NEVER = 6
    CONFLICT = 7
    STORE = 8
    VERSION = 9
    BUSY = 10
    EXPIRED = 11
    CANCELLED = 12
    DAMAGED = 13
    UNCONFIRMED = 14


class Error(Exception):
    """The base class of the exceptions of quoit. A call that raises one has changed nothing, except `UnconfirmedError`.

    ``code`` is the error code. A newer libquoit can return codes that have no class here; they raise ``Error`` itself.
    """

    code: int = ErrorCode.FAILED


class FailedError(Error):
    """An unexpected error or a bug of quoit: report it."""

    code = ErrorCode.FAILED


class UsageError(Error):
    """The command line is not valid. No function raises this."""

    code = ErrorCode.USAGE


class InvalidError(Error, ValueError):
    """The input is not valid. The message has the place, the value and what was expected."""

    code = ErrorCode.INVALID


class NotFoundError(Error, LookupError):
    """There is no such node, slice, group or file."""

    code = ErrorCode.NOT_FOUND


class RefusedError(Error):
    """Placement refused a request.

    The message has the main reason.
    """

    _report: Report | None = None
    _unread: Any = None
    """The report of C, until `report` is first read."""

    @property
    def report(self) -> Report | None:
        """All reasons and what would help. None if the exception does not come from a call that places something.

        The first access makes the report, which takes longer than the refusal itself.
        """
        with _reading:
            if self._unread is not None:
                from . import _c, reports

                pointer, self._unread = self._unread, None
                _c.ffi.gc(pointer, None)  # take_report() frees it
                self._report = reports.take_report(pointer)
        return self._report

    def __reduce__(self) -> Any:
        _ = self.report  # a copy or a pickle has the report itself
        return super().__reduce__()


class NotNowError(RefusedError):
    """The request would fit, but not now: wait, or follow the report."""

    code = ErrorCode.NOT_NOW


class NeverError(RefusedError):
    """The request would not even fit with every group released and every known node alive and undrained: change it."""

    code = ErrorCode.NEVER


class ConflictError(Error):
    """The state contradicts the request: read the state before you retry."""

    code = ErrorCode.CONFLICT


class StoreError(Error):
    """The disk failed, is full or denies access. Nothing was written."""

    code = ErrorCode.STORE


class VersionError(Error):
    """This quoit does not support the version of the database, or of the running Ray."""

    code = ErrorCode.VERSION


class BusyError(Error):
    """Another process is writing: wait and retry."""

    code = ErrorCode.BUSY


class ExpiredError(Error):
    """The lease has ended, and what it held can belong to another group now."""

    code = ErrorCode.EXPIRED


class CancelledError(Error):
    """`Ledger.interrupt` ended the wait."""

    code = ErrorCode.CANCELLED


class DamagedError(Error):
    """The database contradicts itself or its journal: restore a backup."""

    code = ErrorCode.DAMAGED


class UnconfirmedError(Error):
    """The change was possibly written: retry with the same key, or read the state."""

    code = ErrorCode.UNCONFIRMED


def _classes_by_code() -> dict[int, type[Error]]:
    classes: dict[int, type[Error]] = {}
    subclasses = list(Error.__subclasses__())
    for error_class in subclasses:
        subclasses.extend(error_class.__subclasses__())
        if "code" in vars(error_class):
            classes[error_class.code] = error_class
    return classes


BY_CODE: dict[int, type[Error]] = _classes_by_code()
"""The class for each code."""
