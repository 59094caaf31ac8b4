/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-slices beyond the vectors: the search over several slices, unusual numbers, and the steps to reserve one. */
#include <string.h>

#include <quoit/models/ray-subslices.h>

#include "ray-lists.h"
#include "suite.h"

#define OF_4X4 " ray.io/tpu-topology=4x4"
#define SLICE(name, a, b, c, d)                                                                                        \
  name " 0 4 " a OF_4X4 "; " name " 1 4 " b OF_4X4 "; " name " 2 4 " c OF_4X4 "; " name " 3 4 " d OF_4X4

/* Ray's discovered data of a 4x4 slice. */
static void
discover (QuoitRaySubslices *known, const char *slice)
{
  for (int worker = 0; worker < 4; worker++)
    {
      g_autofree char *id = g_strdup_printf ("%d", worker);
      g_autoptr (QuoitRayLabels) labels = quoit_ray_subslice_labels (worker, "4x4", NULL);

      quoit_ray_subslices_set (known, slice, id, labels);
    }
}

static char *
format_plan (const QuoitRaySubslicePlan *plan)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (
      text, "%s %s of %s, %d chips:",
      quoit_ray_subslice_plan_get_step (plan) == QUOIT_RAY_SUBSLICE_RESERVE ? "reserve" : "discover",
      quoit_ray_subslice_plan_get_slice_name (plan), quoit_ray_subslice_plan_get_parent_topology (plan),
      (int) quoit_ray_subslice_plan_get_chips_per_vm (plan));
  for (unsigned i = 0; i < quoit_ray_subslice_plan_get_n_bundles (plan); i++)
    {
      g_autoptr (QuoitRayLabels) labels = quoit_ray_subslice_plan_dup_bundle_labels (plan, i);

      ck_assert_str_eq (quoit_ray_labels_find (labels, "ray.io/tpu-slice-name"),
                        quoit_ray_subslice_plan_get_slice_name (plan));
      g_string_append_printf (text, " %s", quoit_ray_labels_find (labels, "ray.io/tpu-worker-id"));
    }
  return g_string_free (text, FALSE);
}

static const struct {
  const char *nodes, *known, *topology;
  int64_t index; /* -99: any */
  const char *expected;
  QuoitErrorCode code; /* 0: a plan */
} plans[] = {
  { SLICE ("a", "4", "4", "4", "4"), "a", "2x4", -99, "reserve a of 4x4, 4 chips: 0 1", 0 },
  { SLICE ("a", "4", "4", "4", "4"), "a", "2x4", 1, "reserve a of 4x4, 4 chips: 2 3", 0 },
  { SLICE ("a", "4", "3", "4", "4"), "a", "2x4", -99, "reserve a of 4x4, 4 chips: 2 3", 0 },
  { SLICE ("a", "-", "-", "4", "4"), "a", "2x4", -99, "reserve a of 4x4, 4 chips: 0 1",
    0 }, /* fully used, but chosen */
  { SLICE ("a", "1", "1", "4", "4"), "a", " 2X2 ", -99, "reserve a of 4x4, 4 chips: 2", 0 },
  { SLICE ("a", "1", "1", "1", "1") "; " SLICE ("b", "4", "4", "4", "4"), "a b", "2x4", -99,
    "reserve b of 4x4, 4 chips: 0 1", 0 },
  { SLICE ("b", "4", "4", "4", "4") "; " SLICE ("a", "4", "4", "4", "4"), "a b", "2x4", -99,
    "reserve a of 4x4, 4 chips: 0 1", 0 }, /* in the order of the known slices */
  { SLICE ("a", "1", "1", "1", "1") "; " SLICE ("b", "4", "4", "4", "4"), "a", "2x4", -99,
    "discover b of 4x4, 4 chips:", 0 },
  { SLICE ("a", "4", "4", "4", "4"), "", "2x4", -99, "discover a of 4x4, 4 chips:", 0 },
  { SLICE ("a", "4", "4", "4", "4"), "a", "2x4", 9, "expected an idle sub-slice", QUOIT_ERROR_NOT_NOW },
  { SLICE ("a", "1", "1", "1", "1"), "", "2x4", -99, "expected an idle sub-slice", QUOIT_ERROR_NOT_NOW },
  { "a 0 4 4" OF_4X4 "; !a 1 4 4" OF_4X4, "", "2x4", -99, "discover a of 4x4, 4 chips:", 0 },
  { "a 0 4 4" OF_4X4 "; !a 1 4 4" OF_4X4, "a", "2x4", -99, "expected an idle sub-slice", QUOIT_ERROR_NOT_NOW },
  { SLICE ("a", "4", "4", "4", "4"), "", "4x4", -99, "topology '4x4': expected an alive node with a larger topology",
    QUOIT_ERROR_INVALID },
  { SLICE ("a", "4", "4", "4", "4"), "", "2x2x1", -99, "topology '2x2x1': expected one that Ray lists for v6e",
    QUOIT_ERROR_INVALID },
  { SLICE ("a", "4", "4", "4", "4"), "", "1x1", -99, "topology '1x1': expected one for which Ray has a grid",
    QUOIT_ERROR_INVALID },
  { "", "", "2x4", -99, "topology '2x4': expected an alive node with a larger topology", QUOIT_ERROR_INVALID },
};

