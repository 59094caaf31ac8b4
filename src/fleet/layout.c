/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/layout-private.h"

#include <string.h>

#include "base/label-names.h"
#include "fleet/kind.h"

#define PACKED_MARK '\1'
#define TEXT_MARK '\2'

/* Owns the data that a layout shares with its patched copies. */
struct _QuoitLayoutFrame {
  gatomicrefcount refs;
  QuoitStrings *strings;
  QuoitClaims *kinds;
  QuoitRecent *kind_results;
  gpointer arrays[13]; /* shared arrays of the layout */
  gsize n_texts;       /* when the layout was built */
};

/* Owns the data that a layout shares with copies that differ only in the claimed states and causes. */
struct _QuoitLayoutNodes {
  gatomicrefcount refs;
  QuoitNode *nodes;
  char *texts;
  guint32 *node_slots, *index_by_slot;
  QuoitIds ids;
};

enum { N_REMEMBERED = 32 };

/* Versions are unique in the process, so that layouts of different ledgers have different ones. */
static guint64
next_version (void)
{
  static GMutex lock;
  static guint64 last;
  guint64 version;

  g_mutex_lock (&lock);
  version = ++last;
  g_mutex_unlock (&lock);
  return version;
}

void
quoit_layout_init_caches (QuoitLayout *layout)
{
  layout->version = next_version ();
  layout->slice_runs = NULL;
  layout->eligible = quoit_recent_new (N_REMEMBERED);
  layout->zones = quoit_recent_new (N_REMEMBERED);
  layout->kept = NULL;
  layout->domains = quoit_recent_new (N_REMEMBERED);
  layout->place_costs = quoit_recent_new (N_REMEMBERED);
}

void
quoit_layout_create_frame (QuoitLayout *layout)
{
  QuoitLayoutFrame *frame = layout->frame = g_new (QuoitLayoutFrame, 1);

  layout->kind_results = quoit_recent_new (N_REMEMBERED);
  *frame = (QuoitLayoutFrame) { .strings = layout->strings,
                                .kinds = layout->kinds,
                                .kind_results = layout->kind_results,
                                .arrays
                                = { layout->sources, layout->pools, layout->classes, layout->shelves, layout->slices,
                                    layout->kind_class, layout->env, layout->rows, layout->positions,
                                    layout->rank_shelf, layout->slice_slots, layout->joined, layout->joined_by_node },
                                .n_texts = layout->n_texts };
  g_atomic_ref_count_init (&frame->refs);
}

gsize
quoit_layout_claimed_bytes (guint32 n_nodes)
{
  return n_nodes / 4 + 1;
}

void
quoit_layout_set_claimed_state (QuoitLayout *layout, QuoitNodeId node, QuoitNodeState state)
{
  guint8 *four = &layout->claimed[node.index / 4];
  guint shift = node.index % 4 * 2;

  *four = (guint8) ((*four & ~(3u << shift)) | (guint) state << shift);
}

void
quoit_layout_set_cause (QuoitLayout *layout, QuoitNodeId node, QuoitNodeCause cause)
{
  if (layout->causes == NULL && cause != QUOIT_CAUSE_NONE)
    layout->causes = g_new0 (guint8, layout->n_nodes + 1);
  if (layout->causes != NULL)
    layout->causes[node.index] = (guint8) cause;
}

/* Copies what a layout does not share with any other. */
static void
copy_states (const QuoitLayout *layout, QuoitLayout *other)
{
  other->claimed = g_memdup2 (layout->claimed, quoit_layout_claimed_bytes (layout->n_nodes));
  other->causes = g_memdup2 (layout->causes, layout->n_nodes + 1);
}

void
quoit_layout_own_nodes (QuoitLayout *layout)
{
  layout->node_data = g_new (QuoitLayoutNodes, 1);
  *layout->node_data = (QuoitLayoutNodes) { .nodes = layout->nodes,
                                            .texts = layout->texts,
                                            .node_slots = layout->node_slots,
                                            .index_by_slot = layout->index_by_slot,
                                            .ids = layout->ids };
  g_atomic_ref_count_init (&layout->node_data->refs);
}

