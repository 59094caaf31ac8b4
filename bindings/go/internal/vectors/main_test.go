// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	top     = filepath.Join("..", "..", "..", "..")
	classes = filepath.Join(top, "tests", "vectors", "classes")
)

// Rows of the tree that are skipped: another number is another interface, or a row that nobody answers any more.
const inexpressible = 73

func runFiles(files ...string) (*runner, string, int) {
	var out bytes.Buffer
	r, status := run(&out, append([]string{classes}, files...))
	return r, out.String(), status
}

func TestEveryFileOfVectorsGivesTheRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, "tests", "vectors", "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	r, out, status := runFiles(files...)
	skipped := 0
	for _, count := range r.skipped {
		skipped += count
	}
	// check.sh counts rows by this line.
	fmt.Printf("%s\n%d rows passed, %d failed, %d skipped\n", out, r.passed, r.failed, skipped)
	if status != 0 || r.failed != 0 {
		t.Errorf("%d rows failed", r.failed)
	}
	if r.passed < 9000 {
		t.Errorf("%d rows passed: expected more than 9000", r.passed)
	}
	if skipped != inexpressible {
		t.Errorf("%d rows are skipped: expected %d", skipped, inexpressible)
	}
}

func TestAllRowsOfTheFilesBesideTheTreeDo(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(top, "..", "shared", "vectors", "placement.ndjson"))
	if len(files) == 0 {
		t.Skip("no vectors beside the tree")
	}
	r, out, status := runFiles(files...)
	if status != 0 || r.failed != 0 || r.passed < 3000 {
		t.Errorf("%d passed, %d failed:\n%s", r.passed, r.failed, out)
	}
}

// --- the runner itself ---

const (
	oneNode = `{"nodes":[{"id":"a","total":{"CPU":10000}}],"bundles":[{"CPU":1}],"strategy":"PACK"}`
	chips   = `"op":"accel.get_num_chips_from_topology"`
	workers = `"op":"util.get_tpu_worker_resources","in":{"topology":"2x2","accelerator_type":"v6e"}`
	key     = `"op":"validate_label_key"`
	grid    = `"op":"ray_physical_worker_ids","in":{"topology":"2x2x1","chip_grid":"x=last","host_block":"2x2x1"}`
)

var agrees = []string{
	grid + `,"out":[0,0]`,
	chips + `,"in":{"topology":"4x4"},"out":16`,
	chips + `,"in":{"topology":"4x4"},"out":16.0`,
	chips + `,"in":{"topology":"4x"},"err":{"class":"ValueError"}`,
	chips + `,"in":{"topology":"4x"},"err":{"class":"SomeErrorOfRays"}`,
	workers + `,"out":{"num_workers":1,"worker_resources":{"CPU":1,"TPU":4}}`,
	key + `,"in":"a","out":null`,
	key + `,"in":"-a","out":"Invalid label key name"`,
	`"op":"place","in":` + oneNode + `,"out":{"answers":[{"result":"SUCCESS","nodes":[0]}],"deterministic":true,"possible":1}`,
}

var disagrees = []string{
	grid + `,"out":[0,1]`,
	grid + `,"out":["ValueError: words",0]`,
	chips + `,"in":{"topology":"4x4"},"out":17`,
	chips + `,"in":{"topology":"4x4"},"out":"16"`,
	chips + `,"in":{"topology":"1x1"},"out":true`,
	chips + `,"in":{"topology":"4x4"},"err":{"class":"ValueError"}`,
	chips + `,"in":{"topology":"4x"},"out":16`,
	chips + `,"in":{"topology":"4x"},"err":{"class":"TimeoutError"}`,
	workers + `,"out":{"num_workers":2,"worker_resources":{"CPU":1,"TPU":4}}`,
	workers + `,"out":{"num_workers":1,"worker_resources":{"TPU":4,"CPU":1}}`,
	key + `,"in":"a","out":"Invalid label key name"`,
	key + `,"in":"-a","out":null`,
	`"op":"place","in":` + oneNode + `,"out":{"answers":[{"result":"SUCCESS","nodes":[0]}],"deterministic":false,"possible":2}`,
	`"op":"place","in":` + oneNode + `,"out":{"answers":[{"result":"FAILED"}],"deterministic":true,"possible":1}`,
	chips + `,"in":{"topology":"4x4"}`,
	chips + `,"in":{"topology":"4x"},"err":"ValueError"`,
}

var skips = map[string]string{
	"s no_such_op: not in this release":                                       `"op":"no_such_op","in":{},"out":1`,
	"s accel.get_num_chips_from_topology: an argument that quoit has not":     chips + `,"in":{"topology":"4x4","more":1},"out":16`,
	"s accel.get_num_chips_from_topology: an input that is no object":         chips + `,"in":"4x4","out":16`,
	"s accel.get_num_chips_from_topology: text that holds NUL":                chips + `,"in":{"topology":"4\u0000"},"out":16`,
	"s accel.get_num_chips_from_topology: half of a surrogate pair":           chips + `,"in":{"topology":"\ud800"},"out":16`,
	"s accel.get_num_chips_from_topology: an integer beyond 64 bits":          chips + `,"in":{"topology":"9"},"out":9223372036854775808`,
	"s accel.get_num_chips_from_topology: another type where Go takes a text": chips + `,"in":{"topology":4},"out":4`,
	"s accel.get_num_chips_from_topology: null where Go takes a text":         chips + `,"in":{"topology":null},"out":4`,
}

func runRows(t *testing.T, rows []string) (*runner, string, int) {
	t.Helper()
	var text strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&text, "{\"id\":\"x\",\"suite\":\"s\",%s}\n", row)
	}
	path := filepath.Join(t.TempDir(), "rows.ndjson")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return runFiles(path)
}

func TestRowsThatAgreePass(t *testing.T) {
	r, out, status := runRows(t, agrees)
	if r.passed != len(agrees) || r.failed != 0 || len(r.skipped) != 0 || status != 0 {
		t.Error(out)
	}
}

func TestEveryRowThatDoesNotAgreeFails(t *testing.T) {
	for _, row := range disagrees {
		if r, out, status := runRows(t, []string{row}); r.failed != 1 || r.passed != 0 || status != 1 {
			t.Errorf("%s: %s", row, out)
		}
	}
}

func TestWhatGoCannotExpressIsCountedByOpAndReason(t *testing.T) {
	rows := []string{skips["s no_such_op: not in this release"]}
	for _, row := range skips {
		rows = append(rows, row)
	}
	r, out, status := runRows(t, rows)
	if r.passed != 0 || r.failed != 0 || status != 0 {
		t.Error(out)
	}
	for reason := range skips {
		if r.skipped[reason] == 0 {
			t.Errorf("'%s' is not among the reasons:\n%s", reason, out)
		}
	}
	if !strings.Contains(out, "      2  s no_such_op: not in this release") {
		t.Error(out)
	}
}

func TestAFileThatIsNotThereOrNoJSONIsAFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.ndjson")
	if err := os.WriteFile(path, []byte("{\"id\": \n\n\xff\n[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, out, _ := runFiles(path, filepath.Join(t.TempDir(), "none.ndjson")); r.failed != 4 || r.passed != 0 {
		t.Error(out)
	}
}
