/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "fixture.h"
#include "fleet/private.h"
#include "fleet/identities.h"
#include "models/ray/label-syntax.h"
#include "fleet/layout-private.h"
#include "models/ray/selector.h"

/* --- copy-on-write arrays and sets --- */

START_TEST (bit_set_finds_the_same_neighbours_as_a_scan)
{
  static const guint32 sizes[] = { 1, 63, 64, 65, 4096, 4097, 20000, 270000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint32 n = sizes[_i];
  g_autofree guint8 *naive = g_new0 (guint8, n);
  QuoitBits bits;

  quoit_bits_init (&bits, n);
  for (guint step = 0; step < 3000; step++)
    {
      guint32 at = (guint32) g_rand_int_range (rand, 0, (gint32) n), want;

      if (g_rand_boolean (rand))
        naive[at] = 1, quoit_bits_add (&bits, at);
      else
        naive[at] = 0, quoit_bits_remove (&bits, at);
      at = (guint32) g_rand_int_range (rand, 0, (gint32) n + 1);
      for (want = at; want < n && !naive[want]; want++)
        ;
      ck_assert_uint_eq (quoit_bits_next (&bits, at), want < n ? want : QUOIT_BITS_NONE);
      for (want = at; want > 0 && !naive[want - 1]; want--)
        ;
      ck_assert_uint_eq (quoit_bits_previous (&bits, at), want > 0 ? want - 1 : QUOIT_BITS_NONE);
    }
  quoit_bits_clear (&bits);
}
END_TEST

START_TEST (writing_to_a_copy_leaves_the_original_unchanged)
{
  QuoitBits original, copy;

  quoit_bits_init (&original, 100000);
  for (guint32 i = 0; i < 100000; i += 7)
    quoit_bits_add (&original, i);
  quoit_bits_share (&original, &copy);
  for (guint32 i = 0; i < 100000; i += 14)
    quoit_bits_remove (&copy, i);
  for (guint32 i = 0; i < 100000; i++)
    {
      ck_assert_int_eq (quoit_bits_has (&original, i), i % 7 == 0);
      ck_assert_int_eq (quoit_bits_has (&copy, i), i % 14 == 7);
    }
  quoit_bits_clear (&original);
  ck_assert_uint_eq (quoit_bits_next (&copy, 0), 7);
  quoit_bits_clear (&copy);
}
END_TEST

START_TEST (an_index_keeps_every_entry_through_growth_and_removal)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autofree guint8 *in = g_new0 (guint8, 2000);
  QuoitIndex index, copy;

  quoit_index_init (&index);
  for (guint step = 0; step < 20000; step++)
    {
      guint32 value = (guint32) g_rand_int_range (rand, 0, 2000), hash = value % 97 * 31, at = hash, got;
      gboolean found = FALSE;

      while ((got = quoit_index_next (&index, hash, &at)) != QUOIT_INDEX_NONE)
        found |= got == value;
      ck_assert_int_eq (found, in[value]);
      if (in[value])
        quoit_index_remove (&index, hash, value);
      else
        quoit_index_add (&index, hash, value);
      in[value] = !in[value];
      if (step == 10000)
        quoit_index_share (&index, &copy);
    }
  quoit_index_clear (&copy);
  quoit_index_clear (&index);
}
END_TEST

/* --- layout --- */

static const FixturePool two_pools[] = {
  { "b", "4x4", "z1", 3, QUOIT_GENERATION_V6E, 0 },
  { "a", "4x4", NULL, 12, QUOIT_GENERATION_V6E, 0 },
  { "a2", "2x4", "z2", 2, QUOIT_GENERATION_V6E, 4 },
};

START_TEST (pools_contain_index_ranges_in_natural_order)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (two_pools, 3);
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
  g_autoptr (QuoitFleet) fleet = fixture_fleet (two_pools, 3);
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

START_TEST (only_lower_case_hexadecimal_digits_are_packed)
{
  char text[57], packed[QUOIT_PACKED_IDENTITY];

  for (guint place = 0; place < 56; place++)
    for (guint byte = 1; byte < 256; byte++)
      {
        gboolean digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');

        memcpy (text, "05bb8bcedb7473579e493d46652a03479b9303cd39b7afd5c1e6a629", 57);
        text[place] = (char) byte;
        ck_assert_int_eq (quoit_identity_pack (text, packed), digit);
        if (digit)
          {
            g_autofree char *back = quoit_identity_unpack (packed);

            ck_assert_str_eq (back, text);
          }
      }
  ck_assert (!quoit_identity_pack ("05bb", packed));
  ck_assert (!quoit_identity_pack ("05bb8bcedb7473579e493d46652a03479b9303cd39b7afd5c1e6a6290", packed));
}
END_TEST