QuoitLayout *
quoit_layout_share_nodes (const QuoitLayout *layout)
{
  QuoitLayout *other = g_memdup2 (layout, sizeof *layout);

  g_atomic_ref_count_init (&other->refs);
  g_atomic_ref_count_inc (&other->frame->refs);
  g_atomic_ref_count_inc (&other->node_data->refs);
  copy_states (layout, other);
  quoit_layout_init_caches (other);
  return other;
}

QuoitLayout *
quoit_layout_share_frame (const QuoitLayout *layout)
{
  QuoitLayout *other = g_memdup2 (layout, sizeof *layout);

  g_atomic_ref_count_init (&other->refs);
  g_atomic_ref_count_inc (&other->frame->refs);
  copy_states (layout, other);
  other->node_data = NULL;
  other->nodes = NULL;
  other->texts = NULL;
  other->node_slots = NULL;
  other->ids = (QuoitIds) { 0 };
  other->index_by_slot = NULL;
  quoit_layout_init_caches (other);
  return other;
}

static void
unref_frame (QuoitLayoutFrame *frame)
{
  if (!g_atomic_ref_count_dec (&frame->refs))
    return;
  quoit_strings_free (frame->strings);
  quoit_claims_free (frame->kinds);
  quoit_recent_free (frame->kind_results);
  for (gsize i = 0; i < G_N_ELEMENTS (frame->arrays); i++)
    g_free (frame->arrays[i]);
  g_free (frame);
}

QuoitKept *
quoit_layout_take_kept (const QuoitLayout *layout)
{
  return __atomic_exchange_n (&((QuoitLayout *) layout)->kept, NULL, __ATOMIC_ACQ_REL);
}

void
quoit_layout_keep (const QuoitLayout *layout, QuoitKept *kept)
{
  QuoitKept *before = __atomic_exchange_n (&((QuoitLayout *) layout)->kept, kept, __ATOMIC_ACQ_REL);

  if (before != NULL)
    before->free (before);
}

static void
unref_nodes (QuoitLayoutNodes *data)
{
  if (!g_atomic_ref_count_dec (&data->refs))
    return;
  g_free (data->nodes);
  g_free (data->texts);
  g_free (data->node_slots);
  g_free (data->index_by_slot);
  quoit_ids_clear (&data->ids);
  g_free (data);
}

QuoitLayout *
quoit_layout_ref (QuoitLayout *layout)
{
  g_atomic_ref_count_inc (&layout->refs);
  return layout;
}

void
quoit_layout_unref (QuoitLayout *layout)
{
  if (layout == NULL || !g_atomic_ref_count_dec (&layout->refs))
    return;
  unref_frame (layout->frame);
  unref_nodes (layout->node_data);
  g_free (layout->claimed);
  g_free (layout->causes);
  quoit_slice_runs_free (layout->slice_runs);
  quoit_recent_free (layout->eligible);
  quoit_recent_free (layout->zones);
  quoit_layout_keep (layout, NULL);
  quoit_recent_free (layout->domains);
  quoit_recent_free (layout->place_costs);
  g_free (layout);
}

/* Parses eight lower-case hexadecimal digits at once, because a list of 100,000 nodes has 700,000 groups of eight
 * digits. Each byte of a 64-bit word is one digit. The low four bits of a letter 'a' to 'f' are 9 less than its value,
 * so 9 is added to each byte that has the bit 6, which only letters have. The function accepts all input at first, then
 * encodes the values again and compares them with the input, which rejects everything but lower-case digits. */
static gboolean
eight_digits (const char *text, guint32 *value)
{
  const guint64 ones = G_GUINT64_CONSTANT (0x0101010101010101);
  guint64 word, low, letters, pairs;

  memcpy (&word, text, sizeof word);
  letters = word >> 6 & ones;
  low = (word & 0x0f * ones) + 9 * letters;
  if (low + '0' * ones + ('a' - '0' - 10) * letters != word || (low & 0xf0 * ones) != 0
      || ((low + 6 * ones) >> 4 & ones) != letters)
    return FALSE;
  pairs = (low << 4 | low >> 8) & G_GUINT64_CONSTANT (0x00ff00ff00ff00ff);
  pairs = (pairs | pairs >> 8) & G_GUINT64_CONSTANT (0x0000ffff0000ffff);
  *value = (guint32) (pairs | pairs >> 16);
  return TRUE;
}

