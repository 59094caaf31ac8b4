#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every verb works as documented in both forms of output, and refuses one wrong input.
. "$top_srcdir/tests/cli/lib.sh"

# --- init, import
ok 0 "init makes a database" init
out "and says which" "$QUOIT_DB"
holds "of mode 0600" test "$(stat -c %a "$QUOIT_DB")" = 600
baseline
refused 7 "init never takes a file that is there" "quoit.db" init
ok 0 "a manifest is imported" import raycluster "$two_slices" --now "$now"
out "with its name as the source" two-slices
ok 0 "importing it again" import raycluster "$two_slices" --now "$now"
out "is said to be nothing new" "new:    no"
ok 0 "importing twice" import raycluster "$two_slices" --now "$now" -o json
json "import has JSON"
fact "is importing once" 'd["source"], d["new"], d["n_changes"]' "('two-slices', False, 0)"
ok 0 "fleet text is imported" import fleet 'v5e 2x2 x2 pool=small' --now "$now"
printf 'v4 2x2x2 x1' | quoit import fleet - --source piped --now "$now" >"$tmp/out"
out "also from standard input" piped
ok 0 "a node list is imported" import ray-nodes "$top_srcdir/tests/data/captures/lost.one-slice-host-lost.py-ray.nodes.json" \
  --source lost --now "$now"
baseline
refused 2 "import knows four kinds" "'helm'|expected raycluster, ray-nodes, k8s-nodes or fleet" import helm x
refused 2 "import wants two arguments" "expected the arguments" import fleet
refused 4 "a file must be there" "/no/such: No such file" import raycluster /no/such
refused 2 "--set is for manifests" "--set 'X=1'|expected it with raycluster alone" import fleet 'v6e 4x4' --set X=1
refused 2 "node lists have no variables either" "--set 'X=1'|expected it with raycluster alone" import ray-nodes /no/such --set X=1
refused 2 "--set wants a value" "--set 'X'|expected VARIABLE=VALUE" import raycluster "$two_slices" --set X

# --- reading
ok 0 "status works" status
out "status shows resources" TPU-v6e-16-head
out "status shows problems" degraded
ok 0 "status has JSON" status -o json
json "status JSON"
fact "with the same facts" '[s["source"] for s in d["sources"]]' "['fleet', 'lost', 'piped', 'two-slices']"
fact "problems name the slice and why" 'd["problems"][0]["kind"], bool(d["problems"][0]["problem"])' "('slice', True)"
refused 2 "status has no arguments" "unexpected argument 'all': expected the arguments: none" status all
for verb in nodes slices groups slots; do
  ok 0 "$verb works" "$verb"
  ok 0 "$verb has JSON" "$verb" -o json
  json "$verb JSON"
  refused 2 "$verb has no arguments" "expected the arguments: none" "$verb" x
done
ok 0 "nodes have JSON" nodes -o json
fact "numbers are numbers" '[n["chips"] for n in d["nodes"] if n["node"] == "small-0-0"]' "[4]"
fact "what is not known is null" '[n["address"] for n in d["nodes"] if n["node"] == "small-0-0"]' "[None]"
ok 0 "slots count whole slices" slots -o json
fact "by class" '[(c["slices"], c["intact"], c["fit_now"]) for c in d["classes"] if c["topology"] == "2x2"]' "[(2, 2, 2)]"
ok 0 "show finds a node" show small-0-0
out "and its full name" fleet/small/small-0-0
ok 0 "show finds it by its full name" show fleet/small/small-0-0 -o json
json "show JSON"
fact "amounts are text" '[r["total"] for r in d["resources"] if r["resource"] == "TPU"]' "['4']"
ok 0 "show finds a slice" show small-1
out "and its nodes" small-1-0
refused 4 "show wants a name that is there" "'nothing'" show nothing
ok 0 "the catalogue needs no database" catalogue --db /no/such
out "and has the generations" v6e
ok 0 "and their topologies" catalogue Trillium -o json
json "catalogue JSON"
fact "as the vendors have them" '[t["hosts"] for t in d["topologies"] if t["topology"] == "4x4" and t["chips_per_host"] == 4]' "[4]"
fact "and who accepts them in words" '[t["accepted_by"] for t in d["topologies"] if t["topology"] == "4x4" and t["chips_per_host"] == 4]' \
  "[['kubectl-ray', 'ray', 'xpk', 'maxtext']]"
