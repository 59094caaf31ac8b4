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

// Job is slices, and the settings that MaxText is to be started with. It is a value: what a field says is checked by Check.
type Job struct {
	// Accelerator is the generation, in any system's spelling; "" with Topology: a compile_topology among the settings says
	// what the slices are.
	Accelerator string
	Topology    string // of each slice, "4x4"
	Slices      int64  // how many, 1 to 1000000; 0 stands for 1
	// ChipsPerHost is 1, 2, 4 or 8; 0 for Ray's default.
	ChipsPerHost int64
	// Settings are words of MaxText's command line: "ici_fsdp_parallelism=-1". A file of settings that is named is not read:
	// Configs have its text, and without one MaxText's base.yml stands for it.
	Settings []string
	// Configs are files of settings, the later ones over the earlier and all below Settings. A file that another names as its
	// base_config comes before it.
	Configs []Config
	// Scaling is the ScalingConfig of a Ray Train job that runs it; nil: no Ray Train.
	Scaling *ray.Scaling
}

// Config is a file of settings.
type Config struct {
	Name string // what findings call it
	Text []byte // YAML, a map of settings as base.yml is one
}

// Report is what was found about a job. A number that cannot be told is -1.
type Report struct {
	Findings []Finding
	Axes     []Axis // of the mesh, in its order; none where mesh_axes are none

	Slices          int64
	Hosts           int64
	Chips           int64
	Devices         int64 // JAX devices of all slices
	DevicesPerSlice int64
	Batch           int64 // rows of one forward pass
	BatchToLoad     int64 // rows that a step loads
}

// Axis is one of the mesh. Where MaxText refuses the sizes, they are as they were given: -1 where they were not filled in.
type Axis struct {
	Name string // "fsdp"
	ICI  int64  // devices within a slice
	DCN  int64  // slices; 1 for one slice
}

// Finding is a rule that a job breaks.
type Finding struct {
	Severity quoit.Severity
	Rule     string // its name, "ici-product", which never changes its meaning
	Key      string // the setting that it is about, or several, "ici_*_parallelism"; "" where it is none of MaxText's
	Value    string // what is wrong, as it was given, or what stands where it was not; a word that is no setting
	HasValue bool   // false: there is none
	Expected string // what would work, in words
	Message  string // key, value and expectation as one line, behind file and line; values in it are quoted, escaped and cut
	File     string // the one of Configs that has the setting; "" where none has it, or a word counts more
	Line     int    // of that file, from 1; 0 where there is none
}

// IsRight says whether there is no error among the findings.
func (r *Report) IsRight() bool {
	for _, finding := range r.Findings {
		if finding.Severity == quoit.SeverityError {
			return false
		}
	}
	return true
}

// Check finds all that MaxText would refuse, or take in vain: names and types of settings, the sizes of the axes of the
// mesh, the batch, the number of slices; and where the ScalingConfig and the slices contradict each other. What would work
// instead is in what is expected. Settings of the model are not looked at, but for their names.
//
// It fails with Invalid when there is no such generation, topology, number of slices or host, when neither the job nor a
// compile_topology that MaxText lists says what the slices are, and when a file is no YAML, or no map of settings.
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

// Rules are all that Check knows.
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
