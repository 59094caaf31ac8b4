/* SPDX-License-Identifier: Apache-2.0 */
/* Quotas in drawn calls: an independent count over all groups decides what quotas admit, and a second ledger without
 * quotas decides what can be placed. */
#include <unistd.h>

#include "../follower.h"
#include "slices.h"

static const gint64 first_ms = G_GINT64_CONSTANT (1800000000000), minute_ms = 60000;

/* --- drawn calls --- */

typedef struct {
  const char *accelerator, *topology, *pool;
  gint64 chips;
} Class;

static const Class classes[]
    = { { "v6e", "4x4", "v6e-4x4", 16 }, { "v6e", "2x2", "v6e-2x2", 4 }, { "v5e", "2x2", "v5e-2x2", 4 } };
static const char *const owners[] = { "", "ana", "bo" };
static const char *const teams[] = { "", "x", "y" };
static const char *const cohorts[] = { NULL, "red", "blue" };

typedef struct {
  char name[8];
  guint owner, team, class;
  gint64 chips, n; /* of a slice or bundle; number of them */
  gint64 until_ms; /* 0: no lease */
  gboolean is_ahead, is_of_bundles;
} ModelGroup;

typedef struct {
  char name[8];
  gboolean is_for_team;
  guint target;                       /* index in owners or teams */
  const char *accelerator, *topology; /* NULL: any */
  gint64 nominal, most;
  guint cohort;
} ModelQuota;

typedef struct {
  QuoitLedger *ledger, *twin; /* the twin has no quotas */
  GRand *rand;
  GArray *groups, *quotas;
  gint64 now_ms;
  guint n_named, n_granted, n_over, n_never, n_options, n_commits, n_conflicts;
} Model;

static const ModelGroup *
group_at (const GArray *groups, guint i)
{
  return &g_array_index (groups, ModelGroup, i);
}

static gint
draw (const Model *model, gint first, gint end)
{
  return g_rand_int_range (model->rand, first, end);
}

static gboolean
counts (const ModelQuota *quota, const ModelGroup *group)
{
  return (quota->is_for_team ? group->team : group->owner) == quota->target
         && (quota->accelerator == NULL || strcmp (quota->accelerator, classes[group->class].accelerator) == 0)
         && (quota->topology == NULL || strcmp (quota->topology, classes[group->class].topology) == 0);
}

static gint64
count_used (const GArray *groups, const ModelQuota *quota)
{
  gint64 used = 0;

  for (guint i = 0; i < groups->len; i++)
    if (counts (quota, group_at (groups, i)))
      used += group_at (groups, i)->chips * group_at (groups, i)->n;
  return used;
}

/* Whether the rule of the documentation admits @chips more for the quota, on top of @groups. */
static gboolean
rule_admits (const Model *model, const GArray *groups, const ModelQuota *quota, gint64 chips)
{
  gint64 used = count_used (groups, quota), sum_nominal = 0, sum_used = 0;

  if (used + chips <= quota->nominal)
    return TRUE;
  if (quota->cohort == 0 || (quota->most >= 0 && used + chips > quota->most))
    return FALSE;
  for (guint i = 0; i < model->quotas->len; i++)
    {
      const ModelQuota *other = &g_array_index (model->quotas, ModelQuota, i);

      if (other->cohort != quota->cohort || g_strcmp0 (other->accelerator, quota->accelerator) != 0
          || g_strcmp0 (other->topology, quota->topology) != 0)
        continue;
      sum_nominal += other->nominal;
      sum_used += count_used (groups, other);
    }
  return sum_used + chips <= sum_nominal;
}

/* Whether all quotas, or only those for any class, admit @n more of the group's slices or bundles. */
static gboolean
quotas_admit (const Model *model, const GArray *groups, const ModelGroup *group, gint64 n, gboolean only_any_class)
{
  for (guint i = 0; i < model->quotas->len; i++)
    {
      const ModelQuota *quota = &g_array_index (model->quotas, ModelQuota, i);

      if (only_any_class && quota->accelerator != NULL)
        continue;
      if (counts (quota, group) && !rule_admits (model, groups, quota, n * group->chips))
        return FALSE;
    }
  return TRUE;
}

