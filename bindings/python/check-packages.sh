#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that need pip or much time. They install the package with pip, check that the API reference is complete, check
# the types with mypy, and test the wheel.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_install.py" "$tests/test_reference.py" "$tests/test_types.py" \
  "$tests/test_wheel.py"
