/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a mesh for every order of the long axes and every way to divide the slices between them, and ranks the
 * meshes that JAX accepts. A long axis is one of more than 1 device. No mesh is made: only its axes are measured,
 * because there can be thousands of meshes of thousands of devices. */
#include <quoit/models/mesh-choices.h>

#include <string.h>

#include "base/strings.h"
#include "mesh/granule-classes.h"
#include "mesh/links.h"
#include "models/jax/mesh.h"

/* The limits of a search: long axes, meshes, and devices of all meshes together. */
enum { MOST_LONG_AXES = 6, MOST_MESHES = 1 << 14, MOST_DEVICES_TRIED = 1 << 24 };

/* The links that a long axis uses in one mesh. It is hashed as bytes, so it must have no padding between its members.
 */
typedef struct {
  gint64 all_reduce_ns;
  guint32 dcn_size, hops, hops_back;
  guint32 network, form;
  guint32 flags; /* of the mesh */
  char physical[256];
} AxisUse;

/* One mesh that JAX accepts. */
typedef struct {
  guint trial;                  /* index of the trial */
  guint8 order[MOST_LONG_AXES]; /* order[i]: the long axis that is at the place of long axis i of the request */
  AxisUse uses[MOST_LONG_AXES]; /* by long axis */
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
  GArray *dcn_splits; /* of DcnSplit */
  QuoitMeshChoices *found;
  GHashTable *found_uses; /* set of AxisUse[MOST_LONG_AXES]: the choices so far, which are not repeated */
  QuoitGranuleClasses *classes;
  QuoitMeshLinks *links; /* of the mesh that is measured */
} Search;

/* How the slices are divided between the long axes. The product of the sizes is the number of slices. */
typedef struct {
  guint32 sizes[MOST_LONG_AXES];
} DcnSplit;

static guint32
count_slices (const QuoitDevices *devices)
{
  g_autoptr (GHashTable) slices = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < devices->list->len; i++)
    g_hash_table_add (slices, GINT_TO_POINTER (g_array_index (devices->list, QuoitDevice, i).slice));
  return g_hash_table_size (slices);
}

/* --- ways to split axes between slices --- */

/* Lists every way to divide @left slices between the long axes from @axis on. */
static void
list_dcn_splits (Search *search, guint axis, guint32 left, DcnSplit *split)
{
  const QuoitMeshChoices *found = search->found;

  if (search->dcn_splits->len > MOST_MESHES)
    return;
  if (axis == found->n_long)
    {
      if (left == 1)
        g_array_append_val (search->dcn_splits, *split);
      return;
    }
  for (guint32 size = left; size >= 1; size--)
    if (left % size == 0 && search->sizes[found->long_axes[axis]] % size == 0)
      {
        split->sizes[axis] = size;
        list_dcn_splits (search, axis + 1, left / size, split);
      }
}

static gboolean
find_dcn_splits (Search *search, const gint64 *dcn_sizes, GError **error)
{
  guint n = search->found->n_axes;
  DcnSplit split = { { 0 } };
  g_autofree char *text = NULL, *quoted = NULL;

  if (dcn_sizes == NULL)
    list_dcn_splits (search, 0, search->n_slices, &split);
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
        split.sizes[i] = (guint32) dcn_sizes[search->found->long_axes[i]];
      g_array_append_val (search->dcn_splits, split);
    }
  if (search->dcn_splits->len > 0)
    return TRUE;

  text = quoit_mesh_sizes_format (search->sizes, n);
  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "mesh shape %s: expected sizes between which the %u slices can be divided", quoted,
                     search->n_slices);
}

/* --- one mesh --- */

/* The sizes of a mesh: within a slice, and between slices. */
typedef struct {
  gint64 ici[QUOIT_MESH_MOST_AXES], dcn[QUOIT_MESH_MOST_AXES];
} MeshSizes;

static void
init_sizes (const Search *search, const guint8 *order, const DcnSplit *split, MeshSizes *sizes)
{
  const QuoitMeshChoices *found = search->found;

  for (guint i = 0; i < found->n_axes; i++)
    sizes->ici[i] = sizes->dcn[i] = 1;
  for (guint i = 0; i < found->n_long; i++)
    {
      sizes->dcn[found->long_axes[i]] = split->sizes[order[i]];
      sizes->ici[found->long_axes[i]] = search->sizes[found->long_axes[order[i]]] / split->sizes[order[i]];
    }
}