START_TEST (any_identity_survives_packing)
{
  static const char *const ids[] = {
    "05bb8bcedb7473579e493d46652a03479b9303cd39b7afd5c1e6a629",
    "uid-1",
    "",
    "\1uid",
    "\2uid",
    "\1",
    "\1of as many bytes as packed ",
  };
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("t", QUOIT_SOURCE_KIND_RAY_NODES);
  QuoitNodeKind kind = { 0 };
  g_autoptr (QuoitLayout) layout = NULL;
  g_autofree char *identity = NULL;

  quoit_claims_ensure_pool (claims, "p");
  quoit_claims_intern_kind (claims, &kind, NULL);
  quoit_claims_add (
      claims, &(QuoitNodeClaim) {
                  .name = "n", .identity = *ids[_i] == '\0' ? NULL : ids[_i], .address = "10.0.0.1", .worker_id = -1 });
  layout = fixture_layout (claims);
  identity = quoit_layout_node_identity (layout, (QuoitNodeId) { 0 });
  ck_assert_str_eq (identity, *ids[_i] == '\0' ? "n" : ids[_i]);
  ck_assert_str_eq (quoit_layout_node_address (layout, (QuoitNodeId) { 0 }), "10.0.0.1");
}
END_TEST

START_TEST (an_identity_is_not_found_by_its_packed_bytes)
{
  char packed[QUOIT_PACKED_IDENTITY + 1] = "";
  const char *ids[] = { "01020304aabbccddeeff010203040506070809101112131415161718", packed };
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("t", QUOIT_SOURCE_KIND_RAY_NODES);
  QuoitNodeKind kind = { 0 };
  g_autoptr (QuoitLayout) layout = NULL;

  ck_assert (quoit_identity_pack (ids[0], packed));
  quoit_claims_ensure_pool (claims, "p");
  quoit_claims_intern_kind (claims, &kind, NULL);
  for (guint i = 0; i < 2; i++)
    quoit_claims_add (claims, &(QuoitNodeClaim) { .name = i == 0 ? "m" : "n", .identity = ids[i], .worker_id = -1 });
  layout = fixture_layout (claims);
  for (guint i = 0; i < 2; i++)
    {
      QuoitIdentities identities;
      QuoitNodeId node;

      quoit_identities_init (&identities, layout, (QuoitSourceId) { 0 });
      ck_assert (quoit_identities_find (&identities, &(QuoitNodeClaim) { .identity = ids[1 - i] }, &node));
      ck_assert_uint_eq (node.index, 1 - i);
      quoit_identities_clear (&identities);
    }
}
END_TEST

/* --- conditions --- */

static const struct {
  const char *name;
  gint32 worker[5];
  guint16 chips[5];
  const char *pod_type[5];
  guint n;
  guint faults, n_missing;
} slices[] = {
  { "whole", { 0, 1, 2, 3 }, { 4, 4, 4, 4 }, { 0 }, 4, 0, 0 },
  { "a host is missing", { 0, 1, 3 }, { 4, 4, 4 }, { 0 }, 3, 0, 1 },
  { "two workers 0", { 0, 0, 1, 2 }, { 4, 4, 4, 4 }, { 0 }, 4, QUOIT_FAULT_WORKER_TWICE, 1 },
  { "no worker id", { 0, 1, 2, -1 }, { 4, 4, 4, 4 }, { 0 }, 4, QUOIT_FAULT_NO_WORKER_ID, 1 },
  { "too many hosts", { 0, 1, 2, 3, 4 }, { 4, 4, 4, 4, 4 }, { 0 }, 5, QUOIT_FAULT_TOO_MANY_HOSTS, 0 },
  { "chips disagree", { 0, 1, 2, 3 }, { 4, 4, 4, 8 }, { 0 }, 4, QUOIT_FAULT_CHIPS, 0 },
  { "two pod types",
    { 0, 1, 2, 3 },
    { 4, 4, 4, 4 },
    { "v6e-16", "v6e-16", "v6e-16", "v6e-32" },
    4,
    QUOIT_FAULT_POD_TYPE,
    0 },
};

START_TEST (contradictions_count_alive_nodes_only)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("t", QUOIT_SOURCE_KIND_RAY_NODES);
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;
  g_autoptr (GError) error = NULL;
  const QuoitSliceStatus *status;
  QuoitShape shape;

  ck_assert (quoit_shape_parse ("4x4", &shape, NULL));
  quoit_claims_ensure_pool (claims, "p");
  for (guint i = 0; i < slices[_i].n; i++)
    {
      QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E,
                             .shape = shape,
                             .topology = "4x4",
                             .pod_type = slices[_i].pod_type[i],
                             .chips = slices[_i].chips[i] };
      g_autofree char *name = g_strdup_printf ("n%u", i);

      quoit_claims_add (claims, &(QuoitNodeClaim) { .name = name,
                                                    .slice = "s",
                                                    .worker_id = slices[_i].worker[i],
                                                    .kind = quoit_claims_intern_kind (claims, &kind, "s") });
    }
  layout = fixture_layout (claims);
  fleet = quoit_fleet_new (layout);
  status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 });
  ck_assert_uint_eq (status->faults, slices[_i].faults);
  ck_assert_uint_eq (status->n_missing, slices[_i].n_missing);
  ck_assert_int_eq ((status->flags & QUOIT_SLICE_FREE) != 0, slices[_i].faults == 0 && slices[_i].n_missing == 0);
  for (guint i = 0; i < slices[_i].n; i++)
    quoit_fleet_set_node_state (fleet, (QuoitNodeId) { i }, QUOIT_NODE_DEAD);
  status = quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 });
  ck_assert_uint_eq (status->faults, 0);
  ck_assert_uint_eq (status->n_missing, 4);
  ck_assert (quoit_fleet_check (fleet, &error));
}
END_TEST

