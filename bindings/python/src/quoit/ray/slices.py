# SPDX-License-Identifier: Apache-2.0
"""Ray's slice_placement_group() on slices that quoit allocates, and the object that it returns."""

from __future__ import annotations

import atexit
import dataclasses
import logging
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, overload

from .. import _c, errors
from ..groups import Group, GroupState
from ..reports import Report
from ..topologies import Profile
from ..topologies import topology as topology_of
from . import cluster, owners, versions
from .acquiring import FRESH_S, KeyInUseError, acquire_slices
from .ledgers import SOURCE, LedgerLike, RayLedger, SourceTakenError, get_ray_ledger, live_group
from .pending import PendingGroup, explain_pending
from .placing import Reservation, SliceGroupRequest, cancel, release
from .refusals import SlicesNotFreeError
from .repairing import explain as explain_repair
from .repairing import repair
from .shapes import Shape, check_shape, list_foreign_slices, resize_shape
from .uninterrupted import run_uninterrupted

_log = logging.getLogger("quoit.ray")

LEASE_S = 60.0
"""The default lease of a driver, in seconds: its groups end if the driver sends no heartbeat for that long."""

_SHORTEST_LEASE_S, _LONGEST_LEASE_S = 0.001, 366 * 86400.0

TIMEOUT_S = 100.0
"""The default of `head_reservation_timeout_s`, in seconds, the same as in Ray."""

_PAUSE_S = 0.05
_SETTLE_S = 1.0
"""How long to wait for the end of a dead driver's groups, or for a record that its driver writes later."""
_POLL_S = 0.5


