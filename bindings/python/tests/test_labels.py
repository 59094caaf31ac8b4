# SPDX-License-Identifier: Apache-2.0
"""Labels of groups, and reasons of releases."""

import pytest

import quoit

NOW = 1_750_000_000_000
DAY = 86_400_000


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        yield opened


@pytest.mark.parametrize("target", ["ledger", "fork"])
def test_labels_are_set_and_removed_together(ledger, target):
    one = ledger if target == "ledger" else ledger.snapshot().fork()
    labels = {"team": "nlp", "run": "7", "zażółć": "=,;"}
    group = one.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, labels=labels), now_ms=NOW)
    assert group.labels == labels
    assert list(group.labels) == sorted(labels)
    assert (group.find_label("run"), group.find_label("ru")) == ("7", None)
    changed = one.set_labels(group, {"run": "8", "team": None, "absent": None, "x": "y"}, now_ms=NOW)
    assert changed.labels == {"run": "8", "x": "y", "zażółć": "=,;"}
    assert changed != group
    seq = one.snapshot().seq
    assert one.set_labels("a", {"run": "8", "team": None}, now_ms=NOW) == changed
    assert one.set_labels("a", {}, now_ms=NOW) == changed
    assert one.snapshot().seq == seq, "labels that are set already write no entry"
    assert one.set_priority("a", 4, now_ms=NOW).labels == changed.labels
    assert one.resize("a", 1, now_ms=NOW).after.labels == changed.labels


BAD_LABELS = [
    ({"": "x"}, "label key ''"),
    ({"a=b": "x"}, "without '='"),
    ({"a\nb": "x"}, "control characters, see byte 1"),
    ({"a" * 254: "x"}, "1 to 253 bytes, got 254"),
    ({"a": ""}, "label 'a': value ''"),
    ({"a": "b\x7f"}, "label 'a': value .*control"),
    ({"a": "x" * 513}, "1 to 512 bytes, got 513"),
    ({str(n): "x" for n in range(65)}, "at most 64"),
    ({str(n): "x" for n in range(1_000_000)}, "at most 64"),
]


@pytest.mark.parametrize(("bad", "message"), BAD_LABELS, ids=[message for _, message in BAD_LABELS])
def test_bad_labels_change_nothing(ledger, bad, message):
    fork = ledger.snapshot().fork()
    fork.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, labels={"b": "c"}), now_ms=NOW)
    seq = fork.snapshot().seq
    with pytest.raises(quoit.InvalidError, match=message):
        quoit.Request("b", labels=bad)
    with pytest.raises(quoit.InvalidError, match=message):
        fork.set_labels("a", bad, now_ms=NOW)
    assert (fork.snapshot().seq, fork.snapshot().lookup_group("a").labels) == (seq, {"b": "c"})


def test_a_group_has_at_most_64_labels(ledger):
    full = {f"k{n:02}": "v" for n in range(64)}
    ledger.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, labels=full), now_ms=NOW)
    with pytest.raises(quoit.InvalidError, match="would have 65 labels: expected at most 64"):
        ledger.set_labels("a", {"one more": "v"}, now_ms=NOW)
    assert ledger.group("a").labels == full
    exchanged = ledger.set_labels("a", {"one more": "v", "k00": None}, now_ms=NOW)
    assert len(exchanged.labels) == 64
    assert ledger.set_labels("a", dict.fromkeys(exchanged.labels), now_ms=NOW).labels == {}
    ledger.verify()


def test_a_million_labels_change_nothing(ledger):
    ledger.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
    seq, many = ledger.snapshot().seq, {f"k{n}": "v" for n in range(1_000_000)}
    with pytest.raises(quoit.InvalidError, match="expected at most 64"):
        ledger.set_labels("a", many, now_ms=NOW)
    with pytest.raises(quoit.InvalidError):
        quoit.Request("b", accelerator="v6e", topology="4x4", slices=1, labels=many)
    assert (ledger.snapshot().seq, ledger.group("a").labels) == (seq, {})
    ledger.verify()


def test_the_labels_of_a_request_do_not_decide_whether_it_is_the_same(ledger):
    first = quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, key="k", labels={"try": "1"})
    again = quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, key="k", labels={"try": "2"})
    assert first.renamed("a")._handle is not None
    group = ledger.reserve(first.renamed("a"), now_ms=NOW)
    assert ledger.reserve(again, now_ms=NOW) == group
    assert group.labels == {"try": "1"}


