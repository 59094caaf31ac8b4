/* SPDX-License-Identifier: Apache-2.0 */
/* The networks that the axes of a mesh use, and lower bounds for the time of collectives along them. */
#include "mesh/links.h"

#include <string.h>

struct _QuoitMeshLinks {
  guint n_axes;
  guint32 devices_per_chip;                 /* devices per chip */
  guint32 n_chip_links;                     /* links per chip: two per axis */
  guint32 ici_gbytes_per_s, dcn_gbit_per_s; /* per chip: all links, both directions; DCN: one; 0: unpublished */
  QuoitAxisMeasures axes[QUOIT_MESH_MOST_AXES];
};

/* --- lines --- */

/* Data that the lines of one axis share. */
typedef struct {
  const QuoitDevice *list;
  const guint32 *indices; /* of the mesh */
  const QuoitDevices *devices;
  guint32 size, stride; /* of the axis */
  const QuoitDevice **line;
} LineWalk;

static gint
by_slice (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  const QuoitDevice *const *x = a, *const *y = b;

  return ((*x)->slice > (*y)->slice) - ((*x)->slice < (*y)->slice);
}

/* Measures the devices of one line, slice by slice, in their order. */
static void
measure_line (const LineWalk *walk, guint32 first, QuoitAxisMeasures *axis)
{
  const QuoitDevice **line = walk->line;
  gboolean is_sorted = TRUE;
  guint32 n_slices = 0;

  for (guint32 i = 0; i < walk->size; i++)
    {
      line[i] = &walk->list[walk->indices[first + i * walk->stride]];
      is_sorted = is_sorted && (i == 0 || line[i - 1]->slice <= line[i]->slice);
    }
  if (!is_sorted)
    g_qsort_with_data (line, (gint) walk->size, sizeof *line, by_slice, NULL);

  for (guint32 begin = 0, end; begin < walk->size; begin = end)
    {
      const QuoitSliceDimensions dimensions = quoit_slice_dimensions (walk->devices, line[begin]->slice);
      QuoitLine part;

      for (end = begin + 1; end < walk->size && line[end]->slice == line[begin]->slice; end++)
        continue;
      quoit_line_measure (&dimensions, line + begin, end - begin, &part);
      quoit_line_keep_worst (&axis->line, &part);
      n_slices++;
    }
  axis->n_slices = MAX (axis->n_slices, n_slices);
}

static void
measure_axes (const QuoitDevices *devices, const QuoitMesh *mesh, QuoitMeshLinks *links)
{
  LineWalk walk = {
    .list = &g_array_index (devices->list, QuoitDevice, 0), .indices = mesh->indices, .devices = devices, .stride = 1
  };

  for (guint l = mesh->n_axes; l-- > 0; walk.stride *= walk.size)
    {
      g_autofree const QuoitDevice **line = g_new (const QuoitDevice *, mesh->sizes[l]);

      walk.line = line;
      walk.size = mesh->sizes[l];
      links->axes[l].size = walk.size;
      for (guint32 first = 0; first < mesh->n_devices && walk.size > 1; first++)
        if (first / walk.stride % walk.size == 0)
          measure_line (&walk, first, &links->axes[l]);
    }
}

/* --- the catalogue --- */

static void
read_bandwidths (const QuoitDeviceKind *kind, QuoitMeshLinks *links)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (kind->generation);

  if (facts == NULL)
    return;
  links->n_chip_links = 2u * facts->dims;
  links->ici_gbytes_per_s = facts->ici_gbytes_per_s;
  links->dcn_gbit_per_s = facts->dcn_gbit_per_s;
}

static void
count_devices_per_chip (const QuoitDevices *devices, QuoitMeshLinks *links)
{
  links->devices_per_chip = 1;
  for (guint32 i = 0; i < devices->list->len; i++)
    links->devices_per_chip
        = MAX (links->devices_per_chip, (guint32) g_array_index (devices->list, QuoitDevice, i).core + 1);
}

