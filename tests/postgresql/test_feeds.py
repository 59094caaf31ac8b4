# SPDX-License-Identifier: Apache-2.0
"""Feeds of ledgers in PostgreSQL."""

from __future__ import annotations

import select
import time

import proxy as proxies
import quoit
import server as servers
from ledgers import request, through


def test_a_feed_wakes_another_process(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    watcher = quoit.open(server.url(fleet))
    with watcher.feed(watcher.snapshot().seq) as feed:
        feed.read()
        delays = []
        for i in range(5):
            while select.select([feed.fileno()], [], [], 0)[0]:
                assert feed.read() == ()
            ledger.reserve(request(f"g{i}"))
            began = time.monotonic()
            assert select.select([feed.fileno()], [], [], 5)[0]
            delays.append(time.monotonic() - began)
            assert [entry.verb for entry in feed.read()] == ["reserve"]
    # The timer wakes a feed once a second. Five of its ticks would come this early once in 100,000 runs.
    assert max(delays) < 0.1 or sorted(delays)[2] < 0.02


def test_a_feed_survives_its_connection(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    watcher = through(proxy, server, fleet)
    with watcher.feed(watcher.snapshot().seq) as feed:
        feed.read()
        proxy.cut_all()
        ledger.reserve(request("a"))
        assert select.select([feed.fileno()], [], [], 5)[0]
        assert [entry.verb for entry in feed.read()] == ["reserve"]
        # The feed has connected again, and is woken.
        ledger.reserve(request("b"))
        assert select.select([feed.fileno()], [], [], 5)[0]
        assert [entry.verb for entry in feed.read()] == ["reserve"]
