#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares quoit's answers to 1,000 random cases with those of Ray's own server, and checks that a defect would be
# detected.
set -eu
tests=$top_srcdir/tests/differential
cases=1000
passed=0
failed=0
skipped=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# holds SENTENCE COMMAND...: passes if the command succeeds.
holds ()
{
  sentence=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL $sentence"
  fi
}

status=0
nice sh "$tests/run.sh" differential.py --cases $cases --seed 1 --runner "$top_builddir/tests/vectors/run" \
  --output "$tmp" >"$tmp/out" 2>"$tmp/err" || status=$?
cat "$tmp/err" "$tmp/out"
if [ $status -eq 77 ]; then
  echo "0 passed, 0 failed, $cases skipped"
  exit 77
fi

# Rows that this build's runner skips prove nothing.
skipped=$(awk '/ rows skipped by the runner: / { n += $1 } END { print n + 0 }' "$tmp/out")
[ "$skipped" -le $cases ] || skipped=$cases
failed=$(sed -n "s/^$cases cases, \([0-9]*\) disagreements\$/\1/p" "$tmp/out")
if [ -z "$failed" ]; then
  echo "FAIL the cases were not counted"
  echo "0 passed, 1 failed"
  exit 1
fi
passed=$((cases - failed - skipped))

is_detected ()
{
  ! nice sh "$tests/run.sh" planted.py "$1" "$tmp/rows-1.ndjson" >"$tmp/planted"
}

nice sh "$tests/run.sh" planted.py >"$tmp/defects"
while read -r defect; do
  holds "the planted defect is detected: $defect" is_detected "$defect"
done <"$tmp/defects"

# The differential test finds a planted defect of the runner and shrinks the case to at most three nodes.
cat >"$tmp/runner" <<RUNNER
#!/bin/sh
exec sh '$tests/run.sh' planted.py 'PACK does not fill a node' "\$@"
RUNNER
chmod +x "$tmp/runner"

is_shown_small ()
{
  shrunk=0
  nice sh "$tests/run.sh" differential.py --cases 30 --seed 1 --shrink 1 --against c --runner "$tmp/runner" --output "$tmp/shrunk" \
    >"$tmp/out" 2>"$tmp/err" || shrunk=$?
  if [ $shrunk -ne 1 ] || ! awk '{ n = gsub (/"total"/, ""); if (n > most) most = n } END { exit NR == 0 || most > 3 }' \
    "$tmp/shrunk/disagreements-1.ndjson"; then
    cat "$tmp/err" "$tmp/out"
    return 1
  fi
}
holds "a disagreement is shown with a few nodes" is_shown_small

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
