#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timed.sh COMMAND...: runs a test, and appends its duration to its log.
start=$(date +%s)
status=0
"$@" || status=$?
echo "took $(($(date +%s) - start)) s"
exit $status
