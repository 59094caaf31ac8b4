#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every verb works as documented in both forms of output, and refuses one wrong input.
. "$top_srcdir/tests/cli/lib.sh"

# --- init, import
ok 0 "init creates a database" init
out "init prints the path" "$QUOIT_DB"
holds "the database has mode 0600" test "$(stat -c %a "$QUOIT_DB")" = 600
baseline
refused 7 "init over an existing file" "quoit.db" init
ok 0 "a manifest is imported" import raycluster "$two_slices" --now "$now"
out "the manifest's name is the source" two-slices
ok 0 "the manifest is imported again" import raycluster "$two_slices" --now "$now"
out "the second import reports no new source" "new:    no"
ok 0 "the manifest is imported again as JSON" import raycluster "$two_slices" --now "$now" -o json
json "import prints JSON"
fact "the second import changes nothing" 'd["source"], d["new"], d["n_changes"]' "('two-slices', False, 0)"
ok 0 "fleet text is imported" import fleet 'v5e 2x2 x2 pool=small' --now "$now"
printf 'v4 2x2x2 x1' | quoit import fleet - --source piped --now "$now" >"$tmp/out"
out "fleet text is imported from standard input" piped
ok 0 "a node list is imported" import ray-nodes "$top_srcdir/tests/data/captures/lost.one-slice-host-lost.py-ray.nodes.json" \
  --source lost --now "$now"
baseline
refused 2 "unknown kind of import" "'helm'|expected raycluster, ray-nodes, k8s-nodes or fleet" import helm x
refused 2 "import with one argument" "expected the arguments" import fleet
refused 4 "import of a missing file" "/no/such: No such file" import raycluster /no/such
echo 'v6e 4x4' >"$tmp/fleet.txt"
refused 2 "a file as fleet text" "fleet '$tmp/fleet.txt': expected fleet text|use 'quoit import fleet - <$tmp/fleet.txt'" \
  import fleet "$tmp/fleet.txt"
echo 'kind: RayCluster' >"$tmp/manifest.yaml"
refused 3 "a manifest as a list of nodes" "manifest.yaml: line 1: a map: expected a list of nodes, as 'ray list nodes --detail" import ray-nodes "$tmp/manifest.yaml"
refused 2 "explain of nothing" "expected a GROUP, or a request, such as --accelerator" explain
refused 2 "--set with fleet text" "--set 'X=1' requires raycluster" import fleet 'v6e 4x4' --set X=1
refused 2 "--set with a node list" "--set 'X=1' requires raycluster" import ray-nodes /no/such --set X=1
refused 2 "--set without a value" "--set 'X'|expected VARIABLE=VALUE" import raycluster "$two_slices" --set X

# --- reading
ok 0 "status succeeds" status
out "status shows resources" TPU-v6e-16-head
out "status shows problems" degraded
ok 0 "status -o json succeeds" status -o json
json "status prints JSON"
fact "JSON lists the sources" '[s["source"] for s in d["sources"]]' "['fleet', 'lost', 'piped', 'two-slices']"
fact "a problem has kind and cause" 'd["problems"][0]["kind"], bool(d["problems"][0]["problem"])' "('slice', True)"
refused 2 "status with an argument" "unexpected argument 'all': expected no argument; see quoit status --help" status all
for verb in nodes slices groups slots; do
  ok 0 "$verb succeeds" "$verb"
  ok 0 "$verb -o json succeeds" "$verb" -o json
  json "$verb prints JSON"
  refused 2 "$verb with an argument" "expected no argument" "$verb" x
