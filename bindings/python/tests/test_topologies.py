# SPDX-License-Identifier: Apache-2.0
"""Where each process of a group stands."""

import pickle

import pytest

import quoit

NOW = 1_800_000_000_000


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        yield opened


def reserve(ledger, slices, **arguments):
    wanted = quoit.Request("train", accelerator="v6e", topology="4x4", slices=slices, **arguments)
    return ledger.reserve(wanted, now_ms=NOW)


def test_there_is_a_process_for_each_host_with_its_environment(ledger):
    made = quoit.topology(reserve(ledger, 2))
    assert made.profile == quoit.Profile.QUOIT
    assert [(one.slice_id, one.worker_id) for one in made.processes] == [(s, w) for s in (0, 1) for w in range(4)]
    assert made.processes[5].node_name == "v6e-4x4-1-1"
    assert made.processes[5].slice_name == "v6e-4x4-1"
    assert made.processes[5].environment == {
        "MEGASCALE_COORDINATOR_ADDRESS": "v6e-4x4-0-0",
        "MEGASCALE_NUM_SLICES": "2",
        "MEGASCALE_PORT": "8081",
        "MEGASCALE_SLICE_ID": "1",
        "TPU_ACCELERATOR_TYPE": "v6e-16",
        "TPU_NAME": "v6e-4x4-1",
        "TPU_TOPOLOGY": "4x4",
        "TPU_WORKER_HOSTNAMES": "v6e-4x4-1-0,v6e-4x4-1-1,v6e-4x4-1-2,v6e-4x4-1-3",
        "TPU_WORKER_ID": "1",
    }
    assert list(made.processes[0].environment) == sorted(made.processes[0].environment)
    assert made.processes[0].node_address is None
    assert any("addresses" in note for note in made.notes)


def test_one_slice_has_no_megascale_variables(ledger):
    made = quoit.topology(reserve(ledger, 1))
    assert not [name for one in made.processes for name in one.environment if name.startswith("MEGASCALE")]


def test_a_profile_that_needs_addresses_says_so(ledger):
    with pytest.raises(quoit.NotNowError, match="address"):
        quoit.topology(reserve(ledger, 2), quoit.Profile.RAY_TRAIN)


def test_groups_that_have_no_whole_nodes_have_no_topology(ledger):
    group = reserve(ledger, 1, key="job")
    ledger.release(group, now_ms=NOW)
    with pytest.raises(quoit.InvalidError):
        quoit.topology(ledger.reserve(quoit.Request("half", bundles=["TPU=2"]), now_ms=NOW))
    removed = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=1, key="job"), now_ms=NOW)
    with pytest.raises(quoit.InvalidError):
        quoit.topology(removed)


@pytest.mark.parametrize(("group", "profile"), [("train", quoit.Profile.QUOIT), (None, None), (True, 1)])
def test_wrong_types_are_refused(ledger, group, profile):
    with pytest.raises(TypeError, match="group: expected a quoit.Group"):
        quoit.topology(group, profile)
    with pytest.raises(TypeError, match="profile: expected a Profile"):
        quoit.topology(reserve(ledger, 1), 1)


def test_who_stays_after_a_repair_and_who_is_new(ledger):
    group = reserve(ledger, 2)
    ledger.set_node_state("v6e-4x4-0-2", quoit.NodeState.DEAD, now_ms=NOW)
    change = ledger.repair(group, now_ms=NOW)
    told = quoit.renumbering(quoit.topology(change.before), quoit.topology(change.after))
    how = quoit.RenumberingHow
    assert [row.how for row in told.rows] == [how.MOVED] * 4 + [how.JOINED] * 4 + [how.LEFT] * 4
    assert told.n_changed == 12
    moved, joined, left = told.rows[0], told.rows[4], told.rows[8]
    assert (moved.process_before, moved.process_after) == (4, 0)
    assert (moved.slice_id_before, moved.slice_id_after) == (1, 0)
    assert (moved.worker_id_before, moved.worker_id_after, moved.counterpart) == (0, 0, None)
    assert quoit.VariableChange("MEGASCALE_SLICE_ID", "1", "0") in moved.variables
    assert (joined.process_before, joined.process_after, joined.slice_id_before) == (None, 4, None)
    assert {one.before for one in joined.variables} == {None}
    assert (left.process_before, left.process_after, left.worker_id_after) == (0, None, None)
    assert {one.after for one in left.variables} == {None}
    assert moved.text.startswith(f"{moved.node_name}: process 4 -> 0, slice 1 -> 0, worker 0; MEGASCALE_")


def test_nobody_is_told_anything_where_nothing_changed(ledger):
    made = quoit.topology(reserve(ledger, 2))
    told = quoit.renumbering(made, made)
    assert told.n_changed == 0
    assert {row.how for row in told.rows} == {quoit.RenumberingHow.SAME}
    assert [row.how for row in quoit.renumbering(None, made).rows] == [quoit.RenumberingHow.JOINED] * 8
    assert [row.how for row in quoit.renumbering(made, None).rows] == [quoit.RenumberingHow.LEFT] * 8
    assert quoit.renumbering(None, None).rows == ()


def test_a_topology_can_be_sent_to_the_workers(ledger):
    made = quoit.topology(reserve(ledger, 2))
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made
    assert hash(copy) == hash(made)
    assert copy.processes[3].environment == made.processes[3].environment
    with pytest.raises(quoit.InvalidError, match="after: expected what quoit.topology"):
        quoit.renumbering(made, copy)
    with pytest.raises(TypeError, match="before: expected a quoit.Topology or None"):
        quoit.renumbering("train", made)
