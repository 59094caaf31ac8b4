# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Functions for the tests of pages; include lib.sh first. The console blocks of a page are one session, whose output is checked.
#
#   blocks PAGE                 the lines of its console blocks
#   page_holds PAGE FOLDER      makes FOLDER, with examples/ and tests/ in it, and runs the session there; keeps its files
#   without TEXT PAGE           a copy of the page, without the blocks that have TEXT: in $tmp/pages

unset QUOIT_DB COLUMNS
PATH=$top_builddir/cli:$PATH
export PATH

blocks ()
{
  awk '/^```console$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$1"
}

# Each command of a page, with its output.
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

without ()
{
  mkdir -p "$tmp/pages"
  awk -v text="$1" '
    /^```console$/ { inside = 1; block = "" }
    inside { block = block $0 "\n"; if (index ($0, text)) has = 1 }
    !inside { print }
    /^```$/ && inside { if (!has) printf "%s", block; inside = has = 0 }' "$2" >"$tmp/pages/${2##*/}"
  printf '%s\n' "$tmp/pages/${2##*/}"
}

page_holds ()
{
  name=${1##*/}
  mkdir "$2"
  ln -s "$top_srcdir/examples" "$top_srcdir/tests" "$2"
  blocks "$1" | without_times >"$tmp/shown"
  session "$1" >"$tmp/script"
  (cd "$2" && sh "$tmp/script" 2>&1) | without_times >"$tmp/real"
  holds "$name shows commands" grep -q '^\$ quoit' "$tmp/shown"
  holds "$name shows the real output of its commands" diff -u "$tmp/shown" "$tmp/real"
}
