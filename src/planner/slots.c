/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/slots.h"

#include <string.h>

#include "base/indices.h"
#include "placement/ahead.h"
#include "placement/cut/counts.h"

static void
list_assumptions (const QuoitSlots *slots, QuoitFreeHosts assumptions[QUOIT_N_SLOTS_IF])
{
  assumptions[QUOIT_SLOTS_NOW] = (QuoitFreeHosts) { slots->fleet, QUOIT_NODE_ALIVE, FALSE };
  assumptions[QUOIT_SLOTS_UNDRAINED] = (QuoitFreeHosts) { slots->fleet, QUOIT_NODE_DRAINING, FALSE };
  assumptions[QUOIT_SLOTS_GROUPS_ENDED] = (QuoitFreeHosts) { slots->later, QUOIT_NODE_ALIVE, FALSE };
  assumptions[QUOIT_SLOTS_MENDED] = (QuoitFreeHosts) { slots->fleet, QUOIT_NODE_DEAD, FALSE };
}

/* --- one class --- */

typedef struct {
  const QuoitSlots *slots;
  const QuoitClass *class;
  const GArray *slices; /* of guint32 */
  QuoitFreeHosts assumptions[QUOIT_N_SLOTS_IF];
  QuoitCutMemory *memory;
  const QuoitFreeSet **sets[QUOIT_N_SLOTS_IF]; /* by position in @slices */
} Counting;

static const QuoitFreeSet *
find_set (const Counting *counting, guint assumption, guint32 position)
{
  const guint32 slice = g_array_index (counting->slices, guint32, position);
  const QuoitFreeHosts *rule = &counting->assumptions[assumption];
  const QuoitFreeHosts *now = &counting->assumptions[QUOIT_SLOTS_NOW];
  QuoitHostSet free;

  if (rule->fleet->nodes.root == now->fleet->nodes.root
      && quoit_free_hosts_are_same (rule, now, slice, &counting->memory->grid))
    return counting->memory->at[position];
  quoit_free_hosts_list (rule, slice, &counting->memory->grid, &free);
  return quoit_cut_memory_find (counting->memory, &free);
}

static void
list_sets (Counting *counting)
{
  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    {
      counting->sets[i] = g_new (const QuoitFreeSet *, counting->slices->len);
      for (guint32 position = 0; position < counting->slices->len; position++)
        counting->sets[i][position] = find_set (counting, i, position);
    }
}

void
quoit_slots_row_add (QuoitSlotsRow *row, const guint32 *least, const guint32 *most)
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
count_parts (const Counting *counting, const QuoitCutting *cutting, QuoitSlotsRow *row)
{
  const guint64 steps = counting->slots->steps;
  QuoitCutQuestion *question = quoit_part_counts_ask (counting->memory, cutting, steps);

  for (guint32 position = 0; position < counting->slices->len; position++)
    {
      guint32 least[QUOIT_N_SLOTS_IF], most[QUOIT_N_SLOTS_IF];

      for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
        {
          const QuoitFreeSet *set = counting->sets[i][position];

          if (i > 0 && set == counting->sets[0][position])
            least[i] = least[0], most[i] = most[0];
          else
            {
              const QuoitPartCount count = quoit_part_counts_look_up (question, cutting, set, steps);

              least[i] = count.least;
              most[i] = count.most;
            }
        }
      quoit_slots_row_add (row, least, most);
    }
}

/* A whole slice is one part, if all its hosts count. */
static void
count_whole (const Counting *counting, const QuoitGrid *grid, QuoitSlotsRow *row)
{
  for (guint32 position = 0; position < counting->slices->len; position++)
    {
      const guint32 slice = g_array_index (counting->slices, guint32, position);
      guint32 n[QUOIT_N_SLOTS_IF];

      for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
        n[i] = quoit_free_hosts_have_all (&counting->assumptions[i], slice, grid) ? 1 : 0;
      quoit_slots_row_add (row, n, n);
    }
}

/* Adds the parts of each row that fit into the slices of the class. Sets @is_possible where a slice is large enough. */
static void
count_class (Counting *counting, GArray *rows, gboolean *is_possible)
{
  const QuoitSlots *slots = counting->slots;
  QuoitCutStore *store = NULL;

  for (guint i = 0; i < rows->len; i++)
    {
      QuoitSlotsRow *row = &g_array_index (rows, QuoitSlotsRow, i);
      QuoitCutting cutting;

      if (!quoit_cutting_init (&cutting, &counting->class->facts, row->shape, slots->cut))
        continue;
      is_possible[i] = TRUE;
      if (store == NULL)
        {
          store = quoit_cut_store_get (slots->fleet->layout, counting->class, &cutting.grid);
          counting->slices = quoit_cut_store_slices (store);
        }
      if (slots->cut == QUOIT_CUT_WHOLE)
        {
          count_whole (counting, &cutting.grid, row);
          continue;
        }
      if (counting->memory == NULL)
        {
          counting->memory = quoit_cut_memory_take (store, slots->fleet);
          list_sets (counting);
        }
      count_parts (counting, &cutting, row);
    }
  for (guint i = 0; i < QUOIT_N_SLOTS_IF; i++)
    g_free (counting->sets[i]);
  if (counting->memory != NULL)
    quoit_cut_memory_keep (counting->memory);
  if (store != NULL)
    quoit_cut_store_unref (store);
}

