/* SPDX-License-Identifier: Apache-2.0 */
#include "store/codec.h"

#include <string.h>

#include "base/time.h"
#include "fleet/source-kinds.h"

/* --- bytes --- */

/* Writes 7 bits per byte, the lowest first. The high bit of each byte but the last is set. */
static void
put (GByteArray *out, guint64 value)
{
  guint8 bytes[10];
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8) (value | 0x80);
  bytes[n++] = (guint8) value;
  g_byte_array_append (out, bytes, n);
}

/* Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ..., so that small negative numbers are short. */
static void
put_signed (GByteArray *out, gint64 value)
{
  put (out, (guint64) value << 1 ^ (guint64) (value >> 63));
}

/* Writes the length plus 1, or 0 for NULL, so that NULL and "" differ. */
static void
put_text (GByteArray *out, const char *text)
{
  gsize length = text == NULL ? 0 : strlen (text);

  put (out, text == NULL ? 0 : length + 1);
  if (length > 0)
    g_byte_array_append (out, (const guint8 *) text, (guint) length);
}

static void
put_sum (GByteArray *out, QuoitSum sum)
{
  put (out, (guint64) sum.e4);
  put (out, (guint64) ((unsigned __int128) sum.e4 >> 64));
}

/* Reads encoded bytes. The functions below set is_damaged and return 0, or an empty value, if the bytes are invalid.
 * The caller checks is_damaged once after reading several values. */
typedef struct {
  const guint8 *at, *end;
  gboolean is_damaged;
  guint format;
} Decoder;

/* SQLite returns NULL for an empty blob, but pointer arithmetic needs a valid pointer. */
static Decoder
decoder_new (const guint8 *bytes, gsize length)
{
  static const guint8 empty[1];
  const guint8 *at = length == 0 ? empty : bytes;

  return (Decoder) { at, at + length, FALSE, QUOIT_CODEC_FORMAT };
}

static guint64
get (Decoder *in)
{
  guint64 value = 0;

  for (guint shift = 0; shift < 64; shift += 7)
    {
      guint8 byte;

      if (in->at == in->end)
        break;
      byte = *in->at++;
      value |= (guint64) (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0)
        return value;
    }
  in->is_damaged = TRUE;
  return 0;
}

static gint64
get_signed (Decoder *in)
{
  guint64 value = get (in);

  return (gint64) (value >> 1) ^ -(gint64) (value & 1);
}

/* The minimum encoded sizes of elements that occur in arrays. */
enum {
  MIN_NUMBER_BYTES = 1,
  MIN_PAIR_BYTES = 2,
  MIN_TAKE_BYTES = 2,
  MIN_EFFECT_BYTES = 3,
  MIN_BUNDLE_BYTES = 4,
  MIN_POOL_BYTES = 7,
  MIN_KIND_BYTES = 10,
  MIN_NODE_BYTES = 11
};

/* Reads a count of elements of at least @min_bytes bytes each. The remaining bytes limit it, so that a damaged count
 * cannot allocate much memory. */
static guint32
get_count (Decoder *in, gsize min_bytes)
{
  guint64 n = get (in);

  if (n > (guint64) (in->end - in->at) / min_bytes || n > G_MAXINT32)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint32) n;
}

/* Like get_count(), for counts that are stored in 16 bits. */
static guint16
get_count16 (Decoder *in, gsize min_bytes)
{
  guint32 n = get_count (in, min_bytes);

  if (n > G_MAXUINT16)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint16) n;
}

/* Reads a number of at most @max. */
static guint32
get_limited (Decoder *in, guint64 max)
{
  guint64 n = get (in);

  if (n > max)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint32) n;
}

/* Reads a node id, which is encoded as the difference to @previous. */
static guint32
get_id (Decoder *in, guint32 previous)
{
  gint64 id;

  if (__builtin_add_overflow (get_signed (in), (gint64) previous, &id) || id < 0 || id >= G_MAXUINT32)
    in->is_damaged = TRUE;
  return in->is_damaged ? 0 : (guint32) id;
}

static char *
get_text (Decoder *in)
{
  guint64 length = get (in);
  const guint8 *text = in->at;

  if (length == 0 || in->is_damaged)
    return NULL;
  if (length - 1 > (guint64) (in->end - in->at) || memchr (text, '\0', length - 1) != NULL)
    return in->is_damaged = TRUE, NULL;
  in->at += length - 1;
  return g_strndup ((const char *) text, length - 1);
}