static gboolean
admits (const Model *model, const GArray *groups, const ModelGroup *group, gint64 n)
{
  return quotas_admit (model, groups, group, n, FALSE);
}

static QuoitVerdict
quota_verdict (const Model *model, const ModelGroup *group, gint64 n)
{
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (ModelGroup));

  if (admits (model, model->groups, group, n))
    return QUOIT_VERDICT_FITS;
  /* Bundles could be placed on another class. */
  return quotas_admit (model, none, group, n, group->is_of_bundles) ? QUOIT_VERDICT_NOT_NOW : QUOIT_VERDICT_NEVER;
}

static QuoitSnapshot *
present (QuoitLedger *ledger, gint64 now_ms)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_as_of (last, now_ms, NULL);
}

static void
check_ledger (const Model *model)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (model->ledger);
  g_autoptr (QuoitSnapshot) snapshot = present (model->ledger, model->now_ms);
  GError *error = NULL;

  quoit_snapshot_check (last, &error);
  ck_assert_ok (error);
  quoit_snapshot_check (snapshot, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_snapshot_get_n_quotas (snapshot), model->quotas->len);
  for (guint i = 0; i < model->quotas->len; i++)
    {
      const ModelQuota *quota = &g_array_index (model->quotas, ModelQuota, i);
      gint64 used = count_used (model->groups, quota);
      uint32_t q = 0;

      while (strcmp (quoit_snapshot_get_quota_name (snapshot, q), quota->name) != 0)
        q++;
      ck_assert_msg (quoit_snapshot_get_quota_used (snapshot, q).e4 == used * 10000,
                     "quota %s uses %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, quota->name,
                     (gint64) quoit_snapshot_get_quota_used (snapshot, q).e4 / 10000, used);
      ck_assert_int_eq (quoit_snapshot_get_quota_borrowed (snapshot, q).e4, MAX (used - quota->nominal, 0) * 10000);
      ck_assert_int_eq (quoit_snapshot_get_quota_nominal_chips (snapshot, q), quota->nominal);
      ck_assert_int_eq (quoit_snapshot_get_quota_max_chips (snapshot, q), quota->most);
      ck_assert (g_strcmp0 (quoit_snapshot_get_quota_label (snapshot, q), quota->is_for_team ? "team" : NULL) == 0);
      ck_assert_str_eq (quoit_snapshot_get_quota_value (snapshot, q),
                        (quota->is_for_team ? teams : owners)[quota->target]);
      ck_assert (g_strcmp0 (quoit_snapshot_get_quota_accelerator (snapshot, q), quota->accelerator) == 0);
      ck_assert (g_strcmp0 (quoit_snapshot_get_quota_topology (snapshot, q), quota->topology) == 0);
      ck_assert (g_strcmp0 (quoit_snapshot_get_quota_cohort (snapshot, q), cohorts[quota->cohort]) == 0);
    }
}

static ModelGroup
draw_group (Model *model)
{
  ModelGroup group = { .owner = (guint) draw (model, 0, 3),
                       .team = (guint) draw (model, 0, 3),
                       .class = (guint) draw (model, 0, 3),
                       .n = draw (model, 1, 5),
                       .is_of_bundles = draw (model, 0, 5) == 0 };

  if (group.is_of_bundles)
    group.class = 2;
  group.chips = group.is_of_bundles ? draw (model, 1, 4) : classes[group.class].chips;
  g_snprintf (group.name, sizeof group.name, "g%u", model->n_named++ % 100000);
  return group;
}

