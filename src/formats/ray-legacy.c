/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-legacy.h"

#include <string.h>

#include "base/natural.h"
#include "formats/ray-values.h"
#include "fleet/resource-names.h"

/* The rows that have 1 of a resource, for the resources of head rows. So at least one of the rows is a head. */
typedef struct {
  GArray *rows; /* of guint */
  guint n_alive, n_alive_heads;
} Bearers;

typedef struct {
  const char *pod_type; /* in the places' texts */
  QuoitGeneration generation;
  guint32 chips, chips_per_host, n_hosts;
} PodType;

typedef struct {
  const QuoitRayUnlabelled *in;
  QuoitRayPlaces *out;
  GHashTable *bearers;   /* name -> Bearers */
  const char **pod_type; /* one per row, in the places' texts; NULL: not a head */
} Search;

static void
free_bearers (gpointer data)
{
  Bearers *bearers = data;

  g_array_unref (bearers->rows);
  g_free (bearers);
}

static void
clear_search (Search *search)
{
  g_clear_pointer (&search->bearers, g_hash_table_unref);
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
         && !g_str_has_prefix (resource, "accelerator_type:") && !quoit_ray_resource_is_no_quantity (resource);
}

static gboolean
is_one (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_double (node) == 1;
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

/* A row with 1 of "TPU-v6e-16-head" is a head. A resource of that form without a valid pod type is ignored. */
static void
find_head (Search *search, guint at)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, json_node_get_object (search->in->rows[at].resources));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    if (quoit_resource_is_slice_head (name) && is_one (value))
      {
        g_autofree char *pod_type = g_strndup (name + strlen ("TPU-"), strlen (name) - strlen ("TPU--head"));
        QuoitGeneration generation;
        guint32 cores;

        if (quoit_ray_pod_type_parse (pod_type, &generation, &cores, NULL))
          search->pod_type[at] = g_string_chunk_insert_const (search->out->texts, pod_type);
      }
}

static void
note_bearers (Search *search, guint at)
{
  gboolean is_head = search->pod_type[at] != NULL, alive = is_alive (&search->in->rows[at]);
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, json_node_get_object (search->in->rows[at].resources));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      Bearers *bearers = g_hash_table_lookup (search->bearers, name);

      if (!is_one (value) || !quoit_ray_may_name_slice (name) || g_hash_table_contains (search->in->elsewhere, name))
        continue;
      if (bearers == NULL)
        {
          bearers = g_new0 (Bearers, 1);
          bearers->rows = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (search->bearers, g_string_chunk_insert (search->out->texts, name), bearers);
        }
      g_array_append_val (bearers->rows, at);
      bearers->n_alive += alive;
      bearers->n_alive_heads += is_head && alive;
    }
}

/* A slice has as many hosts as its pod type, and one of them is the head. A host that was replaced has two rows, one
 * of them dead. A host that was lost has one dead row. */
static gboolean
is_slice (const Bearers *bearers, guint32 n_hosts)
{
  return bearers->n_alive <= n_hosts && n_hosts <= bearers->rows->len && bearers->n_alive_heads <= 1;
}

