# SPDX-License-Identifier: Apache-2.0
"""Why a request fits or not."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c
from ._c import lib


class Verdict(_c.Code):
    """Whether a request fits; the numbers are those of `ErrorCode`."""

    FITS = 0
    NOT_NOW = 5
    """It would fit with every group released, every known node alive and undrained, all external use ended."""
    NEVER = 6
    """Not even then."""


class Constraint(_c.Code):
    """What narrows the slices of the fleet down to those that can be had now.

    A slice is counted against the first that it fails, in this order. For bundles nodes are narrowed down, to those
    that one bundle can be placed on now, in the order POOL, ZONE, SELECTOR, NAMED_SLICE, EXCLUDED_SLICE,
    TOPOLOGY_LABEL, TOTAL, ALIVE, DRAINING, HELD, EXTERNAL, CHIPS, STRATEGY.
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
    """Every host alive, nothing contradicts."""
    DRAINING = 10
    """No host draining."""
    HELD = 11
    """No host held by a group."""
    EXTERNAL = 12
    """No host in external use."""
    TOPOLOGY_LABEL = 13
    """The node has the label."""
    TOTAL = 14
    """It has so much in all."""
    ALIVE = 15
    """It is not dead."""
    CHIPS = 16
    """What is left of it is whole chips, or so much of one chip."""
    STRATEGY = 17
    """All bundles can be placed together."""


class RayAnswer(_c.Code):
    """What Ray 2.60's control plane would answer."""

    NONE = 0
    """It has no such request: whole slices, several values of a label."""
    SUCCESS = 1
    """Placed."""
    FAILED = 2
    """Not placed; tried again each second."""
    INFEASIBLE = 3
    """Not placed; tried again when a node joins."""


class StepKind(_c.Code):
    """One change that would help; `Step.name` and `Step.number` say of what."""

    NODE_BACK = 1
    """The named node, now dead, is alive again."""
    UNDRAIN = 2
    """The named node is no longer draining."""
    RELEASE = 3
    """The group of that name and id is released."""
    EXTERNAL_ENDS = 4
    """What uses the named node, and is no group, ends."""
    FEWER_SLICES = 5
    """The number of slices to ask for."""
    OTHER_TOPOLOGY = 6
    """The topology to ask for; a number: on hosts of that many chips."""
    OTHER_HOSTS = 7
    """The number of chips a host to ask for."""
    LEASE_ENDS = 8
    """The lease of the group of that NAME@ID ends, at that time in milliseconds since 1970 UTC."""
    SOURCE_REMOVES = 9
    """The group of that name and id is removed by the source that has made it."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One change of an option."""

    kind: StepKind
    name: str | None
    """The node, group or topology; None where the number says all."""
    number: int | None
    """The group's id, the number of slices or of chips, or the time; None where the name says all."""


@dataclasses.dataclass(frozen=True)
class Option:
    """A set of changes that alone turns the refusal into a yes."""

    steps: tuple[Step, ...]
    """All of them must be taken."""
    text: str
    """In words: "release train@17 and undrain host-3"."""


@dataclasses.dataclass(frozen=True)
class Reason:
    """A constraint that removed slices, or nodes."""

    constraint: Constraint
    before: int
    """Those that passed every constraint before this one."""
    after: int
    """Those of them that passed this one too."""
    text: str
    """In words: "2 of 3 slices are held by groups"."""


@dataclasses.dataclass(frozen=True)
class Miss:
    """A node that comes near to being enough for the bundle that is hardest to place."""

    node: str
    resource: str
    """Of what it has too little; of several the one that lacks most."""
    left: str
    """How much of it is left there, as decimal text."""
    wanted: str
    """How much of it the bundle wants, as decimal text."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Why a request fits or not: what each constraint removed, and what would turn a "no" into a "yes".

    It is whole, keeps nothing of the ledger, and can be pickled.
    """

    verdict: Verdict
    n_wanted: int
    """The slices, or bundles, that the request asks for."""
    n_now: int
    """The slices that satisfy the request, or nodes that `bundle` can be placed on, now."""
    n_could: int
    """The same, with every group released and every known node alive and undrained."""
    bundle: int | None
    """The bundle that is hardest to place, of which reasons and misses are; None where slices were asked for."""
    reasons: tuple[Reason, ...]
    """First what stands in the way first."""
    options: tuple[Option, ...]
    """Changes that would help, the smallest set first."""
    misses: tuple[Miss, ...]
    """The nodes that come nearest to being enough for `bundle`, where none is: at most three, the nearest first."""
    ray_answer: RayAnswer
    """What Ray would answer now."""
    does_ray_vary: bool
    """Whether Ray chooses among equally good nodes as it happens, so that its answer may be another next time."""
    is_proven: bool
    """False where the verdict is only that nothing was found within a stated number of steps."""
    _sentence: str = dataclasses.field(repr=False)

    @property
    def is_of_bundles(self) -> bool:
        """Whether bundles were asked for, and the numbers are of nodes."""
        return self.bundle is not None

    def summary(self, what: str) -> str:
        """Verdict, numbers, dominant reason and first option in one sentence that begins with `what` was asked."""
        _c.to_text(what, "what")
        return what + self._sentence


def taken_report(pointer: Any) -> Report:
    """What the report says; it is freed."""
    try:
        return Report(
            verdict=Verdict(lib.quoit_report_get_verdict(pointer)),
            n_wanted=int(lib.quoit_report_get_n_wanted(pointer)),
            n_now=int(lib.quoit_report_get_n_now(pointer)),
            n_could=int(lib.quoit_report_get_n_could(pointer)),
            bundle=int(lib.quoit_report_get_bundle(pointer)) if lib.quoit_report_is_of_bundles(pointer) else None,
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
        _c.text_or_none(lib.quoit_report_get_step_name(pointer, option, at)),
        lib.quoit_report_get_step_number(pointer, option, at) or None,
    )


def _miss(pointer: Any, at: int) -> Miss:
    return Miss(
        _c.text(lib.quoit_report_get_miss_node(pointer, at)),
        _c.text(lib.quoit_report_get_miss_resource(pointer, at)),
        _c.taken_text(lib.quoit_report_dup_miss_left(pointer, at)),
        _c.taken_text(lib.quoit_report_dup_miss_wanted(pointer, at)),
    )
