#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# metrics: the text format of Prometheus, the numbers, files, and the queries of the dashboard.
. "$top_srcdir/tests/cli/lib.sh"

cat >"$tmp/parse.py" <<'PY'
"""parse.py FILE [EXPRESSION]: checks the text format, and prints the value of the expression over v(NAME, LABEL=VALUE...)."""
import re, sys

LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(%s(?:,%s)*)\})? (-?[0-9]+(?:\.[0-9]+)?)" % (LABEL, LABEL))
values, helped, typed, current = {}, set(), set(), None
text = open(sys.argv[1], encoding="utf-8", newline="\n").read()
assert text.endswith("\n")
for line in text[:-1].split("\n"):
    if line.startswith("# HELP "):
        current = line.split(" ")[2]
        assert current not in helped, "a family twice: " + line
        assert re.fullmatch(r"quoit_[a-z_]*[a-z]", current) and not current.endswith(("_total", "_count", "_sum", "_bucket")), line
        assert len(line.split(" ", 3)[3]) > 10 and line.endswith("."), line
        helped.add(current)
    elif line.startswith("# TYPE "):
        assert line == "# TYPE %s gauge" % current, line
        typed.add(current)
    else:
        match = SAMPLE.fullmatch(line)
        assert match, "no sample: " + line
        assert match[1] == current and current in typed, "a sample of another family: " + line
        pairs = re.findall(r'([a-zA-Z_0-9]+)="((?:[^"\\]|\\.)*)"', match[2] or "")
        assert len({key for key, _ in pairs}) == len(pairs), line
        labels = tuple((k, re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], x)) for k, x in pairs)
        assert (match[1], labels) not in values, "a sample twice: " + line
        values[match[1], labels] = float(match[3])
assert helped == typed


def v(name, **labels):
    found = [value for (n, l), value in values.items() if n == name and labels.items() <= dict(l).items()]
    assert name in helped, "no metric " + name
    return sum(found)


def labels_of(name):
    return {key for (n, l) in values if n == name for key, _ in l}


if len(sys.argv) > 2:
    print(eval(sys.argv[2]), end="")
PY

# value 'sentence' EXPRESSION VALUE: of the last output.
value ()
{
  got=$("$python" "$tmp/parse.py" "$tmp/out" "$2" 2>&1)
  if [ "$got" = "$3" ]; then
    pass
  else
    fail "$1" "after: $last_command" "$2 is '$got', expected '$3'"
  fi
}

[ -n "$python" ] || {
  skip "no python3"
  finish
}

# --- an empty ledger
fresh
ok 0 "an empty ledger has metrics" metrics --now "$now"
value "the journal is empty" 'v("quoit_journal_entry"), v("quoit_nodes"), v("quoit_groups")' "(0.0, 0, 0.0)"

# --- classes, groups and leases
fresh 'v6e 4x4 x3; v5p 2x2x4 x2 pool=big dead=1.0'
ok 0 "a group with a lease" hold short --topology 4x4 --accelerator v6e --slices 1 --lease 50s --now "$now"
ok 0 "a group without a lease" reserve long --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "metrics" metrics --now "$now"
value "the position of the journal" 'v("quoit_journal_entry")' 3.0
value "the time" '"%.3f" % v("quoit_metrics_time_seconds")' 1777627800.000
value "classes" 'v("quoit_slices", accelerator="v6e", topology="4x4", chips_per_host="4"), v("quoit_slices", accelerator="v5p")' "(3.0, 2.0)"
value "free slices" 'v("quoit_slices_by_condition", accelerator="v6e", condition="free"), v("quoit_slices_by_condition", accelerator="v5p", condition="free")' \
  "(1.0, 1.0)"
