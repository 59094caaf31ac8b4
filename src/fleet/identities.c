/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/identities.h"

#include <string.h>

#include "fleet/layout-private.h"

/* An identity as stored in the layout, without the mark of a text. */
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
key_of_text (const char *text, char *packed)
{
  return quoit_identity_pack (text, packed) ? packed_key (packed) : text_key (text);
}

static Key
key_of_node (const QuoitLayout *layout, guint32 index, char *packed)
{
  guint32 offset = layout->nodes[index].identity;
  const char *kept = layout->texts + offset, *text = quoit_identity_text (kept);

  if (offset == 0)
    return key_of_text (quoit_layout_node_name (layout, (QuoitNodeId) { index }), packed);
  return text == NULL ? packed_key (kept) : text_key (text);
}

static gboolean
is_node (const QuoitLayout *layout, guint32 index, Key key)
{
  char packed[QUOIT_PACKED_IDENTITY];
  Key have = key_of_node (layout, index, packed);

  return have.is_packed == key.is_packed && have.length == key.length
         && memcmp (have.bytes, key.bytes, key.length) == 0;
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

static void
index_nodes (QuoitIdentities *identities)
{
  identities->mask = quoit_layout_slots_for (identities->n_nodes) - 1;
  identities->slots = g_new0 (guint32, identities->mask + 1);
  for (guint32 i = identities->first_node; i < identities->first_node + identities->n_nodes; i++)
    {
      char packed[QUOIT_PACKED_IDENTITY];
      Key key = key_of_node (identities->layout, i, packed);
      guint32 at = (guint32) quoit_hash_bytes (key.bytes, key.length) & identities->mask;

      while (identities->slots[at] != 0)
        at = (at + 1) & identities->mask;
      identities->slots[at] = i + 1;
    }
}

static guint32
look_up (QuoitIdentities *identities, Key key)
{
  guint32 at;

  if (identities->slots == NULL)
    index_nodes (identities);
  at = (guint32) quoit_hash_bytes (key.bytes, key.length) & identities->mask;
  for (; identities->slots[at] != 0; at = (at + 1) & identities->mask)
    if (is_node (identities->layout, identities->slots[at] - 1, key))
      return identities->slots[at] - 1;
  return QUOIT_NO_INDEX;
}

gboolean
quoit_identities_find (QuoitIdentities *identities, const QuoitNodeClaim *claim, QuoitNodeId *node)
{
  char packed[QUOIT_PACKED_IDENTITY];
  Key key = key_of_text (claim->identity != NULL ? claim->identity : claim->name, packed);
  guint32 index = identities->expected;

  if (index >= identities->first_node + identities->n_nodes || !is_node (identities->layout, index, key))
    index = look_up (identities, key);
  if (index == QUOIT_NO_INDEX)
    return FALSE;
  identities->expected = index + 1;
  node->index = index;
  return TRUE;
}
