/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the candidates of a request for slices: the slices that have its class and pass its rules (pool, zone,
 * labels, names), whether or not they are free. Rules that hold for a whole run of slices are tested once per run, and
 * rules for labels once per kind of node. The result is remembered for the next request with the same rules. */
#include "placement/constraint.h"

#include <string.h>

#include "fleet/kind.h"

static guint32
find_class (const QuoitLayout *layout, const QuoitRequest *request)
{
  for (guint32 c = 0; c < layout->n_classes; c++)
    if (quoit_constraints_allow_class (&layout->classes[c].facts, request))
      return c;
  return QUOIT_NO_INDEX;
}

/* --- results by kind of node --- */

typedef enum { KIND_UNTESTED, KIND_FAILS, KIND_PASSES } KindResult;

/* Returns one KindResult per kind for a rule, which @key identifies; other threads fill it in too. Free it with
 * g_atomic_rc_box_release(). */
static guint8 *
get_kind_results (const QuoitLayout *layout, const QuoitKey *key)
{
  guint8 *results = quoit_recent_get (layout->kind_results, key->bytes, key->n);

  if (results == NULL)
    {
      results = g_atomic_rc_box_alloc0 (layout->n_kinds + 1);
      quoit_recent_put (layout->kind_results, key->bytes, key->n, results, NULL);
    }
  return results;
}

/* --- runs of slices --- */

/* A rule that is tested with runs of slices. */
typedef struct {
  const QuoitConstraintRow *row;
  guint position;
  QuoitLabelScope scope;
  guint8 *kind_results; /* for QUOIT_LABEL_OF_KIND */
} RunRule;

typedef struct {
  const QuoitFleet *fleet;
  const QuoitNodeRules *rules;
  guint n_rules;
  RunRule run_rules[QUOIT_MAX_CONSTRAINTS];
  guint8 *by_class;           /* by class: the position of the first constraint that the class violates */
  gboolean depends_on_states; /* the result could change if a node died or came back */
} RunTest;

/* Whether all alive nodes of the slice satisfy the rule; dead nodes decide only if no node is alive. */
static gboolean
slice_passes (RunTest *test, guint32 slice, const QuoitConstraintRow *row)
{
  const QuoitSlice *nodes = &test->fleet->layout->slices[slice];
  guint32 end = nodes->first_node + nodes->n_nodes;
  gboolean any_alive = FALSE, any_alive_fails = FALSE, any_passes = FALSE, any_fails = FALSE;

  for (guint32 i = nodes->first_node; i < end; i++)
    {
      gboolean passes = row->rule (test->rules, (QuoitNodeId) { i });
      gboolean is_alive = quoit_fleet_node_state (test->fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD;

      any_passes |= passes;
      any_fails |= !passes;
      any_alive |= is_alive;
      any_alive_fails |= is_alive && !passes;
    }
  test->depends_on_states |= any_passes && any_fails;
  return any_alive ? !any_alive_fails : !any_fails;
}

static gboolean
run_passes (RunTest *test, const RunRule *rule, const QuoitSliceRun *run)
{
  QuoitNodeId node = { test->fleet->layout->slices[run->first_slice].first_node };
  guint8 result;

  if (run->kind == QUOIT_NO_INDEX || rule->scope == QUOIT_LABEL_OF_NODE)
    return slice_passes (test, run->first_slice, rule->row);
  if (rule->scope == QUOIT_LABEL_OF_POOL)
    return rule->row->rule (test->rules, node);
  result = __atomic_load_n (&rule->kind_results[run->kind], __ATOMIC_RELAXED);
  if (result == KIND_UNTESTED)
    {
      result = rule->row->rule (test->rules, node) ? KIND_PASSES : KIND_FAILS;
      __atomic_store_n (&rule->kind_results[run->kind], result, __ATOMIC_RELAXED);
    }
  return result == KIND_PASSES;
}

/* Adds the slices of the run to the eligible ones if they satisfy the rules from rule @i on, which give one result for
 * all of them, or which are tested with each. */
static void
add_run (RunTest *test, guint i, const QuoitSliceRun *run, QuoitEligible *eligible)
{
  for (; i < test->n_rules; i++)
    {
      const RunRule *rule = &test->run_rules[i];

      if (rule->scope == QUOIT_LABEL_OF_NODE && run->n_slices > 1)
        {
          for (guint32 s = 0; s < run->n_slices; s++)
            add_run (test, i, &(QuoitSliceRun) { run->first_slice + s, 1, run->shelf, run->kind }, eligible);
          return;
        }
      if (!run_passes (test, rule, run))
        {
          eligible->n_removed[rule->position] += run->n_slices;
          return;
        }
    }
  quoit_eligible_add (eligible, run->first_slice, run->n_slices);
}

static void
add_runs (RunTest *test, QuoitEligible *eligible)
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
        add_run (test, 0, run, eligible);
      else
        eligible->n_removed[position] += run->n_slices;
    }
}

