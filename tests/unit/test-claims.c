/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "suite.h"
#include "fleet/claims.h"

START_TEST (equal_texts_share_one_stable_pointer)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_FLEET);
  const char *first = quoit_claims_intern_text (claims, "first");

  ck_assert_ptr_null (quoit_claims_intern_text (claims, NULL));
  for (unsigned i = 0; i < 100000; i++)
    {
      g_autofree char *text = g_strdup_printf ("text-%u", i);

      ck_assert_str_eq (quoit_claims_intern_text (claims, text), text);
    }
  ck_assert_ptr_eq (quoit_claims_intern_text (claims, "first"), first);
  ck_assert_str_eq (first, "first");
  ck_assert_str_eq (quoit_claims_source (claims), "s");
  ck_assert_int_eq (quoit_claims_source_kind (claims), QUOIT_SOURCE_KIND_FLEET);
}
END_TEST

/* A property that only one node has must not be part of its kind. Otherwise, each node would have its own kind. */
START_TEST (nodes_that_differ_only_in_own_properties_share_a_kind)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_RAY_NODES);
  guint32 pool = quoit_claims_ensure_pool (claims, "p");

  for (unsigned i = 0; i < 1000; i++)
    {
      g_autofree char *id = g_strdup_printf ("%056u", i), *ip = g_strdup_printf ("node:10.0.0.%u", i);
      g_autofree char *slice = g_strdup_printf ("slice-%u", i / 4), *worker = g_strdup_printf ("%u", i % 4);
      g_autofree char *group = g_strdup_printf ("TPU_group_%u_%036x", i, i);
      QuoitPair labels[] = { { "ray.io/tpu-topology", "4x4" },
                             { "ray.io/node-id", id },
                             { "ray.io/node_id", id },
                             { "ray.io/tpu-slice-name", slice },
                             { "ray.io/tpu-worker-id", worker },
                             { "kubernetes.io/hostname", id },
                             { "a", "b" } };
      QuoitResource resources[] = { { "TPU", { 40000 } },
                                    { ip, { 10000 } },
                                    { slice, { 10000 } },
                                    { group, { 40000 } },
                                    { "my_group_a", { 10000 } },
                                    { "node:__internal_head__", { 10000 } },
                                    { "TPU-v6e-16-head", { 10000 } },
                                    { "CPU", { 20000 } } };
      QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E,
                             .chips = 4,
                             .n_labels = G_N_ELEMENTS (labels),
                             .n_resources = G_N_ELEMENTS (resources),
                             .labels = labels,
                             .resources = resources };
      QuoitNodeClaim node = { .name = id, .slice = slice, .pool = pool };

      node.kind = quoit_claims_intern_kind (claims, &kind, slice);
      quoit_claims_add (claims, &node);
      ck_assert_uint_eq (node.kind, 0);
    }
  {
    const QuoitNodeKind *kind = quoit_claims_kind_at (claims, 0);

    ck_assert_uint_eq (quoit_claims_n_kinds (claims), 1);
    ck_assert_uint_eq (kind->n_labels, 2);
    ck_assert_str_eq (kind->labels[0].key, "a");
    ck_assert_str_eq (kind->labels[1].key, "ray.io/tpu-topology");
    ck_assert_uint_eq (kind->n_resources, 3);
    ck_assert_str_eq (kind->resources[0].name, "CPU");
    ck_assert_str_eq (kind->resources[1].name, "TPU");
    ck_assert_str_eq (kind->resources[2].name, "my_group_a");
  }
}
END_TEST

