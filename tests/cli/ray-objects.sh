#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A RayJob before it is created and as read back from Kubernetes: assumed names are marked until they are known.
. "$top_srcdir/tests/cli/lib.sh"

# job STATUS: the example's cluster as the cluster of a RayJob.
job ()
{
  printf 'apiVersion: ray.io/v1\nkind: RayJob\nmetadata:\n  name: train\n'
  [ -z "$1" ] || printf 'status:\n  rayClusterName: %s\n' "$1"
  printf 'spec:\n  entrypoint: python train.py\n  rayClusterSpec:\n'
  sed -e '1,/^spec:/d' -e 's/^/  /' "$two_slices"
}
job '' >"$tmp/before.yaml"
job train-4kq7c >"$tmp/after.yaml"

fresh
ok 0 "a job" import raycluster "$tmp/before.yaml" --now "$now"
out "is warned of" "'train-xxxxx' stands for it, and the names of its hosts are assumed"
ok 0 "a node" show tpu-group-0-0
holds "says what is assumed" grep -qE '^assumed: +host-name$' "$tmp/out"
ok 0 "the head" show train-xxxxx-head
holds "says so too" grep -qE '^assumed: +host-name$' "$tmp/out"
ok 0 "a group" reserve g --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "its environment" env g
out "says which variables are not right" "the hosts in TPU_WORKER_HOSTNAMES, MEGASCALE_COORDINATOR_ADDRESS are not right"
if [ -n "$python" ]; then
  ok 0 "all nodes" nodes -o json
  fact "are marked" '{tuple(n["assumed"]) for n in d["nodes"]}' "{('host-name',)}"
  ok 0 "the export" export json
  fact "marks them" '{tuple(n["assumed"]) for n in d["nodes"]}' "{('host-name',)}"
else
  skip "documents: no python3"
fi

ok 0 "the job as Kubernetes has it" import raycluster "$tmp/after.yaml" --now "$now"
out "brings the head's true name" train-4kq7c-head
ok 0 "a node" show tpu-group-0-0
holds "assumes nothing" grep -qE '^assumed: +-?$' "$tmp/out"
ok 0 "the environment" env g --slice-id 0 --worker 0 -o env
out "has the true names" "tpu-group-0-0.train-4kq7c-headless"
ok 0 "the notes" env g
holds "doubt nothing" sh -c "! grep -q 'not right' '$tmp/out'"
ok 0 "the ledger" verify
finish
