/* SPDX-License-Identifier: Apache-2.0 */
/* Names of enumeration values, for messages and documents. */
#pragma once

#include "fleet/fleet.h"

const char *quoit_node_state_name (QuoitNodeState state);   /* "alive" */
const char *quoit_group_state_name (QuoitGroupState state); /* "RESERVED" */

/* Returns what a source states as the cause: "NotReady"; "": none. */
const char *quoit_node_cause_text (QuoitNodeCause cause);
/* Returns why the source of the node reports its state; "": it is alive, its source states none, or a user has set
 * the state. */
const char *quoit_fleet_node_reason (const QuoitFleet *fleet, QuoitNodeId node);
