#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh SCRIPT ARGUMENT...: runs a script of this folder in the environment with Ray's wheel (tests/wheels.sh). Prints
# the reason and exits with 77 if the environment cannot be made.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv=$(sh "$here/../wheels.sh" "$here/../requirements-ray.txt")

script=$1
shift
# Hides gRPC's messages about ended servers.
PYTHONDONTWRITEBYTECODE=1 GRPC_VERBOSITY=NONE RAY_USAGE_STATS_ENABLED=0 exec "$venv/bin/python" "$here/$script" "$@"
