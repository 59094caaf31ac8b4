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

	"quoit/internal/cconv"
)

// LibraryVersion returns the version of the loaded libquoit, as "MAJOR.MINOR.PATCH". It can be newer than the headers
// that this package was compiled with.
func LibraryVersion() string {
	return C.GoString(C.quoit_version())
}

// Ledger is an open ledger. It is in a database file that any number of processes can share, or in memory.
//
// Any number of goroutines can use a Ledger: writers wait for each other, readers take snapshots and never wait for the
// disk. Every call that changes the ledger is one transaction: when it succeeds, the change is on the disk; when it
// fails, nothing has changed. The library reads no clock; the caller passes the time. The ledger's own clock only moves
// forward, except by SetClock.
//
// A call with a context can wait for other writers, up to the wait that the ledger was opened with. If the context ends
// during the wait, the call returns an error with the code Cancelled that wraps the context's error, and nothing was
// written. The call checks the context only while it waits for others, so a successful change is never reported as
// cancelled.
//
// A group is named by NAME or by NAME@ID, which is Group.Handle. With the id, a late or repeated call never affects a
// newer group of that name.
//
// Every change can also fail with these codes:
//   - Invalid for a clock outside the years 2000 to 2199 or more than 5 seconds ahead of the clock of a PostgreSQL server,
//     for text with a NUL, and after Close.
//   - Busy if another writer held the database for longer than the ledger waits. Retry.
//   - Cancelled if the context or Interrupt ended the wait.
//   - Store if the disk, or the server, its grants or the connection refuse. Nothing was written; remove the cause and
//     retry.
//   - Unconfirmed if the files of the database were replaced, or the connection to the server was lost, while the change was
//     written. Read the state, or retry with the same request key.
//   - Fenced if a later leader has begun its term: this handle can write nothing until it leads again; see Lead.
//   - Version if a newer quoit has upgraded the database.
//   - Damaged if the database contradicts itself, or the server has lost an entry that this handle has read.
type Ledger struct {
	h          *cconv.Handle
	interrupts atomic.Uint64 // the number of calls of Interrupt
}

func newLedger(c *C.QuoitLedger) *Ledger {
	free := func(p unsafe.Pointer) { C.quoit_ledger_unref((*C.QuoitLedger)(p)) }
	return &Ledger{h: cconv.NewHandle("ledger", unsafe.Pointer(c), free)}
}

// Create creates an empty database with mode 0600 and opens it. An existing empty file is used. path can also be the URL
// of a ledger in PostgreSQL, postgresql://HOST/DATABASE#FLEET or postgres://...; then Create makes quoit's tables if they
// are missing, and a fleet of that name. wait is how long calls can wait for other writers; 0 means not at all. Connecting
// to a server may take up to 10 s more, and so may its answers, counted from the last bytes that were sent or received.
//
// It fails with Conflict if the file or the fleet exists or another process created it at the same time (use Open), Invalid
// for an empty path, a URL without the name of a fleet or a wait below 0, Store if the place cannot be written or is on a
// file system that is not known to have safe locks, if the server cannot be used, or if libquoit was built without
// PostgreSQL, and Version, Damaged or Busy depending on what the existing file is.
func Create(path string, wait time.Duration) (*Ledger, error) {
	return openWith(path, wait, func(name *C.char, ms C.int64_t, gerror **C.GError) *C.QuoitLedger {
		return C.quoit_ledger_create(name, ms, gerror)
	})
}

// Open opens a database and reads its saved state. Only a database of an older quoit is changed: it is upgraded. path and
// wait are as in Create.
//
// It fails with NotFound if there is no file, or the database has no such fleet (Create creates one), Invalid for a file
// that is not a quoit database, an empty path, a URL without the name of a fleet or a wait below 0, Version for a database
// of a newer quoit, Damaged for one that is truncated, contradicts itself or has triggers or views that quoit did not
// create, Store if it cannot be read or is of an older quoit and cannot be written, if the server cannot be used, or if
// libquoit was built without PostgreSQL, and Busy.
func Open(path string, wait time.Duration) (*Ledger, error) {
	return openWith(path, wait, func(name *C.char, ms C.int64_t, gerror **C.GError) *C.QuoitLedger {
		return C.quoit_ledger_open(name, ms, gerror)
	})
}

