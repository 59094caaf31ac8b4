/* SPDX-License-Identifier: Apache-2.0 */
/* An entry as bytes: a magic text, the identity of its ledger, the link of the entry before, its own link, its numbers
 * in network order, its actor and its effects. The link is a hash over all of this but the magic text and the identity,
 * which are compared with those that are expected. */
#include <string.h>

#include "store/codec.h"
#include "store/entry-bytes.h"

static const char magic[16] = "quoit entry 1\n\0", any_version[] = "quoit entry ";

/* The numbers, in the order of their bytes. The length of the actor is -1 if there is none. */
enum { SEQ, TIME, VERB, NEXT_GROUP, NEXT_NODE, ACTOR_LENGTH, N_NUMBERS };

enum { HEADER_BYTES = sizeof magic + QUOIT_IDENTITY_BYTES + 2 * QUOIT_CHAIN_BYTES + N_NUMBERS * 8 };

/* --- links --- */

void
quoit_entry_link (QuoitEntry *entry, const guint8 *previous, const QuoitFleet *after)
{
  QuoitEntryLink link = { .next_group_id = after->next_group_id, .next_node_id = after->next_node_id };
  QuoitChainRow row;

  link.effects = g_byte_array_free_to_bytes (quoit_codec_encode (entry));
  memcpy (link.previous, previous, sizeof link.previous);
  memcpy (link.chain, previous, sizeof link.chain);
  quoit_entry_set_link (entry, &link);
  row = quoit_entry_row (entry);
  quoit_chain_add (entry->link->chain, &row);
}

void
quoit_entry_set_stored_link (QuoitEntry *entry, const QuoitChainRow *row, guint8 *previous, const guint8 *chain)
{
  QuoitEntryLink link = { .next_group_id = (guint64) row->next_group_id, .next_node_id = (guint32) row->next_node_id };

  link.effects = g_bytes_new (row->effects, row->n_effect_bytes);
  memcpy (link.previous, previous, sizeof link.previous);
  memcpy (link.chain, chain, sizeof link.chain);
  memcpy (previous, chain, sizeof link.chain);
  quoit_entry_set_link (entry, &link);
}

QuoitChainRow
quoit_entry_row (const QuoitEntry *entry)
{
  QuoitChainRow row = { .seq = (gint64) entry->seq,
                        .time_ms = entry->time_ms,
                        .verb = entry->verb,
                        .actor = entry->actor,
                        .next_group_id = (gint64) entry->link->next_group_id,
                        .next_node_id = entry->link->next_node_id };

  row.effects = g_bytes_get_data (entry->link->effects, &row.n_effect_bytes);
  return row;
}

/* --- writing --- */

static void
add_number (GByteArray *bytes, guint64 number)
{
  guint64 network = GUINT64_TO_BE (number);

  g_byte_array_append (bytes, (const guint8 *) &network, sizeof network);
}

GByteArray *
quoit_entry_to_bytes (const QuoitEntry *entry, const guint8 *identity, GError **error)
{
  const QuoitEntryLink *link = entry->link;
  const QuoitChainRow row = quoit_entry_row (entry);
  gsize n_actor = row.actor == NULL ? 0 : strlen (row.actor);
  guint8 chain[QUOIT_CHAIN_BYTES];
  GByteArray *bytes;

  memcpy (chain, link->previous, sizeof chain);
  quoit_chain_add (chain, &row);
  if (memcmp (chain, link->chain, sizeof chain) != 0)
    return quoit_fail_null (error, QUOIT_ERROR_DAMAGED,
                            "journal entry %" G_GUINT64_FORMAT " does not match the hash chain: restore a backup",
                            entry->seq);
  bytes = g_byte_array_sized_new ((guint) (HEADER_BYTES + n_actor + row.n_effect_bytes));
  g_byte_array_append (bytes, (const guint8 *) magic, sizeof magic);
  g_byte_array_append (bytes, identity, QUOIT_IDENTITY_BYTES);
  g_byte_array_append (bytes, link->previous, sizeof link->previous);
  g_byte_array_append (bytes, link->chain, sizeof link->chain);
  add_number (bytes, (guint64) row.seq);
  add_number (bytes, (guint64) row.time_ms);
  add_number (bytes, (guint64) row.verb);
  add_number (bytes, (guint64) row.next_group_id);
  add_number (bytes, (guint64) row.next_node_id);
  add_number (bytes, row.actor == NULL ? G_MAXUINT64 : n_actor);
  if (n_actor > 0)
    g_byte_array_append (bytes, (const guint8 *) row.actor, (guint) n_actor);
  return g_byte_array_append (bytes, row.effects, (guint) row.n_effect_bytes);
}

