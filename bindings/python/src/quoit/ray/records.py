# SPDX-License-Identifier: Apache-2.0
"""What Ray has of a group of the ledger: noted before it is made, so that whoever comes after an end finds it all."""

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
    """Ray's groups that a call makes. A name stands in it before Ray is asked: what Ray has made is found by it, also
    where the answer never came."""

    def __init__(self) -> None:
        self.groups: list[Any] = []
        """That Ray has answered for."""
        self.names: list[str] = []
        """That Ray may have."""
        self._job = ""
        self._others: list[str] = []
        self._asked: list[str] = []

    def plan(self, names: Sequence[str], is_unique: bool) -> None:
        """Notes the names that will be asked for; groups of this job that bear one already (two may, where the first is
        in another namespace, or is the same caller's) are others, unless the names are unique."""
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
        """As `cluster.create_group`."""
        self._asked.append(name)
        try:
            group = cluster.create_group(bundles, selectors, strategy, name, lifetime)
        except (errors.ConflictError, ValueError, TypeError):
            # Ray has refused: what bears the name is another's.
            self._asked.remove(name)
            raise
        self.groups.append(group)
        self._asked.remove(name)
        return group

    def made(self) -> list[Any]:
        """All of them, also those that Ray has made and whose answer never came."""
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
        """What a record says while the groups are made; `standing`: those that the group has until then."""
        ids = [cluster.group_id(one) for one in standing]
        return {"groups": [], "job": self._job, "names": self.names, "others": self._others, "standing": ids}


class LateRecord:
    """A record that is written while the caller who was answered goes on, or by the first who needs it.

    Nobody is woken for it, which would cost the caller more than all else that is left to do: a thread looks now and then.
    """

    def __init__(self, write: Callable[[], None], driver: cluster.Driver) -> None:
        self._write: Callable[[], None] | None = write
        self._driver = driver
        self._lock = threading.Lock()
        self._is_due = False
        _scribe.add(self)

    def let(self) -> None:
        """It may be written."""
        self._is_due = True

    def write(self) -> None:
        """It stands there when this returns, unless it was given up.

        Raises:
            NotFoundError: the control plane does not answer; the next call tries again.
        """
        with self._lock:
            if self._write is not None:
                self._write()
                self._write = None

    def give_up(self) -> None:
        """Nothing is written any more when this returns."""
        with self._lock:
            self._write = None

    def look(self) -> bool:
        """Writes it where it may be; whether that is all there is to do."""
        if cluster.driver() != self._driver:
            self.give_up()  # what it tells of is gone from Ray
        elif self._is_due:
            self.write()
        return self._write is None


class _Scribe:
    """Writes late records, in a thread of its own that ends when there was none for long."""

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
    """What Ray's group of one slice is called, as Ray's helper calls it."""
    return f"{base}_slice_{index}"


def stands(group: Group, record: Mapping[str, Any] | None, listing: cluster.Listing) -> bool:
    """Whether Ray has a placement group of what was made for a group of the ledger. What is not written down yet was named
    by nobody, and bears the ledger's name for it, which no other has."""
    if record is not None:
        return any(name in listing.groups for name in record["groups"])
    ours = {group.name, *(slice_name(group.name, index) for index in range(len(group.slices)))}
    return any(row["name"] in ours for row in listing.groups.values())


def _named(names: Sequence[str], job: str, others: Sequence[str]) -> list[Any]:
    return [one for one in cluster.named_groups(names, job) if cluster.group_id(one) not in others]


def groups_of(record: Mapping[str, Any], listing: cluster.Listing) -> list[Any]:
    """What is left in Ray of all that a record tells of."""
    ids = [one for one in (*record["groups"], *record.get("standing", ())) if one in listing.groups]
    names = [] if record["groups"] else record.get("names", [])
    found = {one: cluster.handle_of(one) for one in ids}
    found.update(
        {cluster.group_id(one): one for one in _named(names, record["job"], record["others"])} if names else {}
    )
    return list(found.values())
