#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ray's groups and external use, as read by import and sync; and a fleet that changes.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/ray-lists.sh"

captures=$top_srcdir/tests/data/captures
by_name='{g["name"]: g for g in d["groups"]}'

# --- all reservations are placed: nobody waits
fresh
two=$captures/gke.two-reserved
ok 0 "a cluster without a pending group is imported" import ray-nodes "$two.ray-list-nodes--detail--format-json.json" \
  --groups "$two.py-placement_group_table.json" --available "$two.py-available_resources_per_node.json" --now "$now"
ok 0 "status prints no problems" status -o json
fact "nobody holds and waits" 'd["problems"]' "[]"

# --- two reservations, one placed and one waiting: the list has 44 groups, 40 of them removed, one pending
nodes=$captures/gke.hold-and-wait.ray-list-nodes--format-json.json
groups=$captures/gke.hold-and-wait.py-placement_group_table.json
available=$captures/gke.hold-and-wait.py-available_resources_per_node.json
pending=a44a00ec47957c78d89b8e33799401000000
fresh
ok 0 "nodes, groups and availability are imported" import ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now" -o json
fact "all nodes are imported without warnings" 'd["n_nodes"], d["warnings"]' "(9, [])"
fact "each group is reported as new" 'sorted({(c["kind"], c["detail"]) for c in d["changes"]})' "[('group', 'new')]"
ok 0 "groups prints the imported groups" groups -o json
fact "removed groups are omitted, and all groups belong to the source" 'len(d["groups"]), {g["source"] for g in d["groups"]}' "(4, {'ray'})"
fact "a group has Ray's name and state" "${by_name}['train-a']['ray_state']" CREATED
fact "a group without a name has Ray's id and can be pending" "${by_name}['$pending']['state'], ${by_name}['$pending']['ray_state']" \
  "('pending', 'PENDING')"
ok 0 "show prints a pending group" show "$pending" -o json
fact "a pending group has no nodes" '[(b["node"], b["chips"]) for b in d["bundles"]]' "[(None, [])]"
ok 0 "show prints a placed group" show train-a -o json
fact "each bundle has its chips" '{tuple(b["chips"]) for b in d["bundles"]}' "{('0', '1', '2', '3')}"
fact "each bundle has its resources" '{b["has"] for b in d["bundles"]}' "{'chips 0,1,2,3: CPU 1, TPU 4'}"
ok 0 "who-holds prints a host of two groups" who-holds 127.0.0.6 -o json
fact "both groups use the host" 'len(d["nodes"][0]["held_by"]), "train-a@1" in d["nodes"][0]["held_by"]' "(2, True)"
ok 0 "slots prints a cluster with groups" slots -o json
fact "slices that a group uses partly are not free" '[(c["slices"], c["fit_now"]) for c in d["classes"]]' "[(2, 0)]"
holder=cac052a2c50ab9fa147e921e740b01000000@4
ok 0 "status prints the problems of groups" status -o json
fact "status names hold-and-wait, and who has only the head of a slice" \
  "[('hold-and-wait: $pending@2 waits for ' + repr ('TPU-v6e-16-head') + ', while $holder has only the head of v6e-group-0;') in p['problem'] for p in d['problems']]" "[True]"
ok 0 "explain prints why the pending group waits" explain "$pending" -o wide
out "explain names hold-and-wait" "hold-and-wait: $pending@2 waits for 'TPU-v6e-16-head', while $holder has only the head of v6e-group-0"
ok 0 "explain prints why the pending group waits as JSON" explain "$pending" -o json
fact "JSON has hold-and-wait" \
  "d['hold_and_wait'].startswith ('hold-and-wait: $pending@2 waits for ' + repr ('TPU-v6e-16-head') + ', while $holder has only the head of v6e-group-0;')" True
ok 0 "verify replays the import of groups" verify
baseline
for command in 'release train-a' 'confirm train-a' 'resize train-a --slices 1' 'repair train-a' 'renew train-a --lease 10s'; do
  # shellcheck disable=SC2086
  refused 7 "$command of a group of Ray" "'train-a@1' belongs to source 'ray'|remove it at the source, and sync" $command --now "$now"
done
refused 7 "forget of a group of Ray" "'train-a@1' is live" forget train-a@1 --now "$now"

