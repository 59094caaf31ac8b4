#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that need pip or much time. They install the package with pip, check that the API reference is complete, check
# the types with mypy, test the wheel, and compare 100,000 steps with the model of the calendar.
set -eu
export QUOIT_TEST_SCALE="${QUOIT_TEST_SCALE-40}"
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_install.py" "$tests/test_reference.py" "$tests/test_types.py" \
  "$tests/test_wheel.py" "$tests/test_calendar_model.py"
