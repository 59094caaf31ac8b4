#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `quoit slots`: classes, and parts of slices.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:00:00Z
counts='[(p["topology"], p["now_least"], p["now_most"], p["undrained_least"], p["ended_least"], p["mended_least"]) for p in d["parts"]]'

fresh 'v6e 8x8 x2 pool=p'
ok 0 "a node is drained" drain p-0-0 --now "$now"
ok 0 "a node is dead" set-state p-0-5 dead --now "$now"
ok 0 "a slice is reserved" reserve train --accelerator v6e --topology 8x8 --slices 1 --lease 1h --now "$now"
baseline
ok 0 "classes are counted" slots --now "$now"
out "the class is listed" "v6e         8x8"
ok 0 "parts are counted" slots --accelerator v6e --topology 4x4 --until 2026-05-01T10:00:00Z --now "$now" -o json
fact "the counts are right" "$counts" "[('4x4', 3, 3, 3, 7, 4)]"
ok 0 "parts of all shapes are counted" slots -a v6e --now "$now"
out "the heading names the assumptions" "PART NOW UNDRAINED GROUPS ENDED MENDED"
out "the largest shape is listed" "8x8  0   0         0            1"
ok 0 "aligned parts are counted" slots -a v6e -t 4x8 --cut aligned --now "$now" -o json
fact "they are at multiples of their sides" "$counts" "[('4x8', 1, 1, 1, 1, 2)]"
ok 0 "the certificate is printed" slots -a v6e -t 4x4 --certificate now --now "$now"
out "it names the slice" "p-0 most=3 unit="
holds "nothing has changed" unchanged
refused 3 "an unknown generation" "generation 'v9'" slots -a v9 --now "$now"
refused 3 "a shape that the generation cannot have" "3x3" slots -a v6e -t 3x3 --now "$now"
refused 4 "a shape that is too large" "no slice of v6e from which '16x16' can be cut" slots -a v6e -t 16x16 --now "$now"
refused 2 "an unknown way to cut" "--cut 'small': expected whole, aligned, any or partition" slots -a v6e --cut small --now "$now"
refused 2 "wrapping aligned parts" "--wrap: expected --cut any" slots -a v6e --cut aligned --wrap --now "$now"
refused 2 "an unknown certificate" "--certificate 'x': expected now, undrained, ended or mended" slots -a v6e --certificate x --now "$now"
refused 2 "parts without a generation" "expected --accelerator" slots --topology 4x4 --now "$now"
refused 3 "a time that is none" "--until" slots -a v6e --until soon --now "$now"

fresh 'v5p 4x4x4 x8 pool=a block=a grid=2x2x2; v5p 4x4x4 x3 pool=b block=b; v5p 4x4x4 pool=c'
ok 0 "a cube is drained" drain a-0-0 --now "$now"
ok 0 "a cube is dead" set-state a-1-5 dead --now "$now"
ok 0 "a cube is reserved" reserve one --accelerator v5p --topology 4x4x4 --slices 1 --pool b --lease 1h --now "$now"
baseline
joined='[(p["topology"], p["now_least"], p["now_most"], p["undrained_least"], p["ended_least"], p["mended_least"]) for p in d["joined"]]'
ok 0 "joined slices are counted" slots -a v5p -t 4x4x12 --cubes any --until 2026-05-01T10:00:00Z --now "$now" -o json
fact "the counts are right" "$joined" "[('4x4x12', 2, 2, 2, 3, 2)]"
ok 0 "joined slices of all topologies are counted" slots -a v5p --cubes any --now "$now" -o json
fact "they are those that a block can hold" '[p["topology"] for p in d["joined"]][:4]' "['4x4x4', '4x4x8', '4x4x12', '4x4x16']"
ok 0 "adjacent cubes are counted" slots -a v5p -t 4x8x8 --cubes adjacent --now "$now"
out "drained and dead cubes are missing" "4x8x8  1   1         1            2"
ok 0 "the certificate is printed" slots -a v5p -t 4x4x8 --cubes adjacent --certificate now --now "$now"
out "it names the cubes and their positions" "a-2@0-1-0"
holds "nothing has changed" unchanged
refused 3 "a generation without cubes" "v6e has none" slots -a v6e --cubes any --now "$now"
refused 3 "a topology that is not made of cubes" "topology '2x2x4' with cubes 'any'" slots -a v5p -t 2x2x4 --cubes any --now "$now"
refused 4 "a topology that no block can hold" "no block of v5p that can hold a slice of '8x8x16'" slots -a v5p -t 8x8x16 --cubes any --now "$now"
refused 4 "a fleet without blocks" "no block of cubes of v4" slots -a v4 --cubes any --now "$now"
refused 2 "unknown cubes" "--cubes 'some': expected any or adjacent" slots -a v5p --cubes some --now "$now"
refused 2 "cubes and parts" "--cubes: expected no --cut and no --wrap" slots -a v5p --cubes any --cut any --now "$now"
refused 2 "cubes without a generation" "expected --accelerator" slots --cubes any --now "$now"
finish