static void
measure_axis (const Search *search, const MeshSizes *sizes, unsigned place, const QuoitLine *line, AxisUse *use)
{
  QuoitMeshLinks *links = search->links;
  g_autofree char *physical = NULL;

  quoit_mesh_links_set_axis (links, place,
                             &(QuoitAxisMeasures) { .size = (guint32) (sizes->ici[place] * sizes->dcn[place]),
                                                    .n_slices = (guint32) sizes->dcn[place],
                                                    .line = *line });
  physical = quoit_mesh_links_dup_physical (links, place);
  use->all_reduce_ns = quoit_mesh_links_get_all_reduce_ns (links, place, search->n_bytes);
  use->dcn_size = (guint32) sizes->dcn[place];
  use->network = quoit_mesh_links_get_network (links, place);
  use->form = quoit_mesh_links_get_form (links, place);
  use->hops = quoit_mesh_links_get_hops (links, place);
  use->hops_back = quoit_mesh_links_get_hops_back (links, place);
  g_strlcpy (use->physical, physical, sizeof use->physical);
}

/* Splits physical axes only if the mesh cannot be made without that. */
static void
try_mesh (Search *search, const guint8 *order, const DcnSplit *split, guint trial)
{
  const QuoitMeshChoices *found = search->found;
  QuoitLine lines[QUOIT_MESH_MOST_AXES];
  MeshSizes sizes;
  unsigned flags = 0;
  Choice choice;

  init_sizes (search, order, split, &sizes);
  if (!quoit_granule_classes_measure (search->classes, sizes.ici, found->n_axes, flags, lines))
    {
      flags = QUOIT_MESH_SPLIT_PHYSICAL_AXES;
      if (!quoit_granule_classes_measure (search->classes, sizes.ici, found->n_axes, flags, lines))
        return;
    }

  memset (&choice, 0, sizeof choice);
  choice.trial = trial;
  memcpy (choice.order, order, sizeof choice.order);
  for (guint i = 0; i < found->n_long; i++)
    {
      guint place = found->long_axes[i];

      measure_axis (search, &sizes, place, &lines[place], &choice.uses[order[i]]);
      choice.uses[i].flags = flags;
    }
  if (g_hash_table_contains (search->found_uses, choice.uses))
    return;
  g_hash_table_add (search->found_uses, g_memdup2 (choice.uses, sizeof choice.uses));
  g_array_append_val (found->choices, choice);
}

/* Makes the first mesh to get the error for which JAX refuses it. Call this only if JAX refuses every mesh. */
static gboolean
fail_as_first_mesh (const Search *search, GError **error)
{
  const guint8 order[MOST_LONG_AXES] = { 0, 1, 2, 3, 4, 5 };
  guint n = search->found->n_axes;
  g_autoptr (QuoitMesh) mesh = NULL;
  MeshSizes sizes;

  init_sizes (search, order, &g_array_index (search->dcn_splits, DcnSplit, 0), &sizes);
  if (search->n_slices == 1)
    mesh = quoit_mesh_new (search->devices, sizes.ici, n, 0, error);
  else
    mesh = quoit_mesh_new_hybrid (search->devices, sizes.ici, n, sizes.dcn, n, 0, error);
  g_assert (mesh == NULL);
  return FALSE;
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
  return (guint) quoit_hash_bytes (uses, MOST_LONG_AXES * sizeof (AxisUse));
}

static gboolean
uses_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, MOST_LONG_AXES * sizeof (AxisUse)) == 0;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* A time of -1 (unpublished) ranks first: links inside a chip have no published time, and beat any other link. */
static gint
compare_uses (const AxisUse *a, const AxisUse *b)
{
  gint order = COMPARE (a->all_reduce_ns, b->all_reduce_ns);

  if (order == 0)
    order = COMPARE (a->network, b->network);
  if (order == 0)
    order = COMPARE (a->form == QUOIT_MESH_FORM_JUMPS, b->form == QUOIT_MESH_FORM_JUMPS);
  if (order == 0)
    order = COMPARE ((guint64) a->hops + a->hops_back, (guint64) b->hops + b->hops_back);
  return order == 0 ? COMPARE (a->flags, b->flags) : order;
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
  return COMPARE (x->trial, y->trial);
}

static gboolean
check_n_meshes (const Search *search, GError **error)
{
  guint64 n_meshes = search->dcn_splits->len, most;

  for (guint i = 2; i <= search->found->n_long; i++)
    n_meshes *= i;
  most = MIN (MOST_MESHES, MOST_DEVICES_TRIED / search->devices->list->len);
  return n_meshes <= most
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "'%" G_GUINT64_FORMAT "' ways or more to lay the axes out on %u devices: expected at most "
                        "%" G_GUINT64_FORMAT ": state the DCN size of each axis, or use fewer axes",
                        n_meshes, search->devices->list->len, most);
}

