// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"quoit/internal/cconv"
)

// Severity is how serious a finding is.
type Severity int

// The severities of findings.
const (
	SeverityError   Severity = C.QUOIT_SEVERITY_ERROR   // a system refuses the manifest, or it contradicts itself
	SeverityWarning Severity = C.QUOIT_SEVERITY_WARNING // every system accepts it, but it does not work as written
	SeverityNote    Severity = C.QUOIT_SEVERITY_NOTE    // nothing is wrong, but something was not checked or is unusual
)

var severityNames = map[Severity]string{SeverityError: "ERROR", SeverityWarning: "WARNING", SeverityNote: "NOTE"}

// String returns the name of the severity.
func (s Severity) String() string { return nameOf(severityNames, s) }

// Finding is a place in a manifest that breaks a rule.
type Finding struct {
	Line     int // from 1: the line of the field's key, or of the map in which the field is missing
	Column   int // in characters from 1
	Severity Severity
	Rule     string // the name of the rule, such as "numofhosts-topology"; it never changes its meaning
	Path     string // the path of the place in its document: "$.spec.workerGroupSpecs[0].numOfHosts"
	Value    string // the value as written, cut after 1024 bytes; "" if it is missing, a list or a map
	HasValue bool   // false if the value is missing, a list or a map
	Expected string // the expected value, in words
	Message  string // field, value and expectation in one line, without the place
}

// CheckManifest finds everything in a manifest that Kubernetes, KubeRay 1.7.0 or its TPU webhook would refuse, and
// everything that they accept although it cannot work. The manifest is YAML with any number of documents. CheckManifest
// returns one finding for each rule and place, ordered by line and column. variables has the values for each ${NAME} in
// the manifest; it can be nil.
//
// It fails with Invalid if the text is not YAML (the message begins with line and column), or if variables is not
// valid. A manifest that breaks rules is not a failure.
func CheckManifest(text []byte, variables map[string]string) ([]Finding, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	defer arguments.Free()
	pairs := (**C.char)(arguments.Pairs("variables", variables))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	data, length := arguments.Bytes(text)
	c := C.quoit_check_manifest((*C.char)(data), C.size_t(length), pairs, &gerror)
	if err := errorFromC(gerror); err != nil {
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

// Rule is a rule that CheckManifest checks.
type Rule struct {
	Name     string
	Severity Severity // the severity of all its findings
}

// Rules returns all rules that CheckManifest checks.
func Rules() []Rule {
	var rules []Rule
	for {
		name := C.quoit_check_rule_get_name(C.uint32_t(len(rules)))
		if name == nil {
			return rules
		}
		severity := Severity(C.quoit_check_rule_get_severity(C.uint32_t(len(rules))))
		rules = append(rules, Rule{Name: C.GoString(name), Severity: severity})
	}
}
