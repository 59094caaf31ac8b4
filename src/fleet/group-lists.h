/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the groups and owners of a fleet, for readers of a snapshot. */
#pragma once

#include "fleet/fleet.h"

/* The groups belong to the fleet, which must outlive the lists. All lists are sorted by group id. */
typedef struct {
  GPtrArray *groups;    /* of const QuoitGroupData: live groups, and removed ones that are still recorded */
  GPtrArray *owners;    /* of const QuoitGroupData: the records of the registered owners */
  GHashTable *by_owner; /* name of an owner -> GPtrArray of its live groups */
} QuoitGroupLists;

QuoitGroupLists *quoit_group_lists_new (const QuoitFleet *fleet);
void quoit_group_lists_free (QuoitGroupLists *lists);

/* Returns the group with the id, or NULL. */
const QuoitGroupData *quoit_group_lists_find (const QuoitGroupLists *lists, guint64 id);
/* Returns the live groups of an owner, or NULL if it has none. */
const GPtrArray *quoit_group_lists_of_owner (const QuoitGroupLists *lists, const char *owner);
