# SPDX-License-Identifier: Apache-2.0
"""Makes the extension quoit._quoit with cffi, from the very headers that C programs include.

libquoit is found by pkg-config alone: PKG_CONFIG and PKG_CONFIG_PATH say which one, where there are several.
"""

import os
import re
import shlex
import subprocess

from cffi import FFI

OLDEST = "0.1.0"  # whose functions this package calls

# What of GLib the headers and the package need. A quark and an error's domain are numbers here.
GLIB = """
typedef uint32_t GQuark;
typedef struct { GQuark domain; int code; char *message; ...; } GError;
void g_error_free (GError *error);
void g_free (void *memory);
void g_strfreev (char **strings);
"""

MISSING = """
quoit: libquoit {oldest} or newer was not found by pkg-config, which said:
{said}
Install it (./configure && make install in quoit's source tree), or say where its quoit.pc is:
  PKG_CONFIG_PATH=PREFIX/lib/pkgconfig pip install ./bindings/python
A wheel from './dev wheel' has the library inside and needs none of this.
"""


def pkg_config(*arguments):
    """What pkg-config prints; the build ends with the remedy where it knows no libquoit."""
    command = shlex.split(os.environ.get("PKG_CONFIG", "pkg-config"))
    try:
        done = subprocess.run([*command, "--print-errors", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(MISSING.format(oldest=OLDEST, said=f"  {command[0]}: {error.strerror}")) from None
    if done.returncode != 0:
        said = "".join(f"  {line}\n" for line in (done.stderr or done.stdout).splitlines()).rstrip()
        raise SystemExit(MISSING.format(oldest=OLDEST, said=said))
    return done.stdout.strip()


def version():
    return pkg_config("--modversion", f"quoit >= {OLDEST}")


def header_folder():
    """The folder that has quoit/quoit.h: the one named, else the compiler's own."""
    for flag in shlex.split(pkg_config("--cflags-only-I", "quoit")) + ["-I/usr/local/include", "-I/usr/include"]:
        if os.path.exists(os.path.join(flag[2:], "quoit", "quoit.h")):
            return flag[2:]
    raise SystemExit("quoit: pkg-config knows libquoit, but no folder that it names has quoit/quoit.h: install its headers")


def declarations():
    """What all public headers declare, in the order in which quoit.h includes them."""
    folder = header_folder()

    def read(name):
        with open(os.path.join(folder, name), encoding="utf-8") as header:
            return header.read()

    umbrella = read("quoit/quoit.h")
    headers = [read(name) for name in re.findall(r"#include <(quoit/[a-z-]+\.h)>", umbrella)]
    marked = re.compile(r"/\* cdef-begin \*/(.*?)/\* cdef-end \*/", re.DOTALL)
    return "".join(part for text in [*headers, umbrella] for part in marked.findall(text)).replace("QUOIT_API ", "")


ffibuilder = FFI()
ffibuilder.cdef(GLIB + declarations())
ffibuilder.set_source_pkgconfig("quoit._quoit", ["quoit"], "#include <quoit/quoit.h>", extra_compile_args=["-O1", "-g0"])