gboolean
quoit_identity_pack (const char *identity, char *packed)
{
  char bytes[QUOIT_PACKED_IDENTITY] = { PACKED_MARK };
  guint32 value;

  if (strnlen (identity, 2 * QUOIT_PACKED_IDENTITY) != 2 * (QUOIT_PACKED_IDENTITY - 1))
    return FALSE;
  for (unsigned i = 0; i < QUOIT_PACKED_IDENTITY - 1; i += sizeof value)
    {
      if (!eight_digits (identity + 2 * i, &value))
        return FALSE;
      memcpy (bytes + 1 + i, &value, sizeof value);
    }
  memcpy (packed, bytes, sizeof bytes);
  return TRUE;
}

const char *
quoit_identity_plain_text (const char *stored)
{
  return *stored == PACKED_MARK ? NULL : stored + (*stored == TEXT_MARK);
}

char *
quoit_identity_unpack (const char *stored)
{
  static const char digits[] = "0123456789abcdef";
  char *text = g_strdup (quoit_identity_plain_text (stored));

  if (text != NULL)
    return text;
  text = g_malloc (2 * (QUOIT_PACKED_IDENTITY - 1) + 1);
  for (unsigned i = 0; i < QUOIT_PACKED_IDENTITY - 1; i++)
    {
      text[2 * i] = digits[(guint8) stored[1 + i] >> 4];
      text[2 * i + 1] = digits[(guint8) stored[1 + i] & 15];
    }
  text[2 * (QUOIT_PACKED_IDENTITY - 1)] = '\0';
  return text;
}

gsize
quoit_identity_max_size (const char *identity)
{
  return MAX (1 + strlen (identity) + 1, QUOIT_PACKED_IDENTITY);
}

guint32
quoit_layout_store_text (QuoitLayout *layout, const char *text)
{
  guint32 offset = (guint32) layout->n_texts;
  gsize length = strlen (text) + 1;

  memcpy (layout->texts + offset, text, length);
  layout->n_texts += length;
  return offset;
}

guint32
quoit_layout_store_identity (QuoitLayout *layout, const char *identity)
{
  guint32 offset = (guint32) layout->n_texts;

  if (quoit_identity_pack (identity, layout->texts + offset))
    {
      layout->n_texts += QUOIT_PACKED_IDENTITY;
      return offset;
    }
  if (*identity == PACKED_MARK || *identity == TEXT_MARK)
    layout->texts[layout->n_texts++] = TEXT_MARK;
  quoit_layout_store_text (layout, identity);
  return offset;
}

gboolean
quoit_layout_can_store (const QuoitLayout *layout, gsize more_texts)
{
  return layout->n_texts + more_texts <= MIN (2 * layout->frame->n_texts, G_MAXUINT32);
}

const char *
quoit_layout_node_address (const QuoitLayout *layout, QuoitNodeId node)
{
  guint32 offset = layout->nodes[node.index].address;

  return offset == 0 ? NULL : layout->texts + offset;
}

const char *
quoit_layout_node_slice_name (const QuoitLayout *layout, QuoitNodeId node)
{
  guint32 slice = layout->nodes[node.index].slice;

  return slice == QUOIT_NO_INDEX ? NULL : quoit_layout_text (layout, layout->slices[slice].name);
}

char *
quoit_layout_node_identity (const QuoitLayout *layout, QuoitNodeId node)
{
  guint32 offset = layout->nodes[node.index].identity;

  return offset == 0 ? g_strdup (quoit_layout_node_name (layout, node))
                     : quoit_identity_unpack (layout->texts + offset);
}

const char *
quoit_layout_node_derived (const QuoitLayout *layout, QuoitNodeId node, guint i)
{
  const QuoitNode *row = &layout->nodes[node.index];
  QuoitStringId head = layout->kind_class[row->kind].head;

  if (row->slice == QUOIT_NO_INDEX || i > 1)
    return NULL;
  if (i == 0)
    return quoit_layout_text (layout, layout->slices[row->slice].name);
  return row->worker_id == 0 && head.index != 0 ? quoit_layout_text (layout, head) : NULL;
}

gboolean
quoit_layout_pool_matches (const QuoitLayout *layout, QuoitPoolId pool, const QuoitPoolClaim *claim)
{
  const QuoitPool *row = &layout->pools[pool.index];

  return row->n_pods == claim->n_pods && row->pod_cpu.e4 == claim->pod_cpu.e4
         && row->pod_memory.e4 == claim->pod_memory.e4
         && quoit_pairs_equal (layout->env + row->first_env, row->n_env, claim->env, claim->n_env);
}

