# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of the command. Each test counts its checks and ends with `finish`.
#
#   ok STATUS 'sentence' WORD...            quoit WORD... exits with STATUS; its output is in $tmp/out and $tmp/err
#   refused STATUS 'input' 'TEXT|TEXT' WORD...
#                                           the same, and the first line of stderr is "quoit: VERB: ..." with every TEXT
#                                           in it, and the ledger of $QUOIT_DB is unchanged since the last `baseline`;
#                                           'input' names what is invalid
#   out|err 'sentence' TEXT                 the last run's stdout or stderr has TEXT
#   fact 'sentence' EXPRESSION VALUE        the last run's JSON document d, by Python: str (EXPRESSION) is VALUE; checked
#                                           by `finish`
#   holds 'sentence' COMMAND...             COMMAND succeeds
#   skip 'why'
#
# A failure prints only its sentence and the last command, so each sentence must be understandable alone.
set -u

tmp=$(mktemp -d)
unmount=
trap '[ -z "$unmount" ] || umount "$unmount"; rm -rf "$tmp"' EXIT
export QUOIT_DB="$tmp/quoit.db" LC_ALL=C
# Tests of the contents want whole lines; tests of the layout unset this.
export COLUMNS=1000
unset LANGUAGE NO_COLOR
passed=0 failed=0 skipped=0 n_facts=0
last_command=
now=2026-05-01T09:30:00Z
export two_slices=$top_srcdir/examples/raycluster-v6e-4x4-x2.yaml
python=$(command -v /usr/bin/python3 python3 | head -n 1)

# The program itself, if there is one: libtool's script before it takes three times as long as most calls.
program=$top_builddir/cli/.libs/quoit
if [ -x "$program" ]; then
  export LD_LIBRARY_PATH="$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
else
  program=$top_builddir/cli/quoit
fi

quoit ()
{
  "$program" "$@"
}

pass ()
{
  passed=$((passed + 1))
}

fail ()
{
  failed=$((failed + 1))
  printf 'FAIL: %s\n' "$1"
  shift
  for detail; do
    printf '      %s\n' "$detail"
  done
}

skip ()
{
  skipped=$((skipped + 1))
  printf 'SKIP: %s\n' "$1"
}

finish ()
{
  check_facts
  if [ "$skipped" -gt 0 ]; then
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  else
    printf '%d passed, %d failed\n' "$passed" "$failed"
  fi
  [ "$failed" -eq 0 ]
  exit
}

holds ()
{
  sentence=$1
  shift
  if "$@" >"$tmp/holds" 2>&1; then
    pass
  else
    fail "$sentence" "$*" "$(cat "$tmp/holds")"
  fi
}

run ()
{
  status=0 last_command="quoit $*"
  quoit "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
}

ok ()
{
  expected=$1 sentence=$2
  shift 2
  run "$@"
  if [ "$status" -eq "$expected" ]; then
    pass
  else
    fail "$sentence" "quoit $*" "exit status $status, expected $expected" "$(head -c 600 "$tmp/err")"
  fi
}

has ()
{
  if grep -qF -e "$3" "$tmp/$1"; then
    pass
  else
    fail "$2" "after: $last_command" "'$3' is not in:" "$(head -c 1500 "$tmp/$1")"
  fi
}

out ()
{
  has out "$@"
}

err ()
{
  has err "$@"
}

# The state of the ledger, which `refused` compares. An export applies the expiries up to its time, so it uses a fixed
# time to show only what is written.
baseline ()
{
  quoit export json --now "$now" >"$tmp/baseline"
}

unchanged ()
{
  quoit export json --now "$now" >"$tmp/after" 2>&1 && cmp -s "$tmp/baseline" "$tmp/after"
}

# missing 'TEXT|TEXT' FILE: prints the texts that are not in FILE.
missing ()
{
  old_ifs=$IFS
  IFS='|'
  for text in $1; do
    grep -qF -e "$text" "$2" || printf "'%s' " "$text"
  done
  IFS=$old_ifs
}

