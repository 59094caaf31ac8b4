/* SPDX-License-Identifier: Apache-2.0 */
/* What would help: small sets of changes, each of which alone turns the refusal into a yes. */
#include "placement/placement.h"

#include <stdlib.h>

#include "base/natural.h"

/* A slice that is not free but could be, and how much it would take. */
typedef struct {
  guint32 slice;
  guint32 n_nodes;             /* dead, missing or draining ones to bring back, external uses to end */
  guint32 n_groups;            /* different groups that hold part of it */
  const QuoitGroupData *group; /* the first of them */
} Repair;

typedef struct {
  const QuoitGroupData *group;
  guint32 gain; /* slices that its release alone would free */
} Gain;

typedef struct {
  QuoitReport *report;
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  guint32 n_short;
  GArray *repairs; /* of Repair */
} Search;

/* A worker of the slice that is needed back: it is dead, and no alive node is that worker. */
static gboolean
is_missing (const QuoitFleet *fleet, const QuoitSlice *row, guint32 node)
{
  const QuoitNode *nodes = fleet->layout->nodes;

  if (quoit_fleet_node_state (fleet, (QuoitNodeId) { node }) != QUOIT_NODE_DEAD)
    return FALSE;
  /* Nodes of one worker id stand together; the last of the dead ones is the one to bring back. */
  for (guint32 i = node + 1; i < row->first_node + row->n_nodes && nodes[i].worker_id == nodes[node].worker_id; i++)
    return FALSE;
  for (guint32 i = node; i > row->first_node && nodes[i - 1].worker_id == nodes[node].worker_id; i--)
    if (quoit_fleet_node_state (fleet, (QuoitNodeId) { i - 1 }) != QUOIT_NODE_DEAD)
      return FALSE;
  return TRUE;
}

static gboolean
seen_before (const GPtrArray *groups, const QuoitGroupData *group)
{
  return g_ptr_array_find ((GPtrArray *) groups, group, NULL);
}

/* Calls for each step that @slice needs: appended to @option where that is not NULL, counted in @repair. Groups that
 * are in
 * @released already are not asked for again. */
static void
walk_repair (const QuoitFleet *fleet, guint32 slice, GPtrArray *released, QuoitOption *option, Repair *repair)
{
  const QuoitSlice *row = &fleet->layout->slices[slice];

  *repair = (Repair) { .slice = slice };
  for (guint32 i = row->first_node; i < row->first_node + row->n_nodes; i++)
    {
      QuoitNodeId node = { i };
      const QuoitGroupData *group;
      QuoitStepKind kind = 0;

      if (is_missing (fleet, row, i))
        kind = QUOIT_STEP_NODE_BACK;
      else if (quoit_fleet_node_state (fleet, node) == QUOIT_NODE_DRAINING)
        kind = QUOIT_STEP_UNDRAIN;
      if (kind != 0)
        {
          g_autofree char *name = quoit_layout_node_display (fleet->layout, node);

          repair->n_nodes++;
          if (option != NULL)
            quoit_option_add_step (option, kind, name, 0);
        }
      if (quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL)
        {
          g_autofree char *name = quoit_layout_node_display (fleet->layout, node);

          repair->n_nodes++;
          if (option != NULL)
            quoit_option_add_step (option, QUOIT_STEP_EXTERNAL_ENDS, name, 0);
        }
      for (guint u = 0; (group = quoit_fleet_node_user (fleet, node, u, NULL)) != NULL; u++)
        {
          if (seen_before (released, group))
            continue;
          g_ptr_array_add (released, (gpointer) group);
          if (repair->n_groups++ == 0)
            repair->group = group;
          if (option != NULL)
            quoit_option_add_step (option, QUOIT_STEP_RELEASE, group->name, group->id);
        }
    }
}

static int
by_nodes (const void *a, const void *b)
{
  const Repair *x = a, *y = b;
  guint32 p = x->n_nodes + x->n_groups, q = y->n_nodes + y->n_groups;

  if (p != q)
    return p < q ? -1 : 1;
  return (x->slice > y->slice) - (x->slice < y->slice);
}

static void
find_repairs (Search *search, const QuoitCandidates *candidates)
{
  for (guint32 s = 0; s < search->fleet->layout->n_slices; s++)
    {
      g_autoptr (GPtrArray) groups = NULL;
      Repair repair;

      if (!quoit_candidates_have (candidates, search->fleet, s)
          || (quoit_fleet_slice_status (search->fleet, (QuoitSliceId) { s })->flags & QUOIT_SLICE_FREE) != 0
          || !quoit_fleet_slice_could_be_intact (search->fleet, (QuoitSliceId) { s }))
        continue;
      groups = g_ptr_array_new ();
      walk_repair (search->fleet, s, groups, NULL, &repair);
      g_array_append_val (search->repairs, repair);
    }
  g_array_sort (search->repairs, by_nodes);
}

