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
ok 0 "a dry run of hold" hold a $slice --lease 10s --now "$(at 0)" --dry-run -o json
fact "says until when" 'd["dry_run"], d["group"]["state"], d["group"]["until"]' "(True, 'held', '2026-05-01T09:30:10.000Z')"
holds "and changes nothing" unchanged
ok 0 "hold" hold a $slice --lease 10s --key k --now "$(at 0)" -o json
fact "holds until the lease ends" 'd["group"]["group"], d["group"]["state"], d["group"]["until"]' \
  "('a@1', 'held', '2026-05-01T09:30:10.000Z')"
ok 0 "who holds it" who-holds v6e-4x4-0 --now "$(at 0)" -o json
fact "and until when" '{(n["held_by"][0], n["until"][0]) for n in d["nodes"]}' "{('a@1', '2026-05-01T09:30:10.000Z')}"
baseline
ok 0 "a retry with the key" hold a $slice --lease 10s --key k --now "$(at 5)" -o json
fact "is the same hold, with the same end" 'd["group"]["group"], d["group"]["until"]' "('a@1', '2026-05-01T09:30:10.000Z')"
holds "and changes nothing" unchanged
refused 7 "a reservation with the key of a hold" "'k' was used to hold group 'a@1'|confirm it" reserve a $slice --key k --now "$(at 5)"
refused 7 "another request with the key" "'k' was used for another request: group 'a'" hold b $slice --lease 10s --key k --now "$(at 5)"
refused 7 "another hold of the name" "there is a group 'a' already: 'a@1'" hold a $slice --lease 10s --now "$(at 5)"
ok 0 "confirm at the last moment" confirm a@1 --now "$(at 9 999)" -o json
fact "keeps it, without an end" 'd["group"]["state"], d["group"]["until"]' "('reserved', None)"
baseline
ok 0 "confirming twice" confirm a@1 --now "$(at 60)" -o json
fact "is confirming once" 'd["group"]["state"]' reserved
holds "and changes nothing" unchanged
ok 0 "a retry of the hold" hold a $slice --lease 10s --key k --now "$(at 60)"
out "says what has become of it" "a@1 is reserved"
refused 7 "what is reserved for good is not renewed" "'a@1' has no lease" renew a --lease 10s --now "$(at 60)"
refused 7 "nor is it forgotten" "'a@1' is not gone" forget a@1 --now "$(at 60)"
ok 0 "with a lease" hold b $slice --lease 10s --now "$(at 60)"
ok 0 "confirm" confirm b --lease 1m --now "$(at 61)" -o json
fact "gives it another" 'd["group"]["state"], d["group"]["until"]' "('reserved', '2026-05-01T09:32:01.000Z')"
ok 0 "renew" renew b --lease 2m --now "$(at 70)" -o json
fact "gives it another one from now on" 'd["group"]["state"], d["group"]["until"]' "('reserved', '2026-05-01T09:33:10.000Z')"
ok 0 "a shorter lease" renew b --lease 500ms --now "$(at 71)" -o json
fact "is one too" 'd["group"]["until"]' 2026-05-01T09:31:11.500Z

# --- a lease expires with or without readers
ok 0 "right before the end" groups --now "$(at 71 499)" -o json
fact "the group lives" "$state" "[('a@1', 'reserved', None), ('b@2', 'reserved', '2026-05-01T09:31:11.500Z')]"
ok 0 "at the end" who-holds v6e-4x4-1 --now "$(at 71 500)" -o json
fact "its slice is free, before anybody has noticed" '{tuple(n["held_by"]) for n in d["nodes"]}' "{()}"
ok 0 "for requests too" fits --topology 4x4 --accelerator v6e --slices 2 --now "$(at 71 500)"
baseline
for verb in 'renew b --lease 10s' 'confirm b' 'confirm b@2' 'release b' 'release b@2' 'resize b --slices 2' 'repair b' \
  'release b --slice v6e-4x4-1'; do
  run $verb --now "$(at 72)"
  pass
  [ "$status" -eq 11 ] || fail "$verb after the end" "exit status $status"
  err "$verb after the end is told so" "the lease of group 'b@2' has ended"
done
holds "what came too late has written nothing" unchanged
ok 0 "another takes the name" reserve b $slice --now "$(at 73)" -o json
fact "with an id of its own" 'd["group"]["group"]' b@3
ok 0 "the journal" journal -o json
fact "has the end once, before what came after it" '[(e["verb"], e["time"][14:19]) for e in d["entries"]][-2:], sum(e["verb"] == "expire" for e in d["entries"])' \
  "([('expire', '31:13'), ('reserve', '31:13')], 1)"
