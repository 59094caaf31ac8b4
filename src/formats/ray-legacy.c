/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-legacy.h"

#include <string.h>

#include "base/name-hash.h"
#include "base/natural.h"
#include "models/ray/resource-names.h"

/* The rows that have 1 of a certain resource, which may be the name of a slice. */
typedef struct {
  GArray *rows; /* of guint */
  guint n_alive, n_alive_heads;
} ResourceRows;

/* A pod type, and the size of its slice on hosts of @chips_per_host chips. */
typedef struct {
  const char *pod_type; /* the places own the text */
  QuoitGeneration generation;
  guint32 chips, chips_per_host, n_hosts;
} PodType;

/* The state of a search for slices. */
typedef struct {
  const QuoitRayUnlabelled *unlabelled;
  QuoitRayPlaces *places;
  GHashTable *resource_rows; /* name of a resource -> ResourceRows */
  const char **pod_type;     /* one per row: the pod type of a head; NULL: the row is not a head */
} Search;

static void
free_resource_rows (gpointer data)
{
  ResourceRows *resource_rows = data;

  g_array_unref (resource_rows->rows);
  g_free (resource_rows);
}

static void
clear_search (Search *search)
{
  g_clear_pointer (&search->resource_rows, g_hash_table_unref);
  g_clear_pointer (&search->pod_type, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Search, clear_search)

void
quoit_ray_places_clear (QuoitRayPlaces *places)
{
  g_clear_pointer (&places->places, g_free);
  g_clear_pointer (&places->texts, g_string_chunk_free);
}

gboolean
quoit_ray_may_name_slice (const char *resource)
{
  return !quoit_resource_is_predefined (resource) && !quoit_resource_is_slice_head (resource)
         && !g_str_has_prefix (resource, "accelerator_type:") && !quoit_ray_resource_is_not_quantity (resource);
}

static gboolean
is_one (const QuoitResource *resource)
{
  return resource->amount.e4 == QUOIT_AMOUNT_UNIT;
}

static gboolean
is_alive (const QuoitRayRow *row)
{
  return row->state != QUOIT_NODE_DEAD;
}

static gboolean
is_dead (const QuoitRayRow *row)
{
  return row->state == QUOIT_NODE_DEAD;
}

/* Records the pod type of a head: a row with 1 of, for example, "TPU-v6e-16-head". A resource of that form without
 * a valid pod type is ignored. */
static void
find_head (Search *search, guint at)
{
  const QuoitRayRow *row = &search->unlabelled->rows[at];

  for (guint16 i = 0; i < row->n_resources; i++)
    if (quoit_resource_is_slice_head (row->resources[i].name) && is_one (&row->resources[i]))
      {
        const char *name = row->resources[i].name;
        g_autofree char *pod_type = g_strndup (name + strlen ("TPU-"), strlen (name) - strlen ("TPU--head"));
        QuoitGeneration generation;
        guint32 cores;

        if (quoit_ray_pod_type_parse (pod_type, &generation, &cores, NULL))
          search->pod_type[at] = g_string_chunk_insert_const (search->places->texts, pod_type);
      }
}

static void
add_resource_rows (Search *search, guint at)
{
  const QuoitRayRow *row = &search->unlabelled->rows[at];
  gboolean is_head = search->pod_type[at] != NULL, alive = is_alive (row);

  for (guint16 i = 0; i < row->n_resources; i++)
    {
      const char *name = row->resources[i].name;
      ResourceRows *resource_rows = g_hash_table_lookup (search->resource_rows, name);

      if (!is_one (&row->resources[i]) || !quoit_ray_may_name_slice (name)
          || g_hash_table_contains (search->unlabelled->other_resources, name))
        continue;
      if (resource_rows == NULL)
        {
          resource_rows = g_new0 (ResourceRows, 1);
          resource_rows->rows = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (search->resource_rows, g_string_chunk_insert (search->places->texts, name),
                               resource_rows);
        }
      g_array_append_val (resource_rows->rows, at);
      resource_rows->n_alive += alive;
      resource_rows->n_alive_heads += is_head && alive;
    }
}

/* Returns whether the rows may be those of one slice with @n_hosts hosts. Such a slice has one head. A host that was
 * replaced has two rows, one of them dead; a host that was lost has one dead row. */
static gboolean
may_be_slice (const ResourceRows *resource_rows, guint32 n_hosts)
{
  return resource_rows->n_alive <= n_hosts && n_hosts <= resource_rows->rows->len && resource_rows->n_alive_heads <= 1;
}

static int
by_text (gconstpointer a, gconstpointer b)
{
  return quoit_natural_compare (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
find_candidates (const Search *search, guint head, guint32 n_hosts)
{
  const QuoitRayRow *row = &search->unlabelled->rows[head];
  GPtrArray *candidates = g_ptr_array_new ();

  for (guint16 i = 0; i < row->n_resources; i++)
    {
      const char *name = row->resources[i].name;
      const ResourceRows *resource_rows
          = is_one (&row->resources[i]) ? g_hash_table_lookup (search->resource_rows, name) : NULL;

      if (resource_rows != NULL && may_be_slice (resource_rows, n_hosts))
        g_ptr_array_add (candidates, (char *) name);
    }
  g_ptr_array_sort (candidates, by_text);
  return candidates;
}

static char *
join_quoted (const GPtrArray *texts)
{
  GString *joined = g_string_new (NULL);

  for (guint i = 0; i < texts->len; i++)
    {
      g_autofree char *quoted = quoit_quote (texts->pdata[i]);

      g_string_append_printf (joined, "%s%s", i > 0 ? ", " : "", quoted);
    }
  return g_string_free (joined, FALSE);
}

static gboolean
read_pod_type (const Search *search, guint head, PodType *pod, GError **error)
{
  const QuoitResource *tpu = quoit_ray_row_resource (&search->unlabelled->rows[head], "TPU");
  double chips = (double) tpu->amount.e4 / QUOIT_AMOUNT_UNIT / search->unlabelled->devices_per_chip;
  guint cores_per_chip;
  guint32 cores;

  *pod = (PodType) { .pod_type = search->pod_type[head] };
  if (!quoit_ray_pod_type_parse (pod->pod_type, &pod->generation, &cores, error))
    return FALSE;
  cores_per_chip = quoit_generation_facts (pod->generation)->cores_per_chip;
  pod->chips = cores / cores_per_chip;
  pod->chips_per_host = chips >= 1 && chips <= G_MAXUINT8 ? (guint32) chips : 0;
  if (pod->chips == 0 || cores % cores_per_chip != 0 || pod->chips_per_host == 0 || chips != pod->chips_per_host
      || pod->chips % pod->chips_per_host != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "pod type '%s' on a host of %g chips: expected a whole number of such hosts", pod->pod_type,
                       chips);
  pod->n_hosts = pod->chips / pod->chips_per_host;
  return TRUE;
}

/* Returns the topologies of the pod type that cloud providers offer, and sets *@only to the last one. Ray's tables
 * contain more topologies, but these are not for rent. */
static GPtrArray *
find_topologies (const PodType *pod, QuoitShape *only)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (pod->generation, &n_rows);

  for (unsigned i = 0; i < n_rows; i++)
    if (rows[i].listing == QUOIT_TOPOLOGY_LISTED && rows[i].chips_per_host == pod->chips_per_host
        && quoit_shape_chips (rows[i].shape) == pod->chips
        && (texts->len == 0 || !quoit_shape_equal (*only, rows[i].shape)))
      {
        *only = rows[i].shape;
        g_ptr_array_add (texts, quoit_shape_format (rows[i].shape));
      }
  return texts;
}

static gboolean
find_topology (Search *search, const PodType *pod, QuoitShape *shape, GError **error)
{
  QuoitSliceFacts facts;
  g_autoptr (GPtrArray) fitting = find_topologies (pod, shape);
  g_autofree char *quoted_names = NULL;

  if (search->unlabelled->stated.n_dims > 0 && quoit_shape_chips (search->unlabelled->stated) == pod->chips
      && quoit_shape_check (pod->generation, search->unlabelled->stated, NULL)
      && quoit_slice_facts (pod->generation, search->unlabelled->stated, pod->chips_per_host, &facts, NULL))
    {
      *shape = search->unlabelled->stated;
      search->places->n_stated++;
      return TRUE;
    }
  if (fitting->len == 1)
    return TRUE;
  if (fitting->len == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "pod type '%s' on hosts of %u chips: expected a pod type that the catalogue lists on such hosts",
                       pod->pod_type, pod->chips_per_host);
  quoted_names = join_quoted (fitting);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "pod type '%s' on hosts of %u chips: expected --topology with one of %s", pod->pod_type,
                     pod->chips_per_host, quoted_names);
}

static int
compare_rows_by_address (const Search *search, guint i, guint j)
{
  const QuoitRayRow *x = &search->unlabelled->rows[i], *y = &search->unlabelled->rows[j];
  int order = quoit_natural_compare (x->address == NULL ? "" : x->address, y->address == NULL ? "" : y->address);

  return order != 0 ? order : strcmp (x->id, y->id);
}

static int
compare_addresses (gconstpointer a, gconstpointer b, gpointer search)
{
  return compare_rows_by_address (search, *(const guint *) a, *(const guint *) b);
}

static int
compare_alive_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const Search *search = data;
  guint i = *(const guint *) a, j = *(const guint *) b;
  int order = is_alive (&search->unlabelled->rows[j]) - is_alive (&search->unlabelled->rows[i]);

  return order != 0 ? order : compare_rows_by_address (search, i, j);
}

