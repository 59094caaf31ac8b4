/* SPDX-License-Identifier: Apache-2.0 */
/* The networks that the axes of a mesh use, and lower bounds for the time of collectives along them. */
#include <quoit/models/mesh-links.h>

#include <string.h>

#include "mesh/lines.h"

/* The worst line along one axis. */
typedef struct {
  guint32 size, n_slices;
  QuoitLine line; /* the part within one slice */
} Axis;

struct _QuoitMeshLinks {
  guint n_axes;
  guint32 sides[4];                         /* of the slice, and cores per chip; 0: unknown */
  guint32 per_chip;                         /* devices per chip */
  guint32 n_chip_links;                     /* links per chip: two per axis */
  guint32 ici_gbytes_per_s, dcn_gbit_per_s; /* per chip: all links, both directions; DCN: one; 0: unpublished */
  Axis axes[QUOIT_MESH_MOST_AXES];
};

/* --- lines --- */

/* State shared by all lines of one axis. */
typedef struct {
  const QuoitDevice *list;
  const guint32 *indices; /* of the mesh */
  QuoitLinkSpace space;
  guint32 size, stride; /* of the axis */
  const QuoitDevice **line;
} Walk;

static gint
by_slice (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  const QuoitDevice *const *x = a, *const *y = b;

  return ((*x)->slice > (*y)->slice) - ((*x)->slice < (*y)->slice);
}

/* Measures the devices of one line, slice by slice, in their order. */
static void
follow (const Walk *walk, guint32 first, Axis *axis)
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
      QuoitLine part;

      for (end = begin + 1; end < walk->size && line[end]->slice == line[begin]->slice; end++)
        continue;
      quoit_line_measure (&walk->space, line + begin, end - begin, &part);
      quoit_line_add (&axis->line, &part);
      n_slices++;
    }
  axis->n_slices = MAX (axis->n_slices, n_slices);
}

