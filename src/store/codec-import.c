/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes updates of sources, with their pools, kinds of nodes, and nodes. */
#include "fleet/source-kinds.h"
#include "store/codec-private.h"

/* --- kinds and pools --- */

static void
put_pairs (QuoitEncoder *out, const QuoitPair *pairs, guint16 n)
{
  quoit_bytes_put (out, n);
  for (guint16 i = 0; i < n; i++)
    {
      quoit_bytes_put_text (out, pairs[i].key);
      quoit_bytes_put_text (out, pairs[i].value);
    }
}

/* Keys must be distinct, because exported documents write the pairs as members of a JSON object. Equal keys have the
 * same pointer, because they are interned. */
static gboolean
are_distinct (const QuoitPair *pairs, guint32 n)
{
  g_autoptr (GHashTable) keys = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < n; i++)
    if (!g_hash_table_add (keys, (char *) pairs[i].key))
      return FALSE;
  return TRUE;
}

static QuoitPair *
get_pairs (QuoitDecoder *in, QuoitClaims *claims, guint16 *n)
{
  guint16 count = quoit_decoder_get_count16 (in, MIN_PAIR_BYTES);
  QuoitPair *pairs = g_new0 (QuoitPair, count + 1u);

  for (guint32 i = 0; i < count && !in->is_damaged; i++)
    {
      g_autofree char *key = quoit_decoder_get_required_text (in), *value = quoit_decoder_get_required_text (in);

      pairs[i] = (QuoitPair) { quoit_claims_intern_text (claims, key), quoit_claims_intern_text (claims, value) };
    }
  if (!in->is_damaged && !are_distinct (pairs, count))
    in->is_damaged = TRUE;
  *n = in->is_damaged ? 0 : count;
  return pairs;
}

void
quoit_codec_put_kind (QuoitEncoder *out, const QuoitNodeKind *kind)
{
  quoit_bytes_put (out, kind->generation);
  quoit_bytes_put (out, kind->shape.n_dims);
  for (guint i = 0; i < 3; i++)
    quoit_bytes_put (out, kind->shape.dims[i]);
  quoit_bytes_put_text (out, kind->topology);
  quoit_bytes_put_text (out, kind->pod_type);
  quoit_bytes_put (out, kind->chips);
  put_pairs (out, kind->labels, kind->n_labels);
  quoit_bytes_put (out, kind->n_resources);
  for (guint16 i = 0; i < kind->n_resources; i++)
    {
      quoit_bytes_put_text (out, kind->resources[i].name);
      quoit_bytes_put_signed (out, kind->resources[i].amount.e4);
    }
}

guint32
quoit_codec_get_kind (QuoitDecoder *in, QuoitClaims *claims)
{
  QuoitNodeKind kind = { 0 };
  g_autofree char *topology = NULL, *pod_type = NULL;
  g_autofree QuoitPair *labels = NULL;
  g_autofree QuoitResource *resources = NULL;
  guint16 n;

  kind.generation = quoit_decoder_get_limited (in, QUOIT_N_GENERATIONS - 1);
  kind.shape.n_dims = (guint16) quoit_decoder_get_limited (in, 3);
  for (guint i = 0; i < 3; i++)
    kind.shape.dims[i] = (guint16) quoit_decoder_get_limited (in, 4096);
  kind.topology = topology = quoit_decoder_get_text (in);
  kind.pod_type = pod_type = quoit_decoder_get_text (in);
  kind.chips = (guint16) quoit_decoder_get_limited (in, G_MAXUINT16);
  kind.labels = labels = get_pairs (in, claims, &kind.n_labels);
  n = quoit_decoder_get_count16 (in, MIN_PAIR_BYTES);
  resources = g_new0 (QuoitResource, n + 1u);
  for (guint32 i = 0; i < n && !in->is_damaged; i++)
    {
      g_autofree char *name = quoit_decoder_get_required_text (in);

      resources[i] = (QuoitResource) { quoit_claims_intern_text (claims, name), { quoit_decoder_get_signed (in) } };
      /* Resources are sorted by name, without duplicates. */
      in->is_damaged |= i > 0 && strcmp (resources[i - 1].name, resources[i].name) >= 0;
      in->is_damaged |= resources[i].amount.e4 < 0;
    }
  kind.resources = resources;
  kind.n_resources = in->is_damaged ? 0 : n;
  return in->is_damaged ? 0 : quoit_claims_intern_kind (claims, &kind, NULL);
}

