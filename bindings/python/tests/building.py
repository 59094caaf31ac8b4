# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of building and installing."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOP = SOURCE.parent.parent


def run_command(command, **environment):
    """Returns the exit status and the whole output of a command.

    The environment of the command makes pip non-interactive, lets pkg-config find the library of this build, and lacks
    this process's settings for the places of packages and libraries.
    """
    known = os.environ.get("PKG_CONFIG_PATH", "")
    if "top_builddir" in os.environ:
        build = os.environ["top_builddir"]  # noqa: SIM112
        known = f"{build}/bindings/python/prefix/lib/pkgconfig:{known}"
    settings = {"PKG_CONFIG_PATH": known, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", **environment}
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=alone(**settings),
        check=False,
    )
    return done.returncode, done.stdout


def installs(command, **environment):
    """Runs a command that needs the package index; skips the test if the index is unreachable."""
    status, text = run_command(command, **environment)
    if status != 0 and ("No matching distribution" in text or "Could not find a version" in text):
        pytest.skip("the package index cannot be reached")
    assert status == 0, text


def alone(**environment):
    """This process's environment with changes, without its settings for the places of libraries and packages."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    return {**inherited, **environment}
