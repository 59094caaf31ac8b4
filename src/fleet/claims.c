/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/claims-private.h"

#include <string.h>

#include "base/label-names.h"
#include "base/strings.h"
#include "models/ray/resource-names.h"

void *
quoit_claims_alloc (QuoitClaims *claims, gsize size)
{
  return quoit_texts_alloc (&claims->texts, size);
}

void *
quoit_claims_alloc_copy (QuoitClaims *claims, const void *data, gsize size)
{
  return quoit_texts_alloc_copy (&claims->texts, data, size);
}

const char *
quoit_claims_copy_text (QuoitClaims *claims, const char *text)
{
  return text == NULL ? NULL : quoit_claims_alloc_copy (claims, text, strlen (text) + 1);
}

QuoitClaims *
quoit_claims_new (const char *source, QuoitSourceKind kind)
{
  QuoitClaims *claims = g_new0 (QuoitClaims, 1);

  quoit_texts_init (&claims->texts);
  claims->pools = g_array_new (FALSE, TRUE, sizeof (QuoitPoolClaim));
  claims->pool_index = g_hash_table_new (g_direct_hash, g_direct_equal);
  claims->kinds = g_array_new (FALSE, TRUE, sizeof (QuoitNodeKind));
  claims->kind_hashes = g_array_new (FALSE, FALSE, sizeof (guint32));
  claims->kinds_mask = 7;
  claims->kind_slots = g_new0 (guint32, claims->kinds_mask + 1);
  claims->nodes = g_array_new (FALSE, FALSE, sizeof (QuoitNodeClaim));
  claims->labels = g_array_new (FALSE, FALSE, sizeof (QuoitPair));
  claims->resources = g_array_new (FALSE, FALSE, sizeof (QuoitResource));
  claims->groups = g_array_new (FALSE, FALSE, sizeof (QuoitGroupClaim));
  claims->external = g_array_new (FALSE, FALSE, sizeof (QuoitBundleClaim));
  claims->reservations = g_array_new (FALSE, FALSE, sizeof (QuoitReservationClaim));
  claims->warnings = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (claims->warnings, NULL);
  claims->source = quoit_claims_intern_text (claims, source);
  claims->source_kind = kind;
  return claims;
}

void
quoit_claims_free (QuoitClaims *claims)
{
  if (claims == NULL)
    return;
  quoit_texts_clear (&claims->texts);
  g_array_unref (claims->pools);
  g_hash_table_unref (claims->pool_index);
  g_array_unref (claims->kinds);
  g_array_unref (claims->kind_hashes);
  g_free (claims->kind_slots);
  g_array_unref (claims->nodes);
  g_array_unref (claims->labels);
  g_array_unref (claims->resources);
  g_array_unref (claims->groups);
  g_array_unref (claims->external);
  g_array_unref (claims->reservations);
  g_ptr_array_unref (claims->warnings);
  g_free (claims);
}

const char *
quoit_claims_source (const QuoitClaims *claims)
{
  return claims->source;
}

QuoitSourceKind
quoit_claims_source_kind (const QuoitClaims *claims)
{
  return claims->source_kind;
}

gsize
quoit_claims_bytes (const QuoitClaims *claims)
{
  return claims->texts.used;
}

void
quoit_claims_set_join (QuoitClaims *claims, const char *source)
{
  claims->join = quoit_claims_intern_text (claims, source);
}

const char *
quoit_claims_join (const QuoitClaims *claims)
{
  return claims->join;
}

const char *
quoit_claims_intern_text (QuoitClaims *claims, const char *text)
{
  return text == NULL ? NULL : quoit_texts_intern (&claims->texts, text, strlen (text));
}

guint32
quoit_claims_ensure_pool (QuoitClaims *claims, const char *name)
{
  QuoitPoolClaim pool = { .name = quoit_claims_intern_text (claims, name) };
  guint32 index = GPOINTER_TO_UINT (g_hash_table_lookup (claims->pool_index, pool.name));

  if (index != 0)
    return index - 1;

  g_array_append_val (claims->pools, pool);
  g_hash_table_insert (claims->pool_index, (char *) pool.name, GUINT_TO_POINTER (claims->pools->len));
  return claims->pools->len - 1;
}

QuoitPoolClaim *
quoit_claims_pool_at (const QuoitClaims *claims, guint32 index)
{
  g_assert (index < claims->pools->len);
  return &g_array_index (claims->pools, QuoitPoolClaim, index);
}

guint32
quoit_claims_n_pools (const QuoitClaims *claims)
{
  return claims->pools->len;
}

