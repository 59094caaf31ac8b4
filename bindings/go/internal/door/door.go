// SPDX-License-Identifier: Apache-2.0

// Package door is what goes through to libquoit in either direction: texts, lists of texts and errors. What is made of C
// here is given to the packages of this module, and never to their callers.
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

// NewError makes the error that callers see. Package quoit, which has its type, sets it.
var NewError func(code int, message string) error

// Take is the error that gerror is, which is freed; nil for nil.
func Take(gerror unsafe.Pointer) error {
	if gerror == nil {
		return nil
	}
	taken := (*C.GError)(gerror)
	defer C.g_error_free(taken)
	return NewError(int(taken.code), String(unsafe.Pointer(taken.message)))
}

// Invalid is an error of the code INVALID.
func Invalid(format string, arguments ...any) error {
	return NewError(C.QUOIT_ERROR_INVALID, fmt.Sprintf(format, arguments...))
}

// NotFound is an error of the code NOT_FOUND.
func NotFound(format string, arguments ...any) error {
	return NewError(C.QUOIT_ERROR_NOT_FOUND, fmt.Sprintf(format, arguments...))
}

// Shown is a value as an error names it: cut where it is long, and fit to be printed.
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

// --- in ---

// Arguments of one call: texts and lists as C takes them. The first that cannot be one is Err, and nothing is called
// then. Free frees what is not Go's.
type Arguments struct {
	err  error
	held []unsafe.Pointer
}

// Err says what is wrong with the arguments.
func (a *Arguments) Err() error {
	return a.err
}

// Free frees what C lent for the call.
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

// Text is value with a NUL behind it, in Go's memory: the callee must not keep it. What is the argument's name.
func (a *Arguments) Text(what, value string) unsafe.Pointer {
	if !a.check(what, value) {
		return nil
	}
	data := make([]byte, len(value)+1)
	copy(data, value)
	return unsafe.Pointer(&data[0])
}

// TextOrNull is Text, or NULL for the empty text.
func (a *Arguments) TextOrNull(what, value string) unsafe.Pointer {
	if value == "" {
		return nil
	}
	return a.Text(what, value)
}

// TextOrNil is Text, or NULL for nil.
func (a *Arguments) TextOrNil(what string, value *string) unsafe.Pointer {
	if value == nil {
		return nil
	}
	return a.Text(what, *value)
}

// Document is the bytes of a file, in which NUL is for the reader of its format to refuse, and how many there are.
func (a *Arguments) Document(data []byte) (unsafe.Pointer, int) {
	if len(data) == 0 {
		return a.Text("", ""), 0
	}
	return unsafe.Pointer(&data[0]), len(data)
}

// Texts is a NULL-terminated array of texts.
func (a *Arguments) Texts(what string, values []string) unsafe.Pointer {
	pointers := make([]*string, len(values))
	for index := range values {
		pointers[index] = &values[index]
	}
	return a.TextsOrNil(what, pointers)
}

// TextsOrNil is an array of texts of which some are NULL, with NULL behind the last.
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

// Pairs is a NULL-terminated array of NAME=VALUE, sorted by name; NULL for nil.
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

// --- out ---

// String is a borrowed text; "" for NULL.
func String(text unsafe.Pointer) string {
	return C.GoString((*C.char)(text))
}

// StringOrNil is a borrowed text; nil for NULL.
func StringOrNil(text unsafe.Pointer) *string {
	if text == nil {
		return nil
	}
	value := String(text)
	return &value
}

// TakenString is a text that is the caller's, which is freed; "" for NULL.
func TakenString(text unsafe.Pointer) string {
	value := String(text)
	C.g_free(C.gpointer(text))
	return value
}

// TakenStringOrNil is a text that is the caller's, which is freed; nil for NULL.
func TakenStringOrNil(text unsafe.Pointer) *string {
	value := StringOrNil(text)
	C.g_free(C.gpointer(text))
	return value
}

// TakenStrings is a NULL-terminated array that is the caller's, which is freed; nil for NULL.
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

// TakenPairs is a NULL-terminated array of NAME=VALUE that is the caller's, which is freed; nil for NULL.
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

// TakenBytes is so many bytes that are the caller's, which are freed.
func TakenBytes(data unsafe.Pointer, length int) []byte {
	value := make([]byte, length)
	if length > 0 {
		copy(value, unsafe.Slice((*byte)(data), length))
	}
	C.g_free(C.gpointer(data))
	return value
}