QuoitPoolId
quoit_layout_node_pool (const QuoitLayout *layout, QuoitNodeId node)
{
  guint32 slice = layout->nodes[node.index].slice, low = 0, high = layout->n_pools - 1;

  if (slice != QUOIT_NO_INDEX)
    return (QuoitPoolId) { layout->shelves[layout->slices[slice].shelf].pool };

  /* Find the last non-empty pool that begins at or before the node. */
  while (low < high)
    {
      guint32 middle = (low + high + 1) / 2;

      if (layout->pools[middle].first_node <= node.index)
        low = middle;
      else
        high = middle - 1;
    }
  return (QuoitPoolId) { low };
}

const QuoitNodeKind *
quoit_layout_node_kind (const QuoitLayout *layout, QuoitNodeId node)
{
  return quoit_claims_kind_at (layout->kinds, layout->nodes[node.index].kind);
}

/* Returns the value of a label that is stored in a field of the node instead of the labels of its kind. */
typedef const char *(*LabelFunc) (const QuoitLayout *layout, QuoitNodeId node, char *buffer);

static const char *
slice_label (const QuoitLayout *layout, QuoitNodeId node, char *buffer)
{
  guint32 slice = layout->nodes[node.index].slice;

  return slice == QUOIT_NO_INDEX ? NULL : quoit_layout_text (layout, layout->slices[slice].name);
}

static const char *
worker_label (const QuoitLayout *layout, QuoitNodeId node, char *buffer)
{
  gint16 worker_id = layout->nodes[node.index].worker_id;

  return worker_id < 0 ? NULL : (g_snprintf (buffer, QUOIT_LABEL_BUFFER_SIZE, "%d", worker_id), buffer);
}

static const char *
host_label (const QuoitLayout *layout, QuoitNodeId node, char *buffer)
{
  return quoit_layout_node_name (layout, node);
}

static const char *
group_label (const QuoitLayout *layout, QuoitNodeId node, char *buffer)
{
  return quoit_layout_text (layout, layout->pools[quoit_layout_node_pool (layout, node).index].name);
}

/* Only node ids of Ray, which are packed, are a label; identities from other systems are not. */
static const char *
id_label (const QuoitLayout *layout, QuoitNodeId node, char *buffer)
{
  guint32 offset = layout->nodes[node.index].identity;
  g_autofree char *id = NULL;

  if (offset == 0 || quoit_identity_plain_text (layout->texts + offset) != NULL)
    return NULL;
  id = quoit_identity_unpack (layout->texts + offset);
  g_strlcpy (buffer, id, QUOIT_LABEL_BUFFER_SIZE);
  return buffer;
}

typedef struct {
  const char *key;
  LabelFunc label;
  QuoitLabelScope scope;
} OwnLabel;

static const OwnLabel own_labels[] = {
  { QUOIT_RAY_LABEL_NODE_ID, id_label, QUOIT_LABEL_OF_NODE },
  { QUOIT_RAY_LABEL_SLICE_NAME, slice_label, QUOIT_LABEL_OF_NODE },
  { QUOIT_RAY_LABEL_WORKER_ID, worker_label, QUOIT_LABEL_OF_NODE },
  { QUOIT_K8S_LABEL_HOST_NAME, host_label, QUOIT_LABEL_OF_NODE },
  { QUOIT_RAY_LABEL_NODE_GROUP, group_label, QUOIT_LABEL_OF_POOL },
};

static const OwnLabel *
find_own_label (const char *key)
{
  for (gsize i = 0; i < G_N_ELEMENTS (own_labels); i++)
    if (strcmp (key, own_labels[i].key) == 0)
      return &own_labels[i];
  return NULL;
}

QuoitLabelScope
quoit_layout_label_scope (const char *key)
{
  const OwnLabel *own = find_own_label (key);

  return own == NULL ? QUOIT_LABEL_OF_KIND : own->scope;
}

const char *
quoit_layout_node_label (const QuoitLayout *layout, QuoitNodeId node, const char *key, char *buffer)
{
  const OwnLabel *own = find_own_label (key);

  return own != NULL ? own->label (layout, node, buffer)
                     : quoit_node_kind_label (quoit_layout_node_kind (layout, node), key);
}
