/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes with several claims in a database: every reader gets the state that the journal leads to. */
#include "joined.h"
#include "store-fixture.h"

typedef struct {
  QuoitStore *writer, *reader;
} StorePair;

static void
check_same (QuoitStore *a, QuoitStore *b)
{
  g_autoptr (QuoitFleet) x = quoit_store_fleet (a), y = quoit_store_fleet (b);
  g_autoptr (GError) error = NULL;

  quoit_step_compare (x, y, &error);
  ck_assert_ok (error);
}

static gboolean
change (gpointer data, const QuoitAction *action, GError **error)
{
  StorePair *stores = data;
  g_autoptr (GError) unsound = NULL;
  gboolean ok = quoit_store_change (stores->writer, action, T0, NULL, NULL, error);

  quoit_store_verify (stores->writer, &unsound);
  ck_assert_ok (unsound);
  ck_assert (quoit_store_refresh (stores->reader, &unsound));
  check_same (stores->writer, stores->reader);
  return ok;
}

static void
perform_all (StorePair *stores, const char *script, const char *refusal)
{
  g_auto (GStrv) steps = g_strsplit (script, ";", -1);
  const Ledger ledger = { stores, change };

  for (guint i = 0; steps[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;

      ck_assert_int_eq (perform (&ledger, steps[i], &error), refusal == NULL || steps[i + 1] != NULL);
    }
}

START_TEST (a_database_keeps_each_claim)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) writer = quoit_store_create (paths.path, 0, &error), again = NULL, compacted = NULL;
  g_autoptr (QuoitStore) reader = quoit_store_open (paths.path, 0, &error);
  g_autoptr (QuoitFleet) fleet = NULL, past = NULL;
  StorePair stores = { writer, reader };
  g_autofree char *shown = NULL, *shown_then = NULL;

  ck_assert_ok (error);
  perform_all (&stores, facts[_i].script, facts[_i].refusal);
  fleet = quoit_store_fleet (writer);
  shown = show (fleet);
  ck_assert_str_eq (shown, facts[_i].fleet);
  again = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  check_same (writer, again);

  ck_assert (quoit_store_compact (writer, fleet->seq + 1, T0, NULL, &error));
  ck_assert (quoit_store_verify (writer, &error));
  past = quoit_store_fleet_at (writer, fleet->seq, &error);
  ck_assert_ok (error);
  shown_then = show (past);
  ck_assert_str_eq (shown_then, shown);
  compacted = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  check_same (writer, compacted);
}
END_TEST

START_TEST (stored_claims_match_the_journal_after_any_imports)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) writer = quoit_store_create (paths.path, 0, &error), again = NULL;
  g_autoptr (QuoitStore) reader = quoit_store_open (paths.path, 0, &error);
  StorePair stores = { writer, reader };
  const Ledger ledger = { &stores, change };
  GRand *random = g_rand_new_with_seed ((guint32) _i + 1000);

  ck_assert_ok (error);
  for (guint i = 0; i < 16; i++)
    {
      g_autofree char *step = any_step (random);
      g_autoptr (GError) refused = NULL;

      if (!perform (&ledger, step, &refused))
        ck_assert_msg (refused->code != QUOIT_ERROR_DAMAGED && refused->code != QUOIT_ERROR_FAILED, "seed %d, '%s': %s",
                       _i, step, refused->message);
    }
  g_rand_free (random);
  again = quoit_store_open (paths.path, 0, &error);
  ck_assert_ok (error);
  check_same (writer, again);
}
END_TEST

static const struct {
  const char *sql, *part;
} tamperings[] = {
  { "UPDATE claim SET name = 'other' WHERE node = 1", "the journal and the state disagree about what a source claims" },
  { "UPDATE claim SET claimed = 2 WHERE node = 1", "the journal and the state disagree" },
  { "DELETE FROM claim WHERE node = 1", "the journal and the state disagree" },
  { "UPDATE claim SET node = 99 WHERE node = 1", "row 99 of table 'claim' is damaged" },
  { "UPDATE claim SET source = 99 WHERE node = 1", "row 1 of table 'claim' is damaged" },
  { "UPDATE claim SET pool = 99 WHERE node = 1", "row 1 of table 'claim' is damaged" },
  { "UPDATE claim SET kind = 99 WHERE node = 1", "row 1 of table 'claim' is damaged" },
  { "UPDATE claim SET worker = 99999 WHERE node = 1", "row 1 of table 'claim' is damaged" },
  { "UPDATE claim SET pool = (SELECT pool FROM node WHERE id = 1),"
    " source = (SELECT source FROM pool WHERE id = (SELECT pool FROM node WHERE id = 1)) WHERE node = 1",
    "row 1 of table 'claim' is damaged" },
  { "UPDATE source SET kind = 3", "row 1 of table 'claim' is damaged" },
};

START_TEST (changed_claim_is_detected)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStore) writer = quoit_store_create (paths.path, 0, &error), again = NULL;
  g_autoptr (QuoitStore) reader = quoit_store_open (paths.path, 0, &error);
  StorePair stores = { writer, reader };

  perform_all (&stores, "plan ..;ray+plan A0.0 B0.1", NULL);
  tamper (paths.path, tamperings[_i].sql);
  again = quoit_store_open (paths.path, 0, &error);
  if (again != NULL)
    ck_assert (!quoit_store_verify (again, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, tamperings[_i].part);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("store-joins");
  TCase *joins = tcase_create ("joins");

  tcase_add_loop_test (joins, a_database_keeps_each_claim, 0, (int) G_N_ELEMENTS (facts));
  tcase_add_loop_test (joins, stored_claims_match_the_journal_after_any_imports, 0, 30);
  tcase_add_loop_test (joins, changed_claim_is_detected, 0, (int) G_N_ELEMENTS (tamperings));
  suite_add_tcase (suite, joins);
  return suite_main (suite);
}
