#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [ARGUMENT...]: checks the Go module: formatting, `go vet`, and `go test` with the arguments.
set -eu
here=$top_srcdir/bindings/go
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# step COMMAND...: prints the output of the command and sets $status. Exits with 77 if the command does.
step ()
{
  status=0
  "$@" >"$out" 2>&1 || status=$?
  cat "$out"
  if [ $status -eq 77 ]; then
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
  fi
}

step sh "$here/run.sh" vet ./...
if [ $status -ne 0 ]; then
  echo "0 passed, 1 failed"
  exit 1
fi
unformatted=$(cd "$here" && gofmt -l .)
[ -z "$unformatted" ] || {
  printf '%s: not formatted: run gofmt -w\n' $unformatted
  echo "0 passed, 1 failed"
  exit 1
}

step sh "$here/run.sh" test -v -count=1 "$@" ./...

# Count each test and each row of the test vectors; the runner of the vectors prints the number of rows.
awk -v status=$status '
  /^ *--- PASS: / { passed++ }
  /^ *--- FAIL: / { failed++ }
  /^ *--- SKIP: / { skipped++ }
  $0 ~ /^[0-9]+ rows passed, [0-9]+ failed, [0-9]+ skipped$/ { passed += $1; skipped += $6 }
  END {
    if (status != 0 && failed == 0) failed = 1
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  }' "$out"
exit $status
