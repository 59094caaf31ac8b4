#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quoit mesh: the mesh that JAX makes of a group, the links of its axes, and refusals with hints.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x3; v5p 4x4x4; v4 2x2x4 pool=four; tpu7x 2x2x2 pool=seven'
for group in 'train v6e 4x4 2' 'one v6e 4x4 1' 'cube v5p 4x4x4 1' 'four v4 2x2x4 1' 'seven tpu7x 2x2x2 1'; do
  # shellcheck disable=SC2086
  set -- $group
  quoit reserve "$1" --accelerator "$2" --topology "$3" --slices "$4" --now "$now" >/dev/null
done
baseline

# --- the mesh
ok 0 "a mesh with data between slices is printed as JSON" mesh train --axes data=2,fsdp=16 --dcn data=2 -o json
json "mesh prints JSON"
fact "JSON has the group" 'd["group"]' 'train@1'
fact "JSON has kind and numbers of devices" 'd["kind"], d["n_devices"], d["n_slices"]' "('TPU v6 lite', 32, 2)"
fact "the order is a ring, as in JAX" 'd["orders"]' "['ring']"
fact "each place has its device" '[one["id"] for one in d["devices"][:16]]' \
  '[0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4]'
fact "the second half of the devices is the second slice" '{one["slice_id"] for one in d["devices"][16:]}, d["devices"][16]["id"]' '({1}, 16)'
fact "a place is named by its indices" 'd["devices"][18]["place"]' '1,2'
fact "a device has coordinates, core and process" '[d["devices"][7][key] for key in ("id", "x", "y", "z", "core", "process_index")]' \
  '[9, 1, 2, 0, 0, 2]'
fact "axis data uses DCN" 'd["axes"][0]["network"], d["axes"][0]["dcn_size"], d["axes"][0]["form"]' "('dcn', 2, 'none')"
fact "axis fsdp is a ring of ICI" '[d["axes"][1][key] for key in ("axis", "size", "network", "form", "hops", "hops_back")]' \
  "['fsdp', 16, 'ici', 'ring', 1, 1]"
fact "axis fsdp uses both physical axes" 'd["axes"][1]["physical"]' 'x 4, y 4'
fact "the times over DCN are those of 1 GiB" 'd["axes"][0]["all_gather_ns"], d["axes"][0]["all_reduce_ns"]' '(42949673, 85899346)'
ok 0 "mesh prints a table" mesh train --axes data=2,fsdp=16 --dcn data=2 --bytes 1000000000
out "the table has the axes" "fsdp   16      1 ici  x 4, y 4 ring    1    1 4.688 ms   9.375 ms"
out "the table has the places" "0,4        7        0       1 3 1 0    0"
ok 0 "mesh accepts --bytes 0" mesh train --axes data=2,fsdp=16 --dcn data=2 --bytes 0 -o json
fact "times of 0 bytes are 0" 'd["n_bytes"], d["axes"][1]["all_gather_ns"]' '(0, 0)'

ok 0 "a mesh of a cube is printed" mesh cube --axes a=4,b=4,c=4 -o json
fact "the axes of a cube are closed rings" '[(one["physical"], one["form"], one["all_gather_ns"]) for one in d["axes"]]' \
  "[('z 4', 'ring', 4026532), ('y 4', 'ring', 4026532), ('x 4', 'ring', 4026532)]"
fact "the devices of a cube are in torus order" 'd["orders"]' "['torus']"
ok 0 "a mesh of v4 is printed" mesh four --axes a=4,b=4 -o json
fact "a generation without published bandwidth has no times" '[one["all_reduce_ns"] for one in d["axes"]]' '[None, None]'
ok 0 "a mesh of tpu7x is printed" mesh seven --axes a=8,core=2 -o json
fact "devices of one chip communicate on the chip" 'd["axes"][1]["network"], d["axes"][1]["physical"], d["axes"][1]["all_gather_ns"]' "('chip', 'core 2', None)"

