/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/preempt/preempt.h"

#include "base/time.h"
#include "placement/ahead-moves.h"
#include "placement/bundles-after.h"
#include "placement/domains.h"
#include "placement/quota.h"

static guint64
bundle_chips_e4 (const QuoitBundle *bundle)
{
  return (guint64) __builtin_popcountll (bundle->chips) * QUOIT_AMOUNT_UNIT + (guint64) bundle->part.e4;
}

/* Returns the chips of a group of whole slices, without visiting its nodes. Slices without a class count nothing. */
static guint64
whole_chips_e4 (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  guint64 chips = 0;

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 id = group->node_ids[quoit_group_first_node (group, s)];
      guint32 slice = quoit_layout_slice_of_id (fleet->layout, id);
      const QuoitClass *class = slice == QUOIT_NO_INDEX
                                    ? NULL
                                    : quoit_layout_slice_class (fleet->layout, (QuoitSliceId) { slice });

      if (class != NULL)
        chips += quoit_shape_chips (class->facts.shape);
    }
  return chips * QUOIT_AMOUNT_UNIT;
}

/* Returns the chips of a host that a group of joined cubes has. */
static guint64
whole_host_chips_e4 (const QuoitLayout *layout, guint32 id)
{
  const guint32 node = quoit_layout_find_id (layout, id);

  return node == QUOIT_NO_INDEX
             ? 0
             : (guint64) quoit_layout_node_kind (layout, (QuoitNodeId) { node })->chips * QUOIT_AMOUNT_UNIT;
}

guint64
quoit_group_chips_e4 (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  guint64 chips_e4 = 0;

  if (quoit_group_has_whole_slices (group))
    return whole_chips_e4 (fleet, group);
  for (guint32 i = 0; i < group->n_nodes; i++)
    chips_e4 += group->bundles != NULL ? bundle_chips_e4 (&group->bundles[i])
                                       : whole_host_chips_e4 (fleet->layout, group->node_ids[i]);
  return chips_e4;
}

/* Chips are rounded up, so that a part of a chip that has run for long is not free of cost. The members of a cost are
 * compared one after the other, so other aims than PRIORITY use them for other numbers. */
QuoitPreemptCost
quoit_victim_cost (const QuoitFleet *fleet, const QuoitVictim *victim, gint64 now_ms)
{
  const QuoitGroupData *group = quoit_fleet_group_at (fleet, victim->slot);
  guint64 chips_e4 = quoit_group_chips_e4 (fleet, group);
  guint64 seconds = (guint64) MAX (now_ms - group->created_ms, 0) / 1000;

  if (victim->aim == QUOIT_PREEMPT_GROUPS)
    return (QuoitPreemptCost) { 1, chips_e4 };
  if (victim->aim == QUOIT_PREEMPT_CHIPS)
    return (QuoitPreemptCost) { chips_e4, 1 };
  return (QuoitPreemptCost) { chips_e4, (chips_e4 + QUOIT_AMOUNT_UNIT - 1) / QUOIT_AMOUNT_UNIT * seconds };
}

/* Returns whether a search for the aim considers the group. */
static gboolean
is_victim (const QuoitGroupData *group, const QuoitRequest *request, QuoitPreemptAim aim)
{
  if (aim == QUOIT_PREEMPT_PRIORITY)
    return quoit_group_is_callers (group) && group->priority < request->priority;
  return group->state != QUOIT_GROUP_REMOVED && quoit_group_is_listed (group) && group->n_nodes > 0;
}

/* Lists the groups that a search for the aim considers, without the group that the request is to be near to, and
 * without reservations ahead that begin at @end_ms or later. */
static void
list_victims (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPreemptAim aim, gint64 end_ms, GArray *victims)
{
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);
      QuoitVictim victim = { .slot = slot, .aim = aim };

      if (group != NULL && aim == QUOIT_PREEMPT_PRIORITY)
        victim.priority = group->priority;
      if (group != NULL && is_victim (group, request, aim)
          && !(quoit_group_is_ahead (group) && group->begins_ms >= end_ms)
          && !quoit_request_needs_group (request, group))
        g_array_append_val (victims, victim);
    }
}

enum { MOST_TRIED = 10 }; /* groups of a report of which all sets are tried, if no other search is exact */

