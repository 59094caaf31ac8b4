/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the distances between the devices of a line, and the links that connect them. */
#include <stdlib.h>
#include <string.h>

#include "mesh/lines.h"

/* A chip of the line. */
typedef struct {
  gint32 at[3];
  guint32 n_devices, links_e4;
} Chip;

QuoitSliceDimensions
quoit_slice_dimensions (const QuoitDevices *devices, gint32 slice)
{
  const QuoitDeviceTorus torus = quoit_devices_torus (devices, slice);
  const QuoitShape shape = torus.shape;
  QuoitSliceDimensions slice_dimensions = { { 0, 0, 0 }, 0 };

  for (guint axis = 0; axis < 3 && shape.n_dims > 0; axis++)
    slice_dimensions.sides[axis] = shape.dims[axis];
  if (shape.n_dims > 0)
    slice_dimensions.wrap = torus.wrap;
  return slice_dimensions;
}

static guint32
hops_between (const QuoitSliceDimensions *slice_dimensions, const QuoitDevice *a, const QuoitDevice *b)
{
  gint64 hops = 0;

  for (guint axis = 0; axis < 3; axis++)
    {
      gint64 straight = llabs ((gint64) a->at[axis] - b->at[axis]);

      hops += (slice_dimensions->wrap & 1u << axis) != 0 ? MIN (straight, slice_dimensions->sides[axis] - straight)
                                                         : straight;
    }
  return (guint32) MIN (hops, G_MAXUINT32);
}

static void
measure_hops (const QuoitSliceDimensions *slice_dimensions, const QuoitDevice *const *devices, guint32 n,
              QuoitLine *line)
{
  for (guint32 i = 0; i + 1 < n; i++)
    line->hops = MAX (line->hops, hops_between (slice_dimensions, devices[i], devices[i + 1]));
  line->hops_back = hops_between (slice_dimensions, devices[n - 1], devices[0]);
}

/* --- chips --- */

/* Compares the coordinates of the other axes first and the one along @data, an axis, last. Chips of one row along that
 * axis are then adjacent. */
static gint
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const Chip *x = a, *y = b;
  guint last = GPOINTER_TO_UINT (data);

  for (guint i = 1; i <= 3; i++)
    {
      guint axis = (last + i) % 3;

      if (x->at[axis] != y->at[axis])
        return x->at[axis] < y->at[axis] ? -1 : 1;
    }
  return 0;
}

static gboolean
is_same_row (const Chip *a, const Chip *b, guint axis)
{
  return a->at[(axis + 1) % 3] == b->at[(axis + 1) % 3] && a->at[(axis + 2) % 3] == b->at[(axis + 2) % 3];
}

/* Fills @chips with the different chips of the devices. Returns their number. */
static guint32
list_chips (const QuoitDevice *const *devices, guint32 n, Chip *chips)
{
  const gpointer last_axis = GUINT_TO_POINTER (2); /* any axis puts the devices of one chip together */
  guint32 n_chips = 0;

  for (guint32 i = 0; i < n; i++)
    chips[i] = (Chip) { { devices[i]->at[0], devices[i]->at[1], devices[i]->at[2] }, 1, 0 };
  g_qsort_with_data (chips, (gint) n, sizeof *chips, compare_positions, last_axis);
  for (guint32 i = 0; i < n; i++)
    if (n_chips > 0 && compare_positions (&chips[n_chips - 1], &chips[i], last_axis) == 0)
      chips[n_chips - 1].n_devices++;
    else
      chips[n_chips++] = chips[i];
  return n_chips;
}

/* Connects two neighbours of a row that are @hops apart. */
static void
connect (Chip *a, Chip *b, gint64 hops)
{
  guint32 links_e4 = (guint32) MAX (QUOIT_LINK_E4 / MAX (hops, 1), 1);

  a->links_e4 += links_e4;
  b->links_e4 += links_e4;
}

