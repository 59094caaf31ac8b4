# SPDX-License-Identifier: Apache-2.0
"""The place and the environment of each process of a group, and how a change of the group affects them."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any, ClassVar

from . import _c, errors
from ._c import call, lib
from .coordinates import Axis, Place
from .fleet import NodeAssumptions
from .groups import Group
from .imports import Input

_UINT32 = range(2**32)


class Profile(_c.Code):
    """The system whose environment is computed."""

    QUOIT = 1
    """quoit's own environment. The slices and workers are in natural order of their names.

    TPU_ACCELERATOR_TYPE is in GKE's spelling. The variables name hosts by the webhook's host names if the nodes come
    from a manifest, else by their addresses. MEGASCALE_* are set only for more than one slice.
    """
    RAY_TRAIN = 2
    """The environment that Ray Train 2.60's JAX backend sets, in Ray's order: slices sorted as text."""
    KUBERAY = 3
    """The environment of a pod after GKE's TPU webhook.

    A slice's id is the index of its replica. MEGASCALE_* are set only if the manifest sets MEGASCALE_NUM_SLICES.
    """
    JOBSET = 4
    """The environment of a pod of a JobSet. The slices are the JobSet's jobs, in natural order; the workers are the
    pods of the jobs."""
    LWS = 5
    """The environment of a pod after the webhook of LeaderWorkerSet 0.9. The slices are the replicas, or their subgroups,
    in natural order; each replica is a job of its own."""
    JOB = 6
    """The environment of a pod of one indexed Job on one slice, or of pods that each have a slice with one host."""


class Job(_c.Code):
    """How the processes of a group form a job."""

    SLICES = 1
    """One job on whole slices, with the same number of processes on each host."""
    BOXES = 2
    """One job on the same box of chips in each slice. The processes divide each box into equal parts.

    JAX counts chips and devices from the first chip of the box.
    """
    SEPARATE = 3
    """No job over ICI: each process starts alone, as process 0 of 1, and counts only its own chips.

    `Topology.notes` has the reason.
    """


class _RenumberingSide(_c.Code):
    """libquoit's codes of the two states that a renumbering compares."""

    BEFORE = 0
    AFTER = 1


class ProcessChange(_c.Code):
    """The effect of a change on a process."""

    SAME = 1
    """The numbers and the environment of the process are the same."""
    CHANGED = 2
    """The numbers of the process are the same, but its environment differs."""
    MOVED = 3
    """The process has another process id, slice id or worker id."""
    JOINED = 4
    """The process is new."""
    LEFT = 5
    """The process is gone."""


@dataclasses.dataclass(frozen=True)
class Process(_c.WithFrozenMappings):
    """A process of a group."""

    process_id: int
    """The id among all processes of the group, from 0: the index in `Topology.processes`."""
    slice_id: int
    """The id that the profile gives the process's slice; 0 for a process without chips."""
    slice_name: str
    """The name of the process's slice; "" if its node is in no slice."""
    slice_full_name: str
    """The full name of the slice, source/pool/name; "" if the node is in no slice."""
    worker_id: int
    """The worker id of the process's host in the slice; 0 if the host of a bundle has no worker id."""
    node_name: str
    node_full_name: str
    """source/pool/name."""
    node_address: str | None
    """The address of the node; None if it is unknown."""
    assumptions: NodeAssumptions
    """The assumptions about the node. If they include the host name, `Topology.notes` lists the affected variables."""
    environment: Mapping[str, str]
    """The variables, sorted by name. The values are not quoted: quote them for a shell."""
    group_slice: int | None
    """The index of the slice in the group. It is the same in every profile. None for a process without chips.

    In a group of slices, it is the index in `Group.slices`. In a group of bundles, it is the index among the slices in
    which the group has chips, in natural order.
    """
    bundle: int | None
    """The index of the process's bundle in the group; None if the group has whole hosts."""
    local_index: int
    """The index among the processes of the host, from 0."""
    host_chips: tuple[int, ...]
    """The chips by their numbers on the host, as in TPU_VISIBLE_CHIPS, Ray and bundles.

    Empty if the process has no chips, or if they are unknown.
    """
    chips: tuple[int, ...]
    """The same chips by their numbers in the slice (see `quoit.coordinates`), ascending, as JAX orders its devices.

    Empty if the place of the process in a slice is unknown.
    """
    coordinates: tuple[Place, ...]
    """The coordinates of each of `chips` on the torus of the slice."""
    devices: tuple[int, ...]
    """The ids, in the whole job, of the JAX devices of the process, chip by chip."""
    slice_ids: Mapping[Profile, int]
    """The id that each profile gives the slice. Profiles that give the slice no id are omitted.

    The ids can differ: Ray Train overrides the ids of the webhook.
    """