/* The counter of a slice has room for this many hosts on its stack. */
START_TEST (no_slice_of_the_catalogue_exceeds_the_host_counter)
{
  guint32 most = 0;

  for (QuoitGeneration generation = 1; generation < QUOIT_N_GENERATIONS; generation++)
    {
      unsigned n;
      const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n);
      QuoitSliceFacts facts;

      for (unsigned i = 0; i < n; i++)
        for (unsigned chips = 1; chips <= 8; chips *= 2)
          if (quoit_slice_facts (generation, rows[i].shape, chips, &facts, NULL))
            most = MAX (most, facts.hosts);
    }
  ck_assert_uint_ge (most, 2304);
  ck_assert_uint_le (most, QUOIT_MAX_HOSTS);
}
END_TEST

/* --- identities --- */

/* Possible identities of nodes: Ray's ids, texts that only look like one, names. */
static char *
identity_of (guint32 i)
{
  switch (i % 4)
    {
    case 0:
      return g_strdup_printf ("%056x", i * 2654435761u);
    case 1:
      return g_strdup_printf ("%056X", i * 2654435761u + 0xabcdef);
    case 2:
      return g_strdup_printf ("%055x", i);
    default:
      return NULL;
    }
}

static QuoitClaims *
claims_with_identities (guint32 n)
{
  QuoitClaims *claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  QuoitNodeKind kind = { .generation = QUOIT_GENERATION_NONE };

  quoit_claims_ensure_pool (claims, "p");
  quoit_claims_intern_kind (claims, &kind, NULL);
  for (guint32 i = 0; i < n; i++)
    {
      /* Every second node without an identity has a name that looks like one. */
      g_autofree char *name = g_strdup_printf (i % 8 == 7 ? "%056x" : "node-%u", i), *identity = identity_of (i);

      quoit_claims_add (claims, &(QuoitNodeClaim) { .name = name, .identity = identity, .worker_id = -1 });
    }
  return claims;
}

START_TEST (a_node_is_found_by_its_identity_in_any_order)
{
  enum { N = 400, STRIDE = 7 };
  g_autoptr (QuoitClaims) claims = claims_with_identities (N), more = claims_with_identities (N + 16);
  g_autoptr (QuoitLayout) layout = fixture_layout (claims);
  QuoitIdentities identities;
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (more, &n);

  for (guint stride = 1; stride <= STRIDE; stride += STRIDE - 1)
    {
      quoit_identities_init (&identities, layout, (QuoitSourceId) { 0 });
      for (guint32 k = 0; k < n; k++)
        {
          guint32 i = k * stride % n;
          QuoitNodeId node = { QUOIT_NO_INDEX };

          ck_assert_int_eq (quoit_identities_find (&identities, &nodes[i], &node), i < N);
          if (i < N)
            ck_assert_str_eq (quoit_layout_node_name (layout, node), nodes[i].name);
          else
            ck_assert_uint_eq (node.index, QUOIT_NO_INDEX);
        }
      quoit_identities_clear (&identities);
    }
}
END_TEST

START_TEST (nodes_in_layout_order_are_found_without_an_index)
{
  g_autoptr (QuoitClaims) claims = claims_with_identities (100), again = NULL;
  g_autoptr (QuoitLayout) layout = fixture_layout (claims);
  g_autofree guint32 *ids = NULL;
  QuoitIdentities identities;
  guint32 n;
  const QuoitNodeClaim *nodes;

  again = quoit_layout_dup_claims (layout, (QuoitSourceId) { 0 }, &ids);
  nodes = quoit_claims_nodes (again, &n);
  quoit_identities_init (&identities, layout, (QuoitSourceId) { 0 });
  for (guint32 i = 0; i < n; i++)
    {
      QuoitNodeId node;

      ck_assert (quoit_identities_find (&identities, &nodes[i], &node));
      ck_assert_uint_eq (node.index, i);
    }
  ck_assert_ptr_null (identities.slots);
  quoit_identities_clear (&identities);
}
END_TEST

/* --- groups --- */

