#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What people read: lines for 80 characters, the rest with -o wide, short ids, sizes, and names in problems.
. "$top_srcdir/tests/cli/lib.sh"
unset COLUMNS

widest ()
{
  awk '{ if (length ($0) > most) most = length ($0) } END { print most + 0 }' "$tmp/out"
}

fits_80 ()
{
  ok 0 "$* succeeds" "$@" --now "$now"
  holds "$* has lines of at most 80 characters: $(widest)" test "$(widest)" -le 80
}

# --- 80 characters
fresh 'v6e 4x4 x2 pool=a-long-pool-name zone=us-east5-b; v5p 2x2x2 x2'
ok 0 "a group is reserved" reserve train-17 --accelerator v6e --topology 4x4 --slices 1 --key 'a key that is long' \
  --owner somebody --label team=research --label run=17 --priority 3 --now "$now"
for verb in status nodes slices groups slots fragmentation 'show train-17' catalogue 'catalogue v5p' owner; do
  # shellcheck disable=SC2086 # words
  fits_80 $verb
done
ok 0 "groups succeeds" groups
for heading in GROUP STATE OWNER SLICES REQUEST; do
  has out "the narrow table has $heading" "$heading"
done
holds "a column without a value is left out" test "$(grep -c 'REASON\|ENDED\|RAY' "$tmp/out")" -eq 0
ok 0 "groups -o wide succeeds" groups -o wide
for heading in RAY OWNER KEY SINCE BEGINS UNTIL ENDED SOURCE LABELS REASON; do
  has out "the wide table has $heading" "$heading"
done
holds "a row is one line" test "$(wc -l <"$tmp/out")" -eq 2
fact_json=$("$top_builddir/cli/quoit" groups -o json | tr -d ' \n')
holds "JSON has all facts" sh -c 'case $1 in *akeythatislong*release_reason*) ;; *) exit 1 ;; esac' sh "$fact_json"

# --- a degraded slice
ok 0 "a node dies" set-state v5p-2x2x2-1-1 dead --now "$now"
fits_80 slices
out "the row names the node" "node v5p-2x2x2-1-1 is dead"
fits_80 status
out "the problem names the node" "slice v5p-2x2x2-1 node v5p-2x2x2-1-1 is dead"
ok 0 "another node dies" set-state v5p-2x2x2-1-0 dead --now "$now"
ok 0 "slices succeeds" slices
out "the row names both nodes" "nodes v5p-2x2x2-1-0 and v5p-2x2x2-1-1 are dead"
ok 0 "slices -o wide succeeds" slices -o wide
holds "people see the number of nodes that are not dead" \
  awk '/^v5p-2x2x2-1 / { found = $7 " " $8 } END { exit found != "2 0" }' "$tmp/out"

# --- at a terminal, and with COLUMNS
ok 0 "slices succeeds" slices
holds "elsewhere, a row is one line" test "$(wc -l <"$tmp/out")" -eq 5
status=0 last_command='quoit slices in 70 columns'
COLUMNS=70 quoit slices >"$tmp/out" || status=$?
holds "slices in 70 columns succeeds" test "$status" -eq 0
holds "lines have at most 70 characters: $(widest)" test "$(widest)" -le 70
holds "no word is cut" grep -q 'v5p-2x2x2-1-1' "$tmp/out"
COLUMNS=50 quoit reserve next --accelerator v6e --topology 4x4 --slices 1 --dry-run --now "$now" >"$tmp/out" || status=$?
holds "reserve in 50 columns succeeds" test "$status" -eq 0
holds "a note goes on in a further line" grep -qx '  their nodes' "$tmp/out"
COLUMNS=80 quoit what-if 'release train-17; reserve next --accelerator v6e --topology 4x4 --slices 2 --priority 3' \
  --now "$now" >"$tmp/out"
holds "two columns of long text fit a terminal: $(widest)" test "$(widest)" -le 80
holds "no word of them is cut" grep -q '^ *2 reserve next ' "$tmp/out"
for columns in x 0 -1 19; do
  COLUMNS=$columns quoit slices >"$tmp/out"
  quoit slices >"$tmp/plain"
  holds "COLUMNS=$columns is ignored" cmp "$tmp/out" "$tmp/plain"
done
if command -v script >/dev/null; then
  script -qec "stty cols 50; $top_builddir/cli/quoit status" /dev/null </dev/null | tr -d '\r' >"$tmp/out"
  holds "lines fit a terminal of 50 columns: $(widest)" test "$(widest)" -le 50
else
  skip "no script(1)"
fi

