# SPDX-License-Identifier: Apache-2.0
"""What a ledger in PostgreSQL promises when connections, servers, leaders and clocks fail."""

from __future__ import annotations

import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import proxy as proxies
import pytest
import quoit
import server as servers

NOW_MS = int(time.time() * 1000)


def request(name: str, *, key: str | None = None, slices: int = 1) -> quoit.Request:
    return quoit.Request(name=name, accelerator="v6e", topology="4x4", slices=slices, key=key)


def names(ledger: quoit.Ledger) -> set[str]:
    ledger.refresh()
    return {group.name for group in ledger.snapshot().groups}


def n_entries(server: servers.Server, fleet: str) -> int:
    return int(
        server.sql(
            f"SELECT count(*) FROM quoit.journal j JOIN quoit.fleet f ON f.id = j.fleet WHERE f.name = '{fleet}'"
        )
    )


def through(proxy: proxies.Proxy, server: servers.Server, fleet: str, *, wait_ms: int = 3000) -> quoit.Ledger:
    return quoit.open(server.url(fleet, port=proxy.port), wait_ms=wait_ms)


# --- connections ---


def is_append(data: bytes) -> bool:
    """Whether the bytes bind the statement q0, which appends entries."""
    return b"\0q0\0" in data


@pytest.mark.parametrize("is_batch", [False, True], ids=["alone", "in a batch"])
@pytest.mark.parametrize(
    "moment",
    [
        "before the statement",
        "with the statement",
        "after the statement",
        "with half an answer",
    ],
)
def test_a_cut_connection_loses_and_repeats_nothing(
    ledger: quoit.Ledger,
    server: servers.Server,
    proxy: proxies.Proxy,
    fleet: str,
    moment: str,
    is_batch: bool,
) -> None:
    writer = through(proxy, server, fleet)
    state = {"cuts": 0, "sent": False}

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        if state["cuts"]:
            return "pass"
        if way == "to server" and is_append(data):
            state["sent"] = True
            if moment == "before the statement":
                state["cuts"] = 1
                return "cut"
            if moment == "with the statement":
                state["cuts"] = 1
                return "deliver and cut"
        if way == "to client" and state["sent"] and moment in ("after the statement", "with half an answer"):
            state["cuts"] = 1
            return "cut"
        return "pass"

    proxy.decide = decide
    if is_batch:
        with writer.batch():
            writer.reserve(request("a"))
            writer.reserve(request("b"))
    else:
        writer.reserve(request("a"))
        writer.reserve(request("b"))
    assert state["cuts"] == 1
    assert names(ledger) == {"a", "b"}
    assert n_entries(server, fleet) == 3
    ledger.verify()
    writer.verify()