/* Reads a text that must not be NULL. */
static char *
get_required_text (Decoder *in)
{
  char *text = get_text (in);

  if (text != NULL)
    return text;
  in->is_damaged = TRUE;
  return g_strdup ("");
}

static QuoitSum
get_sum (Decoder *in)
{
  guint64 low = get (in), high = get (in);

  return (QuoitSum) { (__int128) ((unsigned __int128) high << 64 | low) };
}

/* --- kinds and pools --- */

static void
put_pairs (GByteArray *out, const QuoitPair *pairs, guint16 n)
{
  put (out, n);
  for (guint16 i = 0; i < n; i++)
    {
      put_text (out, pairs[i].key);
      put_text (out, pairs[i].value);
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
get_pairs (Decoder *in, QuoitClaims *claims, guint16 *n)
{
  guint16 count = get_count16 (in, MIN_PAIR_BYTES);
  QuoitPair *pairs = g_new0 (QuoitPair, count + 1u);

  for (guint32 i = 0; i < count && !in->is_damaged; i++)
    {
      g_autofree char *key = get_required_text (in), *value = get_required_text (in);

      pairs[i] = (QuoitPair) { quoit_claims_intern_text (claims, key), quoit_claims_intern_text (claims, value) };
    }
  if (!in->is_damaged && !are_distinct (pairs, count))
    in->is_damaged = TRUE;
  *n = in->is_damaged ? 0 : count;
  return pairs;
}

static void
put_kind (GByteArray *out, const QuoitNodeKind *kind)
{
  put (out, kind->generation);
  put (out, kind->shape.n_dims);
  for (guint i = 0; i < 3; i++)
    put (out, kind->shape.dims[i]);
  put_text (out, kind->topology);
  put_text (out, kind->pod_type);
  put (out, kind->chips);
  put_pairs (out, kind->labels, kind->n_labels);
  put (out, kind->n_resources);
  for (guint16 i = 0; i < kind->n_resources; i++)
    {
      put_text (out, kind->resources[i].name);
      put_signed (out, kind->resources[i].amount.e4);
    }
}

static guint32
get_kind (Decoder *in, QuoitClaims *claims)
{
  QuoitNodeKind kind = { 0 };
  g_autofree char *topology = NULL, *pod_type = NULL;
  g_autofree QuoitPair *labels = NULL;
  g_autofree QuoitResource *resources = NULL;
  guint16 n;

  kind.generation = get_limited (in, QUOIT_N_GENERATIONS - 1);
  kind.shape.n_dims = (guint16) get_limited (in, 3);
  for (guint i = 0; i < 3; i++)
    kind.shape.dims[i] = (guint16) get_limited (in, 4096);
  kind.topology = topology = get_text (in);
  kind.pod_type = pod_type = get_text (in);
  kind.chips = (guint16) get_limited (in, G_MAXUINT16);
  kind.labels = labels = get_pairs (in, claims, &kind.n_labels);
  n = get_count16 (in, MIN_PAIR_BYTES);
  resources = g_new0 (QuoitResource, n + 1u);
  for (guint32 i = 0; i < n && !in->is_damaged; i++)
    {
      g_autofree char *name = get_required_text (in);

      resources[i] = (QuoitResource) { quoit_claims_intern_text (claims, name), { get_signed (in) } };
      /* Resources are sorted by name, without duplicates. */
      in->is_damaged |= i > 0 && strcmp (resources[i - 1].name, resources[i].name) >= 0;
      in->is_damaged |= resources[i].amount.e4 < 0;
    }
  kind.resources = resources;
  kind.n_resources = in->is_damaged ? 0 : n;
  return in->is_damaged ? 0 : quoit_claims_intern_kind (claims, &kind, NULL);
}

static void
put_pool (GByteArray *out, const QuoitPoolClaim *pool)
{
  put (out, pool->n_pods);
  put_sum (out, pool->pod_cpu);
  put_sum (out, pool->pod_memory);
  put_pairs (out, pool->env, pool->n_env);
}

static guint32
get_pool (Decoder *in, QuoitClaims *claims, const char *name)
{
  guint32 index = quoit_claims_ensure_pool (claims, name), n_pods = get_limited (in, G_MAXUINT32);
  QuoitSum cpu = get_sum (in), memory = get_sum (in);
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

static void
put_import (GByteArray *out, const QuoitSourceUpdate *import)
{
  const QuoitClaims *claims = import->claims;
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n);

  put_text (out, quoit_claims_source (claims));
  put (out, quoit_claims_source_kind (claims));
  put (out, import->keeps_pools);
  put (out, import->n_removed);
  for (guint32 i = 0; i < import->n_removed; i++)
    {
      put (out, import->removed[i]);
      put_text (out, import->removed_names == NULL ? NULL : import->removed_names[i]);
    }
  put (out, import->n_states);
  for (guint32 i = 0; i < import->n_states; i++)
    {
      put (out, import->states[i].id);
      put (out, import->states[i].state);
    }
  put (out, quoit_claims_n_pools (claims));
  for (guint32 p = 0; p < quoit_claims_n_pools (claims); p++)
    {
      put_text (out, quoit_claims_pool_at (claims, p)->name);
      put_pool (out, quoit_claims_pool_at (claims, p));
    }
  put (out, quoit_claims_n_kinds (claims));
  for (guint32 k = 0; k < quoit_claims_n_kinds (claims); k++)
    put_kind (out, quoit_claims_kind_at (claims, k));
  put (out, n);
  for (guint32 i = 0; i < n; i++)
    {
      put (out, import->ids[i]);
      put (out, import->events == NULL ? QUOIT_NODE_EVENT_UNRECORDED : import->events[i]);
      put (out, nodes[i].pool);
      put (out, nodes[i].kind);
      put_signed (out, nodes[i].worker_id);
      put (out, nodes[i].state);
      put (out, nodes[i].flags);
      put_text (out, nodes[i].name);
      put_text (out, nodes[i].identity);
      put_text (out, nodes[i].address);
      put_text (out, nodes[i].slice);
      put_text (out, nodes[i].incarnation);
    }
}

static void
get_node (Decoder *in, QuoitClaims *claims, const guint32 *pools, guint32 n_pools, const guint32 *kinds,
          guint32 n_kinds, guint32 *id, guint8 *event)
{
  QuoitNodeClaim node = { 0 };
  gint64 worker;
  g_autofree char *name = NULL, *identity = NULL, *address = NULL, *slice = NULL, *incarnation = NULL;

  *id = get_limited (in, G_MAXUINT32 - 1);
  *event = in->format < 4 ? QUOIT_NODE_EVENT_UNRECORDED : (guint8) get_limited (in, QUOIT_NODE_EVENT_LOST);
  node.pool = get_limited (in, n_pools - 1);
  node.kind = get_limited (in, n_kinds - 1);
  worker = get_signed (in);
  in->is_damaged |= worker < -1 || worker > QUOIT_MAX_WORKER_ID;
  node.worker_id = (gint32) worker;
  node.state = (guint8) get_limited (in, QUOIT_NODE_DEAD);
  node.flags = (guint8) get_limited (in, G_MAXUINT8);
  node.name = name = get_required_text (in);
  node.identity = identity = get_text (in);
  node.address = address = get_text (in);
  node.slice = slice = get_text (in);
  node.incarnation = incarnation = get_text (in);
  in->is_damaged |= strlen (quoit_node_claim_longest_text (&node)) > QUOIT_MAX_NODE_TEXT_BYTES;
  if (in->is_damaged)
    return;
  node.pool = pools[node.pool];
  node.kind = kinds[node.kind];
  quoit_claims_add (claims, &node);
}

static void
get_removed (Decoder *in, QuoitSourceUpdate *import)
{
  guint32 n = import->n_removed = get_count (in, MIN_NUMBER_BYTES);

  import->removed = g_new0 (guint32, n + 1);
  import->removed_names = g_new0 (const char *, n + 1);
  for (guint32 i = 0; i < n && !in->is_damaged; i++)
    {
      g_autofree char *name = NULL;

      import->removed[i] = get_limited (in, G_MAXUINT32 - 1);
      name = in->format < 4 ? NULL : get_text (in);
      in->is_damaged |= name != NULL && strlen (name) > QUOIT_MAX_NODE_TEXT_BYTES;
      import->removed_names[i] = quoit_claims_intern_text (import->claims, name);
    }
}

static void
get_states (Decoder *in, QuoitSourceUpdate *import)
{
  guint32 n = import->n_states = in->format < 4 ? 0 : get_count (in, MIN_PAIR_BYTES);

  import->states = g_new0 (QuoitNodeStateChange, n + 1);
  for (guint32 i = 0; i < n; i++)
    {
      import->states[i].id = get_limited (in, G_MAXUINT32 - 1);
      import->states[i].state = get_limited (in, QUOIT_NODE_DEAD);
    }
}

static void
get_nodes (Decoder *in, QuoitSourceUpdate *import)
{
  QuoitClaims *claims = import->claims;
  guint32 n_pools, n_kinds, n;
  g_autofree guint32 *pools = NULL, *kinds = NULL;

  n_pools = get_count (in, MIN_POOL_BYTES);
  pools = g_new0 (guint32, n_pools + 1);
  for (guint32 i = 0; i < n_pools && !in->is_damaged; i++)
    {
      g_autofree char *name = get_required_text (in);

      pools[i] = get_pool (in, claims, name);
    }
  n_kinds = get_count (in, MIN_KIND_BYTES);
  kinds = g_new0 (guint32, n_kinds + 1);
  for (guint32 i = 0; i < n_kinds && !in->is_damaged; i++)
    kinds[i] = get_kind (in, claims);
  n = get_count (in, MIN_NODE_BYTES);
  in->is_damaged |= n > 0 && (n_pools == 0 || n_kinds == 0);
  import->ids = g_new0 (guint32, n + 1);
  import->events = g_new0 (guint8, n + 1);
  for (guint32 i = 0; i < n && !in->is_damaged; i++)
    get_node (in, claims, pools, n_pools, kinds, n_kinds, &import->ids[i], &import->events[i]);
}

static QuoitSourceUpdate *
get_import (Decoder *in)
{
  g_autofree char *source = get_required_text (in);
  QuoitSourceKind kind = get_limited (in, QUOIT_LAST_SOURCE_KIND);
  QuoitSourceUpdate *import = quoit_source_update_new (quoit_claims_new (source, kind), NULL, NULL, 0);

  in->is_damaged |= kind < QUOIT_FIRST_SOURCE_KIND;
  import->keeps_pools = in->format >= 4 && get_limited (in, 1) == 1;
  get_removed (in, import);
  get_states (in, import);
  get_nodes (in, import);
  if (!in->is_damaged)
    return import;
  quoit_source_update_unref (import);
  return NULL;
}

/* --- groups --- */

static void
put_bundle (GByteArray *out, const QuoitBundle *bundle)
{
  put (out, bundle->chips);
  put (out, bundle->chip);
  put_signed (out, bundle->part.e4);
  put (out, bundle->n_takes);
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      put_text (out, bundle->takes[t].resource);
      put_signed (out, bundle->takes[t].amount.e4);
    }
}

static void
get_bundle (Decoder *in, QuoitBundle *bundle, GPtrArray *allocations)
{
  QuoitTake *takes;
  guint16 n;

  bundle->chips = get (in);
  bundle->chip = (guint8) get_limited (in, 63);
  bundle->part.e4 = get_signed (in);
  n = get_count16 (in, MIN_TAKE_BYTES);
  takes = g_new0 (QuoitTake, n + 1u);
  g_ptr_array_add (allocations, takes);
  for (guint32 t = 0; t < n && !in->is_damaged; t++)
    {
      char *resource = get_required_text (in);

      g_ptr_array_add (allocations, resource);
      takes[t] = (QuoitTake) { resource, { get_signed (in) } };
    }
  bundle->n_takes = in->is_damaged ? 0 : n;
  bundle->takes = takes;
}

static void
put_labels (GByteArray *out, const QuoitLabel *labels, guint n)
{
  put (out, n);
  for (guint i = 0; i < n; i++)
    {
      put_text (out, labels[i].key);
      put_text (out, labels[i].value);
    }
}

/* quoit_group_data_check() checks the labels. */
static void
get_labels (Decoder *in, QuoitGroupData *group, GPtrArray *allocations)
{
  guint32 n = get_count (in, MIN_PAIR_BYTES);
  QuoitLabel *labels;

  in->is_damaged |= n > QUOIT_MAX_LABELS;
  if (in->is_damaged || n == 0)
    return;
  labels = g_new0 (QuoitLabel, n);
  g_ptr_array_add (allocations, labels);
  for (guint32 i = 0; i < n; i++)
    {
      char *key = get_required_text (in), *value = get_required_text (in);

      g_ptr_array_add (allocations, key);
      g_ptr_array_add (allocations, value);
      labels[i] = (QuoitLabel) { key, value };
    }
  group->labels = labels;
  group->n_labels = (guint16) n;
}

static void
put_group (GByteArray *out, const QuoitGroupData *group)
{
  put (out, group->id);
  put (out, group->state);
  put_signed (out, group->created_ms);
  put_signed (out, group->ended_ms);
  put_text (out, group->name);
  put_text (out, group->owner);
  put_text (out, group->key);
  put_text (out, group->request);
  put (out, group->n_slices);
  for (guint32 i = 0; i < group->n_slices; i++)
    put (out, group->slice_end[i]);
  put (out, group->n_nodes);
  for (guint32 i = 0; i < group->n_nodes; i++)
    put_signed (out, (gint64) group->node_ids[i] - (i == 0 ? 0 : group->node_ids[i - 1]));
  put (out, group->bundles != NULL);
  for (guint32 i = 0; group->bundles != NULL && i < group->n_nodes; i++)
    put_bundle (out, &group->bundles[i]);
  put_signed (out, group->until_ms);
  put (out, group->kind);
  put (out, group->end);
  put_text (out, group->source);
  put_text (out, group->foreign_id);
  put_signed (out, group->expected_end_ms);
  put_signed (out, group->priority);
  put_labels (out, group->labels, group->n_labels);
  put_text (out, group->reason);
  put_signed (out, group->begins_ms);
}

static QuoitGroupData *
get_group (Decoder *in)
{
  QuoitGroupData group = { 0 };
  g_autofree char *name = NULL, *owner = NULL, *key = NULL, *request = NULL, *source = NULL, *foreign_id = NULL;
  g_autofree char *reason = NULL;
  g_autofree guint32 *ends = NULL, *ids = NULL;
  g_autofree QuoitBundle *bundles = NULL;
  g_autoptr (GPtrArray) allocations = g_ptr_array_new_with_free_func (g_free);

  group.id = get (in);
  group.state = get_limited (in, QUOIT_GROUP_AHEAD);
  in->is_damaged |= group.state < QUOIT_GROUP_HELD;
  group.created_ms = get_signed (in);
  group.ended_ms = get_signed (in);
  group.name = name = get_required_text (in);
  group.owner = owner = get_required_text (in);
  group.key = key = get_required_text (in);
  group.request = request = get_required_text (in);
  group.n_slices = get_count (in, MIN_NUMBER_BYTES);
  group.slice_end = ends = g_new0 (guint32, group.n_slices + 1);
  for (guint32 i = 0; i < group.n_slices; i++)
    ends[i] = get_limited (in, G_MAXUINT32);
  group.n_nodes = get_count (in, MIN_NUMBER_BYTES);
  group.node_ids = ids = g_new0 (guint32, group.n_nodes + 1);
  for (guint32 i = 0; i < group.n_nodes; i++)
    ids[i] = get_id (in, i == 0 ? 0 : ids[i - 1]);
  if (get_limited (in, 1) == 1)
    {
      in->is_damaged |= group.n_nodes > (gsize) (in->end - in->at) / MIN_BUNDLE_BYTES;
      group.bundles = bundles = g_new0 (QuoitBundle, in->is_damaged ? 1 : group.n_nodes + 1);
      for (guint32 i = 0; i < group.n_nodes && !in->is_damaged; i++)
        get_bundle (in, &bundles[i], allocations);
    }
  if (in->format >= 2)
    {
      group.until_ms = get_signed (in);
      group.kind = (guint8) get_limited (in, QUOIT_LAST_RECORD_KIND);
      group.end = (guint8) get_limited (in, QUOIT_END_SOURCE);
      group.source = source = get_required_text (in);
      group.foreign_id = foreign_id = get_required_text (in);
    }
  if (in->format >= 4)
    {
      gint64 priority;

      group.expected_end_ms = get_signed (in);
      priority = get_signed (in);
      in->is_damaged |= priority != (gint32) priority;
      group.priority = (gint32) priority;
      get_labels (in, &group, allocations);
      group.reason = reason = get_required_text (in);
      group.begins_ms = get_signed (in);
    }
  in->is_damaged = in->is_damaged || !quoit_group_data_check (&group, NULL);
  return in->is_damaged ? NULL : quoit_group_data_new (&group);
}

/* --- entries --- */

GByteArray *
quoit_codec_encode (const QuoitEntry *entry)
{
  GByteArray *out = g_byte_array_sized_new (128);

  put (out, QUOIT_CODEC_FORMAT);
  put (out, entry->n_effects);
  for (guint i = 0; i < entry->n_effects; i++)
    {
      const QuoitEffect *effect = &entry->effects[i];

      put (out, effect->type);
      switch (effect->type)
        {
        case QUOIT_EFFECT_IMPORT:
          put_import (out, effect->import);
          break;
        case QUOIT_EFFECT_GROUP_ADDED:
        case QUOIT_EFFECT_GROUP_CHANGED:
          put_group (out, effect->group);
          break;
        case QUOIT_EFFECT_GROUP_REMOVED:
          put (out, effect->group_id);
          put_text (out, effect->group_name);
          put (out, effect->end);
          put_text (out, effect->reason);
          break;
        case QUOIT_EFFECT_GROUP_LEASE:
          put (out, effect->group_id);
          put_text (out, effect->group_name);
          put (out, effect->group_state);
          put_signed (out, effect->until_ms);
          break;
        case QUOIT_EFFECT_GROUP_FORGOTTEN:
          put (out, effect->group_id);
          put_text (out, effect->group_name);
          break;
        case QUOIT_EFFECT_NODE_STATE:
          put (out, effect->node_id);
          put (out, effect->state);
          break;
        case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
          put (out, effect->numbers.epoch);
          put (out, effect->numbers.next_group_id);
          put (out, effect->numbers.next_node_id);
          put_signed (out, effect->numbers.max_jump_ms);
          put_signed (out, effect->numbers.keep_ms);
          break;
        }
    }
  return out;
}

static void
get_effect (Decoder *in, QuoitEntry *entry)
{
  static const QuoitEffectType last[] = { 0, QUOIT_EFFECT_NODE_STATE, QUOIT_EFFECT_GROUP_FORGOTTEN,
                                          QUOIT_EFFECT_LEDGER_NUMBERS_SET, QUOIT_EFFECT_LEDGER_NUMBERS_SET };
  QuoitEffect effect = { .type = get_limited (in, last[in->format]) };

  switch (effect.type)
    {
    case QUOIT_EFFECT_IMPORT:
      effect.import = get_import (in);
      break;
    case QUOIT_EFFECT_GROUP_ADDED:
    case QUOIT_EFFECT_GROUP_CHANGED:
      effect.group = get_group (in);
      break;
    case QUOIT_EFFECT_GROUP_REMOVED:
      effect.group_id = get (in);
      effect.group_name = get_required_text (in);
      effect.end = in->format == 1 ? QUOIT_END_RELEASED : get_limited (in, QUOIT_END_SOURCE);
      effect.reason = in->format < 4 ? NULL : get_text (in);
      in->is_damaged = in->is_damaged
                       || (effect.reason != NULL
                           && (effect.end != QUOIT_END_RELEASED || !quoit_reason_check (effect.reason, NULL)));
      break;
    case QUOIT_EFFECT_GROUP_LEASE:
      effect.group_id = get (in);
      effect.group_name = get_required_text (in);
      effect.group_state = get_limited (in, QUOIT_GROUP_RESERVED);
      effect.until_ms = get_signed (in);
      in->is_damaged |= effect.group_state < QUOIT_GROUP_HELD || !quoit_time_is_valid (effect.until_ms);
      break;
    case QUOIT_EFFECT_GROUP_FORGOTTEN:
      effect.group_id = get (in);
      effect.group_name = get_required_text (in);
      break;
    case QUOIT_EFFECT_NODE_STATE:
      effect.node_id = get_limited (in, G_MAXUINT32 - 1);
      effect.state = get_limited (in, QUOIT_NODE_DEAD);
      break;
    case QUOIT_EFFECT_LEDGER_NUMBERS_SET:
      effect.numbers.epoch = get_limited (in, G_MAXUINT32);
      effect.numbers.next_group_id = get (in);
      effect.numbers.next_node_id = get_limited (in, G_MAXINT32);
      effect.numbers.max_jump_ms = get_signed (in);
      effect.numbers.keep_ms = in->format < 4 ? 0 : get_signed (in);
      in->is_damaged
          |= effect.numbers.next_group_id > G_MAXINT64 || effect.numbers.max_jump_ms < 0 || effect.numbers.keep_ms < 0;
      break;
    default:
      in->is_damaged = TRUE;
    }
  if (!in->is_damaged)
    quoit_entry_add (entry, effect);
  else
    quoit_effect_clear (&effect);
}

QuoitEntry *
quoit_codec_decode (guint64 seq, gint64 time_ms, QuoitVerb verb, const char *actor, const guint8 *bytes, gsize length,
                    GError **error)
{
  static const QuoitFleet no_fleet = { .seq = 0 };
  Decoder in = decoder_new (bytes, length);
  g_autoptr (QuoitEntry) entry = quoit_entry_new (&no_fleet, verb, time_ms);
  guint64 format = get (&in);
  guint32 n;

  entry->seq = seq;
  entry->actor = actor == NULL || *actor == '\0' ? NULL : g_strdup (actor);
  if (!in.is_damaged && format > QUOIT_CODEC_FORMAT)
    return quoit_fail_null (error, QUOIT_ERROR_VERSION,
                            "journal entry %" G_GUINT64_FORMAT " is of format %" G_GUINT64_FORMAT
                            ", this quoit reads up to %d: use a newer quoit",
                            seq, format, QUOIT_CODEC_FORMAT);
  if (!quoit_time_is_valid (time_ms))
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED,
                            "journal entry %" G_GUINT64_FORMAT ": time '%" G_GINT64_FORMAT
                            "': expected milliseconds since 1970, before the year 2200",
                            seq, time_ms);
  in.format = (guint) format;
  n = get_count (&in, MIN_EFFECT_BYTES);
  for (guint32 i = 0; i < n && !in.is_damaged; i++)
    get_effect (&in, entry);
  if (in.is_damaged || format == 0 || n == 0 || in.at != in.end)
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED, "journal entry %" G_GUINT64_FORMAT " is damaged near byte %d",
                            seq, (int) (length - (gsize) (in.end - in.at)));
  return g_steal_pointer (&entry);
}

