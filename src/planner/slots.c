/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/slots.h"

#include <string.h>

#include "base/indices.h"
#include "placement/ahead.h"
#include "placement/cut/cutting.h"

/* --- one slice --- */

typedef struct {
  QuoitSlots *slots;
  QuoitFreeHosts assumptions[QUOIT_N_SLOTS_IF];
  guint64 steps;
  GHashTable *known; /* GBytes of a problem -> index of its answer, plus 1 */
} Counting;

/* The part that is to be packed into the slices of one class. */
typedef struct {
  const QuoitClass *class;
  QuoitCutting cutting;
} Problem;

static guint
solve (Counting *counting, const Problem *problem, const QuoitHostSet *free)
{
  const QuoitPackingDemand demand = { problem->cutting.turns, problem->cutting.n_turns, 1, 0 };
  QuoitSlotsAnswer answer = { .free = *free };
  QuoitPackingResult result;

  quoit_packing_solve (&problem->cutting.grid, free, &demand, 1, problem->cutting.offsets, counting->steps, &result);
  answer.least = (guint32) result.least;
  answer.most = (guint32) result.most;
  answer.unit = result.unit;
  answer.weights = g_array_ref (result.host_weights);
  quoit_packing_result_clear (&result);
  g_array_append_val (counting->slots->answers, answer);
  return counting->slots->answers->len - 1;
}

/* Returns the index of the answer for these free hosts. */
static guint
find_answer (Counting *counting, const Problem *problem, const QuoitHostSet *free)
{
  g_autoptr (GByteArray) key = g_byte_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  gpointer known;
  guint answer;

  g_byte_array_append (key, (const guint8 *) &problem->class, sizeof problem->class);
  g_byte_array_append (key, (const guint8 *) free->rows,
                       (guint) (quoit_grid_n_rows (&problem->cutting.grid) * sizeof *free->rows));
  bytes = g_byte_array_free_to_bytes (g_steal_pointer (&key));
  known = g_hash_table_lookup (counting->known, bytes);
  if (known != NULL)
    return GPOINTER_TO_UINT (known) - 1;
  answer = solve (counting, problem, free);
  g_hash_table_insert (counting->known, g_steal_pointer (&bytes), GUINT_TO_POINTER (answer + 1));
  return answer;
}

/* Adds the parts that fit into one slice. What fits now also fits if more hosts are free, and what cannot fit then
 * cannot fit now, even if one of the searches did not find out. */
static void
add_ranges (const guint32 *least, const guint32 *most, QuoitSlotsRow *row)
{
  guint32 at_least[QUOIT_N_SLOTS_IF], at_most[QUOIT_N_SLOTS_IF];

  memcpy (at_least, least, sizeof at_least);
  memcpy (at_most, most, sizeof at_most);
  at_least[QUOIT_SLOTS_UNDRAINED] = MAX (least[QUOIT_SLOTS_UNDRAINED], least[QUOIT_SLOTS_NOW]);
  at_least[QUOIT_SLOTS_MENDED] = MAX (least[QUOIT_SLOTS_MENDED], at_least[QUOIT_SLOTS_UNDRAINED]);
  at_most[QUOIT_SLOTS_UNDRAINED] = MIN (most[QUOIT_SLOTS_UNDRAINED], most[QUOIT_SLOTS_MENDED]);
  at_most[QUOIT_SLOTS_NOW] = MIN (most[QUOIT_SLOTS_NOW], at_most[QUOIT_SLOTS_UNDRAINED]);
  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    {
      row->least[i] += at_least[i];
      row->most[i] += at_most[i];
    }
}

static void
count_slice (Counting *counting, const Problem *problem, guint32 slice, QuoitSlotsRow *row)
{
  guint32 least[QUOIT_N_SLOTS_IF], most[QUOIT_N_SLOTS_IF];

  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    {
      QuoitSlotsSlice of_slice = { slice, 0 };
      const QuoitSlotsAnswer *answer;
      QuoitHostSet free;

      quoit_free_hosts_list (&counting->assumptions[i], slice, &problem->cutting.grid, &free);
      of_slice.answer = find_answer (counting, problem, &free);
      answer = &g_array_index (counting->slots->answers, QuoitSlotsAnswer, of_slice.answer);
      least[i] = answer->least;
      most[i] = answer->most;
      g_array_append_val (row->slices[i], of_slice);
    }
  add_ranges (least, most, row);
}

