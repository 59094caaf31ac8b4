#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs docs/tutorial-multislice.md from its manifest to a mesh of the real JAX, and compares the job with values computed
# from the manifest. The steps with JAX are part of ./dev test --live.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/pages.sh"

job=$top_srcdir/tests/cli/multislice-job.py
page=$top_srcdir/docs/tutorial-multislice.md
folder=$tmp/desk

# The modelled version of JAX, or else the one installed with Ray, in a Python that also has this tree's package.
mkdir "$tmp/bin"
cat >"$tmp/bin/python" <<'SCRIPT'
#!/bin/sh
exec sh "$top_srcdir/bindings/python/run.sh" "$@"
SCRIPT
chmod +x "$tmp/bin/python"
PATH=$tmp/bin:$PATH
has_jax=
for wheels in ${QUOIT_TEST_LIVE:+differential/jax-requirements.txt requirements-ray.txt}; do
  export wheels
  [ -n "$has_jax" ] || ! version=$(python -c 'import jax, quoit.jax; print(jax.__version__)' 2>"$tmp/why") || has_jax=$wheels
done
wheels=$has_jax
if [ -n "$has_jax" ]; then
  echo "with JAX $version"
  page_holds "$page" "$folder"
else
  [ ! -e "$tmp/why" ] || tail -n 1 "$tmp/why"
  page_holds "$(without 'python ' "$page")" "$folder"
  skip "the page shows the mesh of JAX: no JAX"
fi

# --- the same job again, checked in detail
cd "$folder" || exit 1
rm quoit.db*
quoit init >/dev/null
quoit import raycluster examples/raycluster-v6e-4x4-x2.yaml >/dev/null
ok 0 "both slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
if [ -z "$python" ]; then
  skip "the environment follows from the manifest: no python3"
  finish
fi

ok 0 "env prints the environment of the job" env train -o json
cp "$tmp/out" environments.json
holds "the environment of each of the 8 workers follows from the manifest" \
  "$python" "$job" environments examples/raycluster-v6e-4x4-x2.yaml environments.json
for process in 0 1 2 3 4 5 6 7; do
  ok 0 "env prints the shell variables of process $process" env train --process "$process" -o env
  env -i sh -c 'set -a && . "$1" && exec /usr/bin/env' sh "$tmp/out" >"$tmp/has"
  holds "a shell has the environment of process $process" "$python" "$job" process environments.json "$process" "$tmp/has"
done
ok 0 "env prints the pods of the manifest" env --manifest examples/raycluster-v6e-4x4-x2.yaml -o json
holds "the webhook gives the pods the same environment" "$python" "$job" webhook environments.json "$tmp/out"

words=$(blocks "$page" | sed -n 's/^\$ quoit \(check train .*ici_fsdp_parallelism=-1[^|]*\)|.*/\1/p')
holds "the page has arguments of MaxText" test -n "$words"
# shellcheck disable=SC2086
ok 0 "check train accepts the arguments of MaxText" $words -o json
fact "a step has 64 rows" 'd["batch_to_load"], d["findings"]' "(64, [])"
axes=$("$python" "$job" axes "$tmp/out")
# shellcheck disable=SC2086
ok 0 "a mesh of all axes of MaxText is accepted" mesh train $axes -o json
cp "$tmp/out" maxtext-mesh.json
fact "the mesh has twelve axes" 'len(d["axes"]), d["n_devices"]' "(12, 32)"
ok 0 "a mesh of the two axes longer than 1 is accepted" mesh train --axes data=2,fsdp=16 --dcn data=2 -o json
cp "$tmp/out" two-axes.json
holds "the page wrote the same mesh byte for byte" cmp two-axes.json mesh.json

if [ -n "$has_jax" ]; then
  XLA_FLAGS=--xla_force_host_platform_device_count=32 JAX_PLATFORMS=cpu \
    holds "JAX numbers the 8 processes, builds the mesh of 32 devices and sums a batch on it" \
    python "$job" jax environments.json mesh.json maxtext-mesh.json 64
else
  skip "JAX builds that Mesh: no JAX"
fi
finish
