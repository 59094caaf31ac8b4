/* SPDX-License-Identifier: Apache-2.0 */
/* Finds options: small sets of changes, each of which is enough to make the request fit. */
#include "placement/domains.h"
#include "placement/ends.h"
#include "placement/made.h"
#include "placement/quota.h"
#include "placement/shrink.h"

void
quoit_option_add_group_end (QuoitOption *option, const QuoitGroupData *group, QuoitEndManner manner, gint64 now_ms)
{
  g_autofree char *handle = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
  QuoitStep step = { .kind = *group->source == '\0' ? QUOIT_STEP_RELEASE : QUOIT_STEP_SOURCE_REMOVES,
                     .group = handle,
                     .record = group };
  gboolean is_estimate = FALSE;

  if (group->kind == QUOIT_RECORD_WINDOW)
    {
      step.kind = QUOIT_STEP_WINDOW_ENDS;
      step.group = (char *) quoit_window_record_window (group);
      step.until_ms = group->until_ms;
    }
  else if (manner == QUOIT_END_BY_WAITING)
    step.until_ms = quoit_group_planned_end (group, now_ms, &is_estimate);
  else if (manner == QUOIT_END_AS_PLANNED)
    step.until_ms = group->until_ms;
  if (step.until_ms != 0 && step.kind != QUOIT_STEP_WINDOW_ENDS)
    step.kind = is_estimate ? QUOIT_STEP_EXPECTED_END : QUOIT_STEP_LEASE_ENDS;
  quoit_option_add_step (option, &step);
}

/* Adds an option of one step. */
static void
add_single (QuoitReport *report, const QuoitStep *step)
{
  quoit_option_add_step (quoit_report_add_option (report), step);
}

static void
add_other_class (QuoitReport *report, const QuoitRequest *request, const QuoitSliceFacts *facts)
{
  g_autofree char *topology = quoit_shape_format (facts->shape);
  guint32 wanted = request->chips_per_host != 0 ? request->chips_per_host
                                                : quoit_default_chips_per_host (facts->generation, facts->shape);
  QuoitStep step = { .kind = QUOIT_STEP_OTHER_TOPOLOGY, .topology = topology };

  if (quoit_shape_equal (facts->shape, request->shape))
    step = (QuoitStep) { .kind = QUOIT_STEP_OTHER_HOSTS, .chips_per_host = facts->chips_per_host };
  else if (facts->chips_per_host != wanted)
    step.chips_per_host = facts->chips_per_host;
  add_single (report, &step);
}

typedef struct {
  const QuoitSliceFacts *facts;
  guint64 most, least; /* the chips of its slices, and of those of the request */
} OtherClass;

static int
nearest_first (const void *a, const void *b)
{
  const OtherClass *x = a, *y = b;
  const guint64 more = x->most * y->least, less = y->most * x->least;

  return more != less ? (more > less ? 1 : -1) : (x->facts > y->facts) - (x->facts < y->facts);
}

/* Adds options for other slices of the same generation, those with the nearest number of chips first. Enough of them
 * must be free and satisfy the rules of the request. */
static void
add_other_classes (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  g_autoptr (GArray) classes = g_array_new (FALSE, FALSE, sizeof (OtherClass));
  const guint64 wanted = quoit_shape_chips (request->shape);
  const QuoitLayout *layout = fleet->layout;

  /* A group cannot change to another class. */
  for (guint32 c = 0; c < layout->n_classes && !report->is_of_group; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;
      gboolean same_shape = quoit_shape_equal (facts->shape, request->shape);
      QuoitRequest other = *request;
      QuoitVerdict verdict;

      other.shape = facts->shape;
      other.chips_per_host = facts->chips_per_host;
      if (facts->generation != request->generation
          || (same_shape && facts->chips_per_host == quoit_request_chips_per_host (request))
          || !quoit_test_slices (fleet, &other, &verdict, NULL, NULL))
        continue;
      if (verdict == QUOIT_VERDICT_FITS)
        {
          const guint64 chips = quoit_shape_chips (facts->shape);
          const OtherClass fitting = { facts, MAX (chips, wanted), MIN (chips, wanted) };

          g_array_append_val (classes, fitting);
        }
    }
  g_array_sort (classes, nearest_first);
  for (guint i = 0; i < classes->len; i++)
    add_other_class (report, request, g_array_index (classes, OtherClass, i).facts);
}

/* --- slices that are made of slices of the fleet --- */

/* Returns whether the fleet has slices of the requested generation that parts could be cut from, or that could be
 * joined. Most fleets have none, and then need no search. */
static gboolean
has_material (const QuoitFleet *fleet, const QuoitRequest *request)
{
  const QuoitLayout *layout = fleet->layout;
  const QuoitShape cube = quoit_generation_facts (request->generation)->ocs_cube;

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      const QuoitSliceFacts *facts = &layout->classes[c].facts;

      if (facts->generation != request->generation)
        continue;
      if (request->cubes != QUOIT_CUBES_NONE ? quoit_shape_equal (facts->shape, cube)
                                             : quoit_shape_chips (facts->shape) > quoit_shape_chips (request->shape))
        return TRUE;
    }
  return FALSE;
}

static void
add_made_if_it_fits (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *made, QuoitStepKind kind)
{
  QuoitVerdict verdict;

  if (has_material (fleet, made) && quoit_request_validate (made, NULL)
      && quoit_made_test (fleet, made, &verdict, NULL, NULL) && verdict == QUOIT_VERDICT_FITS)
    add_single (report, &(QuoitStep) { .kind = kind });
}

