#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ledgers in PostgreSQL, compared with SQLite on the same disk, and at several round-trip times.

The server runs in a directory of its own. Prints one line for each figure. Rates are medians of rounds in which the two
sides take turns. The round-trip times are those of a proxy that delays what it forwards.
"""

from __future__ import annotations

import queue
import select
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import quoit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "postgresql"))
import proxy as proxies
import server as servers

FLEET = "v6e 4x4 x400"
ROUNDS, SECONDS = 7, 1.0
ENTRY_BYTES = 300
FEED_ROUNDS = 200
LATENCIES_MS = (10, 60)


class Delaying(proxies.Proxy):
    """Delivers each chunk of bytes half a round trip after it came."""

    def __init__(self, port: int, round_trip_ms: float) -> None:
        self.delay = round_trip_ms / 2000
        super().__init__(port)

    def _forward(self, pair, source: socket.socket, sink: socket.socket, way: proxies.Direction) -> None:
        due: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

        def deliver() -> None:
            while (item := due.get())[1]:
                time.sleep(max(0.0, item[0] - time.monotonic()))
                try:
                    sink.sendall(item[1])
                except OSError:
                    break
            self._close(pair)

        threading.Thread(target=deliver, daemon=True).start()
        try:
            while data := source.recv(1 << 20):
                due.put((time.monotonic() + self.delay, data))
        except OSError:
            pass
        due.put((0.0, b""))


def request(name: str, slices: int = 1) -> quoit.Request:
    return quoit.Request(name=name, accelerator="v6e", topology="4x4", slices=slices)


def show(what: str, value: float, unit: str) -> None:
    print(f"{what:<72} {value:12,.2f} {unit}", flush=True)


def pairs_until(ledger: quoit.Ledger, name: str, end: float) -> int:
    """Reserves and releases until the time. Returns the number of changes."""
    changes, job = 0, request(name)
    while time.monotonic() < end:
        ledger.release(ledger.reserve(job))
        changes += 2
    return changes


def bare_rate(connection: sqlite3.Connection, seconds: float) -> float:
    """Rows that SQLite commits in a second, each in a transaction of its own."""
    n, begin, row = 0, time.monotonic(), bytes(ENTRY_BYTES)
    while time.monotonic() < begin + seconds:
        with connection:
            connection.execute("INSERT INTO entries (row) VALUES (?)", (row,))
        n += 1
    return n / (time.monotonic() - begin)


BARE_APPEND = f"""
WITH head AS (UPDATE bare.head SET seq = seq + 1 WHERE id = 1 RETURNING seq)
INSERT INTO bare.entries SELECT seq, decode(repeat('00', {ENTRY_BYTES}), 'hex') FROM head;
""".replace("\n", " ")


def server_rate(server: servers.Server, folder: Path) -> float:
    """Rows that the server commits in a second for pgbench, each with its head in one prepared statement."""
    programs = servers.find_programs()
    assert programs is not None
    server.sql(
        "CREATE SCHEMA IF NOT EXISTS bare; CREATE TABLE IF NOT EXISTS bare.head (id int PRIMARY KEY, seq bigint);"
        "CREATE TABLE IF NOT EXISTS bare.entries (seq bigint PRIMARY KEY, row bytea);"
        "INSERT INTO bare.head VALUES (1, 0) ON CONFLICT DO NOTHING"
    )
    script = folder / "append.sql"
    script.write_text(BARE_APPEND)
    run = subprocess.run(
        [f"{programs}/pgbench", "-n", "-M", "prepared", "-T", "1", "-f", str(script), server.url()],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout.partition("tps = ")[2].split()[0])


def own_rate(ledger: quoit.Ledger, seconds: float) -> float:
    begin = time.monotonic()
    return pairs_until(ledger, "one", begin + seconds) / (time.monotonic() - begin)


WRITER = """
import sys, time, quoit
sys.path.insert(0, sys.argv[3])
import postgresql as bench
with quoit.open(sys.argv[1]) as ledger:
    bench.pairs_until(ledger, sys.argv[2], time.monotonic() + 0.2)
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.monotonic()
    print(bench.pairs_until(ledger, sys.argv[2], begin + bench.SECONDS) / (time.monotonic() - begin), flush=True)
