/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/ray/group.h"

#include <string.h>

/* Packs a bundle and a name into a pointer, 32 bits each. */
static gpointer
pair_of (guint32 bundle, QuoitStringId name)
{
  return GSIZE_TO_POINTER ((gsize) bundle << 32 | name.index);
}

/* Bundles usually request the same few names, so the upper half (the bundle) must also influence the hash. */
static guint
hash_of_pair (gconstpointer pair)
{
  return (guint) (GPOINTER_TO_SIZE (pair) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) >> 32);
}

QuoitRayGroup *
quoit_ray_group_alloc (void)
{
  QuoitRayGroup *group = g_new0 (QuoitRayGroup, 1);

  group->strings = quoit_strings_new (0, 0);
  group->amounts = g_array_new (FALSE, FALSE, sizeof (QuoitRayAmount));
  group->selectors = g_array_new (FALSE, FALSE, sizeof (QuoitRaySelector));
  group->amount_at = g_hash_table_new (hash_of_pair, NULL);
  group->selector_at = g_hash_table_new (hash_of_pair, NULL);
  group->levels = g_array_new (FALSE, FALSE, sizeof (QuoitRayLevel));
  group->excluded = g_ptr_array_new_with_free_func (g_free);
  return group;
}

void
quoit_ray_group_release (QuoitRayGroup *group)
{
  quoit_strings_free (group->strings);
  g_array_unref (group->amounts);
  g_array_unref (group->selectors);
  g_hash_table_unref (group->amount_at);
  g_hash_table_unref (group->selector_at);
  g_array_unref (group->levels);
  g_ptr_array_unref (group->excluded);
  g_free (group->soft_target);
  g_free (group->bound);
  g_free (group->lifetime);
  g_free (group);
}

/* Replaces the row of @bundle and @name in @rows, or appends @row. */
static void
put (GArray *rows, GHashTable *at, guint32 bundle, QuoitStringId name, gconstpointer row)
{
  gpointer pair = pair_of (bundle, name);
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (at, pair));

  if (place != 0)
    {
      guint size = g_array_get_element_size (rows);

      memcpy (rows->data + (gsize) (place - 1) * size, row, size);
      return;
    }
  g_array_append_vals (rows, row, 1);
  g_hash_table_insert (at, pair, GUINT_TO_POINTER (rows->len));
}

void
quoit_ray_group_want (QuoitRayGroup *group, guint32 bundle, const char *resource, double amount)
{
  QuoitRayAmount row = { bundle, quoit_strings_intern (group->strings, resource), amount };

  put (group->amounts, group->amount_at, bundle, row.resource, &row);
}

void
quoit_ray_group_select (QuoitRayGroup *group, guint32 bundle, const char *key, const char *value)
{
  QuoitRaySelector row
      = { bundle, quoit_strings_intern (group->strings, key), quoit_strings_intern (group->strings, value) };

  put (group->selectors, group->selector_at, bundle, row.key, &row);
}

void
quoit_ray_group_level (QuoitRayGroup *group, const char *key, QuoitStrategy strategy)
{
  QuoitRayLevel level = { quoit_strings_intern (group->strings, key), strategy };

  for (guint i = 0; i < group->levels->len; i++)
    if (g_array_index (group->levels, QuoitRayLevel, i).key.index == level.key.index)
      {
        g_array_index (group->levels, QuoitRayLevel, i) = level;
        return;
      }
  g_array_append_val (group->levels, level);
}
