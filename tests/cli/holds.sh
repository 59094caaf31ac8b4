#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds, leases and owners: when they expire, what is free afterwards, and wrong calls. A call without effect adds no
# journal entry.
. "$top_srcdir/tests/cli/lib.sh"

# at SECONDS: the time that many seconds after half past nine, within the hour.
at ()
{
  printf '2026-05-01T09:%02d:%02d.%03dZ' "$((30 + $1 / 60))" "$(($1 % 60))" "${2:-0}"
}

slice='--topology 4x4 --accelerator v6e --slices 1'
state='[(g["group"], g["state"], g["until"]) for g in d["groups"]]'

# shellcheck disable=SC2086
{
# --- hold, confirm
fresh 'v6e 4x4 x3'
baseline
ok 0 "hold --dry-run succeeds" hold a $slice --lease 10s --now "$(at 0)" --dry-run -o json
fact "the dry run prints the end of the lease" 'd["dry_run"], d["group"]["state"], d["group"]["until"]' "(True, 'held', '2026-05-01T09:30:10.000Z')"
holds "a dry run of hold changes nothing" unchanged
ok 0 "hold succeeds" hold a $slice --lease 10s --key k --now "$(at 0)" -o json
fact "the group is held until the lease ends" 'd["group"]["group"], d["group"]["state"], d["group"]["until"]' \
  "('a@1', 'held', '2026-05-01T09:30:10.000Z')"
ok 0 "who-holds reads a held slice" who-holds v6e-4x4-0 --now "$(at 0)" -o json
fact "who-holds prints the group and the end of its lease" '{(n["held_by"][0], n["until"][0]) for n in d["nodes"]}' "{('a@1', '2026-05-01T09:30:10.000Z')}"
baseline
ok 0 "a retry of hold with the same key succeeds" hold a $slice --lease 10s --key k --now "$(at 5)" -o json
fact "the retry returns the same group with the same end" 'd["group"]["group"], d["group"]["until"]' "('a@1', '2026-05-01T09:30:10.000Z')"
holds "a retry of hold changes nothing" unchanged
refused 7 "reserve with the key of a hold" "'k' was used to hold group 'a@1'|confirm it" reserve a $slice --key k --now "$(at 5)"
refused 7 "hold with the key of a different request" "'k' was used for another request: group 'a'" hold b $slice --lease 10s --key k --now "$(at 5)"
refused 7 "hold with the name of a live group" "there is a group 'a' already: 'a@1'" hold a $slice --lease 10s --now "$(at 5)"
ok 0 "confirm in the last millisecond succeeds" confirm a@1 --now "$(at 9 999)" -o json
fact "a confirmed group has no end" 'd["group"]["state"], d["group"]["until"]' "('reserved', None)"
baseline
ok 0 "a second confirm succeeds" confirm a@1 --now "$(at 60)" -o json
fact "the group stays reserved after a second confirm" 'd["group"]["state"]' reserved
holds "a second confirm changes nothing" unchanged
ok 0 "a retry of hold after confirm succeeds" hold a $slice --lease 10s --key k --now "$(at 60)"
out "the retry reports that the group is reserved" "a@1 is reserved"
refused 7 "renew of a group without a lease" "'a@1' has no lease" renew a --lease 10s --now "$(at 60)"
refused 7 "forget of a live group" "'a@1' is live" forget a@1 --now "$(at 60)"
ok 0 "a second group is held" hold b $slice --lease 10s --now "$(at 60)"
ok 0 "confirm --lease succeeds" confirm b --lease 1m --now "$(at 61)" -o json
fact "confirm --lease sets a new lease" 'd["group"]["state"], d["group"]["until"]' "('reserved', '2026-05-01T09:32:01.000Z')"
ok 0 "renew succeeds" renew b --lease 2m --now "$(at 70)" -o json
fact "renew sets a lease from now" 'd["group"]["state"], d["group"]["until"]' "('reserved', '2026-05-01T09:33:10.000Z')"
ok 0 "renew with a shorter lease succeeds" renew b --lease 500ms --now "$(at 71)" -o json
fact "renew can shorten a lease" 'd["group"]["until"]' 2026-05-01T09:31:11.500Z

# --- a lease expires with or without readers
ok 0 "groups succeeds before the lease ends" groups --now "$(at 71 499)" -o json
fact "the group is live before its lease ends" "$state" "[('a@1', 'reserved', None), ('b@2', 'reserved', '2026-05-01T09:31:11.500Z')]"
ok 0 "who-holds succeeds when the lease ends" who-holds v6e-4x4-1 --now "$(at 71 500)" -o json
fact "the slice is free when the lease ends, before an entry is written" '{tuple(n["held_by"]) for n in d["nodes"]}' "{()}"
ok 0 "fits counts the slice as free when the lease ends" fits --topology 4x4 --accelerator v6e --slices 2 --now "$(at 71 500)"
baseline
for verb in 'renew b --lease 10s' 'confirm b' 'confirm b@2' 'release b' 'release b@2' 'resize b --slices 2' 'repair b' \
  'release b --slice v6e-4x4-1'; do
  run $verb --now "$(at 72)"
  pass
  [ "$status" -eq 11 ] || fail "$verb after the end" "exit status $status"
  err "$verb after the lease ended reports the end" "the lease of group 'b@2' has ended"
done
holds "calls after the lease ended write nothing" unchanged
ok 0 "the name of an expired group can be reserved" reserve b $slice --now "$(at 73)" -o json
fact "the new group has a new id" 'd["group"]["group"]' b@3
ok 0 "journal succeeds after an expiry" journal -o json
fact "the journal has the expiry once, before the next entry" '[(e["verb"], e["time"][14:19]) for e in d["entries"]][-2:], sum(e["verb"] == "expire" for e in d["entries"])' \
  "([('expire', '31:13'), ('reserve', '31:13')], 1)"
baseline
refused 11 "confirm of an expired group" "'b@2' has ended|reserve again" confirm b@2 --now "$(at 74)"
ok 0 "groups succeeds after a refused confirm" groups --now "$(at 74)" -o json
fact "the confirm does not change the newer group of that name" '[g["state"] for g in d["groups"] if g["group"] == "b@3"]' "['reserved']"
refused 7 "confirm with an unknown id" "'b@3' now, not '@99'" confirm b@99 --now "$(at 74)"
refused 4 "confirm of an unknown group" "no group 'nobody'" confirm nobody --now "$(at 74)"
refused 4 "renew of an unknown group" "no group 'nobody'" renew nobody --lease 10s --now "$(at 74)"
refused 4 "repair of an unknown group" "no group 'nobody'" repair nobody --now "$(at 74)"
refused 4 "resize of an unknown group" "no group 'nobody'" resize nobody --slices 2 --now "$(at 74)"
refused 3 "confirm with an invalid id" "'b@x': expected NAME or NAME@ID" confirm b@x --now "$(at 74)"
ok 0 "verify replays the journal of holds" verify

# --- many groups in one entry
fresh 'v6e 4x4 x3'
for name in a b c; do
  ok 0 "group $name is held" hold $name $slice --lease 10s --now "$(at 0)"
done
ok 0 "renew of two groups succeeds" renew c b@2 --lease 20s --now "$(at 1)" -o json
fact "renew of two groups prints both in the order of the arguments" '[(g["group"], g["until"]) for g in d["groups"]]' \
  "[('c@3', '2026-05-01T09:30:21.000Z'), ('b@2', '2026-05-01T09:30:21.000Z')]"
ok 0 "one group is released" release c --now "$(at 1)"
baseline
refused 4 "renew of a group and an unknown one" "no group 'nobody'" renew b nobody --lease 1h --now "$(at 1)"
refused 7 "renew of a group and one that was released" "'c' of id 3" renew b c@3 --lease 1h --now "$(at 1)"
refused 11 "renew of a group and one whose lease has ended" "'a@1' has ended" renew b a --lease 1h --now "$(at 10)"
holds "a refused renew of several groups changes nothing" unchanged

# --- a hold of another job
fresh 'v6e 4x4 x3'
ok 0 "ann holds a slice" hold job $slice --lease 10s --owner ann --now "$(at 0)"
ok 0 "ann releases the hold" release job@1 --now "$(at 1)"
ok 0 "bob holds a slice with the same name" hold job $slice --lease 10s --owner bob --now "$(at 2)"
baseline
refused 7 "confirm with the handle of ann's released hold" "'job' is 'job@2' now, not '@1'" confirm job@1 --now "$(at 3)"
refused 7 "renew with the handle of ann's released hold" "'job@2' now, not '@1'" renew job@1 --lease 10s --now "$(at 3)"
refused 7 "resize with the handle of ann's released hold" "'job@2' now, not '@1'" resize job@1 --slices 2 --now "$(at 3)"
refused 7 "repair with the handle of ann's released hold" "'job@2' now, not '@1'" repair job@1 --now "$(at 3)"
refused 7 "release with the handle of ann's released hold" "'job@2' now, not '@1'" release job@1 --now "$(at 3)"

# --- invalid leases
for lease in 0 0s -1 -1s 0ms; do
  refused 3 "hold with a lease of $lease" "--lease '$lease': expected 1ms or more" hold x $slice --lease "$lease" --now "$(at 3)"
  refused 3 "renew with a lease of $lease" "--lease '$lease': expected 1ms or more" renew job --lease "$lease" --now "$(at 3)"
  refused 3 "confirm with a lease of $lease" "--lease '$lease': expected 1ms or more" confirm job --lease "$lease" --now "$(at 3)"
  refused 3 "owner set with a lease of $lease" "--lease '$lease': expected 1ms or more" owner set x --lease "$lease" --now "$(at 3)"
done
for verb in "hold x $slice" "renew job" "confirm job" "owner set x"; do
  refused 3 "$verb with a lease of 300 years" "lease '9467280000000' ms: expected one that ends before the year 2200" \
    $verb --lease 2629800h --now "$(at 3)"
done
for lease in 300y 10 1.5s s '' 99999999999999999999d '10 s'; do
  refused 2 "invalid lease '$lease'" "--lease '$lease': expected a number and a unit" hold x $slice --lease "$lease" --now "$(at 3)"
done
refused 2 "hold without a lease" "--lease" hold x $slice --now "$(at 3)"
refused 2 "renew without a lease" "--lease TIME" renew job --now "$(at 3)"
refused 2 "hold --dry-run without a lease" "--lease" hold x $slice --dry-run --now "$(at 3)"
ok 0 "reserve --lease --dry-run succeeds" reserve x $slice --lease 10s --now "$(at 3)" --dry-run -o json
fact "the dry run of reserve prints the end of the lease" 'd["group"]["state"], d["group"]["until"]' "('reserved', '2026-05-01T09:30:13.000Z')"
holds "a dry run of reserve changes nothing" unchanged

# --- clocks
ok 0 "confirm with a clock one year behind succeeds" confirm job@2 --lease 10s --now 2025-05-01T09:30:00Z -o json
fact "a clock behind is raised to the time of the last entry" 'd["group"]["until"]' 2026-05-01T09:30:12.000Z
ok 0 "journal succeeds after a clock jump" journal -o json
fact "times of entries never decrease" '[e["time"] for e in d["entries"]] == sorted(e["time"] for e in d["entries"])' True
baseline
refused 3 "a clock in seconds" "clock '1777627803'|milliseconds" renew job --lease 10s --now 1777627803
refused 3 "a clock in the next year" "clock '2027-05-01T00:00:00.000Z': | s ahead of the last entry (2026-05-0|'quoit set-clock'" \
  renew job --lease 10s --now 2027-05-01T00:00:00Z
refused 3 "a clock in the year 2200" "clock '7258118400000'" renew job --lease 10s --now 2200-01-01T00:00:00Z
refused 11 "confirm with a clock beyond the end of the lease" "'job@2' has ended" confirm job@2 --now 2026-05-02T09:30:00Z
ok 0 "'quoit groups' with an earlier clock succeeds" groups --now "$(at 5)" -o json

# --- keys, forget
fresh 'v6e 4x4 x3'
ok 0 "a group is held with a key" hold a $slice --lease 10s --key k --now "$(at 0)"
ok 0 "a retry after the hold expired succeeds" hold a $slice --lease 10s --key k --now "$(at 20)" -o json
fact "the retry returns the expired group and reserves nothing" 'd["group"]["group"], d["group"]["state"], d["group"]["expired"], d["workers"]' \
  "('a@1', 'removed', True, [])"
ok 0 "a retry after the hold expired prints text" hold a $slice --lease 10s --key k --now "$(at 21)"
out "the text says that the group has ended" "a@1 was made for this key and has ended with its lease: nothing is reserved"
baseline
refused 3 "forget without an id" "group 'a': expected NAME@ID" forget a --now "$(at 21)"
refused 4 "forget with an unknown id" "no record of a group 'a' with id 7" forget a@7 --now "$(at 21)"
refused 4 "forget with an unknown key" "no group has the request key 'x'" forget --key x --now "$(at 21)"
refused 2 "forget without arguments" "expected either NAME@ID or --key KEY or --before TIME" forget --now "$(at 21)"
refused 2 "forget with a handle and a key" "expected either NAME@ID or --key KEY or --before TIME" forget a@1 --key k --now "$(at 21)"
refused 2 "forget with a key and a time" "expected either NAME@ID or --key KEY or --before TIME" forget --key k --before "$(at 21)" --now "$(at 21)"
refused 3 "forget before a word" "--before 'yesterday'" forget --before yesterday --now "$(at 21)"
ok 0 "forget --before succeeds if nothing is that old" forget --before "$(at 5)" --now "$(at 21)" -o json
fact "it forgets no group" 'd["n_forgotten"]' 0
ok 0 "forget --key succeeds" forget --key k --now "$(at 21)"
baseline
refused 4 "a second forget" "no group has the request key 'k'" forget --key k --now "$(at 21)"
refused 7 "confirm of a forgotten group" "id 1" confirm a@1 --now "$(at 21)"
ok 0 "hold with a forgotten key succeeds" hold a $slice --lease 10s --key k --now "$(at 22)" -o json
fact "the forgotten key makes a new group with a new id" 'd["group"]["group"], d["group"]["state"]' "('a@2', 'held')"

# --- owners
fresh 'v6e 4x4 x3'
ok 0 "owner succeeds without owners" owner -o json
fact "no owner is listed" 'd["owners"]' "[]"
ok 0 "owner set succeeds" owner set driver --lease 30s --now "$(at 0)"
ok 0 "a group of an owner is held" hold a $slice --lease 60s --owner driver --now "$(at 0)" -o json
fact "the hold ends with its owner" 'd["group"]["until"]' 2026-05-01T09:30:30.000Z
ok 0 "a group of an owner is reserved" reserve b $slice --owner driver --now "$(at 0)" -o json
fact "the reservation ends with its owner" 'd["group"]["until"]' 2026-05-01T09:30:30.000Z
ok 0 "a group of an owner that was not set is reserved" reserve c $slice --owner other --now "$(at 0)" -o json
fact "a group of an owner that was not set has no end" 'd["group"]["until"]' None
ok 0 "owner lists the owners" owner --now "$(at 0)" -o json
fact "an owner has start, end and number of groups" '[(o["owner"], o["since"][11:19], o["until"][11:19], o["n_groups"]) for o in d["owners"]]' \
  "[('driver', '09:30:00', '09:30:30', 2)]"
ok 0 "owner renew succeeds" owner renew driver --lease 30s --now "$(at 20)"
ok 0 "who-holds reads a slice of an owner" who-holds v6e-4x4-1 --now "$(at 20)" -o json
fact "who-holds prints the owner and its end" '{(n["owners"][0], n["until"][0][11:19]) for n in d["nodes"]}' "{('driver', '09:30:50')}"
baseline
refused 4 "renew of an unknown owner" "no owner 'nobody' was set" owner renew nobody --lease 10s --now "$(at 20)"
refused 4 "renew of an owner that was not set" "no owner 'other' was set|\`owner set\`" owner renew other --lease 10s --now "$(at 20)"
refused 4 "end of an unknown owner" "owner 'nobody' is not registered, and no group belongs to it" owner end nobody --now "$(at 20)"
refused 3 "owner set with an empty name" "owner ''" owner set '' --now "$(at 20)"
refused 2 "unknown action of owner" "'kill': expected set, renew, end or no argument" owner kill driver --now "$(at 20)"
refused 2 "owner set without a name" "set requires the NAME of the owner" owner set --now "$(at 20)"
refused 2 "owner renew without a lease" "--lease TIME" owner renew driver --now "$(at 20)"
refused 2 "owner end with a lease" "--lease requires set or renew" owner end driver --lease 10s --now "$(at 20)"
ok 0 "groups succeeds after the owner expired" groups --now "$(at 50)" -o json
fact "all groups of an expired owner are free, with or without their own lease" '[(g["name"], g["state"]) for g in d["groups"] if g["state"] != "removed"]' \
  "[('c', 'reserved')]"
run confirm a --now "$(at 50)"
err "confirm of a group of an expired owner reports the end" "the lease of group 'a@2' has ended"
baseline
refused 11 "renew of an expired owner" "owner 'driver' has ended, and its groups are released|\`owner set\`" owner renew driver --lease 10s --now "$(at 51)"
refused 11 "reserve for an expired owner" "owner 'driver' has ended" reserve d $slice --owner driver --now "$(at 51)"
refused 11 "hold for an expired owner" "owner 'driver' has ended" hold d $slice --lease 10s --owner driver --now "$(at 51)"
ok 0 "an expired owner is set again" owner set driver --now "$(at 52)"
baseline
refused 7 "renew of an owner without a lease" "owner 'driver' has no lease" owner renew driver --lease 10s --now "$(at 52)"
ok 0 "the owner reserves again" reserve d $slice --owner driver --now "$(at 52)"
ok 0 "owner end succeeds" owner end driver --now "$(at 53)" -o json
fact "owner end releases the groups of the owner" 'd["ended"], d["n_groups"]' "('driver', 1)"
ok 0 "owner end accepts an owner that was not set" owner end other --now "$(at 53)" -o json
fact "owner end releases the groups of an owner that was not set" 'd["ended"], d["n_groups"]' "('other', 1)"
ok 0 "slots succeeds after the owners ended" slots --now "$(at 53)" -o json
fact "all slices are free after the owners ended" 'd["classes"][0]["fit_now"]' 3
ok 0 "verify replays the journal of owners" verify

# --- calls that change nothing; one slice of several
fresh 'v6e 4x4 x3'
ok 0 "an elastic group is reserved" reserve e --topology 4x4 --accelerator v6e --slices 1..2 --now "$(at 0)"
baseline
for verb in 'resize e --slices 2' 'repair e' 'confirm e'; do
  ok 0 "$verb succeeds without a change" $verb --now "$(at 1)"
  holds "$verb writes no entry if nothing changes" unchanged
done
ok 0 "resize to the current number of slices succeeds" resize e --slices 2 --now "$(at 1)" -o json
fact "resize reports that nothing changed" 'd["changed"]' False
for n in 0 -1 -9223372036854775808; do
  refused 3 "resize to $n slices" "slices '$n': expected 1 to 1000000; release the group to give up all" resize e --slices "$n" --now "$(at 1)"
done
refused 3 "resize beyond the requested maximum" "slices '3': expected 1 to 2, as in the request of group 'e@1'; for another range, release the group and reserve it again with --slices 1..3" resize e --slices 3 --now "$(at 1)"
refused 2 "resize to a word" "--slices 'two'" resize e --slices two --now "$(at 1)"
refused 2 "resize without --slices" "--slices N" resize e --now "$(at 1)"
refused 4 "release of a slice of a different group" "'e@1' has no slice 'v6e-4x4-2'; see quoit show e" release e --slice v6e-4x4-2 --now "$(at 1)"
refused 2 "release of two slices in one call" "--slice 'v6e-4x4-1': expected one slice" \
  release e --slice v6e-4x4-0 --slice v6e-4x4-1 --now "$(at 1)"
refused 4 "release of a slice id of whole slices" "no slice '1' in the fleet; see quoit show e" release e --slice 1 --now "$(at 1)"
refused 4 "release of a slice of no group" "no group 'nobody'; see quoit groups" release nobody --slice 1 --now "$(at 1)"
refused 4 "release of an unknown slice" "'nowhere'" release e --slice nowhere --now "$(at 1)"
ok 0 "release --slice succeeds" release e@1 --slice v6e-4x4-0 --now "$(at 2)" -o json
fact "the slice is released and the remaining slice is renumbered" '[(r["slice"], r["slice_id_before"], r["slice_id_after"]) for r in d["renumbering"]][0]' \
  "('v6e-4x4-1', 1, 0)"
ok 0 "release --slice of the last slice succeeds" release e --slice v6e-4x4-1 --now "$(at 3)" -o json
fact "releasing the last slice ends the group" 'd["gone"]' True
ok 0 "groups succeeds after the last slice was released" groups -o json
fact "no group is left" 'd["groups"]' "[]"

# --- a hold can lose slices too
fresh 'v6e 4x4 x2'
ok 0 "a group is held for an hour" hold h $slice --lease 1h --now "$now"
ok 0 "set-state marks a host of the held group dead" set-state v6e-4x4-0-1 dead --now "$now"
ok 0 "status reads a held group with a lost slice" status --now "$now" -o json
fact "status names the lost slice of the held group" '[(p["name"], "v6e-4x4-0, is lost" in p["problem"]) for p in d["problems"] if p["kind"] == "group"]' \
  "[('h@1', True)]"
ok 0 "confirm of a held group with a lost slice succeeds" confirm h --now "$now" -o json
fact "the confirmed group is RESCHEDULING" 'd["group"]["ray_state"]' RESCHEDULING
ok 0 "repair of the confirmed group succeeds" repair h --now "$now" -o json
fact "repair replaces the lost slice" 'd["group"]["state"], {w["slice"] for w in d["workers"]}' "('reserved', {'v6e-4x4-1'})"

# --- a request without limits
fresh 'v6e 4x4 x3'
ok 0 "a group of one slice is reserved" reserve f $slice --now "$(at 4)"
ok 0 "resize to all slices succeeds" resize f --slices 3 --now "$(at 4)" -o json
fact "the group has all three slices" 'd["group"]["n_slices"]' 3
baseline
refused 6 "resize beyond the fleet" "never|1 short" resize f --slices 4 --now "$(at 5)"
ok 0 "verify replays the journal of resizes" verify

# --- expected ends and priorities
fresh 'v6e 4x4 x3'
ok 0 "reserve with an estimate and a priority succeeds" reserve a $slice --expect 1m --priority -7 --now "$(at 0)" -o json
fact "the group has both" 'd["group"]["expected_end"], d["group"]["priority"]' "('2026-05-01T09:31:00.000Z', -7)"
ok 0 "hold without an estimate succeeds" hold b $slice --lease 30s --now "$(at 0)"
ok 0 "reserve without an end succeeds" reserve c $slice --now "$(at 0)"
ends='d["start"], [(e["group"], e["known_from"]) for e in d["ends"]]'
ok 0 "when succeeds for one slice" when $slice --now "$(at 1)" -o json
fact "one slice waits for the lease" "$ends" "('2026-05-01T09:30:30.000Z', [('b@2', 'lease')])"
two='--topology 4x4 --accelerator v6e --slices 2'
ok 0 "when succeeds for two slices" when $two --now "$(at 1)" -o json
fact "two slices wait for the estimate, too" "$ends" "('2026-05-01T09:31:00.000Z', [('b@2', 'lease'), ('a@1', 'estimate')])"
ok 0 "when succeeds after an estimate has passed" when $two --now "$(at 70)" -o json
fact "an estimate that has passed counts as the next moment" "$ends" \
  "('2026-05-01T09:31:10.001Z', [('a@1', 'an estimate that has passed')])"
best='[(o["until"], o["groups"], o["proven"]) for o in d["orders"] if o["order"] == "earliest"]'
ok 0 "explain succeeds after an estimate has passed" explain $two --now "$(at 70)" -o json
fact "no option waits for a group that is overdue and has no lease" "$best" "[]"
ok 5 "when exits with 5 if an end is unknown" when --topology 4x4 --accelerator v6e --slices 3 --now "$(at 1)" -o json
fact "the start is unknown" 'd["start"], d["ends"]' "(None, [])"
baseline
refused 6 "when for more slices than there are" "never, at most 3 of 4 slices" when --topology 4x4 --accelerator v6e --slices 4
refused 3 "a priority of more than 32 bits" "--priority '3000000000'|-2147483648 to 2147483647" reserve d $slice --priority 3000000000
refused 2 "an estimate that is no duration" "--expect 'soon'" reserve d $slice --expect soon
refused 2 "update without a change" "expected --expect TIME, --priority N, --label KEY=VALUE or --remove-label KEY" update a
refused 2 "update with an estimate that is no duration" "--expect 'later'" update a --expect later
refused 3 "update with an estimate of 300 years" "expected end|2200" update a --expect 109500d --priority 9 --now "$(at 80)"
refused 3 "update with a priority of more than 32 bits" "--priority '3000000000'" update a --expect 1h --priority 3000000000
refused 4 "update of an unknown group" "no group 'nobody'" update nobody --priority 1 --now "$(at 80)"
refused 7 "update with an id that is not the group's" "'a@1' now, not '@3'" update a@3 --priority 1 --now "$(at 80)"
unchanged "refused updates change nothing"
ok 0 "update of both succeeds" update a@1 --expect 1h --priority 9 --now "$(at 80)" -o json
fact "the estimate counts from now" 'd["group"]["expected_end"], d["group"]["priority"]' "('2026-05-01T10:31:20.000Z', 9)"
ok 0 "update of the priority succeeds" update a --priority -3 --now "$(at 81)" -o json
fact "the estimate stays" 'd["group"]["expected_end"], d["group"]["priority"]' "('2026-05-01T10:31:20.000Z', -3)"
ok 0 "update to an unknown end succeeds" update a --expect none --now "$(at 82)" -o json
fact "the end is unknown again" 'd["group"]["expected_end"], d["group"]["priority"]' "(None, -3)"
ok 5 "when waits for no group without an estimate" when $two --now "$(at 83)"
out "an unknown start names what explains it" "start:    unknown; see quoit fits"
ok 0 "verify replays the journal of updates" verify

# --- when groups end, for the option earliest
fresh 'v6e 4x4 x1'
ok 0 "a group is reserved whose lease is longer than its estimate" reserve a $slice --lease 4h --expect 30m --now 2026-05-01T10:00Z
for time in 10:29:59.999 10:30:00 10:30:00.001 13:59; do
  ok 0 "explain succeeds at $time" explain $slice --now "2026-05-01T${time}Z" -o json
  case $time in 10:29*) end='10:30' kind='expected-end' ;; *) end='14:00' kind='lease-ends' ;; esac
  fact "the option waits for the $kind" "$best" "[('2026-05-01T$end:00.000Z', 0, True)]"
  fact "the step says so" 'd["options"][0]["steps"][0]["kind"]' "$kind"
done
fresh 'v6e 4x4 x1'
ok 0 "a group is reserved whose estimate is longer than its lease" reserve a $slice --lease 1h --expect 4h --now 2026-05-01T10:00Z
ok 0 "explain succeeds before the lease ends" explain $slice --now 2026-05-01T10:30Z -o json
fact "the option waits for the estimate" "$best" "[('2026-05-01T14:00:00.000Z', 0, True)]"
}

finish
