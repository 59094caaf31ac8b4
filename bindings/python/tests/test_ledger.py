# SPDX-License-Identifier: Apache-2.0
"""The ledger's verbs in Python."""

import inspect
import pickle

import pytest

import quoit


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3")
        yield opened


def two_slices(name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=2, **arguments)


def test_every_verb_is_found_as_that_of_the_class():
    verbs = {name: one for name, one in vars(quoit.Ledger).items() if inspect.isfunction(one)}
    assert len(verbs) > 50
    assert {(one.__module__, one.__qualname__) for one in verbs.values()} == {
        ("quoit.ledger", f"Ledger.{name}") for name in verbs
    }
    # Other processes find it by this name.
    assert pickle.loads(pickle.dumps(quoit.Ledger.reserve)) is quoit.Ledger.reserve


def test_all_slices_are_reserved_or_none(ledger):
    group = ledger.reserve(two_slices())
    assert [one.name for one in group.slices] == ["v6e-4x4-0", "v6e-4x4-1"]
    assert [len(one.workers) for one in group.slices] == [4, 4]
    with pytest.raises(quoit.NotNowError, match="1 short") as refused:
        ledger.reserve(two_slices("other"))
    assert refused.value.code == quoit.ErrorCode.NOT_NOW == 5
    assert refused.value.report == ledger.snapshot().explain(two_slices("other"))
    ledger.release(group)
    assert ledger.reserve(two_slices("other")).id > group.id


def test_a_renamed_request_can_be_reserved(ledger):
    asked = two_slices(owner="alice")
    group = ledger.reserve(asked)
    ledger.release(group)
    again = ledger.reserve(asked.renamed("again"))
    assert (again.name, again.owner, again.request) == ("again", "alice", group.request)
    assert (asked.name, asked.renamed("x").name) == ("train", "x")
    for bad, error in ((None, TypeError), (b"x", TypeError), ("a\0b", quoit.InvalidError)):
        with pytest.raises(error, match="name"):
            asked.renamed(bad)
    with pytest.raises(quoit.InvalidError, match="1 to 253 bytes"):
        ledger.reserve(asked.renamed(""))


def test_reservations_survive_reopening_the_file(tmp_path):
    path = tmp_path / "fleet.db"
    with quoit.create(path) as ledger:
        ledger.import_fleet_text("v6e 4x4 x2")
        group = ledger.reserve(two_slices(key="job-17"))
    with quoit.open(path) as ledger:
        assert ledger.reserve(two_slices(key="job-17")) == group


def test_a_late_release_never_frees_a_group_that_took_the_name(ledger):
    first = ledger.reserve(two_slices())
    ledger.release(first)
    second = ledger.reserve(two_slices())
    with pytest.raises(quoit.ConflictError, match=second.handle):
        ledger.release(first)


@pytest.mark.parametrize("make", [quoit.create, quoit.open])
def test_a_negative_wait_and_an_empty_path_are_refused(make, tmp_path):
    with pytest.raises(quoit.InvalidError, match="wait_ms '-1': expected 0 to"):
        make(tmp_path / "fleet.db", wait_ms=-1)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(quoit.InvalidError, match="path '': expected the name of a file"):
        make("")


def test_calls_of_a_closed_ledger_raise(ledger):
    ledger.close()
    with pytest.raises(quoit.InvalidError, match="closed"):
        ledger.reserve(two_slices())


def test_a_change_of_an_import_has_only_its_attributes(ledger):
    group = ledger.reserve(two_slices())
    changes = ledger.import_fleet_text("v6e 4x4 x4 dead=0.1").changes
    dead = next(one for one in changes if one.kind is quoit.ChangeKind.STATE)
    assert (dead.name, dead.detail, dead.group) == ("v6e-4x4-0-1", "alive -> dead", group.handle)
    added = next(one for one in changes if one.kind is quoit.ChangeKind.ADDED)
    assert (added.detail, added.group) == (None, None)
