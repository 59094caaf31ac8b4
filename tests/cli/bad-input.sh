#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bad topologies, meshes, training jobs and manifests. Each error has the right code, the place, the value and a hint;
# nothing changes, and nothing takes long. The cases are independent of each other.
. "$top_srcdir/tests/cli/lib.sh"

# Every call here must end within seconds, whatever its input. Sanitizers are slow.
limit=120
[ -z "$SANITIZER_FLAGS" ] || limit=900
quoit ()
{
  timeout $limit "$program" "$@"
}
# repeat N TEXT: prints TEXT N times.
repeat ()
{
  awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) printf "%s", text }'
}
# count N FORMAT: prints FORMAT with 1 to N, separated by commas.
count ()
{
  awk -v n="$1" -v format="$2" 'BEGIN { for (i = 1; i <= n; i++) printf ("%s" format, (i > 1 ? "," : ""), i) }'
}

fresh 'v6e 4x4 x4; v5p 4x4x4 x2; v5p 16x16x24 pool=huge'
for group in 'train v6e 4x4 2' 'one v6e 4x4 1' 'cube v5p 4x4x4 1' 'huge v5p 16x16x24 1'; do
  # shellcheck disable=SC2086
  set -- $group
  quoit reserve "$1" --accelerator "$2" --topology "$3" --slices "$4" --now "$now" >/dev/null
done
baseline

# --- mesh sizes that do not multiply to the devices: the message suggests the nearest ones
for verb in 'mesh' 'mesh --suggest' 'map --axis a'; do
  # shellcheck disable=SC2086
  refused 3 "mesh with too few devices, $verb" "--axes 'a=4,b=5': mesh shape '4,5' multiplies to 20: expected 64, the number of devices, such as '4,16'" \
    $verb cube --axes a=4,b=5
  # shellcheck disable=SC2086
  refused 3 "mesh with too many devices, $verb" "'64,2' multiplies to 128: expected 64, the number of devices, such as '32,2'" $verb cube --axes a=64,b=2
done
refused 3 "axis size 61, a prime" "'61' multiplies to 61: expected 64, the number of devices, such as '64'" mesh cube --axes a=61
refused 3 "product of axes beyond 64 bits" "multiplies to more than can be counted: expected 64, the number of devices, such as '1,1,64'" \
  mesh cube --axes a=4194304,b=4194304,c=4194304
refused 3 "mesh of 60 axes" "expected 64, the number of devices, such as '1,1,1,|,1,2,2,2,2,2,2'" mesh cube --axes "$(count 60 a%d=2)"
refused 3 "mesh of 65 axes" "--axes of '65' axes: expected at most 64" mesh cube --axes "$(count 65 a%d=1)"
refused 3 "mesh size that does not match one of several slices" "granule 0: mesh shape '1,17' multiplies to 17: expected 16, the number of devices, such as '1,16'; the sizes of --axes have to multiply to 32, the devices of all slices: each is JAX's mesh_shape times dcn_mesh_shape" \
  mesh train --axes a=2,b=17 --dcn a=2
refused 3 "--dcn that does not match the slices" "dcn mesh shape '4,1' multiplies to 4: expected 2, the number of granules, such as '2,1'" mesh train --axes a=4,b=8 --dcn a=4
refused 3 "--dcn that does not match the processes" "dcn mesh shape '4,1' multiplies to 4: expected 8, the number of granules, such as '4,2'" \
  mesh train --axes a=4,b=8 --dcn a=4 --process-granule

# --- zero, negative, 2^63, not a number
for size in 0 -1 -16 4194305 9223372036854775807 9223372036854775808 18446744073709551616 99999999999999999999999999; do
  refused 3 "axis of size $size" "--axes: axis 'b' of size '$size': expected 1 to 4194304 devices" mesh train --axes "a=2,b=$size" --dcn a=2
  refused 3 "axis of size $size between slices" "--dcn: axis 'a' of size '$size': expected 1 to 4194304 devices" mesh train --axes a=2,b=16 --dcn "a=$size"
  refused 3 "axis of size $size on the map" "--axes: axis 'b' of size '$size'" map train --axes "a=2,b=$size" --dcn a=2 --axis a
done
for size in '' x 1.5 0x10 1e3 '4 4' 99999x99999; do
  refused 2 "axis of size '$size'" "--axes: axis 'a' of size '$size': expected 1 to 4194304 devices" mesh cube --axes "a=$size"
