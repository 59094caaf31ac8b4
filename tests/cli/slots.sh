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
finish
