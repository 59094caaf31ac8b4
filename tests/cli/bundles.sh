#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Placement groups on the command line: bundles of any resources with both policies, and the reasons why they do not
# fit.
. "$top_srcdir/tests/cli/lib.sh"

fresh 'v6e 4x4 x2; v5e 2x4 x1 hostchips=8; v5e 2x2 x1'

# --- one slice by its label, then two at once, which Ray cannot express
ok 0 "four bundles are reserved in one slice" reserve one --bundle '4x{TPU=4}' --strategy STRICT_SPREAD \
  --topology-label ray.io/tpu-slice-name --now "$now" -o json
fact "the bundles are on the hosts of the first slice" "[b['node'] for b in d['bundles']]" \
  "['v6e-4x4-0-0', 'v6e-4x4-0-1', 'v6e-4x4-0-2', 'v6e-4x4-0-3']"
ok 5 "fits reports that two free slices are missing" fits --bundle '8x{TPU=4}' --strategy STRICT_SPREAD \
  --topology-label ray.io/tpu-slice-name --topology-values 2 --now "$now"
out "fits proposes to release the group" "release one@1"
ok 0 "the group of four bundles is released" release one --now "$now"
ok 0 "eight bundles are reserved in two slices" reserve two --bundle '8x{TPU=4}' --strategy STRICT_SPREAD \
  --topology-label ray.io/tpu-slice-name --topology-values 2 --now "$now" -o json
fact "each half of the bundles is in one slice" "[b['node'][8] for b in d['bundles']]" \
  "['0', '0', '0', '0', '1', '1', '1', '1']"
ok 0 "the group of eight bundles is released" release two --now "$now"

# --- policies differ where Ray is greedy
greedy='--bundle TPU=4 --bundle 2x{TPU=3} --bundle TPU=2 --select ray.io/accelerator-type=TPU-V5LITEPOD'
# shellcheck disable=SC2086
ok 0 "fits with policy best finds a placement" fits $greedy --now "$now" -o json
fact "fits reports that Ray would fail" "d['ray']" FAILED
# shellcheck disable=SC2086
ok 5 "fits with policy ray finds no placement" fits $greedy --policy ray --now "$now"
# shellcheck disable=SC2086
ok 0 "explain exits with 0 for a request that does not fit" explain $greedy --policy ray --now "$now"
out "explain prints Ray's result" "FAILED"
# shellcheck disable=SC2086
ok 0 "reserve with policy best places the bundles" reserve packed $greedy --now "$now"
out "reserve prints the chips of each bundle" "chips 0,1,2,3: TPU 4"
ok 0 "show prints a group of bundles" show packed -o json
fact "show lists all four bundles" "len(d['bundles'])" 4
ok 0 "who-holds accepts a host of a bundle" who-holds v5e-2x4-0-0
out "who-holds prints the group of a bundle" "packed@"
ok 0 "the packed group is released" release packed --now "$now"

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
ok 0 "reserve reads bundles from a file" reserve filed --bundles "$tmp/group.yaml" --now "$now" -o json
fact "selectors of the file are respected" "[b['node'] for b in d['bundles']]" "['v6e-4x4-0-0', 'v6e-4x4-0-1']"
ok 0 "show prints a group from a bundles file" show filed -o json
fact "the request is stored in canonical form" "d['group']['request']" \
  "STRICT_SPREAD 1x{TPU=4;ray.io/tpu-worker-id=0} 1x{TPU=4;ray.io/tpu-worker-id=!0} topology-label=ray.io/tpu-slice-name values=1"
# shellcheck disable=SC2016
holds "fits reads bundles from standard input" sh -c 'echo "[{\"TPU\": 1}, {\"TPU\": 1}]" | "$1" fits --bundles - --now "$2" >/dev/null' sh \
  "$top_builddir/cli/quoit" "$now"

# --- retries, leases, dry runs
ok 0 "bundles are reserved with a key" reserve keyed --bundle TPU=1 --key k --now "$now" -o json
fact "the new group has id 5" "d['group']['id']" 5
ok 0 "a retry with the same key succeeds" reserve keyed --bundle TPU=1 --key k --now "$now" -o json
fact "a retry returns the same group" "d['group']['id']" 5
baseline
refused 7 "different bundles with the same key" "key 'k' was used for another request" reserve keyed --bundle TPU=2 --key k --now "$now"
ok 0 "a dry run of bundles succeeds" reserve dry --bundle TPU=1 --dry-run --now "$now"
ok 4 "a dry run reserves nothing" show dry
ok 0 "a hold of bundles succeeds" hold held --bundle TPU=1 --lease 10s --now "$now"
ok 0 "a hold of bundles is confirmed" confirm held --now "$now"
ok 0 "the confirmed group of bundles is released" release held --now "$now"
ok 0 "the group with a key is released" release keyed --now "$now"

