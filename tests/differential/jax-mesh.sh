#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# jax-mesh.sh [--cases N] [--seed S]: compares random meshes with those of the real JAX, and checks that another order
# would be detected.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
runner=${top_builddir:-$here/../../build}/tests/vectors/run
cases=500
seed=1
while [ $# -gt 1 ]; do
  case $1 in
    --cases) cases=$2 ;;
    --seed) seed=$2 ;;
    *) break ;;
  esac
  shift 2
done
if [ $# -gt 0 ]; then
  echo "jax-mesh: argument '$1': expected --cases N or --seed S" >&2
  exit 2
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

status=0
venv=$(QUOIT_VENV=${QUOIT_VENV:-${top_builddir:-$here/../../build}/tests/venv} \
  sh "$here/../wheels.sh" "$here/jax-requirements.txt") || status=$?
if [ $status -eq 77 ]; then
  echo "0 passed, 0 failed, $((cases + 1 + (cases >= 500))) skipped"
  exit 77
fi

python ()
{
  PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu nice "$venv/bin/python" "$@"
}

python "$here/jax_mesh.py" --cases "$cases" --seed "$seed" >"$tmp/rows.ndjson"
"$runner" "$tmp/rows.ndjson" >"$tmp/out" 2>&1 || true
sed '/^[0-9]* passed, /d' "$tmp/out" | cut -c 1-600
passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$tmp/out")
skipped=$(sed -n 's/.* failed, \([0-9]*\) skipped$/\1/p' "$tmp/out")
failed=$((cases - passed - skipped))

# holds 'sentence' COMMAND...: passes if the command succeeds.
holds ()
{
  sentence=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $sentence"
  fi
}

all_fail ()
{
  [ -s "$1" ] && "$runner" "$1" | grep -q "^0 passed, $(wc -l <"$1") failed, 0 skipped\$"
}

# Fewer cases may not cover everything.
[ "$cases" -lt 500 ] || holds "the cases have every kind, flag and order, made and refused" python "$here/jax_drawn.py" "$tmp/rows.ndjson"
python "$here/jax_mesh.py" --cases 40 --seed "$seed" --planted >"$tmp/planted.ndjson"
holds "an exchange of two devices is detected in every mesh" all_fail "$tmp/planted.ndjson"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
