# SPDX-License-Identifier: Apache-2.0
"""The wheel of `./dev wheel` needs only Python and the machine's C library, and does not conflict with other copies of
its libraries in a process.
"""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest
from building import SOURCE, TOP, alone, installs, run_command

C_LIBRARY = re.compile(r"(ld-linux-[\w-]+|lib(c|dl|m|pthread|resolv|rt|util))\.so\.\d+")

# Prints the shared libraries in the memory of the process, one per line, after the program's own output.
MAPPED = """
print("--- mapped")
for line in sorted({line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "/" in line}):
    if ".so" in line:
        print(line)
"""
RESERVES = """
import quoit
with quoit.open_memory() as ledger:
    ledger.import_raycluster(open(MANIFEST).read())
    group = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=2))
    print(*(one.name for one in group.slices))
"""
RESERVED = "tpu-group-0 tpu-group-1\n"
MANIFEST = f"MANIFEST = {str(TOP / 'examples' / 'raycluster-v6e-4x4-x2.yaml')!r}\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this build, made once for all tests."""
    if "top_builddir" not in os.environ:
        pytest.skip("no build tree: top_builddir is not set")
    folder = tmp_path_factory.mktemp("wheel")
    status, text = run_command(["sh", SOURCE / "wheel.sh", folder])
    if status == 77:
        pytest.skip(text)
    assert status == 0, text
    (made,) = folder.glob("*.whl")
    assert re.search(rf"{re.escape(made.name)}: [\d,]+ bytes", text)
    assert re.search(r"made in \d+ s", text)
    return made


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory):
    """The Python of a new environment with the wheel, installed by the README's command."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder / "venv")
    (folder / "build").mkdir()
    (folder / "build" / "wheel").symlink_to(wheel.parent)
    shown = re.search(
        r"^```sh\n(.*?)^```$", (TOP / "README.md").read_text(encoding="utf-8").split("\n## Python")[1], re.M | re.S
    )
    made, *install = shown.group(1).splitlines()
    assert made.split()[:2] == ["./dev", "wheel"]
    pip = f"""pip () {{ '{sys.executable}' -m pip --python '{folder}/venv/bin/python' "$@"; }}"""
    installs(["sh", "-e", "-c", "\n".join([f"cd '{folder}'", pip, *install])])
    return folder / "venv" / "bin" / "python"


def run(python, program, **environment):
    """The output of a program in an environment without settings for libraries."""
    done = subprocess.run(
        [str(python), "-c", MANIFEST + program],
        cwd="/",
        capture_output=True,
        text=True,
        env=alone(**environment),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python_of(minor):
    """A CPython 3.`minor` of this machine that can make an environment, or None."""
    kept = sorted(pathlib.Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"))
    for python in (shutil.which(f"python3.{minor}"), f"/usr/bin/python3.{minor}", *kept):
        asks = f"import sys, venv; sys.exit(sys.implementation.name != 'cpython' or sys.version_info[1] != {minor})"
        if python and os.path.exists(python) and run_command([python, "-c", asks])[0] == 0:
            return python
    return None


@pytest.mark.parametrize("minor", range(9, 15))
def test_one_wheel_works_with_every_python_version(wheel, tmp_path, minor):
    python = python_of(minor)
    if python is None:
        pytest.skip(f"this machine has no CPython 3.{minor}")
    assert run_command([python, "-m", "venv", "--without-pip", tmp_path])[0] == 0
    own = tmp_path / "bin" / "python"
    installs([sys.executable, "-m", "pip", "--python", own, "install", wheel])
    assert run(own, "import sys; print(sys.version_info[1])" + RESERVES) == f"{minor}\n{RESERVED}"


def elf_files(folder):
    return sorted(path for path in folder.rglob("*.so*") if path.read_bytes()[:4] == b"\x7fELF")


def dynamic(path, tag):
    """The values of a tag in the dynamic section of an ELF file."""
    done = subprocess.run(["readelf", "-dW", str(path)], capture_output=True, text=True, check=True)
    return re.findall(rf"\({tag}\).*\[(.*)\]", done.stdout)


def glibc(path):
    """The newest version of glibc whose symbols an ELF file uses."""
    done = subprocess.run(["readelf", "-VW", str(path)], capture_output=True, text=True, check=True)
    return max((int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", done.stdout)), default=0)


def test_the_tag_has_the_oldest_python_and_glibc(wheel, unpacked):
    tag = re.fullmatch(r"quoit-[\d.]+-cp39-abi3-manylinux_2_(\d+)_\w+\.whl", wheel.name)
    assert tag
    assert int(tag.group(1)) == max(glibc(path) for path in elf_files(unpacked))


def test_all_needed_libraries_are_in_the_wheel_or_glibc(unpacked):
    inside = {path.name for path in (unpacked / "quoit.libs").iterdir()}
    assert {name.split("-")[0] for name in inside} >= {"libquoit", "libglib", "libsqlite3", "libyaml"}
    for path in elf_files(unpacked):
        for needed in dynamic(path, "NEEDED"):
            assert needed in inside or C_LIBRARY.fullmatch(needed), f"{path.name} needs {needed}"


def test_the_wheel_has_only_libraries_that_quoit_uses(unpacked):
    inside = {re.sub(r"-[0-9a-f]{8}\.", ".", one.name).split(".so")[0] for one in (unpacked / "quoit.libs").iterdir()}
    assert inside == {
        "libquoit",
        "libjson-glib-1.0",
        "libgio-2.0",
        "libgobject-2.0",
        "libglib-2.0",
        "libffi",
        "libpcre2-8",
        "libsqlite3",
        "libyaml-0",
    }


def test_each_library_is_hardened(unpacked):
    """Libraries that quoit compiles or links must have all protections. The other libraries are built by their
    distribution, so only their memory mappings are checked.
    """
    own = [one for one in elf_files(unpacked) if re.match(r"_quoit\.|libquoit-|libgio-", one.name)]
    assert len(own) == 3
    assert run_command(["sh", TOP / "tests" / "hardening.sh", *own]) == (0, "")
    for path in elf_files(unpacked):
        segments = subprocess.run(["readelf", "-lW", str(path)], capture_output=True, text=True, check=True).stdout
        assert "GNU_RELRO" in segments, path.name
        assert re.search(r"GNU_STACK .* RW +0x", segments), path.name
        assert not re.search(r"LOAD .* R?WE ", segments), path.name


def test_each_library_has_a_unique_name_and_searches_only_its_folder(unpacked):
    for path in elf_files(unpacked):
        assert {*dynamic(path, "RPATH"), *dynamic(path, "RUNPATH")} <= {"$ORIGIN", "$ORIGIN/../quoit.libs"}
        if path.parent.name == "quoit.libs":
            assert re.search(r"-[0-9a-f]{8}\.", path.name)
            assert dynamic(path, "SONAME") == [path.name]


def test_the_record_has_every_file_with_its_checksum(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/RECORD"))
        rows = {row[0]: row[1] for row in csv.reader(io.StringIO(archive.read(name).decode()))}
        files = {one for one in archive.namelist() if not one.endswith("/")}
        assert files == set(rows)
        for file in files - {name}:
            digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(file)).digest()).rstrip(b"=").decode()
            assert rows[file] == f"sha256={digest}"


def test_the_licence_of_each_library_is_in_the_wheel(unpacked):
    (facts,) = unpacked.glob("quoit-*.dist-info")
    assert "Apache License" in "".join(one.read_text() for one in facts.rglob("LICENSE"))
    page = (facts / "licenses" / "THIRD-PARTY.md").read_text(encoding="utf-8")
    rows = {
        row[0]: row[1:]
        for row in re.findall(r"^\| (\S+\.so\S*) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", page, re.M)
    }
    assert set(rows) == {
        one.name for one in (unpacked / "quoit.libs").iterdir() if not one.name.startswith("libquoit-")
    }
    for _project, version, package, licence, source in rows.values():
        texts = facts / "licenses" / "third-party" / package
        assert (texts / "copyright").stat().st_size > 500
        assert version in source or re.sub(r"\+b\d+$", "", version) in source
        if licence.startswith("LGPL-2.1"):
            assert "GNU LESSER GENERAL PUBLIC LICENSE" in (texts / "LGPL-2.1").read_text()


def test_only_libraries_of_the_wheel_and_glibc_are_loaded(clean):
    """Lists the libraries of a process that uses quoit. Python's own libraries are allowed too."""
    own = pathlib.Path(run(clean, "import quoit; print(quoit.__file__)").strip()).parent.parent
    bare = set(run(clean, "import _cffi_backend\n" + MAPPED).split("--- mapped\n")[1].splitlines())
    words, mapped = run(clean, RESERVES + MAPPED).split("--- mapped\n")
    assert words == RESERVED
    others = [pathlib.Path(file) for file in mapped.splitlines() if file not in bare and not file.startswith(str(own))]
    python = pathlib.Path(run(clean, "import sys; print(sys.base_prefix)").strip())
    standard = [one for one in others if one.parent.name == "lib-dynload" and python in one.parents]
    foreign = [str(one) for one in others if one not in standard and not C_LIBRARY.fullmatch(one.name)]
    assert foreign == []
    assert f"{own}/quoit.libs/libquoit-" in mapped
    assert f"{own}/quoit.libs/libglib-2-" in mapped


