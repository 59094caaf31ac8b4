# SPDX-License-Identifier: Apache-2.0
"""slice_placement_group, as ray.util.tpu has it, on exactly the slices that quoit decided."""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from .. import errors
from ..groups import Group, GroupState
from ..reports import Report
from ..topologies import Profile
from ..topologies import topology as topology_of
from . import cluster, owners, versions
from .ends import to_its_end
from .ledgers import SOURCE, LedgerLike, RayLedger, SourceTakenError, ledger_of, live_group
from .making import FRESH_S, HeldElsewhere, make
from .placing import Made, Wish, give_up, release
from .refusals import NoRoomError
from .repairing import explain as explain_repair
from .repairing import repair
from .shapes import Shape, foreign, shape_of

_log = logging.getLogger("quoit.ray")

LEASE_S = 60.0
"""How long what a driver holds outlives its last sign of life, where no other driver's `sync` finds it dead before."""

_SHORTEST_LEASE_S, _LONGEST_LEASE_S = 0.001, 366 * 86400.0

TIMEOUT_S = 100.0
"""How long Ray's helper waits for a slice's head."""

_PAUSE_S = 0.05
_SETTLE_S = 1.0
_LOOK_S = 0.5


class SlicePlacementGroup:
    """Whole slices that are held in the ledger, and Ray's placement groups on them: all of it, or none.

    What `slice_placement_group` and `attach` return; made directly, it takes the arguments of Ray's class in their
    order and raises as `slice_placement_group` does. Its attributes are those of Ray's class, and `slice_names`,
    `group`, `state` and the rest. Bundle i of a slice stands on worker i, and slices stand in quoit's order, that of
    `slice_names`. The groups are placed when it is there: ``ready()`` of them need not be waited for.

    A context manager that releases it. Not released, it ends with its driver, as Ray's does, unless its lifetime is
    "detached". It may be used from several threads.
    """

    def __init__(
        self,
        topology: str,
        accelerator_version: str,
        resources_per_bundle: Mapping[str, float] | None = None,
        strategy: str = "SPREAD",
        name: str = "",
        lifetime: str | None = None,
        num_slices: int = 1,
        chips_per_vm: int | None = None,
        head_reservation_timeout_s: float | None = TIMEOUT_S,
        bundle_label_selector: Sequence[Mapping[str, str]] | None = None,
        pg_per_slice: bool = False,
        tpu_resource_per_chip: int | None = None,
        *,
        ledger: LedgerLike = None,
        source: str = SOURCE,
        key: str | None = None,
        owner: str | None = None,
        timeout_s: float | None = None,
        lease_s: float = LEASE_S,
    ) -> None:
        arguments = {
            "topology": topology,
            "accelerator_version": accelerator_version,
            "resources_per_bundle": None if resources_per_bundle is None else dict(resources_per_bundle),
            "strategy": strategy,
            "name": name,
            "lifetime": lifetime,
            "num_slices": num_slices,
            "chips_per_vm": chips_per_vm,
            "bundle_label_selector": (
                None if not bundle_label_selector else [dict(one) for one in bundle_label_selector]
            ),
            "pg_per_slice": pg_per_slice,
            "tpu_resource_per_chip": tpu_resource_per_chip,
        }
        versions.check()
        if lifetime not in (None, "detached"):
            raise errors.InvalidError(f"lifetime '{lifetime}': expected None or 'detached'")
        wait_s = head_reservation_timeout_s if timeout_s is None else timeout_s
        wait_s = math.inf if wait_s is None else _seconds(wait_s, "timeout_s")
        lease = _lease(lease_s)
        shape = shape_of(arguments)
        cluster.check_connected()
        wish = _wish(ledger_of(ledger, source), shape, key, owner, lease)
        self._find_or_make(wish, time.monotonic() + wait_s)

    def _find_or_make(self, wish: Wish, end: float) -> None:
        _wait_for_source(wish.ledger, end)
        while True:
            found = None if wish.key is None else _found(wish, end)
            if found is not None:
                return self._become(wish, found, is_own=False)
            try:
                return self._make(wish, max(0.0, end - time.monotonic()))
            except HeldElsewhere:
                continue

    def _make(self, wish: Wish, timeout_s: float) -> None:
        # The owner has a lease before anything is held in its name.
        sign = None if wish.is_detached else _sign(wish)
        attempt, made = f"attempt {time.monotonic_ns()}", None
        try:
            if sign is not None:
                sign.keep(attempt, wish.lease_s, wish.driver)
            made = make(wish, timeout_s)
            self._become(wish, made, is_own=sign is not None)
            if sign is not None:
                sign.keep(made.handle, wish.lease_s, wish.driver)
                sign.drop(attempt)
            if made.record is not None:
                made.record.let()
        except BaseException:
            done = made
            if done is not None:
                to_its_end(lambda: give_up(wish, done))
                self._is_released = True
                _kept.pop(id(self), None)
            if sign is not None:
                sign.drop(attempt)
                if done is not None:
                    sign.drop(done.handle)
            raise

    def _become(self, wish: Wish, made: Made, is_own: bool) -> None:
        self._wish = wish
        self._made = made
        self._is_released = False
        self._lock = threading.RLock()
        self._driver = wish.driver
        self._process = os.getpid()
        # Who made it gives the signs of life, and releases it at the driver's end.
        self._is_own = is_own
        if is_own:
            _keep(self)

    def __enter__(self) -> SlicePlacementGroup:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.release()
        except errors.Error as error:
            if value is None:
                raise
            # What the block has raised is what its caller has to know.
            _log.warning("%s was not released: %s", self._made.group.handle, error)

    def __repr__(self) -> str:
        what = "released" if self._is_released else ", ".join(self.slice_names)
        return f"<quoit.ray.SlicePlacementGroup {self._made.group.handle!r} {what}>"

    # --- as ray.util.tpu has it ---

    @property
    def placement_group(self) -> Any:
        """Ray's placement group of all slices; None after the release.

        Raises:
            InvalidError: each slice has its own (``pg_per_slice=True``): `slice_placement_groups` has them.
        """
        if self._wish.shape.arguments["pg_per_slice"]:
            raise errors.InvalidError("pg_per_slice 'True': expected slice_placement_groups to be read instead")
        ray_groups = self._ray_groups
        return ray_groups[0] if ray_groups else None

    slice_placement_group = placement_group

    @property
    def slice_placement_groups(self) -> list[Any]:
        """Ray's placement group of each slice, in the order of `slice_names`; none after the release.

        Raises:
            InvalidError: there is one for all (``pg_per_slice=False``): `placement_group` is it.
        """
        if not self._wish.shape.arguments["pg_per_slice"]:
            raise errors.InvalidError("pg_per_slice 'False': expected placement_group to be read instead")
        return list(self._ray_groups)

    @property
    def _ray_groups(self) -> list[Any]:
        return [] if self._is_released else self._made.ray_groups

    @property
    def placement_groups(self) -> list[Any]:
        """Ray's placement groups, be it one for all slices or one for each; none after the release."""
        return list(self._ray_groups)

    @property
    def head_placement_groups(self) -> list[Any]:
        """None, ever: the first bundle of a slice takes the slice's head resource, and nothing has to be held beside
        it."""
        return []

    def release_head_pgs(self, slice_index: int | None = None) -> None:
        """Does nothing, as there are no heads to release; what Ray's users call when their groups are ready.

        Raises:
            InvalidError: there is no such slice.
        """
        if slice_index is not None and not 0 <= slice_index < self.num_slices:
            raise errors.InvalidError(f"slice_index '{slice_index}': expected 0 to {self.num_slices - 1}")

    @property
    def chips_per_host(self) -> int:
        """The chips of each host."""
        return self._shape.rules.chips_per_host

    @property
    def devices_per_host(self) -> int:
        """The resource TPU of each host: its chips times `tpu_resource_per_chip`."""
        return self._shape.rules.devices_per_host

    @property
    def num_hosts(self) -> int:
        """The hosts of all slices."""
        return self._shape.rules.num_hosts

    @property
    def num_bundles(self) -> int:
        """The bundles of all slices."""
        return self._shape.rules.num_bundles

    @property
    def topology(self) -> str:
        """The topology of each slice, in chips: "4x4"."""
        return self._shape.rules.topology

    @property
    def accelerator_version(self) -> str:
        """The generation: "v6e"."""
        return self._shape.rules.accelerator_version

    @property
    def num_slices(self) -> int:
        """How many slices."""
        return self._shape.rules.num_slices

    @property
    def tpu_resource_per_chip(self) -> int:
        """Units of the resource TPU that one chip counts for."""
        return int(self._shape.arguments["tpu_resource_per_chip"])

    @property
    def bundle_label_selector(self) -> list[dict[str, str]]:
        """What Ray's groups select the node of each bundle by: slice name and worker id, or the node itself."""
        return [dict(selector) for selector in self._made.selectors]

    @property
    def bundle_resources(self) -> dict[str, float]:
        """What tasks may take of each bundle. The first of a slice has the slice's head resource beside it."""
        return self._shape.rules.bundle_resources

    def shutdown(self) -> None:
        """`release`, under Ray's name."""
        self.release()

    # --- what Ray's has not ---

    @property
    def _shape(self) -> Shape:
        return self._wish.shape

    @property
    def slice_names(self) -> tuple[str, ...]:
        """The slices in the order of their bundles; a slice's place is its slice id."""
        return tuple(one.name for one in self._made.group.slices)

    @property
    def key(self) -> str | None:
        """The request key, by which `attach` finds it again."""
        return self._wish.key

    @property
    def group(self) -> Group:
        """The ledger's group, as it is now."""
        quoit = self._wish.ledger.quoit
        try:
            quoit.refresh()
            return quoit.group(self._made.group)
        except (errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
            return self._made.group

    @property
    def state(self) -> GroupState:
        """RESERVED; RESCHEDULING: a host is lost or leaving; PENDING: Ray places it anew; REMOVED.

        Asks Ray and reads the ledger, which each know of losses that the other has not noticed yet, and of what another
        `SlicePlacementGroup` of the same reservation has repaired or released.

        Raises:
            NotFoundError: Ray's control plane does not answer, or there is no Ray any more.
            ConflictError: this process is a driver of another cluster now.
        """
        # Without waiting for a repair or a release in another thread: whoever watches is told how that stands.
        if self._is_released or self._has_ended():
            return GroupState.REMOVED
        self._check_driver()
        before = self._made
        record, made = self._written(before)
        if self._lock.acquire(blocking=False):
            try:
                self._made = made if self._made is before else self._made
            finally:
                self._lock.release()
        if record is not None and not record["groups"]:
            return GroupState.PENDING
        words = {row["state"] for row in cluster.rows(made.ray_groups)}
        if "REMOVED" in words and (self._written(before)[0] or record) != record:
            return GroupState.PENDING  # another has begun to replace them meanwhile
        if words == {"REMOVED"}:
            return GroupState.REMOVED
        if words != {"CREATED"}:
            return GroupState.RESCHEDULING if words & {"RESCHEDULING", "REMOVED"} or not words else GroupState.PENDING
        return self._ledger_state()

    def _ledger_state(self) -> GroupState:
        quoit = self._wish.ledger.quoit
        quoit.refresh()
        try:
            return quoit.group(self._made.group).state
        except (errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
            return GroupState.REMOVED

    def _has_ended(self) -> bool:
        """Whether it has ended with the driver that made it, which this process was before ray.shutdown()."""
        return self._is_own and cluster.driver() != self._driver

    def _check_driver(self) -> None:
        """Raises where this process cannot ask the cluster that it stands in."""
        cluster.check_connected()
        now, then = cluster.driver(), self._driver
        if now is None or now.cluster != then.cluster:
            raise errors.ConflictError(
                f"{self._made.group.handle}: cluster '{now and now.cluster}': expected '{then.cluster}', which "
                "it stands in"
            )
        cluster.check_answers()

    def _written(self, made: Made) -> tuple[Mapping[str, Any] | None, Made]:
        """What is written down of it, None: it was released; and `made`, or what another has repaired it to."""
        if made.record is not None:
            made.record.write()
        name = owners.record_key(made.group)
        record = cluster.read_records([name]).get(name)
        if record is None or not record["groups"]:
            return record, made
        ray_groups = [cluster.handle_of(one) for one in record["groups"]]
        return record, made if ray_groups == made.ray_groups else Made(self.group, record["selectors"], ray_groups)

    def _look(self) -> Mapping[str, Any] | None:
        record, self._made = self._written(self._made)
        if record is not None and not record["groups"] and record.get("job") not in cluster.dead_jobs():
            raise errors.NotNowError(f"{self._made.group.handle} is being repaired by another")
        return record

    def environment(self, process: int, *, profile: Profile = Profile.QUOIT) -> dict[str, str]:
        """The environment of one process, one a host, counted over all slices in their order.

        Args:
            process: from 0; process i of a slice is its worker i.
            profile: whose environment is made.

        Raises:
            IndexError: there is no such process.
            InvalidError, NotNowError: as `quoit.topology`.
        """
        return dict(topology_of(self._made.group, profile).processes[process].environment)

    def explain(self) -> Report:
        """Why the slices that it has lost cannot be replaced now, or that they can: what `repair` would find.

        Raises:
            ConflictError: it has lost nothing, or this process is a driver of another cluster now.
            NotFoundError: it is released, or Ray's control plane does not answer.
        """
        self._check_driver()
        self._wish.ledger.sync()
        return explain_repair(self._wish, self._made.group)

    def repair(self, *, timeout_s: float = 0.0, give_up: bool = False) -> bool:
        """Gives it whole slices for those that are lost or leaving, and makes anew in Ray only what is new.

        With one placement group for all slices that is the whole group, and with ``pg_per_slice`` those of the new
        slices. What runs on what is left of a group that is made anew ends. Slice ids may be others afterwards.

        There is no hurry for the sake of others: Ray 2.60 places nothing in the whole cluster while a group of its own
        helper has lost a host, but puts one aside whose bundles are pinned to hosts, as these are.

        Args:
            timeout_s: how long to wait for another slice, in seconds.
            give_up: to release it where there is no other slice.

        Returns:
            Whether it is whole now; False: it was released (``give_up``).

        Raises:
            NotNowError, NeverError: there is no other slice, and nothing has changed; or Ray would not place it there,
                and all was given back (`state` is REMOVED).
                Or somebody else is repairing it at this moment.
            NotFoundError: it was released, or Ray's control plane does not answer.
            ConflictError: this process is a driver of another cluster now.
        """
        with self._lock:
            if self._is_released or self._has_ended():
                raise errors.NotFoundError(f"{self._made.group.handle} was released")
            self._check_driver()
            if self._look() is None:
                raise errors.NotFoundError(f"{self._made.group.handle} was released")
            try:
                self._made = repair(self._wish, self._made, _seconds(timeout_s, "timeout_s"))
                return True
            except errors.RefusedError:
                if not give_up:
                    raise
            self.release()
            return False

    def release(self) -> None:
        """Removes Ray's placement groups, and frees the slices in the ledger when Ray shows their chips as free.

        To release twice does nothing, and what this driver has made is released with it: after ray.shutdown() Ray has
        removed it, and the next `sync` frees it in the ledger, or the end of the lease. When it raises nothing is
        released, and it may be called again. At the end of a ``with`` block that raises, and of the program, that is
        logged instead.

        Raises:
            NotFoundError: Ray's control plane does not answer; or there is no Ray any more, and it outlives this driver.
            NotNowError: somebody else is repairing it at this moment.
            ConflictError: this process is a driver of another cluster now, and it outlives this driver.
        """
        with self._lock:
            if self._is_released:
                return
            if not self._has_ended():
                self._check_driver()
                self._look()
                release(self._wish.ledger, self._made.group, self._made.ray_groups)
            self._let_go()

    def _let_go(self) -> None:
        self._is_released = True
        if self._is_own:
            _kept.pop(id(self), None)
            _sign(self._wish).drop(self._made.group.handle)


# --- calls --------------------------------------------------------------------------------------------------------


def slice_placement_group(
    topology: str,
    accelerator_version: str,
    resources_per_bundle: Mapping[str, float] | None = None,
    num_slices: int = 1,
    chips_per_vm: int | None = None,
    pg_per_slice: bool = False,
    tpu_resource_per_chip: int | None = None,
    *,
    strategy: str = "SPREAD",
    name: str = "",
    lifetime: str | None = None,
    head_reservation_timeout_s: float | None = TIMEOUT_S,
    bundle_label_selector: Sequence[Mapping[str, str]] | None = None,
    ledger: LedgerLike = None,
    source: str = SOURCE,
    key: str | None = None,
    owner: str | None = None,
    timeout_s: float | None = None,
    lease_s: float = LEASE_S,
) -> SlicePlacementGroup:
    """Real placement groups on whole slices: all `num_slices` of them or none, and placed when it returns.

    Takes the arguments of ray.util.tpu.slice_placement_group() in their order. quoit decides, so that callers who share
    a ledger never wait for what another holds in vain; it holds the slices for this driver, makes the groups, each
    bundle pinned to its host, and confirms when Ray has placed all. A slice on a host of which a plain task or actor
    runs, be it on half a CPU, is used, and not given. After any failure, an interruption included, nothing is held, in
    Ray or in the ledger.

    Args:
        topology: of each slice in chips, "4x4".
        accelerator_version: the generation, "v6e", "TPU-V6E".
        resources_per_bundle: what each bundle takes, TPU in devices; None: {"CPU": 1, "TPU": all of a host}. A host has
            as many bundles as its TPU allows.
        num_slices: how many slices, from 1.
        chips_per_vm: chips of each host; None: Ray's default. A v6e 2x4 exists as one host of 8 and as two of 4.
        pg_per_slice: whether each slice has a placement group of its own.
        tpu_resource_per_chip: units of the resource TPU that a chip counts for; None: RAY_TPU_RESOURCE_PER_CHIP, else
            1.
        strategy: of the placement groups. The pins decide where bundles go; one that they cannot obey is refused.
        name: of the placement groups, `name`_slice_i with ``pg_per_slice``; "": that of the ledger's group.
        lifetime: None: they end with the driver; "detached": they stay until they are released.
        head_reservation_timeout_s: Ray's word for `timeout_s`; None: for ever.
        bundle_label_selector: for each bundle labels that its host must have. Beside the slice's name
            ("ray.io/tpu-slice-name"), which is given for all slices or for none, they must be the same for all.
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db. A file that is named and not
            there is made. All drivers of a cluster name the same.
        source: what the cluster is called in the ledger.
        key: what names this request whoever asks: while what it made lives, a call with the same key returns it, in
            this driver or another, and takes nothing.
        owner: in whose name it is held; None: the driver's. What is detached ends with its cluster, and is held in the
            name of OWNER|ray:SOURCE:CLUSTER:detached.
        timeout_s: how long to wait for room, in seconds; 0: not at all. Slices that are free are had at once.
        lease_s: how long the driver's signs of life may fail before the ledger frees what it has, in seconds, from 0.001
            to those of 366 days. Of several leases in one owner's name the longest counts.

    Raises:
        NotNowError: not enough slices were free in that time; a `NoRoomError`, and so a TimeoutError. ``report``
            explains.
        NeverError: it would not fit with all groups released; ``report`` explains.
        InvalidError: Ray would refuse the arguments, or would never place what they ask for; also a ValueError.
        ConflictError: the key is that of another request, the message says which arguments differ; a placement group of
            the namespace has the name; or drivers of another cluster held slices of this source for all of that time.
        NotFoundError: there is no Ray cluster, it does not answer, or there is no ledger.
        VersionError: the installed Ray lacks what is needed; the message says what.
        TypeError: an argument has another type.
        Error: as `Ledger.sync_input` and `Ledger.hold`.
    """
    return SlicePlacementGroup(
        topology,
        accelerator_version,
        resources_per_bundle,
        strategy,
        name,
        lifetime,
        num_slices,
        chips_per_vm,
        head_reservation_timeout_s,
        bundle_label_selector,
        pg_per_slice,
        tpu_resource_per_chip,
        ledger=ledger,
        source=source,
        key=key,
        owner=owner,
        timeout_s=timeout_s,
        lease_s=lease_s,
    )


def attach(
    *, key: str | None = None, name: str | None = None, ledger: LedgerLike = None, source: str = SOURCE
) -> SlicePlacementGroup:
    """What a request key, or a name, stands for: made by another driver, or before this one was started again.

    The groups end with the driver that made them, unless they are detached, and not with this one.

    Args:
        key: the request key.
        name: of the ledger's group, or what was given as ``name=``, where there is no key.
        ledger: as `slice_placement_group`.
        source: as `slice_placement_group`.

    Raises:
        NotFoundError: nothing that lives was made with it; or as `slice_placement_group`.
        NotNowError: it is being made, or repaired, at this moment: retry.
        ConflictError: several were given the name; or as `sync`.
        TypeError: neither key nor name was given, or both.
    """
    if (key is None) == (name is None):
        raise TypeError("attach: expected a key or a name")
    versions.check()
    cluster.check_connected()
    held = ledger_of(ledger, source)
    held.sync()
    group = live_group(held, key=key) if name is None else _named(held, name)
    if group is None or held.is_ending(group):
        raise errors.NotFoundError(
            f"{'key' if name is None else 'name'} '{key or name}': no live group was made with it"
        )
    found = _of_record(held, group, _SETTLE_S)
    if found is None:
        raise errors.NotNowError(f"{group.handle} is being made or repaired")
    one = SlicePlacementGroup.__new__(SlicePlacementGroup)
    one._become(*found, is_own=False)
    return one


def explain(
    topology: str,
    accelerator_version: str,
    num_slices: int = 1,
    *,
    chips_per_vm: int | None = None,
    ledger: LedgerLike = None,
    source: str = SOURCE,
) -> Report:
    """Whether `slice_placement_group` would find room now, and why not. Nothing is held.

    Args:
        topology: as `slice_placement_group`.
        accelerator_version: as `slice_placement_group`.
        num_slices: as `slice_placement_group`.
        chips_per_vm: as `slice_placement_group`.
        ledger: as `slice_placement_group`.
        source: as `slice_placement_group`.

    Raises:
        InvalidError, NotFoundError, VersionError, TypeError: as `slice_placement_group`.
    """
    versions.check()
    arguments = dict.fromkeys(("resources_per_bundle", "lifetime", "bundle_label_selector", "tpu_resource_per_chip"))
    chosen = {"topology": topology, "accelerator_version": accelerator_version, "num_slices": num_slices}
    shape = shape_of(
        {**arguments, **chosen, "chips_per_vm": chips_per_vm, "strategy": "SPREAD", "name": "", "pg_per_slice": False}
    )
    cluster.check_connected()
    held = ledger_of(ledger, source)
    held.sync()
    snapshot = held.quoit.snapshot()
    return snapshot.explain(shape.request("explain", excluded=foreign(shape.accelerator, snapshot, source)))


# --- how it is had ------------------------------------------------------------------------------------------------


def _seconds(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{what}: expected a number of seconds, not {type(value).__name__}")
    if not value >= 0:
        raise errors.InvalidError(f"{what} '{value}': expected 0 or more seconds")
    return float(value)


def _lease(value: object) -> float:
    lease_s = _seconds(value, "lease_s")
    if not _SHORTEST_LEASE_S <= lease_s <= _LONGEST_LEASE_S:
        raise errors.InvalidError(f"lease_s '{value}': expected {_SHORTEST_LEASE_S} to {_LONGEST_LEASE_S:.0f} seconds")
    return lease_s


def _wish(ledger: RayLedger, shape: Shape, key: str | None, owner: str | None, lease_s: float) -> Wish:
    # Ray says nowhere how many units a chip counts for: what a caller says holds for what the ledger is told.
    ledger.tpu_per_chip = int(shape.arguments["tpu_resource_per_chip"])
    driver = cluster.connected_driver()
    job = owners.DETACHED if shape.arguments["lifetime"] == "detached" else driver.job
    if owner is None or job == owners.DETACHED:
        owner = owners.owner_name(ledger.source, driver.cluster, job, owner)
    return Wish(ledger, shape, shape.arguments["name"], key, owner, lease_s, driver)


def _sign(wish: Wish) -> owners.SignOfLife:
    return wish.ledger.sign_of_life(wish.owner)


def _wait_for_source(ledger: RayLedger, end: float) -> None:
    """Waits where drivers of the cluster before, which was called the same, may have ended: their leases tell."""
    while True:
        try:
            ledger.listing(FRESH_S)
            return
        except SourceTakenError:
            if time.monotonic() >= end:
                raise
        time.sleep(max(0.0, min(_LOOK_S, end - time.monotonic())))


def _found(wish: Wish, end: float) -> Made | None:
    """What was made with the key and lives, as soon as its maker has confirmed it; None: nothing."""
    # What a dead driver had is gone in a moment, and is not what the caller waits for.
    settled = max(end, time.monotonic() + _SETTLE_S)
    while live_group(wish.ledger, key=wish.key) is not None:
        wish.ledger.sync()
        group = live_group(wish.ledger, key=wish.key)
        if group is None:
            return None
        is_ending = wish.ledger.is_ending(group)
        found = None if is_ending else _of_record(wish.ledger, group)
        if found is not None and any(row["state"] != "REMOVED" for row in cluster.rows(found[1].ray_groups)):
            _check_same(f"key '{wish.key}'", wish.shape, found[0].shape)
            return found[1]
        if time.monotonic() >= (settled if is_ending else end):
            what = "is of a driver that has ended, and not gone yet" if is_ending else "is being made by another"
            raise NoRoomError(f"key '{wish.key}': {group.handle} {what}")
        time.sleep(_PAUSE_S)
    return None


def _check_same(what: str, asked: Shape, known: Shape) -> None:
    """Raises where the two ask for different things, in whatever words."""
    now, then = _facts(asked), _facts(known)
    others = [name for name in now if now[name] != then[name]]
    if others:
        said, expected = (", ".join(f"{name} '{facts[name]}'" for name in others) for facts in (now, then))
        raise errors.ConflictError(f"{what}: {said}: expected {expected}, with which it was made")


def _facts(shape: Shape) -> dict[str, Any]:
    rules = shape.rules
    return {
        **shape.arguments,
        "topology": rules.topology,
        "accelerator_version": rules.accelerator_version,
        "resources_per_bundle": rules.bundle_resources,
        "chips_per_vm": rules.chips_per_host,
    }


def _of_record(ledger: RayLedger, group: Group, within_s: float = 0.0) -> tuple[Wish, Made] | None:
    """What was made for the group, as Ray's control plane has it; None: it is not confirmed yet, or being replaced. What
    is written behind its maker's answer is waited for for `within_s`."""
    if group.state is GroupState.HELD:
        return None
    name = owners.record_key(group)
    end = time.monotonic() + within_s
    while (record := cluster.read_records([name]).get(name)) is None and time.monotonic() < end:
        time.sleep(_PAUSE_S)
    if record is None or not record["groups"]:
        return None
    wish = Wish(
        ledger,
        shape_of(record["arguments"]),
        record["name"],
        group.key,
        group.owner,
        LEASE_S,
        cluster.connected_driver(),
    )
    return wish, Made(group, record["selectors"], [cluster.handle_of(one) for one in record["groups"]])


def _named(ledger: RayLedger, name: str) -> Group | None:
    """The live group that bears the name, or whose groups of Ray's were given it."""
    group = live_group(ledger, name=name)
    if group is not None:
        return group
    live = ledger.live_groups()
    records = cluster.read_records([owners.record_key(one) for one in live])
    named = [one for one in live if records.get(owners.record_key(one), {}).get("name") == name]
    if len(named) > 1:
        handles = ", ".join(f"'{one.name}'" for one in named)
        raise errors.ConflictError(f"name '{name}': expected a key, or one of {handles}, which all were given it")
    return named[0] if named else None


# --- the driver's end ---------------------------------------------------------------------------------------------

_kept: dict[int, SlicePlacementGroup] = {}
_registered = -1


def _keep(one: SlicePlacementGroup) -> None:
    global _registered
    _kept[id(one)] = one
    if _registered != os.getpid():
        # Not before Ray is there: what is registered last is called first, and Ray's own is its shutdown.
        atexit.register(_release_all)
        _registered = os.getpid()


def _release_all() -> None:
    """What nobody released ends with the driver, as Ray's groups do: the slices are free at once, and not at a lease's
    end."""
    # What a parent has, before fork(2), is the parent's.
    own = [one for one in list(_kept.values()) if one._process == os.getpid()]
    if not own or not cluster.is_connected():
        return
    for one in own:
        try:
            one.release()
        except Exception as error:
            _log.warning("%s was not released: %s", one.group.handle, error)
