/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/identities.h"

#include <string.h>

#include "base/name-hash.h"
#include "fleet/layout-private.h"

/* An identity as the layout stores it: packed, or as text. A text is without the mark byte that may precede it. */
typedef struct {
  const char *bytes;
  gsize length;
  gboolean is_packed;
} Key;

static Key
packed_key (const char *packed)
{
  return (Key) { packed, QUOIT_PACKED_IDENTITY, TRUE };
}

static Key
text_key (const char *text)
{
  return (Key) { text, strlen (text), FALSE };
}

static Key
make_key (const char *text, char *packed)
{
  return quoit_identity_pack (text, packed) ? packed_key (packed) : text_key (text);
}

static Key
node_key (const QuoitLayout *layout, guint32 index, char *packed)
{
  guint32 offset = layout->nodes[index].identity;
  const char *stored = layout->texts + offset, *text = quoit_identity_plain_text (stored);

  if (offset == 0)
    return make_key (quoit_layout_node_name (layout, (QuoitNodeId) { index }), packed);
  return text == NULL ? packed_key (stored) : text_key (text);
}

static gboolean
node_has_key (const QuoitLayout *layout, guint32 index, Key key)
{
  char packed[QUOIT_PACKED_IDENTITY];
  Key node_identity = node_key (layout, index, packed);

  return node_identity.is_packed == key.is_packed && node_identity.length == key.length
         && memcmp (node_identity.bytes, key.bytes, key.length) == 0;
}

void
quoit_identities_init (QuoitIdentities *identities, const QuoitLayout *layout, QuoitSourceId source)
{
  const QuoitSource *row = &layout->sources[source.index];

  *identities = (QuoitIdentities) {
    .layout = layout, .first_node = row->first_node, .n_nodes = row->n_nodes, .expected = row->first_node
  };
}

void
quoit_identities_clear (QuoitIdentities *identities)
{
  g_clear_pointer (&identities->slots, g_free);
}

/* Returns the number of slots for @n nodes: a power of two. */
static guint32
slots_for (guint32 n)
{
  guint32 n_slots = 16;

  while (n_slots < n + n / 4)
    n_slots *= 2;
  return n_slots;
}

static void
index_nodes (QuoitIdentities *identities)
{
  identities->mask = slots_for (identities->n_nodes) - 1;
  identities->slots = g_new0 (guint32, identities->mask + 1);
  for (guint32 i = identities->first_node; i < identities->first_node + identities->n_nodes; i++)
    {
      char packed[QUOIT_PACKED_IDENTITY];
      Key key = node_key (identities->layout, i, packed);
      guint32 at = (guint32) quoit_hash_name (key.bytes, key.length) & identities->mask;

      while (identities->slots[at] != 0)
        at = (at + 1) & identities->mask;
      identities->slots[at] = i + 1;
    }
}

static guint32
find_by_key (QuoitIdentities *identities, Key key)
{
  guint32 at;

  if (identities->slots == NULL)
    index_nodes (identities);
  at = (guint32) quoit_hash_name (key.bytes, key.length) & identities->mask;
  for (; identities->slots[at] != 0; at = (at + 1) & identities->mask)
    if (node_has_key (identities->layout, identities->slots[at] - 1, key))
      return identities->slots[at] - 1;
  return QUOIT_NO_INDEX;
}

/* Finds the node by its name, which nearly always stays the same. This needs no index of all identities. */
static guint32
find_by_name (const QuoitIdentities *identities, const char *name, Key key)
{
  guint32 at = QUOIT_NO_INDEX;
  QuoitNodeId node;

  while (name != NULL && quoit_layout_next_node_named (identities->layout, name, &at, &node))
    if (node.index - identities->first_node < identities->n_nodes && node_has_key (identities->layout, node.index, key))
      return node.index;
  return QUOIT_NO_INDEX;
}

gboolean
quoit_identities_find (QuoitIdentities *identities, const QuoitNodeClaim *claim, QuoitNodeId *node)
{
  char packed[QUOIT_PACKED_IDENTITY];
  Key key = make_key (claim->identity != NULL ? claim->identity : claim->name, packed);
  guint32 index = identities->expected;

  if (index >= identities->first_node + identities->n_nodes || !node_has_key (identities->layout, index, key))
    index = identities->slots != NULL ? QUOIT_NO_INDEX : find_by_name (identities, claim->name, key);
  if (index == QUOIT_NO_INDEX)
    index = find_by_key (identities, key);
  if (index == QUOIT_NO_INDEX)
    return FALSE;
  identities->expected = index + 1;
  node->index = index;
  return TRUE;
}