@dataclasses.dataclass(frozen=True)
class Topology:
    """The place of each process of a group.

    You can pickle a topology and send it to the workers. `renumbering` accepts no unpickled copies.
    """

    profile: Profile
    processes: tuple[Process, ...]
    """The processes in the order of process ids, 0 to n - 1."""
    notes: tuple[str, ...]
    """Warnings, one sentence each: for example, that addresses are unknown or that a host is dead."""
    job: Job = Job.SLICES
    """How the processes form a job. Processes without chips are in no job and come last."""
    _handle: ClassVar[Any] = None

    @property
    def processes_per_host(self) -> int:
        """The number of processes on each host if the job is `Job.SLICES`. The process ids of a host are adjacent.

        In other jobs, the number can differ between hosts, and the value is 0.
        """
        return max((one.local_index for one in self.processes), default=-1) + 1 if self.job is Job.SLICES else 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_handle"}


@dataclasses.dataclass(frozen=True)
class VariableChange:
    """A variable of a process's environment before and after the change."""

    name: str
    before: str | None
    """None: it was not set."""
    after: str | None
    """None: it is not set."""


@dataclasses.dataclass(frozen=True)
class RenumberingRow:
    """The effect of a change on one process. A process on a new machine is new, even if the machine has an old name."""

    change: ProcessChange
    node_name: str
    """The present name of the node; for a process that is gone, its last name."""
    slice_name: str
    counterpart: str | None
    """For a new process, the node that its node replaces. For a process that is gone, the node that replaces its node.
    Else None."""
    process_before: int | None
    """The process id before the change; None if the process did not exist. The next five fields are None similarly."""
    process_after: int | None
    slice_id_before: int | None
    slice_id_after: int | None
    worker_id_before: int | None
    worker_id_after: int | None
    variables: tuple[VariableChange, ...]
    """The variables that differ, sorted by name; for a process that is new or gone, all its variables."""


@dataclasses.dataclass(frozen=True)
class Renumbering:
    """How a change of a group affects each of its processes."""

    rows: tuple[RenumberingRow, ...]
    """First the present processes by process id, then the processes that are gone by their old process id."""
    n_changed: int
    """The number of processes that are not SAME; 0: no process needs an update."""


class _LwsFlags(enum.IntFlag):
    LEADER_APART = 1
    OWN_SUBDOMAINS = 2
    SUBGROUPS = 4


@dataclasses.dataclass(frozen=True)
class LeaderWorkerSet:
    """A LeaderWorkerSet, for profile LWS."""

    name: str | None = None
    """None: the group's name."""
    namespace: str | None = None
    """None: ``default``."""
    subgroups: int = 0
    """The number of subgroups of a replica, each of which is a slice; 0: a replica without subgroups is a slice."""
    leader_apart: bool = False
    """Whether the leaders request no chips, so that they are no workers of a slice."""
    own_subdomains: bool = False
    """Whether subdomainPolicy is UniquePerReplica."""


def topology(
    group: Group,
    profile: Profile = Profile.QUOIT,
    *,
    processes_per_host: int = 1,
    jobset: str | None = None,
    replicated_job: str | None = None,
    lws: LeaderWorkerSet | None = None,
    job: str | None = None,
    subdomain: str | None = None,
) -> Topology:
    """Computes the place and the environment of each process of the group, as the profile defines them.

    Args:
        group: a group of slices, or of bundles; each bundle is a process.
        profile: the system whose environment is computed.
        processes_per_host: 1, 2, 4 or 8. The processes divide the chips of a host evenly. Use 1 for JAX in host mode,
            and one process per chip for PyTorch/XLA in device mode. Use 1 if bundles have only parts of hosts. With
            more than 1, the profiles QUOIT and JOBSET set TPU_PROCESS_BOUNDS, TPU_CHIPS_PER_PROCESS_BOUNDS,
            TPU_VISIBLE_CHIPS, TPU_PROCESS_ADDRESSES, TPU_PROCESS_PORT and CLOUD_TPU_TASK_ID.
        jobset: the name of the JobSet, for profile JOBSET; None: the group's name.
        replicated_job: the name of the JobSet's replicated job; None: "slice-job".
        lws: the LeaderWorkerSet, for profile LWS; None: one with the group's name.
        job: the name of the Job, for profile JOB; None: the group's name.
        subdomain: the subdomain of the Job's pods, the name of a headless service; None: none, which is right only for
            slices with one host.

    Raises:
        InvalidError: the group is removed, the chips of a bundle are not a box of 1, 2, 4 or 8, the profile needs
            pods but the bundles are not whole slices, Ray's arithmetic or the webhook refuses the slices, the chips
            of a host cannot be divided among so many processes, or Kubernetes refuses a name.
        NotNowError: a bundle is not placed; or the group's sources lack facts that the profile needs: addresses, the
            topology of a slice, or the cluster and the replica of a slice. In that case import the node list of the
            running cluster, or the manifest.
    """
    handle = _group(group)
    launch = _c.own_handle(lib.quoit_launch_new(_c.to_member(Profile, profile, "profile")), lib.quoit_launch_free)
    call(lib.quoit_launch_set_processes_per_host, launch, _c.to_int(processes_per_host, "processes_per_host", _UINT32))
    call(
        lib.quoit_launch_set_jobset,
        launch,
        _to_text_or_null(jobset, "jobset"),
        _to_text_or_null(replicated_job, "replicated_job"),
    )
    _set_lws(launch, LeaderWorkerSet() if lws is None else lws)
    call(lib.quoit_launch_set_job, launch, _to_text_or_null(job, "job"), _to_text_or_null(subdomain, "subdomain"))
    return _topology(handle, launch)


