/* SPDX-License-Identifier: Apache-2.0 */
/* Decides about requests that join cubes, and explains them. */
#include "base/label-names.h"
#include "placement/constraint.h"
#include "placement/cubes/cubes.h"
#include "placement/explain-bundles.h"
#include "placement/quota.h"

/* --- deciding --- */

gboolean
quoit_cubes_choose (const QuoitFleet *fleet, const QuoitRequest *request, guint32 least, guint32 most,
                    QuoitJoined *joined, GError **error)
{
  g_auto (QuoitCubing) cubing = { 0 };
  g_autofree QuoitCubeSet *set = NULL;

  if (!quoit_cubing_init (&cubing, fleet, request, error))
    return FALSE;
  set = quoit_cubing_list (&cubing, QUOIT_CUBE_FREE);
  quoit_cubing_choose (&cubing, set, most, joined);
  return joined->boxes->len >= least;
}

gboolean
quoit_cubes_choose_nodes (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n, GArray *nodes)
{
  g_auto (QuoitJoined) joined = { 0 };
  const guint32 *cubes;

  quoit_joined_init (&joined);
  if (!quoit_cubes_choose (fleet, request, n, n, &joined, NULL))
    return FALSE;
  cubes = (const guint32 *) (const void *) joined.cubes->data;
  for (guint i = 0; i < joined.boxes->len; i++)
    {
      const QuoitShape box = g_array_index (joined.boxes, QuoitShape, i);

      quoit_joined_list_nodes (fleet, box, cubes, nodes);
      cubes += quoit_shape_chips (box);
    }
  return TRUE;
}

/* Returns what the quotas admit. */
static QuoitQuotaSlices
find_admitted (const QuoitFleet *fleet, const QuoitRequest *request)
{
  return fleet->quotas == NULL ? (QuoitQuotaSlices) { G_MAXUINT32, G_MAXUINT32, G_MAXUINT, G_MAXUINT }
                               : quoit_quota_admit_slices (fleet, request, NULL);
}

static void
count (const QuoitCubing *cubing, QuoitCubeState state, guint32 enough, guint32 *least, guint32 *most)
{
  g_autofree QuoitCubeSet *set = quoit_cubing_list (cubing, state);

  quoit_cubing_count (cubing, set, enough, least, most);
}

gboolean
quoit_cubes_fit (const QuoitFleet *fleet, const QuoitRequest *request)
{
  const guint32 wanted = quoit_request_min_slices (request);
  g_auto (QuoitCubing) cubing = { 0 };
  guint32 least, most;

  if (find_admitted (fleet, request).n_now < wanted || !quoit_cubing_init (&cubing, fleet, request, NULL))
    return FALSE;
  count (&cubing, QUOIT_CUBE_FREE, wanted, &least, &most);
  return least >= wanted;
}

gboolean
quoit_cubes_test (const QuoitFleet *fleet, const QuoitRequest *request, QuoitVerdict *verdict, guint32 *n_free,
                  GError **error)
{
  const guint32 wanted = quoit_request_min_slices (request);
  g_auto (QuoitCubing) cubing = { 0 };
  QuoitQuotaSlices admitted;
  guint32 n_now, n_ever, most;

  if (!quoit_cubing_init (&cubing, fleet, request, error))
    return FALSE;
  admitted = find_admitted (fleet, request);
  count (&cubing, QUOIT_CUBE_FREE, G_MAXUINT32, &n_now, &most);
  most = n_now;
  if (n_now < wanted)
    count (&cubing, QUOIT_CUBE_KNOWN, wanted, &n_ever, &most);
  n_now = MIN (n_now, admitted.n_now);
  if (verdict != NULL)
    *verdict = quoit_verdict_of_counts (n_now, MIN (most, admitted.n_ever), wanted);
  if (n_free != NULL)
    *n_free = n_now;
  return TRUE;
}

gboolean
quoit_cubes_count_ever (const QuoitFleet *fleet, const QuoitRequest *request, guint32 enough, guint32 *most,
                        GError **error)
{
  g_auto (QuoitCubing) cubing = { 0 };
  guint32 least;

  if (!quoit_cubing_init (&cubing, fleet, request, error))
    return FALSE;
  count (&cubing, QUOIT_CUBE_KNOWN, enough, &least, most);
  return TRUE;
}

/* --- explaining --- */

typedef struct {
  const QuoitCubing *cubing;
  QuoitReport *report;
} Explanation;

static void
add_reason (const Explanation *explanation, QuoitConstraint constraint, guint32 before, guint32 after)
{
  quoit_report_add_reason (explanation->report, explanation->cubing->request, quoit_constraint_position (constraint),
                           before, after);
}

/* Returns the number of cubes, with or without the rules of the request, in blocks that can hold a slice when all of
 * their cubes are free. */
