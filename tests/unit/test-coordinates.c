/* SPDX-License-Identifier: Apache-2.0 */
/* The places of chips and hosts. Links and paths are compared with a graph that is built here, chip by chip. */
#include "suite.h"

#include <string.h>

#include <quoit/models.h>
#include <quoit/quoit.h>

static const QuoitAxis axes[] = { QUOIT_AXIS_X, QUOIT_AXIS_Y, QUOIT_AXIS_Z };
static const QuoitDirection directions[] = { QUOIT_DIRECTION_UP, QUOIT_DIRECTION_DOWN };

static QuoitCoordinates *
torus_of (const char *accelerator, const char *topology, unsigned chips_per_host, QuoitWiring wiring)
{
  g_autoptr (GError) error = NULL;
  QuoitCoordinates *torus = quoit_coordinates_new (accelerator, topology, chips_per_host, wiring, &error);

  ck_assert_ok (error);
  return torus;
}

/* --- every topology of the catalogue --- */

typedef void (*TopologyFunc) (const QuoitCatalogueTopology *topology, const QuoitCoordinates *torus);

/* For every generation, in both wirings if there are two. Returns the number of topologies. */
static guint
for_each_topology (TopologyFunc check)
{
  const QuoitCatalogueGeneration *generation;
  const QuoitCatalogueTopology *topology;
  guint n = 0;

  for (unsigned g = 0; (generation = quoit_catalogue_get_generation (g)) != NULL; g++)
    {
      g_autofree char *id = quoit_catalogue_generation_dup_text (generation, QUOIT_GENERATION_TEXT_ID, 0);

      for (unsigned t = 0; (topology = quoit_catalogue_get_topology (generation, t)) != NULL; t++)
        {
          g_autofree char *shape = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_SHAPE);
          gint64 chips = quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_CHIPS_PER_HOST);
          gint64 twistable = quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_TWISTABLE);
          g_autoptr (QuoitCoordinates) torus = torus_of (id, shape, (unsigned) chips, QUOIT_WIRING_STRAIGHT);
          g_autoptr (QuoitCoordinates) twisted
              = twistable > 0 ? torus_of (id, shape, (unsigned) chips, QUOIT_WIRING_TWISTED) : NULL;

          check (topology, torus);
          if (twisted != NULL)
            check (topology, twisted);
          n += twisted != NULL ? 2 : 1;
        }
    }
  return n;
}

/* Parses and frees a shape such as "4x4". The length of a missing axis is 1. */
static void
parse_and_free_shape (char *text, guint32 dims[3])
{
  g_auto (GStrv) parts = g_strsplit (text, "x", 3);

  for (guint axis = 0; axis < 3; axis++)
    dims[axis] = axis < g_strv_length (parts) ? (guint32) g_ascii_strtoull (parts[axis], NULL, 10) : 1;
  g_free (text);
}

static void
check_sizes (const QuoitCatalogueTopology *topology, const QuoitCoordinates *torus)
{
  g_autofree char *wrap = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_WRAP);
  guint32 dims[3], block[3];

  parse_and_free_shape (quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_SHAPE), dims);
  parse_and_free_shape (quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_HOST_BLOCK), block);
  for (guint axis = 0; axis < 3; axis++)
    {
      ck_assert_uint_eq (quoit_coordinates_get_length (torus, axes[axis]), dims[axis]);
      ck_assert_uint_eq (quoit_coordinates_get_host_length (torus, axes[axis]), block[axis]);
      ck_assert_int_eq (quoit_coordinates_is_ring (torus, axes[axis]), strchr (wrap, "xyz"[axis]) != NULL);
    }
  ck_assert_int_eq (quoit_coordinates_get_n_chips (torus),
                    quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_CHIPS));
  ck_assert_int_eq (quoit_coordinates_get_n_hosts (torus),
                    quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_HOSTS));
  ck_assert_int_eq (quoit_coordinates_get_n_devices (torus),
                    quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_JAX_DEVICES));
}

START_TEST (torus_matches_the_catalogue) { ck_assert_uint_gt (for_each_topology (check_sizes), 1078); }
END_TEST

