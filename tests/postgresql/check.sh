#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh: a PostgreSQL server in a private directory, and the ledgers that it stores: the programs that test files, and
# faults of connections, servers, leaders and clocks.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
tests=$top_srcdir/tests/postgresql
passed=0
failed=0

python ()
{
  PYTHONPATH=$tests sh "$top_srcdir/bindings/python/run.sh" "$@"
}

if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
  echo "no server: install the package postgresql"
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
fi

if ! grep -q '^#define HAVE_LIBPQ 1' "$top_builddir/config.h"; then
  echo "this build has no PostgreSQL: install libpq-dev"
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
fi

# The programs of tests/fault and tests/property, with their ledgers on a server of their own.
python - "$top_builddir" <<'PROGRAMS' || failed=$((failed + 1))
import os, subprocess, sys
import server as servers

builddir = sys.argv[1]
server = servers.Server()
server.start()
environment = {**os.environ, "QUOIT_TEST_SERVER": server.url()}
bad = 0
try:
    for program in ("fault/histories", "fault/kill", "fault/race", "fault/threads", "property/walk"):
        done = subprocess.run([f"{builddir}/tests/{program}"], env=environment, capture_output=True, text=True)
        lines = done.stdout.splitlines() or ["no output"]
        print(f"{program}: {lines[-1]}", flush=True)
        if done.returncode != 0:
            bad += 1
            print("\n".join(lines[-15:]), done.stderr, sep="\n")
finally:
    server.remove()
sys.exit(bad != 0)
PROGRAMS
[ $failed -gt 0 ] || passed=$((passed + 5))

log=$(mktemp)
status=0
python -m pytest -q -p no:cacheprovider -x --tb=short "$tests" >"$log" 2>&1 || status=$?
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
