# SPDX-License-Identifier: Apache-2.0
"""The sessions in the READMEs show Python's real output. As a program: test_readme.py PAGE FOLDER."""

import doctest
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOP = SOURCE.parent.parent


def session(page):
    """The `pycon` blocks of a page, as one session."""
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return doctest.DocTestParser().get_doctest("".join(blocks), {}, page.name, str(page), 0)


def differences(page, folder):
    """The differences between Python's output and the page, in a folder with the examples next to it."""
    (folder / "examples").symlink_to(TOP / "examples")
    output = []
    before = os.getcwd()
    os.chdir(folder)
    try:
        doctest.DocTestRunner(verbose=False).run(session(page), out=output.append)
    finally:
        os.chdir(before)
    return "".join(output)


def test_the_quick_start_of_the_project_shows_real_output(tmp_path):
    shown = session(TOP / "README.md")
    for step in ("create", "import_raycluster", "reserve", "environment", "explain", "release"):
        assert any(step in example.source for example in shown.examples)
    found = differences(TOP / "README.md", tmp_path)
    assert not found, found


def test_the_quick_start_of_the_package_shows_real_output(tmp_path):
    assert len(session(SOURCE / "README.md").examples) > 5
    found = differences(SOURCE / "README.md", tmp_path)
    assert not found, found


def test_the_page_about_processes_shows_real_output(tmp_path):
    assert len(session(TOP / "docs" / "identity.md").examples) > 5
    found = differences(TOP / "docs" / "identity.md", tmp_path)
    assert not found, found


def test_the_page_about_added_nodes_shows_real_output(tmp_path):
    assert len(session(TOP / "docs" / "added-nodes.md").examples) > 5
    found = differences(TOP / "docs" / "added-nodes.md", tmp_path)
    assert not found, found


def test_the_page_about_sweeps_shows_real_output(tmp_path):
    assert len(session(TOP / "docs" / "sweeps.md").examples) > 5
    found = differences(TOP / "docs" / "sweeps.md", tmp_path)
    assert not found, found


def test_wrong_output_on_a_page_is_detected(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```pycon\n>>> 6 * 7\n41\n```\n", encoding="utf-8")
    assert "Got:\n    42" in differences(page, tmp_path)


if __name__ == "__main__":
    found = differences(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    sys.exit(found or 0)