/* --- columns --- */

GByteArray *
quoit_codec_encode_kind (const QuoitNodeKind *kind)
{
  GByteArray *out = g_byte_array_new ();

  put_kind (out, kind);
  return out;
}

GByteArray *
quoit_codec_encode_pool (const QuoitPoolClaim *pool)
{
  GByteArray *out = g_byte_array_new ();

  put_pool (out, pool);
  return out;
}

GByteArray *
quoit_codec_encode_bundle (const QuoitBundle *bundle)
{
  GByteArray *out = g_byte_array_new ();

  put_bundle (out, bundle);
  return out;
}

GByteArray *
quoit_codec_encode_labels (const QuoitLabel *labels, guint n)
{
  GByteArray *out = g_byte_array_new ();

  put_labels (out, labels, n);
  return out;
}

static gboolean
check_end (const Decoder *in, const char *what, GError **error)
{
  if (!in->is_damaged && in->at == in->end)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_DAMAGED, "a row of table '%s' is damaged", what);
}

gboolean
quoit_codec_decode_kind (const guint8 *bytes, gsize length, QuoitClaims *claims, guint32 *index, GError **error)
{
  Decoder in = decoder_new (bytes, length);

  *index = get_kind (&in, claims);
  return check_end (&in, "kind", error);
}

gboolean
quoit_codec_decode_pool (const guint8 *bytes, gsize length, QuoitClaims *claims, const char *name, guint32 *index,
                         GError **error)
{
  Decoder in = decoder_new (bytes, length);

  *index = get_pool (&in, claims, name);
  return check_end (&in, "pool", error);
}

gboolean
quoit_codec_decode_bundle (const guint8 *bytes, gsize length, QuoitBundle *bundle, GPtrArray *takes, GError **error)
{
  Decoder in = decoder_new (bytes, length);

  get_bundle (&in, bundle, takes);
  return check_end (&in, "bundle", error);
}

gboolean
quoit_codec_decode_labels (const guint8 *bytes, gsize length, QuoitGroupData *group, GPtrArray *allocations,
                           GError **error)
{
  Decoder in = decoder_new (bytes, length);

  if (length > 0)
    get_labels (&in, group, allocations);
  return check_end (&in, "grp", error);
}