START_TEST (changes_of_a_fork_do_not_change_its_origin)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (two_pools, 3), fork = NULL;
  g_autoptr (GError) error = NULL;
  guint32 chosen[] = { 0, 3 };
  QuoitTally before = *quoit_fleet_class_tally (fleet, (QuoitClassId) { 1 });

  fork = quoit_fleet_fork (fleet);
  ck_assert (quoit_fleet_add_group (fork, fixture_group (fork, "g", "k", 1, chosen, 2), &error));
  quoit_fleet_set_node_state (fork, (QuoitNodeId) { 20 }, QUOIT_NODE_DRAINING);
  ck_assert (quoit_fleet_check (fork, &error));
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_mem_eq (&before, quoit_fleet_class_tally (fleet, (QuoitClassId) { 1 }), sizeof before);
  ck_assert_ptr_null (quoit_fleet_find_group (fleet, "g"));
  ck_assert_ptr_nonnull (quoit_fleet_find_group (fork, "g"));
  ck_assert_uint_eq (quoit_tally_get (quoit_fleet_class_tally (fork, (QuoitClassId) { 1 }), QUOIT_SLICE_FREE), 12);
}
END_TEST

START_TEST (allocated_node_cannot_be_allocated_again)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (two_pools, 3);
  GError *error = NULL;
  guint32 first[] = { 1 }, second[] = { 0, 1 };

  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "g", "", 1, first, 1), &error));
  ck_assert (!quoit_fleet_add_group (fleet, fixture_group (fleet, "h", "", 2, second, 2), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "used by group g");
  ck_assert (!quoit_fleet_add_group (fleet, fixture_group (fleet, "g", "", 3, second, 1), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "a group 'g' already");
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (fleet->n_groups, 1);
}
END_TEST

START_TEST (removed_group_is_kept_only_if_it_has_a_key)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (two_pools, 3);
  GError *error = NULL;
  guint32 a[] = { 1 }, b[] = { 2 };

  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "g", "key", 1, a, 1), &error));
  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "h", "", 2, b, 1), &error));
  ck_assert (quoit_fleet_remove_group (fleet, "g", 1, QUOIT_END_RELEASED, 5, &error));
  ck_assert (quoit_fleet_remove_group (fleet, "h", 2, QUOIT_END_RELEASED, 5, &error));
  ck_assert (!quoit_fleet_remove_group (fleet, "g", 1, QUOIT_END_RELEASED, 5, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "no group 'g@1'");
  ck_assert_uint_eq (fleet->n_groups, 1);
  ck_assert_int_eq (quoit_fleet_find_key (fleet, "key")->state, QUOIT_GROUP_REMOVED);
  ck_assert_int_eq (quoit_fleet_find_key (fleet, "key")->ended_ms, 5);
  ck_assert_ptr_null (quoit_fleet_find_group (fleet, "g"));
  ck_assert (quoit_fleet_check (fleet, &error));
}
END_TEST

START_TEST (random_changes_keep_every_invariant_in_every_fork)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (two_pools, 3);
  g_autoptr (GPtrArray) forks = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_fleet_unref);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  GError *error = NULL;
  guint64 id = 0;

  for (guint step = 0; step < 3000; step++)
    {
      guint32 slice = (guint32) g_rand_int_range (rand, 0, 17);
      g_autofree char *name = g_strdup_printf ("g%u", g_rand_int_range (rand, 0, 10));
      const QuoitGroupData *group = quoit_fleet_find_group (fleet, name);

      switch (g_rand_int_range (rand, 0, 4))
        {
        case 0:
          if (quoit_fleet_add_group (fleet, fixture_group (fleet, name, "", ++id, &slice, 1), NULL))
            ck_assert_ptr_nonnull (quoit_fleet_find_group (fleet, name));
          break;
        case 1:
          if (group != NULL)
            ck_assert (quoit_fleet_remove_group (fleet, name, group->id, QUOIT_END_RELEASED, 1, &error));
          break;
        case 2:
          quoit_fleet_set_node_state (fleet, (QuoitNodeId) { (guint32) g_rand_int_range (rand, 0, 64) },
                                      (QuoitNodeState) g_rand_int_range (rand, 0, 3));
          break;
        default:
          g_ptr_array_add (forks, quoit_fleet_fork (fleet));
          if (forks->len > 5)
            g_ptr_array_remove_index_fast (forks, (guint) g_rand_int_range (rand, 0, 5));
        }
      ck_assert_msg (quoit_fleet_check (fleet, &error), "step %u: %s", step, error == NULL ? "" : error->message);
    }
  for (guint i = 0; i < forks->len; i++)
    ck_assert (quoit_fleet_check (forks->pdata[i], &error));
}
END_TEST

/* --- parts of nodes --- */

