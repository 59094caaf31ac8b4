# SPDX-License-Identifier: Apache-2.0
"""Images, compaction, the past, copies, long reads and forks of ledgers in PostgreSQL."""

from __future__ import annotations

import pathlib
import time

import proxy as proxies
import pytest
import quoit
import server as servers
from ledgers import is_append, names, request, through

# --- images, compaction and the past ---


def test_a_handle_continues_over_a_compaction(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    behind = quoit.open(server.url(fleet))
    for i in range(6):
        ledger.reserve(request(f"g{i}"))
    ledger.compact_journal(7)
    ledger.reserve(request("last"))
    assert names(behind) == names(ledger)
    with pytest.raises(quoit.NotFoundError):
        behind.changes_since(0)
    behind.verify()
    with quoit.open(server.url(fleet)) as fresh:
        assert names(fresh) == names(ledger)
        fresh.verify()


def test_images_are_stored_and_verified(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    for _ in range(45):
        with ledger.batch():
            for _i in range(50):
                ledger.reserve(request("a"))
                ledger.release("a")
    images = f"FROM quoit.image i JOIN quoit.fleet f ON f.id = i.fleet WHERE f.name = '{fleet}'"
    assert int(server.sql("SELECT count(*) " + images)) == 1
    ledger.verify()
    with quoit.open(server.url(fleet)) as fresh:
        assert fresh.snapshot().seq == ledger.snapshot().seq
        fresh.verify()
    seq = int(server.sql("SELECT i.seq " + images))
    server.sql(
        f"UPDATE quoit.image SET bytes = set_byte(bytes, length(bytes) - 9, get_byte(bytes, length(bytes) - 9) # 1) WHERE seq = {seq}"
    )
    with pytest.raises(quoit.DamagedError):
        ledger.verify()
    with pytest.raises(quoit.DamagedError):
        quoit.open(server.url(fleet))


# --- copies ---


@pytest.mark.parametrize("is_compacted", [False, True], ids=["whole", "compacted"])
def test_a_copy_goes_to_a_file_and_back(
    ledger: quoit.Ledger,
    server: servers.Server,
    fleet: str,
    tmp_path: pathlib.Path,
    is_compacted: bool,
) -> None:
    for i in range(5):
        ledger.reserve(request(f"g{i}", key=f"k{i}"))
    ledger.release("g2")
    if is_compacted:
        ledger.compact_journal(4)
    file = tmp_path / "copy.db"
    ledger.copy(file)
    with quoit.open(file) as copy:
        assert copy.identity == ledger.identity
        assert names(copy) == names(ledger)
        copy.verify()
        copy.copy(server.url(fleet + "-again"))
        copy.reserve(request("later"))
    with quoit.open(server.url(fleet + "-again")) as again:
        assert names(again) == names(ledger)
        again.verify()
        again.reserve(request("later"))
        again.verify()
    with pytest.raises(quoit.ConflictError):
        ledger.copy(file)
    with pytest.raises(quoit.ConflictError):
        ledger.copy(server.url(fleet + "-again"))
    backup = tmp_path / "backup.db"
    ledger.backup(backup)
    with quoit.open(backup) as copy:
        assert names(copy) == names(ledger)


def test_a_copy_that_fails_leaves_nothing(
    ledger: quoit.Ledger, server: servers.Server, fleet: str, tmp_path: pathlib.Path
) -> None:
    ledger.reserve(request("a"))
    ledger.reserve(request("b"))
    server.sql(
        f"DELETE FROM quoit.journal WHERE seq = 3 AND fleet = (SELECT id FROM quoit.fleet WHERE name = '{fleet}')"
    )
    with pytest.raises(quoit.DamagedError, match="ends at entry 2"):
        ledger.copy(tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(quoit.DamagedError, match="ends at entry 2"):
        ledger.copy(server.url(fleet + "-again"))
    with pytest.raises(quoit.NotFoundError):
        quoit.open(server.url(fleet + "-again"))


def test_a_checkpoint_that_hides_an_answer_leaves_it_unconfirmed(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    writer = through(proxy, server, fleet)
    state = {"sent": False, "cut": False}

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        if way == "to server" and is_append(data):
            state["sent"] = True
        elif way == "to client" and state["sent"] and not state["cut"]:
            state["cut"] = True
            ledger.refresh()
            ledger.reserve(request("other"))
            ledger.compact_journal(ledger.snapshot().seq + 1)
            return "cut"
        return "pass"

    proxy.decide = decide
    with pytest.raises(quoit.UnconfirmedError):
        writer.reserve(request("mine"))
    proxy.decide = lambda way, data: "pass"
    assert names(writer) == {"mine", "other"}


# --- long reads ---


def test_catching_up_reads_the_journal_in_parts(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    """Entries of 16 MB, of which no result has much more than 8 MiB."""
    reader = through(proxy, server, fleet)
    for i in range(40):
        ledger.import_fleet_text(f"v6e 4x4 x{2500 + i % 2} pool=p{i % 2}")
    size = int(server.sql("SELECT sum(octet_length(effects)) FROM quoit.journal"))
    assert size > 15 << 20
    received, most = 0, 0

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        nonlocal received, most
        received = 0 if way == "to server" else received + len(data)
        most = max(most, received)
        return "pass"

    proxy.decide = decide
    reader.refresh()
    assert 4 << 20 < most < 11 << 20
    assert reader.snapshot().link == ledger.snapshot().link
    # The own last entry is not read again.
    most = received = 0
    reader.refresh()
    assert most < 1 << 16
    with through(proxy, server, fleet) as opened:
        assert opened.snapshot().to_bytes() == ledger.snapshot().to_bytes()
        opened.verify()
        assert [entry.seq for entry in opened.entries_since(1)] == list(range(2, 42))
    assert most < 11 << 20


def test_a_slow_answer_is_no_lost_one(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    """An answer that takes longer than the limit of 10 seconds, but never stops for as long."""
    reader = through(proxy, server, fleet, wait_ms=0)
    ledger.import_fleet_text("v6e 4x4 x2000 pool=big")
    connections = proxy.n_connections

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        return "slowly" if way == "to client" and len(data) > 1000 else "pass"

    proxy.seconds = 13
    proxy.decide = decide
    began = time.monotonic()
    reader.refresh()
    assert time.monotonic() - began > 12
    assert proxy.n_connections == connections
    assert reader.snapshot().link == ledger.snapshot().link


def test_a_server_that_stops_in_its_answer_is_lost(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    reader = through(proxy, server, fleet, wait_ms=0)
    ledger.reserve(request("a"))
    proxy.decide = lambda way, data: "drop" if way == "to client" else "pass"
    began = time.monotonic()
    with pytest.raises(quoit.StoreError):
        reader.refresh()
    assert time.monotonic() - began < 40


# --- forks ---


def test_a_fork_of_another_ledger_is_not_committed(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    other = quoit.create(server.url(f"{fleet}-other"))
    other.import_fleet_text("v6e 4x4 x8")
    fork = ledger.snapshot().fork()
    fork.reserve(request("a"))
    with pytest.raises(quoit.InvalidError, match="another ledger"):
        other.commit_fork(fork)
    assert names(other) == set()
    ledger.commit_fork(fork)
    assert names(ledger) == {"a"}


def test_a_ledger_in_memory_follows_one_on_a_server(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    start = ledger.snapshot()
    for i in range(5):
        ledger.reserve(request(f"g{i}"))
    ledger.compact_journal(4)
    follower = quoit.open_snapshot(quoit.Snapshot.from_bytes(ledger.snapshot_at(4).to_bytes()))
    for entry in ledger.entries_since(4):
        follower.apply_entry(entry.data)
    assert follower.snapshot().link == ledger.snapshot().link != start.link
    assert follower.snapshot().to_bytes() == ledger.snapshot().to_bytes()
    assert follower.identity == ledger.identity
    # Back to a server, with the whole history that is left.
    follower.reserve(request("later"))
    follower.copy(server.url(f"{fleet}-copy"))
    with quoit.open(server.url(f"{fleet}-copy")) as copy:
        assert copy.snapshot().link == follower.snapshot().link
        copy.verify()
