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
	"quoit/internal/cconv"
	"quoit/ray"
)

// Job is the slices and the MaxText settings of a job. It is a plain value: Check validates the fields.
type Job struct {
	// Accelerator is the generation, in any system's spelling. If Accelerator and Topology are "", compile_topology
	// in the settings determines the slices.
	Accelerator string
	Topology    string // the topology of each slice, "4x4"
	Slices      int64  // the number of slices: 1 to 1000000; 0 stands for 1
	// ChipsPerHost is 1, 2, 4 or 8; 0 stands for Ray's default.
	ChipsPerHost int64
	// Settings is the words of MaxText's command line, such as "ici_fsdp_parallelism=-1". Check does not read a
	// settings file that is named here: put its text into Configs. Without Configs, Check uses MaxText's base.yml.
	Settings []string
	// Configs is settings files. Later files have precedence over earlier ones, and Settings over all files. A file
	// must come after the file that it names as its base_config.
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
	Axes     []Axis // the axes of the mesh, in their order; empty if mesh_axes is not valid

	Slices          int64
	Hosts           int64
	Chips           int64
	Devices         int64 // JAX devices of all slices
	DevicesPerSlice int64
	Batch           int64 // the number of rows of one forward pass
	BatchToLoad     int64 // the number of rows that a step loads
	Parameters      int64 // of the model, if the settings describe one that is modelled
	StateBytes      int64 // per device: weights and optimizer state; exact
	GradientBytes   int64 // per device; exact
	ActivationBytes int64 // per device; an estimate
	MemoryBytes     int64 // per device: the sum of the three
	HBMBytes        int64 // the memory of a device
}

// Axis is an axis of the mesh. If MaxText refuses the sizes, ICI and DCN are the given sizes, which can be -1.
type Axis struct {
	Name string // "fsdp"
	ICI  int64  // the number of devices within a slice
	DCN  int64  // the number of slices; 1 if the job has one slice
}

// Finding is a rule that a job breaks.
type Finding struct {
	Severity quoit.Severity
	Rule     string // the name of the rule, such as "ici-product"; it never changes its meaning
	Key      string // the setting, or a pattern for several: "ici_*_parallelism"; "" if it is not a setting of MaxText
	Value    string // the given or effective value, or a word that is not a setting
	HasValue bool   // false if there is no value
	Expected string // what would work, in words
	Message  string // file, line, key, value and expectation in one line; values are quoted, escaped and truncated
	File     string // the name of the Config with the setting; "" if no Config has it or Settings overrides it
	Line     int    // the line in that file, from 1; 0 if there is none
}

// HasNoErrors reports whether no finding is an error.
func (r *Report) HasNoErrors() bool {
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
	if err := j.setFields(job); err != nil {
		return nil, err
	}
	check := func(scaling unsafe.Pointer) error {
		var gerror *C.GError
		c := C.quoit_maxtext_check(job, (*C.QuoitRayScaling)(scaling), &gerror)
		if err := cconv.ErrorFromC(unsafe.Pointer(gerror)); err != nil {
			return err
		}
		defer C.quoit_maxtext_report_free(c)
		report = reportFromC(c)
		return nil
	}
	if j.Scaling == nil {
		err := check(nil)
		return report, err
	}
	err := cconv.WithScaling(j.Scaling, check)
	return report, err
}

// setFields passes the fields to a C job.
func (j *Job) setFields(job *C.QuoitMaxtextJob) error {
	var arguments cconv.Arguments
	defer arguments.Free()
	generation := (*C.char)(arguments.Text("accelerator", j.Accelerator))
	topology := (*C.char)(arguments.Text("topology", j.Topology))
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
		return cconv.InvalidError("chips per host '%d': expected 1, 2, 4 or 8, or 0 for Ray's default", j.ChipsPerHost)
	}
	slices := j.Slices
	if slices == 0 {
		slices = 1
	}
	var gerror *C.GError
	C.quoit_maxtext_job_set_slices(job, generation, topology, C.int64_t(slices), C.uint32_t(j.ChipsPerHost), &gerror)
	return cconv.ErrorFromC(unsafe.Pointer(gerror))
}

// add adds the file to a C job.
func (c *Config) add(job *C.QuoitMaxtextJob) error {
	var arguments cconv.Arguments
	var gerror *C.GError
	defer arguments.Free()
	name := (*C.char)(arguments.Text("config", c.Name))
	data, length := arguments.Bytes(c.Text)
	if err := arguments.Err(); err != nil {
		return err
	}
	C.quoit_maxtext_job_add_config(job, name, (*C.char)(data), C.size_t(length), &gerror)
	return cconv.ErrorFromC(unsafe.Pointer(gerror))
}

func reportFromC(c *C.QuoitMaxtextReport) *Report {
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
		Parameters:      number(C.QUOIT_MAXTEXT_NUMBER_PARAMETERS),
		StateBytes:      number(C.QUOIT_MAXTEXT_NUMBER_STATE_BYTES),
		GradientBytes:   number(C.QUOIT_MAXTEXT_NUMBER_GRADIENT_BYTES),
		ActivationBytes: number(C.QUOIT_MAXTEXT_NUMBER_ACTIVATION_BYTES),
		MemoryBytes:     number(C.QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES),
		HBMBytes:        number(C.QUOIT_MAXTEXT_NUMBER_HBM_BYTES),
	}
	for index := range report.Findings {
		report.Findings[index] = findingFromC(c, C.uint32_t(index))
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

func findingFromC(c *C.QuoitMaxtextReport, finding C.uint32_t) Finding {
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

// Rules returns all rules that Job.Check checks.
func Rules() []quoit.Rule {
	var rules []quoit.Rule
	for {
		name := C.quoit_maxtext_rule_get_name(C.uint32_t(len(rules)))
		if name == nil {
			return rules
		}
		severity := quoit.Severity(C.quoit_maxtext_rule_get_severity(C.uint32_t(len(rules))))
		rules = append(rules, quoit.Rule{Name: C.GoString(name), Severity: severity})
	}
}