def manifest_topology(group: Group, manifest: Input, pool: str) -> Topology:
    """Computes the place and the environment of each process of the group for the pods of a manifest.

    The object of the manifest gives the profile and the names: a JobSet, a LeaderWorkerSet, a Job, StatefulSet,
    Deployment, ReplicaSet, CronJob or Pod, or a Ray object. Use it for groups on the nodes that an import of the
    manifest makes.

    Args:
        group: a group of slices.
        manifest: an input of kind RAYCLUSTER.
        pool: the pool of the pods: for a JobSet, the name of a replicated job.

    Raises:
        InvalidError: the manifest cannot be read, or as for topology().
        NotFoundError: the manifest has no such pool.
        NotNowError: as for topology().
    """
    handle = _group(group)
    if not isinstance(manifest, Input):
        raise TypeError(f"manifest: expected a quoit.Input, not {type(manifest).__name__}")
    pointer = call(lib.quoit_launch_new_for_manifest, manifest._open(), _c.to_text(pool, "pool"))
    return _topology(handle, _c.own_handle(pointer, lib.quoit_launch_free))


def _group(group: Group) -> Any:
    if not isinstance(group, Group):
        raise TypeError(f"group: expected a quoit.Group, not {type(group).__name__}")
    return group._handle


def _set_lws(launch: Any, lws: LeaderWorkerSet) -> None:
    if not isinstance(lws, LeaderWorkerSet):
        raise TypeError(f"lws: expected a quoit.LeaderWorkerSet, not {type(lws).__name__}")
    subgroups = _c.to_int(lws.subgroups, "subgroups", _UINT32)
    chosen = {
        _LwsFlags.LEADER_APART: _c.to_bool(lws.leader_apart, "leader_apart"),
        _LwsFlags.OWN_SUBDOMAINS: _c.to_bool(lws.own_subdomains, "own_subdomains"),
        _LwsFlags.SUBGROUPS: subgroups > 0,
    }
    call(
        lib.quoit_launch_set_lws,
        launch,
        _to_text_or_null(lws.name, "name"),
        _to_text_or_null(lws.namespace, "namespace"),
        max(subgroups, 1),
        sum(flag for flag, is_set in chosen.items() if is_set),
    )


def _topology(group: Any, launch: Any) -> Topology:
    pointer = call(lib.quoit_topology_new, group, launch)
    handle = _c.own_handle(pointer, lib.quoit_topology_free)
    result = Topology(
        Profile(lib.quoit_launch_get_profile(launch)),
        tuple(_process(handle, at) for at in range(lib.quoit_topology_get_n_processes(handle))),
        tuple(_c.text(lib.quoit_topology_get_note(handle, at)) for at in range(lib.quoit_topology_get_n_notes(handle))),
        Job(lib.quoit_topology_get_job(handle)),
    )
    vars(result)["_handle"] = handle  # not a field, so that copies do not contain it
    return result


def _to_text_or_null(value: str | None, what: str) -> Any:
    return _c.NULL if value is None else _c.to_text(value, what)


