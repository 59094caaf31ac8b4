#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-ray.sh: runs the tests of quoit.ray on real Ray clusters of simulated TPU hosts on this machine.
set -eu
wheels=requirements-ray.txt exec sh "$top_srcdir/bindings/python/check.sh" "$top_srcdir/bindings/python/tests/ray"
