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

/* No group of the set can be left out. Quotas decide only whether a set for slices is accepted, so they can hide that
 * another alternative needs fewer groups. */
static void
check_each_group (const Pair *pair, const QuoitRequest *request, const QuoitPreemption *preemption,
                  const GPtrArray *victims, guint set)
{
  g_autoptr (QuoitRequest) alone
      = quoit_request_copy (pair->drawn->alone[quoit_preemption_get_alternative (preemption)].request, "urgent", NULL);

  quoit_request_set_priority (alone, PRIORITY);
  if (quoit_snapshot_get_n_quotas (pair->present) > 0)
    request = alone;
  for (guint v = 0; v < victims->len; v++)
    expect (pair, (set >> v & 1) == 0 || !fits_without_set (pair, request, victims, set & ~(1u << v), NULL),
            "preemption of %x needs no group %u", set, v);
}

/* A set is found if there is one, and none of its groups can be left out. For slices, quotas decide only whether it is
 * accepted. */
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
        expect (pair,
                !fits_without_set (pair, request, victims, set, NULL)
                    || quoit_snapshot_get_n_quotas (pair->present) > 0,
                "no preemption, but set %x of %u is enough", set, victims->len);
      return;
    }
  set = find_set (preemption, victims);
  expect (pair, fits_without_set (pair, request, victims, set, &why), "preemption of %x is not enough: %s", set, why);
  check_each_group (pair, request, preemption, victims, set);
  pair->count->n_preemptions += set != 0;
}
