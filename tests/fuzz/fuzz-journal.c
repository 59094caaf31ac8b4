/* SPDX-License-Identifier: Apache-2.0 */
/* A whole journal of any bytes: each entry is applied to a fleet, which stays valid, or is refused as damaged. The
 * fleet can be written, and applying the re-encoded entries gives the same fleet. The first byte chooses one or both
 * of these checks. An entry has two bytes of length, the lower one first, and its body. */
#include <string.h>

#include "formats/json.h"
#include "formats/writer.h"
#include "fuzz.h"
#include "ledger/ledger.h"
#include "store/codec.h"

enum { GREATEST_ID = 4096 };
enum { REPLAY = 1, DOCUMENT, N_CHECKS = DOCUMENT };

/* Ids in the millions are legal, but need the memory for millions of nodes. */
static gboolean
has_great_id (const QuoitEntry *entry)
{
  guint32 n;

  for (guint e = 0; e < entry->n_effects; e++)
    {
      const QuoitSourceUpdate *import = entry->effects[e].import;

      if (entry->effects[e].type != QUOIT_EFFECT_IMPORT)
        continue;
      quoit_claims_nodes (import->claims, &n);
      for (guint32 i = 0; i < n; i++)
        if (import->ids[i] > GREATEST_ID)
          return TRUE;
    }
  return FALSE;
}

/* A fleet without nodes. All of them share one layout. */
static QuoitFleet *
new_fleet (void)
{
  static QuoitLayout *layout;

  if (layout == NULL)
    layout = quoit_layout_new (NULL, 0);
  return quoit_fleet_new (layout);
}

static QuoitEntry *
read_entry (FuzzInput *in, guint64 seq)
{
  g_autoptr (GError) error = NULL;
  gsize length = fuzz_byte (in);
  QuoitEntry *entry;

  length |= (gsize) fuzz_byte (in) << 8;
  length = MIN (length, (gsize) (in->end - in->at));
  entry = quoit_codec_decode (seq, (gint64) seq * 1000, QUOIT_VERB_IMPORT, NULL, in->at, length, &error);
  fuzz_require_error (entry != NULL, error);
  in->at += length;
  return entry;
}

static gboolean
apply (const QuoitEntry *entry, QuoitFleet **fleet)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_entry_apply (entry, fleet, &error);

  fuzz_require_error (ok, error);
  g_assert (ok || error->code == QUOIT_ERROR_DAMAGED);
  if (ok && !quoit_fleet_check (*fleet, &error))
    g_error ("entry %" G_GUINT64_FORMAT ": %s", entry->seq, error->message);
  return ok;
}

static void
apply_again (const QuoitEntry *entry, QuoitFleet **fleet)
{
  g_autoptr (GByteArray) bytes = quoit_codec_encode (entry);
  g_autoptr (QuoitEntry) again
      = quoit_codec_decode (entry->seq, entry->time_ms, entry->verb, NULL, bytes->data, bytes->len, NULL);

  g_assert (again != NULL && quoit_entry_apply (again, fleet, NULL));
}

static void
require_document (const QuoitFleet *fleet)
{
  g_autofree char *json = quoit_write_fleet_json (fleet);
  g_autoptr (GError) error = NULL;

  if (!quoit_json_check (json, strlen (json), &error))
    g_error ("%s\n%s", error->message, json);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  guint8 which = fuzz_byte (&in);
  gboolean is_replayed = fuzz_runs_check (which, REPLAY, N_CHECKS);
  g_autoptr (QuoitFleet) fleet = new_fleet (), replayed = new_fleet ();

  while (in.at < in.end)
    {
      g_autoptr (QuoitEntry) entry = read_entry (&in, fleet->seq + 1);

      if (entry == NULL)
        continue;
      if (has_great_id (entry) || !apply (entry, &fleet))
        return 0;
      if (is_replayed)
        apply_again (entry, &replayed);
    }
  g_assert (!is_replayed || quoit_step_compare (replayed, fleet, NULL));
  if (fuzz_runs_check (which, DOCUMENT, N_CHECKS))
    require_document (fleet);
  return 0;
}
