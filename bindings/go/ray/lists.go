// SPDX-License-Identifier: Apache-2.0

package ray

/*
#cgo pkg-config: quoit
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	_ "quoit" // sets door.NewError
	"quoit/internal/door"
)

// Amount is an amount of a resource. It is a float64 because Ray computes with doubles; quoit itself does not.
type Amount struct {
	Name   string
	Amount float64
}

// Resources is an ordered list of amounts. If a name occurs twice, the last amount counts, at the position of the
// first. nil differs from an empty list if it does in Ray.
type Resources []Amount

// Label is a key and its value.
type Label struct {
	Key, Value string
}

// Labels is an ordered list of the labels of a node, or of the entries of a selector, whose values are "v", "!v",
// "in(a,b)" or "!in(a,b)". If a key occurs twice, the last value counts, at the position of the first.
type Labels []Label

// Get returns the value of a key, and whether the key exists.
func (l Labels) Get(key string) (string, bool) {
	value, found := "", false
	for _, one := range l {
		if one.Key == key {
			value, found = one.Value, true
		}
	}
	return value, found
}

// Get returns the amount of a resource, and whether the resource exists.
func (r Resources) Get(name string) (float64, bool) {
	amount, found := 0.0, false
	for _, one := range r {
		if one.Name == name {
			amount, found = one.Amount, true
		}
	}
	return amount, found
}

// --- Go to C ---

// call has the arguments of one call, which are freed after it.
type call struct {
	door.Arguments
	resources []*C.QuoitRayResources
	labels    []*C.QuoitRayLabels
}

func (a *call) free() {
	a.Free()
	for _, one := range a.resources {
		C.quoit_ray_resources_free(one)
	}
	for _, one := range a.labels {
		C.quoit_ray_labels_free(one)
	}
}

func (a *call) text(what, value string) *C.char {
	return (*C.char)(a.Text(what, value))
}

func (a *call) textOrNull(what, value string) *C.char {
	return (*C.char)(a.TextOrNull(what, value))
}

func (a *call) textOrNil(what string, value *string) *C.char {
	return (*C.char)(a.TextOrNil(what, value))
}

func (a *call) texts(what string, values []string) **C.char {
	return (**C.char)(a.Texts(what, values))
}

func (a *call) pairs(what string, values map[string]string) **C.char {
	return (**C.char)(a.Pairs(what, values))
}

// resourcesOrNil converts a list to a C object; NULL for nil.
func (a *call) resourcesOrNil(what string, values Resources) *C.QuoitRayResources {
	if values == nil {
		return nil
	}
	c := C.quoit_ray_resources_new()
	a.resources = append(a.resources, c)
	for _, one := range values {
		if name := a.text(what, one.Name); a.Err() == nil {
			C.quoit_ray_resources_set(c, name, C.double(one.Amount))
		}
	}
	return c
}

// labelsOrNil converts a list to a C object; NULL for nil.
func (a *call) labelsOrNil(what string, values Labels) *C.QuoitRayLabels {
	if values == nil {
		return nil
	}
	c := C.quoit_ray_labels_new()
	a.labels = append(a.labels, c)
	for _, one := range values {
		key, value := a.text(what, one.Key), a.text(what, one.Value)
		if a.Err() == nil {
			C.quoit_ray_labels_set(c, key, value)
		}
	}
	return c
}

// labelsOf converts a list to a C object, which is empty for nil.
func (a *call) labelsOf(what string, values Labels) *C.QuoitRayLabels {
	if values == nil {
		values = Labels{}
	}
	return a.labelsOrNil(what, values)
}

func number(value *int64) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(value))
}

// --- C to Go ---

func take(gerror *C.GError) error {
	return door.Take(unsafe.Pointer(gerror))
}

func taken(text *C.char) string {
	return door.TakenString(unsafe.Pointer(text))
}

func takenStrings(texts **C.char) []string {
	return door.TakenStrings(unsafe.Pointer(texts))
}

func takenPairs(texts **C.char) map[string]string {
	return door.TakenPairs(unsafe.Pointer(texts))
}

func borrowed(text *C.char) string {
	return C.GoString(text)
}

// resourcesOf copies a list that C owns; nil for NULL.
func resourcesOf(c *C.QuoitRayResources) Resources {
	if c == nil {
		return nil
	}
	values := Resources{}
	for {
		index := C.unsigned(len(values))
		name := C.quoit_ray_resources_get_name(c, index)
		if name == nil {
			return values
		}
		values = append(values, Amount{C.GoString(name), float64(C.quoit_ray_resources_get_amount(c, index))})
	}
}

func takenResources(c *C.QuoitRayResources) Resources {
	defer C.quoit_ray_resources_free(c)
	return resourcesOf(c)
}

// labelsFrom copies a list that C owns; nil for NULL. A None value becomes "".
func labelsFrom(c *C.QuoitRayLabels) Labels {
	if c == nil {
		return nil
	}
	values := Labels{}
	for {
		index := C.unsigned(len(values))
		key := C.quoit_ray_labels_get_key(c, index)
		if key == nil {
			return values
		}
		values = append(values, Label{C.GoString(key), C.GoString(C.quoit_ray_labels_get_value(c, index))})
	}
}

func takenLabels(c *C.QuoitRayLabels) Labels {
	defer C.quoit_ray_labels_free(c)
	return labelsFrom(c)
}
