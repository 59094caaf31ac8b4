#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-ray.sh: runs the tests of quoit.ray on real Ray clusters of simulated TPU hosts on this machine, and the tests that
# need pandas, which those wheels have.
set -eu
wheels=requirements-ray.txt exec sh "$top_srcdir/bindings/python/check.sh" "$top_srcdir/bindings/python/tests/ray" \
  "$top_srcdir/bindings/python/tests/test_notebooks.py" "$top_srcdir/bindings/python/tests/test_sweeps.py"