def test_a_change_whose_answer_stays_lost_is_unconfirmed(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    writer = through(proxy, server, fleet, wait_ms=300)

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        if way == "to server" and is_append(data):
            proxy.refuses = True
            return "deliver and cut"
        return "pass"

    proxy.decide = decide
    with pytest.raises(quoit.UnconfirmedError, match="repeat the call with the same request key"):
        writer.reserve(request("a", key="k"))
    proxy.decide = lambda way, data: "pass"
    proxy.refuses = False
    # The key makes the retry safe, whether the change was written or not.
    first = writer.reserve(request("a", key="k"))
    assert writer.reserve(request("a", key="k")).handle == first.handle
    assert names(ledger) == {"a"}


def test_lost_notifications_delay_nothing_that_counts(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    proxy.decide = lambda way, data: "pass" if way == "to server" or not data.startswith(b"A") else "drop"
    for i in range(8):
        ledger.reserve(request(f"g{i}", key=f"k{i}"))
    deaf = through(proxy, server, fleet)
    ledger.release("g3")
    assert deaf.reserve(request("late")).name == "late"
    # The same for an answer that the key gives.
    deaf2 = through(proxy, server, fleet)
    ledger.forget_key("k3")
    with pytest.raises(quoit.NotNowError):
        deaf2.reserve(request("g3", key="k3"))


def test_a_change_does_not_wait_for_the_announcement_of_the_one_before(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    """The answer to the announcement is held back until the next change has been sent."""
    handle = through(proxy, server, fleet)
    handle.reserve(request("a"))
    sent, held = threading.Event(), []

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        if way == "to server" and b"NOTIFY quoit" in data:
            sent.clear()
        if way == "to server" and is_append(data):
            sent.set()
        elif way == "to client" and b"NOTIFY\0" in data:
            held.append(sent.wait(5))
        return "pass"

    proxy.decide = decide
    handle.reserve(request("b"))
    handle.reserve(request("c"))
    assert held and all(held)
    assert names(ledger) == {"a", "b", "c"}


def test_an_interrupt_ends_the_wait_for_another_writer(
    ledger: quoit.Ledger, server: servers.Server, fleet: str
) -> None:
    other = quoit.open(server.url(fleet), wait_ms=60000)
    with ledger.batch():
        ledger.reserve(request("a"))
        timer = threading.Timer(0.5, other.interrupt)
        timer.start()
        began = time.monotonic()
        with pytest.raises(quoit.CancelledError):
            other.reserve(request("b"))
        assert time.monotonic() - began < 10
        timer.join()
    assert names(ledger) == {"a"}
    other.reserve(request("b"))


def test_a_wait_for_another_writer_ends(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    other = quoit.open(server.url(fleet), wait_ms=200)
    with ledger.batch():
        ledger.reserve(request("a"))
        with pytest.raises(quoit.BusyError):
            other.reserve(request("b"))
    assert names(other) == {"a"}


def test_a_writer_that_is_stopped_in_its_lock_holds_up_others_only_until_it_ends(
    ledger: quoit.Ledger, server: servers.Server, fleet: str
) -> None:
    program = (
        "import os, signal, sys, quoit\n"
        f"ledger = quoit.open({server.url(fleet)!r})\n"
        "with ledger.batch():\n"
        "    ledger.reserve(quoit.Request(name='stopped', accelerator='v6e', topology='4x4', slices=1))\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "locked\n"
    os.kill(child.pid, signal.SIGSTOP)
    other = quoit.open(server.url(fleet), wait_ms=300)
    with pytest.raises(quoit.BusyError):
        other.reserve(request("a"))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    other.reserve(request("a"))
    assert names(ledger) == {"a"}


def test_a_child_of_fork_is_refused(ledger: quoit.Ledger) -> None:
    ledger.reserve(request("a"))
    pid = os.fork()
    if pid == 0:
        try:
            ledger.reserve(request("child"))
        except quoit.FailedError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    ledger.reserve(request("b"))
    assert names(ledger) == {"a", "b"}


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


# --- servers ---


@pytest.fixture
def own_server() -> servers.Server:
    server = servers.Server("checkpoint_timeout = 30s")
    server.start()
    yield server
    server.remove()


def test_a_killed_server_loses_no_acknowledged_change(
    own_server: servers.Server,
) -> None:
    ledger = quoit.create(own_server.url("tpus"), wait_ms=20000)
    ledger.import_fleet_text("v6e 4x4 x400")
    acknowledged: set[str] = set()

    def write() -> None:
        for i in range(150):
            ledger.reserve(request(f"g{i}", key=f"k{i}"))
            acknowledged.add(f"g{i}")

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(3):
        time.sleep(0.3)
        own_server.kill()
        own_server.start()
    writer.join()
    reader = quoit.open(own_server.url("tpus"))
    assert len(acknowledged) == 150
    assert names(reader) == acknowledged
    reader.verify()
    ledger.verify()


def test_a_server_that_went_back_is_damaged(own_server: servers.Server) -> None:
    ledger = quoit.create(own_server.url("tpus"), wait_ms=5000)
    ledger.import_fleet_text("v6e 4x4 x8")
    own_server.sql(
        "CREATE SCHEMA old; CREATE TABLE old.fleet AS TABLE quoit.fleet; CREATE TABLE old.journal AS TABLE quoit.journal"
    )
    ledger.reserve(request("a"))
    own_server.sql(
        "DELETE FROM quoit.journal; INSERT INTO quoit.journal SELECT * FROM old.journal;"
        "UPDATE quoit.fleet f SET seq = o.seq, chain = o.chain FROM old.fleet o WHERE o.id = f.id"
    )
    with pytest.raises(quoit.DamagedError, match="went back"):
        ledger.reserve(request("b"))
    with pytest.raises(quoit.DamagedError):
        ledger.refresh()
    with quoit.open(own_server.url("tpus")) as again:
        assert names(again) == set()
        again.verify()
        # Another history of the same length: only the link tells the two apart.
        again.reserve(request("other"))
        with pytest.raises(quoit.DamagedError):
            ledger.reserve(request("b"))
        assert names(again) == {"other"}


def test_a_changed_history_is_damaged(own_server: servers.Server) -> None:
    ledger = quoit.create(own_server.url("tpus"))
    ledger.import_fleet_text("v6e 4x4 x8")
    ledger.reserve(request("a"))
    ledger.reserve(request("b"))
    own_server.sql("UPDATE quoit.journal SET time_ms = time_ms + 1 WHERE seq = 2")
    with pytest.raises(quoit.DamagedError):
        ledger.verify()
    with pytest.raises(quoit.DamagedError, match="entry 2 does not continue the chain"):
        quoit.open(own_server.url("tpus"))


def test_another_ledger_of_the_same_name_is_damaged(own_server: servers.Server) -> None:
    ledger = quoit.create(own_server.url("tpus"))
    ledger.import_fleet_text("v6e 4x4 x8")
    own_server.sql("DELETE FROM quoit.journal; DELETE FROM quoit.image; UPDATE quoit.fleet SET name = 'gone'")
    other = quoit.create(own_server.url("tpus"))
    own_server.sql("UPDATE quoit.fleet g SET identity = t.identity, seq = t.seq, chain = t.chain FROM quoit.fleet t"
                   " WHERE g.name = 'gone' AND t.name = 'tpus'")  # fmt: skip
    with pytest.raises(quoit.DamagedError, match="another ledger has taken the place"):
        ledger.reserve(request("a"))
    other.import_fleet_text("v6e 4x4 x8")


def test_a_standby_is_refused_with_the_remedy(server: servers.Server, ledger: quoit.Ledger, fleet: str) -> None:
    readonly = quoit.open(server.url(fleet, options="?options=-c%20default_transaction_read_only%3Don"))
    with pytest.raises(quoit.StoreError, match="target_session_attrs=read-write"):
        readonly.reserve(request("a"))
    assert names(ledger) == set()


def test_a_role_without_grants_is_refused(server: servers.Server, ledger: quoit.Ledger, fleet: str) -> None:
    server.sql("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA quoit TO reader;"
               "GRANT SELECT ON ALL TABLES IN SCHEMA quoit TO reader")  # fmt: skip
    try:
        reader = quoit.open(server.url(fleet, user="reader"))
        with pytest.raises(quoit.StoreError, match="grants"):
            reader.reserve(request("a"))
        ledger.reserve(request("b"))
        assert names(reader) == {"b"}
    finally:
        server.sql(
            "REVOKE ALL ON ALL TABLES IN SCHEMA quoit FROM reader; REVOKE ALL ON SCHEMA quoit FROM reader; DROP ROLE reader"
        )


def test_permission_that_is_withdrawn_changes_nothing(
    own_server: servers.Server,
) -> None:
    own_server.sql("CREATE ROLE writer LOGIN; GRANT CREATE ON DATABASE postgres TO writer")
    ledger = quoit.create(own_server.url("tpus", user="writer"))
    ledger.import_fleet_text("v6e 4x4 x8")
    own_server.sql("REVOKE INSERT, UPDATE ON ALL TABLES IN SCHEMA quoit FROM writer")
    with pytest.raises(quoit.StoreError, match="grants"):
        ledger.reserve(request("a"))
    own_server.sql("GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA quoit TO writer")
    ledger.reserve(request("b"))
    assert names(ledger) == {"b"}
    ledger.verify()


def test_tables_of_a_later_version_are_refused(own_server: servers.Server) -> None:
    quoit.create(own_server.url("tpus"))
    own_server.sql("UPDATE quoit.version SET number = 2")
    with pytest.raises(quoit.VersionError, match="version 2"):
        quoit.open(own_server.url("tpus"))
    with pytest.raises(quoit.VersionError, match="version 2"):
        quoit.create(own_server.url("more"))
    assert own_server.sql("SELECT name FROM quoit.fleet") == "tpus"


def test_a_server_without_fsync_is_refused() -> None:
    server = servers.Server("fsync = off")
    server.start()
    try:
        with pytest.raises(quoit.StoreError, match="fsync = off"):
            quoit.create(server.url("tpus"))
    finally:
        server.remove()


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


# --- the feed ---


def test_a_feed_wakes_another_process(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    watcher = quoit.open(server.url(fleet))
    with watcher.feed(watcher.snapshot().seq) as feed:
        feed.read()
        delays = []
        for i in range(5):
            while select.select([feed.fileno()], [], [], 0)[0]:
                assert feed.read() == ()
            ledger.reserve(request(f"g{i}"))
            began = time.monotonic()
            assert select.select([feed.fileno()], [], [], 5)[0]
            delays.append(time.monotonic() - began)
            assert [entry.verb for entry in feed.read()] == ["reserve"]
    # The timer wakes a feed once a second. Five of its ticks would come this early once in 100,000 runs.
    assert max(delays) < 0.1 or sorted(delays)[2] < 0.02


def test_a_feed_survives_its_connection(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    watcher = through(proxy, server, fleet)
    with watcher.feed(watcher.snapshot().seq) as feed:
        feed.read()
        proxy.cut_all()
        ledger.reserve(request("a"))
        assert select.select([feed.fileno()], [], [], 5)[0]
        assert [entry.verb for entry in feed.read()] == ["reserve"]
        # The feed has connected again, and is woken.
        ledger.reserve(request("b"))
        assert select.select([feed.fileno()], [], [], 5)[0]
        assert [entry.verb for entry in feed.read()] == ["reserve"]


# --- names ---


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://127.0.0.1/postgres",
        "postgresql://127.0.0.1/postgres#",
        "postgres://h/d#a b",
    ],
)
def test_a_url_names_a_fleet(url: str) -> None:
    with pytest.raises(quoit.InvalidError, match="expected the name of a fleet"):
        quoit.open(url)


def test_errors_do_not_show_passwords(server: servers.Server, ledger: quoit.Ledger) -> None:
    with pytest.raises(quoit.NotFoundError) as caught:
        quoit.open(server.url("absent", user="quoit:secret"))
    assert "secret" not in str(caught.value)
    assert "no fleet 'absent'" in str(caught.value)
    with pytest.raises(quoit.StoreError) as caught2:
        quoit.open(
            f"postgresql://quoit:secret@127.0.0.1:{servers.free_port()}/postgres#tpus",
            wait_ms=0,
        )
    assert "secret" not in str(caught2.value)
    for url in (
        "postgresql://u:50%secret@h/d#t",
        "postgresql://u:p#secret@h/d",
        "postgresql://u:secret@[::h/d#t",
    ):
        with pytest.raises(quoit.InvalidError) as caught3:
            quoit.open(url)
        assert "secret" not in str(caught3.value)


def test_a_fleet_is_created_once(server: servers.Server, ledger: quoit.Ledger, fleet: str) -> None:
    with pytest.raises(quoit.ConflictError, match="already"):
        quoit.create(server.url(fleet))


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


# --- room ---


def test_a_full_disk_changes_nothing(tmp_path: pathlib.Path) -> None:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=140m", "none", str(place)],
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    tmp_path.parent.chmod(0o755)
    tmp_path.parent.parent.chmod(0o755)
    tmp_path.chmod(0o755)
    try:
        server = servers.Server(
            "min_wal_size = 32MB\nmax_wal_size = 32MB\nwal_recycle = off",
            directory=place,
        )
        server.start()
        ledger = quoit.create(server.url("tpus"), wait_ms=2000)
        ledger.import_fleet_text("v6e 4x4 x100")
        ledger.reserve(request("before"))
        filler = place / "filler"
        with open(filler, "wb") as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
            except OSError:
                pass
        acknowledged = {"before"}
        failures = 0
        for i in range(400):
            try:
                ledger.reserve(request(f"g{i}", key=f"k{i}"))
                acknowledged.add(f"g{i}")
            except (quoit.StoreError, quoit.UnconfirmedError):
                failures += 1
                break
            except quoit.NotNowError:
                ledger.import_fleet_text(f"v6e 4x4 x{100 + i}")
            # Larger entries fill what is left sooner.
            if i % 10 == 9:
                try:
                    ledger.import_fleet_text(f"v6e 4x4 x{100 + i}; v5p 2x2x4 x{i}")
                except (quoit.StoreError, quoit.UnconfirmedError):
                    failures += 1
                    break
        assert failures == 1
        filler.unlink()
        server.stop("immediate")
        server.start()
        with quoit.open(server.url("tpus"), wait_ms=5000) as again:
            assert names(again) >= acknowledged
            again.reserve(request("after"))
            again.verify()
    finally:
        server.stop("immediate")
        subprocess.run(["umount", "-l", str(place)], check=False)


# --- poolers ---


@pytest.mark.parametrize("mode", ["transaction", "session"])
def test_a_pooler_is_refused_with_the_remedy(server: servers.Server, tmp_path: pathlib.Path, mode: str) -> None:
    program = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
    if program is None:
        pytest.skip("no pgbouncer: install the package pgbouncer")
    port = servers.free_port()
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\npostgres = host=127.0.0.1 port={server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nauth_type = any\npool_mode = {mode}\nunix_socket_dir =\n"
        f"ignore_startup_parameters = options,extra_float_digits\n"
        f"[users]\n"
    )
    settings.write_text(settings.read_text().replace("[databases]\npostgres =", "[databases]\npostgres = user=quoit"))
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    settings.chmod(0o644)
    as_user = [
        "setpriv",
        "--reuid",
        server.account,
        "--regid",
        server.account,
        "--clear-groups",
    ]
    pooler = subprocess.Popen(
        [*(as_user if os.geteuid() == 0 else []), program, str(settings)],
        stderr=subprocess.PIPE,
    )
    try:
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert pooler.poll() is None, pooler.stderr.read() if pooler.stderr else ""
                assert time.monotonic() < end
                time.sleep(0.05)
        with pytest.raises(quoit.StoreError, match="pooler|startup parameter"):
            quoit.create(f"postgresql://quoit@127.0.0.1:{port}/postgres#pooled", wait_ms=3000)
    finally:
        pooler.terminate()
        pooler.wait()
