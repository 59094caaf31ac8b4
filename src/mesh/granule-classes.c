/* SPDX-License-Identifier: Apache-2.0 */
/* Measures axes of meshes by the parts of physical axes that they get, or by rings of devices. */
#include "mesh/granule-classes.h"

#include <string.h>

#include "base/strings.h"

/* Granules whose devices have the same coordinates in the same order, in slices with the same sides. */
typedef struct {
  QuoitSliceDimensions dimensions;
  QuoitDeviceSet set; /* the devices of the first of these granules */
  gboolean has_torus; /* the devices form a box without holes */
  QuoitTorus torus;
} GranuleClass;

/* Identifies the lines along an axis if a ring or the list orders the devices of a class. This order is the same for
 * all meshes, and their sizes only divide it. The key is hashed as bytes, so it must have no padding. */
typedef struct {
  guint32 class_index;
  guint32 order; /* QuoitMeshOrder */
  guint32 size, stride;
} LineKey;

typedef struct {
  LineKey key;
  QuoitLine line;
} KnownLine;

struct _QuoitGranuleClasses {
  guint32 granule_size;    /* devices per granule; 0: the granules have different sizes */
  GArray *classes;         /* of GranuleClass */
  GHashTable *known_lines; /* set of KnownLine */

  /* Buffers for the devices of one granule. */
  guint32 *places;
  QuoitDevice *line_devices;
  const QuoitDevice **line;
};

/* --- classes --- */

static QuoitSliceDimensions
set_dimensions (const QuoitDeviceSet *set)
{
  return quoit_slice_dimensions (set->devices, quoit_device_set_at (set, 0)->slice);
}

static guint
set_hash (gconstpointer data)
{
  const QuoitDeviceSet *set = data;
  guint64 hash = set->n;

  for (guint32 i = 0; i < set->n; i++)
    {
      const QuoitDevice *device = quoit_device_set_at (set, i);
      gint32 values[] = { (gint32) hash, device->at[0], device->at[1], device->at[2], device->core };

      hash = quoit_hash_bytes ((const char *) values, sizeof values);
    }
  return (guint) hash;
}

static gboolean
set_equal (gconstpointer a, gconstpointer b)
{
  const QuoitDeviceSet *x = a, *y = b;
  const QuoitSliceDimensions p = set_dimensions (x), q = set_dimensions (y);

  if (x->n != y->n || memcmp (p.sides, q.sides, sizeof p.sides) != 0 || p.wrap != q.wrap)
    return FALSE;
  for (guint32 i = 0; i < x->n; i++)
    {
      const QuoitDevice *first = quoit_device_set_at (x, i), *second = quoit_device_set_at (y, i);

      if (memcmp (first->at, second->at, sizeof first->at) != 0 || first->core != second->core)
        return FALSE;
    }
  return TRUE;
}

static void
add_classes (QuoitGranuleClasses *classes, const QuoitDevices *devices, const QuoitGranules *granules)
{
  g_autofree QuoitDeviceSet *sets = g_new (QuoitDeviceSet, granules->n);
  g_autoptr (GHashTable) known = g_hash_table_new (set_hash, set_equal);

  for (guint32 g = 0, begin = 0; g < granules->n; begin = granules->ends[g++])
    {
      GranuleClass class;

      sets[g] = (QuoitDeviceSet) { devices, granules->members + begin, granules->ends[g] - begin };
      if (sets[g].n != granules->ends[0])
        {
          classes->granule_size = 0;
          return;
        }
      if (!g_hash_table_add (known, &sets[g]))
        continue;
      class = (GranuleClass) { .dimensions = set_dimensions (&sets[g]), .set = sets[g] };
      class.has_torus = quoit_mesh_physical (&class.set, &class.torus, classes->places, NULL);
      g_array_append_val (classes->classes, class);
    }
}

static guint
known_line_hash (gconstpointer line)
{
  return (guint) quoit_hash_bytes (line, sizeof (LineKey));
}

static gboolean
known_line_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (LineKey)) == 0;
}

QuoitGranuleClasses *
quoit_granule_classes_new (const QuoitDevices *devices, const QuoitGranules *granules)
{
  QuoitGranuleClasses *classes = g_new0 (QuoitGranuleClasses, 1);
  guint32 size = granules->ends[0];

  classes->granule_size = size;
  classes->classes = g_array_new (FALSE, FALSE, sizeof (GranuleClass));
  classes->known_lines = g_hash_table_new_full (known_line_hash, known_line_equal, g_free, NULL);
  classes->places = g_new (guint32, size);
  classes->line_devices = g_new0 (QuoitDevice, size);
  classes->line = g_new (const QuoitDevice *, size);
  add_classes (classes, devices, granules);
  return classes;
}

void
quoit_granule_classes_free (QuoitGranuleClasses *classes)
{
  if (classes == NULL)
    return;
  g_array_unref (classes->classes);
  g_hash_table_unref (classes->known_lines);
  g_free (classes->places);
  g_free (classes->line_devices);
  g_free (classes->line);
  g_free (classes);
}

