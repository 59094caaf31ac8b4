// SPDX-License-Identifier: Apache-2.0

package cconv

import (
	"runtime"
	"sync"
	"unsafe"
)

// NewClosedError returns the error of a call on a closed value. what is the value's name for messages. It is a
// variable, which package quoit sets, because this package cannot import quoit.
var NewClosedError func(what string) error

// Handle owns a C object. Close waits until no call uses the object, and frees it. If nobody calls Close, the garbage
// collector frees it.
type Handle struct {
	what string // the object's name for messages
	free func(unsafe.Pointer)

	mu      sync.RWMutex   // calls that use the object are readers, Close is the writer
	pointer unsafe.Pointer // nil after Close
}

// NewHandle returns a handle that owns the C object at pointer. free frees the object, and what is its name for
// messages.
func NewHandle(what string, pointer unsafe.Pointer, free func(unsafe.Pointer)) *Handle {
	h := &Handle{what: what, free: free, pointer: pointer}
	runtime.SetFinalizer(h, (*Handle).Close)
	return h
}

// Use returns the C object. The object is not freed until the caller has called Done, which it must do unless Use
// returns an error.
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

// Done states that the caller no longer uses the object that Use returned.
func (h *Handle) Done() {
	h.mu.RUnlock()
}

// Close frees the C object after each Use has ended with Done. A second Close does nothing.
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
