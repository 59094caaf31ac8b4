#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bindings read the public headers: with an empty QUOIT_API, the text between the marks is plain C. The compiler parses
# it with only GLib's types that the API uses, and so does cffi if it is installed.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$top_srcdir/include"

cat >"$tmp/types.h" <<'TYPES'
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned long uint64_t, size_t;
typedef uint32_t GQuark;
typedef _Bool bool;
typedef struct { GQuark domain; int code; char *message; } GError;
TYPES

# In the order in which quoit.h and models.h include them.
for header in $(sed -n 's/^#include <\(quoit\/.*\)>$/\1/p' quoit/quoit.h) quoit/quoit.h \
  $(sed -n 's/^#include <\(quoit\/.*\)>$/\1/p' quoit/models.h); do
  [ "$(grep -c 'cdef-begin' "$header") $(grep -c 'cdef-end' "$header")" = "1 1" ] || {
    echo "$header: expected one cdef-begin and one cdef-end"
    exit 1
  }
  sed -n '/cdef-begin/,/cdef-end/p' "$header"
done | $CC -E -P -x c -DQUOIT_API= - >"$tmp/cdef.h"

if grep -nE '__|(^|[^A-Z])G_[A-Z]|QUOIT_API|^#' "$tmp/cdef.h"; then
  echo "  ^ a macro or an attribute between the marks: a binding cannot read it"
  exit 1
fi
cat "$tmp/types.h" "$tmp/cdef.h" | $CC -x c -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only -

if /usr/bin/python3 -c 'import cffi' 2>/dev/null; then
  sed '/int[0-9]*_t;$/d; /size_t;$/d; / bool;$/d' "$tmp/types.h" | cat - "$tmp/cdef.h" |
    /usr/bin/python3 -c 'import cffi, sys; cffi.FFI ().cdef (sys.stdin.read ())'
  echo "read by the compiler and by cffi"
else
  echo "read by the compiler; cffi is not installed"
fi