class SlicePlacementGroup:
    """A reservation: slices in the ledger, with Ray's placement groups on them.

    `slice_placement_group` and `attach` return such an object. The constructor takes the arguments of Ray's class in
    their order, and raises the exceptions of `slice_placement_group`. The object has the attributes of Ray's class, and
    others such as `slice_names`, `group` and `state`. Slices are in the order of `slice_names`, and the bundles of a
    slice in the order of worker ids. Ray has already placed the groups: you need not wait for their ``ready()``.

    As a context manager, the object releases the slices at the end of the block. Slices that you do not release end
    with the driver, like slices of Ray, unless the lifetime is "detached". Several threads can use one object.
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
        shape = check_shape(arguments)
        cluster.check_connected()
        group_request = _request(get_ray_ledger(ledger, source), shape, key, owner, lease)
        self._find_or_acquire(group_request, time.monotonic() + wait_s)

    def _find_or_acquire(self, group_request: SliceGroupRequest, end: float) -> None:
        _wait_for_source(group_request.ledger, end)
        while True:
            found = None if group_request.key is None else _find_by_key(group_request, end)
            if found is not None:
                return self._set_reservation(group_request, found, is_own=False)
            try:
                return self._acquire(group_request, max(0.0, end - time.monotonic()))
            except KeyInUseError:
                continue

    def _acquire(self, group_request: SliceGroupRequest, timeout_s: float) -> None:
        # The owner must have its lease before the ledger has a group of it.
        renewer = None if group_request.is_detached else _renewer(group_request)
        attempt, reservation = f"attempt {time.monotonic_ns()}", None
        try:
            if renewer is not None:
                renewer.keep(attempt, group_request.lease_s, group_request.driver)
            reservation = acquire_slices(group_request, timeout_s)
            self._set_reservation(group_request, reservation, is_own=renewer is not None)
            if renewer is not None:
                renewer.keep(reservation.handle, group_request.lease_s, group_request.driver)
                renewer.drop(attempt)
            if reservation.record is not None:
                reservation.record.allow()
        except BaseException:
            done = reservation
            if done is not None:
                run_uninterrupted(lambda: cancel(group_request, done))
                self._is_released = True
                _unreleased.pop(id(self), None)
            if renewer is not None:
                renewer.drop(attempt)
                if done is not None:
                    renewer.drop(done.handle)
            raise

    def _set_reservation(self, group_request: SliceGroupRequest, reservation: Reservation, is_own: bool) -> None:
        self._request = group_request
        self._reservation = reservation
        self._is_released = False
        self._lock = threading.RLock()
        self._driver = group_request.driver
        self._process = os.getpid()
        # Only the object that acquired the slices renews the lease, and releases the slices when the driver ends.
        self._is_own = is_own
        if is_own:
            _register(self)

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
            # The exception of the block is raised instead.
            _log.warning("%s was not released: %s", self._reservation.group.handle, error)

    def __repr__(self) -> str:
        what = "released" if self._is_released else ", ".join(self.slice_names)
        return f"<quoit.ray.SlicePlacementGroup {self._reservation.group.handle!r} {what}>"

    # --- members of Ray's class ---

    @property
    def placement_group(self) -> Any:
        """Ray's placement group of all slices; None after the release.

        Raises:
            InvalidError: each slice has its own group (``pg_per_slice=True``): use `slice_placement_groups`.
        """
        if self._request.shape.arguments["pg_per_slice"]:
            raise errors.InvalidError("pg_per_slice 'True': use slice_placement_groups instead")
        ray_groups = self._ray_groups
        return ray_groups[0] if ray_groups else None

    slice_placement_group = placement_group

    @property
    def slice_placement_groups(self) -> list[Any]:
        """Ray's placement group of each slice, in the order of `slice_names`; empty after the release.

        Raises:
            InvalidError: there is one group for all slices (``pg_per_slice=False``): use `placement_group`.
        """
        if not self._request.shape.arguments["pg_per_slice"]:
            raise errors.InvalidError("pg_per_slice 'False': use placement_group instead")
        return list(self._ray_groups)

    @property
    def _ray_groups(self) -> list[Any]:
        return [] if self._is_released else self._reservation.ray_groups

    @property
    def placement_groups(self) -> list[Any]:
        """Ray's placement groups, one for all slices or one for each; empty after the release."""
        return list(self._ray_groups)

    @property
    def head_placement_groups(self) -> list[Any]:
        """Always empty: the first bundle of a slice has the slice's head resource, so that no head group is needed."""
        return []

    def release_head_pgs(self, slice_index: int | None = None) -> None:
        """Does nothing, because there are no head groups. It exists because programs for Ray's class call it.

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
        """The amount of the resource TPU of each host: its chips times `tpu_resource_per_chip`."""
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
        return [dict(selector) for selector in self._reservation.selectors]

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
        return self._request.shape

    @property
    def slice_names(self) -> tuple[str, ...]:
        """The names of the slices, in the order of their bundles. The index is the slice id."""
        return tuple(one.name for one in self._reservation.group.slices)

    @property
    def key(self) -> str | None:
        """The request key, for `attach`."""
        return self._request.key

    @property
    def group(self) -> Group:
        """The present group in the ledger."""
        quoit = self._request.ledger.quoit
        try:
            quoit.refresh()
            return quoit.group(self._reservation.group)
        except (errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
            return self._reservation.group

    @property
    def state(self) -> GroupState:
        """RESERVED; RESCHEDULING if a host is lost or leaving; PENDING while Ray places the groups again; or REMOVED.

        The state comes from both Ray and the ledger, because each of them can detect a loss first, and because another
        `SlicePlacementGroup` can have repaired or released the same groups.

        Raises:
            NotFoundError: Ray's control plane does not answer, or Ray is disconnected.
            ConflictError: this process is now a driver of another cluster.
        """
        # This property does not wait for a repair or release in another thread, so that monitoring can show progress.
        if self._is_released or self._has_ended():
            return GroupState.REMOVED
        self._check_driver()
        before = self._reservation
        record, reservation = self._read_record(before)
        if self._lock.acquire(blocking=False):
            try:
                if self._reservation is before:
                    self._set_present(record, reservation)
            finally:
                self._lock.release()
        if record is not None and not record["groups"]:
            return GroupState.PENDING
        words = {row["state"] for row in cluster.rows(reservation.ray_groups)}
        if "REMOVED" in words and (self._read_record(before)[0] or record) != record:
            return GroupState.PENDING  # another driver has started to replace the groups
        if words == {"REMOVED"}:
            return GroupState.REMOVED
        if words != {"CREATED"}:
            return GroupState.RESCHEDULING if words & {"RESCHEDULING", "REMOVED"} or not words else GroupState.PENDING
        return self._ledger_state()

    def _ledger_state(self) -> GroupState:
        quoit = self._request.ledger.quoit
        quoit.refresh()
        try:
            return quoit.group(self._reservation.group).state
        except (errors.NotFoundError, errors.ConflictError, errors.ExpiredError):
            return GroupState.REMOVED

    def _has_ended(self) -> bool:
        """Returns whether the reservation ended with its driver, because this process has called ray.shutdown()."""
        return self._is_own and cluster.driver() != self._driver

    def _check_driver(self) -> None:
        """Raises if this process is not connected to the cluster of the groups."""
        cluster.check_connected()
        now, then = cluster.driver(), self._driver
        if now is None or now.cluster != then.cluster:
            raise errors.ConflictError(
                f"{self._reservation.group.handle}: cluster '{now and now.cluster}': expected '{then.cluster}', "
                "which has its placement groups"
            )
        cluster.check_answers()

    def _read_record(self, reservation: Reservation) -> tuple[Mapping[str, Any] | None, Reservation]:
        """Returns the group's record (None after a release), and its present reservation.

        The present reservation is `reservation` itself, unless another driver has repaired the group.
        """
        if reservation.record is not None:
            reservation.record.write()
        name = owners.record_key(reservation.group)
        record = cluster.read_records([name]).get(name)
        if record is None or not record["groups"]:
            return record, reservation
        ray_groups = [cluster.get_group(one) for one in record["groups"]]
        return record, reservation if ray_groups == reservation.ray_groups else Reservation(
            self.group, record["selectors"], ray_groups
        )

    def _set_present(self, record: Mapping[str, Any] | None, reservation: Reservation) -> None:
        """Sets the present reservation, and its number of slices, which another driver can have changed."""
        if reservation is not self._reservation and record is not None:
            if record["arguments"] != self._shape.arguments:
                self._request = dataclasses.replace(self._request, shape=check_shape(record["arguments"]))
            self._reservation = reservation

    def _refresh(self) -> Mapping[str, Any] | None:
        record, reservation = self._read_record(self._reservation)
        self._set_present(record, reservation)
        if record is not None and not record["groups"] and record.get("job") not in cluster.dead_jobs():
            raise errors.NotNowError(f"{self._reservation.group.handle} is being repaired by another driver")
        return record

    def environment(self, process: int, *, profile: Profile = Profile.QUOIT) -> dict[str, str]:
        """Returns the environment of one process. Each host has one process.

        Args:
            process: the index of the host in all slices, from 0: slice by slice, in each slice by worker id.
            profile: the system whose environment is computed.

        Raises:
            IndexError: there is no such process.
            InvalidError, NotNowError: like `quoit.topology`.
        """
        return dict(topology_of(self._reservation.group, profile).processes[process].environment)

    def explain(self) -> Report:
        """Reports whether `repair` could replace the lost slices now, and if not, why.

        Raises:
            ConflictError: no slice is lost, or this process is now a driver of another cluster.
            NotFoundError: the reservation was released, or Ray's control plane does not answer.
        """
        self._check_driver()
        self._request.ledger.sync()
        return explain_repair(self._request, self._reservation.group)

    def repair(self, *, timeout_s: float = 0.0, give_up: bool = False) -> bool:
        """Replaces the lost and leaving slices, and the placement groups in Ray that have them.

        With ``pg_per_slice``, the groups of these slices are replaced. Otherwise the single group of all slices is
        replaced. Tasks and actors in a replaced group end. Slice ids can change.

        A late repair does not delay other users. In Ray 2.60, a group of Ray's helper that has lost a host blocks the
        placement of all other groups. Groups of quoit do not block others, because their bundles are pinned to hosts.

        Args:
            timeout_s: how long to wait for another slice, in seconds.
            give_up: whether to release the reservation if there is no other slice.

        Returns:
            True: the reservation is intact now. False: it was released (``give_up``).

        Raises:
            NotNowError, NeverError: there is no other slice, and nothing has changed; or Ray could not place the groups
                on the new slices, and everything was released (`state` is REMOVED); or another driver is repairing the
                reservation.
            NotFoundError: the reservation was released, or Ray's control plane does not answer.
            ConflictError: this process is now a driver of another cluster.
        """
        with self._lock:
            self._check_live()
            try:
                self._reservation = repair(self._request, self._reservation, _seconds(timeout_s, "timeout_s"))
                return True
            except errors.RefusedError:
                if not give_up:
                    raise
            self.release()
            return False

    def resize(self, num_slices: int, *, timeout_s: float = 0.0) -> None:
        """Changes the reservation to `num_slices` intact slices, in one step of the ledger.

        Intact slices stay reserved, as far as the number allows it; no other job can get them in between. Lost and
        leaving slices are given up first. With ``pg_per_slice``, the placement groups of slices that stay are kept.
        Otherwise the single placement group is replaced if a slice changes, and tasks and actors in it end. Slice ids
        can change. The next request with the same `key` must state the new number.

        Args:
            num_slices: the new number of slices.
            timeout_s: how long to wait for free slices, in seconds.

        Raises:
            NotNowError, NeverError: too few slices are free, and nothing has changed; or like `repair`.
            InvalidError: the number is below 1, or the reservation names its slices (``bundle_label_selector``).
            NotFoundError, ConflictError: like `repair`.
        """
        with self._lock:
            self._check_live()
            shape = resize_shape(self._shape, _c.to_int(num_slices, "num_slices"))
            group_request = dataclasses.replace(self._request, shape=shape)
            timeout_s = _seconds(timeout_s, "timeout_s")
            self._reservation = repair(group_request, self._reservation, timeout_s, shape.rules.num_slices)
            self._request = group_request

    def _check_live(self) -> None:
        """Raises if the reservation was released, or if Ray does not answer. Reads the present reservation."""
        if not self._is_released and not self._has_ended():
            self._check_driver()
            if self._refresh() is not None:
                return
        raise errors.NotFoundError(f"{self._reservation.group.handle} was released")

    def release(self) -> None:
        """Removes Ray's placement groups, and frees the slices in the ledger when Ray reports their chips as free.

        A second release does nothing. After ray.shutdown(), Ray has already removed the groups of this driver; the next
        `sync`, or the end of the lease, frees the slices in the ledger. If `release` raises, nothing is released, and
        you can call it again. At the end of a ``with`` block that raises, and at the end of the program, errors are
        logged instead of raised.

        Raises:
            NotFoundError: Ray's control plane does not answer; or Ray is disconnected, and the groups outlive this
                driver.
            NotNowError: another driver is repairing the reservation now.
            ConflictError: this process is now a driver of another cluster, and the groups outlive this driver.
        """
        with self._lock:
            if self._is_released:
                return
            if not self._has_ended():
                self._check_driver()
                self._refresh()
                release(self._request.ledger, self._reservation.group, self._reservation.ray_groups)
            self._mark_released()

    def _mark_released(self) -> None:
        self._is_released = True
        if self._is_own:
            _unreleased.pop(id(self), None)
            _renewer(self._request).drop(self._reservation.group.handle)


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
    """Reserves whole slices, all `num_slices` or none, and returns when Ray has placed placement groups on them.

    The arguments of ray.util.tpu.slice_placement_group() come first, in Ray's order. quoit chooses the slices, so that
    callers with the same ledger do not compete for hosts in Ray. quoit holds the slices for this driver and creates the
    groups, with each bundle pinned to its host. When Ray has placed all groups, quoit confirms the hold. A plain task
    or actor on a host marks its slice as in use while it runs, even if it uses only half a CPU. After any failure, such
    as an interrupt, nothing stays reserved in Ray or in the ledger.

    Args:
        topology: the topology of each slice in chips, "4x4".
        accelerator_version: the generation, "v6e", "TPU-V6E".
        resources_per_bundle: the resources of each bundle, TPU in devices; None: {"CPU": 1, "TPU": all of a host}.
            The TPU of a host divided by the TPU of a bundle is the number of bundles on each host.
        num_slices: the number of slices, from 1.
        chips_per_vm: chips of each host; None: Ray's default. A v6e 2x4 exists as one host of 8 chips and as two of 4.
        pg_per_slice: whether each slice has its own placement group.
        tpu_resource_per_chip: units of the resource TPU that a chip counts for; None: RAY_TPU_RESOURCE_PER_CHIP,
            else 1.
        strategy: the strategy of the placement groups. Each bundle is pinned to a host; a strategy that contradicts
            the pins is refused.
        name: the name of the placement group; with ``pg_per_slice``, NAME_slice_0 and so on. "": the name of the
            ledger's group.
        lifetime: None: the groups end with the driver; "detached": they stay until they are released.
        head_reservation_timeout_s: Ray's name of `timeout_s`; None: no limit. It is ignored if `timeout_s` is given.
        bundle_label_selector: for each bundle the required labels of its host. The labels must be the same for all
            bundles, except the slice's name ("ray.io/tpu-slice-name"), which is given for all slices or for none.
        ledger: the ledger's file, or the open ledger; None: $QUOIT_DB, else ./quoit.db. A named file that does not
            exist is created. All drivers of a cluster must use the same ledger.
        source: the cluster's name in the ledger.
        key: the request key. While the slices of a key are reserved, a call with the same key in any driver returns
            these slices and reserves nothing.
        owner: the owner of the group; None: the driver, or the actor that makes the call. Detached groups end with
            their cluster and have the owner OWNER|ray:SOURCE:CLUSTER:detached.
        timeout_s: how long to wait for free slices, in seconds; 0: do not wait. If enough slices are free, they are
            reserved at once.
        lease_s: how long the driver's heartbeats can be missing before the ledger frees its groups, in seconds, from
            0.001 to 31622400 (366 days). If calls for one owner give different leases, the longest is used.

    Raises:
        NotNowError: too few slices became free within the timeout. The exception is a `SlicesNotFreeError`, which is
            also a TimeoutError; its ``report`` explains why.
        NeverError: the request would not fit even with all groups released; ``report`` explains why.
        InvalidError: Ray would refuse the arguments, or would never place the groups. The exception is also a
            ValueError.
        ConflictError: the key belongs to another request (the message has the different arguments); another placement
            group of the namespace has the name; or drivers of another cluster held slices of this source until the
            timeout.
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
    """Returns an existing reservation by key or name: one of another driver, or of this driver before a restart.

    The reservation ends with the driver that made it, unless it is detached. It does not end with this driver.

    Args:
        key: the request key.
        name: instead of a key: the name of the ledger's group, or the ``name=`` of the call that reserved the slices.
        ledger: like for `slice_placement_group`.
        source: like for `slice_placement_group`.

    Raises:
        NotFoundError: no live group has the key or name; or like `slice_placement_group`.
        NotNowError: the group is being created or repaired now: retry.
        ConflictError: several groups have the name; or like `sync`.
        TypeError: neither key nor name was given, or both were.
    """
    if (key is None) == (name is None):
        raise TypeError("attach: expected a key or a name")
    versions.check()
    cluster.check_connected()
    ray_ledger = get_ray_ledger(ledger, source)
    ray_ledger.sync()
    group = live_group(ray_ledger, key=key) if name is None else _named(ray_ledger, name)
    if group is None or ray_ledger.is_ending(group):
        raise errors.NotFoundError(f"{'key' if name is None else 'name'} '{key or name}': no live group has it")
    found = _read_reservation(ray_ledger, group, _SETTLE_S)
    if found is None:
        raise errors.NotNowError(f"{group.handle} is being created or repaired")
    one = SlicePlacementGroup.__new__(SlicePlacementGroup)
    one._set_reservation(*found, is_own=False)
    return one


