#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Damaged, foreign and unavailable databases: the right code, the remedy, and no changed byte.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v6e 4x4 x2'
quoit reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now" >/dev/null
rm -f "$tmp/baseline"
good=$QUOIT_DB
QUOIT_DB=$tmp/bad.db
more='reserve more --topology 4x4 --accelerator v6e --slices 1'

# sql FILE STATEMENTS: uses Python's own SQLite, independently of the command.
sql ()
{
  "$python" -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.executescript(sys.argv[2])' "$@"
}
have_sql=
[ -z "$python" ] || ! "$python" -c 'import sqlite3' 2>/dev/null || have_sql=1

# untouched STATUS SENTENCE TEXTS: reading and writing are refused, and the file stays the same.
untouched ()
{
  before=$(cksum <"$QUOIT_DB")
  refused "$1" "$2: read" "$QUOIT_DB|$3" status
  # shellcheck disable=SC2086
  refused "$1" "$2: write" "$QUOIT_DB|$3" $more --now "$now"
  holds "$2: the file is unchanged" test "$(cksum <"$QUOIT_DB")" = "$before"
  rm -rf "$QUOIT_DB" "$QUOIT_DB-wal" "$QUOIT_DB-shm"
}

refused 4 "missing database: read" "$QUOIT_DB|quoit init" status
# shellcheck disable=SC2086
refused 4 "missing database: write" "$QUOIT_DB" $more --now "$now"
holds "missing database: none is created" test ! -e "$QUOIT_DB"

printf 'This is a text, not a database, but long enough to have a header: %0200d\n' 0 >"$QUOIT_DB"
untouched 3 "a text file" ""
printf 'short' >"$QUOIT_DB"
untouched 3 "a short text file" ""
head -c 6000 "$good" >"$QUOIT_DB"
untouched 13 "a truncated database" ""
mkdir "$QUOIT_DB"
refused 3 "a directory as the database" "$QUOIT_DB" status
rmdir "$QUOIT_DB"

if [ -n "$have_sql" ]; then
  sql "$QUOIT_DB" 'CREATE TABLE t (x); INSERT INTO t VALUES (1)'
  untouched 3 "a database of a different application" ""
  cp "$good" "$QUOIT_DB" && sql "$QUOIT_DB" 'PRAGMA user_version = 99'
  untouched 9 "a database of version 99" "99"
  table=$("$python" -c 'import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("SELECT name FROM sqlite_schema WHERE type = ?", ("table",)).fetchone()[0])' "$good")
  cp "$good" "$QUOIT_DB" && sql "$QUOIT_DB" "CREATE TRIGGER spy AFTER INSERT ON $table BEGIN SELECT 1; END"
  untouched 13 "a foreign trigger" "spy"
  cp "$good" "$QUOIT_DB" && sql "$QUOIT_DB" "CREATE VIEW peek AS SELECT * FROM $table"
  untouched 13 "a foreign view" "peek"
else
  skip "version 99, triggers, views: no python3 with sqlite3"
fi

# --- read-only
chmod 400 "$good"
if [ "$(id -u)" -ne 0 ]; then
  QUOIT_DB=$good
  # shellcheck disable=SC2086
  refused 8 "a read-only file: write" "$QUOIT_DB" $more --now "$now"
else
  mkdir "$tmp/ro"
  cp "$good" "$tmp/ro/quoit.db"
  if mount --bind "$tmp/ro" "$tmp/ro" 2>/dev/null && unmount=$tmp/ro && mount -o remount,ro,bind "$tmp/ro" 2>/dev/null; then
    QUOIT_DB=$tmp/ro/quoit.db
    before=$(cksum <"$QUOIT_DB")
    # shellcheck disable=SC2086
    refused 8 "a read-only file system: write" "$QUOIT_DB" $more --now "$now"
    refused 8 "a read-only file system: init" "$tmp/ro/new.db" --db "$tmp/ro/new.db" init
    refused 8 "a read-only file system: backup" "$tmp/ro/copy.db" --db "$good" backup "$tmp/ro/copy.db"
    holds "a read-only file system: the file is unchanged" test "$(cksum <"$QUOIT_DB")" = "$before"
  else
    skip "read-only: this user may not mount"
  fi
  [ -z "$unmount" ] || umount "$unmount"
  unmount=
fi
chmod 600 "$good"

# --- a writer that does not finish
QUOIT_DB=$good
if [ -n "$have_sql" ]; then
  "$python" -c 'import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("BEGIN IMMEDIATE")
open(sys.argv[2], "w").close()
time.sleep(60)' "$good" "$tmp/locked" &
  writer=$!
  n=0
  while [ ! -e "$tmp/locked" ] && [ "$n" -lt 100 ]; do
    sleep 0.1
    n=$((n + 1))
  done
  started=$(date +%s)
  # shellcheck disable=SC2086
  refused 10 "write while the database is locked for longer than --wait" "$QUOIT_DB" $more --now "$now" --wait 300
  holds "the wait ends soon after --wait" test "$(($(date +%s) - started))" -le 4
  # shellcheck disable=SC2086
  refused 10 "write to a locked database with --wait 0" "$QUOIT_DB" $more --now "$now" --wait 0
  ok 0 "a read does not wait for a writer" status --wait 0
  kill "$writer" && wait "$writer" 2>/dev/null
  # shellcheck disable=SC2086
  ok 0 "a write succeeds after the writer ended" $more --now "$now"
  ok 0 "verify succeeds after the writer ended" verify
else
  skip "a locked database: no python3 with sqlite3"
fi

# --- a full disk
mkdir "$tmp/small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=512k tmpfs "$tmp/small" 2>/dev/null; then
  unmount=$tmp/small
  QUOIT_DB=$tmp/small/quoit.db
  ok 0 "init on a small disk succeeds" init
  ok 0 "a small fleet fits on the small disk" import fleet 'v6e 4x4 x2' --now "$now"
  # SQLite needs 32 KiB next to a database even for reading. The disk keeps that much space and no more.
  dd if=/dev/zero of="$tmp/small/filler" bs=1k 2>/dev/null
  truncate -s -44k "$tmp/small/filler"
  baseline
  refused 8 "import of a large fleet on a full disk" "full|free space" import fleet 'v6e 4x4 x2000 pool=big' --source big --now "$now"
  refused 8 "backup to a full disk" "copy.db" --db "$good" backup "$tmp/small/copy.db"
  holds "a failed backup leaves no file" test ! -e "$tmp/small/copy.db"
  ok 0 "the database is intact after a full disk" verify
  rm "$tmp/small/filler"
  # shellcheck disable=SC2086
  ok 0 "a write succeeds when the disk has space again" $more --now "$now"
  ok 0 "verify succeeds when the disk has space again" verify
  umount "$unmount"
  unmount=
else
  skip "a full disk: this user may not mount"
fi

# --- a backup needs a new file
QUOIT_DB=$good
baseline
ln -s "$tmp/elsewhere" "$tmp/link.db"
refused 7 "backup to a symbolic link" "link.db" backup "$tmp/link.db"
holds "backup does not create the target of a dangling link" test ! -e "$tmp/elsewhere"

finish
