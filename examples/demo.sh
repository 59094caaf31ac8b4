#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What quoit does, in a minute. `./dev demo` runs it with the command that was just built first in PATH.
set -eu

quoit --version
