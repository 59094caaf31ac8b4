/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/shrink.h"

#include <string.h>

#include "fleet/ahead.h"
#include "placement/quota.h"

/* --- groups that can shrink --- */

/* Options are tried with at most this many groups, so that a report does not take long. */
enum { MAX_GROUPS = 64 };

typedef struct {
  const QuoitGroupData *group;
  guint32 n_most;    /* how many slices it can give up */
  guint32 n_dropped; /* how many it gives up in the option */
} Shrink;

/* Returns how many slices the group can give up. A group that has not begun cannot shrink. A group with a promised node
 * does not count: in a fleet as a request sees it, such a node is draining, so that the group would seem to give up
 * other slices than it really does. */
static guint32
count_slack (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  g_autoptr (QuoitRequest) request = NULL;

  /* Only the text of a range has two dots, or a few names. Reading it takes longer than looking for them. */
  if (!quoit_group_has_slices (group) || group->state == QUOIT_GROUP_REMOVED || *group->source != '\0'
      || quoit_group_is_ahead (group) || group->begins_ms > fleet->clock_ms || strstr (group->request, "..") == NULL)
    return 0;
  request = quoit_request_of_group (fleet->layout, group, NULL);
  if (request == NULL || request->min_slices == 0 || group->n_slices <= request->min_slices)
    return 0;
  for (guint32 i = 0; fleet->promised != NULL && i < group->n_nodes; i++)
    {
      guint32 node = quoit_layout_find_id (fleet->layout, group->node_ids[i]);

      if (node != QUOIT_NO_INDEX && quoit_fleet_node_promise (fleet, (QuoitNodeId) { node }, 0) != NULL)
        return 0;
    }
  return group->n_slices - request->min_slices;
}

/* Returns whether the request could use one of the @n slices that the group gives up first. */
static gboolean
gives_useful_slice (const QuoitShrinkSearch *search, const QuoitGroupData *group, guint32 n)
{
  g_autofree guint8 *kept = g_malloc (group->n_slices + 1);

  quoit_group_choose_dropped (search->fleet, group, n, kept);
  /* A slice that is joined from cubes has nodes in several slices of the layout. */
  for (guint32 s = 0; s < group->n_slices; s++)
    for (guint32 i = quoit_group_first_node (group, s), before = QUOIT_NO_INDEX; !kept[s] && i < group->slice_end[s];
         i++)
      {
        const guint32 slice = quoit_layout_slice_of_id (search->fleet->layout, group->node_ids[i]);

        if (slice != QUOIT_NO_INDEX && slice != before && search->is_useful (slice, search->data))
          return TRUE;
        before = slice;
      }
  return FALSE;
}

static gint
least_important_first (gconstpointer a, gconstpointer b)
{
  const QuoitGroupData *x = ((const Shrink *) a)->group, *y = ((const Shrink *) b)->group;

  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  return x->id > y->id ? -1 : x->id < y->id;
}

static GArray *
list_shrinks (const QuoitShrinkSearch *search)
{
  const QuoitFleet *fleet = search->fleet;
  g_autofree QuoitFullCohorts *full = quoit_quota_list_full (fleet, search->request);
  GArray *shrinks = g_array_new (FALSE, FALSE, sizeof (Shrink));

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      Shrink shrink = { .group = quoit_fleet_group_at (fleet, slot) };

      if (shrink.group != NULL)
        shrink.n_most = count_slack (fleet, shrink.group);
      if (shrink.n_most > 0
          && (quoit_quota_counts_in (full, fleet, shrink.group)
              || gives_useful_slice (search, shrink.group, shrink.n_most)))
        g_array_append_val (shrinks, shrink);
    }
  g_array_sort (shrinks, least_important_first);
  g_array_set_size (shrinks, MIN (shrinks->len, MAX_GROUPS));
  return shrinks;
}

/* --- trying --- */

static Shrink *
shrink_at (const GArray *shrinks, guint index)
{
  return &g_array_index (shrinks, Shrink, index);
}

