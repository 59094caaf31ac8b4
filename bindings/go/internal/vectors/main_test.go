// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	top     = filepath.Join("..", "..", "..", "..")
	classes = filepath.Join(top, "tests", "vectors", "classes")
)

// expectedSkips is the number of skipped rows. A different number means a different interface, or a row that is no
// longer checked. They are 38 rows of ray-tpu, 17 of ray-core and 3 of mesh: texts with NUL, integers beyond 64 bits,
// and types that Go's compiler refuses. The runner prints the reasons.
const expectedSkips = 58

func runFiles(files ...string) (*runner, string, int) {
	var out bytes.Buffer
	r, status := run(&out, append([]string{classes}, files...))
	return r, out.String(), status
}

func TestAllVectorsGiveTheRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(top, "tests", "vectors", "*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	// Packings of any grid are inside the library: Go counts the parts of slices that the catalogue has.
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == "packing.ndjson" })
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
	if r.passed < 11000 {
		t.Errorf("%d rows passed: expected more than 11000", r.passed)
	}
	if skipped != expectedSkips {
		t.Errorf("%d rows are skipped: expected %d", skipped, expectedSkips)
	}
}

// --- the runner itself ---

const (
	oneNode      = `{"nodes":[{"id":"a","total":{"CPU":10000}}],"bundles":[{"CPU":1}],"strategy":"PACK"}`
	chips        = `"op":"accel.get_num_chips_from_topology"`
	workers      = `"op":"util.get_tpu_worker_resources","in":{"topology":"2x2","accelerator_type":"v6e"}`
	key          = `"op":"validate_label_key"`
	ring         = `"op":"create_device_mesh","in":{"kind":"TPU v6 lite","topology":"2x2","mesh_shape":[4]}`
	torusRow     = `"op":"create_device_mesh_for_nd_torus","in":{"kind":null,"physical":[2,2],"mesh_shape":["2",2.9]}`
	mutateRow    = `"op":"webhook_mutate","in":{"cluster":"c","group":"g","containers":[{"tpu":"4"}]}`
	group        = `"op":"webhook_validate","in":{"groups":[{"containers":[{"tpu":"4"}],"numOfHosts":2,"topology":"4x4"}]}`
	sequenceRow  = `"op":"webhook_sequence","in":{"cluster":"c","group":"g","topology":"2x2","containers":[{"tpu":"4"}],"steps":[{"op":"create","pod":0},{"op":"delete","pod":0}]}`
	httpRow      = `"op":"webhook_http","in":{"path":"/mutate","body":"{\"request\":{\"kind\":{\"kind\":\"Node\"}}}"}`
	cluster      = `"op":"jax_cluster_detect","in":{"env":{"TPU_WORKER_HOSTNAMES":"h","TPU_WORKER_ID":"x"},"tpu_vm":true}`
	bounds       = `"op":"tpu_process_bounds","in":{"version":"v6e","host_chips":4,"chips_per_process":4}`
	reconcileRow = `"op":"kuberay_reconcile","in":{"groups":[{"groupName":"g","numOfHosts":2,"replicas":1}],"steps":["reconcile","fail 0 1 Failed","reconcile"]}`
	box          = `"op":"maxtext_create_device_mesh","in":{"k":"v6e","t":"4x4","slices":1,"ici":[-1],"dcn":[1],"opts":{"subslice_shape":"2,2","enable_single_controller":true}}`
	fill         = `"op":"fill_unspecified_mesh_axes","in":{"values":[2,-1],"target":8,"kind":"ICI"}`
	grid         = `"op":"ray_physical_worker_ids","in":{"topology":"2x2x1","chip_grid":"x=last","host_block":"2x2x1"}`
)

