# SPDX-License-Identifier: Apache-2.0
"""The API reference contains everything public."""

import html
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quoit

SCRIPT = Path(__file__).resolve().parents[1] / "reference.py"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    pytest.importorskip("pdoc")
    if sys.version_info < (3, 10):
        pytest.skip("pdoc reads annotations, which are those of Python 3.10")
    folder = tmp_path_factory.mktemp("reference")
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {path.relative_to(folder).with_suffix(""): path.read_text() for path in folder.rglob("*.html")}


def members(prefix, value):
    """The name of the object at `prefix`, and for a class those of its public members."""
    yield prefix
    if inspect.isclass(value):
        for name, one in vars(value).items():
            if not name.startswith("_") and (callable(one) or isinstance(one, (property, staticmethod, classmethod))):
                yield f"{prefix}.{name}"


def test_every_public_name_is_on_a_page(pages):
    page = pages[Path("quoit")]
    names = [name for public in quoit.__all__ for name in members(public, getattr(quoit, public))]
    assert {"Ledger.reserve", "Snapshot.explain", "topology", "Report.summary"} <= set(names)
    assert [name for name in names if f'id="{name}"' not in page] == []


@pytest.mark.parametrize("module", ["ray", "ray_rules"])
def test_every_public_name_of_a_module_is_on_its_page(pages, module):
    loaded = importlib.import_module(f"quoit.{module}")
    names = [name for public in loaded.__all__ for name in members(public, getattr(loaded, public))]
    assert len(names) > 10
    assert [name for name in names if f'id="{name}"' not in pages[Path("quoit") / module]] == []


@pytest.mark.parametrize(
    "module",
    ["catalogue", "coordinates", "identity", "kuberay", "maxtext", "meshes", "ray_rules", "webhook"],
)
def test_a_module_has_its_page(pages, module):
    page = pages[Path("quoit") / module]
    loaded = importlib.import_module(f"quoit.{module}")
    for name, one in vars(loaded).items():
        if inspect.isfunction(one) and one.__module__ == loaded.__name__ and not name.startswith("_"):
            assert f'id="{name}"' in page
    assert len(page) > 10_000


def test_internal_modules_have_no_page(pages):
    text = html.unescape(" ".join(pages.values()))
    assert "lib.quoit_" not in text
    assert "cdata" not in text
    assert "handle: Any" not in re.sub(r"<[^>]*>", "", text)
    assert set(re.findall(r'id="[\w.]*\.(_\w+)"', text)) <= {"__init__"}


def test_exceptions_are_formatted_as_lists(pages):
    """The Raises sections of docstrings are rendered as lists."""
    page = pages[Path("quoit")]
    assert page.count(">Raises:</h6>") > 40
    assert "Raises:\n" not in page


def test_without_a_folder_the_usage_is_shown():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: reference.py" in done.stderr
