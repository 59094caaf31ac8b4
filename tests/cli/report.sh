#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report: the structure and the data of the page, each kind of source, any name, wrong input, and the size.
# tests/report/ reads the page in a browser.
. "$top_srcdir/tests/cli/lib.sh"

[ -n "$python" ] || {
  skip "no python3"
  finish
}
cat >"$tmp/page.py" <<'PY'
"""page.py FILE [EXPRESSION]: checks the page, and prints the value of the expression over d, its data by name."""
import base64, hashlib, html.parser, json, re, sys

text = open(sys.argv[1], encoding="utf-8", newline="\n").read()
VOID = {"meta", "input", "br"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.parts, self.used, self.title = [], [], set(), [], [], ""

    def handle_starttag(self, tag, pairs):
        given = dict(pairs)
        assert len(given) == len(pairs), "an attribute twice: %s" % pairs
        assert not any(name.startswith("on") or name in ("style", "src") for name in given), pairs
        self.tags.append((tag, given))
        if "id" in given:
            assert given["id"] not in self.ids, "an id twice: " + given["id"]
            self.ids.add(given["id"])
        self.used += [name for key in ("aria-labelledby", "aria-describedby") for name in given.get(key, "").split()]
        if tag not in VOID:
            self.open.append((tag, given))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag, "</%s> without its begin" % tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] in ("script", "style"):
            self.parts.append((*self.open[-1], data))
        elif self.open and self.open[-1][0] == "title":
            self.title += data


