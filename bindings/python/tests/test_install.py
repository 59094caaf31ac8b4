# SPDX-License-Identifier: Apache-2.0
"""pip builds the package if pkg-config finds libquoit. Otherwise the build prints what to do."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

import pytest
from building import SOURCE, TOP, alone, installs, run_command

RESERVES = """
import quoit
with quoit.open_memory() as ledger:
    ledger.import_fleet_text("v6e 4x4 x2")
    group = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=2))
    print(quoit.__version__, *(one.name for one in group.slices))
"""


@pytest.fixture
def source(tmp_path):
    """A writable copy of the package's folder, such as a user has."""
    left_by_builds = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "*.so", "_quoit.c")
    copy = shutil.copytree(SOURCE, tmp_path / "bindings" / "python", ignore=left_by_builds)
    for folder, _, _ in os.walk(copy):
        os.chmod(folder, 0o755)
    return copy


@pytest.fixture
def refused(source, tmp_path):
    """A function that runs pip in an environment in which the build must fail, and returns pip's output."""
    pytest.importorskip("setuptools")
    pytest.importorskip("wheel")

    def run(**environment):
        wheels = tmp_path / "wheels"
        pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", wheels, source]
        status, text = run_command(pip, **environment)
        assert status != 0
        assert not wheels.exists() or not list(wheels.iterdir())
        assert "Traceback" not in text
        assert "PKG_CONFIG_PATH=PREFIX/lib/pkgconfig pip install" in text
        assert "'./dev wheel'" in text
        return text

    return run


def known_to_pkg_config():
    return shutil.which("pkg-config") and run_command(["pkg-config", "--exists", "quoit"])[0] == 0


def test_pip_reports_a_missing_libquoit_with_a_remedy(refused, tmp_path):
    text = refused(PKG_CONFIG_LIBDIR=str(tmp_path), PKG_CONFIG_PATH="")
    assert "pkg-config knows no libquoit 0.1.0 or newer" in text
    assert "quoit was not found" in text
    assert "make install" in text


def test_the_error_for_an_older_libquoit_has_both_versions(refused, tmp_path):
    (tmp_path / "quoit.pc").write_text("Name: quoit\nDescription: older\nVersion: 0.0.99\n")
    text = refused(PKG_CONFIG_LIBDIR=str(tmp_path), PKG_CONFIG_PATH="")
    assert "0.1.0 or newer" in text
    assert "0.0.99" in text


def test_pip_names_a_missing_dependency_of_libquoit(refused, tmp_path):
    (tmp_path / "quoit.pc").write_text("Name: quoit\nDescription: alone\nVersion: 0.1.0\nRequires: glib-2.0\n")
    assert "glib-2.0" in refused(PKG_CONFIG_LIBDIR=str(tmp_path), PKG_CONFIG_PATH="")


def test_pip_reports_missing_headers(refused, tmp_path):
    (tmp_path / "quoit.pc").write_text(
        f"Name: quoit\nDescription: bare\nVersion: 0.1.0\nCflags: -I{tmp_path}/include\n"
    )
    if any(os.path.exists(f"{prefix}/include/quoit/quoit.h") for prefix in ("/usr", "/usr/local")):
        pytest.skip("libquoit's headers are where every compiler looks")
    assert "headers are missing" in refused(PKG_CONFIG_LIBDIR=str(tmp_path), PKG_CONFIG_PATH="")


def test_pip_reports_a_missing_pkg_config(refused, tmp_path):
    text = refused(PKG_CONFIG=str(tmp_path / "pkg-config"))
    assert f"'{tmp_path}/pkg-config' cannot be run" in text
    assert "apt install pkg-config" in text


def reserves(python, **environment):
    """Checks that the installed package finds the library without any setting."""
    done = subprocess.run(
        [str(python), "-c", RESERVES],
        cwd="/",
        capture_output=True,
        text=True,
        env=alone(**environment),
        check=False,
    )
    version = run_command(["pkg-config", "--modversion", "quoit"])[1].strip()
    assert done.stdout == f"{version} v6e-4x4-0 v6e-4x4-1\n", done.stderr


