# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What the tests with a PostgreSQL server share. Skips the test if there can be no server.
: "${top_builddir:?}" "${top_srcdir:?}"
tests=$top_srcdir/tests/postgresql

python ()
{
  PYTHONPATH=$tests sh "$top_srcdir/bindings/python/run.sh" "$@"
}

skip ()
{
  echo "$1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
}

ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "no server: install the package postgresql"
grep -q '^#define HAVE_LIBPQ 1' "$top_builddir/config.h" || skip "this build has no PostgreSQL: install libpq-dev"
