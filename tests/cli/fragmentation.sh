#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `quoit fragmentation`: classes, parts, and the past.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:00:00Z
numbers='[[c[k] for k in ("topology", "free_slices", "free_hosts", "least", "most")] for c in d["classes"]]'

fresh 'v6e 4x4 x2 pool=p; v5e 4x4 pool=q busy=0'
ok 0 "a bundle is reserved" reserve one --bundle TPU=4 --slice p-0 --now "$now"
baseline
ok 0 "fragmentation prints a table" fragmentation --now "$now"
out "a class without free hosts has none" "v5e         4x4               4      1    0          0 -"
ok 0 "fragmentation prints JSON" fragmentation --now "$now" -o json
fact "the numbers are right" "$numbers" "[['4x4', 0, 0, None, None], ['4x4', 1, 7, '0.375939', '0.375939']]"
ok 0 "the past is measured" fragmentation --at 1 -o json
fact "the past had no fragmentation" "$numbers" "[['4x4', 0, 0, None, None], ['4x4', 2, 8, '0', '0']]"
ok 0 "parts are printed" fragmentation --parts --now "$now" -o json
fact "the parts are right" '[[p[k] for k in ("part", "weight", "fit_least", "fit_most")] for p in d["parts"]][3:]' \
  "[['2x2', '0.052631', 7, 7], ['2x4', '0.105263', 3, 3], ['4x4', '0.842105', 1, 1]]"
holds "nothing has changed" unchanged
refused 2 "an argument" "'x'" fragmentation x --now "$now"
refused 4 "an entry that does not exist" "99" fragmentation --at 99

fresh 'v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x4 pool=b block=b; v6e 4x4 pool=c'
ok 0 "a cube is reserved" reserve one --accelerator v5p --topology 4x4x4 --slices 1 --pool a --now "$now"
ok 0 "a cube of the other block is reserved" reserve two --accelerator v5p --topology 4x4x4 --slices 1 --pool b --now "$now"
baseline
ok 0 "fragmentation of cubes is measured" fragmentation --cubes any --now "$now" -o json
fact "the numbers are right" "$numbers" "[['4x4x4', 6, 96, '0.525252', '0.525252']]"
ok 0 "topologies are printed" fragmentation --cubes any --parts --now "$now" -o json
fact "each number of cubes is one part" '[[p[k] for k in ("part", "fit_least", "fit_most")] for p in d["parts"]]' \
  "[['4x4x4', 6, 6], ['4x4x8', 2, 2], ['4x4x12', 2, 2], ['4x4x16', 0, 0]]"
ok 0 "adjacent cubes need positions" fragmentation --cubes adjacent --now "$now" -o json
fact "there are none" "$numbers" "[]"
refused 2 "unknown cubes" "--cubes 'some': expected any or adjacent" fragmentation --cubes some --now "$now"
finish
