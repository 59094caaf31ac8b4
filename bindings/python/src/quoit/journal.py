# SPDX-License-Identifier: Apache-2.0
"""What happened: the entries of a ledger's journal (`Ledger.changes_since`), and where it begins (`Ledger.read_checkpoint`)."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _c
from ._c import lib


@dataclasses.dataclass(frozen=True)
class Checkpoint:
    """A checked image of the state, from which the journal goes on."""

    seq: int
    """The entry after which the state was so."""
    made_ms: int
    """When it was made by the ledger's clock, in milliseconds since 1970 UTC."""


class EffectType(_c.Code):
    """What an effect is; `Effect.name` and `Effect.group_id` say of what."""

    IMPORT = 1
    """A source says something new; the name is the source's."""
    GROUP_ADDED = 2
    """A group has what it holds; name and id are the group's."""
    GROUP_REMOVED = 3
    """A group has gone; the id is the group's."""
    NODE_STATE = 4
    """A node has another state; the name is the node's where it is still known."""
    GROUP_CHANGED = 5
    """A group has other slices or bundles than it had; name and id stay."""
    GROUP_LEASE = 6
    """A group is confirmed, or has another lease."""
    GROUP_FORGOTTEN = 7
    LEDGER_SET = 8
    """What was kept of a removed group is dropped, its key with it."""


@dataclasses.dataclass(frozen=True)
class Effect:
    """What one change did to one thing."""

    type: EffectType
    name: str | None
    """The source, group or node; None where it is not known."""
    group_id: int | None
    """The group's id; None for effects on no group."""
    text: str
    """In words: "train@3 holds 8 nodes of 2 slices"."""


@dataclasses.dataclass(frozen=True)
class JournalEntry:
    """One change that was made: its effects say what happened, and never what was asked."""

    seq: int
    """From 1, without gaps."""
    time_ms: int
    """When, by the ledger's clock: milliseconds since 1970 UTC."""
    verb: str
    """"reserve", "release", "import"..."""
    actor: str | None
    """Who asked (`Ledger.set_actor`); None where nobody said."""
    effects: tuple[Effect, ...]


def taken_entries(pointer: Any) -> tuple[JournalEntry, ...]:
    """The entries; the journal is freed."""
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
        _c.text(lib.quoit_journal_get_effect_name(pointer, entry, at)) or None,
        lib.quoit_journal_get_effect_group_id(pointer, entry, at) or None,
        _c.taken_text(lib.quoit_journal_dup_effect_text(pointer, entry, at)),
    )
