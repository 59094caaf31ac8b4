#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What README.md and docs/ show in their console blocks is what the command says, but for the times; and docs/quoit.1 knows
# every verb and option that --help does.
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

for page in README.md docs/verdicts.md; do
  mkdir "$tmp/session"
  ln -s "$top_srcdir/examples" "$tmp/session/examples"
  blocks "$top_srcdir/$page" | without_times >"$tmp/shown"
  session "$top_srcdir/$page" >"$tmp/script"
  (cd "$tmp/session" && sh "$tmp/script" 2>&1) | without_times >"$tmp/said"
  holds "$page shows commands" grep -q '^\$ quoit' "$tmp/shown"
  holds "$page shows what they say" diff -u "$tmp/shown" "$tmp/said"
  rm -r "$tmp/session"
done

quoit --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z-]*\) .*/\1/p' >"$tmp/verbs"
holds "--help lists verbs" test -s "$tmp/verbs"
while read -r verb; do
  holds "quoit(1) has $verb" grep -qE "^\.It Cm ([a-z-]+ , )*$verb( |\$)|, Cm $verb " "$top_srcdir/docs/quoit.1"
  for option in $(quoit "$verb" --help | grep -oE -e '--[a-z-]+' | sort -u); do
    holds "quoit(1) has $verb $option" grep -qE "Fl Fl ${option#--}( |\$)|Fl Fl ${option#--}\$|Fl o , Fl Fl ${option#--}" "$top_srcdir/docs/quoit.1"
  done
done <"$tmp/verbs"

finish