done
refused 3 "two axes of size -1" "axis 'a' of size '-1'" mesh cube --axes a=-1,b=-1
refused 3 "negative --bytes" "--bytes '-1'" mesh cube --axes a=64 --bytes -1
refused 3 "--bytes 2^63" "--bytes '9223372036854775808'" mesh cube --axes a=64 --bytes 9223372036854775808
ok 0 "--bytes 2^63 - 1 is accepted" mesh cube --axes a=64 --bytes 9223372036854775807

# --- duplicate axes, and invalid names
refused 3 "repeated axis name" "--axes: axis 'a' is given twice: expected each name once" mesh cube --axes a=4,b=4,a=4
refused 3 "axis name repeated after a blank" "--axes: axis 'a' is given twice" mesh cube --axes 'a=4, a=16'
refused 3 "repeated axis name in --dcn" "--dcn: axis 'a' is given twice" mesh train --axes a=2,b=16 --dcn a=2,a=1
refused 3 "--dcn with an unknown axis" "--dcn 'c': expected an axis of the mesh: a, b" mesh train --axes a=2,b=16 --dcn c=2
refused 3 "--axis that the mesh does not have" "--axis 'c': expected an axis of the mesh: a, b" map train --axes a=2,b=16 --dcn a=2 --axis c
refused 3 "axis name of 100000 bytes" "--axes: axis 'aaaaaaaaaaaaaaaaaaaa...' of 100000 bytes: expected a name of at most 255 bytes" \
  mesh cube --axes "$(repeat 100000 a)=64"
ok 0 "blanks between axes are accepted" mesh train --axes 'a=2, b=16' --dcn ' a=2'

# --- axes that JAX cannot lay out: the reason, and possible shapes
refused 3 "axis of half a physical axis without --split-physical" \
  "mesh shape '8,8': axis 1 of size '8' is not the size of a free physical axis or the product of several (free: x 4, y 4, z 4): expected '16,4', '4,16' or '64,1', or physical axes that may be split" \
  mesh cube --axes a=8,b=8
for shape in 16,4 4,16 64,1; do
  ok 0 "the shape $shape, which the message proposes, is accepted" mesh cube --axes "a=${shape%,*},b=${shape#*,}"
done
ok 0 "--split-physical, which the message proposes, is accepted" mesh cube --axes a=8,b=8 --split-physical
refused 3 "--contiguous with submeshes that are not contiguous" "mesh shape '8,8': expected '16,4'|submeshes of 4x4x4" mesh cube --axes a=8,b=8 --contiguous
ok 0 "--contiguous with contiguous submeshes is accepted" mesh cube --axes a=16,b=4 --contiguous
refused 3 "mesh of one slice for a group of two" "--axes 'a=16': expected sizes that multiply to 32, the devices of 2 slices, and --dcn for the axis" \
  mesh train --axes a=16
refused 3 "mesh of two slices without --dcn" "mesh spans 2 slices: add --dcn, for example --dcn a=2" mesh train --axes a=32
refused 3 "more than 6 axes to order" "--axes 'a=2,|of '8' axes: expected at most 6 axes longer than 1" \
  mesh huge --axes a=2,b=2,c=2,d=2,e=2,f=2,g=1,h=96 --suggest
ok 0 "one axis for each factor of the largest slice is accepted" mesh huge --axes "$(count 11 a%d=2),b=3" --split-physical
ok 0 "64 axes are accepted" mesh cube --axes "a=4,b=16,$(count 62 c%d=1)"

# --- MaxText: unknown settings, two -1, sizes
# train RULE 'TEXT|TEXT' WORD...: `check train` exits with 3, and a finding of that rule contains every TEXT.
train ()
{
  rule=$1 texts=$2
  shift 2
  run check train --topology 4x4 --accelerator v6e --slices 2 "$@"
  grep -F "$rule" "$tmp/out" >"$tmp/finding"
  absent=$(missing "$texts" "$tmp/finding")
  if [ "$status" -eq 3 ] && [ -s "$tmp/finding" ] && [ -z "$absent" ]; then
    pass
  else
    fail "$rule: $*" "exit status $status, expected 3" "not in the finding: $absent" "$(tail -n 5 "$tmp/out")"
  fi
}
train key-unknown "'ici_fsdp_paralelism': expected a setting of MaxText, such as 'ici_fsdp_parallelism'" ici_fsdp_paralelism=4
train key-unknown "'zzzzzzzzzz': expected a setting of MaxText; none has a similar name" zzzzzzzzzz=4
train setting "'nonsense': expected KEY=VALUE" nonsense
train setting "'=5': expected KEY=VALUE" =5
train unspecified-twice "ici_fsdp_parallelism '-1': expected -1 for at most one ICI axis|for example ici_tensor_parallelism=1" \
  ici_fsdp_parallelism=-1 ici_tensor_parallelism=-1
