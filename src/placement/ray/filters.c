/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the selectors of bundles to bits of nodes. Bundles with the same selectors share them. */
#include "placement/ray/question.h"

#include <string.h>

#include "fleet/selector.h"

enum { MOST_WORDS = 1 << 26 }; /* words of 64 nodes, times filters */

/* The selectors of one bundle, by key: group->selectors[at[first]] to group->selectors[at[first + n - 1]]. */
typedef struct {
  const QuoitRayGroup *group;
  const guint32 *at;
  guint32 first, n;
  guint32 number; /* of the filter */
} Selectors;

static const QuoitRaySelector *
selector_at (const Selectors *selectors, guint32 i)
{
  return &g_array_index (selectors->group->selectors, QuoitRaySelector, selectors->at[selectors->first + i]);
}

static guint
selectors_hash (gconstpointer key)
{
  const Selectors *selectors = key;
  guint64 hash = selectors->n;

  for (guint32 i = 0; i < selectors->n; i++)
    {
      const QuoitRaySelector *selector = selector_at (selectors, i);
      guint64 words[] = { hash, (guint64) selector->key.index << 32 | selector->value.index };

      hash = quoit_hash_bytes ((const char *) words, sizeof words);
    }
  return (guint) hash;
}

static gboolean
selectors_equal (gconstpointer a, gconstpointer b)
{
  const Selectors *x = a, *y = b;

  if (x->n != y->n)
    return FALSE;
  for (guint32 i = 0; i < x->n; i++)
    if (selector_at (x, i)->key.index != selector_at (y, i)->key.index
        || selector_at (x, i)->value.index != selector_at (y, i)->value.index)
      return FALSE;
  return TRUE;
}

static int
by_bundle_and_key (gconstpointer a, gconstpointer b, gpointer data)
{
  const QuoitRaySelector *rows = data, *x = &rows[*(const guint32 *) a], *y = &rows[*(const guint32 *) b];

  if (x->bundle != y->bundle)
    return x->bundle < y->bundle ? -1 : 1;
  return (x->key.index > y->key.index) - (x->key.index < y->key.index);
}

static guint32 *
sort_selectors (const QuoitRayGroup *group)
{
  guint32 *at = g_new (guint32, group->selectors->len);

  for (guint i = 0; i < group->selectors->len; i++)
    at[i] = i;
  g_qsort_with_data (at, (gint) group->selectors->len, sizeof *at, by_bundle_and_key, group->selectors->data);
  return at;
}

/* Sets the bits of the nodes that have one of the values of @selector. */
static void
mark_listed (const QuoitRayCluster *cluster, const QuoitSelector *selector, guint64 *bits)
{
  const QuoitRayKey *key = quoit_ray_cluster_key (cluster, quoit_selector_key (selector));
  const char *const *values = quoit_selector_values (selector);

  for (guint i = 0; key != NULL && values[i] != NULL; i++)
    {
      const GArray *nodes = quoit_ray_cluster_labelled (cluster, key, values[i]);

      for (guint n = 0; nodes != NULL && n < nodes->len; n++)
        {
          guint32 node = g_array_index (nodes, guint32, n);

          bits[node / 64] |= (guint64) 1 << (node % 64);
        }
    }
}

/* Clears the bits in @passes of nodes that do not satisfy all @selectors. @bits is a buffer of @n_words. */
static void
narrow (const QuoitRayCluster *cluster, const Selectors *selectors, guint64 *passes, guint64 *bits, gsize n_words)
{
  const QuoitStrings *strings = selectors->group->strings;

  for (guint32 i = 0; i < selectors->n; i++)
    {
      const QuoitRaySelector *row = selector_at (selectors, i);
      g_autoptr (QuoitSelector) selector
          = quoit_selector_read (quoit_strings_get (strings, row->key), quoit_strings_get (strings, row->value));
      guint64 turn = quoit_selector_is_negated (selector) ? G_MAXUINT64 : 0;

      memset (bits, 0, n_words * sizeof *bits);
      mark_listed (cluster, selector, bits);
      for (gsize w = 0; w < n_words; w++)
        passes[w] &= bits[w] ^ turn;
    }
}

/* Sets the filter of each bundle, and appends the selectors of each different filter to @filters. */
static void
number_filters (QuoitRayAsked *asked, const QuoitRayGroup *group, const guint32 *at, GArray *filters)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (selectors_hash, selectors_equal, g_free, NULL);

  for (guint32 b = 0, first = 0; b < group->n_bundles; b++)
    {
      Selectors selectors = { group, at, first, 0, filters->len }, *there;

      while (first < group->selectors->len && g_array_index (group->selectors, QuoitRaySelector, at[first]).bundle == b)
        first++;
      selectors.n = first - selectors.first;
      there = g_hash_table_lookup (known, &selectors);
      if (there == NULL)
        {
          there = g_memdup2 (&selectors, sizeof selectors);
          g_hash_table_add (known, there);
          g_array_append_val (filters, selectors);
        }
      asked->filter[b] = there->number;
    }
}

gboolean
quoit_ray_filters (QuoitRayAsked *asked, const QuoitRayGroup *group, const QuoitRayCluster *cluster, guint64 **passes,
                   GError **error)
{
  gsize n_words = (cluster->ids->len + 63) / 64;
  g_autofree guint32 *at = NULL;
  g_autofree guint64 *bits = NULL;
  g_autoptr (GArray) filters = NULL;

  *passes = NULL;
  if (group->selectors->len == 0)
    return TRUE;
  at = sort_selectors (group);
  filters = g_array_new (FALSE, FALSE, sizeof (Selectors));
  asked->filter = g_new (guint32, group->n_bundles);
  asked->bundles.filter = asked->filter;
  number_filters (asked, group, at, filters);
  asked->bundles.n_filters = filters->len;
  if (filters->len * n_words > MOST_WORDS)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "bundles with '%u' different selectors and '%u' nodes: expected at most %d, nodes in sets of 64",
                       filters->len, cluster->ids->len, MOST_WORDS);
  bits = g_new (guint64, n_words + 1);
  *passes = g_new (guint64, filters->len * n_words + 1);
  memset (*passes, 0xff, filters->len * n_words * sizeof (guint64));
  for (gsize f = 0; f < filters->len; f++)
    narrow (cluster, &g_array_index (filters, Selectors, f), *passes + f * n_words, bits, n_words);
  return TRUE;
}
