// SPDX-License-Identifier: Apache-2.0

//go:build go1.23

package door

// The loader binds all symbols at the start, so that their table is read-only too. Older versions of Go refuse this
// flag in a source file; use CGO_LDFLAGS=-Wl,-z,now there.

/*
#cgo linux LDFLAGS: -Wl,-z,now
*/
import "C"
