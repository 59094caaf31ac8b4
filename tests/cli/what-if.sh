#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `quoit what-if`: lines on a fork, and the difference. Nothing changes in the ledger.
. "$top_srcdir/tests/cli/lib.sh"

fresh 'v6e 4x4 x4 pool=a zone=za; v6e 4x4 x4 pool=b zone=zb busy=3; v5p 2x2x4 x2 pool=c zone=zb draining=1'
ok 0 "a group with a lease is reserved" reserve train --accelerator v6e --topology 4x4 --slices 2 --lease 2h --now "$now"
ok 0 "a group without a lease is reserved" reserve long --accelerator v6e --topology 4x4 --slices 3 --now "$now"
ok 0 "a group is reserved ahead" reserve later --accelerator v5p --topology 2x2x4 --slices 1 \
  --from 2026-05-02T00:00:00Z --until 2026-05-03T00:00:00Z --now "$now"
baseline

# of KIND: the groups of that change in the JSON document, with their lines.
groups='[(g["line"], g["group"], g["change"], g["detail"]) for g in d["groups"]]'
v6e='[(c["slices_before"], c["slices_after"], c["free_before"], c["free_after"], c["undrained_after"], c["degraded_after"], c["held_after"], c["chips_after"], c["free_chips_after"]) for c in d["classes"] if c["accelerator"] == "v6e"]'
answers='[(l["line"], l["verdict"], l["answer"]) for l in d["lines"]]'

# what LINES: runs them at $now and prints JSON.
what ()
{
  expected=$1 sentence=$2
  shift 2
  ok "$expected" "$sentence" what-if --now "$now" -o json "$@"
  json "$sentence: JSON"
}

# --- each verb
what 0 "pools can be drained" 'drain pool b'
fact "draining is counted" "$v6e" "[(8, 8, 2, 1, 2, 0, 5, 128, 16)]"
fact "the group on the pool is listed" "$groups" "[(1, 'train@1', 'has draining nodes', 'b-0, b-1')]"
fact "the answer has the number of nodes" "$answers" "[(1, None, 'drains 16 nodes; 1 group has draining nodes')]"
what 0 "a zone can be killed" 'kill zone zb'
fact "dead hosts degrade slices" "$v6e" "[(8, 8, 2, 1, 1, 4, 5, 128, 16)]"
what 0 "a killed pool can be revived" 'kill a; revive slice a-2; revive node a-3-0'
fact "only its nodes are alive again" "$answers" \
  "[(1, None, 'kills 16 nodes; 1 group loses nodes'), (2, None, 'revives 4 nodes; 1 group recovers'), (3, None, 'revives 1 node')]"
what 0 "nodes can be undrained" 'undrain c-1; drain c-1-0; undrain pool c'
fact "some nodes of a pool" "[l['answer'] for l in d['lines']]" "['undrains 4 nodes', 'drains 1 node', 'undrains 1 of 8 nodes']"
what 0 "what is so already changes nothing" 'undrain pool a; revive a; drain c-1; kill a; kill a'
fact "that is the answer" "[l['answer'] for l in d['lines'] if l['line'] != 4]" "$(printf "['changes nothing', 'changes nothing', 'changes nothing', 'changes nothing']")"
what 0 "slices can be added" 'add v6e 4x4 x8; add "v6e 4x4 x1; v5p 2x2x4 x1"'
fact "they are counted" "$v6e" "[(8, 17, 2, 11, 11, 0, 5, 272, 176)]"
fact "each line has a source" "[l['answer'] for l in d['lines']]" "['adds 32 nodes of source what-if-1', 'adds 8 nodes of source what-if-2']"
what 0 "a pool without groups can be removed" 'remove pool c; drain pool b'
fact "its class is gone" "[(c['slices_before'], c['slices_after']) for c in d['classes'] if c['accelerator'] == 'v5p']" "[(2, 0)]"
fact "external use stays" "$v6e" "[(8, 8, 2, 1, 2, 0, 5, 128, 16)]"
what 0 "a node of a group stays, as dead" 'remove slice b-0; remove b-2'
fact "the answer says so" "[l['answer'] for l in d['lines']]" \
  "['removes 0 nodes, and 4 of groups stay as dead; 1 group loses nodes', 'removes 4 nodes']"