static QuoitRequest *
make_request (const ModelGroup *group)
{
  QuoitRequest *request;
  g_autofree char *amounts = g_strdup_printf ("TPU=%" G_GINT64_FORMAT, group->chips);

  if (group->is_of_bundles)
    {
      request = quoit_request_new (group->name, NULL);
      ck_assert (quoit_request_add_bundles (request, amounts, group->n, NULL));
      ck_assert (quoit_request_set_strategy (request, QUOIT_STRATEGY_PACK, NULL));
      quoit_request_set_pool (request, classes[group->class].pool);
    }
  else
    request = owned_request (group->name, classes[group->class].accelerator, classes[group->class].topology, group->n,
                             NULL);
  if (group->owner != 0)
    ck_assert (quoit_request_set_owner (request, owners[group->owner], NULL));
  if (group->team != 0)
    ck_assert (quoit_request_set_label (request, "team", teams[group->team], NULL));
  return request;
}

static QuoitVerdict
worse (QuoitVerdict a, QuoitVerdict b)
{
  return MAX (a, b);
}

/* Takes the steps of each option on a fork, and reserves there. */
static void
check_options (Model *model, const QuoitSnapshot *snapshot, const QuoitReport *report, const QuoitRequest *request)
{
  for (uint32_t o = 0; o < quoit_report_get_n_options (report); o++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitRequest) other = quoit_request_copy (request, "option", NULL);
      g_autoptr (QuoitGroup) group = NULL;
      g_autofree char *text = quoit_report_dup_option_text (report, o);
      g_autoptr (GError) error = NULL;

      for (uint32_t s = 0; s < quoit_report_get_n_steps (report, o); s++)
        switch (quoit_report_get_step_kind (report, o, s))
          {
          case QUOIT_STEP_RELEASE:
          case QUOIT_STEP_LEASE_ENDS:
            ck_assert (quoit_fork_release (fork, quoit_report_get_step_group (report, o, s), model->now_ms, NULL));
            break;
          case QUOIT_STEP_FEWER_SLICES:
            ck_assert (quoit_request_set_slices (other, quoit_report_get_step_n_slices (report, o, s), NULL));
            break;
          case QUOIT_STEP_OTHER_TOPOLOGY:
            ck_assert (quoit_request_set_topology (other, quoit_report_get_step_topology (report, o, s), NULL));
            break;
          case QUOIT_STEP_CUT:
            ck_assert (quoit_request_set_cut (other, QUOIT_CUT_ANY, NULL));
            break;
          case QUOIT_STEP_NODE_ALIVE:
          case QUOIT_STEP_UNDRAIN:
            ck_assert (quoit_fork_set_node_state (fork, quoit_report_get_step_node (report, o, s), QUOIT_NODE_ALIVE,
                                                  model->now_ms, NULL));
            break;
          default:
            ck_abort_msg ("an option has a step of kind %d", (int) quoit_report_get_step_kind (report, o, s));
          }
      group = quoit_fork_reserve (fork, other, model->now_ms, NULL, &error);
      ck_assert_msg (group != NULL, "option '%s' of %s does not help: %s", text, quoit_report_dup_summary (report, "x"),
                     error == NULL ? "" : error->message);
      model->n_options++;
    }
}

/* Options beside reservations ahead are the subject of test-ahead.c. */
static gboolean
has_ahead (const Model *model)
{
  for (guint i = 0; i < model->groups->len; i++)
    if (group_at (model->groups, i)->is_ahead)
      return TRUE;
  return FALSE;
}

static gboolean
has_quota_reason (const QuoitReport *report)
{
  for (uint32_t r = 0; r < quoit_report_get_n_reasons (report); r++)
    if (quoit_report_get_reason_constraint (report, r) == QUOIT_CONSTRAINT_QUOTA)
      return TRUE;
  return FALSE;
}

