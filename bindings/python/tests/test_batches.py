# SPDX-License-Identifier: Apache-2.0
"""Marks of batches: a part of a batch can be undone, and the rest is committed."""

import random

import pytest

import quoit

NOW = 1_800_000_000_000


def request(name, slices=1, **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices, **arguments)


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    opened = quoit.open_memory() if request.param == "memory" else quoit.create(tmp_path / "fleet.db")
    with opened:
        opened.import_fleet_text("v6e 4x4 x8", now_ms=NOW)
        yield opened


def names(ledger):
    return sorted(group.name for group in ledger.snapshot().groups)


def test_a_batch_returns_to_its_marks(ledger):
    seq = ledger.snapshot().seq
    with ledger.batch():
        empty = ledger.mark_batch()
        ledger.reserve(request("a"), now_ms=NOW)
        first = ledger.mark_batch()
        b = ledger.reserve(request("b", key="key"), now_ms=NOW)
        ledger.import_fleet_text("v6e 4x4 x9", now_ms=NOW)
        second = ledger.mark_batch()
        ledger.release("a", now_ms=NOW)
        assert (empty, first, second) == (1, 2, 3)
        ledger.roll_back_batch(second)
        assert names(ledger) == ["a", "b"]
        ledger.roll_back_batch(first)
        assert names(ledger) == ["a"] and len(ledger.snapshot().slices) == 8
        with pytest.raises(quoit.InvalidError, match="mark '3': the batch has 2 marks"):
            ledger.roll_back_batch(second)
        assert ledger.reserve(request("c"), now_ms=NOW).id == b.id
        ledger.roll_back_batch(empty)
        assert names(ledger) == []
        ledger.reserve(request("d", key="key"), now_ms=NOW)
    assert names(ledger) == ["d"]
    assert ledger.snapshot().seq == seq + 1
    assert [change.verb for change in ledger.changes_since(seq)] == ["reserve"]
    ledger.verify()


def test_marks_belong_to_a_batch(ledger):
    for use in (ledger.mark_batch, lambda: ledger.roll_back_batch(1)):
        with pytest.raises(quoit.ConflictError, match="in no batch"):
            use()
    with ledger.batch():
        ledger.mark_batch()
    with ledger.batch():
        for mark in (0, 1, 7):
            with pytest.raises(quoit.InvalidError, match=f"mark '{mark}': the batch has 0 marks"):
                ledger.roll_back_batch(mark)
        for wrong in ("1", 1.0, None, True):
            with pytest.raises(TypeError, match="mark"):
                ledger.roll_back_batch(wrong)


def test_a_batch_that_is_rolled_back_completely_writes_nothing(ledger):
    before = ledger.snapshot().to_json()
    with ledger.batch():
        mark = ledger.mark_batch()
        ledger.hold(request("a"), 1_000, now_ms=NOW)
        ledger.reserve(request("b"), now_ms=NOW + 5_000)
        ledger.roll_back_batch(mark)
    assert ledger.snapshot().to_json() == before
    ledger.verify()


def test_random_batches_have_only_the_changes_that_were_not_undone(ledger):
    """A second ledger makes only the changes that were not undone. Both ledgers must then be equal."""
    draw = random.Random(20261126)
    with quoit.open_memory() as model:
        model.import_fleet_text("v6e 4x4 x8", now_ms=NOW)
        for _ in range(40):
            kept, marks = [], []
            with ledger.batch():
                for number in range(draw.randrange(1, 12)):
                    what = draw.choice(["mark", "undo", "reserve", "reserve", "release", "drain", "undrain"])
                    if what == "mark":
                        marks.append((ledger.mark_batch(), len(kept)))
                    elif what == "undo" and marks:
                        at = draw.randrange(len(marks))
                        mark, n_kept = marks[at]
                        ledger.roll_back_batch(mark)
                        del kept[n_kept:], marks[at + 1 :]
                    else:
                        change = random_change(draw, what, f"g{number}")
                        if change is not None and succeeds(ledger, change):
                            kept.append(change)
            for change in kept:
                assert succeeds(model, change)
            assert ledger.snapshot().to_json() == model.snapshot().to_json()
    ledger.verify()


def random_change(draw, what, name):
    node = f"v6e-4x4-{draw.randrange(8)}-{draw.randrange(4)}"
    slices, old = draw.randint(1, 4), f"g{draw.randrange(12)}"
    return {
        "reserve": lambda one: one.reserve(request(name, slices), now_ms=NOW),
        "release": lambda one: one.release(old, now_ms=NOW),
        "drain": lambda one: one.drain_node(node, now_ms=NOW),
        "undrain": lambda one: one.undrain_node(node, now_ms=NOW),
    }.get(what)


def succeeds(ledger, change):
    try:
        change(ledger)
    except (quoit.ConflictError, quoit.NotFoundError, quoit.NotNowError, quoit.NeverError):
        return False
    return True
