# SPDX-License-Identifier: Apache-2.0
"""Pictures of a fleet and its past with matplotlib, which is imported only when a picture is drawn.

Install it with ``pip install 'quoit[plot]'``. Each function draws into `axes`, or into new axes, and returns them:

>>> import quoit.plot  # doctest: +SKIP
>>> quoit.plot.fleet(ledger.snapshot()).figure.savefig("fleet.png")  # doctest: +SKIP

`quoit report --html` has the same facts as a page.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from . import _c, errors
from .fleet import SliceFlags
from .journal import EffectType
from .ledger import Ledger
from .snapshots import Snapshot

if TYPE_CHECKING:
    from .fleet import Slice

__all__ = ["fleet", "fragmentation", "timeline"]

# The conditions of slices in the order of their bars: name, colour, and hatching for readers who do not see colours.
_CONDITIONS = (
    ("free", "#dfe5ec", ""),
    ("held", "#2b5c9e", ""),
    ("partly used", "#7f9fc9", ".."),
    ("external use", "#b9a06a", "xx"),
    ("draining", "#c98a1b", "//"),
    ("degraded", "#b3261e", "\\\\"),
)


def _new_axes(what: str, axes: Any) -> Any:
    if axes is not None and not callable(getattr(axes, "barh", None)):
        raise TypeError(f"axes must be axes of matplotlib, not {type(axes).__name__}")
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: pip install 'quoit[plot]'") from error
    return pyplot.subplots(layout="constrained")[1] if axes is None else axes


def _check_type(value: Any, name: str, expected: type) -> None:
    if not isinstance(value, expected):
        raise TypeError(f"{name} must be a {expected.__name__}, not {type(value).__name__}")


def _text(name: str) -> str:
    """The name for matplotlib, which reads text between two dollar signs as mathematics."""
    return name.replace("$", "\\$")


_Read = TypeVar("_Read")


def _read_journal(ledger: Ledger, read: Callable[[int], _Read]) -> _Read:
    """Returns what `read` reads after the checkpoint. Reads again if another process compacts the journal meanwhile."""
    checkpoint = ledger.read_checkpoint()
    while True:
        try:
            return read(0 if checkpoint is None else checkpoint.seq)
        except errors.Error:
            before, checkpoint = checkpoint, ledger.read_checkpoint()
            if checkpoint == before:
                raise


def _time(time_ms: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(time_ms / 1000, tz=datetime.timezone.utc)


def _condition(one: Slice) -> str:
    if not one.flags & SliceFlags.INTACT:
        return "degraded"
    if one.flags & SliceFlags.DRAINING:
        return "draining"
    if one.flags & SliceFlags.IDLE:
        return "free"
    if not one.flags & SliceFlags.ALLOCATED:
        return "external use"
    return "held" if one.flags & SliceFlags.FULL else "partly used"


def fleet(snapshot: Snapshot, *, axes: Any = None) -> Any:
    """Draws a bar for each pool with slices: how many are free, held, partly used, in external use, draining or
    degraded. A slice counts for the last one of these that applies.

    Args:
        snapshot: the state to draw.
        axes: axes of matplotlib; None: new ones.

    Returns:
        the axes.

    Raises:
        ImportError: matplotlib is not installed.
    """
    _check_type(snapshot, "snapshot", Snapshot)
    axes = _new_axes("quoit.plot.fleet()", axes)
    counts: dict[str, dict[str, int]] = {}
    for one in snapshot.slices:
        pool = _text(f"{one.pool.source}/{one.pool.name}")
        count = counts.setdefault(pool, dict.fromkeys((name for name, _, _ in _CONDITIONS), 0))
        count[_condition(one)] += 1
    left = dict.fromkeys(counts, 0)
    for name, colour, hatch in _CONDITIONS:
        widths = [count[name] for count in counts.values()]
        if any(widths):
            axes.barh(
                list(counts),
                widths,
                left=list(left.values()),
                label=name,
                color=colour,
                hatch=hatch,
                edgecolor="#56616e",
            )
        for pool, count in counts.items():
            left[pool] += count[name]
    axes.invert_yaxis()
    axes.set_xlabel("slices")
    if counts:
        axes.legend()
    return axes


def timeline(ledger: Ledger, *, most: int = 40, axes: Any = None) -> Any:
    """Draws the groups of the journal as bars over time: when each began, and when it ended, if it has.

    Args:
        ledger: the ledger whose journal is read, from its checkpoint on.
        most: draw only the newest groups.
        axes: axes of matplotlib; None: new ones.

    Returns:
        the axes.

    Raises:
        ImportError: matplotlib is not installed.
    """
    _check_type(ledger, "ledger", Ledger)
    most = _c.to_int(most, "most", _c.UINT32)
    axes = _new_axes("quoit.plot.timeline()", axes)
    entries = _read_journal(ledger, ledger.changes_since)
    bars: dict[int, list[Any]] = {}  # id of the group -> name, begin, end
    for entry in entries:
        for effect in entry.effects:
            if effect.type == EffectType.GROUP_ADDED and effect.group_id is not None:
                bars.setdefault(effect.group_id, [f"{effect.group_name}@{effect.group_id}", entry.time_ms, None])
            elif effect.type == EffectType.GROUP_REMOVED and effect.group_id in bars:
                bars[effect.group_id][2] = entry.time_ms
    last_ms = entries[-1].time_ms if entries else 0
    for name, begin_ms, end_ms in sorted(bars.values(), key=lambda bar: bar[1], reverse=True)[:most]:
        begin, end = _time(begin_ms), _time(last_ms if end_ms is None else end_ms)
        color = "#2b5c9e" if end_ms is None else "#9fb2c8"
        axes.barh(_text(name), end - begin, left=begin, color=color, edgecolor="#56616e")
    axes.invert_yaxis()
    axes.set_xlabel("time (UTC)")
    return axes


def _measure_entries(ledger: Ledger, first: int, samples: int) -> dict[str, list[tuple[datetime.datetime, float]]]:
    """Returns the fragmentation of each class at equal distances from entry `first` on."""
    newest = ledger.snapshot()
    last = newest.seq
    n_steps = min(samples - 1, last - first)
    seqs = [first + (last - first) * at // n_steps for at in range(n_steps)] + [last] if last >= first else []
    lines: dict[str, list[tuple[datetime.datetime, float]]] = {}
    for seq in seqs:
        snapshot = newest if seq == last else ledger.snapshot_at(seq)
        for one, measured in zip(snapshot.classes, snapshot.measure_fragmentation()):
            if measured.free_hosts > 0:
                name = f"{one.accelerator} {one.topology}"
                lines.setdefault(name, []).append((_time(snapshot.clock_ms or 0), measured.least_ppm / 1e6))
    return lines


def fragmentation(ledger: Ledger, *, samples: int = 24, axes: Any = None) -> Any:
    """Draws the fragmentation of each class over the entries of the journal, at equal distances.

    0 means that parts of each shape can use all free hosts, and 1 that no part fits. A class without a free host has no
    value then. Each sample replays the journal up to its entry.

    Args:
        ledger: the ledger whose journal is replayed.
        samples: at how many entries to measure, at least 2.
        axes: axes of matplotlib; None: new ones.

    Returns:
        the axes.

    Raises:
        ImportError: matplotlib is not installed.
        InvalidError: `samples` is below 2.
    """
    _check_type(ledger, "ledger", Ledger)
    samples = _c.to_int(samples, "samples", _c.UINT32)
    if samples < 2:
        raise errors.InvalidError(f"samples {samples}: expected 2 or more")
    axes = _new_axes("quoit.plot.fragmentation()", axes)
    lines = _read_journal(ledger, lambda first: _measure_entries(ledger, max(first, 1), samples))
    for number, (name, points) in enumerate(lines.items()):
        style = ("-", "--", ":", "-.")[number % 4]
        axes.step(*zip(*points), where="post", label=name, linestyle=style, marker="o", markersize=3)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("time (UTC)")
    axes.set_ylabel("fragmentation")
    if lines:
        axes.legend()
    return axes