done
ok 0 "nodes -o json succeeds" nodes -o json
fact "numbers are JSON numbers" '[n["chips"] for n in d["nodes"] if n["node"] == "small-0-0"]' "[4]"
fact "unknown values are null" '[n["address"] for n in d["nodes"] if n["node"] == "small-0-0"]' "[None]"
ok 0 "slots -o json succeeds" slots -o json
fact "slots counts the slices of each class" '[(c["slices"], c["intact"], c["fit_now"]) for c in d["classes"] if c["topology"] == "2x2"]' "[(2, 2, 2)]"
ok 0 "show accepts a node" show small-0-0
out "show prints the full name of a node" fleet/small/small-0-0
ok 0 "show accepts the full name of a node" show fleet/small/small-0-0 -o json
json "show prints JSON"
fact "amounts are JSON texts" '[r["total"] for r in d["resources"] if r["resource"] == "TPU"]' "['4']"
ok 0 "show accepts a slice" show small-1
out "show prints the nodes of a slice" small-1-0
refused 4 "show of an unknown name" "'nothing'" show nothing
ok 0 "catalogue succeeds without a database" catalogue --db /no/such
out "catalogue lists the generations" v6e
ok 0 "catalogue accepts any name of a generation" catalogue Trillium -o json
json "catalogue prints JSON"
fact "a topology has its number of hosts" '[t["hosts"] for t in d["topologies"] if t["topology"] == "4x4" and t["chips_per_host"] == 4]' "[4]"
fact "a topology lists the tools that accept it" '[t["accepted_by"] for t in d["topologies"] if t["topology"] == "4x4" and t["chips_per_host"] == 4]' \
  "[['kubectl-ray', 'ray', 'xpk', 'maxtext']]"
ok 0 "catalogue accepts a topology" catalogue v6e 2x4
out "catalogue prints a legend" "accepted by: K kubectl-ray, R ray, X xpk, M maxtext, T toolkit, - documentation"
refused 3 "catalogue with an unknown topology" "'5x5'|4x4" catalogue v6e 5x5
refused 3 "catalogue with an unknown generation" "'v99'|v6e" catalogue v99

# --- reserving
before_dry=$(cat "$tmp/baseline")
ok 0 "reserve --dry-run succeeds" reserve train --topology 2x2 --accelerator v5e --slices 2 --now "$now" --dry-run
out "the dry run says that nothing has changed" "nothing has changed"
out "the dry run prints the nodes" small-1-0
holds "the dry run changes nothing" test "$(quoit export json)" = "$before_dry"
ok 0 "reserve succeeds" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann \
  --now "$now"
out "reserve prints the workers" small-0-0
out "reserve prints the environment" "TPU_NAME                      small-0"
ok 0 "a retry with the same key succeeds" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann -o json --now "$now"
json "reserve prints JSON"
fact "the retry returns a group that is neither new nor a dry run" 'd["dry_run"], d["existing"]' "(False, None)"
fact "the retry returns the same group" 'd["group"]["group"], d["group"]["state"], d["group"]["ray_state"]' "('train@1', 'reserved', 'CREATED')"
fact "JSON has one row per worker" 'd["workers"][1]["slice_id"], d["workers"][1]["node"]' "(1, 'small-1-0')"
fact "times are in UTC" 'd["group"]["since"]' "2026-05-01T09:30:00.000Z"
ok 0 "a dry run of a retry succeeds" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann --dry-run
out "the dry run reports the existing group" "dry run: train@1 was made for this key and is reserved; nothing would change"
ok 0 "a dry run of a retry prints JSON" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 --owner ann --dry-run -o json
fact "JSON marks the dry run and the existing group" 'd["dry_run"], d["existing"]' "(True, True)"
baseline
refused 5 "request for allocated slices" "not now|0 of 1 slice free|1 short|2 of 2 slices are allocated to groups" reserve more --topology 2x2 --accelerator v5e --slices 1 --now "$now"
err "the refusal has the reasons" "allocated: 2 -> 0"
err "the refusal has an option" "would help: release train@1"
ok 5 "a refusal exits with 5 and prints JSON" reserve more --topology 2x2 --accelerator v5e --slices 1 -o json --now "$now"
json "the refusal is JSON"
fact "JSON has code and verdict" 'd["error"]["code"], d["error"]["status"], d["verdict"]' "('NOT_NOW', 5, 'not-now')"
fact "JSON has the reasons" 'd["reasons"][0]["constraint"], d["reasons"][0]["before"], d["reasons"][0]["after"]' "('allocated', 2, 0)"
fact "JSON has the options" '{k: v for k, v in d["options"][0]["steps"][0].items() if v is not None}' \
  "{'kind': 'release', 'group': 'train@1'}"