@overload
def explain(
    topology: str,
    accelerator_version: str,
    num_slices: int = 1,
    *,
    chips_per_vm: int | None = None,
    ledger: LedgerLike = None,
    source: str = SOURCE,
) -> Report: ...


@overload
def explain(pending: Any, /, *, ledger: LedgerLike = None, source: str = SOURCE) -> PendingGroup: ...


def explain(
    topology: Any,
    accelerator_version: str | None = None,
    num_slices: int = 1,
    *,
    chips_per_vm: int | None = None,
    ledger: LedgerLike = None,
    source: str = SOURCE,
) -> Report | PendingGroup:
    """Reports whether `slice_placement_group` would succeed now, and if not, why. Nothing is reserved.

    With a PlacementGroup, its id or its name as the only argument, explains why that group waits, also if Ray itself
    or another library has made it: `explain_pending`.

    Args:
        topology: like for `slice_placement_group`; or a placement group.
        accelerator_version: like for `slice_placement_group`.
        num_slices: like for `slice_placement_group`.
        chips_per_vm: like for `slice_placement_group`.
        ledger: like for `slice_placement_group`.
        source: like for `slice_placement_group`.

    Raises:
        InvalidError, NotFoundError, VersionError, TypeError: like `slice_placement_group`.
    """
    if accelerator_version is None:
        return explain_pending(topology, ledger=ledger, source=source)
    versions.check()
    arguments = dict.fromkeys(("resources_per_bundle", "lifetime", "bundle_label_selector", "tpu_resource_per_chip"))
    chosen = {"topology": topology, "accelerator_version": accelerator_version, "num_slices": num_slices}
    shape = check_shape(
        {**arguments, **chosen, "chips_per_vm": chips_per_vm, "strategy": "SPREAD", "name": "", "pg_per_slice": False}
    )
    cluster.check_connected()
    ray_ledger = get_ray_ledger(ledger, source)
    ray_ledger.sync()
    snapshot = ray_ledger.quoit.snapshot()
    return snapshot.explain(shape.request("explain", excluded=list_foreign_slices(shape.accelerator, snapshot, source)))


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