guint
quoit_preempt_most_exact (const QuoitFleet *fleet, const GArray *victims, guint most)
{
  enum { MOST_NODES = 1 << 21 }; /* of all trials */

  if (victims->len > 0 && g_array_index (victims, QuoitVictim, 0).aim != QUOIT_PREEMPT_PRIORITY)
    while (most > 0 && (guint64) fleet->layout->n_nodes << most > MOST_NODES)
      most--;
  return most;
}

gint
quoit_victim_compare (gconstpointer a, gconstpointer b)
{
  const QuoitVictim *one = a, *other = b;
  gint by_cost = quoit_preempt_cost_compare (one->cost, other->cost);

  if (one->priority != other->priority)
    return one->priority < other->priority ? -1 : 1;
  return by_cost != 0 ? by_cost : one->slot < other->slot ? -1 : 1;
}

GArray *
quoit_victims_list_slots (const GArray *victims)
{
  GArray *slots = g_array_sized_new (FALSE, FALSE, sizeof (guint32), victims->len);

  for (guint i = 0; i < victims->len; i++)
    g_array_append_val (slots, g_array_index (victims, QuoitVictim, i).slot);
  return slots;
}

/* Chooses groups for slices, first for their nodes alone. Reservations ahead that begin after the end of the request
 * have none of these, but quotas count them. */
static gboolean
find_for_slices (const QuoitFleet *seen, const QuoitRequest *request, QuoitPreemptAim aim, gint64 now_ms,
                 GArray *released, gboolean *is_cheapest, GError **error)
{
  g_autoptr (GArray) victims = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
  g_autoptr (GArray) counted = g_array_new (FALSE, FALSE, sizeof (QuoitVictim)), slots = NULL;

  list_victims (seen, request, aim, quoit_request_latest_end (request, now_ms), victims);
  if (!quoit_preempt_for_slices (seen, request, now_ms, victims, released, is_cheapest, error))
    return FALSE;
  slots = quoit_victims_list_slots (released);
  if (quoit_quota_admits_after (seen, request, slots, slots->len))
    return TRUE;
  list_victims (seen, request, aim, QUOIT_FOREVER_MS, counted);
  if (quoit_preempt_for_quotas (seen, request, now_ms, counted, released, is_cheapest))
    return TRUE;
  g_array_set_size (released, 0);
  return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                     "not now, a quota does not admit the request, even if all groups of a priority below %d are "
                     "released",
                     request->priority);
}

/* Chooses groups on the fleet as the request sees it. */
static gboolean
find_on (const QuoitFleet *seen, const QuoitRequest *request, QuoitPreemptAim aim, gint64 now_ms, GArray *released,
         gboolean *is_cheapest, GError **error)
{
  g_autoptr (GArray) victims = NULL;

  if (!quoit_request_is_by_host (request))
    return find_for_slices (seen, request, aim, now_ms, released, is_cheapest, error);
  victims = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
  list_victims (seen, request, aim, QUOIT_FOREVER_MS, victims);
  return quoit_preempt_for_bundles (seen, request, now_ms, victims, released, is_cheapest, error);
}

/* Sets the costs of the groups, and sorts them. A reservation ahead that has begun on the fleet that the request sees
 * can have fewer slices there. */
static void
price_victims (const QuoitFleet *fleet, gint64 now_ms, GArray *victims)
{
  for (guint v = 0; v < victims->len; v++)
    {
      QuoitVictim *victim = &g_array_index (victims, QuoitVictim, v);

      victim->cost = quoit_victim_cost (fleet, victim, now_ms);
    }
  g_array_sort (victims, quoit_victim_compare);
}

/* Chooses groups beside what lies ahead. Tries what is found first. */
static gboolean
find_beside_ahead (const QuoitFleet *fleet, const QuoitFleet *seen, const QuoitRequest *request, QuoitPreemptAim aim,
                   gint64 now_ms, GArray *released, gboolean *is_cheapest, GError **error)
{
  g_autoptr (GArray) victims = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
  g_autoptr (GError) why = NULL;

  if (find_on (seen, request, aim, now_ms, released, is_cheapest, &why))
    {
      price_victims (fleet, now_ms, released);
      if (!quoit_preempt_keep_running (fleet, request, now_ms, released))
        g_array_set_size (released, 0);
      else if (released->len == 0)
        return TRUE;
    }
  else if (!g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW))
    return g_propagate_error (error, g_steal_pointer (&why)), FALSE;
  /* A reservation that begins later can have slices that an earlier one could get. */
  list_victims (fleet, request, aim, QUOIT_FOREVER_MS, victims);
  if (quoit_preempt_by_trying (fleet, request, now_ms, victims, released, is_cheapest))
    return TRUE;
  if (why != NULL)
    return g_propagate_error (error, g_steal_pointer (&why)), FALSE;
  return quoit_fail (error, QUOIT_ERROR_NOT_NOW,
                     "no groups were found whose release is enough beside what is promised to reservations ahead");
}

