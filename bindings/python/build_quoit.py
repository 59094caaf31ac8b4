# SPDX-License-Identifier: Apache-2.0
"""Builds the extension quoit._quoit with cffi from the public C headers.

Finds libquoit only with pkg-config; set PKG_CONFIG and PKG_CONFIG_PATH to choose one of several.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig

from cffi import FFI

OLDEST = "0.1.0"  # the oldest libquoit that has all functions this package calls
HERE = os.path.dirname(os.path.abspath(__file__))

# The parts of GLib that the headers and the package need.
GLIB = """
typedef uint32_t GQuark;
typedef struct { GQuark domain; int code; char *message; ...; } GError;
void g_error_free (GError *error);
void g_free (void *memory);
void g_strfreev (char **strings);
"""

REMEDY = f"""
Install libquoit {OLDEST} or newer (./configure && make && make install in its sources), or say where quoit.pc is:
  PKG_CONFIG_PATH=PREFIX/lib/pkgconfig pip install ...
A wheel from './dev wheel' has the library inside and needs none of this.
"""


def pkg_config(*arguments):
    """Returns the output of pkg-config. Ends the build with a remedy if pkg-config does not find libquoit."""
    command = shlex.split(os.environ.get("PKG_CONFIG") or "pkg-config")
    try:
        done = subprocess.run([*command, "--print-errors", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(
            f"\nquoit: '{command[0]}' cannot be run ({error.strerror}), and libquoit is found by pkg-config alone.\n"
            f"Install pkg-config (Debian: apt install pkg-config), or name one in PKG_CONFIG.\n{REMEDY}"
        ) from None
    if done.returncode != 0:
        messages = "".join(f"  {line}\n" for line in (done.stderr or done.stdout).splitlines())
        raise SystemExit(
            f"\nquoit: pkg-config knows no libquoit {OLDEST} or newer that can be used. Its messages:\n{messages}{REMEDY}"
        )
    return done.stdout.strip()


def version():
    """Returns the version of the library; in a source archive, the version in its PKG-INFO."""
    archive = os.path.join(HERE, "PKG-INFO")
    if not os.path.exists(archive):
        return pkg_config("--modversion", "quoit")
    with open(archive, encoding="utf-8") as facts:
        return re.search(r"^Version: (.+)$", facts.read(), re.MULTILINE).group(1)


def rpath():
    """Returns link arguments so that the loader also finds the library in a folder that it does not search."""
    folders = [flag[2:] for flag in shlex.split(pkg_config("--libs-only-L", "quoit"))]
    return [f"-Wl,--enable-new-dtags,-rpath,{os.path.abspath(folder)}" for folder in folders]


def header_folder():
    """Returns the folder with quoit/quoit.h: one that pkg-config names, else one of the compiler's default folders."""
    for flag in [*shlex.split(pkg_config("--cflags-only-I", "quoit")), "-I/usr/local/include", "-I/usr/include"]:
        if os.path.exists(os.path.join(flag[2:], "quoit", "quoit.h")):
            return flag[2:]
    raise SystemExit(
        "\nquoit: pkg-config knows libquoit, but no folder that it names has quoit/quoit.h: its headers are missing.\n"
        f"{REMEDY}"
    )


def headers():
    """Returns the names of all public headers, also of those that quoit.h does not include."""
    folder = pathlib.Path(header_folder())
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("quoit/**/*.h"))


def declarations():
    """Returns the declarations of the public headers, each header after those that it includes."""
    folder = header_folder()
    marked = re.compile(r"/\* cdef-begin \*/(.*?)/\* cdef-end \*/", re.DOTALL)
    seen = set()

    def read(name):
        if name in seen:
            return ""
        seen.add(name)
        with open(os.path.join(folder, name), encoding="utf-8") as header:
            text = header.read()
        included = [read(other) for other in re.findall(r"#include <(quoit/[a-z0-9/-]+\.h)>", text)]
        return "".join(included) + "".join(marked.findall(text))

    return "".join(map(read, headers())).replace("QUOIT_API ", "")


def protection():
    """Returns the flag of the stack protector, unless other flags choose one: this flag comes last and would win."""
    decided = f"{sysconfig.get_config_var('CFLAGS')} {os.environ.get('CFLAGS')} {os.environ.get('CPPFLAGS')}"
    return [] if "stack-protector" in decided else ["-fstack-protector-strong"]


# Relocated data is read-only, and the stack is not executable. Only the Linux linkers have these flags.
LINKED = ["-Wl,-z,relro,-z,now,-z,noexecstack"] if sys.platform == "linux" else []

pkg_config("--exists", f"quoit >= {OLDEST}")
ffibuilder = FFI()
ffibuilder.cdef(GLIB + declarations())
ffibuilder.set_source(
    "quoit._quoit",
    "".join(f"#include <{name}>\n" for name in headers()),
    extra_compile_args=[*shlex.split(pkg_config("--cflags", "quoit")), "-O1", "-g0", *protection()],
    extra_link_args=[*shlex.split(pkg_config("--libs", "quoit")), *rpath(), *LINKED],
)
