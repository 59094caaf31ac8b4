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
ok 0 "a RayJob is imported" import raycluster "$tmp/before.yaml" --now "$now"
out "a warning says that the cluster name is assumed" "'train-xxxxx' is assumed, and so are the names of its hosts"
ok 0 "show prints a node of the RayJob" show tpu-group-0-0
holds "the host name of the node is assumed" grep -qE '^assumed: +host-name$' "$tmp/out"
ok 0 "show prints the head of the RayJob" show train-xxxxx-head
holds "the host name of the head is assumed" grep -qE '^assumed: +host-name$' "$tmp/out"
ok 0 "a group of the RayJob is reserved" reserve g --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "env prints the environment of the RayJob" env g
out "a note names the variables with assumed host names" "the hosts in TPU_WORKER_HOSTNAMES, MEGASCALE_COORDINATOR_ADDRESS are not right"
if [ -n "$python" ]; then
  ok 0 "nodes prints all nodes of the RayJob" nodes -o json
  fact "all nodes have assumed host names" '{tuple(n["assumed"]) for n in d["nodes"]}' "{('host-name',)}"
  ok 0 "export json prints the RayJob" export json
  fact "the export marks assumed host names" '{tuple(n["assumed"]) for n in d["nodes"]}' "{('host-name',)}"
else
  skip "documents: no python3"
fi

ok 0 "the RayJob from Kubernetes is imported" import raycluster "$tmp/after.yaml" --now "$now"
out "the head has its actual name" train-4kq7c-head
ok 0 "show prints a node of the RayJob from Kubernetes" show tpu-group-0-0
holds "the node has no assumed properties" grep -qE '^assumed: +-?$' "$tmp/out"
ok 0 "env prints the environment with actual names" env g --slice-id 0 --worker 0 -o env
out "the variables have the actual host names" "tpu-group-0-0.train-4kq7c-headless"
ok 0 "env prints notes for the RayJob from Kubernetes" env g
holds "no note doubts the host names" sh -c "! grep -q 'not right' '$tmp/out'"
ok 0 "the ledger" verify
finish
