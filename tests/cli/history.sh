#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Past states and their limits: --at, journal compact, and databases that an older quoit wrote.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x3; v5p 2x2x2 x2 pool=big'
want='--topology 4x4 --accelerator v6e'

# Entries 2 to 7. The output of every reading verb after entry 4 is kept, and later compared with its output for --at 4.
looking='status
nodes
slices
groups
slots
show train
show v6e-4x4-0-1
who-holds v6e-4x4-0
env train
fits --topology 4x4 --accelerator v6e --slices 1
export json'
# said WHERE [OPTION...]: writes the outputs of all reading verbs to the folder WHERE.
said ()
{
  where=$1
  shift
  mkdir -p "$tmp/$where"
  printf '%s\n' "$looking" | while read -r line; do
    for form in table json; do
      # shellcheck disable=SC2086
      quoit $line -o $form "$@" >"$tmp/$where/$(printf '%s' "$line" | tr ' /' '__').$form" 2>&1 </dev/null
      echo "exit status $?" >>"$tmp/$where/$(printf '%s' "$line" | tr ' /' '__').$form"
    done
  done
}
# shellcheck disable=SC2086
{
  ok 0 "a group" reserve train $want --slices 2 --key k --now "$now"
  ok 0 "another" reserve other $want --slices 1 --now "$now"
  ok 0 "a node dies" set-state v6e-4x4-0-1 dead --now "$now"
  said past
  ok 0 "the node lives again" set-state v6e-4x4-0-1 alive --now "$now"
  ok 0 "the groups go" release train --now "$now"
  ok 0 "both" release other --now "$now"
}
baseline

# same SENTENCE DIRECTORY: compares two folders of outputs.
same ()
{
  holds "$1" diff -r "$tmp/past" "$tmp/$2"
}
said now
holds "now it is another ledger" test "$(diff -rq "$tmp/past" "$tmp/now" | wc -l)" -ge 12
said whole --at 4
same "--at shows every verb that looks what it saw then" whole
mkdir "$tmp/before"
quoit --at 4 groups >"$tmp/before/groups" 2>&1
holds "before the verb too" test "$(sed '$d' "$tmp/past/groups.table")" = "$(cat "$tmp/before/groups")"
ok 0 "before the first entry there is nothing" status --at 0 -o json
fact "no entry" 'd["seq"]' 0
ok 4 "and no group" show train --at 0
ok 0 "the last entry is the present" export json --at 7
holds "to the byte" cmp -s "$tmp/out" "$tmp/baseline"

# --- verbs and options that refuse --at
for line in "reserve x $want --slices 1" "reserve x $want --slices 1 --dry-run" 'release train' 'drain v6e-4x4-0-1' 'undrain v6e-4x4-0-1' \
  'set-state v6e-4x4-0-1 dead' 'import fleet v6e' 'init' 'verify' "backup $tmp/copy.db" 'journal' 'journal compact --before 2' 'catalogue'; do
  # shellcheck disable=SC2086
  refused 2 "--at is not for: $line" "--at '4'|'${line%% *}' is about the present" $line --at 4
done
refused 2 "--at is a number" "--at 'noon'|a sequence number from 0" status --at noon
refused 3 "not below 0" "--at '-1'" status --at -1
refused 3 "not beyond 64 bits" "--at '9223372036854775808'" status --at 9223372036854775808
refused 4 "an entry that is yet to come" "entry '8'|the last is 7" status --at 8

# --- compact, and its refusals
refused 2 "compact needs --before" "expected --before SEQ" journal compact
refused 2 "--before needs compact" "--before: expected it with compact" journal --before 3
refused 2 "--since is for the list" "--since: expected it without compact" journal compact --before 3 --since 1
refused 2 "there is nothing else to do with a journal" "'burn': expected compact" journal burn --before 3
refused 2 "nor two things at once" "unexpected argument 'now'" journal compact now --before 3
refused 2 "--before is a number" "--before 'all'|a sequence number from 1" journal compact --before all
refused 3 "from 1" "--before '0'|a sequence number from 1" journal compact --before 0
refused 3 "to the next entry" "entry '9'|from 1, the first there is, to 8, the next" journal compact --before 9
refused 3 "at a time that can be" "1777627800" journal compact --before 3 --now 1777627800
ok 0 "nothing before the first" journal compact --before 1 -o json
fact "is nothing" 'd["n_removed"], d["checkpoint"], d["checkpoint_made"]' "(0, None, None)"
ok 0 "a journal without a checkpoint" journal -o json
fact "says so" 'd["checkpoint"], d["checkpoint_made"], len(d["entries"])' "(None, None, 7)"

