/* SPDX-License-Identifier: Apache-2.0 */
/* Reserve and release on a fleet in memory: placement and model, without ledger and store. */
#include "placement/refusal.h"
#include "bench.h"
#include "fleet.h"

#include <math.h>

enum { BATCH = 64, FIRST_ID = 1, COLD_BYTES = 64 << 20 };

/* Reservations that are measured together, so that reading the clock does not distort the time. Their groups are
 * released again, so that each measurement begins with the same fleet. */
typedef struct {
  QuoitFleet *fleet;
  QuoitRequest *request;
  guint n; /* groups per batch */
  char names[BATCH][12];
  QuoitGroupData *made[BATCH]; /* the groups of a batch, unless they are made during the measurement */
  char *cold;
} Batch;

static void
reserve (gpointer data)
{
  Batch *batch = data;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  for (guint i = 0; i < batch->n; i++)
    if (!quoit_plan_slices (batch->fleet, batch->request, &plan, NULL, NULL)
        || !quoit_fleet_add_group (batch->fleet, bench_group_new (batch->fleet, &plan, batch->names[i], FIRST_ID + i),
                                   NULL))
      g_assert_not_reached ();
  quoit_plan_clear (&plan);
}

static void
release (gpointer data)
{
  Batch *batch = data;

  for (guint i = 0; i < batch->n; i++)
    if (!quoit_fleet_remove_group (batch->fleet, batch->names[i], FIRST_ID + i, QUOIT_END_RELEASED, 0, NULL))
      g_assert_not_reached ();
}

static void
only_plan (gpointer data)
{
  Batch *batch = data;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  for (guint i = 0; i < batch->n; i++)
    if (!quoit_plan_slices (batch->fleet, batch->request, &plan, NULL, NULL))
      g_assert_not_reached ();
  quoit_plan_clear (&plan);
}

/* Keeps the groups of one reserve(). The fleet does not change, so reserve_kept() places them on the same slices. */
static void
keep_groups (gpointer data)
{
  Batch *batch = data;

  reserve (batch);
  for (guint i = 0; i < batch->n; i++)
    batch->made[i] = quoit_group_data_ref (quoit_fleet_find_group (batch->fleet, batch->names[i]));
  release (batch);
}

static void
reserve_kept (gpointer data)
{
  Batch *batch = data;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  for (guint i = 0; i < batch->n; i++)
    if (!quoit_plan_slices (batch->fleet, batch->request, &plan, NULL, NULL)
        || !quoit_fleet_add_group (batch->fleet, batch->made[i], NULL))
      g_assert_not_reached ();
  quoit_plan_clear (&plan);
}

static void
cool (gpointer data)
{
  Batch *batch = data;

  for (gsize i = 0; i < COLD_BYTES; i += 64)
    batch->cold[i]++;
}

/* Refuses the request with a message, as a ledger does. Returns the report. */
static QuoitReport *
refuse_with_report (Batch *batch, gboolean wants_report)
{
  g_autoptr (GError) error = NULL;
  QuoitReport *report = NULL;
  QuoitRefusal refusal = { 0 };
  QuoitPlan plan;

  quoit_plan_init (&plan);
  if (quoit_plan_slices (batch->fleet, batch->request, &plan, &refusal, NULL))
    g_assert_not_reached ();
  refusal.fleet = quoit_fleet_ref (batch->fleet);
  quoit_refusal_explain (&refusal, wants_report ? &report : NULL, &error);
  quoit_refusal_clear (&refusal);
  quoit_plan_clear (&plan);
  return report;
}

static void
refuse (gpointer data)
{
  refuse_with_report (data, FALSE);
}

static void
refuse_and_read_options (gpointer data)
{
  QuoitReport *report = refuse_with_report (data, TRUE);

  g_assert (quoit_report_options (report)->len > 0);
  quoit_report_unref (report);
}

static void
test_request (gpointer data)
{
  Batch *batch = data;
  QuoitVerdict verdict;

  if (!quoit_test_slices (batch->fleet, batch->request, &verdict, NULL, NULL) || verdict == QUOIT_VERDICT_FITS)
    g_assert_not_reached ();
}

static guint32
count_free (const QuoitFleet *fleet)
{
  return quoit_fleet_class_n_free (fleet, (QuoitClassId) { 0 });
}

static void
measure_refusal (Bench *bench, const char *fleet_name, Batch *batch)
{
  g_autoptr (QuoitRequest) request = bench_request_new (count_free (batch->fleet) + 1);
  QuoitRequest *before = batch->request;

  batch->request = request;
  bench_measure (bench, &(BenchOperation) { .scenario = "refuse, with a message",
                                            .fleet = fleet_name,
                                            .run = refuse,
                                            .data = batch,
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (6000) });
  bench_measure (bench, &(BenchOperation) { .scenario = "refuse, and read the options",
                                            .fleet = fleet_name,
                                            .run = refuse_and_read_options,
                                            .data = batch,
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (1000000) });
  bench_measure (bench, &(BenchOperation) { .scenario = "test a request that does not fit",
                                            .fleet = fleet_name,
                                            .run = test_request,
                                            .data = batch,
                                            .n_operations = 1,
                                            .ns = BENCH_UP_TO (1000) });
  batch->request = before;
}

