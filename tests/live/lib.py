# SPDX-License-Identifier: Apache-2.0
"""Counts checks, and runs the command on a ledger of its own."""

import json
import os
import queue
import subprocess
import sys
import threading
import time

QUOIT = os.environ["QUOIT"]


class Lines:
    """The lines that a process prints, read by a thread, so that waiting for one can end."""

    def __init__(self, process):
        self.lines = queue.Queue()
        threading.Thread(target=self.read, args=(process.stdout,), daemon=True).start()

    def read(self, stream):
        for line in stream:
            self.lines.put(line)

    def find(self, text, within_s=60):
        """Returns the next line with the text; \"\" after `within_s`."""
        end = time.monotonic() + within_s
        while True:
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                return ""
            if text in line:
                return line


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, sentence, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print("FAIL: %s\n      %s" % (sentence, detail), flush=True)

    def finish(self):
        print("%d passed, %d failed" % (self.passed, self.failed), flush=True)
        sys.exit(self.failed > 0)


class Ledger:
    """A new ledger in a folder. PATH has `programs` first."""

    def __init__(self, folder, programs, **variables):
        self.path = os.path.join(folder, "ledger-%d.db" % len(os.listdir(folder)))
        self.environment = dict(
            os.environ,
            QUOIT_DB=self.path,
            PATH=programs + ":" + os.environ["PATH"],
            **variables,
        )
        assert self.run("init").returncode == 0

    def run(self, *words):
        return subprocess.run(
            [QUOIT, *words],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *words):
        return subprocess.Popen(
            [QUOIT, *words],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def json(self, *words):
        done = self.run(*words, "-o", "json")
        assert done.returncode == 0, (words, done.returncode, done.stderr)
        return json.loads(done.stdout)