/* --- reading --- */

static QuoitEntry *
fail_bytes (QuoitErrorCode code, const char *what, GError **error)
{
  return quoit_fail_null (error, code, "the bytes of an entry: %s", what);
}

static gint64
number_at (const guint8 *bytes, guint i)
{
  gint64 network;

  memcpy (&network, bytes + i * sizeof network, sizeof network);
  return GINT64_FROM_BE (network);
}

/* The columns of an entry that is being read, with its link and the one before. */
typedef struct {
  QuoitChainRow row;
  char *actor;
  guint8 previous[QUOIT_CHAIN_BYTES], chain[QUOIT_CHAIN_BYTES];
} Columns;

static void
columns_clear (Columns *columns)
{
  g_free (columns->actor);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Columns, columns_clear)

/* Sets the columns. Returns FALSE if the bytes cannot have been written by quoit. @bytes has at least HEADER_BYTES. */
static gboolean
read_columns (const guint8 *bytes, gsize length, Columns *columns)
{
  const guint8 *links = bytes + sizeof magic + QUOIT_IDENTITY_BYTES, *numbers = links + 2 * QUOIT_CHAIN_BYTES,
               *texts = bytes + HEADER_BYTES;
  QuoitChainRow *row = &columns->row;
  gint64 n_actor = number_at (numbers, ACTOR_LENGTH);
  guint8 chain[QUOIT_CHAIN_BYTES];

  memcpy (columns->previous, links, QUOIT_CHAIN_BYTES);
  memcpy (columns->chain, links + QUOIT_CHAIN_BYTES, QUOIT_CHAIN_BYTES);
  row->seq = number_at (numbers, SEQ);
  row->time_ms = number_at (numbers, TIME);
  row->verb = number_at (numbers, VERB);
  row->next_group_id = number_at (numbers, NEXT_GROUP);
  row->next_node_id = number_at (numbers, NEXT_NODE);
  /* An empty actor is written as none. */
  if (n_actor < -1 || n_actor == 0 || (n_actor > 0 && (guint64) n_actor > length - HEADER_BYTES) || row->seq < 1
      || row->verb < 1 || row->verb > G_MAXINT32 || row->next_group_id < 1 || row->next_node_id < 1
      || row->next_node_id > G_MAXINT32)
    return FALSE;
  if (n_actor > 0)
    {
      if (memchr (texts, '\0', (gsize) n_actor) != NULL)
        return FALSE;
      columns->actor = g_strndup ((const char *) texts, (gsize) n_actor);
      texts += n_actor;
    }
  row->actor = columns->actor;
  row->effects = texts;
  row->n_effect_bytes = (gsize) (bytes + length - texts);
  memcpy (chain, columns->previous, sizeof chain);
  quoit_chain_add (chain, row);
  return memcmp (chain, columns->chain, sizeof chain) == 0;
}

QuoitEntry *
quoit_entry_from_bytes (const void *bytes, gsize length, guint8 *identity, GError **error)
{
  g_auto (Columns) columns = { 0 };
  const QuoitChainRow *row = &columns.row;
  QuoitEntry *entry;

  if (length < sizeof magic || memcmp (bytes, any_version, sizeof any_version - 1) != 0)
    return fail_bytes (QUOIT_ERROR_INVALID, "they are no entry: expected the bytes that quoit wrote", error);
  if (memcmp (bytes, magic, sizeof magic) != 0)
    return fail_bytes (QUOIT_ERROR_VERSION, "a later quoit wrote them: use a newer quoit", error);
  if (length < HEADER_BYTES)
    return fail_bytes (QUOIT_ERROR_DAMAGED, "they are cut off", error);
  if (!read_columns (bytes, length, &columns))
    return fail_bytes (QUOIT_ERROR_DAMAGED, "they were changed or cut off: their checksum does not match", error);
  entry = quoit_codec_decode ((guint64) row->seq, row->time_ms, (QuoitVerb) row->verb, row->actor, row->effects,
                              row->n_effect_bytes, error);
  if (entry == NULL)
    return NULL;
  quoit_entry_set_stored_link (entry, row, columns.previous, columns.chain);
  memcpy (identity, (const guint8 *) bytes + sizeof magic, QUOIT_IDENTITY_BYTES);
  return entry;
}