def built(source, site, prefix):
    """Builds and installs the folder with pip, while pkg-config finds the library of `prefix`.

    Returns the folders in which the extension searches its libraries.
    """
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--target", site, source]
    status, text = run_command(pip, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    assert status == 0, text
    (extension,) = (site / "quoit").glob("_quoit*.so")
    (paths,) = re.findall(r"\(RUNPATH\).*\[(.*)\]", run_command(["readelf", "-dW", extension])[1])
    return paths.split(":")  # this can include folders of Python


@pytest.mark.skipif(not known_to_pkg_config(), reason="pkg-config knows no libquoit")
def test_a_folder_that_was_built_with_another_library_is_built_again(source, tmp_path):
    pytest.importorskip("setuptools")
    known = pathlib.Path(run_command(["pkg-config", "--variable=prefix", "quoit"])[1].strip())
    for name in ("one", "other"):
        prefix = tmp_path / name
        shutil.copytree(known / "lib", prefix / "lib", symlinks=True)
        facts = prefix / "lib" / "pkgconfig" / "quoit.pc"
        facts.write_text(re.sub(r"^libdir=.*$", f"libdir={prefix}/lib", facts.read_text(), flags=re.M))
        assert f"{prefix}/lib" in built(source, tmp_path / f"{name}-site", prefix)


@pytest.mark.skipif(not known_to_pkg_config(), reason="pkg-config knows no libquoit")
def test_the_folder_and_its_archive_install_in_a_clean_environment(source, tmp_path):
    """pip downloads the build requirements for the folder. For the archive, it uses those that are installed."""
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    installs([*pip, "install", source])
    reserves(python)

    pytest.importorskip("setuptools")
    status, text = run_command(
        ["env", "-C", source, sys.executable, "setup.py", "-q", "sdist", "--formats=gztar", "-d", tmp_path]
    )
    assert status == 0, text
    (archive,) = tmp_path.glob("quoit-*.tar.gz")
    assert run_command([*pip, "uninstall", "-y", "quoit"])[0] == 0
    install = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--target"]
    status, text = run_command([*install, tmp_path / "site", archive])
    assert status == 0, text
    assert (tmp_path / "site" / "quoit" / "py.typed").exists()
    reserves(python, PYTHONPATH=str(tmp_path / "site"))


# --- below the build tree -----------------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path):
    """The folder of a build tree in which an older run has installed the package."""
    folder = tmp_path / "bindings" / "python"
    folder.mkdir(parents=True)
    (folder / "site.stamp").touch()
    return folder


def test_a_failed_installation_gives_the_reason_and_is_tried_again(site, tmp_path):
    status, text = run_command(
        ["sh", SOURCE / "install.sh"], top_builddir=str(tmp_path), SANITIZER_FLAGS="-fsanitize=address"
    )
    assert (status, not (site / "site.stamp").exists()) == (0, True), text
    status, output = run_command(["sh", SOURCE / "run.sh", "-c", "pass"], top_builddir=str(tmp_path))
    assert (status, output) == (77, text)
    assert "cannot be installed: an instrumented library" in output


def test_a_failed_installation_leaves_no_stamp(site, tmp_path):
    """A failure must not let tests be skipped: install.sh fails, so that `make check` ends with an error."""
    status, _ = run_command(["sh", SOURCE / "install.sh"], top_builddir=str(tmp_path), QUOIT_VENV="/dev/null")
    assert status not in (0, 77)
    assert list(site.glob("site.s*")) == []


# --- the environment of the tests -----------------------------------------------------------------------------------


def test_concurrent_calls_make_an_environment_once(tmp_path):
    (tmp_path / "all.txt").write_text("-r some.txt\n")
    (tmp_path / "some.txt").write_text("pip\n")
    command = ["sh", str(TOP / "tests" / "wheels.sh"), str(tmp_path / "all.txt")]
    environment = alone(QUOIT_VENV=str(tmp_path / "venvs"))
    calls = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    outputs = [one.communicate()[0] for one in calls]
    made = outputs[0].strip()
    assert (outputs[1], os.path.isfile(f"{made}/bin/python")) == (outputs[0], True)
    assert [one.name for one in (tmp_path / "venvs").iterdir() if one.is_dir()] == [os.path.basename(made)]
    assert not [name for name in os.listdir(made) if name.startswith(os.path.basename(made))]
    (tmp_path / "some.txt").write_text("pip # and a word\n")
    assert run_command(command, QUOIT_VENV=str(tmp_path / "venvs"))[1].splitlines()[-1] not in ("", made)
