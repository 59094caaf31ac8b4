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
# write_outputs WHERE [OPTION...]: writes the outputs of all reading verbs to the folder WHERE.
write_outputs ()
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
  ok 0 "the group train is reserved" reserve train $want --slices 2 --key k --now "$now"
  ok 0 "the group other is reserved" reserve other $want --slices 1 --now "$now"
  ok 0 "set-state marks a node dead" set-state v6e-4x4-0-1 dead --now "$now"
  write_outputs past
  ok 0 "set-state marks the node alive" set-state v6e-4x4-0-1 alive --now "$now"
  ok 0 "the group train is released" release train --now "$now"
  ok 0 "the group other is released" release other --now "$now"
}
baseline

# same SENTENCE DIRECTORY: compares two folders of outputs.
same ()
{
  holds "$1" diff -r "$tmp/past" "$tmp/$2"
}
write_outputs now
holds "later states differ from the past" test "$(diff -rq "$tmp/past" "$tmp/now" | wc -l)" -ge 12
write_outputs whole --at 4
same "--at prints the past state of every reading verb" whole
mkdir "$tmp/before"
quoit --at 4 groups >"$tmp/before/groups" 2>&1
holds "--at before the verb prints the same" test "$(sed '$d' "$tmp/past/groups.table")" = "$(cat "$tmp/before/groups")"
ok 0 "--at 0 is accepted" status --at 0 -o json
fact "--at 0 shows an empty ledger" 'd["seq"]' 0
ok 4 "--at 0 finds no group" show train --at 0
ok 0 "--at with the last entry succeeds" export json --at 7
holds "--at with the last entry equals the present" cmp -s "$tmp/out" "$tmp/baseline"

# --- verbs and options that refuse --at
for line in "reserve x $want --slices 1" "reserve x $want --slices 1 --dry-run" 'release train' 'drain v6e-4x4-0-1' 'undrain v6e-4x4-0-1' \
  'set-state v6e-4x4-0-1 dead' 'import fleet v6e' 'init' 'verify' "backup $tmp/copy.db" 'journal' 'journal compact --before 2' 'catalogue' \
  'owner' 'owner set me' 'restore x' 'set-clock' 'renew train' 'repair train' "check manifest $two_slices"; do
  # shellcheck disable=SC2086
  refused 2 "--at before '$line'" "--at '4': '${line%% *}' uses only the present state" --at 4 $line
  # shellcheck disable=SC2086
  refused 2 "--at after '$line'" "--at '4': '${line%% *}' uses only the present state" $line --at 4
done
refused 2 "--at with a manifest" "--at cannot be combined with --manifest" env --manifest "$two_slices" --at 1
refused 2 "--at that is no number" "--at 'noon'|a sequence number from 0" status --at noon
refused 3 "--at below 0" "--at '-1'" status --at -1
refused 3 "--at beyond 64 bits" "--at '9223372036854775808'" status --at 9223372036854775808
refused 4 "--at beyond the last entry" "entry '8'|the last one is 7" status --at 8

# --- compact, and its refusals
refused 2 "--keep without compact" "--keep requires compact" journal --keep 3d
refused 2 "--keep with --before" "--before cannot be combined with --keep" journal compact --keep 3d --before 3
refused 2 "--keep that is no time" "--keep 'long'" journal compact --keep long
refused 3 "--keep 0" "--keep '0'" journal compact --keep 0
ok 0 "compact without options removes nothing by default" journal compact --now "$now" -o json
fact "it reports what it has removed" 'd["n_removed"], d["n_forgotten"], d["keep_ms"]' "(0, 0, None)"
refused 2 "--before without compact" "--before requires compact" journal --before 3
refused 2 "--since with compact" "--since cannot be combined with compact" journal compact --before 3 --since 1
refused 2 "unknown action of journal" "'burn': expected compact" journal burn --before 3
refused 2 "unexpected argument of compact" "unexpected argument 'now'" journal compact now --before 3
refused 2 "--before that is no number" "--before 'all'|a sequence number from 1" journal compact --before all
refused 3 "--before 0" "--before '0'|a sequence number from 1" journal compact --before 0
refused 3 "--before beyond the next entry" "entry '9'|expected 1, the first stored entry, to 8, the next entry" journal compact --before 9
refused 3 "compact with a time in seconds" "1777627800" journal compact --before 3 --now 1777627800
ok 0 "compact --before 1 succeeds" journal compact --before 1 -o json
fact "compact --before 1 removes nothing" 'd["n_removed"], d["checkpoint"], d["checkpoint_made"]' "(0, None, None)"
ok 0 "journal prints a ledger without a checkpoint" journal -o json
fact "journal reports that there is no checkpoint" 'd["checkpoint"], d["checkpoint_made"], len(d["entries"])' "(None, None, 7)"

