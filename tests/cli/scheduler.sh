#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples/scheduler.c: a run that is killed again and again ends like one that is not, because its only state is the
# ledger.
. "$top_srcdir/tests/cli/lib.sh"

slices=1000 jobs=1500

scheduler ()
{
  "$top_builddir/examples/scheduler" "$1" $slices $jobs
}

# When the journal changed, and what each entry did.
history ()
{
  QUOIT_DB=$1 quoit journal -o json | "$python" -c '
import json, sys
for entry in json.load(sys.stdin)["entries"]:
    print(entry["time"], entry["verb"], *(effect["text"] for effect in entry["effects"]))'
}

holds "a run without an interruption succeeds" scheduler "$tmp/whole.db"
cp "$tmp/holds" "$tmp/summary"
holds "all jobs have ended" grep -q "^all $jobs jobs have ended after [0-9]* ticks" "$tmp/summary"
for what in starts preempted repaired grown; do
  holds "some jobs were counted as $what" grep -qE "[1-9][0-9]* $what" "$tmp/summary"
done

# What a creation leaves that was interrupted at its beginning, and after SQLite had written its header.
: >"$tmp/empty.db"
"$python" -c 'import sqlite3, sys; sqlite3.connect (sys.argv[1]).execute ("PRAGMA journal_mode = WAL")' "$tmp/header.db"
for db in empty header; do
  holds "a run after an interrupted creation succeeds ($db)" "$top_builddir/examples/scheduler" "$tmp/$db.db" 4 2
done

kills=0 killed=yes
while [ $kills -lt 200 ] && [ -n "$killed" ]; do
  "$top_builddir/examples/scheduler" "$tmp/killed.db" $slices $jobs >"$tmp/last" 2>&1 &
  sleep 0.1
  killed=
  kill -KILL $! 2>/dev/null && killed=yes kills=$((kills + 1))
  wait $! 2>/dev/null
done
[ $kills -gt 0 ] || skip "the scheduler ended before it could be killed"
holds "the last run succeeds" scheduler "$tmp/killed.db"
cp "$tmp/holds" "$tmp/last"
ticks=$(sed -n 's/.* after \([0-9]*\) ticks.*/\1/p' "$tmp/summary")
holds "all jobs have ended in the same time" grep -q "^all $jobs jobs have ended after $ticks ticks" "$tmp/last"
history "$tmp/whole.db" >"$tmp/whole"
history "$tmp/killed.db" >"$tmp/killed"
holds "there are many entries" test "$(wc -l <"$tmp/whole")" -gt 100
holds "both ledgers have the same history" cmp "$tmp/whole" "$tmp/killed"
for db in whole killed; do
  QUOIT_DB=$tmp/$db.db
  ok 0 "the journal of the $db run is replayed" verify
  ok 0 "the groups of the $db run are listed" groups -o json
  fact "no job of the $db run has slices at the end" 'len([g for g in d["groups"] if g["state"] != "removed"])' 0
done

finish
