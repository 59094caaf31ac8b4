/* SPDX-License-Identifier: Apache-2.0 */
/* Tries every order of some mesh axes and every way to split them between slices, and ranks those that JAX accepts. */
#include <quoit/models/mesh-choices.h>

#include <string.h>

#include "base/strings.h"
#include "models/jax/mesh.h"

/* Limits of a search: axes that are permuted, meshes, and devices of all meshes together. */
enum { MOST_LONG_AXES = 6, MOST_WAYS = 1 << 14, MOST_TRIED = 1 << 24 };

/* A long axis as it is laid out in one mesh. Hashed as bytes, so it must have no padding between its members. */
typedef struct {
  gint64 all_reduce_ns;
  guint32 dcn_size, hops, hops_back;
  guint32 network, form;
  guint32 flags; /* of the mesh */
  char physical[64];
} Use;

typedef struct {
  guint number; /* position in the order of the trials */
  guint8 order[MOST_LONG_AXES];
  Use uses[MOST_LONG_AXES]; /* by long axis, not by place */
} Choice;

struct _QuoitMeshChoices {
  guint n_axes;
  guint n_long;
  guint8 long_axes[MOST_LONG_AXES]; /* axes longer than 1 */
  GArray *choices;                  /* of Choice */
};

/* The request, and the state of the search. */
typedef struct {
  const QuoitDevices *devices;
  const gint64 *sizes;
  gint64 n_bytes;
  guint32 n_slices;
  GArray *dcn_ways; /* of DcnWay */
  QuoitMeshChoices *found;
  GHashTable *known; /* Use[MOST_LONG_AXES] of the choices so far */
  GError *refusal;   /* the first error */
} Search;

typedef struct {
  guint32 of[MOST_LONG_AXES];
} DcnWay;

static guint32
count_slices (const QuoitDevices *devices)
{
  g_autoptr (GHashTable) slices = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < devices->list->len; i++)
    g_hash_table_add (slices, GINT_TO_POINTER (g_array_index (devices->list, QuoitDevice, i).slice));
  return g_hash_table_size (slices);
}

/* --- ways to split axes between slices --- */

/* Lists every distribution of @left slices over the long axes from @axis on. */
static void
list_dcn_ways (Search *search, guint axis, guint32 left, DcnWay *way)
{
  const QuoitMeshChoices *found = search->found;

  if (search->dcn_ways->len > MOST_WAYS)
    return;
  if (axis == found->n_long)
    {
      if (left == 1)
        g_array_append_val (search->dcn_ways, *way);
      return;
    }
  for (guint32 size = left; size >= 1; size--)
    if (left % size == 0 && search->sizes[found->long_axes[axis]] % size == 0)
      {
        way->of[axis] = size;
        list_dcn_ways (search, axis + 1, left / size, way);
      }
}

static gboolean
find_dcn_ways (Search *search, const gint64 *dcn_sizes, GError **error)
{
  guint n = search->found->n_axes;
  DcnWay way = { { 0 } };
  g_autofree char *text = NULL, *quoted = NULL;

  if (dcn_sizes == NULL)
    list_dcn_ways (search, 0, search->n_slices, &way);
  else
    {
      if (!quoit_mesh_sizes_check ("dcn mesh shape", dcn_sizes, n, error)
          || !quoit_mesh_sizes_fit ("dcn mesh shape", dcn_sizes, n, search->n_slices, "granules", error))
        return FALSE;
      for (guint i = 0; i < n; i++)
        if (search->sizes[i] % dcn_sizes[i] != 0)
          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "dcn mesh shape: axis %u of size '%" G_GINT64_FORMAT
                             "': expected a number that divides %" G_GINT64_FORMAT,
                             i, dcn_sizes[i], search->sizes[i]);
      for (guint i = 0; i < search->found->n_long; i++)
        way.of[i] = (guint32) dcn_sizes[search->found->long_axes[i]];
      g_array_append_val (search->dcn_ways, way);
    }
  if (search->dcn_ways->len > 0)
    return TRUE;

  text = quoit_mesh_sizes_format (search->sizes, n);
  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "mesh shape %s: expected sizes of which some together have %u, the slices", quoted,
                     search->n_slices);
}

/* --- one mesh --- */

static void
read_use (const Search *search, const QuoitMeshLinks *links, const QuoitMesh *mesh, unsigned place, Use *use)
{
  g_autofree char *physical = quoit_mesh_links_dup_physical (links, place);

  use->all_reduce_ns = quoit_mesh_links_get_all_reduce_ns (links, place, search->n_bytes);
  use->dcn_size = quoit_mesh_get_dcn_size (mesh, place);
  use->network = quoit_mesh_links_get_network (links, place);
  use->form = quoit_mesh_links_get_form (links, place);
  use->hops = quoit_mesh_links_get_hops (links, place);
  use->hops_back = quoit_mesh_links_get_hops_back (links, place);
  g_strlcpy (use->physical, physical, sizeof use->physical);
}