/* Places the rows of one slice. The head is worker 0. If there are as many rows as hosts, the other hosts are
 * numbered by address, so that the death of a host does not renumber them. If there are more rows, rows that are
 * alive are numbered first, and the remaining rows get no worker id. */
static gboolean
place_hosts (Search *search, const QuoitRayPlace *slice, const ResourceRows *resource_rows, guint32 n_hosts,
             GError **error)
{
  gint32 next = 1;

  g_array_sort_with_data (resource_rows->rows,
                          resource_rows->rows->len == n_hosts ? compare_addresses : compare_alive_first, search);
  for (guint i = 0; i < resource_rows->rows->len; i++)
    {
      guint at = g_array_index (resource_rows->rows, guint, i);
      QuoitRayPlace *place = &search->places->places[at];

      if (place->slice != NULL)
        {
          g_autofree char *first = quoit_quote (place->slice), *second = quoit_quote (slice->slice);

          search->places->failed_row = at;
          return quoit_fail (error, QUOIT_ERROR_INVALID, "the names of two slices, %s and %s: expected one", first,
                             second);
        }
      *place = *slice;
      if (search->pod_type[at] != NULL)
        place->worker_id = 0;
      else if (next < (gint32) n_hosts)
        {
          place->worker_id = next++;
          place->flags = QUOIT_NODE_ASSUMED_ID;
        }
    }
  return TRUE;
}

