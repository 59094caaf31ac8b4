#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The elastic job of the multislice tutorial: 8 workers on two slices, a pod is deleted, 4 workers, 8 again. Checks the
# numbers and the environment of each process at each step.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/ray-lists.sh"

job=$top_srcdir/tests/cli/elastic-job.py

# runs_on 'sentence' REPLICA.INCARNATION...: checks all processes of train in both profiles.
runs_on ()
{
  sentence=$1
  shift
  if [ -z "$python" ]; then
    skip "$sentence: no python3"
    return
  fi
  for profile in quoit ray-train; do
    run env train --profile "$profile" -o json
    holds "$sentence, by profile $profile" "$python" "$job" env "$profile" "$tmp/out" "$@"
  done
}

# renumbers 'sentence' BEFORE... -- AFTER...: checks each process in the JSON output of the last run.
renumbers ()
{
  sentence=$1
  shift
  if [ -n "$python" ]; then
    holds "$sentence" "$python" "$job" change "$tmp/out" "$@"
  else
    skip "$sentence: no python3"
  fi
}

# begin LIST: makes a ledger in which train has both slices of the first list.
begin ()
{
  fresh
  ok 0 "the cluster is imported" import ray-nodes "$1" --now "$now"
  ok 0 "an elastic job is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1..2 --now "$now" -o json
  fact "the job gets both slices with 8 workers" 'd["group"]["n_slices"], d["group"]["n_workers"]' "(2, 8)"
  runs_on "the 8 workers have process ids 0 to 7" 0.0 1.0
}

# loses 'sentence' LIST REPLICA: syncs a new list without the slice of that replica.
loses ()
{
  ok 0 "$1: sync succeeds" sync ray-nodes "$2" --now "$now" -o json
  fact "$1: sync reports which group lost which slice" \
    '[(c["group"], c["detail"]) for c in d["changes"] if c["kind"] == "group-slice"]' \
    "[('train@1', 'slice $3, tpu-group-$3, is lost')]"
  fact "$1: sync reports the nodes of the lost slice" \
    'len([c for c in d["changes"] if c["group"] == "train@1" and (c["kind"], c["detail"]) in (("lost", None), ("state", "alive -> dead"))])' 4
  ok 0 "$1: status succeeds" status -o json
  fact "$1: status names the lost slice" '[(p["name"], p["problem"]) for p in d["problems"] if p["kind"] == "group"]' \
    "[('train@1', 'slice id $3, tpu-group-$3, is lost: a host of it is dead: repair train@1, or resize it')]"
  fact "$1: the state is RESCHEDULING, as in Ray" '[(g["state"], g["ray_state"], g["n_workers"]) for g in d["groups"]]' \
    "[('rescheduling', 'RESCHEDULING', 8)]"
  runs_on "$1: process ids stay until the group is changed" 0.0 1.0
  ok 0 "$1: env prints the environment for a new process" env train --slice-id 0 --worker 0 -o env
  err "$1: env warns about the lost slice" "slice $3 (tpu-group-$3) is lost"
}

# shrinks KEPT LOST: shrinks train to the remaining slice.
shrinks ()
{
  before=$(quoit export json)
  ok 0 "resize --slices 1 --dry-run succeeds" resize train --slices 1 --now "$now" --dry-run -o json
  renumbers "the dry run prints the new number of each process" 0.0 1.0 -- "$1.0"
  holds "the dry run changes nothing" test "$(quoit export json)" = "$before"
  ok 0 "resize --slices 1 succeeds" resize train --slices 1 --now "$now" -o json
  fact "4 workers remain after resize --slices 1" 'd["group"]["state"], d["group"]["n_slices"], d["group"]["n_workers"]' "('reserved', 1, 4)"
  fact "the workers are on the intact slice" '{w["slice"] for w in d["workers"]}' "{'tpu-group-$1'}"
  renumbers "resize prints old and new numbers of each process" 0.0 1.0 -- "$1.0"
  runs_on "the 4 workers are numbered from 0, without MEGASCALE variables" "$1.0"
  ok 0 "groups prints JSON after resize --slices 1" groups -o json
  fact "the group is intact again" '[g["state"] for g in d["groups"]]' "['reserved']"
}

