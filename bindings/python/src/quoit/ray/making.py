# SPDX-License-Identifier: Apache-2.0
"""How slices are had: held in the ledger, made in Ray, confirmed; or all of it given back."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import errors
from ..groups import Group, GroupState
from ..requests import Request
from . import cluster, owners
from .ledgers import RayLedger, live_group
from .shapes import NodeIsGone, Shape, SlicePins, pin, shortage

_log = logging.getLogger("quoit.ray")

HOLD_S = 60.0
"""How long a hold lives that was not confirmed: a driver that is killed before it leaves no more behind."""

FRESH_S = 2.0
"""How old what the ledger was told may be when it is asked first. Before a request is refused it is always told anew.
"""

PLACE_S = 10.0
"""How long Ray may take to place groups on hosts that are free."""

REMOVE_S = 10.0
"""How long removed groups may keep their chips before the ledger gives them back all the same."""

_SETTLE_S = 1.0
_LOOK_S = 0.15
_BLOCKED_S = 1.0
_LONGEST_PAUSE_S = 0.25


class NoRoomError(errors.NotNowError, TimeoutError):
    """The slices were not free, and did not become free in the time that the caller gave; ``report`` says why.

    Also a TimeoutError, which is what Ray's helper raises.
    """


@dataclasses.dataclass(frozen=True)
class Wish:
    """What a caller wants, and in whose name."""

    ledger: RayLedger
    shape: Shape
    name: str
    """Of Ray's groups; "": that of the ledger's group."""
    key: str | None
    owner: str
    lease_s: float

    @property
    def is_detached(self) -> bool:
        """Whether the groups outlive the driver: then nothing of this process keeps them."""
        return bool(self.shape.arguments["lifetime"] == "detached")


@dataclasses.dataclass
class Made:
    """What was made of a wish."""

    group: Group
    selectors: list[dict[str, str]]
    """Where Ray puts each bundle, over all slices."""
    ray_groups: list[Any]
    """One for all slices, or one a slice, in the order of the group's slices; none while they are being replaced."""


class HeldElsewhere(Exception):
    """The request key names a live group, which another driver or call has made."""


class NotPlacedError(Exception):
    """Ray has not placed the groups. ``excluded``: a slice whose hosts could never have them."""

    def __init__(self, why: str, excluded: str | None = None) -> None:
        super().__init__(why)
        self.excluded = excluded


def make(wish: Wish, timeout_s: float) -> Made:
    """Holds, makes and confirms; tries anew until there is room, or for `timeout_s`. `HeldElsewhere` comes of the key.

    Whatever else comes between, an interruption included: all is given back.

    Raises:
        NotNowError: not in that time.
        NeverError: it would not fit an empty fleet either.
    """
    end = time.monotonic() + timeout_s
    excluded: dict[str, str] = {}
    within_s = FRESH_S
    while True:
        attempt = _Attempt(wish, excluded)
        try:
            attempt.hold(end, timeout_s, within_s)
            return attempt.place(end)
        except NotPlacedError as error:
            attempt.give_back()
            # What the ledger was told while this held its place there was taken for this one's doing.
            within_s = 0.0
            if error.excluded is not None:
                excluded[error.excluded] = str(error)
            elif time.monotonic() >= end:
                raise refusal(wish, errors.NotNowError(str(error)), attempt.request, timeout_s) from None
        except BaseException:
            attempt.give_back()
            raise


