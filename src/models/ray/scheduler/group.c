/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/scheduler/group.h"

#include <string.h>

/* Packs a bundle and a name, 32 bits each, into a pointer that is the key of a hash table. */
static gpointer
make_pair (guint32 bundle, QuoitStringId name)
{
  return GSIZE_TO_POINTER ((gsize) bundle << 32 | name.index);
}

/* Bundles usually request the same few names. Multiplying by a large odd number lets the bundle, the upper half,
 * influence the hash too. */
static guint
pair_hash (gconstpointer pair)
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
  group->amount_at = g_hash_table_new (pair_hash, NULL);
  group->selector_at = g_hash_table_new (pair_hash, NULL);
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
  g_free (group->required_value);
  g_free (group->lifetime);
  g_free (group);
}

/* Replaces the row of @bundle and @name in @rows, or appends @row. */
static void
store_row (GArray *rows, GHashTable *index, guint32 bundle, QuoitStringId name, gconstpointer row)
{
  gpointer pair = make_pair (bundle, name);
  guint index_plus_1 = GPOINTER_TO_UINT (g_hash_table_lookup (index, pair));

  if (index_plus_1 != 0)
    {
      guint size = g_array_get_element_size (rows);

      memcpy (rows->data + (gsize) (index_plus_1 - 1) * size, row, size);
      return;
    }
  g_array_append_vals (rows, row, 1);
  g_hash_table_insert (index, pair, GUINT_TO_POINTER (rows->len));
}

void
quoit_ray_group_store_amount (QuoitRayGroup *group, guint32 bundle, const char *resource, double amount)
{
  QuoitRayAmount row = { bundle, quoit_strings_intern (group->strings, resource), amount };

  store_row (group->amounts, group->amount_at, bundle, row.resource, &row);
}

void
quoit_ray_group_store_selector (QuoitRayGroup *group, guint32 bundle, const char *key, const char *value)
{
  QuoitRaySelector row
      = { bundle, quoit_strings_intern (group->strings, key), quoit_strings_intern (group->strings, value) };

  store_row (group->selectors, group->selector_at, bundle, row.key, &row);
}

void
quoit_ray_group_store_level (QuoitRayGroup *group, const char *key, QuoitStrategy strategy)
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