what 0 "groups can be released" 'release long; release train --slice b-0'
fact "they end or shrink" "$groups" "[(1, 'long@2', 'ends', 'a-0, a-1, a-2'), (2, 'train@1', 'shrinks', '2 -> 1')]"
what 0 "a lease can end" 'expire train'
fact "the group ends" "$groups" "[(1, 'train@1', 'ends', 'b-0, b-1')]"
what 0 "time can pass" 'until 2026-05-01T12:00Z; until 2026-05-02T01:00:00Z; until 2026-05-04T00:00+01:00'
fact "leases end, and reservations begin and end" "$groups" \
  "[(1, 'train@1', 'ends', 'b-0, b-1, at 2026-05-01T11:30:00.000Z'), (2, 'later@3', 'begins', 'c-0'), (3, 'later@3', 'ends', 'c-0, at 2026-05-03T00:00:00.000Z')]"
fact "the last time is the end" "d['until']" "2026-05-03T23:00:00.000Z"
what 0 "a lease can be renewed" 'renew train --lease 1d; until 2026-05-01T12:00Z'
fact "the group then stays" "$groups" "[]"
what 0 "a hold can be confirmed" 'hold h --accelerator v6e --topology 4x4 --slices 1 --lease 10m; confirm h; until 2026-05-01T12:00Z'
fact "it stays" "[g['group'] for g in d['groups'] if g['change'] == 'ends']" "['train@1']"
what 0 "slices can be reserved" 'release train; reserve x --accelerator v6e --topology 4x4 --slices 2 --pool b; resize x --slices 1; repair x'
fact "the answer has the slices" "$answers" \
  "[(1, None, '1 group ends'), (2, 'fits', 'x@4 is reserved on b-0, b-1'), (3, 'fits', 'x@4 is resized on b-0'), (4, 'fits', 'x@4 is repaired on b-0')]"
what 0 "several groups at once" 'reserve x --accelerator v6e --topology 4x4 --slices 1 --with y --accelerator v6e --topology 4x4 --slices 1'
fact "both are listed" "d['lines'][0]['groups']" "['x@4', 'y@5']"
what 0 "an alternative" 'reserve x --accelerator v6e --topology 4x4 --slices 3 --else --accelerator v6e --topology 4x4 --slices 1'
fact "it is taken" "d['lines'][0]['answer']" "x@4 is reserved on a-3"
what 0 "a reservation ahead" 'reserve x --accelerator v6e --topology 4x4 --slices 1 --from 2026-06-01T00:00Z'
fact "it begins later" "$groups" "[(1, 'x@4', 'is reserved ahead', 'from 2026-06-01T00:00:00.000Z')]"
what 5 "a reservation ahead that has no time yet" \
  'window w --pool c --from 2026-06-01T00:00Z --until 2026-06-02T00:00Z; reserve x --accelerator v5p --topology 2x2x4 --slices 1; until 2026-06-02T00:00Z; reserve x --accelerator v5p --topology 2x2x4 --slices 1 '
fact "the window refuses it, and then not" "[l['verdict'] for l in d['lines']]" "[None, 'not-now', None, 'fits']"
what 5 "a refusal is an answer" 'reserve x --accelerator v6e --topology 4x4 --slices 4; release long; reserve x --accelerator v6e --topology 4x4 --slices 4'
fact "the next lines are answered" "[l['verdict'] for l in d['lines']]" "['not-now', None, 'fits']"
fact "it names what would help" "'release long@2' in d['lines'][0]['would_help'][0] or len (d['lines'][0]['would_help']) > 0" "True"
what 6 "a request that never fits" 'reserve x --accelerator v6e --topology 4x4 --slices 40; repair train'
what 5 "an elastic group that cannot grow" 'reserve x --accelerator v6e --topology 4x4 --slices 1..3; resize x --slices 3'

# --- forms
ok 0 "the table is printed" what-if --now "$now" 'drain pool b; reserve x --accelerator v6e --topology 4x4 --slices 1'
out "it says that nothing has changed" "what if: nothing has changed in the ledger"
out "a class is compared" "v6e         4x4               4 8      2 -> 0 2 -> 1    0        5 -> 6 128   32 -> 0"
ok 0 "CSV has the classes" what-if --now "$now" 'drain pool b' -o csv
out "with before and after" "v6e,4x4,4,8,8,2,1,2,2,0,0,5,5,128,128,32,16"
ok 0 "the page is written" what-if --now "$now" "reserve x --accelerator v6e --topology 4x4 --slices 1 --owner '<b>&'" -o html
out "it is HTML" "<!DOCTYPE html>"
out "texts are escaped" "&lt;b&gt;&amp;"
holds "it loads nothing and has no script" sh -c "! grep -Eiq '<script|https?:|src=|@import|url\(' '$tmp/out'"
holds "it is small" test "$(wc -c <"$tmp/out")" -lt 4000
holds "nothing has changed" unchanged

