# SPDX-License-Identifier: Apache-2.0
"""Reports: why a request fits or not."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c, errors
from ._c import lib


class Verdict(_c.Code):
    """Whether a request fits. NOT_NOW and NEVER have the numbers of `ErrorCode`."""

    FITS = lib.QUOIT_VERDICT_FITS
    NOT_NOW = lib.QUOIT_VERDICT_NOT_NOW
    """The request would fit with every group released, every known node alive and undrained, and no external use."""
    NEVER = lib.QUOIT_VERDICT_NEVER
    """The request would not fit even in the conditions of NOT_NOW."""


class Constraint(_c.Code):
    """A test that removes slices, or nodes for a bundle. Each slice or node counts at the first test that it fails."""

    ACCELERATOR = lib.QUOIT_CONSTRAINT_ACCELERATOR
    """The slice has the requested generation."""
    TOPOLOGY = lib.QUOIT_CONSTRAINT_TOPOLOGY
    """The slice has the requested topology."""
    CHIPS_PER_HOST = lib.QUOIT_CONSTRAINT_CHIPS_PER_HOST
    """The hosts have the requested number of chips."""
    POOL = lib.QUOIT_CONSTRAINT_POOL
    """The slice or node is in the requested pool."""
    ZONE = lib.QUOIT_CONSTRAINT_ZONE
    """The slice or node is in the requested zone."""
    SELECTOR = lib.QUOIT_CONSTRAINT_SELECTOR
    """The labels satisfy the selectors."""
    NAMED_SLICE = lib.QUOIT_CONSTRAINT_NAMED_SLICE
    """The slice is one of those that the request names."""
    EXCLUDED_SLICE = lib.QUOIT_CONSTRAINT_EXCLUDED_SLICE
    """The request does not exclude the slice."""
    INTACT = lib.QUOIT_CONSTRAINT_INTACT
    """All hosts of the slice are there once, alive or draining, and agree with each other."""
    DRAINING = lib.QUOIT_CONSTRAINT_DRAINING
    """No host of the slice is draining; or the node is not draining."""
    ALLOCATED = lib.QUOIT_CONSTRAINT_ALLOCATED
    """No host of the slice is allocated to a group, confirmed or not; or groups leave enough of the node."""
    EXTERNAL = lib.QUOIT_CONSTRAINT_EXTERNAL
    """No host of the slice is in external use; or external use leaves enough of the node."""
    TOPOLOGY_LABEL = lib.QUOIT_CONSTRAINT_TOPOLOGY_LABEL
    """The node has the topology label of the request."""
    TOTAL = lib.QUOIT_CONSTRAINT_TOTAL
    """The node would have enough of each resource if nothing used it."""
    ALIVE = lib.QUOIT_CONSTRAINT_ALIVE
    """The node is not dead."""
    CHIPS = lib.QUOIT_CONSTRAINT_CHIPS
    """The node has enough free whole chips; or, for less than 1 TPU, one of its chips has enough free."""
    STRATEGY = lib.QUOIT_CONSTRAINT_STRATEGY
    """The strategy allows all bundles to be placed together."""
    QUOTA = lib.QUOIT_CONSTRAINT_QUOTA
    """The quotas admit the slices, or all bundles (`Ledger.set_quota`)."""
    EXCLUDED_NODE = lib.QUOIT_CONSTRAINT_EXCLUDED_NODE
    """The request does not exclude the node, or a node of the slice."""
    ONE_ZONE = lib.QUOIT_CONSTRAINT_ONE_ZONE
    """All hosts of the slice are in one zone, if the request compares zones."""
    KEEP_TO = lib.QUOIT_CONSTRAINT_KEEP_TO
    """The slices are in the pool or zone that has most of them (`Request`, `keep_to`)."""
    SPREAD = lib.QUOIT_CONSTRAINT_SPREAD
    """The slices are within the skew (`Spread`)."""
    BLOCK = lib.QUOIT_CONSTRAINT_BLOCK
    """The slices are cubes of a block that can hold a slice of the topology (`Cubes`)."""
    CUBE_LABEL = lib.QUOIT_CONSTRAINT_CUBE_LABEL
    """The slices are cubes with a valid block, or a valid position in it; the detail names the label."""


class RayAnswer(_c.Code):
    """The answer that Ray 2.60's control plane would give."""

    NONE = lib.QUOIT_RAY_ANSWER_NONE
    """Ray cannot express the request, because it is for whole slices, or uses several values of a topology label."""
    SUCCESS = lib.QUOIT_RAY_ANSWER_SUCCESS
    """Ray places the bundles."""
    FAILED = lib.QUOIT_RAY_ANSWER_FAILED
    """Ray does not place the bundles now, and retries each second."""
    INFEASIBLE = lib.QUOIT_RAY_ANSWER_INFEASIBLE
    """Ray does not place the bundles, and retries when a node joins."""


