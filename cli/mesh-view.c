/* SPDX-License-Identifier: Apache-2.0 */
#include "mesh-view.h"

#include "words.h"

GPtrArray *
mesh_order_words (const QuoitMesh *mesh)
{
  GPtrArray *words = g_ptr_array_new ();

  for (uint32_t i = 0; i < quoit_mesh_get_n_granules (mesh); i++)
    {
      const char *word = mesh_order_word (quoit_mesh_get_order (mesh, i));

      if (!g_ptr_array_find_with_equal_func (words, word, g_str_equal, NULL))
        g_ptr_array_add (words, (char *) word);
    }
  return words;
}

char *
format_ns (gint64 ns)
{
  static const struct {
    gint64 ns;
    const char *unit;
  } units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (ns < 0)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (ns >= units[i].ns)
      return g_strdup_printf (
          "%s %s", g_ascii_formatd (digits, sizeof digits, "%.3f", (double) ns / (double) units[i].ns), units[i].unit);
  return g_strdup_printf ("%" G_GINT64_FORMAT " ns", ns);
}

static const Column axis_columns[] = {
  { "axis", "AXIS", CELL_TEXT },
  { "size", "SIZE", CELL_NUMBER },
  { "dcn_size", "IN DCN", CELL_NUMBER },
  { "network", "OVER", CELL_TEXT },
  { "physical", "PHYSICAL", RANKED (1, CELL_TEXT) },
  { "form", "FORM", CELL_TEXT },
  { "hops", "HOPS", RANKED (2, CELL_NUMBER) },
  { "hops_back", "BACK", RANKED (3, CELL_NUMBER) },
  { "all_gather_ns", NULL, CELL_NUMBER },
  { NULL, "ALL-GATHER", CELL_TEXT },
  { "all_reduce_ns", NULL, CELL_NUMBER },
  { NULL, "ALL-REDUCE", CELL_TEXT },
};

/* Adds a time, or an empty cell if it is negative: then the bandwidth of the generation is not published. */
static void
add_ns_or_skip (Table *table, gint64 ns)
{
  if (ns < 0)
    table_skip (table);
  else
    table_add_number (table, ns);
}

static void
add_time (Table *table, gint64 ns)
{
  add_ns_or_skip (table, ns);
  table_take_text (table, format_ns (ns));
}

void
mesh_axis_add_links (Table *table, const QuoitMesh *mesh, const QuoitMeshLinks *links, const Axes *axes, unsigned axis)
{
  table_add_text (table, axes->names[axis]);
  table_add_number (table, quoit_mesh_get_size (mesh, axis));
  table_add_number (table, quoit_mesh_get_dcn_size (mesh, axis));
  table_add_text (table, mesh_network_word (quoit_mesh_links_get_network (links, axis)));
  table_take_text (table, quoit_mesh_links_dup_physical (links, axis));
  table_add_text (table, mesh_form_word (quoit_mesh_links_get_form (links, axis)));
  table_add_number (table, quoit_mesh_links_get_hops (links, axis));
  table_add_number (table, quoit_mesh_links_get_hops_back (links, axis));
}

static void
add_axis (Table *table, const MeshView *view, unsigned axis)
{
  mesh_axis_add_links (table, view->mesh, view->links, view->axes, axis);
  add_time (table, quoit_mesh_links_get_all_gather_ns (view->links, axis, view->n_bytes));
  add_time (table, quoit_mesh_links_get_all_reduce_ns (view->links, axis, view->n_bytes));
}

Table *
mesh_axes_table (const MeshView *view)
{
  Table *table = table_new (axis_columns, G_N_ELEMENTS (axis_columns));

  for (unsigned axis = 0; axis < quoit_mesh_get_n_axes (view->mesh); axis++)
    add_axis (table, view, axis);
  return table;
}

static const Column device_columns[] = {
  { "place", "PLACE", CELL_TEXT },
  { "id", "DEVICE", CELL_NUMBER },
  { "slice_id", "SLICE ID", CELL_NUMBER },
  { "process_index", "PROCESS", CELL_NUMBER },
  { "x", "X", CELL_NUMBER },
  { "y", "Y", CELL_NUMBER },
  { "z", "Z", CELL_NUMBER },
  { "core", "CORE", CELL_NUMBER },
};

