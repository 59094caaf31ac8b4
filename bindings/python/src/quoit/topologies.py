# SPDX-License-Identifier: Apache-2.0
"""Where each process of a group stands, and what a change of the group means for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from . import _c, errors
from ._c import call, lib
from .coordinates import Axis, Place
from .fleet import NodeAssumptions
from .groups import Group

_UINT32 = range(2**32)


class Profile(_c.Code):
    """Whose environment is made."""

    QUOIT = 1
    """Slices and workers in natural order; TPU_ACCELERATOR_TYPE in GKE's spelling; hosts by the webhook's names where
    nodes come from a manifest, else by address; MEGASCALE_* only for more than one slice."""
    RAY_TRAIN = 2
    """What Ray Train 2.60's JAX backend sets, in Ray's order: slices sorted as text."""
    KUBERAY = 3
    """What stands in a pod once GKE's TPU webhook has seen it: a slice's id is its replica's index, and there are
    MEGASCALE_* only where the manifest sets MEGASCALE_NUM_SLICES."""
    JOBSET = 4
    """The slices as the jobs of a JobSet, in natural order, and the workers as their pods."""


class Job(_c.Code):
    """What the processes of a group are together."""

    SLICES = 1
    """One job on whole slices, each host of which has as many processes as any other."""
    BOXES = 2
    """One job on a part of each slice: a box of chips, the same of every slice, which the processes divide as a grid. JAX
    counts chips and devices from the first chip of the box."""
    APART = 3
    """No job over ICI: each process starts alone, as process 0 of 1, and counts its own chips. Notes say why."""


class _RenumberingSide(_c.Code):
    """The two states that a renumbering compares."""

    BEFORE = 0
    AFTER = 1


class RenumberingHow(_c.Code):
    """What has become of a process."""

    SAME = 1
    """It has the numbers and the environment that it had."""
    CHANGED = 2
    """Its numbers are the same, its environment is not."""
    MOVED = 3
    """It has another process id, slice id or worker id."""
    JOINED = 4
    """It was not there before."""
    LEFT = 5
    """It is there no more."""


@dataclasses.dataclass(frozen=True)
class Process(_c.WithMappings):
    """A process of a group; its place in `Topology.processes` is its process id."""

    slice_id: int
    """What the profile gives its slice; 0 where it has no chips."""
    slice_name: str
    """ "": its node is in none."""
    slice_full_name: str
    """source/pool/name; "" likewise."""
    worker_id: int
    """Of its host in the slice; 0 where a process of a bundle has none."""
    node_name: str
    node_full_name: str
    """source/pool/name."""
    node_address: str | None
    """None where it is not known."""
    assumptions: NodeAssumptions
    """What the sources of that node did not say. Notes say which variables are not right for a host name."""
    environment: Mapping[str, str]
    """Its variables, sorted by name, with values as they are: whoever writes one to a shell must quote it."""
    group_slice: int | None
    """Which slice of the group it is in, in every profile: by its place in `Group.slices`, or of a group of bundles among
    those that its chips are in, in natural order. None: it has no chips."""
    bundle: int | None
    """Which bundle of the group it is; None: the group has its hosts whole."""
    local: int
    """Its number among the processes of its host, from 0."""
    host_chips: tuple[int, ...]
    """Its chips by the numbers that TPU_VISIBLE_CHIPS, Ray and bundles know them by; none where it has none, or which
    these are is not known."""
    chips: tuple[int, ...]
    """The same by their numbers in the slice (see `quoit.coordinates`), ascending, as JAX lists its devices; none where
    its place in a slice is not known."""
    coordinates: tuple[Place, ...]
    """Where each of these is on its slice's torus."""
    devices: tuple[int, ...]
    """The ids of its local devices in the whole job, as JAX numbers them: chip by chip."""
    slice_ids: Mapping[Profile, int]
    """What each profile gives its slice, without those that give it none. They differ: Ray Train overrides the
    webhook's."""


@dataclasses.dataclass(frozen=True)
class Topology:
    """Where each process of a group stands. It may be pickled for the workers; a copy is not for `renumbering`."""

    profile: Profile
    processes: tuple[Process, ...]
    """By process id, 0 to n - 1."""
    notes: tuple[str, ...]
    """What the caller should know, a sentence each: that no addresses are known, that a host is dead."""
    processes_per_host: int = 1
    """The processes of a host follow each other. 0 unless they are `Job.SLICES`, as hosts may differ then."""
    job: Job = Job.SLICES
    """What the processes are together; those that have no chips are in no job, and behind all others."""
    _handle: ClassVar[Any] = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_handle"}


@dataclasses.dataclass(frozen=True)
class VariableChange:
    """A variable of a process's environment before and after."""

    name: str
    before: str | None
    """None: it was not set."""
    after: str | None
    """None: it is not set."""


@dataclasses.dataclass(frozen=True)
class RenumberingRow:
    """What has become of one process. A new machine under the name of an old one is another process."""

    how: RenumberingHow
    node_name: str
    """The name of now, or of before where the process is gone."""
    slice_name: str
    counterpart: str | None
    """Of one that joined, the node whose place it takes; of one that left, the node that takes its place; else None."""
    process_before: int | None
    """The process id that it had; None: none. So are the next five."""
    process_after: int | None
    slice_id_before: int | None
    slice_id_after: int | None
    worker_id_before: int | None
    worker_id_after: int | None
    variables: tuple[VariableChange, ...]
    """What of its environment differs, sorted by name; of a process that joined or left, all of it."""
    text: str
    """In a line: "host-3: process 7 -> 3, slice 1 -> 0, worker 3; MEGASCALE_SLICE_ID 1 -> 0"; values as they are."""