ok 0 "one by one" catalogue v6e 2x4
out "with a legend" "accepted by: K kubectl-ray, R ray, X xpk, M maxtext, T toolkit, - the documentation alone"
refused 3 "catalogue says what is near" "'5x5'|4x4" catalogue v6e 5x5
refused 3 "catalogue lists what there is" "'v99'|v6e" catalogue v99

# --- reserving
before_dry=$(cat "$tmp/baseline")
ok 0 "a dry run says what would be" reserve train --topology 2x2 --accelerator v5e --slices 2 --now "$now" --dry-run
out "and that it is one" "nothing has changed"
out "with the nodes" small-1-0
holds "and changes nothing" test "$(quoit export json)" = "$before_dry"
ok 0 "reserve takes whole slices" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann \
  --now "$now"
out "prints the workers" small-0-0
out "and the environment" TPU_
ok 0 "a retry with the key" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann -o json --now "$now"
json "reserve JSON"
fact "is the same group, and no dry run" 'd["dry_run"], d["existing"]' "(False, None)"
fact "is the same group" 'd["group"]["group"], d["group"]["state"], d["group"]["ray_state"]' "('train@1', 'reserved', 'CREATED')"
fact "with a row a worker" 'd["workers"][1]["slice_id"], d["workers"][1]["node"]' "(1, 'small-1-0')"
fact "and times in UTC" 'd["group"]["since"]' "2026-05-01T09:30:00.000Z"
ok 0 "a dry run of the retry" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann --dry-run
out "does not say that it would be reserved" "dry run: train@1 was made for this key and is reserved; nothing would change"
ok 0 "in JSON too" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann --dry-run -o json
fact "is told apart" 'd["dry_run"], d["existing"]' "(True, True)"
baseline
refused 5 "what is taken is refused for now" "not now|0 of 1 slice free|1 short|release train@1" reserve more --topology 2x2 --accelerator v5e --slices 1 --now "$now"
err "with reasons" "held: 2 -> 0"
err "and what would help" "would help: release train@1"
ok 5 "in JSON too" reserve more --topology 2x2 --accelerator v5e --slices 1 -o json --now "$now"
json "the refusal is a document"
fact "with code and verdict" 'd["error"]["code"], d["error"]["status"], d["verdict"]' "('NOT_NOW', 5, 'not-now')"
fact "with reasons as data" 'd["reasons"][0]["constraint"], d["reasons"][0]["before"], d["reasons"][0]["after"]' "('held', 2, 0)"
fact "and options as data" '{k: v for k, v in d["options"][0]["steps"][0].items() if v is not None}' \
  "{'kind': 'release', 'group': 'train@1'}"
