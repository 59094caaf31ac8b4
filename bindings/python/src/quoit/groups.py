# SPDX-License-Identifier: Apache-2.0
"""Groups: the slices and bundles that a request holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from . import _c
from ._c import call, lib
from .errors import InvalidError


class GroupState(_c.Code):
    """The state of a group."""

    HELD = 1
    """Not confirmed yet."""
    RESERVED = 2
    """Confirmed, or reserved without a hold, and whole. Ray: CREATED."""
    RESCHEDULING = 3
    """A node of the group is dead or draining, or a bundle is no longer placed."""
    REMOVED = 4
    """Ended. The record is kept because the group has a request key, its lease has ended, or its release has a reason."""
    PENDING = 5
    """Imported from Ray, and not placed yet."""
    AHEAD = 6
    """A reservation ahead (`Ledger.reserve_at`), which holds nothing before it begins."""


class GroupSliceState(_c.Code):
    """The state of a slice or a bundle of a group."""

    WHOLE = 1
    LEAVING = 2
    """A host is draining."""
    LOST = 3
    """A host is dead, or the bundle is not placed."""


@dataclasses.dataclass(frozen=True)
class Worker:
    """A node of a slice of a group. `GroupSlice.workers` has the nodes in the order of their worker ids."""

    name: str
    """The short name; another pool can have the same one."""
    address: str | None
    """The address; None if the source has no addresses, such as a manifest."""
    node_id: int
    """The durable id of the node, for `Snapshot.node_by_id`."""
    full_name: str
    """source/pool/name."""


@dataclasses.dataclass(frozen=True)
class GroupSlice:
    """A slice of a group. Its index in `Group.slices` is its slice id."""

    name: str
    """The short name if it is unambiguous in the fleet, else source/pool/name."""
    state: GroupSliceState
    workers: tuple[Worker, ...]
    """The nodes of the slice, in the order of worker ids."""
    part: tuple[tuple[int, int, int], tuple[int, int, int]] | None = None
    """Where a part is in the slice of the fleet that it is cut from: the coordinates of its first chip, and its chips
    along x, y and z. A part that crosses the wraparound of an axis ends outside of the slice. None: a whole slice."""
    joined: tuple[int, int, int] | None = None
    """The chips along x, y and z of a slice that is joined from cubes, x fastest in the order of its workers; None:
    another slice."""
    worker_slices: tuple[str, ...] = ()
    """In a slice that is joined from cubes: for each worker the name of its cube, "" if its node has left the fleet."""


@dataclasses.dataclass(frozen=True)
class PlacedBundle(_c.WithFrozenMappings):
    """A bundle of a group."""

    node: str | None
    """The node's short name; None if the bundle is not placed."""
    node_id: int | None
    """The durable id of the node, for `Snapshot.node_by_id`; None if the bundle is not placed."""
    chips: tuple[int, ...]
    """The chips of the node that the bundle uses, completely or in part."""
    state: GroupSliceState
    resources: Mapping[str, str]
    """The amount of each resource as decimal text, also for a bundle that is not placed."""


