# SPDX-License-Identifier: Apache-2.0
"""Plans: which requests of a queue start now, and when the others are to start."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c, errors
from ._c import call, lib
from .groups import Group, wrap_group


class Backfill(_c.Code):
    """Which requests of a queue may start although an earlier one has to wait."""

    NONE = 0
    """None of them: the queue is served strictly in its order."""
    EASY = 1
    """Those that do not delay the first request that has to wait."""
    CONSERVATIVE = 2
    """Those that do not delay any earlier request that has to wait."""


class QueuedState(_c.Code):
    """What a plan says about one request of a queue."""

    STARTS = 0
    """It starts now, and the fork has its group."""
    WAITS = 1
    """It waits."""
    REFUSED = 2
    """It can never start."""


@dataclasses.dataclass(frozen=True)
class Queued:
    """What a plan says about one request of a queue; see `Fork.plan_queue`."""

    state: QueuedState
    start_ms: int | None
    """The time of the plan for a request that starts now; for one that waits, when it is to start.

    None: its start is unknown, the plan promises it nothing (all requests after the first one that waits, except with
    `Backfill.CONSERVATIVE`), or it is refused.
    """
    group: Group | None
    """The group of a request that starts now. A commit of the fork can give it another id."""
    code: int | None
    """Why the request is refused: the `ErrorCode` of the exception that `Ledger.reserve` would raise; None otherwise."""
    message: str | None
    """The text of that exception."""


def take_queue_plan(pointer: Any) -> tuple[Queued, ...]:
    """Converts a plan that the caller owns, and frees it."""
    plan = _c.own_handle(pointer, lib.quoit_queue_plan_free)
    return tuple(_read_queued(plan, at) for at in range(lib.quoit_queue_plan_get_n_requests(plan)))


def _read_queued(plan: Any, at: int) -> Queued:
    group = lib.quoit_queue_plan_dup_group(plan, at)
    code = message = None
    try:
        call(lib.quoit_queue_plan_check, plan, at)
    except errors.Error as error:
        code, message = error.code, str(error)
    return Queued(
        QueuedState(lib.quoit_queue_plan_get_state(plan, at)),
        int(lib.quoit_queue_plan_get_start_ms(plan, at)) or None,
        wrap_group(group) if group != _c.NULL else None,
        code,
        message,
    )
