#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Foreign influence on a database, tested with the command: second names, mounts, clocks, lost output.
. "$top_srcdir/tests/cli/lib.sh"
one='--topology 4x4 --accelerator v6e --slices 1'

# --- second names
fresh 'v6e 4x4 x4'
rm -f "$tmp/baseline"
ln "$QUOIT_DB" "$tmp/second.db"
refused 8 "read of a database with a second hard link" "second name|mount the folder" status
# shellcheck disable=SC2086
refused 8 "write to a database with a second hard link" "second name" reserve a $one --now "$now"
rm "$tmp/second.db"
ok 0 "status succeeds when the hard link is removed" status
ln -s "$QUOIT_DB" "$tmp/link.db"
ok 0 "a symbolic link opens the database" --db "$tmp/link.db" status

mkdir "$tmp/pod"
: >"$tmp/pod/quoit.db"
if unshare -m true 2>/dev/null && unshare -m mount --bind "$QUOIT_DB" "$tmp/pod/quoit.db" 2>/dev/null; then
  mounted=0
  unshare -m sh -c "mount --bind '$QUOIT_DB' '$tmp/pod/quoit.db' && '$top_builddir/cli/quoit' --db '$tmp/pod/quoit.db' status" \
    >"$tmp/out" 2>"$tmp/err" || mounted=$?
  holds "a mount of the database file alone is refused" test "$mounted" -eq 8
  err "the message proposes to mount the folder" "mount the folder"
  mounted=0
  unshare -m sh -c "mount --bind '$tmp' '$tmp/pod' && '$top_builddir/cli/quoit' --db '$tmp/pod/quoit.db' status" \
    >"$tmp/out" 2>"$tmp/err" || mounted=$?
  holds "a mount of the folder is accepted" test "$mounted" -eq 0
else
  skip "mounts: not allowed here"
fi

# --- another program uses the file
if [ -n "$python" ] && "$python" -c 'import sqlite3' 2>/dev/null; then
  "$python" -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("SELECT count(*) FROM grp"); c.close()' "$QUOIT_DB"
  ok 0 "verify succeeds after a read with a different SQLite" verify
  "$python" -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("UPDATE node SET state = 2 WHERE id = 1"); c.commit()' "$QUOIT_DB"
  refused 13 "database that a different program has changed" "another program has written" status
else
  skip "a different SQLite: no python3 with sqlite3"
fi

# --- clocks
QUOIT_DB=$tmp/clock.db
ok 0 "a ledger is created in 2026" init
ok 0 "a fleet is imported in 2026" import fleet 'v6e 4x4 x4' --now "$now"
# shellcheck disable=SC2086
ok 0 "a group is held for ten minutes" hold h $one --lease 10m --now "$now"
rm -f "$tmp/baseline"
# shellcheck disable=SC2086
refused 3 "reserve with a clock of 2199" "ahead of the last entry|quoit set-clock" reserve a $one --now 2199-12-31T00:00:00Z
ok 0 "groups succeeds after the refused clock" groups --now "$now"
out "the hold has not expired" "h@1"
ok 0 "a clock that is less than a day ahead is accepted" renew h --lease 2h --now 2026-05-01T09:35:00Z
ok 0 "set-clock --max-clock-jump none succeeds" set-clock --max-clock-jump none --now "$now"
ok 0 "any clock is accepted without a limit" undrain v6e-4x4-0-0 --now 2199-12-31T00:00:00Z
ok 0 "set-clock sets the clock back" set-clock 2026-05-01T10:00:00Z
ok 0 "the default limit is set again" set-clock --max-clock-jump 1d --now 2026-05-01T10:00:00Z
# shellcheck disable=SC2086
ok 0 "hold succeeds after the clock was set back" hold h2 $one --lease 10m --now 2026-05-01T10:00:00Z
ok 0 "journal succeeds after the clock changes" journal
out "the journal has the changes of the clock" "set-clock"
ok 0 "verify succeeds after the clock changes" verify
rm -f "$tmp/baseline"
ok 0 "set-clock without a time succeeds" set-clock --now 2026-05-01T10:05:00Z
out "set-clock prints the time of the machine" "2026-05-01T10:05:00.000Z"
baseline
refused 3 "new limit while the ledger's clock is ahead" "set the ledger's clock first" set-clock --max-clock-jump 2d \
  --now 2030-01-01T00:00:00Z