class _Attempt:
    """One hold, and what was made for it."""

    def __init__(self, wish: Wish, excluded: Mapping[str, str]) -> None:
        self._wish = wish
        self._ledger = wish.ledger
        self._excluded = excluded
        self._is_asking = False
        self._group: Group | None = None
        self._listing: cluster.Listing | None = None
        self._ray_names: list[str] = []
        self._ray_groups: list[Any] = []
        # With a key no two calls ask for the same, and the ledger gives a group to one of them alone.
        rules = wish.shape.rules
        base = wish.name or f"{rules.accelerator_version}-{rules.topology}"
        self.request = self._request(base if wish.name and wish.key is None else _unique(base))

    def _request(self, name: str) -> Request:
        return self._wish.shape.request(name, self._wish.key, self._wish.owner, self._excluded)

    # --- hold ---

    def hold(self, end: float, timeout_s: float, within_s: float) -> None:
        """Holds as soon as there is room. What the ledger was told a moment ago will do for a yes; before a no it is
        told anew, twice, as what others do between two lists may look like use."""
        pause_s, n_refused = 0.02, 0
        settled = time.monotonic() + _SETTLE_S
        while True:
            self._listing = self._ledger.listing(within_s)
            try:
                self._group = self._held()
                return
            except (errors.NotNowError, errors.NeverError) as error:
                n_refused += within_s == 0
                is_known = n_refused >= 2 and not (self._listing.is_settling() and time.monotonic() < settled)
                if is_known and (isinstance(error, errors.NeverError) or time.monotonic() >= end):
                    raise refusal(self._wish, error, self.request, timeout_s, self._excluded, self._listing) from None
            if within_s == 0:
                time.sleep(max(0.0, min(pause_s, end - time.monotonic())) if is_known else 0.02)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            within_s = 0.0

    def _held(self) -> Group:
        while True:
            self._is_asking = True
            try:
                group = self._ledger.quoit.hold(self.request, int(HOLD_S * 1000))
            except errors.Error as error:
                self._is_asking = False
                if not self._is_mended(error):
                    raise
                continue
            if group.state is not GroupState.REMOVED:
                return group
            # What the key named is over: a job that is started again wants slices again.
            assert self._wish.key is not None
            self._ledger.quoit.forget_key(self._wish.key)

    def _is_mended(self, error: errors.Error) -> bool:
        """Whether the same may be asked again, under another name or with a new lease of the owner."""
        if isinstance(error, errors.ExpiredError):
            self._ledger.quoit.set_owner(self._wish.owner, lease_ms=int(self._wish.lease_s * 1000))
            return True
        if not isinstance(error, errors.ConflictError):
            return False
        if self._wish.key is not None:
            if live_group(self._ledger, key=self._wish.key) is not None:
                raise HeldElsewhere from None
            if self._is_over(self._wish.key):
                return True
        elif self.request.name == self._wish.name:
            # Ray's names are those of a namespace, and two jobs may both say "train".
            self.request = self._request(_unique(self._wish.name))
            return True
        return False

    def _is_over(self, key: str) -> bool:
        try:
            self._ledger.quoit.forget_key(key)
        except (errors.NotFoundError, errors.ConflictError):
            return False
        return True

    # --- place ---

    def place(self, end: float) -> Made:
        """Makes Ray's groups where the hold is, and confirms it when all of them are placed."""
        assert self._group is not None
        pins = self._pins(self._group)
        lacking = shortage(pins)
        if lacking is not None:
            raise NotPlacedError(lacking[1], lacking[0])
        for name, bundles in ray_groups_of(self._wish, self._group, pins):
            self._ray_names.append(name)
            self._ray_groups.append(create(self._wish.shape, name, bundles))
        made = Made(self._group, [dict(selector) for one in pins for selector in one.selectors], self._ray_groups)
        write_record(self._wish, made)
        wait_placed(self._ledger, pins, self._ray_groups, end)
        made.group = self._ledger.quoit.confirm(self._group)
        return made

    def _pins(self, group: Group) -> list[SlicePins]:
        assert self._listing is not None
        snapshot = self._ledger.quoit.snapshot()
        try:
            return pin(self._wish.shape, group, snapshot, self._listing)
        except NodeIsGone:
            self._listing = self._ledger.listing(0.0)
        try:
            return pin(self._wish.shape, group, snapshot, self._listing)
        except NodeIsGone as error:
            raise NotPlacedError(f"node {error} is gone from Ray") from None

    # --- give back ---

    def give_back(self) -> None:
        """Removes what was made in Ray, then releases the hold; a signal that comes meanwhile waits for its end."""
        try:
            self._give_back()
        except KeyboardInterrupt:
            self._give_back()
            raise

    def _give_back(self) -> None:
        group = self._group
        if group is None and self._is_asking:
            group = live_group(self._ledger, name=self.request.name)
        if group is None:
            return
        ray_groups = list(self._ray_groups)
        if len(self._ray_names) > len(ray_groups):
            known = {cluster.group_id(one) for one in ray_groups}
            ray_groups += [one for one in cluster.named_groups(self._ray_names) if cluster.group_id(one) not in known]
        free(self._ledger, group, ray_groups)
        if self._wish.key is not None:
            self._is_over(self._wish.key)


def _unique(base: str) -> str:
    return f"{base}-{uuid.uuid4().hex[:8]}"


# --- in Ray -------------------------------------------------------------------------------------------------------


def ray_groups_of(wish: Wish, group: Group, pins: Sequence[SlicePins]) -> Iterator[tuple[str, list[SlicePins]]]:
    """The names of Ray's groups, and the slices of each."""
    base = wish.name or group.name
    if not wish.shape.arguments["pg_per_slice"]:
        yield base, list(pins)
        return
    for index, one in enumerate(pins):
        yield f"{base}_slice_{index}", [one]