baseline
refused 11 "confirming what has ended" "'b@2' has ended|ask for slices again" confirm b@2 --now "$(at 74)"
ok 0 "releases the other one's" groups --now "$(at 74)" -o json
fact "nothing" '[g["state"] for g in d["groups"] if g["group"] == "b@3"]' "['reserved']"
refused 7 "an id that nobody had" "'b@3' now, not '@99'" confirm b@99 --now "$(at 74)"
refused 4 "a group that nobody made" "no group 'nobody'" confirm nobody --now "$(at 74)"
refused 4 "is not renewed" "no group 'nobody'" renew nobody --lease 10s --now "$(at 74)"
refused 4 "nor repaired" "no group 'nobody'" repair nobody --now "$(at 74)"
refused 4 "nor resized" "no group 'nobody'" resize nobody --slices 2 --now "$(at 74)"
refused 3 "no id" "'b@x': expected NAME or NAME@ID" confirm b@x --now "$(at 74)"
ok 0 "the journal replays" verify

# --- a hold of another job
fresh 'v6e 4x4 x3'
ok 0 "ann holds" hold job $slice --lease 10s --owner ann --now "$(at 0)"
ok 0 "and gives up" release job@1 --now "$(at 1)"
ok 0 "bob holds under that name" hold job $slice --lease 10s --owner bob --now "$(at 2)"
baseline
refused 7 "ann's late confirm never confirms bob's hold" "'job' is 'job@2' now, not '@1'" confirm job@1 --now "$(at 3)"
refused 7 "nor renews it" "'job@2' now, not '@1'" renew job@1 --lease 10s --now "$(at 3)"
refused 7 "nor resizes it" "'job@2' now, not '@1'" resize job@1 --slices 2 --now "$(at 3)"
refused 7 "nor repairs it" "'job@2' now, not '@1'" repair job@1 --now "$(at 3)"
refused 7 "nor releases it" "'job@2' now, not '@1'" release job@1 --now "$(at 3)"

# --- invalid leases
for lease in 0 0s -1 -1s 0ms; do
  refused 3 "a lease of $lease" "--lease '$lease': expected 1ms or more" hold x $slice --lease "$lease" --now "$(at 3)"
  refused 3 "renewed by $lease" "--lease '$lease': expected 1ms or more" renew job --lease "$lease" --now "$(at 3)"
  refused 3 "confirmed for $lease" "--lease '$lease': expected 1ms or more" confirm job --lease "$lease" --now "$(at 3)"
  refused 3 "an owner for $lease" "--lease '$lease': expected 1ms or more" owner set x --lease "$lease" --now "$(at 3)"
done
for verb in "hold x $slice" "renew job" "confirm job" "owner set x"; do
  refused 3 "$verb for 300 years" "lease '9467280000000' ms: expected one that ends before the year 2200" \
    $verb --lease 2629800h --now "$(at 3)"
done
for lease in 300y 10 1.5s s '' 99999999999999999999d '10 s'; do
  refused 2 "a lease that is no time: '$lease'" "--lease '$lease': expected a number and a unit" hold x $slice --lease "$lease" --now "$(at 3)"
done
refused 2 "hold without a lease" "--lease" hold x $slice --now "$(at 3)"
refused 2 "renew without a lease" "--lease TIME" renew job --now "$(at 3)"
refused 2 "a dry run of hold without one" "--lease" hold x $slice --dry-run --now "$(at 3)"
ok 0 "a reservation may have a lease" reserve x $slice --lease 10s --now "$(at 3)" --dry-run -o json
fact "its dry run says so" 'd["group"]["state"], d["group"]["until"]' "('reserved', '2026-05-01T09:30:13.000Z')"
holds "and changes nothing" unchanged

# --- clocks
ok 0 "a clock that has jumped back a year" confirm job@2 --lease 10s --now 2025-05-01T09:30:00Z -o json
fact "is raised to the last entry's" 'd["group"]["until"]' 2026-05-01T09:30:12.000Z
ok 0 "the journal" journal -o json
fact "never goes back" '[e["time"] for e in d["entries"]] == sorted(e["time"] for e in d["entries"])' True
baseline
refused 3 "seconds for milliseconds" "clock '1777627803'|milliseconds" renew job --lease 10s --now 1777627803
refused 3 "the year 2200" "clock '7258118400000'" renew job --lease 10s --now 2200-01-01T00:00:00Z
refused 11 "a clock that has jumped ahead ends what it passes" "'job@2' has ended" confirm job@2 --now 2026-05-02T09:30:00Z
ok 0 "looking back" groups --now "$(at 5)" -o json

