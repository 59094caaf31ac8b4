# SPDX-License-Identifier: Apache-2.0
"""Elastic groups: how far they grow, when they can grow, and what shrinking them helps."""

import pytest

import quoit

NOW = 1_790_000_000_000


def request(name, slices, **others):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, **others)


@pytest.fixture
def ledger():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x4", now_ms=NOW)
    ledger.reserve(request("other", 1, lease_ms=1_000), now_ms=NOW)
    ledger.reserve(request("elastic", (2, 5)), now_ms=NOW)
    ledger.resize("elastic", 2, now_ms=NOW)
    return ledger


def test_a_group_grows_to_as_many_slices_as_there_are(ledger):
    fork = ledger.snapshot().fork()
    for target in (fork, ledger):
        change = target.resize_between("elastic", 2, 5, now_ms=NOW)
        assert (len(change.before.slices), len(change.after.slices)) == (2, 3)
    assert len(ledger.resize_between("elastic", 2, 2, now_ms=NOW).after.slices) == 2


@pytest.mark.parametrize(("least", "most"), [(1, 3), (2, 6), (3, 2), (0, 2), (-(2**63), 2**63 - 1)])
def test_a_range_outside_that_of_the_request_is_invalid(ledger, least, most):
    seq = ledger.snapshot().seq
    with pytest.raises(quoit.InvalidError, match="slices"):
        ledger.resize_between("elastic", least, most, now_ms=NOW)
    with pytest.raises(quoit.NotNowError) as refused:
        ledger.resize_between("elastic", 4, 5, now_ms=NOW)
    assert refused.value.report.n_wanted == 4
    assert ledger.snapshot().seq == seq


def test_growth_is_found_now_and_later(ledger):
    snapshot = ledger.snapshot()
    assert snapshot.test_growth("elastic") == quoit.Growth(3, 5)
    assert snapshot.test_growth("other") == quoit.Growth(1, 1)
    assert snapshot.find_growth("elastic", 3, now_ms=NOW) == quoit.Start(NOW, ())
    later = snapshot.find_growth("elastic", 4, now_ms=NOW)
    assert (later.time_ms, [end.group.name for end in later.ends]) == (NOW + 1_000, ["other"])
    with pytest.raises(quoit.NeverError):
        snapshot.find_growth("elastic", 5, now_ms=NOW)
    with pytest.raises(quoit.InvalidError):
        snapshot.find_growth("elastic", 6, now_ms=NOW)
    with pytest.raises(quoit.NotFoundError):
        snapshot.test_growth("nobody")


def test_a_report_names_the_group_that_can_shrink(ledger):
    group = ledger.resize_between("elastic", 2, 5, now_ms=NOW).after
    with pytest.raises(quoit.NotNowError) as refused:
        ledger.reserve(request("more", 1), now_ms=NOW)
    option = refused.value.report.options[0]
    assert option.steps == (quoit.Step(quoit.StepKind.SHRINK, group=group.handle, n_slices=2),)
    assert option.text == f"shrink {group.handle} to 2 slices"
    ledger.set_node_state("v6e-4x4-1-0", quoit.NodeState.DEAD, now_ms=NOW)
    with pytest.raises(quoit.NotNowError) as refused:
        ledger.repair("elastic", now_ms=NOW)
    assert quoit.Step(quoit.StepKind.SHRINK, group=group.handle, n_slices=2) in [
        option.steps[0] for option in refused.value.report.options
    ]
