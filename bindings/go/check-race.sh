#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs check.sh with the race detector.
set -eu
case $(go env GOOS 2>/dev/null)/$(go env GOARCH 2>/dev/null) in
  linux/amd64 | linux/arm64 | linux/ppc64le | linux/s390x) ;;
  *)
    echo "skipped: Go is not installed, or has no race detector for this machine"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
    ;;
esac
# The detector refuses position-independent programs on Linux x86-64.
export QUOIT_GO_FLAGS=
exec sh "$top_srcdir/bindings/go/check.sh" -race
