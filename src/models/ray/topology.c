/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the number of chips, the chips per host and the pod type of a topology, and knows Ray's list of valid
 * topologies. */
#include "models/ray/ray.h"

#include <string.h>

#include "base/python.h"

enum { CHIPS_PER_HOST = 4, CHIPS_PER_BIG_HOST = 8 };

/* Returns the numbers of @text, which 'x' separates, as an array of QuoitBig, or NULL on failure. The message quotes
 * @topology. */
static GPtrArray *
parse_sides (const char *text, const char *topology, GError **error)
{
  g_autoptr (GPtrArray) numbers = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_big_free);
  const char *begin, *end;

  for (begin = text, end = NULL; end == NULL || *end != '\0'; begin = end + 1)
    {
      g_autofree char *part = NULL;
      QuoitBig *number;

      for (end = begin; *end != '\0' && *end != 'x';)
        end++;
      part = g_strndup (begin, (gsize) (end - begin));
      number = quoit_python_int (part, "number", error);
      if (number == NULL)
        {
          g_autofree char *quoted = quoit_quote (topology);

          return g_prefix_error (error, "topology %s: place %u: ", quoted, numbers->len + 1), NULL;
        }
      g_ptr_array_add (numbers, number);
    }
  return g_steal_pointer (&numbers);
}

GPtrArray *
quoit_ray_parse_sides (const char *topology, GError **error)
{
  g_autofree char *text = NULL;

  if (!quoit_ray_require_text (topology, "topology", error))
    return NULL;

  text = quoit_python_strip_and_lower (topology);
  return parse_sides (text, topology, error);
}

/* Returns the product of @numbers, or NULL on failure. If @numbers is NULL, returns NULL and sets no error, because the
 * caller has one already. */
static QuoitBig *
product (const GPtrArray *numbers, GError **error)
{
  g_autoptr (QuoitBig) chips = NULL;

  if (numbers == NULL)
    return NULL;

  for (unsigned i = 0; i < numbers->len; i++)
    if (quoit_big_sign (numbers->pdata[i]) == 0)
      return quoit_big_from_int (0);

  chips = quoit_big_from_int (1);
  for (unsigned i = 0; i < numbers->len; i++)
    {
      g_autoptr (QuoitBig) before = g_steal_pointer (&chips);

      chips = quoit_big_multiply (before, numbers->pdata[i]);
      /* Python cannot print larger numbers. Without the limit, a very long topology would take minutes. */
      if (quoit_big_n_digits (chips) > QUOIT_BIG_MAX_DIGITS)
        return quoit_fail_null (error, QUOIT_ERROR_INVALID, "topology: expected at most 10^4300 chips");
    }
  return g_steal_pointer (&chips);
}

QuoitBig *
quoit_ray_topology_chips (const char *topology, GError **error)
{
  g_autoptr (GPtrArray) numbers = quoit_ray_parse_sides (topology, error);

  return product (numbers, error);
}

QuoitBig *
quoit_ray_topology_chips_verbatim (const char *topology, GError **error)
{
  g_autoptr (GPtrArray) numbers = parse_sides (topology, topology, error);

  return product (numbers, error);
}

bool
quoit_ray_chips_from_topology (const char *topology, int64_t *n_chips, GError **error)
{
  g_autoptr (QuoitBig) chips = quoit_ray_topology_chips (topology, error);
  g_autofree char *quoted = NULL;

  if (chips == NULL)
    return FALSE;
  if (quoit_big_to_int (chips, n_chips))
    return TRUE;

  quoted = quoit_quote (topology);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "topology %s: expected a number of chips that fits in 64 bits",
                     quoted);
}

bool
quoit_ray_chips_per_host (const char *topology, const char *version, int64_t *n_chips, GError **error)
{
  g_autoptr (GPtrArray) numbers = quoit_ray_parse_sides (topology, error);
  g_autofree char *text = NULL;

  if (numbers == NULL || !quoit_ray_require_text (version, "accelerator version", error))
    return FALSE;

  text = quoit_python_strip_and_lower (topology);
  if (quoit_ray_has_big_hosts (version)
      && (strcmp (text, "1x1") == 0 || strcmp (text, "2x2") == 0 || strcmp (text, "2x4") == 0))
    return quoit_ray_chips_from_topology (topology, n_chips, error);

  *n_chips = CHIPS_PER_HOST;
  return TRUE;
}

bool
quoit_ray_default_chips_per_vm (const char *topology, const char *version, int64_t *n_chips, GError **error)
{
  g_autoptr (QuoitBig) chips = NULL;
  int64_t n;

  if (!quoit_ray_require_text (version, "accelerator version", error))
    return FALSE;
  if (!quoit_ray_has_big_hosts (version))
    return *n_chips = CHIPS_PER_HOST, TRUE;

  chips = quoit_ray_topology_chips (topology, error);
  if (chips == NULL)
    return FALSE;
  if (quoit_big_to_int (chips, &n))
    *n_chips = n <= CHIPS_PER_BIG_HOST ? n : CHIPS_PER_HOST;
  else if (quoit_big_sign (chips) > 0)
    *n_chips = CHIPS_PER_HOST;
  else
    return quoit_ray_chips_from_topology (topology, n_chips, error);

  return TRUE;
}