QuoitMeshLinks *
quoit_mesh_links_alloc (const QuoitDevices *devices, guint n_axes)
{
  QuoitMeshLinks *links = g_new0 (QuoitMeshLinks, 1);

  links->n_axes = n_axes;
  for (guint axis = 0; axis < n_axes; axis++)
    links->axes[axis].size = 1;
  read_bandwidths (&devices->kind, links);
  count_devices_per_chip (devices, links);
  return links;
}

void
quoit_mesh_links_set_axis (QuoitMeshLinks *links, guint axis, const QuoitAxisMeasures *measures)
{
  links->axes[axis] = *measures;
}

static gboolean
check_same_devices (const QuoitDevices *devices, const QuoitMesh *mesh, GError **error)
{
  for (guint32 i = 0; i < mesh->n_devices; i++)
    if (mesh->indices[i] >= devices->list->len
        || g_array_index (devices->list, QuoitDevice, mesh->indices[i]).id != mesh->ids[i])
      return quoit_fail (
          error, QUOIT_ERROR_INVALID,
          "device '%" G_GINT64_FORMAT
          "' of the mesh is not at its index in the list of devices: expected the list from which the mesh was made",
          mesh->ids[i]);
  return TRUE;
}

QuoitMeshLinks *
quoit_mesh_links_new (const QuoitDevices *devices, const QuoitMesh *mesh, GError **error)
{
  QuoitMeshLinks *links;

  g_return_val_if_fail (devices != NULL && mesh != NULL, NULL);

  if (!check_same_devices (devices, mesh, error))
    return NULL;

  links = quoit_mesh_links_alloc (devices, mesh->n_axes);
  measure_axes (devices, mesh, links);
  return links;
}

void
quoit_mesh_links_free (QuoitMeshLinks *links)
{
  g_free (links);
}

/* --- results --- */

static const QuoitAxisMeasures *
axis_at (const QuoitMeshLinks *links, unsigned axis)
{
  g_return_val_if_fail (links != NULL && axis < links->n_axes, NULL);

  return &links->axes[axis];
}

static QuoitMeshNetwork
axis_network (const QuoitAxisMeasures *axis)
{
  if (axis == NULL || axis->size == 1)
    return QUOIT_MESH_NETWORK_NONE;
  if (axis->n_slices > 1)
    return axis->line.n_devices > 1 ? QUOIT_MESH_NETWORK_ICI_AND_DCN : QUOIT_MESH_NETWORK_DCN;
  return axis->line.n_chips > 1 ? QUOIT_MESH_NETWORK_ICI : QUOIT_MESH_NETWORK_CHIP;
}

QuoitMeshNetwork
quoit_mesh_links_get_network (const QuoitMeshLinks *links, uint32_t axis)
{
  return axis_network (axis_at (links, axis));
}

QuoitMeshForm
quoit_mesh_links_get_form (const QuoitMeshLinks *links, uint32_t axis)
{
  const QuoitAxisMeasures *found = axis_at (links, axis);

  if (found == NULL || found->line.n_devices < 2)
    return QUOIT_MESH_FORM_NONE;
  if (found->line.hops > 1)
    return QUOIT_MESH_FORM_JUMPS;
  return found->line.n_chips > 2 && found->line.hops_back <= 1 ? QUOIT_MESH_FORM_RING : QUOIT_MESH_FORM_LINE;
}

uint32_t
quoit_mesh_links_get_hops (const QuoitMeshLinks *links, uint32_t axis)
{
  const QuoitAxisMeasures *found = axis_at (links, axis);

  return found == NULL ? 0 : found->line.hops;
}

uint32_t
quoit_mesh_links_get_hops_back (const QuoitMeshLinks *links, uint32_t axis)
{
  const QuoitAxisMeasures *found = axis_at (links, axis);

  return found == NULL ? 0 : found->line.hops_back;
}

