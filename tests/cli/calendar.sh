#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reservations ahead and windows of the calendar: `reserve --from --until`, `calendar`, and the verbs that count them.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:00:00Z
one='--topology 4x4 --accelerator v6e --slices 1'
two='--topology 4x4 --accelerator v6e --slices 2'
three='--topology 4x4 --accelerator v6e --slices 3'
night='--from 2026-05-01T20:00:00Z --until 2026-05-02T06:00:00Z'
calendar='[(e["kind"], e["name"]) for e in d["calendar"]]'
slices='[w["slice"] for w in d["workers"]][::4]'

# shellcheck disable=SC2086
{
fresh 'v6e 4x4 x3 pool=big zone=z'
ok 0 "an empty calendar is listed" calendar --now "$now" -o json
fact "the calendar is empty" 'd["calendar"]' "[]"

# --- reserve ahead
ok 0 "a dry run of a reservation ahead succeeds" reserve night $two $night --dry-run --now "$now"
out "the dry run has the times" "dry run: night@1 would be reserved from 2026-05-01T20:00:00.000Z until 2026-05-02T06:00:00.000Z; nothing has changed"
ok 0 "a reservation ahead succeeds" reserve night $two $night --owner me --key k --now "$now"
out "the sentence has the times" "night@1 is reserved from 2026-05-01T20:00:00.000Z until 2026-05-02T06:00:00.000Z"
out "the facts have the beginning" "begins:  2026-05-01T20:00:00.000Z"
ok 0 "the same request key again succeeds" reserve night $two $night --owner me --key k --now "$now" -o json
fact "it returns the same group" 'd["group"]["group"], d["group"]["state"], "environment" in d' "('night@1', 'ahead', False)"
ok 0 "a dry run with the request key succeeds" reserve night $two $night --owner me --key k --dry-run --now "$now"
out "the dry run names the group and its times" "night@1 was made for this key and is reserved from 2026-05-01T20:00:00.000Z until 2026-05-02T06:00:00.000Z; nothing would change"
ok 0 "a reservation ahead without an end succeeds" reserve long $one --from 2026-05-03T00:00:00Z --now "$now"
out "the sentence has no end" "long@2 is reserved from 2026-05-03T00:00:00.000Z
"
ok 0 "groups lists reservations ahead" groups --state ahead --now "$now" -o json
fact "groups has their beginnings" '[(g["group"], g["state"], g["ray_state"], g["begins"], g["until"]) for g in d["groups"]]' \
  "[('night@1', 'ahead', None, '2026-05-01T20:00:00.000Z', '2026-05-02T06:00:00.000Z'), ('long@2', 'ahead', None, '2026-05-03T00:00:00.000Z', None)]"
ok 0 "groups prints CSV" groups --state ahead --now "$now" -o csv
out "CSV has the beginning" ",2026-05-01T20:00:00.000Z,2026-05-02T06:00:00.000Z,"
ok 0 "status succeeds" status --now "$now" -o json
fact "status counts the slices as free" 'd["slices"]["free"], d["slices"]["held"], [g["state"] for g in d["groups"]], d["problems"]' "(3, 0, ['ahead', 'ahead'], [])"
ok 0 "nodes succeeds" nodes --now "$now" -o json
fact "no node is used before the beginning" '[n for n in d["nodes"] if n["held_by"]]' "[]"
ok 0 "export dot succeeds" export dot --now "$now"
holds "the graph has no edge of a group that has not begun" sh -c "! grep -q night '$tmp/out'"
baseline
refused 7 "mesh of a group that has not begun" "group 'night@1' begins at 2026-05-01T20:00:00.000Z: its slices can change until then, so it has no mesh yet" mesh night --axes a=32 --now "$now"
refused 7 "map of a group that has not begun" "its slices can change until then, so it has no map yet" map night --now "$now"
refused 7 "map of an axis of a group that has not begun" "so it has no map yet" map night --axis a --axes a=32 --now "$now"

# --- windows
ok 0 "a window is added" calendar add service --slice big-0 --from 2026-05-01T12:00:00Z --until 2026-05-02T13:00:00Z --now "$now" -o json
fact "the answer has the window" 'd["calendar"][0]["kind"], d["calendar"][0]["name"], d["calendar"][0]["from"], d["calendar"][0]["until"], d["calendar"][0]["scope"], d["calendar"][0]["target"]' \
  "('window', 'service', '2026-05-01T12:00:00.000Z', '2026-05-02T13:00:00.000Z', 'slice', 'big-0')"
ok 0 "show succeeds" show night --now "$now" -o json
fact "the reservation got other slices" "$slices" "['big-1', 'big-2']"
ok 0 "a window of a node is added" calendar add disk --node big-1-0 --from 2026-05-04T12:00:00Z --until 2026-05-04T13:00:00Z --now "$now"
ok 0 "a window of a zone is added" calendar add past --zone z --from 2026-04-01T12:00:00Z --until 2026-05-01T09:00:01Z --now "$now"
ok 0 "the calendar is listed" calendar --now "$now" -o json
fact "the calendar is in the order of beginnings" "$calendar" \
  "[('window', 'past'), ('window', 'service'), ('reservation', 'night@1'), ('reservation', 'long@2'), ('window', 'disk')]"
fact "the calendar has the facts of a reservation" '{**d["calendar"][2], "request": 0}' \
  "{'kind': 'reservation', 'name': 'night@1', 'from': '2026-05-01T20:00:00.000Z', 'until': '2026-05-02T06:00:00.000Z', 'scope': None, 'target': None, 'owner': 'me', 'n_slices': 2, 'n_bundles': 0, 'request': 0}"
ok 0 "the calendar is listed later" calendar --now 2026-05-01T20:00:00Z -o json
fact "what has begun or ended is not listed" "$calendar" "[('window', 'service'), ('reservation', 'long@2'), ('window', 'disk')]"
ok 0 "the calendar of the past is listed" calendar --at 3 -o json
fact "the past has its calendar" "$calendar" "[('reservation', 'night@1'), ('reservation', 'long@2')]"
baseline
ok 0 "the same window again succeeds" calendar add service --slice big-0 --from 2026-05-01T12:00:00Z --until 2026-05-02T13:00:00Z --now "$now"
holds "the same window again changes nothing" unchanged

# --- questions
later='--now 2026-05-01T09:10:00Z'
ok 5 "a request without a lease does not fit" fits $three $later
ok 0 "a request with a short lease fits" fits $three --lease 170m $later
ok 5 "a request with a longer lease does not fit" fits $three --lease 171m $later
ok 0 "two slices are free until the reservation begins" fits $two --lease 650m $later
ok 5 "an expected run time beyond the lease counts" fits $two --lease 10h --expect 651m $later
ok 0 "explain takes a lease" explain $three --lease 171m $later -o json
fact "the option waits until the window ends" '[s["kind"] for o in d["options"] for s in o["steps"]].count("window-ends") > 0, d["verdict"]' "(True, 'not-now')"
ok 0 "when takes a lease" when $three --lease 2h $later -o json
fact "the request starts now" 'd["start"]' "2026-05-01T09:10:00.000Z"
ok 0 "when finds the end of the window" when $three --lease 10h $later -o json
fact "the request starts after the window" 'd["start"]' "2026-05-02T13:00:00.000Z"

# --- invalid input
baseline
refused 2 "--until alone" "--until requires --from TIME" reserve x $one --until 2026-05-02T06:00:00Z --now "$now"
refused 2 "a lease for a reservation ahead" "--lease cannot be combined with --from" reserve x $one $night --lease 1h --now "$now"
refused 2 "--from for a hold" "unknown option '--from'; see quoit hold --help" hold x $one --lease 1h --from 2026-05-02T06:00:00Z --now "$now"
refused 3 "a beginning that is no time" "--from 'noon': expected ISO 8601" reserve x $one --from noon --now "$now"
refused 3 "a beginning of 0" "--from '0'" reserve x $one --from 0 --now "$now"
refused 3 "a beginning in the past" "from '" reserve x $one --from 2026-05-01T08:00:00Z --now "$now"
refused 3 "a beginning now" "from '" reserve x $one --from "$now" --now "$now"
refused 3 "an end before the beginning" "--until '2026-05-01T19:00:00Z': expected a time after that of --from" reserve x $one --from 2026-05-01T20:00:00Z --until 2026-05-01T19:00:00Z --now "$now"
refused 3 "an end of 0" "--until '0': expected a time after that of --from" reserve x $one --from 2026-05-01T20:00:00Z --until 0 --now "$now"
refused 3 "an end after the year 2199" "until '" reserve x $one --from 2026-05-01T20:00:00Z --until 2200-01-01T00:00:00Z --now "$now"
refused 5 "a reservation that does not fit at its time" "not now" reserve x $two $night --now "$now"
refused 6 "a reservation that never fits" "never" reserve x --topology 4x4 --accelerator v6e --slices 4 $night --now "$now"
refused 2 "an action that does not exist" "'drop': expected add, remove or no argument" calendar drop x
refused 2 "an action without a name" "add requires the NAME" calendar add
refused 2 "a window without a target" "expected one of --node, --slice, --pool and --zone" calendar add x --from 1 --until 2
refused 2 "a window with two targets" "expected one of --node" calendar add x --node big-0-0 --pool big --from 1 --until 2
refused 2 "a window without an end" "expected --from TIME and --until TIME" calendar add x --pool big --from 2026-05-02T06:00:00Z
refused 2 "a listing with a target" "require add" calendar --pool big
refused 2 "a removal with times" "require add" calendar remove disk --from 2026-05-02T06:00:00Z
refused 2 "a change of the past" "--at cannot be combined with add or remove" calendar remove disk --at 3
refused 2 "CSV of a change" "add and remove have no rows" calendar remove disk -o csv
window='--from 2026-05-05T08:00:00Z --until 2026-05-05T12:00:00Z'
refused 3 "a time that is not ISO 8601" "--until 'x': expected ISO 8601" calendar add x --pool big --from 1 --until x
refused 3 "a window that ends before it begins" "--until '2026-05-05T07:00:00Z': expected a time after that of --from" calendar add x --pool big --from 2026-05-05T08:00:00Z --until 2026-05-05T07:00:00Z --now "$now"
refused 3 "a window that has ended" "expected a window that ends after now" calendar add x --pool big --from 2026-04-05T08:00:00Z --until 2026-04-05T12:00:00Z --now "$now"
refused 3 "an empty name" "window '': expected 1 to 253 bytes" calendar add '' --pool big $window --now "$now"
refused 3 "an empty target" "target '' of a window" calendar add x --pool '' $window --now "$now"
refused 4 "a node that does not exist" "'nowhere'" calendar add x --node nowhere $window --now "$now"
refused 4 "a zone that does not exist" "'nowhere'" calendar add x --zone nowhere $window --now "$now"
refused 7 "another window of the same name" "there is another window 'service' already" calendar add service --pool big $window --now "$now"
refused 7 "a window that takes promised slices" "reservations ahead need nodes of pool=big" calendar add x --pool big $night --now "$now"
refused 4 "the removal of an unknown window" "no window 'x'" calendar remove x --now "$now"
refused 7 "the environment of a group that has not begun" "group 'night@1' begins at 2026-05-01T20:00:00.000Z: its slices can change until then" env night --now "$now"
refused 7 "the renewal of a group that has not begun" "is a reservation ahead" renew night --lease 1h --now "$now"
refused 7 "the repair of a group that has not begun" "is a reservation ahead" repair night --now "$now"

# --- leases, and the beginning
ok 0 "a short job runs on promised slices" reserve day $three --lease 2h $later
baseline
refused 7 "a renewal into the window" "nodes of window 'service', which begins at 2026-05-01T12:00:00.000Z" renew day --lease 4h --now 2026-05-01T10:00:00Z
ok 0 "the window is removed" calendar remove service --now 2026-05-01T10:00:00Z -o json
fact "the answer names the window" 'd["removed"]' "service"
ok 0 "the renewal succeeds without the window" renew day --lease 10h --now 2026-05-01T10:00:00Z
baseline
refused 7 "a renewal into the reservation" "promised to 'night@1', which begins at 2026-05-01T20:00:00.000Z" renew day --lease 11h --now 2026-05-01T10:00:00Z
ok 0 "show reads the group at its beginning" show night --now 2026-05-01T20:00:00Z -o json
fact "the group has begun" 'd["group"]["state"], d["group"]["begins"]' "('reserved', '2026-05-01T20:00:00.000Z')"
ok 0 "env of the group at its beginning succeeds" env night --now 2026-05-01T20:00:00Z
ok 0 "a change after the beginning succeeds" update night --priority 1 --now 2026-05-01T20:00:00Z
ok 0 "the journal is read" journal -o json
fact "the journal has the beginning" '[e["verb"] for e in d["entries"]][-3:]' "['expire', 'begin', 'update']"
fact "the journal describes it" 'd["entries"][-2]["effects"][0]["text"].split(" now")[0]' "night@1 holds 8 nodes of 2 slices"
fact "the journal describes windows" '[f["text"] for e in d["entries"] for f in e["effects"] if e["verb"].startswith("calendar")][-1]' "window service is removed"
ok 0 "verify replays the calendar" verify
ok 0 "the past is exported" export json --at 5
fact "the export has windows and beginnings" '[(w["window"], w["scope"], w["target"]) for w in d["windows"]], [g["begins"] for g in d["groups"]]' \
  "([('service', 'slice', 'big-0'), ('disk', 'node', 'big-1-0')], ['2026-05-01T20:00:00.000Z', '2026-05-03T00:00:00.000Z'])"
last=$(quoit journal -o csv | tail -n 1 | cut -d , -f 1)
ok 0 "the journal is compacted" journal compact --before $((last + 1)) --now 2026-05-01T20:00:00Z
ok 0 "verify accepts the checkpoint" verify
ok 0 "the calendar is listed from the checkpoint" calendar --now 2026-05-01T20:00:00Z -o json
fact "the checkpoint has the calendar" "$calendar" "[('reservation', 'long@2'), ('window', 'disk')]"

# --- failures before the beginning
fresh 'v6e 4x4 x3'
ok 0 "a reservation ahead succeeds" reserve night $two $night --now "$now"
ok 0 "a node of it dies" set-state v6e-4x4-0-0 dead --now "$now"
ok 0 "the next change succeeds" update night --priority 1 --now "$now"
ok 0 "show succeeds" show night --now "$now" -o json
fact "the reservation got other slices" "$slices" "['v6e-4x4-1', 'v6e-4x4-2']"
ok 0 "a second node dies" set-state v6e-4x4-1-0 dead --now "$now"
ok 0 "status succeeds" status --now "$now" -o json
fact "status reports that there are no others" '[(p["name"], p["problem"]) for p in d["problems"] if p["kind"] == "group"]' \
  "[('night@1', 'it begins at 2026-05-01T20:00:00.000Z with dead or draining nodes, unless others become free before')]"
ok 0 "show reads the group at its beginning" show night --now 2026-05-01T20:00:00Z -o json
fact "it begins with dead nodes" 'd["group"]["state"]' rescheduling
ok 0 "verify accepts the moves" verify
}

finish
