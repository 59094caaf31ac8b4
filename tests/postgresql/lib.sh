# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What the tests with a PostgreSQL server share. Skips the test if there can be no server.
: "${top_builddir:?}" "${top_srcdir:?}"
tests=$top_srcdir/tests/postgresql

python ()
{
  PYTHONPATH=$tests sh "$top_srcdir/bindings/python/run.sh" "$@"
}

# run_programs PROGRAM...: runs test programs, each with its ledgers on a server of its own. Counts in $passed and $failed.
run_programs ()
{
  out=$(mktemp)
  for program; do
    if PYTHONPATH=$tests python3 "$tests/with_server.py" "$top_builddir/tests/$program" >"$out" 2>&1; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      tail -n 40 "$out"
    fi
    echo "$program: $(grep ' passed, ' "$out" | tail -n 1)"
  done
  rm -f "$out"
}

skip ()
{
  echo "$1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
}

ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "no server: install the package postgresql"
grep -q '^#define HAVE_LIBPQ 1' "$top_builddir/config.h" || skip "this build has no PostgreSQL: install libpq-dev"