# grows KEPT NEW: grows train to 8 workers again.
grows ()
{
  ok 0 "resize --slices 2 succeeds" resize train --slices 2 --now "$now" -o json
  fact "the group has 8 workers after resize --slices 2" 'd["group"]["state"], d["group"]["n_slices"], d["group"]["n_workers"]' "('reserved', 2, 8)"
  renumbers "growing prints old and new numbers of each process" "$1.0" -- "$1.0" "$2.1"
  runs_on "the 8 workers have process ids 0 to 7 after growing" "$1.0" "$2.1"
}

# ends: releases train and checks that nothing is left.
ends ()
{
  ok 0 "verify replays the journal" verify
  ok 0 "the job is released" release train --now "$now"
  ok 0 "slots prints JSON" slots -o json
  fact "both slices are free after the release" '[(c["slices"], c["fit_now"]) for c in d["classes"]]' "[(2, 2)]"
}

ray_list "$tmp/both.json" 0.0 1.0
for lost in 0 1; do
  kept=$((1 - lost))
  ray_list "$tmp/dead.json" "$kept.0" "$lost.0:DEAD"
  ray_list "$tmp/absent.json" "$kept.0"
  ray_list "$tmp/replaced.json" "$kept.0" "$lost.1"
  ray_list "$tmp/replaced-dead.json" "$kept.0" "$lost.0:DEAD" "$lost.1"
  for how in dead absent replaced; do
    back=$tmp/replaced.json
    [ "$how" != dead ] || back=$tmp/replaced-dead.json

    # --- 8, 4, 8 workers by resize
    begin "$tmp/both.json"
    loses "slice $lost $how" "$tmp/$how.json" "$lost"
    shrinks "$kept" "$lost"
    if [ "$how" = replaced ]; then
      ok 0 "sync accepts a replica that already exists" sync ray-nodes "$back" --now "$now" -o json
      fact "sync reports no added nodes" 'len([c for c in d["changes"] if c["kind"] == "added"])' 0
    else
      baseline
      refused 5 "growing without a second free slice" "v6e 4x4: not now|1 short" resize train --slices 2 --now "$now"
      ok 0 "sync accepts the new replica" sync ray-nodes "$back" --now "$now" -o json
      fact "sync reports four new nodes" 'len([c for c in d["changes"] if c["kind"] == "added"])' 4
    fi
    runs_on "a new replica does not change the job" "$kept.0"
    grows "$kept" "$lost"
    ends

    # --- the same loss, with repair
    begin "$tmp/both.json"
    loses "slice $lost $how" "$tmp/$how.json" "$lost"
    if [ "$how" != replaced ]; then
      baseline
      refused 5 "repair without a replacement for the lost slice" "not now|1 short" repair train --now "$now"
      ok 0 "explain gives the reason of a refused repair" explain train -o json
    fact "no option asks a group for another class" '[o["text"] for o in d["options"] if "ask for" in o["text"]]' "[]"
      fact "explain counts the slice that is kept" 'd["verdict"], d["now"], d["wanted"]' "('not-now', 1, 2)"
      ok 0 "sync accepts the new replica before a repair" sync ray-nodes "$back" --now "$now"
    fi
    ok 0 "explain names the command that replaces the slice" explain train
    out "explain names the command" "'quoit repair train' would succeed now"
    ok 0 "groups prints JSON before a repair" groups -o json
    fact "a group does not move to a new replica without a repair" '[g["state"] for g in d["groups"]]' "['rescheduling']"
    runs_on "processes keep the environment of the old replica" 0.0 1.0
    ok 0 "repair moves the group to the new replica" repair train --now "$now" -o json
    fact "the group has 8 workers after the repair" 'd["changed"], d["group"]["state"], d["group"]["n_workers"]' "(True, 'reserved', 8)"
    renumbers "repair prints old and new numbers of each process" 0.0 1.0 -- "$kept.0" "$lost.1"
    runs_on "workers of the intact slice keep their numbers" "$kept.0" "$lost.1"
    baseline
    ok 0 "repair of an intact group succeeds" repair train --now "$now" -o json
    fact "repair of an intact group changes nothing" 'd["changed"], {r["change"] for r in d["renumbering"]}' "(False, {'same'})"
    holds "repair of an intact group writes no entry" unchanged
    ends
  done
done

