# SPDX-License-Identifier: Apache-2.0
"""Drivers that are killed while they create the ledger file."""

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
