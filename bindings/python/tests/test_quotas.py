# SPDX-License-Identifier: Apache-2.0
"""Quotas of owners and labels."""

import pytest

import quoit

NOW = 1_750_000_000_000


def request(name, slices, **rest):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, **rest)


@pytest.fixture
def ledger():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4 x6; v5e 2x2 x4", now_ms=NOW)
        yield ledger


def test_quotas_are_listed_with_usage_and_borrowing(ledger):
    ledger.set_quota("nlp", 32, label="team=n=p", accelerator="v6e", max_chips=64, cohort="lab", now_ms=NOW)
    ledger.set_quota("ana", 16, owner="ana", accelerator="v6e", topology="4x4", now_ms=NOW)
    ledger.set_quota("vision", 32, label="team=vision", accelerator="v6e", cohort="lab", now_ms=NOW)
    ledger.reserve(request("a", 3, labels={"team": "n=p"}), now_ms=NOW)
    assert ledger.snapshot().quotas == (
        quoit.Quota("ana", "ana", None, "v6e", "4x4", 16, None, None, "0", "0"),
        quoit.Quota("nlp", None, "team=n=p", "v6e", None, 32, 64, "lab", "48", "16"),
        quoit.Quota("vision", None, "team=vision", "v6e", None, 32, None, "lab", "0", "0"),
    )
    ledger.remove_quota("ana", now_ms=NOW)
    assert [quota.name for quota in ledger.snapshot().quotas] == ["nlp", "vision"]
    with pytest.raises(quoit.NotFoundError, match="no quota 'ana'"):
        ledger.remove_quota("ana", now_ms=NOW)
    ledger.verify()


def test_a_refusal_has_the_reason(ledger):
    ledger.set_quota("q", 32, owner="ana", now_ms=NOW)
    ledger.reserve(request("a", 1, owner="ana"), now_ms=NOW)
    with pytest.raises(quoit.NotNowError, match="over the quota of 'q: 16 of 32 chips in use'") as refused:
        ledger.reserve(request("b", 2, owner="ana"), now_ms=NOW)
    report = refused.value.report
    reason = report.reasons[0]
    assert (reason.constraint, reason.before, reason.after) == (quoit.Constraint.QUOTA, 5, 1)
    assert [option.text for option in report.options] == ["release a@2", "ask for 1 slice"]
    with pytest.raises(quoit.NeverError, match="at most 32 chips"):
        ledger.reserve(request("b", 3, owner="ana"), now_ms=NOW)
    assert ledger.snapshot().explain(request("b", 3, owner="ana")).verdict == quoit.Verdict.NEVER
    with pytest.raises(quoit.NeverError):
        ledger.resize("a", 3, now_ms=NOW)


def test_a_fork_is_checked_again_at_its_commit(ledger):
    ledger.set_quota("q", 32, owner="ana", now_ms=NOW)
    fork = ledger.snapshot().fork()
    fork.reserve(request("planned", 2, owner="ana"), now_ms=NOW)
    ledger.reserve(request("other", 1, owner="ana"), now_ms=NOW)
    with pytest.raises(quoit.ConflictError, match="over the quota of 'q"):
        ledger.commit_fork(fork, now_ms=NOW)
    second = ledger.snapshot().fork()
    second.set_quota("q", 96, owner="ana", now_ms=NOW)
    second.set_quota("r", 1, label="a=b", now_ms=NOW)
    second.remove_quota("r", now_ms=NOW)
    second.reserve(request("planned", 4, owner="ana"), now_ms=NOW)
    ledger.commit_fork(second, now_ms=NOW)
    assert [(quota.chips, quota.used) for quota in ledger.snapshot().quotas] == [(96, "80")]
    ledger.verify()


def test_quotas_survive_a_restart(tmp_path):
    path = tmp_path / "fleet.db"
    with quoit.create(path) as first:
        first.import_fleet_text("v6e 4x4 x6", now_ms=NOW)
        first.set_quota("q", 32, owner="ana", now_ms=NOW)
        first.reserve(request("a", 2, owner="ana"), now_ms=NOW)
        quotas = first.snapshot().quotas
    with quoit.open(path) as second:
        assert second.snapshot().quotas == quotas
        with pytest.raises(quoit.NotNowError):
            second.reserve(request("b", 1, owner="ana"), now_ms=NOW)
        second.compact_journal(second.snapshot().seq + 1, now_ms=NOW)
        second.verify()
    with quoit.open(path) as third:
        assert third.snapshot().quotas == quotas


def test_bad_quotas_change_nothing(ledger):
    before = ledger.snapshot().seq
    fork = ledger.snapshot().fork()
    for made in (ledger, fork):
        for wrong in (
            {},
            {"owner": "a", "label": "a=b"},
            {"label": "a"},
            {"label": "=b"},
            {"label": "a="},
            {"owner": ""},
            {"owner": "a/b"},
            {"owner": "a", "topology": "4x4"},
            {"owner": "a", "accelerator": "v99"},
            {"owner": "a", "max_chips": 3, "cohort": "c"},
            {"owner": "a", "max_chips": 5},
            {"owner": "a", "max_chips": -1, "cohort": "c"},
            {"owner": "a", "cohort": ""},
        ):
            with pytest.raises(quoit.InvalidError):
                made.set_quota("q", 4, **wrong, now_ms=NOW)
        for chips in (-1, 10**9 + 1, 2**70):
            with pytest.raises(quoit.InvalidError):
                made.set_quota("q", chips, owner="a", now_ms=NOW)
        with pytest.raises(TypeError):
            made.set_quota("q", "4", owner="a", now_ms=NOW)
        with pytest.raises(TypeError):
            made.set_quota("q", 4, label=("a", "b"), now_ms=NOW)
    assert ledger.snapshot().seq == before
