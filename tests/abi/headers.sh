#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, as strict C11 and as C++17, and the umbrella includes each of them.
set -eu
glib=$("${PKG_CONFIG:-pkg-config}" --cflags glib-2.0 | sed 's/-I/-isystem /g')
cd "$top_srcdir/include"

for header in quoit/*.h; do
  echo "$header"
  printf '#include <%s>\n#include <%s>\nint main (void) { return 0; }\n' "$header" "$header" |
    $CC -x c -std=c11 -Wall -Wextra -Werror -pedantic -Wstrict-prototypes -I. $glib -fsyntax-only -
  printf '#include <%s>\nint main () { return 0; }\n' "$header" |
    $CXX -x c++ -std=c++17 -Wall -Wextra -Werror -pedantic -I. $glib -fsyntax-only -
  [ "$header" = quoit/quoit.h ] || grep -qxF "#include <$header>" quoit/quoit.h || {
    echo "quoit/quoit.h does not include it"
    exit 1
  }
done
