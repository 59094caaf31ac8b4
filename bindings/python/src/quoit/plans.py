# SPDX-License-Identifier: Apache-2.0
"""Plans: which requests of a queue start now, and when the others are to start."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c, errors
from ._c import call, lib
from .groups import Group, wrap_group


class Backfill(_c.Code):
    """Which requests of a queue may start although an earlier request has to wait."""

    NONE = 0
    """No request: requests start strictly in the order of the queue."""
    EASY = 1
    """Requests that do not delay the first request that has to wait and whose start is known."""
    CONSERVATIVE = 2
    """Requests that do not delay any earlier request that has to wait."""


class QueuedState(_c.Code):
    """The state of one request of a queue in a plan."""

    STARTS = 0
    """The request starts now, and the fork has its group; or its key has a group already."""
    WAITS = 1
    """The request has to wait."""
    REFUSED = 2
    """The request would be refused even if all groups had ended."""


@dataclasses.dataclass(frozen=True)
class Queued:
    """One request of a queue in a plan; see `Fork.plan_queue`."""

    state: QueuedState
    start_ms: int | None
    """For a request that starts now, the time of the plan; for a request that waits, the time when it is to start.

    None: the start is unknown, the request is refused, or the plan promises it nothing: with `Backfill.EASY`, all that
    wait after the first one with a known start; with `Backfill.NONE`, all that wait after the first one.
    """
    alternative: int
    """Which alternative of the request starts, or is promised the start, counted from 1; 0: the request itself, or
    nothing starts."""
    group: Group | None
    """The group of a request that starts now; else None. A commit of the fork can give the group another id."""
    code: int | None
    """For a refused request, the `ErrorCode` of the exception that `Ledger.reserve` would raise; else None."""
    message: str | None
    """For a refused request, the reason; else None."""


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
        int(lib.quoit_queue_plan_get_alternative(plan, at)),
        wrap_group(group) if group != _c.NULL else None,
        code,
        message,
    )
