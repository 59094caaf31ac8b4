#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `quoit promise`: slices of cubes without a database, whole slices of the ledger, and bad input.
. "$top_srcdir/tests/cli/lib.sh"

cubes='promise --cubes 144'
counts='[[s["shape"], s["cubes"], s["count"]] for s in d["shapes"]]'
classes='[[c["accelerator"], c["topology"], c["slices"], c["in_use"], c["count"]] for c in d["classes"]]'

# shellcheck disable=SC2086
{
# --- cubes
ok 0 "cubes need no database" $cubes --host-availability 0.999 --shape 4x8x8 --confidence 0.95 -o json
json "promise prints JSON"
fact "34 slices of 4x8x8 are promised" "$counts" "[['4x8x8', 4, 34]]"
fact "the facts repeat the question" '[d[k] for k in ("cubes", "held", "accelerator", "hosts_per_cube", "host_availability", "cube_availability", "confidence")]' \
  "[144, 0, 'tpu7x', 16, '0.999', '0.984119442', '0.95']"
fact "the statistics are named" 'd["shapes"][0]' "{'shape': '4x8x8', 'cubes': 4, 'count': 34, 'probability': '0.999465795', 'goodput': '0.972738471', 'static_goodput': '0.937974964'}"
holds "no database is made" test ! -e "$QUOIT_DB"
ok 0 "promise prints a table" $cubes --host-availability 0.999 --shape 4x8x8
out "the default confidence is 0.95" "confidence:        0.95"
out "the table has both statistics" "SHAPE CUBES COUNT PROBABILITY     GOODPUT STATIC GOODPUT"
ok 0 "an availability of cubes is accepted" $cubes --availability .93469 --shape 4x4x4 --shape 4x4x8 -o json
fact "130 of 144 cubes are promised" "$counts" "[['4x4x4', 1, 130], ['4x4x8', 2, 65]]"
fact "the availability of hosts is not known" 'd["host_availability"]' None
ok 0 "a smaller availability succeeds" $cubes --availability 0.9346 --shape 4x4x4 -o json
fact "129 of 144 cubes are promised" "$counts" "[['4x4x4', 1, 129]]"
for row in 0.99:112 0.995:125 0.999:138; do
  ok 0 "hosts of ${row%:*} are accepted" $cubes --host-availability ${row%:*} --shape 4x4x4 --confidence 0.99 -o json
  fact "${row#*:} cubes are promised with hosts of ${row%:*}" "$counts" "[['4x4x4', 1, ${row#*:}]]"
done
ok 0 "the TPU v4 paper's shapes are accepted" promise --cubes 64 --accelerator v4 --host-availability 0.995 --shape 8x8x16 --shape 8x16x16 --shape 12x16x16 -o json
fact "goodput is that of the paper" '[round(float(s["goodput"]), 3) for s in d["shapes"]]' "[0.751, 0.503, 0.75]"
ok 0 "--held is accepted" $cubes --held 100 --availability 0.93469 --shape 4x4x4 -o json
fact "held cubes are not promised again" "d['held'], ${counts}" "(100, [['4x4x4', 1, 30]])"
ok 0 "limits are accepted" promise --cubes 1000000 --availability 0.5 --shape 4x4x4 --confidence 0 -o json
ok 0 "certain cubes are certain" promise --cubes 4 --availability 1 --shape 4x8x8 --confidence 1.0 -o json
fact "only certainty is printed as 1" '[d["shapes"][0][k] for k in ("count", "probability", "goodput")]' "[1, '1', '1']"
ok 0 "nearly certain hosts are accepted" $cubes --host-availability 0.999999999999 --shape 4x4x4 --confidence 0.999999 -o json
fact "what is nearly certain is not printed as 1" 'd["host_availability"], d["cube_availability"], d["shapes"][0]["goodput"]' "('0.999999999999', '0.999999999', '0.999999999')"

refused 2 "no probability" "either --host-availability P or --availability P" $cubes --shape 4x4x4
refused 2 "two probabilities" "either --host-availability P or --availability P" $cubes --shape 4x4x4 --availability 0.9 --host-availability 0.9
for word in nan inf 1e-3 0x1 '' ' 0.5' 0.5% 1,5 .; do
  refused 2 "availability '$word'" "--availability '$word': expected a number from 0 to 1, such as 0.95" $cubes --shape 4x4x4 --availability "$word"
done
for word in 1.0000001 -0.1 95 2147483648; do
  refused 3 "host availability '$word'" "--host-availability '$word': expected a probability from 0 to 1" $cubes --shape 4x4x4 --host-availability "$word"
  refused 3 "confidence '$word'" "--confidence '$word': expected a probability from 0 to 1" $cubes --shape 4x4x4 --availability 0.9 --confidence "$word"
done
for word in 0 -1 1000001 2147483648; do
  refused 3 "$word cubes" "--cubes '$word': expected 1 to 1000000 cubes" promise --cubes "$word" --shape 4x4x4 --availability 0.9
done
refused 2 "cubes that are not a number" "--cubes 'many'" promise --cubes many --shape 4x4x4 --availability 0.9
refused 3 "more held cubes than there are" "--held '145': expected 0 to 144" $cubes --held 145 --shape 4x4x4 --availability 0.9
refused 3 "negative held cubes" "--held '-1'" $cubes --held -1 --shape 4x4x4 --availability 0.9
refused 2 "cubes without a shape" "--cubes requires --shape SHAPE" $cubes --availability 0.9
refused 3 "a shape smaller than a cube" "topology '2x2x4': expected whole cubes of 4x4x4" $cubes --shape 2x2x4 --availability 0.9
refused 3 "a flat shape" "'4x4'" $cubes --shape 4x4 --availability 0.9
refused 3 "a shape of broken cubes" "'4x4x6'" $cubes --shape 4x4x6 --availability 0.9
refused 3 "a shape with a zero" "'0x4x4'" $cubes --shape 0x4x4 --availability 0.9
refused 3 "a shape with a negative side" "'-4x4x4'" $cubes --shape -4x4x4 --availability 0.9
refused 3 "a shape larger than all cubes" "--shape '16x16x24': it has 96 cubes, expected at most the 64 of --cubes" promise --cubes 64 --shape 16x16x24 --availability 0.9
refused 3 "a generation without cubes" "accelerator 'v6e': expected a generation whose slices consist of cubes" $cubes --accelerator v6e --shape 4x4 --host-availability 0.9
refused 3 "an unknown generation" "'v99'" $cubes --accelerator v99 --shape 4x4x4 --availability 0.9
refused 2 "--of with cubes" "--of counts the slices of the ledger: expected no --cubes" $cubes --of free --shape 4x4x4 --availability 0.9
refused 2 "--at with cubes" "--at is a state of the ledger: expected no --cubes" $cubes --at 1 --shape 4x4x4 --availability 0.9
refused 2 "an argument" "unexpected argument 'x'" $cubes --shape 4x4x4 --availability 0.9 x

# --- whole slices
refused 4 "no database" "quoit.db" promise --availability 0.9
fresh 'v6e 4x4 x20 dead=1.2 busy=3; v6e 2x2 x8; v5p 4x4x8 x4'
ok 0 "slices are reserved" reserve a --accelerator v6e --topology 4x4 --slices 3 --now "$now"
baseline
ok 0 "slices of the ledger are counted" promise --host-availability 0.999 --now "$now" -o json
fact "each class is counted" "$classes" "[['v5p', '4x4x8', 4, 0, 3], ['v6e', '2x2', 8, 0, 8], ['v6e', '4x4', 20, 4, 15]]"
fact "the availability of a slice follows from its hosts" '[c["availability"] for c in d["classes"]]' "['0.968491076', '0.999', '0.996005996']"
holds "promise changes nothing" unchanged
ok 0 "--of intact is accepted" promise --availability 0.9 --of intact --shape 4x4 --now "$now" -o json
fact "a slice with a dead host does not count" "$classes" "[['v6e', '4x4', 19, 4, 11]]"
ok 0 "--of free is accepted" promise --availability 0.9 --of free --shape 4x4 --accelerator Trillium --now "$now" -o json
fact "slices in use do not count" "$classes" "[['v6e', '4x4', 15, 0, 11]]"
ok 0 "a generation without slices succeeds" promise --availability 0.9 --accelerator v4 --now "$now" -o json
fact "there are no classes" "$classes" "[]"
ok 0 "--at is accepted" promise --availability 0.9 --shape 4x4 --at 1 -o json
fact "nothing was reserved in the past" "$classes" "[['v6e', '4x4', 20, 1, 15]]"
ok 0 "all slices are reserved" reserve b --accelerator v5p --topology 4x4x8 --slices 4 --now "$now"
baseline
ok 0 "no free slice succeeds" promise --availability 0.9 --of free --shape 4x4x8 --now "$now" -o json
fact "without slices there is nothing to promise" '[d["classes"][0][k] for k in ("slices", "count", "probability", "goodput")]' "[0, 0, None, None]"
ok 0 "slices in use succeed" promise --availability 0.9 --shape 4x4x8 --now "$now" -o json
fact "slices in use are not promised" '[d["classes"][0][k] for k in ("in_use", "count", "probability")]' "[4, 0, '0.6561']"
refused 4 "a shape that the fleet does not have" "--shape '4x8': the fleet has no slices of that topology" promise --availability 0.9 --shape 4x8 --now "$now"
refused 4 "a shape of another generation" "--shape '4x4': the fleet has no slices of that topology and accelerator" promise --availability 0.9 --shape 4x4 --accelerator v5p --now "$now"
refused 2 "another set of slices" "--of 'some': expected all, intact or free" promise --availability 0.9 --of some
refused 2 "--held without cubes" "--held requires --cubes" promise --availability 0.9 --held 1
refused 3 "an unknown generation of the ledger" "'v99'" promise --availability 0.9 --accelerator v99 --now "$now"
}

finish
