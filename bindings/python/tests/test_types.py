# SPDX-License-Identifier: Apache-2.0
"""Type checks of the package, and the types that checkers infer from it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import quoit

SOURCES = Path(__file__).resolve().parents[1]


def mypy_errors(tmp_path, *what):
    """The messages of mypy's strict checks, one per error, without file and line."""
    arguments = ["--config-file", str(SOURCES / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache")]
    arguments += ["--no-error-summary", "--hide-error-codes"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments, *what], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(SOURCES / "src")},
    )  # fmt: skip
    assert done.stderr == ""
    return [line.split(": error: ")[-1] for line in done.stdout.splitlines()]


def test_strict_type_checks_pass(tmp_path):
    pytest.importorskip("mypy")
    assert mypy_errors(tmp_path, "-p", "quoit") == []


def test_type_checkers_know_exactly_the_public_names(tmp_path):
    pytest.importorskip("mypy")
    consumer = tmp_path / "consumer.py"
    names = [*quoit.__all__, *quoit._SUBMODULES, "ray.slice_placement_group", "ray_rules.pod_type"]
    consumer.write_text(
        "import quoit\n" + "".join(f"quoit.{name}\n" for name in names) + "with quoit.open_memory() as ledger:\n"
        "    node: quoit.Node = ledger.snapshot().nodes[0]\n"
        "    names: list[str] = [one.name for one in ledger.snapshot().slices[0].nodes]\n"
        "    wrong: int = node.name\n"
        "quoit.Snapshott\n"
    )
    assert mypy_errors(tmp_path, str(consumer)) == [
        'Incompatible types in assignment (expression has type "str", variable has type "int")',
        'Module has no attribute "Snapshott"; maybe "Snapshot"?',
    ]
