/* SPDX-License-Identifier: Apache-2.0 */
/* Identities of nodes: how a layout stores them, and how a node is found by its identity. */
#include "suite.h"
#include "fixture.h"
#include "fleet/identities.h"
#include "fleet/layout-private.h"

/* --- packed identities --- */

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

/* --- finding a node --- */

/* Possible identities of nodes: Ray's ids, texts that only look like one, names. */
static char *
dup_identity (guint32 i)
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
      g_autofree char *name = g_strdup_printf (i % 8 == 7 ? "%056x" : "node-%u", i), *identity = dup_identity (i);

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

int
main (void)
{
  Suite *suite = suite_create ("node-identities");
  TCase *tcase = tcase_create ("node-identities");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, only_lower_case_hexadecimal_digits_are_packed);
  tcase_add_loop_test (tcase, any_identity_survives_packing, 0, 7);
  tcase_add_test (tcase, an_identity_is_not_found_by_its_packed_bytes);
  tcase_add_test (tcase, a_node_is_found_by_its_identity_in_any_order);
  tcase_add_test (tcase, nodes_in_layout_order_are_found_without_an_index);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