# --- a host is lost: only its bundles move, and not to the hosts of the others
ok 0 "set-state marks a host of the group dead" set-state v6e-4x4-0-1 dead --now "$now"
ok 0 "status reads a group with a lost bundle" status --now "$now"
out "status prints the lost bundle" "a bundle of it has lost its node; now: "
ok 0 "explain reads a group with a lost bundle" explain filed --now "$now"
holds "the answer is about the group" grep -q '^filed@[0-9]*: fits' "$tmp/out"
ok 0 "repair places the lost bundle again" repair filed --now "$now"
ok 0 "show prints the repaired group" show filed -o json
fact "the repaired bundle is in the same slice" "[b['node'] for b in d['bundles']]" "['v6e-4x4-0-0', 'v6e-4x4-0-2']"
baseline
refused 7 "explain of a group that is fully placed" "has placed all of its bundles" explain filed

# --- amounts are truncated like in Ray, and chips are whole chips
ok 0 "a fraction that a double cannot represent is reserved" reserve part --bundle TPU=0.57 --now "$now" -o json
fact "the amount is truncated as in Ray" "d['group']['request']" 'PACK 1x{TPU=0.5699}'
ok 0 "the fraction is released" release part --now "$now"

# --- requests that never fit
baseline
refused 6 "bundle larger than every host" "never" reserve big --bundle TPU=9 --now "$now"
err "the error names the nearest node" "nearest: v5e-2x4-0-0 has 8 of 9 TPU left"
refused 6 "bundle with an unknown label" "never" reserve labelled --bundle TPU=1 --bundle-select 0:rack=7 --now "$now"

# --- invalid requests
refused 3 "bundle with an amount of 0" "bundle 0|'TPU'|'0'|more than 0" reserve x --bundle TPU=0 --now "$now"
refused 3 "bundle with a negative amount" "bundle 0|'-1'" reserve x --bundle TPU=-1 --now "$now"
refused 3 "bundle with an amount that is no number" "'a'|decimal number" reserve x --bundle TPU=a --now "$now"
refused 3 "amount with more digits than Ray counts" "0.00001" reserve x --bundle CPU=0.00001 --now "$now"
refused 3 "resource without an amount" "RESOURCE=AMOUNT" reserve x --bundle TPU --now "$now"
refused 3 "amount without a resource" "expected a name" reserve x --bundle =1 --now "$now"
refused 3 "resource name 'bundle', which Ray reserves" "'bundle'" reserve x --bundle bundle=1 --now "$now"
refused 3 "resource name of a placement group" "CPU_group_0" reserve x --bundle CPU_group_0123456789abcdef0123456789abcdef0123=1 --now "$now"
refused 3 "repeated resource" "'CPU' is given twice" reserve x --bundle CPU=1,CPU=2 --now "$now"
refused 3 "slices and bundles in one request" "not both" reserve x --bundle TPU=1 --slices 1 --now "$now"
refused 3 "more than 10000 bundles" "10000" reserve x --bundle '10001x{TPU=1}' --now "$now"
refused 2 "--bundle with an unclosed brace" "expected '}'" reserve x --bundle '2x{TPU=1' --now "$now"
refused 2 "strategy in lower case" "'pack'|STRICT_SPREAD" reserve x --bundle TPU=1 --strategy pack --now "$now"
refused 2 "unknown policy" "'first'|best or ray" reserve x --bundle TPU=1 --policy first --now "$now"
refused 2 "--topology-values without --topology-label" "--topology-label KEY" reserve x --bundle TPU=1 --topology-values 2 --now "$now"
refused 3 "--topology-values that do not divide the bundles" "divides the 3 bundles" reserve x --bundle '3x{TPU=1}' --topology-label a \
  --topology-values 2 --now "$now"
refused 3 "more topology values than Ray supports" "policy 'ray' supports one" reserve x --bundle '2x{TPU=1}' --topology-label a --topology-values 2 \
  --policy ray --now "$now"
refused 3 "selector of a bundle index that does not exist" "'1'|below 1" reserve x --bundle TPU=1 --bundle-select 1:a=b --now "$now"
refused 2 "--bundle-select without a bundle index" "0:KEY=VALUE" reserve x --bundle TPU=1 --bundle-select a=b --now "$now"
refused 2 "--bundle-select with a reversed range" "lower number first" reserve x --bundle '2x{TPU=1}' --bundle-select 1-0:a=b --now "$now"
refused 3 "--soft-target without STRICT_PACK" "STRICT_PACK" reserve x --bundle TPU=1 --soft-target v5e-2x2-0-0 --now "$now"
refused 4 "unknown --soft-target" "soft target|nowhere" reserve x --bundle TPU=1 --strategy STRICT_PACK \
  --soft-target nowhere --now "$now"
refused 3 "--strategy with slices" "strategy 'PACK'" reserve x --topology 4x4 --accelerator v6e --slices 1 --strategy PACK --now "$now"
refused 3 "resize of a group of bundles" "resize" resize filed --slices 2 --now "$now"
refused 4 "missing bundles file" "/no/such" reserve x --bundles /no/such --now "$now"
printf 'bundles: [{TPU: 4}]\nname: x\n' >"$tmp/other.yaml"
refused 3 "bundles file with an unknown member" "line 2|'name'" reserve x --bundles "$tmp/other.yaml" --now "$now"
refused 2 "explain with a group and a request" "not both" explain filed --bundle TPU=1
refused 4 "explain of an unknown group" "no group 'nobody'" explain nobody

