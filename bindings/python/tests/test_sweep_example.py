# SPDX-License-Identifier: Apache-2.0
"""The example of a sweep runs, and the plots in docs/ are those that it writes."""

import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest

TOP = pathlib.Path(__file__).resolve().parents[3]
PLOTS = ("sweep-jobs.svg", "sweep-share.svg")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the example writes."""
    folder = tmp_path_factory.mktemp("plots")
    done = subprocess.run(
        [sys.executable, str(TOP / "examples" / "sweep.py"), "--plots", str(folder), "--out", str(folder / "out")],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "table").write_text(done.stdout)
    return folder


@pytest.mark.parametrize("name", PLOTS)
def test_the_plots_of_the_page_are_those_of_the_example(folder, name):
    assert (folder / name).read_text() == (TOP / "docs" / name).read_text()
    root = xml.etree.ElementTree.parse(folder / name).getroot()
    assert root.tag.endswith("}svg") and len(root.findall("{*}polyline")) >= 2
    assert name in (TOP / "docs" / "sweeps.md").read_text()


def test_the_page_states_what_the_plots_show(folder):
    rows = [line.split() for line in (folder / "table").read_text().splitlines()[2:]]
    means = {int(row[0]): (float(row[1]), float(row[5])) for row in rows}
    assert len((folder / "out" / "results.jsonl").read_text().splitlines()) == 1_360
    page = (TOP / "docs" / "sweeps.md").read_text()
    assert "runs 1,360 cases" in page
    assert f"With 32 of 512 hosts dead, {means[32][0]:.0f} jobs fit in any pools, and {means[32][1]:.0f} if" in page
