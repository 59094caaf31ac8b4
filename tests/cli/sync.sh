#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ray's groups and external use, as read by import and sync; and a fleet that changes.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/ray-lists.sh"

captures=$top_srcdir/tests/data/captures
by_name='{g["name"]: g for g in d["groups"]}'

# --- two reservations, one placed and one waiting: the list has 44 groups, 40 of them removed, one pending
nodes=$captures/gke.hold-and-wait.ray-list-nodes--format-json.json
groups=$captures/gke.hold-and-wait.py-placement_group_table.json
available=$captures/gke.hold-and-wait.py-available_resources_per_node.json
pending=a44a00ec47957c78d89b8e33799401000000
fresh
ok 0 "nodes, groups and what is available" import ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now" -o json
fact "are read, and warn of nothing" 'd["n_nodes"], d["warnings"]' "(9, [])"
fact "each group is said to be new" 'sorted({(c["kind"], c["detail"]) for c in d["changes"]})' "[('group', 'new')]"
ok 0 "the groups are there after a restart" groups -o json
fact "removed ones are left out, and all belong to the source" 'len(d["groups"]), {g["source"] for g in d["groups"]}' "(4, {'ray'})"
fact "a group has Ray's name" "${by_name}['train-a']['ray_state']" CREATED
fact "one without a name has Ray's id, and may wait" "${by_name}['$pending']['state'], ${by_name}['$pending']['ray_state']" \
  "('pending', 'PENDING')"
ok 0 "the waiting one" show "$pending" -o json
fact "is placed nowhere" '[(b["node"], b["chips"]) for b in d["bundles"]]' "[(None, [])]"
ok 0 "a placed one" show train-a -o json
fact "says the chips that each bundle has" '{tuple(b["chips"]) for b in d["bundles"]}' "{('0', '1', '2', '3')}"
fact "and what else" '{b["has"] for b in d["bundles"]}' "{'chips 0,1,2,3: CPU 1, TPU 4'}"
ok 0 "a host that two groups share" who-holds 127.0.0.6 -o json
fact "is held by both" 'len(d["nodes"][0]["held_by"]), "train-a@1" in d["nodes"][0]["held_by"]' "(2, True)"
ok 0 "whole slices" slots -o json
fact "of which a group has a part are not free" '[(c["slices"], c["fit_now"]) for c in d["classes"]]' "[(2, 0)]"
ok 0 "the journal replays" verify
baseline
for command in 'release train-a' 'confirm train-a' 'resize train-a --slices 1' 'repair train-a' 'renew train-a --lease 10s'; do
  # shellcheck disable=SC2086
  refused 7 "$command: Ray's groups are Ray's" "'train-a@1' belongs to source 'ray'|remove it there, and sync" $command --now "$now"
done
refused 7 "a group of Ray's is not forgotten" "'train-a@1' is not gone" forget train-a@1 --now "$now"

ok 0 "a dry run of sync" sync ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now" --dry-run -o json
fact "says that nothing would change" 'd["dry_run"], d["n_changes"]' "(True, 0)"
empty=$captures/mixed.idle.ray-list-placement-groups--detail--format-json.json
holds "Ray's words for no groups are a list without any" grep -q 'No resource in the cluster' "$empty"
ok 0 "a dry run without groups" sync ray-nodes "$nodes" --groups "$empty" --now "$now" --dry-run -o json
fact "says which would go" 'sorted({(c["kind"], c["detail"]) for c in d["changes"]}), d["n_changes"]' "([('group', 'gone')], 4)"
holds "and changes nothing" unchanged
quoit sync ray-nodes "$nodes" --groups "$empty" --now "$now" >/dev/full 2>"$tmp/err" && fail "a difference that nobody can read fails"
err "a difference that nobody can read is a failure" "quoit: sync: "
holds "and is not written" unchanged
ok 0 "a later list" sync ray-nodes "$nodes" --groups "$empty" --now "$now"
ok 0 "without them" groups -o json
fact "takes Ray's groups away" 'd["groups"]' "[]"
ok 0 "their slices" slots -o json
fact "are free" '[c["fit_now"] for c in d["classes"]]' "[2]"

