# SPDX-License-Identifier: Apache-2.0
"""Drivers that are killed while they create the ledger file."""

import os
import random
import subprocess
import sys
import time

from quoit.ray import ledgers

MAKER = "import sys; from quoit.ray import ledgers; print(flush=True); ledgers._open(sys.argv[1], is_named=True)"


def test_a_driver_that_is_killed_while_it_creates_the_ledger_leaves_no_unusable_file(tmp_path):
    moments = random.Random(1)
    for i in range(20):
        path = str(tmp_path / f"{i}.db")
        with subprocess.Popen([sys.executable, "-c", MAKER, path], stdout=subprocess.PIPE) as maker:
            maker.stdout.readline()
            time.sleep(moments.uniform(0, 0.03))
            maker.kill()
        ledgers._open(path, is_named=True).close()


def test_a_driver_that_is_killed_after_the_link_leaves_no_unusable_file(tmp_path, monkeypatch):
    path = str(tmp_path / "quoit.db")
    with monkeypatch.context() as killed:
        killed.setattr(os, "unlink", lambda name: None)
        ledgers._create_file(path)
    assert os.stat(path).st_nlink == 2
    ledgers._open(path, is_named=True).close()
    assert os.stat(path).st_nlink == 1


def test_a_driver_that_creates_the_ledger_leaves_no_other_files(tmp_path):
    ledgers._open(str(tmp_path / "quoit.db"), is_named=True).close()
    assert [name for name in os.listdir(tmp_path) if ".new" in name] == []