ok 0 "sync --dry-run succeeds" sync ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now" --dry-run -o json
fact "the dry run reports no changes" 'd["dry_run"], d["n_changes"]' "(True, 0)"
empty=$captures/mixed.idle.ray-list-placement-groups--detail--format-json.json
holds "Ray's output without groups says so" grep -q 'No resource in the cluster' "$empty"
ok 0 "sync --dry-run without groups succeeds" sync ray-nodes "$nodes" --groups "$empty" --now "$now" --dry-run -o json
fact "the dry run reports the groups that would be removed" 'sorted({(c["kind"], c["detail"]) for c in d["changes"]}), d["n_changes"]' "([('group', 'gone')], 4)"
holds "the dry run without groups changes nothing" unchanged
ok 0 "import --dry-run succeeds" import ray-nodes "$nodes" --groups "$empty" --now "$now" --dry-run -o json
fact "the dry run of an import reports the groups that would be removed" 'd["dry_run"], d["n_changes"]' "(True, 4)"
ok 0 "import --dry-run of a new source succeeds" import fleet 'v5e 4x4' --now "$now" --dry-run
out "it says so" 'dry run: nothing has changed'
refused 3 "import --dry-run of a broken text" "'4x5x'" import fleet 'v5e 4x5x' --now "$now" --dry-run
holds "the dry runs of imports change nothing" unchanged
quoit sync ray-nodes "$nodes" --groups "$empty" --now "$now" --dry-run >/dev/full 2>"$tmp/err" && fail "a dry run whose output is lost must fail"
holds "a dry run whose output is lost changes nothing" unchanged
status=0
quoit sync ray-nodes "$nodes" --groups "$empty" --now "$now" >/dev/full 2>"$tmp/err" || status=$?
holds "a sync whose output is lost exits with 14" test "$status" -eq 14
err "a sync whose output is lost is written" "quoit: sync: standard output: No space left on device: the change is written"
ok 0 "the same sync again succeeds" sync ray-nodes "$nodes" --groups "$empty" --now "$now" -o json
fact "the same sync again changes nothing" 'd["n_changes"]' "0"
ok 0 "groups prints the cluster without groups" groups -o json
fact "the groups of Ray are removed" 'd["groups"]' "[]"
ok 0 "slots prints the cluster without groups" slots -o json
fact "all slices are free without groups" '[c["fit_now"] for c in d["classes"]]' "[2]"

# --- an actor and two tasks outside any group
nodes=$captures/plain.actor-task-and-group.ray-list-nodes--detail--format-json.json
groups=$captures/plain.actor-task-and-group.ray-list-placement-groups--detail--format-json.json
available=$captures/plain.actor-task-and-group.py-available_resources_per_node.json
external='sorted(n["node"] for n in d["nodes"] if n["held_by"] == ["external"])'
fresh
ok 0 "a cluster with plain tasks is imported" import ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now"
ok 0 "nodes prints the cluster with plain tasks" nodes -o json
fact "use without a group is external use of its nodes" "$external" "['127.0.0.2', '127.0.0.3', '127.0.0.5']"
ok 0 "show prints a node with external use" show 127.0.0.2 -o json
fact "external use is counted per resource" '{r["resource"]: r["used"] for r in d["resources"] if r["resource"] in ("CPU", "TPU")}' \
  "{'CPU': '1', 'TPU': '1'}"
ok 0 "who-holds prints a node with external use" who-holds 127.0.0.2 -o json
fact "the user is external" 'd["nodes"][0]["held_by"]' "['external']"
ok 0 "availability without groups is synced" sync ray-nodes "$nodes" --available "$available" --now "$now" -o json
fact "known groups are subtracted from the use" '[c["kind"] for c in d["changes"]]' "[]"
baseline
# Each host has more resources in use: 3 of 4 TPU are free if 1 is used, and 2 if 2 are.
sed 's/"TPU": 3.0/"TPU": 2.0/g' "$available" >"$tmp/more.json"
ok 0 "sync --dry-run of more use succeeds" sync ray-nodes "$nodes" --groups "$groups" --available "$tmp/more.json" --now "$now" --dry-run -o json
fact "the dry run reports the change of external use" '[(c["kind"], c["name"]) for c in d["changes"]]' "[('external', 'ray')]"
holds "the dry run of more use changes nothing" unchanged
ok 0 "more use is synced" sync ray-nodes "$nodes" --groups "$groups" --available "$tmp/more.json" --now "$now"
ok 0 "show prints the node with more use" show 127.0.0.2 -o json
fact "the node has the new use" '{r["resource"]: r["used"] for r in d["resources"] if r["resource"] in ("CPU", "TPU")}' "{'CPU': '1', 'TPU': '2'}"
ok 0 "verify replays the changes of use" verify
ok 0 "a list of nodes alone is synced" sync ray-nodes "$nodes" --now "$now" -o json
fact "a list of nodes alone changes no use, and warns" 'd["n_changes"], len(d["warnings"])' "(0, 1)"
"${python:-true}" - "$nodes" >"$tmp/fewer.json" <<'PY'
import json, sys
print(json.dumps([n for n in json.load(open(sys.argv[1])) if n["node_ip"] != "127.0.0.2"]))
PY
if [ -n "$python" ]; then
  ok 0 "a list without a used node is synced" sync ray-nodes "$tmp/fewer.json" --now "$now" -o json
  fact "the external use of the removed node is removed" 'sorted((c["kind"], c["name"]) for c in d["changes"])' "[('external', 'ray'), ('removed', '127.0.0.2')]"
  ok 0 "verify replays the removal of the node" verify
  ok 0 "all lists are synced again" sync ray-nodes "$nodes" --groups "$groups" --available "$available" --now "$now"
  ok 0 "nodes prints all nodes again" nodes -o json
  fact "external use is as before" "$external" "['127.0.0.2', '127.0.0.3', '127.0.0.5']"
