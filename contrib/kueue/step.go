// SPDX-License-Identifier: Apache-2.0

//go:build !steptest

package main

// testStep is not nil in the program that the tests build.
var testStep func(step string)
