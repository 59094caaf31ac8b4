# SPDX-License-Identifier: Apache-2.0
"""Reports: why a request fits or not."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c
from ._c import lib


class Verdict(_c.Code):
    """Whether a request fits. The numbers are those of `ErrorCode`."""

    FITS = 0
    NOT_NOW = 5
    """It would fit with every group released, every known node alive and undrained, and no external use."""
    NEVER = 6
    """It would not fit even then."""


class Constraint(_c.Code):
    """A condition that removes slices or nodes from those that the request can have now.

    Each slice is counted for the first constraint that it fails, in this order. For bundles, the constraints remove
    nodes until those are left that one bundle can be placed on now, in the order POOL, ZONE, SELECTOR, NAMED_SLICE,
    EXCLUDED_SLICE, TOPOLOGY_LABEL, TOTAL, ALIVE, DRAINING, HELD, EXTERNAL, CHIPS, STRATEGY.
    """

    ACCELERATOR = 1
    TOPOLOGY = 2
    CHIPS_PER_HOST = 3
    POOL = 4
    ZONE = 5
    SELECTOR = 6
    NAMED_SLICE = 7
    EXCLUDED_SLICE = 8
    INTACT = 9
    """Every host is alive, and nothing contradicts."""
    DRAINING = 10
    """No host is draining."""
    HELD = 11
    """No host is held by a group."""
    EXTERNAL = 12
    """No host in external use."""
    TOPOLOGY_LABEL = 13
    """The node has the label."""
    TOTAL = 14
    """The node's total amounts are large enough."""
    ALIVE = 15
    """The node is not dead."""
    CHIPS = 16
    """The free TPU amount of the node is in whole chips, or enough of one chip."""
    STRATEGY = 17
    """All bundles can be placed together."""


class RayAnswer(_c.Code):
    """The answer that Ray 2.60's control plane would give."""

    NONE = 0
    """Ray has no such request: whole slices, or several values of a label."""
    SUCCESS = 1
    """Placed."""
    FAILED = 2
    """Not placed; Ray retries each second."""
    INFEASIBLE = 3
    """Not placed; Ray retries when a node joins."""


class StepKind(_c.Code):
    """The type of a change that would help. Each one names the members of `Step` that it sets; the others are None."""

    NODE_BACK = 1
    """`node`, now dead, is alive again."""
    UNDRAIN = 2
    """`node` is no longer draining."""
    RELEASE = 3
    """`group` is released."""
    EXTERNAL_ENDS = 4
    """The external use of `node` ends."""
    FEWER_SLICES = 5
    """Request `n_slices`."""
    OTHER_TOPOLOGY = 6
    """Request `topology`, on hosts of `chips_per_host` if that is not None."""
    OTHER_HOSTS = 7
    """Request `chips_per_host`."""
    LEASE_ENDS = 8
    """The lease of `group` ends at `until_ms`."""
    SOURCE_REMOVES = 9
    """The source that owns `group` removes it."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One change of an option."""

    kind: StepKind
    node: str | None = None
    group: str | None = None
    """The group's handle, NAME@ID."""
    until_ms: int | None = None
    """In milliseconds since 1970 UTC."""
    topology: str | None = None
    chips_per_host: int | None = None
    n_slices: int | None = None


@dataclasses.dataclass(frozen=True)
class Option:
    """A set of changes after which the request fits."""

    steps: tuple[Step, ...]
    """All of them are necessary."""
    text: str
    """In words: "release train@17 and undrain host-3"."""


@dataclasses.dataclass(frozen=True)
class Reason:
    """A constraint that removed slices or nodes."""

    constraint: Constraint
    before: int
    """The number that passed every constraint before this one."""
    after: int
    """The number that passed this one too."""
    text: str
    """In words: "2 of 3 slices are held by groups"."""