ok 0 "--split-physical is accepted" mesh train --axes a=2,b=2,c=8 --dcn a=2 --split-physical -o json
fact "JSON has the flag of --split-physical" 'd["allow_split_physical_axes"], d["process_is_granule"]' '(True, False)'
ok 0 "--contiguous is accepted" mesh cube --axes a=16,b=4 --contiguous -o json
fact "contiguous submeshes have a different device order" '[one["id"] for one in d["devices"][:6]]' "[0, 1, 2, 3, 4, 5]"
ok 0 "--process-granule is accepted" mesh train --axes a=8,b=4 --dcn a=8 --process-granule -o json
fact "each granule has the devices of its process" '[one["process_index"] for one in d["devices"]] == [i // 4 for i in range(32)]' True

# --- possible meshes
ok 0 "mesh --suggest prints choices" mesh train --axes data=2,fsdp=16 --suggest -o json
json "mesh --suggest prints JSON"
fact "the first choice keeps fsdp inside the slice" '[d["choices"][0][key] for key in ("rank", "axes", "dcn", "allow_split_physical_axes")]' \
  "[1, 'data=2,fsdp=16', 'data=2', False]"
fact "times of the first choice are those of its mesh" '[(one["axis"], one["all_reduce_ns"]) for one in d["choices"][0]["times"]]' \
  "[('data', 85899346), ('fsdp', 10066330)]"
fact "more than one choice is printed" 'len(d["choices"]) == d["n_choices"] > 1' True
ok 0 "mesh --suggest accepts three axes" mesh train --axes data=4,fsdp=4,tensor=2 --suggest -o json
fact "ten choices are printed" 'len(d["choices"])' 10
cp "$tmp/out" "$tmp/choices"
if [ -n "$python" ]; then
  "$python" -c 'import json, sys
