/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the candidates of a request for slices: the slices that have its class and pass its rules (pool, zone,
 * labels, names), whether or not they are free. Rules that hold for a whole run of slices are tested once per run, and
 * rules for labels once per kind of node. */
#include "placement/constraint.h"

#include <string.h>

static guint32
find_class (const QuoitLayout *layout, const QuoitRequest *request)
{
  for (guint32 c = 0; c < layout->n_classes; c++)
    if (quoit_constraint_first_failed_by_class (&layout->classes[c].facts, request) == QUOIT_NO_CONSTRAINT)
      return c;
  return QUOIT_NO_INDEX;
}

/* --- runs of slices --- */

/* Whether all alive nodes of the slice satisfy the rule; dead nodes decide only if no node is alive. */
static gboolean
slice_passes (const QuoitFleet *fleet, guint32 slice, const QuoitConstraintRow *row, const QuoitNodeRules *rules)
{
  const QuoitSlice *nodes = &fleet->layout->slices[slice];
  guint32 end = nodes->first_node + nodes->n_nodes;
  gboolean any_alive = FALSE;

  for (guint32 i = nodes->first_node; i < end; i++)
    any_alive |= quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD;
  for (guint32 i = nodes->first_node; i < end; i++)
    if ((!any_alive || quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD)
        && !row->rule (rules, (QuoitNodeId) { i }))
      return FALSE;
  return TRUE;
}

/* A rule that is tested with runs of slices. */
typedef struct {
  const QuoitConstraintRow *row;
  guint position;
  QuoitLabelScope scope;
  guint8 *kind_results; /* for QUOIT_LABEL_OF_KIND; see fleet/kind-cache.h */
} RunRule;

typedef struct {
  const QuoitFleet *fleet;
  const QuoitNodeRules *rules;
  guint n_rules;
  RunRule run_rules[QUOIT_MAX_CONSTRAINTS];
  guint8 *by_class; /* by class: the position of the first constraint that the class violates */
} RunTest;

static gboolean
run_passes (const RunTest *test, const RunRule *rule, const QuoitSliceRun *run)
{
  QuoitNodeId node = { test->fleet->layout->slices[run->first_slice].first_node };
  QuoitKindResult result;

  if (run->kind == QUOIT_NO_INDEX || rule->scope == QUOIT_LABEL_OF_NODE)
    return slice_passes (test->fleet, run->first_slice, rule->row, test->rules);
  if (rule->scope == QUOIT_LABEL_OF_POOL)
    return rule->row->rule (test->rules, node);
  result = quoit_kind_result_load (rule->kind_results, run->kind);
  if (result == QUOIT_KIND_UNTESTED)
    {
      quoit_kind_result_store (rule->kind_results, run->kind, rule->row->rule (test->rules, node));
      result = quoit_kind_result_load (rule->kind_results, run->kind);
    }
  return result == QUOIT_KIND_PASSES;
}

static void
add_range (guint64 *bits, guint32 first, guint32 n)
{
  for (guint32 end = first + n; first < end;)
    {
      guint32 n_here = MIN (end - first, 64 - first % 64);

      bits[first / 64] |= (~(guint64) 0 >> (64 - n_here)) << (first % 64);
      first += n_here;
    }
}

/* Adds the slices of the run to the eligible ones if they satisfy the rules from rule @i on, which give one result for
 * all of them, or which are tested with each. */
static void
add_run (const RunTest *test, guint i, const QuoitSliceRun *run, QuoitCandidates *candidates)
{
  for (; i < test->n_rules; i++)
    {
      const RunRule *rule = &test->run_rules[i];

      if (rule->scope == QUOIT_LABEL_OF_NODE && run->n_slices > 1)
        {
          for (guint32 s = 0; s < run->n_slices; s++)
            add_run (test, i, &(QuoitSliceRun) { run->first_slice + s, 1, run->shelf, run->kind }, candidates);
          return;
        }
      if (!run_passes (test, rule, run))
        {
          candidates->n_removed[rule->position] += run->n_slices;
          return;
        }
    }
  add_range (candidates->eligible, run->first_slice, run->n_slices);
}

static void
add_runs (const RunTest *test, QuoitCandidates *candidates)
{
  const QuoitLayout *layout = test->fleet->layout;
  const QuoitSliceRuns *runs = quoit_layout_slice_runs (layout);

  for (guint32 r = 0; r < runs->n; r++)
    {
      const QuoitSliceRun *run = &runs->runs[r];
      guint32 class_index = layout->shelves[run->shelf].class_index;
      guint position = class_index == QUOIT_NO_INDEX ? 0 : test->by_class[class_index];

      /* Constraints of the class come before all rules. */
      if (position == QUOIT_NO_CONSTRAINT)
        add_run (test, 0, run, candidates);
      else
        candidates->n_removed[position] += run->n_slices;
    }
}

/* --- all rules --- */

/* Removes the eligible slices that are not in @bits. */
static void
keep_slices (QuoitCandidates *candidates, guint position, const guint64 *bits)
{
  for (guint32 w = 0; w < candidates->n_words; w++)
    {
      candidates->n_removed[position] += (guint32) __builtin_popcountll (candidates->eligible[w] & ~bits[w]);
      candidates->eligible[w] &= bits[w];
    }
}

