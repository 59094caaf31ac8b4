#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Placement groups on the command line: bundles of any resources with both policies, and the reasons why they do not
# fit.
. "$top_srcdir/tests/cli/lib.sh"

fresh 'v6e 4x4 x2; v5e 2x4 x1 hostchips=8; v5e 2x2 x1'

# --- one slice by its label, then two at once, which Ray cannot express
ok 0 "four bundles in one slice" reserve one --bundle '4x{TPU=4}' --strategy STRICT_SPREAD \
  --topology-label ray.io/tpu-slice-name --now "$now" -o json
fact "the first slice has them" "[b['node'] for b in d['bundles']]" \
  "['v6e-4x4-0-0', 'v6e-4x4-0-1', 'v6e-4x4-0-2', 'v6e-4x4-0-3']"
ok 5 "two slices are not to be had" fits --bundle '8x{TPU=4}' --strategy STRICT_SPREAD \
  --topology-label ray.io/tpu-slice-name --topology-values 2 --now "$now"
out "a release would help" "release one@1"
ok 0 "they are given back" release one --now "$now"
ok 0 "two slices at once" reserve two --bundle '8x{TPU=4}' --strategy STRICT_SPREAD \
  --topology-label ray.io/tpu-slice-name --topology-values 2 --now "$now" -o json
fact "the first half in one, the second in another" "[b['node'][8] for b in d['bundles']]" \
  "['0', '0', '0', '0', '1', '1', '1', '1']"
ok 0 "and back" release two --now "$now"

# --- policies differ where Ray is greedy
greedy='--bundle TPU=4 --bundle 2x{TPU=3} --bundle TPU=2 --select ray.io/accelerator-type=TPU-V5LITEPOD'
# shellcheck disable=SC2086
ok 0 "best finds room" fits $greedy --now "$now" -o json
fact "Ray would not" "d['ray']" FAILED
# shellcheck disable=SC2086
ok 5 "nor does policy ray" fits $greedy --policy ray --now "$now"
# shellcheck disable=SC2086
ok 0 "explain ends well with a no" explain $greedy --policy ray --now "$now"
out "and says what would" "FAILED"
# shellcheck disable=SC2086
ok 0 "best places them" reserve packed $greedy --now "$now"
out "each has chips" "chips 0,1,2,3: TPU 4"
ok 0 "show has the bundles" show packed -o json
fact "all four" "len(d['bundles'])" 4
ok 0 "who holds a host" who-holds v5e-2x4-0-0
out "the group" "packed@"
ok 0 "it is free again" release packed --now "$now"

# --- a file with the arguments of Ray's placement_group()
cat >"$tmp/group.yaml" <<'YAML'
bundles:
- {CPU: 0, TPU: 4}
- TPU: 4
bundle_label_selector:
- {ray.io/tpu-worker-id: "0"}
- {ray.io/tpu-worker-id: "!0"}
topology_strategy: {ray.io/tpu-slice-name: STRICT_PACK, ray.io/node-id: STRICT_SPREAD}
YAML
ok 0 "a file" reserve filed --bundles "$tmp/group.yaml" --now "$now" -o json
fact "as it selects" "[b['node'] for b in d['bundles']]" "['v6e-4x4-0-0', 'v6e-4x4-0-1']"
ok 0 "its request is kept" show filed -o json
fact "in canonical words" "d['group']['request']" \
  "STRICT_SPREAD 1x{TPU=4;ray.io/tpu-worker-id=0} 1x{TPU=4;ray.io/tpu-worker-id=!0} topology-label=ray.io/tpu-slice-name values=1"
# shellcheck disable=SC2016
holds "standard input too" sh -c 'echo "[{\"TPU\": 1}, {\"TPU\": 1}]" | "$1" fits --bundles - --now "$2" >/dev/null' sh \
  "$top_builddir/cli/quoit" "$now"