class StepKind(_c.Code):
    """The type of a change that would help. The text of each type names the fields of `Step` that are not None."""

    NODE_ALIVE = lib.QUOIT_STEP_NODE_ALIVE
    """`node`, which is dead, must be alive again."""
    UNDRAIN = lib.QUOIT_STEP_UNDRAIN
    """Undrain `node`."""
    RELEASE = lib.QUOIT_STEP_RELEASE
    """Release `group`."""
    EXTERNAL_ENDS = lib.QUOIT_STEP_EXTERNAL_ENDS
    """The external use of `node` must end."""
    FEWER_SLICES = lib.QUOIT_STEP_FEWER_SLICES
    """Request `n_slices`."""
    OTHER_TOPOLOGY = lib.QUOIT_STEP_OTHER_TOPOLOGY
    """Request `topology`, on hosts of `chips_per_host` if that is not None."""
    OTHER_HOSTS = lib.QUOIT_STEP_OTHER_HOSTS
    """Request `chips_per_host`."""
    LEASE_ENDS = lib.QUOIT_STEP_LEASE_ENDS
    """Wait until the lease of `group` ends, at `until_ms`, unless it is renewed; or until a reservation ahead ends."""
    EXPECTED_END = lib.QUOIT_STEP_EXPECTED_END
    """Wait until `group` is expected to end, at `until_ms` (`Ledger.set_expected_end`)."""
    WINDOW_ENDS = lib.QUOIT_STEP_WINDOW_ENDS
    """Wait until the window of the calendar that `group` names ends, at `until_ms`."""
    SOURCE_REMOVES = lib.QUOIT_STEP_SOURCE_REMOVES
    """The source that owns `group` must remove it."""
    SHRINK = lib.QUOIT_STEP_SHRINK
    """Resize `group`, which is elastic or to be repaired, to `n_slices`."""
    CUT = lib.QUOIT_STEP_CUT
    """Request parts of larger slices: `Cut.ANY`."""
    CUT_PARTITION = lib.QUOIT_STEP_CUT_PARTITION
    """Request parts of larger slices: `Cut.PARTITION`, for tpu7x, which has no other parts."""
    JOIN_CUBES = lib.QUOIT_STEP_JOIN_CUBES
    """Request slices of cubes: `Cubes.ANY`."""


class OptionOrder(_c.Code):
    """An order in which options are compared. Its options only wait for groups, or release groups."""

    EARLIEST = lib.QUOIT_OPTION_ORDER_EARLIEST
    """Waiting only: the earliest time comes first."""
    FEWEST_GROUPS = lib.QUOIT_OPTION_ORDER_FEWEST_GROUPS
    """Releasing only, at once: the fewest groups come first."""
    FEWEST_CHIPS = lib.QUOIT_OPTION_ORDER_FEWEST_CHIPS
    """Releasing only, at once: the groups with the fewest chips come first."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One change of an option."""

    kind: StepKind
    node: str | None = None
    group: str | None = None
    """The group's handle, NAME@ID."""
    until_ms: int | None = None
    """Until when the step waits, in milliseconds since 1970 UTC."""
    topology: str | None = None
    chips_per_host: int | None = None
    n_slices: int | None = None