for one in json.load(open(sys.argv[1]))["choices"]:
    split = " --split-physical" if one["allow_split_physical_axes"] else ""
    print("--axes", one["axes"], "--dcn", str(one["dcn"]) + split, *["%s=%d" % (t["axis"], t["all_reduce_ns"]) for t in one["times"]], sep=" ")' \
    "$tmp/choices" | while read -r _ axes _ dcn times; do
    split=
    case $times in --split-physical*) split=--split-physical times=${times#--split-physical } ;; esac
    # shellcheck disable=SC2086
    quoit mesh train --axes "$axes" --dcn "$dcn" $split -o json >"$tmp/one" || echo "refused: $axes $dcn"
    "$python" -c 'import json, sys
times = ["%s=%d" % (one["axis"], one["all_reduce_ns"]) for one in json.load(open(sys.argv[1]))["axes"]]
assert times == sys.argv[2:], (times, sys.argv[2:])' "$tmp/one" $times || echo "another time: $axes $dcn"
    echo made
  done >"$tmp/made" 2>&1
  holds "each choice can be built and has the printed times" test "$(sort -u "$tmp/made")" = made
  holds "all ten choices were built" test "$(grep -c made "$tmp/made")" -eq 10
fi
ok 0 "mesh --suggest accepts one slice" mesh cube --axes a=4,b=16 --suggest
out "a choice for one slice has no --dcn" "   1 a=4,b=16 -     -"
ok 0 "mesh --suggest accepts --dcn" mesh train --axes data=2,fsdp=16 --dcn fsdp=2 --suggest -o json
fact "all choices use the given --dcn" '{one["dcn"] for one in d["choices"]}' "{'fsdp=2'}"
refused 3 "--suggest with axes that do not multiply to the devices" "'2,17' multiplies to 34|such as '2,16'" \
  mesh train --axes data=2,fsdp=17 --suggest
refused 2 "--suggest with --split-physical" "--suggest cannot be combined with --contiguous, --split-physical or --process-granule" \
  mesh train --axes data=2,fsdp=16 --suggest --split-physical

# --- refusals
refused 2 "mesh without --axes" "expected --axes NAME=SIZE" mesh train
refused 2 "axis without a size" "--axes 'data': expected NAME=SIZE" mesh train --axes data,fsdp=16
refused 2 "axis without a name" "--axes '=2': expected NAME=SIZE" mesh train --axes =2
refused 2 "empty --axes" "--axes '': expected NAME=SIZE" mesh train --axes ''
refused 2 "axis size that is no number" "axis 'data' of size 'two': expected 1 to 4194304 devices" mesh train --axes data=two,fsdp=16
refused 3 "axis size 0" "--axes: axis 'data' of size '0': expected 1 to 4194304 devices" mesh train --axes data=0,fsdp=16
refused 3 "negative axis size" "axis 'fsdp' of size '-16'" mesh train --axes data=2,fsdp=-16
refused 3 "axis size 2^63" "axis 'fsdp' of size '9223372036854775808'" mesh train --axes data=2,fsdp=9223372036854775808
refused 3 "repeated axis" "--axes: axis 'data' is given twice" mesh train --axes data=2,data=16
refused 3 "axes that do not multiply to the devices" "--axes 'a=4,b=5'|multiplies to 20: expected 64, the number of devices, such as '" \
  mesh cube --axes a=4,b=5
refused 3 "axes that do not multiply to the devices of a slice" "--axes 'data=2,fsdp=17' with --dcn 'data=2'|granule 0|expected 16, the number of devices, such as '1,16'" \
  mesh train --axes data=2,fsdp=17 --dcn data=2
refused 3 "--dcn that does not multiply to the slices" "expected 2, the number of granules, such as '" mesh train --axes data=4,fsdp=8 --dcn data=4
refused 3 "--dcn with an unknown axis" "--dcn 'dcn': expected an axis of the mesh: data, fsdp" \
  mesh train --axes data=2,fsdp=16 --dcn dcn=2
refused 3 "--dcn that does not divide its axis" "--dcn: axis 'fsdp': size '3' does not divide 16, the size of that axis in the mesh" \
  mesh train --axes data=2,fsdp=16 --dcn fsdp=3
refused 3 "mesh of two slices without --dcn" \
  "--axes 'data=2,fsdp=16': mesh spans 2 slices: add --dcn, for example --dcn data=2" mesh train --axes data=2,fsdp=16
refused 3 "two slices without --dcn, and only the second axis is divisible" "for example --dcn b=2" mesh train --axes a=1,b=32
ok 0 "the proposed --dcn works" mesh train --axes a=1,b=32 --dcn b=2
refused 3 "two slices, and another number of devices" \
  "--axes 'a=1,b=33': expected sizes that multiply to 32, the devices of 2 slices, and --dcn" mesh train --axes a=1,b=33
refused 3 "axis that needs a split physical axis" "axis 1 of size '8' is not the size of a free physical axis|'16,4', '4,16' or" \
  mesh cube --axes a=8,b=8
refused 3 "--contiguous with impossible submeshes" "contiguous" mesh four --axes a=2,b=8 --contiguous
refused 2 "--contiguous with --dcn" "expected one of --contiguous and --dcn" mesh train --axes a=32 --dcn a=2 --contiguous
refused 2 "--process-granule without --dcn" "--process-granule requires --dcn" mesh train --axes a=32 --process-granule
refused 2 "--bytes that is no number" "--bytes 'many'" mesh train --axes a=32 --dcn a=2 --bytes many
refused 3 "negative --bytes" "--bytes '-1'" mesh train --axes a=32 --dcn a=2 --bytes -1
refused 4 "mesh of an unknown group" "'nobody'" mesh nobody --axes a=32

quoit set-state v6e-4x4-1-3 dead --now "$now" >/dev/null
baseline
refused 5 "mesh of a group with a lost slice" "group 'train': slice 'v6e-4x4-1' is lost|repair the group, or release the slice" \
  mesh train --axes data=2,fsdp=16 --dcn data=2
quoit release train --slice v6e-4x4-1 --now "$now" >/dev/null
baseline
ok 0 "mesh of the remaining slice is accepted" mesh train --axes fsdp=16
refused 3 "mesh of two slices on one remaining slice" "expected 1, the number of granules" mesh train --axes data=2,fsdp=16 --dcn data=2
quoit release train --now "$now" >/dev/null
baseline
refused 4 "mesh of a released group" "'train'" mesh train --axes fsdp=16
quoit reserve two --bundle TPU=1 --bundle TPU=2 --now "$now" >/dev/null
baseline
refused 3 "mesh of bundles that form no job" "group 'two' is not one job over ICI" mesh two --axes a=3
finish
