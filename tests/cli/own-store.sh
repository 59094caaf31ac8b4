#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples/own-store.c: a ledger in a file of the caller's own. Writers are killed again and again, a record is cut off
# at each byte, and a follower reads meanwhile. What was acknowledged is stored, once.
. "$top_srcdir/tests/cli/lib.sh"

file=$tmp/own
store ()
{
  "$top_builddir/examples/own-store" "$file" "$@"
}

# own STATUS 'sentence' WORD...: like ok, for the example.
own ()
{
  expected=$1 sentence=$2
  shift 2
  status=0 last_command="own-store $*"
  store "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  if [ "$status" -eq "$expected" ]; then
    pass
  else
    fail "$sentence" "$last_command" "exit status $status, expected $expected" "$(head -c 600 "$tmp/err")"
  fi
}

# --- one process ---

own 0 "a file is created" create "v6e 2x2 x2"
own 7 "a file is not replaced" create "v6e 2x2 x2"
own 0 "a slice is reserved" reserve a 2x2
out "the group is printed" "reserved a@1"
own 0 "a retry finds the group" reserve a 2x2
out "the retry prints the same group" "reserved a@1"
own 0 "another slice is reserved" reserve b 2x2
own 5 "a third slice is refused" reserve c 2x2
own 6 "a topology that the fleet lacks is refused" reserve d 4x4
own 0 "a group is released" release a
own 4 "a group is released once" release a
own 0 "the status is printed" status
out "the last entry is counted" "4 "
out "the other group is live" "b@2"
own 2 "a wrong command is refused" say hello
holds "a missing file is refused" test ! -e "$tmp/absent" -a "$("$top_builddir/examples/own-store" "$tmp/absent" status 2>&1 |
  grep -c "No such file")" = 1

# --- a record that was cut off ---

size=$(wc -c <"$file")
cp "$file" "$tmp/whole"
store status | head -n 1 >"$tmp/before"
own 0 "an entry is added" reserve c 2x2
longer=$(wc -c <"$file")
cp "$file" "$tmp/longer"
at=$size
while [ "$at" -lt "$longer" ]; do
  head -c "$at" "$tmp/longer" >"$file"
  if ! { store status >"$tmp/cut" 2>&1 && head -n 1 "$tmp/cut" | cmp -s - "$tmp/before" \
    && store reserve c 2x2 >"$tmp/again" 2>&1 && grep -q "^reserved c@3$" "$tmp/again" && store status >/dev/null; }; then
    fail "a file that ends at byte $at continues with the entry before" "$(cat "$tmp/cut" "$tmp/again")"
  fi
  at=$((at + 19))
done
pass
printf 'x' | dd of="$file" bs=1 seek=$((size + 40)) conv=notrunc 2>/dev/null
own 13 "a changed entry is refused" status
cp "$tmp/whole" "$file"
printf 'x' | dd of="$file" bs=1 seek=100 conv=notrunc 2>/dev/null
own 13 "a changed snapshot is refused" status
: >"$file"
own 13 "an empty file is refused" status

# --- writers that are killed ---

rm "$file"
own 0 "a larger file is created" create "v6e 2x2 x2000"
"$top_builddir/examples/own-store" "$file" follow 100000 >"$tmp/followed" 2>"$tmp/follow-errors" &
follower=$!
: >"$tmp/acknowledged"
round=0 kills=0
# On a slow machine, writers get less done before they are killed.
while [ $round -lt 8 ] || { [ $round -lt 100 ] && [ "$(wc -l <"$tmp/acknowledged")" -le 100 ]; }; do
  writers=
  for writer in 1 2 3; do
    : >"$tmp/work-$writer"
    : >"$tmp/errors-$writer"
    # Not by the function, which would be a shell that is killed in place of the program.
    "$top_builddir/examples/own-store" "$file" work "w$writer-$round" 2x2 200 >"$tmp/work-$writer" 2>"$tmp/errors-$writer" &
    writers="$writers $!"
  done
  sleep "0.$((round % 4 + 1))"
  # shellcheck disable=SC2086 # several numbers
  kill -KILL $writers 2>/dev/null
  for pid in $writers; do
    status=0
    wait "$pid" 2>/dev/null || status=$?
    [ $status -ne 137 ] || kills=$((kills + 1)) # it had not ended by itself
  done
  # The last line can be cut off. A line that is printed was stored.
  for writer in 1 2 3; do
    grep -E '^(reserved|released) [^ ]+$' "$tmp/work-$writer" >>"$tmp/acknowledged" || :
    cat "$tmp/errors-$writer" >>"$tmp/errors"
  done
  round=$((round + 1))
done
[ $kills -gt 0 ] || skip "no writer could be killed"
holds "the file is in order after $kills kills" store status
cp "$tmp/holds" "$tmp/status"
last=$(sed -n '1s/ .*//p' "$tmp/status")
link=$(sed -n '1s/.* //p' "$tmp/status")
holds "entries were stored" test "$last" -gt 100
store follow "$last" >"$tmp/all" 2>&1
waited=0
while [ "$(wc -l <"$tmp/followed")" -lt "$(wc -l <"$tmp/all")" ] && [ $waited -lt 100 ]; do
  sleep 0.1
  waited=$((waited + 1))
done
kill -KILL $follower 2>/dev/null
wait $follower 2>/dev/null
holds "no writer has had an error" test ! -s "$tmp/errors"
holds "a follower has had no error" test ! -s "$tmp/follow-errors"
holds "a follower has read the same entries as a reader that begins at the end" cmp "$tmp/followed" "$tmp/all"
holds "the link of the last entry is that of the state" grep -q "^$last $link " "$tmp/all"
awk '$3 == "reserve" { print "reserved", $4 } $3 == "release" { sub (/@.*/, "", $4); print "released", $4 }' "$tmp/all" |
  LC_ALL=C sort >"$tmp/stored"
LC_ALL=C sort "$tmp/acknowledged" >"$tmp/answers"
LC_ALL=C comm -23 "$tmp/answers" "$tmp/stored" >"$tmp/lost"
holds "no acknowledged entry is lost ($(wc -l <"$tmp/answers") of them)" test ! -s "$tmp/lost"
LC_ALL=C uniq -d "$tmp/stored" >"$tmp/twice"
holds "no entry is stored twice" test ! -s "$tmp/twice"

finish