var passingRows = []string{
	grid + `,"out":[0,0]`,
	chips + `,"in":{"topology":"4x4"},"out":16`,
	chips + `,"in":{"topology":"4x4"},"out":16.0`,
	chips + `,"in":{"topology":"4x"},"err":{"class":"ValueError"}`,
	chips + `,"in":{"topology":"4x"},"err":{"class":"SomeErrorOfRays"}`,
	workers + `,"out":{"num_workers":1,"worker_resources":{"CPU":1,"TPU":4}}`,
	key + `,"in":"a","out":null`,
	key + `,"in":"-a","out":"Invalid label key name"`,
	`"op":"place","in":` + oneNode + `,"out":{"answers":[{"result":"SUCCESS","nodes":[0]}],"deterministic":true,"possible":1}`,
	ring + `,"out":{"ids":[0,1,3,2]}`,
	ring + `,"out":{"ids":[0,1,3,2],"shape":[4]}`,
	torusRow + `,"out":{"assignment":[[1,2],[2,1]],"steps":[2,1,2,2],"base":[0]}`,
	torusRow + `,"out":{"ids":[0,2,1,3]}`,
	mutateRow + `,"out":{"error":"an error of the webhook's"}`,
	group + `,"out":{"allowed":false,"message":"Number of workers in worker group not equal to specified topology"}`,
	sequenceRow + `,"out":[{"TPU_WORKER_ID":"0","TPU_NAME":"g-0","replicaIndex":"g-0"},{}]`,
	httpRow + `,"out":{"status":400,"body":"Invalid Kind"}`,
	cluster + `,"out":{"gke":{"coordinator":"h:8482","process_count":1,"process_id":{"error":"ValueError"},"workers":["h"]},"auto":{"error":"ValueError"}}`,
	bounds + `,"out":{"process_bounds":"1,1,1","chips_per_process_bounds":"2,2,1"}`,
	fill + `,"out":[2,4]`,
	reconcileRow + `,"out":[{"pods":["g replica=0 host=0 name=g-<0>","g replica=0 host=1 name=g-<0>"]},{},{"pods":["g replica=0 host=0 name=g-<1>","g replica=0 host=1 name=g-<1>"]}]`,
	box + `,"out":{"shape":[4],"ids":[0,1,5,4]}`,
	`"op":"kuberay_desired","in":{"numOfHosts":2,"replicas":3,"max":2},"out":4`,
	`"op":"kuberay_CheckName","in":"9c","out":"rc"`,
	`"op":"maxtext_accelerator","in":{"name":"v6e-17"},"err":{"class":"ValueError"}`,
}

var failingRows = []string{
	reconcileRow + `,"out":[{"pods":["g replica=0 host=0 name=g-<0>","g replica=0 host=1 name=g-<0>"]},{},{"pods":["g replica=0 host=0 name=g-<0>","g replica=0 host=1 name=g-<0>"]}]`,
	box + `,"out":{"shape":[4],"ids":[0,1,4,5]}`,
	`"op":"maxtext_create_device_mesh","in":{"k":"v6e","t":"2x2","slices":1,"ici":[4],"dcn":[1],"first16":[0,1,3,2],"sha256_16":"0000000000000000"},"out":{"shape":[4],"ids":null}`,
	`"op":"maxtext_create_device_mesh","in":{"strategy":"hybrid_ring_64x4","ici":[1,32,8]},"out":{"shape":null,"ids":null}`,
	`"op":"kuberay_desired","in":{"numOfHosts":2,"replicas":3,"max":2},"out":6`,
	`"op":"kuberay_CheckName","in":"9c","out":"9c"`,
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
	ring + `,"out":{"ids":[0,1,2,3]}`,
	ring + `,"out":{"ids":[0,1,3,2],"shape":[2,2]}`,
	ring + `,"err":{"class":"ValueError"}`,
	torusRow + `,"out":{"steps":[2,2,2,1],"base":[0]}`,
	torusRow + `,"out":{"steps":[2,2],"base":[0]}`,
	torusRow + `,"out":{"assignment":[[2,1],[1,2]],"ids":[0,2,1,3]}`,
	mutateRow + `,"out":{"unchanged":true}`,
	group + `,"out":{"allowed":true}`,
	sequenceRow + `,"out":[{"TPU_WORKER_ID":"1","TPU_NAME":"g-0","replicaIndex":"g-0"},{}]`,
	sequenceRow + `,"out":[{"TPU_WORKER_ID":"0","TPU_NAME":"g-0","replicaIndex":"g-0"}]`,
	httpRow + `,"out":{"status":403,"body":"Failed to mutate Pod"}`,
	cluster + `,"out":{"gke":{"coordinator":"h:8482","process_count":1,"process_id":0,"workers":["h"]}}`,
	cluster + `,"out":{"auto":["h:8482",1,0,null]}`,
	bounds + `,"out":{"process_bounds":"1,1,1","chips_per_process_bounds":"1,1,1"}`,
	fill + `,"out":[2,-1]`,
	fill + `,"err":{"class":"AssertionError"}`,
	`"op":"maxtext_accelerator","in":{"name":"v6e-16"},"err":{"class":"ValueError"}`,
}