void
quoit_codec_put_pool (QuoitEncoder *out, const QuoitPoolClaim *pool)
{
  quoit_bytes_put (out, pool->n_pods);
  quoit_bytes_put_sum (out, pool->pod_cpu);
  quoit_bytes_put_sum (out, pool->pod_memory);
  put_pairs (out, pool->env, pool->n_env);
}

guint32
quoit_codec_get_pool (QuoitDecoder *in, QuoitClaims *claims, const char *name)
{
  guint32 index = quoit_claims_ensure_pool (claims, name), n_pods = quoit_decoder_get_limited (in, G_MAXUINT32);
  QuoitSum cpu = quoit_decoder_get_sum (in), memory = quoit_decoder_get_sum (in);
  guint16 n_env;
  g_autofree QuoitPair *env = get_pairs (in, claims, &n_env);
  QuoitPoolClaim *pool = quoit_claims_pool_at (claims, index);

  pool->n_pods = n_pods;
  pool->pod_cpu = cpu;
  pool->pod_memory = memory;
  quoit_claims_set_pool_env (claims, index, env, n_env);
  return index;
}

/* --- imports --- */

void
quoit_codec_put_import (QuoitEncoder *out, const QuoitSourceUpdate *import)
{
  const QuoitClaims *claims = import->claims;
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n);

  quoit_bytes_put_text (out, quoit_claims_source (claims));
  quoit_bytes_put (out, quoit_claims_source_kind (claims));
  quoit_bytes_put (out, import->keeps_pools);
  quoit_bytes_put (out, import->n_removed);
  for (guint32 i = 0; i < import->n_removed; i++)
    {
      quoit_bytes_put (out, import->removed[i]);
      quoit_bytes_put_text (out, import->removed_names == NULL ? NULL : import->removed_names[i]);
    }
  quoit_bytes_put (out, import->n_states);
  for (guint32 i = 0; i < import->n_states; i++)
    {
      quoit_bytes_put (out, import->states[i].id);
      quoit_bytes_put (out, import->states[i].state);
      quoit_bytes_put (out, import->states[i].cause);
    }
  quoit_bytes_put (out, quoit_claims_n_pools (claims));
  for (guint32 p = 0; p < quoit_claims_n_pools (claims); p++)
    {
      quoit_bytes_put_text (out, quoit_claims_pool_at (claims, p)->name);
      quoit_codec_put_pool (out, quoit_claims_pool_at (claims, p));
    }
  quoit_bytes_put (out, quoit_claims_n_kinds (claims));
  for (guint32 k = 0; k < quoit_claims_n_kinds (claims); k++)
    quoit_codec_put_kind (out, quoit_claims_kind_at (claims, k));
  quoit_bytes_put (out, n);
  for (guint32 i = 0; i < n; i++)
    {
      quoit_bytes_put (out, import->ids[i]);
      quoit_bytes_put (out, import->events == NULL ? QUOIT_NODE_EVENT_UNRECORDED : import->events[i]);
      quoit_bytes_put (out, nodes[i].pool);
      quoit_bytes_put (out, nodes[i].kind);
      quoit_bytes_put_signed (out, nodes[i].worker_id);
      quoit_bytes_put (out, nodes[i].state);
      quoit_bytes_put (out, nodes[i].flags);
      quoit_bytes_put_text (out, nodes[i].name);
      quoit_bytes_put_text (out, nodes[i].identity);
      quoit_bytes_put_text (out, nodes[i].address);
      quoit_bytes_put_text (out, nodes[i].slice);
      quoit_bytes_put_text (out, nodes[i].incarnation);
    }
}

static void
get_node (QuoitDecoder *in, QuoitClaims *claims, const guint32 *pools, guint32 n_pools, const guint32 *kinds,
          guint32 n_kinds, guint32 *id, guint8 *event)
{
  QuoitNodeClaim node = { 0 };
  gint64 worker;
  g_autofree char *name = NULL, *identity = NULL, *address = NULL, *slice = NULL, *incarnation = NULL;

  *id = quoit_decoder_get_limited (in, G_MAXUINT32 - 1);
  *event
      = in->format < 4 ? QUOIT_NODE_EVENT_UNRECORDED : (guint8) quoit_decoder_get_limited (in, QUOIT_NODE_EVENT_LOST);
  node.pool = quoit_decoder_get_limited (in, n_pools - 1);
  node.kind = quoit_decoder_get_limited (in, n_kinds - 1);
  worker = quoit_decoder_get_signed (in);
  in->is_damaged |= worker < -1 || worker > QUOIT_MAX_WORKER_ID;
  node.worker_id = (gint32) worker;
  node.state = (guint8) quoit_decoder_get_limited (in, QUOIT_NODE_DEAD);
  node.flags = (guint8) quoit_decoder_get_limited (in, G_MAXUINT8);
  node.name = name = quoit_decoder_get_required_text (in);
  node.identity = identity = quoit_decoder_get_text (in);
  node.address = address = quoit_decoder_get_text (in);
  node.slice = slice = quoit_decoder_get_text (in);
  node.incarnation = incarnation = quoit_decoder_get_text (in);
  in->is_damaged |= strlen (quoit_node_claim_longest_text (&node)) > QUOIT_MAX_NODE_TEXT_BYTES;
  if (in->is_damaged)
    return;
  node.pool = pools[node.pool];
  node.kind = kinds[node.kind];
  quoit_claims_add (claims, &node);
}

