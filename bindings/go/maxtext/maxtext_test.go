// SPDX-License-Identifier: Apache-2.0

package maxtext_test

import (
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"testing"

	"quoit"
	"quoit/maxtext"
	"quoit/ray"
)

func checkJob(t *testing.T, job maxtext.Job) *maxtext.Report {
	t.Helper()
	report, err := job.Check()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func wantInvalid(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, quoit.Invalid) {
		t.Errorf("%v: expected INVALID", err)
	}
}

func hasRule(report *maxtext.Report, rule string) bool {
	for _, finding := range report.Findings {
		if finding.Rule == rule {
			return true
		}
	}
	return false
}

func TestFillReplacesOnlyTheUnspecifiedSize(t *testing.T) {
	given := []int64{2, -1, 5}
	filled, err := maxtext.Fill(maxtext.ICI, given, 20)
	if err != nil || !reflect.DeepEqual(filled, []int64{2, 2, 5}) || given[1] != -1 {
		t.Errorf("%v of %v, %v", filled, given, err)
	}
	for _, sizes := range [][]int64{{-1, -1}, {3, -1}, {4, 4}, {0, -1}} {
		_, err := maxtext.Fill(maxtext.DCN, sizes, 20)
		wantInvalid(t, err)
		if err != nil && !strings.Contains(err.Error(), "DCN") {
			t.Errorf("'%v': expected that the message names DCN", err)
		}
	}
	_, err = maxtext.Fill(0, []int64{20}, 20)
	wantInvalid(t, err)
	if none, err := maxtext.Fill(maxtext.ICI, nil, 1); err != nil || len(none) != 0 {
		t.Errorf("%v, %v", none, err)
	}
}

func TestEveryAcceleratorIsFoundByItsName(t *testing.T) {
	all := maxtext.Accelerators()
	if len(all) < 100 {
		t.Errorf("%d accelerators: expected more than 100", len(all))
	}
	gpus := 0
	for _, one := range all {
		found, err := maxtext.LookupAccelerator(one.Name)
		if err != nil || found != one {
			t.Errorf("%+v, %v: expected %+v", found, err, one)
		}
		if one.Platform == "gpu" {
			gpus++
		} else if one.Topology == "" || one.ChipConfig == "" || one.HostBounds[0] == 0 || one.Devices == 0 {
			t.Errorf("%+v", one)
		}
	}
	if gpus != 1 {
		t.Errorf("%d accelerators are GPUs: expected 1", gpus)
	}
	for _, name := range []string{"v6e-17", "", "v6e\x00"} {
		_, err := maxtext.LookupAccelerator(name)
		wantInvalid(t, err)
	}
}

func TestInvalidSettingsAreFindings(t *testing.T) {
	job := maxtext.Job{Accelerator: "v6e", Topology: "4x4", Slices: 2, Settings: []string{"ici_tensor_parallelism=3"}}
	report := checkJob(t, job)
	if report.HasNoErrors() || !hasRule(report, "unspecified-value") {
		t.Errorf("%+v", report.Findings)
	}
	job.Settings = []string{"ici_tensor_parallelism=4", "per_device_batch_size=2"}
	report = checkJob(t, job)
	sizes := map[string][2]int64{}
	for _, axis := range report.Axes {
		sizes[axis.Name] = [2]int64{axis.ICI, axis.DCN}
	}
	if !report.HasNoErrors() || sizes["tensor"] != [2]int64{4, 1} || sizes["fsdp"] != [2]int64{4, 1} || sizes["data"] != [2]int64{1, 2} {
		t.Errorf("%+v", report)
	}
	if report.Slices != 2 || report.Hosts != 8 || report.Chips != 32 || report.Devices != 32 ||
		report.DevicesPerSlice != 16 || report.Batch != 64 || report.BatchToLoad < 64 {
		t.Errorf("%+v", report)
	}
	named := checkJob(t, maxtext.Job{Settings: []string{"compile_topology=v6e-16", "compile_topology_num_slices=1"}})
	if named.Devices != 16 || named.Slices != 1 {
		t.Errorf("%+v", named)
	}
}

func TestKnownModelHasItsMemory(t *testing.T) {
	job := maxtext.Job{Accelerator: "v6e", Topology: "4x4", Slices: 2, Settings: []string{"model_name=llama2-70b", "per_device_batch_size=1"}}
	report := checkJob(t, job)
	if report.Parameters != 68976648192 || report.StateBytes != 51732486144 || report.GradientBytes != 17244162048 ||
		report.HBMBytes != 32<<30 || report.MemoryBytes != report.StateBytes+report.GradientBytes+report.ActivationBytes {
		t.Errorf("%+v", report)
	}
	job.Settings = nil
	report = checkJob(t, job)
	if !hasRule(checkJob(t, maxtext.Job{Accelerator: "v6e", Topology: "2x2", Settings: []string{"model_name=llama3-70b"}}), "memory-state") ||
		report.Parameters != -1 || report.MemoryBytes != -1 {
		t.Errorf("%+v", report)
	}
}

func TestFindingForAnInvalidWordHasTheWordAsValue(t *testing.T) {
	report := checkJob(t, maxtext.Job{Accelerator: "v6e", Topology: "4x4", Settings: []string{"--what"}})
	found := false
	for _, finding := range report.Findings {
		found = found || finding.HasValue && finding.Value == "--what"
		if finding.Message == "" || finding.Expected == "" {
			t.Errorf("%+v", finding)
		}
	}
	if !found || report.HasNoErrors() {
		t.Errorf("%+v", report.Findings)
	}
}