# --- keys, forget
fresh 'v6e 4x4 x3'
ok 0 "a hold with a key" hold a $slice --lease 10s --key k --now "$(at 0)"
ok 0 "which ends: the retry" hold a $slice --lease 10s --key k --now "$(at 20)" -o json
fact "gets the group that has ended, and nothing else" 'd["group"]["group"], d["group"]["state"], d["group"]["expired"], d["workers"]' \
  "('a@1', 'removed', True, [])"
ok 0 "for people" hold a $slice --lease 10s --key k --now "$(at 21)"
out "in words" "a@1 was made for this key and has ended with its lease: nothing is reserved"
baseline
refused 3 "forget wants to know which" "group 'a': expected NAME@ID" forget a --now "$(at 21)"
refused 4 "forget of another id" "nothing is kept of a group 'a' of id 7" forget a@7 --now "$(at 21)"
refused 4 "forget of another key" "no group has the request key 'x'" forget --key x --now "$(at 21)"
refused 2 "forget of nothing" "expected either NAME@ID or --key KEY" forget --now "$(at 21)"
refused 2 "forget of both" "expected either NAME@ID or --key KEY" forget a@1 --key k --now "$(at 21)"
ok 0 "forget" forget --key k --now "$(at 21)"
baseline
refused 4 "twice" "no group has the request key 'k'" forget --key k --now "$(at 21)"
refused 7 "a late confirm is a conflict now" "id 1" confirm a@1 --now "$(at 21)"
ok 0 "the key" hold a $slice --lease 10s --key k --now "$(at 22)" -o json
fact "is good for another request, with another id" 'd["group"]["group"], d["group"]["state"]' "('a@2', 'held')"

# --- owners
fresh 'v6e 4x4 x3'
ok 0 "no owners" owner -o json
fact "are none" 'd["owners"]' "[]"
ok 0 "set" owner set driver --lease 30s --now "$(at 0)"
ok 0 "a hold of its" hold a $slice --lease 60s --owner driver --now "$(at 0)" -o json
fact "lives no longer than its owner" 'd["group"]["until"]' 2026-05-01T09:30:30.000Z
ok 0 "a reservation of its" reserve b $slice --owner driver --now "$(at 0)" -o json
fact "neither" 'd["group"]["until"]' 2026-05-01T09:30:30.000Z
ok 0 "one of an owner that nobody has set" reserve c $slice --owner other --now "$(at 0)" -o json
fact "lives until it is released" 'd["group"]["until"]' None
ok 0 "the owners that are set" owner --now "$(at 0)" -o json
fact "with since, until, and how many groups" '[(o["owner"], o["since"][11:19], o["until"][11:19], o["n_groups"]) for o in d["owners"]]' \
  "[('driver', '09:30:00', '09:30:30', 2)]"
ok 0 "a sign of life" owner renew driver --lease 30s --now "$(at 20)"
ok 0 "who holds" who-holds v6e-4x4-1 --now "$(at 20)" -o json
fact "until when" '{(n["owners"][0], n["until"][0][11:19]) for n in d["nodes"]}' "{('driver', '09:30:50')}"
baseline
refused 4 "an owner that never was is not renewed" "no owner 'nobody' was set" owner renew nobody --lease 10s --now "$(at 20)"
refused 4 "nor one that only holds" "no owner 'other' was set|\`owner set\`" owner renew other --lease 10s --now "$(at 20)"
refused 4 "an owner that never was does not end" "no owner 'nobody' was set, and nothing is held" owner end nobody --now "$(at 20)"
refused 3 "an owner without a name" "owner ''" owner set '' --now "$(at 20)"
refused 2 "owner knows three words" "'kill': expected set, renew or end" owner kill driver --now "$(at 20)"
refused 2 "and wants a name" "set: expected the owner's NAME" owner set --now "$(at 20)"
refused 2 "renew wants a lease" "--lease TIME" owner renew driver --now "$(at 20)"
refused 2 "end wants none" "--lease: expected it with set or renew" owner end driver --lease 10s --now "$(at 20)"
ok 0 "after its end" groups --now "$(at 50)" -o json
fact "all that it held is free, with a lease of its own or without" '[(g["name"], g["state"]) for g in d["groups"] if g["state"] != "removed"]' \
  "[('c', 'reserved')]"