START_TEST (next_step_matches_ray)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes (plans[_i].nodes, "");
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  g_auto (GStrv) names = g_strsplit (plans[_i].known, " ", -1);
  g_autoptr (QuoitRaySubslicePlan) plan = NULL;
  GError *error = NULL;

  for (char **name = names; *name != NULL; name++)
    discover (known, *name);
  plan = quoit_ray_subslice_plan_new (known, nodes, plans[_i].topology, "v6e", NULL, NULL,
                                      plans[_i].index != -99 ? &plans[_i].index : NULL, &error);
  if (plans[_i].code != 0)
    {
      ck_assert_ptr_null (plan);
      ck_assert_refused (error, plans[_i].code, plans[_i].expected);
      return;
    }
  ck_assert_ok (error);
  g_autofree char *text = format_plan (plan);

  ck_assert_str_eq (text, plans[_i].expected);
}
END_TEST

START_TEST (bundles_request_a_host_or_the_given_resources)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes (SLICE ("a", "4", "4", "4", "4"), "");
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  g_autoptr (QuoitRayResources) nothing = quoit_ray_resources_new ();
  g_autoptr (QuoitRaySubslicePlan) plan = NULL, bare = NULL;
  int64_t chips = 2, index = 1;

  discover (known, "a");
  plan = quoit_ray_subslice_plan_new (known, nodes, "2x4", "TPU-V6E", &chips, NULL, &index, NULL);
  bare = quoit_ray_subslice_plan_new (known, nodes, "2x4", "TPU-V6E", &chips, nothing, NULL, NULL);
  ck_assert_int_eq (quoit_ray_subslice_plan_get_index (plan), 1);
  ck_assert_str_eq (quoit_ray_resources_get_name (quoit_ray_subslice_plan_get_resources (plan), 1), "TPU");
  ck_assert (quoit_ray_resources_get_amount (quoit_ray_subslice_plan_get_resources (plan), 1) == 2);
  ck_assert_ptr_null (quoit_ray_resources_get_name (quoit_ray_subslice_plan_get_resources (bare), 0));
  ck_assert_ptr_null (quoit_ray_subslice_plan_dup_bundle_labels (plan, 2));
  quoit_ray_subslice_plan_free (NULL);
  quoit_ray_subslices_free (NULL);
}
END_TEST

static const struct {
  int64_t chips;
  const char *version, *topology, *expected;
} refusals[] = {
  { 0, "v6e", "2x4", "chips per VM '0': expected 1 or more" },
  { -1, "v6e", "2x4", "chips per VM '-1': expected 1 or more" },
  { 4, " v6e", "2x4", "accelerator type ' v6e': expected" },
  { 4, "v6e", NULL, "topology: expected a text, none is given" },
  { 4, "v6e", "2x4\xff", "expected one that Ray lists" },
};