static QuoitGroupData *
part_of (const QuoitFleet *fleet, const char *name, guint64 id, guint32 node, guint64 chips, guint8 chip, int64_t part)
{
  QuoitTake take = { "TPU", { __builtin_popcountll (chips) * QUOIT_AMOUNT_UNIT + part } };
  QuoitBundle bundle = { .n_takes = 1, .chips = chips, .chip = chip, .part = { part }, .takes = &take };
  guint32 end = 1;

  return quoit_group_data_new (&(QuoitGroupData) { .id = id,
                                                   .state = QUOIT_GROUP_RESERVED,
                                                   .name = name,
                                                   .owner = "",
                                                   .key = "",
                                                   .request = "",
                                                   .n_slices = 1,
                                                   .slice_end = &end,
                                                   .n_nodes = 1,
                                                   .node_ids = &fleet->layout->nodes[node].id,
                                                   .bundles = &bundle });
}

START_TEST (halves_of_two_chips_are_not_a_whole_chip)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (two_pools, 3);
  GError *error = NULL;
  QuoitAmount left[2];
  QuoitChipsLeft chips;

  ck_assert (quoit_fleet_add_group (fleet, part_of (fleet, "a", 1, 0, 0x3, 2, 5000), &error)); /* 2.5 chips */
  ck_assert (quoit_fleet_add_group (fleet, part_of (fleet, "b", 2, 0, 0, 3, 5000), &error));
  quoit_fleet_node_left (fleet, (QuoitNodeId) { 0 }, left, &chips);
  ck_assert_int_eq (left[1].e4, 10000); /* the sum suggests one chip... */
  ck_assert_int_eq (chips.chip_e4[2], 5000);
  ck_assert_int_eq (chips.chip_e4[3], 5000); /* ...but no whole chip is free */
  ck_assert (!quoit_fleet_add_group (fleet, part_of (fleet, "c", 3, 0, 0x8, 0, 0), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "used by group");
  ck_assert (quoit_fleet_add_group (fleet, part_of (fleet, "d", 4, 0, 0, 3, 5000), &error));
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 })->flags & QUOIT_SLICE_PARTLY,
                     QUOIT_SLICE_PARTLY);
  for (guint64 id = 1; id <= 4; id++)
    quoit_fleet_remove_group (fleet,
                              id == 1   ? "a"
                              : id == 2 ? "b"
                                        : "d",
                              id == 3 ? 4 : id, QUOIT_END_RELEASED, 0, NULL);
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (quoit_fleet_node_use (fleet, (QuoitNodeId) { 0 }), QUOIT_USE_NONE);
  ck_assert ((quoit_fleet_slice_status (fleet, (QuoitSliceId) { 0 })->flags & QUOIT_SLICE_FREE) != 0);
}
END_TEST

/* The number of examined shares: the cost of finding their groups. */
static guint64 looked_at;

const QuoitGroupData *__real_quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot); /* NOLINT: the linker's */
const QuoitGroupData *__wrap_quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot); /* NOLINT */

const QuoitGroupData *
__wrap_quoit_fleet_group_at (const QuoitFleet *fleet, guint32 slot) /* NOLINT */
{
  looked_at++;
  return __real_quoit_fleet_group_at (fleet, slot);
}

static const FixturePool crumbled[] = { { "crumbs", "4x4", NULL, 2, QUOIT_GENERATION_V6E, 0 } };

typedef enum {
  HOST_BY_HOST,
  IN_TURN /* like Ray's SPREAD */
} CrumbOrder;

static QuoitGroupData *
group_of_bundles (const char *name, guint64 id, guint32 n, const guint32 *ids, const QuoitBundle *bundles)
{
  return quoit_group_data_new (&(QuoitGroupData) { .id = id,
                                                   .kind = QUOIT_RECORD_BUNDLES,
                                                   .source = "ray",
                                                   .state = QUOIT_GROUP_RESERVED,
                                                   .name = name,
                                                   .owner = "",
                                                   .key = "",
                                                   .request = "",
                                                   .n_nodes = n,
                                                   .node_ids = ids,
                                                   .bundles = bundles });
}

/* Bundles of @part_e4 of a chip that use all of every chip of slice @slice. */
static QuoitGroupData *
crumbs_of (const QuoitFleet *fleet, const char *name, guint64 id, guint32 slice, gint64 part_e4, CrumbOrder order)
{
  const QuoitSlice *row = &fleet->layout->slices[slice];
  guint32 of_chip = (guint32) (QUOIT_AMOUNT_UNIT / part_e4), of_host = 4 * of_chip, n = row->n_nodes * of_host;
  g_autofree QuoitBundle *bundles = g_new0 (QuoitBundle, n);
  g_autofree guint32 *ids = g_new (guint32, n);
  QuoitTake take = { "TPU", { part_e4 } };

  for (guint32 i = 0; i < n; i++)
    {
      guint32 host = order == IN_TURN ? i % row->n_nodes : i / of_host;
      guint32 at = order == IN_TURN ? i / row->n_nodes : i % of_host;

      ids[i] = fleet->layout->nodes[row->first_node + host].id;
      bundles[i] = (QuoitBundle) { .n_takes = 1, .takes = &take, .chip = (guint8) (at / of_chip), .part = { part_e4 } };
    }
  return group_of_bundles (name, id, n, ids, bundles);
}

