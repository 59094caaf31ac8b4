// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

// NodeChips is the allocation of a node's chips. Chip sets are bit masks: bit 0 is chip 0.
type NodeChips struct {
	Users []ChipUser
	// Amounts is the number of chips, and how many of them are in each state. A chip that several bundles share
	// counts in parts.
	Amounts Amounts
	// External is the chips that are in external use, wholly or in part. Ray reports only how many these are; quoit
	// chooses which chips they are.
	External uint64
}

// ChipUser is a group that has chips of a node.
type ChipUser struct {
	GroupID uint64
	// Chips is the chips that the group's bundles have, wholly or in part; all chips if the group has the whole
	// node. For an imported group Ray reports only how many these are, and quoit chooses which chips they are.
	Chips uint64
}

// NodeChips returns the allocation of the chips of a node, given by its index. The groups are in the order of
// NodeUsers. Unlike for NodeUsers, the cost does not depend on the size of the groups.
//
// It fails with Invalid for an index out of range.
func (s *Snapshot) NodeChips(node int) (chips NodeChips, err error) {
	err = s.withNode(node, func(c *C.QuoitSnapshot, nodeIndex C.uint32_t) {
		chips.Amounts = amountsFromC(func(part C.QuoitAmountPart) *C.char {
			return C.quoit_amount_format(C.quoit_snapshot_get_node_chip_amount(c, nodeIndex, part))
		})
		chips.External = uint64(C.quoit_snapshot_get_node_external_chips(c, nodeIndex))
		chips.Users = make([]ChipUser, C.quoit_snapshot_get_node_n_users(c, nodeIndex))
		for index := range chips.Users {
			user := C.uint32_t(index)
			chips.Users[index] = ChipUser{
				GroupID: uint64(C.quoit_snapshot_get_node_user_id(c, nodeIndex, user)),
				Chips:   uint64(C.quoit_snapshot_get_node_user_chips(c, nodeIndex, user)),
			}
		}
	})
	return chips, err
}