var skippedRows = map[string]string{
	"s no_such_op: not in this release":                                                       `"op":"no_such_op","in":{},"out":1`,
	"s accel.get_num_chips_from_topology: an argument that quoit does not have":               chips + `,"in":{"topology":"4x4","more":1},"out":16`,
	"s accel.get_num_chips_from_topology: the input is not an object":                         chips + `,"in":"4x4","out":16`,
	"s accel.get_num_chips_from_topology: a text with a NUL":                                  chips + `,"in":{"topology":"4\u0000"},"out":16`,
	"s accel.get_num_chips_from_topology: half of a surrogate pair":                           chips + `,"in":{"topology":"\ud800"},"out":16`,
	"s accel.get_num_chips_from_topology: an integer that does not fit in 64 bits":            chips + `,"in":{"topology":"9"},"out":9223372036854775808`,
	"s accel.get_num_chips_from_topology: Go requires a text, and the value has another type": chips + `,"in":{"topology":4},"out":4`,
	"s accel.get_num_chips_from_topology: Go requires a text, and the value is null":          chips + `,"in":{"topology":null},"out":4`,
	"s make_mesh: quoit requires integers, and a text is not a number":                        `"op":"make_mesh","in":{"kind":"v6e","topology":"2x2","mesh_shape":["a"]},"out":1`,
	"s make_mesh: an order of devices that this runner does not know":                         `"op":"make_mesh","in":{"kind":"v6e","topology":"2x2","order":"odd","mesh_shape":[4]},"out":1`,
	"s jax_cluster_detect: a host without TPUs, which quoit does not model":                   `"op":"jax_cluster_detect","in":{"tpu_vm":false},"out":1`,
	"s maxtext_create_device_mesh: 0 slices, which Go treats as 1":                            `"op":"maxtext_create_device_mesh","in":{"k":"v6e","t":"2x2","slices":0,"ici":[4],"dcn":[1]},"out":1`,
	"s kuberay_CheckName: an empty name, which makes the operator crash":                      `"op":"kuberay_CheckName","in":"","out":""`,
	"s maxtext_create_device_mesh: the row does not have the number of slices":                `"op":"maxtext_create_device_mesh","note":"num_slices does not divide the devices","in":{"k":"v6e","t":"2x2","slices":1,"ici":[4],"dcn":[1]},"err":{"class":"ValueError"}`,
	"s kuberay_reconcile: an unknown step":                                                    `"op":"kuberay_reconcile","in":{"groups":[{"groupName":"g"}],"steps":["sleep 1"]},"out":[{}]`,
	"s kuberay_reconcile: a step for a pod that does not exist":                               `"op":"kuberay_reconcile","in":{"groups":[{"groupName":"g"}],"steps":["delete 7"]},"out":[{}]`,
	"s webhook_sequence: an unknown step":                                                     `"op":"webhook_sequence","in":{"steps":[{"op":"sleep","pod":0}]},"out":1`,
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

func TestRowsWithEqualAnswersPass(t *testing.T) {
	r, out, status := runRows(t, passingRows)
	if r.passed != len(passingRows) || r.failed != 0 || len(r.skipped) != 0 || status != 0 {
		t.Error(out)
	}
}

func TestRowsWithDifferentAnswersFail(t *testing.T) {
	for _, row := range failingRows {
		if r, out, status := runRows(t, []string{row}); r.failed != 1 || r.passed != 0 || status != 1 {
			t.Errorf("%s: %s", row, out)
		}
	}
}

func TestSkippedRowsAreCountedByOpAndReason(t *testing.T) {
	rows := []string{skippedRows["s no_such_op: not in this release"]}
	for _, row := range skippedRows {
		rows = append(rows, row)
	}
	r, out, status := runRows(t, rows)
	if r.passed != 0 || r.failed != 0 || status != 0 {
		t.Error(out)
	}
	for reason := range skippedRows {
		if r.skipped[reason] == 0 {
			t.Errorf("'%s' is not among the reasons:\n%s", reason, out)
		}
	}
	if !strings.Contains(out, "      2  s no_such_op: not in this release") {
		t.Error(out)
	}
}

func TestMissingAndInvalidFilesFail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.ndjson")
	if err := os.WriteFile(path, []byte("{\"id\": \n\n\xff\n[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, out, _ := runFiles(path, filepath.Join(t.TempDir(), "none.ndjson")); r.failed != 4 || r.passed != 0 {
		t.Error(out)
	}
}
