# SPDX-License-Identifier: Apache-2.0
"""Plays typical failures of shared TPU clusters on a real Ray cluster of eight simulated TPU hosts, with Ray's helper
and with quoit.

The last line is `N passed, M failed`. A check is a sentence about the answers to quoit's callers. The results of Ray's
helper are shown but not checked.
"""

import argparse
import os
import sys
import tempfile
import time

import report
import speed
from situations import SITUATIONS
from stage import SETUPS, Stage, Stuck

SIDES = ("ray", "quoit")
PLANTED = next(one for one in SITUATIONS if one.name == "how-many-are-ready")
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "ray.md")


class Run:
    """Plays situations and stores their outcomes."""

    def __init__(self):
        self.outcomes = {}  # (situation, side): Outcome
        self.n_passed = self.n_failed = 0

    def count(self, sentence, holds):
        self.n_passed, self.n_failed = self.n_passed + bool(holds), self.n_failed + (not holds)
        if not holds:
            print("FAIL %s" % sentence, flush=True)

    def play(self, fleet, situation, side):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="ql") as folder, Stage(fleet, situation.setup, side, folder) as stage:
            try:
                outcome = situation.play(stage)
            except (Stuck, TimeoutError):
                print("".join(stage.log_tail()), file=sys.stderr)
                raise
        self.outcomes[situation.name, side] = outcome
        print("  %-7s  %s (%.1f s)" % (side, outcome.summary, time.monotonic() - began), flush=True)
        if side != "quoit":
            return outcome
        for sentence, holds in outcome.claims:
            self.count("%s: %s" % (situation.name, sentence), holds)
        if not all(holds for _, holds in outcome.claims):
            print("\n".join(stage.transcript))
        return outcome

    def check_planted(self, fleet, situation):
        """Checks that a side with a planted defect is detected."""
        outcome = self.play(fleet, situation, "planted")
        self.count(
            "%s: a side that counts as Ray does is detected" % situation.name,
            not all(holds for _, holds in outcome.claims),
        )

    def play_all(self, chosen, sides, extra_setup=None, extra=None):
        """Builds each cluster once, plays its situations with each side, and stops it. Before `extra_setup` is stopped,
        calls extra(fleet).
        """
        for setup in SETUPS:
            situations = [situation for situation in chosen if situation.setup is setup]
            if not situations and setup is not extra_setup:
                continue
            print("building %s" % setup.title, flush=True)
            with setup.build() as fleet:
                for situation in situations:
                    print("%s: %s" % (situation.name, situation.title))
                    for side in sides:
                        self.play(fleet, situation, side)
                if setup is extra_setup:
                    extra(fleet)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="./dev differential --cluster", description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        choices=[one.name for one in SITUATIONS] + [speed.NAME],
        help="play this situation, or measure '%s'; can be repeated" % speed.NAME,
    )
    parser.add_argument("--smoke", action="store_true", help="a few situations, with quoit alone: half a minute")
    parser.add_argument("--write", action="store_true", help="write the tables to docs/ray.md")
    arguments = parser.parse_args()
    if arguments.write and (arguments.only or arguments.smoke):
        parser.error("--write: expected no other option, because the page shows a complete run")
    return arguments


def main():
    arguments = parse_arguments()
    sides = ["quoit"] if arguments.smoke else SIDES
    named = arguments.only or [one.name for one in SITUATIONS if one.smoke or not arguments.smoke] + [speed.NAME]
    chosen = [one for one in SITUATIONS if one.name in named]
    run, measured = Run(), {}
    if speed.NAME in named and not arguments.smoke:
        run.play_all(chosen, sides, speed.SETUP, lambda fleet: measured.update(speed.measure(fleet)))
    elif arguments.smoke:
        run.play_all(chosen, sides, PLANTED.setup, lambda fleet: run.check_planted(fleet, PLANTED))
    else:
        run.play_all(chosen, sides)

    tables = {}
    if chosen and not arguments.smoke:
        tables["situations"] = report.situations(chosen, sides, run.outcomes)
    if measured:
        tables["speeds"] = report.speeds(measured)
        for sentence, holds in speed.claims(measured):
            print(sentence)
            run.count(sentence, holds)
    for table in tables.values():
        print(table, end="\n\n")
    if arguments.write:
        report.write(PAGE, **tables)
    print("%d passed, %d failed" % (run.n_passed, run.n_failed))
    return 1 if run.n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