static RunRule
run_rule (const QuoitLayout *layout, const QuoitRequest *request, guint position)
{
  const QuoitConstraintRow *row = &quoit_constraints[position];
  RunRule rule = { row, position, row->scope (request), NULL };
  g_auto (QuoitKey) key;

  quoit_key_init (&key);
  if (rule.scope != QUOIT_LABEL_OF_KIND)
    return rule;
  quoit_key_append_text (&key, row->name);
  row->append_key (&key, request);
  rule.kind_results = get_kind_results (layout, &key);
  return rule;
}

/* Adds the slices that satisfy all rules except those with a set of slices. Returns whether the result depends on the
 * states of nodes. */
static gboolean
test_runs (const QuoitFleet *fleet, const QuoitNodeRules *rules, QuoitEligible *eligible)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree guint8 *by_class = g_new (guint8, layout->n_classes + 1);
  RunTest test = { .fleet = fleet, .rules = rules, .by_class = by_class };

  for (guint32 c = 0; c < layout->n_classes; c++)
    by_class[c] = (guint8) quoit_constraint_first_failed_by_class (&layout->classes[c].facts, rules->request);
  for (guint i = 0; i < rules->n_used; i++)
    if (quoit_constraints[rules->used[i]].slice_bits == NULL)
      test.run_rules[test.n_rules++] = run_rule (layout, rules->request, rules->used[i]);
  add_runs (&test, eligible);
  for (guint i = 0; i < test.n_rules; i++)
    g_clear_pointer (&test.run_rules[i].kind_results, g_atomic_rc_box_release);
  return test.depends_on_states;
}

/* --- remembered results --- */

/* Identifies the class and the rules of @request. Names of slices are only added to a request, which has its own
 * cache for them, so their numbers identify them. */
static void
append_key (QuoitKey *key, const QuoitLayout *layout, const QuoitRequest *request)
{
  const struct {
    guint64 version;
    guint32 generation, chips_per_host;
    QuoitShape shape;
    guint32 n_slices, n_excluded, n_excluded_nodes, padding;
  } start = { layout->version,      request->generation,    quoit_request_chips_per_host (request), request->shape,
              request->slices->len, request->excluded->len, request->excluded_nodes->len,           0 };

  quoit_key_append (key, &start, sizeof start);
  for (guint i = 0; i < quoit_n_constraints; i++)
    if (quoit_constraints[i].append_key != NULL && quoit_constraints[i].is_used (request))
      {
        const guint8 number = (guint8) i;

        quoit_key_append (key, &number, sizeof number);
        quoit_constraints[i].append_key (key, request);
      }
}

/* Removes the slices that the rules with a set of slices exclude. */
static void
apply_slice_sets (const QuoitNodeRules *rules, QuoitEligible *eligible)
{
  for (guint i = 0; i < rules->n_used; i++)
    {
      const QuoitConstraintRow *row = &quoit_constraints[rules->used[i]];

      if (row->slice_bits != NULL)
        quoit_eligible_keep (eligible, rules->used[i], row->slice_bits (rules));
    }
}

/* Returns a reference to the eligible slices of a request with rules. Not inlined, because most requests have none. */
G_GNUC_NO_INLINE static QuoitEligible *
find_eligible (const QuoitFleet *fleet, const QuoitRequest *request, guint32 class_index, GError **error)
{
  QuoitRecent *recent = quoit_request_has_slice_names (request) ? request->recent : fleet->layout->eligible;
  g_auto (QuoitKey) key;
  QuoitEligible *eligible;
  gboolean depends_on_states;
  QuoitNodeRules rules;

  quoit_key_init (&key);
  append_key (&key, fleet->layout, request);
  eligible = quoit_recent_get (recent, key.bytes, key.n);
  if (eligible != NULL || !quoit_node_rules_init (&rules, fleet->layout, request, error))
    return eligible;
  eligible = quoit_eligible_new (fleet->layout);
  depends_on_states = test_runs (fleet, &rules, eligible);
  apply_slice_sets (&rules, eligible);
  quoit_eligible_finish (eligible, fleet->layout, class_index);
  if (!depends_on_states)
    quoit_recent_put (recent, key.bytes, key.n, eligible, quoit_eligible_clear);
  quoit_node_rules_clear (&rules);
  return eligible;
}

/* Fails if no host of the class can be divided into the bundles of the request. */
static gboolean
check_tpu_per_bundle (const QuoitLayout *layout, const QuoitRequest *request, guint32 class_index, GError **error)
{
  const QuoitSliceFacts *facts = &layout->classes[class_index].facts;
  const QuoitNodeKind *other = NULL;

  for (guint32 k = 0; k < layout->n_kinds; k++)
    {
      const QuoitNodeKind *kind = quoit_claims_kind_at (layout->kinds, k);

      if (kind->generation != facts->generation || kind->chips != facts->chips_per_host
          || !quoit_shape_equal (kind->shape, facts->shape))
        continue;
      if (quoit_node_kind_count_bundles (kind, request->tpu_per_bundle) > 0)
        return TRUE;
      other = kind;
    }
  return other == NULL || quoit_node_kind_fail_to_divide (other, request->tpu_per_bundle, error);
}