refused ()
{
  expected=$1 sentence="must be refused: $2" texts=$3
  shift 3
  run "$@"
  head -n 1 "$tmp/err" >"$tmp/message"
  absent=$(missing "$texts" "$tmp/message")
  if [ "$status" -ne "$expected" ]; then
    fail "$sentence" "quoit $*" "exit status $status, expected $expected" "$(head -c 600 "$tmp/err")"
  elif ! grep -q '^quoit: ' "$tmp/message"; then
    fail "$sentence" "quoit $*" "no message" "$(head -c 600 "$tmp/err")"
  elif [ -n "$absent" ]; then
    fail "$sentence" "quoit $*" "not in the message: $absent" "$(cat "$tmp/message")"
  elif LC_ALL=C grep -q '[^ -~]' "$tmp/message"; then
    fail "$sentence" "quoit $*" "bytes in the message that are not printable" "$(od -c "$tmp/message" | head -n 5)"
  elif [ -e "$tmp/baseline" ] && ! unchanged; then
    fail "$sentence" "quoit $*" "the ledger has changed" "$(diff "$tmp/baseline" "$tmp/after" | head -n 5)"
  else
    pass
  fi
}

# The stdout of the last run is one JSON document of quoit.
json ()
{
  if [ -n "$python" ]; then
    fact "$1" 'd["schema"]' "quoit/1"
  else
    has out "$1" '"schema" : "quoit/1"'
  fi
}

# Facts are checked at the end, by one process: to start Python takes longer than most calls.
fact ()
{
  if [ -z "$python" ]; then
    skip "$1: no python3"
    return
  fi
  n_facts=$((n_facts + 1))
  cp "$tmp/out" "$tmp/fact-$n_facts"
  printf '%s\0' "$1" "$tmp/fact-$n_facts" "$last_command" "$2" "$3" >>"$tmp/facts"
}

check_facts ()
{
  [ -e "$tmp/facts" ] || return 0
  "$python" "$top_srcdir/tests/cli/facts.py" "$tmp/facts" >"$tmp/checked"
  sed '$d' "$tmp/checked"
  # Nothing if Python has failed: then no fact holds.
  counts=$(tail -n 1 "$tmp/checked")
  case $counts in
    [0-9]*' '[0-9]*)
      passed=$((passed + ${counts% *})) failed=$((failed + ${counts#* }))
      [ $((${counts% *} + ${counts#* })) -eq "$n_facts" ] || fail "all facts are checked: $counts of $n_facts"
      ;;
    *) fail "the facts can be checked" ;;
  esac
}

# fresh [TEXT...]: makes a new ledger, with that fleet text.
fresh ()
{
  rm -f "$QUOIT_DB" "$QUOIT_DB"-wal "$QUOIT_DB"-shm "$QUOIT_DB"-head "$tmp/baseline"
  quoit init >/dev/null || fail "a ledger can be made"
  for text; do
    quoit import fleet "$text" --now "$now" >/dev/null || fail "fleet text can be imported: $text"
  done
  baseline
}

# write_snapshot FILE: writes the state of $QUOIT_DB as quoit_snapshot_dup_bytes() gives it. Fails if there is no Python,
# or the library has a sanitizer, which Python cannot load.
write_snapshot ()
{
  [ -n "$python" ] && [ -z "${SANITIZER_FLAGS-}" ] || return 1
  library=$(find "$top_builddir/.libs" -name 'libquoit.so' | head -n 1)
  [ -n "$library" ] || return 1
  holds "a snapshot is written" "$python" -c '
import ctypes, sys
quoit = ctypes.CDLL(sys.argv[1])
for name in "quoit_ledger_open", "quoit_ledger_snapshot", "quoit_snapshot_dup_bytes":
    getattr(quoit, name).restype = ctypes.c_void_p
ledger = quoit.quoit_ledger_open(sys.argv[2].encode(), ctypes.c_int64(1000), None)
snapshot = quoit.quoit_ledger_snapshot(ctypes.c_void_p(ledger))
n = ctypes.c_size_t()
data = quoit.quoit_snapshot_dup_bytes(ctypes.c_void_p(snapshot), ctypes.byref(n))
open(sys.argv[3], "wb").write(ctypes.string_at(data, n.value))' "$library" "$QUOIT_DB" "$1"
}
