#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program linked with a release runs with this library. The releases are described by tests/abi/quoit-X.Y.abi, each
# written once, when it was made: abidw --headers-dir include/quoit --out-file tests/abi/quoit-X.Y.abi \
#   build/.libs/libquoit.so
set -eu
[ -z "$SANITIZER_FLAGS" ] || { echo "a library with sanitizers is not the one that is released"; exit 77; }
command -v "$ABIDIFF" >/dev/null && [ "$ABIDIFF" != : ] || { echo "abidiff is not installed"; exit 77; }

n=0
for release in "$top_srcdir"/tests/abi/quoit-*.abi; do
  [ -e "$release" ] || continue
  echo "$release"
  "$ABIDIFF" --no-added-syms --headers-dir2 "$top_srcdir/include/quoit" "$release" "$top_builddir/.libs/libquoit.so"
  n=$((n + 1))
done
[ "$n" -gt 0 ] || { echo "nothing is released yet"; exit 77; }