train unspecified-twice "expected -1 for at most one DCN axis" dcn_data_parallelism=-1 dcn_fsdp_parallelism=-1
train axis-size "ici_fsdp_parallelism '0': expected 1 or more, or -1 for the size that the other axes leave" ici_fsdp_parallelism=0
train axis-size "ici_fsdp_parallelism '-4': expected 1 or more" ici_fsdp_parallelism=-4
train value "ici_fsdp_parallelism '9223372036854775808': expected an integer of at most 64 bits" ici_fsdp_parallelism=9223372036854775808
train ici-product "'2^63 or more'" ici_fsdp_parallelism=9223372036854775807 ici_tensor_parallelism=3
train ici-product "ici_*_parallelism '3': expected a product of 16, the devices of a slice: for example ici_fsdp_parallelism=16" ici_fsdp_parallelism=3
train dcn-product "dcn_*_parallelism '3': expected a product of 2, the slices: for example dcn_data_parallelism=2" dcn_data_parallelism=3
train key-repeated "each setting once: MaxText uses the last value, '8'" ici_fsdp_parallelism=16 ici_fsdp_parallelism=8
train mesh "axis 8 of size '2' is not the size of a free physical axis or the product of several (free: x 4, y 4)|or physical axes that may be split" \
  ici_fsdp_parallelism=8 ici_tensor_parallelism=2
# shellcheck disable=SC2046
train key-unknown "'k5000': expected a setting of MaxText" $(count 5000 k%d=1 | tr , ' ')
refused 3 "check of 0 slices" "slices '0': expected 1 to 1000000" check train --topology 4x4 --accelerator v6e --slices 0
refused 3 "check of 2^63 slices" "--slices '9223372036854775808': expected 1 to 1000000 slices" \
  check train --topology 4x4 --accelerator v6e --slices 9223372036854775808

# --- 99999x99999
refused 3 "topology 99999x99999 in a check" "topology '99999x99999': expected a number of 1 to 4096 at byte 0" \
  check train --topology 99999x99999 --accelerator v6e --slices 2
refused 3 "topology 99999x99999 in a reservation" "topology '99999x99999': expected a number of 1 to 4096 at byte 0" \
  reserve huger --topology 99999x99999 --accelerator v6e --slices 1
refused 3 "topology 99999x99999 in fits" "topology '99999x99999'" fits --topology 99999x99999 --accelerator v6e --slices 1
refused 3 "topology 99999x99999 in fleet text" "byte 4: topology '99999x99999'" import fleet 'v6e 99999x99999'
refused 3 "topology 4096x4096, which v6e does not have" "topology '4096x4096': expected one that v6e has; the nearest are 16x16" \
  reserve huger --topology 4096x4096 --accelerator v6e --slices 1 --now "$now"

# --- processes that do not exist, and names beyond the limits of DNS
refused 4 "process id beyond the last" "--process '4': expected a process id from 0 to 3" env one --process 4
refused 3 "process id 2^63" "--process '9223372036854775808': expected a process id from 0" env one --process 9223372036854775808
refused 3 "negative worker id" "--worker '-1': expected a worker id from 0" env one --worker -1
refused 3 "three processes per host" "processes per host '3': expected 1, 2, 4 or 8" env one --processes-per-host 3
refused 3 "sixteen processes per host" "--processes-per-host '16': expected 1, 2, 4 or 8" env one --processes-per-host 16
refused 3 "JobSet name of 64 bytes" "JobSet '$(repeat 64 a)': expected a name of at most 63" env one --profile jobset --jobset "$(repeat 64 a)"
refused 3 "JobSet name that is no DNS label" "JobSet 'A_b': expected a name of at most 63 lower-case letters" env one --profile jobset --jobset A_b
refused 3 "JobSet name that makes pod names longer than 63 bytes" "at most 63 bytes" env one --profile jobset --jobset "$(repeat 55 a)"
refused 3 "replicated job name that makes pod names longer than 63 bytes" "at most 63 bytes" env one --profile jobset --replicated-job "$(repeat 60 b)"