@pytest.fixture
def without_libraries(unpacked, tmp_path):
    """The start of a command line that runs a command without this machine's copies of the wheel's libraries."""
    stems = {re.sub(r"-[0-9a-f]{8}\.", ".", one.name).split(".so")[0] for one in (unpacked / "quoit.libs").iterdir()}
    stems |= {"libgio-2.0", "libglib-2.0", "libgmodule-2.0", "libgobject-2.0", "libjson-glib-1.0"}
    needed_by_python = set(run(sys.executable, "import _cffi_backend\n" + MAPPED).split())
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    found = {os.path.realpath(path) for path in re.findall(r"=> (\S+)", cache)}
    hidden = sorted(path for path in found - needed_by_python if pathlib.Path(path).name.split(".so")[0] in stems)
    # One mount(8) for all files, because mount itself needs some of them.
    (tmp_path / "fstab").write_text("".join(f"/dev/null {path} none bind\n" for path in hidden))
    script = f"""mount --all --fstab '{tmp_path}/fstab'; exec "$@" """
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", script, "hidden"]
    if shutil.which("unshare") is None or run_command([*words, "true"])[0] != 0:
        pytest.skip("this machine lets nobody hide files: unshare")
    assert any("libglib" in path for path in hidden)
    assert run_command([*words, "cat", *hidden]) == (0, "")
    return words


