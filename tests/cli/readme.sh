#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What README.md and docs/ show in their console blocks is what the command says, but for the times.
. "$top_srcdir/tests/cli/lib.sh"

unset QUOIT_DB
PATH=$top_builddir/cli:$PATH
export PATH

# The blocks of a page, as one session: each command of theirs, and what it prints.
blocks ()
{
  awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1"
}
session ()
{
  blocks "$1" | sed -n 's/^\$ //p' | while IFS= read -r line; do
    printf "cat <<'COMMAND'\n$ %s\nCOMMAND\n(exit \$status)\n%s\nstatus=\$?\n" "$line" "$line"
  done
}
without_times ()
{
  sed 's/[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9:.]*Z/TIME/'
}

for page in README.md docs/bundles.md docs/checking.md docs/coordinates.md docs/elastic.md docs/holds.md \
  docs/identity.md docs/meshes.md docs/processes.md docs/verdicts.md; do
  mkdir "$tmp/session"
  ln -s "$top_srcdir/examples" "$tmp/session/examples"
  blocks "$top_srcdir/$page" | without_times >"$tmp/shown"
  session "$top_srcdir/$page" >"$tmp/script"
  (cd "$tmp/session" && sh "$tmp/script" 2>&1) | without_times >"$tmp/said"
  holds "$page shows commands" grep -q '^\$ quoit' "$tmp/shown"
  holds "$page shows what they say" diff -u "$tmp/shown" "$tmp/said"
  rm -r "$tmp/session"
done

finish
