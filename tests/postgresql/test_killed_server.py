# SPDX-License-Identifier: Apache-2.0
"""A server that is killed at each step of the protocol: every change is made exactly once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import proxy as proxies
import pytest
import quoit
import server as servers
from ledgers import n_entries, names, request

MOST_STEPS = 40
Change = Callable[[quoit.Ledger, str], set[str]]  # makes a change, and returns the names of the groups that it adds


def reserve(ledger: quoit.Ledger, name: str) -> set[str]:
    ledger.reserve(request(name))
    return {name}


def repeat(ledger: quoit.Ledger, name: str) -> set[str]:
    """The second call is answered by its key, which counts only after the head is confirmed."""
    first = ledger.reserve(request(name, key=name))
    assert ledger.reserve(request(name, key=name)).handle == first.handle
    return {name}


def refuse(ledger: quoit.Ledger, name: str) -> set[str]:
    with pytest.raises(quoit.NeverError):
        ledger.reserve(request(name, slices=1000))
    return set()


def batch(ledger: quoit.Ledger, name: str) -> set[str]:
    with ledger.batch():
        ledger.reserve(request(name))
        ledger.reserve(request(f"{name}-2"))
    return {name, f"{name}-2"}


def commit_fork(ledger: quoit.Ledger, name: str) -> set[str]:
    fork = ledger.snapshot().fork()
    fork.reserve(request(name))
    ledger.commit_fork(fork)
    return {name}


def lead(ledger: quoit.Ledger, name: str) -> set[str]:
    assert ledger.lead(name) > 0
    ledger.reserve(request(name))
    return {name}


class Killer:
    """Kills the server at a step: a chunk of bytes in one direction. Then it starts the server again."""

    def __init__(
        self, server: servers.Server, proxy: proxies.Proxy, way: proxies.Direction, is_delivered: bool
    ) -> None:
        self.server, self.proxy, self.way, self.is_delivered = server, proxy, way, is_delivered
        self.steps_to_go = -1  # -1: it has killed the server, or is to wait
        self.lock = threading.Lock()
        proxy.decide = self.decide
        proxy.after_cut = self.kill if is_delivered else lambda: None

    def kill(self) -> None:
        self.server.kill()
        self.server.start()

    def decide(self, way: proxies.Direction, data: bytes) -> proxies.Action:
        with self.lock:
            if self.steps_to_go < 0 or way != self.way:
                return "pass"
            self.steps_to_go -= 1
            if self.steps_to_go >= 0:
                return "pass"
        if self.is_delivered:
            return "deliver and cut"
        self.kill()
        return "cut"


@pytest.mark.parametrize("change", [reserve, repeat, refuse, batch, commit_fork, lead])
@pytest.mark.parametrize(
    ("way", "is_delivered"),
    [("to server", False), ("to server", True), ("to client", False)],
    ids=["before a message", "after a message", "before an answer"],
)
def test_a_change_is_made_once_whenever_the_server_is_killed(
    own_server: servers.Server, way: proxies.Direction, is_delivered: bool, change: Change
) -> None:
    proxy = proxies.Proxy(own_server.port)
    with quoit.create(own_server.url("tpus"), wait_ms=30000) as ledger:
        ledger.import_fleet_text("v6e 4x4 x100")
    killer = Killer(own_server, proxy, way, is_delivered)
    expected: set[str] = set()
    n_killed = 0
    for step in range(MOST_STEPS):
        with quoit.open(own_server.url("tpus", port=proxy.port), wait_ms=30000) as writer:
            before = n_entries(own_server, "tpus")
            killer.steps_to_go = step
            added = change(writer, f"g{step}")
            is_killed, killer.steps_to_go = killer.steps_to_go < 0, -1
            expected |= added
            assert names(writer) == expected
            assert n_entries(own_server, "tpus") == before + len(added)
            writer.verify()
        if not is_killed:
            break
        n_killed += 1
    assert 0 < n_killed < MOST_STEPS
    with quoit.open(own_server.url("tpus")) as reader:
        assert names(reader) == expected
        reader.verify()
    proxy.close()