refused 6 "what is too much is refused for ever" "never|2 of 3 slices" reserve more --topology 2x2 --accelerator v5e --slices 3 --now "$now"
refused 6 "a dry run refuses as the run would" "never|2 of 3 slices" reserve more --topology 2x2 --accelerator v5e --slices 3 --dry-run
ok 5 "fits says not now" fits --topology 2x2 --accelerator v5e --slices 1
out "in words" not-now
ok 6 "fits says never" fits --topology 2x2 --accelerator v5e --slices 3 -o json
json "fits JSON"
fact "and how many could be had" 'd["verdict"], d["wanted"], d["now"], d["could"]' "('never', 3, 0, 2)"
ok 0 "fits says yes" fits --topology 4x4 --accelerator v6e --slices 2
refused 3 "fits checks the request" "topology '3x3'|expected one that v5litepod has" fits --accelerator v5e --topology 3x3 --slices 1
ok 0 "fits takes a selector" fits --topology 4x4 --accelerator v6e --slices 1 --select 'ray.io/node-group=!in(a,b)'
refused 2 "--select wants a value" "--select 'k'|expected KEY=VALUE" fits --topology 4x4 --accelerator v6e --slices 1 --select k
refused 4 "a pool must be there" "nowhere" fits --topology 4x4 --accelerator v6e --slices 1 --pool nowhere
refused 4 "a slice must be there" "nowhere" fits --topology 4x4 --accelerator v6e --slices 1 --slice nowhere
ok 0 "groups are listed" groups -o json
fact "with owner and key" '[(g["owner"], g["key"]) for g in d["groups"]]' "[('ann', 'job-1')]"
ok 0 "who-holds answers for a node" who-holds small-0-0
out "with the group" train@1
ok 0 "and for a slice" who-holds small-1 -o json
json "who-holds JSON"
fact "with its owner" 'd["nodes"][0]["held_by"], d["nodes"][0]["owners"]' "(['train@1'], ['ann'])"
ok 0 "who-holds answers when nobody does" who-holds tpu-group-0 -o json
fact "with nobody" 'd["nodes"][0]["held_by"]' "[]"
refused 4 "who-holds wants a name that is there" "'nothing'" who-holds nothing
ok 0 "show finds a group" show train@1
out "and its workers" small-0-0

# --- env
ok 0 "env prints every process" env train
out "with a header" "# process 1: slice id 1 (small-1), worker 0, node small-1-0"
ok 0 "env has JSON" env train --slice small-1 -o json
json "env JSON"
fact "with the chosen process" '[(p["process_id"], p["environment"]["TPU_WORKER_ID"]) for p in d["processes"]]' "[(1, '0')]"
ok 0 "-o env is for one process" env train --slice-id 0 --worker 0 -o env
out "as a shell reads it" "TPU_WORKER_ID='0'"
ok 0 "a slice has a full name too" env train --slice fleet/small/small-1 -o env
refused 2 "-o env of several would be the last one's" "-o env is for one process, these are 2" env train -o env
refused 4 "a worker must be there" "--worker '7': expected a worker id of the slice: 0" env train --worker 7
refused 4 "and a slice" "--slice 'nope': expected a slice of the group: small-0, small-1" env train --slice nope
refused 4 "of the group" "--slice 'tpu-group-0': expected a slice of the group: small-0" env train --slice tpu-group-0
refused 4 "by id too" "--slice-id '2': expected a slice id of the group: 0, 1" env train --slice-id 2 --worker 0
refused 4 "a group must be there" "nobody" env nobody
refused 2 "env knows four profiles" "--profile 'slurm'|expected quoit, ray-train, kuberay or jobset" env train --profile slurm
refused 2 "a slice is chosen once" "--slice and --slice-id" env train --slice small-0 --slice-id 0
refused 5 "ray-train needs addresses" "address" env train --profile ray-train
holds "a host is dead" quoit set-state small-1-0 dead --now "$now"
ok 0 "the environment is still that of the whole group" env train --slice-id 0 --worker 0 -o env
out "which counts the lost slice" "MEGASCALE_NUM_SLICES='2'"
err "and says which is lost" "quoit: env: warning: slice 1 (small-1) is lost: host small-1-0 is dead"
ok 0 "JSON says so too" env train -o json
fact "among the notes" '"slice 1 (small-1) is lost: host small-1-0 is dead" in d["notes"], "RESCHEDULING" in d["notes"][-1]' "(True, True)"
holds "it comes back" quoit set-state small-1-0 alive --now "$now"
ok 0 "and is mentioned no more" env train --slice-id 0 --worker 0 -o env
holds "there is no warning" test ! -s "$tmp/err"
baseline

