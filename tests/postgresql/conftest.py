# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Iterator

import proxy as proxies
import pytest
import quoit
import server as servers

FLEET = "v6e 4x4 x8"
_numbers = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[servers.Server]:
    server = servers.Server()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def fleet() -> str:
    return f"fleet-{next(_numbers)}"


@pytest.fixture
def proxy(server: servers.Server) -> Iterator[proxies.Proxy]:
    proxy = proxies.Proxy(server.port)
    yield proxy
    proxy.close()


@pytest.fixture
def ledger(server: servers.Server, fleet: str) -> quoit.Ledger:
    ledger = quoit.create(server.url(fleet), wait_ms=2000)
    ledger.import_fleet_text(FLEET)
    return ledger


@pytest.fixture
def own_server() -> Iterator[servers.Server]:
    server = servers.Server("checkpoint_timeout = 30s")
    server.start()
    yield server
    server.remove()
