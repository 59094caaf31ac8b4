/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the bundles of a group to rows of ten-thousandths. Like Ray, it multiplies the doubles and truncates
 * them. */
#include "models/ray/scheduler/input.h"

#include <string.h>

enum { MAX_AMOUNTS = 1 << 24 }; /* bundles times resources */

/* Rejects names that Ray refuses before its control plane sees them, or that crash it. */
static gboolean
check_resource (const char *name, GError **error)
{
  if (*name == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "resource '': expected a name");
  if (strcmp (name, "bundle") == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "resource 'bundle': expected a name that Ray does not use itself");
  return TRUE;
}

static gboolean
read_amount (const QuoitRayGroup *group, const QuoitRayAmount *row, gint64 *e4, GError **error)
{
  const char *name = quoit_strings_get (group->strings, row->resource);
  QuoitAmount amount;

  if (!check_resource (name, error) || !quoit_amount_from_signed_double (row->amount, &amount, error))
    {
      g_autofree char *quoted = quoit_quote (name);

      g_prefix_error (error, "bundle %u: %s: ", row->bundle, quoted);
      return FALSE;
    }
  *e4 = amount.e4;
  return TRUE;
}

/* Numbers the resources that bundles request. Returns an array, owned by the caller, with the number + 1 of each
 * string of the group; 0: not the name of a requested resource. Returns NULL if an amount is invalid. */
static guint32 *
number_resources (QuoitRayBundleRows *rows, const QuoitRayGroup *group, GError **error)
{
  g_autofree guint32 *numbers = g_new0 (guint32, quoit_strings_count (group->strings));
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (guint i = 0; i < group->amounts->len; i++)
    {
      const QuoitRayAmount *row = &g_array_index (group->amounts, QuoitRayAmount, i);
      gint64 e4;

      if (!read_amount (group, row, &e4, error))
        return NULL;
      if (e4 == 0 || numbers[row->resource.index] != 0)
        continue;
      g_ptr_array_add (names, (char *) quoit_strings_get (group->strings, row->resource));
      numbers[row->resource.index] = names->len;
    }
  if ((guint64) names->len * group->n_bundles > MAX_AMOUNTS)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "'%u' bundles of '%u' resources: expected at most %d amounts",
                            group->n_bundles, names->len, MAX_AMOUNTS);
  rows->bundles.n_resources = names->len;
  rows->resources = (const char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
  return g_steal_pointer (&numbers);
}

gboolean
quoit_ray_bundle_rows_init (QuoitRayBundleRows *rows, const QuoitRayGroup *group, GError **error)
{
  g_autofree guint32 *number = NULL;
  gsize n_resources;

  *rows = (QuoitRayBundleRows) { .bundles = { .n_bundles = group->n_bundles } };
  number = number_resources (rows, group, error);
  if (number == NULL)
    return FALSE;
  n_resources = rows->bundles.n_resources;
  rows->amounts = g_new0 (gint64, group->n_bundles * n_resources + 1);
  for (guint i = 0; i < group->amounts->len; i++)
    {
      const QuoitRayAmount *row = &g_array_index (group->amounts, QuoitRayAmount, i);
      gint64 e4;

      if (number[row->resource.index] != 0 && read_amount (group, row, &e4, NULL))
        rows->amounts[row->bundle * n_resources + number[row->resource.index] - 1] = e4;
    }
  rows->bundles.resources = rows->resources;
  rows->bundles.amounts = rows->amounts;
  return TRUE;
}

void
quoit_ray_bundle_rows_clear (QuoitRayBundleRows *rows)
{
  g_free (rows->resources);
  g_free (rows->amounts);
  g_free (rows->filter);
}

gboolean
quoit_ray_cluster_adjust (QuoitRayCluster *cluster, const QuoitRayGroup *group, const guint32 *nodes, int sign,
                          GError **error)
{
  g_auto (QuoitRayBundleRows) rows = { .resources = NULL };

  if (!quoit_ray_bundle_rows_init (&rows, group, error))
    return FALSE;
  for (gsize b = 0; b < rows.bundles.n_bundles; b++)
    for (gsize r = 0; r < rows.bundles.n_resources; r++)
      {
        __int128 e4 = (__int128) rows.amounts[b * rows.bundles.n_resources + r] * sign;
        QuoitRayNodeResource resource;

        if (e4 == 0)
          continue;
        resource = quoit_ray_cluster_get_resource (cluster, nodes[b], rows.resources[r]);
        e4 += resource.available;
        /* Like in Ray, an amount does not fall below 0. Ray learns returned amounts from a report of what is
         * available, so they do not exceed the total. */
        e4 = sign < 0 ? MAX (e4, 0) : MIN (e4, resource.total);
        quoit_ray_cluster_store_resource (cluster, nodes[b], rows.resources[r], resource.total,
                                          (gint64) CLAMP (e4, 0, G_MAXINT64));
      }
  return TRUE;
}
