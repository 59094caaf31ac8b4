#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Foreign influence on a database, tested with the command: second names, mounts, clocks, lost output.
. "$top_srcdir/tests/cli/lib.sh"
one='--topology 4x4 --accelerator v6e --slices 1'

# --- second names
fresh 'v6e 4x4 x4'
rm -f "$tmp/baseline"
ln "$QUOIT_DB" "$tmp/second.db"
refused 8 "a hard link: looking" "second name|mount the folder" status
# shellcheck disable=SC2086
refused 8 "a hard link: writing" "second name" reserve a $one --now "$now"
rm "$tmp/second.db"
ok 0 "without it" status
ln -s "$QUOIT_DB" "$tmp/link.db"
ok 0 "a symbolic link is the same file" --db "$tmp/link.db" status

mkdir "$tmp/pod"
: >"$tmp/pod/quoit.db"
if unshare -m true 2>/dev/null && unshare -m mount --bind "$QUOIT_DB" "$tmp/pod/quoit.db" 2>/dev/null; then
  mounted=0
  unshare -m sh -c "mount --bind '$QUOIT_DB' '$tmp/pod/quoit.db' && '$top_builddir/cli/quoit' --db '$tmp/pod/quoit.db' status" \
    >"$tmp/out" 2>"$tmp/err" || mounted=$?
  holds "a mount of the file alone is refused" test "$mounted" -eq 8
  err "with the remedy" "mount the folder"
  mounted=0
  unshare -m sh -c "mount --bind '$tmp' '$tmp/pod' && '$top_builddir/cli/quoit' --db '$tmp/pod/quoit.db' status" \
    >"$tmp/out" 2>"$tmp/err" || mounted=$?
  holds "a mount of the folder is not" test "$mounted" -eq 0
else
  skip "mounts: not allowed here"
fi

# --- another program uses the file
if [ -n "$python" ] && "$python" -c 'import sqlite3' 2>/dev/null; then
  "$python" -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("SELECT count(*) FROM grp"); c.close()' "$QUOIT_DB"
  ok 0 "somebody has looked with another SQLite" verify
  "$python" -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("UPDATE node SET state = 2 WHERE id = 1"); c.commit()' "$QUOIT_DB"
  refused 13 "somebody has written with another SQLite" "another program has written" status
else
  skip "another SQLite: no python3 with sqlite3"
fi

# --- clocks
QUOIT_DB=$tmp/clock.db
ok 0 "a ledger of that time" init
ok 0 "and its fleet" import fleet 'v6e 4x4 x4' --now "$now"
# shellcheck disable=SC2086
ok 0 "a hold" hold h $one --lease 10m --now "$now"
rm -f "$tmp/baseline"
# shellcheck disable=SC2086
refused 3 "a clock of the year 2199" "ahead of the last entry|quoit set-clock" reserve a $one --now 2199-12-31T00:00:00Z
ok 0 "the hold lives" groups --now "$now"
out "as before" "h@1"
ok 0 "a clock that is ahead by less than a day" renew h --lease 2h --now 2026-05-01T09:35:00Z
ok 0 "the limit is a setting" set-clock --max-clock-jump none --now "$now"
ok 0 "then any clock is right" undrain v6e-4x4-0-0 --now 2199-12-31T00:00:00Z
ok 0 "and the clock can be set back" set-clock 2026-05-01T10:00:00Z
ok 0 "with the usual limit" set-clock --max-clock-jump 1d --now 2026-05-01T10:00:00Z
# shellcheck disable=SC2086
ok 0 "holds can be made again" hold h2 $one --lease 10m --now 2026-05-01T10:00:00Z
ok 0 "all of it is in the journal" journal
out "as changes of the clock" "set-clock"
ok 0 "and verifies" verify
rm -f "$tmp/baseline"
ok 0 "set-clock alone takes the machine's clock" set-clock --now 2026-05-01T10:05:00Z
out "which it prints" "2026-05-01T10:05:00.000Z"
baseline
refused 3 "a new limit is no way around the present one" "set the ledger's clock first" set-clock --max-clock-jump 2d \
  --now 2030-01-01T00:00:00Z
