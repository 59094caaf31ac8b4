# SPDX-License-Identifier: Apache-2.0
"""Records of Ray's groups, written before the groups are made, so that they are found after a driver is killed."""

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

_LOOK_S = 0.1
_REST_S = 60.0


class Book:
    """The groups of Ray that a call makes.

    Names are noted before each request, so that a group is found even if Ray's answer does not arrive.
    """

    def __init__(self) -> None:
        self.groups: list[Any] = []
        """The groups that Ray has confirmed."""
        self.names: list[str] = []
        """The names of groups that can exist in Ray."""
        self._job = ""
        self._others: list[str] = []
        self._asked: list[str] = []

    def plan(self, names: Sequence[str], is_unique: bool) -> None:
        """Notes the names of the next groups.

        If the names are not unique, it also notes the existing groups of this job with these names, to exclude them.
        They can exist in another namespace, or belong to the same caller.
        """
        others = [] if is_unique else [cluster.group_id(one) for one in cluster.named_groups(names, cluster.job())]
        self._job, self._others, self.names = cluster.job(), others, list(names)

    def create(
        self,
        bundles: Sequence[Mapping[str, float]],
        selectors: Sequence[Mapping[str, str]],
        strategy: str,
        name: str,
        lifetime: str | None,
    ) -> Any:
        """Like `cluster.create_group`."""
        self._asked.append(name)
        try:
            group = cluster.create_group(bundles, selectors, strategy, name, lifetime)
        except (errors.ConflictError, ValueError, TypeError):
            # Ray refused the request: a group with the name belongs to another caller.
            self._asked.remove(name)
            raise
        self.groups.append(group)
        self._asked.remove(name)
        return group

    def made(self) -> list[Any]:
        """Returns all groups, also those that Ray made without an answer."""
        known = {cluster.group_id(one) for one in self.groups}
        try:
            unseen = [one for one in self._named(self._asked) if cluster.group_id(one) not in known]
        except errors.NotFoundError as error:
            _log.warning("what was made as '%s' was not looked for: %s", ", ".join(self._asked), error)
            unseen = []
        return self.groups + unseen

    def _named(self, names: Sequence[str]) -> list[Any]:
        return _named(names, self._job, self._others) if names else []

    def plan_record(self, standing: Sequence[Any] = ()) -> dict[str, Any]:
        """Returns the record while the groups are made. `standing` are the groups that they replace."""
        ids = [cluster.group_id(one) for one in standing]
        return {"groups": [], "job": self._job, "names": self.names, "others": self._others, "standing": ids}


class LateRecord:
    """A record that is written after the caller gets its result, or when it is first needed.

    A thread polls for due records, because waking it would cost the caller more than the rest of the call.
    """

    def __init__(self, write: Callable[[], None], driver: cluster.Driver) -> None:
        self._write: Callable[[], None] | None = write
        self._driver = driver
        self._lock = threading.Lock()
        self._is_due = False
        _scribe.add(self)

    def let(self) -> None:
        """Allows the thread to write it."""
        self._is_due = True

    def write(self) -> None:
        """Writes the record now, unless it was written or given up.

        Raises:
            NotFoundError: the control plane does not answer; the next call tries again.
        """
        with self._lock:
            if self._write is not None:
                self._write()
                self._write = None

    def give_up(self) -> None:
        """Ensures that the record is not written later."""
        with self._lock:
            self._write = None

    def look(self) -> bool:
        """Writes the record if it is due. Returns whether it is done."""
        if cluster.driver() != self._driver:
            self.give_up()  # Ray has removed its groups
        elif self._is_due:
            self.write()
        return self._write is None


class _Scribe:
    """Writes late records in a thread, which ends after some time without records."""

    def __init__(self) -> None:
        self._open: list[LateRecord] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def add(self, record: LateRecord) -> None:
        with self._lock:
            self._open.append(record)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="quoit writes records", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        rested_at = time.monotonic()
        while True:
            time.sleep(_LOOK_S)
            done = [one for one in list(self._open) if self._is_done(one)]
            with self._lock:
                self._open = [one for one in self._open if one not in done]
                if self._open or done:
                    rested_at = time.monotonic()
                elif time.monotonic() - rested_at > _REST_S:
                    self._thread = None
                    return

    def _is_done(self, record: LateRecord) -> bool:
        try:
            return record.look()
        except errors.NotFoundError:
            return False
        except Exception as error:
            _log.warning("a record was not written: %s", error)
            return True


_scribe = _Scribe()


def slice_name(base: str, index: int) -> str:
    """Returns the name of Ray's group of one slice, in the form of Ray's helper."""
    return f"{base}_slice_{index}"


def stands(group: Group, record: Mapping[str, Any] | None, listing: cluster.Listing) -> bool:
    """Returns whether Ray has a placement group for a group of the ledger.

    Groups without a record have no user-defined name: they have the unique name of the ledger's group.
    """
    if record is not None:
        return any(name in listing.groups for name in record["groups"])
    ours = {group.name, *(slice_name(group.name, index) for index in range(len(group.slices)))}
    return any(row["name"] in ours for row in listing.groups.values())


def _named(names: Sequence[str], job: str, others: Sequence[str]) -> list[Any]:
    return [one for one in cluster.named_groups(names, job) if cluster.group_id(one) not in others]


def groups_of(record: Mapping[str, Any], listing: cluster.Listing) -> list[Any]:
    """Returns the groups of a record that still exist in Ray."""
    ids = [one for one in (*record["groups"], *record.get("standing", ())) if one in listing.groups]
    names = [] if record["groups"] else record.get("names", [])
    found = {one: cluster.handle_of(one) for one in ids}
    found.update(
        {cluster.group_id(one): one for one in _named(names, record["job"], record["others"])} if names else {}
    )
    return list(found.values())
