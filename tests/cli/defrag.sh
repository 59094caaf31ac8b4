#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `quoit defrag`: moves of bundles, the commands that make them, and the past.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:00:00Z
facts='[d[k] for k in ("result", "gain", "gain_at_most", "n_moves", "moves_at_least")]'

fresh 'v6e 4x4 x4 pool=p'
for i in 0 1 2 3; do
  ok 0 "a filler is reserved" reserve "f$i" --bundle '3x{TPU=4}' --now "$now"
  ok 0 "a bundle is reserved" reserve "a$i" --bundle TPU=4 --now "$now"
done
for i in 0 1 2 3; do
  ok 0 "the filler is released" release "f$i" --now "$now"
done
baseline
ok 0 "defrag prints a table" defrag --dry-run --now "$now"
out "the result is a fact" "result:        best"
out "a move has its gain" "a0@2       0 p-1-0 p-3-2   16"
ok 0 "defrag prints JSON" defrag --dry-run --now "$now" -o json
fact "the facts are right" "$facts" "['best', 32, 32, 2, 2]"
fact "the gains add up" 'sum(m["gain"] for m in d["moves"])' "32"
fact "the groups are in order" 'd["groups"]' "['a0@2', 'a3@8']"
ok 0 "the past is planned" defrag --dry-run --at 1 -o json
fact "the past needed no moves" "$facts" "['best', 0, 0, 0, 0]"
ok 0 "the commands are printed" defrag --dry-run --commands --now "$now"
out "a slice is drained" "quoit drain slice 'fleet/p/p-1'"
out "a group is repaired" "quoit repair 'a0@2'"
ok 0 "the commands for the ledger of --db are printed" defrag --dry-run --commands --now "$now" --db "$QUOIT_DB"
out "a slice of that ledger is drained" "quoit --db '$QUOIT_DB' drain slice 'fleet/p/p-1'"
out "a group of that ledger is repaired" "quoit --db '$QUOIT_DB' repair 'a0@2'"
out "a slice of that ledger is undrained" "quoit --db '$QUOIT_DB' undrain slice 'fleet/p/p-1'"
holds "nothing has changed" unchanged
sed "s/\$/ --now $now/" "$tmp/out" >"$tmp/commands"
refused 2 "no --dry-run" "quoit moves nothing by itself: expected --dry-run" defrag --now "$now"
refused 2 "an argument" "'x'" defrag --dry-run x --now "$now"
refused 4 "an entry that does not exist" "99" defrag --dry-run --at 99
moves ()
{
  PATH="$top_builddir/cli:$PATH" sh -e "$tmp/commands"
}
holds "the commands succeed" moves
ok 0 "the slices are counted" slots -o json
fact "three slices are free" 'd["classes"][0]["fit_now"]' "3"

fresh 'v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x4 pool=b block=b; v5p 4x4x4 x2 pool=c block=c; group one v5p 4x4x4 cubes=any slices=a:2; group two v5p 4x4x8 cubes=any slices=b:0,3'
baseline
ok 0 "room for joined slices is planned" defrag --dry-run -a v5p -t 4x8x8 --cubes any --now "$now" -o json
fact "the facts are right" "$facts" "['best', 256, 256, 1, 1]"
fact "a move is that of a cube" '[(m["group"], m["slice_id"], m["from"], m["to"], m["gain"]) for m in d["moves"]]' "[('one@1', 0, 'a-2', 'b-1', 256)]"
ok 0 "the commands are printed" defrag --dry-run -a v5p -t 4x8x8 --cubes any --commands --now "$now"
holds "nothing has changed" unchanged
sed "s/\$/ --now $now/" "$tmp/out" >"$tmp/commands"
refused 2 "cubes without a topology" "joined slices: expected --accelerator, --topology and --cubes" defrag --dry-run --cubes any
refused 2 "a topology without cubes" "joined slices: expected --accelerator, --topology and --cubes" defrag --dry-run -a v5p -t 4x8x8
refused 2 "unknown cubes" "--cubes 'some': expected any or adjacent" defrag --dry-run -a v5p -t 4x8x8 --cubes some
refused 3 "a generation without cubes" "v6e has none" defrag --dry-run -a v6e -t 4x4 --cubes any
refused 4 "a topology that no block can hold" "no block of v5p that can hold a slice of '8x8x8'" defrag --dry-run -a v5p -t 8x8x8 --cubes any
refused 4 "adjacent cubes without positions" "of '4x4x8': adjacent cubes need positions, by the label 'quoit/cube-position'" defrag --dry-run -a v5p -t 4x4x8 --cubes adjacent
refused 4 "slots of adjacent cubes without positions" "no block of cubes of v5p: adjacent cubes need positions" slots -a v5p --cubes adjacent
holds "the commands succeed" moves
ok 0 "the joined slices are counted" slots -a v5p -t 4x8x8 --cubes any --now "$now" -o json
fact "one more can be joined" '[p["now_least"] for p in d["joined"]]' "[1]"
fresh 'v5p 4x4x4 x8 pool=a block=a grid=8x1x1; v5p 4x4x4 x4 pool=b block=b grid=2x2x1; group one v5p 4x4x4 cubes=any slices=b:0'
refused 4 "adjacent cubes in grids that are too narrow" "no block of v5p that can hold a slice of '8x8x8'" \
  defrag --dry-run -a v5p -t 8x8x8 --cubes adjacent
ok 0 "only one of two blocks is wide enough" defrag --dry-run -a v5p -t 4x8x8 --cubes adjacent --now "$now" -o json
fact "the bound is that of this block" '(d["gain"], d["gain_at_most"])' "(256, 256)"
finish