/* Check logs each assertion, which is too slow for so many. */
#define agree(a, b)                                                                                                    \
  do                                                                                                                   \
    if ((a) != (b))                                                                                                    \
      ck_abort_msg ("chip %u of %u: %s is not %s", chip, quoit_coordinates_get_n_chips (torus), #a, #b);               \
  while (0)

/* Counts with three loops, z outermost: number, place, host and device of each chip. */
static void
check_numbers (const QuoitCatalogueTopology *topology, const QuoitCoordinates *torus)
{
  guint32 dims[3], block[3], grid[3], chip = 0;
  guint32 cores = quoit_coordinates_get_n_devices (torus) / quoit_coordinates_get_n_chips (torus);

  (void) topology;
  for (guint axis = 0; axis < 3; axis++)
    {
      dims[axis] = quoit_coordinates_get_length (torus, axes[axis]);
      block[axis] = quoit_coordinates_get_host_length (torus, axes[axis]);
      grid[axis] = dims[axis] / block[axis];
    }
  for (guint32 z = 0; z < dims[2]; z++)
    for (guint32 y = 0; y < dims[1]; y++)
      for (guint32 x = 0; x < dims[0]; x++, chip++)
        {
          guint32 worker = x / block[0] + grid[0] * (y / block[1]) + grid[0] * grid[1] * (z / block[2]);
          /* Columns of two, left and right in a square, and stacked squares. */
          guint32 in_square = x % block[0] * 2 + y % block[1] % 2;
          guint32 index_on_host = in_square + 4 * (y % block[1] / 2);

          agree (quoit_coordinates_find_chip (torus, x, y, z), chip);
          agree (quoit_coordinates_get_chip_at (torus, chip, QUOIT_AXIS_X), x);
          agree (quoit_coordinates_get_chip_at (torus, chip, QUOIT_AXIS_Y), y);
          agree (quoit_coordinates_get_chip_at (torus, chip, QUOIT_AXIS_Z), z);
          agree (quoit_coordinates_get_chip_worker (torus, chip), worker);
          agree (quoit_coordinates_get_chip_index_on_host (torus, chip), index_on_host);
          agree (quoit_coordinates_get_worker_chip (torus, worker, index_on_host), chip);
          agree (quoit_coordinates_find_worker (torus, x / block[0], y / block[1], z / block[2]), worker);
          agree (quoit_coordinates_get_worker_at (torus, worker, QUOIT_AXIS_X), x / block[0]);
          agree (quoit_coordinates_get_worker_at (torus, worker, QUOIT_AXIS_Y), y / block[1]);
          agree (quoit_coordinates_get_worker_at (torus, worker, QUOIT_AXIS_Z), z / block[2]);
          for (guint32 core = 0; core < cores; core++)
            {
              agree (quoit_coordinates_get_chip_device (torus, chip, core), core + cores * chip);
              agree (quoit_coordinates_get_device_chip (torus, core + cores * chip), chip);
            }
        }
  agree (chip, quoit_coordinates_get_n_chips (torus));
  for (guint axis = 0; axis < 3; axis++)
    {
      guint32 out[3] = { 0 };

      out[axis] = dims[axis];
      agree (quoit_coordinates_find_chip (torus, out[0], out[1], out[2]), -1);
      out[axis] = grid[axis];
      agree (quoit_coordinates_find_worker (torus, out[0], out[1], out[2]), -1);
      out[axis] = G_MAXUINT32;
      agree (quoit_coordinates_find_chip (torus, out[0], out[1], out[2]), -1);
    }
}

START_TEST (coordinates_chips_and_hosts_map_both_ways) { ck_assert_uint_gt (for_each_topology (check_numbers), 1078); }
END_TEST

/* --- orders of the modelled systems --- */

/* The chips of a host in its own order: 0 and 1 form a column, as in JAX's bounds of 1,2,1. */
static const struct {
  const char *accelerator, *topology;
  unsigned chips_per_host, worker;
  const char *chips;
} hosts[] = {
  { "v6e", "4x4", 4, 0, "0 4 1 5" },
  { "v6e", "4x4", 4, 1, "2 6 3 7" },
  { "v6e", "4x4", 4, 3, "10 14 11 15" },
  { "v6e", "2x4", 8, 0, "0 2 1 3 4 6 5 7" },
  { "v6e", "2x4", 0, 0, "0 2 1 3 4 6 5 7" },
  { "v6e", "2x4", 4, 0, "0 2 1 3" },
  { "v5litepod", "2x4", 4, 1, "4 6 5 7" },
  { "v5e", "1x1", 1, 0, "0" },
  { "v5e", "4x8", 0, 2, "8 12 9 13" },
  { "tpu7x", "1x1x1", 0, 0, "0" },
  { "v5p", "2x2x4", 0, 3, "12 14 13 15" },
  { "v4", "2x4x4", 4, 1, "4 6 5 7" },
  { "v4", "2x4x4", 4, 2, "8 10 9 11" },
  { "TPU-V5P", "4x4x4", 0, 15, "58 62 59 63" },
  { "Ironwood", "4x4x8", 4, 4, "16 20 17 21" },
};

START_TEST (a_host_has_the_chips_of_its_block)
{
  g_autoptr (QuoitCoordinates) torus
      = torus_of (hosts[_i].accelerator, hosts[_i].topology, hosts[_i].chips_per_host, QUOIT_WIRING_STRAIGHT);
  guint n = quoit_coordinates_get_n_chips (torus) / quoit_coordinates_get_n_hosts (torus);
  g_autoptr (GString) chips = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (chips, "%s%u", i > 0 ? " " : "",
                            quoit_coordinates_get_worker_chip (torus, hosts[_i].worker, i));
  ck_assert_str_eq (chips->str, hosts[_i].chips);
}
END_TEST

/* --- links --- */

typedef struct {
  const char *accelerator, *topology;
  QuoitWiring wiring;
  guint32 bisection;
} Torus;

/* Plain tori, with both kinds of ring, and lines; then both twists. */
static const Torus toruses[] = {
  { "v5e", "1x1", QUOIT_WIRING_STRAIGHT, 0 },      { "v5e", "2x2", QUOIT_WIRING_STRAIGHT, 2 },
  { "v5e", "2x4", QUOIT_WIRING_STRAIGHT, 2 },      { "v6e", "2x8", QUOIT_WIRING_STRAIGHT, 2 },
  { "v3", "4x4", QUOIT_WIRING_STRAIGHT, 4 },       { "v6e", "4x8", QUOIT_WIRING_STRAIGHT, 4 },
  { "v6e", "8x8", QUOIT_WIRING_STRAIGHT, 8 },      { "v6e", "8x16", QUOIT_WIRING_STRAIGHT, 16 },
  { "v5e", "16x16", QUOIT_WIRING_STRAIGHT, 32 },   { "v4", "2x2x1", QUOIT_WIRING_STRAIGHT, 2 },
  { "v5p", "2x2x2", QUOIT_WIRING_STRAIGHT, 4 },    { "v5p", "2x2x4", QUOIT_WIRING_STRAIGHT, 4 },
  { "tpu7x", "2x4x4", QUOIT_WIRING_STRAIGHT, 8 },  { "v4", "4x4x4", QUOIT_WIRING_STRAIGHT, 32 },
  { "v5p", "12x4x8", QUOIT_WIRING_STRAIGHT, 64 },  { "v4", "4x4x8", QUOIT_WIRING_STRAIGHT, 32 },
  { "tpu7x", "4x8x8", QUOIT_WIRING_STRAIGHT, 64 }, { "v5p", "4x4x20", QUOIT_WIRING_STRAIGHT, 32 },
  { "v4", "4x4x8", QUOIT_WIRING_TWISTED, 64 },     { "tpu7x", "4x8x8", QUOIT_WIRING_TWISTED, 128 },
  { "v5p", "8x8x16", QUOIT_WIRING_TWISTED, 256 },  { "v5p", "8x16x16", QUOIT_WIRING_TWISTED, 512 },
};

typedef struct {
  guint32 n, dims[3];
  gint64 (*links)[6]; /* of each chip: x up, x down, y up... -1: none */
} Graph;

static void
graph_clear (Graph *graph)
{
  g_free (graph->links);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Graph, graph_clear)

/* Built without the library by the vendor's rules: the ends of a ring are joined; in a twisted slice the short axes
 * connect half way along each long one. */
static guint32
joined (const Torus *torus, const guint32 dims[3], const guint32 from[3], guint axis)
{
  guint32 to[3] = { from[0], from[1], from[2] }, shortest = MIN (MIN (dims[0], dims[1]), dims[2]);

  to[axis] = (from[axis] + 1) % dims[axis];
  if (torus->wiring == QUOIT_WIRING_TWISTED && to[axis] == 0 && dims[axis] == shortest)
    for (guint along = 0; along < 3; along++)
      if (dims[along] > shortest)
        to[along] = (to[along] + dims[along] / 2) % dims[along];
  return to[0] + dims[0] * (to[1] + dims[1] * to[2]);
}

static gboolean
has_ring (const Torus *torus, const guint32 dims[3], guint axis)
{
  gboolean is_flat = strchr (torus->topology, 'x') == strrchr (torus->topology, 'x');

  if (is_flat)
    return dims[axis] == 16;
  return dims[0] >= 4 && dims[1] >= 4 && dims[2] >= 4;
}

static void
graph_build (const Torus *torus, Graph *graph)
{
  guint32 from[3], *dims = graph->dims;

  parse_and_free_shape (g_strdup (torus->topology), dims);
  graph->n = dims[0] * dims[1] * dims[2];
  graph->links = g_malloc_n (graph->n, sizeof *graph->links);
  memset (graph->links, 0xff, graph->n * sizeof *graph->links);
  for (guint32 chip = 0; chip < graph->n; chip++)
    for (guint axis = 0; axis < 3; axis++)
      {
        guint32 to;

        from[0] = chip % dims[0], from[1] = chip / dims[0] % dims[1], from[2] = chip / dims[0] / dims[1];
        if (from[axis] + 1 == dims[axis] && !has_ring (torus, dims, axis))
          continue;
        to = joined (torus, dims, from, axis);
        graph->links[chip][2 * axis] = to;
        graph->links[to][2 * axis + 1] = chip;
      }
}

START_TEST (neighbours_are_at_the_other_ends_of_links)
{
  g_autoptr (QuoitCoordinates) torus = torus_of (toruses[_i].accelerator, toruses[_i].topology, 0, toruses[_i].wiring);
  g_auto (Graph) graph = { 0 };

  graph_build (&toruses[_i], &graph);
  ck_assert_uint_eq (quoit_coordinates_get_n_chips (torus), graph.n);
  for (guint32 chip = 0; chip < graph.n; chip++)
    for (guint i = 0; i < 6; i++)
      ck_assert_int_eq (quoit_coordinates_find_neighbour (torus, chip, axes[i / 2], directions[i % 2]),
                        graph.links[chip][i]);
}
END_TEST

static void
search (const Graph *graph, guint32 from, guint32 *hops)
{
  g_autofree guint32 *queue = g_new (guint32, graph->n);
  guint32 first = 0, last = 0;

  memset (hops, 0xff, graph->n * sizeof *hops);
  hops[from] = 0;
  queue[last++] = from;
  while (first < last)
    {
      guint32 chip = queue[first++];

      for (guint i = 0; i < 6; i++)
        if (graph->links[chip][i] >= 0 && hops[graph->links[chip][i]] == G_MAXUINT32)
          {
            hops[graph->links[chip][i]] = hops[chip] + 1;
            queue[last++] = (guint32) graph->links[chip][i];
          }
    }
  ck_assert_uint_eq (last, graph->n);
}

START_TEST (hops_are_those_of_a_breadth_first_search)
{
  g_autoptr (QuoitCoordinates) torus = torus_of (toruses[_i].accelerator, toruses[_i].topology, 0, toruses[_i].wiring);
  g_autofree guint32 *hops = NULL;
  g_auto (Graph) graph = { 0 };

  graph_build (&toruses[_i], &graph);
  hops = g_new (guint32, graph.n);
  /* From every chip of small tori; for the others from enough chips to cover every position on each axis. */
  for (guint32 from = 0; from<graph.n; from += graph.n> 512 ? 67 : 1)
    {
      search (&graph, from, hops);
      for (guint32 to = 0; to < graph.n; to++)
        ck_assert_uint_eq (quoit_coordinates_get_hops (torus, from, to), hops[to]);
    }
}
END_TEST

/* Every window of half an axis, link by link. */
static guint32
fewest_severed (const Graph *graph)
{
  guint32 fewest = graph->n == 1 ? 0 : G_MAXUINT32, stride = 1;

  for (guint axis = 0; axis < 3; stride *= graph->dims[axis++])
    for (guint32 window = 0; graph->dims[axis] % 2 == 0 && window < graph->dims[axis]; window++)
      {
        guint32 length = graph->dims[axis], links = 0;

        for (guint32 chip = 0; chip < graph->n; chip++)
          for (guint i = 0; i < 6; i += 2)
            if (graph->links[chip][i] >= 0)
              {
                guint32 a = chip / stride % length, b = (guint32) graph->links[chip][i] / stride % length;

                links += ((a + window) % length < length / 2) != ((b + window) % length < length / 2);
              }
        fewest = MIN (fewest, links);
      }
  return fewest;
}

START_TEST (bisection_is_the_number_of_links_of_the_narrowest_cut)
{
  g_autoptr (QuoitCoordinates) torus = torus_of (toruses[_i].accelerator, toruses[_i].topology, 0, toruses[_i].wiring);
  g_auto (Graph) graph = { 0 };

  graph_build (&toruses[_i], &graph);
  ck_assert_uint_eq (quoit_coordinates_get_bisection (torus), toruses[_i].bisection);
  ck_assert_uint_eq (quoit_coordinates_get_bisection (torus), fewest_severed (&graph));
}
END_TEST

/* With so few chips all halves can be tried: no cut is narrower than one across an axis. */
static const Torus small[] = {
  { "v5e", "2x2", QUOIT_WIRING_STRAIGHT, 2 },   { "v5e", "2x4", QUOIT_WIRING_STRAIGHT, 2 },
  { "v6e", "2x8", QUOIT_WIRING_STRAIGHT, 2 },   { "v3", "4x4", QUOIT_WIRING_STRAIGHT, 4 },
  { "v4", "2x2x1", QUOIT_WIRING_STRAIGHT, 2 },  { "v5p", "2x2x2", QUOIT_WIRING_STRAIGHT, 4 },
  { "v5p", "2x2x4", QUOIT_WIRING_STRAIGHT, 4 },
};

START_TEST (no_cut_into_halves_has_fewer_links_than_the_bisection)
{
  g_autoptr (QuoitCoordinates) torus = torus_of (small[_i].accelerator, small[_i].topology, 0, small[_i].wiring);
  g_auto (Graph) graph = { 0 };
  guint32 fewest = G_MAXUINT32;

  graph_build (&small[_i], &graph);
  for (guint32 half = 0; half < 1u << graph.n; half++)
    {
      guint32 links = 0;

      if (__builtin_popcount (half) * 2 != (int) graph.n)
        continue;
      for (guint32 chip = 0; chip < graph.n; chip++)
        for (guint i = 0; i < 6; i += 2)
          if (graph.links[chip][i] >= 0)
            links += (half >> chip & 1) != (half >> graph.links[chip][i] & 1);
      fewest = MIN (fewest, links);
    }
  ck_assert_uint_eq (quoit_coordinates_get_bisection (torus), fewest);
}
END_TEST

START_TEST (twist_is_half_of_each_long_axis)
{
  g_autoptr (QuoitCoordinates) one = torus_of ("v4", "4x4x8", 0, QUOIT_WIRING_TWISTED);
  g_autoptr (QuoitCoordinates) two = torus_of ("v4", "4x8x8", 0, QUOIT_WIRING_TWISTED);
  static const guint32 of_one[3][3] = { { 0, 0, 4 }, { 0, 0, 4 }, { 0, 0, 0 } };
  static const guint32 of_two[3][3] = { { 0, 4, 4 }, { 0, 0, 0 }, { 0, 0, 0 } };

  for (guint axis = 0; axis < 3; axis++)
    for (guint along = 0; along < 3; along++)
      {
        ck_assert_uint_eq (quoit_coordinates_get_twist (one, axes[axis], axes[along]), of_one[axis][along]);
        ck_assert_uint_eq (quoit_coordinates_get_twist (two, axes[axis], axes[along]), of_two[axis][along]);
      }
}
END_TEST

/* --- refusals --- */

static const struct {
  const char *accelerator, *topology;
  unsigned chips_per_host;
  int wiring;
  const char *part;
} refused[] = {
  { "v6e", "99999x99999", 0, QUOIT_WIRING_STRAIGHT, "'99999x99999': expected a number of 1 to 4096 at byte 0" },
  { "v5p", "4096x4096x4096", 0, QUOIT_WIRING_STRAIGHT, "'4096x4096x4096': expected at most" },
  { "v5p", "4096x4096x255", 0, QUOIT_WIRING_STRAIGHT, "'4096x4096x255': expected one that v5p has" },
  { "v6e", "", 0, QUOIT_WIRING_STRAIGHT, "''" },
  { "v6e", "0x4", 0, QUOIT_WIRING_STRAIGHT, "'0x4'" },
  { "v6e", "-4x-4", 0, QUOIT_WIRING_STRAIGHT, "'-4x-4'" },
  { "v6e", "4x4x4", 0, QUOIT_WIRING_STRAIGHT, "expected two numbers" },
  { "v6e", "3x5", 0, QUOIT_WIRING_STRAIGHT, "the nearest are" },
  { "h100", "4x4", 0, QUOIT_WIRING_STRAIGHT, "'h100'" },
  { "v6e", "4x4", 3, QUOIT_WIRING_STRAIGHT, "chips per host '3'" },
  { "v6e", "4x4", 8, QUOIT_WIRING_STRAIGHT, "chips per host '8'" },
  { "v6e", "4x4", G_MAXUINT32, QUOIT_WIRING_STRAIGHT, "chips per host '4294967295'" },
  { "v6e", "4x8", 0, QUOIT_WIRING_TWISTED, "'4x8': expected one that can be twisted" },
  { "v5p", "4x4x4", 0, QUOIT_WIRING_TWISTED, "'4x4x4': expected one that can be twisted" },
  { "v5p", "2x2x4", 0, QUOIT_WIRING_TWISTED, "'2x2x4': expected one that can be twisted" },
  { "v5p", "4x4x8", 0, 0, "wiring '0'" },
  { "v5p", "4x4x8", 0, 3, "wiring '3'" },
};

START_TEST (invalid_torus_is_refused)
{
  GError *error = NULL;
  gint64 began = g_get_monotonic_time ();

  ck_assert_ptr_null (quoit_coordinates_new (refused[_i].accelerator, refused[_i].topology, refused[_i].chips_per_host,
                                             (QuoitWiring) refused[_i].wiring, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused[_i].part);
  ck_assert_int_lt (g_get_monotonic_time () - began, G_USEC_PER_SEC);
}
END_TEST

static Suite *
coordinates_suite (void)
{
  Suite *suite = suite_create ("coordinates");
  TCase *all = tcase_create ("catalogue");
  TCase *tcase = tcase_create ("coordinates");

  tcase_set_timeout (all, 60);
  tcase_add_test (all, torus_matches_the_catalogue);
  tcase_add_test (all, coordinates_chips_and_hosts_map_both_ways);
  suite_add_tcase (suite, all);
  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, a_host_has_the_chips_of_its_block, 0, G_N_ELEMENTS (hosts));
  tcase_add_loop_test (tcase, neighbours_are_at_the_other_ends_of_links, 0, G_N_ELEMENTS (toruses));
  tcase_add_loop_test (tcase, hops_are_those_of_a_breadth_first_search, 0, G_N_ELEMENTS (toruses));
  tcase_add_loop_test (tcase, bisection_is_the_number_of_links_of_the_narrowest_cut, 0, G_N_ELEMENTS (toruses));
  tcase_add_loop_test (tcase, no_cut_into_halves_has_fewer_links_than_the_bisection, 0, G_N_ELEMENTS (small));
  tcase_add_test (tcase, twist_is_half_of_each_long_axis);
  tcase_add_loop_test (tcase, invalid_torus_is_refused, 0, G_N_ELEMENTS (refused));
  suite_add_tcase (suite, tcase);
  return suite;
}

int
main (void)
{
  return suite_main (coordinates_suite ());
}
