// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// ParseLabels reads labels out of a command line, "KEY=VALUE,KEY=VALUE". One pair of double quotes around all of it and
// blanks around keys and values do not count; of a key that comes twice the last value counts.
//
// It fails with Invalid when a part between commas is no "KEY=VALUE", or when a key or the value that counts is not what
// CheckLabelKey and CheckLabelValue accept.
func ParseLabels(text string) (Labels, error) {
	var a call
	var gerror *C.GError
	value := a.text("labels", text)
	if err := a.Err(); err != nil {
		return nil, err
	}
	labels := C.quoit_ray_labels_parse(value, &gerror)
	return takenLabelsOrError(labels, gerror)
}

// ParseLabelsJSON reads labels out of JSON, in Ray's older way: keys may look as they like but may not begin with
// "ray.io/", values may be any text; of a key that comes twice the last value counts.
//
// It fails with Invalid when it is not strict JSON, no object, or has a value that is no text, or such a key; and, other
// than Ray, for NUL and half of a surrogate pair.
func ParseLabelsJSON(text []byte) (Labels, error) {
	var a call
	var gerror *C.GError
	data, length := a.Document(text)
	labels := C.quoit_ray_labels_parse_json((*C.char)(data), C.size_t(length), &gerror)
	return takenLabelsOrError(labels, gerror)
}

func takenLabelsOrError(labels *C.QuoitRayLabels, gerror *C.GError) (Labels, error) {
	if err := take(gerror); err != nil {
		return nil, err
	}
	return takenLabels(labels), nil
}

// checked is what a check of one text says.
func checked(what, text string, run func(*C.char, **C.GError)) error {
	var a call
	var gerror *C.GError
	value := a.text(what, text)
	if err := a.Err(); err != nil {
		return err
	}
	run(value, &gerror)
	return take(gerror)
}

// CheckLabelKey says whether Ray takes a key of a label: [PREFIX/]NAME. A name is 1 to 63 letters, digits, '-', '_' and
// '.' of ASCII with a letter or digit at both ends; a prefix is at most 253, names or nothing between its points.
//
// It fails with Invalid when Ray does not.
func CheckLabelKey(key string) error {
	return checked("key", key, func(key *C.char, gerror **C.GError) { C.quoit_ray_label_check_key(key, gerror) })
}

// CheckLabelValue says whether Ray takes a value of a label: nothing, or what the name of a key is made of.
//
// It fails with Invalid when Ray does not.
func CheckLabelValue(value string) error {
	return checked("value", value, func(value *C.char, gerror **C.GError) {
		C.quoit_ray_label_check_value(value, gerror)
	})
}

// CheckSelectorValue checks one value of a selector, as CheckSelector does.
//
// It fails with Invalid when Ray refuses it.
func CheckSelectorValue(value string) error {
	return checked("value", value, func(value *C.char, gerror **C.GError) {
		C.quoit_ray_selector_check_value(value, gerror)
	})
}

// CheckSelector says whether Ray takes a label_selector: each key as of a label, each value nothing, "v", "!v", or a list
// in brackets with or without "in" before it. One blank may follow a comma.
//
// It fails with Invalid for the first that Ray does not take.
func CheckSelector(selector Labels) error {
	var a call
	var gerror *C.GError
	defer a.free()
	labels := a.labelsOf("selector", selector)
	if err := a.Err(); err != nil {
		return err
	}
	C.quoit_ray_selector_check(labels, &gerror)
	return take(gerror)
}

// CheckFallback says whether Ray takes a list of selectors, in JSON, to try one after the other. Each element is an object
// with a "label_selector", and nothing else; one that is null or empty asks nothing.
//
// It fails with Invalid for the first that Ray does not take, and for what is not strict JSON.
func CheckFallback(text []byte) error {
	var a call
	var gerror *C.GError
	data, length := a.Document(text)
	C.quoit_ray_fallback_check_json((*C.char)(data), C.size_t(length), &gerror)
	return take(gerror)
}

// SelectorIsNegated says whether a value asks that a label is none of SelectorValues, or is missing.
func SelectorIsNegated(value string) bool {
	var a call
	text := a.text("value", value)
	return a.Err() == nil && C.quoit_ray_selector_is_negated(text) == 1
}

// SelectorValues are the values that Ray's scheduler reads out of a value, sorted by bytes, each once. It checks and
// strips nothing: "in(a, b)" is "a" and " b", "(a,b)" is one value with brackets, "in()" none.
//
// It fails with Invalid for text with a NUL alone.
func SelectorValues(value string) ([]string, error) {
	var a call
	text := a.text("value", value)
	if err := a.Err(); err != nil {
		return nil, err
	}
	return takenStrings(C.quoit_ray_selector_dup_values(text)), nil
}

// SelectorHolds says whether Ray's scheduler finds that a node with these labels is what the selector asks for. Neither
// is checked.
//
// It fails with Invalid for text with a NUL alone.
func SelectorHolds(selector, labels Labels) (bool, error) {
	var a call
	defer a.free()
	wanted, there := a.labelsOf("selector", selector), a.labelsOf("labels", labels)
	if err := a.Err(); err != nil {
		return false, err
	}
	return C.quoit_ray_selector_holds(wanted, there) == 1, nil
}
