/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

enum { N_POOLS = 10, SLICES_PER_GROUP = 4, MINUTE_MS = 60000 };

struct Work {
  QuoitLedger *ledger;
  QuoitSnapshot *snapshot;
  QuoitFork *fork;
  QuoitRequest *one, *all, *most; /* one slice, all that live, and 60 % of them */
};

static void
reserve (QuoitLedger *ledger, const char *name, const char *pool, guint n, gint64 lease_ms)
{
  g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", "4x4", n);
  g_autoptr (GError) error = NULL;

  quoit_request_set_pool (request, pool);
  require (quoit_request_set_lease_ms (request, lease_ms, NULL), "a lease");
  require (drop_group (quoit_ledger_reserve (ledger, request, T0, NULL, &error)), "%s", error_text (error));
}

static void
fill (QuoitLedger *ledger, guint n_per_pool)
{
  reserve (ledger, "job", "p0", SLICES_PER_GROUP, 10000 * (gint64) MINUTE_MS);
  reserve (ledger, "rest", "p0", n_per_pool - SLICES_PER_GROUP, 10000 * (gint64) MINUTE_MS);
  for (guint p = 1; p < N_POOLS; p++)
    for (guint i = 0; i < n_per_pool / 2 / SLICES_PER_GROUP; i++)
      {
        g_autofree char *name = g_strdup_printf ("g%u-%u", p, i), *pool = g_strdup_printf ("p%u", p);

        reserve (ledger, name, pool, SLICES_PER_GROUP, (gint64) MINUTE_MS * (1 + (i * 7 + p * 13) % 500));
      }
}

Work *
work_new (guint n_slices)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  Work *work = g_new0 (Work, 1);

  for (guint p = 0; p < N_POOLS; p++)
    g_string_append_printf (text, "%sv6e 4x4 x%u pool=p%u", p == 0 ? "" : "; ", n_slices / N_POOLS, p);
  work->ledger = quoit_ledger_open_memory ();
  require (import_text (work->ledger, text->str, NULL, T0, &error), "%s", error_text (error));
  fill (work->ledger, n_slices / N_POOLS);
  require (quoit_ledger_set_node_state (work->ledger, "p0-0-0", QUOIT_NODE_DEAD, T0, &error), "%s", error_text (error));
  work->snapshot = quoit_ledger_snapshot (work->ledger);
  work->fork = quoit_snapshot_fork (work->snapshot);
  work->one = new_slice_request ("one", "v6e", "4x4", 1);
  work->all = new_slice_request ("more", "v6e", "4x4", n_slices - 1);
  work->most = new_slice_request ("more", "v6e", "4x4", n_slices / 10 * 6);
  return work;
}

void
work_free (Work *work)
{
  quoit_fork_free (work->fork);
  quoit_snapshot_unref (work->snapshot);
  quoit_ledger_unref (work->ledger);
  quoit_request_free (work->one);
  quoit_request_free (work->all);
  quoit_request_free (work->most);
  g_free (work);
}

/* --- operations --- */

static void
reserve_one (Work *work, guint i)
{
  require (drop_group (quoit_fork_reserve (work->fork, work->one, T0, NULL, NULL)), "run %u", i);
}

static void
release_one (Work *work, guint i)
{
  require (quoit_fork_release (work->fork, "one", T0, NULL), "run %u", i);
}

static void
expect_refusal (gboolean is_refused, const GError *error, guint i)
{
  require (is_refused && error->code == QUOIT_ERROR_NOT_NOW, "run %u: %s", i, error_text (error));
}

static void
refuse_reserve (Work *work, guint i)
{
  g_autoptr (GError) error = NULL;
  gboolean is_granted = drop_group (quoit_ledger_reserve (work->ledger, work->all, T0, NULL, &error));

  expect_refusal (!is_granted, error, i);
}

static void
refuse_resize (Work *work, guint i)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroupChange) change = quoit_ledger_resize (
      work->ledger, "job", quoit_snapshot_get_n_slices (work->snapshot) / N_POOLS, T0, NULL, &error);

  expect_refusal (change == NULL, error, i);
}

static void
refuse_repair (Work *work, guint i)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroupChange) change = quoit_ledger_repair (work->ledger, "job", T0, NULL, &error);

  expect_refusal (change == NULL, error, i);
}

/* The request waits for all groups. */
static void
find_start (Work *work, guint i)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitStart) start = quoit_snapshot_find_start (work->snapshot, work->all, T0, &error);

  require (start != NULL, "run %u: %s", i, error_text (error));
}

/* A sixth of the slices that are needed must become free. */
static void
read_options (Work *work, guint i)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (work->snapshot, work->most, &error);

  require (report != NULL && quoit_report_get_n_options (report) > 0, "run %u: %s", i, error_text (error));
}

const Operation operations[7] = { { "reserve one slice on a fork", reserve_one },
                                  { "release it", release_one },
                                  { "refused reserve", refuse_reserve },
                                  { "refused resize", refuse_resize },
                                  { "refused repair", refuse_repair },
                                  { "options of a refusal", read_options },
                                  { "find_start", find_start } };
