#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh ARGUMENT...: runs Python with the package that `make` has installed for this build. $wheels names the file in
# tests/ that lists the other packages to use. Exits with 77 and prints the reason if the package cannot be installed.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=${top_builddir:?expected the path of the build tree}/bindings/python
if [ ! -e "$out/site.stamp" ]; then
  [ -e "$out/site.skipped" ] || {
    echo "the package is not installed: make bindings/python/site.stamp" >&2
    exit 1
  }
  cat "$out/site.skipped" >&2
  exit 77
fi
venv=$(sh "$here/../../tests/wheels.sh" "$here/../../tests/${wheels:-requirements.txt}")
LD_LIBRARY_PATH=$out/prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONPATH=$out/site${PYTHONPATH:+:$PYTHONPATH} \
  PYTHONDONTWRITEBYTECODE=1 RAY_USAGE_STATS_ENABLED=0 HYPOTHESIS_STORAGE_DIRECTORY=$out/hypothesis \
  exec "$venv/bin/python" "$@"