# --- an actor and two tasks outside any group
nodes=$captures/plain.actor-task-and-group.ray-list-nodes--detail--format-json.json
groups=$captures/plain.actor-task-and-group.ray-list-placement-groups--detail--format-json.json
available=$captures/plain.actor-task-and-group.py-available_resources_per_node.json
external='sorted(n["node"] for n in d["nodes"] if n["held_by"] == ["external"])'
fresh
ok 0 "a cluster with plain tasks" import ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now"
ok 0 "its nodes" nodes -o json
fact "what no group explains is external, node by node" "$external" "['127.0.0.2', '127.0.0.3', '127.0.0.5']"
ok 0 "a node" show 127.0.0.2 -o json
fact "resource by resource" '{r["resource"]: r["used"] for r in d["resources"] if r["resource"] in ("CPU", "TPU")}' \
  "{'CPU': '1', 'TPU': '1'}"
ok 0 "who holds it" who-holds 127.0.0.2 -o json
fact "is external" 'd["nodes"][0]["held_by"]' "['external']"
ok 0 "availability without groups" sync ray-nodes "$nodes" --available "$available" --now "$now" -o json
fact "is counted beside the groups that are known" '[c["kind"] for c in d["changes"]]' "[]"
baseline
# Each host has more resources in use: 3 of 4 TPU are free if 1 is used, and 2 if 2 are.
sed 's/"TPU": 3.0/"TPU": 2.0/g' "$available" >"$tmp/more.json"
ok 0 "a dry run of more use" sync ray-nodes "$nodes" --groups "$groups" --available "$tmp/more.json" --now "$now" --dry-run -o json
fact "says so" '[(c["kind"], c["name"]) for c in d["changes"]]' "[('external', 'ray')]"
holds "and changes nothing" unchanged
ok 0 "more use" sync ray-nodes "$nodes" --groups "$groups" --available "$tmp/more.json" --now "$now"
ok 0 "a node" show 127.0.0.2 -o json
fact "has it" '{r["resource"]: r["used"] for r in d["resources"] if r["resource"] in ("CPU", "TPU")}' "{'CPU': '1', 'TPU': '2'}"
ok 0 "the journal replays" verify
ok 0 "a list of nodes alone" sync ray-nodes "$nodes" --now "$now" -o json
fact "says nothing of use" 'd["n_changes"], len(d["warnings"])' "(0, 1)"
"${python:-true}" - "$nodes" >"$tmp/fewer.json" <<'PY'
import json, sys
print(json.dumps([n for n in json.load(open(sys.argv[1])) if n["node_ip"] != "127.0.0.2"]))
PY
if [ -n "$python" ]; then
  ok 0 "a node that was used goes" sync ray-nodes "$tmp/fewer.json" --now "$now" -o json
  fact "and its use with it" 'sorted((c["kind"], c["name"]) for c in d["changes"])' "[('external', 'ray'), ('removed', '127.0.0.2')]"
  ok 0 "the journal replays" verify
  ok 0 "all of it again" sync ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now"
  ok 0 "its nodes" nodes -o json
  fact "are as they were" "$external" "['127.0.0.2', '127.0.0.3', '127.0.0.5']"
else
  skip "a node that was used goes: no python3"
fi
ok 0 "groups without availability" sync ray-nodes "$nodes" --groups "$groups" --now "$now" -o json
fact "leave what is known of other use" '[c["kind"] for c in d["changes"]]' "[]"
ok 0 "its nodes" nodes -o json
fact "are not free" "$external" "['127.0.0.2', '127.0.0.3', '127.0.0.5']"
ok 0 "the journal replays" verify

# --- a group whose host was lost
lost=$captures/lost.one-slice-host-lost
fresh
ok 0 "a cluster that lost a host" import ray-nodes "$lost.ray-list-nodes--detail.yaml" --groups "$lost.ray-list-placement-groups--detail.yaml" \
  --available "$lost.py-available_resources_per_node.json" --now "$now"
ok 0 "its group" show train-a -o json
fact "is RESCHEDULING, as Ray says" 'd["group"]["ray_state"], [b["node"] is None for b in d["bundles"]]' \
  "('RESCHEDULING', [False, True, False, False])"