@dataclasses.dataclass(frozen=True)
class Option:
    """A set of changes after which the request fits."""

    steps: tuple[Step, ...]
    """The changes. All of them are necessary."""
    text: str
    """The changes in words: "release train@17 and undrain host-3"."""
    time_ms: int | None
    """The last time of the waiting steps, in milliseconds since 1970 UTC; None: the option waits for nothing."""
    n_groups: int
    """How many groups the option releases or shrinks."""
    chips: str
    """The chips that these groups give up, as decimal text."""


@dataclasses.dataclass(frozen=True)
class BestOption:
    """The best option in one order."""

    order: OptionOrder
    option: Option
    is_proven: bool
    """Whether no option is better in this order. False: the search was cut, or reservations ahead, windows or the policy
    ``ray`` prevent a proof."""


@dataclasses.dataclass(frozen=True)
class Reason:
    """A constraint that removed slices or nodes."""

    constraint: Constraint
    before: int
    """How many slices or nodes passed all earlier constraints."""
    after: int
    """How many of these slices or nodes passed this constraint too."""
    text: str
    """The reason in words: "2 of 3 slices are allocated to groups"."""


@dataclasses.dataclass(frozen=True)
class Miss:
    """A node that nearly has enough for the bundle that is hardest to place."""

    node: str
    resource: str
    """The resource of which the node has too little. If there are several, the resource with the largest shortage."""
    available: str
    """The free amount on the node, as decimal text."""
    requested: str
    """The amount that the bundle needs, as decimal text."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Why a request fits or not: what each constraint removed, and which changes would make the request fit.

    A report does not depend on the ledger, and can be pickled.
    """

    verdict: Verdict
    n_wanted: int
    """The number of requested slices or bundles."""
    n_free_now: int
    """How many slices satisfy the request now, or on how many nodes `bundle` can be placed now."""
    n_possible: int
    """The number like `n_free_now`, but with every group released and every known node alive and undrained."""
    bundle: int | None
    """The index of the bundle that is hardest to place. Reasons and misses are about this bundle. None: the request is
    for slices."""
    reasons: tuple[Reason, ...]
    """The reasons, the main reason first."""
    options: tuple[Option, ...]
    """Changes that would help, the smallest set first."""
    best_options: tuple[BestOption, ...]
    """The best of `options` in each order; an order without an option is left out."""
    misses: tuple[Miss, ...]
    """At most three nodes that nearly have enough for `bundle`, the nearest first; empty if a node has enough."""
    ray_answer: RayAnswer
    """The answer that Ray would give now."""
    can_ray_answer_vary: bool
    """Whether Ray's answer can differ the next time, because Ray chooses randomly among equally good nodes."""
    alternative: int
    """Which alternative of the request the report is about, counted from 1: the first one that fits, else the first one
    that fits later; 0: the request itself."""
    alternatives: tuple[AlternativeReport, ...]
    """One for each alternative, the request itself first; empty if the request has no alternatives."""
    is_proven: bool
    """False if the verdict only means that a search with a fixed number of steps found nothing."""
    _sentence: str = dataclasses.field(repr=False)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.of_report(self)

    @property
    def is_of_bundles(self) -> bool:
        """Whether the request is for bundles, so that the numbers count nodes."""
        return self.bundle is not None

    def best_option(self, order: OptionOrder) -> Option | None:
        """Returns the best option in the order; None: no option only waits, or only releases groups."""
        return next((best.option for best in self.best_options if best.order == order), None)

    def summary(self, what: str) -> str:
        """Returns verdict, numbers, main reason and first option in one sentence that begins with `what`."""
        _c.to_text(what, "what")
        return what + self._sentence