def create(shape: Shape, name: str, pins: Sequence[SlicePins]) -> Any:
    """A placement group of the slices' bundles."""
    bundles = [bundle for one in pins for bundle in one.bundles]
    selectors = [selector for one in pins for selector in one.selectors]
    return cluster.create_group(bundles, selectors, shape.arguments["strategy"], name, shape.arguments["lifetime"])


def write_record(wish: Wish, made: Made) -> None:
    """Says what Ray's groups of a group are, to `sync` and to `attach`; none: that they are being replaced."""
    ids = [cluster.group_id(one) for one in made.ray_groups]
    record = {"groups": ids, "selectors": made.selectors, "name": wish.name, "arguments": wish.shape.arguments}
    cluster.write_record(owners.record_key(made.group), record)


def wait_placed(ledger: RayLedger, pins: Sequence[SlicePins], ray_groups: Sequence[Any], end: float) -> None:
    """Waits until all are placed, for as long as nothing is in their way: a `NotPlacedError` says what is.

    Another group that stops Ray altogether may be mended; it is waited for until `end`.
    """
    began = time.monotonic()
    while not cluster.wait_placed(ray_groups, _LOOK_S):
        listing = ledger.listing(0.0)
        obstacle = _obstacle(pins, ray_groups, listing)
        if obstacle is not None:
            raise NotPlacedError(obstacle)
        blocking = _blocking(listing)
        waited = time.monotonic() - began
        if waited >= PLACE_S or (blocking and waited >= _BLOCKED_S and time.monotonic() >= end):
            raise NotPlacedError(f"Ray has not placed the groups in {waited:.1f} s{blocking}")


def _obstacle(pins: Sequence[SlicePins], ray_groups: Sequence[Any], listing: cluster.Listing) -> str | None:
    ends = tuple(cluster.group_id(one) for one in ray_groups)
    alive = {node["NodeID"] for node in listing.alive()}
    for one in pins:
        for node in one.nodes:
            if node["NodeID"] not in alive:
                return f"host '{node['NodeName']}' of slice '{one.name}' is gone"
            left = listing.available.get(node["NodeID"], {})
            is_ours = any(name.endswith(ends) for name in left)
            if not is_ours and not listing.is_settling() and left.get("TPU", 0.0) < node["Resources"].get("TPU", 0.0):
                return f"host '{node['NodeName']}' of slice '{one.name}' was taken by another"
    return None


def _blocking(listing: cluster.Listing) -> str:
    """The groups that Ray 2.60 tries to place again and again, and no other beside them.

    One whose bundles are pinned to hosts is not of them: without its host it is INFEASIBLE, and put aside.
    """
    names = [row["name"] or group for group, row in listing.groups.items() if _is_blocking(row)]
    if not names:
        return ""
    return f": it places nothing while '{', '.join(names)}' is RESCHEDULING: remove it, or bring its host back"


def _is_blocking(row: Mapping[str, Any]) -> bool:
    is_put_aside = bool(row.get("stats", {}).get("scheduling_state") == "INFEASIBLE")
    return bool(row["state"] == "RESCHEDULING") and not is_put_aside


def free(ledger: RayLedger, group: Group, ray_groups: Sequence[Any]) -> None:
    """Removes Ray's groups, and frees in the ledger when Ray shows that their chips are free."""
    try:
        if ray_groups and not cluster.remove_groups(ray_groups, REMOVE_S):
            _log.warning("%s is released, and something still runs on its chips after %g s", group.handle, REMOVE_S)
    except errors.NotFoundError as error:
        # What cannot be seen to be free is not freed here: the next sync does it, or the end of the lease.
        _log.warning("%s was not released: %s", group.handle, error)
        return
    with contextlib.suppress(errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
        ledger.quoit.release(group)
    with contextlib.suppress(errors.NotFoundError):
        cluster.delete_record(owners.record_key(group))


# --- no -----------------------------------------------------------------------------------------------------------


def refusal(
    wish: Wish,
    error: errors.RefusedError,
    request: Request,
    timeout_s: float,
    excluded: Mapping[str, str] | None = None,
    listing: cluster.Listing | None = None,
) -> errors.RefusedError:
    """The refusal in the words of Ray's users, with the whole explanation."""
    words = [f"{wish.shape.words}: {error}", *(excluded or {}).values()]
    if isinstance(error, errors.NeverError):
        if listing is not None:
            words += unlabelled(listing)
        refused: errors.RefusedError = errors.NeverError("; ".join(words))
    else:
        refused = NoRoomError(f"{'; '.join(words)} (asked for {timeout_s:g} s)")
    with contextlib.suppress(errors.Error):
        refused.report = wish.ledger.quoit.snapshot().explain(request)
    return refused


def unlabelled(listing: cluster.Listing) -> list[str]:
    """What is wrong with hosts that have chips and belong to no slice."""
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
