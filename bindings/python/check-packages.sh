#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that need pip or much time: building, installing and packing the package with pip, the pages of its reference,
# and its types.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_install.py" "$tests/test_reference.py" "$tests/test_types.py" \
  "$tests/test_wheel.py"