/* Adds the options to ask for parts of larger slices, and for slices of cubes. A group cannot change to them. */
static void
add_made (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request)
{
  const QuoitShape cube = quoit_generation_facts (request->generation)->ocs_cube;
  QuoitRequest cut = *request, joined = *request;

  if (report->is_of_group)
    return;
  cut.cut = request->generation == QUOIT_GENERATION_TPU7X ? QUOIT_CUT_PARTITION : QUOIT_CUT_ANY;
  add_made_if_it_fits (report, fleet, &cut, cut.cut == QUOIT_CUT_PARTITION ? QUOIT_STEP_CUT_PARTITION : QUOIT_STEP_CUT);
  if (cube.n_dims == 0 || quoit_shape_chips (request->shape) <= quoit_shape_chips (cube))
    return;
  joined.cubes = QUOIT_CUBES_ANY;
  add_made_if_it_fits (report, fleet, &joined, QUOIT_STEP_JOIN_CUBES);
}

/* Adds the options that change the fleet. */
static void
add_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
             const QuoitCandidates *candidates)
{
  if (quoit_request_has_domains (request))
    quoit_domains_find_repairs (report, fleet, request, candidates);
  else
    quoit_report_find_repairs (report, fleet, request, candidates);
}

/* --- options if a quota does not admit the request --- */

static void
add_ends (QuoitOption *option, const GPtrArray *ends)
{
  for (guint i = 0; i < ends->len; i++)
    quoit_option_add_group_end (option, ends->pdata[i], QUOIT_END_AS_PLANNED, 0);
}

/* Adds the options of @part, each with the ends of groups before its own steps, and the smaller number, if any, after
 * them. */
static void
add_combined (QuoitReport *report, const GPtrArray *ends, const QuoitReport *part)
{
  for (guint i = 0; i < part->options->len; i++)
    {
      const GArray *steps = g_array_index (part->options, QuoitOption, i).steps;
      QuoitOption *option = quoit_report_add_option (report);

      add_ends (option, ends);
      for (guint s = 0; s < steps->len; s++)
        quoit_option_add_step (option, &g_array_index (steps, QuoitStep, s));
      if (part->n_wanted < report->n_wanted)
        quoit_option_add_step (option, &(QuoitStep) { .kind = QUOIT_STEP_FEWER_SLICES, .n_slices = part->n_wanted });
    }
}

/* Adds options in which groups end, so that the quotas admit as many slices as they and the fleet ever can, at most
 * those that are wanted. The fleet can need further steps to have these slices. */
static void
add_quota_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                   const QuoitCandidates *candidates)
{
  const guint32 n = MIN (report->n_wanted, report->n_possible);
  g_autoptr (GPtrArray) ends = n == 0 ? NULL : quoit_quota_choose_ends (fleet, request, n);
  g_autoptr (QuoitFleet) without = NULL;
  g_autoptr (QuoitReport) part = NULL;
  QuoitCandidateCounts counts;

  if (ends == NULL || (ends->len == 0 && n == report->n_free_now))
    return;
  without = quoit_fleet_fork (fleet);
  for (guint i = 0; i < ends->len; i++)
    quoit_fork_fleet_release (without, ends->pdata[i]);
  quoit_domains_count (candidates, without, request, &counts);
  part = quoit_report_alloc (n);
  part->n_free_now = counts.n_free_now;
  part->n_possible = counts.n_possible;
  part->verdict = QUOIT_VERDICT_NOT_NOW;
  if (counts.n_free_now < n && counts.n_possible >= n)
    add_repairs (part, without, request, candidates);
  else if (counts.n_free_now >= n)
    quoit_report_add_option (part);
  add_combined (report, ends, part);
}

void
quoit_report_find_changes (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                           const QuoitCandidates *candidates)
{
  if (fleet->quotas != NULL && quoit_quota_admit_slices (fleet, request, NULL).n_now < report->n_wanted)
    add_quota_options (report, fleet, request, candidates);
  else if (report->n_possible > report->n_free_now)
    add_repairs (report, fleet, request, candidates);
}

/* --- groups that shrink --- */

typedef struct {
  const QuoitFleet *fleet;
  const QuoitCandidates *candidates;
} Usable;

static gboolean
can_become_free (guint32 slice, gconstpointer data)
{
  const Usable *usable = data;

  return quoit_candidates_can_become_free (usable->candidates, usable->fleet, slice);
}

static void
add_shrinks (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
             const QuoitCandidates *candidates)
{
  const Usable usable = { fleet, candidates };
  const QuoitShrinkSearch search = { fleet, request, can_become_free, quoit_slices_fit, &usable };

  if (report->verdict == QUOIT_VERDICT_NOT_NOW)
    quoit_report_add_shrinks (report, &search);
}

/* A group that is repaired cannot request fewer slices, but it can shrink, and then be repaired. */
void
quoit_report_add_fewer_slices (QuoitReport *report)
{
  QuoitStep step = { .kind = QUOIT_STEP_FEWER_SLICES, .n_slices = report->n_free_now };

  if (report->repaired != NULL)
    {
      step.kind = QUOIT_STEP_SHRINK;
      step.group = report->repaired;
    }
  if (report->n_free_now > 0 && report->n_free_now >= report->repaired_least)
    add_single (report, &step);
}

void
quoit_report_find_options (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                           const QuoitCandidates *candidates)
{
  quoit_report_find_changes (report, fleet, request, candidates);
  add_shrinks (report, fleet, request, candidates);
  quoit_report_add_fewer_slices (report);
  add_other_classes (report, fleet, request);
  add_made (report, fleet, request);
}
