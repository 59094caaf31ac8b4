// SPDX-License-Identifier: Apache-2.0

// Command vectors compares the answers of quoit's Go packages with recorded ones: vectors CLASSES FILE.ndjson...
// CLASSES is the file that maps error classes of other systems to quoit's codes.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"quoit"
)

// op is an operation that rows call.
type op struct {
	// answer gets the "in" of a row and the recorded "out" (nil if the row has "err"). It returns an answer that
	// must equal "out", or an error that must match "err".
	answer func(in, recorded any) (any, error)
	// sameOrder requires the members of objects to be in the recorded order.
	sameOrder bool
	// refusals states that "out" is, or contains, a refusal in a system's own words.
	refusals bool
	// missing returns what the answer depends on but the "in" of the row does not have; "" if nothing is missing.
	// It can be nil, which means that nothing is missing.
	missing func(row *object) string
}

func (o op) missingInput(row *object) string {
	if o.missing == nil {
		return ""
	}
	return o.missing(row)
}

var tables = []map[string]op{
	arithmeticOps, clusterOps, groupOps, hostOps, kuberayOps, labelOps, leaderSetOps, maxtextOps, meshOps, nodeOps, placementOps, sliceOps,
	subsliceOps, trainEnvOps, trainOps, webhookOps,
}

func allOps() map[string]op {
	ops := map[string]op{}
	for _, table := range tables {
		for name, one := range table {
			if _, twice := ops[name]; twice {
				panic("op '" + name + "' is in two tables")
			}
			ops[name] = one
		}
	}
	return ops
}

// skip is an error: the reason why Go cannot express a row. Skipped rows are counted by reason, so a reason has no
// values.
type skip string

func (s skip) Error() string { return string(s) }

// disagreement is an error: an answer that is not correct.
type disagreement string

func (d disagreement) Error() string { return string(d) }

// readClasses returns the codes of the error classes of the modelled systems. "*" stands for all other classes.
func readClasses(path string) (map[string]quoit.Code, error) {
	codes := map[string]quoit.Code{}
	for code := quoit.Code(1); code <= quoit.Damaged; code++ {
		codes[code.String()] = code
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	classes := map[string]quoit.Code{}
	for _, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) >= 2 {
			code, known := codes[words[1]]
			if !known {
				return nil, fmt.Errorf("%s: '%s': expected a code", path, words[1])
			}
			classes[words[0]] = code
		}
	}
	return classes, nil
}

// runner runs rows and counts their results.
type runner struct {
	out            io.Writer
	ops            map[string]op
	classes        map[string]quoit.Code
	passed, failed int
	skipped        map[string]int
}

func (r *runner) fail(format string, arguments ...any) {
	r.failed++
	fmt.Fprintf(r.out, "FAIL "+format+"\n", arguments...)
}

func (r *runner) runFile(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		r.fail("%v", err)
		return
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for number := 1; lines.Scan(); number++ {
		if line := lines.Bytes(); len(bytes.TrimSpace(line)) > 0 {
			r.runLine(fmt.Sprintf("%s:%d", path, number), line)
		}
	}
}

func (r *runner) runLine(place string, line []byte) {
	value, err := readJSON(line)
	if err != nil {
		r.fail("%s: not a vector: %v", place, err)
		return
	}
	row, ok := value.(*object)
	if !ok || !isRow(row) {
		r.fail("%s: not a vector: a member is missing", place)
		return
	}
	r.runRow(row, line)
}

func isRow(row *object) bool {
	for _, member := range []string{"id", "suite", "op"} {
		if _, ok := row.values[member].(string); !ok {
			return false
		}
	}
	_, in := row.values["in"]
	_, out := row.values["out"]
	refused, err := row.values["err"]
	if err {
		of, ok := refused.(*object)
		if !ok {
			return false
		}
		if _, ok := of.values["class"].(string); !ok {
			return false
		}
	}
	return in && out != err
}

func (r *runner) runRow(row *object, line []byte) {
	name := row.values["op"].(string)
	one, known := r.ops[name]
	var err error
	if !known {
		err = skip("not in this release")
	} else if reason := inexpressible(line, row.values["in"], row.values["out"]); reason != "" {
		err = skip(reason)
	} else if reason := one.missingInput(row); reason != "" {
		err = skip(reason)
	} else {
		err = r.check(row, one)
	}
	var skipped skip
	switch {
	case err == nil:
		r.passed++
	case errors.As(err, &skipped):
		r.skipped[fmt.Sprintf("%s %s: %s", row.values["suite"], name, string(skipped))]++
	default:
		expected := row.values["err"]
		if expected == nil {
			expected = row.values["out"]
		}
		r.fail("%s %s: got %v, expected %s", row.values["id"], name, err, jsonText(expected))
	}
}

// check compares the answer to a row. Its error is a skip or a disagreement.
func (r *runner) check(row *object, one op) error {
	c := comparison{one, r.classes}
	got, err := one.answer(row.values["in"], row.values["out"])
	var other skip
	var wrong disagreement
	switch {
	case errors.As(err, &other), errors.As(err, &wrong):
		return err
	case err != nil:
		return c.checkError(err, row)
	case row.has("err"), !c.equal(got, row.values["out"]):
		return disagreement(jsonText(got))
	}
	return nil
}

func (r *runner) close() int {
	reasons, count := make([]string, 0, len(r.skipped)), 0
	for reason, n := range r.skipped {
		reasons, count = append(reasons, reason), count+n
	}
	sort.Strings(reasons)
	if len(reasons) > 0 {
		fmt.Fprintln(r.out, "skipped")
	}
	for _, reason := range reasons {
		fmt.Fprintf(r.out, "%7d  %s\n", r.skipped[reason], reason)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, count)
	if r.failed > 0 {
		return 1
	}
	return 0
}

func run(out io.Writer, arguments []string) (*runner, int) {
	r := &runner{out: out, ops: allOps(), skipped: map[string]int{}}
	if len(arguments) < 2 {
		r.fail("usage: vectors CLASSES FILE...")
		return r, 2
	}
	var err error
	if r.classes, err = readClasses(arguments[0]); err != nil {
		r.fail("%v", err)
		return r, 2
	}
	for _, path := range arguments[1:] {
		r.runFile(path)
	}
	return r, r.close()
}

func main() {
	_, status := run(os.Stdout, os.Args[1:])
	os.Exit(status)
}
