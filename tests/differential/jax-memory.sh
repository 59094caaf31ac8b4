#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the memory estimate of `quoit check train` with what XLA plans for the same training steps on a CPU.
set -eu
: "${top_builddir:?}" "${top_srcdir:?}"
here=$top_srcdir/tests/differential
status=0
venv=$(QUOIT_VENV=${QUOIT_VENV:-$top_builddir/tests/venv} sh "$here/../wheels.sh" "$here/jax-requirements.txt") || status=$?
if [ $status -eq 77 ]; then
  echo "0 passed, 0 failed, 1 skipped"
  exit 77
fi
JAX_PLATFORMS=cpu PYTHONDONTWRITEBYTECODE=1 nice "$venv/bin/python" "$here/jax_memory.py" |
  "$venv/bin/python" -c '
import json, subprocess, sys

LEAST, MOST = 0.8, 1.25  # docs/checking.md states these bounds
passed = failed = 0

def holds(sentence, is_true):
    global passed, failed
    passed, failed = passed + bool(is_true), failed + (not is_true)
    if not is_true:
        print("FAIL", sentence)

ratios = []
for line in sys.stdin:
    case = json.loads(line)
    settings = {
        "base_emb_dim": case["emb"], "base_num_query_heads": case["heads"], "base_num_kv_heads": case["kv_heads"],
        "head_dim": case["head_dim"], "base_mlp_dim": case["mlp"], "base_num_decoder_layers": case["layers"],
        "vocab_size": case["vocab"], "max_target_length": case["length"], "per_device_batch_size": case["rows"],
        "dtype": "float32",
    }
    words = [f"{key}={value}" for key, value in settings.items()]
    answer = subprocess.run([sys.argv[1], "check", "train", "--accelerator", "v6e", "--topology", "1x1", "-o", "json", *words],
                            capture_output=True, text=True, check=False)
    memory = json.loads(answer.stdout)["memory"]
    plan = case["argument_bytes"] + case["temporary_bytes"] + case["new_bytes"]
    ratio = memory["memory_bytes"] / plan
    ratios.append(ratio)
    print("ratio {:.2f}: estimate {} MiB, plan {} MiB".format(ratio, memory["memory_bytes"] >> 20, plan >> 20))
    holds(f"the number of parameters is exact: {case}", memory["n_parameters"] == case["n_parameters"])
    holds(f"the state is exact: {case}", memory["state_bytes"] == case["state_bytes"])
    holds(f"the estimate is {LEAST} to {MOST} times the plan, not {ratio:.2f}: {case}", LEAST <= ratio <= MOST)
holds("there are cases", len(ratios) >= 8)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)' "$top_builddir/cli/quoit"