/* --- the lines of one class --- */

/* All lines along an axis of a torus are one line, shifted. They have the same measures, because these only depend on
 * differences of coordinates. */
static void
measure_torus_line (QuoitGranuleClasses *classes, const GranuleClass *class, const QuoitTorusShares *shares, guint axis,
                    guint32 size, QuoitLine *line)
{
  const QuoitTorus *torus = &class->torus;

  quoit_torus_line (torus, shares, axis, classes->places);
  for (guint32 i = 0; i < size; i++)
    {
      QuoitDevice *device = &classes->line_devices[i];

      for (guint p = 0; p < torus->n_axes; p++)
        if (torus->axes[p] != QUOIT_TORUS_CORE)
          device->at[torus->axes[p]] = (gint32) (classes->places[i] / torus->strides[p] % torus->sizes[p]);
      classes->line[i] = device;
    }
  quoit_line_measure (&class->dimensions, classes->line, size, line);
}

/* Measures all lines along an axis, whose devices are @stride apart in @places, the order of the devices of @class. */
static void
measure_placed_lines (QuoitGranuleClasses *classes, const GranuleClass *class, const guint32 *places, guint32 size,
                      guint32 stride, QuoitLine *worst)
{
  *worst = (QuoitLine) { 0 };
  for (guint32 first = 0; first < class->set.n; first++)
    if (first / stride % size == 0)
      {
        QuoitLine line;

        for (guint32 i = 0; i < size; i++)
          classes->line[i] = quoit_device_set_at (&class->set, places[first + i * stride]);
        quoit_line_measure (&class->dimensions, classes->line, size, &line);
        quoit_line_keep_worst (worst, &line);
      }
}

static const QuoitLine *
find_or_measure_placed_lines (QuoitGranuleClasses *classes, const LineKey *key)
{
  KnownLine *known = g_hash_table_lookup (classes->known_lines, key);

  if (known == NULL)
    {
      known = g_new (KnownLine, 1);
      known->key = *key;
      measure_placed_lines (classes, &g_array_index (classes->classes, GranuleClass, key->class_index), classes->places,
                            key->size, key->stride, &known->line);
      g_hash_table_add (classes->known_lines, known);
    }
  return &known->line;
}

/* Adds the lines of a class whose devices are in @order, as @classes->places. */
static void
add_placed_lines (QuoitGranuleClasses *classes, guint32 class_index, QuoitMeshOrder order, const gint64 *sizes, guint n,
                  QuoitLine *lines)
{
  guint32 stride = 1;

  for (guint l = n; l-- > 0; stride *= (guint32) sizes[l])
    {
      /* All strides are the same for lines of one device. */
      LineKey key = { class_index, order, (guint32) sizes[l], sizes[l] == 1 ? 1 : stride };

      quoit_line_keep_worst (&lines[l], find_or_measure_placed_lines (classes, &key));
    }
}

static void
add_torus_lines (QuoitGranuleClasses *classes, const GranuleClass *class, const QuoitTorusShares *shares,
                 const gint64 *sizes, guint n, QuoitLine *lines)
{
  for (guint l = 0; l < n; l++)
    {
      QuoitLine line;

      measure_torus_line (classes, class, shares, l, (guint32) sizes[l], &line);
      quoit_line_keep_worst (&lines[l], &line);
    }
}

gboolean
quoit_granule_classes_measure (QuoitGranuleClasses *classes, const gint64 *sizes, guint n, unsigned flags,
                               QuoitLine *lines)
{
  QuoitMeshPart part = { 0 }, added = { 0 }; /* added: the last part that was measured, of the class @added_to */
  const GranuleClass *added_to = NULL;

  if (quoit_mesh_sizes_product (sizes, n) != classes->granule_size)
    return FALSE;
  memset (lines, 0, n * sizeof *lines);
  for (guint32 c = 0; c < classes->classes->len; c++)
    {
      const GranuleClass *class = &g_array_index (classes->classes, GranuleClass, c);
      QuoitMeshOrder order;

      if (!quoit_mesh_order_ring (&class->set, sizes, n, classes->places, &order, NULL))
        return FALSE;
      if (order != QUOIT_MESH_ORDER_TORUS)
        {
          add_placed_lines (classes, c, order, sizes, n, lines);
          continue;
        }
      if (!class->has_torus || !quoit_mesh_assign_axes (&class->torus, sizes, n, flags, &part, NULL))
        return FALSE;
      if (added_to != NULL && memcmp (&part, &added, sizeof part) == 0
          && memcmp (class->dimensions.sides, added_to->dimensions.sides, sizeof class->dimensions.sides) == 0
          && class->dimensions.wrap == added_to->dimensions.wrap)
        continue;
      add_torus_lines (classes, class, &part.shares, sizes, n, lines);
      added = part;
      added_to = class;
    }
  return TRUE;
}
