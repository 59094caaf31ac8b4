/* SPDX-License-Identifier: Apache-2.0 */
/* quoit_mesh_choices_new() measures axes without making meshes. This suite makes every mesh, measures it with
 * quoit_mesh_links_new(), and expects the same choices in the same order. */
#include <string.h>

#include <quoit/models/mesh-choices.h>

#include "suite.h"

enum { MOST_AXES = 8, MOST_LONG_AXES = 6, BYTES = 1000000000 };

/* The axes of a mesh. Axes of size 1 keep their places. */
typedef struct {
  unsigned n, n_long;
  int64_t sizes[MOST_AXES];
  unsigned long_axes[MOST_LONG_AXES];
} Axes;

/* The links that an axis uses in one mesh. It is compared as bytes. */
typedef struct {
  int64_t all_reduce_ns;
  uint32_t dcn_size, network, form, hops, hops_back, flags;
  char physical[64];
} Use;

typedef struct {
  unsigned order[MOST_LONG_AXES]; /* which long axis has the place of each long axis */
  unsigned trial;
  Use uses[MOST_LONG_AXES]; /* by long axis */
} Choice;

typedef struct {
  const QuoitDevices *devices;
  uint32_t n_slices;
  const Axes *axes;
  GArray *splits; /* of int64_t[MOST_LONG_AXES]: the part of each long axis that spans slices */
  GArray *choices;
  unsigned n_trials;
} Search;

static void
axes_add (Axes *axes, int64_t size)
{
  if (size > 1)
    axes->long_axes[axes->n_long++] = axes->n;
  axes->sizes[axes->n++] = size;
}

/* --- every mesh --- */

static void
list_splits (Search *search, unsigned axis, int64_t left, int64_t *split)
{
  const Axes *axes = search->axes;

  if (axis == axes->n_long)
    {
      if (left == 1)
        g_array_append_vals (search->splits, split, 1);
      return;
    }
  for (int64_t size = left; size >= 1; size--)
    if (left % size == 0 && axes->sizes[axes->long_axes[axis]] % size == 0)
      {
        split[axis] = size;
        list_splits (search, axis + 1, left / size, split);
      }
}

static QuoitMesh *
make_mesh (const Search *search, const unsigned *order, const int64_t *split, unsigned flags)
{
  const Axes *axes = search->axes;
  int64_t ici[MOST_AXES], dcn[MOST_AXES];

  for (unsigned place = 0; place < axes->n; place++)
    ici[place] = dcn[place] = 1;
  for (unsigned i = 0; i < axes->n_long; i++)
    {
      dcn[axes->long_axes[i]] = split[order[i]];
      ici[axes->long_axes[i]] = axes->sizes[axes->long_axes[order[i]]] / split[order[i]];
    }
  if (search->n_slices == 1)
    return quoit_mesh_new (search->devices, ici, axes->n, flags, NULL);
  return quoit_mesh_new_hybrid (search->devices, ici, axes->n, dcn, axes->n, flags, NULL);
}

static bool
is_known (const Search *search, const Choice *choice)
{
  for (unsigned i = 0; i < search->choices->len; i++)
    if (memcmp (g_array_index (search->choices, Choice, i).uses, choice->uses, sizeof choice->uses) == 0)
      return true;
  return false;
}