static RunRule
run_rule (const QuoitLayout *layout, const QuoitRequest *request, guint position)
{
  const QuoitConstraintRow *row = &quoit_constraints[position];
  RunRule rule = { row, position, row->scope (request), NULL };
  g_autoptr (GString) key = NULL;

  if (rule.scope != QUOIT_LABEL_OF_KIND)
    return rule;
  key = g_string_new (row->name);
  g_string_append_c (key, ' ');
  row->append_key (key, request);
  rule.kind_results = quoit_kind_cache_get (layout->kind_cache, key->str);
  return rule;
}

static void
find_eligible (const QuoitFleet *fleet, const QuoitNodeRules *rules, QuoitCandidates *candidates)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree guint8 *by_class = g_new (guint8, layout->n_classes + 1);
  RunTest test = { .fleet = fleet, .rules = rules, .by_class = by_class };

  for (guint32 c = 0; c < layout->n_classes; c++)
    by_class[c] = (guint8) quoit_constraint_first_failed_by_class (&layout->classes[c].facts, rules->request);
  for (guint i = 0; i < rules->n_used; i++)
    if (quoit_constraints[rules->used[i]].slice_bits == NULL)
      test.run_rules[test.n_rules++] = run_rule (layout, rules->request, rules->used[i]);
  candidates->n_words = layout->n_slices / 64 + 1;
  candidates->eligible = g_new0 (guint64, candidates->n_words);
  add_runs (&test, candidates);
  for (guint i = 0; i < test.n_rules; i++)
    g_clear_pointer (&test.run_rules[i].kind_results, g_atomic_rc_box_release);
  /* Rules with a set of slices come after the others in the table. */
  for (guint i = 0; i < rules->n_used; i++)
    if (quoit_constraints[rules->used[i]].slice_bits != NULL)
      keep_slices (candidates, rules->used[i], quoit_constraints[rules->used[i]].slice_bits (rules));
}

gboolean
quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                       GError **error)
{
  const QuoitLayout *layout = fleet->layout;
  QuoitNodeRules rules;

  if (request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request asks for %u bundles: expected whole slices",
                       request->bundles->len);
  *candidates = (QuoitCandidates) { .class_index = find_class (layout, request) };
  /* A request that matches a class of the fleet is valid. Validating it with the catalogue would cost more than
   * placing it. */
  if ((candidates->class_index == QUOIT_NO_INDEX || request->n_slices == 0) && !quoit_request_validate (request, error))
    return FALSE;
  if (quoit_node_rules_are_none (request))
    return TRUE;
  if (!quoit_node_rules_init (&rules, layout, request, error))
    return FALSE;
  find_eligible (fleet, &rules, candidates);
  quoit_node_rules_clear (&rules);
  return TRUE;
}

void
quoit_candidates_clear (QuoitCandidates *candidates)
{
  g_clear_pointer (&candidates->eligible, g_free);
}

/* --- counts --- */

/* Counts slices by class, so that a request without rules does not visit every slice. */
static void
count_removed_classes (const QuoitLayout *layout, const QuoitRequest *request, guint32 *n_removed)
{
  guint32 n_without_class = layout->n_slices;

  for (guint32 c = 0; c < layout->n_classes; c++)
    {
      guint position = quoit_constraint_first_failed_by_class (&layout->classes[c].facts, request);

      n_without_class -= layout->classes[c].n_slices;
      if (position != QUOIT_NO_CONSTRAINT)
        n_removed[position] += layout->classes[c].n_slices;
    }
  n_removed[0] += n_without_class;
}

/* Counts @n candidates that are in @condition. */
static void
count_condition (QuoitCandidateCounts *counts, guint8 condition, guint32 n)
{
  guint position = quoit_constraint_first_failed_by_flags (quoit_condition_flags (condition));

  counts->n_matching += n;
  if (quoit_condition_health (condition) != QUOIT_SLICE_CANNOT_BE_INTACT)
    counts->n_could += n;
  if (position == QUOIT_NO_CONSTRAINT)
    counts->n_now += n;
  else
    counts->n_removed[position] += n;
}

/* Counts the eligible slices by condition. */
static void
tally_eligible (const QuoitCandidates *candidates, const QuoitFleet *fleet, QuoitTally *tally)
{
  for (guint32 w = 0; w < candidates->n_words; w++)
    for (guint64 word = candidates->eligible[w]; word != 0; word &= word - 1)
      tally->count[quoit_fleet_slice_status (fleet, (QuoitSliceId) { w * 64 + (guint32) __builtin_ctzll (word) })
                       ->condition]++;
}

void
quoit_candidates_count (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                        QuoitCandidateCounts *counts)
{
  QuoitTally eligible = { 0 };
  const QuoitTally *tally = &eligible;

  *counts = (QuoitCandidateCounts) { 0 };
  if (candidates->eligible != NULL)
    {
      memcpy (counts->n_removed, candidates->n_removed, sizeof counts->n_removed);
      tally_eligible (candidates, fleet, &eligible);
    }
  else
    {
      count_removed_classes (fleet->layout, request, counts->n_removed);
      if (candidates->class_index != QUOIT_NO_INDEX)
        tally = quoit_fleet_class_tally (fleet, (QuoitClassId) { candidates->class_index });
    }
  for (guint condition = 0; condition < QUOIT_N_SLICE_CONDITIONS; condition++)
    if (tally->count[condition] > 0)
      count_condition (counts, (guint8) condition, tally->count[condition]);
}