# --- files, comments and quotes
cat >"$tmp/plan" <<'LINES'
# maintenance
drain pool b   # until it is empty

release "train"; kill slice 'a-0'
LINES
what 0 "a file of lines" --file "$tmp/plan"
fact "the lines have the numbers of the file" "[(l['line'], l['text']) for l in d['lines']]" \
  "[(2, 'drain pool b'), (4, 'release \"train\"'), (4, \"kill slice 'a-0'\")]"
what 0 "a file, and then an argument" --file "$tmp/plan" 'kill pool b'
fact "the lines of the argument are last" "[l['line'] for l in d['lines']]" "[2, 4, 4, 1]"
echo 'drain pool x' >>"$tmp/plan"
refused 4 "a wrong line of a file" "plan: line 5: pool 'x': no such pool" what-if --now "$now" --file "$tmp/plan"
quoit what-if --now "$now" --file - <<LINES >"$tmp/out" 2>"$tmp/err"
drain pool b
LINES
out "standard input" "drains 16 nodes"
what 0 "the past" --at 1 'drain pool a'
fact "it had no groups" "$groups" "[]"

# --- wrong lines
refused 2 "no lines" "expected at least one line" what-if --now "$now"
refused 2 "only a comment" "expected at least one line" what-if --now "$now" '; # drain pool a'
refused 2 "an unknown verb" "line 2: 'kil': expected drain, undrain, kill" what-if --now "$now" 'drain a; kil b'
refused 2 "no name" "line 1: 'drain': expected drain [node|slice|pool|zone] NAME" what-if --now "$now" 'drain'
refused 2 "a word too many" "line 1: unexpected word 'd': expected drain [node|slice|pool|zone] NAME" what-if --now "$now" 'drain pool c d'
refused 2 "an unknown scope" "line 1: 'rack': expected node, slice, pool or zone before the name 'c'" what-if --now "$now" 'kill rack c'
refused 4 "an unknown name" "line 1: 'x': no such node, slice, pool or zone" what-if --now "$now" 'kill x'
refused 4 "an unknown zone" "line 1: zone 'x': no such zone" what-if --now "$now" 'kill zone x'
refused 3 "an open quote" "line 2: ''a': expected a closing quote" what-if --now "$now" "drain a; drain 'a"
refused 3 "an open double quote" "expected a closing double quote" what-if --now "$now" 'drain "a'
printf 'drain a\n\377\n' >"$tmp/bad"
refused 3 "bytes that are not UTF-8" "bad: line 2: expected UTF-8 text" what-if --now "$now" --file "$tmp/bad"
refused 4 "no such file" "$tmp/none" what-if --now "$now" --file "$tmp/none"
refused 3 "a time in the past" "line 1: until '2020-01-01T00:00Z': expected a time after 2026-05-01T09:30:00.000Z" what-if --now "$now" 'until 2020-01-01T00:00Z'
refused 3 "a time before an earlier line" "line 2: until '2026-06-01T00:00Z': expected a time after 2026-07-01T00:00:00.000Z" \
  what-if --now "$now" 'until 2026-07-01T00:00Z; until 2026-06-01T00:00Z'
refused 3 "a word that is no time" "line 1: until 'soon': expected ISO 8601" what-if --now "$now" 'until soon'
refused 3 "a time too late" "line 1: " what-if --now "$now" 'until 9999-01-01T00:00Z'
refused 7 "a group that has ended" "line 3: 'train': line 1 has ended it: expected a live group" what-if --now "$now" 'release train; drain a; release train'
refused 7 "a group whose lease has ended" "line 2: 'train@1': line 1 has ended it" what-if --now "$now" 'until 2026-05-01T12:00Z; renew train@1 --lease 1h'
refused 7 "a group that an earlier line did not get" "line 2: 'x': line 1 was refused: expected a live group" \
  what-if --now "$now" 'reserve x --accelerator v6e --topology 4x4 --slices 9; release x'
