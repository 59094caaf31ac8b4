/* SPDX-License-Identifier: Apache-2.0 */
/* MaxText's table of accelerators: the rows of the catalogue that MaxText lists, under MaxText's names. */
#include <string.h>

#include "base/text.h"
#include "models/maxtext/maxtext.h"

struct _QuoitMaxtextAccelerator {
  char *name, *topology;   /* "v5p-8", "v5:2x2x1"; topology is NULL for accelerators other than TPUs */
  const char *chip_config; /* NULL for accelerators other than TPUs */
  QuoitGeneration generation;
  QuoitShape shape;
  uint32_t n_devices;
  unsigned wrap; /* axes whose ends are connected; bit 0 for x */
};

typedef struct {
  QuoitMaxtextAccelerator *rows;
  unsigned n_rows;
} Table;

/* Returns libtpu's name of the generation, which MaxText puts before the colon. */
static const char *
topology_prefix (const QuoitGenerationFacts *facts)
{
  return facts->maxtext_prefix != NULL ? facts->maxtext_prefix : facts->id;
}

static QuoitMaxtextAccelerator
accelerator_from_row (const QuoitTopologyRow *row)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (row->generation);
  g_autofree char *shape = quoit_shape_format (row->shape);
  guint64 cores = (guint64) quoit_shape_chips (row->shape) * facts->cores_per_chip;

  return (QuoitMaxtextAccelerator) {
    .name = g_strdup_printf ("%s-%" G_GUINT64_FORMAT, facts->id, cores),
    .topology = g_strdup_printf ("%s:%s", topology_prefix (facts), shape),
    .chip_config = facts->cores_per_chip > facts->devices_per_chip ? "megacore" : "default",
    .generation = row->generation,
    .shape = row->shape,
    .n_devices = quoit_shape_devices (row->generation, row->shape),
    .wrap = quoit_shape_wrap (row->generation, row->shape),
  };
}

/* Returns whether @rows already has the generation and the shape of @row. The catalogue has a row for each host type of
 * a shape, but MaxText has one row per shape. */
static gboolean
has_shape (const GArray *rows, const QuoitTopologyRow *row)
{
  for (guint i = rows->len; i-- > 0;)
    {
      const QuoitMaxtextAccelerator *at = &g_array_index (rows, QuoitMaxtextAccelerator, i);

      if (at->generation == row->generation && quoit_shape_equal (at->shape, row->shape))
        return TRUE;
    }
  return FALSE;
}

static void
add_generation (GArray *rows, QuoitGeneration generation)
{
  unsigned n;
  const QuoitTopologyRow *listed = quoit_topology_rows (generation, &n);

  for (unsigned i = 0; i < n; i++)
    if ((listed[i].accepted_by & QUOIT_ACCEPTED_BY_MAXTEXT) != 0 && !has_shape (rows, &listed[i]))
      {
        QuoitMaxtextAccelerator row = accelerator_from_row (&listed[i]);

        g_array_append_val (rows, row);
      }
}

static void
build_table (Table *table)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (QuoitMaxtextAccelerator));
  QuoitMaxtextAccelerator gpus = { .name = g_strdup ("a3"), .n_devices = 8 };

  for (int generation = QUOIT_GENERATION_NONE + 1; generation < QUOIT_N_GENERATIONS; generation++)
    add_generation (rows, (QuoitGeneration) generation);
  g_array_append_val (rows, gpus);
  table->n_rows = rows->len;
  table->rows = (QuoitMaxtextAccelerator *) (void *) g_array_free (rows, FALSE);
}

static const Table *
get_table (void)
{
  static Table table;
  static gsize is_built;

  if (g_once_init_enter (&is_built))
    {
      build_table (&table);
      g_once_init_leave (&is_built, 1);
    }
  return &table;
}

const QuoitMaxtextAccelerator *
quoit_maxtext_get_accelerator (uint32_t index)
{
  const Table *table = get_table ();

  return index < table->n_rows ? &table->rows[index] : NULL;
}

const QuoitMaxtextAccelerator *
quoit_maxtext_find_accelerator (QuoitGeneration generation, QuoitShape shape)
{
  const Table *table = get_table ();

  for (unsigned i = 0; i < table->n_rows; i++)
    if (table->rows[i].topology != NULL && table->rows[i].generation == generation
        && quoit_shape_equal (table->rows[i].shape, shape))
      return &table->rows[i];

  return NULL;
}

