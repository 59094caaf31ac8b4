// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#cgo pkg-config: quoit
#include <quoit/quoit.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"quoit/internal/cconv"
)

// Code is the reason why a call failed. The numbers never change: they are also the exit statuses of the quoit command.
// A newer library can return codes that this package does not define.
//
// A Code is an error, so that errors.Is(err, quoit.NotNow) works.
type Code int

// The codes that this package defines.
const (
	Failed      Code = C.QUOIT_ERROR_FAILED      // a bug of quoit, or an unforeseen failure: report it
	Usage       Code = C.QUOIT_ERROR_USAGE       // invalid command line of the quoit command
	Invalid     Code = C.QUOIT_ERROR_INVALID     // the input breaks a rule; the message has place, value and expectation
	NotFound    Code = C.QUOIT_ERROR_NOT_FOUND   // no such node, slice, group or file
	NotNow      Code = C.QUOIT_ERROR_NOT_NOW     // fits the fleet, but not now: wait, or follow the report
	Never       Code = C.QUOIT_ERROR_NEVER       // does not fit even with all groups released and all nodes alive
	Conflict    Code = C.QUOIT_ERROR_CONFLICT    // the state contradicts the request: read the state before you retry
	Store       Code = C.QUOIT_ERROR_STORE       // the disk or the server refuses; nothing was written
	Version     Code = C.QUOIT_ERROR_VERSION     // the database belongs to another version of quoit
	Busy        Code = C.QUOIT_ERROR_BUSY        // another process is writing: wait and retry
	Expired     Code = C.QUOIT_ERROR_EXPIRED     // the lease has ended
	Cancelled   Code = C.QUOIT_ERROR_CANCELLED   // the context or Ledger.Interrupt ended the wait
	Damaged     Code = C.QUOIT_ERROR_DAMAGED     // the database contradicts itself or its journal: restore a backup
	Unconfirmed Code = C.QUOIT_ERROR_UNCONFIRMED // perhaps written, the answer was lost: retry with the key, or read
	Fenced      Code = C.QUOIT_ERROR_FENCED      // a later leader has begun its term: this handle must lead again
)

// String returns the name of the code as in the documentation, such as "NOT_NOW", and "FAILED" for a code that the
// library does not know.
func (c Code) String() string {
	return C.GoString(C.quoit_error_code_name(C.QuoitErrorCode(c)))
}

// Error returns the name of the code.
func (c Code) Error() string {
	return c.String()
}

// Error is the error of a failed call. Every error of the packages of this module is an *Error. Nothing has changed,
// except with Unconfirmed.
type Error struct {
	Code    Code
	Message string
	report  *refusalReport
	cause   error
}

// Error returns the message, which has the place, the value and the expected value.
func (e *Error) Error() string {
	return e.Message
}

// Report returns why a request was refused and what would help, for NotNow and Never of Reserve, Hold, Resize and
// Repair; otherwise nil. The first call makes the report, which takes longer than the refusal itself.
func (e *Error) Report() *Report {
	if e.report == nil {
		return nil
	}
	return e.report.get()
}

// refusalReport is a report that is converted when it is first read.
type refusalReport struct {
	once   sync.Once
	c      *C.QuoitReport // nil after the conversion
	report *Report
}

func newRefusalReport(c *C.QuoitReport) *refusalReport {
	report := &refusalReport{c: c}
	runtime.SetFinalizer(report, func(report *refusalReport) { C.quoit_report_unref(report.c) })
	return report
}

func (r *refusalReport) get() *Report {
	r.once.Do(func() {
		r.report = moveReport(r.c)
		r.c = nil
	})
	return r.report
}

// Is reports whether target is the code of e.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Unwrap returns the error of the context that ended the wait, and nil for other failures.
func (e *Error) Unwrap() error {
	return e.cause
}

// ErrClosed is in the chain of every error that a call on a closed value returns. The code of such an error is Invalid.
var ErrClosed = errors.New("used after Close")

func init() {
	cconv.NewError = func(code int, message string) error {
		return &Error{Code: Code(code), Message: message}
	}
	cconv.NewClosedError = closedError
}

// errorFromC converts a GError to a Go error and frees the GError. It returns nil for NULL.
func errorFromC(gerror *C.GError) error {
	return cconv.ErrorFromC(unsafe.Pointer(gerror))
}

// withReport adds the report of a refusal to err. It takes ownership of report, which can be NULL.
func withReport(err error, report *C.QuoitReport) error {
	if report == nil {
		return err
	}
	lazy := newRefusalReport(report)
	var refusal *Error
	if errors.As(err, &refusal) {
		refusal.report = lazy
	}
	return err
}

func cancelledError(cause error) error {
	return &Error{Code: Cancelled, Message: "the wait for another writer was ended: " + cause.Error(), cause: cause}
}

func closedError(what string) error {
	return &Error{Code: Invalid, Message: fmt.Sprintf("the %s has been closed", what), cause: ErrClosed}
}

// nameOf returns the name of an enum value, or a name with the number if the value is newer than this package.
func nameOf[Enum ~int](names map[Enum]string, value Enum) string {
	if name, ok := names[value]; ok {
		return name
	}
	return fmt.Sprintf("UNKNOWN_%d", int(value))
}

// flagNames returns the names of all set flags, separated by bars. The name of bit i is names[i].
func flagNames[Flags ~uint32](names []string, value Flags) string {
	text := ""
	for bit := Flags(1); bit != 0; bit <<= 1 {
		if value&bit == 0 {
			continue
		}
		if text != "" {
			text += "|"
		}
		text += flagName(names, uint32(bit))
	}
	return text
}

func flagName(names []string, bit uint32) string {
	for index, name := range names {
		if uint32(1)<<index == bit {
			return name
		}
	}
	return fmt.Sprintf("UNKNOWN_%d", bit)
}
