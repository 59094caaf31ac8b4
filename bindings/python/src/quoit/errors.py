# SPDX-License-Identifier: Apache-2.0
"""One exception class for each code of libquoit; the numbers are permanent, and are the command's exit status too."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reports import Report


class ErrorCode(enum.IntEnum):
    """Why a call failed."""

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
    """What every call of quoit raises that could not do what was asked: nothing has changed then.

    ``code`` is the number of the class; an error of a newer library, whose number has no class here, is a bare ``Error`` with that number.
    """

    code: int = ErrorCode.FAILED


class FailedError(Error):
    """A bug of quoit, or the unforeseen: report it."""

    code = ErrorCode.FAILED


class UsageError(Error):
    """The command line is not one of quoit's; no function raises it."""

    code = ErrorCode.USAGE


class InvalidError(Error, ValueError):
    """The input breaks a rule; the message has place, value and expectation."""

    code = ErrorCode.INVALID


class NotFoundError(Error, LookupError):
    """No such node, slice, group or file."""

    code = ErrorCode.NOT_FOUND


class RefusedError(Error):
    """Placement refused a request.

    ``report`` explains the refusal. It is None if the exception does not come from a call that places something.
    """

    report: Report | None = None


class NotNowError(RefusedError):
    """It fits the fleet, but not at present: wait, or do what the report proposes."""

    code = ErrorCode.NOT_NOW


class NeverError(RefusedError):
    """It would not fit with every group released and every known node alive and undrained: ask for something else."""

    code = ErrorCode.NEVER


class ConflictError(Error):
    """The state contradicts the request: read the state, do not retry blindly."""

    code = ErrorCode.CONFLICT


class StoreError(Error):
    """The disk, its permissions or its size; nothing was written."""

    code = ErrorCode.STORE


class VersionError(Error):
    """The database, or the Ray that runs, is of a version that this quoit does not know."""

    code = ErrorCode.VERSION


class BusyError(Error):
    """Another process is writing: wait and retry."""

    code = ErrorCode.BUSY


class ExpiredError(Error):
    """The lease had ended: what it held may be somebody else's by now."""

    code = ErrorCode.EXPIRED


class CancelledError(Error):
    """`Ledger.interrupt` ended the wait."""

    code = ErrorCode.CANCELLED


class DamagedError(Error):
    """The database contradicts itself or its journal: restore a backup."""

    code = ErrorCode.DAMAGED


class UnconfirmedError(Error):
    """The change may be written, but that could not be confirmed: retry with the same key, or look."""

    code = ErrorCode.UNCONFIRMED


def _of_code() -> dict[int, type[Error]]:
    classes: dict[int, type[Error]] = {}
    waiting = list(Error.__subclasses__())
    for one in waiting:
        waiting.extend(one.__subclasses__())
        if "code" in vars(one):
            classes[one.code] = one
    return classes


BY_CODE: dict[int, type[Error]] = _of_code()
"""The class of each code."""