# --- files from different times, or from different clusters
fresh
ray_list "$tmp/two.json" 0.0 1.0
{
  printf '{"%s": {"CPU": 8.0}' "$(ray_id 0 0 99)"
  for replica in 0 1; do
    head='"TPU-v6e-16-head": 1.0, '
    for worker in 0 1 2 3; do
      printf ',\n"%s": {"CPU": 8.0, "TPU": 4.0, %s"tpu-group-%s": 1.0, "accelerator_type:TPU-V6E": 1.0}' \
        "$(ray_id "$replica" 0 "$worker")" "$head" "$replica"
      head=
    done
  done
  echo '}'
} >"$tmp/idle.json"
ok 0 "a cluster that idles" import ray-nodes "$tmp/two.json" --available "$tmp/idle.json" --now "$now"
ok 0 "its nodes" nodes -o json
fact "are free" '[n["held_by"] for n in d["nodes"] if n["chips"] > 0 and n["held_by"]]' "[]"
baseline
id=$(ray_id 1 0 2)
grep -v "$id" "$tmp/idle.json" >"$tmp/absent.json"
refused 3 "an alive node that the availability lacks" "$tmp/absent.json: |'$id'|'10.1.0.2'|expected every node that is alive" \
  import ray-nodes "$tmp/two.json" --available "$tmp/absent.json" --now "$now"
sed "/$id/ s/\"TPU\": 4.0/\"TPU\": 5.0/" "$tmp/idle.json" >"$tmp/most.json"
refused 3 "more is available than there is" "$tmp/most.json: |$id.TPU|'5': expected at most 4" \
  import ray-nodes "$tmp/two.json" --available "$tmp/most.json" --now "$now"
refused 3 "groups of another cluster" "$groups: |node_id|expected one of the list of nodes" \
  import ray-nodes "$tmp/two.json" --groups "$groups" --now "$now"
refused 3 "availability of another cluster" "$available: |expected one of the list of nodes" \
  import ray-nodes "$tmp/two.json" --available "$available" --now "$now"
refused 3 "groups without their bundles" "'bundles'|--detail" import ray-nodes "$captures/mixed.both-reserved.ray-list-nodes--format-json.json" \
  --groups "$captures/mixed.both-reserved.ray-list-placement-groups--format-json.json" --now "$now"
refused 4 "groups that are not there" "/no/such: No such file" import ray-nodes "$tmp/two.json" --groups /no/such --now "$now"
refused 2 "manifests have no groups beside them" "--groups: expected it with ray-nodes alone" import raycluster "$two_slices" --groups "$groups"
refused 2 "nor has fleet text what is available" "--available: expected it with ray-nodes alone" sync fleet 'v6e 4x4' --available "$available"

# --- lists that Ray has truncated
ray_list "$tmp/cut.json" 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.0 16.0 17.0 18.0 19.0 20.0 21.0 22.0 23.0
sed -i '$ s/]$//' "$tmp/cut.json"
for worker in 0 1 2; do
  printf ',\n' && ray_row 24 "$worker" 0 ALIVE
done >>"$tmp/cut.json"
echo ']' >>"$tmp/cut.json"
fresh
refused 3 "a list of exactly 100 nodes" "$tmp/cut.json: |exactly 100 rows|--limit 10000|--complete" import ray-nodes "$tmp/cut.json" --now "$now"
ok 0 "is taken when it is said to be complete" import ray-nodes "$tmp/cut.json" --complete --now "$now" -o json
fact "with all of its rows" 'd["n_nodes"]' 100
fresh
ok 0 "two slices" import ray-nodes "$tmp/two.json" --now "$now"
{
  comma='['
  for row in $(seq 100); do
    printf '%s{"placement_group_id": "%036d", "name": "", "state": "REMOVED", "bundles": [' "$comma" "$row"
    printf '{"bundle_id": {"bundle_index": 0}, "unit_resources": {"CPU": 1.0}, "node_id": null, "label_selector": {}}]}\n'
    comma=','
  done
  echo ']'
} >"$tmp/removed.json"
baseline
refused 3 "a list of exactly 100 groups" "$tmp/removed.json: |exactly 100 rows|--complete" \
  sync ray-nodes "$tmp/two.json" --groups "$tmp/removed.json" --now "$now"
