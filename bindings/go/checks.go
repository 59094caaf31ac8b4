// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"quoit/internal/door"
)

// Severity is what a finding means for whoever applies the manifest.
type Severity int

// The severities.
const (
	SeverityError   Severity = C.QUOIT_SEVERITY_ERROR   // a system that reads it refuses it, or it contradicts itself
	SeverityWarning Severity = C.QUOIT_SEVERITY_WARNING // every system takes it, and it does not do what it says
	SeverityNote    Severity = C.QUOIT_SEVERITY_NOTE    // nothing is wrong; something was not looked at, or is unusual
)

var severityNames = map[Severity]string{SeverityError: "ERROR", SeverityWarning: "WARNING", SeverityNote: "NOTE"}

// String is the name of the severity.
func (s Severity) String() string { return named(severityNames, s) }

// Finding is what breaks a rule, at one place.
type Finding struct {
	Line     int // from 1: at the key of the field, or at the map that lacks one
	Column   int // in characters from 1
	Severity Severity
	Rule     string // the name of the rule, "numofhosts-topology", which never changes its meaning
	Path     string // the way to the place within its document: "$.spec.workerGroupSpecs[0].numOfHosts"
	Value    string // what stands there, as it is written, cut after 1024 bytes; "" also where it is missing, a list or a map
	HasValue bool   // false: it is missing, or a list or map
	Expected string // what should stand there, in words
	Message  string // field, value and expectation as one line without the place
}

// CheckManifest finds all that Kubernetes, KubeRay 1.7.0 or its TPU webhook would refuse in a manifest, YAML with any
// number of documents, and what they let through although it cannot work: one finding for each rule and place, in the
// order of lines and columns. Variables are values for each ${NAME} in it; nil for none.
//
// It fails with Invalid when the text is not YAML (the message begins with line and column), or variables are no such
// texts. A manifest that is wrong is no failure.
func CheckManifest(text []byte, variables map[string]string) ([]Finding, error) {
	var arguments door.Arguments
	var gerror *C.GError
	defer arguments.Free()
	pairs := (**C.char)(arguments.Pairs("variables", variables))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	data, length := arguments.Document(text)
	c := C.quoit_check_manifest((*C.char)(data), C.size_t(length), pairs, &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	defer C.quoit_check_free(c)
	findings := make([]Finding, C.quoit_check_get_n_findings(c))
	for index := range findings {
		finding := C.uint32_t(index)
		value := C.quoit_check_get_value(c, finding)
		findings[index] = Finding{
			Line:     int(C.quoit_check_get_line(c, finding)),
			Column:   int(C.quoit_check_get_column(c, finding)),
			Severity: Severity(C.quoit_check_get_severity(c, finding)),
			Rule:     C.GoString(C.quoit_check_get_rule(c, finding)),
			Path:     C.GoString(C.quoit_check_get_path(c, finding)),
			Value:    C.GoString(value),
			HasValue: value != nil,
			Expected: C.GoString(C.quoit_check_get_expected(c, finding)),
			Message:  C.GoString(C.quoit_check_get_message(c, finding)),
		}
	}
	return findings, nil
}

// Rule is one that CheckManifest knows.
type Rule struct {
	Name     string
	Severity Severity // of every finding of it
}

// Rules are all that CheckManifest knows.
func Rules() []Rule {
	var rules []Rule
	for {
		name := C.quoit_check_rule_get_name(C.unsigned(len(rules)))
		if name == nil {
			return rules
		}
		severity := Severity(C.quoit_check_rule_get_severity(C.unsigned(len(rules))))
		rules = append(rules, Rule{Name: C.GoString(name), Severity: severity})
	}
}