def test_the_quick_start_runs_without_system_libraries(clean, without_libraries, tmp_path):
    done = subprocess.run(
        [
            *without_libraries,
            str(clean),
            str(SOURCE / "tests" / "test_readme.py"),
            str(TOP / "README.md"),
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        env=alone(PYTHONDONTWRITEBYTECODE="1"),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def beside_ray():
    """A Python with Ray's wheel and its dependencies."""
    status, text = run_command(["sh", TOP / "tests" / "wheels.sh", TOP / "tests" / "requirements-ray.txt"])
    if status == 77:
        pytest.skip(text)
    assert status == 0, text
    return pathlib.Path(text.splitlines()[-1]) / "bin" / "python"


@pytest.mark.parametrize("order", ["first", "last"])
def test_it_works_with_other_copies_of_the_libraries_in_the_process(unpacked, beside_ray, order):
    others = ["sqlite3", "_ctypes", "numpy", "pyarrow", "jax", "ray"]
    modules = ["quoit", *others] if order == "first" else [*others, "quoit"]
    program = f"import {', '.join(modules)}\n{RESERVES}\nassert quoit.__file__.startswith({str(unpacked)!r})"
    environment = {"PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1", "JAX_PLATFORMS": "cpu"}
    assert run(beside_ray, program, **environment) == RESERVED


def test_it_works_with_system_copies_loaded_with_rtld_global(clean):
    """Symbols of a library that was loaded with RTLD_GLOBAL override those of the wheel's libraries. Even then the
    answers must be the same.
    """
    program = """
import ctypes
for name in ("libglib-2.0.so.0", "libgobject-2.0.so.0", "libsqlite3.so.0", "libyaml-0.so.2"):
    try:
        ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
    except OSError:
        pass
"""
    assert run(clean, program + RESERVES) == RESERVED


def test_a_modified_library_can_replace_the_one_in_the_wheel(unpacked, tmp_path):
    """The LGPL requires that users can replace GLib. This test replaces libyaml instead: it is loaded in the same way,
    and a changed message of it is visible in an error.
    """
    copy = shutil.copytree(unpacked, tmp_path / "copy")
    (library,) = (copy / "quoit.libs").glob("libyaml-0-*")
    changed = library.read_bytes().replace(b"did not find expected key", b"did not find a proper key")
    assert changed != library.read_bytes()
    library.write_bytes(changed)
    program = """
import quoit
try:
    quoit.open_memory().import_raycluster("a: b\\n- c")
except quoit.InvalidError as error:
    print(error)
"""
    environment = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    assert "did not find a proper key" in run(sys.executable, program, **environment)
