// SPDX-License-Identifier: Apache-2.0

//go:build go1.23

package door

// The loader binds all symbols at the start, so that their table is read-only too. Older versions of go refuse the flag
// in a source file; there, CGO_LDFLAGS=-Wl,-z,now does the same.

/*
#cgo linux LDFLAGS: -Wl,-z,now
*/
import "C"
