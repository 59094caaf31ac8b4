# SPDX-License-Identifier: Apache-2.0
"""The owners of the adapter's groups in the ledger, and the renewal of their leases.

Each driver is an owner. If a driver no longer renews its lease, its groups end in the ledger.
"""

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
"""In the name of an owner, the text instead of a job id if the groups outlive their driver."""


class Owner(NamedTuple):
    """The parts of an owner's name."""

    source: str
    cluster: str
    """The first digits of the cluster's id. A restarted cluster has another id."""
    job: str
    """Ray's job id, or "detached"."""


def cluster_prefix(cluster_id: str) -> str:
    """Returns the first digits of a cluster's id, which owners' names contain."""
    return cluster_id[:12]


def owner_name(source: str, cluster_id: str, job: str, named: str | None = None) -> str:
    """Returns the name of the owner of a job's groups. `named` is the owner that the user gave; it becomes a prefix."""
    name = f"ray:{source}:{cluster_prefix(cluster_id)}:{job}"
    return name if named is None else f"{named}|{name}"


def parse(name: str) -> Owner | None:
    """Returns the parts of a name that `owner_name` made; None for other names."""
    if not name.startswith("ray:"):
        name = "ray:" + name.rpartition("|ray:")[2] if "|ray:" in name else ""
    parts = name.split(":")
    return Owner(":".join(parts[1:-2]), parts[-2], parts[-1]) if len(parts) >= 4 else None


def record_key(group: Group) -> str:
    """Returns the key of the group's record in Ray's control plane, which is unique among all ledgers."""
    return f"{group.handle}/{group.created_ms}"


class LeaseRenewer:
    """Renews the lease of an owner by heartbeats while it has groups. A process has one object per ledger and owner.

    The renewal stops when this process is no longer the same driver, because Ray has then removed the driver's groups.
    """

    def __init__(self, quoit: Ledger, owner: str) -> None:
        self._quoit = quoit
        self._owner = owner
        self._lease_ms = 0
        self._driver: cluster.Driver | None = None
        self._names: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def keep(self, name: str, lease_s: float, driver: cluster.Driver) -> None:
        """Renews the lease until `name` is dropped, while this process is that driver. Starts the thread if necessary.

        The owner's lease is durable when `keep` returns. If another process ends the owner later, the next heartbeat
        registers the owner again. If several names have different leases, the longest lease is used until all names are
        dropped.
        """
        lease_ms = max(1, int(lease_s * 1000))
        with self._lock:
            if driver != self._driver:
                self._driver = driver
                self._names.clear()
            renewed_ms = 0 if self._thread is None else self._lease_ms
            self._lease_ms = max(self._lease_ms, lease_ms) if self._names else lease_ms
            # If this lease is longer than the present one, it starts at once: the thread's next heartbeat can be late.
            if lease_ms > renewed_ms:
                self._start_lease()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="quoit lease renewer", daemon=True)
                self._thread.start()
            self._names.add(name)

    def drop(self, name: str) -> None:
        """Drops a name. Heartbeats continue for one lease, because programs that release often reserve again."""
        with self._lock:
            self._names.discard(name)

    def _start_lease(self) -> None:
        # Another process of the job can have renewed the lease already, or have set a longer lease.
        if self._left_ms() < self._lease_ms * 2 / 3:
            self._quoit.set_owner(self._owner, lease_ms=self._lease_ms)

    def _left_ms(self) -> float:
        self._quoit.refresh()
        until_ms = [one.until_ms for one in self._quoit.snapshot().owners if one.name == self._owner]
        # An owner without a lease (None) lives until it is ended.
        return 0.0 if not until_ms else math.inf if until_ms[0] is None else until_ms[0] - time.time() * 1000

    def _run(self) -> None:
        idle_ms = 0.0
        while True:
            # Three heartbeats per lease: two of them can fail, because of a busy disk or a stopped process.
            pause_ms = self._lease_ms / 3
            time.sleep(pause_ms / 1000)
            with self._lock:
                names = sorted(self._names)
                idle_ms = 0.0 if names else idle_ms + pause_ms
                if idle_ms >= self._lease_ms or cluster.driver() != self._driver:
                    self._names.clear()
                    self._thread = None
                    return
            if not self._renew(names):
                break
        with self._lock:
            self._thread = None

    def _renew(self, names: list[str]) -> bool:
        """Renews the lease. Returns whether another try is useful."""
        try:
            try:
                if self._left_ms() < self._lease_ms:
                    self._quoit.renew_owner(self._owner, self._lease_ms)
            except (errors.ExpiredError, errors.NotFoundError) as error:
                if names:
                    _log.warning(
                        "the ledger has freed the groups of '%s': %s: %s", self._owner, ", ".join(names), error
                    )
                self._quoit.set_owner(self._owner, lease_ms=self._lease_ms)
        except (errors.BusyError, errors.StoreError, errors.CancelledError) as error:
            _log.warning(
                "the lease of '%s' was not renewed, and the renewal will be tried again: %s", self._owner, error
            )
        except errors.Error as error:
            if names:
                _log.warning("the lease of '%s' is no longer renewed: %s", self._owner, error)
            return False
        return True
