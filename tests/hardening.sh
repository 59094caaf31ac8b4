#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening.sh [FILE...]: checks that files the loader maps are hardened. Default: the library and the command of this
# build, and a Go program that uses the module. Exits with 77 if that cannot be checked, or hardening is turned off.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

skip ()
{
  echo "hardening is not checked: $*"
  exit 77
}

refuse ()
{
  echo "$*"
  bad=1
}

# expect FILE WHAT PATTERN: fails unless a line of readelf's output matches.
expect ()
{
  grep -qE "$3" "$tmp/elf" || refuse "$1: expected $2"
}

# forbid FILE WHAT PATTERN: fails if a line of readelf's output matches.
forbid ()
{
  ! grep -E "$3" "$tmp/elf" || refuse "  ^ $1: expected no $2"
}

# check FILE: checks the linker's hardening.
check ()
{
  LC_ALL=C readelf -hldW --dyn-syms "$1" >"$tmp/elf"
  expect "$1" "position-independent code (ELF type DYN)" '^ *Type: +DYN '
  expect "$1" "a segment GNU_RELRO" '^ *GNU_RELRO '
  expect "$1" "the flag BIND_NOW" '\(BIND_NOW\)|\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW'
  expect "$1" "a segment GNU_STACK" '^ *GNU_STACK '
  forbid "$1" "executable stack" '^ *GNU_STACK .* R?WE '
  forbid "$1" "segment that is writable and executable" '^ *LOAD .* R?WE '
  forbid "$1" "text relocations" '\(TEXTREL\)'
}

# protected FILE: also checks the hardening of compiled C code.
protected ()
{
  check "$1"
  expect "$1" "a stack protector (__stack_chk_fail)" ' __stack_chk_fail'
}

command -v readelf >/dev/null || skip "no readelf (Debian: binutils)"
if [ $# -gt 0 ]; then
  for file; do
    protected "$file"
  done
  exit $bad
fi

# configure's choice: full, unfortified (_FORTIFY_SOURCE needs optimisation and can be turned off) or no.
[ "${HARDENING-full}" != no ] || skip "configured without it, or instrumented"
command=$top_builddir/cli/.libs/quoit
[ -e "$command" ] || command=$top_builddir/cli/quoit
for file in "$top_builddir/.libs/libquoit.so" "$command"; do
  [ -e "$file" ] || continue
  protected "$file"
  # Only the GNU C library has checked variants of its functions.
  ! grep -q 'NEEDED.*\[libc\.so\.6\]' "$tmp/elf" || [ "${HARDENING-full}" != full ] ||
    expect "$file" "checked variants of the C library's functions (_chk)" ' __[a-z]+_chk@'
done

# The Go module sets the flags of the C compiler and linker. Only the go command line can request a position-independent
# program.
status=0
sh "$top_srcdir/bindings/go/run.sh" build -buildmode=pie -o "$tmp/program" ./internal/calls >"$tmp/go" 2>&1 || status=$?
cat "$tmp/go"
case $status in
  0) check "$tmp/program" ;;
  77) ;;
  *) refuse "the program in Go could not be built" ;;
esac
exit $bad