/* By the size of a part and the order: the cost of one more bundle must not depend on the number of bundles. */
static const struct {
  gint64 part_e4;
  CrumbOrder order;
} crumbs[] = { { 100, HOST_BY_HOST }, { 10, HOST_BY_HOST }, { 1, HOST_BY_HOST },
               { 100, IN_TURN },      { 10, IN_TURN },      { 1, IN_TURN } };

START_TEST (cost_of_a_share_does_not_depend_on_the_number_of_shares)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (crumbled, 1);
  guint64 n = 16 * QUOIT_AMOUNT_UNIT / crumbs[_i].part_e4;
  GError *error = NULL;
  QuoitGroupData *group = crumbs_of (fleet, "g", 2, 0, crumbs[_i].part_e4, crumbs[_i].order);
  QuoitGroupData *more = crumbs_of (fleet, "more", 3, 0, 10000, HOST_BY_HOST);
  g_autoptr (GPtrArray) groups = NULL;
  g_autofree char *text = NULL;

  ck_assert_uint_eq (group->n_nodes, n);
  looked_at = 0;
  ck_assert (quoit_fleet_add_group (fleet, group, &error));
  ck_assert_uint_le (looked_at, n + 100);
  ck_assert_uint_eq (fleet->n_shares, n);

  /* One pass over a full node detects it, and the message names it. */
  looked_at = 0;
  ck_assert (!quoit_fleet_add_group (fleet, more, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "group 'more': node 'crumbs-0-0' is used by group g");
  ck_assert_uint_le (looked_at, 3 * n + 100);

  looked_at = 0;
  groups = quoit_fleet_node_groups (fleet, (QuoitNodeId) { 0 });
  ck_assert_uint_eq (groups->len, 1);
  text = quoit_fleet_node_share_text (fleet, (QuoitNodeId) { 0 }, group);
  ck_assert (g_str_has_prefix (text, crumbs[_i].part_e4 == 1 ? "0.0001 of chip 0" : "0.0"));
  ck_assert_uint_le (looked_at, 2 * n / 4 + 100);

  looked_at = 0;
  ck_assert_msg (quoit_fleet_check (fleet, &error), "%s", error == NULL ? "" : error->message);
  /* The check visits each share a few times: once per resource of the node, and for the order, the edges and the chips.
   */
  ck_assert_uint_le (looked_at, 8 * n + 100);

  looked_at = 0;
  ck_assert (quoit_fleet_remove_group (fleet, "g", 2, QUOIT_END_RELEASED, 1, &error));
  ck_assert_uint_le (looked_at, n + 100);
  ck_assert (quoit_fleet_check (fleet, &error));
  for (guint32 i = 0; i < fleet->layout->n_nodes; i++)
    ck_assert_uint_eq (quoit_fleet_node_use (fleet, (QuoitNodeId) { i }), QUOIT_USE_NONE);
}
END_TEST

static char *
users_text (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  GString *text = g_string_new (NULL);
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    g_string_append_printf (text, "%s%u ", user->name, (guint) (users.bundle - user->bundles));
  return g_string_free (text, FALSE);
}

/* Each group has four parts of the first chip of each host. */
START_TEST (shares_are_sorted_by_group)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (crumbled, 1);
  static const struct {
    const char *name;
    guint64 id;
  } coming[] = { { "c", 7 }, { "a", 3 }, { "b", 5 } };
  g_autofree char *before = NULL, *after = NULL;
  GError *error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (coming); i++)
    {
      g_autoptr (QuoitGroupData) all = crumbs_of (fleet, coming[i].name, coming[i].id, 0, 625, IN_TURN);
      QuoitGroupData facts = quoit_group_data_copy_fields (all);

      facts.n_nodes = 16;
      ck_assert (quoit_fleet_add_group (fleet, quoit_group_data_new (&facts), &error));
      ck_assert_msg (quoit_fleet_check (fleet, &error), "%s", error == NULL ? "" : error->message);
    }
  before = users_text (fleet, (QuoitNodeId) { 1 });
  ck_assert_str_eq (before, "a1 a5 a9 a13 b1 b5 b9 b13 c1 c5 c9 c13 ");

  ck_assert (quoit_fleet_remove_group (fleet, "b", 5, QUOIT_END_RELEASED, 1, &error));
  ck_assert_msg (quoit_fleet_check (fleet, &error), "%s", error == NULL ? "" : error->message);
  after = users_text (fleet, (QuoitNodeId) { 1 });
  ck_assert_str_eq (after, "a1 a5 a9 a13 c1 c5 c9 c13 ");
}
END_TEST

