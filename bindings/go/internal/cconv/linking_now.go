// SPDX-License-Identifier: Apache-2.0

//go:build go1.23

package cconv

// With this flag the loader binds all symbols at the start, so that the symbol table can be read-only too. Go before
// 1.23 refuses the flag in a source file; set CGO_LDFLAGS=-Wl,-z,now there.

/*
#cgo linux LDFLAGS: -Wl,-z,now
*/
import "C"
