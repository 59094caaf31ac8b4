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

	"quoit/internal/cconv"
)

// Verdict is whether a request fits. The numbers are those of Code.
type Verdict int

// The verdicts.
const (
	Fits       Verdict = C.QUOIT_VERDICT_FITS
	FitsNotNow Verdict = C.QUOIT_VERDICT_NOT_NOW // it would fit if all groups were released and all known nodes alive
	FitsNever  Verdict = C.QUOIT_VERDICT_NEVER   // it would not fit even then
)

var verdictNames = map[Verdict]string{Fits: "FITS", FitsNotNow: "NOT_NOW", FitsNever: "NEVER"}

// String returns the name of the verdict.
func (v Verdict) String() string { return nameOf(verdictNames, v) }

// Constraint is a test that removes candidates: slices for a request for slices, or nodes for one bundle.
type Constraint int

// The constraints. A slice or node is counted for the first constraint that it does not satisfy.
const (
	ConstraintAccelerator   Constraint = C.QUOIT_CONSTRAINT_ACCELERATOR
	ConstraintTopology      Constraint = C.QUOIT_CONSTRAINT_TOPOLOGY
	ConstraintChipsPerHost  Constraint = C.QUOIT_CONSTRAINT_CHIPS_PER_HOST
	ConstraintPool          Constraint = C.QUOIT_CONSTRAINT_POOL
	ConstraintZone          Constraint = C.QUOIT_CONSTRAINT_ZONE
	ConstraintSelector      Constraint = C.QUOIT_CONSTRAINT_SELECTOR
	ConstraintNamedSlice    Constraint = C.QUOIT_CONSTRAINT_NAMED_SLICE    // in Request.OnlySlices, if there are any
	ConstraintExcludedSlice Constraint = C.QUOIT_CONSTRAINT_EXCLUDED_SLICE // not in Request.ExcludedSlices
	ConstraintIntact        Constraint = C.QUOIT_CONSTRAINT_INTACT         // slices: all hosts work, and agree
	ConstraintDraining      Constraint = C.QUOIT_CONSTRAINT_DRAINING       // no host of the slice is draining
	ConstraintAllocated     Constraint = C.QUOIT_CONSTRAINT_ALLOCATED      // not allocated to groups; nodes: enough is not
	ConstraintExternal      Constraint = C.QUOIT_CONSTRAINT_EXTERNAL       // enough is not in external use
	ConstraintTopologyLabel Constraint = C.QUOIT_CONSTRAINT_TOPOLOGY_LABEL // nodes: the node has the topology label
	ConstraintTotal         Constraint = C.QUOIT_CONSTRAINT_TOTAL          // nodes: large enough if the node were empty
	ConstraintAlive         Constraint = C.QUOIT_CONSTRAINT_ALIVE          // nodes: the node is not dead
	ConstraintChips         Constraint = C.QUOIT_CONSTRAINT_CHIPS          // nodes: enough chips, or enough of one chip
	ConstraintStrategy      Constraint = C.QUOIT_CONSTRAINT_STRATEGY       // nodes: room for all bundles together
	ConstraintQuota         Constraint = C.QUOIT_CONSTRAINT_QUOTA          // the quotas admit the slices, or all bundles; see SetQuota
	ConstraintExcludedNode  Constraint = C.QUOIT_CONSTRAINT_EXCLUDED_NODE  // no node of Request.ExcludedNodes
	ConstraintOneZone       Constraint = C.QUOIT_CONSTRAINT_ONE_ZONE       // slices: in one zone, if the request compares zones
	ConstraintKeepTo        Constraint = C.QUOIT_CONSTRAINT_KEEP_TO        // slices: in the pool or zone that has most; see Request.KeepTo
	ConstraintSpread        Constraint = C.QUOIT_CONSTRAINT_SPREAD         // slices: within the skew; see Request.SpreadOver
	ConstraintBlock         Constraint = C.QUOIT_CONSTRAINT_BLOCK          // slices: cubes of a block that can hold a slice; see Request.Cubes
	ConstraintCubeLabel     Constraint = C.QUOIT_CONSTRAINT_CUBE_LABEL     // slices: cubes with a valid block, or a valid position in it
)

