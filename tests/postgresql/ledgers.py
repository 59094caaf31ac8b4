# SPDX-License-Identifier: Apache-2.0
"""What the tests of ledgers in PostgreSQL share."""

from __future__ import annotations

import time

import proxy as proxies
import quoit
import server as servers

NOW_MS = int(time.time() * 1000)


def request(name: str, *, key: str | None = None, slices: int = 1) -> quoit.Request:
    return quoit.Request(name=name, accelerator="v6e", topology="4x4", slices=slices, key=key)


def names(ledger: quoit.Ledger) -> set[str]:
    ledger.refresh()
    return {group.name for group in ledger.snapshot().groups}


def n_entries(server: servers.Server, fleet: str) -> int:
    return int(
        server.sql(
            f"SELECT count(*) FROM quoit.journal j JOIN quoit.fleet f ON f.id = j.fleet WHERE f.name = '{fleet}'"
        )
    )


def through(proxy: proxies.Proxy, server: servers.Server, fleet: str, *, wait_ms: int = 3000) -> quoit.Ledger:
    return quoit.open(server.url(fleet, port=proxy.port), wait_ms=wait_ms)


def is_append(data: bytes) -> bool:
    """Whether the bytes bind the statement q0, which appends entries."""
    return b"\0q0\0" in data
