/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "planner/slots.h"

#define DEFAULT_STEPS G_GUINT64_CONSTANT (20000000)

static gboolean
parse_shape (QuoitGeneration generation, const char *topology, QuoitShape *shape, GError **error)
{
  return topology == NULL
         || (quoit_shape_parse (topology, shape, error) && quoit_shape_check (generation, *shape, error));
}

QuoitSlots *
quoit_snapshot_count_slots (const QuoitSnapshot *snapshot, const char *accelerator, const char *topology, QuoitCut cut,
                            int64_t until_ms, uint64_t steps, GError **error)
{
  g_autofree QuoitSlots *slots = NULL;
  QuoitGeneration generation;
  QuoitShape shape = { 0 };

  g_return_val_if_fail (snapshot != NULL && accelerator != NULL, NULL);
  g_return_val_if_fail ((guint) cut <= QUOIT_CUT_PARTITION, NULL);

  if (!quoit_generation_parse (accelerator, &generation, error) || !parse_shape (generation, topology, &shape, error))
    return NULL;
  slots = g_new0 (QuoitSlots, 1);
  return quoit_slots_count (slots, snapshot->fleet, generation, shape, cut, MAX (until_ms, snapshot->fleet->clock_ms),
                            steps == 0 ? DEFAULT_STEPS : steps, error)
             ? g_steal_pointer (&slots)
             : NULL;
}

void
quoit_slots_free (QuoitSlots *slots)
{
  if (slots == NULL)
    return;
  quoit_slots_clear (slots);
  g_free (slots);
}

uint32_t
quoit_slots_get_n_rows (const QuoitSlots *slots)
{
  g_return_val_if_fail (slots != NULL, 0);

  return slots->rows->len;
}

static const QuoitSlotsRow *
row_at (const QuoitSlots *slots, uint32_t row)
{
  return &g_array_index (slots->rows, QuoitSlotsRow, row);
}

char *
quoit_slots_dup_topology (const QuoitSlots *slots, uint32_t row)
{
  g_return_val_if_fail (slots != NULL && row < slots->rows->len, NULL);

  return quoit_shape_format (row_at (slots, row)->shape);
}

uint32_t
quoit_slots_get_least (const QuoitSlots *slots, uint32_t row, QuoitSlotsIf assumption)
{
  g_return_val_if_fail (slots != NULL && row < slots->rows->len && (guint) assumption < QUOIT_N_SLOTS_IF, 0);

  return row_at (slots, row)->least[assumption];
}

uint32_t
quoit_slots_get_most (const QuoitSlots *slots, uint32_t row, QuoitSlotsIf assumption)
{
  g_return_val_if_fail (slots != NULL && row < slots->rows->len && (guint) assumption < QUOIT_N_SLOTS_IF, 0);

  return row_at (slots, row)->most[assumption];
}

static void
append_slice (GString *text, const QuoitLayout *layout, const QuoitSlotsSlice *slice, const QuoitSlotsAnswer *answer)
{
  const QuoitClass *class = quoit_layout_slice_class (layout, (QuoitSliceId) { slice->slice });
  g_autofree char *name = quoit_layout_slice_display (layout, (QuoitSliceId) { slice->slice });
  g_autoptr (GString) weights = g_string_new (NULL);
  const char *comma = "";
  QuoitGrid grid;

  quoit_grid_init (&grid, class->facts.host_grid, 0);
  g_string_append_printf (text, "%s most=%u unit=%" G_GUINT64_FORMAT " free=", name, answer->most, answer->unit);
  for (guint32 host = 0; host < quoit_grid_n_hosts (&grid); host++)
    if (quoit_host_set_has (&grid, &answer->free, host))
      {
        g_string_append_printf (text, "%s%u", comma, host);
        g_string_append_printf (weights, "%s%" G_GUINT64_FORMAT, comma, g_array_index (answer->weights, guint64, host));
        comma = ",";
      }
  g_string_append_printf (text, " weights=%s\n", weights->str);
}

char *
quoit_slots_dup_certificate (const QuoitSlots *slots, uint32_t row, QuoitSlotsIf assumption)
{
  GString *text;
  const GArray *slices;

  g_return_val_if_fail (slots != NULL && row < slots->rows->len && (guint) assumption < QUOIT_N_SLOTS_IF, NULL);

  text = g_string_new (NULL);
  slices = row_at (slots, row)->slices[assumption];
  for (guint i = 0; i < slices->len; i++)
    {
      const QuoitSlotsSlice *slice = &g_array_index (slices, QuoitSlotsSlice, i);

      append_slice (text, slots->fleet->layout, slice,
                    &g_array_index (slots->answers, QuoitSlotsAnswer, slice->answer));
    }
  return g_string_free (text, FALSE);
}
