#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# servers.sh NAME...: builds programs of Kubernetes from the Go module proxy, unless the build tree has them, and prints
# their folder. NAME: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl or kueue. Exits with 77 and
# prints the reason if they cannot be downloaded. The first build of all takes 10 to 15 minutes on two cores.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
here=$top_srcdir/contrib/kueue/servers

go_here ()
{
  (cd "$here" && GOTOOLCHAIN=local GOFLAGS='-mod=readonly -buildvcs=false' GOWORK=off CGO_ENABLED=0 nice go "$@")
}

package_of ()
{
  case $1 in
  etcd) echo go.etcd.io/etcd/server/v3 ;;
  kueue) echo sigs.k8s.io/kueue/cmd/kueue ;;
  *) echo "k8s.io/kubernetes/cmd/$1" ;;
  esac
}

command -v go >/dev/null || {
  echo "no Go"
  exit 77
}
packages=$(for name; do package_of "$name"; done)
# shellcheck disable=SC2086 # a list
go_here list -deps $packages >/dev/null 2>&1 || {
  echo "Go is too old for the modules of Kubernetes and Kueue, or they cannot be downloaded"
  exit 77
}

# The programs depend on this script, go.sum and the version of Go only. Kueue asks the server for its version, which a
# build of Kubernetes gets from the linker.
version=$(go_here list -m -f '{{.Version}}' k8s.io/kubernetes)
state=$( (cat "$0" "$here/go.sum" && go version) | cksum | tr ' ' '-')
servers=$top_builddir/contrib/kueue/servers-$state
mkdir -p "$servers"
for name; do
  [ ! -x "$servers/$name" ] || continue
  echo "building $name" >&2
  go_here build -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$version" -o "$servers/$name.$$" \
    "$(package_of "$name")" >&2
  mv "$servers/$name.$$" "$servers/$name"
done
echo "$servers"
