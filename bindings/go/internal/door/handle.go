// SPDX-License-Identifier: Apache-2.0

package door

import (
	"runtime"
	"sync"
	"unsafe"
)

// NewClosedError makes the error of a call on something closed. Package quoit sets it, as NewError.
var NewClosedError func(what string) error

// Handle owns something of C. Calls that use it end before it is freed, by Close or, where that is forgotten, by the
// garbage collector.
type Handle struct {
	what string
	free func(unsafe.Pointer)

	mu      sync.RWMutex
	pointer unsafe.Pointer
}

// NewHandle owns what pointer is, called what in errors, until free frees it.
func NewHandle(what string, pointer unsafe.Pointer, free func(unsafe.Pointer)) *Handle {
	h := &Handle{what: what, free: free, pointer: pointer}
	runtime.SetFinalizer(h, (*Handle).Close)
	return h
}

// Use is what the handle owns; without an error, Done must follow.
func (h *Handle) Use() (unsafe.Pointer, error) {
	if h == nil {
		return nil, NewClosedError("zero value")
	}
	h.mu.RLock()
	if h.pointer == nil {
		h.mu.RUnlock()
		return nil, NewClosedError(h.what)
	}
	return h.pointer, nil
}

// Done ends a use.
func (h *Handle) Done() {
	h.mu.RUnlock()
}

// Close frees what the handle owns when those who use it have ended. To close twice does nothing.
func (h *Handle) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pointer != nil {
		h.free(h.pointer)
		h.pointer = nil
		runtime.SetFinalizer(h, nil)
	}
}
