// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <stdlib.h>
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"runtime"
	"strings"
	"time"

	"quoit/internal/door"
)

// Verdict is whether a request fits. The numbers are those of Code.
type Verdict int

// The verdicts.
const (
	Fits       Verdict = C.QUOIT_VERDICT_FITS
	FitsNotNow Verdict = C.QUOIT_VERDICT_NOT_NOW // it fits if every group is released and every known node alive
	FitsNever  Verdict = C.QUOIT_VERDICT_NEVER   // it does not fit even then
)

var verdictNames = map[Verdict]string{Fits: "FITS", FitsNotNow: "NOT_NOW", FitsNever: "NEVER"}

// String returns the name of the verdict.
func (v Verdict) String() string { return named(verdictNames, v) }

// Constraint is a step that removes candidates: slices that cannot be allocated now, or nodes on which one bundle
// cannot be placed.
type Constraint int

// The constraints. A slice or node is counted for the first constraint that it fails.
const (
	ConstraintAccelerator   Constraint = C.QUOIT_CONSTRAINT_ACCELERATOR
	ConstraintTopology      Constraint = C.QUOIT_CONSTRAINT_TOPOLOGY
	ConstraintChipsPerHost  Constraint = C.QUOIT_CONSTRAINT_CHIPS_PER_HOST
	ConstraintPool          Constraint = C.QUOIT_CONSTRAINT_POOL
	ConstraintZone          Constraint = C.QUOIT_CONSTRAINT_ZONE
	ConstraintSelector      Constraint = C.QUOIT_CONSTRAINT_SELECTOR
	ConstraintNamedSlice    Constraint = C.QUOIT_CONSTRAINT_NAMED_SLICE
	ConstraintExcludedSlice Constraint = C.QUOIT_CONSTRAINT_EXCLUDED_SLICE
	ConstraintIntact        Constraint = C.QUOIT_CONSTRAINT_INTACT         // every host is alive, without contradictions
	ConstraintDraining      Constraint = C.QUOIT_CONSTRAINT_DRAINING       // no host is draining
	ConstraintHeld          Constraint = C.QUOIT_CONSTRAINT_HELD           // no group has a host
	ConstraintExternal      Constraint = C.QUOIT_CONSTRAINT_EXTERNAL       // no host is used outside of groups
	ConstraintTopologyLabel Constraint = C.QUOIT_CONSTRAINT_TOPOLOGY_LABEL // the node has the label
	ConstraintTotal         Constraint = C.QUOIT_CONSTRAINT_TOTAL          // the node's total resources are large enough
	ConstraintAlive         Constraint = C.QUOIT_CONSTRAINT_ALIVE          // the node is not dead
	ConstraintChips         Constraint = C.QUOIT_CONSTRAINT_CHIPS          // its free TPU is whole chips, or enough of one
	ConstraintStrategy      Constraint = C.QUOIT_CONSTRAINT_STRATEGY       // all bundles can be placed together
)