/* The first @n_short slices that @wanted allows, repaired together. */
static gboolean
repair_slices (Search *search, gboolean (*wanted) (const Repair *))
{
  g_autoptr (GPtrArray) released = g_ptr_array_new ();
  guint32 found = 0, left = search->n_short;
  QuoitOption *option;

  for (guint i = 0; i < search->repairs->len; i++)
    found += wanted (&g_array_index (search->repairs, Repair, i));
  if (found < left)
    return FALSE;

  option = quoit_report_add_option (search->report);
  for (guint i = 0; left > 0; i++)
    {
      const Repair *repair = &g_array_index (search->repairs, Repair, i);
      Repair again;

      if (!wanted (repair))
        continue;
      walk_repair (search->fleet, repair->slice, released, option, &again);
      left--;
    }
  return TRUE;
}

static gboolean
needs_nodes_only (const Repair *repair)
{
  return repair->n_groups == 0;
}

static gboolean
needs_anything (const Repair *repair)
{
  return TRUE;
}

static int
by_gain (const void *a, const void *b)
{
  const Gain *x = a, *y = b;

  if (x->gain != y->gain)
    return x->gain > y->gain ? -1 : 1;
  return quoit_natural_compare (x->group->name, y->group->name);
}

/* Groups whose release frees whole slices: one that is just enough, else the greatest first. */
static gboolean
release_groups (Search *search)
{
  g_autoptr (GArray) gains = g_array_new (FALSE, TRUE, sizeof (Gain));
  guint32 total = 0, left = search->n_short;
  const Gain *enough = NULL;
  QuoitOption *option;

  for (guint i = 0; i < search->repairs->len; i++)
    {
      const Repair *repair = &g_array_index (search->repairs, Repair, i);
      Gain gain = { repair->group, 1 };
      guint g = 0;

      if (repair->n_nodes > 0 || repair->n_groups != 1)
        continue;
      total++;
      while (g < gains->len && g_array_index (gains, Gain, g).group != repair->group)
        g++;
      if (g < gains->len)
        g_array_index (gains, Gain, g).gain++;
      else
        g_array_append_val (gains, gain);
    }
  if (total < left)
    return FALSE;

  g_array_sort (gains, by_gain);
  option = quoit_report_add_option (search->report);
  for (guint g = 0; g < gains->len; g++)
    if (g_array_index (gains, Gain, g).gain >= left
        && (enough == NULL || g_array_index (gains, Gain, g).gain < enough->gain))
      enough = &g_array_index (gains, Gain, g);
  if (enough != NULL)
    return quoit_option_add_step (option, QUOIT_STEP_RELEASE, enough->group->name, enough->group->id), TRUE;
  for (guint g = 0; left > 0; g++)
    {
      const Gain *gain = &g_array_index (gains, Gain, g);

      quoit_option_add_step (option, QUOIT_STEP_RELEASE, gain->group->name, gain->group->id);
      left -= MIN (left, gain->gain);
    }
  return TRUE;
}

/* Other slices of the same generation of which enough are free now, wherever the request lets them be. */
static void
other_classes (Search *search)
{
  const QuoitLayout *layout = search->fleet->layout;
  const QuoitRequest *request = search->request;

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;
      gboolean same_shape = quoit_shape_equal (facts->shape, request->shape);
      QuoitRequest other = *request;
      QuoitCandidates candidates;
      QuoitPlan plan;
      gboolean fits;

      other.shape = facts->shape;
      other.chips_per_host = facts->chips_per_host;
      if (facts->generation != request->generation
          || (same_shape && facts->chips_per_host == quoit_request_chips_per_host (request))
          || !quoit_candidates_find (search->fleet, &other, &candidates, NULL))
        continue;
      quoit_plan_init (&plan);
      fits = quoit_best_choose (search->fleet, &candidates, request->n_slices, &plan);
      quoit_plan_clear (&plan);
      quoit_candidates_clear (&candidates);
      if (!fits)
        continue;
      if (same_shape)
        quoit_option_add_step (quoit_report_add_option (search->report), QUOIT_STEP_OTHER_HOSTS, NULL,
                               facts->chips_per_host);
      else
        {
          g_autofree char *shape = quoit_shape_format (facts->shape);
          gboolean usual = facts->chips_per_host == quoit_default_chips_per_host (facts->generation, facts->shape);

          quoit_option_add_step (quoit_report_add_option (search->report), QUOIT_STEP_OTHER_TOPOLOGY, shape,
                                 usual ? 0 : facts->chips_per_host);
        }
    }
}

static gint
by_steps (gconstpointer a, gconstpointer b)
{
  guint x = ((const QuoitOption *) a)->steps->len, y = ((const QuoitOption *) b)->steps->len;

  return (x > y) - (x < y);
}

void
quoit_report_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                           const QuoitCandidates *candidates)
{
  g_autoptr (GArray) repairs = g_array_new (FALSE, TRUE, sizeof (Repair));
  Search search = { report, fleet, request, report->n_wanted - report->n_now, repairs };

  if (report->verdict == QUOIT_VERDICT_NOT_NOW)
    {
      gboolean nodes, groups;

      find_repairs (&search, candidates);
      nodes = repair_slices (&search, needs_nodes_only);
      groups = release_groups (&search);
      if (!nodes && !groups)
        repair_slices (&search, needs_anything);
    }
  if (report->n_now > 0)
    quoit_option_add_step (quoit_report_add_option (report), QUOIT_STEP_FEWER_SLICES, NULL, report->n_now);
  other_classes (&search);
  g_array_sort (report->options, by_steps);
}