/* Returns the verdict on the group, and checks that explain and test agree. */
static QuoitVerdict
check_explain (Model *model, const ModelGroup *group, const QuoitRequest *request)
{
  g_autoptr (QuoitSnapshot) snapshot = present (model->ledger, model->now_ms);
  g_autoptr (QuoitSnapshot) unlimited = present (model->twin, model->now_ms);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);
  g_autoptr (QuoitReport) placed = quoit_snapshot_explain (unlimited, request, NULL);
  QuoitVerdict by_quota = quota_verdict (model, group, group->n);
  QuoitVerdict expected = worse (quoit_report_get_verdict (placed), by_quota), verdict = QUOIT_VERDICT_NEVER;

  ck_assert_msg (quoit_report_get_verdict (report) == expected, "%s: verdict %d, expected %d", group->name,
                 (int) quoit_report_get_verdict (report), (int) expected);
  if (!group->is_of_bundles)
    {
      ck_assert (quoit_snapshot_test (snapshot, request, &verdict, NULL, NULL));
      ck_assert_int_eq (verdict, expected);
    }
  /* If only quotas refuse, the quota is the main reason. */
  if (quoit_report_get_verdict (placed) == QUOIT_VERDICT_FITS && by_quota != QUOIT_VERDICT_FITS)
    ck_assert_int_eq (quoit_report_get_reason_constraint (report, 0), QUOIT_CONSTRAINT_QUOTA);
  ck_assert (by_quota != QUOIT_VERDICT_FITS || !has_quota_reason (report));
  if (by_quota != QUOIT_VERDICT_FITS || !has_ahead (model))
    check_options (model, snapshot, report, request);
  return expected;
}

static void
count_verdict (Model *model, const ModelGroup *group, QuoitVerdict verdict)
{
  model->n_granted += verdict == QUOIT_VERDICT_FITS;
  model->n_over += verdict != QUOIT_VERDICT_FITS && quota_verdict (model, group, group->n) != QUOIT_VERDICT_FITS;
  model->n_never += verdict == QUOIT_VERDICT_NEVER;
}

static void
check_outcome (const ModelGroup *group, QuoitVerdict expected, const QuoitGroup *made, const GError *error)
{
  if (expected == QUOIT_VERDICT_FITS)
    ck_assert_msg (made != NULL, "%s: %s", group->name, error == NULL ? "" : error->message);
  else
    ck_assert_msg (made == NULL && error->code == (int) expected, "%s: %s, expected %d", group->name,
                   error == NULL ? "granted" : error->message, (int) expected);
}

static void
step_reserve (Model *model)
{
  ModelGroup group = draw_group (model);
  gint64 lease_ms = draw (model, 0, 2) * minute_ms * draw (model, 1, 9);
  gboolean is_held = lease_ms != 0 && draw (model, 0, 2) == 0;
  g_autoptr (QuoitRequest) request = make_request (&group);
  g_autoptr (QuoitGroup) made = NULL, twin = NULL;
  g_autoptr (GError) error = NULL;
  QuoitVerdict verdict;

  if (lease_ms != 0 && !is_held)
    ck_assert (quoit_request_set_lease_ms (request, lease_ms, NULL));
  verdict = check_explain (model, &group, request);
  made = is_held ? quoit_ledger_hold (model->ledger, request, lease_ms, model->now_ms, NULL, &error)
                 : quoit_ledger_reserve (model->ledger, request, model->now_ms, NULL, &error);
  /* A hold counts without an end beside what lies ahead, unlike the request that was explained. */
  if (is_held && made == NULL && verdict == QUOIT_VERDICT_FITS)
    {
      ck_assert_ptr_null (quoit_ledger_hold (model->twin, request, lease_ms, model->now_ms, NULL, NULL));
      return;
    }
  check_outcome (&group, verdict, made, error);
  count_verdict (model, &group, verdict);
  if (verdict != QUOIT_VERDICT_FITS)
    return;
  twin = is_held ? quoit_ledger_hold (model->twin, request, lease_ms, model->now_ms, NULL, NULL)
                 : quoit_ledger_reserve (model->twin, request, model->now_ms, NULL, NULL);
  ck_assert_ptr_nonnull (twin);
  group.until_ms = lease_ms == 0 ? 0 : model->now_ms + lease_ms;
  g_array_append_val (model->groups, group);
}

