# SPDX-License-Identifier: Apache-2.0
"""What one request holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from . import _c
from ._c import lib


class GroupState(_c.Code):
    """Ray's words for them stand beside."""

    HELD = 1
    """Not yet confirmed."""
    RESERVED = 2
    """Ray: CREATED."""
    RESCHEDULING = 3
    """One of its nodes is dead or draining, or a bundle of it is not placed any more."""
    REMOVED = 4
    """Gone; kept for its request key, or to tell that its lease has ended."""
    PENDING = 5
    """Imported from Ray alone: not placed yet."""


class GroupSliceState(_c.Code):
    """How a slice or a bundle of a group is."""

    WHOLE = 1
    LEAVING = 2
    """A host is draining."""
    LOST = 3
    """A host is dead, or the bundle is not placed."""


@dataclasses.dataclass(frozen=True)
class Worker:
    """A node of a slice; its place in `GroupSlice.workers` is that of its worker id among those of the slice."""

    name: str
    """The short name, which another pool can have too."""
    address: str | None
    """None if its source has no address, such as a manifest."""
    node_id: int
    """The durable id of the node, for `Snapshot.node_by_id`."""
    full_name: str
    """source/pool/name."""


@dataclasses.dataclass(frozen=True)
class GroupSlice:
    """A slice of a group; its place in `Group.slices` is its slice id."""

    name: str
    """The short name where it is unambiguous in the fleet, else source/pool/name."""
    state: GroupSliceState
    workers: tuple[Worker, ...]
    """By worker id."""


@dataclasses.dataclass(frozen=True)
class PlacedBundle(_c.WithMappings):
    """A bundle of a group."""

    node: str | None
    """The node's short name; None if the bundle is not placed."""
    node_id: int | None
    """The durable id of the node, for `Snapshot.node_by_id`; None if the bundle is not placed."""
    chips: tuple[int, ...]
    """The chips of its node that it has, wholly or in part."""
    state: GroupSliceState
    text: str
    """What it has, in words: "chips 0,1: CPU 1, TPU 2"."""
    resources: Mapping[str, str]
    """Amounts by resource, as decimal text; also where it is not placed."""


