/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a fleet: its order, its names, and the parts that it is built from. */
#include "suite.h"
#include "fixture.h"
#include "fleet/layout-private.h"

/* --- order and names --- */

START_TEST (pools_contain_index_ranges_in_natural_order)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet ();
  const QuoitLayout *layout = fleet->layout;

  ck_assert_uint_eq (layout->n_pools, 3);
  ck_assert_uint_eq (layout->n_slices, 17);
  ck_assert_uint_eq (layout->n_nodes, 15 * 4 + 2 * 2);
  ck_assert_str_eq (quoit_layout_text (layout, layout->pools[0].name), "a");
  ck_assert_str_eq (quoit_layout_text (layout, layout->pools[1].name), "a2");
  ck_assert_str_eq (quoit_layout_text (layout, layout->slices[9].name), "a-9");
  ck_assert_str_eq (quoit_layout_text (layout, layout->slices[10].name), "a-10");
  for (guint32 s = 0; s < layout->n_slices; s++)
    for (guint32 i = 0; i < layout->slices[s].n_nodes; i++)
      {
        const QuoitNode *node = &layout->nodes[layout->slices[s].first_node + i];

        ck_assert_uint_eq (node->slice, s);
        ck_assert_int_eq (node->worker_id, (int) i);
      }
  ck_assert_uint_eq (layout->sources[0].n_nodes, layout->n_nodes);
}
END_TEST

static char *
dump (const QuoitLayout *layout)
{
  GString *text = g_string_new (NULL);

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      g_autofree char *name = quoit_layout_node_full_name (layout, (QuoitNodeId) { i });

      g_string_append_printf (text, "%s %d %d\n", name, (int) layout->nodes[i].slice, layout->nodes[i].worker_id);
    }
  return g_string_free (text, FALSE);
}

START_TEST (the_order_of_claims_does_not_matter)
{
  g_autoptr (QuoitFleet) fleet = fixture_mixed_fleet ();
  g_autoptr (QuoitClaims) shuffled = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET), claims = NULL;
  g_autoptr (QuoitLayout) again = NULL;
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autofree guint32 *ids = NULL, *order = NULL;
  g_autofree char *a = NULL, *b = NULL;
  const QuoitNodeClaim *nodes;
  guint32 n;

  claims = quoit_layout_dup_claims (fleet->layout, (QuoitSourceId) { 0 }, &ids);
  nodes = quoit_claims_nodes (claims, &n);
  order = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    order[i] = i;
  for (guint32 i = n - 1; i > 0; i--)
    {
      guint32 j = (guint32) g_rand_int_range (rand, 0, (gint32) i + 1), t = order[i];

      order[i] = order[j];
      order[j] = t;
    }
  for (guint32 i = 0; i < n; i++)
    {
      QuoitNodeClaim node = nodes[order[i]];

      node.pool = quoit_claims_ensure_pool (shuffled, quoit_claims_pool_at (claims, node.pool)->name);
      node.kind = quoit_claims_intern_kind (shuffled, quoit_claims_kind_at (claims, node.kind), node.slice);
      quoit_claims_add (shuffled, &node);
    }
  again = fixture_layout (shuffled);
  a = dump (fleet->layout);
  b = dump (again);
  ck_assert_str_eq (a, b);
}
END_TEST

