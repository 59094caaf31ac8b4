/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the history of a ledger to a new ledger, which can have another engine. The copy has the same identity,
 * entries and links. */
#include <string.h>

#include "store/store-private.h"

typedef struct {
  QuoitStore *to;
  QuoitImage *image; /* the checkpoint; NULL: none */
  gboolean has_begun;
  guint64 seq; /* of the last entry that was copied */
  guint8 chain[QUOIT_CHAIN_BYTES];
} Copy;

/* Copies the checkpoint, which comes before the entries. */
static gboolean
begin (Copy *copy, GError **error)
{
  if (copy->has_begun)
    return TRUE;
  copy->has_begun = TRUE;
  if (copy->image == NULL)
    return TRUE;
  copy->seq = copy->image->seq;
  memcpy (copy->chain, copy->image->chain, sizeof copy->chain);
  return copy->to->engine->add_image (copy->to, copy->image, error);
}

static gboolean
take_entry (const QuoitStoredEntry *stored, gpointer data, GError **error)
{
  Copy *copy = data;

  if (!begin (copy, error) || !copy->to->engine->add_entry (copy->to, stored, error))
    return FALSE;
  copy->seq = stored->entry->seq;
  memcpy (copy->chain, stored->chain, sizeof copy->chain);
  return TRUE;
}

static gboolean
copy_history (QuoitStore *store, QuoitStore *to, GError **error)
{
  Copy copy = { .to = to };
  gboolean ok;

  quoit_chain_begin (store->identity, copy.chain);
  ok = to->engine->begin_history (to, store->identity, error)
       && store->engine->read_history (store, &copy.image, take_entry, &copy, error) && begin (&copy, error)
       && to->engine->end_history (to, copy.seq, copy.chain, error);
  quoit_image_free (copy.image);
  return ok;
}

gboolean
quoit_store_copy (QuoitStore *store, const char *to, GError **error)
{
  g_autoptr (QuoitStore) copy = NULL, opened = NULL;
  const QuoitEngine *engine;
  gboolean ok;

  if (!quoit_store_refuse_child (store, error))
    return FALSE;
  if (!store->is_linked)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "a ledger in memory has no database to copy");
  if (!quoit_store_refuse_batch (store, error))
    return FALSE;
  copy = quoit_store_create_empty (to, store->wait_ms, error);
  if (copy == NULL)
    return FALSE;
  engine = copy->engine;
  ok = quoit_store_lock_writer (store, error);
  if (ok)
    {
      ok = copy_history (store, copy, error);
      quoit_store_unlock_writer (store);
    }
  g_clear_pointer (&copy, quoit_store_free);
  if (ok)
    {
      opened = quoit_store_open (to, store->wait_ms, error);
      ok = opened != NULL && quoit_store_verify (opened, error);
    }
  g_clear_pointer (&opened, quoit_store_free);
  if (!ok && engine->remove != NULL)
    engine->remove (to);
  return ok;
}