class Group(_c.Immutable):
    """A group as it was when this object was made. The object is immutable, and valid after the ledger is closed.

    Two objects are equal if all their attributes are equal.
    """

    _handle: Any
    _pickle_advice = "send its handle (NAME@ID), which all calls accept"

    def __init__(self, handle: Any) -> None:
        object.__setattr__(self, "_handle", _c.check_handle(handle, Group, "Ledger.reserve and its like"))

    def __repr__(self) -> str:
        contents = ", ".join(one.name for one in self.slices) or "bundles"
        return f"<quoit.Group {self.handle!r} {self.state.name} of {contents}>"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.of_group(self)

    def __eq__(self, other: object) -> bool:
        return self._facts == other._facts if isinstance(other, Group) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def _facts(self) -> tuple[object, ...]:
        times = self.created_ms, self.begins_ms, self.ended_ms, self.until_ms, self.expected_end_ms, self.priority
        texts = self.name, self.owner, self.key, self.request, self.labels, self.release_reason
        return self.id, texts, self.state, times, self.slices, self.bundles

    @property
    def id(self) -> int:
        """The id. No other group of this ledger ever had it or will have it."""
        return int(lib.quoit_group_get_id(self._handle))

    @property
    def name(self) -> str:
        """The name, unique among the live groups."""
        return _c.text(lib.quoit_group_get_name(self._handle))

    @property
    def handle(self) -> str:
        """NAME@ID, for the calls that change a group. With the handle, a late call never affects a newer group.

        The handle does not identify the ledger, because ids count from 1 in each ledger.
        """
        return _c.text(lib.quoit_group_get_handle(self._handle))

    @property
    def owner(self) -> str:
        """The owner; "" without one."""
        return _c.text(lib.quoit_group_get_owner(self._handle))

    @property
    def key(self) -> str:
        """The request key; "" without one."""
        return _c.text(lib.quoit_group_get_key(self._handle))

    @property
    def request(self) -> str:
        """The request in canonical text. Of one with alternatives, the one that the group got comes first."""
        return _c.text(lib.quoit_group_get_request(self._handle))

    @property
    def alternative(self) -> int:
        """Which alternative of its request the group got, counted from 1; 0: the request itself."""
        return int(lib.quoit_group_get_alternative(self._handle))

    @property
    def state(self) -> GroupState:
        """The state when this object was made."""
        return GroupState(lib.quoit_group_get_state(self._handle))

    @property
    def created_ms(self) -> int:
        """When the group was reserved, held or first imported, in milliseconds since 1970 UTC by the ledger's clock."""
        return int(lib.quoit_group_get_created_ms(self._handle))

    @property
    def begins_ms(self) -> int | None:
        """When `Ledger.reserve_at` lets the group begin, also after it has begun; None if it began when it was made."""
        return lib.quoit_group_get_begins_ms(self._handle) or None

    @property
    def ended_ms(self) -> int | None:
        """When the group was released; None for a live group."""
        return lib.quoit_group_get_ended_ms(self._handle) or None

    @property
    def until_ms(self) -> int | None:
        """When the group ends unless it or its owner is renewed; None without a lease.

        The group has ended from this time on.
        """
        return lib.quoit_group_get_until_ms(self._handle) or None

    @property
    def expected_end_ms(self) -> int | None:
        """When the group is expected to end; None if unknown. The time may have passed, because it ends nothing."""
        return lib.quoit_group_get_expected_end_ms(self._handle) or None

    @property
    def priority(self) -> int:
        """The priority; a greater one is more important."""
        return int(lib.quoit_group_get_priority(self._handle))

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels, sorted by key: data of the caller that quoit only keeps."""
        numbers = range(lib.quoit_group_get_n_labels(self._handle))
        return _c.cached(self, "_labels", lambda: _c.FrozenDict(map(self._label, numbers)))

    def _label(self, index: int) -> tuple[str, str]:
        key = lib.quoit_group_get_label_key(self._handle, index)
        return _c.text(key), _c.text(lib.quoit_group_get_label_value(self._handle, index))

    def find_label(self, key: str) -> str | None:
        """Returns the value of a label; None if the group does not have it.

        Raises:
            TypeError, InvalidError: the key is not a text.
        """
        return _c.text_or_none(lib.quoit_group_find_label(self._handle, _c.to_text(key, "key")))

    @property
    def release_reason(self) -> str:
        """Why the group was released, as given to `Ledger.release`; "" for a live group, and without a reason."""
        return _c.text(lib.quoit_group_get_release_reason(self._handle))

    @property
    def source(self) -> str:
        """The source that created the group, and that alone can remove it; "" for a group that the ledger allocated."""
        return _c.text(lib.quoit_group_get_source(self._handle))

    @property
    def has_expired(self) -> bool:
        """Whether the group ended because its lease, or the lease of its owner, ended."""
        return bool(lib.quoit_group_has_expired(self._handle))

    @property
    def slices(self) -> tuple[GroupSlice, ...]:
        """The slices by slice id (natural order of names); empty for a removed group."""
        numbers = range(lib.quoit_group_get_n_slices(self._handle))
        return _c.cached(self, "_slices", lambda: tuple(map(self._slice, numbers)))

    def _slice(self, index: int) -> GroupSlice:
        return GroupSlice(
            _c.take_text(lib.quoit_group_dup_slice_name(self._handle, index)),
            GroupSliceState(lib.quoit_group_get_slice_state(self._handle, index)),
            tuple(
                Worker(
                    _c.text(lib.quoit_group_get_worker_name(self._handle, index, worker)),
                    _c.text_or_none(lib.quoit_group_get_worker_address(self._handle, index, worker)),
                    int(lib.quoit_group_get_worker_node_id(self._handle, index, worker)),
                    _c.take_text(lib.quoit_group_dup_worker_full_name(self._handle, index, worker)),
                )
                for worker in range(lib.quoit_group_get_n_workers(self._handle, index))
            ),
            self._part(index),
            *self._joined(index),
        )

    def _joined(self, index: int) -> tuple[tuple[int, int, int] | None, tuple[str, ...]]:
        shape = _c.ffi.new("uint32_t[3]")
        if not lib.quoit_group_find_joined(self._handle, index, shape):
            return None, ()
        workers = range(lib.quoit_group_get_n_workers(self._handle, index))
        names = tuple(_c.take_text(lib.quoit_group_dup_worker_slice(self._handle, index, one)) for one in workers)
        return (shape[0], shape[1], shape[2]), names

    def _part(self, index: int) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
        origin, shape = _c.ffi.new("uint32_t[3]"), _c.ffi.new("uint32_t[3]")
        if not lib.quoit_group_find_part(self._handle, index, origin, shape):
            return None
        return (origin[0], origin[1], origin[2]), (shape[0], shape[1], shape[2])

    def gke_slice(self, slice_id: int) -> str:
        """Returns GKE's Slice object for a slice that is joined from cubes, or for a partition of a cube, as YAML.

        Its name is the name of the group, '-' and the slice id. Nothing is sent to a cluster.

        Raises:
            InvalidError: the group has no such slice, nodes of one partition state different ids, or GKE cannot have
                it: only tpu7x; of joined slices, only sides in ascending order and at most 9216 chips; of whole slices
                and parts, only 2x2x1, 2x2x2, 2x2x4, 2x4x4 and 4x4x4; and a name of at most 54 bytes that Kubernetes
                accepts.
            NotFoundError: a node has no label with the id of its cube or partition, or the node or the group is no
                longer in the fleet.
            ConflictError: the group has not begun.
            TypeError: the slice id is not a number.
        """
        index, n = _c.to_int(slice_id, "slice_id"), lib.quoit_group_get_n_slices(self._handle)
        if not 0 <= index < n:
            raise InvalidError(f"slice_id {index}: expected one of the {n} slices of the group, from 0 on")
        return _c.take_text(call(lib.quoit_gke_slice_format, self._handle, index))

    @property
    def bundles(self) -> tuple[PlacedBundle, ...]:
        """The bundles in the order of the request; empty for a group that uses whole nodes."""
        numbers = range(lib.quoit_group_get_n_bundles(self._handle))
        return _c.cached(self, "_bundles", lambda: tuple(map(self._bundle, numbers)))

    def _bundle(self, index: int) -> PlacedBundle:
        mask = lib.quoit_group_get_bundle_chips(self._handle, index)
        resources = {
            _c.text(lib.quoit_group_get_bundle_resource_name(self._handle, index, one)): _c.amount_text(
                lib.quoit_group_get_bundle_amount(self._handle, index, one)
            )
            for one in range(lib.quoit_group_get_bundle_n_resources(self._handle, index))
        }
        return PlacedBundle(
            _c.text_or_none(lib.quoit_group_get_bundle_node(self._handle, index)),
            int(lib.quoit_group_get_bundle_node_id(self._handle, index)) or None,
            _c.list_bits(mask),
            GroupSliceState(lib.quoit_group_get_bundle_state(self._handle, index)),
            resources,
        )


@dataclasses.dataclass(frozen=True)
class GroupChange:
    """A group before and after one transaction. To compare its processes, pass their topologies to `renumbering`."""

    before: Group
    after: Group | None
    """The group after the transaction; None: the group ended with its last slice."""
    is_unchanged: bool
    """Whether the group already was as requested, so that nothing was written."""


def wrap_group(pointer: Any) -> Group:
    """Returns a group that frees the handle."""
    return Group(_c.own_handle(pointer, lib.quoit_group_unref))


def take_change(pointer: Any) -> GroupChange:
    """Converts a change, and frees it."""
    before, after = lib.quoit_group_change_get_before(pointer), lib.quoit_group_change_get_after(pointer)
    try:
        return GroupChange(
            wrap_group(lib.quoit_group_ref(before)),
            None if after == _c.NULL else wrap_group(lib.quoit_group_ref(after)),
            after == before,
        )
    finally:
        lib.quoit_group_change_free(pointer)


def placement_key(group: Group) -> tuple[object, ...]:
    """Returns the names of the slices and the ids of their nodes, as a key of caches. Faster than `Group.slices`."""
    if not isinstance(group, Group):
        raise TypeError(f"group: expected a quoit.Group, not {type(group).__name__}")
    handle = group._handle
    parts: list[object] = []
    for index in range(lib.quoit_group_get_n_slices(handle)):
        parts.append(_c.take_text(lib.quoit_group_dup_slice_name(handle, index)))
        for worker in range(lib.quoit_group_get_n_workers(handle, index)):
            parts.append(int(lib.quoit_group_get_worker_node_id(handle, index, worker)))
    return tuple(parts)


def to_group_name(group: object) -> bytes:
    """Returns the name of a group for C: NAME, NAME@ID, or the NAME@ID of a `Group`."""
    return _c.to_text(group.handle if isinstance(group, Group) else group, "group")


def to_group_names(groups: object) -> Any:
    """Like `to_group_name`, for many groups: a NULL-terminated array, valid while the caller keeps a reference."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise TypeError(f"groups: expected a sequence of str or Group, not {type(groups).__name__}")
    return _c.to_texts([group.handle if isinstance(group, Group) else group for group in groups], "groups")
