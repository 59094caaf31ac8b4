#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as strict C11 and as C++17. quoit.h includes the core and nothing else, models.h the rest.
set -eu
glib=$("${PKG_CONFIG:-pkg-config}" --cflags glib-2.0 | sed 's/-I/-isystem /g')
cd "$top_srcdir/include"

for header in quoit/*.h quoit/models/*.h; do
  echo "$header"
  printf '#include <%s>\n#include <%s>\nint main (void) { return 0; }\n' "$header" "$header" |
    $CC -x c -std=c11 -Wall -Wextra -Werror -pedantic -Wstrict-prototypes -I. $glib -fsyntax-only -
  printf '#include <%s>\nint main () { return 0; }\n' "$header" |
    $CXX -x c++ -std=c++17 -Wall -Wextra -Werror -pedantic -I. $glib -fsyntax-only -
  case $header in
    quoit/quoit.h | quoit/models.h) continue ;;
    quoit/models/*) umbrella=quoit/models.h ;;
    *) umbrella=quoit/quoit.h ;;
  esac
  grep -qxF "#include <$header>" "$umbrella" || {
    echo "$umbrella does not include it"
    exit 1
  }
done

if printf '#include <quoit/quoit.h>\n' | $CC -x c -I. $glib -M - | grep -o 'quoit/models[^ ]*'; then
  echo "  ^ quoit/quoit.h includes a model of another system"
  exit 1
fi