/* If two nodes are too full, the message names the one of the earlier bundle, whatever the order of nodes. */
START_TEST (the_first_bundle_that_does_not_fit_is_named)
{
  g_autoptr (QuoitFleet) fleet = fixture_fleet (crumbled, 1);
  GError *error = NULL;
  QuoitTake take = { "TPU", { QUOIT_AMOUNT_UNIT } };
  QuoitBundle bundles[3];
  guint32 nodes[] = { 3, 2, 1 }, ids[3];

  for (guint i = 0; i < 3; i++)
    {
      bundles[i] = (QuoitBundle) { .n_takes = 1, .chips = 1, .takes = &take };
      ids[i] = fleet->layout->nodes[nodes[i]].id;
    }
  ck_assert (quoit_fleet_add_group (fleet, part_of (fleet, "a", 1, 1, 0x1, 0, 0), &error));
  ck_assert (quoit_fleet_add_group (fleet, part_of (fleet, "b", 2, 2, 0x1, 0, 0), &error));
  ck_assert (!quoit_fleet_add_group (fleet, group_of_bundles ("c", 3, 3, ids, bundles), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "group 'c': node 'crumbs-0-2' is used by group b");
  ck_assert_uint_eq (quoit_fleet_node_use (fleet, (QuoitNodeId) { 3 }), QUOIT_USE_NONE);
  ck_assert (quoit_fleet_check (fleet, &error));
}
END_TEST

/* --- selectors: ray-scheduling 4, measured with Ray --- */

static const struct {
  const char *selector, *value; /* NULL: no such label */
  int holds;                    /* -1: refused */
} selections[] = {
  { "a", "a", 1 },          { "a", "b", 0 },         { "a", NULL, 0 },       { "!a", NULL, 1 },
  { "!a", "b", 1 },         { "!a", "a", 0 },        { "in(a,b)", "b", 1 },  { "in(a,b)", "c", 0 },
  { "!in(a,b)", "c", 1 },   { "!in(a,b)", NULL, 1 }, { "in(a, b)", "a", 1 }, { "in(a, b)", "b", 0 },
  { "!in(a, b)", "b", 1 },  { "", "", 1 },           { "", NULL, 0 },        { "(a,b)", "a", 0 },
  { "in", "in", 1 },        { "in()", "a", -1 },     { "!!a", "a", -1 },     { "in(a,,b)", "a", -1 },
  { "in(a,  b)", "a", -1 }, { "a b", "a", -1 },      { "-a", "a", -1 },      { "a\n", "a", -1 },
};

START_TEST (selector_matches_as_in_ray)
{
  GError *error = NULL;
  g_autoptr (QuoitSelector) selector = quoit_selector_new ("k", selections[_i].selector, &error);

  if (selections[_i].holds < 0)
    {
      ck_assert_ptr_null (selector);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected a label value");
      return;
    }
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_selector_matches (selector, selections[_i].value), selections[_i].holds);
}
END_TEST

static const struct {
  const char *key;
  gboolean ok;
} keys[] = {
  { "a", TRUE },      { "ray.io/x", TRUE }, { "/x", TRUE },     { ".a/x", TRUE },       { "a./x", TRUE },
  { "a..b/x", TRUE }, { "a_b.c/x", TRUE },  { "a/b/x", FALSE }, { "prefix_/x", FALSE }, { "-a/x", FALSE },
  { "x/", FALSE },    { "", FALSE },        { "a_.b/x", TRUE }, { "a b", FALSE },
};

START_TEST (label_keys_are_checked_as_in_ray)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (quoit_label_check_key (keys[_i].key, &error) == keys[_i].ok, "%s", keys[_i].key);
}
END_TEST

/* Whatever the ids are, each has its own slot, no other slots are used, and the number of slots is limited. */
static const guint32 id_strides[] = { 1, 3, 17, 18, 1000, 1 << 20, 400000 };

START_TEST (any_ids_have_slots_within_bounds)
{
  enum { N = 5000, FIRST = 17 };
  guint32 stride = id_strides[_i];
  g_autoptr (GRand) random = g_rand_new_with_seed (stride);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL), slots = g_hash_table_new (NULL, NULL);
  g_autofree guint32 *ids = g_new (guint32, N);
  guint32 id = FIRST;
  g_auto (QuoitIds) map = { 0 };
  QuoitIdList lists[2];

  for (guint i = 0; i < N; i++)
    {
      ids[i] = id;
      g_hash_table_add (seen, GUINT_TO_POINTER (id));
      id += (guint32) g_rand_int_range (random, 1, (gint32) stride + 1);
    }
  if (_i % 2 == 1)
    for (guint i = N - 1; i > 0; i--)
      {
        guint j = (guint) g_rand_int_range (random, 0, (gint32) i + 1);
        guint32 swapped = ids[i];

        ids[i] = ids[j];
        ids[j] = swapped;
      }
  lists[0] = (QuoitIdList) { ids, N - 100 };
  lists[1] = (QuoitIdList) { ids + N / 2, N - N / 2 };
  quoit_ids_init (&map, lists, G_N_ELEMENTS (lists));
  ck_assert_uint_le (map.n_slots, 17 * N + 1024);
  for (guint i = 0; i < N; i++)
    {
      ck_assert_uint_lt (quoit_ids_slot (&map, ids[i]), map.n_slots);
      ck_assert (g_hash_table_add (slots, GUINT_TO_POINTER (quoit_ids_slot (&map, ids[i]))));
      ck_assert (quoit_ids_append (&map, ids[i]));
    }
  ck_assert_uint_eq (quoit_ids_slot (&map, 0), QUOIT_NO_SLOT);
  ck_assert_uint_eq (quoit_ids_slot (&map, id + 100000), QUOIT_NO_SLOT);
  for (guint32 i = 0, other = FIRST - 5; i < 20000; i++, other += (guint32) g_rand_int_range (random, 1, 9))
    if (!g_hash_table_contains (seen, GUINT_TO_POINTER (other)))
      ck_assert (!g_hash_table_contains (slots, GUINT_TO_POINTER (quoit_ids_slot (&map, other))));
}
END_TEST