static QuoitMesh *
make (const Search *search, const gint64 *ici, const gint64 *dcn, unsigned flags, GError **error)
{
  guint n = search->found->n_axes;

  if (search->n_slices == 1)
    return quoit_mesh_new (search->devices, ici, n, flags, error);
  return quoit_mesh_new_hybrid (search->devices, ici, n, dcn, n, flags, error);
}

/* Splits physical axes only if the mesh cannot be made without that. */
static void
try_way (Search *search, const guint8 *order, const DcnWay *way, guint number)
{
  const QuoitMeshChoices *found = search->found;
  gint64 ici[QUOIT_MESH_MOST_AXES], dcn[QUOIT_MESH_MOST_AXES];
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (QuoitMeshLinks) links = NULL;
  unsigned flags = 0;
  Choice choice;

  for (guint i = 0; i < found->n_axes; i++)
    ici[i] = dcn[i] = 1;
  for (guint i = 0; i < found->n_long; i++)
    {
      dcn[found->long_axes[i]] = way->of[order[i]];
      ici[found->long_axes[i]] = search->sizes[found->long_axes[order[i]]] / way->of[order[i]];
    }
  mesh = make (search, ici, dcn, flags, search->refusal == NULL ? &search->refusal : NULL);
  if (mesh == NULL)
    {
      flags = QUOIT_MESH_SPLIT_PHYSICAL_AXES;
      mesh = make (search, ici, dcn, flags, NULL);
    }
  links = mesh == NULL ? NULL : quoit_mesh_links_new (search->devices, mesh, NULL);
  if (links == NULL)
    return;

  memset (&choice, 0, sizeof choice);
  choice.number = number;
  memcpy (choice.order, order, sizeof choice.order);
  for (guint i = 0; i < found->n_long; i++)
    {
      read_use (search, links, mesh, found->long_axes[i], &choice.uses[order[i]]);
      choice.uses[i].flags = flags;
    }
  if (g_hash_table_contains (search->known, choice.uses))
    return;
  g_hash_table_add (search->known, g_memdup2 (choice.uses, sizeof choice.uses));
  g_array_append_val (found->choices, choice);
}

/* --- all meshes --- */

/* Advances to the next permutation in lexical order. Returns FALSE after the last one. */
static gboolean
next_order (guint8 *order, guint n)
{
  guint i = n, j = n;
  guint8 swapped;

  while (i > 1 && order[i - 2] > order[i - 1])
    i--;
  if (i < 2)
    return FALSE;
  while (order[j - 1] < order[i - 2])
    j--;
  swapped = order[i - 2];
  order[i - 2] = order[j - 1];
  order[j - 1] = swapped;
  for (guint low = i - 1, high = n - 1; low < high; low++, high--)
    {
      swapped = order[low];
      order[low] = order[high];
      order[high] = swapped;
    }
  return TRUE;
}

static guint
uses_hash (gconstpointer uses)
{
  return (guint) quoit_hash_bytes (uses, MOST_LONG_AXES * sizeof (Use));
}

static gboolean
uses_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, MOST_LONG_AXES * sizeof (Use)) == 0;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* A time of -1 (unpublished) ranks first: links inside a chip have no published time, and beat any other link. */
static gint
compare_uses (const Use *a, const Use *b)
{
  gint order = ORDER (a->all_reduce_ns, b->all_reduce_ns);

  if (order == 0)
    order = ORDER (a->network, b->network);
  if (order == 0)
    order = ORDER (a->form == QUOIT_MESH_FORM_JUMPS, b->form == QUOIT_MESH_FORM_JUMPS);
  if (order == 0)
    order = ORDER ((guint64) a->hops + a->hops_back, (guint64) b->hops + b->hops_back);
  return order == 0 ? ORDER (a->flags, b->flags) : order;
}

/* Compares the last axis first, because it communicates most. */
static gint
by_rank (gconstpointer a, gconstpointer b)
{
  const Choice *x = a, *y = b;

  for (guint i = MOST_LONG_AXES; i-- > 0;)
    {
      gint order = compare_uses (&x->uses[i], &y->uses[i]);

      if (order != 0)
        return order;
    }
  return ORDER (x->number, y->number);
}

static gboolean
check_ways (const Search *search, GError **error)
{
  guint64 n_ways = search->dcn_ways->len, most;

  for (guint i = 2; i <= search->found->n_long; i++)
    n_ways *= i;
  most = MIN (MOST_WAYS, MOST_TRIED / search->devices->list->len);
  return n_ways <= most
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "'%" G_GUINT64_FORMAT "' ways or more to lay the axes out on %u devices: expected at most "
                        "%" G_GUINT64_FORMAT "; say how much of each axis joins the slices, or name fewer axes",
                        n_ways, search->devices->list->len, most);
}

