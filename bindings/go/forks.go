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

	"quoit/internal/door"
)

// Fork is a private copy of a snapshot that can be changed, for what-if: the live code on a copy, which shares all that it
// does not change. Nothing of it is ever written. Goroutines that use one wait for each other. Close frees it; the
// garbage collector does where that is forgotten.
//
// Its changes are those of Ledger, on the fork alone, and fail as they do, but never with what a database causes; and
// with Invalid after Close.
type Fork struct {
	h    *door.Handle
	turn sync.Mutex // a fork of C is not for two threads at once
}

func newFork(c *C.QuoitFork) *Fork {
	free := func(p unsafe.Pointer) { C.quoit_fork_free((*C.QuoitFork)(p)) }
	return &Fork{h: door.NewHandle("fork", unsafe.Pointer(c), free)}
}

// Close frees what the fork keeps. To close twice does nothing.
func (f *Fork) Close() {
	if f != nil {
		f.h.Close()
	}
}

func (f *Fork) with(run func(*C.QuoitFork) *C.GError) error {
	if f == nil {
		return closed("nil fork")
	}
	f.turn.Lock()
	defer f.turn.Unlock()
	pointer, err := f.h.Use()
	if err != nil {
		return err
	}
	defer f.h.Done()
	return take(run((*C.QuoitFork)(pointer)))
}

func (f *Fork) onName(what, name string, run func(*C.QuoitFork, *C.char, **C.GError)) error {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text(what, name))
	if err := arguments.Err(); err != nil {
		return err
	}
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		run(c, text, &gerror)
		return gerror
	})
}

// Snapshot is the fork as it is now.
//
// It fails with Invalid after Close.
func (f *Fork) Snapshot() (snapshot *Snapshot, err error) {
	err = f.with(func(c *C.QuoitFork) *C.GError {
		snapshot = newSnapshot(C.quoit_fork_snapshot(c))
		return nil
	})
	return snapshot, err
}

// Reserve does as Ledger.Reserve, on the fork alone; it fails as that does.
func (f *Fork) Reserve(request *Request, now time.Time) (*Group, error) {
	made, err := request.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		group = C.quoit_fork_reserve(c, made.c, C.int64_t(clock(now)), &report, &gerror)
		return gerror
	})
	return madeGroup(group, explained(err, report))
}

// Hold does as Ledger.Hold, on the fork alone; it fails as that does.
func (f *Fork) Hold(request *Request, lease time.Duration, now time.Time) (*Group, error) {
	made, err := request.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		group = C.quoit_fork_hold(c, made.c, C.int64_t(milliseconds(lease)), C.int64_t(clock(now)), &report, &gerror)
		return gerror
	})
	return madeGroup(group, explained(err, report))
}

// Release does as Ledger.Release, on the fork alone; it fails as that does.
func (f *Fork) Release(group string, now time.Time) error {
	return f.onName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_release(c, name, C.int64_t(clock(now)), gerror)
	})
}

// Resize does as Ledger.Resize, on the fork alone; it fails as that does.
func (f *Fork) Resize(group string, slices int64, now time.Time) (*GroupChange, error) {
	var made *C.QuoitGroupChange
	var report *C.QuoitReport
	err := f.onName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		made = C.quoit_fork_resize(c, name, C.int64_t(slices), C.int64_t(clock(now)), &report, gerror)
	})
	return madeChange(made, explained(err, report))
}

// Repair does as Ledger.Repair, on the fork alone; it fails as that does.
func (f *Fork) Repair(group string, now time.Time) (*GroupChange, error) {
	var made *C.QuoitGroupChange
	var report *C.QuoitReport
	err := f.onName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		made = C.quoit_fork_repair(c, name, C.int64_t(clock(now)), &report, gerror)
	})
	return madeChange(made, explained(err, report))
}

// SetNodeState does as Ledger.SetNodeState, on the fork alone; it fails as that does.
func (f *Fork) SetNodeState(node string, state NodeState, now time.Time) error {
	return f.onName("node", node, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_set_node_state(c, name, C.QuoitNodeState(state), C.int64_t(clock(now)), gerror)
	})
}

// Sync does as Ledger.Sync, on the fork alone: what it would change. It fails as that does.
func (f *Fork) Sync(input *Input, now time.Time) (*Import, error) {
	made, err := input.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	var found *C.QuoitImport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		found = C.quoit_fork_sync(c, made.c, C.int64_t(clock(now)), &gerror)
		return gerror
	})
	return madeImport(found, err)
}
