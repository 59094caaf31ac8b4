// SPDX-License-Identifier: Apache-2.0

// Package door converts texts, lists and errors between Go and libquoit. Its values with C data are for the packages of
// this module only; they are not passed to callers.
package door

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

// NewError creates the error that callers get. Package quoit, which defines its type, sets this variable.
var NewError func(code int, message string) error

// Take converts a GError to an error and frees it. It returns nil for nil.
func Take(gerror unsafe.Pointer) error {
	if gerror == nil {
		return nil
	}
	taken := (*C.GError)(gerror)
	defer C.g_error_free(taken)
	return NewError(int(taken.code), String(unsafe.Pointer(taken.message)))
}

// Invalid returns an error with the code INVALID.
func Invalid(format string, arguments ...any) error {
	return NewError(C.QUOIT_ERROR_INVALID, fmt.Sprintf(format, arguments...))
}

// NotFound returns an error with the code NOT_FOUND.
func NotFound(format string, arguments ...any) error {
	return NewError(C.QUOIT_ERROR_NOT_FOUND, fmt.Sprintf(format, arguments...))
}

// Shown returns a value as an error message contains it: truncated if it is long, and printable.
func Shown(value string) string {
	const most = 80
	if len(value) > most {
		cut := most - 3
		for cut > 0 && !utf8.RuneStart(value[cut]) {
			cut--
		}
		value = value[:cut] + "..."
	}
	quoted := fmt.Sprintf("%q", value)
	return "'" + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "'"
}

// --- Go to C ---

// Arguments converts the texts and lists of one call to C. Err returns the first error; the call must not be made then.
// Free frees the C memory.
type Arguments struct {
	err  error
	held []unsafe.Pointer
}

// Err returns the first error of the arguments.
func (a *Arguments) Err() error {
	return a.err
}

// Free frees the C memory of the arguments.
func (a *Arguments) Free() {
	for _, one := range a.held {
		C.free(one)
	}
	a.held = nil
}

func (a *Arguments) check(what, value string) bool {
	at := strings.IndexByte(value, 0)
	if at >= 0 && a.err == nil {
		a.err = Invalid("%s %s: expected text without NUL, found one at byte %d", what, Shown(value), at)
	}
	return at < 0
}

// Text returns value with a terminating NUL. The memory belongs to Go, so the callee must not keep it. what is the
// argument's name for messages.
func (a *Arguments) Text(what, value string) unsafe.Pointer {
	if !a.check(what, value) {
		return nil
	}
	data := make([]byte, len(value)+1)
	copy(data, value)
	return unsafe.Pointer(&data[0])
}

// TextOrNull is like Text, but returns NULL for an empty text.
func (a *Arguments) TextOrNull(what, value string) unsafe.Pointer {
	if value == "" {
		return nil
	}
	return a.Text(what, value)
}

// TextOrNil is like Text, but returns NULL for nil.
func (a *Arguments) TextOrNil(what string, value *string) unsafe.Pointer {
	if value == nil {
		return nil
	}
	return a.Text(what, *value)
}

// Document returns the bytes of a file and their number. It does not check for NUL, which the reader of the format
// refuses.
func (a *Arguments) Document(data []byte) (unsafe.Pointer, int) {
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
	return a.TextsOrNil(what, pointers)
}

// TextsOrNil is like Texts, with NULL for each nil.
func (a *Arguments) TextsOrNil(what string, values []*string) unsafe.Pointer {
	size := unsafe.Sizeof(uintptr(0))
	array := C.calloc(C.size_t(len(values)+1), C.size_t(size))
	a.held = append(a.held, array)
	entries := unsafe.Slice((**C.char)(array), len(values)+1)
	for index, value := range values {
		if value != nil && a.check(fmt.Sprintf("%s[%d]", what, index), *value) {
			entries[index] = C.CString(*value)
			a.held = append(a.held, unsafe.Pointer(entries[index]))
		}
	}
	return array
}

// Pairs returns a NULL-terminated array of NAME=VALUE, sorted by name; NULL for nil.
func (a *Arguments) Pairs(what string, values map[string]string) unsafe.Pointer {
	if values == nil {
		return nil
	}
	pairs := make([]string, 0, len(values))
	for name, value := range values {
		if strings.Contains(name, "=") && a.err == nil {
			a.err = Invalid("%s %s: expected a name without '='", what, Shown(name))
		}
		pairs = append(pairs, name+"="+value)
	}
	sort.Strings(pairs)
	return a.Texts(what, pairs)
}

// --- C to Go ---

// String copies a text that C owns; "" for NULL.
func String(text unsafe.Pointer) string {
	return C.GoString((*C.char)(text))
}

// StringOrNil copies a text that C owns; nil for NULL.
func StringOrNil(text unsafe.Pointer) *string {
	if text == nil {
		return nil
	}
	value := String(text)
	return &value
}

// TakenString copies a text and frees it; "" for NULL.
func TakenString(text unsafe.Pointer) string {
	value := String(text)
	C.g_free(C.gpointer(text))
	return value
}

// TakenStringOrNil copies a text and frees it; nil for NULL.
func TakenStringOrNil(text unsafe.Pointer) *string {
	value := StringOrNil(text)
	C.g_free(C.gpointer(text))
	return value
}

// TakenStrings copies a NULL-terminated array and frees it; nil for NULL.
func TakenStrings(array unsafe.Pointer) []string {
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

// TakenPairs copies a NULL-terminated array of NAME=VALUE and frees it; nil for NULL.
func TakenPairs(array unsafe.Pointer) map[string]string {
	pairs := TakenStrings(array)
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

// TakenBytes copies length bytes and frees them.
func TakenBytes(data unsafe.Pointer, length int) []byte {
	value := make([]byte, length)
	if length > 0 {
		copy(value, unsafe.Slice((*byte)(data), length))
	}
	C.g_free(C.gpointer(data))
	return value
}
