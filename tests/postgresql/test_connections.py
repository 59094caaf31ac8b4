# SPDX-License-Identifier: Apache-2.0
"""What a ledger in PostgreSQL promises when connections are lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import proxy as proxies
import pytest
import quoit
import server as servers
from ledgers import is_append, n_entries, names, request, through


@pytest.mark.parametrize("is_batch", [False, True], ids=["alone", "in a batch"])
@pytest.mark.parametrize(
    "moment",
    [
        "before the statement",
        "with the statement",
        "after the statement",
        "with half an answer",
    ],
)
def test_a_cut_connection_loses_and_repeats_nothing(
    ledger: quoit.Ledger,
    server: servers.Server,
    proxy: proxies.Proxy,
    fleet: str,
    moment: str,
    is_batch: bool,
) -> None:
    writer = through(proxy, server, fleet)
    state = {"cuts": 0, "sent": False}

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        if state["cuts"]:
            return "pass"
        if way == "to server" and is_append(data):
            state["sent"] = True
            if moment == "before the statement":
                state["cuts"] = 1
                return "cut"
            if moment == "with the statement":
                state["cuts"] = 1
                return "deliver and cut"
        if way == "to client" and state["sent"] and moment in ("after the statement", "with half an answer"):
            state["cuts"] = 1
            return "cut"
        return "pass"

    proxy.decide = decide
    if is_batch:
        with writer.batch():
            writer.reserve(request("a"))
            writer.reserve(request("b"))
    else:
        writer.reserve(request("a"))
        writer.reserve(request("b"))
    assert state["cuts"] == 1
    assert names(ledger) == {"a", "b"}
    assert n_entries(server, fleet) == 3
    ledger.verify()
    writer.verify()


def test_a_change_whose_answer_stays_lost_is_unconfirmed(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    writer = through(proxy, server, fleet, wait_ms=300)

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        if way == "to server" and is_append(data):
            proxy.refuses = True
            return "deliver and cut"
        return "pass"

    proxy.decide = decide
    with pytest.raises(quoit.UnconfirmedError, match="repeat the call with the same request key"):
        writer.reserve(request("a", key="k"))
    proxy.decide = lambda way, data: "pass"
    proxy.refuses = False
    # The key makes the retry safe, whether the change was written or not.
    first = writer.reserve(request("a", key="k"))
    assert writer.reserve(request("a", key="k")).handle == first.handle
    assert names(ledger) == {"a"}


def test_lost_notifications_delay_nothing_that_counts(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    proxy.decide = lambda way, data: "pass" if way == "to server" or not data.startswith(b"A") else "drop"
    for i in range(8):
        ledger.reserve(request(f"g{i}", key=f"k{i}"))
    deaf = through(proxy, server, fleet)
    ledger.release("g3")
    assert deaf.reserve(request("late")).name == "late"
    # The same for an answer that the key gives.
    deaf2 = through(proxy, server, fleet)
    ledger.forget_key("k3")
    with pytest.raises(quoit.NotNowError):
        deaf2.reserve(request("g3", key="k3"))


def test_a_change_does_not_wait_for_the_announcement_of_the_one_before(
    ledger: quoit.Ledger, server: servers.Server, proxy: proxies.Proxy, fleet: str
) -> None:
    """The answer to the announcement is held back until the next change has been sent."""
    handle = through(proxy, server, fleet)
    handle.reserve(request("a"))
    sent, held = threading.Event(), []

    def decide(way: proxies.Direction, data: bytes) -> proxies.Action:
        if way == "to server" and b"NOTIFY quoit" in data:
            sent.clear()
        if way == "to server" and is_append(data):
            sent.set()
        elif way == "to client" and b"NOTIFY\0" in data:
            held.append(sent.wait(5))
        return "pass"

    proxy.decide = decide
    handle.reserve(request("b"))
    handle.reserve(request("c"))
    assert held and all(held)
    assert names(ledger) == {"a", "b", "c"}


def test_an_interrupt_ends_the_wait_for_another_writer(
    ledger: quoit.Ledger, server: servers.Server, fleet: str
) -> None:
    other = quoit.open(server.url(fleet), wait_ms=60000)
    with ledger.batch():
        ledger.reserve(request("a"))
        timer = threading.Timer(0.5, other.interrupt)
        timer.start()
        began = time.monotonic()
        with pytest.raises(quoit.CancelledError):
            other.reserve(request("b"))
        assert time.monotonic() - began < 10
        timer.join()
    assert names(ledger) == {"a"}
    other.reserve(request("b"))


def test_a_wait_for_another_writer_ends(ledger: quoit.Ledger, server: servers.Server, fleet: str) -> None:
    other = quoit.open(server.url(fleet), wait_ms=200)
    with ledger.batch():
        ledger.reserve(request("a"))
        with pytest.raises(quoit.BusyError):
            other.reserve(request("b"))
    assert names(other) == {"a"}


def test_a_writer_that_is_stopped_in_its_lock_holds_up_others_only_until_it_ends(
    ledger: quoit.Ledger, server: servers.Server, fleet: str
) -> None:
    program = (
        "import os, signal, sys, quoit\n"
        f"ledger = quoit.open({server.url(fleet)!r})\n"
        "with ledger.batch():\n"
        "    ledger.reserve(quoit.Request(name='stopped', accelerator='v6e', topology='4x4', slices=1))\n"
        "    print('locked', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "locked\n"
    os.kill(child.pid, signal.SIGSTOP)
    other = quoit.open(server.url(fleet), wait_ms=300)
    with pytest.raises(quoit.BusyError):
        other.reserve(request("a"))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    other.reserve(request("a"))
    assert names(ledger) == {"a"}


def test_a_child_of_fork_is_refused(ledger: quoit.Ledger) -> None:
    ledger.reserve(request("a"))
    pid = os.fork()
    if pid == 0:
        try:
            ledger.reserve(request("child"))
        except quoit.FailedError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    ledger.reserve(request("b"))
    assert names(ledger) == {"a", "b"}