func openWith(
	path string, wait time.Duration, open func(*C.char, C.int64_t, **C.GError) *C.QuoitLedger,
) (*Ledger, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	name := (*C.char)(arguments.Text("path", path))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, cconv.InvalidError("path '': expected the name of a file")
	}
	if wait < 0 {
		return nil, cconv.InvalidError("wait '%v': expected 0 or more", wait)
	}
	c := open(name, C.int64_t(durationMs(wait)), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newLedger(c), nil
}

// OpenMemory returns an empty ledger in memory. It has the same rules and calls as one in a file, but is not durable.
func OpenMemory() *Ledger {
	return newLedger(C.quoit_ledger_open_memory())
}

// Close closes the ledger after the calls that use it have ended; later calls fail. All reservations stay. A second
// Close does nothing.
func (l *Ledger) Close() {
	if l != nil {
		l.h.Close()
	}
}

// SetActor sets the name that the journal records as the actor of the following changes. "" means no name.
//
// It fails with Invalid for text with a NUL, and after Close.
func (l *Ledger) SetActor(actor string) error {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.TextUnlessEmpty("actor", actor))
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.with(func(c *C.QuoitLedger) error {
		C.quoit_ledger_set_actor(c, text)
		return nil
	})
}

// Interrupt ends the waits of all present calls on this ledger, regardless of their contexts. These calls fail with
// Cancelled.
//
// It fails with Invalid after Close.
func (l *Ledger) Interrupt() error {
	return l.with(func(c *C.QuoitLedger) error {
		l.interrupts.Add(1)
		C.quoit_ledger_interrupt(c)
		return nil
	})
}

// Lead makes this handle the leader of a ledger in PostgreSQL, and returns the term that has begun, from 1 on. From then
// on, handles that have led earlier fail with Fenced when they write, also if they were paused meanwhile. Handles that
// have never led write as before: let each process of an active/standby scheduler lead before it writes.
//
// It fails with Invalid if the ledger is not in PostgreSQL, or if leader is not 1 to 256 bytes of UTF-8 without control
// characters, Conflict inside a Batch, Fenced if another handle has begun a term meanwhile, Store and Cancelled. After a
// failure, a term may have begun: call Lead again.
func (l *Ledger) Lead(ctx context.Context, leader string) (uint64, error) {
	var arguments cconv.Arguments
	var term C.uint64_t
	text := (*C.char)(arguments.Text("leader", leader))
	if err := arguments.Err(); err != nil {
		return 0, err
	}
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_lead(c, text, &term, &gerror)
		return gerror
	})
	return uint64(term), err
}

// Copy copies the ledger with its history to a new ledger, which can have another engine: to is the path of a new
// database file, or the URL of a new ledger in PostgreSQL. The copy has the same identity, entries, groups and ids, and
// is verified before the call returns. Use only one of the two ledgers for changes.
//
// It fails with Invalid for a ledger of OpenMemory, with Conflict if to exists, with Damaged if the journal contradicts
// itself, and with Store if to cannot be written. A failure leaves nothing of the copy, except a fleet on a server that
// could not be verified.
func (l *Ledger) Copy(ctx context.Context, to string) error {
	var arguments cconv.Arguments
	name := (*C.char)(arguments.Text("to", to))
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_copy(c, name, &gerror)
		return gerror
	})
}

// with runs a C call that never waits for other writers.
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
		return nil, closedError("nil ledger")
	}
	return l.h.Use()
}

// --- waiting ---

// interruptInterval is the time between two interrupts of a call whose context has ended. quoit_ledger_interrupt() ends
// the waits of all calls on a ledger, but has no effect on a call that does not wait yet. Therefore
// interruptAfterContextEnds repeats it until the call has returned.
const interruptInterval = time.Millisecond

// wait runs a C call that can wait for other writers, and ends the wait when the context ends. An interrupt ends the
// waits of all calls on the ledger, so wait repeats the call if the interrupt was meant for another one.
func (l *Ledger) wait(ctx context.Context, run func(*C.QuoitLedger) *C.GError) error {
	if err := ctx.Err(); err != nil {
		return cancelledError(err)
	}
	pointer, err := l.use()
	if err != nil {
		return err
	}
	defer l.h.Done()
	c := (*C.QuoitLedger)(pointer)
	if ctx.Done() != nil {
		defer interruptAfterContextEnds(ctx, c)()
	}
	for {
		interruptsBefore := l.interrupts.Load()
		err := errorFromC(run(c))
		if err == nil || !errors.Is(err, Cancelled) {
			return err
		}
		if cause := ctx.Err(); cause != nil {
			return cancelledError(cause)
		}
		if l.interrupts.Load() != interruptsBefore {
			return err // the caller of Interrupt meant all calls
		}
	}
}