static void
step_reserve_at (Model *model)
{
  ModelGroup group = draw_group (model);
  gint64 from_ms = model->now_ms + minute_ms * draw (model, 1, 6), until_ms = from_ms + minute_ms * draw (model, 1, 6);
  g_autoptr (QuoitRequest) request = make_request (&group);
  g_autoptr (QuoitSnapshot) snapshot = present (model->twin, model->now_ms);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitGroup) made = NULL, twin = NULL;
  g_autoptr (GError) error = NULL, why = NULL;
  QuoitVerdict by_quota = quota_verdict (model, &group, group.n), placed = QUOIT_VERDICT_FITS;

  twin = quoit_fork_reserve_at (fork, request, from_ms, until_ms, model->now_ms, NULL, &why);
  if (twin == NULL)
    placed = (QuoitVerdict) why->code;
  made = quoit_ledger_reserve_at (model->ledger, request, from_ms, until_ms, model->now_ms, NULL, &error);
  check_outcome (&group, worse (placed, by_quota), made, error);
  if (made == NULL)
    return;
  quoit_group_unref (quoit_ledger_reserve_at (model->twin, request, from_ms, until_ms, model->now_ms, NULL, NULL));
  group.is_ahead = TRUE;
  group.until_ms = until_ms;
  g_array_append_val (model->groups, group);
}

static void
step_range (Model *model)
{
  ModelGroup group = draw_group (model);
  gint64 least = draw (model, 1, 3), most = least + draw (model, 1, 5);
  g_autoptr (QuoitRequest) request = NULL;
  g_autoptr (QuoitSnapshot) unlimited = present (model->twin, model->now_ms);
  g_autoptr (QuoitGroup) made = NULL;
  uint32_t n_free = 0;
  gint64 n;

  if (group.is_of_bundles)
    return;
  request = make_request (&group);
  ck_assert (quoit_request_set_slice_range (request, least, most, NULL));
  ck_assert (quoit_snapshot_test (unlimited, request, NULL, &n_free, NULL));
  for (n = MIN (most, (gint64) n_free); n >= least && !admits (model, model->groups, &group, n); n--)
    ;
  made = quoit_ledger_reserve (model->ledger, request, model->now_ms, NULL, NULL);
  /* Beside reservations ahead, a range gets its least number if these have to move. */
  if (made != NULL && quoit_group_get_n_slices (made) != n)
    n = least;
  ck_assert_uint_eq (made == NULL ? 0 : quoit_group_get_n_slices (made), n < least ? 0 : (guint) n);
  if (made == NULL)
    return;
  ck_assert (quoit_ledger_release (model->ledger, group.name, model->now_ms, NULL));
}

static void
step_resize (Model *model, ModelGroup *group)
{
  gint64 n = draw (model, 1, 6);
  g_autoptr (QuoitSnapshot) snapshot = present (model->twin, model->now_ms);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitGroupChange) made = NULL, twin = NULL;
  g_autoptr (GError) error = NULL;
  gboolean fits;

  if (group->is_of_bundles || group->is_ahead)
    return;
  twin = quoit_fork_resize (fork, group->name, n, model->now_ms, NULL, NULL);
  fits = twin != NULL && (n <= group->n || admits (model, model->groups, group, n - group->n));
  made = quoit_ledger_resize (model->ledger, group->name, n, model->now_ms, NULL, &error);
  ck_assert_msg ((made != NULL) == fits, "%s to %d: %s", group->name, (int) n, error == NULL ? "done" : error->message);
  if (!fits)
    return;
  quoit_group_change_free (quoit_ledger_resize (model->twin, group->name, n, model->now_ms, NULL, NULL));
  group->n = n;
}