def _request(ledger: RayLedger, shape: Shape, key: str | None, owner: str | None, lease_s: float) -> SliceGroupRequest:
    # Ray does not list how many units of TPU one chip counts for. Therefore syncs use the value of the last request.
    ledger.tpu_per_chip = int(shape.arguments["tpu_resource_per_chip"])
    driver = cluster.connected_driver()
    job = owners.DETACHED if shape.arguments["lifetime"] == "detached" else driver.job
    if owner is None or job == owners.DETACHED:
        # An actor has a lease of its own, because its driver can outlive it.
        actor = "" if job == owners.DETACHED else cluster.current_actor()
        owner = owners.owner_name(ledger.source, driver.cluster, job, f"actor:{actor}" if actor else owner)
    return SliceGroupRequest(ledger, shape, shape.arguments["name"], key, owner, lease_s, driver)


def _renewer(group_request: SliceGroupRequest) -> owners.LeaseRenewer:
    return group_request.ledger.lease_renewer(group_request.owner)


def _wait_for_source(ledger: RayLedger, end: float) -> None:
    """Synchronises the ledger. If drivers of an older cluster with the same name have leases, waits for their end."""
    while True:
        try:
            ledger.listing(FRESH_S)
            return
        except SourceTakenError:
            if time.monotonic() >= end:
                raise
        time.sleep(max(0.0, min(_POLL_S, end - time.monotonic())))


