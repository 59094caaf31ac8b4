/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of different kinds that claim the same machines: one node with one claim per source, removed with its last
 * claim. */
#include "joined.h"

#define T0 G_GINT64_CONSTANT (1750000000000)

typedef struct {
  QuoitFleet *fleet;
  GPtrArray *entries; /* all entries so far */
} FleetHistory;

static QuoitFleet *
nothing (void)
{
  g_autoptr (QuoitLayout) empty = quoit_layout_new (NULL, 0);

  return quoit_fleet_new (empty);
}

/* A layout built from each source's returned claims equals the original one. */
static void
check_returned_claims (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree QuoitLayoutPart *parts = g_new0 (QuoitLayoutPart, layout->n_sources + 1);
  g_autoptr (QuoitLayout) again = NULL;
  g_autoptr (QuoitFleet) relaid = NULL;
  g_autoptr (GError) error = NULL;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      guint32 *ids = NULL;

      parts[s].claims = quoit_layout_dup_claims (layout, (QuoitSourceId) { s }, &ids);
      parts[s].ids = ids;
    }
  again = quoit_layout_new (parts, layout->n_sources);
  relaid = quoit_fleet_with_layout (fleet, again, &error);
  ck_assert_ok (error);
  relaid->seq = fleet->seq;
  relaid->clock_ms = fleet->clock_ms;
  ck_assert (quoit_step_compare (relaid, fleet, &error));
  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      quoit_claims_free ((QuoitClaims *) parts[s].claims);
      g_free ((guint32 *) parts[s].ids);
    }
}

static void
check_fleet_history (const FleetHistory *fleet_history)
{
  g_autoptr (QuoitFleet) replayed = nothing ();
  g_autoptr (GError) error = NULL;

  quoit_fleet_check (fleet_history->fleet, &error);
  ck_assert_ok (error);
  for (guint i = 0; i < fleet_history->entries->len; i++)
    ck_assert (quoit_entry_apply (fleet_history->entries->pdata[i], &replayed, &error));
  quoit_step_compare (replayed, fleet_history->fleet, &error);
  ck_assert_ok (error);
  check_returned_claims (fleet_history->fleet);
}

static gboolean
change (gpointer data, const QuoitAction *action, GError **error)
{
  FleetHistory *fleet_history = data;
  QuoitEntry *entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };
  gboolean ok = quoit_action_decide (fleet_history->fleet, action, T0, &entry, &outcome, error);

  if (ok && entry != NULL)
    {
      quoit_entry_apply (entry, &fleet_history->fleet, error);
      ck_assert_ok (*error);
      g_ptr_array_add (fleet_history->entries, entry);
    }
  if (outcome.refusal.request != NULL)
    {
      outcome.refusal.fleet
          = outcome.refusal.fleet == NULL ? quoit_fleet_ref (fleet_history->fleet) : outcome.refusal.fleet;
      quoit_refusal_explain (&outcome.refusal, NULL, error);
    }
  check_fleet_history (fleet_history);
  return ok;
}

static void
fleet_history_clear (FleetHistory *fleet_history)
{
  quoit_fleet_unref (fleet_history->fleet);
  g_ptr_array_unref (fleet_history->entries);
}

START_TEST (node_has_one_claim_per_source_and_is_removed_with_the_last)
{
  g_auto (GStrv) steps = g_strsplit (facts[_i].script, ";", -1);
  FleetHistory fleet_history = { nothing (), g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };
  const Ledger ledger = { &fleet_history, change };
  g_autoptr (GError) error = NULL;
  g_autofree char *shown = NULL;
  guint64 seq;

  for (guint i = 0; steps[i] != NULL; i++)
    if (facts[_i].refusal == NULL || steps[i + 1] != NULL)
      {
        perform (&ledger, steps[i], &error);
        ck_assert_msg (error == NULL, "%s: %s: %s", facts[_i].script, steps[i], error == NULL ? "" : error->message);
      }
    else
      {
        seq = fleet_history.fleet->seq;
        ck_assert_msg (!perform (&ledger, steps[i], &error), "%s: was taken", facts[_i].script);
        ck_assert_msg (strstr (error->message, facts[_i].refusal) != NULL, "%s: %s", facts[_i].script, error->message);
        ck_assert_uint_eq (fleet_history.fleet->seq, seq);
      }
  seq = fleet_history.fleet->seq;
  if (facts[_i].refusal == NULL && strncmp (steps[g_strv_length (steps) - 1], "re", 2) != 0)
    {
      perform (&ledger, steps[g_strv_length (steps) - 1], &error);
      ck_assert_ok (error);
      ck_assert_uint_eq (fleet_history.fleet->seq, seq);
    }
  shown = show (fleet_history.fleet);
  ck_assert_msg (g_str_equal (shown, facts[_i].fleet), "%s:\n%s, expected\n%s", facts[_i].script, shown,
                 facts[_i].fleet);
  fleet_history_clear (&fleet_history);
}
END_TEST

