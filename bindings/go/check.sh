#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [ARGUMENT...]: checks the Go module, or the one in $QUOIT_GO_MODULE: formatting, `go vet`, and `go test` with the
# arguments. $QUOIT_GO_PACKAGES: which packages of it; all by default.
set -eu
here=$top_srcdir/bindings/go
module=${QUOIT_GO_MODULE-$here}
packages=${QUOIT_GO_PACKAGES-./...}
# Unless $QUOIT_GO_FLAGS is set, the programs are position-independent, like the one that tests/hardening.sh builds, so Go
# compiles each package once.
case $(uname -sm) in
  'Linux x86_64' | 'Linux aarch64') export QUOIT_GO_FLAGS="${QUOIT_GO_FLAGS--buildmode=pie}" ;;
esac
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

step sh "$here/run.sh" vet "$packages"
if [ $status -ne 0 ]; then
  echo "0 passed, 1 failed"
  exit 1
fi
unformatted=$(cd "$module" && gofmt -l .)
[ -z "$unformatted" ] || {
  printf '%s: not formatted: run gofmt -w\n' $unformatted
  echo "0 passed, 1 failed"
  exit 1
}

step sh "$here/run.sh" test -v -vet=off -count=1 "$@" "$packages"

awk -v status=$status -f "$here/count.awk" "$out"
exit $status
