#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# staged.sh PREFIX: installs this build below PREFIX like `make install`, and adapts its pkg-config file to that place.
set -eu
prefix=$1
unset DESTDIR MAKEFLAGS MFLAGS MAKELEVEL
mkdir -p "$prefix"
make -s -C "${top_builddir:?expected the path of the build tree}" install prefix="$prefix" exec_prefix="$prefix" \
  libdir="$prefix/lib" bindir="$prefix/bin" includedir="$prefix/include" datarootdir="$prefix/share" \
  pkgconfigdir="$prefix/lib/pkgconfig" >"$prefix/install.log" 2>&1 || {
  cat "$prefix/install.log" >&2
  exit 1
}
# configure wrote the original prefix; replace it with the staged one.
sed -i -e "s|^prefix=.*|prefix=$prefix|" -e 's|^exec_prefix=.*|exec_prefix=${prefix}|' \
  -e 's|^libdir=.*|libdir=${prefix}/lib|' -e 's|^includedir=.*|includedir=${prefix}/include|' \
  "$prefix/lib/pkgconfig/quoit.pc"
