// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"quoit/internal/cconv"
)

// Feed returns the entries of a ledger's journal as they are written, by this process or another one. It keeps its
// ledger open. Close it after use; the garbage collector does so if you do not.
type Feed struct {
	h    *cconv.Handle
	mu   sync.Mutex // a C feed is not safe for concurrent use
	file *os.File   // a copy of the feed's descriptor, for Go's network poller
}

// Feed begins a feed after the entry seq, such as that of a Snapshot; 0 is the beginning of the journal. On a server, the
// feed has a second connection.
//
// It fails with Store if the process has too many open files or the user too many inotify instances, or if the second
// connection cannot be made, Failed in a child of fork, and Invalid after Close.
func (l *Ledger) Feed(seq uint64) (*Feed, error) {
	pointer, err := l.use()
	if err != nil {
		return nil, err
	}
	defer l.h.Done()
	var gerror *C.GError
	c := C.quoit_feed_new((*C.QuoitLedger)(pointer), C.uint64_t(seq), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	free := func(p unsafe.Pointer) { C.quoit_feed_free((*C.QuoitFeed)(p)) }
	feed := &Feed{h: cconv.NewHandle("feed", unsafe.Pointer(c), free)}
	copied, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(C.quoit_feed_get_fd(c)), syscall.F_DUPFD_CLOEXEC, 0)
	if errno == 0 {
		if err := syscall.SetNonblock(int(copied), true); err == nil {
			feed.file = os.NewFile(copied, "feed")
		}
	}
	if feed.file == nil {
		feed.h.Close()
		return nil, &Error{Code: Store, Message: "feed: its descriptor cannot be copied: close other files"}
	}
	return feed, nil
}

// Close closes the feed. A call of Next that waits returns an error with the code Invalid. A second Close does nothing.
func (f *Feed) Close() {
	if f != nil && f.file != nil {
		f.file.Close()
		f.h.Close()
	}
}

func (f *Feed) with(run func(*C.QuoitFeed) *C.GError) error {
	if f == nil {
		return closedError("nil feed")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pointer, err := f.h.Use()
	if err != nil {
		return err
	}
	defer f.h.Done()
	return errorFromC(run((*C.QuoitFeed)(pointer)))
}

// Seq returns the sequence number of the last entry that the feed has returned, or the one that it began with.
//
// It fails with Invalid after Close.
func (f *Feed) Seq() (seq uint64, err error) {
	err = f.with(func(c *C.QuoitFeed) *C.GError {
		seq = uint64(C.quoit_feed_get_seq(c))
		return nil
	})
	return seq, err
}

// Read returns the entries that the feed has not returned yet. It does not wait for entries: there may be none.
//
// It fails with NotFound if a checkpoint has replaced the next entries (make a new feed from the Seq of a Snapshot),
// Conflict if the ledger was restored (open it again) or inside a Batch, Busy, Cancelled, Store, Version, Damaged, and
// Invalid after Close. After a failure, the feed has not moved.
func (f *Feed) Read() ([]Entry, error) {
	var entries []Entry
	err := f.with(func(c *C.QuoitFeed) (gerror *C.GError) {
		if journal := C.quoit_feed_read(c, &gerror); journal != nil {
			entries = entriesFromC(journal)
			C.quoit_journal_free(journal)
		}
		return gerror
	})
	return entries, err
}

// Next waits until there are entries that the feed has not returned yet, and returns them: at least one. Only one
// goroutine can wait at a time. Waiting takes no thread.
//
// It fails like Read, and with Cancelled if the context ends first.
func (f *Feed) Next(ctx context.Context) ([]Entry, error) {
	if f == nil || f.file == nil {
		return nil, closedError("feed")
	}
	if err := ctx.Err(); err != nil {
		return nil, cancelledError(err)
	}
	connection, err := f.file.SyscallConn()
	if err != nil {
		return nil, closedError("feed")
	}
	defer f.stopAfterContextEnds(ctx)()
	var entries []Entry
	var failure error
	err = connection.Read(func(uintptr) bool {
		entries, failure = f.Read()
		return failure != nil || len(entries) > 0
	})
	if err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, cancelledError(ctx.Err())
	}
	if err != nil {
		return nil, closedError("feed")
	}
	return entries, failure
}

// stopAfterContextEnds ends the wait of Next when the context ends, until the caller calls the returned function.
func (f *Feed) stopAfterContextEnds(ctx context.Context) func() {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		f.file.SetReadDeadline(time.Unix(1, 0))
	})
	return func() {
		if !stop() {
			<-ended
			f.file.SetReadDeadline(time.Time{})
		}
	}
}