static void
step_relabel (Model *model, ModelGroup *group)
{
  static const char *const keys[] = { "team" };
  guint team = (guint) draw (model, 0, 3);
  const char *values[] = { team == 0 ? NULL : teams[team] };
  g_autoptr (QuoitGroup) made = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) others = g_array_copy (model->groups);
  ModelGroup after = *group;
  gboolean fits = TRUE;

  after.team = team;
  g_array_remove_index (others, (guint) (group - group_at (model->groups, 0)));
  for (guint i = 0; i < model->quotas->len; i++)
    {
      const ModelQuota *quota = &g_array_index (model->quotas, ModelQuota, i);

      if (counts (quota, &after) && !counts (quota, group)
          && !rule_admits (model, others, quota, group->n * group->chips))
        fits = FALSE;
    }
  made = quoit_ledger_set_labels (model->ledger, group->name, keys, values, 1, model->now_ms, &error);
  ck_assert_msg ((made != NULL) == fits, "%s: %s", group->name, error == NULL ? "done" : error->message);
  ck_assert (fits || g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT));
  if (fits)
    group->team = team;
}

static void
step_existing (Model *model)
{
  guint i;
  ModelGroup *group;

  if (model->groups->len == 0)
    return;
  i = (guint) draw (model, 0, (gint) model->groups->len);
  group = &g_array_index (model->groups, ModelGroup, i);
  switch (draw (model, 0, 5))
    {
    case 0:
      step_resize (model, group);
      return;
    case 1:
      step_relabel (model, group);
      return;
    case 2:
      quoit_group_change_free (quoit_ledger_repair (model->ledger, group->name, model->now_ms, NULL, NULL));
      quoit_group_change_free (quoit_ledger_repair (model->twin, group->name, model->now_ms, NULL, NULL));
      return;
    default:
      ck_assert (quoit_ledger_release (model->ledger, group->name, model->now_ms, NULL));
      ck_assert (quoit_ledger_release (model->twin, group->name, model->now_ms, NULL));
      g_array_remove_index (model->groups, i);
    }
}

static gboolean
has_same_scope (const ModelQuota *a, const ModelQuota *b)
{
  return a->is_for_team == b->is_for_team && a->target == b->target && g_strcmp0 (a->accelerator, b->accelerator) == 0
         && g_strcmp0 (a->topology, b->topology) == 0;
}

static void
step_quota (Model *model)
{
  static const struct {
    const char *accelerator, *topology;
  } scopes[] = { { NULL, NULL }, { NULL, NULL }, { "v6e", NULL }, { "v6e", "2x2" }, { "v5e", NULL } };
  guint scope = (guint) draw (model, 0, G_N_ELEMENTS (scopes)), at = 0;
  ModelQuota quota = { .is_for_team = draw (model, 0, 2) == 0,
                       .target = (guint) draw (model, 1, 3),
                       .accelerator = scopes[scope].accelerator,
                       .topology = scopes[scope].topology,
                       .nominal = draw (model, 0, 60),
                       .cohort = (guint) draw (model, 0, 3) };
  g_autoptr (GError) error = NULL;
  gboolean is_unique = TRUE, ok;

  quota.most = quota.cohort == 0 || draw (model, 0, 2) == 0 ? -1 : quota.nominal + draw (model, 0, 20);
  g_snprintf (quota.name, sizeof quota.name, "q%d", draw (model, 0, 6));
  while (at < model->quotas->len && strcmp (g_array_index (model->quotas, ModelQuota, at).name, quota.name) != 0)
    at++;
  if (at < model->quotas->len && draw (model, 0, 3) == 0)
    {
      ck_assert (quoit_ledger_remove_quota (model->ledger, quota.name, model->now_ms, NULL));
      g_array_remove_index (model->quotas, at);
      return;
    }
  for (guint i = 0; i < model->quotas->len; i++)
    is_unique &= i == at || !has_same_scope (&g_array_index (model->quotas, ModelQuota, i), &quota);
  ok = quoit_ledger_set_quota (model->ledger, quota.name, quota.is_for_team ? "team" : NULL,
                               (quota.is_for_team ? teams : owners)[quota.target], quota.accelerator, quota.topology,
                               quota.nominal, quota.most, cohorts[quota.cohort], model->now_ms, &error);
  ck_assert_msg (ok == is_unique, "%s", error == NULL ? "set" : error->message);
  if (!ok)
    return;
  if (at < model->quotas->len)
    g_array_index (model->quotas, ModelQuota, at) = quota;
  else
    g_array_append_val (model->quotas, quota);
}

