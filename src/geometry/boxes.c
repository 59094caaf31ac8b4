/* SPDX-License-Identifier: Apache-2.0 */
#include "geometry/boxes.h"

void
quoit_extent_widen (QuoitExtent *extent, const QuoitExtent *by)
{
  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      extent->low.at[axis] = MIN (extent->low.at[axis], by->low.at[axis]);
      extent->high.at[axis] = MAX (extent->high.at[axis], by->high.at[axis]);
    }
  extent->n += by->n;
}

QuoitExtent
quoit_box_extent (const QuoitBox *box)
{
  QuoitExtent extent = { box->origin, box->origin, quoit_shape_chips (box->shape) };

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    extent.high.at[axis] += box->shape.dims[axis] - 1;
  return extent;
}

QuoitBox
quoit_extent_box (const QuoitExtent *extent)
{
  QuoitBox box = { extent->low, { { 1, 1, 1 }, QUOIT_N_AXES } };
  guint64 volume = 1;

  for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
    {
      box.shape.dims[axis] = (guint16) (extent->high.at[axis] - extent->low.at[axis] + 1);
      volume *= box.shape.dims[axis];
    }
  if (volume != extent->n)
    box.shape.n_dims = 0;
  return box;
}

gboolean
quoit_box_same_size (const QuoitBox *a, const QuoitBox *b)
{
  return a->shape.n_dims > 0 && quoit_shape_equal (a->shape, b->shape);
}

guint64
quoit_chips_for_process (guint32 chips_per_host, guint32 per_host, guint32 local_index)
{
  guint32 n = chips_per_host / per_host;

  return n >= 64 ? G_MAXUINT64 : (((guint64) 1 << n) - 1) << (local_index * n);
}

char *
quoit_chips_format (guint64 chips)
{
  GString *text = g_string_new (NULL);

  for (guint chip = 0; chip < 64; chip++)
    if ((chips >> chip & 1) != 0)
      g_string_append_printf (text, "%s%u", text->len > 0 ? "," : "", chip);
  return g_string_free (text, FALSE);
}

char *
quoit_bounds_format (QuoitShape shape)
{
  return g_strdup_printf ("%u,%u,%u", shape.dims[0], shape.dims[1], shape.dims[2]);
}
