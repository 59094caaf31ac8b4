/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity-view.h"

#include <string.h>

static const Column slot_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT },
  { "chips_per_host", "CHIPS/HOST", RANKED (3, CELL_NUMBER) },
  { "n_hosts", "HOSTS", RANKED (4, CELL_NUMBER) },
  { "slices", "SLICES", CELL_NUMBER },
  { "intact", "INTACT", RANKED (3, CELL_NUMBER) },
  { "degraded", "DEGRADED", RANKED (1, CELL_NUMBER) },
  { "idle", "IDLE", RANKED (5, CELL_NUMBER) },
  { "partly_used", "PARTLY USED", RANKED (6, CELL_NUMBER) },
  { "full", "FULL", RANKED (7, CELL_NUMBER) },
  { "held", "HELD", RANKED (1, CELL_NUMBER) },
  { "draining", "DRAINING", RANKED (2, CELL_NUMBER) },
  { "fit_now", "FIT NOW", CELL_NUMBER },
};

/* --- slots --- */

static void
add_slots (Table *table, const QuoitSnapshot *snapshot, uint32_t class)
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

Document *
slots_document (const QuoitSnapshot *snapshot)
{
  Table *table = table_new (slot_columns, G_N_ELEMENTS (slot_columns));
  Document *document = document_new ();

  for (uint32_t class = 0; class < quoit_snapshot_get_n_classes (snapshot); class ++)
    add_slots (table, snapshot, class);
  document_take_table (document, "classes", NULL, table);
  return document;
}

/* --- fragmentation --- */

static const Column fragmentation_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT },
  { "chips_per_host", "CHIPS/HOST", CELL_NUMBER },
  { "slices", "SLICES", CELL_NUMBER },
  { "free_slices", "FREE", CELL_NUMBER },
  { "free_hosts", "FREE HOSTS", CELL_NUMBER },
  { NULL, "FRAGMENTATION", CELL_TEXT },
  { "least", NULL, CELL_AMOUNT },
  { "most", NULL, CELL_AMOUNT },
};

char *
millionths_format (uint32_t ppm)
{
  char *text = g_strdup_printf ("%u.%06u", ppm / 1000000, ppm % 1000000);
  gsize length = strlen (text);

  while (text[length - 1] == '0')
    text[--length] = '\0';
  if (text[length - 1] == '.')
    text[length - 1] = '\0';
  return text;
}

void
capacity_take_range (Table *table, char *least, char *most)
{
  table_take_text (table, g_str_equal (least, most) ? g_strdup (least) : g_strdup_printf ("%s..%s", least, most));
  g_free (least);
  g_free (most);
}

void
capacity_add_class (Table *table, const QuoitSnapshot *snapshot, uint32_t class)
{
  table_add_text (table, quoit_snapshot_get_class_accelerator (snapshot, class));
  table_take_text (table, quoit_snapshot_dup_class_topology (snapshot, class));
  table_add_number (table, quoit_snapshot_get_class_chips_per_host (snapshot, class));
}

static void
add_fragmentation (Table *table, const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation, uint32_t class)
{
  const uint64_t n_hosts = quoit_fragmentation_get_n_hosts (fragmentation, class);
  const uint32_t least = quoit_fragmentation_get_least (fragmentation, class);
  const uint32_t most = quoit_fragmentation_get_most (fragmentation, class);

  capacity_add_class (table, snapshot, class);
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, (QuoitSliceFlags) 0));
  table_add_number (table, quoit_snapshot_count_slices_of_class (snapshot, class, QUOIT_SLICE_FREE));
  table_add_number (table, (gint64) n_hosts);
  if (n_hosts == 0)
    {
      table_skip (table);
      table_skip (table);
      table_skip (table);
      return;
    }
  capacity_take_range (table, millionths_format (least), millionths_format (most));
  table_take_text (table, millionths_format (least));
  table_take_text (table, millionths_format (most));
}

Document *
fragmentation_document (const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation, bool are_joined)
{
  Table *table = table_new (fragmentation_columns, G_N_ELEMENTS (fragmentation_columns));
  Document *document = document_new ();

  for (uint32_t class = 0; class < quoit_fragmentation_get_n_classes (fragmentation); class ++)
    if (!are_joined || quoit_fragmentation_get_n_parts (fragmentation, class) > 0)
      add_fragmentation (table, snapshot, fragmentation, class);
  document_take_table (document, "classes", NULL, table);
  return document;
}