# --- retries, leases, dry runs
ok 0 "with a key" reserve keyed --bundle TPU=1 --key k --now "$now" -o json
fact "the fifth of this ledger" "d['group']['id']" 5
ok 0 "again" reserve keyed --bundle TPU=1 --key k --now "$now" -o json
fact "the same group" "d['group']['id']" 5
baseline
refused 7 "another request of that key" "key 'k' was used for another request" reserve keyed --bundle TPU=2 --key k --now "$now"
ok 0 "a dry run" reserve dry --bundle TPU=1 --dry-run --now "$now"
ok 4 "leaves nothing" show dry
ok 0 "a hold" hold held --bundle TPU=1 --lease 10s --now "$now"
ok 0 "confirmed" confirm held --now "$now"
ok 0 "released" release held --now "$now"
ok 0 "and the keyed one" release keyed --now "$now"

# --- a host is lost: only its bundles move, and not to the hosts of the others
ok 0 "a host of the group dies" set-state v6e-4x4-0-1 dead --now "$now"
ok 0 "status says so" status --now "$now"
out "with the reason" "a bundle of it has lost its node; now: "
ok 0 "why" explain filed --now "$now"
ok 0 "it is placed again" repair filed --now "$now"
ok 0 "look" show filed -o json
fact "in the same slice, not on the first host" "[b['node'] for b in d['bundles']]" "['v6e-4x4-0-0', 'v6e-4x4-0-2']"
baseline
refused 7 "nothing is left to be explained" "has placed all of its bundles" explain filed

# --- amounts are truncated like in Ray, and chips are whole chips
ok 0 "a fraction that a double cannot hold" reserve part --bundle TPU=0.57 --now "$now" -o json
fact "is what Ray counts" "d['group']['request']" 'PACK 1x{TPU=0.5699}'
ok 0 "it is free again" release part --now "$now"

# --- requests that never fit
baseline
refused 6 "more than any host has" "never" reserve big --bundle TPU=9 --now "$now"
err "the nearest are named" "nearest: v5e-2x4-0-0 has 8 of 9 TPU left"
refused 6 "an unknown label" "never" reserve labelled --bundle TPU=1 --bundle-select 0:rack=7 --now "$now"

# --- invalid requests
refused 3 "nothing of it" "bundle 0|'TPU'|'0'|more than 0" reserve x --bundle TPU=0 --now "$now"
refused 3 "less than nothing" "bundle 0|'-1'" reserve x --bundle TPU=-1 --now "$now"
refused 3 "no number" "'a'|decimal number" reserve x --bundle TPU=a --now "$now"
refused 3 "finer than Ray counts" "0.00001" reserve x --bundle CPU=0.00001 --now "$now"
refused 3 "no amount" "RESOURCE=AMOUNT" reserve x --bundle TPU --now "$now"
refused 3 "no name" "expected a name" reserve x --bundle =1 --now "$now"
refused 3 "Ray's own" "'bundle'" reserve x --bundle bundle=1 --now "$now"
refused 3 "a group's" "CPU_group_0" reserve x --bundle CPU_group_0123456789abcdef0123456789abcdef0123=1 --now "$now"
refused 3 "twice the same" "'CPU' is there twice" reserve x --bundle CPU=1,CPU=2 --now "$now"
refused 3 "slices and bundles" "not both" reserve x --bundle TPU=1 --slices 1 --now "$now"
refused 3 "one bundle too many" "10000" reserve x --bundle '10001x{TPU=1}' --now "$now"
refused 2 "an open brace" "expected '}'" reserve x --bundle '2x{TPU=1' --now "$now"
refused 2 "a strategy in small letters" "'pack'|STRICT_SPREAD" reserve x --bundle TPU=1 --strategy pack --now "$now"
refused 2 "another policy" "'first'|best or ray" reserve x --bundle TPU=1 --policy first --now "$now"
refused 2 "values of nothing" "--topology-label KEY" reserve x --bundle TPU=1 --topology-values 2 --now "$now"
refused 3 "values that do not divide" "divides the 3 bundles" reserve x --bundle '3x{TPU=1}' --topology-label a \
  --topology-values 2 --now "$now"
