# SPDX-License-Identifier: Apache-2.0
"""The folder of a sweep: what the sweep is, and the results that are known.

- ``sweep.json``: what the sweep is. It is written once, before the first result.
- ``chunks.jsonl``: the results in the order in which they became known. Each line has a checksum. A line that is cut off
  or damaged counts as not written: its cases run again.
- ``results.jsonl``: all results in the order of the cases, one line each. It is written when the sweep is complete.
- ``sweep.lock``: locked by the process that runs the sweep.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from .. import errors
from .values import to_text

SCHEMA = "quoit-sweep/1"
_ABOUT, _CHUNKS, _RESULTS, _LOCK, _NEW = "sweep.json", "chunks.jsonl", "results.jsonl", "sweep.lock", ".new"
_SYNC_S = 1.0
"""How often new results are forced to the disk. After a loss of power, the cases of the last second run again."""
_START = b'{"sha256":"'
_HASH = slice(len(_START), len(_START) + 64)


class Folder:
    """The folder of one sweep, locked while it is open. As a context manager, it closes itself.

    Args:
        path: the folder, which is created if it is missing.
        about: what the sweep is, as JSON: names with values, or with mappings that have a ``sha256``.

    Raises:
        BusyError: another process has locked the folder.
        ConflictError: the folder has another sweep, or other files.
        DamagedError: the folder's description of its sweep cannot be read.
        StoreError: the disk refuses.
    """

    def __init__(self, path: str, about: Mapping[str, Any]) -> None:
        self.path = path
        self._chunks = self._lock = -1
        self._synced_at = time.monotonic()
        try:
            with _storing(path):
                self._open(about)
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with _storing(self.path):
                    os.fsync(self._chunks)
            else:  # the first error is the one to report
                with contextlib.suppress(OSError):
                    os.fsync(self._chunks)
        finally:
            self._close()

    def _name(self, name: str) -> str:
        return os.path.join(self.path, name)

    # --- opening ---

    def _open(self, about: Mapping[str, Any]) -> None:
        os.makedirs(self.path, exist_ok=True)
        if not os.path.exists(self._name(_LOCK)):
            self._refuse_other_files()
        self._take_lock()
        self._refuse_other_files()
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        self._check(about)
        self._chunks = os.open(self._name(_CHUNKS), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def _refuse_other_files(self) -> None:
        """A folder without a sweep must be empty, so that no foreign file is ever replaced."""
        names = set(os.listdir(self.path))
        others = sorted(names - {_LOCK, _ABOUT + _NEW})
        if _ABOUT not in names and others:
            raise errors.ConflictError(
                f"out '{self.path}': it has '{others[0]}' and no {_ABOUT}: expected an empty folder, or that of a sweep"
            )

    def _take_lock(self) -> None:
        self._lock = os.open(self._name(_LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._lock, 300, 0).decode(errors="replace").strip() or "another process"
            raise errors.BusyError(
                f"out '{self.path}': {holder} runs a sweep there: wait until it ends, or use another folder"
            ) from None

    def _check(self, about: Mapping[str, Any]) -> None:
        try:
            with open(self._name(_ABOUT), encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError:
            self._replace(_ABOUT, [json.dumps({"schema": SCHEMA, **about}, indent=2)])
            return
        except UnicodeDecodeError:
            text = ""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or "schema" not in found:
            raise errors.DamagedError(
                f"'{self._name(_ABOUT)}': expected the description of a sweep: use another folder"
            )
        if found["schema"] != SCHEMA:
            raise errors.VersionError(f"'{self._name(_ABOUT)}': schema '{found['schema']}': expected '{SCHEMA}'")
        differences = [_difference(name, found.get(name), wanted) for name, wanted in about.items()]
        if any(differences):
            raise errors.ConflictError(
                f"out '{self.path}': it has a sweep with {' and '.join(filter(None, differences))}: use another folder"
            )

    # --- results ---

    def read(self, n_cases: int) -> Iterator[tuple[int, list[str]]]:
        """Yields the known results: the number of the first case, and texts. Removes lines that are not whole.

        Raises:
            StoreError: the disk refuses.
        """
        with _storing(self._name(_CHUNKS)):
            with open(self._name(_CHUNKS), "rb") as file:
                lines = file.readlines()
        whole = []
        for line in lines:
            chunk = _parse(line, n_cases)
            if chunk is not None:
                whole.append(line)
                yield chunk
        if len(whole) < len(lines):
            with _storing(self._name(_CHUNKS)):
                self._replace(_CHUNKS, [line.decode("ascii").rstrip("\n") for line in whole])
                os.close(self._chunks)
                self._chunks = -1
                self._chunks = os.open(self._name(_CHUNKS), os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)

    def add(self, first: int, texts: Sequence[str]) -> None:
        """Writes results of the cases from `first` on.

        Raises:
            StoreError: the disk refuses. Results that were written before stay; a part of the line can be written.
        """
        rest = f'","first":{first},"results":[{",".join(texts)}]}}'.encode("ascii")
        line = _START + hashlib.sha256(rest).hexdigest().encode() + rest + b"\n"
        with _storing(self._name(_CHUNKS)):
            _write(self._chunks, line)
            if time.monotonic() - self._synced_at >= _SYNC_S:
                os.fsync(self._chunks)
                self._synced_at = time.monotonic()

    def finish(self, texts: Sequence[str]) -> None:
        """Writes all results in the order of the cases, unless the file has them already.

        Raises:
            StoreError: the disk refuses.
        """
        with _storing(self._name(_RESULTS)):
            with (
                contextlib.suppress(FileNotFoundError),
                open(self._name(_RESULTS), encoding="ascii", errors="replace") as file,
            ):
                if file.read().splitlines() == list(texts):
                    return
            os.fsync(self._chunks)
            self._replace(_RESULTS, texts)

    # --- files ---

    def _replace(self, name: str, lines: Sequence[str]) -> None:
        """Replaces a file atomically, also if the power is lost."""
        new = self._name(name) + _NEW
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            _write(descriptor, "".join(line + "\n" for line in lines).encode("ascii"))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, self._name(name))
        folder = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _close(self) -> None:
        for descriptor in (self._chunks, self._lock):  # the lock ends with its descriptor
            if descriptor >= 0:
                os.close(descriptor)
        self._chunks = self._lock = -1


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextlib.contextmanager
def _storing(path: str) -> Iterator[None]:
    """Converts errors of the operating system."""
    try:
        yield
    except OSError as error:
        raise errors.StoreError(f"'{error.filename or path}': {error.strerror}") from error


def _parse(line: bytes, n_cases: int) -> tuple[int, list[str]] | None:
    """Returns the results of a line; None if the line is not whole."""
    if not line.startswith(_START):
        return None
    if hashlib.sha256(line[_HASH.stop : -1]).hexdigest().encode() != line[_HASH]:
        return None
    try:
        chunk = json.loads(line)
        first, results = chunk["first"], [to_text(result, "result") for result in chunk["results"]]
        return (first, results) if 0 <= first <= n_cases - len(results) else None
    except (ValueError, KeyError, TypeError, RecursionError):  # it has a checksum, but quoit did not write it
        return None


def _difference(name: str, found: Any, wanted: Any) -> str | None:
    """Describes how a part of a sweep differs; None if it does not."""
    if not isinstance(wanted, dict):
        return None if found == wanted else f"another {_WORDS.get(name, name)} ('{found}', expected '{wanted}')"
    found = found if isinstance(found, dict) else {}
    if found.get("sha256") == wanted["sha256"]:
        return None
    plain, shown = [{key: value for key, value in one.items() if key != "sha256"} for one in (found, wanted)]
    detail = ", ".join(
        f"{key} '{plain.get(key)}', expected '{value}'" if plain.get(key) != value else f"{key} '{value}' in both"
        for key, value in shown.items()
    )
    return f"{'other' if name == 'cases' else 'another'} {name} ({detail})"


_WORDS = {"quoit": "version of quoit", "python": "version of Python"}