static void
follow_axes (const QuoitDevices *devices, const QuoitMesh *mesh, QuoitMeshLinks *links)
{
  Walk walk = { .list = &g_array_index (devices->list, QuoitDevice, 0),
                .indices = mesh->indices,
                .space = quoit_link_space_of (devices),
                .stride = 1 };

  for (guint l = mesh->n_axes; l-- > 0; walk.stride *= walk.size)
    {
      g_autofree const QuoitDevice **line = g_new (const QuoitDevice *, mesh->sizes[l]);

      walk.line = line;
      walk.size = mesh->sizes[l];
      links->axes[l].size = walk.size;
      for (guint32 first = 0; first < mesh->n_devices && walk.size > 1; first++)
        if (first / walk.stride % walk.size == 0)
          follow (&walk, first, &links->axes[l]);
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
read_sides (const QuoitDevices *devices, QuoitMeshLinks *links)
{
  QuoitLinkSpace space = quoit_link_space_of (devices);

  for (guint axis = 0; axis < 3; axis++)
    links->sides[axis] = (guint32) space.sides[axis];
  links->per_chip = 1;
  for (guint32 i = 0; i < devices->list->len; i++)
    links->per_chip = MAX (links->per_chip, (guint32) g_array_index (devices->list, QuoitDevice, i).core + 1);
  links->sides[QUOIT_TORUS_CORE] = links->per_chip;
}

static gboolean
check_made_of (const QuoitDevices *devices, const QuoitMesh *mesh, GError **error)
{
  for (guint32 i = 0; i < mesh->n_devices; i++)
    if (mesh->indices[i] >= devices->list->len
        || g_array_index (devices->list, QuoitDevice, mesh->indices[i]).id != mesh->ids[i])
      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "device '%" G_GINT64_FORMAT "' of the mesh: expected the list of devices that it was made of",
                         mesh->ids[i]);
  return TRUE;
}

QuoitMeshLinks *
quoit_mesh_links_new (const QuoitDevices *devices, const QuoitMesh *mesh, GError **error)
{
  QuoitMeshLinks *links;

  g_return_val_if_fail (devices != NULL && mesh != NULL, NULL);

  if (!check_made_of (devices, mesh, error))
    return NULL;

  links = g_new0 (QuoitMeshLinks, 1);
  links->n_axes = mesh->n_axes;
  read_bandwidths (&devices->kind, links);
  read_sides (devices, links);
  follow_axes (devices, mesh, links);
  return links;
}

void
quoit_mesh_links_free (QuoitMeshLinks *links)
{
  g_free (links);
}

/* --- results --- */

static const Axis *
axis_of (const QuoitMeshLinks *links, unsigned axis)
{
  g_return_val_if_fail (links != NULL && axis < links->n_axes, NULL);

  return &links->axes[axis];
}

static QuoitMeshNetwork
network_of (const Axis *axis)
{
  if (axis == NULL || axis->size == 1)
    return QUOIT_MESH_NETWORK_NONE;
  if (axis->n_slices > 1)
    return axis->line.n_devices > 1 ? QUOIT_MESH_NETWORK_ICI_AND_DCN : QUOIT_MESH_NETWORK_DCN;
  return axis->line.n_chips > 1 ? QUOIT_MESH_NETWORK_ICI : QUOIT_MESH_NETWORK_CHIP;
}

QuoitMeshNetwork
quoit_mesh_links_get_network (const QuoitMeshLinks *links, unsigned axis)
{
  return network_of (axis_of (links, axis));
}

QuoitMeshForm
quoit_mesh_links_get_form (const QuoitMeshLinks *links, unsigned axis)
{
  const Axis *found = axis_of (links, axis);

  if (found == NULL || found->line.n_devices < 2)
    return QUOIT_MESH_FORM_NONE;
  if (found->line.hops > 1)
    return QUOIT_MESH_FORM_JUMPS;
  return found->line.n_chips > 2 && found->line.hops_back <= 1 ? QUOIT_MESH_FORM_RING : QUOIT_MESH_FORM_LINE;
}

uint32_t
quoit_mesh_links_get_hops (const QuoitMeshLinks *links, unsigned axis)
{
  const Axis *found = axis_of (links, axis);

  return found == NULL ? 0 : found->line.hops;
}

uint32_t
quoit_mesh_links_get_hops_back (const QuoitMeshLinks *links, unsigned axis)
{
  const Axis *found = axis_of (links, axis);

  return found == NULL ? 0 : found->line.hops_back;
}

char *
quoit_mesh_links_dup_physical (const QuoitMeshLinks *links, unsigned axis)
{
  const Axis *found = axis_of (links, axis);
  GString *text = g_string_new (NULL);

  for (guint8 p = 0; found != NULL && p < G_N_ELEMENTS (found->line.spans); p++)
    if (found->line.spans[p] > 1)
      {
        g_string_append_printf (text, "%s%s %u", text->len > 0 ? ", " : "", quoit_mesh_axis_name (p),
                                found->line.spans[p]);
        if (links->sides[p] > found->line.spans[p])
          g_string_append_printf (text, " of %u", links->sides[p]);
      }
  return g_string_free (text, FALSE);
}

/* --- times --- */

/* Rounds up and saturates at the largest int64. */
static int64_t
quotient (__int128 dividend, __int128 divisor)
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
  dividend = (__int128) n_bytes * (line->n_chips - 1) * (links->per_chip * 2 * links->n_chip_links);
  divisor = (__int128) line->n_chips * line->n_per_chip * line->links_e4;
  return quotient (dividend * QUOIT_LINK_E4, divisor * links->ici_gbytes_per_s);
}

/* Between slices, a device receives its share of the data of the other slices. */
static int64_t
dcn_ns (const QuoitMeshLinks *links, const Axis *axis, int64_t n_bytes)
{
  enum { BITS = 8 };

  if (axis->n_slices < 2)
    return 0;
  if (links->dcn_gbit_per_s == 0)
    return -1;
  return quotient ((__int128) n_bytes * (axis->n_slices - 1) * links->per_chip * BITS,
                   (__int128) axis->n_slices * axis->line.n_devices * links->dcn_gbit_per_s);
}

int64_t
quoit_mesh_links_get_all_gather_ns (const QuoitMeshLinks *links, unsigned axis, int64_t n_bytes)
{
  const Axis *found = axis_of (links, axis);
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
quoit_mesh_links_get_all_reduce_ns (const QuoitMeshLinks *links, unsigned axis, int64_t n_bytes)
{
  int64_t once = quoit_mesh_links_get_all_gather_ns (links, axis, n_bytes);

  return once > G_MAXINT64 / 2 ? G_MAXINT64 : once < 0 ? -1 : 2 * once;
}
