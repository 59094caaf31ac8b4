// SPDX-License-Identifier: Apache-2.0

// Package cconv converts texts, lists and errors between Go and C, and owns C objects. Only the packages of this module
// use it, and they pass no C data to their callers.
//
// C types of cgo belong to one package, so the functions of this package exchange C pointers as unsafe.Pointer.
package cconv

/*
#cgo pkg-config: quoit
#include <stdlib.h>
#include <quoit/error.h>
*/
import "C"

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// NewError returns the error that callers get: a *quoit.Error. It is a variable, which package quoit sets, because this
// package cannot import quoit.
var NewError func(code int, message string) error

// ErrorFromC converts a GError to a Go error and frees the GError. It returns nil for NULL.
func ErrorFromC(gerror unsafe.Pointer) error {
	if gerror == nil {
		return nil
	}
	cError := (*C.GError)(gerror)
	defer C.g_error_free(cError)
	return NewError(int(cError.code), CopyString(unsafe.Pointer(cError.message)))
}

// InvalidError returns an error with the code INVALID.
func InvalidError(format string, arguments ...any) error {
	return NewError(C.QUOIT_ERROR_INVALID, fmt.Sprintf(format, arguments...))
}

// NotFoundError returns an error with the code NOT_FOUND.
func NotFoundError(format string, arguments ...any) error {
	return NewError(C.QUOIT_ERROR_NOT_FOUND, fmt.Sprintf(format, arguments...))
}

// Quote returns a value for an error message: in single quotes, with escapes for what is not printable, and truncated
// to 80 bytes.
func Quote(value string) string {
	const maxLength = 80
	if len(value) > maxLength {
		end := maxLength - len("...")
		for end > 0 && !utf8.RuneStart(value[end]) {
			end--
		}
		value = value[:end] + "..."
	}
	quoted := fmt.Sprintf("%q", value)
	return "'" + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "'"
}

// --- Go to C ---

// Arguments converts the texts and lists of one call to C. Convert all of them, then check Err, and only make the call
// if Err returns nil. Free frees the C memory; call it after the C call.
type Arguments struct {
	err       error
	allocated []unsafe.Pointer
}

// Err returns the first error of the arguments.
func (a *Arguments) Err() error {
	return a.err
}

// Free frees the C memory of the arguments.
func (a *Arguments) Free() {
	for _, memory := range a.allocated {
		C.free(memory)
	}
	a.allocated = nil
}

// checkNoNUL reports whether value has no NUL, and sets the error if it has one. what is the argument's name for
// messages.
func (a *Arguments) checkNoNUL(what, value string) bool {
	at := strings.IndexByte(value, 0)
	if at >= 0 && a.err == nil {
		a.err = InvalidError("%s %s: expected text without NUL, found one at byte %d", what, Quote(value), at)
	}
	return at < 0
}

// Text returns value with a terminating NUL. The memory belongs to Go, so the C function must copy what it keeps. what
// is the argument's name for messages.
func (a *Arguments) Text(what, value string) unsafe.Pointer {
	if !a.checkNoNUL(what, value) {
		return nil
	}
	data := make([]byte, len(value)+1)
	copy(data, value)
	return unsafe.Pointer(&data[0])
}

// TextUnlessEmpty is like Text, but returns NULL for an empty text.
func (a *Arguments) TextUnlessEmpty(what, value string) unsafe.Pointer {
	if value == "" {
		return nil
	}
	return a.Text(what, value)
}

// TextUnlessNil is like Text, but returns NULL for nil.
func (a *Arguments) TextUnlessNil(what string, value *string) unsafe.Pointer {
	if value == nil {
		return nil
	}
	return a.Text(what, *value)
}

// Bytes returns a pointer to the content of a file, and its length. The content can have NULs: C gets the length, and
// the parser of the format refuses NULs.
func (a *Arguments) Bytes(data []byte) (unsafe.Pointer, int) {
	if len(data) == 0 {
		return a.Text("", ""), 0
	}
	return unsafe.Pointer(&data[0]), len(data)
}

// Texts returns a NULL-terminated array of texts.
func (a *Arguments) Texts(what string, values []string) unsafe.Pointer {
	pointers := make([]*string, len(values))
	for index := range values {
		pointers[index] = &values[index]
	}
	return a.TextsOrNulls(what, pointers)
}

// TextsOrNulls is like Texts, but the array has NULL in the place of each nil.
func (a *Arguments) TextsOrNulls(what string, values []*string) unsafe.Pointer {
	size := unsafe.Sizeof(uintptr(0))
	array := C.calloc(C.size_t(len(values)+1), C.size_t(size))
	a.allocated = append(a.allocated, array)
	entries := unsafe.Slice((**C.char)(array), len(values)+1)
	for index, value := range values {
		if value != nil && a.checkNoNUL(fmt.Sprintf("%s[%d]", what, index), *value) {
			entries[index] = C.CString(*value)
			a.allocated = append(a.allocated, unsafe.Pointer(entries[index]))
		}
	}
	return array
}

// Pairs returns a NULL-terminated array of NAME=VALUE, sorted by name. It returns NULL for nil.
func (a *Arguments) Pairs(what string, values map[string]string) unsafe.Pointer {
	if values == nil {
		return nil
	}
	pairs := make([]string, 0, len(values))
	for name, value := range values {
		if strings.Contains(name, "=") && a.err == nil {
			a.err = InvalidError("%s %s: expected a name without '='", what, Quote(name))
		}
		pairs = append(pairs, name+"="+value)
	}
	sort.Strings(pairs)
	return a.Texts(what, pairs)
}

// --- C to Go ---

// The Copy functions leave the C memory to its owner. The Move functions free it.

// CopyString copies a C string. It returns "" for NULL.
func CopyString(text unsafe.Pointer) string {
	return C.GoString((*C.char)(text))
}

// CopyStringOrNil copies a C string. It returns nil for NULL.
func CopyStringOrNil(text unsafe.Pointer) *string {
	if text == nil {
		return nil
	}
	value := CopyString(text)
	return &value
}

// MoveString copies a C string and frees the C string. It returns "" for NULL.
func MoveString(text unsafe.Pointer) string {
	value := CopyString(text)
	C.g_free(C.gpointer(text))
	return value
}

// MoveStrings copies a NULL-terminated array of C strings and frees the array with its strings. It returns nil for
// NULL.
func MoveStrings(array unsafe.Pointer) []string {
	if array == nil {
		return nil
	}
	values := []string{}
	size := unsafe.Sizeof(uintptr(0))
	for entry := array; *(**C.char)(entry) != nil; entry = unsafe.Add(entry, size) {
		values = append(values, C.GoString(*(**C.char)(entry)))
	}
	C.g_strfreev((**C.gchar)(array))
	return values
}

// MovePairs converts a NULL-terminated array of NAME=VALUE to a map and frees the array with its strings. It returns
// nil for NULL.
func MovePairs(array unsafe.Pointer) map[string]string {
	pairs := MoveStrings(array)
	if pairs == nil {
		return nil
	}
	values := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return values
}

// MoveBytes copies length bytes and frees the C memory.
func MoveBytes(data unsafe.Pointer, length int) []byte {
	value := make([]byte, length)
	if length > 0 {
		copy(value, unsafe.Slice((*byte)(data), length))
	}
	C.g_free(C.gpointer(data))
	return value
}
