/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the slices that Ray has discovered, and chooses an idle sub-slice of one of them. */
#include "models/ray/subslices.h"

#include <string.h>

#include "base/name-hash.h"
#include "models/ray/nodes.h"
#include "base/python.h"
#include "models/ray/ray.h"

typedef struct {
  char *id;
  QuoitRayLabels *labels;
} Worker;

typedef struct {
  char *name;
  GPtrArray *workers; /* of Worker, in the order in which they were first set */
  GHashTable *by_id;  /* id of a Worker -> Worker */
} Slice;

struct _QuoitRaySubslices {
  GPtrArray *slices;   /* of Slice, in the order in which they were first set */
  GHashTable *by_name; /* name of a Slice -> Slice */
};

static void
free_worker (gpointer data)
{
  Worker *worker = data;

  g_free (worker->id);
  quoit_ray_labels_free (worker->labels);
  g_free (worker);
}

static void
free_slice (gpointer data)
{
  Slice *slice = data;

  g_hash_table_unref (slice->by_id);
  g_ptr_array_unref (slice->workers);
  g_free (slice->name);
  g_free (slice);
}

QuoitRaySubslices *
quoit_ray_subslices_new (void)
{
  QuoitRaySubslices *known = g_new (QuoitRaySubslices, 1);

  known->slices = g_ptr_array_new_with_free_func (free_slice);
  known->by_name = g_hash_table_new (quoit_hash_text, g_str_equal);
  return known;
}

void
quoit_ray_subslices_free (QuoitRaySubslices *known)
{
  if (known == NULL)
    return;

  g_hash_table_unref (known->by_name);
  g_ptr_array_unref (known->slices);
  g_free (known);
}

static Slice *
ensure_slice (QuoitRaySubslices *known, const char *name)
{
  Slice *slice = g_hash_table_lookup (known->by_name, name);

  if (slice != NULL)
    return slice;

  slice = g_new (Slice, 1);
  slice->name = g_strdup (name);
  slice->workers = g_ptr_array_new_with_free_func (free_worker);
  slice->by_id = g_hash_table_new (quoit_hash_text, g_str_equal);
  g_ptr_array_add (known->slices, slice);
  g_hash_table_insert (known->by_name, slice->name, slice);
  return slice;
}

void
quoit_ray_subslices_set (QuoitRaySubslices *known, const char *slice_name, const char *worker_id,
                         const QuoitRayLabels *labels)
{
  Slice *slice = ensure_slice (known, slice_name);
  Worker *worker;
  QuoitRayLabels *before;

  if (worker_id == NULL)
    return;

  worker = g_hash_table_lookup (slice->by_id, worker_id);
  if (worker == NULL)
    {
      worker = g_new0 (Worker, 1);
      worker->id = g_strdup (worker_id);
      g_ptr_array_add (slice->workers, worker);
      g_hash_table_insert (slice->by_id, worker->id, worker);
    }
  before = worker->labels;
  worker->labels = quoit_ray_labels_copy (labels);
  quoit_ray_labels_free (before);
}

gboolean
quoit_ray_subslices_is_known (const QuoitRaySubslices *known, const char *slice_name)
{
  return g_hash_table_contains (known->by_name, slice_name);
}

const char *
quoit_ray_subslices_get_name (const QuoitRaySubslices *known, unsigned index)
{
  return index < known->slices->len ? ((const Slice *) known->slices->pdata[index])->name : NULL;
}

static gboolean
read_number (const char *text, const char *what, int64_t *number, GError **error)
{
  g_autoptr (QuoitBig) big = quoit_python_int (text, what, error);

  if (big == NULL)
    return FALSE;
  if (!quoit_big_to_int (big, number))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected an integer of 64 bits", what);

  return TRUE;
}

/* The index of a sub-slice, or a worker id, as text and as number. Ray compares texts ("1" and "01" are different
 * indices) but sorts by number. */
typedef struct {
  const char *text;
  int64_t number;
  GPtrArray *workers; /* for an index: the ids of its workers, which belong to the Slice */
} NumberedText;

static void
clear_numbered_text (gpointer data)
{
  g_clear_pointer (&((NumberedText *) data)->workers, g_ptr_array_unref);
}

static gint
by_number (gconstpointer a, gconstpointer b)
{
  const NumberedText *x = a, *y = b;

  return (x->number > y->number) - (x->number < y->number);
}

static GArray *
new_numbered_texts (void)
{
  GArray *array = g_array_new (FALSE, FALSE, sizeof (NumberedText));

  g_array_set_clear_func (array, clear_numbered_text);
  return array;
}

/* Groups the workers of @slice by the index of their sub-slice, which @label states. Returns an array of NumberedText,
 * one per index, sorted by number. If @wanted_index is not NULL, ignores other indices. Returns NULL on failure. */
