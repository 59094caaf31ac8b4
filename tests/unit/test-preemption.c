/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption on drawn fleets with shared slices: the request fits without the released groups, and not without one of
 * them less. */
#include <quoit/quoit.h>
#include "suite.h"

enum { N_FLEETS = 30, N_GROUPS = 60, PRIORITY = 3 };

#define NOW_MS G_GINT64_CONSTANT (1800000000000)

static guint32
draw (GRand *rand, guint32 n)
{
  return (guint32) g_rand_int_range (rand, 0, (gint32) n);
}

static QuoitRequest *
slices_new (const char *name, gint64 n_slices)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL));
  ck_assert (quoit_request_set_topology (request, "4x4", NULL));
  ck_assert (quoit_request_set_slices (request, n_slices, NULL));
  return request;
}

static QuoitRequest *
draw_request (GRand *rand, const char *name)
{
  QuoitRequest *request;

  if (draw (rand, 4) == 0)
    return slices_new (name, 1 + draw (rand, 3));
  request = quoit_request_new (name, NULL);
  for (guint32 i = 1 + draw (rand, 6); i > 0; i--)
    ck_assert (quoit_request_add_bundles (request, draw (rand, 2) == 0 ? "TPU=1" : "TPU=2", 1, NULL));
  ck_assert (
      quoit_request_set_strategy (request, draw (rand, 3) == 0 ? QUOIT_STRATEGY_SPREAD : QUOIT_STRATEGY_PACK, NULL));
  return request;
}

static QuoitLedger *
draw_fleet (GRand *rand)
{
  static const char text[] = "v6e 4x4 x12; v6e 4x4 x4 pool=b";
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  g_autoptr (QuoitImport) import = quoit_ledger_import (ledger, input, NOW_MS, NULL);

  ck_assert_ptr_nonnull (import);
  for (guint i = 0; i < N_GROUPS; i++)
    {
      g_autofree char *name = g_strdup_printf ("g%u", i);
      g_autoptr (QuoitRequest) request = draw_request (rand, name);
      g_autoptr (QuoitGroup) group = NULL;

      quoit_request_set_priority (request, (int32_t) draw (rand, PRIORITY + 1));
      group = quoit_ledger_reserve (ledger, request, NOW_MS, NULL, NULL);
    }
  return ledger;
}

/* Releases all groups but the one at @kept, and reserves the request. */
static gboolean
fits_without (const QuoitSnapshot *snapshot, const QuoitPreemption *preemption, const QuoitRequest *request,
              guint32 kept)
{
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitGroup) made = NULL;

  for (guint32 i = 0; i < quoit_preemption_get_n_groups (preemption); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_preemption_dup_group (preemption, i);

      ck_assert_int_lt (quoit_group_get_priority (group), PRIORITY);
      if (i != kept)
        ck_assert (quoit_fork_release (fork, quoit_group_get_name (group), NOW_MS, NULL));
    }
  made = quoit_fork_reserve (fork, request, NOW_MS, NULL, NULL);
  return made != NULL;
}

START_TEST (no_released_group_can_be_left_out)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  guint n_found = 0, n_cheapest = 0;

  for (guint f = 0; f < N_FLEETS; f++)
    {
      g_autoptr (QuoitLedger) ledger = draw_fleet (rand);
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

      for (gint64 n = 1; n <= 14; n++)
        {
          g_autoptr (QuoitRequest) request = slices_new ("urgent", n);
          g_autoptr (QuoitPreemption) preemption = NULL;

          quoit_request_set_priority (request, PRIORITY);
          preemption = quoit_snapshot_find_preemption (snapshot, request, NOW_MS + 5000, NULL);
          if (preemption == NULL)
            continue;
          ck_assert (fits_without (snapshot, preemption, request, G_MAXUINT32));
          for (guint32 i = 0; i < quoit_preemption_get_n_groups (preemption); i++)
            ck_assert (!fits_without (snapshot, preemption, request, i));
          n_found += quoit_preemption_get_n_groups (preemption) > 0;
          n_cheapest += quoit_preemption_is_cheapest (preemption);
        }
    }
  ck_assert_uint_gt (n_found, 50);
  ck_assert_uint_lt (n_cheapest, n_found); /* the other searches were tested too */
}
END_TEST

START_TEST (bad_requests_are_refused)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitRequest) request = slices_new ("urgent", 1);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_snapshot_find_preemption (snapshot, request, NOW_MS, &error));
  ck_assert_refused (error, QUOIT_ERROR_NEVER, "never, at most 0 of 1 slices");
  ck_assert_ptr_null (quoit_snapshot_find_preemption (snapshot, request, 5, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "2000 to 2199");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("preemption");
  TCase *tcase = tcase_create ("preemption");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, no_released_group_can_be_left_out);
  tcase_add_test (tcase, bad_requests_are_refused);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
