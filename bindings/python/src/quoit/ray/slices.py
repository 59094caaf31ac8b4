# SPDX-License-Identifier: Apache-2.0
"""slice_placement_group of ray.util.tpu, on the slices that quoit allocates."""

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
"""The default lease of a driver's groups after its last heartbeat, if no `sync` finds the driver dead before."""

_SHORTEST_LEASE_S, _LONGEST_LEASE_S = 0.001, 366 * 86400.0

TIMEOUT_S = 100.0
"""The time for which Ray's helper waits for a slice's head."""

_PAUSE_S = 0.05
_SETTLE_S = 1.0
_LOOK_S = 0.5


class SlicePlacementGroup:
    """Whole slices in the ledger, with Ray's placement groups on them; all of them or none.

    It is the result of `slice_placement_group` and `attach`. The constructor takes the arguments of Ray's class in
    their order and raises like `slice_placement_group`. It has the attributes of Ray's class, and others such as
    `slice_names`, `group` and `state`. Bundle i of a slice is on worker i. Slices are in quoit's order, that of
    `slice_names`. The groups are already placed: you need not wait for their ``ready()``.

    It is a context manager that releases the slices. Without a release they end with the driver, like those of Ray,
    unless the lifetime is "detached". Several threads can use it.
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
        # Set the owner's lease before anything is held in its name.
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
        # The object that made the groups sends the heartbeats, and releases the groups when the driver ends.
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
            # Raise the exception of the block instead.
            _log.warning("%s was not released: %s", self._made.group.handle, error)

    def __repr__(self) -> str:
        what = "released" if self._is_released else ", ".join(self.slice_names)
        return f"<quoit.ray.SlicePlacementGroup {self._made.group.handle!r} {what}>"

    # --- members of Ray's class ---

    @property
    def placement_group(self) -> Any:
        """Ray's placement group of all slices; None after the release.

        Raises:
            InvalidError: each slice has its own (``pg_per_slice=True``): use `slice_placement_groups`.
        """
        if self._wish.shape.arguments["pg_per_slice"]:
            raise errors.InvalidError("pg_per_slice 'True': expected slice_placement_groups to be read instead")
        ray_groups = self._ray_groups
        return ray_groups[0] if ray_groups else None

    slice_placement_group = placement_group

    @property
    def slice_placement_groups(self) -> list[Any]:
        """Ray's placement group of each slice, in the order of `slice_names`; empty after the release.

        Raises:
            InvalidError: there is one for all slices (``pg_per_slice=False``): use `placement_group`.
        """
        if not self._wish.shape.arguments["pg_per_slice"]:
            raise errors.InvalidError("pg_per_slice 'False': expected placement_group to be read instead")
        return list(self._ray_groups)

    @property
    def _ray_groups(self) -> list[Any]:
        return [] if self._is_released else self._made.ray_groups

    @property
    def placement_groups(self) -> list[Any]:
        """Ray's placement groups, one for all slices or one for each; empty after the release."""
        return list(self._ray_groups)

    @property
    def head_placement_groups(self) -> list[Any]:
        """Always empty: the first bundle of a slice takes the slice's head resource instead of a head group."""
        return []

    def release_head_pgs(self, slice_index: int | None = None) -> None:
        """Does nothing, because there are no heads; programs for Ray's class call it when their groups are ready.

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
        """The generation, such as "v6e"."""
        return self._shape.rules.accelerator_version

    @property
    def num_slices(self) -> int:
        """The number of slices."""
        return self._shape.rules.num_slices

    @property
    def tpu_resource_per_chip(self) -> int:
        """Units of the resource TPU that one chip counts for."""
        return int(self._shape.arguments["tpu_resource_per_chip"])

    @property
    def bundle_label_selector(self) -> list[dict[str, str]]:
        """The selector of each bundle's node in Ray: slice name and worker id, or the node id."""
        return [dict(selector) for selector in self._made.selectors]

    @property
    def bundle_resources(self) -> dict[str, float]:
        """The resources of each bundle that tasks can use.

        The first bundle of a slice also has the slice's head resource.
        """
        return self._shape.rules.bundle_resources

    def shutdown(self) -> None:
        """Like `release`, with Ray's name."""
        self.release()

    # --- other members ---

    @property
    def _shape(self) -> Shape:
        return self._wish.shape

    @property
    def slice_names(self) -> tuple[str, ...]:
        """The names of the slices, in the order of their bundles. The index is the slice id."""
        return tuple(one.name for one in self._made.group.slices)

    @property
    def key(self) -> str | None:
        """The request key, for `attach`."""
        return self._wish.key

    @property
    def group(self) -> Group:
        """The present group in the ledger."""
        quoit = self._wish.ledger.quoit
        try:
            quoit.refresh()
            return quoit.group(self._made.group)
        except (errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
            return self._made.group

    @property
    def state(self) -> GroupState:
        """RESERVED; RESCHEDULING: a host is lost or leaving; PENDING: Ray places it again; or REMOVED.

        It reads both Ray and the ledger, because each can detect losses before the other, and because another
        `SlicePlacementGroup` can have repaired or released the same groups.

        Raises:
            NotFoundError: Ray's control plane does not answer, or Ray is disconnected.
            ConflictError: this process is now a driver of another cluster.
        """
        # Do not wait for a repair or release in another thread, so that monitoring sees its progress.
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
            return GroupState.PENDING  # another driver has begun to replace them
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
        """Whether it ended with its driver, which this process was before ray.shutdown()."""
        return self._is_own and cluster.driver() != self._driver

    def _check_driver(self) -> None:
        """Raises if this process is not connected to the cluster of the groups."""
        cluster.check_connected()
        now, then = cluster.driver(), self._driver
        if now is None or now.cluster != then.cluster:
            raise errors.ConflictError(
                f"{self._made.group.handle}: cluster '{now and now.cluster}': expected '{then.cluster}', which "
                "it stands in"
            )
        cluster.check_answers()

    def _written(self, made: Made) -> tuple[Mapping[str, Any] | None, Made]:
        """Returns the record (None after a release), and `made`, or the result of another object's repair."""
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
        """Returns the environment of one process, one per host, counted in all slices in their order.

        Args:
            process: from 0; process i of a slice is its worker i.
            profile: the system whose environment is computed.

        Raises:
            IndexError: there is no such process.
            InvalidError, NotNowError: like `quoit.topology`.
        """
        return dict(topology_of(self._made.group, profile).processes[process].environment)

    def explain(self) -> Report:
        """Reports whether `repair` could replace the lost slices now, and if not, why.

        Raises:
            ConflictError: no slice is lost, or this process is now a driver of another cluster.
            NotFoundError: it is released, or Ray's control plane does not answer.
        """
        self._check_driver()
        self._wish.ledger.sync()
        return explain_repair(self._wish, self._made.group)

    def repair(self, *, timeout_s: float = 0.0, give_up: bool = False) -> bool:
        """Replaces the lost and leaving slices, and makes only the new placement groups in Ray.

        With one placement group for all slices that is the whole group; with ``pg_per_slice`` it is the groups of the
        new slices. Tasks and actors in a group that is replaced end. Slice ids can change.

        Other users do not need a quick repair: a group of Ray's helper that has lost a host stops all placement in Ray
        2.60, but Ray puts aside groups whose bundles are pinned to hosts, such as these.

        Args:
            timeout_s: how long to wait for another slice, in seconds.
            give_up: whether to release it if there is no other slice.

        Returns:
            Whether it is whole now; False: it was released (``give_up``).

        Raises:
            NotNowError, NeverError: there is no other slice, and nothing has changed; or Ray could not place the groups
                there, and everything was released (`state` is REMOVED); or another driver is repairing it now.
            NotFoundError: it was released, or Ray's control plane does not answer.
            ConflictError: this process is now a driver of another cluster.
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
        """Removes Ray's placement groups, and frees the slices in the ledger when Ray reports their chips as free.

        A second release does nothing. After ray.shutdown() Ray has removed the groups of this driver; the next `sync`,
        or the end of the lease, frees them in the ledger. If this raises, nothing is released, and you can call it
        again. At the end of a ``with`` block that raises, and at the end of the program, errors are logged instead.

        Raises:
            NotFoundError: Ray's control plane does not answer; or Ray is disconnected, and the groups outlive this
                driver.
            NotNowError: another driver is repairing it now.
            ConflictError: this process is now a driver of another cluster, and the groups outlive this driver.
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


# --- public functions ---------------------------------------------------------------------------------------------


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
    """Reserves whole slices and creates placement groups on them: all `num_slices` or none, placed when it returns.

    It takes the arguments of ray.util.tpu.slice_placement_group() in their order. quoit chooses the slices, so that
    callers with the same ledger do not compete for hosts in Ray. It holds the slices for this driver, creates the
    groups with each bundle pinned to its host, and confirms the hold when Ray has placed all of them. A plain task or
    actor on a host marks its slice as in use while it runs, even if it uses only half a CPU. After any failure, also an
    interrupt, nothing is held in Ray or in the ledger.

    Args:
        topology: the topology of each slice in chips, "4x4".
        accelerator_version: the generation, "v6e", "TPU-V6E".
        resources_per_bundle: the resources of each bundle, TPU in devices; None: {"CPU": 1, "TPU": all of a host}.
            A host has as many bundles as its TPU allows.
        num_slices: the number of slices, from 1.
        chips_per_vm: chips of each host; None: Ray's default. A v6e 2x4 exists as one host of 8 and as two of 4.
        pg_per_slice: whether each slice has its own placement group.
        tpu_resource_per_chip: units of the resource TPU that a chip counts for; None: RAY_TPU_RESOURCE_PER_CHIP,
            else 1.
        strategy: the strategy of the placement groups. The pins place the bundles; a strategy that contradicts them
            is refused.
        name: the name of the placement group, or `name`_slice_i with ``pg_per_slice``; "": the name of the ledger's
            group.
        lifetime: None: the groups end with the driver; "detached": they stay until they are released.
        head_reservation_timeout_s: Ray's name of `timeout_s`; None: no limit.
        bundle_label_selector: for each bundle the required labels of its host. The labels must be the same for all
            bundles, except the slice's name ("ray.io/tpu-slice-name"), which is given for all slices or for none.
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db. A named file that does not
            exist is created. All drivers of a cluster use the same one.
        source: the cluster's name in the ledger.
        key: the request key, the same for all drivers: while its slices live, a call with the same key in any
            driver returns them and reserves nothing.
        owner: the owner of the group; None: the driver. Detached groups end with their cluster and have the owner
            OWNER|ray:SOURCE:CLUSTER:detached.
        timeout_s: how long to wait for free slices, in seconds; 0: not at all. Free slices are reserved at once.
        lease_s: how long the driver's heartbeats can be missing before the ledger frees its groups, in seconds,
            from 0.001 to those of 366 days. Of several leases of one owner the longest is used.

    Raises:
        NotNowError: too few slices were free in that time; a `NoRoomError`, which is also a TimeoutError.
            ``report`` explains why.
        NeverError: the request would not fit with all groups released; ``report`` explains why.
        InvalidError: Ray would refuse the arguments, or would never place the groups; also a ValueError.
        ConflictError: the key belongs to another request (the message has the different arguments); a placement
            group of the namespace has the name; or drivers of another cluster held slices of this source the whole
            time.
        NotFoundError: there is no Ray cluster, it does not answer, or there is no ledger.
        VersionError: the installed Ray lacks a required feature, which the message names.
        TypeError: an argument has another type.
        Error: like `Ledger.sync_input` and `Ledger.hold`.
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
    """Returns the slices of a request key or a name, made by another driver, or before a restart of this one.

    The groups end with the driver that made them, unless they are detached. They do not end with this driver.

    Args:
        key: the request key.
        name: the name of the ledger's group, or the argument ``name=`` of the call, if there is no key.
        ledger: like for `slice_placement_group`.
        source: like for `slice_placement_group`.

    Raises:
        NotFoundError: no live group has it; or like `slice_placement_group`.
        NotNowError: the group is being made or repaired now: retry.
        ConflictError: several groups have the name; or like `sync`.
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
    """Reports whether `slice_placement_group` would succeed now, and if not, why. It holds nothing.

    Args:
        topology: like for `slice_placement_group`.
        accelerator_version: like for `slice_placement_group`.
        num_slices: like for `slice_placement_group`.
        chips_per_vm: like for `slice_placement_group`.
        ledger: like for `slice_placement_group`.
        source: like for `slice_placement_group`.

    Raises:
        InvalidError, NotFoundError, VersionError, TypeError: like `slice_placement_group`.
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


# --- requests and records -----------------------------------------------------------------------------------------


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
    # Ray lists the units per chip nowhere, so that the argument also applies to syncs.
    ledger.tpu_per_chip = int(shape.arguments["tpu_resource_per_chip"])
    driver = cluster.connected_driver()
    job = owners.DETACHED if shape.arguments["lifetime"] == "detached" else driver.job
    if owner is None or job == owners.DETACHED:
        owner = owners.owner_name(ledger.source, driver.cluster, job, owner)
    return Wish(ledger, shape, shape.arguments["name"], key, owner, lease_s, driver)


def _sign(wish: Wish) -> owners.SignOfLife:
    return wish.ledger.sign_of_life(wish.owner)


def _wait_for_source(ledger: RayLedger, end: float) -> None:
    """Syncs, and waits if drivers of an older cluster with the same name still have leases that can end."""
    while True:
        try:
            ledger.listing(FRESH_S)
            return
        except SourceTakenError:
            if time.monotonic() >= end:
                raise
        time.sleep(max(0.0, min(_LOOK_S, end - time.monotonic())))


def _found(wish: Wish, end: float) -> Made | None:
    """Returns the live groups with the key, when they are confirmed; None without any."""
    # Groups of a dead driver end soon, so wait for that even without a timeout.
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
    """Raises if the two request different things, however they are written."""
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
    """Returns Ray's groups for a group of the ledger; None if it is not confirmed or being replaced.

    It waits up to `within_s` for a late record.
    """
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
    """Returns the live group with the name, or whose groups in Ray have the name."""
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


# --- end of the driver --------------------------------------------------------------------------------------------

_kept: dict[int, SlicePlacementGroup] = {}
_registered = -1


def _keep(one: SlicePlacementGroup) -> None:
    global _registered
    _kept[id(one)] = one
    if _registered != os.getpid():
        # Register after Ray: the last registered function runs first, so that this runs before Ray's shutdown.
        atexit.register(_release_all)
        _registered = os.getpid()


def _release_all() -> None:
    """Releases the remaining groups at the end of the driver, so that their slices are free before the lease ends."""
    # After fork(2), the groups of the parent belong to the parent.
    own = [one for one in list(_kept.values()) if one._process == os.getpid()]
    if not own or not cluster.is_connected():
        return
    for one in own:
        try:
            one.release()
        except Exception as error:
            _log.warning("%s was not released: %s", one.group.handle, error)
