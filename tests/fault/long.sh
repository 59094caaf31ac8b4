#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the fault and property programs with more rounds than `make check`: thirteen times as many failed allocations, at least
# twice as many random rounds, and every fleet of the exhaustive search.
set -eu
passed=0
failed=0

# long SCALE PROGRAM
long ()
{
  log=$(mktemp)
  status=0
  QUOIT_TEST_SCALE=$1 QUOIT_TEST_SEED=${QUOIT_TEST_SEED-2} "$top_builddir/$2" >"$log" 2>&1 || status=$?
  tail -n 3 "$log"
  if [ $status -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL QUOIT_TEST_SCALE=$1 $2"
    tail -n 30 "$log"
  fi
  rm -f "$log"
}

long 13 tests/fault/vfs
long 13 tests/fault/upgrade
long 2 tests/fault/kill
long 2 tests/fault/neighbours
long 2 tests/fault/damage
long 2 tests/fault/histories
long 2 tests/fault/race
long 3 tests/property/walk
long 11 tests/property/exhaustive
long 25 tests/property/agree
long 5 tests/property/bundles
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
