// SPDX-License-Identifier: Apache-2.0

package maxtext

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"math"
	"unsafe"

	"quoit"
	"quoit/internal/door"
	"quoit/ray"
)

// Job is slices and the MaxText settings of a job on them. It is a plain value: Check validates the fields.
type Job struct {
	// Accelerator is the generation, in any system's spelling. If it and Topology are "", compile_topology in the
	// settings determines the slices.
	Accelerator string
	Topology    string // of each slice, "4x4"
	Slices      int64  // number of slices: 1 to 1000000; 0 stands for 1
	// ChipsPerHost is 1, 2, 4 or 8; 0 stands for Ray's default.
	ChipsPerHost int64
	// Settings is the words of MaxText's command line: "ici_fsdp_parallelism=-1". A settings file that is named
	// here is not read: put its text into Configs. Without Configs, MaxText's base.yml is used.
	Settings []string
	// Configs is settings files. Later ones have precedence over earlier ones, and Settings over all of them. A
	// file that another one names as its base_config comes before it.
	Configs []Config
	// Scaling is the ScalingConfig of the Ray Train job that runs MaxText; nil if it runs without Ray Train.
	Scaling *ray.Scaling
}

// Config is a settings file.
type Config struct {
	Name string // its name in findings
	Text []byte // YAML, a map of settings like base.yml
}

// Report is the result of checking a job. Unknown numbers are -1.
type Report struct {
	Findings []Finding
	Axes     []Axis // of the mesh, in its order; none if mesh_axes is not valid

	Slices          int64
	Hosts           int64
	Chips           int64
	Devices         int64 // JAX devices of all slices
	DevicesPerSlice int64
	Batch           int64 // rows of one forward pass
	BatchToLoad     int64 // rows that a step loads
}

// Axis is an axis of the mesh. If MaxText refuses the sizes, they are the given ones, with -1 if it was not replaced.
type Axis struct {
	Name string // "fsdp"
	ICI  int64  // devices within a slice
	DCN  int64  // slices; 1 for one slice
}

// Finding is a rule that a job breaks.
type Finding struct {
	Severity quoit.Severity
	Rule     string // the name of the rule, such as "ici-product"; it never changes its meaning
	Key      string // the setting, or several, "ici_*_parallelism"; "" if it is not one of MaxText's
	Value    string // the given or effective value, or a word that is not a setting
	HasValue bool   // false if there is no value
	Expected string // what would work, in words
	Message  string // file, line, key, value and expectation in one line; values are quoted, escaped and cut
	File     string // the name of the Config with the setting; "" if none has it or a word overrides it
	Line     int    // the line in that file, from 1; 0 if there is none
}

// IsRight reports whether no finding is an error.
func (r *Report) IsRight() bool {
	for _, finding := range r.Findings {
		if finding.Severity == quoit.SeverityError {
			return false
		}
	}
	return true
}

