# SPDX-License-Identifier: Apache-2.0
"""Error messages and reports for refused requests."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from .. import errors
from ..requests import Request
from . import cluster
from .placing import SliceGroupRequest


class SlicesNotFreeError(errors.NotNowError, TimeoutError):
    """The slices were not free within the timeout; ``report`` explains why.

    The class is also a TimeoutError, because Ray's helper raises TimeoutError.
    """


def to_refusal(
    group_request: SliceGroupRequest,
    error: errors.RefusedError,
    request: Request,
    timeout_s: float,
    excluded: Mapping[str, str] | None = None,
    listing: cluster.Listing | None = None,
) -> errors.RefusedError:
    """Converts a refusal of the ledger to the exception for the caller, with the report.

    Args:
        excluded: for each slice that earlier attempts have excluded, the reason.
        listing: the listing of Ray that the refused attempt used.
    """
    words = [f"{group_request.shape.description}: {describe(error)}", *(excluded or {}).values()]
    if isinstance(error, errors.NeverError):
        if listing is not None:
            words += describe_unlabelled_hosts(listing)
        refused: errors.RefusedError = errors.NeverError("; ".join(words))
    else:
        refused = SlicesNotFreeError(f"{'; '.join(words)} (waited {timeout_s:g} s)")
    refused._report = error.report
    if refused.report is None:
        with contextlib.suppress(errors.Error):
            refused._report = group_request.ledger.quoit.snapshot().explain(request)
    return refused


def describe(error: errors.RefusedError) -> str:
    """Returns the message of the error, and the first change that would help."""
    options = error.report.options if error.report is not None else ()
    return f"{error}; would help: {options[0].text}" if options else str(error)


def describe_unlabelled_hosts(listing: cluster.Listing) -> list[str]:
    """Returns a message about hosts with chips that belong to no slice; empty without such hosts."""
    names = [
        n["NodeName"] for n in listing.alive() if n["Resources"].get("TPU") and cluster.SLICE_NAME not in n["Labels"]
    ]
    if not names:
        return []
    shown = ", ".join(f"'{name}'" for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return [
        f"{shown} have TPU but no label '{cluster.SLICE_NAME}': start Ray there with TPU_NAME, TPU_WORKER_ID and "
        "TPU_TOPOLOGY set"
    ]