# --- a host dies before KubeRay deletes the whole replica: the slice is lost once
begin "$tmp/both.json"
{
  ray_list "$tmp/rest.json" 0.0
  sed '$ s/]$//' "$tmp/rest.json"
  for worker in 0 1 2 3; do
    state=ALIVE
    [ "$worker" -ne 2 ] || state=DEAD
    printf ',\n'
    ray_row 1 "$worker" 0 "$state"
  done
  echo ']'
} >"$tmp/one.json"
ok 0 "sync reads a list with one dead host" sync ray-nodes "$tmp/one.json" --now "$now" -o json
fact "the slice of the dead host is lost" '[c["detail"] for c in d["changes"] if c["kind"] == "group-slice"]' "['slice 1, tpu-group-1, is lost']"
ray_list "$tmp/absent.json" 0.0
ok 0 "sync reads a list without the other hosts" sync ray-nodes "$tmp/absent.json" --now "$now" -o json
fact "the lost slice is reported once" '[c for c in d["changes"] if c["kind"] == "group-slice"]' "[]"
ray_list "$tmp/replaced.json" 0.0 1.1
ok 0 "sync reads the new replica of the lost slice" sync ray-nodes "$tmp/replaced.json" --now "$now"
ok 0 "repair uses the new replica" repair train --now "$now" -o json
renumbers "the new replica replaces the lost slice" 0.0 1.0 -- 0.0 1.1

# --- slices with other names: the remaining workers are renumbered
ray_list "$tmp/three.json" 0.0 1.0 2.0
begin "$tmp/both.json"
ok 0 "sync reads a third slice" sync ray-nodes "$tmp/three.json" --now "$now"
ray_list "$tmp/lost.json" 1.0 2.0
ok 0 "sync reads a list without the first slice" sync ray-nodes "$tmp/lost.json" --now "$now"
ok 0 "repair replaces the first slice" repair train --now "$now" -o json
renumbers "repair adds the third slice, and the second becomes slice 0" 0.0 1.0 -- 1.0 2.0
runs_on "the processes of the second slice have slice id 0" 1.0 2.0

# --- ten slices: ray-train sorts slices by text, quoit by number
ray_list "$tmp/many.json" 2.0 10.0
fresh
ok 0 "replicas 2 and 10 are imported" import ray-nodes "$tmp/many.json" --now "$now"
ok 0 "both replicas are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
runs_on "slice 10 is second by number and first by text" 2.0 10.0

# --- a draining host: the slice is leaving, and repair moves the group before the host is dead
begin "$tmp/both.json"
ok 0 "sync reads a third slice before a drain" sync ray-nodes "$tmp/three.json" --now "$now"
ok 0 "a host of the second slice is drained" drain 10.1.0.3 --now "$now"
ok 0 "status reads a group with a leaving slice" status -o json
fact "status names the leaving slice" '[(p["name"], "slice id 1, tpu-group-1, is leaving" in p["problem"]) for p in d["problems"] if p["kind"] == "group"]' \
  "[('train@1', True)]"
fact "the group with a leaving slice is RESCHEDULING" '[g["ray_state"] for g in d["groups"]]' "['RESCHEDULING']"
runs_on "processes of the leaving slice keep their numbers" 0.0 1.0
ok 0 "repair replaces the leaving slice" repair train --now "$now" -o json
renumbers "repair moves the second slice to the third" 0.0 1.0 -- 0.0 2.0
ok 0 "the drained host is undrained" undrain 10.1.0.3 --now "$now"
ok 0 "who-holds reads the slice that the group left" who-holds tpu-group-1 -o json
fact "the slice that the group left is free" '{tuple(n["held_by"]) for n in d["nodes"]}' "{()}"

# --- a replacement of a lost slice is used only if it satisfies the request
label ()
{
  sed "s/\"ray.io\/tpu-slice-name\": \"tpu-group-$2\"/&, \"ray.io\/market-type\": \"$3\"/" "$1"
}
ray_list "$tmp/plain.json" 0.0 1.0
label "$tmp/plain.json" 0 on-demand >"$tmp/half.json"
label "$tmp/half.json" 1 on-demand >"$tmp/demand.json"
fresh
ok 0 "two on-demand slices are imported" import ray-nodes "$tmp/demand.json" --now "$now"
ok 0 "one on-demand slice is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --select ray.io/market-type=on-demand --now "$now"
ray_list "$tmp/plain.json" 0.1 1.0
label "$tmp/plain.json" 0 spot >"$tmp/half.json"
label "$tmp/half.json" 1 on-demand >"$tmp/spot.json"
ok 0 "sync reads the replica as spot" sync ray-nodes "$tmp/spot.json" --now "$now"
ok 0 "repair respects the selector for on-demand nodes" repair train --now "$now" -o json
fact "repair moves the group to the on-demand slice" '{w["slice"] for w in d["workers"]}' "{'tpu-group-1'}"

