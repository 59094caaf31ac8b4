/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity-view.h"
#include "request.h"
#include "verbs.h"

static const Column part_columns[] = {
  { "accelerator", "ACCELERATOR", CELL_TEXT },
  { "topology", "TOPOLOGY", CELL_TEXT },
  { "chips_per_host", "CHIPS/HOST", CELL_NUMBER },
  { "part", "PART", CELL_TEXT },
  { "weight", "WEIGHT", CELL_AMOUNT },
  { NULL, "FIT", CELL_TEXT },
  { "fit_least", NULL, CELL_NUMBER },
  { "fit_most", NULL, CELL_NUMBER },
};

static void
add_part (Table *table, const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation, uint32_t class,
          uint32_t part)
{
  const gint64 least = (gint64) quoit_fragmentation_get_part_least (fragmentation, class, part);
  const gint64 most = (gint64) quoit_fragmentation_get_part_most (fragmentation, class, part);

  capacity_add_class (table, snapshot, class);
  table_take_text (table, quoit_fragmentation_dup_part_topology (fragmentation, class, part));
  table_take_text (table, millionths_format (quoit_fragmentation_get_part_weight (fragmentation, class, part)));
  capacity_take_range (table, g_strdup_printf ("%" G_GINT64_FORMAT, least),
                       g_strdup_printf ("%" G_GINT64_FORMAT, most));
  table_add_number (table, least);
  table_add_number (table, most);
}

static Document *
describe_parts (const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation)
{
  Table *table = table_new (part_columns, G_N_ELEMENTS (part_columns));
  Document *document = document_new ();

  for (uint32_t class = 0; class < quoit_fragmentation_get_n_classes (fragmentation); class ++)
    for (uint32_t part = 0; part < quoit_fragmentation_get_n_parts (fragmentation, class); part++)
      add_part (table, snapshot, fragmentation, class, part);
  document_take_table (document, "parts", NULL, table);
  return document;
}

static QuoitFragmentation *
measure (const QuoitSnapshot *snapshot, const char *word, GError **error)
{
  QuoitCubes cubes;

  if (word == NULL)
    return quoit_snapshot_measure_fragmentation (snapshot, 0);
  if (!request_parse_cubes (word, &cubes, error))
    return NULL;
  return quoit_snapshot_measure_joined_fragmentation (snapshot, cubes);
}

static bool
run (Session *session, GError **error)
{
  gboolean parts = FALSE;
  g_autofree char *cubes = NULL;
  const GOptionEntry entries[] = {
    { "parts", 0, 0, G_OPTION_ARG_NONE, &parts, "print a row for each shape of a part", NULL },
    { "cubes", 0, 0, G_OPTION_ARG_STRING, &cubes, "for slices joined from free cubes: any, or adjacent ones", "WHICH" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFragmentation) fragmentation = NULL;

  if (!session_parse (session, entries, error) || !session_check (session, error))
    return false;
  snapshot = session_snapshot (session, error);
  if (snapshot == NULL)
    return false;
  fragmentation = measure (snapshot, cubes, error);
  if (fragmentation == NULL)
    return false;
  return session_print (session,
                        parts ? describe_parts (snapshot, fragmentation)
                              : fragmentation_document (snapshot, fragmentation, cubes != NULL),
                        error);
}

const Verb verb_fragmentation = {
  "fragmentation",
  "",
  "measure how much of the free hosts is no use for parts of slices",
  "0 means that parts of each shape can use all free hosts, and 1 that no part fits. A range such as\n"
  "0.25..0.3 means that the search ended before it knew the number. With --cubes, measures how much of the\n"
  "free cubes in blocks is no use for joined slices.",
  0,
  0,
  run,
};
