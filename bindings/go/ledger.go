// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <stdlib.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"quoit/internal/door"
)

// LibraryVersion is the version of libquoit that is running, as "MAJOR.MINOR.PATCH". It may be newer than the headers
// that this package was compiled with.
func LibraryVersion() string {
	return C.GoString(C.quoit_version())
}

// Ledger is an open ledger: in a database file that any number of processes share, or in memory.
//
// Any number of goroutines may use one: writers queue, readers take snapshots and never wait for a disk. Every call that
// changes the ledger is one transaction: when it returns without an error it is on the disk whole; when it fails nothing
// has changed. The library reads no clock: each change takes the caller's, and the ledger's own never goes back.
//
// A call that takes a context may wait for other writers, for as long as the ledger was opened to wait. When the context
// ends first the call returns Cancelled, which is also the context's error, and nothing was written. It looks at the
// context while it waits for others, not while it works: a change that succeeds is never reported as cancelled.
//
// Groups are named by NAME or by NAME@ID, which is Group.Handle: with the id a late or repeated call never touches a
// group that took the name since.
//
// Every change can fail, beside what is said of it, with Invalid for a clock outside the years 2000 to 2199 and for
// text with a NUL, Busy when another writer held the database for longer than the ledger waits (retry), Cancelled, Store
// when the disk refuses (nothing was written; mend it and retry), Version when a newer quoit has upgraded the database,
// Damaged when it contradicts itself, and Invalid after Close.
type Ledger struct {
	h          *door.Handle
	interrupts atomic.Uint64
}

func newLedger(c *C.QuoitLedger) *Ledger {
	return &Ledger{h: door.NewHandle("ledger", unsafe.Pointer(c), func(p unsafe.Pointer) { C.quoit_ledger_unref((*C.QuoitLedger)(p)) })}
}

// Create makes a new, empty database of mode 0600 and opens it; an empty file is taken over. Wait is how long calls may
// wait for other writers; 0: not at all.
//
// It fails with Conflict when there is a file already, or another process was quicker (Open it then), Invalid for a path
// that is empty or a wait below 0, Store when the place cannot be written or is on a file system that is not known
// to have safe locks, and Version, Damaged or Busy by what that file is.
func Create(path string, wait time.Duration) (*Ledger, error) {
	return openWith(path, wait, func(name *C.char, ms C.int64_t, gerror **C.GError) *C.QuoitLedger {
		return C.quoit_ledger_create(name, ms, gerror)
	})
}

// Open opens a database and reads its state. Nothing in it is changed, except that one of an older quoit is upgraded.
// Wait is how long calls may wait for other writers; 0: not at all.
//
// It fails with NotFound when there is no file (Create makes one), Invalid for a file that is not quoit's, a path that is
// empty or a wait below 0, Version for one of a newer quoit, Damaged for one that is cut off, contradicts itself or has
// triggers or views that quoit did not make, Store when it cannot be read, or is of an older quoit and cannot be
// written, and Busy.
func Open(path string, wait time.Duration) (*Ledger, error) {
	return openWith(path, wait, func(name *C.char, ms C.int64_t, gerror **C.GError) *C.QuoitLedger {
		return C.quoit_ledger_open(name, ms, gerror)
	})
}

func openWith(path string, wait time.Duration, open func(*C.char, C.int64_t, **C.GError) *C.QuoitLedger) (*Ledger, error) {
	var arguments door.Arguments
	var gerror *C.GError
	name := (*C.char)(arguments.Text("path", path))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, door.Invalid("path '': expected the name of a file")
	}
	if wait < 0 {
		return nil, door.Invalid("wait '%v': expected 0 or more", wait)
	}
	c := open(name, C.int64_t(milliseconds(wait)), &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return newLedger(c), nil
}

// OpenMemory is an empty ledger in memory: the same rules and the same calls, without durability.
func OpenMemory() *Ledger {
	return newLedger(C.quoit_ledger_open_memory())
}

// Close closes the ledger when the calls that use it have ended; calls that come later fail. What was reserved stays
// reserved. To close twice does nothing.
func (l *Ledger) Close() {
	if l != nil {
		l.h.Close()
	}
}