refused 3 "set-clock with an invalid time" "TIME 'noon'" set-clock noon
refused 2 "invalid --max-clock-jump" "--max-clock-jump 'far'" set-clock --max-clock-jump far
rm -f "$tmp/baseline"
QUOIT_DB=$tmp/limit.db
refused 2 "init with an invalid --max-clock-jump" "--max-clock-jump 'far'" init --max-clock-jump far
holds "a refused init creates no database" test ! -e "$QUOIT_DB"
ok 0 "init accepts --max-clock-jump" init --max-clock-jump 400d --now "$now"
ok 0 "a clock within the limit is accepted" import fleet 'v6e 4x4 x4' --now 2027-05-01T09:30:00Z

# The first change sets the clock, so that only the system clock can confirm it.
QUOIT_DB=$tmp/first.db
ok 0 "init of a ledger without a clock" init
baseline
refused 3 "a first change in the year 2199" "--now '2199-|ahead of the system clock|quoit set-clock TIME" \
  import fleet 'v6e 4x4 x4' --now 2199-12-31T00:00:00Z
refused 3 "a first setting in the year 2199" "ahead of the system clock" set-clock --max-clock-jump none \
  --now 2199-12-31T00:00:00Z
refused 3 "the system clock in the year 2199" "ahead of the system clock" set-clock --now 2199-12-31T00:00:00Z
ok 0 "a read in the year 2199 changes nothing" status --now 2199-12-31T00:00:00Z
holds "no change was written" unchanged
rm -f "$tmp/baseline"
ok 0 "an explicit clock is accepted" set-clock 2150-01-01T00:00:00Z
ok 0 "the next change is near that clock" import fleet 'v6e 4x4 x4' --now 2150-01-01T00:00:01Z
QUOIT_DB=$tmp/first-limit.db
refused 3 "init with a limit in the year 2199" "ahead of the system clock" init --max-clock-jump 2d --now 2199-12-31T00:00:00Z
holds "a refused init creates no ledger" test ! -e "$QUOIT_DB"
ok 0 "init without a limit accepts any clock" init --max-clock-jump none --now 2199-12-31T00:00:00Z

# --- an empty file becomes a database that only its owner can read
QUOIT_DB=$tmp/empty.db
: >"$QUOIT_DB"
chmod 666 "$QUOIT_DB"
ok 0 "init accepts an empty file" init
holds "init gives the file mode 0600" test "$(stat -c %a "$QUOIT_DB")" = 600

# --- output that cannot be written
if [ -w /dev/full ]; then
  fresh 'v6e 4x4 x4'
  # with_full_stdout 'sentence' STATUS WORD...: runs with a standard output that refuses writes.
  with_full_stdout ()
  {
    sentence=$1 expected=$2
    shift 2
    status=0
    quoit "$@" >/dev/full 2>"$tmp/err" </dev/null || status=$?
    holds "$sentence: exit status $expected" test "$status" -eq "$expected"
  }
  # shellcheck disable=SC2086
  with_full_stdout "reserve" 14 reserve a $one --key k --now "$now"
  err "the message says that the change is written" "the change is written"
  # shellcheck disable=SC2086
  ok 0 "a retry with the same key succeeds after lost output" reserve a $one --key k --now "$now"
  out "the retry returns the same group" "a@1"
  # shellcheck disable=SC2086
  with_full_stdout "a retry that writes nothing" 8 reserve a $one --key k --now "$now"
  # shellcheck disable=SC2086
  with_full_stdout "a dry run" 8 reserve b $one --dry-run --now "$now"
  with_full_stdout "status" 8 status
  # shellcheck disable=SC2086
  with_full_stdout "hold" 14 hold h $one --lease 10m --now "$now"
  with_full_stdout "renew" 14 renew h --lease 20m --now "$now"
  with_full_stdout "confirm" 14 confirm h --now "$now"
  with_full_stdout "release" 14 release h --now "$now"
  with_full_stdout "drain" 14 drain v6e-4x4-3-0 --now "$now"
  with_full_stdout "undrain" 14 undrain v6e-4x4-3-0 --now "$now"
  with_full_stdout "set-state" 14 set-state v6e-4x4-3-0 dead --now "$now"
  with_full_stdout "owner set" 14 owner set o --lease 1h --now "$now"
  with_full_stdout "owner end" 14 owner end o --now "$now"
  with_full_stdout "import" 14 import fleet 'v6e 4x4 x5' --now "$now"
  with_full_stdout "sync" 14 sync fleet 'v6e 4x4 x6' --now "$now"
  with_full_stdout "resize" 14 resize a --slices 2 --now "$now"
  with_full_stdout "compact" 14 journal compact --before 4 --now "$now"
  with_full_stdout "backup" 14 backup "$tmp/unheard.db"
  with_full_stdout "restore" 14 restore "$tmp/unheard.db" --now "$now"
  with_full_stdout "set-clock" 14 set-clock 2026-05-01T11:00:00Z
  with_full_stdout "init" 14 --db "$tmp/unheard-too.db" init
  with_full_stdout "a document in JSON" 14 reserve c --topology 4x4 --accelerator v6e --slices 1 --now 2026-05-01T11:00:00Z -o json
  status=0
  quoit reserve d --topology 4x4 --accelerator v6e --slices 1 --now 2026-05-01T11:00:00Z >&- 2>"$tmp/err" || status=$?
  holds "a closed standard output exits with 14" test "$status" -eq 14
  ok 0 "verify succeeds after lost outputs" verify
