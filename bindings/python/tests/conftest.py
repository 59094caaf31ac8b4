# SPDX-License-Identifier: Apache-2.0
"""What holds for all tests."""

import signal

import pytest

# A shell starts what runs in its background with Ctrl-C ignored, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def rays(monkeypatch):
    """A stand-in for a Ray cluster."""
    from rays import stand_in

    with stand_in(monkeypatch) as made:
        yield made


@pytest.fixture
def path(tmp_path):
    """Of a ledger that is not there yet."""
    return tmp_path / "fleet.db"