static guint32
count_usable_cubes (const QuoitCubing *cubing)
{
  const QuoitBlocks *blocks = cubing->blocks;
  guint32 n = 0;

  for (guint32 block = 0; blocks != NULL && block < blocks->n; block++)
    {
      const QuoitBlock *row = &blocks->blocks[block];
      QuoitHostSet all;
      QuoitPlace place;
      QuoitGrid grid;

      if (row->n < cubing->n_cubes)
        continue;
      if (quoit_cubing_is_adjacent (cubing))
        {
          if (!quoit_cubing_grid (cubing, block, &grid))
            continue;
          quoit_cubing_list_positions (cubing, blocks->set, block, &grid, &all);
          if (!quoit_places_find_first (&grid, &all, cubing->turns, cubing->n_turns, &place))
            continue;
        }
      n += row->n;
    }
  return n;
}

/* Adds why slices of the fleet cannot be joined: these reasons count slices of the fleet. */
static void
add_hardware_reasons (const Explanation *explanation)
{
  const QuoitCubing *cubing = explanation->cubing;
  const QuoitLayout *layout = cubing->fleet->layout;
  guint32 n_of_generation = 0;
  const guint32 n_usable = count_usable_cubes (cubing);

  for (guint32 c = 0; c < layout->n_classes; c++)
    if (layout->classes[c].facts.generation == cubing->request->generation)
      n_of_generation += layout->classes[c].n_slices;
  add_reason (explanation, QUOIT_CONSTRAINT_ACCELERATOR, layout->n_slices, n_of_generation);
  add_reason (explanation, QUOIT_CONSTRAINT_BLOCK, n_of_generation, n_usable);
}

/* Adds that the rules of the request remove slices. The first rule is named. @n_any: the slices without rules. */
static void
add_rule_reason (const Explanation *explanation, guint32 n_any, guint32 n_left)
{
  for (guint c = 0; c < quoit_n_constraints && n_left < n_any; c++)
    if (quoit_constraints[c].is_used != NULL && quoit_constraints[c].is_used (explanation->cubing->request))
      {
        quoit_report_add_reason (explanation->report, explanation->cubing->request, c, n_any, n_left);
        return;
      }
}

/* Returns how many slices all cubes of the blocks make that can ever be intact, without the rules of the request. */
static guint32
count_without_rules (const QuoitCubing *cubing)
{
  QuoitCubing without = *cubing;
  guint32 least, most;

  without.candidates.eligible = NULL;
  count (&without, QUOIT_CUBE_KNOWN, G_MAXUINT32, &least, &most);
  return least;
}

/* Adds that a quota does not admit the slices, if that decides. Placement alone would have @n_now slices now, and at
 * some time at most @most_ever. If it has too few now, the reason counts what is possible at some time. */
static void
add_quota_reason (const Explanation *explanation, const QuoitQuotaSlices *admitted, guint32 n_now, guint32 most_ever)
{
  QuoitReport *report = explanation->report;
  const QuoitFleet *fleet = explanation->cubing->fleet;
  const guint position = quoit_constraint_position (QUOIT_CONSTRAINT_QUOTA);

  if (report->verdict == QUOIT_VERDICT_NEVER && most_ever >= report->n_wanted)
    quoit_report_add_detailed_reason (report, position, quoit_quota_describe_limit (fleet, admitted->ever_quota),
                                      most_ever, admitted->n_ever);
  else if (report->verdict == QUOIT_VERDICT_NOT_NOW && admitted->n_now < report->n_wanted)
    quoit_report_add_detailed_reason (report, position, quoit_quota_describe (fleet, admitted->now_quota),
                                      n_now >= report->n_wanted ? n_now : report->n_possible, admitted->n_now);
}

/* Returns how many slices of any cubes the blocks could hold, if all cubes were intact and those without a block were
 * in one in which they help most. */
static guint32
count_with_blocks (const QuoitCubing *cubing, guint32 n_without_block)
{
  g_autofree QuoitCubeSet *set = quoit_cubing_list (cubing, QUOIT_CUBE_KNOWN);
  g_autofree guint32 *counts = quoit_cubing_count_by_block (cubing, set);
  guint32 n = 0, rest = 0;

  for (guint32 block = 0; cubing->blocks != NULL && block < cubing->blocks->n; block++)
    {
      n += counts[block] / cubing->n_cubes;
      rest = MAX (rest, counts[block] % cubing->n_cubes);
    }
  return n + (rest + n_without_block) / cubing->n_cubes;
}

static void
add_label_reason (const Explanation *explanation, const char *label, guint32 before, guint32 after)
{
  quoit_report_add_detailed_reason (explanation->report, quoit_constraint_position (QUOIT_CONSTRAINT_CUBE_LABEL),
                                    g_strdup (label), before, after);
}

