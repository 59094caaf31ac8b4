# SPDX-License-Identifier: Apache-2.0
"""URLs and names of fleets in PostgreSQL."""

from __future__ import annotations

import pytest
import quoit
import server as servers


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://127.0.0.1/postgres",
        "postgresql://127.0.0.1/postgres#",
        "postgres://h/d#a b",
    ],
)
def test_a_url_names_a_fleet(url: str) -> None:
    with pytest.raises(quoit.InvalidError, match="expected the name of a fleet"):
        quoit.open(url)


def test_errors_do_not_show_passwords(server: servers.Server, ledger: quoit.Ledger) -> None:
    with pytest.raises(quoit.NotFoundError) as caught:
        quoit.open(server.url("absent", user="quoit:secret"))
    assert "secret" not in str(caught.value)
    assert "no fleet 'absent'" in str(caught.value)
    with pytest.raises(quoit.StoreError) as caught2:
        quoit.open(
            f"postgresql://quoit:secret@127.0.0.1:{servers.free_port()}/postgres#tpus",
            wait_ms=0,
        )
    assert "secret" not in str(caught2.value)
    for url in (
        "postgresql://u:50%secret@h/d#t",
        "postgresql://u:p#secret@h/d",
        "postgresql://u:secret@[::h/d#t",
    ):
        with pytest.raises(quoit.InvalidError) as caught3:
            quoit.open(url)
        assert "secret" not in str(caught3.value)


def test_a_fleet_is_created_once(server: servers.Server, ledger: quoit.Ledger, fleet: str) -> None:
    with pytest.raises(quoit.ConflictError, match="already"):
        quoit.create(server.url(fleet))