static int
by_text (gconstpointer a, gconstpointer b)
{
  return quoit_natural_compare (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
candidates_of (const Search *search, guint head, guint32 n_hosts)
{
  GPtrArray *candidates = g_ptr_array_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  json_object_iter_init_ordered (&iter, json_node_get_object (search->in->rows[head].resources));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    {
      const Bearers *bearers = is_one (value) ? g_hash_table_lookup (search->bearers, name) : NULL;

      if (bearers != NULL && is_slice (bearers, n_hosts))
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
  JsonNode *tpu = quoit_tree_member (search->in->rows[head].resources, "TPU");
  double chips = JSON_NODE_HOLDS_VALUE (tpu) ? json_node_get_double (tpu) / search->in->devices_per_chip : 0;
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

/* Returns the topologies that cloud providers offer. Ray's tables contain more, but you cannot rent these. */
static GPtrArray *
topologies_of (const PodType *pod, QuoitShape *only)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);
  unsigned n_rows;
  const QuoitTopologyRow *rows = quoit_topology_rows (pod->generation, &n_rows);

  for (unsigned i = 0; i < n_rows; i++)
    if (rows[i].kind == QUOIT_TOPOLOGY_LISTED && rows[i].chips_per_host == pod->chips_per_host
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
  g_autoptr (GPtrArray) fitting = topologies_of (pod, shape);
  g_autofree char *named = NULL;

  if (search->in->stated.n_dims > 0 && quoit_shape_chips (search->in->stated) == pod->chips
      && quoit_shape_check (pod->generation, search->in->stated, NULL)
      && quoit_slice_facts (pod->generation, search->in->stated, pod->chips_per_host, &facts, NULL))
    {
      *shape = search->in->stated;
      search->out->n_stated++;
      return TRUE;
    }
  if (fitting->len == 1)
    return TRUE;
  if (fitting->len == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "pod type '%s' on hosts of %u chips: expected one that the catalogue has on such hosts",
                       pod->pod_type, pod->chips_per_host);
  named = join_quoted (fitting);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "pod type '%s' on hosts of %u chips: expected --topology to say which of these it is: %s",
                     pod->pod_type, pod->chips_per_host, named);
}

static int
by_address (const Search *search, guint i, guint j)
{
  const QuoitRayRow *x = &search->in->rows[i], *y = &search->in->rows[j];
  int order = quoit_natural_compare (x->address == NULL ? "" : x->address, y->address == NULL ? "" : y->address);

  return order != 0 ? order : strcmp (x->id, y->id);
}

static int
any_by_address (gconstpointer a, gconstpointer b, gpointer search)
{
  return by_address (search, *(const guint *) a, *(const guint *) b);
}

static int
alive_by_address (gconstpointer a, gconstpointer b, gpointer data)
{
  const Search *search = data;
  guint i = *(const guint *) a, j = *(const guint *) b;
  int order = is_alive (&search->in->rows[j]) - is_alive (&search->in->rows[i]);

  return order != 0 ? order : by_address (search, i, j);
}

/* The head is worker 0. If every host has exactly one row, the other hosts are numbered by address, so that a dying
 * host does not renumber them. Otherwise rows that are alive come before dead ones, and surplus rows get no id. */
static gboolean
place_hosts (Search *search, const QuoitRayPlace *slice, const Bearers *bearers, guint32 n_hosts, GError **error)
{
  gint32 next = 1;

  g_array_sort_with_data (bearers->rows, bearers->rows->len == n_hosts ? any_by_address : alive_by_address, search);
  for (guint i = 0; i < bearers->rows->len; i++)
    {
      guint at = g_array_index (bearers->rows, guint, i);
      QuoitRayPlace *place = &search->out->places[at];

      if (place->slice != NULL)
        {
          g_autofree char *first = quoit_quote (place->slice), *second = quoit_quote (slice->slice);

          search->out->wrong = at;
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
place_slice_of (Search *search, guint head, GError **error)
{
  g_autoptr (GPtrArray) candidates = NULL;
  g_autofree char *topology = NULL;
  QuoitRayPlace slice = { .worker_id = -1 };
  PodType pod;

  search->out->wrong = head;
  if (!read_pod_type (search, head, &pod, error))
    return FALSE;
  candidates = candidates_of (search, head, pod.n_hosts);
  if (candidates->len > 1)
    {
      g_autofree char *named = join_quoted (candidates);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "head of a '%s' and several resources that may be its slice's name, %s: expected one that %u "
                         "nodes have 1 of",
                         pod.pod_type, named, pod.n_hosts);
    }
  if (candidates->len == 0)
    return TRUE;
  if (!find_topology (search, &pod, &slice.shape, error))
    return FALSE;

  topology = quoit_shape_format (slice.shape);
  slice.slice = g_string_chunk_insert_const (search->out->texts, candidates->pdata[0]);
  slice.topology = g_string_chunk_insert_const (search->out->texts, topology);
  slice.pod_type = pod.pod_type;
  slice.generation = pod.generation;
  return place_hosts (search, &slice, g_hash_table_lookup (search->bearers, slice.slice), pod.n_hosts, error);
}

static gboolean
place_slices (Search *search, gboolean (*of) (const QuoitRayRow *head), GError **error)
{
  for (guint i = 0; i < search->in->n_rows; i++)
    if (search->pod_type[i] != NULL && of (&search->in->rows[i]) && search->out->places[i].slice == NULL
        && !place_slice_of (search, i, error))
      return FALSE;
  return TRUE;
}

gboolean
quoit_ray_places_find (const QuoitRayUnlabelled *unlabelled, QuoitRayPlaces *places, GError **error)
{
  g_auto (Search) search = { .in = unlabelled, .out = places };

  places->places = g_new0 (QuoitRayPlace, unlabelled->n_rows);
  places->texts = g_string_chunk_new (4096);
  search.pod_type = g_new0 (const char *, unlabelled->n_rows);
  search.bearers = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_bearers);
  for (guint i = 0; i < unlabelled->n_rows; i++)
    {
      find_head (&search, i);
      note_bearers (&search, i);
    }
  /* Heads that are alive come first, because they describe their slice better than heads that were replaced. */
  if (!place_slices (&search, is_alive, error) || !place_slices (&search, is_dead, error))
    return FALSE;

  for (guint i = unlabelled->n_rows; i-- > 0;)
    if (places->places[i].slice == NULL)
      {
        places->n_outside++;
        places->first_outside = i;
      }
  return TRUE;
}