# --- help
status=0
COLUMNS=1000 quoit reserve --help >"$tmp/plain" || status=$?
holds "help succeeds" test "$status" -eq 0
quoit reserve --help >"$tmp/out"
holds "help has lines of at most 80 characters: $(widest)" test "$(widest)" -le 80
for verb in '' reserve import fits help check; do
  # shellcheck disable=SC2086 # no word for the list of verbs
  COLUMNS=60 quoit help $verb >"$tmp/out" || status=$?
  holds "help $verb in 60 columns has no wider line: $(widest)" test "$status" -eq 0 -a "$(widest)" -le 60
done
COLUMNS=60 quoit reserve --help >"$tmp/out"
holds "no word is lost or cut" sh -c '[ "$(tr -s " \n" "\n\n" <"$1")" = "$(tr -s " \n" "\n\n" <"$2")" ]' sh "$tmp/out" "$tmp/plain"
has out "the text of an option goes on below its begin" "
                                        allow several"

# --- colours
has_escapes ()
{
  grep -q "$(printf '\033')" "$tmp/out"
}
ok 0 "slices succeeds" slices
holds "there are no colours in a file" sh -c '! grep -q "$(printf "\033")" "$1"' sh "$tmp/out"
ok 0 "colours can be asked for" slices --color always
holds "a degraded slice is red" grep -q "$(printf '\033')\[31mdegraded" "$tmp/out"
ok 0 "JSON never has colours" slices --color always -o json
json "the document is JSON"
baseline
refused 2 "an unknown colour" "--color 'blue': expected auto, always or never" slices --color blue
if command -v script >/dev/null; then
  script -qec "$top_builddir/cli/quoit slices" /dev/null </dev/null >"$tmp/out"
  holds "a terminal has colours" has_escapes
  NO_COLOR=1 script -qec "$top_builddir/cli/quoit slices" /dev/null </dev/null >"$tmp/out"
  holds "NO_COLOR turns them off" sh -c '! grep -q "$(printf "\033")\[31m" "$1"' sh "$tmp/out"
  NO_COLOR=1 script -qec "$top_builddir/cli/quoit slices --color always" /dev/null </dev/null >"$tmp/out"
  holds "--color is stronger" has_escapes

  # --- progress: after half a second, on a terminal only
  mkfifo "$tmp/slow"
  { sleep 0.9; echo 'v6e 4x4 pool=slow'; } >"$tmp/slow" &
  script -qec "$top_builddir/cli/quoit import fleet - --source slow <$tmp/slow" /dev/null </dev/null >"$tmp/out"
  holds "a slow import says that it works" grep -q 'quoit: import: working, 0 s' "$tmp/out"
  holds "the line is removed" grep -q "$(printf '\r\033')\[K" "$tmp/out"
  ok 0 "a fast verb on a file is quiet" slots
  holds "nothing is on stderr" test ! -s "$tmp/err"
fi

# --- sizes, and Ray's ids
hold=$top_srcdir/tests/data/captures/gke.hold-and-wait
fresh
ok 0 "Ray's lists are imported" import ray-nodes "$hold.ray-list-nodes--format-json.json" \
  --groups "$hold.py-placement_group_table.json" --available "$hold.py-available_resources_per_node.json" --now "$now"
ok 0 "status succeeds" status
has out "memory is a size" "10 GiB"
has out "the pending group has a short id" "group a44a00ec@2 "
has out "its problem has a short id" "cac052a2@4 has only the head"
ok 0 "status -o wide succeeds" status -o wide
has out "wide has whole ids" "a44a00ec47957c78d89b8e33799401000000@2"
ok 0 "status -o json succeeds" status -o json
fact "JSON has bytes" "[r['total'] for r in d['resources'] if r['resource'] == 'memory'][0]" 10737418240
ok 0 "a short id finds its group" show a44a00ec
has out "the facts have the whole id" "a44a00ec47957c78d89b8e33799401000000@2"
has out "the facts have Ray's state" "in Ray:         PENDING"
has out "a pending group has the next step" "its source has not placed it: see 'quoit explain a44a00ec@2'"
ok 0 "a short id with the number of the group" explain a44a00ec@2
holds "hold-and-wait comes first" sh -c 'head -n 1 "$1" | grep -q "^hold-and-wait: a44a00ec@2 waits for"' sh "$tmp/out"
COLUMNS=70 quoit explain a44a00ec >"$tmp/out"
holds "sentences fit the terminal: $(widest)" test "$(widest)" -le 70
ok 0 "explain -o wide succeeds" explain a44a00ec -o wide
out "wide has whole ids" "hold-and-wait: a44a00ec47957c78d89b8e33799401000000@2 waits"
baseline
refused 7 "a short id with another number" "a44a00ec" show a44a00ec@4
refused 4 "seven digits are no id" "'a44a00e'" show a44a00e
refused 7 "a release by a short id" "group 'a44a00ec47957c78d89b8e33799401000000@2' belongs to source 'ray'" release a44a00ec --now "$now"
finish