static void
try_mesh (Search *search, const unsigned *order, const int64_t *split)
{
  const Axes *axes = search->axes;
  unsigned flags = 0;
  g_autoptr (QuoitMesh) mesh = make_mesh (search, order, split, flags);
  g_autoptr (QuoitMeshLinks) links = NULL;
  Choice choice;

  memset (&choice, 0, sizeof choice);
  choice.trial = search->n_trials++;
  if (mesh == NULL)
    {
      flags = QUOIT_MESH_SPLIT_PHYSICAL_AXES;
      mesh = make_mesh (search, order, split, flags);
    }
  if (mesh == NULL)
    return;
  links = quoit_mesh_links_new (search->devices, mesh, NULL);
  for (unsigned i = 0; i < axes->n_long; i++)
    {
      unsigned place = axes->long_axes[i];
      Use *use = &choice.uses[order[i]];
      g_autofree char *physical = quoit_mesh_links_dup_physical (links, place);

      choice.order[i] = order[i];
      use->all_reduce_ns = quoit_mesh_links_get_all_reduce_ns (links, place, BYTES);
      use->dcn_size = quoit_mesh_get_dcn_size (mesh, place);
      use->network = quoit_mesh_links_get_network (links, place);
      use->form = quoit_mesh_links_get_form (links, place);
      use->hops = quoit_mesh_links_get_hops (links, place);
      use->hops_back = quoit_mesh_links_get_hops_back (links, place);
      use->flags = flags;
      g_strlcpy (use->physical, physical, sizeof use->physical);
    }
  if (!is_known (search, &choice))
    g_array_append_val (search->choices, choice);
}

/* Tries the orders in lexical order: each place gets each axis that no earlier place has. */
static void
try_orders (Search *search, unsigned *order, unsigned n_placed)
{
  if (n_placed == search->axes->n_long)
    for (unsigned i = 0; i < search->splits->len; i++)
      try_mesh (search, order, (const int64_t *) (search->splits->data + i * sizeof (int64_t[MOST_LONG_AXES])));
  else
    for (unsigned axis = 0; axis < search->axes->n_long; axis++)
      {
        bool is_placed = false;

        for (unsigned i = 0; i < n_placed; i++)
          is_placed = is_placed || order[i] == axis;
        order[n_placed] = axis;
        if (!is_placed)
          try_orders (search, order, n_placed + 1);
      }
}

#define COMPARE(a, b)                                                                                                  \
  if ((a) != (b))                                                                                                      \
  return (a) < (b) ? -1 : 1

static int
compare_uses (const Use *a, const Use *b)
{
  COMPARE (a->all_reduce_ns, b->all_reduce_ns);
  COMPARE (a->network, b->network);
  COMPARE (a->form == QUOIT_MESH_FORM_JUMPS, b->form == QUOIT_MESH_FORM_JUMPS);
  COMPARE (a->hops + a->hops_back, b->hops + b->hops_back);
  COMPARE (a->flags, b->flags);
  return 0;
}

static int
by_rank (const void *a, const void *b)
{
  const Choice *x = a, *y = b;

  for (unsigned i = MOST_LONG_AXES; i-- > 0;)
    {
      int order = compare_uses (&x->uses[i], &y->uses[i]);

      if (order != 0)
        return order;
    }
  COMPARE (x->trial, y->trial);
  return 0;
}

static uint32_t
count_slices (const QuoitDevices *devices)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < quoit_devices_get_n_devices (devices); i++)
    {
      bool is_first = true;

      for (uint32_t j = 0; j < i && is_first; j++)
        is_first = quoit_devices_get_slice_index (devices, i) != quoit_devices_get_slice_index (devices, j);
      n += is_first;
    }
  return n;
}

/* Returns an array of Choice. */
static GArray *
find_choices (const QuoitDevices *devices, const Axes *axes, const int64_t *dcn)
{
  g_autoptr (GArray) splits = g_array_new (FALSE, FALSE, sizeof (int64_t[MOST_LONG_AXES]));
  Search search = { .devices = devices, .n_slices = count_slices (devices), .axes = axes, .splits = splits };
  int64_t split[MOST_LONG_AXES] = { 0 };
  unsigned order[MOST_LONG_AXES] = { 0 };

  search.choices = g_array_new (FALSE, FALSE, sizeof (Choice));
  for (unsigned i = 0; dcn != NULL && i < axes->n_long; i++)
    split[i] = dcn[axes->long_axes[i]];
  if (dcn != NULL)
    g_array_append_vals (splits, split, 1);
  else
    list_splits (&search, 0, search.n_slices, split);
  try_orders (&search, order, 0);
  g_array_sort (search.choices, by_rank);
  return search.choices;
}

