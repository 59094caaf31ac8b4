#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh: installs the package of this source tree in bindings/python/site of the build tree, like `pip install`.
# The package is linked with the library of this build, which is staged in bindings/python/prefix.
# On success it creates site.stamp. If this machine cannot install the package, it creates no stamp, so that the next
# run tries again, and writes the reason to site.skipped for run.sh.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=${top_builddir:?expected the path of the build tree}/bindings/python
mkdir -p "$out"
rm -f "$out/site.stamp" "$out/site.skipped"

skip ()
{
  echo "cannot be installed: $*" >"$out/site.skipped"
  cat "$out/site.skipped" >&2
  exit 0
}

case ${SANITIZER_FLAGS-} in
  *sanitize*) skip "an instrumented library cannot be loaded into an interpreter that is not" ;;
esac
status=0
venv=$(sh "$here/../../tests/wheels.sh" 2>"$out/wheels.log") || status=$?
[ $status -ne 77 ] || skip "$(tail -n 1 "$out/wheels.log")"
cat "$out/wheels.log" >&2
[ $status -eq 0 ] || exit $status
"$venv/bin/python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
  skip "the headers of $("$venv/bin/python" --version) are not there (Debian: python3-dev)"

# pip writes into the folder that it builds, so it builds a copy.
rm -rf "$out/work"
mkdir "$out/work"
cp -R --preserve=timestamps "$here/." "$out/work"
chmod -R u+w "$out/work"
PKG_CONFIG_PATH=$out/prefix/lib/pkgconfig "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check \
  --no-build-isolation --no-deps --no-index --upgrade --target "$out/site" "$out/work" >"$out/install.log" 2>&1 || {
  tail -n 25 "$out/install.log" >&2
  exit 1
}
: >"$out/site.stamp"
