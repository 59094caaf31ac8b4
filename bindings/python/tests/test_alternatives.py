# SPDX-License-Identifier: Apache-2.0
"""Alternatives of a request, and groups that are reserved together."""

import pickle

import pytest

import quoit

NOW = 1_800_000_000_000


@pytest.fixture
def ledger():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x2; v5e 4x4 x2 pool=b; v6e 1x1 x1 pool=c", now_ms=NOW)
    ledger.reserve(slices("full", "v6e", 1), now_ms=NOW)
    return ledger


def slices(name, accelerator, count, **arguments):
    return quoit.Request(name, accelerator=accelerator, topology="4x4", slices=count, **arguments)


def train(count, **arguments):
    """Two slices of v6e, of which one is free; else one of a pool that does not exist; else `count` slices of v5e."""
    others = [slices("train", "v6e", 1, pool="nowhere"), slices("train", "v5e", count, expected_runtime_ms=7)]
    return slices("train", "v6e", 2, alternatives=others, **arguments)


def test_the_first_alternative_that_fits_is_reserved(ledger):
    snapshot = ledger.snapshot()
    assert snapshot.find_start(train(2), now_ms=NOW) == quoit.Start(NOW, (), 2)
    assert snapshot.find_preemption(train(2, priority=1), now_ms=NOW) == quoit.Preemption((), True, 2)
    with snapshot.fork() as fork:
        (row,) = fork.plan_queue([train(2)], now_ms=NOW)
        assert (row.state, row.alternative) == (quoit.QueuedState.STARTS, 2)
    group = ledger.reserve(train(2, owner="ana", key="k"), now_ms=NOW)
    assert (group.alternative, group.owner, group.expected_end_ms) == (2, "ana", NOW + 7)
    assert group.request.startswith("v5e 4x4 x 2 hostchips=4 instead-of=")
    assert ledger.reserve(train(2, owner="ana", key="k"), now_ms=NOW).id == group.id
    with pytest.raises(quoit.ConflictError):
        ledger.reserve(train(1, owner="ana", key="k"), now_ms=NOW)


def test_a_copy_has_the_alternatives(ledger):
    group = ledger.reserve(train(2).renamed("other"), now_ms=NOW)
    assert (group.name, group.alternative) == ("other", 2)


def test_each_alternative_is_reported(ledger):
    with pytest.raises(quoit.NotNowError, match="no other alternative fits now") as caught:
        ledger.reserve(train(9), now_ms=NOW)
    report = caught.value.report
    assert (report.verdict, report.alternative) == (quoit.Verdict.NOT_NOW, 0)
    first, second, third = report.alternatives
    assert first.report.n_free_now == report.n_free_now
    assert first.report.alternatives == ()
    assert (second.report, second.code) == (None, quoit.ErrorCode.NOT_FOUND)
    assert "nowhere" in second.message
    assert third.report.verdict == quoit.Verdict.NEVER
    assert pickle.loads(pickle.dumps(report)) == report
    assert ledger.snapshot().explain(train(9)).alternatives[2].report.verdict == quoit.Verdict.NEVER


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"key": "other"}, "key 'other'"),
        ({"owner": "bob"}, "owner 'bob'"),
        ({"lease_ms": 5}, "lease in ms '5'"),
        ({"priority": 2}, "priority '2'"),
        ({"labels": {"team": "blue"}}, "label 'team=blue'"),
        ({"alternatives": [slices("train", "v6e", 1)]}, "'1' alternatives"),
    ],
)
def test_an_alternative_for_something_else_is_refused(arguments, part):
    with pytest.raises(quoit.InvalidError, match=f"alternative with {part}"):
        slices("train", "v6e", 1, alternatives=[slices("train", "v5e", 1, **arguments)])


def test_arguments_are_checked():
    with pytest.raises(quoit.InvalidError, match="alternative for group 'other'"):
        slices("train", "v6e", 1, alternatives=[slices("other", "v5e", 1)])
    with pytest.raises(quoit.InvalidError, match="alternative '17'"):
        slices("train", "v6e", 1, alternatives=[slices("train", "v5e", 1)] * 17)
    for wrong in (None, 5, "train", [None], ["train"]):
        with pytest.raises(TypeError):
            slices("train", "v6e", 1, alternatives=wrong)


def test_several_groups_are_reserved_together(ledger):
    gang, head = slices("gang", "v5e", 2, key="g"), quoit.Request("head", bundles=["TPU=1"], key="h")
    seq = ledger.snapshot().seq
    with pytest.raises(quoit.NotNowError, match="group 'more': ") as caught:
        ledger.reserve_all([gang, slices("more", "v5e", 1)], now_ms=NOW)
    assert caught.value.report.reasons
    assert not caught.value.report.options
    with ledger.snapshot().fork() as fork:
        assert [group.name for group in fork.reserve_all([gang, head], now_ms=NOW)] == ["gang", "head"]
    assert ledger.snapshot().seq == seq
    groups = ledger.reserve_all([gang, head], now_ms=NOW)
    assert [group.name for group in groups] == ["gang", "head"]
    assert ledger.snapshot().seq == seq + 1
    again = ledger.reserve_all((request for request in (gang, head)), now_ms=NOW)
    assert [group.id for group in again] == [group.id for group in groups]
    with pytest.raises(quoit.InvalidError, match="expected 1 to 64"):
        ledger.reserve_all([], now_ms=NOW)
    with pytest.raises(quoit.InvalidError, match="for one group 'gang'"):
        ledger.reserve_all([gang, gang], now_ms=NOW)
    with pytest.raises(TypeError):
        ledger.reserve_all(["gang"], now_ms=NOW)