static gboolean
place_slice (Search *search, guint head, GError **error)
{
  g_autoptr (GPtrArray) candidates = NULL;
  g_autofree char *topology = NULL;
  QuoitRayPlace slice = { .worker_id = -1 };
  PodType pod;

  search->places->failed_row = head;
  if (!read_pod_type (search, head, &pod, error))
    return FALSE;
  candidates = find_candidates (search, head, pod.n_hosts);
  if (candidates->len > 1)
    {
      g_autofree char *quoted_names = join_quoted (candidates);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "head of a '%s' with several resources that may be the name of its slice, %s: expected only "
                         "one resource with amount 1 on %u node%s",
                         pod.pod_type, quoted_names, pod.n_hosts, pod.n_hosts == 1 ? "" : "s");
    }
  if (candidates->len == 0)
    return TRUE;
  if (!find_topology (search, &pod, &slice.shape, error))
    return FALSE;

  topology = quoit_shape_format (slice.shape);
  slice.slice = g_string_chunk_insert_const (search->places->texts, candidates->pdata[0]);
  slice.topology = g_string_chunk_insert_const (search->places->texts, topology);
  slice.pod_type = pod.pod_type;
  slice.generation = pod.generation;
  return place_hosts (search, &slice, g_hash_table_lookup (search->resource_rows, slice.slice), pod.n_hosts, error);
}

static gboolean
place_slices (Search *search, gboolean (*is_wanted) (const QuoitRayRow *head), GError **error)
{
  for (guint i = 0; i < search->unlabelled->n_rows; i++)
    if (search->pod_type[i] != NULL && is_wanted (&search->unlabelled->rows[i])
        && search->places->places[i].slice == NULL && !place_slice (search, i, error))
      return FALSE;
  return TRUE;
}

gboolean
quoit_ray_places_find (const QuoitRayUnlabelled *unlabelled, QuoitRayPlaces *places, GError **error)
{
  g_auto (Search) search = { .unlabelled = unlabelled, .places = places };

  places->places = g_new0 (QuoitRayPlace, unlabelled->n_rows);
  places->texts = g_string_chunk_new (4096);
  search.pod_type = g_new0 (const char *, unlabelled->n_rows);
  search.resource_rows = g_hash_table_new_full (quoit_hash_text, g_str_equal, NULL, free_resource_rows);
  for (guint i = 0; i < unlabelled->n_rows; i++)
    {
      find_head (&search, i);
      add_resource_rows (&search, i);
    }
  /* Heads that are alive come first, because they describe their slice better than heads that were replaced. */
  if (!place_slices (&search, is_alive, error) || !place_slices (&search, is_dead, error))
    return FALSE;

  for (guint i = unlabelled->n_rows; i-- > 0;)
    if (places->places[i].slice == NULL)
      {
        places->n_unplaced++;
        places->first_unplaced = i;
      }
  return TRUE;
}