def _find_by_key(group_request: SliceGroupRequest, end: float) -> Reservation | None:
    """Waits until the reservation with the key is confirmed, and returns it; None if there is none."""
    # Groups of a dead driver end soon. The function waits for their end even without a timeout.
    settled = max(end, time.monotonic() + _SETTLE_S)
    while live_group(group_request.ledger, key=group_request.key) is not None:
        group_request.ledger.sync()
        group = live_group(group_request.ledger, key=group_request.key)
        if group is None:
            return None
        is_ending = group_request.ledger.is_ending(group)
        found = None if is_ending else _read_reservation(group_request.ledger, group)
        if found is not None and any(row["state"] != "REMOVED" for row in cluster.rows(found[1].ray_groups)):
            _check_same(f"key '{group_request.key}'", group_request.shape, found[0].shape)
            return found[1]
        if time.monotonic() >= (settled if is_ending else end):
            what = "belongs to a driver that has ended" if is_ending else "is being created by another call"
            raise SlicesNotFreeError(f"key '{group_request.key}': {group.handle} {what}")
        time.sleep(_PAUSE_S)
    return None


def _check_same(what: str, asked: Shape, known: Shape) -> None:
    """Raises if the two shapes differ. Different spellings of the same shape do not matter."""
    now, then = _comparable_arguments(asked), _comparable_arguments(known)
    others = [name for name in now if now[name] != then[name]]
    if others:
        given, expected = (", ".join(f"{name} '{facts[name]}'" for name in others) for facts in (now, then))
        raise errors.ConflictError(f"{what}: {given}: expected {expected}, like in the first request")


