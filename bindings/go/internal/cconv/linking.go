// SPDX-License-Identifier: Apache-2.0

package cconv

// These linker flags apply to every program that uses the module: its stack is not executable, and its relocated data
// is read-only.

/*
#cgo linux LDFLAGS: -Wl,-z,relro -Wl,-z,noexecstack
*/
import "C"