# --- an ambiguous name is not a missing one
fresh
ok 0 "three slices are imported" import fleet 'v6e 4x4 x3' --now "$now"
ok 0 "one slice is reserved with an excluded slice" reserve train --topology 4x4 --accelerator v6e --slices 1 --exclude-slice v6e-4x4-1 --now "$now"
ok 0 "a second source with equal slice names is imported" import fleet 'v6e 4x4 x2' --source other --now "$now"
baseline
refused 3 "resize with an excluded name that became ambiguous" "'v6e-4x4-1' is ambiguous" resize train --slices 2 --now "$now"

# --- an end that is unknown can be that of a drain
fresh 'v6e 4x4 x1 draining=0'
ok 5 "when a drain ends is unknown" when --accelerator v6e --topology 4x4 --slices 1 --now "$now"
out "the assumption is about hosts, too" "groups without a known end do not end, and hosts stay as they are"

# --- ranges and growth
fresh
ok 0 "five slices are imported" import fleet 'v6e 4x4 x5' --now "$now"
ok 0 "two slices have a lease" reserve short --topology 4x4 --accelerator v6e --slices 2 --lease 1h --now "$now"
ok 0 "an elastic group is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1..4 --now "$now"
ok 0 "a group with all that it wants is reserved" resize train --slices 2 --now "$now"
ok 0 "another group is reserved" reserve full --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "status prints JSON" status --now "$now" -o json
fact "status lists the group that waits for a lease" '[(g["group"], g["n_slices"], g["n_most"], g["n_now"], g["n_next"], g["next_start"] is None, g["waits_for"], g["is_estimate"]) for g in d["growth"]]' \
  "[('train@2', 2, 4, 2, 3, False, ['short@1'], False)]"
ok 0 "status prints text" status --now "$now"
holds "the text has the time and the group" grep -q 'could grow to 3 slices at .*, when short@1 ends' "$tmp/out"
baseline
refused 3 "a range outside that of the request" "slices '1..5': expected 1 to 4, as in the request of group 'train@2'|reserve it again with --slices 1..5" resize train --slices 1..5 --now "$now"
refused 3 "a range in the wrong order" "slices '3..2': expected the smaller number first" resize train --slices 3..2 --now "$now"
refused 2 "a range without an end" "--slices ''" resize train --slices 1.. --now "$now"
refused 5 "a range of which even the least does not fit" "3 x v6e 4x4: not now, 2 of 3 slices free" resize train --slices 3..4 --now "$now"
ok 0 "a range that the group fills already" resize train --slices 1..4 --now "$now" -o json
fact "nothing changes" 'd["changed"], d["group"]["n_slices"]' "(False, 2)"
ok 0 "the group is released" release full --now "$now"
ok 0 "status prints JSON after the release" status --now "$now" -o json
fact "the group could grow now" '[(g["group"], g["n_now"], g["n_next"]) for g in d["growth"]]' "[('train@2', 3, None)]"
ok 0 "a dry run of a range succeeds" resize train --slices 1..4 --now "$now" --dry-run -o json
fact "the dry run has as many slices as there are" 'd["group"]["n_slices"]' 3
ok 0 "a resize to a range succeeds" resize train --slices 1..4 --now "$now" -o json
fact "the group has as many slices as there are" 'd["changed"], d["group"]["n_slices"]' "(True, 3)"
baseline
refused 5 "a reservation that an elastic group prevents" "1 x v6e 4x4: not now" reserve more --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "explain prints JSON" explain --topology 4x4 --accelerator v6e --slices 2 --now "$now" -o json
fact "the option names the group" 'd["options"][0]["text"]' "shrink train@2 to 1 slice"
fact "the step is data" '[(s["kind"], s["group"], s["slices"]) for s in d["options"][0]["steps"]]' "[('shrink', 'train@2', 1)]"
ok 0 "the group shrinks" resize train --slices 1..1 --now "$now"
ok 0 "then the request fits" fits --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "verify accepts the changes" verify

finish