run confirm a --now "$(at 50)"
err "what it held is not confirmed" "the lease of group 'a@2' has ended"
baseline
refused 11 "it is not renewed" "owner 'driver' has ended, and its groups are released|\`owner set\`" owner renew driver --lease 10s --now "$(at 51)"
refused 11 "nothing is reserved in its name" "owner 'driver' has ended" reserve d $slice --owner driver --now "$(at 51)"
refused 11 "nor held" "owner 'driver' has ended" hold d $slice --lease 10s --owner driver --now "$(at 51)"
ok 0 "set anew" owner set driver --now "$(at 52)"
baseline
refused 7 "without a lease there is none to renew" "owner 'driver' has no lease" owner renew driver --lease 10s --now "$(at 52)"
ok 0 "it reserves again" reserve d $slice --owner driver --now "$(at 52)"
ok 0 "its end" owner end driver --now "$(at 53)" -o json
fact "frees all that it has" 'd["ended"], d["n_groups"]' "('driver', 1)"
ok 0 "the end of one that was not set" owner end other --now "$(at 53)" -o json
fact "frees what is held in its name" 'd["ended"], d["n_groups"]' "('other', 1)"
ok 0 "everything" slots --now "$(at 53)" -o json
fact "is free" 'd["classes"][0]["fit_now"]' 3
ok 0 "the journal replays" verify

# --- calls that change nothing; one slice of several
fresh 'v6e 4x4 x3'
ok 0 "an elastic group" reserve e --topology 4x4 --accelerator v6e --slices 1..2 --now "$(at 0)"
baseline
for verb in 'resize e --slices 2' 'repair e' 'confirm e'; do
  ok 0 "$verb" $verb --now "$(at 1)"
  holds "$verb changes nothing where it is so already" unchanged
done
ok 0 "resize to what is held" resize e --slices 2 --now "$(at 1)" -o json
fact "says so" 'd["changed"]' False
for n in 0 -1 -9223372036854775808; do
  refused 3 "resize to $n" "slices '$n': expected 1 to 1000000; release the group to give up all" resize e --slices "$n" --now "$(at 1)"
done
refused 3 "resize beyond the request" "slices '3': expected 1 to 2, as group 'e@1' was asked for" resize e --slices 3 --now "$(at 1)"
refused 2 "resize to no number" "--slices 'two'" resize e --slices two --now "$(at 1)"
refused 2 "resize to nothing" "--slices N" resize e --now "$(at 1)"
refused 4 "a slice that it has not" "'e@1' has no slice 'v6e-4x4-2'" release e --slice v6e-4x4-2 --now "$(at 1)"
refused 2 "two slices at once" "--slice 'v6e-4x4-1': expected one slice" \
  release e --slice v6e-4x4-0 --slice v6e-4x4-1 --now "$(at 1)"
refused 4 "a slice that nobody has" "'nowhere'" release e --slice nowhere --now "$(at 1)"
ok 0 "one slice" release e@1 --slice v6e-4x4-0 --now "$(at 2)" -o json
fact "is released, the other is numbered anew" '[(r["slice"], r["slice_id_before"], r["slice_id_after"]) for r in d["renumbering"]][0]' \
  "('v6e-4x4-1', 1, 0)"
ok 0 "the last" release e --slice v6e-4x4-1 --now "$(at 3)" -o json
fact "takes the group with it" 'd["gone"]' True
ok 0 "groups" groups -o json
fact "are none" 'd["groups"]' "[]"

# --- a hold can lose slices too
fresh 'v6e 4x4 x2'
ok 0 "a hold" hold h $slice --lease 1h --now "$now"
ok 0 "whose host dies" set-state v6e-4x4-0-1 dead --now "$now"
ok 0 "status" status --now "$now" -o json
fact "says that its slice is lost" '[(p["name"], "v6e-4x4-0, is lost" in p["problem"]) for p in d["problems"] if p["kind"] == "group"]' \
  "[('h@1', True)]"
ok 0 "confirm" confirm h --now "$now" -o json
fact "makes it RESCHEDULING" 'd["group"]["ray_state"]' RESCHEDULING
ok 0 "repair" repair h --now "$now" -o json
fact "mends it" 'd["group"]["state"], {w["slice"] for w in d["workers"]}' "('reserved', {'v6e-4x4-1'})"

# --- a request without limits
fresh 'v6e 4x4 x3'
ok 0 "a group of one slice" reserve f $slice --now "$(at 4)"
ok 0 "grows as far as there are slices" resize f --slices 3 --now "$(at 4)" -o json
fact "to all of them" 'd["group"]["n_slices"]' 3
baseline
refused 6 "and no farther" "never|1 short" resize f --slices 4 --now "$(at 5)"
ok 0 "the journal replays" verify
}

finish