ok 0 "is taken when it is complete" sync ray-nodes "$tmp/two.json" --groups "$tmp/removed.json" --complete --now "$now" -o json
fact "and all of them are removed" 'd["n_changes"]' 0

# --- import protects allocated nodes, sync follows the list
fresh
ok 0 "two slices" import ray-nodes "$tmp/two.json" --now "$now"
ok 0 "one is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ray_list "$tmp/one.json" 1.0
baseline
refused 7 "import drops no held node" "'10.0.0.0'|'train@1' holds it|release the group first" import ray-nodes "$tmp/one.json" --now "$now"
ok 0 "sync" sync ray-nodes "$tmp/one.json" --now "$now" -o json
fact "says that it is lost" '[(c["name"], c["group"]) for c in d["changes"] if c["kind"] == "lost"][0]' "('10.0.0.0', 'train@1')"
ok 0 "the lost node" show 10.0.0.0 -o json
fact "stays, dead" 'd["node"]["state"]' dead
ok 0 "the group goes" release train --now "$now"
ok 0 "the next sync" sync ray-nodes "$tmp/one.json" --now "$now" -o json
fact "drops what nobody holds any more" '[c["kind"] for c in d["changes"]]' "['removed', 'removed', 'removed', 'removed']"
ok 0 "an unchanged list" sync ray-nodes "$tmp/one.json" --now "$now" -o json
fact "changes nothing" 'd["n_changes"]' 0

# --- one bundle per chip: PyTorch/XLA on v5p-8, one host, and v5p-16, two
fresh 'v5p 2x2x1 x1; v5p 2x2x2 x1'
ok 0 "a process a chip of v5p-8" reserve one --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 1 --now "$now" -o json
fact "is 4 bundles on one host, each with its chip" '[(b["node"], b["chips"]) for b in d["bundles"]]' \
  "[('v5p-2x2x1-0-0', ['0']), ('v5p-2x2x1-0-0', ['1']), ('v5p-2x2x1-0-0', ['2']), ('v5p-2x2x1-0-0', ['3'])]"
ok 0 "and of v5p-16" reserve two --topology 2x2x2 --accelerator v5p --slices 1 --tpu-per-bundle 1 --now "$now" -o json
fact "is 4 on each of two" '[(b["node"][-1], b["chips"][0]) for b in d["bundles"]]' \
  "[('0', '0'), ('0', '1'), ('0', '2'), ('0', '3'), ('1', '0'), ('1', '1'), ('1', '2'), ('1', '3')]"
ok 0 "the first one's end" release one --now "$now"
baseline
refused 3 "chips that do not divide a host" "TPU per bundle '3': expected|divide a host's 4" \
  reserve more --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 3 --now "$now"
ok 0 "half a chip each" reserve half --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 0.5 --now "$now" -o json
fact "is two a chip" '[b["chips"][0] for b in d["bundles"]]' "['0', '0', '1', '1', '2', '2', '3', '3']"
baseline
refused 3 "no chips at all" "TPU per bundle '0': expected more than 0" \
  reserve more --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 0 --now "$now"

# --- JAX devices for chips
sed 's/"TPU": 4.0/"TPU": 8.0/' "$tmp/two.json" >"$tmp/devices.json"
fresh
ok 0 "two devices a chip" import ray-nodes "$tmp/devices.json" --tpu-resource-per-chip 2 --now "$now"
ok 0 "nodes" nodes -o json
fact "have 4 chips" '{n["chips"] for n in d["nodes"] if n["slice"]}' "{4}"
ok 0 "and their slices" slots -o json
fact "are whole" '[(c["chips_per_host"], c["intact"]) for c in d["classes"]]' "[(4, 2)]"
baseline
refused 3 "no devices a chip" "'0'|1 to 64" import ray-nodes "$tmp/devices.json" --tpu-resource-per-chip 0 --now "$now"

finish
