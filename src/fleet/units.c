/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/units.h"

static const char *const state_names[] = {
  [QUOIT_UNIT_AVAILABLE] = "available", [QUOIT_UNIT_DRAINING] = "draining", [QUOIT_UNIT_HELD] = "held",
  [QUOIT_UNIT_RESERVED] = "reserved",   [QUOIT_UNIT_EXTERNAL] = "external", [QUOIT_UNIT_DOWN] = "down",
  [QUOIT_UNIT_LOST] = "lost",
};

G_STATIC_ASSERT (G_N_ELEMENTS (state_names) == QUOIT_N_UNIT_STATES);

const char *
quoit_unit_state_name (QuoitUnitState state)
{
  return (guint) state < G_N_ELEMENTS (state_names) ? state_names[state] : "unknown";
}

/* --- states --- */

static QuoitUnitState
unused_state (QuoitNodeState node)
{
  switch (node)
    {
    case QUOIT_NODE_ALIVE:
      return QUOIT_UNIT_AVAILABLE;
    case QUOIT_NODE_DRAINING:
      return QUOIT_UNIT_DRAINING;
    case QUOIT_NODE_DEAD:
    default:
      return QUOIT_UNIT_DOWN;
    }
}

/* A dead node has no external use, because nothing runs on it. A group keeps its part of a dead node until the group is
 * repaired or released. */
static QuoitUnitState
external_state (QuoitNodeState node)
{
  return node == QUOIT_NODE_DEAD ? QUOIT_UNIT_DOWN : QUOIT_UNIT_EXTERNAL;
}

static QuoitUnitState
used_state (QuoitNodeState node, const QuoitGroupData *user)
{
  if (user->kind == QUOIT_RECORD_EXTERNAL)
    return external_state (node);
  if (node == QUOIT_NODE_DEAD)
    return QUOIT_UNIT_LOST;
  return user->state == QUOIT_GROUP_HELD ? QUOIT_UNIT_HELD : QUOIT_UNIT_RESERVED;
}

/* --- resources --- */

/* What to count: a resource of a node, or its chips. */
typedef struct {
  const char *name; /* of the resource; NULL: chips */
  gint64 total_e4;
  guint64 chips;       /* bits of the node's chips; only for chips */
  gboolean is_derived; /* a group of slices has all that no other user has, although its bundles do not list it */
} Countable;

static Countable
node_resource (const QuoitFleet *fleet, QuoitNodeId node, guint resource)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (fleet->layout, node);

  if (resource < kind->n_resources)
    return (Countable) { .name = kind->resources[resource].name, .total_e4 = kind->resources[resource].amount.e4 };
  return (Countable) { .name = quoit_layout_node_derived (fleet->layout, node, resource - kind->n_resources),
                       .total_e4 = QUOIT_AMOUNT_UNIT,
                       .is_derived = TRUE };
}

static Countable
node_chips (const QuoitFleet *fleet, QuoitNodeId node)
{
  guint n = quoit_layout_node_kind (fleet->layout, node)->chips;

  return (Countable) { .total_e4 = (gint64) n * QUOIT_AMOUNT_UNIT,
                       .chips = n < 64 ? ((guint64) 1 << n) - 1 : G_MAXUINT64 };
}

/* A bundle on a dead node can have chips that the node no longer reports. They are not counted. */
static gint64
bundle_units_e4 (const QuoitBundle *bundle, const Countable *countable)
{
  gint64 chips_e4;

  if (countable->name != NULL)
    return quoit_bundle_amount (bundle, countable->name);
  chips_e4 = (gint64) __builtin_popcountll (bundle->chips & countable->chips) * QUOIT_AMOUNT_UNIT;
  if (bundle->part.e4 > 0 && (countable->chips >> bundle->chip & 1) != 0)
    chips_e4 += bundle->part.e4;
  return chips_e4;
}

static QuoitUnits
count_units (const QuoitFleet *fleet, QuoitNodeId node, const Countable *countable)
{
  QuoitNodeState state = quoit_fleet_node_state (fleet, node);
  QuoitUnitState rest_state = unused_state (state);
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  gint64 rest_e4 = countable->total_e4;
  const QuoitGroupData *user;
  QuoitUnits units = { 0 };

  if (quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL)
    rest_state = external_state (state);
  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (users.bundle == NULL || (countable->is_derived && user->kind == QUOIT_RECORD_SLICES))
      rest_state = used_state (state, user);
    else
      {
        gint64 used_e4 = bundle_units_e4 (users.bundle, countable);

        units.amount[used_state (state, user)].e4 += used_e4;
        rest_e4 -= used_e4;
      }
  units.amount[rest_state].e4 += rest_e4;
  return units;
}

gboolean
quoit_fleet_node_has_one_state (const QuoitFleet *fleet, QuoitNodeId node, QuoitUnitState *state)
{
  guint32 use = quoit_fleet_node_use (fleet, node);
  QuoitNodeState node_state = quoit_fleet_node_state (fleet, node);

  if (use == QUOIT_USE_NONE)
    *state = unused_state (node_state);
  else if (use == QUOIT_USE_EXTERNAL)
    *state = external_state (node_state);
  else if ((use & QUOIT_USE_SHARED) != 0)
    return FALSE;
  else
    *state = used_state (node_state, quoit_fleet_node_user (fleet, node));
  return TRUE;
}

guint
quoit_fleet_node_n_resources (const QuoitFleet *fleet, QuoitNodeId node)
{
  guint n_derived = 0;

  while (quoit_layout_node_derived (fleet->layout, node, n_derived) != NULL)
    n_derived++;
  return quoit_layout_node_kind (fleet->layout, node)->n_resources + n_derived;
}

QuoitAmount
quoit_fleet_node_total (const QuoitFleet *fleet, QuoitNodeId node, guint resource)
{
  return (QuoitAmount) { node_resource (fleet, node, resource).total_e4 };
}

QuoitUnits
quoit_fleet_node_units (const QuoitFleet *fleet, QuoitNodeId node, guint resource)
{
  Countable countable = node_resource (fleet, node, resource);

  return count_units (fleet, node, &countable);
}

QuoitUnits
quoit_fleet_node_chip_units (const QuoitFleet *fleet, QuoitNodeId node)
{
  Countable countable = node_chips (fleet, node);

  return count_units (fleet, node, &countable);
}

QuoitSum
quoit_unit_sums_total (const QuoitUnitSums *units)
{
  QuoitSum total = { 0 };

  for (guint s = 0; s < QUOIT_N_UNIT_STATES; s++)
    total.e4 += units->sum[s].e4;
  return total;
}