/* --- comparison --- */

static unsigned
place_of (const Axes *axes, const Choice *choice, unsigned long_axis)
{
  for (unsigned i = 0; i < axes->n_long; i++)
    if (choice->order[i] == long_axis)
      return axes->long_axes[i];
  ck_abort_msg ("the axis has no place");
}

static void
check_choice (const QuoitMeshChoices *choices, unsigned i, const Axes *axes, const Choice *expected, const char *what)
{
  for (unsigned axis = 0; axis < axes->n_long; axis++)
    {
      unsigned place = place_of (axes, expected, axis);
      const Use *use = &expected->uses[axis];

      ck_assert_msg (quoit_mesh_choices_get_axis (choices, i, place) == axes->long_axes[axis], "%s: axis %u of %u",
                     what, axis, i);
      ck_assert_msg (quoit_mesh_choices_get_dcn_size (choices, i, place) == use->dcn_size, "%s: dcn size %u of %u",
                     what, axis, i);
      ck_assert_msg (quoit_mesh_choices_get_flags (choices, i) == use->flags, "%s: flags of %u", what, i);
      ck_assert_msg (quoit_mesh_choices_get_all_reduce_ns (choices, i, place) == use->all_reduce_ns,
                     "%s: time %u of %u: '%s'", what, axis, i, use->physical);
    }
}

/* Returns the number of choices. @dcn may be NULL. */
static unsigned
check_all_choices (const QuoitDevices *devices, const Axes *axes, const int64_t *dcn, const char *what)
{
  GError *error = NULL;
  g_autoptr (QuoitMeshChoices) choices = quoit_mesh_choices_new (devices, axes->sizes, axes->n, dcn, BYTES, &error);
  g_autoptr (GArray) expected = find_choices (devices, axes, dcn);

  if (expected->len == 0)
    {
      ck_assert_msg (choices == NULL, "%s: JAX refuses all meshes", what);
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected");
      return 0;
    }
  ck_assert_ok (error);
  ck_assert_msg (quoit_mesh_choices_get_n (choices) == expected->len, "%s: %u choices, expected %u", what,
                 quoit_mesh_choices_get_n (choices), expected->len);
  for (unsigned i = 0; i < expected->len; i++)
    check_choice (choices, i, axes, &g_array_index (expected, Choice, i), what);
  return expected->len;
}

static char *
describe (const char *what, const Axes *axes)
{
  GString *text = g_string_new (what);

  for (unsigned i = 0; i < axes->n; i++)
    g_string_append_printf (text, "%s%d", i == 0 ? ", axes " : ",", (int) axes->sizes[i]);
  return g_string_free (text, FALSE);
}

/* --- lists of axes --- */

static int64_t
smallest_factor (int64_t number)
{
  for (int64_t factor = 2; factor * factor <= number; factor++)
    if (number % factor == 0)
      return factor;
  return number;
}

/* Distributes the prime factors of @n_devices to at most @most_long axes; some axes may have size 1. */
static Axes
draw_axes (GRand *rand, int64_t n_devices, unsigned most_long)
{
  int64_t sizes[MOST_AXES];
  unsigned n = (unsigned) g_rand_int_range (rand, 1, (gint32) most_long + 1);
  Axes axes = { .n = 0 };

  for (unsigned i = 0; i < n; i++)
    sizes[i] = 1;
  while (n_devices > 1)
    {
      int64_t factor = smallest_factor (n_devices);

      sizes[g_rand_int_range (rand, 0, (gint32) n)] *= factor;
      n_devices /= factor;
    }
  for (unsigned i = 0; i < n; i++)
    axes_add (&axes, sizes[i]);
  return axes;
}