/* --- a row --- */

static void
row_clear (gpointer data)
{
  QuoitSlotsRow *row = data;

  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    g_clear_pointer (&row->slices[i], g_array_unref);
}

static void
answer_clear (gpointer data)
{
  g_array_unref (((QuoitSlotsAnswer *) data)->weights);
}

/* Adds a row for @shape, unless no slice of the fleet is large enough for it. */
static void
add_row (Counting *counting, QuoitGeneration generation, QuoitShape shape)
{
  const QuoitLayout *layout = counting->slots->fleet->layout;
  QuoitSlotsRow row = { .shape = shape };
  gboolean is_possible = FALSE;

  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    row.slices[i] = g_array_new (FALSE, FALSE, sizeof (QuoitSlotsSlice));
  g_hash_table_remove_all (counting->known); /* which is about another shape */
  for (guint32 shelf = 0; shelf < layout->n_shelves; shelf++)
    {
      const QuoitShelf *of = &layout->shelves[shelf];
      const QuoitClass *class = of->class_index == QUOIT_NO_INDEX ? NULL : &layout->classes[of->class_index];
      Problem problem = { .class = class };

      if (class == NULL || class->facts.generation != generation
          || !quoit_cutting_init (&problem.cutting, &class->facts, shape, counting->slots->cut))
        continue;
      is_possible = TRUE;
      for (guint32 slice = of->first_slice; slice < of->first_slice + of->n_slices; slice++)
        count_slice (counting, &problem, slice, &row);
    }
  if (is_possible)
    g_array_append_val (counting->slots->rows, row);
  else
    row_clear (&row);
}

/* Adds a row for each shape that the catalogue lists, in its order. */
static void
add_all_rows (Counting *counting, QuoitGeneration generation)
{
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n_rows);

  for (unsigned i = 0; i < n_rows; i++)
    if (quoit_topology_is_new (rows, i))
      add_row (counting, generation, rows[i].shape);
}

gboolean
quoit_slots_count (QuoitSlots *slots, const QuoitFleet *fleet, QuoitGeneration generation, QuoitShape shape,
                   QuoitCut cut, gint64 until_ms, guint64 steps, GError **error)
{
  g_autoptr (QuoitFleet) later = quoit_fleet_seen_at (fleet, until_ms, until_ms + 1);
  g_autofree char *text = shape.n_dims == 0 ? NULL : quoit_shape_format (shape);
  Counting counting = { slots,
                        { [QUOIT_SLOTS_NOW] = { fleet, QUOIT_NODE_ALIVE, FALSE },
                          [QUOIT_SLOTS_UNDRAINED] = { fleet, QUOIT_NODE_DRAINING, FALSE },
                          [QUOIT_SLOTS_GROUPS_ENDED] = { later, QUOIT_NODE_ALIVE, FALSE },
                          [QUOIT_SLOTS_MENDED] = { fleet, QUOIT_NODE_DEAD, FALSE } },
                        steps,
                        g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL) };

  *slots = (QuoitSlots) { .fleet = quoit_fleet_ref (fleet),
                          .cut = cut,
                          .rows = g_array_new (FALSE, FALSE, sizeof (QuoitSlotsRow)),
                          .answers = g_array_new (FALSE, FALSE, sizeof (QuoitSlotsAnswer)) };
  g_array_set_clear_func (slots->rows, row_clear);
  g_array_set_clear_func (slots->answers, answer_clear);
  if (shape.n_dims == 0)
    add_all_rows (&counting, generation);
  else
    add_row (&counting, generation, shape);
  g_hash_table_unref (counting.known);
  if (slots->rows->len > 0)
    return TRUE;
  quoit_slots_clear (slots);
  return text != NULL ? quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no slice of %s from which '%s' can be cut",
                                    quoit_generation_name (generation), text)
                      : quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no slice of %s", quoit_generation_name (generation));
}

void
quoit_slots_clear (QuoitSlots *slots)
{
  quoit_fleet_unref (slots->fleet);
  g_array_unref (slots->rows);
  g_array_unref (slots->answers);
}