@pytest.mark.parametrize("target", ["ledger", "fork"])
def test_a_release_with_a_reason_is_recorded_for_a_day(ledger, target):
    one = ledger if target == "ledger" else ledger.snapshot().fork()
    request = quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, labels={"x": "y"}, priority=2)
    group = one.reserve(request, now_ms=NOW)
    assert group.release_reason == ""
    one.release(group, reason="preempted by job-7", now_ms=NOW)
    record = one.snapshot().group_by_id(group.id)
    assert (record.state, record.release_reason, record.labels) == (
        quoit.GroupState.REMOVED,
        "preempted by job-7",
        {"x": "y"},
    )
    with pytest.raises(quoit.ConflictError, match="released for the reason 'preempted by job-7'"):
        one.release(group, now_ms=NOW)
    assert one.reserve(request, now_ms=NOW).id == group.id + 1, "the name is free"
    one.release("a", now_ms=NOW)
    assert [g.id for g in one.snapshot().groups] == [group.id], "a release without a reason leaves no record"
    # The records do not accumulate, although no lease ends.
    for day in range(1, 4):
        last = one.reserve(request, now_ms=NOW + day * DAY + day)
        one.release(last, reason=f"day {day}", now_ms=NOW + day * DAY + day)
        assert [g.release_reason for g in one.snapshot().groups] == [f"day {day}"]


def test_a_bad_reason_releases_nothing(ledger):
    group = ledger.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
    for bad in ("", "x" * 1025, "two\nlines", "\x9b"):
        with pytest.raises(quoit.InvalidError, match="reason '"):
            ledger.release("a", reason=bad, now_ms=NOW)
    assert ledger.group("a") == group


def test_labels_and_reasons_are_stored(tmp_path):
    def request(name, **more):
        return quoit.Request(name, accelerator="v6e", topology="4x4", slices=1, labels={"team": "nlp"}, **more)

    path = tmp_path / "fleet.db"
    with quoit.create(path) as first:
        first.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        for name in "abc":
            first.reserve(request(name, key=None if name == "a" else name), now_ms=NOW)
        first.set_labels("c", {"run": "7"}, now_ms=NOW)
        first.release("a", reason="preempted by job-7", now_ms=NOW)
        first.release("b", reason="done", now_ms=NOW)
        first.verify()
        reasons = [effect.release_reason for entry in first.changes_since(0) for effect in entry.effects]
        assert reasons == [None] * 5 + ["preempted by job-7", "done"]
        assert first.snapshot_at(4).lookup_group("c").labels == {"team": "nlp"}
    for compact in (False, True):
        with quoit.open(path) as second:
            if compact:
                second.compact_journal(second.snapshot().seq + 1, now_ms=NOW)
            facts = [(g.name, dict(g.labels), g.release_reason) for g in second.snapshot().groups]
            assert facts == [
                ("a", {"team": "nlp"}, "preempted by job-7"),
                ("b", {"team": "nlp"}, "done"),
                ("c", {"run": "7", "team": "nlp"}, ""),
            ]
            second.verify()
    with quoit.open(path) as third:
        assert [g.release_reason for g in third.snapshot().groups] == ["preempted by job-7", "done", ""]
        third.verify()


def test_a_committed_fork_keeps_labels_and_reasons(ledger):
    for name in "ab":
        ledger.reserve(quoit.Request(name, accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
    ledger.release("b", reason="old", now_ms=NOW)
    later = NOW + 2 * DAY
    fork = ledger.snapshot().fork()
    other = ledger.snapshot().fork()
    fork.release("a", reason="preempted by job-7", now_ms=later)
    fork.reserve(quoit.Request("job-7", accelerator="v6e", topology="4x4", slices=1, labels={"x": "y"}), now_ms=later)
    fork.set_labels("job-7", {"z": "1"}, now_ms=later)
    other.set_labels("a", {"mine": "1"}, now_ms=later)
    ledger.forget("b@2", now_ms=later)  # the fork has forgotten it, too
    ledger.commit_fork(fork, now_ms=later)
    assert ledger.group("job-7").labels == {"x": "y", "z": "1"}
    assert [(g.name, g.release_reason) for g in ledger.snapshot().groups] == [
        ("a", "preempted by job-7"),
        ("job-7", ""),
    ]
    with pytest.raises(quoit.ConflictError):
        ledger.commit_fork(other, now_ms=later)
    ledger.verify()
