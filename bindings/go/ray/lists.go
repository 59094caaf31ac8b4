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

	_ "quoit" // sets cconv.NewError
	"quoit/internal/cconv"
)

// Amount is an amount of a resource. It is a float64 because Ray computes with doubles; quoit itself does not.
type Amount struct {
	Name   string
	Amount float64
}

// Resources is an ordered list of amounts. If a name occurs twice, the last amount counts, at the position of the
// first. nil differs from an empty list where None differs from {} in Ray.
type Resources []Amount

// Label is a key and its value.
type Label struct {
	Key, Value string
}

// Labels is an ordered list of the labels of a node, or of the entries of a selector. The values of a selector are "v",
// "!v", "in(a,b)" or "!in(a,b)". If a key occurs twice, the last value counts, at the position of the first.
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

// call converts the arguments of one call to C and owns them. free frees them after the call.
type call struct {
	cconv.Arguments
	resources []*C.QuoitRayResources // to free
	labels    []*C.QuoitRayLabels    // to free
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

func (a *call) textUnlessEmpty(what, value string) *C.char {
	return (*C.char)(a.TextUnlessEmpty(what, value))
}

func (a *call) textUnlessNil(what string, value *string) *C.char {
	return (*C.char)(a.TextUnlessNil(what, value))
}

func (a *call) texts(what string, values []string) **C.char {
	return (**C.char)(a.Texts(what, values))
}

func (a *call) pairs(what string, values map[string]string) **C.char {
	return (**C.char)(a.Pairs(what, values))
}

// resourcesUnlessNil converts a list to a C object. It returns NULL for nil.
func (a *call) resourcesUnlessNil(what string, values Resources) *C.QuoitRayResources {
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

// labelsUnlessNil converts a list to a C object. It returns NULL for nil.
func (a *call) labelsUnlessNil(what string, values Labels) *C.QuoitRayLabels {
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

// labelsOrEmpty is like labelsUnlessNil, but returns an empty C object for nil.
func (a *call) labelsOrEmpty(what string, values Labels) *C.QuoitRayLabels {
	if values == nil {
		values = Labels{}
	}
	return a.labelsUnlessNil(what, values)
}

// cNumber returns a pointer for an optional C argument. It returns NULL for nil.
func cNumber(value *int64) *C.int64_t {
	return (*C.int64_t)(unsafe.Pointer(value))
}

// --- C to Go ---

func errorFromC(gerror *C.GError) error {
	return cconv.ErrorFromC(unsafe.Pointer(gerror))
}

func moveString(text *C.char) string {
	return cconv.MoveString(unsafe.Pointer(text))
}

func moveStrings(texts **C.char) []string {
	return cconv.MoveStrings(unsafe.Pointer(texts))
}

func movePairs(texts **C.char) map[string]string {
	return cconv.MovePairs(unsafe.Pointer(texts))
}

func copyString(text *C.char) string {
	return C.GoString(text)
}

// resourcesFromC copies a list that C owns. It returns nil for NULL.
func resourcesFromC(c *C.QuoitRayResources) Resources {
	if c == nil {
		return nil
	}
	values := Resources{}
	for {
		index := C.uint32_t(len(values))
		name := C.quoit_ray_resources_get_name(c, index)
		if name == nil {
			return values
		}
		values = append(values, Amount{C.GoString(name), float64(C.quoit_ray_resources_get_amount(c, index))})
	}
}

func moveResources(c *C.QuoitRayResources) Resources {
	defer C.quoit_ray_resources_free(c)
	return resourcesFromC(c)
}

// labelsFromC copies a list that C owns. It returns nil for NULL. A value of None becomes "".
func labelsFromC(c *C.QuoitRayLabels) Labels {
	if c == nil {
		return nil
	}
	values := Labels{}
	for {
		index := C.uint32_t(len(values))
		key := C.quoit_ray_labels_get_key(c, index)
		if key == nil {
			return values
		}
		values = append(values, Label{C.GoString(key), C.GoString(C.quoit_ray_labels_get_value(c, index))})
	}
}

func moveLabels(c *C.QuoitRayLabels) Labels {
	defer C.quoit_ray_labels_free(c)
	return labelsFromC(c)
}