static gboolean
run_search (Search *search, GError **error)
{
  QuoitMeshChoices *found = search->found;
  guint8 order[MOST_LONG_AXES];
  guint number = 0;

  for (guint i = 0; i < MOST_LONG_AXES; i++)
    order[i] = (guint8) i;
  do
    for (guint i = 0; i < search->dcn_ways->len; i++)
      try_way (search, order, &g_array_index (search->dcn_ways, DcnWay, i), number++);
  while (next_order (order, found->n_long));
  if (found->choices->len == 0)
    {
      g_propagate_error (error, g_steal_pointer (&search->refusal));
      return FALSE;
    }
  g_array_sort (found->choices, by_rank);
  return TRUE;
}

static gboolean
find_long_axes (const gint64 *sizes, guint n, QuoitMeshChoices *found, GError **error)
{
  found->n_axes = n;
  for (guint i = 0; i < n; i++)
    if (sizes[i] > 1)
      {
        if (found->n_long == MOST_LONG_AXES)
          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "mesh shape of '%u' axes: expected at most %d that are longer than 1, to be ordered", n,
                             MOST_LONG_AXES);
        found->long_axes[found->n_long++] = (guint8) i;
      }
  return TRUE;
}

QuoitMeshChoices *
quoit_mesh_choices_new (const QuoitDevices *devices, const int64_t *sizes, unsigned n_axes, const int64_t *dcn_sizes,
                        int64_t n_bytes, GError **error)
{
  g_autoptr (QuoitMeshChoices) found = g_new0 (QuoitMeshChoices, 1);
  g_autoptr (GArray) dcn_ways = g_array_new (FALSE, FALSE, sizeof (DcnWay));
  g_autoptr (GHashTable) known = g_hash_table_new_full (uses_hash, uses_equal, g_free, NULL);
  Search search = { devices, sizes, n_bytes, 0, dcn_ways, found, known, NULL };
  gboolean is_found;

  g_return_val_if_fail (devices != NULL && (sizes != NULL || n_axes == 0) && n_bytes >= 0, NULL);

  found->choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  if (!quoit_mesh_sizes_check ("mesh shape", sizes, n_axes, error)
      || !quoit_mesh_sizes_fit ("mesh shape", sizes, n_axes, devices->list->len, "devices", error)
      || !find_long_axes (sizes, n_axes, found, error))
    return NULL;
  search.n_slices = count_slices (devices);
  if (!find_dcn_ways (&search, dcn_sizes, error) || !check_ways (&search, error))
    return NULL;
  is_found = run_search (&search, error);
  g_clear_error (&search.refusal);
  return is_found ? g_steal_pointer (&found) : NULL;
}

void
quoit_mesh_choices_free (QuoitMeshChoices *choices)
{
  if (choices == NULL)
    return;
  g_clear_pointer (&choices->choices, g_array_unref);
  g_free (choices);
}

/* --- results --- */

unsigned
quoit_mesh_choices_get_n (const QuoitMeshChoices *choices)
{
  g_return_val_if_fail (choices != NULL, 0);

  return choices->choices->len;
}

static const Choice *
choice_at (const QuoitMeshChoices *choices, unsigned choice)
{
  g_return_val_if_fail (choices != NULL && choice < choices->choices->len, NULL);

  return &g_array_index (choices->choices, Choice, choice);
}

/* Returns the long axis at @place, or -1 for an axis of size 1. */
static gint
long_axis_at (const QuoitMeshChoices *choices, const Choice *choice, unsigned place)
{
  for (guint i = 0; i < choices->n_long; i++)
    if (choices->long_axes[i] == place)
      return choice->order[i];
  return -1;
}

unsigned
quoit_mesh_choices_get_axis (const QuoitMeshChoices *choices, unsigned choice, unsigned place)
{
  const Choice *found = choice_at (choices, choice);
  gint axis;

  g_return_val_if_fail (found != NULL && place < choices->n_axes, 0);

  axis = long_axis_at (choices, found, place);
  return axis < 0 ? place : choices->long_axes[axis];
}

uint32_t
quoit_mesh_choices_get_dcn_size (const QuoitMeshChoices *choices, unsigned choice, unsigned place)
{
  const Choice *found = choice_at (choices, choice);
  gint axis;

  g_return_val_if_fail (found != NULL && place < choices->n_axes, 0);

  axis = long_axis_at (choices, found, place);
  return axis < 0 ? 1 : found->uses[axis].dcn_size;
}

unsigned
quoit_mesh_choices_get_flags (const QuoitMeshChoices *choices, unsigned choice)
{
  const Choice *found = choice_at (choices, choice);

  return found == NULL ? 0 : found->uses[0].flags;
}

int64_t
quoit_mesh_choices_get_all_reduce_ns (const QuoitMeshChoices *choices, unsigned choice, unsigned place)
{
  const Choice *found = choice_at (choices, choice);
  gint axis;

  g_return_val_if_fail (found != NULL && place < choices->n_axes, -1);

  axis = long_axis_at (choices, found, place);
  return axis < 0 ? 0 : found->uses[axis].all_reduce_ns;
}