START_TEST (short_and_full_names_are_found_and_ambiguity_is_refused)
{
  g_autoptr (QuoitClaims) a = quoit_claims_new ("a", QUOIT_SOURCE_KIND_FLEET),
                          b = quoit_claims_new ("b", QUOIT_SOURCE_KIND_FLEET);
  const FixturePool pool = { "p", "4x4", NULL, 1, QUOIT_GENERATION_V6E, 0 };
  guint32 ids_a[] = { 1, 2, 3, 4 }, ids_b[] = { 5, 6, 7, 8 };
  g_autoptr (QuoitLayout) layout = NULL;
  g_autofree char *shown = NULL;
  QuoitNodeId node;
  QuoitSliceId slice;
  GError *error = NULL;

  fixture_add_pool (a, &pool);
  fixture_add_pool (b, &pool);
  layout = quoit_layout_new ((QuoitLayoutPart[]) { { b, ids_b }, { a, ids_a } }, 2);
  ck_assert (!quoit_layout_lookup_node (layout, "p-0-2", &node, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'a/p/p-0-2' or 'b/p/p-0-2'");
  ck_assert (quoit_layout_lookup_node (layout, "b/p/p-0-2", &node, &error));
  ck_assert_uint_eq (layout->nodes[node.index].id, 7);
  shown = quoit_layout_node_display (layout, node);
  ck_assert_str_eq (shown, "b/p/p-0-2");
  ck_assert (quoit_layout_lookup_slice (layout, "a/p/p-0", &slice, &error));
  ck_assert_uint_eq (slice.index, 0);
  ck_assert (!quoit_layout_lookup_slice (layout, "a/q/p-0", &slice, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no slice 'a/q/p-0'");
}
END_TEST

/* --- parts and their limits --- */

/* Joins one kind that has 60,000 labels with each of 300 other kinds. A small file that does so could need gigabytes.
 */
START_TEST (labels_of_joined_kinds_are_bounded)
{
  enum { N = 300, N_LABELS = 60000 };
  g_autoptr (QuoitClaims) ray = quoit_claims_new ("ray", QUOIT_SOURCE_KIND_RAY_NODES);
  g_autoptr (QuoitClaims) k8s = quoit_claims_new ("k8s", QUOIT_SOURCE_KIND_K8S_NODES);
  g_autofree QuoitPair *labels = g_new (QuoitPair, N_LABELS);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  QuoitNodeKind kind = { .labels = labels, .n_labels = N_LABELS };
  guint32 ids[N], n_nodes;
  QuoitLayoutPart parts[] = { { ray, ids }, { k8s, ids } };
  g_autoptr (QuoitLayout) layout = NULL;
  GError *error = NULL;

  for (guint i = 0; i < N_LABELS; i++)
    {
      g_ptr_array_add (names, g_strdup_printf ("l%u", i));
      labels[i] = (QuoitPair) { names->pdata[i], "x" };
    }
  quoit_claims_ensure_pool (ray, "p");
  quoit_claims_ensure_pool (k8s, "p");
  quoit_claims_intern_kind (ray, &kind, NULL);
  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("n%u", i);
      QuoitPair other = { "l7", name }, more = { "zone", name };

      ids[i] = i + 1;
      kind = (QuoitNodeKind) { .labels = (QuoitPair[]) { other, more }, .n_labels = 2 };
      quoit_claims_add (ray, &(QuoitNodeClaim) { .name = name, .worker_id = -1 });
      quoit_claims_add (k8s, &(QuoitNodeClaim) {
                                 .name = name, .kind = quoit_claims_intern_kind (k8s, &kind, NULL), .worker_id = -1 });
    }
  ck_assert_ptr_null (quoit_layout_new_checked (parts, G_N_ELEMENTS (parts), &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "expected at most 16777216 different labels");

  /* With one other kind, the labels are joined, and the first claim's values stay. */
  quoit_claims_nodes (k8s, &n_nodes);
  ck_assert_uint_eq (n_nodes, N);
  g_clear_pointer (&k8s, quoit_claims_free);
  parts[1].claims = k8s = quoit_claims_new ("k8s", QUOIT_SOURCE_KIND_K8S_NODES);
  quoit_claims_ensure_pool (k8s, "p");
  kind = (QuoitNodeKind) { .labels = (QuoitPair[]) { { "l7", "y" }, { "zone", "z" } }, .n_labels = 2 };
  quoit_claims_add (
      k8s, &(QuoitNodeClaim) { .name = "n0", .kind = quoit_claims_intern_kind (k8s, &kind, NULL), .worker_id = -1 });
  layout = quoit_layout_new_checked (parts, G_N_ELEMENTS (parts), &error);
  ck_assert_ok (error);
  for (guint i = 0; i < layout->n_nodes; i++)
    if (layout->nodes[i].id == 1)
      {
        char room[QUOIT_LABEL_BUFFER_SIZE];

        ck_assert_str_eq (quoit_layout_node_label (layout, (QuoitNodeId) { i }, "zone", room), "z");
        ck_assert_str_eq (quoit_layout_node_label (layout, (QuoitNodeId) { i }, "l7", room), "x");
        ck_assert_str_eq (quoit_layout_node_label (layout, (QuoitNodeId) { i }, "l59999", room), "x");
      }
}
END_TEST

START_TEST (nodes_with_equal_names_are_indexed_in_bounded_time)
{
  enum { N = 300000 };
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (QuoitLayout) layout = NULL;
  g_autofree char *shown = NULL;
  gint64 began_us;

  quoit_claims_ensure_pool (claims, "p");
  quoit_claims_intern_kind (claims, &(QuoitNodeKind) { .generation = QUOIT_GENERATION_NONE }, NULL);
  for (guint i = 0; i < N; i++)
    quoit_claims_add (claims, &(QuoitNodeClaim) { .name = "same", .worker_id = -1 });
  quoit_claims_add (claims, &(QuoitNodeClaim) { .name = "other", .worker_id = -1 });
  began_us = g_get_monotonic_time ();
  layout = fixture_layout (claims);
  ck_assert_int_lt (g_get_monotonic_time () - began_us, 10 * G_USEC_PER_SEC);
  shown = quoit_layout_node_display (layout, (QuoitNodeId) { 0 });
  ck_assert_str_eq (shown, "other");
}
END_TEST

static const struct {
  const char *a, *b;
  QuoitSourceKind kind;
  guint32 ids[4];
  const char *part; /* NULL: valid */
} part_pairs[] = {
  { "a", "b", QUOIT_SOURCE_KIND_RAY_NODES, { 1, 2, 3, 4 }, NULL },
  { "a", "b", QUOIT_SOURCE_KIND_FLEET, { 5, 6, 7, 2147483646 }, NULL },
  { "a", "a", QUOIT_SOURCE_KIND_FLEET, { 5, 6, 7, 8 }, "two sources have the name 'a'" },
  { "a", "b", QUOIT_SOURCE_KIND_FLEET, { 5, 6, 7, 4 }, "node id '4' of source 'b'" },
  { "a", "b", QUOIT_SOURCE_KIND_RAY_NODES, { 5, 6, 7, 5 }, "node id '5' of source 'b'" },
  { "a", "b", QUOIT_SOURCE_KIND_FLEET, { 5, 6, 7, 0 }, "node id '0' of source 'b'" },
  { "a", "b", QUOIT_SOURCE_KIND_FLEET, { 5, 6, 7, 2147483647 }, "node id '2147483647' of source 'b'" },
};

START_TEST (parts_of_a_layout_are_checked_before_use)
{
  const FixturePool pool = { "p", "4x4", NULL, 1, QUOIT_GENERATION_V6E, 0 };
  g_autoptr (QuoitClaims) a = quoit_claims_new (part_pairs[_i].a, QUOIT_SOURCE_KIND_FLEET);
  g_autoptr (QuoitClaims) b = quoit_claims_new (part_pairs[_i].b, part_pairs[_i].kind);
  const guint32 first[] = { 1, 2, 3, 4 };
  QuoitLayoutPart parts[] = { { a, first }, { b, part_pairs[_i].ids } };
  g_autoptr (QuoitLayout) layout = NULL;
  GError *error = NULL;

  fixture_add_pool (a, &pool);
  fixture_add_pool (b, &pool);
  layout = quoit_layout_new_checked (parts, G_N_ELEMENTS (parts), &error);
  if (part_pairs[_i].part == NULL)
    {
      ck_assert_ok (error);
      ck_assert_ptr_nonnull (layout);
      return;
    }
  ck_assert_ptr_null (layout);
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, part_pairs[_i].part);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("layout");
  TCase *tcase = tcase_create ("layout");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, pools_contain_index_ranges_in_natural_order);
  tcase_add_test (tcase, the_order_of_claims_does_not_matter);
  tcase_add_test (tcase, short_and_full_names_are_found_and_ambiguity_is_refused);
  tcase_add_test (tcase, labels_of_joined_kinds_are_bounded);
  tcase_add_test (tcase, nodes_with_equal_names_are_indexed_in_bounded_time);
  tcase_add_loop_test (tcase, parts_of_a_layout_are_checked_before_use, 0, (int) G_N_ELEMENTS (part_pairs));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
