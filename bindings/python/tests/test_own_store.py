# SPDX-License-Identifier: Apache-2.0
"""Ledgers in memory that a caller stores elsewhere: entries and snapshots as bytes."""

from __future__ import annotations

import pytest

import quoit

NOW = 1_800_000_000_000
FLEET = "v6e 4x4 x3"


class Store:
    """A store of its own: a snapshot, and the entries after it. It appends only to the entry that the caller knows."""

    def __init__(self) -> None:
        ledger = quoit.open_snapshot()
        start = ledger.snapshot()
        assert start.link is not None
        self.start, self.link = start.to_bytes(), start.link
        self.entries: list[quoit.StoredEntry] = []

    def append(self, link: str | None, entries: tuple[quoit.StoredEntry, ...]) -> bool:
        if link != self.link:
            return False
        self.entries.extend(entries)
        self.link = entries[-1].link
        return True

    def open(self) -> quoit.Ledger:
        ledger = quoit.open_snapshot(quoit.Snapshot.from_bytes(self.start))
        self.catch_up(ledger)
        return ledger

    def catch_up(self, ledger: quoit.Ledger) -> None:
        for entry in self.entries[ledger.snapshot().seq :]:
            ledger.apply_entry(entry.data)


class Overtaken(Exception):
    """Another writer was faster."""


def change(store: Store, ledger: quoit.Ledger, name: str) -> quoit.Group:
    for _ in range(10):
        link = ledger.snapshot().link
        try:
            with ledger.batch():
                group = ledger.reserve(quoit.Request(name, accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
                if not store.append(link, ledger.batch_entries()):
                    raise Overtaken
            return group
        except Overtaken:
            store.catch_up(ledger)
    raise AssertionError("always overtaken")


@pytest.fixture
def store() -> Store:
    store = Store()
    ledger = store.open()
    link = ledger.snapshot().link
    with ledger.batch():
        ledger.import_fleet_text(FLEET, now_ms=NOW)
        assert store.append(link, ledger.batch_entries())
    return store


def test_two_writers_share_a_store(store: Store) -> None:
    one, other = store.open(), store.open()
    assert change(store, one, "a").handle == "a@1"
    assert change(store, other, "b").handle == "b@2"
    assert change(store, one, "c").handle == "c@3"
    store.catch_up(other)
    assert one.snapshot().to_bytes() == other.snapshot().to_bytes() == store.open().snapshot().to_bytes()
    assert one.snapshot().link == other.snapshot().link == store.link
    assert one.identity == other.identity != ""
    other.verify()


def test_what_was_not_stored_has_not_happened(store: Store) -> None:
    ledger = store.open()
    before = ledger.snapshot().to_bytes()
    with pytest.raises(Overtaken), ledger.batch():
        ledger.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
        raise Overtaken
    assert ledger.snapshot().to_bytes() == before


def test_refusals_have_no_entries(store: Store) -> None:
    ledger = store.open()
    with ledger.batch():
        with pytest.raises(quoit.NeverError):
            ledger.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=9), now_ms=NOW)
        assert ledger.batch_entries() == ()


def test_entries_that_do_not_follow_are_refused(store: Store) -> None:
    ledger, other = store.open(), store.open()
    change(store, ledger, "a")
    change(store, ledger, "b")
    first, second = store.entries[1:]
    with pytest.raises(quoit.ConflictError, match="expected entry 2"):
        other.apply_entry(second.data)
    other.apply_entry(first.data)
    with pytest.raises(quoit.ConflictError, match="already"):
        other.apply_entry(first.data)
    with pytest.raises(quoit.DamagedError):
        other.apply_entry(second.data[:-1])
    with pytest.raises(quoit.InvalidError, match="no entry"):
        other.apply_entry(b"")
    with pytest.raises(quoit.VersionError):
        other.apply_entry(second.data.replace(b"quoit entry 1", b"quoit entry 2"))
    foreign = Store().open()
    foreign.import_fleet_text(FLEET, now_ms=NOW)
    with pytest.raises(quoit.ConflictError, match="another ledger"):
        foreign.apply_entry(first.data)
    other.apply_entry(second.data)
    assert other.snapshot().link == store.link


def test_snapshots_as_bytes(store: Store) -> None:
    ledger = store.open()
    snapshot = ledger.snapshot()
    data = snapshot.to_bytes()
    copy = quoit.Snapshot.from_bytes(memoryview(data))
    assert copy.to_json() == snapshot.to_json()
    assert (copy.link, copy.seq, copy.to_bytes()) == (snapshot.link, snapshot.seq, data)
    for wrong in (b"", b"hello", data[:-1], data + b"x", data[:100] + b"?" + data[101:]):
        with pytest.raises((quoit.InvalidError, quoit.DamagedError)):
            quoit.Snapshot.from_bytes(wrong)
    with pytest.raises(quoit.VersionError):
        quoit.Snapshot.from_bytes(data.replace(b"quoit snapshot 1", b"quoit snapshot 2"))


def test_fork_has_no_link(store: Store) -> None:
    ledger = store.open()
    fork = ledger.snapshot().fork()
    fork.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
    copy = quoit.Snapshot.from_bytes(fork.snapshot().to_bytes())
    assert copy.link is None
    other = quoit.open_snapshot(copy)
    assert other.snapshot().link is not None
    assert other.identity != ledger.identity


def test_entries_of_a_file_can_be_followed(tmp_path: object) -> None:
    with quoit.create(f"{tmp_path}/ledger.db") as ledger:
        ledger.import_fleet_text(FLEET, now_ms=NOW)
        follower = quoit.open_snapshot(ledger.snapshot())
        ledger.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
        for entry in ledger.entries_since(1):
            assert entry.seq == 2
            follower.apply_entry(entry.data)
        assert follower.snapshot().link == ledger.snapshot().link
        assert follower.snapshot().to_bytes() == ledger.snapshot().to_bytes()
        with pytest.raises(quoit.InvalidError, match="stores its entries itself"):
            ledger.apply_entry(entry.data)


def test_ledger_without_links(store: Store) -> None:
    plain = quoit.open_memory()
    plain.import_fleet_text(FLEET, now_ms=NOW)
    assert plain.snapshot().link is None
    with pytest.raises(quoit.InvalidError, match="opened from a snapshot"):
        plain.entries_since(0)
    with pytest.raises(quoit.ConflictError, match="in no batch"):
        store.open().batch_entries()


@pytest.mark.parametrize("wrong", ["text", 5, None, [1, 2]])
def test_wrong_types(store: Store, wrong: object) -> None:
    with pytest.raises(TypeError):
        store.open().apply_entry(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        quoit.Snapshot.from_bytes(wrong)  # type: ignore[arg-type]
    if wrong is not None:
        with pytest.raises(TypeError):
            quoit.open_snapshot(wrong)  # type: ignore[arg-type]