@dataclasses.dataclass(frozen=True)
class Miss:
    """A node that is almost enough for the bundle that is hardest to place."""

    node: str
    resource: str
    """The resource that the node has too little of; of several, the one that lacks most."""
    left: str
    """The free amount on the node, as decimal text."""
    wanted: str
    """The amount that the bundle needs, as decimal text."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Why a request fits or not: what each constraint removed, and which changes would make the request fit.

    It does not refer to the ledger, and can be pickled.
    """

    verdict: Verdict
    n_wanted: int
    """The number of slices or bundles that the request asks for."""
    n_now: int
    """The number of slices that satisfy the request now, or of nodes that `bundle` can be placed on now."""
    n_could: int
    """The same number with every group released and every known node alive and undrained."""
    bundle: int | None
    """The bundle that is hardest to place, which reasons and misses refer to; None for a request for slices."""
    reasons: tuple[Reason, ...]
    """The main obstacle first."""
    options: tuple[Option, ...]
    """Changes that would help, the smallest set first."""
    misses: tuple[Miss, ...]
    """At most three nodes that are almost enough for `bundle`, the nearest first; empty if a node is enough."""
    ray_answer: RayAnswer
    """The answer that Ray would give now."""
    does_ray_vary: bool
    """Whether Ray chooses randomly among equally good nodes, so that its answer can differ the next time."""
    is_proven: bool
    """False if the verdict only means that a search with a fixed number of steps found nothing."""
    _sentence: str = dataclasses.field(repr=False)

    @property
    def is_of_bundles(self) -> bool:
        """Whether the request asks for bundles, so that the numbers count nodes."""
        return self.bundle is not None

    def summary(self, what: str) -> str:
        """Returns verdict, numbers, main reason and first option in one sentence that begins with `what`."""
        _c.to_text(what, "what")
        return what + self._sentence


def taken_report(pointer: Any) -> Report:
    """Converts a report, and frees it."""
    try:
        return Report(
            verdict=Verdict(lib.quoit_report_get_verdict(pointer)),
            n_wanted=int(lib.quoit_report_get_n_wanted(pointer)),
            n_now=int(lib.quoit_report_get_n_now(pointer)),
            n_could=int(lib.quoit_report_get_n_could(pointer)),
            bundle=_bundle(pointer),
            reasons=tuple(_reason(pointer, at) for at in range(lib.quoit_report_get_n_reasons(pointer))),
            options=tuple(_option(pointer, at) for at in range(lib.quoit_report_get_n_options(pointer))),
            misses=tuple(_miss(pointer, at) for at in range(lib.quoit_report_get_n_misses(pointer))),
            ray_answer=RayAnswer(lib.quoit_report_get_ray_answer(pointer)),
            does_ray_vary=bool(lib.quoit_report_does_ray_vary(pointer)),
            is_proven=bool(lib.quoit_report_is_proven(pointer)),
            _sentence=_c.taken_text(lib.quoit_report_dup_summary(pointer, b"")),
        )
    finally:
        lib.quoit_report_unref(pointer)


def _bundle(pointer: Any) -> int | None:
    bundle = int(lib.quoit_report_get_bundle(pointer))
    return None if bundle < 0 else bundle


def _reason(pointer: Any, at: int) -> Reason:
    return Reason(
        Constraint(lib.quoit_report_get_reason_constraint(pointer, at)),
        int(lib.quoit_report_get_reason_before(pointer, at)),
        int(lib.quoit_report_get_reason_after(pointer, at)),
        _c.taken_text(lib.quoit_report_dup_reason_text(pointer, at)),
    )


def _option(pointer: Any, at: int) -> Option:
    steps = tuple(_step(pointer, at, step) for step in range(lib.quoit_report_get_n_steps(pointer, at)))
    return Option(steps, _c.taken_text(lib.quoit_report_dup_option_text(pointer, at)))


def _step(pointer: Any, option: int, at: int) -> Step:
    return Step(
        StepKind(lib.quoit_report_get_step_kind(pointer, option, at)),
        _c.text_or_none(lib.quoit_report_get_step_node(pointer, option, at)),
        _c.text_or_none(lib.quoit_report_get_step_group(pointer, option, at)),
        lib.quoit_report_get_step_until_ms(pointer, option, at) or None,
        _c.text_or_none(lib.quoit_report_get_step_topology(pointer, option, at)),
        lib.quoit_report_get_step_chips_per_host(pointer, option, at) or None,
        lib.quoit_report_get_step_n_slices(pointer, option, at) or None,
    )


def _miss(pointer: Any, at: int) -> Miss:
    return Miss(
        _c.text(lib.quoit_report_get_miss_node(pointer, at)),
        _c.text(lib.quoit_report_get_miss_resource(pointer, at)),
        _c.amount_text(lib.quoit_report_get_miss_left(pointer, at)),
        _c.amount_text(lib.quoit_report_get_miss_wanted(pointer, at)),
    )
