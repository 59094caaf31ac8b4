#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that are not what they should be: the right code, the file and the place in the message, and nothing has changed.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x1'
bad=$tmp/bad

# cluster REPLICAS NUM_OF_HOSTS TOPOLOGY TPUS CPUS MEMORY: a manifest with one worker group.
cluster ()
{
  cat <<CLUSTER
apiVersion: ray.io/v1
kind: RayCluster
metadata:
  name: c
spec:
  headGroupSpec:
    rayStartParams: {}
    template: {spec: {containers: [{name: head, resources: {limits: {cpu: "8", memory: 16Gi}}}]}}
  workerGroupSpecs:
  - groupName: g
    replicas: $1
    numOfHosts: $2
    rayStartParams: {}
    template:
      spec:
        nodeSelector:
          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
          cloud.google.com/gke-tpu-topology: $3
        containers: [{name: w, resources: {limits: {cpu: "$5", memory: $6, google.com/tpu: $4}}}]
CLUSTER
}

both ()
{
  refused "$1" "$2, as a manifest" "$bad|$3" import raycluster "$bad" --now "$now"
  refused "$1" "$2, as a node list" "$bad" import ray-nodes "$bad" --now "$now"
}

cluster 1 4 4x4 4 8 200G >"$bad"
cp "$bad" "$tmp/good"
ok 0 "the good one is one" import raycluster "$tmp/good" --now "$now"
baseline

# --- no manifest at all
: >"$bad" && both 3 "an empty file" ""
head -c 300 "$tmp/good" >"$bad" && refused 3 "a truncated manifest" "$bad" import raycluster "$bad" --now "$now"
printf '[{"NodeID": "a", "Ali' >"$bad" && both 3 "a truncated node list" ""
printf 'kind: RayCluster\nname: \377\376\n' >"$bad" && both 3 "invalid UTF-8" "UTF-8"
printf 'kind: RayCluster\nname: a\000b\n' >"$bad" && both 3 "a NUL byte" ""
printf 'kind: Pod\nmetadata: {name: p}\n' >"$bad" && refused 3 "another kind" "RayCluster" import raycluster "$bad" --now "$now"
rm "$bad" && mkdir "$bad" && both 3 "a directory" "is a directory"
rmdir "$bad"
both 4 "a file that is not there" "No such file"
if truncate -s 1G "$bad" 2>/dev/null; then
  both 3 "a gigabyte of zeros" "expected at most 256 MiB"
else
  skip "no sparse files here"
fi
truncate -s 8M "$bad" && both 3 "eight megabytes of zeros" ""
rm "$bad"
refused 3 "a device" "/dev/zero|expected a file or pipe" import raycluster /dev/zero --now "$now"

# --- YAML that means to hurt
{
  echo 'a0: &a0 [x,x,x,x,x,x,x,x,x]'
  for i in 1 2 3 4 5 6 7 8 9; do
    p=$((i - 1))
    echo "a$i: &a$i [*a$p,*a$p,*a$p,*a$p,*a$p,*a$p,*a$p,*a$p,*a$p]"
  done
} >"$bad"
refused 3 "a bomb of aliases" "alias" import raycluster "$bad" --now "$now"
printf 'kind: RayCluster\nspec:\n\tx: 1\n' >"$bad"
refused 3 "tabs" "line 3" import raycluster "$bad" --now "$now"
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "["; print "" }' >"$bad"
both 3 "deep nesting" ""
awk 'BEGIN { printf "a: ["; for (i = 0; i < 10000000; i++) printf "1,"; print "1]" }' >"$bad"
refused 3 "ten million nodes" "$bad" import raycluster "$bad" --now "$now"
printf 'kind: RayCluster\nkind: RayCluster\n' >"$bad"
refused 3 "a key twice" "kind" import raycluster "$bad" --now "$now"

# --- manifests that contradict themselves
contradiction ()
{
  sentence=$1 texts=$2
  shift 2
  cluster "$@" >"$bad"
  refused 3 "$sentence" "$bad|$texts" import raycluster "$bad" --source x --now "$now"
}
contradiction "numOfHosts that disagrees with the topology" "numOfHosts|4x4" 1 3 4x4 4 8 200G
contradiction "2e9 replicas x 2" "replicas" 2000000000 2 2x4 4 8 200G
contradiction "a TPU limit of 3" "3" 1 4 4x4 3 8 200G
contradiction "a topology that v6e has not" "5x5" 1 4 5x5 4 8 200G
contradiction "a topology in capitals" "4X4" 1 4 4X4 4 8 200G
contradiction "negative CPUs" "-1" 1 4 4x4 4 -1 200G
contradiction "NaN CPUs" "NaN" 1 4 4x4 4 NaN 200G
contradiction "1e400 CPUs" "1e400" 1 4 4x4 4 1e400 200G
contradiction "negative memory" "-5" 1 4 4x4 4 8 -5
contradiction "replicas in words" "two" two 4 4x4 4 8 200G
cluster 1 4 4x4 4 8 200G | sed "s/name: c\$/name: \${CLUSTER}/" >"$bad"
refused 3 "a variable that nobody has set" "CLUSTER" import raycluster "$bad" --now "$now"
ok 0 "a variable that is set" import raycluster "$bad" --set CLUSTER=set-here --now "$now"
out "is the name" set-here
baseline

# --- node lists
printf '[{"NodeID": "aa", "Alive": true, "Resources": {"CPU": 1e400}}]' >"$bad"
refused 3 "a number beyond doubles" "$bad" import ray-nodes "$bad" --now "$now"
printf '[{"NodeID": "aa", "Alive": true, "Resources": {"CPU": -1}}]' >"$bad"
refused 3 "a negative amount" "CPU" import ray-nodes "$bad" --now "$now"
printf '[{"NodeID": "aa", "NodeID": "bb", "Alive": true}]' >"$bad"
refused 3 "a key twice in JSON" "NodeID" import ray-nodes "$bad" --now "$now"
printf '[] []' >"$bad"
refused 3 "two documents" "$bad" import ray-nodes "$bad" --now "$now"

# --- fleet text
fleet ()
{
  refused 3 "fleet text: $1" "$2" import fleet "$1" --source y --now "$now"
}
fleet '' ""
fleet 'v6e' "4x4"
fleet 'v6e 4x' "4x"
fleet 'v99 4x4' "v99"
fleet 'v6e 4x4 x0' "byte 9: '0'"
fleet 'v6e 4x4 x2 colour=red' "colour"
fleet 'v6e 4x4 x2 busy=7' "7"
fleet 'v6e 4x4 x99999999999' "99999999999"

# --- held nodes stay
ok 0 "a job takes the slice" reserve train --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-0 --now "$now"
baseline
refused 7 "a held node is not dropped" "v6e-4x4-0|train" import fleet 'v6e 2x2 x1' --now "$now"
refused 7 "a source has one kind" "c" import fleet 'v6e 2x2 x1' --source c --now "$now"

finish