// interruptAfterContextEnds interrupts the ledger repeatedly from the end of the context until the caller calls the
// returned function.
func interruptAfterContextEnds(ctx context.Context, c *C.QuoitLedger) func() {
	callEnded, goroutineEnded := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(goroutineEnded)
		ticker := time.NewTicker(interruptInterval)
		defer ticker.Stop()
		for {
			C.quoit_ledger_interrupt(c)
			select {
			case <-callEnded:
				return
			case <-ticker.C:
			}
		}
	})
	return func() {
		if !stop() { // the context has ended, so the goroutine runs
			close(callEnded)
			<-goroutineEnded
		}
	}
}

// --- snapshots ---

// Snapshot returns the fleet as this handle has read it. It has all changes of this handle. Changes by other processes
// are read only at this handle's changes and at Refresh. Close it after use.
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

// SnapshotAt returns the fleet as it was after the journal entry seq; 0 is the state before the first entry. It replays
// the journal from the checkpoint, or from the beginning.
//
// It fails with NotFound if there is no such entry yet or a checkpoint has replaced it (the message names the first one
// that is kept), Conflict inside a Batch, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) SnapshotAt(ctx context.Context, seq uint64) (*Snapshot, error) {
	var result *C.QuoitSnapshot
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		result = C.quoit_ledger_snapshot_at(c, C.uint64_t(seq), &gerror)
		return gerror
	})
	if err != nil {
		return nil, err
	}
	return newSnapshot(result), nil
}

// Refresh reads what other processes have written. Its cost depends only on the number of new entries.
//
// It fails with Busy, Cancelled, Store, Version and Damaged.
func (l *Ledger) Refresh(ctx context.Context) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_refresh(c, &gerror)
		return gerror
	})
}

// --- nodes ---

// SetNodeState sets the state of a node, given by its short or full name. The state stays until the node's source
// reports a different state than before. Setting the present state changes nothing.
//
// It fails with NotFound for an unknown node, and Invalid for an ambiguous name.
func (l *Ledger) SetNodeState(ctx context.Context, node string, state NodeState, now time.Time) error {
	return l.withName(ctx, "node", node, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_set_node_state(c, name, C.QuoitNodeState(state), C.int64_t(unixMs(now)), gerror)
	})
}