/* Connects the neighbours in each row along @axis. Returns the number of chips in the longest row. */
static guint32
connect_rows (const QuoitSliceDimensions *slice_dimensions, Chip *chips, guint32 n, guint axis)
{
  guint32 longest = 1;

  g_qsort_with_data (chips, (gint) n, sizeof *chips, compare_positions, GUINT_TO_POINTER (axis));
  for (guint32 first = 0, end; first < n; first = end)
    {
      for (end = first + 1; end < n && is_same_row (&chips[first], &chips[end], axis); end++)
        connect (&chips[end - 1], &chips[end], (gint64) chips[end].at[axis] - chips[end - 1].at[axis]);
      if (end > first + 1 && (slice_dimensions->wrap & 1u << axis) != 0)
        connect (&chips[end - 1], &chips[first],
                 (gint64) chips[first].at[axis] + slice_dimensions->sides[axis] - chips[end - 1].at[axis]);
      longest = MAX (longest, end - first);
    }
  return longest;
}

void
quoit_line_measure (const QuoitSliceDimensions *slice_dimensions, const QuoitDevice *const *devices, guint32 n,
                    QuoitLine *line)
{
  g_autofree Chip *chips = g_new (Chip, n);

  *line = (QuoitLine) { .n_devices = n, .n_chips = list_chips (devices, n, chips) };
  line->n_per_chip = chips[0].n_devices;
  for (guint32 i = 1; i < line->n_chips; i++)
    line->n_per_chip = MIN (line->n_per_chip, chips[i].n_devices);
  measure_hops (slice_dimensions, devices, n, line);
  line->n_spans = 1;
  memcpy (line->spans[0].sides, slice_dimensions->sides, sizeof line->spans[0].sides);
  line->spans[0].n[QUOIT_TORUS_CORE] = line->n_per_chip;
  for (guint axis = 0; axis < 3; axis++)
    line->spans[0].n[axis] = connect_rows (slice_dimensions, chips, line->n_chips, axis);
  if (line->n_chips == 1)
    return;

  line->links_e4 = G_MAXUINT32;
  for (guint32 i = 0; i < line->n_chips; i++)
    line->links_e4 = MIN (line->links_e4, chips[i].links_e4);
  /* A chip that shares no row with another chip is assumed to be as far from its neighbour as any two neighbours of
   * the line. */
  if (line->links_e4 == 0)
    line->links_e4 = MAX (QUOIT_LINK_E4 / MAX (MAX (line->hops, line->hops_back), 1), 1);
}

/* Adds what a line uses to what lines in slices with the same sides use. */
static void
widen_spans (QuoitLine *worst, const QuoitSpans *spans)
{
  guint32 at = 0;

  while (at < worst->n_spans && memcmp (worst->spans[at].sides, spans->sides, sizeof spans->sides) != 0)
    at++;
  if (at == QUOIT_MOST_SPANS)
    at--;
  else if (at == worst->n_spans)
    worst->spans[worst->n_spans++] = *spans;
  for (guint axis = 0; axis < G_N_ELEMENTS (spans->n); axis++)
    worst->spans[at].n[axis] = MAX (worst->spans[at].n[axis], spans->n[axis]);
}

void
quoit_line_keep_worst (QuoitLine *worst, const QuoitLine *line)
{
  gboolean is_first = worst->n_devices == 0;

  worst->n_devices = MAX (worst->n_devices, line->n_devices);
  worst->n_chips = MAX (worst->n_chips, line->n_chips);
  worst->n_per_chip = is_first ? line->n_per_chip : MIN (worst->n_per_chip, line->n_per_chip);
  worst->hops = MAX (worst->hops, line->hops);
  worst->hops_back = MAX (worst->hops_back, line->hops_back);
  if (line->links_e4 > 0)
    worst->links_e4 = worst->links_e4 == 0 ? line->links_e4 : MIN (worst->links_e4, line->links_e4);
  for (guint32 i = 0; i < line->n_spans; i++)
    widen_spans (worst, &line->spans[i]);
}
