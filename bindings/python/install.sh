#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh: installs the package of this tree, against the library of this build, below bindings/python/site in the build
# tree, as `pip install` does for a user. Exits with 77, and says why, where it cannot be done.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=${top_builddir:?has to say where the build tree is}/bindings/python

skip ()
{
  echo "cannot be installed: $*" >&2
  exit 77
}

case ${SANITIZER_FLAGS-} in
  *sanitize*) skip "an instrumented library cannot be loaded into an interpreter that is not" ;;
esac
venv=$(sh "$here/../../tests/wheels.sh")
"$venv/bin/python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
  skip "the headers of $("$venv/bin/python" --version) are not there (Debian: python3-dev)"

sh "$here/../../tests/staged.sh" "$out/prefix"

# pip writes beside what it builds: into a copy, which keeps what was compiled while the headers stay as they are.
mkdir -p "$out/work"
rm -rf "$out/work/src" "$out/work/build/lib"* "$out/work/build/bdist"*
cp -R --preserve=timestamps "$here/." "$out/work"
chmod -R u+w "$out/work"
PKG_CONFIG_PATH=$out/prefix/lib/pkgconfig "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check \
  --no-build-isolation --no-deps --no-index --upgrade --target "$out/site" "$out/work" >"$out/install.log" 2>&1 || {
  tail -n 25 "$out/install.log" >&2
  exit 1
}
