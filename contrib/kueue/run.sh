#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh ARGUMENT...: runs go in this module. See the script of the Go binding.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
QUOIT_GO_MODULE=$here QUOIT_GO_MINOR=25 exec sh "$here/../../bindings/go/run.sh" "$@"
