/* SPDX-License-Identifier: Apache-2.0 */
/* The preemption for a request agrees with reservations on forks without each set of groups. */
#include "agree-pair.h"

enum { MOST_VICTIMS = 7, PRIORITY = 2 };

/* Whether the request fits without the groups in @set. */
static gboolean
fits_without_set (const Pair *pair, const QuoitRequest *request, const GPtrArray *groups, guint set, char **why)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (pair->present);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GError) error = NULL;

  for (guint g = 0; g < groups->len; g++)
    if ((set >> g & 1) != 0)
      expect (pair, quoit_fork_release (fork, quoit_group_get_handle (groups->pdata[g]), pair->state->now_ms, NULL),
              "release of %s", quoit_group_get_handle (groups->pdata[g]));
  group = quoit_fork_reserve (fork, request, pair->state->now_ms, NULL, &error);
  if (why != NULL)
    *why = g_strdup (error_text (error));
  return group != NULL;
}

/* Lists the groups that can be released, also reservations ahead. */
static GPtrArray *
list_victims (const Pair *pair, int32_t priority)
{
  GPtrArray *victims = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_unref);

  for (uint32_t g = 0; g < quoit_snapshot_get_n_groups (pair->present); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (pair->present, g);

      if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED && quoit_group_get_priority (group) < priority)
        g_ptr_array_add (victims, g_steal_pointer (&group));
    }
  return victims;
}

static guint
find_set (const QuoitPreemption *preemption, const GPtrArray *victims)
{
  guint set = 0;

  for (uint32_t i = 0; i < quoit_preemption_get_n_groups (preemption); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_preemption_dup_group (preemption, i);

      for (guint v = 0; v < victims->len; v++)
        if (quoit_group_get_id (victims->pdata[v]) == quoit_group_get_id (group))
          set |= 1u << v;
    }
  return set;
}

/* --- costs --- */

/* Ten-thousandths of chips. */
static guint64
chips_of_bundles (const QuoitGroup *group)
{
  guint64 chips_e4 = 0;

  for (uint32_t b = 0; b < quoit_group_get_n_bundles (group); b++)
    for (uint32_t r = 0; r < quoit_group_get_bundle_n_resources (group, b); r++)
      if (strcmp (quoit_group_get_bundle_resource_name (group, b, r), "TPU") == 0)
        chips_e4 += (guint64) quoit_group_get_bundle_amount (group, b, r).e4;
  return chips_e4;
}

static guint64
chips_of_slices (const Pair *pair, const QuoitGroup *group)
{
  guint64 chips_e4 = 0;

  for (uint32_t s = 0; s < quoit_group_get_n_slices (group); s++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, s);
      uint32_t slice = 0;
      gint64 class_index;
      guint n_hosts;

      expect (pair, quoit_snapshot_lookup_slice (pair->present, name, &slice, NULL), "slice %s", name);
      class_index = quoit_snapshot_get_slice_class (pair->present, slice);
      if (class_index < 0)
        continue;
      /* A slice of joined cubes has the name of its first cube, and the hosts of all. */
      n_hosts = MAX (quoit_snapshot_get_class_n_hosts (pair->present, (uint32_t) class_index),
                     quoit_group_get_n_workers (group, s));
      chips_e4 += G_GUINT64_CONSTANT (10000) * n_hosts
                  * quoit_snapshot_get_class_chips_per_host (pair->present, (uint32_t) class_index);
    }
  return chips_e4;
}

/* In the order in which they are compared. */
typedef struct {
  int32_t priority;
  guint64 chips_e4, chip_seconds;
} Cost;

static Cost
cost_of_set (const Pair *pair, const GPtrArray *groups, guint set)
{
  Cost cost = { G_MININT32, 0, 0 };

  for (guint g = 0; g < groups->len; g++)
    {
      const QuoitGroup *group = groups->pdata[g];
      guint64 chips_e4
          = quoit_group_get_n_bundles (group) > 0 ? chips_of_bundles (group) : chips_of_slices (pair, group);
      gint64 seconds = (pair->state->now_ms - quoit_group_get_created_ms (group)) / 1000;

      if ((set >> g & 1) == 0)
        continue;
      cost.priority = MAX (cost.priority, quoit_group_get_priority (group));
      cost.chips_e4 += chips_e4;
      cost.chip_seconds += (chips_e4 + 9999) / 10000 * (guint64) MAX (seconds, 0);
    }
  return cost;
}

static gboolean
is_cheaper (Cost a, Cost b)
{
  if (a.priority != b.priority)
    return a.priority < b.priority;
  return a.chips_e4 != b.chips_e4 ? a.chips_e4 < b.chips_e4 : a.chip_seconds < b.chip_seconds;
}

/* If it is proven that the set is the cheapest, no cheaper one is enough. */
static void
check_cost (const Pair *pair, const QuoitRequest *request, const QuoitPreemption *preemption, const GPtrArray *victims,
            guint set)
{
  const Cost cost = cost_of_set (pair, victims, set);

  pair->count->n_cheapest += set != 0 && quoit_preemption_is_cheapest (preemption);
  for (guint other = 1; quoit_preemption_is_cheapest (preemption) && other < 1u << victims->len; other++)
    expect (pair,
            !is_cheaper (cost_of_set (pair, victims, other), cost)
                || !fits_without_set (pair, request, victims, other, NULL),
            "preemption of %x, but %x is cheaper", set, other);
}

/* A set is found if there is one, none of its groups can be left out, and it is the cheapest one. */
void
agree_check_preemption (const Pair *pair)
{
  g_autoptr (QuoitRequest) request = quoit_request_copy (pair->request, "urgent", NULL);
  g_autoptr (QuoitSnapshot) present = quoit_snapshot_ref ((QuoitSnapshot *) pair->present);
  g_autoptr (QuoitPreemption) preemption = NULL;
  g_autoptr (GPtrArray) victims = list_victims (pair, PRIORITY);
  g_autofree char *why = NULL;
  guint set;

  if (victims->len > MOST_VICTIMS)
    return;
  quoit_request_set_priority (request, PRIORITY);
  preemption = quoit_snapshot_find_preemption (present, request, pair->state->now_ms, NULL);
  if (preemption == NULL)
    {
      for (set = 1; set < 1u << victims->len; set++)
        expect (pair, !fits_without_set (pair, request, victims, set, NULL),
                "no preemption, but set %x of %u is enough", set, victims->len);
      return;
    }
  set = find_set (preemption, victims);
  expect (pair, fits_without_set (pair, request, victims, set, &why), "preemption of %x is not enough: %s", set, why);
  for (guint v = 0; v < victims->len; v++)
    expect (pair, (set >> v & 1) == 0 || !fits_without_set (pair, request, victims, set & ~(1u << v), NULL),
            "preemption of %x needs no group %u", set, v);
  check_cost (pair, request, preemption, victims, set);
  pair->count->n_preemptions += set != 0;
}
