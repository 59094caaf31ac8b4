#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [kubernetes|lws|ray]: quoit import and sync --from-kubectl with the real kubectl and API server, which
# contrib/kueue/servers.sh builds, and --from-ray with a real Ray cluster of simulated TPU hosts. lws compares the recorded
# answers of LeaderWorkerSet with those of its webhook.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
here=$top_srcdir/tests/live
export QUOIT="$top_builddir/cli/quoit" PYTHONDONTWRITEBYTECODE=1 QUOIT_GO_DOWNLOADS=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

kubernetes ()
{
  servers=$(sh "$top_srcdir/contrib/kueue/servers.sh" etcd kube-apiserver kubectl) || {
    status=$?
    echo "skipped: $servers"
    return $status
  }
  nice python3 "$here/kubernetes_source.py" "$servers" "$top_srcdir/contrib/live/quoit-sync.yaml"
}

lws ()
{
  go="sh $top_srcdir/bindings/go/run.sh"
  export QUOIT_GO_MODULE="$here/lws" QUOIT_GO_MINOR=25
  $go mod download || {
    echo "skipped: the modules of LeaderWorkerSet cannot be downloaded"
    return 77
  }
  nice $go run . <"$top_srcdir/tests/vectors/lws.ndjson" >"$folder/answers"
  python3 "$here/lws_answers.py" "$top_srcdir/tests/vectors/lws.ndjson" <"$folder/answers"
}

ray ()
{
  wheels=requirements-ray-dashboard.txt nice sh "$top_srcdir/bindings/python/run.sh" "$here/ray_source.py" \
    "$top_srcdir/tests/differential/cluster"
}

# Each part prints its count in its last line. One that ended before it is a failure, and one that cannot run is skipped.
for part in ${1-kubernetes lws ray}; do
  status=0
  $part >"$folder/$part" 2>&1 || status=$?
  cat "$folder/$part"
  if [ $status -eq 77 ]; then
    echo "1 skipped" >>"$folder/counts"
  elif tail -n 1 "$folder/$part" | grep -x '[0-9]* passed, [0-9]* failed' >>"$folder/counts"; then
    [ $status -eq 0 ] || echo "ended with status $status"
  else
    echo "0 passed, 1 failed" >>"$folder/counts"
  fi
done
awk '/passed/ { passed += $1; failed += $3 }
  /skipped/ { skipped++ }
  END {
    printf "%d passed, %d failed%s\n", passed, failed, (skipped ? ", " skipped " skipped" : "")
    exit failed > 0 ? 1 : passed > 0 ? 0 : 77
  }' "$folder/counts"
