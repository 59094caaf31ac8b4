#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The headers, the map and the library that was built name the same functions.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
library=$top_builddir/.libs/libquoit.so

sed -n 's/^ *\(quoit_[a-z0-9_]*\);$/\1/p' "$top_srcdir/src/quoit.map" | sort >"$tmp/map"
grep -ho '^QUOIT_API .*' "$top_srcdir"/include/quoit/*.h | sed 's/ (.*//; s/.*[ *]//' | sort >"$tmp/header"
$NM -D --defined-only "$library" | awk '$2 ~ /^[TDBRVW]$/ { sub (/@.*/, "", $3); print $3 }' | sort >"$tmp/library"

[ -s "$tmp/header" ]
diff -u "$tmp/header" "$tmp/map"
diff -u "$tmp/map" "$tmp/library"
if sort "$tmp/map" | uniq -d | grep .; then
  echo "  ^ twice in src/quoit.map"
  exit 1
fi
for name in $(cat "$tmp/header"); do
  grep -qE "^ \* $name:\$" "$top_srcdir"/include/quoit/*.h || { echo "$name has no documentation"; exit 1; }
done
