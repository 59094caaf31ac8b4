#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command line: help, options before and after the verb, numbers, clocks, and the streams for output and errors.
. "$top_srcdir/tests/cli/lib.sh"

verbs='init import export verify backup copy journal watch top status nodes slices groups show slots fragmentation who-holds metrics report reserve update release set-state
  drain undrain fits when explain what-if defrag plan promise env catalogue check completion help'

ok 0 "--help succeeds" --help
for verb in $verbs; do
  has out "--help lists $verb" "  $verb "
done
for verb in $verbs; do
  ok 0 "$verb --help succeeds" "$verb" --help
  has out "$verb --help has the usage" "quoit $verb"
done
ok 0 "env --help succeeds" env --help
out "env --help lists its output forms" "table, wide, env, slice or json (table)"
past='export status nodes slices groups show map slots fragmentation who-holds metrics report fits when explain what-if defrag plan promise env mesh'
for verb in $verbs map mesh owner; do
  ok 0 "$verb --help succeeds" "$verb" --help
  case " $past " in
  *" $verb "*) out "$verb --help offers --at" '--at=SEQ' ;;
  *) holds "$verb --help does not offer --at" test "$(grep -c -e --at=SEQ "$tmp/out")" -eq 0 ;;
  esac
done
ok 0 "--version succeeds" --version
out "--version prints the version" "quoit "

refused 2 "no verb" "expected a verb" --db "$QUOIT_DB"
refused 2 "unknown verb" "'frobnicate' is not a verb" frobnicate
refused 2 "unknown option before the verb" "quoit: unknown option '--frob'; see quoit --help" --frob status
refused 2 "unknown option after the verb" "unknown option '--frob'; see quoit status --help" status --frob
refused 2 "option without its value" "--db" status --db
refused 2 "unknown output form" "--output 'xml'|expected table, wide or json" status -o xml
refused 2 "unknown output form of env" "--output 'xml'|expected table, wide, env, slice or json" env g -o xml
holds "an error prints nothing on stdout" test ! -s "$tmp/out"

# --- the place of the database
fresh 'v6e 4x4 x2'
ok 0 "--db is accepted before the verb" --db "$QUOIT_DB" status
ok 0 "--db is accepted after the verb" status --db "$QUOIT_DB"
ok 0 "--db=FILE is accepted" status "--db=$QUOIT_DB"
ok 0 "QUOIT_DB is used without --db" status
refused 4 "missing database of --db with QUOIT_DB set" "/no/such/quoit.db" --db /no/such/quoit.db status
(cd "$tmp" && unset QUOIT_DB && "$top_builddir/cli/quoit" status >"$tmp/out" 2>"$tmp/err")
holds "the default is quoit.db in the working directory" test $? -eq 0
mkdir "$tmp/empty"
(cd "$tmp/empty" && unset QUOIT_DB && "$top_builddir/cli/quoit" status >"$tmp/out" 2>"$tmp/err")
holds "a missing default database exits with 4" test $? -eq 4
holds "reading creates no database" test -z "$(ls "$tmp/empty")"

# --- numbers
refused 2 "--wait that is no number" "--wait 'soon'|0 to 86400000 milliseconds" status --wait soon
refused 3 "negative --wait" "--wait '-1'" status --wait -1
refused 3 "--wait longer than a day" "--wait '86400001'" status --wait 86400001
refused 2 "--wait 0x10" "--wait '0x10'" status --wait 0x10
refused 2 "--wait ' 5'" "--wait ' 5'" status --wait ' 5'
refused 2 "--wait 5ms" "--wait '5ms'" status --wait 5ms
ok 0 "--wait 0 is accepted" status --wait 0
refused 2 "--slice-id that is no number" "--slice-id 'one'" env g --slice-id one
refused 3 "negative --worker" "--worker '-1'" env g --worker -1
refused 3 "--worker beyond 32 bits" "--worker '4294967296'" env g --worker 4294967296

# --- clocks
release_train ()
{
  quoit release train --now "$now" >/dev/null 2>&1
}
want='--topology 4x4 --accelerator v6e --slices 1'
# shellcheck disable=SC2086
{
  refused 3 "--now in seconds" "1777627800" reserve train $want --now 1777627800
  refused 3 "--now in microseconds" "1777627800000000" reserve train $want --now 1777627800000000
  refused 3 "--now in 1970" "" reserve train $want --now 1970-01-01T00:00:00Z
  refused 3 "negative --now" "-1" reserve train $want --now -1
  refused 3 "--now as a word" "--now 'noon'|ISO 8601" reserve train $want --now noon
  refused 3 "--now without an offset" "--now '2026-05-01T09:30:00'|offset" reserve train $want --now 2026-05-01T09:30:00
  refused 3 "--now beyond 64 bits" "--now '9223372036854775808'" reserve train $want --now 9223372036854775808
  ok 0 "--now in milliseconds is accepted" reserve train $want --now 1777627800000 -o json
}
fact "--now in milliseconds gives the correct time" 'd["group"]["since"]' 2026-05-01T09:30:00.000Z
baseline
refused 3 "release with --now in seconds" "1777627800" release train --now 1777627800
release_train
# shellcheck disable=SC2086
ok 0 "--now with an offset is accepted" reserve train $want --now 2026-05-01T11:30:00+02:00 -o json
fact "the time with an offset is converted to UTC" 'd["group"]["since"]' 2026-05-01T09:30:00.000Z
release_train
# shellcheck disable=SC2086
ok 0 "a clock before the last entry is accepted" reserve train $want --now 2026-04-01T00:00:00Z -o json
fact "a clock before the last entry is raised to its time" 'd["group"]["since"]' 2026-05-01T09:30:00.000Z

# --- the end of options
baseline
refused 4 "argument after -- that looks like an option" "'--frob'" show -- --frob
ok 4 "an argument after -- can look like a negative number" show -- -1

# --- stdout that refuses writes
if [ -w /dev/full ]; then
  status=0
  quoit status >/dev/full 2>"$tmp/err" || status=$?
  holds "a full stdout exits with 8" test "$status" -eq 8
  err "a full stdout is reported" "quoit: status: standard output: "
else
  skip "no /dev/full"
fi

# --- no colours, whatever the terminal
ok 0 "status succeeds" status
holds "status prints no escape sequences" test "$(tr -d '\033' <"$tmp/out" | wc -c)" -eq "$(wc -c <"$tmp/out")"

finish