static void
step_node (Model *model)
{
  static const char *const nodes[] = { "v6e-2x2-0-0", "v6e-2x2-3-0", "v5e-2x2-1-0", "v6e-4x4-1-2" };
  const char *node = nodes[draw (model, 0, G_N_ELEMENTS (nodes))];
  QuoitNodeState state = draw (model, 0, 3) == 0 ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE;

  ck_assert (quoit_ledger_set_node_state (model->ledger, node, state, model->now_ms, NULL));
  ck_assert (quoit_ledger_set_node_state (model->twin, node, state, model->now_ms, NULL));
}

/* Reserves on a fork of the ledger and on one of the twin. Returns whether that was possible. */
static gboolean
reserve_on_forks (Model *model, QuoitFork *fork, QuoitFork *twin, const ModelGroup *group)
{
  g_autoptr (QuoitRequest) request = make_request (group);
  g_autoptr (QuoitGroup) made = quoit_fork_reserve (fork, request, model->now_ms, NULL, NULL);

  if (made != NULL)
    quoit_group_unref (quoit_fork_reserve (twin, request, model->now_ms, NULL, NULL));
  return made != NULL;
}

static void
step_commit (Model *model)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (model->ledger),
                            last_twin = quoit_ledger_snapshot (model->twin);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (last), twin = quoit_snapshot_fork (last_twin);
  g_autoptr (GArray) made = g_array_new (FALSE, FALSE, sizeof (ModelGroup)), all = NULL;
  g_autoptr (GError) error = NULL;
  gboolean fits = TRUE, done;

  for (gint n = draw (model, 1, 4); n > 0; n--)
    {
      ModelGroup group = draw_group (model);

      if (reserve_on_forks (model, fork, twin, &group))
        g_array_append_val (made, group);
    }
  for (gint n = draw (model, 0, 6); n > 0; n--)
    draw (model, 0, 4) == 0 ? step_quota (model) : step_reserve (model);
  all = g_array_copy (model->groups);
  for (guint i = 0; i < made->len; i++)
    {
      fits &= admits (model, all, group_at (made, i), group_at (made, i)->n);
      g_array_append_val (all, g_array_index (made, ModelGroup, i));
    }
  done = quoit_ledger_commit_fork (model->ledger, fork, model->now_ms, &error);
  ck_assert_msg (!done || fits, "a fork was committed over a quota");
  ck_assert (done || g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT));
  model->n_conflicts += !fits;
  if (!fits)
    return;
  ck_assert_msg (quoit_ledger_commit_fork (model->twin, twin, model->now_ms, NULL) == done, "%s",
                 error == NULL ? "committed" : error->message);
  for (guint i = 0; done && i < made->len; i++)
    g_array_append_val (model->groups, g_array_index (made, ModelGroup, i));
  model->n_commits += done;
}

static void
advance (Model *model)
{
  gint minutes = draw (model, -3, 3);

  model->now_ms += minute_ms * MAX (minutes, 0);
  for (guint i = model->groups->len; i-- > 0;)
    if (group_at (model->groups, i)->until_ms != 0 && group_at (model->groups, i)->until_ms <= model->now_ms)
      g_array_remove_index (model->groups, i);
}

static void
model_step (Model *model)
{
  static void (*const steps[]) (Model *) = { step_reserve, step_reserve, step_reserve, step_existing, step_existing,
                                             step_quota,   step_node,    step_range,   step_commit };

  advance (model);
  steps[draw (model, 0, G_N_ELEMENTS (steps))](model);
  check_ledger (model);
}

static const char fleet_text[] = "v6e 4x4 x4; v6e 2x2 x8; v5e 2x2 x5";