START_TEST (any_difference_makes_a_different_kind)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_FLEET);
  QuoitPair labels[] = { { "b", "1" }, { "a", "2" } }, swapped[] = { { "a", "2" }, { "b", "1" } };
  QuoitPair other[] = { { "a", "1" }, { "b", "2" } };
  QuoitResource resources[] = { { "CPU", { 1 } } }, more[] = { { "CPU", { 2 } } };
  QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E,
                         .shape = { { 4, 4, 1 }, 2 },
                         .topology = "4x4",
                         .pod_type = "v6e-16",
                         .chips = 4,
                         .n_labels = 2,
                         .n_resources = 1,
                         .labels = labels,
                         .resources = resources };
  QuoitNodeKind kinds[9];

  for (unsigned i = 0; i < G_N_ELEMENTS (kinds); i++)
    kinds[i] = kind;
  kinds[1].generation = QUOIT_GENERATION_V5E;
  kinds[2].shape.dims[1] = 8;
  kinds[3].topology = NULL;
  kinds[4].pod_type = "v6e-17";
  kinds[5].chips = 8;
  kinds[6].labels = other;
  kinds[7].resources = more;
  kinds[8].n_labels = 1;
  for (unsigned i = 0; i < G_N_ELEMENTS (kinds); i++)
    ck_assert_uint_eq (quoit_claims_intern_kind (claims, &kinds[i], NULL), i);
  kind.labels = swapped;
  ck_assert_uint_eq (quoit_claims_intern_kind (claims, &kind, NULL), 0);
}
END_TEST

START_TEST (thousands_of_kinds_and_pools_are_found_again)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_FLEET);

  for (unsigned round = 0; round < 2; round++)
    for (unsigned i = 0; i < 25000; i++)
      {
        g_autofree char *name = g_strdup_printf ("pool-%u", i);
        QuoitPair label = { "ray.io/node-group", name };
        QuoitNodeKind kind = { .n_labels = 1, .labels = &label };

        ck_assert_uint_eq (quoit_claims_ensure_pool (claims, name), i);
        ck_assert_uint_eq (quoit_claims_intern_kind (claims, &kind, NULL), i);
      }
  ck_assert_uint_eq (quoit_claims_n_pools (claims), 25000);
  ck_assert_str_eq (quoit_claims_pool_at (claims, 24999)->name, "pool-24999");
}
END_TEST

START_TEST (claims_copy_their_values_and_keep_the_order)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_FLEET);
  char name[] = "n-2", slice[] = "slice", value[] = "9915";
  QuoitPair env[] = { { "Z", value }, { "A", "" } };
  QuoitNodeKind kind = { 0 };
  QuoitNodeClaim node = { .name = name, .address = name, .slice = slice, .worker_id = 3, .state = QUOIT_NODE_DEAD };
  const QuoitNodeClaim *nodes;
  guint32 n_nodes;

  node.pool = quoit_claims_ensure_pool (claims, "p");
  node.kind = quoit_claims_intern_kind (claims, &kind, NULL);
  quoit_claims_add (claims, &node);
  quoit_claims_set_pool_env (claims, node.pool, env, 2);
  name[0] = slice[0] = value[0] = 'x';
  node.name = "n-1";
  quoit_claims_add (claims, &node);

  nodes = quoit_claims_nodes (claims, &n_nodes);
  ck_assert_uint_eq (n_nodes, 2);
  ck_assert_str_eq (nodes[0].name, "n-2");
  ck_assert_str_eq (nodes[0].address, "n-2");
  ck_assert_str_eq (nodes[0].slice, "slice");
  ck_assert_int_eq (nodes[0].worker_id, 3);
  ck_assert_int_eq (nodes[0].state, QUOIT_NODE_DEAD);
  ck_assert_str_eq (nodes[1].name, "n-1");
  ck_assert_str_eq (quoit_claims_pool_at (claims, 0)->env[0].value, "9915");
  ck_assert_str_eq (quoit_claims_pool_at (claims, 0)->env[1].key, "A");
}
END_TEST