refused 3 "more values than Ray knows" "Ray knows one" reserve x --bundle '2x{TPU=1}' --topology-label a --topology-values 2 \
  --policy ray --now "$now"
refused 3 "a selector of no bundle" "'1'|below 1" reserve x --bundle TPU=1 --bundle-select 1:a=b --now "$now"
refused 2 "a selector without its bundle" "0:KEY=VALUE" reserve x --bundle TPU=1 --bundle-select a=b --now "$now"
refused 2 "bundles the wrong way round" "lower number first" reserve x --bundle '2x{TPU=1}' --bundle-select 1-0:a=b --now "$now"
refused 3 "a soft target without STRICT_PACK" "STRICT_PACK" reserve x --bundle TPU=1 --soft-target v5e-2x2-0-0 --now "$now"
refused 4 "a soft target that is not there" "soft target|nowhere" reserve x --bundle TPU=1 --strategy STRICT_PACK \
  --soft-target nowhere --now "$now"
refused 3 "a strategy of slices" "strategy 'PACK'" reserve x --topology 4x4 --accelerator v6e --slices 1 --strategy PACK --now "$now"
refused 3 "a group cannot be resized" "resize" resize filed --slices 2 --now "$now"
refused 4 "a file that is not there" "/no/such" reserve x --bundles /no/such --now "$now"
printf 'bundles: [{TPU: 4}]\nname: x\n' >"$tmp/other.yaml"
refused 3 "an argument that says nothing of where" "line 2|'name'" reserve x --bundles "$tmp/other.yaml" --now "$now"
refused 2 "a group and a request" "not both" explain filed --bundle TPU=1
refused 4 "a group that is not there" "no group 'nobody'" explain nobody

# --- a group that waits is explained by the rules of its repair: with its remaining bundles, and the whole request
fresh 'v6e 4x4 x1; v6e 4x4 x1 pool=other'
ok 0 "three hosts of a slice" reserve three --bundle '3x{TPU=4}' --strategy STRICT_SPREAD --pool v6e-4x4 \
  --topology-label ray.io/tpu-slice-name --now "$now"
ok 0 "somebody has the fourth" reserve fourth --bundle TPU=4 --pool v6e-4x4 --now "$now"
ok 0 "a host dies" set-state v6e-4x4-0-1 dead --now "$now"
ok 0 "why" explain three --now "$now" -o json
fact "not now" "d['verdict']" not-now
out "the other group is in the way" "release fourth@2"
ok 5 "and repair says so too" repair three --now "$now"
baseline
refused 6 "chips that no host can share out so" "never|Ray's control plane answers SUCCESS" reserve chips \
  --bundle '5x{TPU=0.75}' --strategy STRICT_PACK --policy ray --now "$now"
ok 6 "fits says the same" fits --bundle '5x{TPU=0.75}' --strategy STRICT_PACK --policy ray --now "$now"

# --- Ray's node ids are labels
rm -f "$QUOIT_DB"*
list=$top_srcdir/tests/data/captures/plain.actor-task-and-group.ray-list-nodes--detail--format-json.json
id=aa5616425c9e0434a43a688600e6411c8d1be80e422628e5349e4ec1
ok 0 "a ledger" init
ok 0 "Ray's list" import ray-nodes "$list" --now "$now"
ok 0 "a node by its id" explain --bundle TPU=4 --bundle-select "0:ray.io/node-id=$id" --now "$now" -o json
fact "is one" "d['now']" 1
ok 0 "one value each" explain --bundle '2x{TPU=1}' --topology-label ray.io/node-id --now "$now" -o json
fact "both on one node" "d['verdict']" fits
finish