@dataclasses.dataclass(frozen=True)
class Renumbering:
    """What a change of a group means for each of its processes."""

    rows: tuple[RenumberingRow, ...]
    """First the processes that there are now, by process id, then those that are gone, by theirs."""
    n_changed: int
    """The rows that are not SAME; 0: nobody has to be told anything."""


def topology(
    group: Group,
    profile: Profile = Profile.QUOIT,
    *,
    processes_per_host: int = 1,
    jobset: str | None = None,
    replicated_job: str | None = None,
) -> Topology:
    """Where each process of the group stands, and its environment, as the profile has it.

    Args:
        group: of slices, or of bundles, each of which is a process.
        profile: whose environment is made.
        processes_per_host: 1, 2, 4 or 8, to which a host's chips are dealt evenly: one for JAX in host mode, one a chip
            for PyTorch/XLA in device mode; 1 for bundles that have parts of hosts. Profiles QUOIT and JOBSET then set TPU_PROCESS_BOUNDS,
            TPU_CHIPS_PER_PROCESS_BOUNDS, TPU_VISIBLE_CHIPS, TPU_PROCESS_ADDRESSES, TPU_PROCESS_PORT and
            CLOUD_TPU_TASK_ID.
        jobset: the name of the JobSet, for profile JOBSET; None: the group's.
        replicated_job: that of its replicated job; None: "slice-job".

    Raises:
        InvalidError: the group is removed, a bundle has chips that are no box of 1, 2, 4 or 8, bundles that are no whole
            slices are asked for as pods, Ray's own arithmetic or the webhook refuses the slices, the chips of a host are not dealt to so many processes, or Kubernetes refuses a name.
        NotNowError: a bundle is not placed; or the profile needs addresses, a slice's topology, or its cluster and replica, that the group's
            sources do not know: import the node list of the running cluster, or the manifest.
    """
    if not isinstance(group, Group):
        raise TypeError(f"group: expected a quoit.Group, not {type(group).__name__}")
    launch = _c.owned(lib.quoit_launch_new(_c.to_member(Profile, profile, "profile")), lib.quoit_launch_free)
    call(lib.quoit_launch_set_processes_per_host, launch, _c.to_int(processes_per_host, "processes_per_host", _UINT32))
    call(lib.quoit_launch_set_jobset, launch, _name(jobset, "jobset"), _name(replicated_job, "replicated_job"))
    pointer = call(lib.quoit_topology_new, group._handle, launch)
    handle = _c.owned(pointer, lib.quoit_topology_unref)
    made = Topology(
        profile,
        tuple(_process(handle, at) for at in range(lib.quoit_topology_get_n_processes(handle))),
        tuple(_c.text(lib.quoit_topology_get_note(handle, at)) for at in range(lib.quoit_topology_get_n_notes(handle))),
        int(lib.quoit_topology_get_processes_per_host(handle)),
        Job(lib.quoit_topology_get_job(handle)),
    )
    vars(made)["_handle"] = handle  # beside the fields: copies are of these alone
    return made


def _name(value: str | None, what: str) -> Any:
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
    slice_ids = {one: int(lib.quoit_topology_find_slice_id(handle, at, int(one))) for one in Profile}
    return Process(
        slice_id=int(lib.quoit_topology_get_slice_id(handle, at)),
        slice_name=_c.text(lib.quoit_topology_get_slice_name(handle, at)),
        slice_full_name=_c.taken_text(lib.quoit_topology_dup_slice_full_name(handle, at)),
        worker_id=int(lib.quoit_topology_get_worker_id(handle, at)),
        node_name=_c.text(lib.quoit_topology_get_node_name(handle, at)),
        node_full_name=_c.taken_text(lib.quoit_topology_dup_node_full_name(handle, at)),
        node_address=_c.text_or_none(lib.quoit_topology_get_node_address(handle, at)),
        assumptions=NodeAssumptions(lib.quoit_topology_get_node_assumptions(handle, at)),
        environment=environment,
        group_slice=None if group_slice == _UINT32[-1] else group_slice,
        bundle=None if bundle < 0 else bundle,
        local=int(lib.quoit_topology_get_local(handle, at)),
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
    """What became of each process between two topologies of a group, in one profile and of one ledger.

    Args:
        before: the group as it was, such as `topology` of `GroupChange.before`; None: it had no process.
        after: the group as it is; None: it has no process.

    Raises:
        InvalidError: one of them was pickled, or the profiles differ.
    """
    handles = _handle_of(before, "before"), _handle_of(after, "after")
    if before is not None and after is not None and before.profile != after.profile:
        raise errors.InvalidError(
            f"after: profile '{after.profile.name}': expected that of before, {before.profile.name}"
        )
    pointer = lib.quoit_renumbering_new(*handles)
    try:
        return Renumbering(
            tuple(_row(pointer, at) for at in range(lib.quoit_renumbering_get_n_rows(pointer))),
            int(lib.quoit_renumbering_get_n_changed(pointer)),
        )
    finally:
        lib.quoit_renumbering_free(pointer)


def _handle_of(given: object, what: str) -> Any:
    if given is None:
        return _c.NULL
    if not isinstance(given, Topology):
        raise TypeError(f"{what}: expected a quoit.Topology or None, not {type(given).__name__}")
    if given._handle is None:
        raise errors.InvalidError(f"{what}: expected what quoit.topology() made in this process, found a copy")
    return given._handle


def _row(pointer: Any, at: int) -> RenumberingRow:
    def number(get: Any, side: int) -> int | None:
        value = int(get(pointer, at, side))
        return None if value < 0 else value

    return RenumberingRow(
        how=RenumberingHow(lib.quoit_renumbering_get_how(pointer, at)),
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
        text=_c.taken_text(lib.quoit_renumbering_dup_text(pointer, at)),
    )
