#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh ARGUMENT...: runs go in this module with the library of this build, which `make` stages below
# bindings/python/prefix. It exits with 77 and prints the reason if go cannot run. It downloads nothing.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=${top_builddir:?has to say where the build tree is}/bindings/python/prefix

skip ()
{
  echo "Go cannot be asked: $*" >&2
  exit 77
}

case ${SANITIZER_FLAGS-} in
  *sanitize*) skip "an instrumented library cannot be loaded into a program that is not" ;;
esac
command -v go >/dev/null || skip "no go on the path (Debian: golang-go, from 1.21)"
export GOTOOLCHAIN=local GOPROXY=off GOFLAGS='-mod=readonly -buildvcs=false' CGO_ENABLED=1 GO111MODULE=on GOWORK=off
# If the build cache cannot be created or written, use one in the build tree.
cache=$(go env GOCACHE) || skip "'go env' fails"
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || export GOCACHE="$top_builddir/bindings/go/cache"
case $(go env GOVERSION) in
  go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.20*) skip "$(go env GOVERSION) is older than go1.21" ;;
esac
[ -e "$prefix/lib/pkgconfig/quoit.pc" ] || {
  echo "the library is not staged: make bindings/python/prefix.stamp" >&2
  exit 1
}
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
cd "$here"
exec go "$@"
