#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# jax-mesh.sh [--cases N] [--seed S]: does the library make random meshes as the real JAX does? And would another order
# have been noticed?
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

# This JAX needs a newer Python than some systems have first on their path.
if command -v pyenv >/dev/null; then
  newest=$(pyenv versions --bare 2>/dev/null | grep -E '^3\.1[2-9](\.|$)' | tail -n 1 || true)
  [ -z "$newest" ] || export PYENV_VERSION="$newest"
fi
status=0
venv=$(QUOIT_VENV=${QUOIT_VENV:-${top_builddir:-$here/../../build}/tests/venv} \
  sh "$here/../wheels.sh" "$here/jax-requirements.txt") || status=$?
if [ $status -eq 77 ]; then
  echo "0 passed, 0 failed, $((cases + 1)) skipped"
  exit 77
fi

draw ()
{
  PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=cpu nice "$venv/bin/python" "$here/jax_mesh.py" "$@"
}

draw --cases "$cases" --seed "$seed" >"$tmp/rows.ndjson"
"$runner" "$tmp/rows.ndjson" >"$tmp/out" 2>&1 || true
sed '/^[0-9]* passed, /d' "$tmp/out" | cut -c 1-600
passed=$(sed -n 's/^\([0-9]*\) passed, .*/\1/p' "$tmp/out")
skipped=$(sed -n 's/.* failed, \([0-9]*\) skipped$/\1/p' "$tmp/out")
failed=$((cases - passed - skipped))

draw --cases 40 --seed "$seed" --planted >"$tmp/planted.ndjson"
"$runner" "$tmp/planted.ndjson" >"$tmp/planted" 2>&1 || true
if [ -s "$tmp/planted.ndjson" ] && grep -q "^0 passed, $(wc -l <"$tmp/planted.ndjson") failed, 0 skipped\$" "$tmp/planted"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAIL two devices that are exchanged are noticed in every mesh"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