def _comparable_arguments(shape: Shape) -> dict[str, Any]:
    rules = shape.rules
    return {
        **shape.arguments,
        "topology": rules.topology,
        "accelerator_version": rules.accelerator_version,
        "resources_per_bundle": rules.bundle_resources,
        "chips_per_vm": rules.chips_per_host,
    }


def _read_reservation(
    ledger: RayLedger, group: Group, within_s: float = 0.0
) -> tuple[SliceGroupRequest, Reservation] | None:
    """Returns the reservation of a group of the ledger, from the group's record.

    None: the group is not confirmed, or is being repaired. If the record is missing, the function waits for it up to
    `within_s`, because the driver can write the record after the confirmation.
    """
    if group.state is GroupState.HELD:
        return None
    name = owners.record_key(group)
    end = time.monotonic() + within_s
    while (record := cluster.read_records([name]).get(name)) is None and time.monotonic() < end:
        time.sleep(_PAUSE_S)
    if record is None or not record["groups"]:
        return None
    group_request = SliceGroupRequest(
        ledger,
        check_shape(record["arguments"]),
        record["name"],
        group.key,
        group.owner,
        LEASE_S,
        cluster.connected_driver(),
    )
    return group_request, Reservation(group, record["selectors"], [cluster.get_group(one) for one in record["groups"]])