/* Ray decides the node's properties, the manifest its place. */
START_TEST (joined_node_has_observed_properties_and_planned_place)
{
  static const char *const lines[] = {
    "1 nodes of slices of source 'plan' are not in source 'ray': they are planned, but not observed",
  };
  FleetHistory fleet_history = { nothing (), g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };
  const Ledger ledger = { &fleet_history, change };
  g_autoptr (GError) error = NULL;
  QuoitNodeId seen, lost;
  char room[32];

  ck_assert (perform (&ledger, "plan ..|..", &error));
  ck_assert (perform (&ledger, "ray+plan A0.0@7 B0.1x C1.0", &error));
  ck_assert (quoit_layout_lookup_node (fleet_history.fleet->layout, "a-0-0", &seen, &error));
  ck_assert (quoit_layout_lookup_node (fleet_history.fleet->layout, "a-0-1", &lost, &error));
  ck_assert_str_eq (quoit_layout_node_address (fleet_history.fleet->layout, seen), "10.0.7");
  /* The manifest has a zone, the list has none; the list has no resources of the dead machine. */
  ck_assert_ptr_null (quoit_layout_node_label (fleet_history.fleet->layout, seen, "ray.io/availability-zone", room));
  ck_assert_str_eq (quoit_layout_node_label (fleet_history.fleet->layout, lost, "ray.io/availability-zone", room), "z");
  ck_assert_uint_eq (quoit_layout_node_kind (fleet_history.fleet->layout, lost)->chips, 4);
  for (guint i = 0; i < 2; i++)
    {
      g_auto (GStrv) unseen = quoit_step_warn_unseen (fleet_history.fleet, i == 0 ? "ray" : "plan", NULL);

      ck_assert_uint_eq (g_strv_length (unseen), 1);
      ck_assert_str_eq (unseen[0], lines[0]);
    }
  /* Slice a-0 has lost a host; a-1 is complete because the manifest lists a-1-1. */
  ck_assert (!perform (&ledger, "reserve a-0", &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "slice");
  ck_assert (perform (&ledger, "reserve a-1", &error));
  fleet_history_clear (&fleet_history);
}
END_TEST

/* After any imports in any order, the entries replay to the same fleet, its claims can be returned, and its check
 * succeeds. */
START_TEST (any_imports_leave_a_consistent_fleet)
{
  FleetHistory fleet_history = { nothing (), g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };
  const Ledger ledger = { &fleet_history, change };
  GRand *random = g_rand_new_with_seed ((guint32) _i);
  guint n_joined = 0;

  for (guint i = 0; i < 24; i++)
    {
      g_autofree char *step = any_step (random);
      g_autoptr (GError) error = NULL;

      if (!perform (&ledger, step, &error))
        ck_assert_msg (error->code != QUOIT_ERROR_DAMAGED && error->code != QUOIT_ERROR_FAILED, "seed %d, '%s': %s", _i,
                       step, error->message);
      n_joined += fleet_history.fleet->layout->n_joined;
    }
  /* A random walk without joins proves nothing. */
  ck_assert_msg (n_joined > 0 || _i > 0, "seed %d joined nothing", _i);
  g_rand_free (random);
  fleet_history_clear (&fleet_history);
}
END_TEST

/* --- machines whose pods are replaced --- */

/* The state of a cluster of two slices of two hosts. Each machine has a pod, which is a Ray node with its own
 * address. Ray lists lost nodes for a while. */
typedef struct {
  char ray[4];  /* a letter: Ray's node on the machine */
  char gone[4]; /* the previous node; 0: none */
  guint address[4], gone_address[4];
  gboolean is_cordoned[4];
  guint n_rays;
} Cluster;

static gboolean
is_taken (const Cluster *cluster, guint address)
{
  for (guint m = 0; m < 4; m++)
    if (cluster->address[m] == address)
      return TRUE;
  return FALSE;
}

/* A new pod may have the former address of another machine. */
static void
replace_pod (Cluster *cluster, guint machine, GRand *random)
{
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZefghijklmnop";
  guint address;

  do
    address = (guint) g_rand_int_range (random, 0, 6);
  while (is_taken (cluster, address));
  cluster->gone[machine] = g_rand_boolean (random) ? cluster->ray[machine] : 0;
  cluster->gone_address[machine] = cluster->address[machine];
  cluster->ray[machine] = letters[cluster->n_rays++];
  cluster->address[machine] = address;
}

static char *
k8s_of (const Cluster *cluster)
{
  GString *text = g_string_new ("k8s");

  for (guint m = 0; m < 4; m++)
    g_string_append_printf (text, " %c%u.%u%s!@%u", 'a' + m, 2 + m / 2, m % 2, cluster->is_cordoned[m] ? "d" : "",
                            cluster->address[m]);
  return g_string_free (text, FALSE);
}

static char *
ray_of (const Cluster *cluster)
{
  GString *text = g_string_new ("ray");

  for (guint m = 0; m < 4; m++)
    {
      if (cluster->gone[m] != 0)
        g_string_append_printf (text, " %c%u.%ux@%u", cluster->gone[m], m / 2, m % 2, cluster->gone_address[m]);
      g_string_append_printf (text, " %c%u.%u@%u", cluster->ray[m], m / 2, m % 2, cluster->address[m]);
    }
  return g_string_free (text, FALSE);
}

/* Each machine occurs once, as its current Ray node, in Kubernetes' state. */
static void
check_cluster (const Cluster *cluster, const QuoitFleet *fleet, const char *history)
{
  guint n_living = 0;

  for (guint32 i = 0; i < fleet->layout->n_nodes; i++)
    n_living += quoit_fleet_node_state (fleet, (QuoitNodeId) { i }) != QUOIT_NODE_DEAD;
  ck_assert_msg (n_living == 4, "%u nodes live: %s", n_living, history);
  for (guint m = 0; m < 4; m++)
    {
      g_autofree char *name = g_strdup_printf ("m-%c", cluster->ray[m]);
      QuoitNodeState expected = cluster->is_cordoned[m] ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
      g_autoptr (GError) error = NULL;
      QuoitNodeId node;

      quoit_layout_lookup_node (fleet->layout, name, &node, &error);
      ck_assert_msg (error == NULL, "%s: %s", error == NULL ? "" : error->message, history);
      ck_assert_msg (quoit_fleet_node_state (fleet, node) == expected, "%s: %s", name, history);
    }
}

START_TEST (each_machine_is_counted_once_in_any_import_order)
{
  FleetHistory fleet_history = { nothing (), g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };
  const Ledger ledger = { &fleet_history, change };
  g_autoptr (GString) history = g_string_new (NULL);
  GRand *random = g_rand_new_with_seed ((guint32) _i);
  Cluster cluster = { "ABCD", "", { 0, 1, 2, 3 }, { 0 }, { FALSE }, 4 };

  for (guint step = 0; step < 8; step++)
    {
      g_autofree char *k8s = k8s_of (&cluster), *ray = ray_of (&cluster);
      const char *const lists[] = { k8s, ray };
      guint first = (guint) g_rand_int_range (random, 0, 2);

      for (guint i = 0; i < 2; i++)
        {
          const char *list = lists[(first + i) % 2];
          g_autoptr (GError) error = NULL;

          g_string_append_printf (history, "%s; ", list);
          perform (&ledger, list, &error);
          ck_assert_msg (error == NULL, "%s: %s", error == NULL ? "" : error->message, history->str);
        }
      check_cluster (&cluster, fleet_history.fleet, history->str);
      memset (cluster.gone, 0, sizeof cluster.gone);
      for (guint m = 0; m < 4; m++)
        {
          if (g_rand_boolean (random))
            replace_pod (&cluster, m, random);
          cluster.is_cordoned[m] = g_rand_int_range (random, 0, 3) == 0;
        }
    }
  g_rand_free (random);
  fleet_history_clear (&fleet_history);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("joins");
  TCase *joins = tcase_create ("joins");

  tcase_add_loop_test (joins, node_has_one_claim_per_source_and_is_removed_with_the_last, 0,
                       (int) G_N_ELEMENTS (facts));
  tcase_add_test (joins, joined_node_has_observed_properties_and_planned_place);
  tcase_add_loop_test (joins, any_imports_leave_a_consistent_fleet, 0, 200);
  tcase_add_loop_test (joins, each_machine_is_counted_once_in_any_import_order, 0, 200);
  suite_add_tcase (suite, joins);
  return suite_main (suite);
}
