#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of sweeps. They start many processes and wait for them, so they are separate from check.sh.
set -eu
tests=$top_srcdir/bindings/python/tests
exec sh "$top_srcdir/bindings/python/check.sh" "$tests/test_sweep_code.py" "$tests/test_sweep_example.py" \
  "$tests/test_sweep_folders.py" "$tests/test_sweep_processes.py" "$tests/test_sweeps.py"