def _named(ledger: RayLedger, name: str) -> Group | None:
    """Returns the live group with the name, or else the live group whose placement groups in Ray have the name."""
    group = live_group(ledger, name=name)
    if group is not None:
        return group
    live = ledger.live_groups()
    records = cluster.read_records([owners.record_key(one) for one in live])
    named = [one for one in live if records.get(owners.record_key(one), {}).get("name") == name]
    if len(named) > 1:
        handles = ", ".join(f"'{one.name}'" for one in named)
        raise errors.ConflictError(
            f"name '{name}': expected a key, or one of {handles}, which all have this name in Ray"
        )
    return named[0] if named else None


# --- end of the driver --------------------------------------------------------------------------------------------

_unreleased: dict[int, SlicePlacementGroup] = {}
_registered = -1


def _register(one: SlicePlacementGroup) -> None:
    global _registered
    _unreleased[id(one)] = one
    if _registered != os.getpid():
        # Ray has already registered its shutdown. atexit runs functions in reverse order, so the release runs first.
        atexit.register(_release_all)
        _registered = os.getpid()


def _release_all() -> None:
    """Releases the remaining slices at the end of the driver, so that they are free before the lease ends."""
    # A child of fork(2) has a copy of the list. The slices of the parent still belong to the parent.
    own = [one for one in list(_unreleased.values()) if one._process == os.getpid()]
    if not own or not cluster.is_connected():
        return
    for one in own:
        try:
            one.release()
        except Exception as error:
            _log.warning("%s was not released: %s", one.group.handle, error)
