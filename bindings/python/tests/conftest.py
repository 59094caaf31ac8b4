# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures and settings."""

import signal

import pytest

# If a shell has started pytest in the background, SIGINT is ignored, also in child processes. Tests need it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rays(monkeypatch):
    """A simulated Ray cluster."""
    from rays import stand_in

    with stand_in(monkeypatch) as made:
        yield made


@pytest.fixture
def path(tmp_path):
    """The path of a ledger that does not exist yet."""
    return tmp_path / "fleet.db"