START_TEST (impossible_sub_slice_is_refused_before_the_cluster_is_read)
{
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  GError *error = NULL;

  ck_assert_ptr_null (quoit_ray_subslice_plan_new (known, nodes, refusals[_i].topology, refusals[_i].version,
                                                   &refusals[_i].chips, NULL, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refusals[_i].expected);
}
END_TEST

/* Labels of workers as text, "WORKER=INDEX ..."; every node is idle. */
static const struct {
  const char *labels;
  int64_t index; /* -99: any */
  const char *workers;
  int64_t found; /* 77: none */
} finds[] = {
  { "0=0 1=0 2=1 3=1", -99, "0 1", 0 },
  { "3=0 10=0 2=1 1=1", -99, "3 10", 0 }, /* in numeric order of workers */
  { "0=10 1=10 2=9 3=9", -99, "2 3", 9 },
  { "0=-1 1=-1", -99, "0 1", -1 },
  { "0=0 1=1 2=1", -99, "1 2", 1 }, /* one is incomplete */
  { "0=0 1=0 2=0", -99, NULL, 77 },
  { "0=1 1=01 2=1 3=01", 1, "0 2", 1 }, /* different spellings do not form one sub-slice */
  { "0=1 1=01 2=01", 1, "1 2", 1 },
  { "0=0 1=0", 1, NULL, 77 },
  { "", -99, NULL, 77 },
};

static void
read_labels (QuoitRaySubslices *known, QuoitRayNodes *nodes, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  for (char **word = words; *word != NULL && **word != '\0'; word++)
    {
      g_auto (GStrv) pair = g_strsplit (*word, "=", 2);
      g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new ();
      g_autofree char *node = g_strdup_printf ("s %s 4 4", pair[0]);

      quoit_ray_labels_set (labels, "ray.io/tpu-subslice-2x4", pair[1]);
      quoit_ray_subslices_set (known, "s", pair[0], NULL);
      quoit_ray_subslices_set (known, "s", pair[0], labels);
      list_add_node (nodes, node);
    }
}

START_TEST (first_complete_sub_slice_is_found)
{
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  g_auto (GStrv) workers = NULL;
  g_autofree char *text = NULL;
  int64_t found = 77;
  GError *error = NULL;

  read_labels (known, nodes, finds[_i].labels);
  workers = quoit_ray_subslices_find (known, nodes, "s", "2x4", finds[_i].index != -99 ? &finds[_i].index : NULL,
                                      &found, &error);
  ck_assert_ok (error);
  text = workers != NULL ? g_strjoinv (" ", workers) : NULL;
  ck_assert_pstr_eq (text, finds[_i].workers);
  ck_assert_int_eq (found, finds[_i].found);
}
END_TEST

static const struct {
  const char *labels, *topology, *expected;
} damages[] = {
  { "0=a 1=0", "2x4", "index of a sub-slice 'a': expected an integer" },
  { "0=99999999999999999999 1=0", "2x4", "index of a sub-slice: expected an integer of 64 bits" },
  { "0=0 x=0", "2x4", "worker id 'x': expected an integer" },
};

START_TEST (unreadable_labels_of_ray_are_refused)
{
  g_autoptr (QuoitRayNodes) nodes = quoit_ray_nodes_new ();
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  int64_t found = 77;
  GError *error = NULL;

  read_labels (known, nodes, damages[_i].labels);
  ck_assert_ptr_null (quoit_ray_subslices_find (known, nodes, "s", damages[_i].topology, NULL, &found, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, damages[_i].expected);
  ck_assert_int_eq (found, 77);
}
END_TEST

START_TEST (last_row_of_a_worker_is_used_dead_or_alive)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes ("!s 0 4 4; s 0 4 4; s 1 4 4", "");
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  g_autoptr (QuoitRayNodes) strangers = quoit_ray_nodes_new ();
  g_auto (GStrv) before = NULL, after = NULL;
  int64_t found;

  read_labels (known, strangers, "0=0 1=0");
  before = quoit_ray_subslices_find (known, nodes, "s", "2x4", NULL, &found, NULL);
  ck_assert_ptr_nonnull (before);
  list_add_node (nodes, "!s 1 4 4");
  after = quoit_ray_subslices_find (known, nodes, "s", "2x4", NULL, &found, NULL);
  ck_assert_ptr_null (after);
}
END_TEST

START_TEST (coordinates_outside_the_grid_do_not_overflow)
{
  static const int64_t ends[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX };
  static const char *const topologies[] = { "4x4", "16x16", "2x2x2", "16x16x24" };

  for (unsigned i = 0; i < G_N_ELEMENTS (ends); i++)
    for (unsigned t = 0; t < G_N_ELEMENTS (topologies); t++)
      {
        g_autoptr (QuoitRayLabels) labels = quoit_ray_subslice_labels (ends[i], topologies[t], NULL);
        g_autofree char *same = g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) ends[i]);

        /* The number of a one-host sub-slice is that of its host. */
        ck_assert_str_eq (quoit_ray_labels_get_value (labels, 0), same);
      }
}
END_TEST

