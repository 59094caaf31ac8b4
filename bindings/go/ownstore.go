// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"unsafe"

	"quoit/internal/cconv"
)

// OpenSnapshot opens a ledger in memory whose entries you can store in a place of your own, as bytes (see BatchEntries and
// ApplyEntry). It begins with the state of snapshot; nil means an empty fleet. If the snapshot has a Link, the ledger
// continues its history, otherwise it begins a history of its own.
//
// It fails with Invalid for a closed snapshot, and with Store if the system gives no random number for the identity of a
// new history.
func OpenSnapshot(snapshot *Snapshot) (*Ledger, error) {
	var ledger *Ledger
	open := func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		opened := C.quoit_ledger_open_snapshot(c, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		ledger = newLedger(opened)
		return nil
	}
	if snapshot == nil {
		err := open(nil)
		return ledger, err
	}
	err := snapshot.with(open)
	return ledger, err
}

// moveBytes copies bytes that C has allocated, and frees them.
func moveBytes(data *C.uint8_t, length C.size_t) []byte {
	defer C.g_free(C.gpointer(unsafe.Pointer(data)))
	return C.GoBytes(unsafe.Pointer(data), C.int(length))
}

// Bytes returns the whole state as bytes, for SnapshotFromBytes in any process. The same state gives the same bytes.
//
// It fails with Invalid after Close.
func (s *Snapshot) Bytes() (data []byte, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		var length C.size_t
		bytes := C.quoit_snapshot_dup_bytes(c, &length)
		data = moveBytes(bytes, length)
		return nil
	})
	return data, err
}

// SnapshotFromBytes returns the snapshot of Bytes. The bytes may come from a place that cannot be trusted.
//
// It fails with Invalid if the bytes are no snapshot, Version if a newer quoit wrote them, and Damaged if they were changed
// or cut off, or contradict themselves.
func SnapshotFromBytes(data []byte) (*Snapshot, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	bytes, length := arguments.Bytes(data)
	c := C.quoit_snapshot_from_bytes((*C.uint8_t)(bytes), C.size_t(length), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newSnapshot(c), nil
}

// Link returns a hash over the last entry and all entries before it, as 64 hexadecimal digits; "" for a state that is in
// no journal, such as that of a fork with changes or of a ledger of OpenMemory.
//
// It fails with Invalid after Close.
func (s *Snapshot) Link() (link string, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		link = moveString(C.quoit_snapshot_dup_link(c))
		return nil
	})
	return link, err
}

// StoredEntry is one change as bytes, to store in a place of your own.
type StoredEntry struct {
	Seq  uint64 // the sequence number; the first entry has 1, and there are no gaps
	Link string // a hash over this entry and all entries before it: 64 hexadecimal digits
	Data []byte // for ApplyEntry
}

func storedEntriesFromC(journal *C.QuoitJournal) ([]StoredEntry, error) {
	entries := make([]StoredEntry, C.quoit_journal_get_n_entries(journal))
	for index := range entries {
		var length C.size_t
		var gerror *C.GError
		at := C.uint32_t(index)
		data := C.quoit_journal_dup_entry(journal, at, &length, &gerror)
		if err := errorFromC(gerror); err != nil {
			return nil, err
		}
		entries[index] = StoredEntry{
			Seq:  uint64(C.quoit_journal_get_seq(journal, at)),
			Link: moveString(C.quoit_journal_dup_link(journal, at)),
			Data: moveBytes(data, length),
		}
	}
	return entries, nil
}

// EntriesSince returns the journal entries after seq as bytes, up to what this ledger knows (see Refresh), for ApplyEntry
// of another ledger.
//
// It fails like ChangesSince, and with Invalid for a ledger of OpenMemory.
func (l *Ledger) EntriesSince(ctx context.Context, seq uint64) ([]StoredEntry, error) {
	journal, err := l.readJournal(ctx, seq)
	if err != nil {
		return nil, err
	}
	defer C.quoit_journal_free(journal)
	return storedEntriesFromC(journal)
}

// BatchEntries returns the entries of the batch as bytes. Call it in the function of Batch, and store the entries before
// the function returns nil; if they could not be stored, return an error, and nothing has changed. A refused change, and
// one that finds its result present, has no entry.
//
// It fails with Conflict outside a batch, and with Invalid unless the ledger is from OpenSnapshot.
func (l *Ledger) BatchEntries() (entries []StoredEntry, err error) {
	err = l.with(func(c *C.QuoitLedger) error {
		var gerror *C.GError
		journal := C.quoit_ledger_read_batch(c, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		defer C.quoit_journal_free(journal)
		entries, err = storedEntriesFromC(journal)
		return err
	})
	return entries, err
}

// ApplyEntry applies the next entry of the same history, which another ledger has made, to a ledger of OpenSnapshot. In
// the function of Batch it becomes part of the batch. A failure changes nothing.
//
// It fails with Conflict if the entry is of another ledger, is not the next one or follows another history, Invalid if
// data is no entry or the ledger is not from OpenSnapshot, Version if a newer quoit wrote the entry, Damaged if data was
// changed or cut off or the entry contradicts the state, Busy and Cancelled.
func (l *Ledger) ApplyEntry(ctx context.Context, data []byte) error {
	var arguments cconv.Arguments
	bytes, length := arguments.Bytes(data)
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_apply_entry(c, (*C.uint8_t)(bytes), C.size_t(length), &gerror)
		return gerror
	})
}
