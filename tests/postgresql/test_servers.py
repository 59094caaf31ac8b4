# SPDX-License-Identifier: Apache-2.0
"""What a ledger in PostgreSQL promises when servers fail, refuse or have no room."""

from __future__ import annotations

import pathlib
import shutil
import socket
import subprocess
import threading
import time

import pytest
import quoit
import server as servers
from ledgers import names, request

# --- servers ---

N_STANDING = 100


def test_a_killed_server_loses_no_acknowledged_change(
    own_server: servers.Server,
) -> None:
    ledger = quoit.create(own_server.url("tpus"), wait_ms=20000)
    ledger.import_fleet_text(f"v6e 4x4 x{N_STANDING + 1}")
    standing: list[str] = []
    n_acknowledged = 0
    stop = threading.Event()

    def write() -> None:  # until it is told to stop, so that each kill meets a change
        nonlocal n_acknowledged
        while not stop.is_set():
            ledger.reserve(request(f"g{n_acknowledged}", key=f"k{n_acknowledged}"))
            standing.append(f"g{n_acknowledged}")
            n_acknowledged += 1
            if len(standing) > N_STANDING:
                ledger.release(standing[0])
                del standing[0]

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(3):
        goal = n_acknowledged + 35
        while n_acknowledged < goal and writer.is_alive():
            time.sleep(0.001)
        own_server.kill()
        assert writer.is_alive()
        own_server.start()
    stop.set()
    writer.join()
    assert n_acknowledged >= 3 * 35
    reader = quoit.open(own_server.url("tpus"))
    assert [one.name for one in reader.snapshot().groups if one.state is quoit.GroupState.RESERVED] == standing
    assert len(names(reader)) == n_acknowledged
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
        f"[databases]\npostgres = user=quoit host=127.0.0.1 port={server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nauth_type = any\npool_mode = {mode}\nunix_socket_dir =\n"
        f"ignore_startup_parameters = options,extra_float_digits\n"
    )
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(0o755)
    settings.chmod(0o644)
    pooler = subprocess.Popen(
        [*server.as_account, program, str(settings)],
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
        with pytest.raises(quoit.StoreError, match="a connection pooler answers .* name the server itself"):
            quoit.create(f"postgresql://quoit@127.0.0.1:{port}/postgres#pooled", wait_ms=3000)
    finally:
        pooler.terminate()
        pooler.wait()