# --- a group that waits is explained by the rules of its repair: with its remaining bundles, and the whole request
fresh 'v6e 4x4 x1; v6e 4x4 x1 pool=other'
ok 0 "three hosts of a slice are reserved" reserve three --bundle '3x{TPU=4}' --strategy STRICT_SPREAD --pool v6e-4x4 \
  --topology-label ray.io/tpu-slice-name --now "$now"
ok 0 "the fourth host is reserved" reserve fourth --bundle TPU=4 --pool v6e-4x4 --now "$now"
ok 0 "set-state marks a host of the group of three dead" set-state v6e-4x4-0-1 dead --now "$now"
ok 0 "explain reads the group of three" explain three --now "$now" -o json
fact "the verdict of the group of three is not now" "d['verdict']" not-now
out "the option names the group on the fourth host" "release fourth@2"
ok 5 "repair finds no place for the lost bundle" repair three --now "$now"
baseline
refused 6 "fractions that no host can divide into chips" "never|Ray's control plane answers SUCCESS" reserve chips \
  --bundle '5x{TPU=0.75}' --strategy STRICT_PACK --policy ray --now "$now"
ok 6 "fits gives the same verdict as reserve for fractions of chips" fits --bundle '5x{TPU=0.75}' --strategy STRICT_PACK --policy ray --now "$now"

# --- Ray's node ids are labels
rm -f "$QUOIT_DB"*
list=$top_srcdir/tests/data/captures/plain.actor-task-and-group.ray-list-nodes--detail--format-json.json
id=aa5616425c9e0434a43a688600e6411c8d1be80e422628e5349e4ec1
ok 0 "a ledger for Ray's list is created" init
ok 0 "Ray's list is imported" import ray-nodes "$list" --now "$now"
ok 0 "explain accepts a selector of a node id" explain --bundle TPU=4 --bundle-select "0:ray.io/node-id=$id" --now "$now" -o json
fact "one placement exists for the selected node" "d['now']" 1
ok 0 "explain accepts ray.io/node-id as a topology label" explain --bundle '2x{TPU=1}' --topology-label ray.io/node-id --now "$now" -o json
fact "both bundles fit on one node" "d['verdict']" fits
# --- a repair that nodes of a reservation ahead would make possible
fresh 'v6e 4x4 x1; v6e 2x4 x1'
ok 0 "bundles are reserved" reserve g --bundle '2x{TPU=4}' --now "$now"
ok 0 "the other nodes are promised" reserve later --accelerator v6e --topology 4x4 --slices 1 --from 2027-06-01T00:00:00Z --now "$now"
ok 0 "the node of the bundles drains" drain v6e-2x4-0-0 --now "$now"
baseline
refused 5 "their repair" "fits on no alive node" repair g --now "$now"
err "the reservation ahead is the way" "would help: release later@2"
ok 0 "explain agrees" explain g --now "$now" -o json
fact "it has that option" '[o["text"] for o in d["options"]]' "['release later@2']"
ok 0 "the option is taken" release later --now "$now"
ok 0 "the repair succeeds" repair g --now "$now"

fresh 'v6e 4x8 x2 pool=a; v6e 4x4 x3 pool=b; v6e 2x4 x3'
ok 0 "a node dies" set-state b-2-0 dead --now 2026-05-01T09:31:00Z
ok 0 "small parts are reserved" reserve g1 --accelerator v6e --topology 2x2 --slices 1..3 --cut any --lease 1h --now 2026-05-01T09:32:00Z
ok 0 "large ones, too" reserve g3 --accelerator v6e --topology 4x8 --slices 1..3 --cut any --wrap --lease 5m --now 2026-05-01T09:33:00Z
ok 0 "six bundles are reserved" reserve g5 --bundle '6x{TPU=4}' --now 2026-05-01T09:35:00Z
ok 0 "slices are reserved ahead" reserve a7 --accelerator v6e --topology 4x4 --slices 2 --from 2026-05-01T11:06:00Z --now 2026-05-01T09:36:00Z
ok 0 "a node of the bundles drains, too" drain v6e-2x4-0-0 --now 2026-05-01T09:37:00Z
baseline
refused 5 "a repair with options of many kinds" "not now" repair g5 --now 2026-05-01T09:37:00Z
ok 0 "explain prints them" explain g5 --now 2026-05-01T09:37:00Z

# --- options that are as good as each other: the orders agree with the list, which has the newest groups first
hold=$top_srcdir/tests/data/captures/gke.hold-and-wait.ray-list
fresh
ok 0 "Ray's lists are imported" sync ray-nodes "$hold-nodes--detail--format-json.json" \
  --groups "$hold-placement-groups--detail--format-json.json" --now "$now"
ok 0 "a pending group is explained" explain a44a00ec -o json --now "$now"
fact "each order has the first option" '[(o["order"], o["option"]) for o in d["orders"]]' \
  "[('fewest-groups', 0), ('fewest-chips', 0)]"
fact "it is that of the group that has only the head of a slice" 'd["options"][0]["text"][:8 + 7]' "remove cac052a2"
finish