ok 0 "compact" journal compact --before 4 --now "$now" -o json
fact "says what it did" 'd["n_removed"], d["checkpoint"], d["checkpoint_made"]' "(3, 3, '2026-05-01T09:30:00.000Z')"
holds "the ledger is what it was" unchanged
said compacted --at 4
same "so is the past behind the checkpoint" compacted
refused 4 "and before it there is none" "entry '2'|entry 3, which is the first" status --at 2
ok 0 "the checkpoint itself can be seen" show train --at 3 -o json
fact "with its group" 'd["group"]["state"]' reserved
ok 0 "the journal" journal -o json
fact "begins behind it" '[e["seq"] for e in d["entries"]], d["checkpoint"]' "([4, 5, 6, 7], 3)"
ok 0 "for people too" journal
out "with the checkpoint" "checkpoint at entry: 3"
refused 4 "entries that are gone are not found" "entries after '2'|the first there is is 4" journal --since 2
ok 0 "those behind it are" journal --since 3
ok 0 "verify" verify -o json
fact "begins there" 'd["verified"], d["seq"], d["checkpoint"]' "(True, 7, 3)"
ok 0 "for people too" verify
out "with what is left to replay" "journal entries:     4"
refused 3 "no way back" "entry '3'|from 4, the first there is" journal compact --before 3
ok 0 "the whole journal" journal compact --before 8 --now "$now"
out "is gone" "entries removed: 4"
ok 0 "an empty journal" journal
out "has none" "none"
holds "the ledger is what it was" unchanged
# shellcheck disable=SC2086
ok 0 "and it goes on: the key is known" reserve train $want --slices 2 --key k --now "$now" -o json
fact "the group was released" 'd["group"]["id"], d["group"]["state"]' "(1, 'removed')"
# shellcheck disable=SC2086
ok 0 "ids are not used again" reserve next $want --slices 1 --now "$now" -o json
fact "the next one" 'd["group"]["id"]' 3
ok 0 "numbers of entries go on" journal -o json
fact "with 8" '[e["seq"] for e in d["entries"]]' "[8]"
ok 0 "and it verifies" verify
ok 0 "a backup has the checkpoint too" backup "$tmp/copy.db"
ok 0 "and verifies" --db "$tmp/copy.db" verify -o json
fact "from it" 'd["checkpoint"]' 7

# --- a changed image in the checkpoint
if [ -n "$python" ] && "$python" -c 'import sqlite3' 2>/dev/null; then
  "$python" -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("UPDATE image SET body = zeroblob (length (body)) WHERE part = 1")' "$tmp/copy.db"
  QUOIT_DB=$tmp/copy.db
  baseline
  refused 13 "verify finds it" "entry 7|checksum|restore a backup" verify
  refused 13 "the past is not made up" "checksum|restore a backup" groups --at 7
  refused 13 "nor is it compacted" "checksum|restore a backup" journal compact --before 9 --now "$now"
  ok 0 "what is held is seen" groups
else
  skip "a damaged checkpoint: no python3 with sqlite3"
fi

# --- a database of version 1
QUOIT_DB=$tmp/old.db
cp "$top_srcdir/tests/databases/schema-1.db" "$QUOIT_DB"
chmod u+w "$QUOIT_DB"
rm -f "$tmp/baseline"
ok 0 "a database of version 1 opens" status -o json
fact "with its entries" 'd["seq"]' 11
ok 0 "it verifies" verify
ok 0 "its past can be seen" groups --at 8 -o json
fact "a group that left nothing" '[g["group"] for g in d["groups"]]' "['train@1', 'small@2', 'gone@3', 'plain@4']"
ok 0 "and its journal compacted" journal compact --before 12 --now 2026-11-20T11:00:00Z
ok 0 "it verifies" verify
ok 0 "its groups" groups -o json
fact "are what they were" '[(g["group"], g["state"], g["key"]) for g in d["groups"]]' \
  "[('train@1', 'rescheduling', 'k-train'), ('small@2', 'rescheduling', None), ('gone@3', 'removed', 'k-gone')]"

finish
