#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All vector files through the C runner.
set -eu
exec "$top_builddir/tests/vectors/run" "$top_srcdir"/tests/vectors/*.ndjson
