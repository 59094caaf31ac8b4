# SPDX-License-Identifier: Apache-2.0
"""The journal's entries and effects."""

import pytest

import quoit

NOW = 1_800_000_000_000


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x2", source="lab", now_ms=NOW)
        yield opened


def reserve(ledger, **arguments):
    wanted = quoit.Request("train", accelerator="v6e", topology="4x4", slices=1, **arguments)
    return ledger.reserve(wanted, now_ms=NOW + 1)


def test_each_change_is_an_entry_with_its_effects(ledger):
    ledger.set_actor("alice")
    group = reserve(ledger, key="job-1")
    ledger.set_actor(None)
    ledger.drain_node("v6e-4x4-0-0", now_ms=NOW + 2)
    ledger.release(group, now_ms=NOW + 3)
    ledger.forget(group.handle, now_ms=NOW + 4)
    entries = ledger.changes_since(0)
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry.time_ms - NOW for entry in entries] == [0, 1, 2, 3, 4]
    assert [entry.actor for entry in entries] == [None, "alice", None, None, None]
    assert [entry.verb for entry in entries] == ["import", "reserve", "drain", "release", "forget"]
    kinds = quoit.EffectType
    assert [[(one.type, one.group_id) for one in entry.effects] for entry in entries] == [
        [(kinds.IMPORT, None)],
        [(kinds.GROUP_ADDED, group.id)],
        [(kinds.NODE_STATE, None)],
        [(kinds.GROUP_REMOVED, group.id)],
        [(kinds.GROUP_FORGOTTEN, group.id)],
    ]
    effects = [entry.effects[0] for entry in entries]
    assert (effects[0].source, effects[1].group_name, effects[2].node) == ("lab", "train", "v6e-4x4-0-0")
    assert (effects[0].node, effects[1].source, effects[2].group_name) == (None, None, None)
    assert entries[1].effects[0].text.startswith(f"{group.handle} holds 4 nodes of 1 slice")


def test_effects_name_the_nodes_of_imports_and_their_states(ledger):
    ledger.set_node_state("v6e-4x4-0-1", quoit.NodeState.DEAD, now_ms=NOW + 1)
    ledger.sync_fleet_text("v6e 4x4 x1", source="lab", now_ms=NOW + 2)
    first, state, sync = (entry.effects[0] for entry in ledger.changes_since(0))
    events = quoit.NodeEvent
    assert {(node.event, node.state) for node in first.nodes} == {(events.ADDED, quoit.NodeState.ALIVE)}
    ids = {node.name: node.id for node in first.nodes}
    assert len(ids) == 8
    assert state.nodes == (quoit.NodeChange(ids["v6e-4x4-0-1"], "v6e-4x4-0-1", events.STATE, quoit.NodeState.DEAD),)
    assert {(node.name, node.id, node.event, node.state) for node in sync.nodes} == {
        (f"v6e-4x4-1-{host}", ids[f"v6e-4x4-1-{host}"], events.REMOVED, None) for host in range(4)
    }
    ledger.set_node_state("v6e-4x4-0-1", quoit.NodeState.ALIVE, now_ms=NOW + 3)
    reserve(ledger)
    assert ledger.changes_since(4)[0].effects[0].nodes == ()


def test_changes_since_an_entry_exclude_it(ledger):
    reserve(ledger)
    assert [entry.verb for entry in ledger.changes_since(1)] == ["reserve"]
    assert ledger.changes_since(2) == ()


def test_entries_before_the_checkpoint_are_not_found(tmp_path):
    with quoit.create(tmp_path / "fleet.db") as ledger:
        ledger.import_fleet_text("v6e 4x4 x2", now_ms=NOW)
        reserve(ledger)
        assert ledger.compact_journal(3, now_ms=NOW + 2) == 2
        with pytest.raises(quoit.NotFoundError):
            ledger.changes_since(0)


def test_a_checkpoint_has_its_entry_and_time():
    now = 1_800_000_000_000
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4", now_ms=now)
        ledger.set_owner("alice", now_ms=now)
        assert ledger.read_checkpoint() is None
        assert ledger.compact_journal(2, now_ms=now + 5) == 1
        assert ledger.read_checkpoint() == quoit.Checkpoint(seq=1, made_ms=now + 5)


def test_a_ledger_keeps_entries_and_records_for_a_time(ledger):
    assert ledger.snapshot().keep_ms == 0
    group = reserve(ledger, key="job-1")
    ledger.release(group, now_ms=NOW + 2)
    assert ledger.trim(now_ms=NOW + 9000) == quoit.Trimmed(entries=0, groups=0)
    ledger.set_keep(1000, now_ms=NOW + 9000)
    assert ledger.snapshot().keep_ms == 1000
    assert ledger.trim(now_ms=NOW + 9000) == quoit.Trimmed(entries=3, groups=1)
    assert [entry.verb for entry in ledger.changes_since(3)] == ["set-keep", "forget"]
    assert reserve(ledger, key="job-1").id == group.id + 1
    ledger.set_keep(None, now_ms=NOW + 9000)
    assert ledger.snapshot().keep_ms is None
    with pytest.raises(quoit.InvalidError, match="keep '-1' ms"):
        ledger.set_keep(-1, now_ms=NOW)
    with ledger.batch(), pytest.raises(quoit.ConflictError, match="in a batch"):
        ledger.trim(now_ms=NOW)
