// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import "quoit/internal/cconv"

// DefragmentationState is what is known about a plan of moves.
type DefragmentationState int

// The states of a plan.
const (
	DefragmentationBest     DefragmentationState = C.QUOIT_DEFRAGMENTATION_BEST      // no other moves of bundles make more chips free, or as many with fewer moves
	DefragmentationAllTried DefragmentationState = C.QUOIT_DEFRAGMENTATION_ALL_TRIED // no other set of slices to close is better; moves of another kind may be
	DefragmentationFound    DefragmentationState = C.QUOIT_DEFRAGMENTATION_FOUND     // the search ended before it tried all sets; the bounds hold
)

var defragmentationStateNames = map[DefragmentationState]string{
	DefragmentationBest: "best", DefragmentationAllTried: "all_tried", DefragmentationFound: "found",
}

// String returns the name of the state.
func (s DefragmentationState) String() string { return nameOf(defragmentationStateNames, s) }

// BundleMove is the move of one bundle to another node.
type BundleMove struct {
	Group  string // NAME@ID
	Bundle uint32 // the index of the bundle in its group; for a cube, the slice id that it has before
	From   string // the node that it leaves
	To     string // the node that it gets
	Gain   int64  // how many chips get into free slices by this move, after the moves before it
}

// Defragmentation is which bundles to move so that whole slices become free.
type Defragmentation struct {
	State      DefragmentationState
	Gain       uint64       // how many more chips are in free slices after the moves
	GainBound  uint64       // no moves of bundles get more chips into free slices
	MovesBound uint32       // as many chips cannot become free with fewer moves
	Slices     []string     // whose hosts are to be drained before, and undrained after the repairs: source/pool/name
	Groups     []string     // to repair, in this order: NAME@ID
	Moves      []BundleMove // in their order
}

// PlanDefragmentation plans which bundles to move so that the most chips get into free slices, with the fewest moves. It
// changes nothing. To make the moves, drain the hosts of Slices, repair the groups in their order with Ledger.Repair, and
// undrain the hosts. If nothing else has changed, that makes exactly these moves. steps limits the work: one step is one
// repair of a group on a fork; 0 is the default.
//
// It fails only after Close, with Invalid.
func (s *Snapshot) PlanDefragmentation(steps uint64) (*Defragmentation, error) {
	plan := &Defragmentation{}
	err := s.with(func(c *C.QuoitSnapshot) error {
		planned := C.quoit_snapshot_plan_defragmentation(c, C.uint64_t(steps))
		defer C.quoit_defragmentation_free(planned)
		readSlices(c, planned, plan)
		readDefragmentation(planned, plan)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return plan, nil
}

// PlanJoinedDefragmentation plans which cubes of groups to move to other blocks so that the most slices of a topology can
// be joined from free cubes, with the fewest cubes. It changes nothing, and is carried out like PlanDefragmentation. Its
// moves are those of cubes: Bundle is the slice id, and the names are those of cubes.
//
// It fails with Invalid if the generation is unknown, has no cubes or cannot have the topology, or if cubes is CubesNone or
// not one of the constants, and with NotFound if no block of the fleet is large enough.
func (s *Snapshot) PlanJoinedDefragmentation(accelerator, topology string, cubes Cubes, steps uint64) (*Defragmentation, error) {
	var arguments cconv.Arguments
	cAccelerator := (*C.char)(arguments.Text("accelerator", accelerator))
	cTopology := (*C.char)(arguments.Text("topology", topology))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	plan := &Defragmentation{}
	err := s.with(func(c *C.QuoitSnapshot) error {
		if cubes < CubesNone || cubes > CubesAdjacent {
			return cconv.InvalidError("cubes '%d': expected a constant of type Cubes", int(cubes))
		}
		var gerror *C.GError
		planned := C.quoit_snapshot_plan_joined_defragmentation(c, cAccelerator, cTopology, C.QuoitCubes(cubes),
			C.uint64_t(steps), &gerror)
		if planned == nil {
			return errorFromC(gerror)
		}
		defer C.quoit_defragmentation_free(planned)
		readSlices(c, planned, plan)
		readDefragmentation(planned, plan)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return plan, nil
}

func readSlices(c *C.QuoitSnapshot, planned *C.QuoitDefragmentation, plan *Defragmentation) {
	for i := C.uint32_t(0); i < C.quoit_defragmentation_get_n_slices(planned); i++ {
		slice := C.quoit_defragmentation_get_slice(planned, i)
		plan.Slices = append(plan.Slices, moveString(C.quoit_snapshot_dup_slice_full_name(c, slice)))
	}
}

func readDefragmentation(planned *C.QuoitDefragmentation, plan *Defragmentation) {
	plan.State = DefragmentationState(C.quoit_defragmentation_get_state(planned))
	plan.Gain = uint64(C.quoit_defragmentation_get_gain(planned))
	plan.GainBound = uint64(C.quoit_defragmentation_get_gain_bound(planned))
	plan.MovesBound = uint32(C.quoit_defragmentation_get_moves_bound(planned))
	for i := C.uint32_t(0); i < C.quoit_defragmentation_get_n_groups(planned); i++ {
		plan.Groups = append(plan.Groups, moveString(C.quoit_defragmentation_dup_group(planned, i)))
	}
	for i := C.uint32_t(0); i < C.quoit_defragmentation_get_n_moves(planned); i++ {
		plan.Moves = append(plan.Moves, BundleMove{
			Group:  plan.Groups[C.quoit_defragmentation_get_move_group(planned, i)],
			Bundle: uint32(C.quoit_defragmentation_get_move_bundle(planned, i)),
			From:   moveString(C.quoit_defragmentation_dup_move_from(planned, i)),
			To:     moveString(C.quoit_defragmentation_dup_move_to(planned, i)),
			Gain:   int64(C.quoit_defragmentation_get_move_gain(planned, i)),
		})
	}
}
