// SPDX-License-Identifier: Apache-2.0

package door

import (
	"runtime"
	"sync"
	"unsafe"
)

// NewClosedError creates the error of a call on a closed value. Package quoit sets this variable.
var NewClosedError func(what string) error

// Handle owns a C object. Close waits for the calls that use it and frees it; the garbage collector does so if you do
// not.
type Handle struct {
	what string
	free func(unsafe.Pointer)

	mu      sync.RWMutex
	pointer unsafe.Pointer
}

// NewHandle takes ownership of pointer, which free frees. what is its name for messages.
func NewHandle(what string, pointer unsafe.Pointer, free func(unsafe.Pointer)) *Handle {
	h := &Handle{what: what, free: free, pointer: pointer}
	runtime.SetFinalizer(h, (*Handle).Close)
	return h
}

// Use returns the C object and keeps it from being freed. If it returns no error, the caller must call Done.
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

// Close frees the C object after all uses have ended. A second Close does nothing.
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
