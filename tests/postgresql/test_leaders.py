# SPDX-License-Identifier: Apache-2.0
"""What a ledger in PostgreSQL promises when leaders and clocks fail."""

from __future__ import annotations

import os
import threading
import time

import proxy as proxies
import pytest
import quoit
import server as servers
from ledgers import NOW_MS, n_entries, names, request, through

# --- leaders ---


def test_a_leader_that_was_overtaken_writes_nothing(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    second = quoit.open(server.url(fleet))
    assert ledger.lead("one") == 1
    ledger.reserve(request("a"))
    assert second.lead("two") == 2
    for change in (
        lambda: ledger.reserve(request("b")),
        lambda: ledger.release("a"),
        lambda: ledger.reserve(request("too many", slices=9)),
    ):
        with pytest.raises(quoit.FencedError, match="term 1 of this leader has ended: term 2"):
            change()
    with pytest.raises(quoit.FencedError), ledger.batch():
        ledger.reserve(request("c"))
    assert names(second) == {"a"}
    second.reserve(request("d"))
    assert ledger.lead("one") == 3
    ledger.reserve(request("e"))
    assert server.sql(f"SELECT leader FROM quoit.fleet WHERE name = '{fleet}'") == "one"


def test_a_leader_is_fenced_in_the_middle_of_its_batch(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    """The connection of a paused leader was lost, and with it the lock of its batch."""
    paused = through(proxy, server, fleet)
    paused.lead("paused")
    with pytest.raises(quoit.FencedError), paused.batch():
        paused.reserve(request("a"))
        proxy.cut_all()
        time.sleep(0.2)
        ledger.lead("next")
    assert names(ledger) == set()


def test_an_answer_in_a_batch_counts_only_while_its_lock_holds(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    first = ledger.reserve(request("a", key="k"))
    ledger.release(first)
    cut_off = through(proxy, server, fleet)
    with pytest.raises(quoit.BusyError), cut_off.batch():
        assert cut_off.reserve(request("a", key="k")).handle == first.handle
        proxy.cut_all()
        time.sleep(0.2)
        ledger.forget_key("k")


def test_a_refusal_is_decided_on_the_present_state(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    """A handle decides on what it knows. Others may have changed that, and only the server can tell."""
    ledger.reserve(request("all", slices=8))
    for turn in range(5):
        with quoit.open(server.url(fleet)) as other:
            other.release("all" if turn == 0 else f"again-{turn - 1}")
        ledger.reserve(request(f"again-{turn}", slices=8))


def test_a_retry_is_answered_from_the_present_state(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    first = ledger.reserve(request("first", key="k"))
    with quoit.open(server.url(fleet)) as other:
        other.release("first")
    again = ledger.reserve(request("first", key="k"))
    assert (again.handle, again.state) == (first.handle, quoit.GroupState.REMOVED)


def test_a_batch_that_others_overtook_is_not_written(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    cut_off = through(proxy, server, fleet)
    with pytest.raises(quoit.BusyError, match="nothing was written"), cut_off.batch():
        cut_off.reserve(request("mine"))
        proxy.cut_all()
        time.sleep(0.2)
        ledger.reserve(request("other"))
    assert names(ledger) == {"other"}
    cut_off.reserve(request("mine"))
    assert names(ledger) == {"other", "mine"}


def test_a_deleted_fleet_is_not_found(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    chosen = f"(SELECT id FROM quoit.fleet WHERE name = '{fleet}')"
    server.sql(f"DELETE FROM quoit.journal WHERE fleet = {chosen}; DELETE FROM quoit.fleet WHERE name = '{fleet}'")
    for call in (
        lambda: ledger.lead("one"),
        lambda: ledger.reserve(request("a")),
        ledger.refresh,
        ledger.verify,
    ):
        with pytest.raises(quoit.NotFoundError, match="no fleet"):
            call()


def test_a_fenced_leader_does_not_compact(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    ledger.lead("one")
    ledger.reserve(request("a"))
    with quoit.open(server.url(fleet)) as second:
        second.lead("two")
        with pytest.raises(quoit.FencedError):
            ledger.compact_journal(2)
        assert n_entries(server, fleet) == 2


def test_reads_of_the_past_hold_while_others_compact(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    """A reader never takes entries that a compaction has removed for damage."""
    ended = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        with quoit.open(server.url(fleet)) as reader:
            while not ended.is_set():
                reader.refresh()
                seq = reader.snapshot().seq
                for past in (seq, max(seq - 1, 0), max(seq - 3, 0)):
                    try:
                        reader.snapshot_at(past)
                        reader.changes_since(past)
                    except quoit.NotFoundError:
                        pass
                    except BaseException as error:
                        failures.append(error)
                        return

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(60):
        ledger.reserve(request("a"))
        ledger.release("a")
        ledger.compact_journal(ledger.snapshot().seq)
    ended.set()
    reader.join()
    assert failures == []


def test_leaders_need_a_server(tmp_path: os.PathLike[str]) -> None:
    with (
        quoit.open_memory() as ledger,
        pytest.raises(quoit.InvalidError, match="no terms"),
    ):
        ledger.lead("one")
    with (
        quoit.create(os.path.join(tmp_path, "quoit.db")) as ledger,
        pytest.raises(quoit.InvalidError, match="no terms"),
    ):
        ledger.lead("one")


@pytest.mark.parametrize("leader", ["", "x" * 257, "a\nb"])
def test_a_leader_has_a_short_name(ledger: quoit.Ledger, leader: str) -> None:
    with pytest.raises(quoit.InvalidError, match="leader"):
        ledger.lead(leader)


# --- clocks ---


def test_a_clock_far_ahead_of_the_server_is_refused(ledger: quoit.Ledger) -> None:
    ledger.reserve(request("a"), now_ms=int(time.time() * 1000) + 2000)
    with pytest.raises(quoit.InvalidError, match="ahead of the server's clock"):
        ledger.reserve(request("b"), now_ms=int(time.time() * 1000) + 60000)
    assert names(ledger) == {"a"}


def test_a_clock_behind_is_raised(ledger: quoit.Ledger) -> None:
    group = ledger.reserve(request("a"), now_ms=NOW_MS - 86400000)
    assert group.name == "a"
