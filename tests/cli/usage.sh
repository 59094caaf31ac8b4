#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command line: help, options before and after the verb, numbers, clocks, and the streams for output and errors.
. "$top_srcdir/tests/cli/lib.sh"

verbs='init import export verify backup journal status nodes slices groups show slots who-holds reserve release set-state
  drain undrain fits explain env catalogue check'

ok 0 "--help works" --help
for verb in $verbs; do
  has out "--help lists $verb" "  $verb "
done
for verb in $verbs; do
  ok 0 "$verb --help works" "$verb" --help
  has out "$verb --help has the usage" "quoit $verb"
done
ok 0 "--version" --version
out "says the version" "quoit "

refused 2 "a verb is wanted" "expected a verb" --db "$QUOIT_DB"
refused 2 "of the ones there are" "'frobnicate' is not a verb" frobnicate
refused 2 "an unknown option before the verb" "--frob" --frob status
refused 2 "an unknown option behind it" "--frob" status --frob
refused 2 "an option without its value" "--db" status --db
refused 2 "an unknown form of output" "--output 'xml'|expected table or json" status -o xml
refused 2 "also of the one verb that has three" "--output 'xml'|expected table or env or json" env g -o xml
holds "a message goes to stderr alone" test ! -s "$tmp/out"

# --- the place of the database
fresh 'v6e 4x4 x2'
ok 0 "--db before the verb" --db "$QUOIT_DB" status
ok 0 "--db behind it" status --db "$QUOIT_DB"
ok 0 "--db=FILE" status "--db=$QUOIT_DB"
ok 0 "QUOIT_DB" status
refused 4 "--db wins over QUOIT_DB" "/no/such/quoit.db" --db /no/such/quoit.db status
(cd "$tmp" && unset QUOIT_DB && "$top_builddir/cli/quoit" status >"$tmp/out" 2>"$tmp/err")
holds "else quoit.db of the working directory" test $? -eq 0
mkdir "$tmp/empty"
(cd "$tmp/empty" && unset QUOIT_DB && "$top_builddir/cli/quoit" status >"$tmp/out" 2>"$tmp/err")
holds "which must be there" test $? -eq 4
holds "and is not made by looking" test -z "$(ls "$tmp/empty")"

# --- numbers
refused 2 "--wait is a number" "--wait 'soon'|0 to 86400000 milliseconds" status --wait soon
refused 3 "not below 0" "--wait '-1'" status --wait -1
refused 3 "not for days" "--wait '86400001'" status --wait 86400001
refused 2 "0x10 is no number" "--wait '0x10'" status --wait 0x10
refused 2 "' 5' is no number" "--wait ' 5'" status --wait ' 5'
refused 2 "5ms is no number" "--wait '5ms'" status --wait 5ms
ok 0 "0 is one" status --wait 0
refused 2 "--slice-id is a number" "--slice-id 'one'" env g --slice-id one
refused 3 "--worker is not below 0" "--worker '-1'" env g --worker -1
refused 3 "nor beyond 32 bits" "--worker '4294967296'" env g --worker 4294967296

# --- clocks
release_train ()
{
  quoit release train --now "$now" >/dev/null 2>&1
}
want='--topology 4x4 --accelerator v6e --slices 1'
# shellcheck disable=SC2086
{
  refused 3 "a clock in seconds is refused" "1777627800" reserve train $want --now 1777627800
  refused 3 "a clock in microseconds is refused" "1777627800000000" reserve train $want --now 1777627800000000
  refused 3 "a clock of 1970 is refused" "" reserve train $want --now 1970-01-01T00:00:00Z
  refused 3 "a clock below 0 is refused" "-1" reserve train $want --now -1
  refused 3 "a clock in words is refused" "--now 'noon'|ISO 8601" reserve train $want --now noon
  refused 3 "a time without an offset is refused" "--now '2026-05-01T09:30:00'|offset" reserve train $want --now 2026-05-01T09:30:00
  refused 3 "a clock beyond 64 bits is refused" "--now '9223372036854775808'" reserve train $want --now 9223372036854775808
  ok 0 "milliseconds are a clock" reserve train $want --now 1777627800000 -o json
}
fact "of this time" 'd["group"]["since"]' 2026-05-01T09:30:00.000Z
baseline
refused 3 "a clock in seconds releases nothing" "1777627800" release train --now 1777627800
release_train
# shellcheck disable=SC2086
ok 0 "an offset is understood" reserve train $want --now 2026-05-01T11:30:00+02:00 -o json
fact "in UTC" 'd["group"]["since"]' 2026-05-01T09:30:00.000Z
release_train
# shellcheck disable=SC2086
ok 0 "an earlier clock is raised" reserve train $want --now 2026-04-01T00:00:00Z -o json
fact "to the last entry's" 'd["group"]["since"]' 2026-05-01T09:30:00.000Z

# --- the end of options
baseline
refused 4 "-- ends the options" "'--frob'" show -- --frob
ok 4 "an argument may look like a number" show -- -1

# --- stdout that refuses writes
if [ -w /dev/full ]; then
  status=0
  quoit status >/dev/full 2>"$tmp/err" || status=$?
  holds "a full stdout is exit status 8" test "$status" -eq 8
  err "and is said" "quoit: status: standard output: "
else
  skip "no /dev/full"
fi

# --- no colours, whatever the terminal
ok 0 "status" status
holds "has no escape sequences" test "$(tr -d '\033' <"$tmp/out" | wc -c)" -eq "$(wc -c <"$tmp/out")"

finish