refused 6 "request for more slices than the fleet has" "never|2 of 3 slices" reserve more --topology 2x2 --accelerator v5e --slices 3 --now "$now"
refused 6 "dry run of a request for more slices than the fleet has" "never|2 of 3 slices" reserve more --topology 2x2 --accelerator v5e --slices 3 --dry-run
ok 5 "fits exits with 5 for not now" fits --topology 2x2 --accelerator v5e --slices 1
out "fits prints the verdict" not-now
ok 6 "fits exits with 6 for never" fits --topology 2x2 --accelerator v5e --slices 3 -o json
json "fits prints JSON"
fact "JSON has the possible number of slices" 'd["verdict"], d["wanted"], d["now"], d["could"]' "('never', 3, 0, 2)"
ok 0 "fits exits with 0 if the request fits" fits --topology 4x4 --accelerator v6e --slices 2
refused 3 "fits with an invalid topology" "topology '3x3'|expected one that v5e has" fits --accelerator v5e --topology 3x3 --slices 1
ok 0 "fits accepts a selector" fits --topology 4x4 --accelerator v6e --slices 1 --select 'ray.io/node-group=!in(a,b)'
refused 2 "--select without a value" "--select 'k'|expected KEY=VALUE" fits --topology 4x4 --accelerator v6e --slices 1 --select k
refused 4 "unknown --pool" "nowhere" fits --topology 4x4 --accelerator v6e --slices 1 --pool nowhere
refused 4 "unknown --slice" "nowhere" fits --topology 4x4 --accelerator v6e --slices 1 --slice nowhere
ok 0 "groups -o json succeeds" groups -o json
fact "groups prints owner and key" '[(g["owner"], g["key"]) for g in d["groups"]]' "[('ann', 'job-1')]"
ok 0 "who-holds accepts a node" who-holds small-0-0
out "who-holds prints the group" train@1
ok 0 "who-holds accepts a slice" who-holds small-1 -o json
json "who-holds prints JSON"
fact "JSON has group and owner" 'd["nodes"][0]["held_by"], d["nodes"][0]["owners"]' "(['train@1'], ['ann'])"
ok 0 "who-holds accepts a free slice" who-holds tpu-group-0 -o json
fact "a free node has no user" 'd["nodes"][0]["held_by"]' "[]"
refused 4 "who-holds of an unknown name" "'nothing'" who-holds nothing
ok 0 "show accepts a group" show train@1
out "show prints the workers of a group" small-0-0

# --- env
ok 0 "env prints every process" env train
out "env prints a header for each process" "# process 1: slice id 1 (small-1), worker 0, node small-1-0"
ok 0 "env -o json succeeds" env train --slice small-1 -o json
json "env prints JSON"
fact "env --slice selects the processes of the slice" '[(p["process_id"], p["environment"]["TPU_WORKER_ID"]) for p in d["processes"]]' "[(1, '0')]"
ok 0 "env -o env prints one process" env train --slice-id 0 --worker 0 -o env
out "env -o env prints shell variables" "TPU_WORKER_ID='0'"
ok 0 "env --slice accepts a full name" env train --slice fleet/small/small-1 -o env
refused 2 "env -o env of several processes" "-o env writes one process, but 2 match" env train -o env
refused 4 "unknown --worker" "--worker '7': expected a worker id of the slice: 0" env train --worker 7
refused 4 "unknown --slice of env" "--slice 'nope': expected a slice of the group: small-0, small-1" env train --slice nope
refused 4 "--slice that the group does not have" "--slice 'tpu-group-0': expected a slice of the group: small-0" env train --slice tpu-group-0
refused 4 "--slice-id that the group does not have" "--slice-id '2': expected a slice id of the group: 0, 1" env train --slice-id 2 --worker 0
refused 4 "env of an unknown group" "nobody" env nobody
refused 2 "unknown --profile" "--profile 'slurm'|expected quoit, ray-train, kuberay, jobset, lws or job" env train --profile slurm
refused 2 "--slice with --slice-id" "--slice and --slice-id" env train --slice small-0 --slice-id 0
refused 5 "profile ray-train without addresses exits with 5" "address" env train --profile ray-train
holds "set-state marks a host of the group dead" quoit set-state small-1-0 dead --now "$now"
ok 0 "env prints the environment with a lost slice" env train --slice-id 0 --worker 0 -o env
out "the environment still counts the lost slice" "MEGASCALE_NUM_SLICES='2'"
err "env warns about the lost slice" "quoit: env: warning: slice 1 (small-1) is lost: host small-1-0 is dead"
ok 0 "env -o json prints the environment with a lost slice" env train -o json
fact "the notes name the lost slice" '"slice 1 (small-1) is lost: host small-1-0 is dead" in d["notes"], "RESCHEDULING" in d["notes"][-1]' "(True, True)"
holds "set-state marks the host alive" quoit set-state small-1-0 alive --now "$now"
ok 0 "env prints the environment after the host is alive again" env train --slice-id 0 --worker 0 -o env
holds "env prints no warning for an intact group" test ! -s "$tmp/err"
baseline