static GArray *
group_by_index (const Slice *slice, const char *label, const int64_t *wanted_index, GError **error)
{
  g_autoptr (GArray) indices = new_numbered_texts ();
  g_autoptr (GHashTable) positions = g_hash_table_new (quoit_hash_text, g_str_equal); /* text -> position + 1 */

  for (unsigned i = 0; i < slice->workers->len; i++)
    {
      const Worker *worker = slice->workers->pdata[i];
      NumberedText index = { quoit_ray_labels_find (worker->labels, label), 0, NULL };
      guint position;

      if (index.text == NULL)
        continue;
      if (!read_number (index.text, "index of a sub-slice", &index.number, error))
        return NULL;
      if (wanted_index != NULL && index.number != *wanted_index)
        continue;
      position = GPOINTER_TO_UINT (g_hash_table_lookup (positions, index.text));
      if (position == 0)
        {
          index.workers = g_ptr_array_new ();
          g_array_append_val (indices, index);
          position = indices->len;
          g_hash_table_insert (positions, (gpointer) index.text, GUINT_TO_POINTER (position));
        }
      g_ptr_array_add (g_array_index (indices, NumberedText, position - 1).workers, worker->id);
    }
  /* Equal numbers keep their order, because g_array_sort() is stable. */
  g_array_sort (indices, by_number);
  return g_steal_pointer (&indices);
}

/* Returns a map from worker id to row + 1. The keys belong to the node list. */
static GHashTable *
map_slice_rows (const QuoitRayNodes *nodes, const char *slice_name)
{
  GHashTable *rows = g_hash_table_new (quoit_hash_text, g_str_equal);

  for (unsigned i = 0; i < quoit_ray_nodes_get_n (nodes); i++)
    {
      const char *id = quoit_ray_nodes_label (nodes, i, QUOIT_RAY_LABEL_WORKER_ID);

      if (id != NULL && *id != '\0' && *slice_name != '\0'
          && g_strcmp0 (quoit_ray_nodes_get_slice_name (nodes, i), slice_name) == 0)
        g_hash_table_replace (rows, (gpointer) id, GUINT_TO_POINTER (i + 1));
    }
  return rows;
}

static gboolean
are_all_idle (const QuoitRayNodes *nodes, GHashTable *rows, const GPtrArray *workers)
{
  for (unsigned i = 0; i < workers->len; i++)
    {
      guint row = GPOINTER_TO_UINT (g_hash_table_lookup (rows, workers->pdata[i]));

      if (row == 0 || !quoit_ray_nodes_is_alive (nodes, row - 1) || !quoit_ray_nodes_counts_as_idle (nodes, row - 1))
        return FALSE;
    }
  return TRUE;
}

static char **
sort_workers (const GPtrArray *workers, GError **error)
{
  g_autoptr (GArray) ids = new_numbered_texts ();
  g_autoptr (GStrvBuilder) sorted = g_strv_builder_new ();

  for (unsigned i = 0; i < workers->len; i++)
    {
      NumberedText id = { workers->pdata[i], 0, NULL };

      if (!read_number (id.text, "worker id", &id.number, error))
        return NULL;
      g_array_append_val (ids, id);
    }
  g_array_sort (ids, by_number);
  for (unsigned i = 0; i < ids->len; i++)
    g_strv_builder_add (sorted, g_array_index (ids, NumberedText, i).text);
  return g_strv_builder_end (sorted);
}

/* Returns the first index that has @n_hosts workers, all of them idle, or NULL. */
static const NumberedText *
find_first_idle (const GArray *indices, int64_t n_hosts, const QuoitRayNodes *nodes, const char *slice_name)
{
  g_autoptr (GHashTable) rows = map_slice_rows (nodes, slice_name);

  for (unsigned i = 0; i < indices->len; i++)
    {
      const NumberedText *index = &g_array_index (indices, NumberedText, i);

      if (index->workers->len == n_hosts && are_all_idle (nodes, rows, index->workers))
        return index;
    }
  return NULL;
}

char **
quoit_ray_subslices_find (const QuoitRaySubslices *known, const QuoitRayNodes *nodes, const char *slice_name,
                          const char *topology, const int64_t *index, int64_t *found, GError **error)
{
  const Slice *slice = g_hash_table_lookup (known->by_name, slice_name);
  g_autofree char *label = g_strconcat (QUOIT_RAY_LABEL_SUBSLICE_PREFIX, topology, NULL);
  g_autoptr (GArray) indices = NULL;
  const NumberedText *first;
  char **workers;
  int64_t n_hosts;

  indices = slice != NULL ? group_by_index (slice, label, index, error) : NULL;
  if (indices == NULL || indices->len == 0 || !quoit_ray_count_hosts (topology, &n_hosts, error))
    return NULL;

  first = find_first_idle (indices, n_hosts, nodes, slice_name);
  workers = first != NULL ? sort_workers (first->workers, error) : NULL;
  if (workers != NULL)
    *found = first->number;
  return workers;
}