// Check finds everything that MaxText would refuse or ignore: names and types of settings, the sizes of the mesh's
// axes, the batch, the number of slices, and contradictions between the ScalingConfig and the slices. Expected of each
// finding is what would work instead. For settings of the model, only the names are checked.
//
// It fails with Invalid for an unknown generation, topology, number of slices or host, if neither the job nor a
// compile_topology of MaxText's list determines the slices, and if a file is not YAML or not a map of settings.
func (j *Job) Check() (*Report, error) {
	var report *Report
	job := C.quoit_maxtext_job_new()
	defer C.quoit_maxtext_job_free(job)
	if err := j.fill(job); err != nil {
		return nil, err
	}
	check := func(scaling unsafe.Pointer) error {
		var gerror *C.GError
		c := C.quoit_maxtext_check(job, (*C.QuoitRayScaling)(scaling), &gerror)
		if err := door.Take(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		defer C.quoit_maxtext_report_free(c)
		report = reportOf(c)
		return nil
	}
	if j.Scaling == nil {
		err := check(nil)
		return report, err
	}
	err := door.LendScaling(j.Scaling, check)
	return report, err
}

func (j *Job) fill(job *C.QuoitMaxtextJob) error {
	var arguments door.Arguments
	defer arguments.Free()
	kind, topology := (*C.char)(arguments.Text("accelerator", j.Accelerator)), (*C.char)(arguments.Text("topology", j.Topology))
	words := unsafe.Slice((**C.char)(arguments.Texts("settings", j.Settings)), len(j.Settings))
	if err := arguments.Err(); err != nil {
		return err
	}
	for _, config := range j.Configs {
		if err := config.add(job); err != nil {
			return err
		}
	}
	for _, word := range words {
		C.quoit_maxtext_job_add_setting(job, word)
	}
	if j.Accelerator == "" && j.Topology == "" {
		return nil
	}
	if j.ChipsPerHost < 0 || j.ChipsPerHost > math.MaxUint32 {
		return door.Invalid("chips a host '%d': expected 1, 2, 4 or 8, or 0 for Ray's default", j.ChipsPerHost)
	}
	slices := j.Slices
	if slices == 0 {
		slices = 1
	}
	var gerror *C.GError
	C.quoit_maxtext_job_set_slices(job, kind, topology, C.int64_t(slices), C.unsigned(j.ChipsPerHost), &gerror)
	return door.Take(unsafe.Pointer(gerror))
}

func (c *Config) add(job *C.QuoitMaxtextJob) error {
	var arguments door.Arguments
	var gerror *C.GError
	defer arguments.Free()
	name := (*C.char)(arguments.Text("config", c.Name))
	data, length := arguments.Document(c.Text)
	if err := arguments.Err(); err != nil {
		return err
	}
	C.quoit_maxtext_job_add_config(job, name, (*C.char)(data), C.size_t(length), &gerror)
	return door.Take(unsafe.Pointer(gerror))
}

func reportOf(c *C.QuoitMaxtextReport) *Report {
	number := func(which C.QuoitMaxtextNumber) int64 {
		return int64(C.quoit_maxtext_report_get_number(c, which))
	}
	report := &Report{
		Findings:        make([]Finding, C.quoit_maxtext_report_get_n_findings(c)),
		Axes:            make([]Axis, C.quoit_maxtext_report_get_n_axes(c)),
		Slices:          number(C.QUOIT_MAXTEXT_NUMBER_SLICES),
		Hosts:           number(C.QUOIT_MAXTEXT_NUMBER_HOSTS),
		Chips:           number(C.QUOIT_MAXTEXT_NUMBER_CHIPS),
		Devices:         number(C.QUOIT_MAXTEXT_NUMBER_DEVICES),
		DevicesPerSlice: number(C.QUOIT_MAXTEXT_NUMBER_DEVICES_PER_SLICE),
		Batch:           number(C.QUOIT_MAXTEXT_NUMBER_BATCH),
		BatchToLoad:     number(C.QUOIT_MAXTEXT_NUMBER_BATCH_TO_LOAD),
	}
	for index := range report.Findings {
		report.Findings[index] = findingOf(c, C.uint32_t(index))
	}
	for index := range report.Axes {
		axis := C.uint32_t(index)
		report.Axes[index] = Axis{
			Name: C.GoString(C.quoit_maxtext_report_get_axis_name(c, axis)),
			ICI:  int64(C.quoit_maxtext_report_get_axis_size(c, axis, C.QUOIT_MAXTEXT_ICI)),
			DCN:  int64(C.quoit_maxtext_report_get_axis_size(c, axis, C.QUOIT_MAXTEXT_DCN)),
		}
	}
	return report
}

func findingOf(c *C.QuoitMaxtextReport, finding C.uint32_t) Finding {
	value := C.quoit_maxtext_report_get_value(c, finding)
	return Finding{
		Severity: quoit.Severity(C.quoit_maxtext_report_get_severity(c, finding)),
		Rule:     C.GoString(C.quoit_maxtext_report_get_rule(c, finding)),
		Key:      C.GoString(C.quoit_maxtext_report_get_key(c, finding)),
		Value:    C.GoString(value),
		HasValue: value != nil,
		Expected: C.GoString(C.quoit_maxtext_report_get_expected(c, finding)),
		Message:  C.GoString(C.quoit_maxtext_report_get_message(c, finding)),
		File:     C.GoString(C.quoit_maxtext_report_get_file(c, finding)),
		Line:     int(C.quoit_maxtext_report_get_line(c, finding)),
	}
}

// Rules returns all rules that Check checks.
func Rules() []quoit.Rule {
	var rules []quoit.Rule
	for {
		name := C.quoit_maxtext_rule_get_name(C.unsigned(len(rules)))
		if name == nil {
			return rules
		}
		severity := quoit.Severity(C.quoit_maxtext_rule_get_severity(C.unsigned(len(rules))))
		rules = append(rules, quoit.Rule{Name: C.GoString(name), Severity: severity})
	}
}
