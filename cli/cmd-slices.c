/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet-view.h"
#include "verbs.h"

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  Table *slices;

  if (!session_begin (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;

  slices = slices_table ();
  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    slices_add (slices, snapshot, slice);
  document = document_new ();
  document_take_table (document, "slices", NULL, slices);
  return session_print (session, document, error);
}

const Verb verb_slices = { "slices", "", "list the slices, and their conditions", NULL, 0, 0, run };
