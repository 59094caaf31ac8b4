# SPDX-License-Identifier: Apache-2.0
# Counts what `go test -v` printed: each test, and each row of the test vectors, whose runner prints the number of rows.
# status: that of `go test`; skipped: what was skipped before.
/^ *--- PASS: / { passed++ }
/^ *--- FAIL: / { failed++ }
/^ *--- SKIP: / { skipped++ }
/^[0-9]+ rows passed, [0-9]+ failed, [0-9]+ skipped$/ { passed += $1; skipped += $6 }
END {
  if (status != 0 && failed == 0) failed = 1
  printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