static Model
model_new (QuoitLedger *ledger, guint32 seed)
{
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, fleet_text, strlen (fleet_text));
  Model model = { .ledger = ledger,
                  .twin = ledger_with (fleet_text, first_ms),
                  .rand = g_rand_new_with_seed (seed),
                  .groups = g_array_new (FALSE, FALSE, sizeof (ModelGroup)),
                  .quotas = g_array_new (FALSE, FALSE, sizeof (ModelQuota)),
                  .now_ms = first_ms };

  quoit_import_free (quoit_ledger_import (ledger, input, first_ms, NULL));
  return model;
}

static void
model_clear (Model *model)
{
  quoit_ledger_unref (model->twin);
  g_rand_free (model->rand);
  g_array_unref (model->groups);
  g_array_unref (model->quotas);
}

START_TEST (quotas_admit_what_a_count_of_all_groups_admits)
{
  guint n_granted = 0, n_over = 0, n_never = 0, n_options = 0, n_commits = 0, n_conflicts = 0;

  for (guint32 seed = 1; seed <= 60; seed++)
    {
      g_autoptr (QuoitLedger) ledger = follower_new_ledger (seed);
      Model model = model_new (ledger, seed);

      for (guint i = 0; i < 400; i++)
        {
          model_step (&model);
          /* Every second model has reservations ahead, which let fewer verdicts be predicted. */
          if (seed % 2 == 0 && i % 10 == 0)
            step_reserve_at (&model);
        }
      follower_replay (ledger);
      n_granted += model.n_granted;
      n_over += model.n_over;
      n_never += model.n_never;
      n_options += model.n_options;
      n_commits += model.n_commits;
      n_conflicts += model.n_conflicts;
      model_clear (&model);
    }
  g_print ("granted %u, over quota %u, never %u, options %u, commits %u, conflicts %u\n", n_granted, n_over, n_never,
           n_options, n_commits, n_conflicts);
  ck_assert_uint_gt (n_granted, 1000);
  ck_assert_uint_gt (n_over, 1000);
  ck_assert_uint_gt (n_never, 200);
  ck_assert_uint_gt (n_options, 1000);
  ck_assert_uint_gt (n_commits, 200);
  ck_assert_uint_gt (n_conflicts, 20);
}
END_TEST

START_TEST (quotas_survive_a_restart)
{
  g_autofree char *folder = g_dir_make_tmp ("quoit-quotas-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "quoit.db", NULL), *command = NULL;
  QuoitLedger *ledger = quoit_ledger_create (path, 0, NULL);
  g_autoptr (QuoitSnapshot) last = NULL;
  Model model;
  GError *error = NULL;

  ck_assert_ptr_nonnull (ledger);
  model = model_new (ledger, 3);
  for (guint i = 0; i < 150; i++)
    {
      model_step (&model);
      if (i % 10 != 0)
        continue;
      quoit_ledger_unref (model.ledger);
      model.ledger = quoit_ledger_open (path, 0, &error);
      ck_assert_ok (error);
      check_ledger (&model);
    }
  quoit_ledger_verify (model.ledger, &error);
  ck_assert_ok (error);
  last = quoit_ledger_snapshot (model.ledger);
  for (guint64 seq = 1; seq <= quoit_snapshot_get_seq (last); seq += 7)
    {
      g_autoptr (QuoitSnapshot) past = quoit_ledger_snapshot_at (model.ledger, seq, &error);

      ck_assert_ok (error);
      quoit_snapshot_check (past, &error);
      ck_assert_ok (error);
    }
  quoit_ledger_unref (model.ledger);
  model_clear (&model);
  command = g_strdup_printf ("rm -r '%s'", folder);
  ck_assert_int_eq (system (command), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("quota-model");
  TCase *tcase = tcase_create ("quota-model");

  tcase_set_timeout (tcase, 240);
  tcase_add_test (tcase, quotas_admit_what_a_count_of_all_groups_admits);
  tcase_add_test (tcase, quotas_survive_a_restart);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
