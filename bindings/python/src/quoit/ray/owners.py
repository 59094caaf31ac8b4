# SPDX-License-Identifier: Apache-2.0
"""In whose name the adapter holds, and the sign of life that the ledger gets of it."""

from __future__ import annotations

import logging
import threading
from typing import NamedTuple

from .. import errors
from ..groups import Group
from ..ledger import Quoit

_log = logging.getLogger("quoit.ray")

DETACHED = "detached"
"""Stands for the job in the owner of what outlives its driver."""


class Owner(NamedTuple):
    """What the name of an owner says."""

    source: str
    cluster: str
    """The first digits of the cluster's id: a cluster that was started anew is another."""
    job: str
    """Ray's job id, or "detached"."""


def short(cluster_id: str) -> str:
    """As much of a cluster's id as an owner's name has."""
    return cluster_id[:12]


def owner_name(source: str, cluster_id: str, job: str) -> str:
    """The owner of what a job holds."""
    return f"ray:{source}:{short(cluster_id)}:{job}"


def parse(name: str) -> Owner | None:
    """What `owner_name` made the name of; None for another's."""
    parts = name.split(":")
    if len(parts) < 4 or parts[0] != "ray":
        return None
    return Owner(":".join(parts[1:-2]), parts[-2], parts[-1])


def record_key(group: Group) -> str:
    """Under which Ray's control plane keeps what was made for the group: no other ledger has such a one."""
    return f"{group.handle}/{group.since_ms}"


class SignOfLife:
    """Renews the lease of an owner for as long as anything is kept in its name; one a process, ledger and owner."""

    def __init__(self, quoit: Quoit, owner: str, lease_s: float) -> None:
        self._quoit = quoit
        self._owner = owner
        self._lease_ms = max(1, int(lease_s * 1000))
        self._kept: set[str] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def keep(self, name: str) -> None:
        """Begins with the first name: the owner's lease is durable when this returns."""
        with self._lock:
            if self._thread is None:
                self._quoit.set_owner(self._owner, lease_ms=self._lease_ms)
                self._stop = threading.Event()
                self._thread = threading.Thread(target=self._run, name="quoit sign of life", daemon=True)
                self._thread.start()
            self._kept.add(name)

    def drop(self, name: str) -> None:
        """Forgets a name. The signs go on for another lease: who releases often reserves again."""
        with self._lock:
            self._kept.discard(name)

    def stop(self) -> None:
        """Ends the signs; the owner's lease ends by itself then."""
        self._stop.set()

    def _run(self) -> None:
        idle_ms = 0.0
        # Three signs a lease: two may be lost, to a busy disk or a stopped process, before anything is.
        while not self._stop.wait(self._lease_ms / 3000):
            with self._lock:
                kept = sorted(self._kept)
                idle_ms = 0.0 if kept else idle_ms + self._lease_ms / 3
                if idle_ms >= self._lease_ms:
                    self._thread = None
                    return
            if not self._renewed(kept):
                break
        with self._lock:
            self._thread = None

    def _renewed(self, kept: list[str]) -> bool:
        """Whether there is any use in trying again."""
        try:
            try:
                self._quoit.renew_owner(self._owner, self._lease_ms)
            except (errors.ExpiredError, errors.NotFoundError) as error:
                _log.warning("what '%s' held in the ledger is free: %s: %s", self._owner, ", ".join(kept), error)
                self._quoit.set_owner(self._owner, lease_ms=self._lease_ms)
        except (errors.BusyError, errors.StoreError, errors.CancelledError) as error:
            _log.warning("the lease of '%s' was not renewed, and will be tried again: %s", self._owner, error)
        except errors.Error as error:
            _log.warning("the lease of '%s' is not renewed any more: %s", self._owner, error)
            return False
        return True
