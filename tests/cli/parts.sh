#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests that may be cut: `--cut` and `--wrap`.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:00:00Z
where='sorted({(w["slice_id"], w["part"]) for w in d["workers"]})'

fresh 'v6e 8x8 x1 pool=p hostchips=4; v4 4x4x4 x1 pool=q'
ok 6 "whole slices of a topology that the fleet does not have" fits --accelerator v6e --topology 4x4 --slices 4 --now "$now"
out "parts of larger ones are an option" "would help: ask for parts of larger slices: cut any"
ok 6 "the option is data" fits --accelerator v6e --topology 4x4 --slices 4 --now "$now" -o json
fact "of its kind" '[s["kind"] for o in d["options"] for s in o["steps"]]' "['cut']"
ok 0 "two parts are reserved" reserve train --accelerator v6e --topology 4x8 --slices 1 --cut any --now "$now"
out "the place of a part is shown" "p-0: "
ok 0 "show has the parts" show train -o json
fact "they are data" "$where" "[(0, '4x8 at 0,0')]"
ok 0 "a request says how it is cut" groups
out "the request has it" "v6e 4x8 x 1 cut=any"
ok 0 "an aligned part is reserved" reserve one --accelerator v6e --topology 4x4 --slices 1 --cut aligned --now "$now"
ok 0 "a partition of a cube is reserved" reserve cube --accelerator v4 --topology 2x2x2 --slices 2 --cut partition --now "$now"
ok 0 "show has the partitions" show cube -o json
fact "they are data too" "$where" "[(0, '2x2x2 at 0,0,0'), (1, '2x2x2 at 0,0,2')]"
ok 0 "the environment of the second part" env cube --process 2 -o env
out "it is slice 1" "MEGASCALE_SLICE_ID='1'"
out "its bounds are those of the part" "TPU_PROCESS_BOUNDS='1,1,2'"
ok 0 "a host dies" set-state p-0-0 dead --now "$now"
ok 0 "its part is turned to the hosts that are left" repair train --now "$now"
ok 0 "show has the new place" show train -o json
fact "it is turned" "$where" "[(0, '8x4 at 0,4')]"
ok 0 "another host dies" set-state p-0-9 dead --now "$now"
baseline
refused 5 "no place is left" "not now, 0 of 1 slice free" repair train --now "$now"
ok 0 "parts are added" resize cube --slices 4 --now "$now"
ok 0 "parts are given up" resize cube --slices 1 --now "$now"
ok 0 "the ledger is sound" verify
baseline
refused 5 "too few are free" "not now, 0 of 1 slice free" reserve x --accelerator v6e --topology 8x8 --slices 1 --cut any --now "$now"
refused 6 "the fleet is too small" "never, at most 1 of 2 slices" reserve x --accelerator v6e --topology 8x8 --slices 2 --cut any --now "$now"
refused 3 "a shape that the generation cannot have" "3x3" reserve x --accelerator v6e --topology 3x3 --slices 1 --cut any --now "$now"
refused 3 "no cubes" "cut 'partition': expected a generation with cubes, v6e has none" reserve x --accelerator v6e --topology 4x4 --slices 1 --cut partition --now "$now"
refused 3 "tpu7x has only partitions" "cut 'any': expected 'partition' or 'whole' for tpu7x" reserve x --accelerator tpu7x --topology 2x2x1 --slices 1 --cut any --now "$now"
refused 3 "bundles" "cut 'any': expected a request for slices" reserve x --bundle TPU=4 --cut any --now "$now"
refused 3 "divided hosts" "TPU per bundle" reserve x --accelerator v6e --topology 4x4 --slices 1 --tpu-per-bundle 1 --cut any --now "$now"
refused 3 "domains" "domains" reserve x --accelerator v6e --topology 4x4 --slices 1 --keep-to pool --cut any --now "$now"
refused 3 "a policy for whole slices" "place 'pack': expected a request that may be cut" reserve x --accelerator v6e --topology 4x4 --slices 1 --place pack --now "$now"
refused 2 "an unknown policy" "--place 'worst': expected best, first, pack or spread" reserve x --accelerator v6e --topology 4x4 --slices 1 --cut any --place worst
refused 2 "an unknown way to cut" "--cut 'small': expected whole, aligned, any or partition" reserve x --accelerator v6e --topology 4x4 --slices 1 --cut small
refused 2 "wrapping aligned parts" "--wrap: expected --cut any" reserve x --accelerator v6e --topology 4x4 --slices 1 --cut aligned --wrap
holds "nothing has changed" unchanged

fresh 'v6e 8x8 x2 pool=p hostchips=4'
ok 0 "the first slice" reserve a --accelerator v6e --topology 2x2 --slices 1 --cut any --place first --now "$now"
out "it is in p-0" "p-0-0 "
ok 0 "the slice with most free hosts" reserve b --accelerator v6e --topology 4x4 --slices 1 --cut any --place spread --now "$now"
out "it is in p-1" "p-1-0 "
ok 0 "the slice with fewest free hosts" reserve c --accelerator v6e --topology 2x2 --slices 1 --cut any --place pack --now "$now"
out "it is in p-1 too" "p-1-2 "
ok 0 "requests have the policy" groups
out "it is part of the text" "v6e 2x2 x 1 cut=any place=pack"
ok 0 "a repaired group keeps it" repair c --now "$now"
ok 0 "the ledger is sound" verify

# One part fits only as 2x4, the other one only as 4x2.
fresh 'v6e 8x8 x1 pool=p hostchips=4'
for host in 3 5 6 7 8 9 10 11 12 13 14 15; do
  quoit set-state "p-0-$host" dead --now "$now" >/dev/null
done
ok 0 "parts in two turns" reserve t --accelerator v6e --topology 2x4 --slices 2 --cut any --now "$now"
out "one is not turned" "0 p-0: 2x4 at 0,0"
out "one is turned" "1 p-0: 4x2 at 2,0"
ok 0 "their mesh" mesh t --axes a=2,b=2,c=4 --dcn a=2 -o json
fact "an axis names what each part uses" '[one["physical"] for one in d["axes"]]' "['', '', 'x 2, y 2 of 4 or x 4']"
ok 0 "the meshes of their axes" mesh t --axes a=2,b=2,c=4 --suggest -o json
finish
