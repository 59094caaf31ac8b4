#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the lifetimes of the package's objects, and compares random sequences of calls with a model. These tests are
# separate from check.sh, so that both can run at the same time.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_lifetimes.py" "$tests/test_machine.py"