else
  skip "a node that was used goes: no python3"
fi
ok 0 "groups without availability are synced" sync ray-nodes "$nodes" --groups "$groups" --now "$now" -o json
fact "groups without availability leave external use unchanged" '[c["kind"] for c in d["changes"]]' "[]"
ok 0 "nodes prints the nodes after a sync without availability" nodes -o json
fact "nodes with external use are still not free" "$external" "['127.0.0.2', '127.0.0.3', '127.0.0.5']"
ok 0 "verify replays the syncs of use" verify

# --- a group whose host was lost
lost=$captures/lost.one-slice-host-lost
fresh
ok 0 "a cluster that lost a host is imported" import ray-nodes "$lost.ray-list-nodes--detail.yaml" --groups "$lost.ray-list-placement-groups--detail.yaml" \
  --available "$lost.py-available_resources_per_node.json" --now "$now"
ok 0 "show prints the group of the lost host" show train-a -o json
fact "the group of the lost host is RESCHEDULING, as in Ray" 'd["group"]["ray_state"], [b["node"] is None for b in d["bundles"]]' \
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
ok 0 "an idle cluster is imported" import ray-nodes "$tmp/two.json" --available "$tmp/idle.json" --now "$now"
ok 0 "nodes prints the idle cluster" nodes -o json
fact "all nodes of the idle cluster are free" '[n["held_by"] for n in d["nodes"] if n["chips"] > 0 and n["held_by"]]' "[]"
baseline
id=$(ray_id 1 0 2)
grep -v "$id" "$tmp/idle.json" >"$tmp/absent.json"
refused 3 "availability without an alive node" "$tmp/absent.json: |'$id'|'10.1.0.2'|expected every node that is alive" \
  import ray-nodes "$tmp/two.json" --available "$tmp/absent.json" --now "$now"
sed "/$id/ s/\"TPU\": 4.0/\"TPU\": 5.0/" "$tmp/idle.json" >"$tmp/most.json"
refused 3 "availability above the total" "$tmp/most.json: |$id.TPU|'5': expected at most 4" \
  import ray-nodes "$tmp/two.json" --available "$tmp/most.json" --now "$now"
refused 3 "groups of a different cluster" "$groups: |node_id|expected one of the list of nodes" \
  import ray-nodes "$tmp/two.json" --groups "$groups" --now "$now"
refused 3 "availability of a different cluster" "$available: |expected one of the list of nodes" \
  import ray-nodes "$tmp/two.json" --available "$available" --now "$now"
refused 3 "groups without bundles" "'bundles'|--detail" import ray-nodes "$captures/mixed.both-reserved.ray-list-nodes--format-json.json" \
  --groups "$captures/mixed.both-reserved.ray-list-placement-groups--format-json.json" --now "$now"
refused 4 "missing file of groups" "/no/such: No such file" import ray-nodes "$tmp/two.json" --groups /no/such --now "$now"
refused 2 "--groups with a manifest" "--groups requires ray-nodes" import raycluster "$two_slices" --groups "$groups"
refused 2 "--available with fleet text" "--available requires ray-nodes" sync fleet 'v6e 4x4' --available "$available"

# --- lists that Ray has truncated
ray_list "$tmp/cut.json" 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 10.0 11.0 12.0 13.0 14.0 15.0 16.0 17.0 18.0 19.0 20.0 21.0 22.0 23.0
sed -i '$ s/]$//' "$tmp/cut.json"
for worker in 0 1 2; do
  printf ',\n' && ray_row 24 "$worker" 0 ALIVE
done >>"$tmp/cut.json"
echo ']' >>"$tmp/cut.json"
fresh
refused 3 "list of exactly 100 nodes" "$tmp/cut.json: |exactly 100 rows|--limit 10000|--complete" import ray-nodes "$tmp/cut.json" --now "$now"
ok 0 "--complete accepts a list of exactly 100 nodes" import ray-nodes "$tmp/cut.json" --complete --now "$now" -o json
fact "all 100 rows are imported" 'd["n_nodes"]' 100
fresh
ok 0 "two slices are imported for the list of groups" import ray-nodes "$tmp/two.json" --now "$now"
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
refused 3 "list of exactly 100 groups" "$tmp/removed.json: |exactly 100 rows|--complete" \
  sync ray-nodes "$tmp/two.json" --groups "$tmp/removed.json" --now "$now"
