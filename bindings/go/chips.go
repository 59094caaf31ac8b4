// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

// NodeChips is the allocation of a node's chips. Chip sets are bit masks: bit 0 is chip 0.
type NodeChips struct {
	Users []ChipUser
	// External is the chips that are used, wholly or in part, outside of all groups. Ray reports only their number;
	// quoit chooses which chips they are.
	External uint64
}

// ChipUser is a group that has chips of a node.
type ChipUser struct {
	GroupID uint64
	// Chips is the chips that the group's bundles have, wholly or in part; all chips if the group has the whole
	// node. For an imported group Ray reports only their number, and quoit chooses which chips they are.
	Chips uint64
}

// NodeChips returns the allocation of the chips of a node, which is an index of Nodes. The groups are in the order of
// NodeUsers. Unlike NodeUsers, its cost does not depend on the size of the groups.
//
// It fails with Invalid for a number out of range.
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
