#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Leaks, hostile input and the model-based machine of the package: apart from check.sh, so that both can run at once.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_bad_input.py" "$tests/test_leaks.py" "$tests/test_lifetimes.py" \
  "$tests/test_machine.py"
