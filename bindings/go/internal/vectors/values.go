// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"quoit/ray"
)

// A JSON value is nil, a bool, a string, an int64, a float64, a bigInteger, a []any or an *object.

// object is a JSON object that keeps the order of its members.
type object struct {
	keys   []string
	values map[string]any
}

// bigInteger is an integer that does not fit in 64 bits, as text.
type bigInteger string

func (o *object) has(member string) bool {
	_, found := o.values[member]
	return found
}

func (o *object) set(member string, value any) *object {
	if o.values == nil {
		o.values = map[string]any{}
	}
	if !o.has(member) {
		o.keys = append(o.keys, member)
	}
	o.values[member] = value
	return o
}

func readJSON(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value, err := readValue(decoder)
	if err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("expected nothing after the value")
	}
	return value, nil
}

func readValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch one := token.(type) {
	case json.Delim:
		if one == '[' {
			return readArray(decoder)
		}
		return readObject(decoder)
	case json.Number:
		return readNumber(string(one))
	}
	return token, nil
}

func readNumber(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		return strconv.ParseFloat(text, 64)
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return bigInteger(text), nil
	}
	return number, nil
}

func readArray(decoder *json.Decoder) (any, error) {
	values := []any{}
	for decoder.More() {
		value, err := readValue(decoder)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	_, err := decoder.Token()
	return values, err
}

func readObject(decoder *json.Decoder) (any, error) {
	values := &object{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		value, err := readValue(decoder)
		if err != nil {
			return nil, err
		}
		values.set(name.(string), value)
	}
	_, err := decoder.Token()
	return values, err
}

// MarshalJSON writes the members in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for index, key := range o.keys {
		if index > 0 {
			text.WriteByte(',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(o.values[key])
		if err != nil {
			return nil, err
		}
		text.Write(name)
		text.WriteByte(':')
		text.Write(value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%v", value)
	}
	return string(text)
}

// inexpressible returns why Go cannot represent a value of a row; "" if it can represent all values.
func inexpressible(line []byte, values ...any) string {
	if hasHalfSurrogate(line) {
		return "half of a surrogate pair"
	}
	for _, value := range values {
		if reason := inexpressibleValue(value); reason != "" {
			return reason
		}
	}
	return ""
}

func inexpressibleValue(value any) string {
	switch one := value.(type) {
	case string:
		if strings.Contains(one, "\x00") {
			return "a text with a NUL"
		}
	case bigInteger:
		return "an integer that does not fit in 64 bits"
	case []any:
		return inexpressible(nil, one...)
	case *object:
		for _, key := range one.keys {
			if reason := inexpressible(nil, key, one.values[key]); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// hasHalfSurrogate checks the escapes in the source text, because Go's JSON reader replaces half surrogates.
func hasHalfSurrogate(line []byte) bool {
	for valueAt := 0; valueAt < len(line); valueAt++ {
		if line[valueAt] != '\\' {
			continue
		}
		if unit := unitAt(line, valueAt); isHigh(unit) && isLow(unitAt(line, valueAt+6)) {
			valueAt += 11
		} else if isHigh(unit) || isLow(unit) {
			return true
		} else {
			valueAt++ // skip the escaped byte
		}
	}
	return false
}

func unitAt(line []byte, valueAt int) uint64 {
	if valueAt+6 > len(line) || line[valueAt] != '\\' || line[valueAt+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(line[valueAt+2:valueAt+6]), 16, 16)
	if err != nil {
		return 0
	}
	return unit
}

func isHigh(unit uint64) bool { return unit >= 0xd800 && unit < 0xdc00 }
func isLow(unit uint64) bool  { return unit >= 0xdc00 && unit < 0xe000 }

// --- input ---

// checkMembers returns the input as an object, or a skip if it has other members than the given ones: each member is an
// argument, and quoit does not have the others.
func checkMembers(in any, members ...string) (*object, error) {
	given, ok := in.(*object)
	if !ok {
		return nil, skip("the input is not an object")
	}
	for _, key := range given.keys {
		found := false
		for _, member := range members {
			found = found || member == key
		}
		if !found {
			return nil, skip("an argument that quoit does not have")
		}
	}
	return given, nil
}

// objectReader reads the members of an object. If one has a type that Go does not accept, it sets err to a skip, and
// what it returns does not matter.
type objectReader struct {
	*object
	err error
}

func newReader(in any, members ...string) *objectReader {
	given, err := checkMembers(in, members...)
	if err != nil {
		given = &object{}
	}
	return &objectReader{given, err}
}

func (r *objectReader) fail(reason string) {
	if r.err == nil {
		r.err = skip(reason)
	}
}

// textOrNil returns nil if the member is missing or null.
func (r *objectReader) textOrNil(member string) *string {
	switch one := r.values[member].(type) {
	case nil:
		return nil
	case string:
		return &one
	}
	r.fail("Go requires a text, and the value has another type")
	return nil
}

// textOr returns a default if the member is missing or null.
func (r *objectReader) textOr(member, otherwise string) string {
	if text := r.textOrNil(member); text != nil {
		return *text
	}
	return otherwise
}

func (r *objectReader) text(member string) string {
	text := r.textOrNil(member)
	if text == nil {
		r.fail("Go requires a text, and the value is null")
		return ""
	}
	return *text
}

// integerOrNil returns nil if the member is missing or null.
func (r *objectReader) integerOrNil(member string) *int64 {
	switch one := r.values[member].(type) {
	case nil:
		return nil
	case int64:
		return &one
	}
	r.fail("Go requires an integer, and the value has another type")
	return nil
}

func (r *objectReader) integerOr(member string, otherwise int64) int64 {
	if number := r.integerOrNil(member); number != nil {
		return *number
	}
	return otherwise
}

func (r *objectReader) integer(member string) int64 {
	number := r.integerOrNil(member)
	if number == nil {
		r.fail("Go requires an integer, and the value is null")
		return 0
	}
	return *number
}

func (r *objectReader) list(member string) []any {
	switch one := r.values[member].(type) {
	case nil:
		return nil
	case []any:
		return one
	}
	r.fail("Go requires a list, and the value has another type")
	return nil
}

func (r *objectReader) flag(member string, otherwise bool) bool {
	switch one := r.values[member].(type) {
	case nil:
		return otherwise
	case bool:
		return one
	}
	r.fail("Go requires a bool, and the value has another type")
	return otherwise
}

// resources returns nil if the member is missing or null.
func (r *objectReader) resources(member string) ray.Resources {
	resources, err := toResources(r.values[member])
	if err != nil && r.err == nil {
		r.err = err
	}
	return resources
}

func (r *objectReader) labels(member string) ray.Labels {
	labels, err := toLabels(r.values[member])
	if err != nil && r.err == nil {
		r.err = err
	}
	return labels
}

func (r *objectReader) texts(member string) []string {
	values := []string{}
	for _, one := range r.list(member) {
		text, ok := one.(string)
		if !ok {
			r.fail("Go requires a text, and the value has another type")
		}
		values = append(values, text)
	}
	return values
}

// toNumber converts a number. A bool counts as 0 or 1, like in Python.
func toNumber(value any) (float64, bool) {
	switch one := value.(type) {
	case int64:
		return float64(one), true
	case float64:
		return one, true
	case bool:
		if one {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func toResources(value any) (ray.Resources, error) {
	if value == nil {
		return nil, nil
	}
	given, ok := value.(*object)
	if !ok {
		return nil, skip("Go requires resources, and the value has another type")
	}
	resources := ray.Resources{}
	for _, name := range given.keys {
		amount, ok := toNumber(given.values[name])
		if !ok {
			return nil, skip("Go requires an amount, and the value has another type")
		}
		resources = append(resources, ray.Amount{Name: name, Amount: amount})
	}
	return resources, nil
}

func toLabels(value any) (ray.Labels, error) {
	if value == nil {
		return nil, nil
	}
	given, ok := value.(*object)
	if !ok {
		return nil, skip("Go requires labels, and the value has another type")
	}
	labels := ray.Labels{}
	for _, key := range given.keys {
		text, ok := given.values[key].(string)
		if !ok {
			return nil, skip("Go requires the value of a label, and the value has another type")
		}
		labels = append(labels, ray.Label{Key: key, Value: text})
	}
	return labels, nil
}

// --- output ---

func resourcesToJSON(resources ray.Resources) any {
	if resources == nil {
		return nil
	}
	answer := &object{}
	for _, one := range resources {
		answer.set(one.Name, one.Amount)
	}
	return answer
}

func labelsToJSON(labels ray.Labels) *object {
	answer := &object{}
	for _, one := range labels {
		answer.set(one.Key, one.Value)
	}
	return answer
}

func textsToJSON(texts []string) any {
	answer := []any{}
	for _, one := range texts {
		answer = append(answer, one)
	}
	return answer
}

func integersToJSON(numbers []int64) any {
	answer := []any{}
	for _, one := range numbers {
		answer = append(answer, one)
	}
	return answer
}

func pairsToJSON(pairs map[string]string) *object {
	answer := &object{}
	names := make([]string, 0, len(pairs))
	for name := range pairs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		answer.set(name, pairs[name])
	}
	return answer
}

func textPointerToJSON(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// textToJSON converts a text. "" stands for no text and becomes null.
func textToJSON(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// keepRecorded returns only the members of an answer that the row records, because rows of one op record different
// parts.
func keepRecorded(answer *object, recorded any) any {
	wanted, ok := recorded.(*object)
	if !ok {
		return answer
	}
	kept := &object{}
	for _, key := range answer.keys {
		if wanted.has(key) {
			kept.set(key, answer.values[key])
		}
	}
	return kept
}

// refusal is a refusal inside an answer. It is compared with {"error": CLASS, "message": ...}.
type refusal struct{ err error }

func isWhole(number float64) bool { return number == math.Trunc(number) && math.Abs(number) < 1<<53 }
