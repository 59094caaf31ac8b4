# SPDX-License-Identifier: Apache-2.0
"""Records of the adapter's groups in Ray's control plane.

A record lists the placement groups of one group of the ledger. `sync` and `attach` use the record to find these
placement groups, even after their driver was killed. Before detached groups are created, a record with their planned
names is written, because Ray does not remove detached groups when the driver ends. The record of other groups is
written after the groups are created.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from .. import errors
from ..groups import Group
from . import cluster

_log = logging.getLogger("quoit.ray")

_POLL_S = 0.1
"""The pause of the thread that writes deferred records."""
_IDLE_S = 60.0
"""How long the thread that writes deferred records lives without records."""


class CreatedGroups:
    """The placement groups that a call creates in Ray.

    Each name is stored before the request to Ray. Then the group can be found even if Ray's answer does not arrive.
    """

    def __init__(self) -> None:
        self.groups: list[Any] = []
        """The groups that Ray has confirmed."""
        self.names: list[str] = []
        """The names of groups that can exist in Ray."""
        # `find_all` searches groups by job and name. Older groups of the job with these names are excluded by id.
        self._job = ""
        self._excluded_ids: list[str] = []
        self._unanswered: list[str] = []

    def reserve_names(self, names: Sequence[str], is_unique: bool) -> None:
        """Stores the names of the groups that will be created.

        If the names are not unique, this job can already have groups with these names, in another namespace or of the
        same caller. Their ids are stored, so that `find_all` excludes them.
        """
        excluded_ids = (
            [] if is_unique else [cluster.group_id(one) for one in cluster.named_groups(names, cluster.job())]
        )
        self._job, self._excluded_ids, self.names = cluster.job(), excluded_ids, list(names)

    def create_group(
        self,
        bundles: Sequence[Mapping[str, float]],
        selectors: Sequence[Mapping[str, str]],
        strategy: str,
        name: str,
        lifetime: str | None,
    ) -> Any:
        """Creates a group like `cluster.create_group`, and stores it."""
        self._unanswered.append(name)
        try:
            group = cluster.create_group(bundles, selectors, strategy, name, lifetime)
        except (errors.ConflictError, ValueError, TypeError):
            # Ray has refused the request. A group with this name, if there is one, belongs to another caller.
            self._unanswered.remove(name)
            raise
        self.groups.append(group)
        self._unanswered.remove(name)
        return group

    def find_all(self) -> list[Any]:
        """Returns all created groups. A group for which no answer arrived is searched in Ray by name."""
        known = {cluster.group_id(one) for one in self.groups}
        try:
            unseen = [one for one in self._find_groups(self._unanswered) if cluster.group_id(one) not in known]
        except errors.NotFoundError as error:
            _log.warning("groups with the names '%s' were not searched for: %s", ", ".join(self._unanswered), error)
            unseen = []
        return self.groups + unseen

    def _find_groups(self, names: Sequence[str]) -> list[Any]:
        return _find_groups(names, self._job, self._excluded_ids) if names else []

    def planned_record(self, replaced_groups: Sequence[Any] = ()) -> dict[str, Any]:
        """Returns the record to write before the groups are created. They replace `replaced_groups`."""
        ids = [cluster.group_id(one) for one in replaced_groups]
        return {"groups": [], "job": self._job, "names": self.names, "others": self._excluded_ids, "standing": ids}


class DeferredRecord:
    """A record that is written after the caller has its result, or earlier if the record is needed.

    A thread polls for records that are due. To wake a thread for each record instead would cost the caller more time
    than the rest of the call.
    """

    def __init__(self, write: Callable[[], None], driver: cluster.Driver) -> None:
        self._write: Callable[[], None] | None = write
        self._driver = driver
        self._lock = threading.Lock()
        self._is_due = False
        _record_writer.add(self)

    def allow(self) -> None:
        """Allows the thread to write the record."""
        self._is_due = True

    def write(self) -> None:
        """Writes the record now, unless it was written or cancelled.

        Raises:
            NotFoundError: the control plane does not answer; the next call tries again.
        """
        with self._lock:
            if self._write is not None:
                self._write()
                self._write = None

    def cancel(self) -> None:
        """Ensures that the record is not written from now on."""
        with self._lock:
            self._write = None

    def write_if_due(self) -> bool:
        """Writes the record if that is allowed. Returns whether nothing is left to do."""
        if cluster.driver() != self._driver:
            self.cancel()  # the driver has ended, so Ray has removed the groups of the record
        elif self._is_due:
            self.write()
        return self._write is None


class _RecordWriter:
    """Writes deferred records in a thread. The thread ends after some time without records."""

    def __init__(self) -> None:
        self._pending: list[DeferredRecord] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, record: DeferredRecord) -> None:
        with self._lock:
            self._pending.append(record)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="quoit record writer", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        idle_since = time.monotonic()
        while True:
            time.sleep(_POLL_S)
            done = [one for one in list(self._pending) if self._is_done(one)]
            with self._lock:
                self._pending = [one for one in self._pending if one not in done]
                if self._pending or done:
                    idle_since = time.monotonic()
                elif time.monotonic() - idle_since > _IDLE_S:
                    self._thread = None
                    return

    def _is_done(self, record: DeferredRecord) -> bool:
        try:
            return record.write_if_due()
        except errors.NotFoundError:
            return False
        except Exception as error:
            _log.warning("a record was not written: %s", error)
            return True


_record_writer = _RecordWriter()


def slice_group_name(base: str, index: int) -> str:
    """Returns the name of Ray's group of one slice, in the form of Ray's helper."""
    return f"{base}_slice_{index}"


def has_ray_group(group: Group, record: Mapping[str, Any] | None, listing: cluster.Listing) -> bool:
    """Returns whether Ray still has a placement group of a group of the ledger.

    If the group has no record yet, its placement groups are searched by the unique name of the ledger's group. This is
    their name, because groups with a name from the user get their record before they are confirmed.
    """
    if record is not None:
        return any(name in listing.groups for name in record["groups"])
    ours = {group.name, *(slice_group_name(group.name, index) for index in range(len(group.slices)))}
    return any(row["name"] in ours for row in listing.groups.values())


def _find_groups(names: Sequence[str], job: str, excluded_ids: Sequence[str]) -> list[Any]:
    return [one for one in cluster.named_groups(names, job) if cluster.group_id(one) not in excluded_ids]


def list_existing_groups(record: Mapping[str, Any], listing: cluster.Listing) -> list[Any]:
    """Returns the groups of a record that still exist in Ray, and the existing groups that they replace."""
    ids = [one for one in (*record["groups"], *record.get("standing", ())) if one in listing.groups]
    names = [] if record["groups"] else record.get("names", [])
    found = {one: cluster.get_group(one) for one in ids}
    found.update(
        {cluster.group_id(one): one for one in _find_groups(names, record["job"], record["others"])} if names else {}
    )
    return list(found.values())
