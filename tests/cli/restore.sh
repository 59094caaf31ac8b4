#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of docs/restore.md, then each kind of disaster and its recovery. No id is issued twice.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/pages.sh"
page_holds "$top_srcdir/docs/restore.md" "$tmp/desk"
export QUOIT_DB="$tmp/quoit.db"

fresh 'v6e 4x4 x4'
rm -f "$tmp/baseline"
one='--topology 4x4 --accelerator v6e --slices 1'

# reserve NAME: prints NAME@ID.
reserve ()
{
  # shellcheck disable=SC2086
  quoit reserve "$1" $one --now "$now" | sed -n '1s/ is reserved//p'
}

reserve before >/dev/null
quoit backup "$tmp/backup.db" >/dev/null
sum=$(cksum <"$tmp/backup.db")
lost=$(reserve train)
holds "an id of the first epoch is small" test "$lost" = train@2

# Restores a database that no process has open.
quoit restore "$tmp/backup.db" --now "$now" >"$tmp/out"
holds "it says which epoch it is" grep -q '^epoch: *1$' "$tmp/out"
holds "the backup is as it was" test "$(cksum <"$tmp/backup.db")" = "$sum"
again=$(reserve train)
holds "the id is another one" test "$again" != "$lost"
refused 7 "a late release of the lost group" "@2" release "$lost" --now "$now"
holds "the group of the new epoch lives" test "$(quoit groups -o csv | grep -c "^$again,")" = 1
holds "it verifies" quoit verify
holds "the journal has it" test "$(quoit journal | grep -c ' restore ')" = 1

# A database that was overwritten with a copy is refused, and the same verb repairs it.
cp "$tmp/backup.db" "$QUOIT_DB"
refused 13 "an old copy" "quoit restore" status
refused 13 "an old copy, to write to" "quoit restore" release before --now "$now"
quoit restore "$tmp/backup.db" --now "$now" >"$tmp/out"
holds "another epoch" grep -q '^epoch: *2$' "$tmp/out"
third=$(reserve train)
holds "and other ids" test "$third" != "$again"

# The database and all of its companion files are missing.
rm -f "$QUOIT_DB" "$QUOIT_DB"-*
quoit restore "$tmp/backup.db" --now 2026-05-01T09:31:00Z >/dev/null
holds "a lost database is made again" test "$(quoit groups -o csv | grep -c '^before@1,')" = 1
fourth=$(reserve train)
holds "with ids of its own" test "$fourth" != "$third" -a "$fourth" != "$again"

# The database is missing, but a crash has left its log and the note of acknowledged changes.
quoit import fleet 'v6e 4x4 x6' --now 2026-05-01T09:31:00Z >/dev/null
cp "$QUOIT_DB" "$tmp/of-crash-wal"
rm "$QUOIT_DB"
mv "$tmp/of-crash-wal" "$QUOIT_DB-wal"
refused 4 "a lost database is told from one that never was" "restore BACKUP" status
refused 7 "no other is made in its place" "restore BACKUP" init
holds "nor a file" test ! -e "$QUOIT_DB"
quoit restore "$tmp/backup.db" --now 2026-05-01T09:31:30Z >/dev/null
holds "the log of the lost one is kept beside" test -e "$QUOIT_DB.replaced-1-wal"
holds "and is not part of the restored one" test "$(quoit groups -o csv | grep -c '@')" = 1
holds "which verifies" quoit verify
rm "$QUOIT_DB".replaced-*

# A damaged database is kept under another name.
printf 'broken' | dd of="$QUOIT_DB" bs=1 seek=4096 conv=notrunc 2>/dev/null
rm -f "$QUOIT_DB-head"
head -c 9000 "$QUOIT_DB" >"$tmp/cut" && cp "$tmp/cut" "$QUOIT_DB"
refused 13 "a damaged database" "" status
quoit restore "$tmp/backup.db" --now 2026-05-01T09:32:00Z >/dev/null
holds "a damaged database is replaced" quoit verify
holds "and kept" test -e "$QUOIT_DB.replaced-1"

# Refusals change nothing.
sum=$(cksum <"$QUOIT_DB")
refused 4 "no backup" "$tmp/none.db" restore "$tmp/none.db" --now "$now"
printf 'no database' >"$tmp/text"
refused 3 "a text" "" restore "$tmp/text" --now "$now"
(QUOIT_DB=$tmp/other.db && export QUOIT_DB && quoit init && quoit import fleet 'v6e 2x2' && quoit backup "$tmp/other-backup.db") >/dev/null
refused 7 "a backup of another ledger" "another ledger" restore "$tmp/other-backup.db" --now "$now"
head -c 9000 "$tmp/backup.db" >"$tmp/cut.db"
refused 13 "a damaged backup" "" restore "$tmp/cut.db" --now "$now"
holds "nothing was changed" test "$(cksum <"$QUOIT_DB")" = "$sum"
holds "nothing is left behind" test -z "$(ls "$QUOIT_DB"-restore* 2>/dev/null)"
refused 2 "no argument" "BACKUP" restore
refused 2 "a backup and the past" "--at" restore "$tmp/backup.db" --at 1
finish
