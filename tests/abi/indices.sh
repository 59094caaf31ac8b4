#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/unit/test-out-of-range.c tests each function of the core that takes an index: a parameter that its documentation
# describes as "below quoit_..._n_...()".
set -eu
suite=$top_srcdir/tests/unit/test-out-of-range.c

indexed=$(awk '/^ \* quoit_[a-z0-9_]*:$/ { name = $2; sub (/:$/, "", name) } /^ \* @[a-z_]*: .*below quoit_/ { print name }' \
  "$top_srcdir"/include/quoit/*.h | sort -u)
[ -n "$indexed" ]
status=0
for name in $indexed; do
  grep -q "[( ]$name (" "$suite" || { echo "$name is not tested in $suite"; status=1; }
done
exit $status
