# SPDX-License-Identifier: Apache-2.0
"""The entries of a ledger's journal (`Ledger.changes_since`), and its checkpoint (`Ledger.read_checkpoint`)."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c
from ._c import lib


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
    """A source has new content: `Effect.source`."""
    GROUP_ADDED = 2
    """A group was added: `Effect.group_name` and `Effect.group_id`."""
    GROUP_REMOVED = 3
    """A group was removed."""
    NODE_STATE = 4
    """A node has another state: `Effect.node`."""
    GROUP_CHANGED = 5
    """A group has other slices or bundles, under the same name and id."""
    GROUP_LEASE = 6
    """A group was confirmed, or has another lease."""
    GROUP_FORGOTTEN = 7
    """The record of a removed group was dropped, with its request key."""
    LEDGER_NUMBERS_SET = 8
    """The ledger's epoch, next ids or limits were set."""


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


def _effect(pointer: Any, entry: int, at: int) -> Effect:
    return Effect(
        EffectType(lib.quoit_journal_get_effect_type(pointer, entry, at)),
        _c.text_or_none(lib.quoit_journal_get_effect_source(pointer, entry, at)),
        _c.text_or_none(lib.quoit_journal_get_effect_node(pointer, entry, at)) or None,
        _c.text_or_none(lib.quoit_journal_get_effect_group_name(pointer, entry, at)) or None,
        lib.quoit_journal_get_effect_group_id(pointer, entry, at) or None,
        _c.text_or_none(lib.quoit_journal_get_effect_release_reason(pointer, entry, at)),
        _c.take_text(lib.quoit_journal_dup_effect_text(pointer, entry, at)),
    )
