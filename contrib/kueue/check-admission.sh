#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-admission.sh [ARGUMENT...]: checks the decisions of the controller for Kueue: formatting, `go vet`, and `go test`
# with the arguments. They need no Kubernetes and no other Go modules. check.sh runs the controller.
set -eu
here=$top_srcdir/contrib/kueue
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

step sh "$here/run.sh" vet ./admission
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

step sh "$here/run.sh" test -v -count=1 "$@" ./admission
awk -v status=$status '
  /^ *--- PASS: / { passed++ }
  /^ *--- FAIL: / { failed++ }
  /^ *--- SKIP: / { skipped++ }
  END {
    if (status != 0 && failed == 0) failed = 1
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
  }' "$out"
exit $status
