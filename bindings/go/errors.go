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
	"unsafe"

	"quoit/internal/door"
)

// Code says why a call failed. The numbers are permanent: they are also the exit status of the command and the key of the
// exception class in Python. There may be codes that this package does not know.
//
// A Code is an error itself, so that errors.Is(err, quoit.NotNow) asks for it.
type Code int

// The codes there are.
const (
	Failed      Code = C.QUOIT_ERROR_FAILED      // a bug of quoit, or the unforeseen: report it
	Usage       Code = C.QUOIT_ERROR_USAGE       // the command line is not one of quoit's
	Invalid     Code = C.QUOIT_ERROR_INVALID     // the input breaks a rule; the message has place, value and expectation
	NotFound    Code = C.QUOIT_ERROR_NOT_FOUND   // no such node, slice, group, file
	NotNow      Code = C.QUOIT_ERROR_NOT_NOW     // fits the fleet, but not at present: wait, or do what the report proposes
	Never       Code = C.QUOIT_ERROR_NEVER       // not even with all groups released and every known node alive and undrained
	Conflict    Code = C.QUOIT_ERROR_CONFLICT    // the state contradicts the request: read the state, do not retry blindly
	Store       Code = C.QUOIT_ERROR_STORE       // the disk, its permissions or its size; nothing was written
	Version     Code = C.QUOIT_ERROR_VERSION     // the database is of another version of quoit
	Busy        Code = C.QUOIT_ERROR_BUSY        // another process is writing: wait and retry
	Expired     Code = C.QUOIT_ERROR_EXPIRED     // the lease had ended
	Cancelled   Code = C.QUOIT_ERROR_CANCELLED   // the context, or Ledger.Interrupt, ended the wait
	Damaged     Code = C.QUOIT_ERROR_DAMAGED     // the database contradicts itself or its journal: restore a backup
	Unconfirmed Code = C.QUOIT_ERROR_UNCONFIRMED // the change is written, but its answer was lost: retry with the same key, or look
)

// String is the name of the code as the documentation writes it: "NOT_NOW"; "FAILED" for one that the library does not
// know.
func (c Code) String() string {
	return C.GoString(C.quoit_error_code_name(C.QuoitErrorCode(c)))
}

// Error is the name of the code.
func (c Code) Error() string {
	return c.String()
}

// Error is why a call failed. Every error of this package and of quoit/ray is one. Nothing has changed, except with
// Unconfirmed.
type Error struct {
	Code    Code
	Message string
	Report  *Report // why placement refused, with NotNow and Never of Reserve, Hold, Resize and Repair; otherwise nil
	cause   error
}

// Error is the message: place, value and expectation.
func (e *Error) Error() string {
	return e.Message
}

// Is says whether target is the code of e.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Unwrap is the error of the context that ended the wait; nil for other failures.
func (e *Error) Unwrap() error {
	return e.cause
}

// ErrClosed is in the chain of every error that a call on something closed returns; its code is Invalid.
var ErrClosed = errors.New("used after Close")

func init() {
	door.NewError = func(code int, message string) error {
		return &Error{Code: Code(code), Message: message}
	}
	door.NewClosedError = closed
}

func take(gerror *C.GError) error {
	return door.Take(unsafe.Pointer(gerror))
}

// explained adds the report of a refusal, which it takes, to err.
func explained(err error, report *C.QuoitReport) error {
	if report == nil {
		return err
	}
	taken := takenReport(report)
	var refusal *Error
	if errors.As(err, &refusal) {
		refusal.Report = taken
	}
	return err
}

func cancelled(cause error) error {
	return &Error{Code: Cancelled, Message: "the wait for another writer was ended: " + cause.Error(), cause: cause}
}

func closed(what string) error {
	return &Error{Code: Invalid, Message: fmt.Sprintf("the %s has been closed", what), cause: ErrClosed}
}

// named is the name of a value of an enum, or one for a value that is newer than this package.
func named[Enum ~int](names map[Enum]string, value Enum) string {
	if name, ok := names[value]; ok {
		return name
	}
	return fmt.Sprintf("UNKNOWN_%d", int(value))
}

// namedFlags is the names of all flags that are set, with bars between them.
func namedFlags[Flags ~uint32](names []string, value Flags) string {
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
