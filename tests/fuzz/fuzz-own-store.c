/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and snapshots as bytes that anybody may have written. The first byte chooses: the rest as it is, with
 * repaired checksums as entries that follow each other (two bytes of length, the lower one first, then the numbers, the
 * actor and the effects), or with repaired checksums as a snapshot. What is accepted is sound, and has the same bytes
 * when it is written again. */
#include <string.h>

#include "../seal-snapshot.h"
#include "fuzz.h"
#include "store/entry-bytes.h"
#include "store/store-private.h"

enum { AS_IT_IS, ENTRIES, SNAPSHOT, N_WAYS };

/* Where the parts are in the bytes of an entry. */
enum { ENTRY_IDENTITY = 16, ENTRY_PREVIOUS = 32, ENTRY_LINK = 64, ENTRY_NUMBERS = 96, N_NUMBERS = 6 };

static void
require_sound (const QuoitFleet *fleet)
{
  g_autoptr (GError) error = NULL;

  if (!quoit_fleet_check (fleet, &error))
    g_error ("%s", error->message);
}

static void
require_same (const GByteArray *one, const void *bytes, gsize length)
{
  g_assert (one->len == length && memcmp (one->data, bytes, length) == 0);
}

static QuoitStore *
open_store (const QuoitFleet *fleet)
{
  QuoitStore *store = quoit_store_open_fleet (fleet, NULL);

  g_assert (store != NULL);
  return store;
}

/* --- entries --- */

/* Returns the last entry of the ledger as bytes. */
static GByteArray *
last_entry (QuoitStore *store)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  g_autoptr (GPtrArray) entries = quoit_store_entries (store, fleet->seq - 1, NULL);

  return quoit_entry_to_bytes (entries->pdata[0], store->identity, NULL);
}

static gboolean
apply (QuoitStore *store, const guint8 *bytes, gsize length)
{
  g_autoptr (QuoitFleet) before = quoit_store_fleet (store), after = NULL;
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_store_apply_entry (store, bytes, length, &error);

  fuzz_require_error (ok, error);
  after = quoit_store_fleet (store);
  g_assert (ok ? after->seq == before->seq + 1 : after == before);
  if (ok)
    {
      g_autoptr (GByteArray) again = last_entry (store);

      require_sound (after);
      require_same (again, bytes, length);
    }
  return ok;
}

/* Returns an entry with these numbers, actor and effects that follows the last one of the ledger. */
static GByteArray *
repair_entry (const QuoitStore *store, const guint8 *rest, gsize length)
{
  static const char magic[16] = "quoit entry 1\n\0";
  GByteArray *bytes = g_byte_array_new ();
  guint64 numbers[N_NUMBERS] = { 0 };
  QuoitChainRow row;
  guint8 chain[QUOIT_CHAIN_BYTES];
  g_autofree char *actor = NULL;
  gsize n_actor;

  g_byte_array_append (bytes, (const guint8 *) magic, sizeof magic);
  g_byte_array_append (bytes, store->identity, QUOIT_IDENTITY_BYTES);
  g_byte_array_append (bytes, store->chain, QUOIT_CHAIN_BYTES);
  g_byte_array_append (bytes, store->chain, QUOIT_CHAIN_BYTES);
  g_byte_array_append (bytes, rest, (guint) length);
  if (length < sizeof numbers)
    return bytes;
  memcpy (numbers, rest, sizeof numbers);
  rest += sizeof numbers;
  length -= sizeof numbers;
  for (guint i = 0; i < N_NUMBERS; i++)
    numbers[i] = GUINT64_FROM_BE (numbers[i]);
  n_actor = numbers[5] == G_MAXUINT64 ? 0 : MIN (numbers[5], length);
  if (numbers[5] != G_MAXUINT64)
    actor = g_strndup ((const char *) rest, n_actor);
  row = (QuoitChainRow) { (gint64) numbers[0], (gint64) numbers[1], (gint64) numbers[2], actor,
                          (gint64) numbers[3], (gint64) numbers[4], rest + n_actor,      length - n_actor };
  memcpy (chain, store->chain, sizeof chain);
  quoit_chain_add (chain, &row);
  memcpy (bytes->data + ENTRY_LINK, chain, sizeof chain);
  return bytes;
}

static void
apply_entries (FuzzInput *in)
{
  g_autoptr (QuoitStore) store = open_store (NULL), follower = NULL;
  g_autoptr (QuoitFleet) start = quoit_store_fleet (store);

  follower = open_store (start);
  while (in->at < in->end)
    {
      gsize length = fuzz_byte (in);
      g_autoptr (GByteArray) bytes = NULL;

      length |= (gsize) fuzz_byte (in) << 8;
      length = MIN (length, (gsize) (in->end - in->at));
      bytes = repair_entry (store, in->at, length);
      in->at += length;
      if (apply (store, bytes->data, bytes->len))
        g_assert (apply (follower, bytes->data, bytes->len));
    }
  g_assert (quoit_store_verify (store, NULL));
}

/* --- snapshots --- */

static void
read_snapshot (const guint8 *bytes, gsize length)
{
  g_autoptr (GError) error = NULL;
  gint64 now_ms = 0;
  g_autoptr (QuoitFleet) fleet = quoit_fleet_from_bytes (bytes, length, &now_ms, &error), again = NULL;
  g_autoptr (GByteArray) written = NULL, rewritten = NULL;
  g_autoptr (QuoitStore) store = NULL;

  fuzz_require_error (fleet != NULL, error);
  if (fleet == NULL)
    return;
  require_sound (fleet);
  written = quoit_fleet_to_bytes (fleet, now_ms);
  again = quoit_fleet_from_bytes (written->data, written->len, &now_ms, &error);
  if (again == NULL)
    g_error ("%s", error->message);
  rewritten = quoit_fleet_to_bytes (again, now_ms);
  require_same (rewritten, written->data, written->len);
  store = open_store (fleet);
  g_assert (quoit_store_verify (store, NULL));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  guint8 way = fuzz_byte (&in) % N_WAYS;
  gsize length = (gsize) (in.end - in.at);
  g_autofree guint8 *copy = g_malloc (length + 1);
  g_autoptr (QuoitStore) store = NULL;

  memcpy (copy, in.at, length);
  switch (way)
    {
    case AS_IT_IS:
      store = open_store (NULL);
      apply (store, copy, length);
      read_snapshot (copy, length);
      break;
    case ENTRIES:
      apply_entries (&in);
      break;
    default:
      seal_snapshot (copy, length);
      read_snapshot (copy, length);
    }
  return 0;
}
