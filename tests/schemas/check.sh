#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [ARGUMENT...]: the tables of schemas are those of the published files, and `quoit check manifest` refuses what a
# real API server with KubeRay's CustomResourceDefinitions refuses. The arguments are those of mutants.py, such as --all,
# --write FILE or other manifests. The first run builds etcd and kube-apiserver, which takes 5 to 10 minutes.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
here=$top_srcdir/tests/schemas

skip ()
{
  echo "skipped: $*" >&2
  echo "0 passed, 0 failed, 1 skipped" >&2
  exit 77
}

# attempt WHAT COMMAND...: runs it, and skips the test if it exits with 77.
attempt ()
{
  what=$1
  shift
  "$@" || {
    [ $? -ne 77 ] || skip "$what"
    exit 1
  }
}

case ${SANITIZER_FLAGS-} in
  *sanitize*) skip "another tree without sanitizers runs it faster" ;;
esac
command -v openssl >/dev/null || skip "no openssl, which makes the key of the server"
venv=$(attempt "no PyYAML" sh "$top_srcdir/tests/wheels.sh" "$here/requirements.txt") || exit
python=$venv/bin/python
"$python" "$top_srcdir/src/formats/schema/generate.py" --check || {
  [ $? -eq 77 ] || exit 1
  echo "not compared: tables.c with the published files"
}
crds=$(attempt "KubeRay cannot be downloaded" "$python" "$top_srcdir/src/formats/schema/generate.py" --crds) || exit
servers=$(attempt "etcd and kube-apiserver cannot be built" sh "$top_srcdir/contrib/kueue/servers.sh" etcd kube-apiserver) || exit

for argument; do
  case $argument in
    *.yaml | *.yml) given=1 ;;
  esac
done
[ -n "${given-}" ] || set -- "$@" "$here"/manifests/*.yaml "$top_srcdir"/examples/raycluster-*.yaml \
  "$top_srcdir"/contrib/kueue/config/base/*.yaml
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$here/mutants.py" --servers "$servers" --crds "$crds" \
  --quoit "$top_builddir/cli/quoit" "$@"
