#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every verb has a manual page with the same names as --help, libquoit(3) has every public function, and roff finds no
# fault in any page.
. "$top_srcdir/tests/cli/lib.sh"

pages=$top_builddir/docs/man

# section PAGE TITLE: prints the lines of one section.
section ()
{
  sed -n "/^\\.Sh $2\$/,/^\\.Sh /{/^\\.Sh /d;p;}" "$1"
}

# options_of PAGE, options_in_help: one option per line, such as "--db=FILE".
options_of ()
{
  section "$1" OPTIONS | sed -n 's/^\.It \(Fl [a-z] , \)\{0,1\}Fl Fl /--/p' | sed 's/ Ns = Ns Ar /=/; s/ Ar /=/' | sort
}
options_in_help ()
{
  sed -n 's/^  \(-[a-z], \)\{0,1\}\(--[a-z][^ ]*\) .*/\2/p' "$tmp/out" | sort
}

# same_lines SENTENCE FILE FILE: both files have the same lines, and at least one.
same_lines ()
{
  holds "$1: the list is not empty" test -s "$2"
  holds "$1" diff "$2" "$3"
}

# --- quoit(1)
ok 0 "--help succeeds" --help
sed -n '/^Allocates/,/^Help Options:/ { s/^  \([a-z-]*\) .*/\1/p; s/^\([A-Z].*\):$/\1/p; }' "$tmp/out" \
  | sed '/^Help Options$/d' >"$tmp/listed-verbs"
section "$pages/quoit.1" VERBS | sed -n 's/^\.It Xr quoit-\([a-z-]*\) 1$/\1/p; s/^\.Ss //p' >"$tmp/listed"
same_lines "quoit(1) lists the verbs under their headings, in the order of --help" "$tmp/listed-verbs" "$tmp/listed"
grep -v '[A-Z]' "$tmp/listed-verbs" >"$tmp/verbs"
options_in_help >"$tmp/help"
options_of "$pages/quoit.1" >"$tmp/page"
same_lines "quoit(1) has the options of quoit --help" "$tmp/help" "$tmp/page"

# --- a page for every verb
for page in "$pages"/quoit-*.1; do
  verb=${page##*/quoit-}
  echo "${verb%.1}"
done | sort >"$tmp/pages"
sort "$tmp/verbs" >"$tmp/sorted"
same_lines "each verb has a page, and each page has a verb" "$tmp/sorted" "$tmp/pages"

while read -r verb; do
  page=$pages/quoit-$verb.1
  [ -e "$page" ] || continue
  ok 0 "$verb --help succeeds" "$verb" --help
  holds "quoit-$verb(1) has the summary of --help" \
    test "$(sed -n 's/^\.Nd //p' "$page")" = "$(sed -n 4p "$tmp/out")"
  usage=$(section "$page" SYNOPSIS | sed -n '/^\.Op Ar OPTION/,$p' | sed 's/\\f[BIR]//g; s/\\-/-/g; s/^\.Op Ar OPTION \.\.\./[OPTION...]/' | tr '\n' ' ')
  holds "quoit-$verb(1) has the usage of --help" \
    test "quoit $verb ${usage% }" = "$(sed -n '2s/^ *//p' "$tmp/out" | sed 's/\[OPTION[^]]*\]/[OPTION...]/; s/ *$//')"
  options_in_help >"$tmp/help"
  options_of "$page" >"$tmp/page"
  same_lines "quoit-$verb(1) and --help have the same options" "$tmp/help" "$tmp/page"
  section "$page" 'EXIT STATUS' | sed -n 's/^\.It //p' >"$tmp/statuses"
  for status in $(tr '\n' ' ' <"$tmp/out" | sed -n 's/.*exit status is//p' | grep -oE '\b[0-9]+\b'); do
    holds "quoit-$verb(1) has exit status $status of --help" grep -qx "$status" "$tmp/statuses"
  done
  for other in $(sed -n 's/^\.Xr quoit-\([a-z-]*\) 1.*/\1/p' "$page"); do
    holds "quoit-$verb(1) refers to the existing page quoit-$other(1)" grep -qx "$other" "$tmp/verbs"
  done
done <"$tmp/verbs"
ok 0 "reserve --help succeeds" reserve --help
holds "the test finds exit statuses in --help" \
  test "$(tr '\n' ' ' <"$tmp/out" | sed -n 's/.*exit status is//p' | grep -oE '\b[0-9]+\b' | wc -l)" -ge 2

run status -o csv
csv=$(sed -n 's/.*answer with rows: //p' "$tmp/err")
for page in "$pages"/quoit*.1; do
  holds "${page##*/} lists the verbs with CSV" grep -qF "the verbs that answer with rows: $csv." "$page"
done

# --- codes and functions
sed -n 's/^  QUOIT_ERROR_\([A-Z_]*\) = \([0-9]*\).*/\2 \1/p' "$top_srcdir/include/quoit/error.h" >"$tmp/codes"
codes_of ()
{
  sed -n '/^\.It [0-9]*$/{N;s/^\.It \([0-9]*\)\n\([A-Z_]*\): .*/\1 \2/p;}'
}
section "$pages/quoit.1" 'EXIT STATUS' | codes_of >"$tmp/statuses"
same_lines "quoit(1) has the codes of errors" "$tmp/codes" "$tmp/statuses"
section "$pages/libquoit.3" ERRORS | codes_of >"$tmp/statuses"
same_lines "libquoit(3) has the error codes" "$tmp/codes" "$tmp/statuses"
for page in "$pages"/quoit-*.1; do
  section "$page" 'EXIT STATUS' | codes_of | sort >"$tmp/statuses"
  sort "$tmp/codes" | comm -13 - "$tmp/statuses" >"$tmp/strange"
  holds "${page##*/} has only known error codes" test ! -s "$tmp/strange"
done

sed -n 's/^ *\(quoit_[a-z0-9_]*\);$/\1/p' "$top_srcdir/src/quoit.map" | sort >"$tmp/map"
sed -n 's/^\.It Fn //p' "$pages/libquoit.3" | sort >"$tmp/functions"
same_lines "libquoit(3) lists every public function once" "$tmp/map" "$tmp/functions"
awk 'name && /^\./ { print name } { name = /^\.It (Fn|Vt) / ? $3 : "" }' "$pages/libquoit.3" >"$tmp/bare"
holds "libquoit(3) describes every function" diff /dev/null "$tmp/bare"
section "$pages/libquoit.3" EXAMPLES | sed -n '/^\.Bd/,/^\.Ed/{/^\.[BE]d/d;s/\\e/\\/g;s/^\\&//;p;}' >"$tmp/example"
same_lines "the example of libquoit(3) is examples/reserve.c" "$top_srcdir/examples/reserve.c" "$tmp/example"

# --- roff
for page in "$pages"/*.[13]; do
  holds "${page##*/} has only complete directives" test -z "$(grep '^@' "$page")"
