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
  skip "the page shows what JAX makes of the mesh: no JAX"
fi

# --- the same job again, checked in detail
cd "$folder" || exit 1
rm quoit.db*
quoit init >/dev/null
quoit import raycluster examples/raycluster-v6e-4x4-x2.yaml >/dev/null
ok 0 "both slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
if [ -z "$python" ]; then
  skip "what follows from the manifest: no python3"
  finish
fi

ok 0 "the environment of the job" env train -o json
cp "$tmp/out" environments.json
holds "is, variable by variable, what follows from the manifest for each of the 8 workers" \
  "$python" "$job" environments examples/raycluster-v6e-4x4-x2.yaml environments.json
for process in 0 1 2 3 4 5 6 7; do
  ok 0 "that of process $process for a shell" env train --process "$process" -o env
  env -i sh -c 'set -a && . "$1" && exec /usr/bin/env' sh "$tmp/out" >"$tmp/has"
  holds "is what the shell has then, of process $process" "$python" "$job" process environments.json "$process" "$tmp/has"
done
ok 0 "the pods of the manifest" env --manifest examples/raycluster-v6e-4x4-x2.yaml -o json
holds "have the same from the webhook" "$python" "$job" webhook environments.json "$tmp/out"

words=$(blocks "$page" | sed -n 's/^\$ quoit \(check train .*ici_fsdp_parallelism=-1[^|]*\)|.*/\1/p')
holds "the page has MaxText's words" test -n "$words"
# shellcheck disable=SC2086
ok 0 "MaxText's words" $words -o json
fact "make 64 rows a step" 'd["batch_to_load"], d["findings"]' "(64, [])"
axes=$("$python" "$job" axes "$tmp/out")
# shellcheck disable=SC2086
ok 0 "and a mesh of all its axes" mesh train $axes -o json
cp "$tmp/out" maxtext-mesh.json
fact "twelve of them" 'len(d["axes"]), d["n_devices"]' "(12, 32)"
ok 0 "which is that of the two that are not 1" mesh train --axes data=2,fsdp=16 --dcn data=2 -o json
cp "$tmp/out" two-axes.json
holds "byte by byte as the page wrote it" cmp two-axes.json mesh.json

if [ -n "$has_jax" ]; then
  XLA_FLAGS=--xla_force_host_platform_device_count=32 JAX_PLATFORMS=cpu \
    holds "JAX itself numbers the 8 processes, builds that Mesh of 32 devices, and sums a batch on it" \
    python "$job" jax environments.json mesh.json maxtext-mesh.json 64
else
  skip "JAX builds that Mesh: no JAX"
fi
finish
