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

QuoitSlots *
quoit_snapshot_count_joined_slots (const QuoitSnapshot *snapshot, const char *accelerator, const char *topology,
                                   QuoitCubes cubes, int64_t until_ms, GError **error)
{
  g_autofree QuoitSlots *slots = NULL;
  QuoitGeneration generation;
  QuoitShape shape = { 0 };

  g_return_val_if_fail (snapshot != NULL && accelerator != NULL, NULL);
  g_return_val_if_fail ((guint) cubes <= QUOIT_CUBES_ADJACENT, NULL);

  if (!quoit_generation_parse (accelerator, &generation, error) || !parse_shape (generation, topology, &shape, error))
    return NULL;
  if (cubes == QUOIT_CUBES_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cubes 'none': expected any, any-twisted or adjacent"), NULL;
  slots = g_new0 (QuoitSlots, 1);
  return quoit_slots_count_joined (slots, snapshot->fleet, generation, shape, cubes,
                                   MAX (until_ms, snapshot->fleet->clock_ms), error)
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

/* The text of a certificate, and where the names are. */
typedef struct {
  GString *text;
  const QuoitLayout *layout;
  gboolean has_positions; /* of cubes */
} Certificate;

static void
append_proof (const QuoitSlotsProof *proof, gpointer data)
{
  const Certificate *certificate = data;
  g_autofree char *name = quoit_layout_slice_display (certificate->layout, (QuoitSliceId) { proof->slice });
  g_autoptr (GString) weights = g_string_new (NULL);
  const char *comma = "";

  g_string_append_printf (certificate->text, "%s most=%" G_GUINT64_FORMAT " unit=%" G_GUINT64_FORMAT " free=", name,
                          proof->result.most, proof->result.unit);
  for (guint32 host = 0; host < quoit_grid_n_hosts (&proof->grid); host++)
    if (quoit_host_set_has (&proof->grid, &proof->free, host))
      {
        g_string_append_printf (certificate->text, "%s%u", comma, host);
        g_string_append_printf (weights, "%s%" G_GUINT64_FORMAT, comma,
                                g_array_index (proof->result.host_weights, guint64, host));
        comma = ",";
      }
  g_string_append_printf (certificate->text, " weights=%s\n", weights->str);
}

static void
append_joined_proof (const QuoitJoinedProof *proof, gpointer data)
{
  const Certificate *certificate = data;
  const QuoitLayout *layout = certificate->layout;
  const QuoitBlock *block = &proof->blocks->blocks[proof->block];
  const char *comma = "";

  g_string_append_printf (certificate->text, "%s/%s most=%" G_GUINT64_FORMAT " unit=%" G_GUINT64_FORMAT " free=",
                          quoit_layout_text (layout, layout->sources[block->source].name), block->name, proof->most,
                          proof->unit);
  for (guint32 i = 0; i < proof->n_free; i++, comma = ",")
    {
      g_autofree char *name = quoit_layout_slice_display (layout, (QuoitSliceId) { proof->cubes[i] });
      const guint32 position = proof->blocks->positions[proof->cubes[i]];

      g_string_append_printf (certificate->text, "%s%s", comma, name);
      if (certificate->has_positions)
        g_string_append_printf (certificate->text, "@%u-%u-%u", position % block->grid[0],
                                position / block->grid[0] % block->grid[1], position / block->grid[0] / block->grid[1]);
    }
  g_string_append (certificate->text, " weights=");
  comma = "";
  for (guint32 i = 0; i < proof->n_free; i++, comma = ",")
    g_string_append_printf (certificate->text, "%s%" G_GUINT64_FORMAT, comma, proof->weights[i]);
  g_string_append_c (certificate->text, '\n');
}

char *
quoit_slots_dup_certificate (const QuoitSlots *slots, uint32_t row, QuoitSlotsIf assumption)
{
  Certificate certificate;

  g_return_val_if_fail (slots != NULL && row < slots->rows->len && (guint) assumption < QUOIT_N_SLOTS_IF, NULL);

  certificate = (Certificate) { g_string_new (NULL), slots->fleet->layout, slots->cubes == QUOIT_CUBES_ADJACENT };
  if (slots->cubes == QUOIT_CUBES_NONE)
    quoit_slots_prove (slots, row_at (slots, row), assumption, append_proof, &certificate);
  else
    quoit_slots_prove_joined (slots, row_at (slots, row), assumption, append_joined_proof, &certificate);
  return g_string_free (certificate.text, FALSE);
}