START_TEST (appended_ids_get_the_next_slots)
{
  static const guint32 more[] = { 5, 6, 9, 26, 27, 45, 46, 1000000, 1000001, 2147483646 };
  g_auto (QuoitIds) map = { 0 };

  quoit_ids_init (&map, NULL, 0);
  ck_assert_uint_eq (quoit_ids_slot (&map, 0), QUOIT_NO_SLOT);
  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    {
      ck_assert (quoit_ids_append (&map, more[i]));
      for (guint j = 0; j <= i; j++)
        ck_assert_uint_lt (quoit_ids_slot (&map, more[j]), map.n_slots);
      for (guint j = 1; j <= i; j++)
        ck_assert_uint_lt (quoit_ids_slot (&map, more[j - 1]), quoit_ids_slot (&map, more[j]));
    }
  ck_assert (!quoit_ids_append (&map, 4));
  ck_assert (!quoit_ids_append (&map, 5000));
  ck_assert_uint_eq (quoit_ids_slot (&map, 5000), QUOIT_NO_SLOT);
  ck_assert_uint_lt (map.n_slots, 100);
}
END_TEST

/* One class with 60,000 labels joined with each of 300: a small file that could need gigabytes. */
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

  /* With fewer of them they are joined, and the first claim's values stay. */
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
  Suite *suite = suite_create ("model");
  TCase *tcase = tcase_create ("model");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, bit_set_finds_the_same_neighbours_as_a_scan, 0, 8);
  tcase_add_test (tcase, writing_to_a_copy_leaves_the_original_unchanged);
  tcase_add_test (tcase, an_index_keeps_every_entry_through_growth_and_removal);
  tcase_add_test (tcase, pools_contain_index_ranges_in_natural_order);
  tcase_add_test (tcase, the_order_of_claims_does_not_matter);
  tcase_add_test (tcase, short_and_full_names_are_found_and_ambiguity_is_refused);
  tcase_add_loop_test (tcase, any_ids_have_slots_within_bounds, 0, (int) G_N_ELEMENTS (id_strides));
  tcase_add_test (tcase, appended_ids_get_the_next_slots);
  tcase_add_test (tcase, labels_of_joined_kinds_are_bounded);
  tcase_add_test (tcase, nodes_with_equal_names_are_indexed_in_bounded_time);
  tcase_add_loop_test (tcase, parts_of_a_layout_are_checked_before_use, 0, (int) G_N_ELEMENTS (part_pairs));
  tcase_add_test (tcase, only_lower_case_hexadecimal_digits_are_packed);
  tcase_add_loop_test (tcase, any_identity_survives_packing, 0, 7);
  tcase_add_test (tcase, an_identity_is_not_found_by_its_packed_bytes);
  tcase_add_loop_test (tcase, contradictions_count_alive_nodes_only, 0, G_N_ELEMENTS (slices));
  tcase_add_test (tcase, no_slice_of_the_catalogue_exceeds_the_host_counter);
  tcase_add_test (tcase, a_node_is_found_by_its_identity_in_any_order);
  tcase_add_test (tcase, nodes_in_layout_order_are_found_without_an_index);
  tcase_add_test (tcase, changes_of_a_fork_do_not_change_its_origin);
  tcase_add_test (tcase, allocated_node_cannot_be_allocated_again);
  tcase_add_test (tcase, removed_group_is_kept_only_if_it_has_a_key);
  tcase_add_test (tcase, random_changes_keep_every_invariant_in_every_fork);
  tcase_add_test (tcase, halves_of_two_chips_are_not_a_whole_chip);
  tcase_add_loop_test (tcase, cost_of_a_share_does_not_depend_on_the_number_of_shares, 0, G_N_ELEMENTS (crumbs));
  tcase_add_test (tcase, shares_are_sorted_by_group);
  tcase_add_test (tcase, the_first_bundle_that_does_not_fit_is_named);
  tcase_add_loop_test (tcase, selector_matches_as_in_ray, 0, G_N_ELEMENTS (selections));
  tcase_add_loop_test (tcase, label_keys_are_checked_as_in_ray, 0, G_N_ELEMENTS (keys));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