class Group(_c.Sealed):
    """What one request holds, as it was when this value was made. Immutable; it outlives the ledger that it came from.

    Two values are equal that say the same of the same group.
    """

    _handle: Any
    _instead = "send its handle (NAME@ID), which every call takes"

    def __init__(self, handle: Any) -> None:
        object.__setattr__(self, "_handle", _c.checked_handle(handle, Group, "Ledger.reserve and its like"))

    def __repr__(self) -> str:
        return f"<quoit.Group {self.handle!r} {self.state.name} of {', '.join(one.name for one in self.slices) or 'bundles'}>"

    def __eq__(self, other: object) -> bool:
        return self._facts == other._facts if isinstance(other, Group) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def _facts(self) -> tuple[object, ...]:
        times = self.since_ms, self.ended_ms, self.until_ms
        return self.id, self.name, self.owner, self.key, self.request, self.state, times, self.slices, self.bundles

    @property
    def id(self) -> int:
        """No other group of this ledger ever had it or will have it."""
        return int(lib.quoit_group_get_id(self._handle))

    @property
    def name(self) -> str:
        """Unique among the live groups."""
        return _c.text(lib.quoit_group_get_name(self._handle))

    @property
    def handle(self) -> str:
        """NAME@ID: what to give to the calls that change a group. A late one never touches a group that took the name since.

        It does not say of which ledger: ids count from 1 in each.
        """
        return _c.text(lib.quoit_group_get_handle(self._handle))

    @property
    def owner(self) -> str:
        """Who holds it; "" where none was given."""
        return _c.text(lib.quoit_group_get_owner(self._handle))

    @property
    def key(self) -> str:
        """The request key; "" where none was given."""
        return _c.text(lib.quoit_group_get_key(self._handle))

    @property
    def request(self) -> str:
        """What was asked, in canonical text."""
        return _c.text(lib.quoit_group_get_request(self._handle))

    @property
    def state(self) -> GroupState:
        """The state when this value was made."""
        return GroupState(lib.quoit_group_get_state(self._handle))

    @property
    def since_ms(self) -> int:
        """When it was reserved by the ledger's clock, in milliseconds since 1970 UTC."""
        return int(lib.quoit_group_get_since_ms(self._handle))

    @property
    def ended_ms(self) -> int | None:
        """When it was released; None while it is not."""
        return lib.quoit_group_get_ended_ms(self._handle) or None

    @property
    def until_ms(self) -> int | None:
        """When it ends unless it, or its owner, is renewed: it lives while the clock is less. None: neither has a lease."""
        return lib.quoit_group_get_until_ms(self._handle) or None

    @property
    def source(self) -> str:
        """The source that has made it, and alone can remove it; "" for a group that was made here."""
        return _c.text(lib.quoit_group_get_source(self._handle))

    @property
    def has_expired(self) -> bool:
        """Whether it is gone because its lease, or its owner's, has ended."""
        return bool(lib.quoit_group_has_expired(self._handle))

    @property
    def slices(self) -> tuple[GroupSlice, ...]:
        """Its slices by slice id (natural order of names); none for a removed group."""
        numbers = range(lib.quoit_group_get_n_slices(self._handle))
        return _c.kept(self, "_slices", lambda: tuple(map(self._slice, numbers)))

    def _slice(self, index: int) -> GroupSlice:
        return GroupSlice(
            _c.taken_text(lib.quoit_group_dup_slice_name(self._handle, index)),
            GroupSliceState(lib.quoit_group_get_slice_state(self._handle, index)),
            tuple(
                Worker(
                    _c.text(lib.quoit_group_get_worker_name(self._handle, index, worker)),
                    _c.text_or_none(lib.quoit_group_get_worker_address(self._handle, index, worker)),
                    int(lib.quoit_group_get_worker_node_id(self._handle, index, worker)),
                    _c.taken_text(lib.quoit_group_dup_worker_full_name(self._handle, index, worker)),
                )
                for worker in range(lib.quoit_group_get_n_workers(self._handle, index))
            ),
        )

    @property
    def bundles(self) -> tuple[PlacedBundle, ...]:
        """Its bundles in the order of the request; none for a group that has its nodes whole."""
        numbers = range(lib.quoit_group_get_n_bundles(self._handle))
        return _c.kept(self, "_bundles", lambda: tuple(map(self._bundle, numbers)))

    def _bundle(self, index: int) -> PlacedBundle:
        mask = lib.quoit_group_get_bundle_chips(self._handle, index)
        resources = {
            _c.text(lib.quoit_group_get_bundle_resource_name(self._handle, index, one)): _c.taken_text(
                lib.quoit_group_dup_bundle_resource_amount(self._handle, index, one)
            )
            for one in range(lib.quoit_group_get_bundle_n_resources(self._handle, index))
        }
        return PlacedBundle(
            _c.text_or_none(lib.quoit_group_get_bundle_node(self._handle, index)),
            int(lib.quoit_group_get_bundle_node_id(self._handle, index)) or None,
            _c.bits(mask),
            GroupSliceState(lib.quoit_group_get_bundle_state(self._handle, index)),
            _c.taken_text(lib.quoit_group_dup_bundle_text(self._handle, index)),
            resources,
        )


@dataclasses.dataclass(frozen=True)
class GroupChange:
    """What a group was and what it is now, from one transaction: `renumbering` compares the processes of the two."""

    before: Group
    after: Group | None
    """None: its last slice went, and the group with it."""
    is_nothing: bool
    """Whether the group was already what was asked for, and nothing was written."""


def owned_group(pointer: Any) -> Group:
    """The group that is the caller's."""
    return Group(_c.owned(pointer, lib.quoit_group_unref))


def taken_change(pointer: Any) -> GroupChange:
    """What the change says; it is freed."""
    after = lib.quoit_group_change_get_after(pointer)
    try:
        return GroupChange(
            owned_group(lib.quoit_group_ref(lib.quoit_group_change_get_before(pointer))),
            None if after == _c.NULL else owned_group(lib.quoit_group_ref(after)),
            bool(lib.quoit_group_change_is_nothing(pointer)),
        )
    finally:
        lib.quoit_group_change_free(pointer)


def whereabouts(group: Group) -> tuple[object, ...]:
    """What tells its slices and their workers from others: for comparing, as it costs less than `Group.slices`."""
    if not isinstance(group, Group):
        raise TypeError(f"group: expected a quoit.Group, not {type(group).__name__}")
    handle, string = group._handle, _c.ffi.string
    names: list[object] = []
    for index in range(lib.quoit_group_get_n_slices(handle)):
        names.append(_c.taken_text(lib.quoit_group_dup_slice_name(handle, index)))
        for worker in range(lib.quoit_group_get_n_workers(handle, index)):
            names.append(string(lib.quoit_group_get_worker_name(handle, index, worker)))
    return tuple(names)


def group_text(group: object) -> bytes:
    """What names a group to C: NAME, NAME@ID, or a `Group`, which is its NAME@ID."""
    return _c.to_text(group.handle if isinstance(group, Group) else group, "group")