/* "1,0,3" */
static char *
format_place (const QuoitMesh *mesh, uint32_t place)
{
  unsigned n_axes = quoit_mesh_get_n_axes (mesh);
  g_auto (GStrv) indices = g_new0 (char *, n_axes + 1);

  for (unsigned axis = n_axes; axis-- > 0;)
    {
      uint32_t size = quoit_mesh_get_size (mesh, axis);

      indices[axis] = g_strdup_printf ("%u", place % size);
      place /= size;
    }
  return g_strjoinv (",", indices);
}

Table *
mesh_devices_table (const MeshView *view)
{
  Table *table = table_new (device_columns, G_N_ELEMENTS (device_columns));
  const uint32_t *indices = quoit_mesh_get_indices (view->mesh);

  for (uint32_t place = 0; place < quoit_mesh_get_n_devices (view->mesh); place++)
    {
      uint32_t index = indices[place];
      const int32_t *at = quoit_devices_get_coordinates (view->devices, index);

      table_take_text (table, format_place (view->mesh, place));
      table_add_number (table, quoit_devices_get_id (view->devices, index));
      table_add_number (table, quoit_devices_get_slice_index (view->devices, index));
      table_add_number (table, quoit_devices_get_process_index (view->devices, index));
      for (guint i = 0; i < 3; i++)
        table_add_number (table, at[i]);
      table_add_number (table, quoit_devices_get_core (view->devices, index));
    }
  return table;
}

/* --- choices --- */

static const Column choice_columns[] = {
  { "rank", "RANK", CELL_NUMBER },   { "axes", "--axes", CELL_TEXT },
  { "dcn", "--dcn", CELL_TEXT },     { "allow_split_physical_axes", "--split-physical", CELL_FLAG },
  { NULL, "ALL-REDUCE", CELL_LIST }, { "times", NULL, CELL_TABLE },
};

static const Column time_columns[] = {
  { "axis", NULL, CELL_TEXT },
  { "all_reduce_ns", NULL, CELL_NUMBER },
};

static void
add_times (Table *table, const QuoitMeshChoices *choices, unsigned choice, const Axes *ordered)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);
  Table *times = table_new (time_columns, G_N_ELEMENTS (time_columns));

  for (unsigned place = 0; place < ordered->n; place++)
    {
      gint64 ns = quoit_mesh_choices_get_all_reduce_ns (choices, choice, place);
      g_autofree char *text = format_ns (ns);

      g_ptr_array_add (texts, g_strdup_printf ("%s %s", ordered->names[place], text == NULL ? "-" : text));
      table_add_text (times, ordered->names[place]);
      add_ns_or_skip (times, ns);
    }
  table_take_list (table, texts);
  table_take_table (table, times);
}

static void
add_choice (Table *table, const QuoitMeshChoices *choices, unsigned choice, const Axes *axes)
{
  g_autofree char **names = g_new0 (char *, axes->n + 1); /* borrowed */
  g_autofree gint64 *sizes = g_new (gint64, axes->n), *dcn_sizes = g_new (gint64, axes->n);
  Axes ordered = { names, sizes, axes->n };
  char *dcn;

  for (unsigned place = 0; place < axes->n; place++)
    {
      unsigned axis = quoit_mesh_choices_get_axis (choices, choice, place);

      names[place] = axes->names[axis];
      sizes[place] = axes->sizes[axis];
      dcn_sizes[place] = quoit_mesh_choices_get_dcn_size (choices, choice, place);
    }
  dcn = axes_format (&ordered, dcn_sizes, 2);
  table_add_number (table, choice + 1);
  table_take_text (table, axes_format (&ordered, sizes, 1));
  if (dcn[0] == '\0')
    g_clear_pointer (&dcn, g_free);
  table_take_text (table, dcn);
  table_add_flag (table, quoit_mesh_choices_get_flags (choices, choice) != 0);
  add_times (table, choices, choice, &ordered);
}

Table *
mesh_choices_table (const QuoitMeshChoices *choices, const Axes *axes, unsigned max_rows)
{
  Table *table = table_new (choice_columns, G_N_ELEMENTS (choice_columns));

  for (unsigned choice = 0; choice < quoit_mesh_choices_get_n (choices) && choice < max_rows; choice++)
    add_choice (table, choices, choice, axes);
  return table;
}