# --- states of nodes
ok 0 "drain succeeds" drain two-slices/tpu-group/tpu-group-0-1 --now "$now"
out "drain prints the new state" draining
baseline
ok 5 "a slice with a draining host gets no new group" reserve more --topology 4x4 --accelerator v6e --slices 2 --pool tpu-group --now "$now"
err "the option is undrain" "undrain"
ok 0 "undrain succeeds" undrain tpu-group-0-1 --now "$now" -o json
json "undrain prints JSON"
fact "the node is alive again" 'd["before"], d["after"]' "('draining', 'alive')"
ok 0 "set-state marks a node dead" set-state small-0-0 dead --now "$now"
ok 0 "groups prints a group that lost a node" groups -o json
fact "the group that lost a node is rescheduling" '[g["state"] for g in d["groups"]]' "['rescheduling']"
ok 0 "status succeeds with a lost node" status
out "status prints the lost node as a problem" "is lost: a host of it is dead: repair"
baseline
refused 7 "drain of a dead node" "small-0-0" drain small-0-0 --now "$now"
refused 2 "unknown state" "'asleep'|expected alive, draining or dead" set-state small-0-0 asleep
refused 4 "set-state of an unknown node" "nothing" set-state nothing dead
refused 4 "drain of an unknown node" "nothing" drain nothing
refused 4 "undrain of an unknown node" "nothing" undrain nothing
ok 0 "a pool is drained" drain pool two-slices/tpu-group --now "$now" -o json
fact "its nodes are counted" 'd["scope"], d["n_nodes"], d["n_changed"], d["n_dead"]' '("pool '"'two-slices/tpu-group'"'", 8, 8, 0)'
ok 0 "the drain is one entry" journal -o json
fact "the entry names eight nodes" 'd["entries"][-1]["verb"], len(d["entries"][-1]["effects"])' "('drain', 8)"
ok 0 "the same drain again changes nothing" drain tpu-group --now "$now" -o json
fact "no node changes" 'd["n_changed"]' 0
ok 0 "a slice is undrained" undrain tpu-group-1 --now "$now" -o json
fact "the four nodes of the slice change" 'd["n_nodes"], d["n_changed"]' "(4, 4)"
ok 0 "the pool is undrained" undrain pool tpu-group --now "$now" -o json
fact "the other four nodes change" 'd["n_nodes"], d["n_changed"]' "(8, 4)"
ok 0 "a pool with a dead node is drained" drain pool small --now "$now" -o json
fact "its dead node is left alone" 'd["n_nodes"], d["n_changed"], d["n_dead"], d["held_by"]' "(2, 1, 1, ['train@1'])"
ok 0 "the pool is undrained" undrain pool small --now "$now"
baseline
refused 4 "drain of an unknown pool" "pool 'nothing'" drain pool nothing
refused 2 "drain of an unknown kind" "expected node, slice, pool or zone before the name 'x'" drain rack x
ok 0 "set-state marks the node alive" set-state small-0-0 alive --now "$now"