/* Does what is left to do for candidates of which only the class is known. Not inlined, because most requests need
 * nothing of this. */
G_GNUC_NO_INLINE static gboolean
check_and_apply_rules (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                       GError **error)
{
  const guint32 class_index = candidates->class_index;

  if (request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request asks for %u bundles: expected whole slices",
                       request->bundles->len);
  if ((class_index == QUOIT_NO_INDEX || request->n_slices == 0) && !quoit_request_validate (request, error))
    return FALSE;
  if (request->tpu_per_bundle.e4 != 0 && class_index != QUOIT_NO_INDEX
      && !check_tpu_per_bundle (fleet->layout, request, class_index, error))
    return FALSE;
  if (quoit_node_rules_are_none (request))
    return TRUE;
  candidates->eligible = find_eligible (fleet, request, class_index, error);
  return candidates->eligible != NULL;
}

gboolean
quoit_candidates_find (const QuoitFleet *fleet, const QuoitRequest *request, QuoitCandidates *candidates,
                       GError **error)
{
  *candidates = (QuoitCandidates) { .class_index = find_class (fleet->layout, request) };
  /* A request that matches a class of the fleet is valid. Validating it with the catalogue would cost more than
   * placing it. */
  return (candidates->class_index != QUOIT_NO_INDEX && request->n_slices > 0 && request->bundles->len == 0
          && request->tpu_per_bundle.e4 == 0 && quoit_node_rules_are_none (request))
         || check_and_apply_rules (fleet, request, candidates, error);
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
    counts->n_possible += n;
  if (position == QUOIT_NO_CONSTRAINT)
    counts->n_free_now += n;
  else
    counts->n_removed[position] += n;
}

/* Counts the eligible slices by condition. */
static void
tally_eligible (const QuoitEligible *eligible, const QuoitFleet *fleet, QuoitTally *tally)
{
  for (guint32 w = 0; w < eligible->n_words; w++)
    for (guint64 word = eligible->slices[w]; word != 0; word &= word - 1)
      tally->count[quoit_fleet_slice_status (fleet, (QuoitSliceId) { w * 64 + (guint32) __builtin_ctzll (word) })
                       ->condition]++;
}

/* Counts the candidates by condition in @tally. */
static void
tally_candidates (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                  QuoitTally *tally, QuoitCandidateCounts *counts)
{
  *counts = (QuoitCandidateCounts) { 0 };
  *tally = (QuoitTally) { 0 };
  if (candidates->eligible != NULL)
    {
      memcpy (counts->n_removed, candidates->eligible->n_removed, sizeof counts->n_removed);
      tally_eligible (candidates->eligible, fleet, tally);
      return;
    }
  count_removed_classes (fleet->layout, request, counts->n_removed);
  if (candidates->class_index != QUOIT_NO_INDEX)
    *tally = *quoit_fleet_class_tally (fleet, (QuoitClassId) { candidates->class_index });
}

static void
count_tally (const QuoitTally *tally, QuoitCandidateCounts *counts)
{
  for (guint condition = 0; condition < QUOIT_N_SLICE_CONDITIONS; condition++)
    if (tally->count[condition] > 0)
      count_condition (counts, (guint8) condition, tally->count[condition]);
}

void
quoit_candidates_count (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                        QuoitCandidateCounts *counts)
{
  QuoitTally tally;

  tally_candidates (candidates, fleet, request, &tally, counts);
  count_tally (&tally, counts);
}

gboolean
quoit_candidates_count_without (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                                const QuoitGroupData *group, QuoitCandidateCounts *counts)
{
  QuoitTally tally;

  if (!quoit_group_has_whole_slices (group))
    return FALSE;
  tally_candidates (candidates, fleet, request, &tally, counts);
  for (guint32 s = 0, first = 0; s < group->n_slices; first = group->slice_end[s++])
    {
      guint32 slice = quoit_layout_slice_of_id (fleet->layout, group->node_ids[first]);
      const QuoitSliceStatus *status;
      QuoitSliceHealth health;
      gboolean is_draining;

      if (slice == QUOIT_NO_INDEX)
        return FALSE;
      if (!quoit_candidates_contain (candidates, fleet, slice))
        continue;
      status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { slice });
      if (status->n_used != group->slice_end[s] - first)
        return FALSE;
      health = quoit_condition_health (status->condition);
      is_draining = (quoit_condition_flags (status->condition) & QUOIT_SLICE_DRAINING) != 0;
      tally.count[status->condition]--;
      tally.count[quoit_condition (health, is_draining, QUOIT_SLICE_USE_NONE)]++;
    }
  count_tally (&tally, counts);
  return TRUE;
}