else
  skip "/dev/full: not there"
fi

# --- a pipe whose reader is gone
fresh 'v6e 4x4 x4'
rm -f "$tmp/baseline"
mkfifo "$tmp/pipe"
exec 7<>"$tmp/pipe" 8>"$tmp/pipe" 7>&-
# without_reader 'sentence' STATUS 'TEXT' WORD...
without_reader ()
{
  sentence=$1 expected=$2 text=$3
  shift 3
  status=0
  quoit "$@" >&8 2>"$tmp/err" </dev/null || status=$?
  holds "$sentence without a reader: exit status $expected" test "$status" -eq "$expected"
  err "$sentence without a reader says what to do" "$text"
}
# shellcheck disable=SC2086
without_reader "reserve" 14 "retry it with the same --key" reserve a $one --key k --now "$now"
# shellcheck disable=SC2086
ok 0 "a retry with the same key finds the group" reserve a $one --key k --now "$now"
out "the retry returns the group of the first call" "a@1"
# shellcheck disable=SC2086
without_reader "hold" 14 "retry it with the same --key" hold h $one --lease 10m --now "$now"
without_reader "renew" 14 "quoit show NAME" renew h --lease 20m --now "$now"
without_reader "confirm" 14 "a confirmed group does not change" confirm h --now "$now"
without_reader "release" 14 "retry it with NAME@ID" release h@2 --now "$now"
refused 7 "the retry of a release that is done" "it was released" release h@2 --now "$now"
without_reader "drain" 14 "the same state again changes nothing" drain v6e-4x4-3-0 --now "$now"
without_reader "undrain" 14 "the same state again changes nothing" undrain v6e-4x4-3-0 --now "$now"
without_reader "set-state" 14 "the same state again changes nothing" set-state v6e-4x4-3-0 dead --now "$now"
without_reader "owner set" 14 "quoit owner" owner set o --lease 1h --now "$now"
without_reader "owner end" 14 "NOT_FOUND after 'end'" owner end o --now "$now"
refused 4 "the retry of an end that is done" "owner 'o' is not registered" owner end o --now "$now"
without_reader "import" 14 "the same import again changes nothing" import fleet 'v6e 4x4 x5' --now "$now"
without_reader "sync" 14 "the same sync again changes nothing" sync fleet 'v6e 4x4 x6' --now "$now"
without_reader "resize" 14 "the same size again changes nothing" resize a --slices 2 --now "$now"
ok 0 "a host of the group dies" set-state v6e-4x4-0-0 dead --now "$now"
without_reader "repair" 14 "an intact group does not change" repair a --now "$now"
without_reader "compact" 14 "quoit journal" journal compact --before 4 --now "$now"
without_reader "backup" 14 "quoit --db FILE verify" backup "$tmp/lost.db"
without_reader "restore" 14 "before you restore again" restore "$tmp/lost.db" --now "$now"
without_reader "release of a group with a key" 14 "retry it with NAME@ID" release a --now "$now"
without_reader "forget" 14 "means that the group is forgotten" forget --key k --now "$now"
without_reader "set-clock" 14 "quoit journal" set-clock 2026-05-01T11:00:00Z
without_reader "init" 14 "quoit status" --db "$tmp/lost-too.db" init
ok 0 "verify succeeds without a reader" verify
# A verb that changes nothing ends by the signal, like other commands; if the caller ignores the signal, with STORE.
for verb in status journal nodes 'reserve b --topology 4x4 --accelerator v6e --slices 1 --dry-run'; do
  status=0
  # shellcheck disable=SC2086
  quoit $verb >&8 2>"$tmp/err" || status=$?
  holds "$verb without a reader changes nothing" test "$status" -eq 141 -o "$status" -eq 8
done
# The exit status of an error stays, although its document cannot be written.
without_reader "an error in JSON" 4 "no group 'nobody'" release nobody --now 2026-05-01T11:00:00Z -o json
exec 8>&-
finish
