#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Invalid files: the right code, a message with file, place, wrong value and expectation, and no change.
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

# both STATUS SENTENCE 'TEXT|TEXT' ['TEXT|TEXT']: imports $bad as a manifest and as a node list. The second texts apply
# to the node list if they differ.
both ()
{
  refused "$1" "$2, as a manifest" "$bad: |$3" import raycluster "$bad" --now "$now"
  refused "$1" "$2, as a node list" "$bad: |${4-$3}" import ray-nodes "$bad" --now "$now"
}

cluster 1 4 4x4 4 8 200G >"$bad"
cp "$bad" "$tmp/good"
ok 0 "a valid manifest is imported" import raycluster "$tmp/good" --now "$now"
baseline

# --- files that are no manifest
: >"$bad" && both 3 "an empty file" "line 1: the end: expected a YAML document" "nothing in it: expected the output of ray list nodes"
head -c 300 "$tmp/good" >"$bad" && refused 3 "a truncated manifest" "$bad: line 10: |spec.workerGroupSpecs[0]|'template.spec.containers': expected a list" import raycluster "$bad" --now "$now"
printf '[{"NodeID": "a", "Ali' >"$bad" && both 3 "a truncated node list" "line 1, column 22|unexpected end|expected YAML" \
  "line 1, column 18|'\"Ali': expected a string with its closing quote"
printf 'kind: RayCluster\nname: \377\376\n' >"$bad" && both 3 "invalid UTF-8" "line 2, column 7|'\\xff': expected UTF-8"
printf 'kind: RayCluster\nname: a\000b\n' >"$bad" && both 3 "a NUL byte" "line 2, column 8|'\\x00': expected UTF-8 text without NUL"
printf '[{"node_id": "a", "state": "ALIVE"}]' >"$bad" && refused 3 "a list of Ray's nodes as a manifest" "$bad: |for a list of nodes use 'quoit import ray-nodes'" import raycluster "$bad" --now "$now"
printf 'kind: ConfigMap\nmetadata: {name: p}\n' >"$bad" && refused 3 "another kind" "$bad: |'ConfigMap' in line 1: expected a document of kind RayCluster" import raycluster "$bad" --now "$now"
rm "$bad" && mkdir "$bad" && both 3 "a directory" "is a directory: expected a file"
rmdir "$bad"
both 4 "a missing file" "No such file"
if truncate -s 1G "$bad" 2>/dev/null; then
  both 3 "a file of a gigabyte of zeros" "has 1073741824 bytes: expected at most 256 MiB"
else
  skip "no sparse files here"
fi
truncate -s 8M "$bad" && both 3 "eight megabytes of zeros" "line 1, column 1|'\\x00': expected UTF-8 text without NUL"
rm "$bad"
refused 3 "a device as a manifest" "/dev/zero: |is a device or socket: expected a file or pipe" import raycluster /dev/zero --now "$now"

# --- hostile YAML
{
  echo 'a0: &a0 [x,x,x,x,x,x,x,x,x]'
  for i in 1 2 3 4 5 6 7 8 9; do
    p=$((i - 1))
    echo "a$i: &a$i [*a$p,*a$p,*a$p,*a$p,*a$p,*a$p,*a$p,*a$p,*a$p]"
  done
} >"$bad"
refused 3 "a bomb of aliases" "$bad: line 6, column 10: |'a4': expected aliases for at most 100,000 values" import raycluster "$bad" --now "$now"
printf 'kind: RayCluster\nspec:\n\tx: 1\n' >"$bad"
refused 3 "tabs as indentation" "$bad: line 3, column 1: |a tab: expected spaces" import raycluster "$bad" --now "$now"
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "["; print "" }' >"$bad"
both 3 "too deep nesting" "line 1, column 513|inside 512 others: expected no deeper nesting" \
  "line 1, column 513|'[[[[|expected at most 512"
awk 'BEGIN { printf "a: ["; for (i = 0; i < 10000000; i++) printf "1,"; print "1]" }' >"$bad"
refused 3 "ten million nodes" "$bad: line 1, column 6000001: |value 3,000,001: expected at most 3,000,000 values in one file" import raycluster "$bad" --now "$now"
printf 'kind: RayCluster\nkind: RayCluster\n' >"$bad"
refused 3 "a repeated key" "$bad: line 2, column 1: |key 'kind': expected each key once" import raycluster "$bad" --now "$now"

