#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The package as pip builds, installs and packs it, the pages of its reference, and its types: what needs pip and time.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_install.py" "$tests/test_reference.py" "$tests/test_types.py" \
  "$tests/test_wheel.py"