page = Page()
page.feed(text)
page.close()
assert not page.open and text.startswith("<!DOCTYPE html>\n"), page.open
assert set(page.used) <= page.ids, set(page.used) - page.ids
tags = [tag for tag, _ in page.tags]
assert [tags.count(tag) for tag in ("html", "head", "body", "header", "main", "footer", "h1")] == [1] * 7
assert not set(tags) & {"img", "link", "iframe", "object", "embed", "base", "form"}, set(tags)
assert ("html", {"lang": "en"}) == page.tags[0]
policy = next(g["content"] for t, g in page.tags if g.get("http-equiv") == "Content-Security-Policy")
assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
digest = lambda part: "'sha256-%s'" % base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
scripts = [data for tag, given, data in page.parts if tag == "script" and "type" not in given]
styles = [data for tag, _, data in page.parts if tag == "style"]
assert len(scripts) == len(styles) == 1
assert "script-src " + digest(scripts[0]) in policy and "style-src " + digest(styles[0]) in policy
for part in scripts + styles:
    assert set(re.findall(r"https?:[^\"' ]*", part)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(|XMLHttp|import\(|url\(|@import", part)
d = {given["id"][5:]: json.loads(data) for tag, given, data in page.parts if given.get("type") == "application/json"}
assert sorted(d) == ["fragmentation", "history", "map", "slots", "status"], sorted(d)
assert all(value["schema"] == "quoit/1" for value in d.values())
m, s = d["map"], d["map"]["slices"]
n = len(s["names"])
assert n == len(s["hosts"]) == len(s["users"]) == len(s["nodes"]) == len(s["looks"]) == sum(p["n_slices"] for p in m["pools"])
kinds = [int(word) for word in s["classes"].split()]
assert len(kinds) == n
for kind, hosts in zip(kinds, s["hosts"]):
    assert kind < 0 or len(hosts) == len(m["classes"][kind]["places"]), hosts
for row in m["classes"]:
    assert len(set(row["places"])) == len(row["places"]), row
if len(sys.argv) > 2:
    print(eval(sys.argv[2]), end="")
PY

# page 'sentence' EXPRESSION VALUE: the page in $tmp/out is sound, and the value is right.
page ()
{
  got=$("$python" "$tmp/page.py" "$tmp/out" "$2" 2>&1)
  if [ "$got" = "$3" ]; then
    pass
  else
    fail "$1" "after: $last_command" "$2" "is '$got', expected '$3'"
  fi
}

# --- an empty ledger
fresh
ok 0 "an empty ledger has a page" report --html --now "$now"
page "it has no slice" 'n, m["pools"], m["classes"], d["status"]["groups"], d["history"]["ended"]' "(0, [], [], [], [])"

# --- a ledger with a past
fresh 'v6e 4x4 x3; v5p 2x2x4 x2 pool=big dead=1.0'
quoit reserve long --topology 4x4 --accelerator v6e --slices 1 --now "$now" >/dev/null
quoit reserve part --bundle TPU=2 --slice v6e-4x4-1 --now "$now" >/dev/null
quoit reserve ended --topology 4x4 --accelerator v6e --slices 1 --now "$now" >/dev/null
quoit release ended --reason "done & gone" --now 2026-05-01T09:31:00Z >/dev/null
quoit set-state v6e-4x4-0-2 dead --now 2026-05-01T09:32:00Z >/dev/null
quoit drain v6e-4x4-2-3 --now 2026-05-01T09:33:00Z >/dev/null
later=2026-05-01T10:00:00Z
baseline
ok 0 "a page" report --html --now "$later"
page "slices are in the order of the fleet" 's["names"]' "['big-0', 'big-1', 'v6e-4x4-0', 'v6e-4x4-1', 'v6e-4x4-2']"
page "each host has its state" 's["hosts"]' "['....', '#...', 'AA#A', 'a...', '...~']"
page "looks are those of top" 's["looks"]' 05514
page "users are named" 's["users"]' "['', '', 'long@1', 'part@2', '']"
page "usual names of nodes are left out" 'set(s["nodes"])' "{''}"
page "hosts are placed by the topology" '[c["places"] for c in m["classes"]]' \
  "[['0,0,0', '0,0,1', '0,0,2', '0,0,3'], ['0,0,0', '1,0,0', '0,1,0', '1,1,0']]"
page "the group that has ended is in the past" 'd["history"]["ended"]' \
  "[{'group': 'ended@3', 'since': '2026-05-01T09:30:00.000Z', 'ended': '2026-05-01T09:31:00.000Z', 'reason': 'done & gone'}]"
page "so are nodes, the latest first" '[(e["seq"], e["alive"], e["draining"], e["dead"], e["nodes"]) for e in d["history"]["events"]]' \
  "[(7, 0, 1, 0, ['v6e-4x4-2-3']), (6, 0, 0, 1, ['v6e-4x4-0-2']), (1, 0, 0, 1, ['big-1-0'])]"
page "fragmentation has each entry" 'sorted({row["seq"] for row in d["history"]["samples"]})' "[1, 2, 3, 4, 5, 6, 7]"
cp "$tmp/out" "$tmp/page.html"
for verb in status slots fragmentation; do
  ok 0 "$verb" "$verb" --now "$later" -o json
  cp "$tmp/out" "$tmp/$verb.json"
  cp "$tmp/page.html" "$tmp/out"
  page "the page has the answer of $verb" "d['$verb'] == json.load(open('$tmp/$verb.json'))" True
done
ok 0 "fragmentation of the past" fragmentation --at 4 -o json
cp "$tmp/out" "$tmp/past.json"
cp "$tmp/page.html" "$tmp/out"
page "a sample is that of fragmentation --at" '[(r["topology"], r["least"]) for r in d["history"]["samples"] if r["seq"] == 4] == [(r["topology"], r["least"]) for r in json.load(open(sys.argv[1].replace("out", "past.json")))["classes"]]' True
ok 0 "the page again" report --now "$later" -o html
holds "the bytes are the same" cmp "$tmp/out" "$tmp/page.html"
ok 0 "the past" report --at 2
page "has its own state" 's["hosts"][2], d["history"]["ended"], max(r["seq"] for r in d["history"]["samples"])' "('AAAA', [], 2)"
holds "nothing has changed" unchanged
i=0
while [ $i -lt 20 ]; do
  quoit reserve "g$i" --bundle TPU=0.1 --now "$later" >/dev/null
  i=$((i + 1))
done
ok 0 "a page after more entries" report --now "$later"
page "the samples are bounded" 'len({row["seq"] for row in d["history"]["samples"]})' 16
ok 0 "the journal is compacted" journal compact --before 20 --now "$later"
ok 0 "a page after a checkpoint" report --now "$later"
page "the samples begin with the checkpoint" 'min(row["seq"] for row in d["history"]["samples"]) >= 19' True

# --- more users than letters
fresh 'v6e 16x16'
i=0
while [ $i -lt 30 ]; do
  quoit reserve "job $i" --bundle TPU=4 --now "$now" >/dev/null
  i=$((i + 1))
done
quoit reserve part --bundle TPU=3 --now "$now" >/dev/null
ok 0 "a page of a slice with 31 groups" report --now "$now"
page "each host has its user" 's["hosts"][0][:32]' 'ABCDEFGHIJKLMNOPQRSTUVWXYZ丁七丅万丈.'
page "a name is one user, with spaces too" 's["users"][0].split("\n")[28:]' "['job 28@29', 'job 29@30', 'part@31']"

# --- any name is text
evil='</script><img src=x onerror=alert(1)><!--&"'
tag='<img src=x onerror=alert(1)><!--&"'
fresh
ok 0 "a source with a name of HTML" import fleet 'v6e 4x4 x2' --source "$tag" --now "$now"
quoit reserve r --topology 4x4 --accelerator v6e --slices 1 --owner "$tag" --now "$now" >/dev/null
quoit reserve e --bundle TPU=1 --now "$now" >/dev/null
quoit release e --reason "$evil" --now "$now" >/dev/null
ok 0 "its page" report --title "$evil" --now "$now"
page "the name is data" 'm["pools"][0]["source"]' "$tag"
page "the title is text" 'page.title' "$evil"
page "the owner is data" 'd["status"]["groups"][0]["owner"]' "$tag"
page "the reason is data" 'd["history"]["ended"][0]["reason"]' "$evil"
holds "the page has no tag of it" test "$(grep -c '<img' "$tmp/out")" -eq 0

# --- sources without a ledger
QUOIT_DB=$tmp/none.db
ok 0 "fleet text" report fleet 'v6e 4x4 x2 dead=1.2' --now "$now"
page "has its hosts and no past" 's["hosts"], "events" in d["history"]' "(['....', '..#.'], False)"
ok 0 "a manifest" report raycluster "$two_slices" --now "$now"
page "has two slices" 'n, {len(h) for h in s["hosts"]}' "(2, {4})"
hold=$top_srcdir/tests/data/captures/gke.hold-and-wait
ok 0 "a list of Ray with groups" report ray-nodes "$hold.ray-list-nodes--detail--format-json.json" \
  --groups "$hold.ray-list-placement-groups--detail--format-json.json" --now "$now"
page "has Ray's pending groups and their problem" 'sum(g["state"] == "pending" for g in d["status"]["groups"]) > 0, len(d["status"]["problems"]) > 0' "(True, True)"
sed 's/"node_name": "\([^"]*\)"/"node_name": "\1\\nx"/g' "$hold.ray-list-nodes--detail--format-json.json" >"$tmp/lines.json"
ok 0 "a list with line feeds in names" report ray-nodes "$tmp/lines.json" --now "$now"
page "has a line for each node" 'all(text.count("\n") == len(hosts) for text, hosts in zip(s["nodes"], s["hosts"])), "\\x0ax\n" in s["nodes"][0]' "(True, True)"
mkdir "$tmp/bin"
printf '#!/bin/sh\ncase "$*" in *placement-groups*) f=%s ;; *) f=%s ;; esac\ncat "$f"\n' \
  "$hold.ray-list-placement-groups--detail--format-json.json" "$hold.ray-list-nodes--detail--format-json.json" >"$tmp/bin/ray"
chmod +x "$tmp/bin/ray"
cp "$tmp/out" "$tmp/list.html"
PATH=$tmp/bin:$PATH
ok 0 "the lists that ray prints" report --from-ray --now "$now"
page "have the same nodes as the files" 'n > 0, len(d["status"]["groups"]) > 0' "(True, True)"
holds "no ledger was made" test ! -e "$tmp/none.db"
QUOIT_DB=$tmp/quoit.db
if write_snapshot "$tmp/snapshot"; then
  ok 0 "a snapshot in a file" report --snapshot "$tmp/snapshot" --now "$now"
  page "has the groups that have ended, and no journal" 'len(d["history"]["ended"]), "events" in d["history"]' "(1, False)"
else
  skip "a snapshot in a file"
fi

# --- files, and wrong input
ok 0 "a file" report --file "$tmp/x.html" --now "$now"
ok 0 "the same on stdout" report --now "$now"
holds "the file has the bytes of stdout" cmp "$tmp/x.html" "$tmp/out"
ok 0 "a page is replaced" report --file "$tmp/x.html" --now "$now"
echo precious >"$tmp/precious"
baseline
refused 7 "a file with other content" "--file '$tmp/precious'" report --file "$tmp/precious"
holds "it is kept" grep -qx precious "$tmp/precious"
ok 0 "--force replaces it" report --file "$tmp/precious" --force
refused 7 "the ledger as the file" "--file" report --file "$QUOIT_DB" --force
refused 2 "--force alone" "--force requires --file" report --force
if command -v script >/dev/null; then
  status=0
  script -qec "$top_builddir/cli/quoit report --html" /dev/null </dev/null >"$tmp/out" || status=$?
  holds "no page on a terminal" test "$status" -eq 2 -a "$(wc -l <"$tmp/out")" -eq 1
  has out "the message has the option" "standard output is a terminal: expected --file FILE"
else
  skip "no script(1)"
fi
refused 2 "another form" "--output 'table'" report -o table
refused 2 "a word that is no source" "expected the arguments" report x
refused 2 "a source without its file" "fleet" report fleet
refused 2 "a source and a snapshot" "--snapshot and a source" report --snapshot "$tmp/x" fleet 'v6e 4x4'
refused 2 "the past of a source" "--at" report fleet 'v6e 4x4' --at 1
refused 2 "the past of a snapshot" "--at" report --snapshot "$tmp/x" --at 1
refused 3 "wrong fleet text" "topology '4xa'" report fleet 'v6e 4xa'
refused 3 "a file that is no snapshot" "$tmp/x.html" report --snapshot "$tmp/x.html"
refused 4 "a snapshot that does not exist" "$tmp/no" report --snapshot "$tmp/no"
refused 4 "an entry that does not exist" "99" report --at 99

# --- size
ok 0 "25,000 slices" report fleet 'v6e 4x4 x12000 pool=train; v5p 2x2x4 x8000 pool=big; v5e 4x4 x5000 pool=serve' --now "$now"
page "are in the page" 'n, d["status"]["slices"]["free"]' "(25000, 25000)"
holds "the page is less than 2 MB" test "$(wc -c <"$tmp/out")" -lt 2000000
finish