START_TEST (coordinates_of_any_size_are_mapped_or_refused)
{
  int64_t lowest[] = { INT64_MIN, INT64_MIN, INT64_MIN }, highest[] = { INT64_MAX, 0, 0 }, id = 77;
  int64_t below[] = { -1, 0 };
  GError *error = NULL;

  ck_assert (!quoit_ray_physical_worker_id (lowest, 1, 3, "16x16x24", &id, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "a place in the grid of 64 bits");
  ck_assert (!quoit_ray_physical_worker_id (highest, 1, 3, "4x4x4", &id, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID,
                     "coordinate '9223372036854775807' of x: expected less than 4 in 4x4x4");
  ck_assert (!quoit_ray_physical_worker_id (highest, 0, 3, "4x4", &id, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "coordinates '0 of 3': expected one chip or more");
  ck_assert (!quoit_ray_physical_worker_id (highest, 1, 1, "4x4", &id, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "coordinates '1 of 1'");
  ck_assert (!quoit_ray_physical_worker_id (below, 1, 2, NULL, &id, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology: expected a text");
  ck_assert_int_eq (id, 77);
  ck_assert (quoit_ray_physical_worker_id (below, 1, 2, "4x4", &id, &error));
  ck_assert_int_eq (id, -1);
}
END_TEST

START_TEST (topology_sides_beyond_64_bits_are_refused)
{
  GError *error = NULL;
  unsigned n = 77;

  ck_assert_ptr_null (quoit_ray_topology_dims ("4x99999999999999999999", &n, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "place 2: expected an integer of 64 bits");
  ck_assert_ptr_null (quoit_ray_worker_grid ("2x8", &n, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology '2x8': expected one for which Ray has a grid");
  ck_assert_uint_eq (n, 77);
}
END_TEST

START_TEST (invalid_parents_are_refused_before_use)
{
  g_autoptr (QuoitRayNodes) nodes = list_of_nodes (SLICE ("a", "4", "4", "4", "4"), "");
  g_autoptr (QuoitRaySubslices) known = quoit_ray_subslices_new ();
  static const char *const parents[] = { "4x4", "4xq", NULL }, *const odd[] = { "", "4x4", NULL };
  g_autofree char *name = NULL;
  unsigned parent = 77;
  GError *error = NULL;

  ck_assert_ptr_null (quoit_ray_subslices_dup_undiscovered (known, nodes, parents, "v6e", &parent, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "topology '4xq'");
  ck_assert_uint_eq (parent, 77);
  name = quoit_ray_subslices_dup_undiscovered (known, nodes, odd, "v6e", &parent, &error);
  ck_assert_str_eq (name, "a");
  ck_assert_uint_eq (parent, 1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ray-subslices");
  TCase *tcase = tcase_create ("ray-subslices");

  tcase_add_loop_test (tcase, next_step_matches_ray, 0, G_N_ELEMENTS (plans));
  tcase_add_test (tcase, bundles_request_a_host_or_the_given_resources);
  tcase_add_loop_test (tcase, impossible_sub_slice_is_refused_before_the_cluster_is_read, 0, G_N_ELEMENTS (refusals));
  tcase_add_loop_test (tcase, first_complete_sub_slice_is_found, 0, G_N_ELEMENTS (finds));
  tcase_add_loop_test (tcase, unreadable_labels_of_ray_are_refused, 0, G_N_ELEMENTS (damages));
  tcase_add_test (tcase, last_row_of_a_worker_is_used_dead_or_alive);
  tcase_add_test (tcase, coordinates_outside_the_grid_do_not_overflow);
  tcase_add_test (tcase, coordinates_of_any_size_are_mapped_or_refused);
  tcase_add_test (tcase, topology_sides_beyond_64_bits_are_refused);
  tcase_add_test (tcase, invalid_parents_are_refused_before_use);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