// String returns the name of the constraint.
func (c Constraint) String() string {
	name := C.GoString(C.quoit_constraint_get_name(C.QuoitConstraint(c)))
	if name == "" {
		return named(nil, c)
	}
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// RayAnswer is the answer of Ray 2.60's control plane to the request.
type RayAnswer int

// Ray's answers.
const (
	RayNone       RayAnswer = C.QUOIT_RAY_ANSWER_NONE       // no such request in Ray: whole slices, several label values
	RaySuccess    RayAnswer = C.QUOIT_RAY_ANSWER_SUCCESS    // placed
	RayFailed     RayAnswer = C.QUOIT_RAY_ANSWER_FAILED     // not placed; Ray retries each second
	RayInfeasible RayAnswer = C.QUOIT_RAY_ANSWER_INFEASIBLE // not placed; Ray retries when a node joins
)

var rayAnswerNames = map[RayAnswer]string{
	RayNone: "NONE", RaySuccess: "SUCCESS", RayFailed: "FAILED", RayInfeasible: "INFEASIBLE",
}

// String returns Ray's name of the answer.
func (a RayAnswer) String() string { return named(rayAnswerNames, a) }

// StepKind is the kind of a step.
type StepKind int

// The kinds of steps.
const (
	StepNodeBack      StepKind = C.QUOIT_STEP_NODE_BACK      // Node, now dead, is alive again
	StepUndrain       StepKind = C.QUOIT_STEP_UNDRAIN        // Node is no longer draining
	StepRelease       StepKind = C.QUOIT_STEP_RELEASE        // Group is released
	StepExternalEnds  StepKind = C.QUOIT_STEP_EXTERNAL_ENDS  // the external use of Node ends
	StepFewerSlices   StepKind = C.QUOIT_STEP_FEWER_SLICES   // request Slices
	StepOtherTopology StepKind = C.QUOIT_STEP_OTHER_TOPOLOGY // request Topology, on hosts of ChipsPerHost if that is not 0
	StepOtherHosts    StepKind = C.QUOIT_STEP_OTHER_HOSTS    // request ChipsPerHost
	StepLeaseEnds     StepKind = C.QUOIT_STEP_LEASE_ENDS     // the lease of Group ends at Until
	StepSourceRemoves StepKind = C.QUOIT_STEP_SOURCE_REMOVES // the source that owns Group removes it
)

var stepKindNames = map[StepKind]string{
	StepNodeBack: "NODE_BACK", StepUndrain: "UNDRAIN", StepRelease: "RELEASE", StepExternalEnds: "EXTERNAL_ENDS",
	StepFewerSlices: "FEWER_SLICES", StepOtherTopology: "OTHER_TOPOLOGY", StepOtherHosts: "OTHER_HOSTS",
	StepLeaseEnds: "LEASE_ENDS", StepSourceRemoves: "SOURCE_REMOVES",
}

// String returns the name of the kind.
func (k StepKind) String() string { return named(stepKindNames, k) }

// Report is why a request fits or not: the verdict, what each constraint removed, and small sets of changes that would
// make the request fit.
type Report struct {
	Verdict     Verdict
	IsOfBundles bool // the request is for bundles, and the numbers are nodes
	Wanted      int  // the requested slices or bundles
	Now         int  // slices that satisfy the request, or nodes that can have Bundle, now
	Could       int  // the same, with every group released and every known node alive and undrained
	Bundle      int  // the bundle that is hardest to place; Reasons and Misses refer to it; 0 for slices
	RayAnswer   RayAnswer
	RayVaries   bool     // Ray chose among nodes that it ranks equally, and can answer differently next time
	IsProven    bool     // false if the search ended before the verdict was proven
	Reasons     []Reason // the main obstacle first
	Misses      []Miss   // the nodes that are nearly sufficient for Bundle, if none is sufficient
	Options     []Option // each one alone makes the request fit; the smallest first

	c *reportKept
}

// Reason is what one constraint removed.
type Reason struct {
	Constraint Constraint
	Before     int    // slices or nodes that passed every earlier constraint
	After      int    // those that passed this one too
	Text       string // "2 of 3 slices are held by groups"
}

// Miss is a node that is nearly sufficient. The amounts are decimal text.
type Miss struct {
	Node     string
	Resource string // the resource of which it has too little; if several, the one that lacks most
	Left     string // the free amount on the node
	Wanted   string // the amount that the bundle needs
}

// Option is a set of changes that must all be made.
type Option struct {
	Steps []Step
	Text  string // "release train@17 and undrain host-3"
}

// Step is one change of an option. The comment of its kind names the members that are set.
type Step struct {
	Kind         StepKind
	Node         string
	Group        string    // NAME@ID
	Until        time.Time // when the lease of Group ends
	Topology     string
	ChipsPerHost int
	Slices       int
}

// reportKept is the C report, which Summary needs. It is freed with the Report.
type reportKept struct {
	c *C.QuoitReport
}

func takenReport(c *C.QuoitReport) *Report {
	report := &Report{
		Verdict:     Verdict(C.quoit_report_get_verdict(c)),
		IsOfBundles: C.quoit_report_get_bundle(c) >= 0,
		Wanted:      int(C.quoit_report_get_n_wanted(c)),
		Now:         int(C.quoit_report_get_n_now(c)),
		Could:       int(C.quoit_report_get_n_could(c)),
		Bundle:      max(int(C.quoit_report_get_bundle(c)), 0),
		RayAnswer:   RayAnswer(C.quoit_report_get_ray_answer(c)),
		RayVaries:   bool(C.quoit_report_does_ray_vary(c)),
		IsProven:    bool(C.quoit_report_is_proven(c)),
		Reasons:     make([]Reason, C.quoit_report_get_n_reasons(c)),
		Misses:      make([]Miss, C.quoit_report_get_n_misses(c)),
		Options:     make([]Option, C.quoit_report_get_n_options(c)),
		c:           &reportKept{c},
	}
	runtime.SetFinalizer(report.c, func(kept *reportKept) { C.quoit_report_unref(kept.c) })
	for index := range report.Reasons {
		report.Reasons[index] = reasonOf(c, C.uint32_t(index))
	}
	for index := range report.Misses {
		report.Misses[index] = missOf(c, C.uint32_t(index))
	}
	for index := range report.Options {
		report.Options[index] = optionOf(c, C.uint32_t(index))
	}
	return report
}

func reasonOf(c *C.QuoitReport, reason C.uint32_t) Reason {
	return Reason{
		Constraint: Constraint(C.quoit_report_get_reason_constraint(c, reason)),
		Before:     int(C.quoit_report_get_reason_before(c, reason)),
		After:      int(C.quoit_report_get_reason_after(c, reason)),
		Text:       taken(C.quoit_report_dup_reason_text(c, reason)),
	}
}

func missOf(c *C.QuoitReport, miss C.uint32_t) Miss {
	return Miss{
		Node:     C.GoString(C.quoit_report_get_miss_node(c, miss)),
		Resource: C.GoString(C.quoit_report_get_miss_resource(c, miss)),
		Left:     taken(C.quoit_amount_format(C.quoit_report_get_miss_left(c, miss))),
		Wanted:   taken(C.quoit_amount_format(C.quoit_report_get_miss_wanted(c, miss))),
	}
}

func optionOf(c *C.QuoitReport, option C.uint32_t) Option {
	steps := make([]Step, C.quoit_report_get_n_steps(c, option))
	for index := range steps {
		step := C.uint32_t(index)
		steps[index] = Step{
			Kind:         StepKind(C.quoit_report_get_step_kind(c, option, step)),
			Node:         C.GoString(C.quoit_report_get_step_node(c, option, step)),
			Group:        C.GoString(C.quoit_report_get_step_group(c, option, step)),
			Topology:     C.GoString(C.quoit_report_get_step_topology(c, option, step)),
			ChipsPerHost: int(C.quoit_report_get_step_chips_per_host(c, option, step)),
			Slices:       int(C.quoit_report_get_step_n_slices(c, option, step)),
		}
		if until := C.quoit_report_get_step_until_ms(c, option, step); until != 0 {
			steps[index].Until = timeOf(int64(until))
		}
	}
	return Option{Steps: steps, Text: taken(C.quoit_report_dup_option_text(c, option))}
}

// Summary returns one sentence with the verdict, the numbers, the dominant reason and the first option. The sentence
// begins with what.
//
// It fails with Invalid for text with a NUL, and for a report that this package did not create.
func (r *Report) Summary(what string) (string, error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("what", what))
	if err := arguments.Err(); err != nil {
		return "", err
	}
	if r.c == nil {
		return "", door.Invalid("a report: expected one of Snapshot.Explain or Snapshot.ExplainGroup")
	}
	defer runtime.KeepAlive(r.c)
	return taken(C.quoit_report_dup_summary(r.c.c, text)), nil
}
