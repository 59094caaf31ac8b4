#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [ARGUMENT...]: tests the controller for Kueue with the real programs: etcd, Kubernetes and Kueue, all built from
# the Go module proxy, and a PostgreSQL server if there is one. The first build takes 10 to 15 minutes on two cores; the
# programs stay in the build tree. The arguments are those of `go test`.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
here=$top_srcdir/contrib/kueue
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
servers=$(sh "$here/servers.sh" etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kueue) || {
  [ $? -ne 77 ] || skip "$servers"
  exit 1
}

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