/* The devices of a single slice need no slice index. */
static gboolean
find_slices (const Search *search, QuoitGranules *granules)
{
  guint32 n = search->devices->list->len;

  if (search->n_slices > 1)
    return quoit_granules_find (search->devices, 0, granules, NULL);
  granules->members = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    granules->members[i] = i;
  granules->n = 1;
  granules->ends = g_memdup2 (&n, sizeof n);
  return TRUE;
}

static void
try_all_meshes (Search *search)
{
  const QuoitMeshChoices *found = search->found;
  guint8 order[MOST_LONG_AXES]; /* as in Choice */
  guint trial = 0;

  for (guint i = 0; i < MOST_LONG_AXES; i++)
    order[i] = (guint8) i;
  do
    for (guint i = 0; i < search->dcn_splits->len; i++)
      try_mesh (search, order, &g_array_index (search->dcn_splits, DcnSplit, i), trial++);
  while (next_order (order, found->n_long));
}

static gboolean
run_search (Search *search, GError **error)
{
  g_auto (QuoitGranules) slices = { 0 };
  g_autoptr (QuoitGranuleClasses) classes = NULL;
  g_autoptr (QuoitMeshLinks) links = NULL;

  if (!find_slices (search, &slices))
    return fail_as_first_mesh (search, error);
  search->classes = classes = quoit_granule_classes_new (search->devices, &slices);
  search->links = links = quoit_mesh_links_alloc (search->devices, search->found->n_axes);
  try_all_meshes (search);
  if (search->found->choices->len == 0)
    return fail_as_first_mesh (search, error);
  g_array_sort (search->found->choices, by_rank);
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
                             "mesh shape of '%u' axes: expected at most %d axes longer than 1", n, MOST_LONG_AXES);
        found->long_axes[found->n_long++] = (guint8) i;
      }
  return TRUE;
}

QuoitMeshChoices *
quoit_mesh_choices_new (const QuoitDevices *devices, const int64_t *sizes, uint32_t n_axes, const int64_t *dcn_sizes,
                        int64_t n_bytes, GError **error)
{
  g_autoptr (QuoitMeshChoices) found = g_new0 (QuoitMeshChoices, 1);
  g_autoptr (GArray) dcn_splits = g_array_new (FALSE, FALSE, sizeof (DcnSplit));
  g_autoptr (GHashTable) found_uses = g_hash_table_new_full (uses_hash, uses_equal, g_free, NULL);
  Search search = { .devices = devices,
                    .sizes = sizes,
                    .n_bytes = n_bytes,
                    .dcn_splits = dcn_splits,
                    .found = found,
                    .found_uses = found_uses };

  g_return_val_if_fail (devices != NULL && (sizes != NULL || n_axes == 0) && n_bytes >= 0, NULL);

  found->choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  if (!quoit_mesh_sizes_check ("mesh shape", sizes, n_axes, error)
      || !quoit_mesh_sizes_fit ("mesh shape", sizes, n_axes, devices->list->len, "devices", error)
      || !find_long_axes (sizes, n_axes, found, error))
    return NULL;
  search.n_slices = count_slices (devices);
  if (!find_dcn_splits (&search, dcn_sizes, error) || !check_n_meshes (&search, error) || !run_search (&search, error))
    return NULL;
  return g_steal_pointer (&found);
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

uint32_t
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

uint32_t
quoit_mesh_choices_get_axis (const QuoitMeshChoices *choices, uint32_t choice, uint32_t place)
{
  const Choice *found = choice_at (choices, choice);
  gint axis;

  g_return_val_if_fail (found != NULL && place < choices->n_axes, 0);

  axis = long_axis_at (choices, found, place);
  return axis < 0 ? place : choices->long_axes[axis];
}

uint32_t
quoit_mesh_choices_get_dcn_size (const QuoitMeshChoices *choices, uint32_t choice, uint32_t place)
{
  const Choice *found = choice_at (choices, choice);
  gint axis;

  g_return_val_if_fail (found != NULL && place < choices->n_axes, 0);

  axis = long_axis_at (choices, found, place);
  return axis < 0 ? 1 : found->uses[axis].dcn_size;
}

uint32_t
quoit_mesh_choices_get_flags (const QuoitMeshChoices *choices, uint32_t choice)
{
  const Choice *found = choice_at (choices, choice);

  return found == NULL ? 0 : found->uses[0].flags;
}

int64_t
quoit_mesh_choices_get_all_reduce_ns (const QuoitMeshChoices *choices, uint32_t choice, uint32_t place)
{
  const Choice *found = choice_at (choices, choice);
  gint axis;

  g_return_val_if_fail (found != NULL && place < choices->n_axes, -1);

  axis = long_axis_at (choices, found, place);
  return axis < 0 ? 0 : found->uses[axis].all_reduce_ns;
}
