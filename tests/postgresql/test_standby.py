# SPDX-License-Identifier: Apache-2.0
"""Failovers to a standby: a synchronous one loses nothing, and what an asynchronous one loses is never continued."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import quoit
import server as servers

FLEET = "v6e 4x4 x400"


def request(name: str) -> quoit.Request:
    return quoit.Request(name=name, accelerator="v6e", topology="4x4", slices=1, key=f"k-{name}")


def names(ledger: quoit.Ledger) -> set[str]:
    ledger.refresh()
    return {group.name for group in ledger.snapshot().groups}


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


class Pair:
    """A primary and its standby."""

    def __init__(self) -> None:
        self.primary = servers.Server("wal_level = replica\nmax_wal_senders = 4")
        self.primary.start()
        self.standby = servers.Server(primary=self.primary)
        self.standby.start()
        self.wait_for_standby()

    def n_standbys(self, condition: str) -> int:
        return int(self.primary.sql(f"SELECT count(*) FROM pg_stat_replication WHERE {condition}"))

    def wait_for_standby(self) -> None:
        wait_until(lambda: self.n_standbys("state = 'streaming'") == 1)

    def make_synchronous(self) -> None:
        self.primary.configure("synchronous_standby_names = '*'\n")
        self.primary.reload()
        wait_until(lambda: self.n_standbys("sync_state = 'sync'") == 1)

    def url(self, fleet: str) -> str:
        """Names both hosts, and asks for the one that accepts changes."""
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        return f"postgresql://quoit@{hosts}/postgres?target_session_attrs=read-write#{fleet}"

    def remove(self) -> None:
        self.standby.remove()
        self.primary.remove()


@pytest.fixture
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.remove()


def test_a_synchronous_failover_loses_nothing_acknowledged(pair: Pair) -> None:
    pair.make_synchronous()
    ledger = quoit.create(pair.url("tpus"), wait_ms=30000)
    ledger.import_fleet_text(FLEET)
    term = ledger.lead("scheduler-1")
    acknowledged: set[str] = set()
    errors: list[Exception] = []

    def write() -> None:
        for i in range(120):
            while True:
                try:
                    ledger.reserve(request(f"g{i}"))
                    break
                except quoit.UnconfirmedError:
                    continue  # the key makes the retry safe
                except quoit.Error as error:
                    errors.append(error)
                    return
            acknowledged.add(f"g{i}")

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(lambda: len(acknowledged) > 30 or not writer.is_alive())
    pair.primary.kill()
    before = set(acknowledged)
    pair.standby.promote()
    writer.join()
    assert errors == []
    assert len(acknowledged) == 120
    assert len(before) < 120
    with quoit.open(pair.url("tpus")) as reader:
        assert names(reader) == acknowledged
        reader.verify()
        # The term has survived as well: another leader fences the first one.
        assert reader.lead("scheduler-2") > term
    with pytest.raises(quoit.FencedError):
        ledger.release("g0")
    ledger.verify()


def test_what_an_asynchronous_failover_lost_is_not_continued(pair: Pair) -> None:
    ledger = quoit.create(pair.url("tpus"), wait_ms=20000)
    ledger.import_fleet_text(FLEET)
    ledger.reserve(request("kept"))
    last = pair.primary.sql("SELECT pg_current_wal_flush_lsn()")
    wait_until(lambda: pair.n_standbys(f"flush_lsn >= '{last}'") == 1)
    reader, behind = (
        quoit.open(pair.url("tpus"), wait_ms=20000),
        quoit.open(pair.url("tpus"), wait_ms=20000),
    )
    pair.standby.kill()
    ledger.reserve(request("lost"))
    assert names(reader) == {"kept", "lost"}
    before = reader.snapshot().to_bytes()
    pair.primary.kill()
    pair.standby.start()
    pair.standby.promote()
    for handle in (ledger, reader):
        for _ in range(2):
            with pytest.raises(quoit.DamagedError, match="went back"):
                handle.reserve(request("next"))
            with pytest.raises(quoit.DamagedError, match="went back"):
                handle.refresh()
    assert reader.snapshot().to_bytes() == before
    # A handle that had not read the lost entry continues, and so does a new one.
    assert names(behind) == {"kept"}
    behind.reserve(request("other"))
    with quoit.open(pair.url("tpus")) as again:
        assert names(again) == {"kept", "other"}
        again.verify()
    # Now the server has as many entries as the handles, but other ones.
    with pytest.raises(quoit.DamagedError):
        ledger.reserve(request("next"))


@pytest.mark.parametrize("end", ["the backend is ended", "the server crashes"])
def test_a_change_that_the_standby_lacks_is_not_acknowledged(pair: Pair, end: str) -> None:
    """Its rows are visible then, but nowhere else."""
    pair.make_synchronous()
    ledger = quoit.create(pair.url("tpus"), wait_ms=5000)
    ledger.import_fleet_text(FLEET)
    pair.standby.kill()
    answers: list[object] = []

    def write() -> None:
        try:
            answers.append(ledger.reserve(request("a")))
        except quoit.Error as error:
            answers.append(error)

    def is_waiting() -> bool:
        return pair.primary.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1"

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(is_waiting)
    if end == "the backend is ended":
        pair.primary.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    else:
        pair.primary.kill()
        pair.primary.start()
    wait_until(lambda: pair.primary.sql("SELECT count(*) FROM quoit.journal WHERE seq = 2") == "1")
    writer.join()
    assert [type(answer) for answer in answers] == [quoit.UnconfirmedError]
    pair.standby.start()
    pair.wait_for_standby()
    assert ledger.reserve(request("a")).name == "a"
    assert names(ledger) == {"a"}
    ledger.verify()
