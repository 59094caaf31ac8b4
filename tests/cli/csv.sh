#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# -o csv: Python's CSV reader gets the same values as from -o json, whatever the names are. No cell is a formula in a
# spreadsheet. Answers that are no list of rows have no CSV form.
. "$top_srcdir/tests/cli/lib.sh"

cat >"$tmp/compare.py" <<'PYTHON'
"""compare.py CSV JSON ARRAY: the rows of the one are the array of the other, by the rule that quoit(1) states."""
import csv, json, re, sys, unicodedata

def one_line(text):
    unseen = {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"}
    return "".join(c if unicodedata.category(c) not in unseen else "".join(f"\\x{b:02x}" for b in c.encode()) for c in text)

def no_formula(text):
    return re.sub(r"(^|;)(?= *[=+@\-＝＋－＠])", r"\1'", text)

def item(value):
    text = value["text"] if isinstance(value, dict) else value
    return "" if text is None else one_line(text).replace(";", "\\x3b")

def cell(key, value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or key in ("used", "total"):
        return str(value)
    if isinstance(value, dict):
        value = [f"{name}={text}" for name, text in value.items()]
    if isinstance(value, list):
        return no_formula(";".join(map(item, value)))
    return no_formula(one_line(value))

document = json.load(open(sys.argv[2], encoding="utf-8"))
array = document[sys.argv[3]]
text = open(sys.argv[1], encoding="utf-8", newline="").read()
assert text.endswith("\n") and "\r" not in text, "lines end in LF"
rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
assert text.count("\n") == len(rows) == len(array) + 1, "a line a row, and one for the keys"
for row in array:
    assert list(row) == rows[0], (list(row), rows[0])
expected = [[cell(k, v) for k, v in row.items()] for row in array]
for got, wanted in zip(rows[1:], expected):
    assert got == wanted, (got, wanted)

# No text may start like a formula in a spreadsheet, including those that separate columns by semicolons.
numbers = re.compile(r"-?[0-9]+(\.[0-9]+)?$")
for row in rows[1:]:
    for value in row:
        for part in value.split(";"):
            assert not re.match(r"[ \t\r]*[=+@\-＝＋－＠]", part) or numbers.match(part), part
PYTHON

# twin ARRAY WORD...: the JSON and CSV forms of `quoit WORD...` have the same rows, and there is at least one.
twin ()
{
  array=$1
  shift
  ok 0 "$* prints JSON" "$@" -o json
  cp "$tmp/out" "$tmp/json"
  ok 0 "$* prints CSV" "$@" -o csv
  holds "$*: stderr is empty" test ! -s "$tmp/err"
  if [ -z "$python" ]; then
    skip "$*: no python3"
    return
  fi
  holds "$*: the CSV has rows" test "$(wc -l <"$tmp/out")" -gt 1
  holds "$*: CSV and JSON have the same values" "$python" "$tmp/compare.py" "$tmp/out" "$tmp/json" "$array"
}

# For every verb that prints rows, and every kind of object of `show`.
all_twins ()
{
  twin nodes nodes
  twin slices slices
  twin groups groups
  twin entries journal
  twin classes slots
  echo "v6e 4x4 x 2" >"$tmp/queue"
  echo "v6e 4x4 10.75/hour" >"$tmp/prices"
  twin classes plan --for "$tmp/queue" --price "$tmp/prices"
  twin classes slots --for "$tmp/queue"
  twin classes fragmentation
  twin parts fragmentation --parts
  twin classes promise --host-availability 0.999
  twin shapes promise --cubes 144 --host-availability 0.999 --shape 4x8x8 --shape 4x4x4
}

# --- an ordinary fleet with a value in every column
fresh 'v5e 2x2 x2 pool=small busy=1 draining=0; v5p 2x2x4 x1 dead=0.1'
ok 0 "the manifest is imported" import raycluster "$two_slices" --now "$now"
ok 0 "a group is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --owner ann --key k,1 --now "$now"
ok 0 "a second group is reserved" reserve gone --topology 4x4 --accelerator v6e --slices 1 --key g --now "$now" \
  --label team=nlp --label run=7
ok 0 "the second group is released" release gone --reason "done" --now "$now"
ok 0 "set-state marks a host dead" set-state tpu-group-0-1 dead --now "$now"
all_twins
twin classes what-if 'drain pool small; add v6e 4x4 x2; release train' --now "$now"
twin generations catalogue
twin topologies catalogue v5e
twin topologies catalogue v6e 4x4
twin nodes who-holds tpu-group-0
twin nodes who-holds small-1-0
twin entries journal --since 3
twin workers show train
twin nodes show tpu-group-0
twin resources show tpu-group-0-0

ok 0 "slots --output=csv succeeds" slots --output=csv
holds "the first line of CSV has the keys of JSON" test "$(head -n 1 "$tmp/out")" = \
  accelerator,topology,chips_per_host,n_hosts,slices,intact,degraded,idle,partly_used,full,held,draining,fit_now
ok 0 "slices -o csv succeeds" slices -o csv
out "a list in a cell is joined by semicolons and quoted" ',"degraded;full;allocated",train@1,1,'
ok 0 "a group with the name of a slice is reserved" reserve tpu-group-1 --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
refused 3 "name of a group and of a slice" "'tpu-group-1' is the name of a group and of a slice|expected NAME@ID or source/pool/name" \
  show tpu-group-1 -o csv
holds "nothing is printed for an ambiguous name" test ! -s "$tmp/out"
twin workers show tpu-group-1@3
twin nodes show two-slices/tpu-group/tpu-group-1
refused 4 "unknown name with -o csv" "'nothing'" show nothing -o csv
holds "nothing is printed on stdout for an unknown name" test ! -s "$tmp/out"

# --- what lies ahead
fresh 'v6e 4x4 x3 pool=big'
ok 0 "a reservation ahead succeeds" reserve later --topology 4x4 --accelerator v6e --slices 1 --owner =ann \
  --from 2126-06-01T00:00:00Z --now "$now"
ok 0 "bundles are reserved ahead" reserve parts --bundle TPU=4 --from 2126-06-01T00:00:00Z --until 2126-06-02T00:00:00Z --now "$now"
ok 0 "a window is added" calendar add service --slice big-0 --from 2126-07-01T00:00:00Z --until 2126-07-02T00:00:00Z --now "$now"
twin calendar calendar
twin groups groups
twin workers show later

# --- groups of every kind, in every form
# forms WORD...: each form of `show`, `groups`, `who-holds` and `env` of the group WORD is an answer or a message.
forms ()
{
  for form in table json csv; do
    ok 0 "show $1 -o $form succeeds" show "$@" -o "$form"
    holds "show $1 -o $form prints something" test -s "$tmp/out"
    ok 0 "groups with $1 prints $form" groups -o "$form" --now "$now"
  done
  for form in table json env slice; do
    run env "$@" -o "$form"
    holds "env $1 -o $form prints output or a message (exit status $status)" test "$status" -ge 0 -a "$status" -lt 15
  done
}
fresh 'v6e 4x4 x6'
slice='--topology 4x4 --accelerator v6e --slices 1'
# shellcheck disable=SC2086
{
  ok 0 "a slice is reserved" reserve slices $slice --key slices --now "$now"
  ok 0 "one bundle is reserved" reserve one --bundle TPU=1 --key one --now "$now"
  ok 0 "several bundles are reserved" reserve several --bundle '3x{TPU=2}' --bundle TPU=0.5 --now "$now"
  ok 0 "bundles on different hosts are reserved" reserve spread --bundle '2x{TPU=4}' --strategy STRICT_SPREAD --now "$now"
  ok 0 "a slice is reserved in bundles" reserve parts $slice --tpu-per-bundle 2 --now "$now"
  ok 0 "a slice is held on a lease" hold held $slice --lease 10h --now "$now"
}
for group in slices one several spread parts held; do
  forms "$group" --now "$now"
done
baseline
refused 3 "a Slice object of bundles" "group 'one@2' has bundles: -o slice expects a group of slices" env one -o slice --now "$now"
twin bundles show one
twin bundles show several
twin bundles show spread
twin bundles show parts
twin workers show slices
twin workers show held --now "$now"
holder=$(quoit show slices -o csv | sed -n 2p | cut -d, -f4)
ok 0 "set-state marks a host of a slice dead" set-state "$holder" dead --now "$now"
twin workers show slices
bundle=$(quoit show spread -o csv | sed -n 2p | cut -d, -f2)
ok 0 "set-state marks a host of bundles dead" set-state "$bundle" dead --now "$now"
twin bundles show spread
for group in slices one; do
  ok 0 "a group is released" release "$group" --now "$now"
  forms "$group" --now "$now"
done
fresh
hold=$top_srcdir/tests/data/captures/gke.hold-and-wait
ok 0 "groups of Ray with a pending one are imported" import ray-nodes "$hold.ray-list-nodes--format-json.json" \
  --groups "$hold.py-placement_group_table.json" --available "$hold.py-available_resources_per_node.json" --now "$now"
quoit groups -o csv | sed -n 's/@.*//; 2,$p' >"$tmp/names"
holds "the groups of Ray have names" test "$(wc -l <"$tmp/names")" = 4
while read -r group; do
  forms "$group" --now "$now"
  twin bundles show "$group"
done <"$tmp/names"
fresh
lost=$top_srcdir/tests/data/captures/lost.one-slice-host-lost
ok 0 "a group of Ray with a lost host is imported" import ray-nodes "$lost.ray-list-nodes--detail.yaml" \
  --groups "$lost.ray-list-placement-groups--detail.yaml" --available "$lost.py-available_resources_per_node.json" --now "$now"
forms train-a --now "$now"
twin bundles show train-a

# --- no rows
fresh
ok 0 "nodes -o csv reads an empty ledger" nodes -o csv
holds "the CSV of an empty ledger has the keys" test "$(cat "$tmp/out")" = \
  node,full_name,source,pool,slice,worker_id,chips,state,address,ray_head,assumed,held_by,state_reason
ok 0 "groups -o csv reads an empty ledger" groups -o csv
holds "the CSV of an empty ledger has only the header" test "$(wc -l <"$tmp/out")" -eq 1

# --- hostile names
if [ -n "$python" ]; then
  "$python" - >"$tmp/hostile.json" <<'PYTHON'
import json
names = ["=cmd|'/c calc'!A1", "+1+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "  =1", "'=1", "\"=1\"", "a;=1", "x,=1", "a;  @b",
         "\uff1d1", "\uff0b1", "\uff0d1", "\uff20x", "a,b", 'say "hi"', "two\nlines", "two\r\nlines", "nul\u0001\u007f\u0085",
         "\u202eeslaf", "\u2028\u2029", "\u200b", "Z\u00fcrich \u6771\u4eac", "back\\slash", "\\x0a", "x" * 253, ";", "-", "true", "a;b;", " "]
print(json.dumps([{
    "NodeID": f"{i:056x}", "Alive": True, "NodeManagerAddress": f"192.0.2.{i + 1}", "NodeName": name,
    "NodeManagerHostname": name, "Resources": {"CPU": 2.0, "TPU": 4.0, "memory": 1024.0, "TPU-v6e-4-head": 1.0, "=x" + name[:200]: 3.0},
    "Labels": {"ray.io/node-id": f"{i:056x}", "ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": f"s{i}",
               "ray.io/tpu-pod-type": "v6e-4", "ray.io/tpu-topology": "2x2", "ray.io/tpu-worker-id": "0"},
} for i, name in enumerate(names)]))
PYTHON
  fresh
  ok 0 "nodes with hostile names are imported" import ray-nodes "$tmp/hostile.json" --source '=src;-1' --now "$now"
  ok 0 "a group with a hostile name is reserved" reserve '=HYPERLINK("x";"y")' --topology 2x2 --accelerator v6e --slices 30 --owner '-ann;=1,"2"' \
    --key '+1' --now "$now"
  ok 0 "a second group with a hostile name is reserved" reserve '; =x' --topology 2x2 --accelerator v6e --slices 1 --now "$now" \
    --owner "$(head -c 253 /dev/zero | tr '\0' '+')" --label '-a;b==1;"2"' --label '+=@x'
  all_twins
  ok 0 "nodes prints hostile names as JSON" nodes -o json
  for n in 0 1 2 5 18 19 22 30; do
    name=$("$python" -c 'import json, sys
print(json.load(open(sys.argv[1]))["nodes"][int(sys.argv[2])]["full_name"], end=".")' "$tmp/out" "$n")
    cp "$tmp/out" "$tmp/nodes"
    twin nodes who-holds "${name%.}"
    twin resources show "${name%.}"
    cp "$tmp/nodes" "$tmp/out"
  done
  twin workers show '=HYPERLINK("x";"y")'
  ok 0 "nodes -o csv succeeds in the C locale" nodes -o csv
  cp "$tmp/out" "$tmp/c"
  LC_ALL=C.UTF-8 quoit nodes -o csv >"$tmp/out"
  holds "the CSV does not depend on the locale" cmp "$tmp/c" "$tmp/out"
  out "letters are printed as they are" 'Zürich 東京'
  out "a bidirectional control character is escaped" '\xe2\x80\xaeeslaf'
  out "a line break is escaped" 'two\x0d\x0alines'
  out "a formula is marked as text" "'=cmd|'/c calc'!A1,"
  out "a quote is doubled" '"say ""hi""",'
else
  skip "hostile names: no python3"
fi

# --- answers without rows
fresh 'v6e 4x4 x2'
quoit reserve g --topology 4x4 --accelerator v6e --slices 1 --now "$now" >/dev/null
baseline
list="calendar, catalogue, defrag, fragmentation, groups, journal, nodes, plan, promise, show, slices, slots, what-if and who-holds"
want='--topology 4x4 --accelerator v6e --slices 1'
while read -r words; do
  # shellcheck disable=SC2086
  refused 2 "CSV output of $words" "--output 'csv': expected table|csv is for the verbs that answer with rows: $list" $words --now "$now" -o csv
  holds "$words -o csv prints nothing" test ! -s "$tmp/out"
done <<VERBS
init
import fleet v6e_4x4
export json
verify
backup $tmp/copy.db
status
reserve h $want
reserve h $want --dry-run
release g
set-state fleet-0-0 dead
drain fleet-0-0
undrain fleet-0-0
fits $want
env g
VERBS
refused 2 "CSV output of journal compact" "--output 'csv': compact has no rows: expected table or json" journal compact --before 2 --now "$now" -o csv
holds "journal compact -o csv makes no copy" test ! -e "$tmp/copy.db"
refused 2 "CSV output of env" "expected table, wide, env, slice or json" env g -o csv
for word in CSV 'csv,' tsv '' ' csv'; do
  refused 2 "output form '$word'" "--output '$word'|expected table, wide, json or csv" nodes -o "$word"
done
for verb in catalogue defrag fragmentation groups journal nodes plan promise show slices slots who-holds; do
  ok 0 "$verb --help succeeds" "$verb" --help
  out "$verb --help lists csv" "table, wide, json or csv (table)"
done
ok 0 "status --help succeeds" status --help
out "status --help does not list csv" "table, wide or json (table)"

finish
