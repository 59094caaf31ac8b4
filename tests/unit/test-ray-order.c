/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"

#include "models/ray/scheduler/rows.h"

/* --- names --- */

typedef struct {
  const char *name;
  gint64 id;
} Id;

static const Id ids[] = {
  { "CPU", 0 },
  { "memory", 1 },
  { "GPU", 2 },
  { "object_store_memory", 3 },
  { "TPU", 1271297650102415246 },
  { "TPU-v6e-16-head", -4924131923404028002 },
  { "TPU-v4-16-head", 310846090424668329 },
  { "TPU-v5litepod-16-head", 6499709785007394411 },
  { "custom", 5359796410528087890 },
  { "a", 4993892634952068459 },
  { "b", -7608462621679433859 },
  { "bundle", -597426039620923948 },
};

START_TEST (hash_of_a_name_matches_libstdcxx) { ck_assert_int_eq (quoit_ray_resource_id (ids[_i].name), ids[_i].id); }
END_TEST

/* --- orders --- */

/* "0 16 15": the order of @n bundles with @amount of each of @names. */
static char *
order_of (const char *const *names, guint32 n_names, guint32 n, gint64 (*amount) (guint32 bundle, guint32 name))
{
  g_autofree gint64 *amounts = g_new (gint64, (gsize) n * n_names);
  g_autofree guint32 *order = g_new (guint32, n);
  GString *text = g_string_new (NULL);

  for (guint32 b = 0; b < n; b++)
    for (guint32 r = 0; r < n_names; r++)
      amounts[b * n_names + r] = amount (b, r);
  quoit_ray_order (&(QuoitBundles) { n, n_names, 0, names, amounts, NULL }, order);
  for (guint32 b = 0; b < n; b++)
    g_string_append_printf (text, "%s%u", b > 0 ? " " : "", order[b]);
  return g_string_free (text, FALSE);
}

static gint64
one (G_GNUC_UNUSED guint32 bundle, G_GNUC_UNUSED guint32 name)
{
  return 1;
}

static const struct {
  guint32 n;
  const char *order;
} equals[] = {
  { 0, "" },
  { 1, "0" },
  { 16, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15" },
  { 17, "8 16 15 14 13 12 11 10 9 0 7 6 5 4 3 2 1" },
  { 20, "10 19 18 17 16 15 14 13 12 11 0 9 8 7 6 5 4 3 2 1" },
  { 32, "16 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 0 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1" },
};

START_TEST (order_of_equal_bundles_matches_libstdcxx)
{
  static const char *const names[] = { "CPU" };
  g_autofree char *order = order_of (names, 1, equals[_i].n, one);

  ck_assert_str_eq (order, equals[_i].order);
}
END_TEST

/* Bundle b has 2 of resource b, and 1 of the others. */
static gint64
two_of_its_own (guint32 bundle, guint32 name)
{
  return bundle == name ? 2 : 1;
}

START_TEST (gpu_sorts_first_then_custom_resources_by_signed_hash)
{
  /* "b" has a negative hash. */
  static const char *const names[] = { "CPU", "memory", "object_store_memory", "a", "b", "GPU", "TPU" };
  g_autofree char *order = order_of (names, G_N_ELEMENTS (names), G_N_ELEMENTS (names), two_of_its_own);

  ck_assert_str_eq (order, "5 4 6 3 2 1 0");
}
END_TEST

/* An input that makes quicksort with the median of three slow, so that heap sort must take over (Musser 1997). */
static gint64
against_the_median (guint32 bundle, G_GNUC_UNUSED guint32 name)
{
  enum { HALF = 5000 };

  if (bundle >= HALF)
    return -(gint64) (bundle - HALF + 1) * 2;
  return bundle % 2 == 0 ? -(gint64) (bundle + 1) : -(gint64) (HALF + bundle);
}

START_TEST (adversarial_list_is_sorted)
{
  static const char *const names[] = { "TPU" };
  enum { N = 10000 };
  g_autofree gint64 *amounts = g_new (gint64, N);
  g_autofree guint32 *order = g_new (guint32, N);

  for (guint32 b = 0; b < N; b++)
    amounts[b] = against_the_median (b, 0);
  quoit_ray_order (&(QuoitBundles) { N, 1, 0, names, amounts, NULL }, order);
  for (guint32 i = 1; i < N; i++)
    ck_assert_int_ge (amounts[order[i - 1]], amounts[order[i]]);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-order");
  TCase *tcase = tcase_create ("ray-order");

  tcase_add_loop_test (tcase, hash_of_a_name_matches_libstdcxx, 0, G_N_ELEMENTS (ids));
  tcase_add_loop_test (tcase, order_of_equal_bundles_matches_libstdcxx, 0, G_N_ELEMENTS (equals));
  tcase_add_test (tcase, gpu_sorts_first_then_custom_resources_by_signed_hash);
  tcase_add_test (tcase, adversarial_list_is_sorted);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