ok 0 "compact --before 4 succeeds" journal compact --before 4 --now "$now" -o json
fact "compact reports removed entries and the checkpoint" 'd["n_removed"], d["checkpoint"], d["checkpoint_made"]' "(3, 3, '2026-05-01T09:30:00.000Z')"
holds "compact does not change the ledger" unchanged
write_outputs compacted --at 4
same "the past after the checkpoint is unchanged" compacted
refused 4 "--at before the checkpoint" "entry '2'|expected 3 or later" status --at 2
ok 0 "--at with the entry of the checkpoint succeeds" show train --at 3 -o json
fact "the state at the checkpoint has its group" 'd["group"]["state"]' reserved
ok 0 "journal succeeds after compact" journal -o json
fact "the journal begins after the checkpoint" '[e["seq"] for e in d["entries"]], d["checkpoint"]' "([4, 5, 6, 7], 3)"
ok 0 "journal prints text after compact" journal
out "the text names the checkpoint" "checkpoint at entry: 3"
refused 4 "--since before the checkpoint" "entries after '2'|the first stored entry is 4" journal --since 2
ok 0 "--since with the entry of the checkpoint succeeds" journal --since 3
ok 0 "verify prints JSON after compact" verify -o json
fact "verify begins at the checkpoint" 'd["verified"], d["seq"], d["checkpoint"]' "(True, 7, 3)"
ok 0 "verify prints text after compact" verify
out "verify prints the number of replayed entries" "journal entries:     4"
refused 3 "compact before the existing checkpoint" "entry '3'|expected 4, the first stored entry" journal compact --before 3
ok 0 "the whole journal is compacted" journal compact --before 8 --now "$now"
out "compact reports the number of removed entries" "entries removed: 4"
ok 0 "journal succeeds without entries" journal
out "journal reports that there are no entries" "none"
holds "compacting the whole journal does not change the ledger" unchanged
# shellcheck disable=SC2086
ok 0 "a retry with an old key succeeds after compact" reserve train $want --slices 2 --key k --now "$now" -o json
fact "the retry returns the removed group" 'd["group"]["id"], d["group"]["state"]' "(1, 'removed')"
# shellcheck disable=SC2086
ok 0 "a new group is reserved after compact" reserve next $want --slices 1 --now "$now" -o json
fact "the new group has an unused id" 'd["group"]["id"]' 3
ok 0 "journal succeeds after a new entry" journal -o json
fact "sequence numbers continue after compact" '[e["seq"] for e in d["entries"]]' "[8]"
ok 0 "verify succeeds after a new entry" verify
ok 0 "a compacted ledger is backed up" backup "$tmp/copy.db"
ok 0 "the backup of a compacted ledger verifies" --db "$tmp/copy.db" verify -o json
fact "the backup has the checkpoint" 'd["checkpoint"]' 7

# --- a changed image in the checkpoint
if [ -n "$python" ] && "$python" -c 'import sqlite3' 2>/dev/null; then
  "$python" -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("UPDATE image SET body = zeroblob (length (body)) WHERE part = 1")' "$tmp/copy.db"
  QUOIT_DB=$tmp/copy.db
  baseline
  refused 13 "verify with a damaged checkpoint" "entry 7|checksum|restore a backup" verify
  refused 13 "--at with a damaged checkpoint" "checksum|restore a backup" groups --at 7
  refused 13 "compact with a damaged checkpoint" "checksum|restore a backup" journal compact --before 9 --now "$now"
  ok 0 "groups reads the present with a damaged checkpoint" groups
