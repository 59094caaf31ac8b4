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
holds "ids of the first epoch are small" test "$lost" = train@2

# Restores a database that no process has open.
quoit restore "$tmp/backup.db" --now "$now" >"$tmp/out"
holds "restore prints the epoch" grep -q '^epoch: *1$' "$tmp/out"
holds "restore does not change the backup" test "$(cksum <"$tmp/backup.db")" = "$sum"
again=$(reserve train)
holds "ids of the second epoch differ" test "$again" != "$lost"
refused 7 "release of a group that the restore lost" "@2" release "$lost" --now "$now"
holds "the group of the new epoch is live" test "$(quoit groups -o csv | grep -c "^$again,")" = 1
holds "verify succeeds after a restore" quoit verify
holds "the journal has the restore" test "$(quoit journal | grep -c ' restore ')" = 1

# A database that was overwritten with a copy is refused, and the same verb repairs it.
cp "$tmp/backup.db" "$QUOIT_DB"
refused 13 "read of an old copy" "quoit restore" status
refused 13 "write to an old copy" "quoit restore" release before --now "$now"
quoit restore "$tmp/backup.db" --now "$now" >"$tmp/out"
holds "a second restore starts a new epoch" grep -q '^epoch: *2$' "$tmp/out"
third=$(reserve train)
holds "ids of the new epoch differ from earlier ids" test "$third" != "$again"

# The database and all of its companion files are missing.
rm -f "$QUOIT_DB" "$QUOIT_DB"-*
quoit restore "$tmp/backup.db" --now 2026-05-01T09:31:00Z >/dev/null
holds "a deleted database is restored" test "$(quoit groups -o csv | grep -c '^before@1,')" = 1
fourth=$(reserve train)
holds "ids after the restore of a deleted database differ from earlier ids" test "$fourth" != "$third" -a "$fourth" != "$again"

# The database is missing, but a crash has left its log and the note of acknowledged changes.
quoit import fleet 'v6e 4x4 x6' --now 2026-05-01T09:31:00Z >/dev/null
cp "$QUOIT_DB" "$tmp/of-crash-wal"
rm "$QUOIT_DB"
mv "$tmp/of-crash-wal" "$QUOIT_DB-wal"
refused 4 "read of a deleted database" "restore BACKUP" status
refused 7 "init in place of a deleted database" "restore BACKUP" init
holds "a refused init creates no file" test ! -e "$QUOIT_DB"
quoit restore "$tmp/backup.db" --now 2026-05-01T09:31:30Z >/dev/null
holds "restore keeps the log of the deleted database" test -e "$QUOIT_DB.replaced-1-wal"
holds "entries of the kept log are not restored" test "$(quoit groups -o csv | grep -c '@')" = 1
holds "verify succeeds after the restore of a deleted database" quoit verify
rm "$QUOIT_DB".replaced-*

# A damaged database is kept under another name.
printf 'broken' | dd of="$QUOIT_DB" bs=1 seek=4096 conv=notrunc 2>/dev/null
rm -f "$QUOIT_DB-head"
head -c 9000 "$QUOIT_DB" >"$tmp/cut" && cp "$tmp/cut" "$QUOIT_DB"
refused 13 "status of a damaged database" "" status
quoit restore "$tmp/backup.db" --now 2026-05-01T09:32:00Z >/dev/null
holds "restore replaces a damaged database" quoit verify
holds "restore keeps the damaged database" test -e "$QUOIT_DB.replaced-1"

# Refusals change nothing.
sum=$(cksum <"$QUOIT_DB")
refused 4 "restore of a missing backup" "$tmp/none.db" restore "$tmp/none.db" --now "$now"
printf 'no database' >"$tmp/text"
refused 3 "restore of a text file" "" restore "$tmp/text" --now "$now"
(QUOIT_DB=$tmp/other.db && export QUOIT_DB && quoit init && quoit import fleet 'v6e 2x2' && quoit backup "$tmp/other-backup.db") >/dev/null
refused 7 "restore of a backup of a different ledger" "another ledger" restore "$tmp/other-backup.db" --now "$now"
head -c 9000 "$tmp/backup.db" >"$tmp/cut.db"
refused 13 "restore of a damaged backup" "" restore "$tmp/cut.db" --now "$now"
holds "refused restores do not change the database" test "$(cksum <"$QUOIT_DB")" = "$sum"
holds "refused restores leave no files" test -z "$(ls "$QUOIT_DB"-restore* 2>/dev/null)"

# Another program has rewritten the ledger or the backup with other pages, or without a write-ahead log.
if [ -n "$python" ] && "$python" -c 'import sqlite3' 2>/dev/null; then
  # rewrite FILE PAGE_BYTES JOURNAL_MODE
  rewrite ()
  {
    "$python" -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
for sql in ("journal_mode = DELETE", "page_size = " + sys.argv[2]):
    c.execute("PRAGMA " + sql).fetchall()
c.execute("VACUUM")
c.execute("PRAGMA journal_mode = " + sys.argv[3]).fetchall()' "$@"
  }
  rm -f "$tmp/baseline"
  for mode in WAL DELETE; do
    for bytes in 512 65536 4096; do
      rewrite "$QUOIT_DB" "$bytes" "$mode"
      ok 0 "restore over a ledger with pages of $bytes bytes in mode $mode" restore "$tmp/backup.db" --now "$now"
      ok 0 "the restored ledger with pages of $bytes bytes verifies" verify
      holds "the restored ledger has a write-ahead log" test "$(od -An -j18 -N2 -tx1 "$QUOIT_DB" | tr -d ' ')" = 0202
    done
  done
  rewrite "$tmp/backup.db" 8192 DELETE
  ok 0 "restore of a backup with other pages" restore "$tmp/backup.db" --now "$now"
  out "the restore has the group of the backup" "groups:     1"
else
  skip "other page sizes: no python3 with sqlite3"
fi

# Killed restores leave copies, and the next restore deletes them.
for pause in 0 0.01 0.02 0.03 0.04 0.05 0.06 0.08; do
  "$top_builddir/cli/quoit" restore "$tmp/backup.db" --now "$now" >/dev/null 2>&1 &
  sleep "$pause"
  kill -9 $! 2>/dev/null
  wait $! 2>/dev/null
  ok 0 "the ledger can be read after a killed restore" status
done
ok 0 "restore after killed restores" restore "$tmp/backup.db" --now "$now"
holds "no copy is left" test -z "$(ls "$QUOIT_DB"-restore* 2>/dev/null)"

refused 2 "restore without a backup" "BACKUP" restore
refused 2 "restore with --at" "--at" restore "$tmp/backup.db" --at 1
finish
