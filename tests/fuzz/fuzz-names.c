/* SPDX-License-Identifier: Apache-2.0 */
/* Claims and groups with names of any bytes: every document is strict JSON with the same names, and nodes are found
 * by their printed names. The first byte chooses the check. */
#include "written.h"

enum { MOST_NODES = 4 };
enum { CLAIMS = 1, NODES, GROUP, FLEET, N_CHECKS = FLEET };

static void
add_nodes (FuzzInput *in, QuoitClaims *claims)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < MOST_NODES && in->at < in->end; i++)
    {
      guint8 parts = fuzz_byte (in);
      g_autofree char *pool = fuzz_text (in), *name = fuzz_text (in), *resource = fuzz_text (in);
      g_autofree char *slice = parts & 1 ? fuzz_text (in) : NULL, *identity = parts & 2 ? fuzz_text (in) : NULL;
      g_autofree char *address = parts & 4 ? fuzz_text (in) : NULL, *value = fuzz_text (in);
      QuoitPair label = { "ray.io/availability-zone", value }, variable = { "NAME", value };
      QuoitResource amount = { resource, { 15000 } };
      QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E, .shape = { { 2, 4, 1 }, 2 }, .chips = 4 };
      QuoitNodeClaim node = { .name = name, .slice = slice, .identity = identity, .address = address };

      /* A source guarantees distinct names. */
      if (!g_hash_table_add (names, g_strdup (name)))
        continue;
      kind.topology = value;
      kind.labels = &label;
      kind.n_labels = 1;
      kind.resources = &amount;
      kind.n_resources = 1;
      node.worker_id = slice == NULL ? -1 : (gint32) i;
      node.state = (parts >> 4) % 3;
      node.pool = quoit_claims_ensure_pool (claims, pool);
      quoit_claims_set_pool_env (claims, node.pool, &variable, 1);
      node.kind = quoit_claims_intern_kind (claims, &kind, slice);
      quoit_claims_add (claims, &node);
    }
}

/* With slashes in names, two full names can have the same text. */
static void
require_found (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      g_autofree char *shown = quoit_layout_node_display (layout, (QuoitNodeId) { i });
      g_autoptr (GError) error = NULL;
      QuoitNodeId found = { QUOIT_NO_INDEX };
      gboolean ok = quoit_layout_lookup_node (layout, shown, &found, &error);

      fuzz_require_error (ok, error);
      g_assert (ok && found.index == i);
    }
}

typedef struct {
  char *name, *owner, *key, *request;
} GroupTexts;

static void
add_group (const GroupTexts *texts, QuoitFleet *fleet)
{
  g_autoptr (GError) error = NULL;
  guint32 end = 1, id = 1;
  QuoitGroupData group = { .id = 1,
                           .state = QUOIT_GROUP_RESERVED,
                           .n_slices = 1,
                           .n_nodes = 1,
                           .slice_end = &end,
                           .node_ids = &id,
                           .name = texts->name,
                           .owner = texts->owner,
                           .key = texts->key,
                           .request = texts->request };
  gboolean ok;

  /* Invalid group names are refused before this point. */
  if (fleet->layout->n_nodes == 0 || !quoit_group_data_check (&group, NULL))
    return;
  ok = quoit_fleet_add_group (fleet, quoit_group_data_new (&group), &error);
  fuzz_require_error (ok, error);
  g_assert (ok && quoit_fleet_find_group (fleet, texts->name) != NULL && quoit_fleet_check (fleet, NULL));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  guint8 which = fuzz_byte (&in);
  g_autofree char *source = fuzz_text (&in);
  GroupTexts texts = { fuzz_text (&in), fuzz_text (&in), fuzz_text (&in), fuzz_text (&in) };
  g_autoptr (QuoitClaims) claims = quoit_claims_new (source, QUOIT_SOURCE_KIND_RAY_NODES);
  g_autoptr (QuoitFleet) fleet = NULL;

  add_nodes (&in, claims);
  if (fuzz_runs_check (which, CLAIMS, N_CHECKS))
    fuzz_require_claims_written (claims);
  fleet = fuzz_fleet_of (claims);
  if (fuzz_runs_check (which, NODES, N_CHECKS))
    require_found (fleet);
  if (fuzz_runs_check (which, GROUP, N_CHECKS) || fuzz_runs_check (which, FLEET, N_CHECKS))
    add_group (&texts, fleet);
  if (fuzz_runs_check (which, FLEET, N_CHECKS))
    fuzz_require_fleet_written (fleet);
  g_free (texts.name);
  g_free (texts.owner);
  g_free (texts.key);
  g_free (texts.request);
  return 0;
}
