#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Leaks and bad input of the package. Apart from check.sh, so that both can run at once.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_bad_input.py" "$tests/test_leaks.py"
