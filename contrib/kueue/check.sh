#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [ARGUMENT...]: tests the controller for Kueue with the real programs: etcd, Kubernetes and Kueue, all built from
# the Go module proxy, and a PostgreSQL server if there is one. The first build takes 10 to 15 minutes on two cores; the
# programs stay in the build tree. The arguments are those of `go test`.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
here=$top_srcdir/contrib/kueue
programs='go.etcd.io/etcd/server/v3 k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-controller-manager
  k8s.io/kubernetes/cmd/kube-scheduler k8s.io/kubernetes/cmd/kubectl sigs.k8s.io/kueue/cmd/kueue'
export QUOIT_GO_DOWNLOADS=1

skip ()
{
  echo "skipped: $*"
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
}

go_in ()
{
  folder=$1
  shift
  (cd "$folder" && GOTOOLCHAIN=local GOFLAGS='-mod=readonly -buildvcs=false' GOWORK=off CGO_ENABLED=0 nice go "$@")
}

# Skip what cannot run, before anything is built.
sh "$here/run.sh" version || {
  [ $? -ne 77 ] || skip "Go cannot run here"
  exit 1
}
unshare --map-root-user --mount true 2>/dev/null || skip "this account cannot make a mount namespace, which Kueue needs"
sh "$here/run.sh" list -deps -test ./... >/dev/null || skip "the Go modules of the controller cannot be downloaded"
# shellcheck disable=SC2086 # a list
go_in "$here/servers" list -deps $programs >/dev/null || skip "the Go modules of Kubernetes and Kueue cannot be downloaded"

# The programs depend on this script, go.sum and the version of Go only. Kueue asks the server for its version, which a
# build of Kubernetes gets from the linker.
version=$(go_in "$here/servers" list -m -f '{{.Version}}' k8s.io/kubernetes)
state=$( (cat "$0" "$here/servers/go.sum" && go version) | cksum | tr ' ' '-')
servers=$top_builddir/contrib/kueue/servers-$state
mkdir -p "$servers"
for program in $programs; do
  name=${program##*/}
  [ "$name" != v3 ] || name=etcd
  [ ! -x "$servers/$name" ] || continue
  echo "building $name"
  go_in "$here/servers" build -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$version" -o "$servers/$name.new" "$program"
  mv "$servers/$name.new" "$servers/$name"
done

QUOIT_KUEUE=$top_builddir/contrib/kueue/quoit-kueue
sh "$here/run.sh" vet -tags steptest ./...
sh "$here/run.sh" build -tags steptest -o "$QUOIT_KUEUE" .
QUOIT_KUEUE_SERVERS=$servers
QUOIT_KUEUE_MODULE=$(go_in "$here/servers" list -m -f '{{.Dir}}' sigs.k8s.io/kueue)
QUOIT_KUEUE_CONFIG=$here/config
export QUOIT_KUEUE QUOIT_KUEUE_SERVERS QUOIT_KUEUE_MODULE QUOIT_KUEUE_CONFIG

# The tests run with ledgers in files and, if there is a server, in PostgreSQL.
out=$(mktemp)
trap 'rm -f "$out"' EXIT
status=0
export PYTHONPATH="$top_srcdir/tests/postgresql" PYTHONDONTWRITEBYTECODE=1
set -- sh "$here/run.sh" test -v -count=1 -timeout 40m "$@" . ./live
if python3 -c 'import server, sys; sys.exit(server.find_programs() is None)'; then
  python3 "$top_srcdir/tests/postgresql/with_server.py" "$@" >"$out" 2>&1 || status=$?
else
  echo "no PostgreSQL server: install the package postgresql"
  "$@" >"$out" 2>&1 || status=$?
  skipped=1
fi
cat "$out"
awk -v status=$status -v skipped="${skipped-0}" -f "$top_srcdir/bindings/go/count.awk" "$out"
exit $status