value "held slices" 'v("quoit_slices_by_condition", condition="held")' 2.0
value "degraded slices" 'v("quoit_degraded_slices")' 1.0
value "nodes" 'v("quoit_nodes", source="fleet", state="alive"), v("quoit_nodes", state="dead")' "(19.0, 1.0)"
value "chips" '[v("quoit_resource_amount", resource="TPU", state=s) for s in ("held", "reserved", "available", "down")]' "[16.0, 16.0, 44.0, 4.0]"
value "groups" 'v("quoit_groups", state="held"), v("quoit_groups", state="reserved"), v("quoit_groups")' "(1.0, 1.0, 2.0)"
value "leases" 'v("quoit_leases"), v("quoit_leases_ending", within_seconds="60"), v("quoit_leases_ending", within_seconds="86400")' "(1.0, 1.0, 1.0)"
value "the first lease end" 'v("quoit_first_lease_end_seconds") - v("quoit_metrics_time_seconds")' 50.0
value "fragmentation is a ratio" '0 <= v("quoit_fragmentation_ratio", accelerator="v6e", bound="least") <= v("quoit_fragmentation_ratio", accelerator="v6e", bound="most") <= 1' True
value "no group waits" 'v("quoit_waiting_groups")' 0
ok 0 "after the lease" metrics --now 2026-05-01T09:31:00Z
value "the lease has ended" 'v("quoit_groups"), v("quoit_leases"), v("quoit_slices_by_condition", accelerator="v6e", condition="free")' "(1.0, 0.0, 2.0)"
ok 0 "the past" metrics --at 1
value "has its own numbers" 'v("quoit_journal_entry"), v("quoit_groups"), v("quoit_metrics_time_seconds") - v("quoit_ledger_clock_seconds")' "(1.0, 0.0, 0.0)"

# --- groups that wait
ok 0 "a host of a group dies" set-state v6e-4x4-1-2 dead --now "$now"
ok 0 "another slice is drained" drain v6e-4x4-2-0 --now "$now"
ok 0 "metrics of a group that lost a slice" metrics --now "$now"
value "its slice is lost" 'v("quoit_group_slices", state="lost"), v("quoit_groups", state="rescheduling")' "(1.0, 1.0)"
value "and why it waits" 'v("quoit_waiting_groups", verdict="not-now"), v("quoit_waiting_groups")' "(1.0, 1.0)"
hold=$top_srcdir/tests/data/captures/gke.hold-and-wait
fresh
ok 0 "Ray's pending groups" import ray-nodes "$hold.ray-list-nodes--detail--format-json.json" \
  --groups "$hold.ray-list-placement-groups--detail--format-json.json" --now "$now"
ok 0 "metrics of Ray's pending groups" metrics --now "$now"
ok 0 "groups" groups -o json
pending=$("$python" -c 'import json, sys; print(sum(g["state"] == "pending" for g in json.load(open(sys.argv[1]))["groups"]))' "$tmp/out")
ok 0 "metrics again" metrics --now "$now"
value "each pending group has a reason" 'v("quoit_groups", state="pending") == v("quoit_waiting_groups")' True
holds "there are pending groups" test "$pending" -gt 0
value "the metrics and the groups agree" 'int(v("quoit_groups", state="pending"))' "$pending"
value "only common resources have samples" 'sorted({dict(l)["resource"] for (n, l) in values if n == "quoit_resource_amount"})' \
  "['CPU', 'TPU', 'memory']"

# --- any name, and a bounded number of samples
fresh
ok 0 "a source with a name that needs escapes" import fleet 'v6e 4x4 x1' --source 'a"b\c{d}=,é' --now "$now"
ok 0 "metrics of a strange name" metrics --now "$now"
value "the label has the name" '[dict(l)["source"] for (n, l) in values if n == "quoit_nodes"][0]' 'a"b\c{d}=,é'
fresh 'v6e 4x4 x2'
ok 0 "metrics of a small fleet" metrics --now "$now"
few=$(wc -l <"$tmp/out")
fresh 'v6e 4x4 x2000'
i=0
while [ $i -lt 20 ]; do
  quoit reserve "g$i" --topology 4x4 --accelerator v6e --slices 1 --lease 1h --owner "o$i" --now "$now" >/dev/null
  i=$((i + 1))
done
ok 0 "metrics of a large fleet with groups and owners" metrics --now "$now"
holds "no sample per node, group or owner" test "$(wc -l <"$tmp/out")" -le $((few + 4))

