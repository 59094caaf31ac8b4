#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-admission.sh [ARGUMENT...]: checks the decisions of the controller for Kueue like the Go binding, with the arguments
# of `go test`. They need no Kubernetes and no other Go modules. check.sh runs the controller.
export QUOIT_GO_MODULE="$top_srcdir/contrib/kueue" QUOIT_GO_MINOR=25 QUOIT_GO_PACKAGES=./admission
exec sh "$top_srcdir/bindings/go/check.sh" "$@"