// String returns the name of the constraint.
func (c Constraint) String() string {
	name := C.GoString(C.quoit_constraint_get_name(C.QuoitConstraint(c)))
	if name == "" {
		return nameOf(nil, c)
	}
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// RayAnswer is the answer that Ray 2.60's control plane would give to the request.
type RayAnswer int

// Ray's answers.
const (
	RayNone       RayAnswer = C.QUOIT_RAY_ANSWER_NONE       // Ray has no such request, as for whole slices
	RaySuccess    RayAnswer = C.QUOIT_RAY_ANSWER_SUCCESS    // placed
	RayFailed     RayAnswer = C.QUOIT_RAY_ANSWER_FAILED     // not placed; Ray retries each second
	RayInfeasible RayAnswer = C.QUOIT_RAY_ANSWER_INFEASIBLE // not placed; Ray retries when a node joins
)

var rayAnswerNames = map[RayAnswer]string{
	RayNone: "NONE", RaySuccess: "SUCCESS", RayFailed: "FAILED", RayInfeasible: "INFEASIBLE",
}

// String returns Ray's name of the answer.
func (a RayAnswer) String() string { return nameOf(rayAnswerNames, a) }

// StepKind is the action of a step. The comments of the constants name the fields of Step that the action uses.
type StepKind int

// The actions of steps.
const (
	StepNodeAlive     StepKind = C.QUOIT_STEP_NODE_ALIVE     // Node, which is dead, becomes alive again
	StepUndrain       StepKind = C.QUOIT_STEP_UNDRAIN        // undrain Node
	StepRelease       StepKind = C.QUOIT_STEP_RELEASE        // release Group
	StepExternalEnds  StepKind = C.QUOIT_STEP_EXTERNAL_ENDS  // the external use of Node ends
	StepFewerSlices   StepKind = C.QUOIT_STEP_FEWER_SLICES   // request Slices
	StepOtherTopology StepKind = C.QUOIT_STEP_OTHER_TOPOLOGY // request Topology, on hosts of ChipsPerHost if that is not 0
	StepOtherHosts    StepKind = C.QUOIT_STEP_OTHER_HOSTS    // request ChipsPerHost
	StepLeaseEnds     StepKind = C.QUOIT_STEP_LEASE_ENDS     // the lease of Group ends at Until, unless it is renewed
	StepWindowEnds    StepKind = C.QUOIT_STEP_WINDOW_ENDS    // the window that Group names ends at Until
	StepSourceRemoves StepKind = C.QUOIT_STEP_SOURCE_REMOVES // the source that owns Group removes it
	StepShrink        StepKind = C.QUOIT_STEP_SHRINK         // resize Group, which is elastic or to be repaired, to Slices
	StepExpectedEnd   StepKind = C.QUOIT_STEP_EXPECTED_END   // Group is expected to end at Until
	StepCut           StepKind = C.QUOIT_STEP_CUT            // request parts of larger slices: CutAny
	StepCutPartition  StepKind = C.QUOIT_STEP_CUT_PARTITION  // request parts of larger slices: CutPartition, for tpu7x
	StepJoinCubes     StepKind = C.QUOIT_STEP_JOIN_CUBES     // request slices of cubes: CubesAny
)

var stepKindNames = map[StepKind]string{
	StepNodeAlive: "NODE_ALIVE", StepUndrain: "UNDRAIN", StepRelease: "RELEASE", StepExternalEnds: "EXTERNAL_ENDS",
	StepFewerSlices: "FEWER_SLICES", StepOtherTopology: "OTHER_TOPOLOGY", StepOtherHosts: "OTHER_HOSTS",
	StepLeaseEnds: "LEASE_ENDS", StepSourceRemoves: "SOURCE_REMOVES",
	StepWindowEnds: "WINDOW_ENDS", StepShrink: "SHRINK",
	StepExpectedEnd: "EXPECTED_END", StepCut: "CUT", StepCutPartition: "CUT_PARTITION", StepJoinCubes: "JOIN_CUBES",
}

// String returns the name of the action.
func (k StepKind) String() string { return nameOf(stepKindNames, k) }

// OptionOrder is an order in which options are compared. Its options only wait for groups, or release groups.
type OptionOrder int

// The orders of options.
const (
	OrderEarliest     OptionOrder = C.QUOIT_OPTION_ORDER_EARLIEST      // waiting only: the earliest time comes first
	OrderFewestGroups OptionOrder = C.QUOIT_OPTION_ORDER_FEWEST_GROUPS // releasing at once: the fewest groups come first
	OrderFewestChips  OptionOrder = C.QUOIT_OPTION_ORDER_FEWEST_CHIPS  // releasing at once: the fewest chips come first
)

// String returns the name of the order.
func (o OptionOrder) String() string {
	name := C.GoString(C.quoit_option_order_get_name(C.QuoitOptionOrder(o)))
	if name == "" {
		return nameOf(nil, o)
	}
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Report is why a request fits or not: the verdict, what each constraint removed, and small sets of changes that would
// make the request fit.
type Report struct {
	Verdict          Verdict
	IsOfBundles      bool // the request is for bundles, so that FreeNow, Possible and Reasons count nodes, not slices
	Wanted           int  // the number of requested slices or bundles
	FreeNow          int  // the slices that satisfy the request now, or the nodes that have room for Bundle now
	Possible         int  // like FreeNow, if all groups were released and all known nodes alive and not draining
	Bundle           int  // the index of the bundle that is hardest to place, for Reasons and Misses; 0 for slices
	RayAnswer        RayAnswer
	CanRayAnswerVary bool     // Ray chooses among nodes that it ranks equally, so its answer can differ next time
	IsProven         bool     // false if the search ended before the verdict was proven
	Reasons          []Reason // the main obstacle first
	Misses           []Miss   // nodes that almost have room for Bundle, if no node has room for it
	Options          []Option // each option alone makes the request fit; the smallest one first

	// BestOptions has the best of Options in each order. An order without an option is left out.
	BestOptions []BestOption

	// Alternative is which alternative of the request the report is about, counted from 1: the first one that fits, else
	// the first one that fits later; 0 is the request itself.
	Alternative int
	// Alternatives has one element for each alternative, the request itself first; nil for a request without any.
	Alternatives []AlternativeReport

	c *cReport
}

// AlternativeReport is why one alternative of a request fits or not: a report without Alternatives, or the error because
// of which there is none, such as NotFound for a pool that the fleet does not have.
type AlternativeReport struct {
	Report *Report
	Err    error
}

// Reason is a constraint that removed slices or nodes, and how many.
type Reason struct {
	Constraint Constraint
	Before     int    // slices or nodes that passed every earlier constraint
	After      int    // those that passed this constraint too
	Text       string // "2 of 3 slices are allocated to groups"
}

// Miss is a node that almost has room for a bundle. The amounts are decimal text.
type Miss struct {
	Node      string
	Resource  string // the resource of which the node has too little; if several, the one that lacks most
	Available string // the free amount on the node
	Requested string // the amount that the bundle needs
}

// Option is a set of steps. If all of them are done, the request fits.
type Option struct {
	Steps  []Step
	Text   string    // "release train@17 and undrain host-3"
	Time   time.Time // the last time of the waiting steps; zero if the option waits for nothing
	Groups int       // the groups that the option releases or shrinks
	Chips  string    // the chips that these groups give up, as decimal text
}

// BestOption is the best option of a report in one order.
type BestOption struct {
	Order    OptionOrder
	Option   int  // the index in Report.Options
	IsProven bool // no option is better in this order; false if the search was cut, or if
	// reservations ahead, windows or the policy ray prevent a proof
}

// Step is one step of an option. Its Kind determines which of the other fields are set.
type Step struct {
	Kind         StepKind
	Node         string
	Group        string    // NAME@ID
	Until        time.Time // until when the step waits
	Topology     string
	ChipsPerHost int
	Slices       int
}

// cReport is the C report, which Summary needs. It is a separate object, so that copies of a Report share it: a
// finalizer frees it after the last copy is gone.
type cReport struct {
	c *C.QuoitReport
}

// moveReport converts a C report and takes ownership of it.
func moveReport(c *C.QuoitReport) *Report {
	report := moveReportAlone(c)
	n := C.quoit_report_get_n_alternatives(c)
	for at := C.uint32_t(0); n > 1 && at < n; at++ {
		var gerror *C.GError
		one := C.quoit_report_dup_alternative(c, at, &gerror)
		if err := errorFromC(gerror); err != nil {
			report.Alternatives = append(report.Alternatives, AlternativeReport{Err: err})
		} else {
			report.Alternatives = append(report.Alternatives, AlternativeReport{Report: moveReportAlone(one)})
		}
	}
	return report
}

// moveReportAlone is moveReport without the alternatives.
func moveReportAlone(c *C.QuoitReport) *Report {
	report := &Report{
		Verdict:          Verdict(C.quoit_report_get_verdict(c)),
		IsOfBundles:      C.quoit_report_get_bundle(c) >= 0,
		Wanted:           int(C.quoit_report_get_n_wanted(c)),
		FreeNow:          int(C.quoit_report_get_n_free_now(c)),
		Possible:         int(C.quoit_report_get_n_possible(c)),
		Bundle:           max(int(C.quoit_report_get_bundle(c)), 0),
		RayAnswer:        RayAnswer(C.quoit_report_get_ray_answer(c)),
		CanRayAnswerVary: bool(C.quoit_report_can_ray_answer_vary(c)),
		IsProven:         bool(C.quoit_report_is_proven(c)),
		Alternative:      int(C.quoit_report_get_alternative(c)),
		Reasons:          make([]Reason, C.quoit_report_get_n_reasons(c)),
		Misses:           make([]Miss, C.quoit_report_get_n_misses(c)),
		Options:          make([]Option, C.quoit_report_get_n_options(c)),
		c:                &cReport{c},
	}
	runtime.SetFinalizer(report.c, func(report *cReport) { C.quoit_report_unref(report.c) })
	for index := range report.Reasons {
		report.Reasons[index] = reasonFromC(c, C.uint32_t(index))
	}
	for index := range report.Misses {
		report.Misses[index] = missFromC(c, C.uint32_t(index))
	}
	for index := range report.Options {
		report.Options[index] = optionFromC(c, C.uint32_t(index))
	}
	for order := OrderEarliest; order <= OrderFewestChips; order++ {
		if option := C.quoit_report_find_option(c, C.QuoitOptionOrder(order)); option >= 0 {
			isProven := bool(C.quoit_report_is_option_best(c, C.QuoitOptionOrder(order)))
			report.BestOptions = append(report.BestOptions, BestOption{order, int(option), isProven})
		}
	}
	return report
}

func reasonFromC(c *C.QuoitReport, reason C.uint32_t) Reason {
	return Reason{
		Constraint: Constraint(C.quoit_report_get_reason_constraint(c, reason)),
		Before:     int(C.quoit_report_get_reason_before(c, reason)),
		After:      int(C.quoit_report_get_reason_after(c, reason)),
		Text:       moveString(C.quoit_report_dup_reason_text(c, reason)),
	}
}

func missFromC(c *C.QuoitReport, miss C.uint32_t) Miss {
	return Miss{
		Node:      C.GoString(C.quoit_report_get_miss_node(c, miss)),
		Resource:  C.GoString(C.quoit_report_get_miss_resource(c, miss)),
		Available: moveString(C.quoit_amount_format(C.quoit_report_get_miss_available(c, miss))),
		Requested: moveString(C.quoit_amount_format(C.quoit_report_get_miss_requested(c, miss))),
	}
}

func optionFromC(c *C.QuoitReport, option C.uint32_t) Option {
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
			steps[index].Until = timeFromC(int64(until))
		}
	}
	result := Option{
		Steps:  steps,
		Text:   moveString(C.quoit_report_dup_option_text(c, option)),
		Groups: int(C.quoit_report_get_option_n_groups(c, option)),
		Chips:  moveString(C.quoit_amount_format(C.quoit_report_get_option_chips(c, option))),
	}
	if until := C.quoit_report_get_option_time_ms(c, option); until != 0 {
		result.Time = timeFromC(int64(until))
	}
	return result
}

// Summary returns one sentence with the verdict, the numbers, the dominant reason and the first option. what is the
// beginning of the sentence, such as "8 bundles".
//
// It fails with Invalid for text with a NUL, and for a report that this package did not create.
func (r *Report) Summary(what string) (string, error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("what", what))
	if err := arguments.Err(); err != nil {
		return "", err
	}
	if r.c == nil {
		return "", cconv.InvalidError("report: expected a report that this package returned")
	}
	defer runtime.KeepAlive(r.c)
	return moveString(C.quoit_report_dup_summary(r.c.c, text)), nil
}