static gboolean
find_alone (const QuoitFleet *fleet, const QuoitRequest *request, QuoitPreemptAim aim, gint64 now_ms, GArray *released,
            gboolean *is_cheapest, GError **error)
{
  g_autoptr (QuoitFleet) seen = quoit_fleet_seen_by (fleet, request, now_ms);

  *is_cheapest = TRUE;
  if (!quoit_request_check_complete (request, error) || !quoit_quota_check_ever (fleet, request, error)
      || !quoit_request_check_near (fleet, request, error))
    return FALSE;
  return seen == NULL ? find_on (fleet, request, aim, now_ms, released, is_cheapest, error)
                      : find_beside_ahead (fleet, seen, request, aim, now_ms, released, is_cheapest, error);
}

gboolean
quoit_find_fewest (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitPreemptAim aim,
                   GArray *released, gboolean *is_fewest, GError **error)
{
  g_autoptr (GArray) victims = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));

  if (!find_alone (fleet, request, aim, now_ms, released, is_fewest, error))
    return FALSE;
  if (*is_fewest || released->len == 0)
    return TRUE;
  list_victims (fleet, request, aim, QUOIT_FOREVER_MS, victims);
  if (victims->len > quoit_preempt_most_exact (fleet, victims, MOST_TRIED))
    return TRUE;
  price_victims (fleet, now_ms, released);
  return quoit_preempt_by_trying (fleet, request, now_ms, victims, released, is_fewest);
}

/* --- alternatives --- */

/* What a set of groups costs, as quoit_snapshot_find_preemption() compares it. */
typedef struct {
  gboolean is_any; /* a group is released */
  gint32 priority; /* the greatest one */
  QuoitPreemptCost cost;
} Price;

static Price
sum_price (const QuoitFleet *fleet, const GArray *released, gint64 now_ms)
{
  Price price = { FALSE, G_MININT32, { 0, 0 } };

  for (guint i = 0; i < released->len; i++)
    {
      const QuoitVictim *victim = &g_array_index (released, QuoitVictim, i);

      price.is_any = TRUE;
      price.priority = MAX (price.priority, victim->priority);
      price.cost = quoit_preempt_cost_add (price.cost, quoit_victim_cost (fleet, victim, now_ms));
    }
  return price;
}

static gboolean
is_cheaper (const Price *a, const Price *b)
{
  if (a->is_any != b->is_any)
    return b->is_any;
  return a->priority != b->priority ? a->priority < b->priority : quoit_preempt_cost_compare (a->cost, b->cost) < 0;
}

gboolean
quoit_find_preemption (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, GArray *released,
                       guint *alternative, gboolean *is_cheapest, GError **error)
{
  g_autoptr (GError) first_error = NULL;
  gboolean is_found = FALSE, is_proven = TRUE;

  *alternative = 0;
  if (!quoit_request_check_complete (request, error))
    return FALSE;
  for (guint i = 0; i < quoit_request_n_alternatives (request) && (!is_found || released->len > 0); i++)
    {
      g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (QuoitVictim));
      g_autoptr (GError) why = NULL;
      Price price, best;

      if (!find_alone (fleet, quoit_request_alternative (request, i), QUOIT_PREEMPT_PRIORITY, now_ms, own, is_cheapest,
                       &why))
        {
          if (first_error == NULL
              || (!g_error_matches (first_error, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW)
                  && g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW)))
            g_clear_error (&first_error), first_error = g_steal_pointer (&why);
          continue;
        }
      is_proven &= *is_cheapest;
      price = sum_price (fleet, own, now_ms);
      best = sum_price (fleet, released, now_ms);
      if (is_found && !is_cheaper (&price, &best))
        continue;
      g_array_set_size (released, 0);
      g_array_append_vals (released, own->data, own->len);
      *alternative = i;
      is_found = TRUE;
    }
  *is_cheapest = is_proven || released->len == 0;
  if (!is_found)
    g_propagate_error (error, g_steal_pointer (&first_error));
  return is_found;
}
