#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The headers, the map and the built library have the same functions. The core and the models of other systems have
# separate symbol nodes.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
library=$top_builddir/.libs/libquoit.so

sed -n 's/^ *\(quoit_[a-z0-9_]*\);$/\1/p' "$top_srcdir/src/quoit.map" | sort >"$tmp/map"
grep -ho '^QUOIT_API .*' "$top_srcdir"/include/quoit/*.h "$top_srcdir"/include/quoit/models/*.h | sed 's/ (.*//; s/.*[ *]//' | sort >"$tmp/header"
$NM -D --defined-only "$library" | awk '$2 ~ /^[TDBRVW]$/ { sub (/@.*/, "", $3); print $3 }' | sort >"$tmp/library"

[ -s "$tmp/header" ]
diff -u "$tmp/header" "$tmp/map"
diff -u "$tmp/map" "$tmp/library"
if sort "$tmp/map" | uniq -d | grep .; then
  echo "  ^ twice in src/quoit.map"
  exit 1
fi
for name in $(cat "$tmp/header"); do
  grep -qE "^ \* $name:\$" "$top_srcdir"/include/quoit/*.h "$top_srcdir"/include/quoit/models/*.h || { echo "$name has no documentation"; exit 1; }
done

# declared FILE...: prints the functions that the headers declare.
declared ()
{
  grep -ho '^QUOIT_API .*' "$@" | sed 's/ (.*//; s/.*[ *]//' | sort
}

# in_nodes NAME: prints the symbols of the version nodes whose names start with NAME.
in_nodes ()
{
  sed -n "/^$1_[0-9.]* {\$/,/^}/ s/^ *\(quoit_[a-z0-9_]*\);\$/\1/p" "$top_srcdir/src/quoit.map" | sort
}

declared "$top_srcdir"/include/quoit/*.h >"$tmp/core"
declared "$top_srcdir"/include/quoit/models/*.h >"$tmp/models"
in_nodes QUOIT >"$tmp/core-nodes"
in_nodes QUOIT_MODELS >"$tmp/models-nodes"
diff -u "$tmp/core" "$tmp/core-nodes"
diff -u "$tmp/models" "$tmp/models-nodes"
