#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh: a PostgreSQL server in a private directory, and the ledgers that it stores: the programs that test files, and
# faults of connections, servers, leaders and clocks.
set -eu
. "${top_srcdir:?}/tests/postgresql/lib.sh"
passed=0
failed=0
log=$(mktemp)

run_programs fault/histories fault/kill fault/race fault/threads property/walk

status=0
python -m pytest -q -p no:cacheprovider --tb=short "$tests" >"$log" 2>&1 || status=$?
tail -n 40 "$log"
count ()
{
  sed -n "s/.*\\b\([0-9][0-9]*\) $1.*/\1/p" "$log" | tail -n 1
}
passed=$((passed + $(count passed || :)))
found=$(count failed)
failed=$((failed + ${found:-0}))
[ $status -eq 0 ] || [ $failed -gt 0 ] || failed=1
rm -f "$log"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