# --- files
ok 0 "a file" metrics --file "$tmp/quoit.prom" --now "$now"
quoit metrics --now "$now" >"$tmp/text"
holds "the file has the text of stdout" cmp "$tmp/quoit.prom" "$tmp/text"
holds "only the file is left in its folder" test "$(find "$tmp" -maxdepth 1 -name '*quoit.prom*' | wc -l)" -eq 1
ok 0 "it is replaced" metrics --file "$tmp/quoit.prom" --now "$now"
echo precious >"$tmp/precious"
baseline
refused 7 "a file with other content" "--file '$tmp/precious'" metrics --file "$tmp/precious"
holds "it is kept" grep -qx precious "$tmp/precious"
ok 0 "--force replaces it" metrics --file "$tmp/precious" --force
refused 7 "the ledger as the file" "--file" metrics --file "$QUOIT_DB" --force
refused 8 "a folder that does not exist" "--file '$tmp/no/quoit.prom'" metrics --file "$tmp/no/quoit.prom"
refused 2 "--force alone" "--force requires --file" metrics --force
refused 2 "another form" "--output 'table'" metrics -o table
refused 2 "an argument" "unexpected argument 'x'" metrics x
if [ -w /dev/full ]; then
  status=0
  quoit metrics >/dev/full 2>"$tmp/err" || status=$?
  holds "a full stdout is an error" test "$status" -eq 8
fi

# --- the dashboard: each query has metrics and labels that exist
quoit hold h --topology 4x4 --accelerator v6e --slices 1 --lease 50s --now "$now" >/dev/null
cp "$QUOIT_DB" "$tmp/one.db"
fresh
quoit import ray-nodes "$hold.ray-list-nodes--detail--format-json.json" \
  --groups "$hold.ray-list-placement-groups--detail--format-json.json" --now "$now" >/dev/null
quoit hold h --topology 4x4 --accelerator v6e --slices 1 --lease 50s --now "$now" >/dev/null 2>&1 ||
  quoit hold h --bundle CPU=1 --lease 50s --now "$now" >/dev/null
quoit metrics --now "$now" >"$tmp/out"
cat >"$tmp/dashboard.py" <<'PY'
import json, re, sys
exec(open(sys.argv[1]).read().split("if len(sys.argv)")[0].replace("sys.argv[1]", "sys.argv[2]"))
board = json.load(open(sys.argv[3]))
used = set()
for panel in board["panels"]:
    for target in panel["targets"]:
        expression = target["expr"]
        names = re.findall(r"quoit_[a-z_]+", expression)
        assert names, expression
        used |= set(names)
        for name in names:
            assert name in helped, "no metric %s: %s" % (name, panel["title"])
            known = labels_of(name) | {"instance"}
            for selector in re.findall(name + r"\{([^}]*)\}", expression):
                for label, value in re.findall(r'([a-z_]+)=~?"([^"]*)"', selector):
                    assert label in known, "%s has no label %s" % (name, label)
                    if label not in ("instance",):
                        for one in value.split("|"):
                            assert any(dict(l).get(label) == one for (n, l) in values if n == name), (name, label, one)
            for by in re.findall(r"by \(([^)]*)\)", expression):
                assert set(by.split(", ")) <= known, (name, by)
            for label in re.findall(r"\{\{([a-z_]+)\}\}", target["legendFormat"]):
                assert label in known, (panel["title"], label)
    assert panel["id"] > 0 and panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
assert len({p["id"] for p in board["panels"]}) == len(board["panels"])
unused = helped - used - {"quoit_build_info", "quoit_ledger_clock_seconds", "quoit_ledger_epoch", "quoit_owners",
                          "quoit_slices_without_class"}
assert not unused, "metrics without a panel: %s" % unused
PY
holds "the queries of the dashboard fit the metrics" "$python" "$tmp/dashboard.py" "$tmp/parse.py" "$tmp/out" \
  "$top_srcdir/contrib/metrics/grafana.json"
sed 's/quoit_waiting_groups/quoit_waiting_group/' "$top_srcdir/contrib/metrics/grafana.json" >"$tmp/wrong.json"
holds "a wrong query would be found" sh -c "! '$python' '$tmp/dashboard.py' '$tmp/parse.py' '$tmp/out' '$tmp/wrong.json' 2>/dev/null"

# --- Prometheus' own check
if command -v promtool >/dev/null; then
  holds "promtool accepts the text without a remark" sh -c "promtool check metrics <'$tmp/out' >'$tmp/promtool' 2>&1 && ! grep . '$tmp/promtool'"
else
  skip "no promtool (package prometheus)"
fi
finish