# manifest NAME GROUPS TEMPLATE: a cluster with worker groups g1, g2..., each "REPLICAS HOSTS TOPOLOGY CHIPS".
manifest ()
{
  printf 'kind: RayCluster\nmetadata: {name: %s}\nspec:\n  headGroupSpec: {template: {spec: {containers: [{}]}}}\n  workerGroupSpecs:\n' "$1"
  awk -v n="$2" -v group="$3" -v name="${4:-g}" -v env="${5-}" 'BEGIN {
    split (group, g, " ")
    for (i = 1; i <= n; i++)
      printf "  - groupName: %s%d\n    replicas: %s\n    numOfHosts: %s\n    template: {spec: {nodeSelector: {" \
             "cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: %s}, containers: [{" \
             "resources: {limits: {google.com/tpu: %s}}%s}]}}\n", name, i, g[1], g[2], g[3], g[4], env
  }'
}
# warned: the last run has printed everything, exited with 3, and printed TEXT|TEXT first.
warned ()
{
  head -n 1 "$tmp/err" >"$tmp/message"
  absent=$(missing "$2" "$tmp/message")
  if [ "$status" -eq 3 ] && [ -z "$absent" ] && [ -s "$tmp/out" ]; then
    pass
  else
    fail "$1" "exit status $status, expected 3" "not in the message: $absent" "$(cat "$tmp/message")"
  fi
}
manifest "c$(repeat 41 x)" 1 '1 4 4x4 4' >"$tmp/long.yaml"
run env --manifest "$tmp/long.yaml"
warned "a warning names the service that the webhook calls differently" "cluster 'c$(repeat 41 x)': expected at most 41 bytes, with a letter first: KubeRay names the headless service"
manifest c 1 '1 4 4x4 4' "$(repeat 60 g)" >"$tmp/host.yaml"
run env --manifest "$tmp/host.yaml"
warned "a warning names a host name longer than 63 bytes" "host name '$(repeat 60 g)1-0-3' of 65 bytes: expected at most 63: shorten the groupName by 2"
manifest "$(repeat 64 c)" 1 '1 4 4x4 4' >"$tmp/cluster.yaml"
refused 3 "cluster name longer than 63 bytes" "cluster.yaml: line 2: metadata.name|expected at most 63" env --manifest "$tmp/cluster.yaml"
manifest c 1 '1 4 4x4 4' "$(repeat 63 g)" >"$tmp/group.yaml"
refused 3 "group name longer than 63 bytes" "groupName|expected at most 63" env --manifest "$tmp/group.yaml"

# --- manifests of any size: limits over all groups together, and on the output
manifest c 1 '65537 1 2x2 4' >"$tmp/many.yaml"
refused 3 "group with more than 65536 pods" "group 'g1': '65537' pods: expected at most 65536" env --manifest "$tmp/many.yaml"
manifest c 200 '16384 4 4x4 4' >"$tmp/groups.yaml"
refused 3 "groups with more than 65536 pods together" "group 'g2': '65536' pods in addition to the 65536 of earlier groups: expected at most 65536 in all" \
  env --manifest "$tmp/groups.yaml"
manifest c 5000 '1 4 4x4 4' >"$tmp/small.yaml"
ok 0 "env reads a manifest with thousands of groups" env --manifest "$tmp/small.yaml"
holds "env prints all pods of thousands of groups" test "$(grep -c '^# pod' "$tmp/out")" = 20000
manifest c 4 '8192 1 2x2 4' >"$tmp/counted.yaml"
ok 0 "env reads thousands of pods that the webhook numbers" env --manifest "$tmp/counted.yaml" --slice-id 8191
holds "each group has the pods with replica index 8191" test "$(grep -c '^# label replicaIndex=g[1-4]-8191$' "$tmp/out")" = 4
manifest c 1 '1 65536 512x512 4' >"$tmp/hosts.yaml"
refused 3 "environments that exceed 128 MiB" "the variables of the pods exceed '134217728' bytes|select fewer pods with --group, --slice-id or --worker" \
  env --manifest "$tmp/hosts.yaml"
