#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutations.sh: takes the parts that make ledgers on a server correct out of a copy of the library, one at a time. The tests
# must fail then, and must pass with the unchanged copy.
set -eu
. "${top_srcdir:?}/tests/postgresql/lib.sh"
[ -z "${SANITIZER_FLAGS-}" ] || skip "a sanitized library cannot be loaded into other programs"
top_srcdir=$(CDPATH='' cd -- "$top_srcdir" && pwd)
top_builddir=$(CDPATH='' cd -- "$top_builddir" && pwd)
case $top_builddir in
  "$top_srcdir"/*) build=${top_builddir#"$top_srcdir"/} ;;
  *) skip "the build tree is not in the source tree" ;;
esac
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
passed=0
failed=0

# Programs and other build trees are not needed, and large.
tar -C "$top_srcdir" -c --exclude=./.git --exclude=./build-venv --exclude=./build-asan --exclude=./build-tsan \
  --exclude=./build-fuzz --exclude="./$build/tests" --exclude="./$build/bindings" . | tar -C "$copy" -x

rebuild ()
{
  make -C "$copy/$build" libquoit.la >"$copy/make.log" 2>&1 || {
    tail -n 5 "$copy/make.log"
    echo "the copy of the library cannot be built"
    exit 1
  }
}

run_faults ()
{
  LD_PRELOAD=$library python -m pytest -q -p no:cacheprovider --tb=line "$tests" -k "$1"
}

check ()
{
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tail -n 15 "$copy/log"
    echo "FAIL: $1: exit status $2, expected $3"
  fi
}

# mutation NAME FILE FROM TO TEST...: replaces FROM, which must be there once, and runs TEST without and with that.
mutation ()
{
  name=$1 file=$2 from=$3 to=$4
  shift 4
  status=0
  "$@" >"$copy/log" 2>&1 || status=$?
  check "$name: unchanged" $status 0
  cp -p "$copy/$file" "$copy/unchanged"
  FROM=$from TO=$to awk '
    { at = index ($0, ENVIRON["FROM"]); if (at) { n++; $0 = substr ($0, 1, at - 1) ENVIRON["TO"] substr ($0, at + length (ENVIRON["FROM"])) } print }
    END { exit n != 1 }' "$copy/unchanged" >"$copy/$file" || {
    echo "FAIL: $name: '$from' is not once in $file"
    failed=$((failed + 1))
    cp -p "$copy/unchanged" "$copy/$file"
    return
  }
  rebuild
  status=0
  "$@" >"$copy/log" 2>&1 || status=$?
  check "$name: taken out" $status 1
  cp "$copy/unchanged" "$copy/$file"
  rebuild
}

rebuild
library=$copy/$build/.libs/libquoit.so.0
mutation "refusals are confirmed" src/store/change.c \
  'if (store->engine->confirm != NULL && !store->must_roll_back)' 'if (FALSE)' run_faults a_refusal_is_decided
mutation "answers that write nothing are confirmed" src/store/postgresql/engine.c \
  'return pg_confirm (store, error);' 'return QUOIT_COMMIT_DONE;' run_faults a_retry_is_answered
mutation "an entry follows the head of its chain" src/store/postgresql/sql.c \
  'seq = $2 AND chain = $3 AND' 'seq = $2 AND $3::bytea IS NOT NULL AND' run_faults went_back
mutation "an entry is of the present term" src/store/postgresql/sql.c \
  '($4::bigint = 0 OR term = $4)"' '$4::bigint IS NOT NULL"' run_faults 'overtaken_writes or fenced_in_the_middle'
mutation "an entry whose answer was lost is found" src/store/postgresql/engine.c \
  '    sent = APPENDED;' '    sent = NOT_APPENDED;' run_faults 'is_killed and reserve and answer'
mutation "an entry that is found waits for the standby" src/store/postgresql/engine.c \
  'return confirm_rows (store, error);' 'return (void) confirm_rows, APPENDED;' run_faults the_standby_lacks
mutation "a long answer is not a lost one" src/store/postgresql/connection.c \
  'wait->end_us = MAX (wait->end_us, g_get_monotonic_time () + ANSWER_MS * 1000);' '(void) 0;' run_faults a_slow_answer
mutation "a result has few bytes" src/store/postgresql/sql.h \
  'QUOIT_PG_BYTES_AT_ONCE 8388608' 'QUOIT_PG_BYTES_AT_ONCE 2000000000' run_faults in_parts
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