// SetActor says who is written into the journal as asking for the changes that follow; "" is nobody.
//
// It fails with Invalid for text with a NUL, and after Close.
func (l *Ledger) SetActor(actor string) error {
	var arguments door.Arguments
	text := (*C.char)(arguments.TextOrNull("actor", actor))
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.with(func(c *C.QuoitLedger) error {
		C.quoit_ledger_set_actor(c, text)
		return nil
	})
}

// Interrupt ends the waits that calls of this ledger are in, whatever their contexts: they fail with Cancelled.
//
// It fails with Invalid after Close.
func (l *Ledger) Interrupt() error {
	return l.with(func(c *C.QuoitLedger) error {
		l.interrupts.Add(1)
		C.quoit_ledger_interrupt(c)
		return nil
	})
}

// with runs a call that does not wait.
func (l *Ledger) with(run func(*C.QuoitLedger) error) error {
	pointer, err := l.use()
	if err != nil {
		return err
	}
	defer l.h.Done()
	return run((*C.QuoitLedger)(pointer))
}

func (l *Ledger) use() (unsafe.Pointer, error) {
	if l == nil {
		return nil, closed("nil ledger")
	}
	return l.h.Use()
}

// --- waiting ---

// Interrupting ends the waits of all calls of a handle. One that came too early for the wait is lost, so that it is
// done until the call has ended.
const interruptEach = time.Millisecond

// wait runs a call that may wait for other writers, until the context ends. Calls whose wait was ended for the sake of
// another one begin it anew.
func (l *Ledger) wait(ctx context.Context, run func(*C.QuoitLedger) *C.GError) error {
	if err := ctx.Err(); err != nil {
		return cancelled(err)
	}
	pointer, err := l.use()
	if err != nil {
		return err
	}
	defer l.h.Done()
	c := (*C.QuoitLedger)(pointer)
	if ctx.Done() != nil {
		defer watch(ctx, c)()
	}
	for {
		before := l.interrupts.Load()
		err := take(run(c))
		if err == nil || !errors.Is(err, Cancelled) {
			return err
		}
		if cause := ctx.Err(); cause != nil {
			return cancelled(cause)
		}
		if l.interrupts.Load() != before {
			return err
		}
	}
}

// watch interrupts the handle when the context ends, until the function that it returns is called.
func watch(ctx context.Context, c *C.QuoitLedger) func() {
	ended, left := make(chan struct{}), make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(left)
		again := time.NewTicker(interruptEach)
		defer again.Stop()
		for {
			C.quoit_ledger_interrupt(c)
			select {
			case <-ended:
				return
			case <-again.C:
			}
		}
	})
	return func() {
		if !forget() {
			close(ended)
			<-left
		}
	}
}

// --- look ---

// Snapshot is the fleet as this ledger knows it: with its own changes and those of others up to the last change or
// Refresh. Close it when it is no longer looked at.
//
// It fails with Invalid after Close.
func (l *Ledger) Snapshot() (*Snapshot, error) {
	var snapshot *Snapshot
	err := l.with(func(c *C.QuoitLedger) error {
		snapshot = newSnapshot(C.quoit_ledger_snapshot(c))
		return nil
	})
	return snapshot, err
}

// SnapshotAt is the fleet as it was right after the journal's entry of that number; 0: before the first. It replays the
// journal from the checkpoint, or from its beginning.
//
// It fails with NotFound when there is no such entry yet, or a checkpoint has taken the place of what was before it (the
// message names the first entry to go back to), Conflict inside a Batch, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) SnapshotAt(ctx context.Context, seq uint64) (*Snapshot, error) {
	var made *C.QuoitSnapshot
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		made = C.quoit_ledger_snapshot_at(c, C.uint64_t(seq), &gerror)
		return gerror
	})
	if err != nil {
		return nil, err
	}
	return newSnapshot(made), nil
}

// Refresh reads what other processes have written; it costs what changed.
//
// It fails with Busy, Cancelled, Store, Version and Damaged.
func (l *Ledger) Refresh(ctx context.Context) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_refresh(c, &gerror)
		return gerror
	})
}

// --- nodes ---