// DrainNode keeps new groups away from a node and its slice. Groups that already use the node stay.
//
// It fails with NotFound for an unknown node, Invalid for an ambiguous name, and Conflict for a dead node.
func (l *Ledger) DrainNode(ctx context.Context, node string, now time.Time) error {
	return l.withName(ctx, "node", node, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_drain_node(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// UndrainNode reverts DrainNode. It fails like DrainNode.
func (l *Ledger) UndrainNode(ctx context.Context, node string, now time.Time) error {
	return l.withName(ctx, "node", node, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_undrain_node(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// SetNodeStates is like SetNodeState, for many nodes in one journal entry: all of them, or none. It fails like
// SetNodeState.
func (l *Ledger) SetNodeStates(ctx context.Context, nodes []string, state NodeState, now time.Time) error {
	return l.withNames(ctx, "node", nodes, func(c *C.QuoitLedger, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_ledger_set_node_states(c, names, n, C.QuoitNodeState(state), C.int64_t(unixMs(now)), gerror)
	})
}

// DrainNodes is like DrainNode, for many nodes in one journal entry: all of them, or none. It fails like DrainNode.
func (l *Ledger) DrainNodes(ctx context.Context, nodes []string, now time.Time) error {
	return l.withNames(ctx, "node", nodes, func(c *C.QuoitLedger, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_ledger_drain_nodes(c, names, n, C.int64_t(unixMs(now)), gerror)
	})
}

// UndrainNodes reverts DrainNodes. It fails like DrainNode.
func (l *Ledger) UndrainNodes(ctx context.Context, nodes []string, now time.Time) error {
	return l.withNames(ctx, "node", nodes, func(c *C.QuoitLedger, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_ledger_undrain_nodes(c, names, n, C.int64_t(unixMs(now)), gerror)
	})
}

// withNames runs a C call that can wait and has names as argument.
func (l *Ledger) withNames(ctx context.Context, what string, texts []string, run func(*C.QuoitLedger, **C.char, C.uint32_t, **C.GError)) error {
	var arguments cconv.Arguments
	defer arguments.Free()
	names := (**C.char)(arguments.Texts(what, texts))
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		run(c, names, C.uint32_t(len(texts)), &gerror)
		return gerror
	})
}

// withName runs a C call that can wait and has a name as argument. what is the argument's name for messages.
func (l *Ledger) withName(ctx context.Context, what, name string, run func(*C.QuoitLedger, *C.char, **C.GError)) error {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text(what, name))
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		run(c, text, &gerror)
		return gerror
	})
}

// --- batches ---

// Batch runs a function and writes all its changes as one transaction when it returns nil. On failure none of them is
// written, and the groups that they returned do not exist. If the function returns an error or panics, nothing is
// written. Other writers wait until the batch ends. Each change sees the ones before it. A refused change is left out
// and does not end the batch; a failed write (Store) does.
//
// The function must make the changes itself, on this ledger and in its own goroutine. Changes by other goroutines are
// not part of the batch and wait for its end. A function that waits for such a change never returns.
//
// It fails with the error of the function, Conflict inside another batch, and otherwise like any change.
func (l *Ledger) Batch(ctx context.Context, changes func() error) error {
	return l.batch(ctx, changes, func(c *C.QuoitLedger, gerror **C.GError) bool {
		return bool(C.quoit_ledger_begin_batch(c, gerror))
	})
}

// UnsyncedBatch is a Batch whose commit does not wait for the disk, which is most of the time of a change. The batch
// survives the end of this process. A power loss can undo it as a whole, together with the unsynced batches that follow
// it; the next change of any process that waits for the disk makes it durable. Use it for changes that are worthless
// after a power loss, such as the renewal of a lease or slices that only this process uses. After a power loss, new
// groups can get the ids of undone groups. Therefore do not pass these ids to another machine. UnsyncedBatch fails like
// Batch.
func (l *Ledger) UnsyncedBatch(ctx context.Context, changes func() error) error {
	return l.batch(ctx, changes, func(c *C.QuoitLedger, gerror **C.GError) bool {
		return bool(C.quoit_ledger_begin_unsynced_batch(c, gerror))
	})
}

// MarkBatch remembers the present state of the batch, so that RollBackBatch can return to it. Call it in the function of
// Batch.
//
// It fails with Conflict outside a batch.
func (l *Ledger) MarkBatch() (mark uint32, err error) {
	err = l.with(func(c *C.QuoitLedger) error {
		var gerror *C.GError
		mark = uint32(C.quoit_ledger_mark_batch(c, &gerror))
		return errorFromC(gerror)
	})
	return mark, err
}

// RollBackBatch undoes the changes of the batch since the mark, and forgets later marks. Groups that these changes
// returned do not exist, and their ids are used again.
//
// It fails with Invalid if the batch has no such mark, and Conflict outside a batch.
func (l *Ledger) RollBackBatch(mark uint32) error {
	return l.with(func(c *C.QuoitLedger) error {
		var gerror *C.GError
		C.quoit_ledger_roll_back_batch(c, C.uint32_t(mark), &gerror)
		return errorFromC(gerror)
	})
}

func (l *Ledger) batch(ctx context.Context, changes func() error, begin func(*C.QuoitLedger, **C.GError) bool) error {
	runtime.LockOSThread() // a batch of the C library belongs to a thread
	defer runtime.UnlockOSThread()
	var ledger *C.QuoitLedger
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		if begin(c, &gerror) {
			ledger = C.quoit_ledger_ref(c) // keeps the C object if changes closes the ledger
		}
		return gerror
	})
	if err != nil {
		return err
	}
	defer C.quoit_ledger_unref(ledger)
	defer C.quoit_ledger_cancel_batch(ledger) // does nothing after the commit
	if err := changes(); err != nil {
		return err
	}
	var gerror *C.GError
	C.quoit_ledger_commit_batch(ledger, &gerror)
	return errorFromC(gerror)
}

// --- files ---

// LoadText reads a whole file for one of the imports: a regular file or a pipe of at most 256 MiB.
//
// It fails with NotFound, Invalid for a directory, a device or a file that is too large (detected before reading), and
// Store if it cannot be read.
func LoadText(path string) ([]byte, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	var text *C.char
	var length C.size_t
	name := (*C.char)(arguments.Text("path", path))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	C.quoit_load_text(name, &text, &length, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return cconv.MoveBytes(unsafe.Pointer(text), int(length)), nil
}
