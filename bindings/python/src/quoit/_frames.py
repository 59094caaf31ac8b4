# SPDX-License-Identifier: Apache-2.0
"""Tables of pandas, which is imported only when a table is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .fleet import SliceFlags

if TYPE_CHECKING:
    from .fleet import Node, Slice
    from .groups import Group
    from .snapshots import Snapshot


def import_pandas(what: str) -> Any:
    """Returns the module pandas. `what` names the method that needs it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{what} needs pandas: pip install 'quoit[pandas]'") from error
    return pandas


def _to_frame(what: str, rows: Iterable[Any], columns: Mapping[str, Callable[[Any], Any]], index: str) -> Any:
    pandas = import_pandas(what)
    listed = list(rows)
    table = {name: [read(row) for row in listed] for name, read in columns.items()}
    return pandas.DataFrame(table, columns=list(columns)).set_index(index)


def _time(pandas: Any, time_ms: int | None) -> Any:
    return pandas.NaT if time_ms is None else pandas.Timestamp(time_ms, unit="ms", tz="UTC")


def nodes_frame(snapshot: Snapshot) -> Any:
    """See `Snapshot.nodes_frame`."""
    columns: dict[str, Callable[[Node], Any]] = {
        "node": lambda node: node.full_name,
        "name": lambda node: node.name,
        "source": lambda node: node.pool.source,
        "pool": lambda node: node.pool.name,
        "slice": lambda node: None if node.slice is None else node.slice.name,
        "worker_id": lambda node: node.worker_id,
        "chips": lambda node: node.chips,
        "state": lambda node: node.state.name.lower(),
        "state_reason": lambda node: node.state_reason,
        "address": lambda node: node.address,
        "groups": lambda node: tuple(user.group.handle for user in node.users),
        "external": lambda node: node.is_external,
    }
    frame = _to_frame("Snapshot.nodes_frame()", snapshot.nodes, columns, "node")
    return frame.astype({"worker_id": "Int64"})


def slices_frame(snapshot: Snapshot) -> Any:
    """See `Snapshot.slices_frame`."""
    columns: dict[str, Callable[[Slice], Any]] = {
        "slice": lambda one: one.full_name,
        "name": lambda one: one.name,
        "source": lambda one: one.pool.source,
        "pool": lambda one: one.pool.name,
        "accelerator": lambda one: one.accelerator,
        "topology": lambda one: one.topology,
        "chips_per_host": lambda one: one.chips_per_host,
        "hosts": lambda one: one.n_hosts,
        "missing": lambda one: one.n_missing,
        "intact": lambda one: SliceFlags.INTACT in one.flags,
        "free": lambda one: SliceFlags.FREE in one.flags,
        "problem": lambda one: one.problem,
    }
    frame = _to_frame("Snapshot.slices_frame()", snapshot.slices, columns, "slice")
    return frame.astype({"chips_per_host": "Int64", "hosts": "Int64"})


def groups_frame(snapshot: Snapshot) -> Any:
    """See `Snapshot.groups_frame`."""
    pandas = import_pandas("Snapshot.groups_frame()")
    columns: dict[str, Callable[[Group], Any]] = {
        "group": lambda group: group.handle,
        "name": lambda group: group.name,
        "id": lambda group: group.id,
        "state": lambda group: group.state.name.lower(),
        "owner": lambda group: group.owner or None,
        "priority": lambda group: group.priority,
        "request": lambda group: group.request,
        "slices": lambda group: len(group.slices),
        "workers": lambda group: sum(len(one.workers) for one in group.slices),
        "created": lambda group: _time(pandas, group.created_ms),
        "begins": lambda group: _time(pandas, group.begins_ms),
        "until": lambda group: _time(pandas, group.until_ms),
        "expected_end": lambda group: _time(pandas, group.expected_end_ms),
        "ended": lambda group: _time(pandas, group.ended_ms),
        "source": lambda group: group.source or None,
    }
    return _to_frame("Snapshot.groups_frame()", snapshot.groups, columns, "group")