"""


def common_rate(url: str, n_writers: int) -> float:
    """Changes that several processes make in a second, all together."""
    here = str(Path(__file__).resolve().parent)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, url, f"writer-{i}", here],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in range(n_writers)
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    return sum(float(writer.communicate()[0]) for writer in writers)


def batch_rate(ledger: quoit.Ledger) -> float:
    """Reservations in batches of 100, per second. Releases are not counted."""
    jobs = [request(f"batch-{i}") for i in range(100)]
    begin = time.monotonic()
    with ledger.batch():
        groups = [ledger.reserve(job) for job in jobs]
    rate = 100 / (time.monotonic() - begin)
    with ledger.batch():
        for group in groups:
            ledger.release(group)
    return rate


def measure_rates(server: servers.Server, folder: Path) -> None:
    bare = sqlite3.connect(folder / "bare.db")
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE entries (seq INTEGER PRIMARY KEY, row BLOB)")
    url = server.url("rates")
    with quoit.create(url) as ledger:
        ledger.import_fleet_text(FLEET)
        own_rate(ledger, 0.5)
        own, base, common, append = [], [], [], []
        for _ in range(ROUNDS):
            base.append(bare_rate(bare, SECONDS))
            append.append(server_rate(server, folder))
            own.append(own_rate(ledger, SECONDS))
            common.append(common_rate(url, 3))
        show("SQLite's bare loop", statistics.median(base), "changes/s")
        show("the server's bare loop", statistics.median(append), "changes/s")
        show("one writer", statistics.median(own), "changes/s")
        show("one writer, relative to SQLite's bare loop", statistics.median(map(lambda a, b: a / b, own, base)), "")
        show(
            "one writer, relative to the server's bare loop",
            statistics.median(map(lambda a, b: a / b, own, append)),
            "",
        )
        show("three writers, relative to one", statistics.median(map(lambda a, b: a / b, common, own)), "")
        rates = [batch_rate(ledger) for _ in range(10 * ROUNDS)]
        show("batches of 100", statistics.median(rates), "reservations/s")


def measure_open(server: servers.Server) -> None:
    url = server.url("large")
    with quoit.create(url) as ledger:
        ledger.import_fleet_text("v6e 4x4 x25000")
        for _ in range(200):
            with ledger.batch():
                for i in range(100):
                    ledger.reserve(request(f"g-{ledger.snapshot().seq}-{i}"))
    times = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        quoit.open(url).close()
        times.append(time.monotonic() - begin)
    show("open 100,000 nodes with 20,000 groups", 1000 * statistics.median(times), "ms")


def measure_feed(server: servers.Server) -> None:
    """The time from the answer of a change to when a feed of another handle shows it."""
    url = server.url("feed")
    with quoit.create(url) as ledger, quoit.open(url) as reader:
        ledger.import_fleet_text(FLEET)
        reader.refresh()
        feed = reader.feed(reader.snapshot().seq)
        seen: queue.SimpleQueue[float] = queue.SimpleQueue()

        def read() -> None:
            while True:
                select.select([feed], [], [])
                if len(feed.read()) > 0:
                    seen.put(time.monotonic())

        threading.Thread(target=read, daemon=True).start()
        delays = []
        for i in range(FEED_ROUNDS):
            ledger.reserve(request(f"g-{i}"))
            answered = time.monotonic()
            delays.append(seen.get(timeout=10) - answered)
            time.sleep(0.005)
        show("a feed shows a change after its answer, median", 1000 * statistics.median(delays), "ms")
        show("the same, 95 of 100", 1000 * sorted(delays)[FEED_ROUNDS * 95 // 100], "ms")


def timed(call) -> float:
    times = []
    for i in range(15):
        begin = time.monotonic()
        call(i)
        times.append(time.monotonic() - begin)
    return 1000 * statistics.median(times)


def refuse(ledger: quoit.Ledger) -> None:
    try:
        ledger.reserve(request("many", 400))
    except quoit.NotNowError:
        return
    raise AssertionError("the request is granted")


def measure_latency(server: servers.Server, round_trip_ms: int) -> None:
    fleet = f"far-{round_trip_ms}"
    with quoit.create(server.url(fleet)) as ledger:
        ledger.import_fleet_text(FLEET)
        ledger.reserve(request("other"))
    proxy = Delaying(server.port, round_trip_ms)
    url = server.url(fleet, port=proxy.port)
    begin = time.monotonic()
    ledger = quoit.open(url)
    where = f"at {round_trip_ms} ms: "
    show(where + "open", 1000 * (time.monotonic() - begin), "ms")
    show(where + "a change", timed(lambda i: ledger.reserve(request(f"a-{i}"))), "ms")
    show(where + "a refusal", timed(lambda i: refuse(ledger)), "ms")
    show(where + "a read of the newest state", timed(lambda i: ledger.refresh()), "ms")

    def batch(i: int) -> None:
        with ledger.batch():
            for k in range(10):
                ledger.reserve(request(f"b-{i}-{k}"))

    show(where + "a batch of 10 reservations", timed(batch), "ms")
    ledger.close()
    proxy.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = servers.Server()
        server.start()
        try:
            wanted = sys.argv[1:] or ["rates", "open", "feed", "latency"]
            if "rates" in wanted:
                measure_rates(server, Path(folder))
            if "open" in wanted:
                measure_open(server)
            if "feed" in wanted:
                measure_feed(server)
            if "latency" in wanted:
                for round_trip_ms in LATENCIES_MS:
                    measure_latency(server, round_trip_ms)
        finally:
            server.remove()


if __name__ == "__main__":
    main()