/* Adds that cubes lack a label, if the request can never fit, but could if they had it. */
static void
add_missing_label (const Explanation *explanation)
{
  const QuoitCubing *cubing = explanation->cubing;
  const QuoitFleet *fleet = cubing->fleet;
  const QuoitBlocks *blocks = cubing->blocks;
  const guint32 n_wanted = explanation->report->n_wanted;
  guint32 n = 0, n_in_blocks = 0, n_placed = 0;

  for (guint32 slice = 0; blocks != NULL && slice < fleet->layout->n_slices; slice++)
    {
      const guint8 condition = quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice })->condition;

      if (!quoit_candidates_contain (&cubing->candidates, fleet, slice)
          || quoit_condition_health (condition) == QUOIT_SLICE_CANNOT_BE_INTACT)
        continue;
      n++;
      n_in_blocks += blocks->of_slice[slice] != QUOIT_NO_INDEX;
      n_placed += blocks->of_slice[slice] != QUOIT_NO_INDEX && blocks->positions[slice] != QUOIT_NO_INDEX;
    }
  if (quoit_cubing_is_adjacent (cubing) && n_placed < n_in_blocks && count_with_blocks (cubing, 0) >= n_wanted)
    add_label_reason (explanation, QUOIT_LABEL_CUBE_POSITION, n_in_blocks, n_placed);
  else if (n_in_blocks < n && count_with_blocks (cubing, n - n_in_blocks) >= n_wanted)
    add_label_reason (explanation, QUOIT_GKE_LABEL_BLOCK, n, n_in_blocks);
}

static void
explain (const Explanation *explanation)
{
  const QuoitCubing *cubing = explanation->cubing;
  QuoitReport *report = explanation->report;
  const QuoitQuotaSlices admitted = find_admitted (cubing->fleet, cubing->request);
  guint32 n_now, n_healthy, n_intact, n_ever, most_ever, most;

  count (cubing, QUOIT_CUBE_FREE, G_MAXUINT32, &n_now, &most);
  count (cubing, QUOIT_CUBE_HEALTHY, G_MAXUINT32, &n_healthy, &most);
  count (cubing, QUOIT_CUBE_INTACT, G_MAXUINT32, &n_intact, &most);
  count (cubing, QUOIT_CUBE_KNOWN, G_MAXUINT32, &n_ever, &most_ever);
  report->n_free_now = MIN (n_now, admitted.n_now);
  report->n_possible = MIN (most_ever, admitted.n_ever);
  quoit_report_set_made_verdict (report, n_ever);
  add_hardware_reasons (explanation);
  if (cubing->candidates.eligible != NULL)
    add_rule_reason (explanation, MAX (count_without_rules (cubing), n_ever), n_ever);
  add_reason (explanation, QUOIT_CONSTRAINT_INTACT, n_ever, MIN (n_ever, n_intact));
  add_reason (explanation, QUOIT_CONSTRAINT_DRAINING, n_intact, MIN (n_intact, n_healthy));
  add_reason (explanation, QUOIT_CONSTRAINT_ALLOCATED, n_healthy, MIN (n_healthy, n_now));
  if (report->verdict == QUOIT_VERDICT_NEVER && most_ever < report->n_wanted)
    add_missing_label (explanation);
  add_quota_reason (explanation, &admitted, n_now, most_ever);
  quoit_report_put_main_first (report);
}

QuoitReport *
quoit_explain_cubes_without_options (const QuoitFleet *fleet, const QuoitRequest *request, GError **error)
{
  g_auto (QuoitCubing) cubing = { 0 };
  QuoitReport *report;

  if (!quoit_cubing_init (&cubing, fleet, request, error))
    return NULL;
  report = quoit_report_alloc (quoit_request_min_slices (request));
  explain (&(const Explanation) { &cubing, report });
  return report;
}

/* Lists the nodes that keep cubes of the request from being free. */
static GArray *
list_obstacles (const QuoitCubing *cubing)
{
  const QuoitFleet *fleet = cubing->fleet;
  g_autofree QuoitCubeSet *known = quoit_cubing_list (cubing, QUOIT_CUBE_KNOWN);
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0, block = 0; cubing->blocks != NULL && block < cubing->blocks->n; block++)
    for (i = cubing->blocks->blocks[block].first;
         i < cubing->blocks->blocks[block].first + cubing->blocks->blocks[block].n; i++)
      {
        const guint32 slice = cubing->blocks->cubes[i];
        const QuoitSlice *row = &fleet->layout->slices[slice];

        if (!quoit_cube_set_has (known, slice) || quoit_bits_has (&fleet->free_slices, slice))
          continue;
        for (guint32 n = row->first_node; n < row->first_node + row->n_nodes; n++)
          if (quoit_fleet_node_state (fleet, (QuoitNodeId) { n }) != QUOIT_NODE_ALIVE
              || quoit_fleet_node_use (fleet, (QuoitNodeId) { n }) != QUOIT_USE_NONE)
            g_array_append_val (nodes, n);
      }
  return nodes;
}

void
quoit_cubes_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  g_auto (QuoitCubing) cubing = { 0 };
  g_autoptr (GArray) nodes = NULL;

  if (!quoit_cubing_init (&cubing, fleet, request, NULL))
    return;
  nodes = list_obstacles (&cubing);
  if (report->verdict == QUOIT_VERDICT_NOT_NOW)
    quoit_report_find_bundle_options (report, fleet, request, (const guint32 *) (const void *) nodes->data, nodes->len);
  if (report->n_free_now < report->n_wanted)
    quoit_report_add_fewer_slices (report);
}
