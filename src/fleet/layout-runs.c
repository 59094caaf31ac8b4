/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the slices of a layout into runs: adjacent slices of one shelf whose nodes are all of one kind. A rule for a
 * label then needs one test per run, unless nodes of one kind can differ in that label. */
#include "fleet/layout-private.h"

#include <string.h>

/* Returns the kind of all nodes of the slice, or QUOIT_NO_INDEX if they differ. */
static guint32
common_kind (const QuoitLayout *layout, guint32 slice)
{
  const QuoitSlice *row = &layout->slices[slice];
  const QuoitNode *nodes = &layout->nodes[row->first_node];

  for (guint32 i = 1; i < row->n_nodes; i++)
    if (nodes[i].kind != nodes[0].kind)
      return QUOIT_NO_INDEX;
  return nodes[0].kind;
}

static QuoitSliceRuns *
find_runs (const QuoitLayout *layout)
{
  GArray *array = g_array_new (FALSE, FALSE, sizeof (QuoitSliceRun));
  QuoitSliceRuns *runs = g_new (QuoitSliceRuns, 1);

  for (guint32 s = 0; s < layout->n_slices; s++)
    {
      QuoitSliceRun run = { s, 1, layout->slices[s].shelf, common_kind (layout, s) };
      QuoitSliceRun *last = array->len == 0 ? NULL : &g_array_index (array, QuoitSliceRun, array->len - 1);

      if (last != NULL && run.kind != QUOIT_NO_INDEX && last->kind == run.kind && last->shelf == run.shelf)
        last->n_slices++;
      else
        g_array_append_val (array, run);
    }
  runs->n = array->len;
  runs->runs = (QuoitSliceRun *) (void *) g_array_free (array, FALSE);
  return runs;
}

void
quoit_slice_runs_free (QuoitSliceRuns *runs)
{
  if (runs == NULL)
    return;
  g_free (runs->runs);
  g_free (runs);
}

const QuoitSliceRuns *
quoit_layout_slice_runs (const QuoitLayout *layout)
{
  gpointer *slot = (gpointer *) &((QuoitLayout *) layout)->slice_runs;
  QuoitSliceRuns *runs = g_atomic_pointer_get (slot);

  if (runs != NULL)
    return runs;
  runs = find_runs (layout);
  if (g_atomic_pointer_compare_and_exchange (slot, NULL, runs))
    return runs;
  quoit_slice_runs_free (runs);
  return g_atomic_pointer_get (slot);
}
