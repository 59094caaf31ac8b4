/* SPDX-License-Identifier: Apache-2.0 */
/* Names of enumeration values, for messages and documents. */
#pragma once

#include <quoit/snapshot.h>

const char *quoit_node_state_name (QuoitNodeState state);   /* "alive" */
const char *quoit_group_state_name (QuoitGroupState state); /* "RESERVED" */
