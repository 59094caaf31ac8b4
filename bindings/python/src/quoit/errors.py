# SPDX-License-Identifier: Apache-2.0
"""The exception classes, one for each error code of libquoit. The codes never change, and are also exit statuses."""

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
    FENCED = 15


class Error(Exception):
    """The base class of the exceptions of quoit. Except for `UnconfirmedError`, a call that raises has changed nothing.

    ``code`` is the error code. If a newer libquoit returns a code that has no class here, ``Error`` itself is raised.
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
    """The report as an object of libquoit, until `report` is first read."""

    @property
    def report(self) -> Report | None:
        """The report: all reasons, and changes that would help. None if the call that raised does not place anything.

        The first access computes the report, which takes longer than the refusal itself.
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
    """The request would not fit even with every group released and every known node alive and undrained: change it."""

    code = ErrorCode.NEVER


class ConflictError(Error):
    """The state contradicts the request: read the state before you retry."""

    code = ErrorCode.CONFLICT


class StoreError(Error):
    """The disk failed or is full, the server cannot be reached, or one of them denies access. Nothing was written."""

    code = ErrorCode.STORE


class VersionError(Error):
    """This quoit does not support the version of the database, or of the running Ray."""

    code = ErrorCode.VERSION


class BusyError(Error):
    """Another process is writing: wait and retry."""

    code = ErrorCode.BUSY


class ExpiredError(Error):
    """The lease has ended. Another group can have the slices or bundles now."""

    code = ErrorCode.EXPIRED


class CancelledError(Error):
    """`Ledger.interrupt` ended the wait."""

    code = ErrorCode.CANCELLED


class DamagedError(Error):
    """The database contradicts itself or its journal, or has lost an entry that was read: restore a backup."""

    code = ErrorCode.DAMAGED


class UnconfirmedError(Error):
    """The change was possibly written: the connection was lost, or the files of the database were replaced.

    Retry with the same key, or read the state.
    """

    code = ErrorCode.UNCONFIRMED


class FencedError(Error):
    """A later leader has begun its term: this ledger handle can write nothing until it leads again (`Ledger.lead`)."""

    code = ErrorCode.FENCED


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
