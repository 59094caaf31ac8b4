# SPDX-License-Identifier: Apache-2.0
"""In whose name the adapter holds, and the sign of life that the ledger gets of it."""

from __future__ import annotations

import logging
import math
import threading
import time
from typing import NamedTuple

from .. import errors
from ..groups import Group
from ..ledger import Ledger
from . import cluster

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


def owner_name(source: str, cluster_id: str, job: str, named: str | None = None) -> str:
    """The owner of what a job holds; `named`: in whose name, so that it is seen there and ends with its cluster."""
    name = f"ray:{source}:{short(cluster_id)}:{job}"
    return name if named is None else f"{named}|{name}"


def parse(name: str) -> Owner | None:
    """What `owner_name` made the name of; None for another's."""
    if not name.startswith("ray:"):
        name = "ray:" + name.rpartition("|ray:")[2] if "|ray:" in name else ""
    parts = name.split(":")
    return Owner(":".join(parts[1:-2]), parts[-2], parts[-1]) if len(parts) >= 4 else None


def record_key(group: Group) -> str:
    """Under which Ray's control plane keeps what was made for the group: no other ledger has such a one."""
    return f"{group.handle}/{group.since_ms}"


class SignOfLife:
    """Renews the lease of an owner for as long as anything is kept in its name; one a process, ledger and owner.

    It ends where the process is no longer the driver that it was: what that one had is gone from Ray.
    """

    def __init__(self, quoit: Ledger, owner: str) -> None:
        self._quoit = quoit
        self._owner = owner
        self._lease_ms = 0
        self._driver: cluster.Driver | None = None
        self._kept: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def keep(self, name: str, lease_s: float, driver: cluster.Driver) -> None:
        """Keeps it for as long as this process is that driver. Begins with the first name: the owner's lease is durable when
        this returns, and where somebody has ended it since, with the next sign. Of several leases the longest counts, for
        as long as anything is kept."""
        lease_ms = max(1, int(lease_s * 1000))
        with self._lock:
            if driver != self._driver:
                self._driver = driver
                self._kept.clear()
            signed_ms = 0 if self._thread is None else self._lease_ms
            self._lease_ms = max(self._lease_ms, lease_ms) if self._kept else lease_ms
            # The thread's signs are of the lease that there was: of a longer one the first is due.
            if lease_ms > signed_ms:
                self._begin()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="quoit sign of life", daemon=True)
                self._thread.start()
            self._kept.add(name)

    def drop(self, name: str) -> None:
        """Forgets a name. The signs go on for another lease: who releases often reserves again."""
        with self._lock:
            self._kept.discard(name)

    def _begin(self) -> None:
        # Of a lease that has lost a third the next sign is due; and another process of the job may have a longer one.
        if self._left_ms() < self._lease_ms * 2 / 3:
            self._quoit.set_owner(self._owner, lease_ms=self._lease_ms)

    def _left_ms(self) -> float:
        self._quoit.refresh()
        until_ms = [one.until_ms for one in self._quoit.snapshot().owners if one.name == self._owner]
        # None: somebody has set it without a lease, and it lives until it is ended.
        return 0.0 if not until_ms else math.inf if until_ms[0] is None else until_ms[0] - time.time() * 1000

    def _run(self) -> None:
        idle_ms = 0.0
        while True:
            # Three signs a lease: two may be lost, to a busy disk or a stopped process, before anything is.
            pause_ms = self._lease_ms / 3
            time.sleep(pause_ms / 1000)
            with self._lock:
                kept = sorted(self._kept)
                idle_ms = 0.0 if kept else idle_ms + pause_ms
                if idle_ms >= self._lease_ms or cluster.driver() != self._driver:
                    self._kept.clear()
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
                if self._left_ms() < self._lease_ms:
                    self._quoit.renew_owner(self._owner, self._lease_ms)
            except (errors.ExpiredError, errors.NotFoundError) as error:
                if kept:
                    _log.warning("what '%s' held in the ledger is free: %s: %s", self._owner, ", ".join(kept), error)
                self._quoit.set_owner(self._owner, lease_ms=self._lease_ms)
        except (errors.BusyError, errors.StoreError, errors.CancelledError) as error:
            _log.warning("the lease of '%s' was not renewed, and will be tried again: %s", self._owner, error)
        except errors.Error as error:
            if kept:
                _log.warning("the lease of '%s' is not renewed any more: %s", self._owner, error)
            return False
        return True
