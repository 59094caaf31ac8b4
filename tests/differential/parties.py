# SPDX-License-Identifier: Apache-2.0
"""The parties that must agree with Ray. Each takes rows and reports its disagreements."""

import collections
import json
import os
import re
import subprocess
import tempfile

import model

FAILURE = re.compile(r"^FAIL (\S+) [a-z_]+: (.*)$")
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
REASON = re.compile(r"^ *(\d+)  (.*)$")


def write_rows(path, rows, mode="w"):
    with open(path, mode) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


class Model:
    """The specification itself."""

    name = "model"

    def disagreements(self, rows):
        found = ((row["id"], model.check(row)) for row in rows)
        return {row_id: what for row_id, what in found if what is not None}


class Runner:
    """The vector runner of C. `skipped` counts the rows that it skipped, by reason."""

    name = "c"

    def __init__(self, program):
        self.program = program
        self.skipped = collections.Counter()

    def disagreements(self, rows):
        with tempfile.TemporaryDirectory(prefix="quoit-rows-") as folder:
            path = os.path.join(folder, "rows.ndjson")
            write_rows(path, rows)
            done = subprocess.run(
                [self.program, path],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                errors="replace",
                check=False,
            )
        lines = done.stdout.splitlines()
        closing = CLOSING.match(lines[-1]) if lines else None
        if closing is None:
            return self._crash(rows, done)

        failed = dict(m.groups() for m in map(FAILURE.match, lines) if m)
        if len(failed) != int(closing[2]):
            raise RuntimeError(
                "%s says that %s rows failed, but names %d:\n%s"
                % (self.program, closing[2], len(failed), done.stdout[-2000:])
            )
        for n, reason in (m.groups() for m in map(REASON.match, lines) if m):
            self.skipped[reason] += int(n)
        return failed

    def _crash(self, rows, done):
        """The row that crashes the program."""
        if len(rows) == 1:
            return {rows[0]["id"]: "the runner ended with status %d: %s" % (done.returncode, done.stdout[-500:])}
        middle = len(rows) // 2
        return {**self.disagreements(rows[:middle]), **self.disagreements(rows[middle:])}