# --- states of nodes
ok 0 "drain" drain two-slices/tpu-group/tpu-group-0-1 --now "$now"
out "says before and after" draining
baseline
ok 5 "nothing new comes to it" reserve more --topology 4x4 --accelerator v6e --slices 2 --pool tpu-group --now "$now"
err "and undrain would help" "undrain"
ok 0 "undrain" undrain tpu-group-0-1 --now "$now" -o json
json "undrain JSON"
fact "takes it back" 'd["before"], d["after"]' "('draining', 'alive')"
ok 0 "set-state" set-state small-0-0 dead --now "$now"
ok 0 "a group that lost a node" groups -o json
fact "is rescheduling" '[g["state"] for g in d["groups"]]' "['rescheduling']"
ok 0 "status names it" status
out "as a problem" "is lost: a host of it is dead: repair"
baseline
refused 7 "a dead node cannot drain" "small-0-0" drain small-0-0 --now "$now"
refused 2 "set-state knows three states" "'asleep'|expected alive, draining or dead" set-state small-0-0 asleep
refused 4 "set-state wants a node" "nothing" set-state nothing dead
refused 4 "drain wants a node" "nothing" drain nothing
refused 4 "undrain wants a node" "nothing" undrain nothing
ok 0 "set-state back" set-state small-0-0 alive --now "$now"

# --- errors and exit codes
baseline
refused 7 "a stale id releases nothing" "train" release train@99 --now "$now"
refused 4 "nobody is released" "nobody" release nobody --now "$now"
ok 0 "release" release train@1 --now "$now" -o json
json "release JSON"
fact "says what was freed" 'd["released"], d["n_slices"], d["n_workers"]' "('train@1', 2, 2)"
baseline
refused 4 "a second release finds nothing" "train" release train --now "$now"
ok 0 "what has been released is shown as long as a key names it" show train
out "as removed" "removed"
ok 0 "by its id too" show train@1 -o json
fact "with no workers" 'd["group"]["state"], d["workers"]' "('removed', [])"
refused 3 "but has no environment" "group 'train@1' was released at 2026-05-01T09:30:00.000Z: it has no workers" env train
refused 4 "and is not released again" "train" release train --now "$now"
ok 0 "a retry with the key of a released group" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 \
  --owner ann --now "$now"
out "says that nothing is reserved" "nothing is reserved"
holds "and reserves nothing" unchanged
ok 0 "journal" journal
out "has every verb" undrain
out "and who it was" "$(id -un)"
ok 0 "journal has JSON" journal --since 4 -o json
json "journal JSON"
fact "from where one asked" 'd["entries"][0]["seq"]' 5
fact "with one text each" 'sorted(d["entries"][0]), "text" in d["entries"][0]["effects"][0]' \
  "(['actor', 'effects', 'seq', 'time', 'verb'], True)"
fact "with effects as data" '[e["effects"][0]["type"] for e in d["entries"] if e["verb"] == "reserve"]' "['group-added']"
refused 2 "--since is a number" "--since 'x'" journal --since x
refused 3 "from 0" "--since '-1'" journal --since -1
ok 0 "verify" verify
ok 0 "verify has JSON" verify -o json
json "verify JSON"
fact "and says yes" 'd["verified"]' True
refused 2 "verify has no arguments" "expected the arguments: none" verify all
ok 0 "export" export json
json "export JSON"
refused 2 "export knows one form" "'yaml'|expected json" export yaml
ok 0 "backup" backup "$tmp/copy.db"
ok 0 "the copy is a database" --db "$tmp/copy.db" verify
holds "with the same state" test "$(quoit --db "$tmp/copy.db" export json)" = "$(quoit export json)"
refused 7 "backup never takes a file that is there" "copy.db" backup "$tmp/copy.db"
refused 8 "backup needs a place" "/no/such" backup /no/such/copy.db

finish