@dataclasses.dataclass(frozen=True)
class AlternativeReport:
    """Why one alternative of a request fits or not. It has either a report or an error."""

    report: Report | None
    """The report on this alternative, without `alternatives`."""
    code: int | None
    """The `ErrorCode` of the error, such as NOT_FOUND for a pool that the fleet does not have; None: there is none."""
    message: str | None
    """The message of the error; None: there is none."""


def take_report(pointer: Any) -> Report:
    """Converts a report, and frees it."""
    return _take_report(pointer, lib.quoit_report_get_n_alternatives(pointer))


def _take_report(pointer: Any, n_alternatives: int) -> Report:
    try:
        options = tuple(_option(pointer, at) for at in range(lib.quoit_report_get_n_options(pointer)))
        return Report(
            verdict=Verdict(lib.quoit_report_get_verdict(pointer)),
            n_wanted=int(lib.quoit_report_get_n_wanted(pointer)),
            n_free_now=int(lib.quoit_report_get_n_free_now(pointer)),
            n_possible=int(lib.quoit_report_get_n_possible(pointer)),
            bundle=_bundle(pointer),
            reasons=tuple(_reason(pointer, at) for at in range(lib.quoit_report_get_n_reasons(pointer))),
            options=options,
            best_options=_best_options(pointer, options),
            misses=tuple(_miss(pointer, at) for at in range(lib.quoit_report_get_n_misses(pointer))),
            ray_answer=RayAnswer(lib.quoit_report_get_ray_answer(pointer)),
            can_ray_answer_vary=bool(lib.quoit_report_can_ray_answer_vary(pointer)),
            alternative=int(lib.quoit_report_get_alternative(pointer)),
            alternatives=tuple(_alternative(pointer, at) for at in range(n_alternatives) if n_alternatives > 1),
            is_proven=bool(lib.quoit_report_is_proven(pointer)),
            _sentence=_c.take_text(lib.quoit_report_dup_summary(pointer, b"")),
        )
    finally:
        lib.quoit_report_unref(pointer)


def _bundle(pointer: Any) -> int | None:
    bundle = int(lib.quoit_report_get_bundle(pointer))
    return None if bundle < 0 else bundle


def _alternative(pointer: Any, at: int) -> AlternativeReport:
    try:
        report = _c.call(lib.quoit_report_dup_alternative, pointer, at)
    except errors.Error as error:
        return AlternativeReport(None, error.code, str(error))
    return AlternativeReport(_take_report(report, 1), None, None)


def _reason(pointer: Any, at: int) -> Reason:
    return Reason(
        Constraint(lib.quoit_report_get_reason_constraint(pointer, at)),
        int(lib.quoit_report_get_reason_before(pointer, at)),
        int(lib.quoit_report_get_reason_after(pointer, at)),
        _c.take_text(lib.quoit_report_dup_reason_text(pointer, at)),
    )


def _option(pointer: Any, at: int) -> Option:
    steps = tuple(_step(pointer, at, step) for step in range(lib.quoit_report_get_n_steps(pointer, at)))
    return Option(
        steps,
        _c.take_text(lib.quoit_report_dup_option_text(pointer, at)),
        lib.quoit_report_get_option_time_ms(pointer, at) or None,
        int(lib.quoit_report_get_option_n_groups(pointer, at)),
        _c.amount_text(lib.quoit_report_get_option_chips(pointer, at)),
    )


def _best_options(pointer: Any, options: tuple[Option, ...]) -> tuple[BestOption, ...]:
    found = ((order, lib.quoit_report_find_option(pointer, order)) for order in OptionOrder)
    return tuple(
        BestOption(order, options[at], bool(lib.quoit_report_is_option_best(pointer, order)))
        for order, at in found
        if at >= 0
    )


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
        _c.amount_text(lib.quoit_report_get_miss_available(pointer, at)),
        _c.amount_text(lib.quoit_report_get_miss_requested(pointer, at)),
    )
