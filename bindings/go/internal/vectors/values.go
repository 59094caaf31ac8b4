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

// A JSON value is nil, a bool, a string, an int64, a float64, a big (an integer beyond 64 bits), a []any or an *object.

// object is a JSON object that keeps the order of its members.
type object struct {
	keys   []string
	values map[string]any
}

type big string

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
		return nil, fmt.Errorf("something stands behind it")
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
		return big(text), nil
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

func shown(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%v", value)
	}
	return string(text)
}

// beyond returns why Go cannot hold a value of a row; "" if it can.
func beyond(line []byte, values ...any) string {
	if hasHalfSurrogate(line) {
		return "half of a surrogate pair"
	}
	for _, value := range values {
		if reason := beyondValue(value); reason != "" {
			return reason
		}
	}
	return ""
}

func beyondValue(value any) string {
	switch one := value.(type) {
	case string:
		if strings.Contains(one, "\x00") {
			return "text that holds NUL"
		}
	case big:
		return "an integer beyond 64 bits"
	case []any:
		return beyond(nil, one...)
	case *object:
		for _, key := range one.keys {
			if reason := beyond(nil, key, one.values[key]); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// hasHalfSurrogate checks the escapes in the source text, because Go's JSON reader replaces half surrogates.
func hasHalfSurrogate(line []byte) bool {
	for at := 0; at < len(line); at++ {
		if line[at] != '\\' {
			continue
		}
		if unit := unitAt(line, at); isHigh(unit) && isLow(unitAt(line, at+6)) {
			at += 11
		} else if isHigh(unit) || isLow(unit) {
			return true
		} else {
			at++ // skip the escaped byte
		}
	}
	return false
}

func unitAt(line []byte, at int) uint64 {
	if at+6 > len(line) || line[at] != '\\' || line[at+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(line[at+2:at+6]), 16, 16)
	if err != nil {
		return 0
	}
	return unit
}

func isHigh(unit uint64) bool { return unit >= 0xd800 && unit < 0xdc00 }
func isLow(unit uint64) bool  { return unit >= 0xdc00 && unit < 0xe000 }

// --- input ---

// only returns an object without other members. Another member would be an argument that quoit does not have.
func only(in any, members ...string) (*object, error) {
	given, ok := in.(*object)
	if !ok {
		return nil, skip("an input that is no object")
	}
	for _, key := range given.keys {
		found := false
		for _, member := range members {
			found = found || member == key
		}
		if !found {
			return nil, skip("an argument that quoit has not")
		}
	}
	return given, nil
}

// reading reads the members of an object, until one has a type that Go does not take.
type reading struct {
	*object
	err error
}

func read(in any, members ...string) *reading {
	given, err := only(in, members...)
	if err != nil {
		given = &object{}
	}
	return &reading{given, err}
}

func (r *reading) fail(reason string) {
	if r.err == nil {
		r.err = skip(reason)
	}
}

// textOrNil returns nil if the member is missing or null.
func (r *reading) textOrNil(member string) *string {
	switch one := r.values[member].(type) {
	case nil:
		return nil
	case string:
		return &one
	}
	r.fail("another type where Go takes a text")
	return nil
}

// textOr returns a default if the member is missing or null.
func (r *reading) textOr(member, otherwise string) string {
	if text := r.textOrNil(member); text != nil {
		return *text
	}
	return otherwise
}

func (r *reading) text(member string) string {
	text := r.textOrNil(member)
	if text == nil {
		r.fail("null where Go takes a text")
		return ""
	}
	return *text
}

// integerOrNil returns nil if the member is missing or null.
func (r *reading) integerOrNil(member string) *int64 {
	switch one := r.values[member].(type) {
	case nil:
		return nil
	case int64:
		return &one
	}
	r.fail("another type where Go takes an integer")
	return nil
}

func (r *reading) integerOr(member string, otherwise int64) int64 {
	if number := r.integerOrNil(member); number != nil {
		return *number
	}
	return otherwise
}

func (r *reading) integer(member string) int64 {
	number := r.integerOrNil(member)
	if number == nil {
		r.fail("null where Go takes an integer")
		return 0
	}
	return *number
}

func (r *reading) list(member string) []any {
	switch one := r.values[member].(type) {
	case nil:
		return nil
	case []any:
		return one
	}
	r.fail("another type where Go takes a list")
	return nil
}

func (r *reading) flag(member string, otherwise bool) bool {
	switch one := r.values[member].(type) {
	case nil:
		return otherwise
	case bool:
		return one
	}
	r.fail("another type where Go takes a bool")
	return otherwise
}

// resources returns nil if the member is missing or null.
func (r *reading) resources(member string) ray.Resources {
	resources, err := resourcesOf(r.values[member])
	if err != nil && r.err == nil {
		r.err = err
	}
	return resources
}

func (r *reading) labels(member string) ray.Labels {
	labels, err := labelsOf(r.values[member])
	if err != nil && r.err == nil {
		r.err = err
	}
	return labels
}

func (r *reading) texts(member string) []string {
	values := []string{}
	for _, one := range r.list(member) {
		text, ok := one.(string)
		if !ok {
			r.fail("another type where Go takes a text")
		}
		values = append(values, text)
	}
	return values
}

// numberOf converts a number; a bool counts as one, like in Python.
func numberOf(value any) (float64, bool) {
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

func resourcesOf(value any) (ray.Resources, error) {
	if value == nil {
		return nil, nil
	}
	given, ok := value.(*object)
	if !ok {
		return nil, skip("another type where Go takes resources")
	}
	resources := ray.Resources{}
	for _, name := range given.keys {
		amount, ok := numberOf(given.values[name])
		if !ok {
			return nil, skip("another type where Go takes an amount")
		}
		resources = append(resources, ray.Amount{Name: name, Amount: amount})
	}
	return resources, nil
}

func labelsOf(value any) (ray.Labels, error) {
	if value == nil {
		return nil, nil
	}
	given, ok := value.(*object)
	if !ok {
		return nil, skip("another type where Go takes labels")
	}
	labels := ray.Labels{}
	for _, key := range given.keys {
		text, ok := given.values[key].(string)
		if !ok {
			return nil, skip("another type where Go takes the value of a label")
		}
		labels = append(labels, ray.Label{Key: key, Value: text})
	}
	return labels, nil
}

// --- output ---

func ofResources(resources ray.Resources) any {
	if resources == nil {
		return nil
	}
	answer := &object{}
	for _, one := range resources {
		answer.set(one.Name, one.Amount)
	}
	return answer
}

func ofLabels(labels ray.Labels) *object {
	answer := &object{}
	for _, one := range labels {
		answer.set(one.Key, one.Value)
	}
	return answer
}

func ofTexts(texts []string) any {
	answer := []any{}
	for _, one := range texts {
		answer = append(answer, one)
	}
	return answer
}

func ofNumbers(numbers []int64) any {
	answer := []any{}
	for _, one := range numbers {
		answer = append(answer, one)
	}
	return answer
}

func ofPairs(pairs map[string]string) *object {
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

func ofTextOrNil(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// ofText returns null for "", which stands for no text.
func ofText(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// keepRecorded drops the members that were not recorded; rows of one op record different parts of the answer.
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
