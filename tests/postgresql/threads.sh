#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# threads.sh: the programs with several threads or processes, with their ledgers on a server. `./dev tsan` runs it with
# ThreadSanitizer; check.sh runs the same programs without it.
set -eu
. "${top_srcdir:?}/tests/postgresql/lib.sh"
passed=0
failed=0
run_programs fault/threads fault/race fault/histories
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
