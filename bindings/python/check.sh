#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [PYTEST-ARGUMENT...]: runs the tests that the arguments select. Without arguments it runs the tests of the
# package, except the tests that the other check-*.sh run.
set -eu
here=$top_srcdir/bindings/python
out=$(mktemp)
trap 'rm -f "$out"' EXIT
if [ $# -eq 0 ]; then
  set -- "$here/tests" --ignore "$here/tests/ray"
  for apart in bad_input leaks lifetimes machine install reference types wheel \
    sweep_code sweep_example sweep_folders sweep_processes sweeps; do
    set -- "$@" --ignore "$here/tests/test_$apart.py"
  done
fi

status=0
sh "$here/run.sh" -m pytest -c "$here/pyproject.toml" --rootdir "$here" -rs "$@" >"$out" 2>&1 || status=$?
cat "$out"
if [ $status -eq 77 ]; then
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
fi

# The last line of pytest's output: "2 failed, 40 passed, 1 skipped, 1 error in 3.21s".
tail -n 1 "$out" | awk -v status=$status '
  {
    for (i = 2; i <= NF; i++) {
      if ($i ~ /^(passed|xfailed),?$/) passed += $(i - 1)
      if ($i ~ /^(failed|errors?|xpassed),?$/) failed += $(i - 1)
      if ($i ~ /^skipped,?$/) skipped += $(i - 1)
    }
    if (status != 0 && failed == 0) failed = 1
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  }'
exit $status
