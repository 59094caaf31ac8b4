// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

// NodeChips is who has which chips of a node. Chips are bits: bit 0 is chip 0.
type NodeChips struct {
	Users []ChipUser
	// External is those that something has, wholly or in part, that is no group. Ray says how many, and which ones is
	// quoit's choice.
	External uint64
}

// ChipUser is a group that has chips of a node.
type ChipUser struct {
	GroupID uint64
	// Chips is those that its bundles have, wholly or in part; all when it has the node whole. Of an imported group Ray says
	// how many, and which ones is quoit's choice.
	Chips uint64
}

// NodeChips is who has which chips of the node of that number: the groups in the order of NodeUsers. It costs the same for
// groups of any size, which NodeUsers does not.
//
// It fails with Invalid for a number that no node has.
func (s *Snapshot) NodeChips(node int) (chips NodeChips, err error) {
	err = s.onNode(node, func(c *C.QuoitSnapshot, number C.uint32_t) {
		chips.External = uint64(C.quoit_snapshot_get_node_external_chips(c, number))
		chips.Users = make([]ChipUser, C.quoit_snapshot_get_node_n_users(c, number))
		for index := range chips.Users {
			user := C.uint32_t(index)
			chips.Users[index] = ChipUser{
				GroupID: uint64(C.quoit_snapshot_get_node_user_id(c, number, user)),
				Chips:   uint64(C.quoit_snapshot_get_node_user_chips(c, number, user)),
			}
		}
	})
	return chips, err
}