holds "nothing is printed if the environments exceed 128 MiB" test ! -s "$tmp/out"
refused 3 "environments that exceed 128 MiB, as JSON" "the variables of the pods exceed '134217728' bytes" env --manifest "$tmp/hosts.yaml" -o json
ok 0 "env prints one of 65536 hosts" env --manifest "$tmp/hosts.yaml" --worker 65535
holds "the host has the names of all 65536 hosts" test "$(grep '^TPU_WORKER_HOSTNAMES=' "$tmp/out" | tr -cd , | wc -c)" = 65535
ok 0 "env --then accepts events on 65536 hosts" env --manifest "$tmp/hosts.yaml" --then fail=0.5 --then lose=0.65535
manifest c 1 '2048 1 512x512 4' >"$tmp/lists.yaml"
refused 3 "environments that exceed 128 MiB because slices are combined" "the variables of the pods exceed '134217728' bytes" env --manifest "$tmp/lists.yaml"
manifest c 1 '2048 1 99999x99999 4' >"$tmp/huge.yaml"
refused 3 "manifest with topology 99999x99999" "'99999x99999'" env --manifest "$tmp/huge.yaml"
manifest c 1 '65536 1 2x2 4' g ", env: [$(count 1000 '{name: V%d, value: xxxxxxxxxx}')]" >"$tmp/env.yaml"
refused 3 "template environments that exceed 256 MiB" "group 'g1': '65536' pods with |bytes of environment each: expected at most 268435456 bytes in all pods" \
  env --manifest "$tmp/env.yaml"
manifest c 1 '1 1024 64x64 4' g ", env: [$(count 1200 '{name: TPU_%d, value: x}')]" >"$tmp/rows.yaml"
refused 3 "a million short variables" "the variables of the pods exceed '134217728' bytes" env --manifest "$tmp/rows.yaml"
refused 2 "--then with an invalid pod" "--then 'fail=x'" env --manifest "$tmp/hosts.yaml" --then fail=x
refused 4 "--then with an unknown pod" "--then 'fail=1.0'" env --manifest "$tmp/hosts.yaml" --then fail=1.0
refused 2 "--then with 2^63 replicas" "--then 'replicas=9223372036854775808'" env --manifest "$tmp/hosts.yaml" --then replicas=9223372036854775808
refused 3 "--then with more than 65536 pods" "'131072' pods: expected at most 65536" env --manifest "$tmp/hosts.yaml" --then replicas=2

# --- all processes of the largest slice, each with its list of hosts
ok 0 "env --as-seen-by jax reads the largest slice" env huge --as-seen-by jax --processes-per-host 4
holds "all 6144 processes have a line" test "$(grep -c gketpu "$tmp/out")" = 6144

# --- a group that is degraded, partly released, released
ok 0 "set-state marks a host dead" set-state v6e-4x4-1-3 dead --now "$now"
baseline
for verb in 'mesh train' 'mesh train --suggest' 'map train --axis a'; do
  # shellcheck disable=SC2086
  refused 5 "lost slice of the group, $verb" "group 'train': slice 'v6e-4x4-1' is lost|expected slices that are whole; repair the group, or release the slice" \
    $verb --axes a=2,b=16 --dcn a=2
done
ok 0 "env prints the environment of a group with a lost slice" env train --process 0 -o env
err "env warns about the lost slice" "slice 1 (v6e-4x4-1) is lost: host v6e-4x4-1-3 is dead"
ok 0 "the lost slice is released" release train --slice v6e-4x4-1 --now "$now"
baseline
refused 3 "mesh of the released slice" "expected 1, the number of granules, such as '1,1'" mesh train --axes a=2,b=16 --dcn a=2
refused 4 "--slice-id of the released slice" "--slice-id '1': expected a slice id of the group: 0" env train --slice-id 1
ok 0 "a mesh of the remaining slice is accepted" mesh train --axes a=16
ok 0 "the group is released" release train --now "$now"
baseline
for verb in 'mesh train --axes a=16' 'map train --axes a=16 --axis a' 'env train'; do
  # shellcheck disable=SC2086
  refused 4 "released group, $verb" "no group 'train'" $verb
done
ok 0 "a group with a key is reserved" reserve kept --topology 4x4 --accelerator v6e --slices 1 --key k --now "$now"
ok 0 "the group with a key is released" release kept --now "$now"
baseline
refused 3 "mesh of a released group with a key" "group 'kept' holds nothing any more" mesh kept --axes a=16
refused 3 "map of a released group with a key" "group 'kept' holds nothing any more" map kept --axes a=16 --axis a
refused 3 "env of a released group with a key" "group 'kept@|was released at " env kept
finish