static char *
format_spans (const QuoitMeshLinks *links, const QuoitSpans *spans)
{
  GString *text = g_string_new (NULL);

  for (guint p = 0; p < G_N_ELEMENTS (spans->n); p++)
    if (spans->n[p] > 1)
      {
        const guint32 side = p == QUOIT_TORUS_CORE ? links->devices_per_chip : (guint32) spans->sides[p];

        g_string_append_printf (text, "%s%s %u", text->len > 0 ? ", " : "", quoit_mesh_axis_name ((guint8) p),
                                spans->n[p]);
        if (side > spans->n[p])
          g_string_append_printf (text, " of %u", side);
      }
  return g_string_free (text, FALSE);
}

char *
quoit_mesh_links_dup_physical (const QuoitMeshLinks *links, uint32_t axis)
{
  const QuoitAxisMeasures *found = axis_at (links, axis);
  const guint32 n = found == NULL ? 0 : found->line.n_spans;
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *text = format_spans (links, &found->line.spans[i]);

      if (*text != '\0' && !g_ptr_array_find_with_equal_func (texts, text, g_str_equal, NULL))
        g_ptr_array_add (texts, g_steal_pointer (&text));
    }
  g_ptr_array_add (texts, NULL);
  return g_strjoinv (" or ", (char **) texts->pdata);
}

/* --- times --- */

/* Rounds up and saturates at the largest int64. */
static int64_t
divide_up (__int128 dividend, __int128 divisor)
{
  __int128 ns = (dividend + divisor - 1) / divisor;

  return ns > G_MAXINT64 ? G_MAXINT64 : (int64_t) ns;
}

/* Within slices, a chip receives the data of the other chips of its line over its links to them. Each link carries
 * half of its bandwidth in one direction. The lines of the other devices of the chip share the links. */
static int64_t
ici_ns (const QuoitMeshLinks *links, const QuoitLine *line, int64_t n_bytes)
{
  __int128 dividend, divisor;

  if (line->n_chips < 2)
    return line->n_devices < 2 ? 0 : -1;
  if (links->ici_gbytes_per_s == 0)
    return -1;
  dividend = (__int128) n_bytes * (line->n_chips - 1) * (links->devices_per_chip * 2 * links->n_chip_links);
  divisor = (__int128) line->n_chips * line->n_per_chip * line->links_e4;
  return divide_up (dividend * QUOIT_LINK_E4, divisor * links->ici_gbytes_per_s);
}

/* Between slices, a device receives its share of the data of the other slices. */
static int64_t
dcn_ns (const QuoitMeshLinks *links, const QuoitAxisMeasures *axis, int64_t n_bytes)
{
  enum { BITS = 8 };

  if (axis->n_slices < 2)
    return 0;
  if (links->dcn_gbit_per_s == 0)
    return -1;
  return divide_up ((__int128) n_bytes * (axis->n_slices - 1) * links->devices_per_chip * BITS,
                    (__int128) axis->n_slices * axis->line.n_devices * links->dcn_gbit_per_s);
}

int64_t
quoit_mesh_links_get_all_gather_ns (const QuoitMeshLinks *links, uint32_t axis, int64_t n_bytes)
{
  const QuoitAxisMeasures *found = axis_at (links, axis);
  int64_t ici, dcn, sum;

  g_return_val_if_fail (found != NULL && n_bytes >= 0, -1);

  if (found->size == 1)
    return 0;
  ici = ici_ns (links, &found->line, n_bytes);
  dcn = dcn_ns (links, found, n_bytes);
  if (ici < 0 || dcn < 0)
    return -1;
  return __builtin_add_overflow (ici, dcn, &sum) ? G_MAXINT64 : sum;
}

int64_t
quoit_mesh_links_get_all_reduce_ns (const QuoitMeshLinks *links, uint32_t axis, int64_t n_bytes)
{
  int64_t once = quoit_mesh_links_get_all_gather_ns (links, axis, n_bytes);

  return once > G_MAXINT64 / 2 ? G_MAXINT64 : once < 0 ? -1 : 2 * once;
}
