/* SPDX-License-Identifier: Apache-2.0 */
/* The calendar of the model: reservations ahead and windows. The model does not choose slices. It takes those of
 * reservations ahead from the journal, and checks after each entry that nothing else can have them when they begin. */
#include "linear-model.h"

enum { ALL_SLICES = (1u << N_SLICES) - 1 };

static ModelGroup *
group_at (const Model *model, guint i)
{
  return &g_array_index (model->groups, ModelGroup, i);
}

static gint64
or_forever (gint64 time_ms)
{
  return time_ms == 0 ? G_MAXINT64 : time_ms;
}

gint64
model_latest_end (const ModelGroup *group)
{
  return group->is_held ? G_MAXINT64 : or_forever (group->until_ms);
}

/* --- slices --- */

/* The slices of windows that overlap the time. */
static guint32
slices_in_windows (const Model *model, gint64 from_ms, gint64 end_ms)
{
  guint32 slices = 0;

  for (guint i = 0; i < model->windows->len; i++)
    {
      const ModelWindow *window = &g_array_index (model->windows, ModelWindow, i);

      if (window->from_ms < end_ms && from_ms < window->until_ms)
        slices |= 1u << window->at;
    }
  return slices;
}

static guint32
promised_slices (const Model *model, gint64 from_ms, gint64 end_ms)
{
  guint32 slices = 0;

  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = group_at (model, i);

      if (group->is_ahead && !group->is_removed && group->begins_ms < end_ms && from_ms < or_forever (group->until_ms))
        slices |= group->slices;
    }
  return slices;
}

guint32
model_promised_slices (const Model *model, gint64 from_ms, gint64 end_ms)
{
  return promised_slices (model, from_ms, end_ms) | slices_in_windows (model, from_ms, end_ms);
}

guint32
model_allocated_slices (const Model *model, gint64 time_ms)
{
  guint32 slices = 0;

  for (guint i = 0; i < model->groups->len; i++)
    if (!group_at (model, i)->is_ahead && model_is_live (model, group_at (model, i), time_ms))
      slices |= group_at (model, i)->slices;
  return slices;
}

static guint32
bad_slices (const Model *model)
{
  guint32 slices = 0;

  for (guint i = 0; i < N_NODES; i++)
    if (model->nodes[i] != QUOIT_NODE_ALIVE)
      slices |= 1u << i / N_HOSTS;
  return slices;
}

guint32
model_usable_slices (const Model *model, gint64 time_ms, gint64 end_ms)
{
  return ALL_SLICES & ~bad_slices (model) & ~model_allocated_slices (model, time_ms)
         & ~slices_in_windows (model, time_ms, end_ms);
}

guint32
model_certain_slices (const Model *model, gint64 time_ms, gint64 end_ms)
{
  return model_usable_slices (model, time_ms, end_ms) & ~promised_slices (model, time_ms, end_ms);
}

guint32
model_usable_ahead (const Model *model, gint64 from_ms, gint64 until_ms)
{
  guint32 slices = ALL_SLICES & ~bad_slices (model) & ~slices_in_windows (model, from_ms, until_ms);

  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = group_at (model, i);

      /* The lease of an owner does not count. */
      if (!group->is_ahead && !group->is_removed && model_latest_end (group) > from_ms)
        slices &= ~group->slices;
    }
  return slices;
}

guint32
model_certain_ahead (const Model *model, gint64 from_ms, gint64 until_ms)
{
  return model_usable_ahead (model, from_ms, until_ms) & ~promised_slices (model, from_ms, until_ms);
}

/* --- beginning --- */

static gint
by_number (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return (x > y) - (x < y);
}

GArray *
model_due (const Model *model, gint64 time_ms)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint i = 0; i < model->groups->len; i++)
    if (group_at (model, i)->is_ahead && !group_at (model, i)->is_removed && group_at (model, i)->begins_ms <= time_ms)
      g_array_append_val (ids, group_at (model, i)->id);
  g_array_sort (ids, by_number);
  return ids;
}

void
model_begin (Model *model, gint64 time_ms)
{
  for (guint i = 0; i < model->groups->len; i++)
    if (group_at (model, i)->begins_ms <= time_ms)
      group_at (model, i)->is_ahead = FALSE;
  model->clock_ms = time_ms;
}

/* --- promises --- */

void
model_move (Model *model, guint64 id, guint32 slices)
{
  for (guint i = 0; i < model->groups->len; i++)
    if (group_at (model, i)->id == id && group_at (model, i)->is_ahead)
      group_at (model, i)->slices = slices;
}

char *
model_broken_promise (const Model *model)
{
  for (guint i = 0; i < model->groups->len; i++)
    {
      const ModelGroup *group = group_at (model, i);
      gint64 until_ms = or_forever (group->until_ms);
      guint32 others = 0;

      if (!group->is_ahead || group->is_removed)
        continue;
      for (guint k = 0; k < model->groups->len; k++)
        if (k != i && group_at (model, k)->is_ahead && !group_at (model, k)->is_removed
            && group_at (model, k)->begins_ms < until_ms
            && group->begins_ms < or_forever (group_at (model, k)->until_ms))
          others |= group_at (model, k)->slices;
      if ((guint) __builtin_popcount (group->slices) != group->most)
        return g_strdup_printf ("%s@%u was promised %u slices and has %x", group->name, (guint) group->id, group->most,
                                group->slices);
      if ((group->slices & others) != 0)
        return g_strdup_printf ("slices %x of %s@%u are promised twice", group->slices & others, group->name,
                                (guint) group->id);
      if ((group->slices & ~model_usable_ahead (model, group->begins_ms, until_ms)) != 0)
        return g_strdup_printf ("others can still have slices %x when %s@%u begins",
                                group->slices & ~model_usable_ahead (model, group->begins_ms, until_ms), group->name,
                                (guint) group->id);
    }
  return NULL;
}