# --- manifests that contradict themselves
contradiction ()
{
  sentence=$1 texts=$2
  shift 2
  cluster "$@" >"$bad"
  refused 3 "$sentence" "$bad|$texts" import raycluster "$bad" --source x --now "$now"
}
contradiction "numOfHosts that contradicts the topology" "line 12: |.numOfHosts|3|expected 4|'4x4'" 1 3 4x4 4 8 200G
contradiction "2e9 replicas of 2 hosts" "line 11: |.replicas: |2000000000 replicas of 2 hosts: expected at most 4000000 pods" 2000000000 2 2x4 4 8 200G
contradiction "a TPU limit of 3" "line 19: |.limits['google.com/tpu']: |'3': expected 1, 2, 4 or 8" 1 4 4x4 3 8 200G
contradiction "a topology that v6e does not have" "line 18: |['cloud.google.com/gke-tpu-topology']: |'5x5': expected one that v6e has|4x4" 1 4 5x5 4 8 200G
contradiction "a topology in upper case" "line 18: |['cloud.google.com/gke-tpu-topology']: |'4X4': expected a lower-case 'x'|byte 1" 1 4 4X4 4 8 200G
contradiction "negative CPUs" "line 19: |.limits.cpu: |'-1': expected one that is not negative" 1 4 4x4 4 -1 200G
contradiction "NaN CPUs" "line 19: |.limits.cpu: |'NaN': expected a quantity" 1 4 4x4 4 NaN 200G
contradiction "1e400 CPUs" "line 19: |.limits.cpu: |'1e400': expected less than 922337203685477.5808" 1 4 4x4 4 1e400 200G
contradiction "negative memory" "line 19: |.limits.memory: |'-5': expected one that is not negative" 1 4 4x4 4 8 -5
contradiction "replicas as a word" "line 11: |.replicas: |'two': expected a whole number" two 4 4x4 4 8 200G
cluster 1 4 4x4 4 8 200G | sed "s/name: c\$/name: \${CLUSTER}/" >"$bad"
refused 3 "a variable without a value" "$bad: line 4: |metadata.name: |'\${CLUSTER}' has no value: expected --set CLUSTER=VALUE" import raycluster "$bad" --now "$now"
{ cluster 1 4 4x4 4 8 200G; echo ---; cluster 1 4 4x4 4 8 200G | sed 's/name: c$/name: d/'; } >"$tmp/two"
refused 3 "two clusters in one file" "$tmp/two: line |RayCluster 'd' after RayCluster 'c'|expected one per file" import raycluster "$tmp/two" --now "$now"
ok 0 "--set gives a variable its value" import raycluster "$bad" --set CLUSTER=set-here --now "$now"
out "the source has the name of the variable" set-here
baseline

# --- node lists
printf '[{"NodeID": "aa", "Alive": true, "Resources": {"CPU": 1e400}}]' >"$bad"
refused 3 "a number beyond the range of doubles" "$bad: line 1, column 55|'1e400|expected a number below 1.8e308" import ray-nodes "$bad" --now "$now"
printf '[{"NodeID": "aa", "Alive": true, "Resources": {"CPU": -1}}]' >"$bad"
refused 3 "a negative amount of CPU" "$bad: |\$[0].Resources.CPU: |'-1': expected a number that is not negative" import ray-nodes "$bad" --now "$now"
printf '[{"NodeID": "aa", "NodeID": "bb", "Alive": true}]' >"$bad"
refused 3 "a repeated key in JSON" "$bad: line 1, column 19|'\"NodeID\": \"bb\"|expected each key once" import ray-nodes "$bad" --now "$now"
printf '[] []' >"$bad"
refused 3 "two JSON documents in one file" "$bad: line 1, column 4|'[]': expected nothing after the document" import ray-nodes "$bad" --now "$now"

# --- fleet text
fleet ()
{
  refused 3 "fleet text: $1" "$2" import fleet "$1" --source y --now "$now"
}
fleet '' "byte 0: the end: expected a TPU generation such as v6e"
fleet 'v6e' "byte 3: the end: expected a topology such as 4x4"
fleet 'v6e 4x' "byte 4: |'4x': expected a number of 1 to 4096"
fleet 'v99 4x4' "byte 0: |'v99': expected one of v2, v3, v4"
fleet 'v6e 4x4 x0' "byte 9: '0': expected how many slices: 1 to 4000000"
fleet 'v6e 4x4 x2 colour=red' "byte 11: 'colour': expected one of pool, zone, block, grid, at, hostchips"
fleet 'v6e 4x4 x2 busy=7' "byte 16: '7': expected slices of this item: 0 to 1"
fleet 'v6e 4x4 x99999999999' "byte 9: '99999999999': expected how many slices"

# --- allocated nodes stay
ok 0 "a job allocates the slice" reserve train --topology 4x4 --accelerator v6e --slices 1 --slice v6e-4x4-0 --now "$now"
baseline
refused 7 "import that drops an allocated node" "source 'fleet': |node 'v6e-4x4-0-0'|group 'train@1' uses it; release the group first" import fleet 'v6e 2x2 x1' --now "$now"
refused 7 "import of a second kind into one source" "source 'c' is of another kind|--source" import fleet 'v6e 2x2 x1' --source c --now "$now"

finish