ok 0 "--complete accepts a list of exactly 100 groups" sync ray-nodes "$tmp/two.json" --groups "$tmp/removed.json" --complete --now "$now" -o json
fact "removed groups change nothing" 'd["n_changes"]' 0

# --- import protects allocated nodes, sync follows the list
fresh
ok 0 "two slices are imported" import ray-nodes "$tmp/two.json" --now "$now"
ok 0 "one slice is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ray_list "$tmp/one.json" 1.0
baseline
refused 7 "import that drops an allocated node" "'10.0.0.0'|'train@1' uses it|release the group first" import ray-nodes "$tmp/one.json" --now "$now"
ok 0 "sync accepts the loss of an allocated node" sync ray-nodes "$tmp/one.json" --now "$now" -o json
fact "sync reports the lost node and its group" '[(c["name"], c["group"]) for c in d["changes"] if c["kind"] == "lost"][0]' "('10.0.0.0', 'train@1')"
ok 0 "show prints the lost node" show 10.0.0.0 -o json
fact "the lost node is kept as dead" 'd["node"]["state"]' dead
ok 0 "the group of the lost node is released" release train --now "$now"
ok 0 "sync succeeds after the release" sync ray-nodes "$tmp/one.json" --now "$now" -o json
fact "sync removes the nodes that no group uses any more" '[c["kind"] for c in d["changes"]]' "['removed', 'removed', 'removed', 'removed']"
ok 0 "an unchanged list is synced" sync ray-nodes "$tmp/one.json" --now "$now" -o json
fact "an unchanged list changes nothing" 'd["n_changes"]' 0

# --- one bundle per chip: PyTorch/XLA on v5p-8, one host, and v5p-16, two
fresh 'v5p 2x2x1 x1; v5p 2x2x2 x1'
ok 0 "a one-host slice is reserved in bundles of one chip" reserve one --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 1 --now "$now" -o json
fact "each bundle has one chip of the host" '[(b["node"], b["chips"]) for b in d["bundles"]]' \
  "[('v5p-2x2x1-0-0', ['0']), ('v5p-2x2x1-0-0', ['1']), ('v5p-2x2x1-0-0', ['2']), ('v5p-2x2x1-0-0', ['3'])]"
ok 0 "a two-host slice is reserved in bundles of one chip" reserve two --topology 2x2x2 --accelerator v5p --slices 1 --tpu-per-bundle 1 --now "$now" -o json
fact "each host has four bundles" '[(b["node"][-1], b["chips"][0]) for b in d["bundles"]]' \
  "[('0', '0'), ('0', '1'), ('0', '2'), ('0', '3'), ('1', '0'), ('1', '1'), ('1', '2'), ('1', '3')]"
ok 0 "the one-host group is released" release one --now "$now"
baseline
refused 3 "--tpu-per-bundle that does not divide a host" "TPU per bundle '3': expected|divide a host's 4" \
  reserve more --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 3 --now "$now"
ok 0 "a slice is reserved in bundles of half a chip" reserve half --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 0.5 --now "$now" -o json
fact "two bundles share each chip" '[b["chips"][0] for b in d["bundles"]]' "['0', '0', '1', '1', '2', '2', '3', '3']"
baseline
refused 3 "--tpu-per-bundle 0" "TPU per bundle '0': expected more than 0" \
  reserve more --topology 2x2x1 --accelerator v5p --slices 1 --tpu-per-bundle 0 --now "$now"

# --- JAX devices for chips
sed 's/"TPU": 4.0/"TPU": 8.0/' "$tmp/two.json" >"$tmp/devices.json"
fresh
ok 0 "a list with two devices per chip is imported" import ray-nodes "$tmp/devices.json" --tpu-resource-per-chip 2 --now "$now"
ok 0 "nodes prints the list with two devices per chip" nodes -o json
fact "each host has 4 chips" '{n["chips"] for n in d["nodes"] if n["slice"]}' "{4}"
ok 0 "slots prints the list with two devices per chip" slots -o json
fact "slices with two devices per chip are intact" '[(c["chips_per_host"], c["intact"]) for c in d["classes"]]' "[(4, 2)]"
baseline
refused 3 "--tpu-resource-per-chip 0" "'0'|1 to 64" import ray-nodes "$tmp/devices.json" --tpu-resource-per-chip 0 --now "$now"

finish
