/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "request.h"
#include "text.h"
#include "verbs.h"

static const Column class_columns[] = {
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

/* "0.25" */
static char *
format_millionths (uint32_t ppm)
{
  char *text = g_strdup_printf ("%u.%06u", ppm / 1000000, ppm % 1000000);
  gsize length = strlen (text);

  while (text[length - 1] == '0')
    text[--length] = '\0';
  if (text[length - 1] == '.')
    text[length - 1] = '\0';
  return text;
}

static void
take_range (Table *table, char *least, char *most)
{
  table_take_text (table, g_str_equal (least, most) ? g_strdup (least) : g_strdup_printf ("%s..%s", least, most));
  g_free (least);
  g_free (most);
}

static void
add_class_name (Table *table, const QuoitSnapshot *snapshot, uint32_t class)
{
  table_add_text (table, quoit_snapshot_get_class_accelerator (snapshot, class));
  table_take_text (table, quoit_snapshot_dup_class_topology (snapshot, class));
  table_add_number (table, quoit_snapshot_get_class_chips_per_host (snapshot, class));
}

static void
add_class (Table *table, const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation, uint32_t class)
{
  const uint64_t n_hosts = quoit_fragmentation_get_n_hosts (fragmentation, class);
  const uint32_t least = quoit_fragmentation_get_least (fragmentation, class);
  const uint32_t most = quoit_fragmentation_get_most (fragmentation, class);

  add_class_name (table, snapshot, class);
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
  take_range (table, format_millionths (least), format_millionths (most));
  table_take_text (table, format_millionths (least));
  table_take_text (table, format_millionths (most));
}

static void
add_part (Table *table, const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation, uint32_t class,
          uint32_t part)
{
  const gint64 least = (gint64) quoit_fragmentation_get_part_least (fragmentation, class, part);
  const gint64 most = (gint64) quoit_fragmentation_get_part_most (fragmentation, class, part);

  add_class_name (table, snapshot, class);
  table_take_text (table, quoit_fragmentation_dup_part_topology (fragmentation, class, part));
  table_take_text (table, format_millionths (quoit_fragmentation_get_part_weight (fragmentation, class, part)));
  take_range (table, g_strdup_printf ("%" G_GINT64_FORMAT, least), g_strdup_printf ("%" G_GINT64_FORMAT, most));
  table_add_number (table, least);
  table_add_number (table, most);
}

/* With @are_joined, only the classes with cubes in blocks. */
static Document *
describe_classes (const QuoitSnapshot *snapshot, const QuoitFragmentation *fragmentation, bool are_joined)
{
  Table *table = table_new (class_columns, G_N_ELEMENTS (class_columns));
  Document *document = document_new ();

  for (uint32_t class = 0; class < quoit_fragmentation_get_n_classes (fragmentation); class ++)
    if (!are_joined || quoit_fragmentation_get_n_parts (fragmentation, class) > 0)
      add_class (table, snapshot, fragmentation, class);
  document_take_table (document, "classes", NULL, table);
  return document;
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
                              : describe_classes (snapshot, fragmentation, cubes != NULL),
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