refused 4 "a group that never was" "line 1: no group 'x'" what-if --now "$now" 'release x'
refused 7 "nodes that are removed" "line 3: 'c-0-1': line 1 has removed it: expected nodes that are still there" what-if --now "$now" 'remove c; drain a; kill c-0-1'
refused 7 "a dead slice cannot be drained" "line 2: slice 'a-0' is dead: expected alive nodes to drain" what-if --now "$now" 'kill slice a-0; drain slice a-0'
refused 7 "a group without a lease cannot expire" "line 1: group 'long' has no lease that could end" what-if --now "$now" 'expire long'
refused 7 "a name that a group has" "line 1: " what-if --now "$now" 'reserve train --accelerator v6e --topology 4x4 --slices 1'
refused 3 "fleet text" "line 1: byte 0: generation 'v9'" what-if --now "$now" 'add v9 4x4'
refused 2 "no fleet text" "line 1: 'add': expected add FLEET-TEXT" what-if --now "$now" 'add'
refused 2 "an unknown option" "line 1: unknown option '--foo'; see quoit reserve --help" what-if --now "$now" 'reserve x --foo'
refused 2 "missing options" "line 1: expected also --accelerator GEN, --topology SHAPE, --slices N" what-if --now "$now" 'reserve x'
refused 2 "a dry run" "line 1: --dry-run" what-if --now "$now" 'reserve x --accelerator v6e --topology 4x4 --slices 1 --dry-run'
refused 2 "a hold without a lease" "line 1: --lease TIME is missing" what-if --now "$now" 'hold x --accelerator v6e --topology 4x4 --slices 1'
refused 2 "a renewal without a lease" "line 1: --lease TIME is missing" what-if --now "$now" 'renew train'
refused 2 "no number of slices" "line 1: expected also --slices N" what-if --now "$now" 'resize train'
refused 2 "an option of the command" "line 1: --db, --wait, --now, --at, --output and --color belong to the command" what-if --now "$now" 'release train --now 1'
refused 2 "half a window" "line 1: expected --from TIME and --until TIME" what-if --now "$now" 'window w --pool a'
refused 2 "a window of nothing" "line 1: expected one of --node, --slice, --pool and --zone" what-if --now "$now" 'window w'
fresh 'v6e 4x4 x1 pool=p; v6e 4x4 x1 pool=p-0'
refused 3 "a name with two meanings" "line 1: 'p-0' is the name of a slice and of a pool: expected 'slice p-0' or 'pool p-0'" what-if --now "$now" 'drain p-0'

# --- nodes of two sources
fresh
ok 0 "a manifest is imported" import raycluster "$two_slices" --now "$now"
ok 0 "fleet text is imported" import fleet 'v6e 4x4 x2 pool=p busy=1' --now "$now"
baseline
what 0 "a pool of a manifest" 'remove pool tpu-group'
fact "it is removed" "[(c['slices_before'], c['slices_after'], c['free_after']) for c in d['classes']]" "[(4, 2, 1)]"
holds "the ledger has it" unchanged

# --- what-if, reserve --dry-run and fits agree, on drawn states
seed=20261126
draw ()
{
  seed=$(((seed * 1103515245 + 12345) % 2147483648))
  drawn=$((seed / 65536 % $1))
}

agree ()
{
  state="state $1 of seed 20261126"
  draw 3; n_a=$((drawn + 1))
  draw 4; n_b=$((drawn + 1))
  draw "$n_b"; marked=$drawn
  draw 3
  case $drawn in 0) mark=busy ;; 1) mark=draining ;; *) mark=dead ;; esac
  fresh "v6e 4x4 x$n_a pool=a zone=z; v6e 4x4 x$n_b pool=b $mark=$marked"
  draw 3
  quoit reserve one --accelerator v6e --topology 4x4 --slices "$drawn" --lease 2h --now "$now" >/dev/null 2>&1 || :
  draw 5; n=$((drawn + 1))
  draw 4
  case $drawn in 0) more='--pool b' ;; 1) more='--zone z' ;; 2) more='--exclude-slice a-0 --keep-to pool' ;; *) more='' ;; esac
  # shellcheck disable=SC2086
  set -- --accelerator v6e --topology 4x4 --slices "$n" $more --now "$now"
  run fits "$@"
  fits=$status
  run reserve two "$@" --dry-run -o json
  tried=$status
  slices=$("$python" -c 'import json, sys
d = json.load (open (sys.argv[1]))
print (", ".join (dict.fromkeys (w["slice"] for w in d.get ("workers", []))))' "$tmp/out")
  run what-if --now "$now" "reserve two --accelerator v6e --topology 4x4 --slices $n $more" -o json
  holds "$state: fits, reserve --dry-run and what-if have one verdict" test "$fits $tried" = "$tried $status"
  [ "$status" -ne 0 ] || fact "$state: they choose the same slices" "d['lines'][0]['answer'].split (' on ')[1]" "$slices"
}

if [ -n "$python" ]; then
  i=0
  while [ "$i" -lt 40 ]; do
    agree "$i"
    i=$((i + 1))
  done
else
  skip "agreement: no python3"
fi
finish