done
if command -v groff >/dev/null && echo .Dd | groff -mandoc -z 2>/dev/null; then
  for page in "$pages"/*.[13]; do
    groff -mandoc -ww -z "$page" >"$tmp/warnings" 2>&1 || echo failed >>"$tmp/warnings"
    holds "groff prints no warning for ${page##*/}" diff /dev/null "$tmp/warnings"
    holds "groff renders ${page##*/}" test "$(groff -mandoc -Tascii "$page" | wc -l)" -gt 30
  done
else
  skip "no groff"
fi
if command -v mandoc >/dev/null; then
  for page in "$pages"/*.[13]; do
    holds "mandoc prints no warning for ${page##*/}" mandoc -Tlint -Wwarning "$page"
  done
else
  skip "no mandoc"
fi

# --- wrong page sources are refused
page_of ()
{
  printf '%s\n' "$@" >"$tmp/quoit-x.mdoc"
  LC_ALL=C awk -v top="$top_srcdir" -v version=1 -v date=today -v verbs= -f "$top_srcdir/docs/man/headers.awk" \
    -f "$top_srcdir/docs/man/page.awk" "$tmp/quoit-x.mdoc" 2>&1
}
bad ()
{
  sentence=$1 text=$2
  shift 2
  if page_of "$@" >"$tmp/out"; then
    fail "$sentence" "$(cat "$tmp/out")"
  else
    out "$sentence" "$text"
  fi
}
good='@verb x'
bad "unknown error code in a page source" "quoit-x.mdoc:5: 'NOT_HERE': expected a code of include/quoit/error.h" \
  "$good" '@summary s' '@chapter Asking' '@exit' 'NOT_HERE it is not'
bad "unknown directive in a page source" "quoit-x.mdoc:2: '@brief s' is no line of a manual page" "$good" '@brief s'
bad "text before the first part of a page source" "quoit-x.mdoc:2: 'text': expected @description, @options" "$good" 'text'
bad "page source without a summary" "expected @summary, @chapter and @description" "$good" '@chapter Asking' '@description' 'text'
bad "missing include file of a page source" "nothing.part' has nothing to read" "$good" '@options' '@include nothing.part'

# --- installed
if (unset MAKEFLAGS MFLAGS MAKELEVEL; make -s -C "$top_builddir" install-man DESTDIR="$tmp/destination") >"$tmp/out" 2>&1; then
  find "$tmp/destination" -name '*.[13]' | sed 's|.*/||' | sort >"$tmp/installed"
  find "$pages" -name '*.[13]' | sed 's|.*/||' | sort >"$tmp/made"
  same_lines "every page is installed" "$tmp/made" "$tmp/installed"
else
  fail "pages can be installed" "$(tail -n 3 "$tmp/out")"
fi

finish