def _process(handle: Any, at: int) -> Process:
    environment = {
        _c.text(lib.quoit_topology_get_variable_name(handle, at, one)): _c.text(
            lib.quoit_topology_get_variable_value(handle, at, one)
        )
        for one in range(lib.quoit_topology_get_n_variables(handle, at))
    }
    chips = range(lib.quoit_topology_get_n_chips(handle, at))
    bundle = int(lib.quoit_topology_get_bundle(handle, at))
    group_slice = int(lib.quoit_topology_get_group_slice(handle, at))
    host_chips = int(lib.quoit_topology_get_host_chips(handle, at))
    slice_ids = {one: int(lib.quoit_topology_find_profile_slice_id(handle, at, int(one))) for one in Profile}
    return Process(
        process_id=at,
        slice_id=int(lib.quoit_topology_get_slice_id(handle, at)),
        slice_name=_c.text(lib.quoit_topology_get_slice_name(handle, at)),
        slice_full_name=_c.take_text(lib.quoit_topology_dup_slice_full_name(handle, at)),
        worker_id=int(lib.quoit_topology_get_worker_id(handle, at)),
        node_name=_c.text(lib.quoit_topology_get_node_name(handle, at)),
        node_full_name=_c.take_text(lib.quoit_topology_dup_node_full_name(handle, at)),
        node_address=_c.text_or_none(lib.quoit_topology_get_node_address(handle, at)),
        assumptions=NodeAssumptions(lib.quoit_topology_get_node_assumptions(handle, at)),
        environment=environment,
        group_slice=None if group_slice == _UINT32[-1] else group_slice,
        bundle=None if bundle < 0 else bundle,
        local_index=int(lib.quoit_topology_get_local_index(handle, at)),
        host_chips=tuple(chip for chip in range(64) if host_chips >> chip & 1),
        chips=tuple(int(lib.quoit_topology_get_chip(handle, at, chip)) for chip in chips),
        coordinates=tuple(_place(handle, at, chip) for chip in chips),
        devices=tuple(
            int(lib.quoit_topology_get_device(handle, at, one))
            for one in range(lib.quoit_topology_get_n_devices(handle, at))
        ),
        slice_ids={one: number for one, number in slice_ids.items() if number >= 0},
    )


def _place(handle: Any, at: int, chip: int) -> Place:
    x, y, z = (int(lib.quoit_topology_get_chip_at(handle, at, chip, int(axis))) for axis in (Axis.X, Axis.Y, Axis.Z))
    return x, y, z


def renumbering(before: Topology | None, after: Topology | None) -> Renumbering:
    """Compares two topologies of a group, of the same profile and ledger.

    Args:
        before: the old state, such as `topology` of `GroupChange.before`; None: the group had no processes.
        after: the present state; None: the group has no processes.

    Raises:
        InvalidError: a topology is an unpickled copy, or the profiles differ.
    """
    handles = _topology_handle(before, "before"), _topology_handle(after, "after")
    if before is not None and after is not None and before.profile != after.profile:
        raise errors.InvalidError(
            f"after: profile '{after.profile.name}': expected that of before, {before.profile.name}"
        )
    pointer = lib.quoit_renumbering_new(*handles)
    try:
        rows = tuple(_row(pointer, at) for at in range(lib.quoit_renumbering_get_n_rows(pointer)))
        return Renumbering(rows, sum(row.change is not ProcessChange.SAME for row in rows))
    finally:
        lib.quoit_renumbering_free(pointer)


def _topology_handle(given: object, what: str) -> Any:
    if given is None:
        return _c.NULL
    if not isinstance(given, Topology):
        raise TypeError(f"{what}: expected a quoit.Topology or None, not {type(given).__name__}")
    if given._handle is None:
        raise errors.InvalidError(f"{what}: expected a result of quoit.topology() in this process, found a copy")
    return given._handle


def _row(pointer: Any, at: int) -> RenumberingRow:
    def number(get: Any, side: int) -> int | None:
        value = int(get(pointer, at, side))
        return None if value < 0 else value

    return RenumberingRow(
        change=ProcessChange(lib.quoit_renumbering_get_change(pointer, at)),
        node_name=_c.text(lib.quoit_renumbering_get_node_name(pointer, at)),
        slice_name=_c.text(lib.quoit_renumbering_get_slice_name(pointer, at)),
        counterpart=_c.text_or_none(lib.quoit_renumbering_get_counterpart(pointer, at)),
        process_before=number(lib.quoit_renumbering_get_process, _RenumberingSide.BEFORE),
        process_after=number(lib.quoit_renumbering_get_process, _RenumberingSide.AFTER),
        slice_id_before=number(lib.quoit_renumbering_get_slice_id, _RenumberingSide.BEFORE),
        slice_id_after=number(lib.quoit_renumbering_get_slice_id, _RenumberingSide.AFTER),
        worker_id_before=number(lib.quoit_renumbering_get_worker_id, _RenumberingSide.BEFORE),
        worker_id_after=number(lib.quoit_renumbering_get_worker_id, _RenumberingSide.AFTER),
        variables=tuple(
            VariableChange(
                _c.text(lib.quoit_renumbering_get_variable_name(pointer, at, one)),
                _c.text_or_none(lib.quoit_renumbering_get_variable_value(pointer, at, one, _RenumberingSide.BEFORE)),
                _c.text_or_none(lib.quoit_renumbering_get_variable_value(pointer, at, one, _RenumberingSide.AFTER)),
            )
            for one in range(lib.quoit_renumbering_get_n_variables(pointer, at))
        ),
    )
