#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the package leaks no memory and refuses invalid arguments. These tests are separate from check.sh, so that
# both can run at the same time.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_bad_input.py" "$tests/test_leaks.py"
