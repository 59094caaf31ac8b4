# SPDX-License-Identifier: Apache-2.0
"""Runs the code of docs/from-ray-tpu.md, and examples/train.py, in a new driver process."""

from __future__ import annotations

import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow", reason="Ray Train is not installed: ray[train]==2.60.0")
pytest.importorskip("jax")
ray = pytest.importorskip("ray", "2.55.0")

from ray.util import tpu  # noqa: E402

import quoit  # noqa: E402
import quoit.ray  # noqa: E402
import quoit.ray_rules  # noqa: E402
from quoit.ray import train  # noqa: E402

pytest_plugins = ("pairs",)

TOP = pathlib.Path(__file__).resolve().parents[4]
PAGE = (TOP / "docs" / "from-ray-tpu.md").read_text()


def public(owner):
    """The public members that a module or class itself defines."""
    return [name for name, value in vars(owner).items() if name[0] != "_" and not inspect.ismodule(value)]


def test_the_page_has_every_call_of_ray_util_tpu_and_every_attribute_of_its_groups():
    calls = [name for name in public(tpu) if getattr(vars(tpu)[name], "__module__", "") == "ray.util.tpu"]
    assert {"slice_placement_group", "run_on_slice", "get_num_ready_tpu_slices"} <= set(calls)
    lacking = [name for name in calls if not re.search(rf"`{name}\b", PAGE)]
    lacking += [name for name in public(tpu.SlicePlacementGroup) if not re.search(rf"`\.{name}\b", PAGE)]
    assert lacking == []


def test_every_quoit_name_on_the_page_exists():
    shown = set(re.findall(r"\b(quoit\.ray|quoit|ray_rules)\.([A-Za-z_]+)", PAGE)) - {("quoit", "db"), ("quoit", "ray")}
    owners = {"quoit": quoit, "quoit.ray": quoit.ray, "ray_rules": quoit.ray_rules}
    shown -= {("quoit.ray", "train")}
    assert len(shown) > 15
    assert [f"{owner}.{name}" for owner, name in shown if not hasattr(owners[owner], name)] == []
    assert [
        name
        for name in re.findall(r"^from quoit\.ray\.train import (.*)$", PAGE, re.MULTILINE)[0].split(", ")
        if not hasattr(train, name)
    ] == []


def run(pairs, folder, *arguments):
    """Runs a Python program as a driver, which must succeed. Returns its output.

    The program gets the cluster's address and the path of a ledger from the environment.
    """
    environment = {
        **os.environ,
        "RAY_ADDRESS": pairs.address,
        "QUOIT_DB": str(folder / "fleet.db"),
        "HOME": str(folder),
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def held(folder):
    with quoit.open(str(folder / "fleet.db")) as ledger:
        return [one.name for one in ledger.snapshot().groups if one.slices]


def test_every_snippet_of_coming_from_ray_util_tpu_runs(pairs, tmp_path):
    snippets = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(snippets) == PAGE.count("```python")
    shown = "\n".join(snippets) + "\nprint(apart, joined, second, sep='|')\n"
    script = tmp_path / "page.py"
    script.write_text(shown)
    apart, joined, second = run(pairs, tmp_path, str(script)).splitlines()[-1].split("|")
    places = [("s-9", "0"), ("s-9", "1"), ("s-10", "0"), ("s-10", "1")]
    assert apart == str([(name, worker, None) for name, worker in places])
    assert joined == str([(name, worker, str(index // 2)) for index, (name, worker) in enumerate(places)])
    assert second == str([(name, worker, None) for name, worker in places[2:]])
    assert held(tmp_path) == []


def test_the_example_trains_loses_a_host_repairs_and_continues(losing, tmp_path):
    arguments = "--topology 2x2x2 --accelerator v4 --slices 2 --steps 4 --lose-a-host --ledger fleet.db --storage"
    printed = run(losing, tmp_path, str(TOP / "examples" / "train.py"), *arguments.split(), str(tmp_path / "results"))
    # Ray prints long messages about the terminated raylet. Only the lines of the example count.
    lines = [line for line in printed.splitlines() if line.split(":")[0] in ("reserved", "lost", "repaired", "trained")]
    assert len(lines) == 4
    assert lines[0] == "reserved: s-9 s-10"
    assert lines[1].startswith("lost: slices 's-9', 's-10': ")
    assert lines[2] == "repaired: s-10 s-11"
    assert lines[3] == "trained: step 4, weight 4, on 2 slices"
    assert held(tmp_path) == []
