// SPDX-License-Identifier: Apache-2.0

package door

// How programs are linked: the stack is not executable, and what the loader has relocated is read-only.

/*
#cgo linux LDFLAGS: -Wl,-z,relro -Wl,-z,noexecstack
*/
import "C"
