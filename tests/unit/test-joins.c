/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of different kinds that claim the same machines: one node with one claim a source, gone with the last of
 * them. */
#include "joined.h"

#define T0 G_GINT64_CONSTANT (1750000000000)

typedef struct {
  QuoitFleet *fleet;
  GPtrArray *entries; /* all there were */
} Stage;

static QuoitFleet *
nothing (void)
{
  g_autoptr (QuoitLayout) empty = quoit_layout_new (NULL, 0);

  return quoit_fleet_new (empty);
}

/* A layout of what each source is said to have said: the same as the one it was read from. */
static void
check_that_claims_are_given_back (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree QuoitLayoutPart *parts = g_new0 (QuoitLayoutPart, layout->n_sources + 1);
  g_autoptr (QuoitLayout) again = NULL;
  g_autoptr (QuoitFleet) relaid = NULL;
  g_autoptr (GError) error = NULL;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      guint32 *ids = NULL;

      parts[s].claims = quoit_layout_claims (layout, (QuoitSourceId) { s }, &ids);
      parts[s].ids = ids;
    }
  again = quoit_layout_new (parts, layout->n_sources);
  relaid = quoit_fleet_relaid (fleet, again, &error);
  ck_assert_ok (error);
  relaid->seq = fleet->seq;
  relaid->clock_ms = fleet->clock_ms;
  ck_assert (quoit_ledger_compare (relaid, fleet, &error));
  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      quoit_claims_free ((QuoitClaims *) parts[s].claims);
      g_free ((guint32 *) parts[s].ids);
    }
}

static void
check_stage (const Stage *stage)
{
  g_autoptr (QuoitFleet) replayed = nothing ();
  g_autoptr (GError) error = NULL;

  quoit_fleet_check (stage->fleet, &error);
  ck_assert_ok (error);
  for (guint i = 0; i < stage->entries->len; i++)
    ck_assert (quoit_entry_apply (stage->entries->pdata[i], &replayed, &error));
  quoit_ledger_compare (replayed, stage->fleet, &error);
  ck_assert_ok (error);
  check_that_claims_are_given_back (stage->fleet);
}

static gboolean
change (gpointer data, QuoitStepFunc step, gconstpointer input, GError **error)
{
  Stage *stage = data;
  QuoitEntry *entry = NULL;
  gpointer result = NULL;
  gboolean ok = step (stage->fleet, input, T0, &entry, &result, error);

  if (ok && entry != NULL)
    {
      quoit_entry_apply (entry, &stage->fleet, error);
      ck_assert_ok (*error);
      g_ptr_array_add (stage->entries, entry);
    }
  quoit_ledger_drop_result (step, result);
  check_stage (stage);
  return ok;
}

static void
stage_clear (Stage *stage)
{
  quoit_fleet_unref (stage->fleet);
  g_ptr_array_unref (stage->entries);
}

START_TEST (a_node_has_one_claim_a_source_and_goes_with_the_last)
{
  g_auto (GStrv) steps = g_strsplit (facts[_i].script, ";", -1);
  Stage stage = { nothing (), g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };
  const Ledger ledger = { &stage, change };
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
        seq = stage.fleet->seq;
        ck_assert_msg (!perform (&ledger, steps[i], &error), "%s: was taken", facts[_i].script);
        ck_assert_msg (strstr (error->message, facts[_i].refusal) != NULL, "%s: %s", facts[_i].script, error->message);
        ck_assert_uint_eq (stage.fleet->seq, seq);
      }
  /* Twice is once. */
  seq = stage.fleet->seq;
  if (facts[_i].refusal == NULL && strncmp (steps[g_strv_length (steps) - 1], "re", 2) != 0)
    {
      perform (&ledger, steps[g_strv_length (steps) - 1], &error);
      ck_assert_ok (error);
      ck_assert_uint_eq (stage.fleet->seq, seq);
    }
  shown = show (stage.fleet);
  ck_assert_msg (g_str_equal (shown, facts[_i].fleet), "%s:\n%s, expected\n%s", facts[_i].script, shown,
                 facts[_i].fleet);
  stage_clear (&stage);
}
END_TEST

/* What the node is: Ray's word; where it stands: the manifest's. */
START_TEST (a_joined_node_is_what_is_seen_where_it_is_planned)
{
  static const char *const lines[] = {
    "1 nodes of slices of source 'plan' are not in source 'ray': they are desired, and not seen",
  };
  Stage stage = { nothing (), g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };
  const Ledger ledger = { &stage, change };
  g_autoptr (GError) error = NULL;
  QuoitNodeId seen, lost;
  char room[32];

  ck_assert (perform (&ledger, "plan ..|..", &error));
  ck_assert (perform (&ledger, "ray+plan A0.0@7 B0.1x C1.0", &error));
  ck_assert (quoit_layout_lookup_node (stage.fleet->layout, "a-0-0", &seen, &error));
  ck_assert (quoit_layout_lookup_node (stage.fleet->layout, "a-0-1", &lost, &error));
  ck_assert_str_eq (quoit_layout_node_address (stage.fleet->layout, seen), "10.0.7");
  /* The manifest states a zone, the list does not; of the dead machine the list knows nothing. */
  ck_assert_ptr_null (quoit_layout_node_label (stage.fleet->layout, seen, "ray.io/availability-zone", room));
  ck_assert_str_eq (quoit_layout_node_label (stage.fleet->layout, lost, "ray.io/availability-zone", room), "z");
  ck_assert_uint_eq (quoit_layout_node_kind (stage.fleet->layout, lost)->chips, 4);
  for (guint i = 0; i < 2; i++)
    {
      g_auto (GStrv) unseen = quoit_ledger_unseen (stage.fleet, i == 0 ? "ray" : "plan", NULL);

      ck_assert_uint_eq (g_strv_length (unseen), 1);
      ck_assert_str_eq (unseen[0], lines[0]);
    }
  /* Slice a-0 has lost a host, and a-1 is whole by the manifest's word for a-1-1. */
  ck_assert (!perform (&ledger, "reserve a-0", &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "slice");
  ck_assert (perform (&ledger, "reserve a-1", &error));
  stage_clear (&stage);
}
END_TEST

/* Whatever is read in whatever order: the entries lead to the fleet, its claims are given back, its own check holds. */
START_TEST (any_imports_leave_a_sound_fleet)
{
  Stage stage = { nothing (), g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_entry_unref) };
  const Ledger ledger = { &stage, change };
  GRand *random = g_rand_new_with_seed ((guint32) _i);
  guint n_joined = 0;

  for (guint i = 0; i < 24; i++)
    {
      g_autofree char *step = any_step (random);
      g_autoptr (GError) error = NULL;

      if (!perform (&ledger, step, &error))
        ck_assert_msg (error->code != QUOIT_ERROR_DAMAGED && error->code != QUOIT_ERROR_FAILED, "seed %d, '%s': %s", _i,
                       step, error->message);
      n_joined += stage.fleet->layout->n_joined;
    }
  /* A walk that joins nothing says nothing. */
  ck_assert_msg (n_joined > 0 || _i > 0, "seed %d joined nothing", _i);
  g_rand_free (random);
  stage_clear (&stage);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("joins");
  TCase *joins = tcase_create ("joins");

  tcase_add_loop_test (joins, a_node_has_one_claim_a_source_and_goes_with_the_last, 0, (int) G_N_ELEMENTS (facts));
  tcase_add_test (joins, a_joined_node_is_what_is_seen_where_it_is_planned);
  tcase_add_loop_test (joins, any_imports_leave_a_sound_fleet, 0, 200);
  suite_add_tcase (suite, joins);
  return suite_main (suite);
}