refused 3 "set-clock to nonsense" "TIME 'noon'" set-clock noon
refused 2 "a limit that is none" "--max-clock-jump 'far'" set-clock --max-clock-jump far
rm -f "$tmp/baseline"
QUOIT_DB=$tmp/limit.db
refused 2 "init with a wrong limit" "--max-clock-jump 'far'" init --max-clock-jump far
holds "makes nothing" test ! -e "$QUOIT_DB"
ok 0 "init with a limit" init --max-clock-jump 400d --now "$now"
ok 0 "a year ahead" import fleet 'v6e 4x4 x4' --now 2027-05-01T09:30:00Z

# --- an empty file becomes a database that only its owner can read
QUOIT_DB=$tmp/empty.db
: >"$QUOIT_DB"
chmod 666 "$QUOIT_DB"
ok 0 "init on an empty file" init
holds "makes its mode 0600" test "$(stat -c %a "$QUOIT_DB")" = 600

# --- output that cannot be written
if [ -w /dev/full ]; then
  fresh 'v6e 4x4 x4'
  # unheard 'sentence' STATUS WORD...: runs with a standard output that refuses writes.
  unheard ()
  {
    sentence=$1 expected=$2
    shift 2
    status=0
    quoit "$@" >/dev/full 2>"$tmp/err" </dev/null || status=$?
    holds "$sentence: exit status $expected" test "$status" -eq "$expected"
  }
  # shellcheck disable=SC2086
  unheard "reserve" 14 reserve a $one --key k --now "$now"
  err "says that it is done" "the change is written"
  # shellcheck disable=SC2086
  ok 0 "a retry by its key finds it" reserve a $one --key k --now "$now"
  out "the same group" "a@1"
  # shellcheck disable=SC2086
  unheard "the same retry, which writes nothing" 8 reserve a $one --key k --now "$now"
  # shellcheck disable=SC2086
  unheard "a dry run" 8 reserve b $one --dry-run --now "$now"
  unheard "status" 8 status
  # shellcheck disable=SC2086
  unheard "hold" 14 hold h $one --lease 10m --now "$now"
  unheard "renew" 14 renew h --lease 20m --now "$now"
  unheard "confirm" 14 confirm h --now "$now"
  unheard "release" 14 release h --now "$now"
  unheard "drain" 14 drain v6e-4x4-3-0 --now "$now"
  unheard "undrain" 14 undrain v6e-4x4-3-0 --now "$now"
  unheard "set-state" 14 set-state v6e-4x4-3-0 dead --now "$now"
  unheard "owner set" 14 owner set o --lease 1h --now "$now"
  unheard "owner end" 14 owner end o --now "$now"
  unheard "import" 14 import fleet 'v6e 4x4 x5' --now "$now"
  unheard "sync" 14 sync fleet 'v6e 4x4 x6' --now "$now"
  unheard "resize" 14 resize a --slices 2 --now "$now"
  unheard "compact" 14 journal compact --before 4 --now "$now"
  unheard "backup" 14 backup "$tmp/unheard.db"
  unheard "restore" 14 restore "$tmp/unheard.db" --now "$now"
  unheard "set-clock" 14 set-clock 2026-05-01T11:00:00Z
  unheard "init" 14 --db "$tmp/unheard-too.db" init
  unheard "a document in JSON" 14 reserve c --topology 4x4 --accelerator v6e --slices 1 --now 2026-05-01T11:00:00Z -o json
  status=0
  quoit reserve d --topology 4x4 --accelerator v6e --slices 1 --now 2026-05-01T11:00:00Z >&- 2>"$tmp/err" || status=$?
  holds "standard output is closed" test "$status" -eq 14
  ok 0 "and nothing of it is in the database" verify
else
  skip "/dev/full: not there"
fi
finish
