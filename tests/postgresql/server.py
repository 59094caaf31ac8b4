# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of its own in a private directory, which tests can kill."""

from __future__ import annotations

import contextlib
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PORT_TRIES = 20


def find_programs() -> str | None:
    """Returns the newest folder of PostgreSQL's programs, or None."""
    folders = [folder for folder in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(folder + "/initdb")]
    return max(folders, key=lambda folder: int(folder.split("/")[4]), default=None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A cluster of databases in a new directory. The programs run as `postgres`, because they refuse root."""

    def __init__(
        self,
        settings: str = "",
        *,
        primary: Server | None = None,
        directory: Path | None = None,
    ) -> None:
        """Makes a new cluster, or a standby of `primary`. `directory`: where, in place of a temporary directory."""
        programs = find_programs()
        assert programs is not None
        self.programs = programs
        self.directory = directory or Path(tempfile.mkdtemp(prefix="quoit-postgresql-"))
        self.port = free_port()
        self.account = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:
            shutil.chown(self.directory, self.account)
        if primary is None:
            self._run(
                f"{programs}/initdb",
                "-D",
                self.data,
                "-A",
                "trust",
                "-U",
                "quoit",
                "--encoding=UTF8",
                "--locale=C",
            )
        else:
            self._run(
                f"{programs}/pg_basebackup", "-D", self.data, "-h", "127.0.0.1", "-p", str(primary.port), "-U", "quoit",
                "-R", "-X", "stream", "-c", "fast",
            )  # fmt: skip
        self.configure(
            f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = '{self.directory}'\n"
            f"max_connections = 60\n{settings}\n"
        )

    def configure(self, settings: str) -> None:
        """Adds settings, which a start or `reload` reads."""
        with open(self.data + "/postgresql.conf", "a") as conf:
            conf.write(settings)

    def reload(self) -> None:
        self._run(f"{self.programs}/pg_ctl", "-D", self.data, "reload")

    def promote(self) -> None:
        """Makes a standby a primary."""
        self._run(f"{self.programs}/pg_ctl", "-D", self.data, "-w", "promote")

    @property
    def data(self) -> str:
        return str(self.directory / "data")

    def url(
        self,
        fleet: str = "",
        *,
        port: int | None = None,
        user: str = "quoit",
        options: str = "",
    ) -> str:
        base = f"postgresql://{user}@127.0.0.1:{port or self.port}/postgres{options}"
        return f"{base}#{fleet}" if fleet else base

    @property
    def as_account(self) -> list[str]:
        """What runs a command as the account of the server."""
        prefix = ["setpriv", "--reuid", self.account, "--regid", self.account, "--clear-groups"]
        return prefix if os.geteuid() == 0 else []

    def _run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.as_account, *command],
            check=check,
            capture_output=True,
            text=True,
            cwd=self.directory,
        )

    def start(self) -> None:
        for _ in range(PORT_TRIES):
            done = self._run(
                f"{self.programs}/pg_ctl",
                "-D",
                self.data,
                "-w",
                "-l",
                str(self.directory / "log"),
                "start",
                check=False,
            )
            if done.returncode == 0:
                return
            time.sleep(0.2)
        raise RuntimeError((self.directory / "log").read_text())

    def stop(self, mode: str = "fast") -> None:
        self._run(
            f"{self.programs}/pg_ctl",
            "-D",
            self.data,
            "-w",
            "-m",
            mode,
            "stop",
            check=False,
        )

    def kill(self) -> None:
        """Ends the server and all of its processes at once, as a power cut would."""
        postmaster = int((Path(self.data) / "postmaster.pid").read_text().split()[0])
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(postmaster)],
            capture_output=True,
            text=True,
        ).stdout
        for pid in [postmaster, *map(int, children.split())]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while os.path.exists(f"/proc/{postmaster}"):
            if Path(f"/proc/{postmaster}/stat").read_text().rsplit(") ", 1)[1][0] == "Z":
                break
            time.sleep(0.01)

    def sql(self, text: str, *, port: int | None = None) -> str:
        return self._run(
            f"{self.programs}/psql", "-h", "127.0.0.1", "-p", str(port or self.port), "-U", "quoit", "-d", "postgres",
            "-v", "ON_ERROR_STOP=1", "-Atc", text,
        ).stdout.strip()  # fmt: skip

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.directory, ignore_errors=True)