void
quoit_claims_set_pool_env (QuoitClaims *claims, guint32 pool, const QuoitPair *env, guint16 n_env)
{
  QuoitPoolClaim *copy = quoit_claims_pool_at (claims, pool);
  QuoitPair *pairs = quoit_claims_alloc (claims, sizeof (QuoitPair) * MAX (n_env, 1));

  for (guint16 i = 0; i < n_env; i++)
    pairs[i] = (QuoitPair) { quoit_claims_intern_text (claims, env[i].key),
                             quoit_claims_intern_text (claims, env[i].value) };
  copy->env = pairs;
  copy->n_env = n_env;
}

gboolean
quoit_claims_is_node_specific (const char *key)
{
  static const char *const keys[]
      = { QUOIT_RAY_LABEL_NODE_ID, "ray.io/node_id" /* older Ray */, QUOIT_RAY_LABEL_WORKER_ID,
          QUOIT_RAY_LABEL_SLICE_NAME, QUOIT_K8S_LABEL_HOST_NAME };

  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    if (strcmp (key, keys[i]) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_redundant_resource (const char *name, const char *slice)
{
  if (quoit_resource_is_predefined (name))
    return FALSE;
  return g_str_has_prefix (name, "node:") || (slice != NULL && strcmp (name, slice) == 0)
         || quoit_resource_is_slice_head (name) || quoit_resource_is_of_group (name);
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (((const QuoitPair *) a)->key, ((const QuoitPair *) b)->key);
}

int
quoit_resource_compare (gconstpointer a, gconstpointer b)
{
  return strcmp (((const QuoitResource *) a)->name, ((const QuoitResource *) b)->name);
}

static gboolean
same_kind (const QuoitNodeKind *a, const QuoitNodeKind *b)
{
  /* All texts are interned, so equal texts have equal pointers. QuoitPair and QuoitResource have no padding, so
   * memcmp() compares them (see the assertions below). */
  return a->generation == b->generation && quoit_shape_equal (a->shape, b->shape) && a->topology == b->topology
         && a->pod_type == b->pod_type && a->chips == b->chips && a->n_labels == b->n_labels
         && a->n_resources == b->n_resources
         && (a->n_labels == 0 || memcmp (a->labels, b->labels, a->n_labels * sizeof *a->labels) == 0)
         && (a->n_resources == 0 || memcmp (a->resources, b->resources, a->n_resources * sizeof *a->resources) == 0);
}

G_STATIC_ASSERT (sizeof (QuoitPair) == 2 * sizeof (void *));
G_STATIC_ASSERT (sizeof (QuoitResource) == sizeof (void *) + 8);

static guint32
hash_kind (const QuoitNodeKind *kind)
{
  guint64 words[] = { (guint64) kind->generation << 32 | kind->chips,
                      (guint64) kind->shape.dims[0] << 32 | kind->shape.dims[1] << 16 | kind->shape.dims[2],
                      (guint64) (guintptr) kind->topology,
                      (guint64) (guintptr) kind->pod_type,
                      quoit_hash_bytes ((const char *) kind->labels, kind->n_labels * sizeof *kind->labels),
                      quoit_hash_bytes ((const char *) kind->resources, kind->n_resources * sizeof *kind->resources) };

  return (guint32) quoit_hash_bytes ((const char *) words, sizeof words);
}

static void
insert_kind_slot (QuoitClaims *claims, guint32 index)
{
  guint32 slot = g_array_index (claims->kind_hashes, guint32, index) & claims->kinds_mask;

  while (claims->kind_slots[slot] != 0)
    slot = (slot + 1) & claims->kinds_mask;
  claims->kind_slots[slot] = index + 1;
}

static guint32
append_kind (QuoitClaims *claims, QuoitNodeKind *kind, guint32 hash)
{
  kind->labels = quoit_claims_alloc_copy (claims, kind->labels, kind->n_labels * sizeof *kind->labels);
  kind->resources = quoit_claims_alloc_copy (claims, kind->resources, kind->n_resources * sizeof *kind->resources);
  g_array_append_val (claims->kinds, *kind);
  g_array_append_val (claims->kind_hashes, hash);

  if (claims->kinds->len <= claims->kinds_mask - claims->kinds_mask / 4)
    {
      insert_kind_slot (claims, claims->kinds->len - 1);
      return claims->kinds->len - 1;
    }
  claims->kinds_mask = claims->kinds_mask * 2 + 1;
  g_free (claims->kind_slots);
  claims->kind_slots = g_new0 (guint32, claims->kinds_mask + 1);
  for (guint32 i = 0; i < claims->kinds->len; i++)
    insert_kind_slot (claims, i);
  return claims->kinds->len - 1;
}

static void
collect_labels (QuoitClaims *claims, QuoitNodeKind *kind)
{
  g_array_set_size (claims->labels, 0);
  for (guint16 i = 0; i < kind->n_labels; i++)
    {
      QuoitPair pair;

      if (quoit_claims_is_node_specific (kind->labels[i].key))
        continue;
      pair.key = quoit_claims_intern_text (claims, kind->labels[i].key);
      pair.value = quoit_claims_intern_text (claims, kind->labels[i].value);
      g_array_append_val (claims->labels, pair);
    }
  g_array_sort (claims->labels, compare_keys);
  kind->labels = (const QuoitPair *) (void *) claims->labels->data;
  kind->n_labels = (guint16) claims->labels->len;
}

static void
collect_resources (QuoitClaims *claims, QuoitNodeKind *kind, const char *slice)
{
  g_array_set_size (claims->resources, 0);
  for (guint16 i = 0; i < kind->n_resources; i++)
    {
      QuoitResource resource = kind->resources[i];

      if (is_redundant_resource (resource.name, slice))
        continue;
      resource.name = quoit_claims_intern_text (claims, resource.name);
      g_array_append_val (claims->resources, resource);
    }
  g_array_sort (claims->resources, quoit_resource_compare);
  kind->resources = (const QuoitResource *) (void *) claims->resources->data;
  kind->n_resources = (guint16) claims->resources->len;
}

guint32
quoit_claims_intern_kind (QuoitClaims *claims, const QuoitNodeKind *stated, const char *slice)
{
  QuoitNodeKind kind = *stated;
  guint32 hash;

  collect_labels (claims, &kind);
  collect_resources (claims, &kind, slice);
  kind.topology = quoit_claims_intern_text (claims, kind.topology);
  kind.pod_type = quoit_claims_intern_text (claims, kind.pod_type);

  hash = hash_kind (&kind);
  for (guint32 slot = hash & claims->kinds_mask; claims->kind_slots[slot] != 0; slot = (slot + 1) & claims->kinds_mask)
    {
      guint32 index = claims->kind_slots[slot] - 1;

      if (g_array_index (claims->kind_hashes, guint32, index) == hash
          && same_kind (&g_array_index (claims->kinds, QuoitNodeKind, index), &kind))
        return index;
    }
  return append_kind (claims, &kind, hash);
}

const QuoitNodeKind *
quoit_claims_kind_at (const QuoitClaims *claims, guint32 index)
{
  g_assert (index < claims->kinds->len);
  return &g_array_index (claims->kinds, QuoitNodeKind, index);
}

guint32
quoit_claims_n_kinds (const QuoitClaims *claims)
{
  return claims->kinds->len;
}

void
quoit_claims_add (QuoitClaims *claims, const QuoitNodeClaim *node)
{
  QuoitNodeClaim copy = *node;

  g_assert (node->name != NULL && node->pool < claims->pools->len && node->kind < claims->kinds->len);
  /* Name, identity and address differ on every node, so interning them would only cost time. */
  copy.name = quoit_claims_copy_text (claims, node->name);
  copy.identity = quoit_claims_copy_text (claims, node->identity);
  copy.address = node->address == node->name ? copy.name : quoit_claims_copy_text (claims, node->address);
  copy.slice = quoit_claims_intern_text (claims, node->slice);
  copy.incarnation = quoit_claims_intern_text (claims, node->incarnation);
  g_array_append_val (claims->nodes, copy);
}

const QuoitNodeClaim *
quoit_claims_nodes (const QuoitClaims *claims, guint32 *n_nodes)
{
  *n_nodes = claims->nodes->len;
  return (const QuoitNodeClaim *) (const void *) claims->nodes->data;
}

void
quoit_claims_set_worker_id (QuoitClaims *claims, guint32 index, gint32 worker_id)
{
  g_assert (index < claims->nodes->len);
  g_array_index (claims->nodes, QuoitNodeClaim, index).worker_id = worker_id;
}

void
quoit_claims_warn (QuoitClaims *claims, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_insert (claims->warnings, (gint) claims->warnings->len - 1, g_strdup_vprintf (format, args));
  va_end (args);
}

const char *const *
quoit_claims_warnings (const QuoitClaims *claims)
{
  return (const char *const *) claims->warnings->pdata;
}

guint32
quoit_claims_copy_pool (QuoitClaims *claims, const QuoitPoolClaim *pool)
{
  guint32 index = quoit_claims_ensure_pool (claims, pool->name);
  QuoitPoolClaim *copy = quoit_claims_pool_at (claims, index);

  copy->pod_cpu = pool->pod_cpu;
  copy->pod_memory = pool->pod_memory;
  copy->n_pods = pool->n_pods;
  quoit_claims_set_pool_env (claims, index, pool->env, pool->n_env);
  return index;
}
