#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plays a few situations with quoit.ray and Ray's helper on a real cluster; ./dev differential --cluster plays all.
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT

status=0
wheels=requirements-ray.txt nice sh "$top_srcdir/bindings/python/run.sh" "$top_srcdir/tests/differential/cluster/cluster.py" --smoke >"$out" 2>&1 ||
  status=$?
cat "$out"
if [ $status -eq 77 ]; then
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
fi
# A run that ended before it printed the counts has failed.
if ! tail -n 1 "$out" | grep -qx '[0-9]* passed, [0-9]* failed'; then
  echo "0 passed, 1 failed"
  exit 1
fi
exit $status
