// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"

	"quoit/internal/cconv"
)

// Fork is a private, mutable copy of a snapshot for what-if questions and plans. It shares memory with the
// snapshot for everything that does not differ. Nothing of it is written unless Ledger.CommitFork commits it. Goroutines that use one fork wait for each other.
// Close frees it; the garbage collector does so if you do not.
//
// The methods that change a fork work like those of Ledger. They fail like those of Ledger, but never because of a
// database, and they fail with Invalid after Close.
type Fork struct {
	h  *cconv.Handle
	mu sync.Mutex // a C fork is not safe for concurrent use
}

func newFork(c *C.QuoitFork) *Fork {
	free := func(p unsafe.Pointer) { C.quoit_fork_free((*C.QuoitFork)(p)) }
	return &Fork{h: cconv.NewHandle("fork", unsafe.Pointer(c), free)}
}

// Close frees the fork. A second Close does nothing.
func (f *Fork) Close() {
	if f != nil {
		f.h.Close()
	}
}

func (f *Fork) with(run func(*C.QuoitFork) *C.GError) error {
	if f == nil {
		return closedError("nil fork")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pointer, err := f.h.Use()
	if err != nil {
		return err
	}
	defer f.h.Done()
	return errorFromC(run((*C.QuoitFork)(pointer)))
}

// withName runs a C call that has a name as argument. what is the argument's name for messages.
func (f *Fork) withName(what, name string, run func(*C.QuoitFork, *C.char, **C.GError)) error {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text(what, name))
	if err := arguments.Err(); err != nil {
		return err
	}
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		run(c, text, &gerror)
		return gerror
	})
}

// Mark remembers the present state of the fork, so that RollBack can return to it.
//
// It fails with Invalid after Close.
func (f *Fork) Mark() (mark uint32, err error) {
	err = f.with(func(c *C.QuoitFork) *C.GError {
		mark = uint32(C.quoit_fork_mark(c))
		return nil
	})
	return mark, err
}

// RollBack undoes all changes since the mark, and forgets later marks.
//
// It fails with Invalid if the fork has no such mark.
func (f *Fork) RollBack(mark uint32) error {
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		C.quoit_fork_roll_back(c, C.uint32_t(mark), &gerror)
		return gerror
	})
}

// Snapshot returns the present state of the fork.
//
// It fails with Invalid after Close.
func (f *Fork) Snapshot() (snapshot *Snapshot, err error) {
	err = f.with(func(c *C.QuoitFork) *C.GError {
		snapshot = newSnapshot(C.quoit_fork_snapshot(c))
		return nil
	})
	return snapshot, err
}

// Reserve is like Ledger.Reserve, on the fork only. It fails like Ledger.Reserve.
func (f *Fork) Reserve(request *Request, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		group = C.quoit_fork_reserve(c, cRequest, C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// Hold is like Ledger.Hold, on the fork only. It fails like Ledger.Hold.
func (f *Fork) Hold(request *Request, lease time.Duration, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		group = C.quoit_fork_hold(c, cRequest, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// Release is like Ledger.Release, on the fork only. It fails like Ledger.Release.
func (f *Fork) Release(group string, now time.Time) error {
	return f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_release(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// Resize is like Ledger.Resize, on the fork only. It fails like Ledger.Resize.
func (f *Fork) Resize(group string, slices int64, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_resize(c, name, C.int64_t(slices), C.int64_t(unixMs(now)), &report, gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// Repair is like Ledger.Repair, on the fork only. It fails like Ledger.Repair.
func (f *Fork) Repair(group string, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_repair(c, name, C.int64_t(unixMs(now)), &report, gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// SetNodeState is like Ledger.SetNodeState, on the fork only. It fails like Ledger.SetNodeState.
func (f *Fork) SetNodeState(node string, state NodeState, now time.Time) error {
	return f.withName("node", node, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_set_node_state(c, name, C.QuoitNodeState(state), C.int64_t(unixMs(now)), gerror)
	})
}

// Sync is like Ledger.Sync, on the fork only. It returns what a Sync of the ledger would change. It fails like
// Ledger.Sync.
func (f *Fork) Sync(input *Input, now time.Time) (*Import, error) {
	cInput, err := input.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_input_free(cInput)
	var result *C.QuoitImport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		result = C.quoit_fork_sync(c, cInput, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
	return importOrError(result, err)
}