// SetNodeState gives a node, by its short or full name, another state. It stays until the node's source itself says
// another than it did. A state that the node has already changes nothing.
//
// It fails with NotFound, and with Invalid when the name is ambiguous.
func (l *Ledger) SetNodeState(ctx context.Context, node string, state NodeState, now time.Time) error {
	return l.onName(ctx, "node", node, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_set_node_state(c, name, C.QuoitNodeState(state), C.int64_t(clock(now)), gerror)
	})
}

// DrainNode lets no new group come to the node or its slice; groups that have it stay.
//
// It fails with NotFound, Invalid when the name is ambiguous, and Conflict when the node is dead.
func (l *Ledger) DrainNode(ctx context.Context, node string, now time.Time) error {
	return l.onName(ctx, "node", node, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_drain_node(c, name, C.int64_t(clock(now)), gerror)
	})
}

// UndrainNode takes DrainNode back; it fails as that does.
func (l *Ledger) UndrainNode(ctx context.Context, node string, now time.Time) error {
	return l.onName(ctx, "node", node, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_undrain_node(c, name, C.int64_t(clock(now)), gerror)
	})
}

// onName runs a change of what bears a name. What is the argument's name.
func (l *Ledger) onName(ctx context.Context, what, name string, run func(*C.QuoitLedger, *C.char, **C.GError)) error {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text(what, name))
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		run(c, text, &gerror)
		return gerror
	})
}

// --- many changes at once ---

// Batch makes the changes of the function one transaction, when it returns nil: on success all of them are on the disk,
// on failure none is, and the groups it was given do not exist. Where it returns an error, or panics, nothing is
// written. Other writers wait meanwhile. Each change is decided with those before it; one that fails is left out and does
// not end the batch, except one that could not be written (Store).
//
// The changes must be made by the function itself, on this ledger: what other goroutines change is not part of it, and
// waits for its end, so that a function that waits for them waits for ever.
//
// It fails with what the function returns, Conflict inside another batch, and else as any change.
func (l *Ledger) Batch(ctx context.Context, changes func() error) error {
	return l.batch(ctx, changes, func(c *C.QuoitLedger, gerror **C.GError) bool {
		return bool(C.quoit_ledger_begin_batch(c, gerror))
	})
}

// UnsyncedBatch is a Batch whose end does not wait for the disk, which is most of what a change takes. It outlives this
// process, however that ends. A power loss may take it back, whole, with the unsynced batches that followed it, until
// anybody's next change that is no such batch puts it on the disk too: for what ends with the machine anyway, a lease
// that is renewed, or what this process alone is using. Ids of groups that it takes back are given again: tell them to
// nobody on another machine. It fails as Batch.
func (l *Ledger) UnsyncedBatch(ctx context.Context, changes func() error) error {
	return l.batch(ctx, changes, func(c *C.QuoitLedger, gerror **C.GError) bool {
		return bool(C.quoit_ledger_begin_unsynced_batch(c, gerror))
	})
}

func (l *Ledger) batch(ctx context.Context, changes func() error, begin func(*C.QuoitLedger, **C.GError) bool) error {
	runtime.LockOSThread() // a batch is a thread's
	defer runtime.UnlockOSThread()
	var held *C.QuoitLedger
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		if begin(c, &gerror) {
			held = C.quoit_ledger_ref(c) // the function may close the ledger
		}
		return gerror
	})
	if err != nil {
		return err
	}
	defer C.quoit_ledger_unref(held)
	defer C.quoit_ledger_cancel_batch(held) // which does nothing after the commit
	if err := changes(); err != nil {
		return err
	}
	var gerror *C.GError
	C.quoit_ledger_commit_batch(held, &gerror)
	return take(gerror)
}

// --- files ---

// LoadText reads a whole file for one of the imports: a regular file or a pipe, of at most 256 MiB.
//
// It fails with NotFound, Invalid for a directory, a device or too many bytes (found before they are read), and Store
// when it cannot be read.
func LoadText(path string) ([]byte, error) {
	var arguments door.Arguments
	var gerror *C.GError
	var text *C.char
	var length C.size_t
	name := (*C.char)(arguments.Text("path", path))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	C.quoit_load_text(name, &text, &length, &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return door.TakenBytes(unsafe.Pointer(text), int(length)), nil
}
