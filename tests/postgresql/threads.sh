#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# threads.sh: the programs with several threads or processes, with their ledgers on a server. `./dev tsan` runs it with
# ThreadSanitizer; check.sh runs the same programs without it.
set -eu
. "${top_srcdir:?}/tests/postgresql/lib.sh"
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for program in threads race histories; do
  if PYTHONPATH=$tests python3 "$tests/with_server.py" "$top_builddir/tests/fault/$program" >"$log" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tail -n 40 "$log"
  fi
  echo "$program: $(grep ' passed, ' "$log" | tail -n 1)"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