/* Adds both texts to the message, because either may be wrong. Returns NULL. */
static void *
prefix_both_texts (const char *topology, const char *accelerator_type, GError **error)
{
  g_autofree char *quoted = quoit_quote (topology), *type = quoit_quote (accelerator_type);

  g_prefix_error (error, "pod type of topology %s and type %s: ", quoted, type);
  return NULL;
}

char *
quoit_ray_pod_type_of_chips (const char *generation, const QuoitBig *chips, GError **error)
{
  g_autoptr (QuoitBig) factor = NULL, cores = NULL;
  g_autofree char *number = NULL;
  int64_t cores_per_chip;

  if (!quoit_ray_cores_per_chip (generation, &cores_per_chip, error))
    return NULL;

  factor = quoit_big_from_int (cores_per_chip);
  cores = quoit_big_multiply (chips, factor);
  if (quoit_big_n_digits (cores) > QUOIT_BIG_MAX_DIGITS)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "topology: expected at most 10^4300 cores");

  number = quoit_big_format (cores);
  return g_strdup_printf ("%s-%s", generation, number);
}

char *
quoit_ray_pod_type (const char *topology, const char *accelerator_type, GError **error)
{
  g_autoptr (QuoitBig) chips = NULL;
  g_autofree char *lower = NULL, *generation = NULL;
  char *pod_type;

  if (topology == NULL || *topology == '\0' || accelerator_type == NULL || *accelerator_type == '\0')
    return NULL;

  chips = quoit_ray_topology_chips (topology, error);
  if (chips == NULL)
    return prefix_both_texts (topology, accelerator_type, error);

  lower = quoit_python_lower (accelerator_type);
  generation = quoit_python_replace (lower, "tpu-", "");
  pod_type = quoit_ray_pod_type_of_chips (generation, chips, error);
  return pod_type != NULL ? pod_type : prefix_both_texts (topology, accelerator_type, error);
}

static int
compare_shapes (gconstpointer a, gconstpointer b)
{
  const QuoitShape *x = a, *y = b;

  for (unsigned axis = 0; axis < 3; axis++)
    if (x->dims[axis] != y->dims[axis])
      return x->dims[axis] < y->dims[axis] ? -1 : 1;

  return 0;
}

static GArray *
list_ray_shapes (QuoitGeneration generation)
{
  GArray *shapes = g_array_new (FALSE, FALSE, sizeof (QuoitShape));
  unsigned n;
  const QuoitTopologyRow *rows = quoit_topology_rows (generation, &n);

  for (unsigned i = 0; i < n; i++)
    if ((rows[i].accepted_by & QUOIT_ACCEPTED_BY_RAY) != 0)
      g_array_append_val (shapes, rows[i].shape);
  g_array_sort (shapes, compare_shapes);
  for (unsigned i = shapes->len; i-- > 1;)
    if (quoit_shape_equal (g_array_index (shapes, QuoitShape, i), g_array_index (shapes, QuoitShape, i - 1)))
      g_array_remove_index (shapes, i);

  return shapes;
}

char *
quoit_ray_dup_valid_topology (const char *version, uint32_t index)
{
  const QuoitGenerationFacts *facts = quoit_ray_generation (version);
  g_autoptr (GArray) shapes = facts != NULL ? list_ray_shapes (facts->generation) : NULL;

  if (shapes == NULL || index >= shapes->len)
    return NULL;

  return quoit_shape_format (g_array_index (shapes, QuoitShape, index));
}

bool
quoit_ray_topology_is_valid (const char *version, const char *topology)
{
  g_autofree char *normal_version = quoit_ray_normalize_type (version);
  g_autofree char *text = topology != NULL ? quoit_python_strip_and_lower (topology) : NULL;
  const QuoitGenerationFacts *facts;
  const QuoitTopologyRow *rows;
  QuoitShape shape;
  unsigned n;

  /* Ray ignores everything after the first dash. */
  normal_version[strcspn (normal_version, "-")] = '\0';
  facts = quoit_ray_generation (normal_version);
  /* Ray compares texts, and this function compares shapes. The results are equal, because quoit_shape_parse() accepts
   * only one text for each shape, and Ray lists the same text. */
  if (facts == NULL || text == NULL || !quoit_shape_parse (text, &shape, NULL))
    return FALSE;

  rows = quoit_topology_rows (facts->generation, &n);
  for (unsigned i = 0; i < n; i++)
    if ((rows[i].accepted_by & QUOIT_ACCEPTED_BY_RAY) != 0 && quoit_shape_equal (rows[i].shape, shape))
      return TRUE;

  return FALSE;
}