else
  skip "a damaged checkpoint: no python3 with sqlite3"
fi

# --- what the ledger keeps
QUOIT_DB=$tmp/keep.db
rm -f "$tmp/baseline"
refused 3 "init with an invalid --keep" "--keep '0'" init --keep 0
refused 3 "init --keep in the year 2199" "ahead of the system clock" init --keep 7d --now 2199-12-31T00:00:00Z
holds "no file is created" test ! -e "$QUOIT_DB"
ok 0 "init --keep succeeds" init --keep 7d --now "$now"
ok 0 "a fleet is imported" import fleet 'v6e 4x4 x2' --now "$now"
# shellcheck disable=SC2086
ok 0 "a group with a key is reserved" reserve a $want --slices 1 --key k --now "$now"
ok 0 "the group is released" release a --now "$now"
ok 0 "journal prints how long entries are kept" journal -o json
fact "journal reports 7 days" 'd["keep_ms"], len(d["entries"])' "(604800000, 4)"
ok 0 "compact within 7 days removes nothing" journal compact --now 2026-05-02T09:30:00Z -o json
fact "nothing was removed" 'd["n_removed"], d["n_forgotten"]' "(0, 0)"
ok 0 "--keep changes the time and compacts" journal compact --keep 1h --now 2026-05-02T09:30:00Z -o json
fact "old entries and records are removed" 'd["n_removed"], d["n_forgotten"], d["checkpoint"], d["keep_ms"]' "(4, 1, 4, 3600000)"
ok 0 "groups lists no record" groups -o json
fact "the record is forgotten" 'd["groups"]' "[]"
ok 0 "verify succeeds after a trim" verify
ok 0 "--keep all succeeds" journal compact --keep all --now 2026-05-03T09:30:00Z -o json
fact "--keep all removes nothing" 'd["n_removed"], d["n_forgotten"], d["keep_ms"]' "(0, 0, None)"

# --- a database of version 1
QUOIT_DB=$tmp/old.db
cp "$top_srcdir/tests/databases/schema-1.db" "$QUOIT_DB"
chmod u+w "$QUOIT_DB"
rm -f "$tmp/baseline"
ok 0 "a database of version 1 opens" status -o json
fact "the database of version 1 has its entries" 'd["seq"]' 11
ok 0 "the database of version 1 verifies" verify
ok 0 "--at reads the past of a database of version 1" groups --at 8 -o json
fact "the past of the database of version 1 has its groups" '[g["group"] for g in d["groups"]]' "['train@1', 'small@2', 'gone@3', 'plain@4']"
ok 0 "the journal of the database of version 1 is compacted" journal compact --before 12 --now 2026-11-20T11:00:00Z
ok 0 "the compacted database of version 1 verifies" verify
ok 0 "groups reads the compacted database of version 1" groups -o json
fact "compacting a database of version 1 keeps its groups" '[(g["group"], g["state"], g["key"]) for g in d["groups"]]' \
  "[('train@1', 'rescheduling', 'k-train'), ('small@2', 'rescheduling', None), ('gone@3', 'removed', 'k-gone')]"

# --- the states of chips
QUOIT_DB=$tmp/states.db
ok 0 "a ledger with chips in each state is created" init
ok 0 "its fleet is imported" import fleet 'v6e 4x4 x4 busy=3 dead=2.0 draining=2.1' --now "$now"
ok 0 "a slice is reserved" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now"
ok 0 "chips are held" hold half --bundle TPU=1.5 --lease 1h --now "$now"
ok 0 "a reserved node dies" set-state v6e-4x4-0-1 dead --now "$now"
ok 0 "verify prints the states of chips" verify -o json
fact "verify counts the chips in each state" 'list(d["chips"].items())' \
  "[('total', '64'), ('available', '22.5'), ('draining', '4'), ('held', '1.5'), ('reserved', '12'), ('external', '16'), ('down', '4'), ('lost', '4')]"
fact "the states add up to the total" 'sum(float(n) for s, n in d["chips"].items() if s != "total")' 64.0
ok 0 "verify prints text" verify
out "the text has the lost chips" "lost:      4"

finish
