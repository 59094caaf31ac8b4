# SPDX-License-Identifier: Apache-2.0
"""Random fleets and requests: compares quoit's answers with those of Ray's own server.

Each case depends on the seed and its number only. The real gcs_server answers it, the answers become rows in the form
of the vectors, and all parties must agree with them. Cases with disagreements are shrunk and printed. The last line is
`N cases, M disagreements`; the exit status is 1 if M is not 0.
"""

import argparse
import collections
import json
import multiprocessing
import multiprocessing.util
import os
import signal
import sys

import draw
import grpc
import parties
import shrink
from ask import Ray
from gcs_oracle import SERVER_HAS_TOPOLOGY, OracleError

# Cases per chunk for a worker and for the runner.
CHUNK = 50
ray = None


def start_worker():
    global ray
    ray = Ray()
    multiprocessing.util.Finalize(None, ray.close, exitpriority=1)
    # The interrupted parent ends the workers, so that no server outlives them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


def rows_of(asked_ray, case):
    """Runs a case again on another server if the first one is slow or has ended."""
    try:
        return asked_ray.rows(case)
    except (OracleError, grpc.RpcError):
        return asked_ray.rows(case)


def ask_chunk(task):
    """(case, rows or None, error) for each case."""
    seed, numbers = task
    asked = []
    for number in numbers:
        case = draw.draw(seed, number)
        try:
            asked.append((case, rows_of(ray, case), None))
        except (OracleError, grpc.RpcError) as error:
            asked.append((case, None, "Ray could not be asked: %s" % error))
    return asked


class Tally:
    """The findings so far. A case counts as one disagreement, regardless of the number of its rows or parties."""

    def __init__(self, judges, rows_path):
        self.judges, self.rows_path = judges, rows_path
        self.n_cases, self.n_rows = 0, 0
        self.found = []  # (case, party or None, description)
        self.results = collections.Counter()

    def add(self, asked):
        rows = [row for _, case_rows, _ in asked for row in case_rows or ()]
        parties.write_rows(self.rows_path, rows, mode="a")
        findings = [(judge, judge.disagreements(rows)) for judge in self.judges]
        for case, case_rows, error in asked:
            found = [(case, None, error)] if error else first_found(case, case_rows, findings)
            self.found += found
            for case_disagreement in found:
                print("DISAGREE %s: %s" % (case["id"], case_disagreement[2]), flush=True)
        self.n_cases += len(asked)
        self.n_rows += len(rows)
        self.results.update(row["out"]["answers"][0]["result"] for row in rows if row["op"] == "place")


def first_found(case, rows, findings):
    for judge, what in findings:
        for row in rows:
            if row["id"] in what:
                return [(case, judge, "%s: %s" % (judge.name, what[row["id"]]))]
    return []


def smallest(case, judge):
    """Shrinks the case. Returns the disagreeing row of the smallest case, or None if a second run agrees."""
    asked_ray = Ray()

    def disagreement(tried):
        try:
            rows = rows_of(asked_ray, tried)
        except (OracleError, grpc.RpcError):
            return None
        found = judge.disagreements(rows)
        return next((row for row in rows if row["id"] in found), None)

    try:
        return shrink.shrink(case, disagreement)
    finally:
        asked_ray.close()


def show_smallest(found, path):
    """Shrinks these cases, prints them and writes them to `path`."""
    rows = []
    for case, judge, _ in found:
        row = smallest(case, judge) if judge else None
        if row is None:
            print("%s: agreed in a second run" % case["id"])
            continue
        rows.append(row)
        print("smallest of %s, against %s:\n%s" % (case["id"], judge.name, json.dumps(row)))
    parties.write_rows(path, rows)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("'%s': expected a number of at least 1" % text)
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(prog="differential", description=__doc__.split("\n")[0])
    parser.add_argument("--cases", type=positive, default=1000, metavar="N", help="the number of cases (1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the seed of the cases (1)")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="the number of the first case (0)")
    parser.add_argument(
        "--against",
        choices=("c", "model", "all"),
        default="all",
        help="the C runner, the specification in model.py, or both (all)",
    )
    parser.add_argument("--runner", metavar="PROGRAM", help="the C runner, tests/vectors/run of a build")
    parser.add_argument("--output", default=".", metavar="FOLDER", help="the folder for rows and disagreements (.)")
    parser.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="the number of Ray servers that run at the same time (1)"
    )
    parser.add_argument(
        "--shrink",
        type=int,
        default=5,
        metavar="N",
        help="how many disagreements are shrunk, starting with the first (5)",
    )
    options = parser.parse_args()
    if options.against != "model" and not options.runner:
        parser.error("--against %s: expected --runner" % options.against)
    return options


def main():
    options = parse_arguments()
    if not SERVER_HAS_TOPOLOGY:
        print(
            "cannot be asked: the server of this Ray has no topology of bundles, which the cases use", file=sys.stderr
        )
        return 77
    runner = parties.Runner(options.runner) if options.against != "model" else None
    judges = ([runner] if runner else []) + ([parties.Model()] if options.against != "c" else [])
    os.makedirs(options.output, exist_ok=True)
    rows_path = os.path.join(options.output, "rows-%d.ndjson" % options.seed)
    parties.write_rows(rows_path, [])
    tally = Tally(judges, rows_path)

    numbers = range(options.first, options.first + options.cases)
    tasks = [(options.seed, numbers[i : i + CHUNK]) for i in range(0, len(numbers), CHUNK)]
    with multiprocessing.get_context("spawn").Pool(min(options.jobs, len(tasks)), start_worker) as pool:
        for asked in pool.imap(ask_chunk, tasks):
            tally.add(asked)
        pool.close()
        pool.join()

    skipped = dict(runner.skipped) if runner else {}
    show_smallest(tally.found[: options.shrink], os.path.join(options.output, "disagreements-%d.ndjson" % options.seed))
    print(
        "%d rows in %s: %s; the rest are sequences"
        % (tally.n_rows, rows_path, ", ".join("%d %s" % (n, result) for result, n in sorted(tally.results.items())))
    )
    for reason, n in skipped.items():
        print("%d rows skipped by the runner: %s" % (n, reason))
    print("%d cases, %d disagreements" % (tally.n_cases, len(tally.found)))
    return 1 if tally.found else 0


if __name__ == "__main__":
    sys.exit(main())
