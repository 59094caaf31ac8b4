// SPDX-License-Identifier: Apache-2.0

// Package quoit allocates TPU slices to jobs exactly, durably and fast. It is the Go binding of libquoit and uses the
// names and terms of the C headers. pkg-config must find the library at build time (PKG_CONFIG_PATH), and the loader
// must find it at run time (LD_LIBRARY_PATH).
//
// Open a Ledger with Create, Open or OpenMemory, import nodes with Import, and allocate slices with a Request. Results
// are values in Go's memory, except types with a Close method: these keep C memory, which the garbage collector frees
// if you do not call Close. Calls on a closed value fail with Invalid and ErrClosed. Any number of goroutines can use
// the same value. C keeps no pointers to Go memory.
//
// Every error is an *Error with a Code, which errors.Is matches. On failure nothing has changed, except with
// Unconfirmed. Every call that needs the time has it as an argument. Times are stored in milliseconds; a lease or a
// wait that is not a whole number of milliseconds is rounded away from 0.
//
// Package quoit/ray has the rules of Ray, package quoit/maxtext has those of MaxText, package quoit/kuberay has those
// of KubeRay's operator, and package quoit/webhook has those of the TPU webhook.
package quoit
