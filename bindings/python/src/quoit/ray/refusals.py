# SPDX-License-Identifier: Apache-2.0
"""Error messages and reports for refused requests."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from .. import errors
from ..requests import Request
from . import cluster
from .placing import Wish


class NoRoomError(errors.NotNowError, TimeoutError):
    """The slices were not free within the timeout; ``report`` explains why.

    It is also a TimeoutError, which Ray's helper raises.
    """


def refusal(
    wish: Wish,
    error: errors.RefusedError,
    request: Request,
    timeout_s: float,
    excluded: Mapping[str, str] | None = None,
    listing: cluster.Listing | None = None,
) -> errors.RefusedError:
    """Returns the exception for a refused request, with its report."""
    words = [f"{wish.shape.words}: {error}", *(excluded or {}).values()]
    if isinstance(error, errors.NeverError):
        if listing is not None:
            words += unlabelled(listing)
        refused: errors.RefusedError = errors.NeverError("; ".join(words))
    else:
        refused = NoRoomError(f"{'; '.join(words)} (asked for {timeout_s:g} s)")
    refused.report = error.report
    if refused.report is None:
        with contextlib.suppress(errors.Error):
            refused.report = wish.ledger.quoit.snapshot().explain(request)
    return refused


def unlabelled(listing: cluster.Listing) -> list[str]:
    """Returns a message if hosts with chips belong to no slice."""
    names = [
        n["NodeName"] for n in listing.alive() if n["Resources"].get("TPU") and cluster.SLICE_NAME not in n["Labels"]
    ]
    if not names:
        return []
    shown = ", ".join(f"'{name}'" for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return [
        f"{shown} have TPU and no label '{cluster.SLICE_NAME}': start Ray there with TPU_NAME, TPU_WORKER_ID and "
        "TPU_TOPOLOGY set"
    ]