/* Fills @dcn with one way to divide the slices. Returns false if it finds no way. */
static bool
draw_split (GRand *rand, const Axes *axes, int64_t n_slices, int64_t *dcn)
{
  for (unsigned i = 0; i < axes->n; i++)
    dcn[i] = 1;
  for (unsigned tries = 0; n_slices > 1 && tries < 64; tries++)
    {
      int64_t factor = smallest_factor (n_slices);
      unsigned axis = (unsigned) g_rand_int_range (rand, 0, (gint32) axes->n);

      if (axes->sizes[axis] % (dcn[axis] * factor) == 0)
        {
          dcn[axis] *= factor;
          n_slices /= factor;
        }
    }
  return n_slices == 1;
}

/* --- whole slices --- */

/* Examples of all orders: rings, the list, and tori with and without wraparound links and cores. */
static const struct {
  const char *kind, *topology;
  uint32_t n_slices;
  unsigned most_long;
} fleets[] = {
  { "v2", "2x2", 1, 3 },      { "v2", "4x4", 2, 5 },      { "v3", "4x4", 1, 5 },      { "v3", "4x4", 4, 4 },
  { "v3", "8x8", 1, 4 },      { "v4", "2x2x1", 1, 2 },    { "v4", "2x2x2", 3, 4 },    { "v4", "4x4x4", 1, 6 },
  { "v4", "4x4x8", 1, 4 },    { "v4", "2x4x4", 2, 5 },    { "v5e", "2x2", 4, 4 },     { "v5e", "2x4", 2, 4 },
  { "v5e", "4x4", 1, 4 },     { "v5e", "4x4", 6, 4 },     { "v5e", "8x8", 1, 6 },     { "v5e", "8x16", 1, 4 },
  { "v5p", "2x2x1", 4, 4 },   { "v5p", "2x2x2", 4, 5 },   { "v5p", "2x2x4", 3, 5 },   { "v5p", "4x4x4", 2, 5 },
  { "v5p", "4x4x12", 1, 5 },  { "v5p", "2x2x6", 1, 4 },   { "v6e", "2x2", 8, 5 },     { "v6e", "2x4", 6, 5 },
  { "v6e", "4x4", 2, 5 },     { "v6e", "4x8", 3, 4 },     { "v6e", "16x16", 1, 4 },   { "v6e", "8x8", 4, 4 },
  { "tpu7x", "2x2x1", 2, 4 }, { "tpu7x", "2x2x2", 2, 5 }, { "tpu7x", "2x2x4", 1, 5 }, { "tpu7x", "4x4x4", 1, 5 },
  { "tpu7x", "2x4x4", 2, 4 }, { "TPU8i", "2x2", 2, 3 },
};

START_TEST (choices_are_those_of_all_meshes_of_whole_slices)
{
  enum { N_AXES_LISTS = 8 };
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  g_autoptr (GError) error = NULL;
  unsigned per_chip = strcmp (fleets[_i].kind, "TPU8i") == 0 ? 2 : 0;
  g_autoptr (QuoitDevices) devices
      = quoit_devices_new_slices (fleets[_i].kind, fleets[_i].topology, fleets[_i].n_slices, 0, per_chip, &error);
  unsigned n_choices = 0;

  ck_assert_ok (error);
  for (unsigned i = 0; i < N_AXES_LISTS; i++)
    {
      Axes axes = draw_axes (rand, quoit_devices_get_n_devices (devices), fleets[_i].most_long);
      g_autofree char *slices
          = g_strdup_printf ("%u slices of %s %s", fleets[_i].n_slices, fleets[_i].kind, fleets[_i].topology);
      g_autofree char *what = describe (slices, &axes);
      int64_t dcn[MOST_AXES];

      n_choices += check_all_choices (devices, &axes, NULL, what);
      if (draw_split (rand, &axes, fleets[_i].n_slices, dcn))
        n_choices += check_all_choices (devices, &axes, dcn, what);
    }
  ck_assert_uint_ge (n_choices, N_AXES_LISTS);
}
END_TEST

/* --- other lists --- */