/* --- all classes --- */

/* Appends a row for the shape, or for each one that the catalogue lists, in its order. */
static void
list_rows (QuoitGeneration generation, QuoitShape shape, GArray *list)
{
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n_rows);
  QuoitSlotsRow row = { .shape = shape };

  if (shape.n_dims != 0)
    g_array_append_val (list, row);
  for (unsigned i = 0; i < n_rows && shape.n_dims == 0; i++)
    if (quoit_topology_is_new (rows, i))
      {
        row.shape = rows[i].shape;
        g_array_append_val (list, row);
      }
}

gboolean
quoit_slots_count (QuoitSlots *slots, const QuoitFleet *fleet, QuoitGeneration generation, QuoitShape shape,
                   QuoitCut cut, gint64 until_ms, guint64 steps, GError **error)
{
  g_autofree char *text = shape.n_dims == 0 ? NULL : quoit_shape_format (shape);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (QuoitSlotsRow));
  g_autofree gboolean *is_possible = NULL;

  *slots = (QuoitSlots) { .fleet = quoit_fleet_ref (fleet),
                          .later = quoit_fleet_seen_at (fleet, until_ms, until_ms + 1),
                          .generation = generation,
                          .cut = cut,
                          .steps = steps,
                          .rows = g_array_new (FALSE, FALSE, sizeof (QuoitSlotsRow)) };
  list_rows (generation, shape, rows);
  is_possible = g_new0 (gboolean, rows->len);
  for (guint32 class = 0; class < fleet->layout->n_classes; class ++)
    {
      Counting counting = { .slots = slots, .class = &fleet->layout->classes[class] };

      list_assumptions (slots, counting.assumptions);
      if (counting.class->facts.generation == generation)
        count_class (&counting, rows, is_possible);
    }
  for (guint i = 0; i < rows->len; i++)
    if (is_possible[i])
      g_array_append_val (slots->rows, g_array_index (rows, QuoitSlotsRow, i));
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
  quoit_fleet_unref (slots->later);
  g_array_unref (slots->rows);
}

/* --- proofs --- */

static void
proof_free (gpointer data)
{
  QuoitSlotsProof *proof = data;

  quoit_packing_result_clear (&proof->result);
  g_free (proof);
}

/* Returns the proof for the slice. Slices of a class with the same hosts share one. */
static QuoitSlotsProof *
find_proof (const QuoitFreeHosts *rule, guint32 slice, const QuoitCutting *cutting, guint64 steps, GHashTable *known)
{
  const QuoitPackingDemand demand = { cutting->turns, cutting->n_turns, 1, 0 };
  g_autoptr (GBytes) key = NULL;
  QuoitSlotsProof *proof;
  QuoitHostSet free;

  quoit_free_hosts_list (rule, slice, &cutting->grid, &free);
  key = g_bytes_new (free.rows, quoit_grid_n_rows (&cutting->grid) * sizeof *free.rows);
  proof = g_hash_table_lookup (known, key);
  if (proof == NULL)
    {
      proof = g_new (QuoitSlotsProof, 1);
      proof->grid = cutting->grid;
      memcpy (proof->free.rows, free.rows, quoit_grid_n_rows (&cutting->grid) * sizeof *free.rows);
      quoit_packing_solve (&cutting->grid, &free, &demand, 1, cutting->offsets, steps, &proof->result);
      g_hash_table_insert (known, g_steal_pointer (&key), proof);
    }
  proof->slice = slice;
  return proof;
}

void
quoit_slots_prove (const QuoitSlots *slots, const QuoitSlotsRow *row, QuoitSlotsIf assumption,
                   void (*func) (const QuoitSlotsProof *proof, gpointer data), gpointer data)
{
  const QuoitLayout *layout = slots->fleet->layout;
  QuoitFreeHosts assumptions[QUOIT_N_SLOTS_IF];
  g_autoptr (GHashTable) known
      = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, proof_free);
  guint32 class_index = QUOIT_NO_INDEX;

  list_assumptions (slots, assumptions);
  for (guint32 shelf = 0; shelf < layout->n_shelves; shelf++)
    {
      const QuoitShelf *of = &layout->shelves[shelf];
      const QuoitClass *class = of->class_index == QUOIT_NO_INDEX ? NULL : &layout->classes[of->class_index];
      QuoitCutting cutting;

      if (class == NULL || class->facts.generation != slots->generation
          || !quoit_cutting_init (&cutting, &class->facts, row->shape, slots->cut))
        continue;
      if (of->class_index != class_index)
        g_hash_table_remove_all (known);
      class_index = of->class_index;
      for (guint32 slice = of->first_slice; slice < of->first_slice + of->n_slices; slice++)
        func (find_proof (&assumptions[assumption], slice, &cutting, slots->steps, known), data);
    }
}
