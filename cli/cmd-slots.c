/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

static const Column columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT },
  { "chips_per_host", "CHIPS/HOST", CELL_NUMBER },
  { "n_hosts", "HOSTS", CELL_NUMBER },
  { "slices", "SLICES", CELL_NUMBER },
  { "intact", "INTACT", CELL_NUMBER },
  { "degraded", "DEGRADED", CELL_NUMBER },
  { "idle", "IDLE", CELL_NUMBER },
  { "partly_used", "PARTLY USED", CELL_NUMBER },
  { "full", "FULL", CELL_NUMBER },
  { "held", "HELD", CELL_NUMBER },
  { "draining", "DRAINING", CELL_NUMBER },
  { "fit_now", "FIT NOW", CELL_NUMBER },
};

static void
add_class (Table *table, const QuoitSnapshot *snapshot, uint32_t class)
{
  uint32_t n = quoit_snapshot_count_slices_of_class (snapshot, class, (QuoitSliceFlags) 0);
  uint32_t intact = quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_INTACT);

  table_add_text (table, quoit_snapshot_get_class_accelerator (snapshot, class));
  table_take_text (table, quoit_snapshot_dup_class_topology (snapshot, class));
  table_add_number (table, quoit_snapshot_get_class_chips_per_host (snapshot, class));
  table_add_number (table, quoit_snapshot_get_class_n_hosts (snapshot, class));
  table_add_number (table, n);
  table_add_number (table, intact);
  table_add_number (table, n - intact);
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_IDLE));
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_PARTLY));
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_FULL));
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_ALLOCATED));
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_DRAINING));
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_FREE));
}

static bool
run (Session *session, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Document *document;
  Table *table;

  if (!session_begin (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;

  table = table_new (columns, G_N_ELEMENTS (columns));
  for (uint32_t class = 0; class < quoit_snapshot_get_n_classes (snapshot); class ++)
    add_class (table, snapshot, class);
  document = document_new ();
  document_take_table (document, "classes", NULL, table);
  return session_print (session, document, error);
}

const Verb verb_slots = { "slots", "", "count the slices of each class, and those that fit now", NULL, 0, 0, run };
