# SPDX-License-Identifier: Apache-2.0
"""run.py FILE.ndjson...: compares the answers of the Python package with recorded answers of the modelled systems.

The other modules of this folder that have ``OPS`` compute the package's answers; see rows.py.
"""

import builtins
import collections
import importlib
import json
import pathlib
import re
import sys

from rows import Disagreement, Skip

import quoit

HERE = pathlib.Path(__file__).resolve().parent
CLASSES = HERE.parents[3] / "tests" / "vectors" / "classes"

Op = collections.namedtuple("Op", "answer same_order refusals")

# Matches the package's message for an argument of a wrong type.
REFUSED_TYPE = re.compile(r".*: (expected .*, not \w+)", re.DOTALL)


def all_ops():
    ops = {}
    for path in sorted(HERE.glob("*.py")):
        if path.stem == "run":
            continue
        module = importlib.import_module(path.stem)
        for name, answer in getattr(module, "OPS", {}).items():
            if name in ops:
                raise ValueError(f"{path.name}: op '{name}': expected one function, found another")
            same_order, refusals = (name in getattr(module, which, ()) for which in ("SAME_ORDER", "REFUSALS"))
            ops[name] = Op(answer, same_order, refusals)
    return ops


def read_classes(path=CLASSES):
    """For each exception class of the modelled systems, the Python class to expect; "*" is for all other classes."""
    lines = (line.split("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return {words[0]: getattr(quoit, words[2], None) or getattr(builtins, words[2]) for words in lines if words}


# --- values of a row ------------------------------------------------------------------------------------------------


def why_not_in_c(value):
    """Returns the reason why C cannot represent a value of a row, or None."""
    if isinstance(value, dict):
        return next(filter(None, (why_not_in_c(one) for pair in value.items() for one in pair)), None)
    if isinstance(value, list):
        return next(filter(None, map(why_not_in_c, value)), None)
    if isinstance(value, str):
        if "\0" in value:
            return "text that holds NUL"
        return "half of a surrogate pair" if any("\ud800" <= one <= "\udfff" for one in value) else None
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return "an integer beyond 64 bits"
    return None


def is_row(row):
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(member), str) for member in ("id", "suite", "op"))
        and "in" in row
        and ("out" in row) != ("err" in row)
    )


# --- comparison -----------------------------------------------------------------------------------------------------


class Comparison:
    """Compares the package's answers to an op with recorded answers."""

    def __init__(self, op, classes):
        self.op = op
        self.classes = classes

    def expected_class(self, name):
        return self.classes.get(name, self.classes["*"])

    def are_equal(self, got, recorded):
        if self.op.refusals and isinstance(got, dict) and "error" in got and isinstance(recorded, str):
            recorded = {"error": recorded.partition(":")[0]}  # rows can record a refusal as "ValueError: ..."
        if isinstance(got, dict) and isinstance(recorded, dict):
            return self.are_objects_equal(got, recorded)
        if isinstance(got, (list, tuple)) and isinstance(recorded, list):
            return len(got) == len(recorded) and all(map(self.are_equal, got, recorded))
        if isinstance(got, (int, float)) and isinstance(recorded, (int, float)):
            return isinstance(got, bool) == isinstance(recorded, bool) and got == recorded
        return type(got) is type(recorded) and got == recorded

    def are_objects_equal(self, got, recorded):
        if self.op.refusals and "error" in got and "error" in recorded:
            return got["error"] == self.expected_class(recorded["error"]).__name__
        if self.op.same_order and list(got) != list(recorded):
            return False
        return got.keys() == recorded.keys() and all(self.are_equal(got[member], recorded[member]) for member in got)

    def recorded_class(self, row):
        """The Python class to expect if the whole row is a refusal, or None."""
        if "err" in row:
            return self.expected_class(row["err"]["class"])
        if self.op.refusals and isinstance(row["out"], str):
            return self.expected_class("a refusal in words")
        return None

    def check_error(self, error, row):
        """Raises Disagreement if the row records no such refusal; or Skip if quoit refuses the type of an argument."""
        wanted = self.recorded_class(row)
        if wanted is not None and isinstance(error, wanted):
            return
        refused_type = REFUSED_TYPE.fullmatch(str(error)) if isinstance(error, TypeError) else None
        if refused_type:
            raise Skip(f"a type that quoit refuses: {refused_type[1]}")
        raise Disagreement(f"{type(error).__name__}: {error}")


def check(row, op, classes):
    """Runs quoit for the row. Raises Disagreement if its answer differs, or Skip if the answers cannot be compared."""
    comparison = Comparison(op, classes)
    try:
        got = op.answer(row["in"], row.get("out"))
    except (quoit.Error, TypeError) as error:
        comparison.check_error(error, row)
        return
    if "err" in row or not comparison.are_equal(got, row["out"]):
        raise Disagreement(json.dumps(got, ensure_ascii=False, default=repr))


# --- counting -----------------------------------------------------------------------------------------------------


class Tally:
    """The numbers of rows that passed, failed and were skipped."""

    def __init__(self):
        self.passed = self.failed = 0
        self.skipped = collections.Counter()

    def fail(self, line):
        self.failed += 1
        print(f"FAIL {line}")

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {sum(self.skipped.values())} skipped"


class Runner:
    """Runs lines and files of rows."""

    def __init__(self):
        self.ops = all_ops()
        self.classes = read_classes()
        self.tally = Tally()

    def run_row(self, row):
        reason = "not in this release" if row["op"] not in self.ops else why_not_in_c([row["in"], row.get("out")])
        try:
            if reason:
                raise Skip(reason)
            check(row, self.ops[row["op"]], self.classes)
            self.tally.passed += 1
        except Skip as skip:
            self.tally.skipped[f"{row['suite']} {row['op']}: {skip}"] += 1
        except Exception as got:  # an error in a module of ops is a failure of its row
            answer = str(got) if isinstance(got, Disagreement) else repr(got)
            expected = json.dumps(row.get("out", row.get("err")), ensure_ascii=False)
            self.tally.fail(f"{row['id']} {row['op']}: got {answer}, expected {expected}")

    def run_line(self, place, line):
        try:
            row = json.loads(line.decode())
        except ValueError as error:
            return self.tally.fail(f"{place}: not a vector: {error}")
        if not is_row(row):
            return self.tally.fail(f"{place}: not a vector: a member is missing")
        return self.run_row(row)

    def run_file(self, path):
        try:
            with open(path, "rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        self.run_line(f"{path}:{number}", line)
        except OSError as error:
            self.tally.fail(f"{path}: {error}")


def main(paths):
    runner = Runner()
    for path in paths:
        runner.run_file(path)
    if runner.tally.skipped:
        print("skipped")
    for reason, n_rows in sorted(runner.tally.skipped.items()):
        print(f"{n_rows:7}  {reason}")
    print(runner.tally)
    return 0 if runner.tally.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
