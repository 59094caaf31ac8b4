// SPDX-License-Identifier: Apache-2.0

package door

// Linker flags of all programs: no executable stack, and relocated data is read-only.

/*
#cgo linux LDFLAGS: -Wl,-z,relro -Wl,-z,noexecstack
*/
import "C"