static void
get_removed (QuoitDecoder *in, QuoitSourceUpdate *import)
{
  guint32 n = import->n_removed = quoit_decoder_get_count (in, MIN_NUMBER_BYTES);

  import->removed = g_new0 (guint32, n + 1);
  import->removed_names = g_new0 (const char *, n + 1);
  for (guint32 i = 0; i < n && !in->is_damaged; i++)
    {
      g_autofree char *name = NULL;

      import->removed[i] = quoit_decoder_get_limited (in, G_MAXUINT32 - 1);
      name = in->format < 4 ? NULL : quoit_decoder_get_text (in);
      in->is_damaged |= name != NULL && strlen (name) > QUOIT_MAX_NODE_TEXT_BYTES;
      import->removed_names[i] = quoit_claims_intern_text (import->claims, name);
    }
}

static void
get_states (QuoitDecoder *in, QuoitSourceUpdate *import)
{
  guint32 n = import->n_states = in->format < 4 ? 0 : quoit_decoder_get_count (in, MIN_PAIR_BYTES);

  import->states = g_new0 (QuoitReportedState, n + 1);
  for (guint32 i = 0; i < n; i++)
    {
      import->states[i].id = quoit_decoder_get_limited (in, G_MAXUINT32 - 1);
      import->states[i].state = quoit_decoder_get_limited (in, QUOIT_NODE_DEAD);
      import->states[i].cause = in->format < 5 ? QUOIT_CAUSE_UNCHANGED
          : (guint8) quoit_decoder_get_limited (in, QUOIT_CAUSE_UNCHANGED);
    }
}

static void
get_nodes (QuoitDecoder *in, QuoitSourceUpdate *import)
{
  QuoitClaims *claims = import->claims;
  guint32 n_pools, n_kinds, n;
  g_autofree guint32 *pools = NULL, *kinds = NULL;

  n_pools = quoit_decoder_get_count (in, MIN_POOL_BYTES);
  pools = g_new0 (guint32, n_pools + 1);
  for (guint32 i = 0; i < n_pools && !in->is_damaged; i++)
    {
      g_autofree char *name = quoit_decoder_get_required_text (in);

      pools[i] = quoit_codec_get_pool (in, claims, name);
    }
  n_kinds = quoit_decoder_get_count (in, MIN_KIND_BYTES);
  kinds = g_new0 (guint32, n_kinds + 1);
  for (guint32 i = 0; i < n_kinds && !in->is_damaged; i++)
    kinds[i] = quoit_codec_get_kind (in, claims);
  n = quoit_decoder_get_count (in, MIN_NODE_BYTES);
  in->is_damaged |= n > 0 && (n_pools == 0 || n_kinds == 0);
  import->ids = g_new0 (guint32, n + 1);
  import->events = g_new0 (guint8, n + 1);
  for (guint32 i = 0; i < n && !in->is_damaged; i++)
    get_node (in, claims, pools, n_pools, kinds, n_kinds, &import->ids[i], &import->events[i]);
}

QuoitSourceUpdate *
quoit_codec_get_import (QuoitDecoder *in)
{
  g_autofree char *source = quoit_decoder_get_required_text (in);
  QuoitSourceKind kind = quoit_decoder_get_limited (in, QUOIT_LAST_SOURCE_KIND);
  QuoitSourceUpdate *import = quoit_source_update_new (quoit_claims_new (source, kind), NULL, NULL, 0);

  in->is_damaged |= kind < QUOIT_FIRST_SOURCE_KIND;
  import->keeps_pools = in->format >= 4 && quoit_decoder_get_limited (in, 1) == 1;
  get_removed (in, import);
  get_states (in, import);
  get_nodes (in, import);
  if (!in->is_damaged)
    return import;
  quoit_source_update_unref (import);
  return NULL;
}