void
quoit_fork_shrink_group (QuoitFleet *fork, const QuoitGroupData *group, guint32 n_dropped)
{
  g_autofree guint8 *kept = g_malloc (group->n_slices + 1);
  g_autofree guint32 *ids = g_new (guint32, group->n_nodes + 1), *ends = g_new (guint32, group->n_slices + 1);
  g_autofree QuoitBundle *bundles = group->bundles == NULL ? NULL : g_new (QuoitBundle, group->n_nodes + 1);
  QuoitGroupData fields = quoit_group_data_copy_fields (group);
  guint32 n_nodes = 0, n_slices = 0;

  quoit_group_choose_dropped (fork, group, n_dropped, kept);
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      for (guint32 i = quoit_group_first_node (group, s); kept[s] && i < group->slice_end[s]; i++)
        {
          if (bundles != NULL)
            bundles[n_nodes] = group->bundles[i];
          ids[n_nodes++] = group->node_ids[i];
        }
      if (kept[s])
        ends[n_slices++] = n_nodes;
    }
  fields.n_slices = n_slices;
  fields.n_nodes = n_nodes;
  fields.node_ids = ids;
  fields.slice_end = ends;
  fields.bundles = bundles;
  quoit_fleet_replace_group (fork, quoit_group_data_new (&fields), NULL);
}

static gboolean
is_sufficient (const QuoitShrinkSearch *search, const GArray *shrinks)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (search->fleet);

  for (guint i = 0; i < shrinks->len; i++)
    if (shrink_at (shrinks, i)->n_dropped > 0)
      quoit_fork_shrink_group (fork, shrink_at (shrinks, i)->group, shrink_at (shrinks, i)->n_dropped);
  return search->fits (fork, search->request);
}

/* Reduces what the group gives up as far as the request still fits. All of it must be sufficient. */
static void
minimize (const QuoitShrinkSearch *search, const GArray *shrinks, Shrink *shrink)
{
  guint32 enough = shrink->n_dropped, too_few = 0;

  shrink->n_dropped = 0;
  if (is_sufficient (search, shrinks))
    return;
  while (enough - too_few > 1)
    {
      shrink->n_dropped = too_few + (enough - too_few) / 2;
      if (is_sufficient (search, shrinks))
        enough = shrink->n_dropped;
      else
        too_few = shrink->n_dropped;
    }
  shrink->n_dropped = enough;
}

static gboolean
try_one_group (const QuoitShrinkSearch *search, const GArray *shrinks)
{
  for (guint i = 0; i < shrinks->len; i++)
    {
      Shrink *shrink = shrink_at (shrinks, i);

      shrink->n_dropped = shrink->n_most;
      if (is_sufficient (search, shrinks))
        return minimize (search, shrinks, shrink), TRUE;
      shrink->n_dropped = 0;
    }
  return FALSE;
}

/* The most important groups are the first that are left alone. */
static gboolean
try_all_groups (const QuoitShrinkSearch *search, const GArray *shrinks)
{
  for (guint i = 0; i < shrinks->len; i++)
    shrink_at (shrinks, i)->n_dropped = shrink_at (shrinks, i)->n_most;
  if (shrinks->len < 2 || !is_sufficient (search, shrinks))
    return FALSE;
  for (guint i = shrinks->len; i-- > 0;)
    minimize (search, shrinks, shrink_at (shrinks, i));
  return TRUE;
}

/* --- the option --- */

/* Returns the position of the first option that ends a group: shrinking disturbs less. */
static guint
find_position (const QuoitReport *report)
{
  for (guint i = 0; i < report->options->len; i++)
    {
      const GArray *steps = g_array_index (report->options, QuoitOption, i).steps;

      for (guint s = 0; s < steps->len; s++)
        if (g_array_index (steps, QuoitStep, s).group != NULL)
          return i;
    }
  return report->options->len;
}

void
quoit_report_add_shrinks (QuoitReport *report, const QuoitShrinkSearch *search)
{
  g_autoptr (GArray) shrinks = list_shrinks (search);
  QuoitOption *option;

  if (!try_one_group (search, shrinks) && !try_all_groups (search, shrinks))
    return;
  option = quoit_report_insert_option (report, find_position (report));
  for (guint i = 0; i < shrinks->len; i++)
    {
      const Shrink *shrink = shrink_at (shrinks, i);
      g_autofree char *handle = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, shrink->group->name, shrink->group->id);

      if (shrink->n_dropped > 0)
        quoit_option_add_step (option, &(QuoitStep) { .kind = QUOIT_STEP_SHRINK,
                                                      .group = handle,
                                                      .record = shrink->group,
                                                      .n_slices = shrink->group->n_slices - shrink->n_dropped });
    }
}