func TestContradictingScalingConfigIsAFinding(t *testing.T) {
	workers := int64(4)
	scaling := &ray.Scaling{Workers: &workers, Accelerators: ray.UseTPU, Topology: "4x4", AcceleratorType: "TPU-V6E"}
	job := maxtext.Job{Accelerator: "v6e", Topology: "4x4", Scaling: scaling}
	if report := checkJob(t, job); !report.HasNoErrors() {
		t.Errorf("%+v", report.Findings)
	}
	job.Slices = 2
	if report := checkJob(t, job); report.HasNoErrors() {
		t.Error("Check accepts four workers on two slices of four hosts")
	}
	scaling.Topology = "4x4\x00"
	_, err := job.Check()
	wantInvalid(t, err)
}

func TestFindingsHaveRuleAndExpectedValue(t *testing.T) {
	for _, one := range []struct{ setting, rule, expected string }{
		{"ici_fsdp_paralelism=4", "key-unknown", "'ici_fsdp_parallelism'"},
		{"nonsense", "setting", "KEY=VALUE"},
		{"ici_tensor_parallelism=-1", "unspecified-twice", "-1 for at most one ICI axis"},
		{"ici_fsdp_parallelism=0", "axis-size", "1 or more"},
		{"ici_fsdp_parallelism=-4", "axis-size", "1 or more"},
		{"ici_fsdp_parallelism=9223372036854775808", "value", "an integer of at most 64 bits"},
		{"ici_fsdp_parallelism=3", "ici-product", "for example ici_fsdp_parallelism=16"},
		{"dcn_data_parallelism=3", "dcn-product", "for example dcn_data_parallelism=2"},
	} {
		report := checkJob(t, maxtext.Job{Accelerator: "v6e", Topology: "4x4", Slices: 2, Settings: []string{one.setting}})
		if len(report.Findings) != 1 || report.Findings[0].Rule != one.rule ||
			!strings.Contains(report.Findings[0].Expected, one.expected) || report.HasNoErrors() {
			t.Errorf("%s: %+v", one.setting, report.Findings)
		}
	}
}

func TestInvalidSlicesAreRefused(t *testing.T) {
	for _, job := range []maxtext.Job{
		{}, {Accelerator: "v6e"}, {Topology: "4x4"}, {Accelerator: "v6e", Topology: "4x"},
		{Accelerator: "v6e", Topology: "4x4", Slices: -1}, {Accelerator: "v6e", Topology: "4x4", Slices: 1000001},
		{Accelerator: "v6e", Topology: "4x4", ChipsPerHost: 3}, {Accelerator: "v6e", Topology: "4x4", ChipsPerHost: 1 << 33},
		{Accelerator: "v6e", Topology: "4x4", Settings: []string{"a\x00"}}, {Settings: []string{"compile_topology=v9-1"}},
	} {
		_, err := job.Check()
		wantInvalid(t, err)
	}
}

func TestEveryFindingHasAListedRule(t *testing.T) {
	rules := map[string]quoit.Severity{}
	for _, rule := range maxtext.Rules() {
		rules[rule.Name] = rule.Severity
	}
	if len(rules) < 10 {
		t.Errorf("%d rules: expected more than 10", len(rules))
	}
	report := checkJob(t, maxtext.Job{Accelerator: "v6e", Topology: "4x4", Settings: []string{
		"ici_tensor_parallelism=0", "no_such_key=1", "per_device_batch_size=x", "dcn_data_parallelism=2",
	}})
	if len(report.Findings) < 3 {
		t.Errorf("%+v", report.Findings)
	}
	for _, finding := range report.Findings {
		if severity, known := rules[finding.Rule]; !known || severity != finding.Severity {
			t.Errorf("%+v: Rules has no such rule of this severity", finding)
		}
	}
}

func ExampleJob_Check() {
	job := maxtext.Job{Accelerator: "v6e", Topology: "4x4", Slices: 2, Settings: []string{"ici_tensor_parallelism=4"}}
	report, err := job.Check()
	if err != nil {
		log.Fatal(err)
	}
	for _, axis := range report.Axes {
		if axis.ICI*axis.DCN > 1 {
			fmt.Println(axis.Name, axis.ICI, axis.DCN)
		}
	}
	// Output:
	// data 1 2
	// fsdp 4 1
	// tensor 4 1
}

func TestSettingsOverrideConfigFiles(t *testing.T) {
	job := maxtext.Job{
		Accelerator: "v6e", Topology: "4x4", Slices: 2, Settings: []string{"mine.yml", "per_device_batch_size=4"},
		Configs: []maxtext.Config{
			{Name: "a.yml", Text: []byte("ici_tensor_parallelism: 3\nper_device_batch_size: 2\n")},
			{Name: "mine.yml", Text: []byte("base_config: a.yml\nici_tensor_parallelism: 4\n")},
		},
	}
	if report := checkJob(t, job); report.Batch != 128 || len(report.Findings) != 0 {
		t.Errorf("%+v", report)
	}
	job.Configs = []maxtext.Config{{Name: "mine.yml", Text: []byte("\nici_fdsp_parallelism: 4\n")}}
	report := checkJob(t, job)
	if len(report.Findings) != 1 || report.Findings[0].File != "mine.yml" || report.Findings[0].Line != 2 {
		t.Errorf("%+v", report.Findings)
	}
	for _, wrong := range []maxtext.Config{{Name: "a", Text: []byte("- steps")}, {Name: "a"}, {Name: "a\x00", Text: []byte("steps: 1")}} {
		job.Configs = []maxtext.Config{wrong}
		if _, err := job.Check(); !errors.Is(err, quoit.Invalid) {
			t.Errorf("%q: %v: expected Invalid", wrong.Text, err)
		}
	}
}
