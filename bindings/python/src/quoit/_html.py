# SPDX-License-Identifier: Apache-2.0
"""HTML of objects for notebooks. Every text is escaped, and long lists are cut with the number of what is left out."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from .groups import Group, GroupState

if TYPE_CHECKING:
    from .reports import Report
    from .snapshots import Snapshot

MOST_ROWS = 30


def _cell(value: Any) -> str:
    return "" if value is None else html.escape(str(value))


def _table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]], n_rows: int) -> str:
    """Returns a table of at most MOST_ROWS of the `n_rows` rows; an empty text without rows."""
    if n_rows == 0:
        return ""
    head = "".join(f'<th scope="col">{_cell(one)}</th>' for one in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(one)}</td>" for one in row) + "</tr>" for row in islice(rows, MOST_ROWS)
    )
    left = n_rows - MOST_ROWS
    more = f"<p>and {left} more</p>" if left > 0 else ""
    return (
        f"<table><caption>{_cell(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
    )


def _facts(title: str, facts: Iterable[tuple[str, Any]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_cell(name)}</th><td>{_cell(value)}</td></tr>'
        for name, value in facts
        if value not in (None, "")
    )
    return f"<table><caption>{_cell(title)}</caption><tbody>{rows}</tbody></table>"


def of_snapshot(snapshot: Snapshot) -> str:
    states = Counter(node.state.name.lower() for node in snapshot.nodes)
    classes = [
        (one.accelerator, one.topology, one.chips_per_host, one.n_slices, *(one.counts[flag] for flag in one.counts))
        for one in snapshot.classes
    ]
    flags = [(flag.name or "").lower() for one in snapshot.classes[:1] for flag in one.counts]
    live = [group for group in snapshot.groups if group.state is not GroupState.REMOVED]
    groups = ((one.handle, one.state.name.lower(), one.request, one.owner) for one in live)
    problems = [(one.full_name, one.problem) for one in snapshot.slices if one.problem]
    return (
        _facts(
            f"Snapshot at entry {snapshot.seq}",
            [
                ("nodes", f"{len(snapshot.nodes)}: " + ", ".join(f"{n} {word}" for word, n in sorted(states.items()))),
                ("slices", len(snapshot.slices)),
                ("groups", len(live)),
            ],
        )
        + _table("Classes", ["accelerator", "topology", "chips/host", "slices", *flags], classes, len(classes))
        + _table("Groups", ["group", "state", "request", "owner"], groups, len(live))
        + _table("Problems", ["slice", "problem"], problems, len(problems))
    )


def of_group(group: Group) -> str:
    facts = [("state", group.state.name.lower()), ("request", group.request), ("owner", group.owner)]
    labels = ", ".join(f"{key}={value}" for key, value in group.labels.items())
    workers = (
        (slice_id, one.name, worker_id, worker.name, worker.address, one.state.name.lower())
        for slice_id, one in enumerate(group.slices)
        for worker_id, worker in enumerate(one.workers)
    )
    bundles = (
        (index, one.node, ",".join(map(str, one.chips)), ", ".join(f"{k} {v}" for k, v in one.resources.items()))
        for index, one in enumerate(group.bundles)
    )
    return (
        _facts(f"Group {group.handle}", [*facts, ("labels", labels), ("reason", group.release_reason)])
        + _table(
            "Workers",
            ["slice id", "slice", "worker", "node", "address", "slice is"],
            workers,
            sum(len(one.workers) for one in group.slices),
        )
        + _table("Bundles", ["bundle", "node", "chips", "resources"], bundles, len(group.bundles))
    )


def of_report(report: Report) -> str:
    reasons = ((one.constraint.name.lower(), one.before, one.after, one.text) for one in report.reasons)
    options = ((one.text,) for one in report.options)
    misses = ((one.node, one.resource, one.available, one.requested) for one in report.misses)
    return (
        f"<p>{_cell(report.summary('The request'))}</p>"
        + _table("Reasons", ["constraint", "before", "after", "reason"], reasons, len(report.reasons))
        + _table("Options, any one of", ["option"], options, len(report.options))
        + _table("Nearest nodes", ["node", "resource", "left", "wanted"], misses, len(report.misses))
    )
