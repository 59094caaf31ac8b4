// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"

	"quoit"
)

// comparison compares an answer with the recorded answer.
type comparison struct {
	op      op
	classes map[string]quoit.Code
}

func (c comparison) errorCode(class string) quoit.Code {
	if code, known := c.classes[class]; known {
		return code
	}
	return c.classes["*"]
}

// checkError compares a refusal with that of the row.
func (c comparison) checkError(err error, row *object) error {
	var code quoit.Code
	if refused, ok := row.values["err"].(*object); ok {
		code = c.errorCode(refused.values["class"].(string))
	} else if _, inWords := row.values["out"].(string); inWords && c.op.refusals {
		code = c.errorCode("a refusal in words")
	} else {
		return disagreement(err.Error())
	}
	if !errors.Is(err, code) {
		return disagreement(err.Error())
	}
	return nil
}

func (c comparison) equal(got, recorded any) bool {
	switch one := got.(type) {
	case refusal:
		return c.op.refusals && c.equalsRefusal(one.err, recorded)
	case nil:
		return recorded == nil
	case bool:
		other, ok := recorded.(bool)
		return ok && one == other
	case string:
		other, ok := recorded.(string)
		return ok && one == other
	case []any:
		other, ok := recorded.([]any)
		return ok && c.equalLists(one, other)
	case *object:
		other, ok := recorded.(*object)
		return ok && c.equalObjects(one, other)
	}
	if _, isBool := recorded.(bool); isBool {
		return false
	}
	number, ok := toNumber(got)
	other, same := toNumber(recorded)
	return ok && same && number == other && equalIntegers(got, recorded)
}

// equalIntegers compares integers exactly, because different integers can be equal as floating-point numbers.
func equalIntegers(got, recorded any) bool {
	one, isInteger := got.(int64)
	other, areIntegers := recorded.(int64)
	return !isInteger || !areIntegers || one == other
}

// equalsRefusal compares a refusal inside an answer with the recorded one, which is {"error": CLASS} or "CLASS: words".
func (c comparison) equalsRefusal(err error, recorded any) bool {
	switch one := recorded.(type) {
	case string:
		class, _, _ := strings.Cut(one, ":")
		return errors.Is(err, c.errorCode(class))
	case *object:
		class, ok := one.values["error"].(string)
		return ok && errors.Is(err, c.errorCode(class))
	}
	return false
}

func (c comparison) equalLists(got, recorded []any) bool {
	if len(got) != len(recorded) {
		return false
	}
	for index := range got {
		if !c.equal(got[index], recorded[index]) {
			return false
		}
	}
	return true
}

func (c comparison) equalObjects(got, recorded *object) bool {
	if len(got.keys) != len(recorded.keys) {
		return false
	}
	for index, key := range got.keys {
		if !recorded.has(key) || c.op.sameOrder && recorded.keys[index] != key {
			return false
		}
		if !c.equal(got.values[key], recorded.values[key]) {
			return false
		}
	}
	return true
}
