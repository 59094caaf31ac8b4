/* SPDX-License-Identifier: Apache-2.0 */
/* Suite "maxtext": what MaxText 0.2.5 answered, asked of the public functions. */
#include "runner.h"

#include <string.h>

#include <quoit/maxtext.h>

static gboolean
read_links (JsonObject *in, QuoitMaxtextLinks *links, GError **error)
{
  const char *kind;

  if (!vector_text (in, "kind", &kind, error))
    return FALSE;
  if (g_strcmp0 (kind, "ICI") != 0 && g_strcmp0 (kind, "DCN") != 0)
    return vector_skip (error, "a kind of parallelism other than ICI and DCN");

  *links = strcmp (kind, "ICI") == 0 ? QUOIT_MAXTEXT_ICI : QUOIT_MAXTEXT_DCN;
  return TRUE;
}

/* NULL with a skip where one is no integer. */
static GArray *
read_sizes (JsonObject *in, GError **error)
{
  JsonNode *node = json_object_get_member (in, "values");
  g_autoptr (GArray) sizes = g_array_new (FALSE, TRUE, sizeof (int64_t));

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return vector_skip (error, "Python only: another type where C takes integers"), NULL;
  for (guint i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
    {
      JsonNode *element = json_array_get_element (json_node_get_array (node), i);
      int64_t size;

      if (!JSON_NODE_HOLDS_VALUE (element) || json_node_get_value_type (element) != G_TYPE_INT64)
        return vector_skip (error, "Python only: another type where C takes integers"), NULL;
      size = json_node_get_int (element);
      g_array_append_val (sizes, size);
    }
  return g_steal_pointer (&sizes);
}

static JsonNode *
fill (JsonNode *in, GError **error)
{
  static const char *const members[] = { "values", "target", "kind", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_autoptr (GArray) sizes = object != NULL ? read_sizes (object, error) : NULL;
  const gint64 *given;
  gint64 target;
  QuoitMaxtextLinks links = QUOIT_MAXTEXT_ICI;
  JsonArray *filled;

  if (sizes == NULL || !vector_integer (object, "target", &target, &given, error)
      || !read_links (object, &links, error))
    return NULL;
  if (given == NULL)
    return vector_skip (error, "no target"), NULL;
  if (!quoit_maxtext_fill (links, (int64_t *) (gpointer) sizes->data, sizes->len, target, error))
    return NULL;

  filled = json_array_new ();
  for (guint i = 0; i < sizes->len; i++)
    json_array_add_int_element (filled, g_array_index (sizes, int64_t, i));
  return json_node_init_array (json_node_alloc (), filled);
}

static void
add_text (JsonArray *array, const char *text)
{
  if (text == NULL)
    json_array_add_null_element (array);
  else
    json_array_add_string_element (array, text);
}

static void
add_axes (JsonArray *array, const QuoitMaxtextAccelerator *accelerator,
          int64_t (*of) (const QuoitMaxtextAccelerator *, unsigned))
{
  JsonArray *axes = json_array_new ();

  for (unsigned axis = 0; axis < 3; axis++)
    json_array_add_int_element (axes, of (accelerator, axis));
  json_array_add_array_element (array, axes);
}

static int64_t
bound_of (const QuoitMaxtextAccelerator *accelerator, unsigned axis)
{
  return quoit_maxtext_accelerator_get_host_bound (accelerator, axis);
}

static int64_t
wraps_of (const QuoitMaxtextAccelerator *accelerator, unsigned axis)
{
  return quoit_maxtext_accelerator_wraps (accelerator, axis);
}

static JsonNode *
accelerator (JsonNode *in, GError **error)
{
  static const char *const members[] = { "name", NULL };
  JsonObject *object = vector_object (in, members, error);
  const QuoitMaxtextAccelerator *found;
  const char *name;
  JsonArray *row;

  if (object == NULL || !vector_text (object, "name", &name, error))
    return NULL;
  if (name == NULL)
    return vector_skip (error, "no name"), NULL;
  found = quoit_maxtext_lookup_accelerator (name, error);
  if (found == NULL)
    return NULL;

  row = json_array_new ();
  add_text (row, quoit_maxtext_accelerator_get_platform (found));
  add_text (row, quoit_maxtext_accelerator_get_topology (found));
  add_text (row, quoit_maxtext_accelerator_get_chip_config (found));
  if (quoit_maxtext_accelerator_get_topology (found) == NULL)
    json_array_add_null_element (row);
  else
    add_axes (row, found, bound_of);
  json_array_add_int_element (row, quoit_maxtext_accelerator_get_n_devices (found));
  if (quoit_maxtext_accelerator_get_topology (found) == NULL)
    json_array_add_null_element (row);
  else
    add_axes (row, found, wraps_of);
  return json_node_init_array (json_node_alloc (), row);
}

static const VectorOp ops[] = {
  { "fill_unspecified_mesh_axes", fill, VECTOR_ANY_ORDER },
  { "maxtext_accelerator", accelerator, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_maxtext = { "maxtext", tables };