# --- errors and exit codes
baseline
refused 7 "release with a stale id" "train" release train@99 --now "$now"
refused 4 "release of an unknown group" "nobody" release nobody --now "$now"
ok 0 "release succeeds" release train@1 --now "$now" -o json
json "release prints JSON"
fact "release prints the freed slices and workers" 'd["released"], d["n_slices"], d["n_workers"]' "('train@1', 2, 2)"
baseline
refused 4 "second release" "train" release train --now "$now"
ok 0 "show prints a released group that has a key" show train
out "the group is shown as removed" "removed"
ok 0 "show accepts the handle of a released group" show train@1 -o json
fact "a released group has no workers" 'd["group"]["state"], d["workers"]' "('removed', [])"
refused 3 "env of a released group" "group 'train@1' was released at 2026-05-01T09:30:00.000Z: it has no workers" env train
refused 4 "release of a released group" "train" release train --now "$now"
ok 0 "a retry with the key of a released group succeeds" reserve train --topology 2x2 --accelerator v5e --slices 2 --key job-1 \
  --owner ann --now "$now"
out "the retry reports that nothing is reserved" "nothing is reserved"
holds "the retry reserves nothing" unchanged
ok 0 "journal succeeds" journal
out "the journal has every verb" undrain
out "the journal has the actor" "$(id -un)"
ok 0 "journal --since prints JSON" journal --since 4 -o json
json "journal prints JSON"
fact "the entries begin after --since" 'd["entries"][0]["seq"]' 5
fact "each entry has one text per effect" 'sorted(d["entries"][0]), "text" in d["entries"][0]["effects"][0]' \
  "(['actor', 'effects', 'seq', 'time', 'verb'], True)"
fact "effects have a type" '[e["effects"][0]["type"] for e in d["entries"] if e["verb"] == "reserve"]' "['group-added']"
refused 2 "--since that is no number" "--since 'x'" journal --since x
refused 3 "negative --since" "--since '-1'" journal --since -1
ok 0 "verify succeeds" verify
ok 0 "verify -o json succeeds" verify -o json
json "verify prints JSON"
fact "JSON says that the ledger is verified" 'd["verified"]' True
refused 2 "verify with an argument" "expected no argument" verify all
ok 0 "export json succeeds" export json
json "export prints JSON"
refused 2 "unknown export form" "'yaml'|expected json" export yaml
ok 0 "backup succeeds" backup "$tmp/copy.db"
ok 0 "the backup is a valid database" --db "$tmp/copy.db" verify
holds "the backup has the same state" test "$(quoit --db "$tmp/copy.db" export json)" = "$(quoit export json)"
refused 7 "backup over an existing file" "copy.db" backup "$tmp/copy.db"
refused 8 "backup to a missing folder" "/no/such" backup /no/such/copy.db

# A copy has the same history in a new ledger. tests/postgresql copies to a server and back.
from=$QUOIT_DB
ok 0 "copy succeeds" copy "$from" "$tmp/moved.db"
ok 0 "the copied ledger is valid" --db "$tmp/moved.db" verify
holds "the copied ledger has the same state" test "$(quoit --db "$tmp/moved.db" export json)" = "$(quoit --db "$from" export json)"
holds "the copied ledger has the same journal" \
  test "$(quoit --db "$tmp/moved.db" journal -o json)" = "$(quoit --db "$from" journal -o json)"
refused 7 "copy over an existing file" "moved.db" copy "$from" "$tmp/moved.db"
refused 4 "copy of a missing file" "no such database" copy "$tmp/absent.db" "$tmp/other.db"
holds "a refused copy leaves no file" test ! -e "$tmp/other.db"
refused 2 "copy with --db" "expected no --db" --db "$from" copy "$from" "$tmp/other.db"
refused 3 "copy to a server without a fleet" "expected the name of a fleet" copy "$from" postgresql://localhost/quoit
refused 8 "copy to a server that does not exist" "connecting" --wait 0 copy "$from" postgresql://127.0.0.1:1/quoit#tpus
refused 3 "restore to a server" "quoit copy" --db postgresql://127.0.0.1:1/quoit#tpus restore "$tmp/moved.db"
refused 3 "backup to a URL" "quoit copy" backup postgresql://127.0.0.1:1/quoit#tpus

finish
