#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles, links and runs a program with the result of `make install`, found by pkg-config alone, as C and as C++.
# Uses an existing installation if installed_prefix (and libdir) are set: `make installcheck`.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ -z "${installed_prefix-}" ]; then
  libdir=$tmp/prefix/lib
  sh "$top_srcdir/tests/staged.sh" "$tmp/prefix"
fi

PKG_CONFIG_PATH=$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH
flags=$("${PKG_CONFIG:-pkg-config}" --cflags --libs quoit)
version=$("${PKG_CONFIG:-pkg-config}" --modversion quoit)
cd "$tmp"

cat >hello.c <<'HELLO'
#include <quoit/quoit.h>
#include <stdio.h>

int
main (void)
{
  printf ("%s %s\n", quoit_version (), quoit_error_code_name (QUOIT_ERROR_NOT_NOW));
  return 0;
}
HELLO

# compiled WITH WHAT SOURCE [ARGUMENT...]: compiles SOURCE to ./program and runs it.
compiled ()
{
  with=$1 what=$2 source=$3
  shift 3
  $with $SANITIZER_FLAGS -Wall -Werror -x "$what" "$source" -x none -o program $flags
  ./program "$@"
}

for language in c c++; do
  [ "$language" = c ] && compiler=$CC || compiler=$CXX
  output=$(compiled "$compiler" "$language" hello.c)
  echo "$language: $output"
  [ "$output" = "$version NOT_NOW" ]
done

output=$(compiled "$CC" c "$top_srcdir/examples/reserve.c" ledger.db "$top_srcdir/examples/raycluster-v6e-4x4-x2.yaml" job-17)
printf '%s\n' "$output"
for promised in "tpu-group-1-3: MEGASCALE_NUM_SLICES=2" "tpu-group-1-3: MEGASCALE_PORT=9915" \
  "tpu-group-1-3: TPU_WORKER_ID=3" "two slices more: not now" "release job-17@1" "released, and verified"; do
  printf '%s\n' "$output" | grep -qF -e "$promised"
done