/* A slice of a list: a box of chips, mostly not at the origin. */
typedef struct {
  int32_t origin[3], sides[3];
  int32_t cores;
} Box;

static Box
draw_box (GRand *rand, int32_t cores)
{
  Box box = { .cores = cores };

  for (unsigned axis = 0; axis < 3; axis++)
    {
      box.sides[axis] = 1 << g_rand_int_range (rand, 0, axis == 2 ? 2 : 3);
      box.origin[axis] = g_rand_boolean (rand) ? 0 : g_rand_int_range (rand, 0, 5);
    }
  return box;
}

/* Another box of as many chips, with other sides if one is even. */
static Box
reshape_box (GRand *rand, Box box)
{
  unsigned shorter = (unsigned) g_rand_int_range (rand, 0, 3), longer = (unsigned) g_rand_int_range (rand, 0, 3);

  if (box.sides[shorter] % 2 == 0)
    {
      box.sides[shorter] /= 2;
      box.sides[longer] *= 2;
    }
  return box;
}

static void
add_box (GRand *rand, QuoitDevices *devices, const Box *box, int32_t slice, bool has_hole)
{
  int32_t n = box->sides[0] * box->sides[1] * box->sides[2] * box->cores;
  int32_t offset = g_rand_boolean (rand) ? 0 : g_rand_int_range (rand, 0, n);

  for (int32_t i = 0; i < n; i++)
    {
      int32_t at = has_hole && i == 0 ? n : (i + offset) % n, chip = at / box->cores;
      int32_t coordinates[]
          = { box->origin[0] + chip % box->sides[0], box->origin[1] + chip / box->sides[0] % box->sides[1],
              box->origin[2] + chip / box->sides[0] / box->sides[1] };

      ck_assert (quoit_devices_add (devices, 1000 * slice + at, coordinates, at % box->cores, 0, slice, NULL));
    }
}

START_TEST (choices_are_those_of_all_meshes_of_listed_devices)
{
  static const char *const kinds[] = { "v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x", "TPU8i" };
  enum { N_SLICES = 4, N_LISTS = 60 };
  unsigned n_accepted = 0;

  for (unsigned i = 0; i < N_LISTS; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i * N_LISTS + i);
      const char *kind = kinds[g_rand_int_range (rand, 0, G_N_ELEMENTS (kinds))];
      g_autoptr (QuoitDevices) devices = quoit_devices_new (kind, NULL);
      int32_t n_slices = g_rand_int_range (rand, 1, N_SLICES + 1), hole = g_rand_int_range (rand, -20, n_slices);
      int32_t larger = g_rand_int_range (rand, -20, n_slices);
      Box box = draw_box (rand, g_rand_int_range (rand, 0, 3) == 0 ? 2 : 1);
      g_autofree char *list = g_strdup_printf ("list %u of seed %d, %s", i, _i, kind), *what = NULL;
      Axes axes;

      for (int32_t slice = n_slices - 1; slice >= 0; slice--)
        {
          Box other = g_rand_boolean (rand) ? box : reshape_box (rand, box);

          /* JAX refuses slices of different sizes. */
          if (slice == larger)
            other.sides[2] *= 3;
          /* Devices without a slice index are one slice. */
          add_box (rand, devices, &other, n_slices == 1 && g_rand_boolean (rand) ? -1 : slice, slice == hole);
        }
      axes = draw_axes (rand, quoit_devices_get_n_devices (devices), 4);
      what = describe (list, &axes);
      if (axes.n_long > 0)
        n_accepted += check_all_choices (devices, &axes, NULL, what) > 0;
    }
  ck_assert_uint_ge (n_accepted, N_LISTS / 3);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("mesh-search");
  TCase *tcase = tcase_create ("all meshes");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, choices_are_those_of_all_meshes_of_whole_slices, 0, G_N_ELEMENTS (fleets));
  tcase_add_loop_test (tcase, choices_are_those_of_all_meshes_of_listed_devices, 0, 4);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