static void
measure_parts (Bench *bench, const char *fleet_name, Batch *batch)
{
  bench_measure (
      bench,
      &(BenchOperation) {
          .scenario = "plan 1 slice", .fleet = fleet_name, .run = only_plan, .data = batch, .n_operations = batch->n });
  bench_measure (bench, &(BenchOperation) { .scenario = "reserve 1 slice, group made before",
                                            .fleet = fleet_name,
                                            .before = keep_groups,
                                            .run = reserve_kept,
                                            .after = release,
                                            .data = batch,
                                            .n_operations = batch->n });
  batch->n = 1;
  batch->cold = g_malloc0 (COLD_BYTES);
  if (!bench_is_counting (bench))
    bench_measure (bench, &(BenchOperation) { .scenario = "reserve 1 slice, caches cold",
                                              .fleet = fleet_name,
                                              .before = cool,
                                              .run = reserve,
                                              .after = release,
                                              .data = batch,
                                              .n_operations = 1 });
  g_free (batch->cold);
  batch->n = BATCH;
}

/* One group that is reserved and released: all of its data is in the caches. The time includes the clock's own 20
 * ns. */
static void
measure_one (Bench *bench, const char *fleet_name, Batch *batch, gboolean promised)
{
  guint n = batch->n;

  batch->n = 1;
  bench_measure (bench, &(BenchOperation) { .scenario = "reserve 1 slice",
                                            .fleet = fleet_name,
                                            .run = reserve,
                                            .after = release,
                                            .data = batch,
                                            .n_operations = 1,
                                            .ns = promised ? BENCH_UP_TO (200) : BENCH_NONE,
                                            .instructions = BENCH_UP_TO (1200) });
  bench_measure (bench, &(BenchOperation) { .scenario = "release 1 slice",
                                            .fleet = fleet_name,
                                            .before = reserve,
                                            .run = release,
                                            .data = batch,
                                            .n_operations = 1,
                                            .ns = promised ? BENCH_UP_TO (150) : BENCH_NONE,
                                            .instructions = BENCH_UP_TO (800) });
  batch->n = n;
}

/* Reserves many groups without a release between them, so that each uses other slices, and memory that is not in the
 * caches. */
static void
measure_many (Bench *bench, const char *fleet_name, Batch *batch)
{
  bench_measure (bench, &(BenchOperation) { .scenario = "reserve 1 slice, 64 times",
                                            .fleet = fleet_name,
                                            .run = reserve,
                                            .after = release,
                                            .data = batch,
                                            .n_operations = batch->n });
  bench_measure (bench, &(BenchOperation) { .scenario = "release 1 slice, 64 times",
                                            .fleet = fleet_name,
                                            .before = reserve,
                                            .run = release,
                                            .data = batch,
                                            .n_operations = batch->n });
}

static void
measure_fleet (Bench *bench, QuoitLayout *layout, const char *shape, guint percent, gboolean promised)
{
  g_autoptr (QuoitFleet) fleet = bench_fleet_new (layout, percent);
  g_autoptr (QuoitRequest) one = bench_request_new (1), many = bench_request_new (BATCH);
  g_autofree char *name = g_strdup_printf ("%s, %u %% full", shape, percent);
  Batch batch = { .fleet = fleet, .request = one, .n = MIN (BATCH, count_free (fleet)) };

  for (guint i = 0; i < BATCH; i++)
    g_snprintf (batch.names[i], sizeof batch.names[i], "job-%u", i);
  measure_one (bench, name, &batch, promised);
  measure_many (bench, name, &batch);
  if (promised && percent == 50)
    {
      measure_parts (bench, name, &batch);
      measure_refusal (bench, name, &batch);
    }
  if (count_free (fleet) < BATCH)
    return;
  batch.request = many;
  batch.n = 1;
  bench_measure (bench, &(BenchOperation) { .scenario = "reserve 64 slices",
                                            .fleet = name,
                                            .run = reserve,
                                            .after = release,
                                            .data = &batch,
                                            .n_operations = 1,
                                            .ns = promised ? BENCH_UP_TO (2000) : BENCH_NONE });
  bench_measure (bench, &(BenchOperation) { .scenario = "release 64 slices",
                                            .fleet = name,
                                            .before = reserve,
                                            .run = release,
                                            .data = &batch,
                                            .n_operations = 1 });
}

/* The work must not grow with the fleet. Uses the mean of many operations, because the work of a single one depends
 * slightly on its pool's rank. */
static void
compare_growth (Bench *bench, const char *scenario, guint percent)
{
  g_autofree char *small = g_strdup_printf ("1k nodes, %u %% full", percent);
  g_autofree char *large = g_strdup_printf ("250k nodes, %u %% full", percent);
  g_autofree char *name = g_strdup_printf ("%s: growth of instructions", scenario);
  g_autofree char *fleet = g_strdup_printf ("250k / 1k nodes, %u %% full", percent);

  bench_add (bench, name, fleet,
             bench_instructions (bench, scenario, large) / bench_instructions (bench, scenario, small), "times",
             BENCH_UP_TO (1.1));
}

void
bench_memory_ops (Bench *bench)
{
  static const struct {
    const char *name;
    guint32 n_nodes, slices_per_pool;
  } fleets[] = {
    { "1k nodes", 1000, 64 },
    { "10k nodes", 10000, 64 },
    { "100k nodes", 100000, 64 },
    { "250k nodes", 250000, 64 },
    { "100k nodes in 1 pool", 100000, 25000 },
    { "100k nodes in 25,000 pools", 100000, 1 },
  };
  static const guint percents[] = { 0, 50, 97 };

  for (guint f = 0; f < G_N_ELEMENTS (fleets); f++)
    {
      g_autoptr (QuoitLayout) layout = bench_layout_new (fleets[f].n_nodes, fleets[f].slices_per_pool);

      for (guint p = 0; p < G_N_ELEMENTS (percents); p++)
        measure_fleet (bench, layout, fleets[f].name, percents[p], fleets[f].n_nodes == 100000);
    }
  for (guint p = 0; p < G_N_ELEMENTS (percents); p++)
    {
      compare_growth (bench, "reserve 1 slice, 64 times", percents[p]);
      compare_growth (bench, "release 1 slice, 64 times", percents[p]);
    }
}
