# SPDX-License-Identifier: Apache-2.0
"""Feeds: journal entries that can be waited for, in this process and in others."""

import asyncio
import os
import select
import subprocess
import sys

import pytest

import quoit

NOW = 1_800_000_000_000

WRITER = """
import sys, quoit
with quoit.open(sys.argv[1], wait_ms=20_000) as ledger:
    for at in range(40):
        ledger.set_node_state("v6e-4x4-0-0", quoit.NodeState(at % 2), now_ms=1_800_000_000_000)
"""


@pytest.fixture(params=["file", "memory"])
def ledger(request, tmp_path):
    with quoit.create(tmp_path / "fleet.db") if request.param == "file" else quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x2", now_ms=NOW)
        yield opened


def is_readable(feed, wait=0.0):
    return select.select([feed], [], [], wait) == ([feed], [], [])


def test_a_feed_is_readable_with_each_entry(ledger):
    with ledger.feed(0) as feed:
        assert is_readable(feed) and feed.seq == 0
        assert [entry.verb for entry in feed.read()] == ["import"]
        assert not is_readable(feed)
        ledger.drain_node("v6e-4x4-0-0", now_ms=NOW)
        ledger.undrain_node("v6e-4x4-0-0", now_ms=NOW)
        assert is_readable(feed, 20)
        assert [entry.verb for entry in feed.read()] == ["drain", "undrain"]
        assert feed.read() == () and feed.seq == 3
        with ledger.batch(), pytest.raises(quoit.ConflictError):
            feed.read()
        assert is_readable(feed)
    for use in (feed.read, feed.fileno, lambda: feed.seq, feed.__enter__):
        with pytest.raises(quoit.InvalidError, match="the feed has been closed"):
            use()


def test_a_feed_behind_a_compaction_is_told(ledger):
    feed = ledger.feed(0)
    ledger.drain_node("v6e-4x4-0-0", now_ms=NOW)
    ledger.compact_journal(2, now_ms=NOW)
    with pytest.raises(quoit.NotFoundError, match="the first stored entry is 2"):
        feed.read()
    assert [entry.seq for entry in ledger.feed(1).read()] == [2]


def test_a_feed_follows_another_process(tmp_path):
    path = tmp_path / "fleet.db"
    with quoit.create(path) as ledger:
        ledger.import_fleet_text("v6e 4x4 x2", now_ms=NOW)
        with ledger.feed(1) as feed, subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) as writer:
            while feed.seq < 40:
                assert is_readable(feed, 20), feed.seq
                feed.read()
            assert writer.wait() == 0
        assert ledger.snapshot().seq == 40


def test_asyncio_accepts_a_feed(ledger):
    async def follow():
        seen, loop, feed = asyncio.Queue(), asyncio.get_running_loop(), ledger.feed(1)
        loop.add_reader(feed, lambda: [seen.put_nowait(entry.seq) for entry in feed.read()])
        await asyncio.to_thread(ledger.drain_node, "v6e-4x4-0-0", now_ms=NOW)
        assert await asyncio.wait_for(seen.get(), 20) == 2
        loop.remove_reader(feed)

    asyncio.run(follow())


def test_a_forked_child_cannot_use_a_feed(ledger):
    feed = ledger.feed(1)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            feed.read()
        except quoit.FailedError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    ledger.drain_node("v6e-4x4-0-0", now_ms=NOW)
    assert [entry.seq for entry in feed.read()] == [2]


def test_bad_arguments_are_refused(ledger):
    with pytest.raises(TypeError, match="Ledger.feed"):
        quoit.Feed(3)
    with pytest.raises(TypeError, match="seq"):
        ledger.feed("1")
    with pytest.raises(quoit.InvalidError, match="seq"):
        ledger.feed(-1)
    ledger.close()
    with pytest.raises(quoit.InvalidError, match="closed"):
        ledger.feed(0)