START_TEST (groups_copy_takes_in_order_and_drop_zero_amounts)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_RAY_NODES);
  char name[] = "train", identity[] = "71fd", request[] = "PACK {CPU: 1, TPU: 4} x 2", resource[] = "TPU";
  QuoitResource takes[] = { { resource, { 40000 } }, { "x", { 0 } }, { "CPU", { 10000 } } };
  QuoitBundleClaim bundles[]
      = { { .node = 0, .n_takes = 3, .takes = takes }, { .node = QUOIT_NOT_PLACED, .n_takes = 1, .takes = takes } };
  QuoitGroupClaim group = { .name = name,
                            .identity = identity,
                            .request = request,
                            .state = QUOIT_GROUP_PENDING,
                            .n_bundles = 2,
                            .bundles = bundles };
  QuoitNodeKind kind = { .chips = 0 };
  QuoitNodeClaim node = { .name = "n" };
  const QuoitGroupClaim *groups;
  const QuoitBundleClaim *external;
  guint32 n;

  node.pool = quoit_claims_ensure_pool (claims, "p");
  node.kind = quoit_claims_intern_kind (claims, &kind, NULL);
  quoit_claims_add (claims, &node);
  quoit_claims_add_group (claims, &group);
  quoit_claims_add_external (claims, &bundles[0]);
  name[0] = identity[0] = request[0] = resource[0] = 'x';
  takes[0].amount.e4 = 1;
  bundles[0].node = 7;
  group.n_bundles = 0;
  group.name = "";
  quoit_claims_add_group (claims, &group);

  groups = quoit_claims_groups (claims, &n);
  ck_assert_uint_eq (n, 2);
  ck_assert_str_eq (groups[0].name, "train");
  ck_assert_str_eq (groups[0].identity, "71fd");
  ck_assert_str_eq (groups[0].request, "PACK {CPU: 1, TPU: 4} x 2");
  ck_assert_uint_eq (groups[0].state, QUOIT_GROUP_PENDING);
  ck_assert_uint_eq (groups[0].n_bundles, 2);
  ck_assert_uint_eq (groups[0].bundles[0].node, 0);
  ck_assert_uint_eq (groups[0].bundles[0].n_takes, 2);
  ck_assert_str_eq (groups[0].bundles[0].takes[0].name, "CPU");
  ck_assert_str_eq (groups[0].bundles[0].takes[1].name, "TPU");
  ck_assert_int_eq (groups[0].bundles[0].takes[1].amount.e4, 40000);
  ck_assert_uint_eq (groups[0].bundles[1].node, QUOIT_NOT_PLACED);
  ck_assert_str_eq (groups[1].name, "");
  ck_assert_uint_eq (groups[1].n_bundles, 0);
  external = quoit_claims_external (claims, &n);
  ck_assert_uint_eq (n, 1);
  ck_assert_uint_eq (external[0].n_takes, 2);
  ck_assert_str_eq (external[0].takes[1].name, "TPU");
}
END_TEST

START_TEST (scope_of_claims_is_empty_by_default)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_RAY_NODES);

  ck_assert_uint_eq (quoit_claims_scope (claims), 0);
  quoit_claims_set_scope (claims, QUOIT_CLAIMS_SCOPE_GROUPS);
  ck_assert_uint_eq (quoit_claims_scope (claims), QUOIT_CLAIMS_SCOPE_GROUPS);
}
END_TEST

START_TEST (warnings_are_a_null_terminated_list_in_order)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("s", QUOIT_SOURCE_KIND_FLEET);

  ck_assert_ptr_null (quoit_claims_warnings (claims)[0]);
  quoit_claims_warn (claims, "%u rows", 2);
  quoit_claims_warn (claims, "second");
  ck_assert_str_eq (quoit_claims_warnings (claims)[0], "2 rows");
  ck_assert_str_eq (quoit_claims_warnings (claims)[1], "second");
  ck_assert_ptr_null (quoit_claims_warnings (claims)[2]);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("claims");
  TCase *facts = tcase_create ("facts");

  tcase_set_timeout (facts, 60);
  tcase_add_test (facts, equal_texts_share_one_stable_pointer);
  tcase_add_test (facts, nodes_that_differ_only_in_own_properties_share_a_kind);
  tcase_add_test (facts, any_difference_makes_a_different_kind);
  tcase_add_test (facts, thousands_of_kinds_and_pools_are_found_again);
  tcase_add_test (facts, claims_copy_their_values_and_keep_the_order);
  tcase_add_test (facts, groups_copy_takes_in_order_and_drop_zero_amounts);
  tcase_add_test (facts, scope_of_claims_is_empty_by_default);
  tcase_add_test (facts, warnings_are_a_null_terminated_list_in_order);
  suite_add_tcase (suite, facts);
  return suite_main (suite);
}