gboolean
quoit_maxtext_accelerator_shape (const QuoitMaxtextAccelerator *accelerator, QuoitGeneration *generation,
                                 QuoitShape *shape)
{
  if (accelerator->topology == NULL)
    return FALSE;

  *generation = accelerator->generation;
  *shape = accelerator->shape;
  return TRUE;
}

/* Compares a name with a listed one: by the number of cores if both have the same generation, otherwise by their
 * spelling. A spelling distance is always greater than a difference of cores. */
static guint64
distance (const char *name, const char *listed)
{
  const char *dash = strrchr (listed, '-');
  gsize length = dash == NULL ? 0 : (gsize) (dash - listed) + 1;
  guint64 cores, name_cores;

  if (length == 0 || g_ascii_strncasecmp (name, listed, length) != 0 || !g_ascii_isdigit (name[length]))
    return G_MAXUINT64 - G_MAXUINT + quoit_text_distance (name, listed);

  cores = g_ascii_strtoull (dash + 1, NULL, 10);
  name_cores = MIN (g_ascii_strtoull (name + length, NULL, 10), G_MAXUINT32);
  return MAX (cores, name_cores) - MIN (cores, name_cores);
}

const char *
quoit_maxtext_nearest_accelerator (const char *name)
{
  const Table *table = get_table ();
  unsigned best = 0;

  for (unsigned i = 1; i < table->n_rows; i++)
    if (distance (name, table->rows[i].name) < distance (name, table->rows[best].name))
      best = i;
  return table->rows[best].name;
}

const QuoitMaxtextAccelerator *
quoit_maxtext_lookup_accelerator (const char *name, GError **error)
{
  const Table *table = get_table ();
  g_autofree char *quoted = NULL;

  g_return_val_if_fail (name != NULL, NULL);

  for (unsigned i = 0; i < table->n_rows; i++)
    if (strcmp (table->rows[i].name, name) == 0)
      return &table->rows[i];

  quoted = quoit_quote (name);
  return quoit_fail_null (error, QUOIT_ERROR_INVALID, "accelerator %s: expected one that MaxText lists, such as '%s'",
                          quoted, quoit_maxtext_nearest_accelerator (name));
}

const char *
quoit_maxtext_accelerator_get_name (const QuoitMaxtextAccelerator *accelerator)
{
  g_return_val_if_fail (accelerator != NULL, NULL);

  return accelerator->name;
}

const char *
quoit_maxtext_accelerator_get_platform (const QuoitMaxtextAccelerator *accelerator)
{
  g_return_val_if_fail (accelerator != NULL, NULL);

  return accelerator->topology == NULL ? "gpu" : "tpu";
}

const char *
quoit_maxtext_accelerator_get_topology (const QuoitMaxtextAccelerator *accelerator)
{
  g_return_val_if_fail (accelerator != NULL, NULL);

  return accelerator->topology;
}

const char *
quoit_maxtext_accelerator_get_chip_config (const QuoitMaxtextAccelerator *accelerator)
{
  g_return_val_if_fail (accelerator != NULL, NULL);

  return accelerator->chip_config;
}

uint32_t
quoit_maxtext_accelerator_get_n_devices (const QuoitMaxtextAccelerator *accelerator)
{
  g_return_val_if_fail (accelerator != NULL, 0);

  return accelerator->n_devices;
}

/* MaxText supports hosts of 2x2 chips and single chips, but not hosts of 8 chips. */
uint32_t
quoit_maxtext_accelerator_get_host_bound (const QuoitMaxtextAccelerator *accelerator, uint32_t axis)
{
  g_return_val_if_fail (accelerator != NULL && axis < 3, 0);

  if (accelerator->topology == NULL)
    return 0;
  return axis < 2 && quoit_shape_chips (accelerator->shape) > 1 ? 2 : 1;
}

bool
quoit_maxtext_accelerator_wraps (const QuoitMaxtextAccelerator *accelerator, uint32_t axis)
{
  g_return_val_if_fail (accelerator != NULL && axis < 3, 0);

  return (accelerator->wrap >> axis & 1) != 0;
}
