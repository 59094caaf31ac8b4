# SPDX-License-Identifier: Apache-2.0
"""Compares the package with the recorded answers of the modelled systems, and tests the runner that does this."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[3]
RUNNER = pathlib.Path(__file__).with_name("vectors") / "run.py"
VECTORS = TOP / "tests" / "vectors"

# The number of rows that the runner skips, because Python cannot express them. If the number changes, the interface or
# the rows have changed: look at the skipped rows.
INEXPRESSIBLE = 34

CLOSING = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


def run(*files):
    """Runs the runner. Returns the lines of its output, and the numbers of passed, failed and skipped rows."""
    done = subprocess.run([sys.executable, RUNNER, *files], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    counts = tuple(map(int, CLOSING.fullmatch(lines[-1]).groups())) if lines else ()
    assert done.returncode == (0 if counts and counts[1] == 0 else 1), done.stderr
    return lines, counts


def show(capsys, lines):
    """Prints the counts and the skipped rows for readers of the log."""
    with capsys.disabled():
        print("", *(line for line in lines if not line.startswith("FAIL")), sep="\n")


def test_every_file_of_vectors_gives_the_recorded_answers(capsys):
    # Packings of any grid are inside the library: Python counts the parts of slices that the catalogue has.
    files = [file for file in sorted(VECTORS.glob("*.ndjson")) if file.stem != "packing"]
    lines, (passed, failed, skipped) = run(*files)
    show(capsys, lines)
    assert failed == 0, "\n".join(lines[:20])
    assert passed > 9000
    assert skipped == INEXPRESSIBLE, "\n".join(lines)


# --- the runner itself --------------------------------------------------------------------------------------------


def row(op, given, **answer):
    return {"id": "x", "suite": "s", "op": op, "in": given, **answer}


def refused(name):
    return {"class": name, "message": "any words"}


CHIPS = "accel.get_num_chips_from_topology"
VERSION = "util.get_tpu_version_from_type"
WORKERS = "util.get_tpu_worker_resources"
ONE_WORKER = {"num_workers": 1, "worker_resources": {"CPU": 1, "TPU": 4}}
KEY = "validate_label_key"
ONE_NODE = {"nodes": [{"id": "a", "total": {"CPU": 10000}}], "bundles": [{"CPU": 1}], "strategy": "PACK"}
PLACED = {"answers": [{"result": "SUCCESS", "nodes": [0]}], "deterministic": True, "possible": 1}

PHYSICAL = {"topology": "2x2x1", "chip_grid": "x=last", "host_block": "2x2x1"}

AGREES = [
    row("ray_physical_worker_ids", PHYSICAL, out=[0, 0]),
    row(CHIPS, {"topology": "4x4"}, out=16),
    row(CHIPS, {"topology": "4x4"}, out=16.0),
    row(CHIPS, {"topology": "4x"}, err=refused("ValueError")),
    row(CHIPS, {"topology": "4x"}, err=refused("SomeErrorOfRays")),
    row(VERSION, {"accelerator_type": None}, err=refused("AttributeError")),
    row(WORKERS, {"topology": "2x2", "accelerator_type": "v6e"}, out=ONE_WORKER),
    row(KEY, "a", out=None),
    row(KEY, "-a", out="Invalid label key name"),
    row("fixed_point", float("nan"), out=-(2**63)),
    row("place", ONE_NODE, out=PLACED),
]
DISAGREES = [
    row("ray_physical_worker_ids", PHYSICAL, out=[0, "TypeError: words"]),
    row("ray_physical_worker_ids", PHYSICAL, out=["ValueError: words", 0]),
    row(CHIPS, {"topology": "4x4"}, out=17),
    row(CHIPS, {"topology": "4x4"}, out="16"),
    row(CHIPS, {"topology": "1x1"}, out=True),
    row(CHIPS, {"topology": "4x4"}, err=refused("ValueError")),
    row(CHIPS, {"topology": "4x"}, out=16),
    row(CHIPS, {"topology": "4x"}, err=refused("TypeError")),
    row(CHIPS, {"topology": "4x"}, err=refused("TimeoutError")),
    row(WORKERS, {"topology": "2x2", "accelerator_type": "v6e"}, out={**ONE_WORKER, "num_workers": 2}),
    row(
        WORKERS,
        {"topology": "2x2", "accelerator_type": "v6e"},
        out={"num_workers": 1, "worker_resources": {"TPU": 4, "CPU": 1}},
    ),
    row(KEY, "a", out="Invalid label key name"),
    row(KEY, "-a", out=None),
    row("place", ONE_NODE, out={**PLACED, "deterministic": False, "possible": 2}),
    row("place", ONE_NODE, out={**PLACED, "answers": [{"result": "FAILED"}]}),
    row("place", {**ONE_NODE, "nodes": None}, out=PLACED),
    row(CHIPS, {"topology": "4x4"}),
    {"id": "x"},
    [],
]
SKIPPED = {
    "s no_such_op: not in this release": row("no_such_op", {}, out=1),
    f"s {CHIPS}: an argument that quoit does not have": row(CHIPS, {"topology": "4x4", "more": 1}, out=16),
    f"s {CHIPS}: an input that is no object": row(CHIPS, "4x4", out=16),
    f"s {CHIPS}: text that holds NUL": row(CHIPS, {"topology": "4\0"}, err=refused("ValueError")),
    f"s {CHIPS}: half of a surrogate pair": row(CHIPS, {"topology": "\ud800"}, err=refused("ValueError")),
    f"s {CHIPS}: an integer beyond 64 bits": row(CHIPS, {"topology": "9"}, out=2**63),
    f"s {CHIPS}: a type that quoit refuses: expected a str, not int": row(CHIPS, {"topology": 4}, out=4),
}


@pytest.fixture
def ask(tmp_path):
    def write_and_run(rows):
        path = tmp_path / "rows.ndjson"
        path.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
        return run(path)

    return write_and_run


def test_rows_that_match_pass(ask):
    assert ask(AGREES)[1] == (len(AGREES), 0, 0)


def test_rows_that_differ_fail(ask):
    lines, counts = ask(DISAGREES)
    assert counts == (0, len(DISAGREES), 0), "\n".join(lines)
    assert all(line.startswith("FAIL ") for line in lines[:-1])


def test_inexpressible_rows_are_counted_by_op_and_reason(ask):
    lines, counts = ask([*SKIPPED.values(), SKIPPED["s no_such_op: not in this release"]])
    assert counts == (0, 0, len(SKIPPED) + 1)
    assert lines[0] == "skipped"
    assert {line.split(maxsplit=1)[1] for line in lines[1:-1]} == set(SKIPPED)
    assert "      2  s no_such_op: not in this release" in lines


def test_a_missing_or_invalid_file_fails(ask, tmp_path):
    path = tmp_path / "broken.ndjson"
    path.write_bytes(b'{"id": \n\n\xff\n')
    assert run(path, tmp_path / "none.ndjson")[1] == (0, 3, 0)
