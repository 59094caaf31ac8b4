// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

// ParseLabels parses labels of a command line, "KEY=VALUE,KEY=VALUE". It ignores one pair of double quotes around the
// whole text, and blanks around keys and values. If a key occurs twice, the last value counts.
//
// It fails with Invalid if a part between commas is not "KEY=VALUE", or if CheckLabelKey or CheckLabelValue refuses a
// key or the value that counts.
func ParseLabels(text string) (Labels, error) {
	var a call
	var gerror *C.GError
	value := a.text("labels", text)
	if err := a.Err(); err != nil {
		return nil, err
	}
	labels := C.quoit_ray_labels_parse(value, &gerror)
	return labelsOrError(labels, gerror)
}

// ParseLabelsJSON parses labels in JSON, which is Ray's older format: keys are not validated but must not begin with
// "ray.io/", and values can be any text. If a key occurs twice, the last value counts.
//
// It fails with Invalid if the text is not strict JSON or not an object, or if it has a value that is not text, or such
// a key. Unlike Ray, it also fails for NUL and half of a surrogate pair.
func ParseLabelsJSON(text []byte) (Labels, error) {
	var a call
	var gerror *C.GError
	data, length := a.Bytes(text)
	labels := C.quoit_ray_labels_parse_json((*C.char)(data), C.size_t(length), &gerror)
	return labelsOrError(labels, gerror)
}

// labelsOrError converts and frees labels, unless the call that returned them failed with gerror.
func labelsOrError(labels *C.QuoitRayLabels, gerror *C.GError) (Labels, error) {
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return moveLabels(labels), nil
}

// checkText runs a C function that checks one text. what is the argument's name for messages.
func checkText(what, text string, run func(*C.char, **C.GError)) error {
	var a call
	var gerror *C.GError
	value := a.text(what, text)
	if err := a.Err(); err != nil {
		return err
	}
	run(value, &gerror)
	return errorFromC(gerror)
}

// CheckLabelKey checks whether Ray accepts a label key: [PREFIX/]NAME. A name is 1 to 63 ASCII letters, digits, '-',
// '_' and '.', with a letter or digit at both ends. A prefix has at most 253 bytes. It is a list of names, which can be
// empty, separated by points.
//
// It fails with Invalid if Ray refuses the key.
func CheckLabelKey(key string) error {
	return checkText("key", key, func(key *C.char, gerror **C.GError) { C.quoit_ray_label_check_key(key, gerror) })
}

// CheckLabelValue checks whether Ray accepts a label value: an empty text, or text with the syntax of a key's name.
//
// It fails with Invalid if Ray refuses the value.
func CheckLabelValue(value string) error {
	return checkText("value", value, func(value *C.char, gerror **C.GError) {
		C.quoit_ray_label_check_value(value, gerror)
	})
}

// CheckSelectorValue checks one value of a selector, like CheckSelector.
//
// It fails with Invalid if Ray refuses it.
func CheckSelectorValue(value string) error {
	return checkText("value", value, func(value *C.char, gerror **C.GError) {
		C.quoit_ray_selector_check_value(value, gerror)
	})
}

// CheckSelector checks whether Ray accepts a label_selector: each key must be a valid label key, and each value "",
// "v", "!v", or a list in parentheses with or without "in" in front. One blank can follow a comma.
//
// It fails with Invalid for the first entry that Ray refuses.
func CheckSelector(selector Labels) error {
	var a call
	var gerror *C.GError
	defer a.free()
	cSelector := a.labelsOrEmpty("selector", selector)
	if err := a.Err(); err != nil {
		return err
	}
	C.quoit_ray_selector_check(cSelector, &gerror)
	return errorFromC(gerror)
}

// CheckFallback checks whether Ray accepts a fallback_strategy in JSON, which is a list of selectors that Ray tries in
// order. Each element is an object with only a "label_selector"; a null or empty selector selects everything.
//
// It fails with Invalid for the first element that Ray refuses, and for text that is not strict JSON.
func CheckFallback(text []byte) error {
	var a call
	var gerror *C.GError
	data, length := a.Bytes(text)
	C.quoit_ray_fallback_check_json((*C.char)(data), C.size_t(length), &gerror)
	return errorFromC(gerror)
}

// SelectorIsNegated reports whether a selector value requires that the label is missing or has none of SelectorValues.
func SelectorIsNegated(value string) bool {
	var a call
	text := a.text("value", value)
	return a.Err() == nil && bool(C.quoit_ray_selector_is_negated(text))
}

// SelectorValues returns the values that Ray's scheduler reads from a selector value, sorted by bytes, without
// duplicates. It validates and strips nothing: "in(a, b)" has the values "a" and " b", "(a,b)" is one value with
// parentheses, and "in()" has no values.
//
// It fails with Invalid only for text with a NUL.
func SelectorValues(value string) ([]string, error) {
	var a call
	text := a.text("value", value)
	if err := a.Err(); err != nil {
		return nil, err
	}
	return moveStrings(C.quoit_ray_selector_dup_values(text)), nil
}

// SelectorHolds reports whether, for Ray's scheduler, a node with these labels matches the selector. It validates
// neither argument.
//
// It fails with Invalid only for text with a NUL.
func SelectorHolds(selector, labels Labels) (bool, error) {
	var a call
	defer a.free()
	cSelector, cLabels := a.labelsOrEmpty("selector", selector), a.labelsOrEmpty("labels", labels)
	if err := a.Err(); err != nil {
		return false, err
	}
	return bool(C.quoit_ray_selector_holds(cSelector, cLabels)), nil
}
