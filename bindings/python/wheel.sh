#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh FOLDER: writes the source archive and the self-contained wheel of this build to FOLDER (make_wheel.py). Exits
# with 77 and prints the reason if its tools cannot be installed.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv=$(sh "$here/../../tests/wheels.sh" "$here/wheel-requirements.txt")
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
sh "$here/../../tests/staged.sh" "$prefix"
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "$here/make_wheel.py" "$prefix" "$1"
