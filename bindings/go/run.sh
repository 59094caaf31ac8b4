#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh ARGUMENT...: runs go in this module, or in the one in $QUOIT_GO_MODULE, with the library of this build, which
# `make bindings/python/prefix.stamp` stages in bindings/python/prefix. If go cannot run, or is older than 1.$QUOIT_GO_MINOR, it
# prints the reason and exits with 77. It downloads nothing, unless QUOIT_GO_DOWNLOADS is set. $QUOIT_GO_FLAGS: flags for go.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
module=${QUOIT_GO_MODULE-$here}
minor=${QUOIT_GO_MINOR-21}
prefix=${top_builddir:?expected the folder of the build tree}/bindings/python/prefix

skip ()
{
  echo "skipped, because Go cannot run: $*" >&2
  exit 77
}

case ${SANITIZER_FLAGS-} in
  *sanitize*) skip "a Go program cannot load a library that is built with sanitizers" ;;
esac
command -v go >/dev/null || skip "go is not installed (Debian: golang-go), 1.$minor or later"
export GOTOOLCHAIN=local GOFLAGS="-mod=readonly -buildvcs=false ${QUOIT_GO_FLAGS-}" CGO_ENABLED=1 GO111MODULE=on GOWORK=off
[ -n "${QUOIT_GO_DOWNLOADS-}" ] || export GOPROXY=off
# If the build cache cannot be created or written, use one in the build tree.
cache=$(go env GOCACHE) || skip "'go env' fails"
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || export GOCACHE="$top_builddir/bindings/go/cache"
# A version of the developers, such as "devel go1.26-...", is new enough.
have=$(go env GOVERSION | sed -n 's/^go1\.\([0-9][0-9]*\).*/\1/p')
[ -z "$have" ] || [ "$have" -ge "$minor" ] || skip "$(go env GOVERSION) is older than go1.$minor"
[ -e "$prefix/lib/pkgconfig/quoit.pc" ] || {
  echo "the library is not staged: make bindings/python/prefix.stamp" >&2
  exit 1
}
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
cd "$module"
exec go "$@"
