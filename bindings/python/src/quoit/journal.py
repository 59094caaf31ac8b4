# SPDX-License-Identifier: Apache-2.0
"""The entries of a ledger's journal (`Ledger.changes_since`), and its checkpoint (`Ledger.read_checkpoint`)."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c
from ._c import call, ffi, lib
from .fleet import NodeState


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A verified copy of the state. The journal begins after it."""

    seq: int
    """The last entry that the checkpoint contains."""
    made_ms: int
    """When the checkpoint was made, in milliseconds since 1970 UTC, by the clock of the caller that made it."""


@dataclasses.dataclass(frozen=True)
class Trimmed:
    """What `Ledger.trim` has removed."""

    entries: int
    """The number of journal entries, which a checkpoint replaces."""
    groups: int
    """The number of records of ended groups."""


class EffectType(_c.Code):
    """The type of an effect. It determines which attributes of the `Effect` are set."""

    IMPORT = 1
    """A source has new content: `Effect.source` and `Effect.nodes`."""
    GROUP_ADDED = 2
    """A group was added: `Effect.group_name` and `Effect.group_id`."""
    GROUP_REMOVED = 3
    """A group was removed."""
    NODE_STATE = 4
    """A node has another state: `Effect.node` and `Effect.nodes`."""
    GROUP_CHANGED = 5
    """A group has other slices or bundles, under the same name and id."""
    GROUP_LEASE = 6
    """A group was confirmed, or has another lease."""
    GROUP_FORGOTTEN = 7
    """The record of a removed group was dropped, with its request key."""
    LEDGER_NUMBERS_SET = 8
    """The ledger's epoch, next ids or limits were set."""


class NodeEvent(_c.Code):
    """What an effect does to a node."""

    UNRECORDED = 0
    """It is new or different; an earlier version of quoit did not record which."""
    ADDED = 1
    """It is new in the fleet."""
    REMOVED = 2
    """It is no longer in the fleet."""
    MOVED = 3
    """Its slice, its worker id or its pool is another one."""
    CHANGED = 4
    """Its name, address, labels or resources are different, or its sources."""
    STATE = 5
    """It has another state."""
    LOST = 6
    """Its source no longer has it; it is dead while a group has it."""


@dataclasses.dataclass(frozen=True)
class NodeChange:
    """A node that an effect adds, changes or removes."""

    id: int
    """The durable id, as in `Node.id`."""
    name: str | None
    """The short name; None if the state has changed and the fleet no longer has the node."""
    event: NodeEvent
    state: NodeState | None
    """The state after the effect; None if the effect does not set it."""


@dataclasses.dataclass(frozen=True)
class Effect:
    """The effect of one change on one object."""

    type: EffectType
    source: str | None
    """The source of an import; None for other effects."""
    node: str | None
    """The node whose state has changed; None for other effects, and if the fleet no longer has the node."""
    group_name: str | None
    """The name of the affected group; None for other effects, and if the name is unknown."""
    group_id: int | None
    """The id of the affected group; None for other effects."""
    release_reason: str | None
    """Why the group was released; None for other effects, and if no reason was given."""
    text: str
    """The effect in words: "train@3 holds 8 nodes of 2 slices"."""
    nodes: tuple[NodeChange, ...]
    """The nodes that the effect adds, changes or removes.

    To follow the states of all nodes, take `NodeChange.state` of each node of each effect, in order, unless it is None.
    """


@dataclasses.dataclass(frozen=True)
class JournalEntry:
    """One change of the ledger. The effects describe the result of the change, not what was requested."""

    seq: int
    """The sequence number, from 1 without gaps."""
    time_ms: int
    """The time by the ledger's clock, in milliseconds since 1970 UTC."""
    verb: str
    """The type of the change: "reserve", "release", "import" and so on."""
    actor: str | None
    """The name that `Ledger.set_actor` set for the handle that made the change; None if it set no name."""
    effects: tuple[Effect, ...]


@dataclasses.dataclass(frozen=True)
class StoredEntry:
    """One change as bytes, to store in a place of your own. See `Ledger.batch_entries`."""

    seq: int
    """The sequence number, from 1 without gaps."""
    link: str
    """A hash over this entry and all entries before it: 64 hexadecimal digits."""
    data: bytes
    """The entry, for `Ledger.apply_entry`."""


def take_stored_entries(pointer: Any) -> tuple[StoredEntry, ...]:
    """Returns the entries as bytes and frees the journal."""
    length = ffi.new("size_t *")
    try:
        return tuple(
            StoredEntry(
                int(lib.quoit_journal_get_seq(pointer, at)),
                _c.take_text(lib.quoit_journal_dup_link(pointer, at)),
                _c.take_bytes(call(lib.quoit_journal_dup_entry, pointer, at, length), length[0]),
            )
            for at in range(lib.quoit_journal_get_n_entries(pointer))
        )
    finally:
        lib.quoit_journal_free(pointer)


def take_entries(pointer: Any) -> tuple[JournalEntry, ...]:
    """Returns the entries and frees the journal."""
    try:
        return tuple(_entry(pointer, at) for at in range(lib.quoit_journal_get_n_entries(pointer)))
    finally:
        lib.quoit_journal_free(pointer)


def _entry(pointer: Any, at: int) -> JournalEntry:
    return JournalEntry(
        int(lib.quoit_journal_get_seq(pointer, at)),
        int(lib.quoit_journal_get_time_ms(pointer, at)),
        _c.text(lib.quoit_journal_get_verb(pointer, at)),
        _c.text(lib.quoit_journal_get_actor(pointer, at)) or None,
        tuple(_effect(pointer, at, effect) for effect in range(lib.quoit_journal_get_n_effects(pointer, at))),
    )


def _nodes(pointer: Any, entry: int, effect: int) -> tuple[NodeChange, ...]:
    # An import can have 100,000 nodes, so that each step of the loop counts.
    state = ffi.new("QuoitNodeState *")
    states, events = {int(one): one for one in NodeState}, {int(one): one for one in NodeEvent}
    return tuple(
        NodeChange(
            lib.quoit_journal_get_node_id(pointer, entry, effect, at),
            _c.text(lib.quoit_journal_get_node_name(pointer, entry, effect, at)) or None,
            events[lib.quoit_journal_get_node_event(pointer, entry, effect, at)],
            states[state[0]] if lib.quoit_journal_find_node_state(pointer, entry, effect, at, state) else None,
        )
        for at in range(lib.quoit_journal_get_n_nodes(pointer, entry, effect))
    )


def _effect(pointer: Any, entry: int, at: int) -> Effect:
    kind = EffectType(lib.quoit_journal_get_effect_type(pointer, entry, at))
    nodes = _nodes(pointer, entry, at)
    return Effect(
        kind,
        _c.text_or_none(lib.quoit_journal_get_effect_source(pointer, entry, at)),
        nodes[0].name if kind == EffectType.NODE_STATE else None,
        _c.text_or_none(lib.quoit_journal_get_effect_group_name(pointer, entry, at)) or None,
        lib.quoit_journal_get_effect_group_id(pointer, entry, at) or None,
        _c.text_or_none(lib.quoit_journal_get_effect_release_reason(pointer, entry, at)),
        _c.take_text(lib.quoit_journal_dup_effect_text(pointer, entry, at)),
        nodes,
    )
