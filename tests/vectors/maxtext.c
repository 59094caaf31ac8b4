/* SPDX-License-Identifier: Apache-2.0 */
/* Suite "maxtext": recorded answers of MaxText 0.2.5. */
#include "mesh.h"

#include <string.h>

#include <quoit/models/maxtext.h>

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

/* NULL with a skip if an element is not an integer. */
static GArray *
read_sizes (JsonObject *in, const char *member, GError **error)
{
  JsonNode *node = json_object_get_member (in, member);
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
  g_autoptr (GArray) sizes = object != NULL ? read_sizes (object, "values", error) : NULL;
  const gint64 *given;
  gint64 target;
  QuoitMaxtextLinks links = QUOIT_MAXTEXT_ICI;
  g_autoptr (JsonArray) filled = NULL;

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
  g_autoptr (JsonArray) row = NULL;

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

/* --- meshes --- */

typedef struct {
  GArray *ici, *dcn;
  gint64 n_slices;
  const char *custom_mesh, *box; /* NULL: none */
  unsigned flags;
} MeshArguments;

static void
mesh_arguments_clear (MeshArguments *arguments)
{
  g_clear_pointer (&arguments->ici, g_array_unref);
  g_clear_pointer (&arguments->dcn, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (MeshArguments, mesh_arguments_clear)

static gboolean
read_options (JsonObject *in, MeshArguments *arguments, GError **error)
{
  static const char *const members[] = { "allow_split_physical_axes", "custom_mesh",    "enable_single_controller",
                                         "optimize_mesh_for_tpu_v6e", "subslice_shape", NULL };
  JsonNode *node = json_object_get_member (in, "opts");
  JsonObject *options;

  if (node == NULL || JSON_NODE_HOLDS_NULL (node))
    return TRUE;
  options = vector_object (node, members, error);
  if (options == NULL || !vector_text (options, "custom_mesh", &arguments->custom_mesh, error)
      || !vector_text (options, "subslice_shape", &arguments->box, error))
    return FALSE;

  if (json_object_get_boolean_member_with_default (options, "allow_split_physical_axes", FALSE))
    arguments->flags |= QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES;
  if (json_object_get_boolean_member_with_default (options, "optimize_mesh_for_tpu_v6e", FALSE))
    arguments->flags |= QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E;
  if (arguments->n_slices != 1
      || !json_object_get_boolean_member_with_default (options, "enable_single_controller", FALSE))
    arguments->box = NULL;
  return TRUE;
}

static gboolean
read_mesh_arguments (JsonObject *in, MeshArguments *arguments, GError **error)
{
  const gint64 *given;

  arguments->ici = read_sizes (in, "ici", error);
  arguments->dcn = arguments->ici == NULL ? NULL : read_sizes (in, "dcn", error);
  if (arguments->dcn == NULL || !vector_integer (in, "slices", &arguments->n_slices, &given, error))
    return FALSE;
  if (given == NULL || arguments->dcn->len != arguments->ici->len)
    return vector_skip (error, "axes of another form");
  return read_options (in, arguments, error);
}

/* "2,2,1" */
static QuoitDevices *
box_of (const QuoitDevices *devices, const char *text, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  g_autofree int64_t *sides = g_new0 (int64_t, g_strv_length (words) + 1);
  unsigned n = 0;

  for (; words[n] != NULL; n++)
    {
      gint64 side;

      if (!g_ascii_string_to_signed (words[n], 10, G_MININT64, G_MAXINT64, &side, NULL))
        return vector_skip (error, "a subslice_shape that is no numbers"), NULL;
      sides[n] = side;
    }
  return quoit_maxtext_devices_new_box (devices, sides, n, error);
}

static QuoitDevices *
devices_of (JsonObject *in, const MeshArguments *arguments, GError **error)
{
  const char *kind, *topology;
  g_autoptr (QuoitDevices) devices = NULL;

  if (!vector_text (in, "k", &kind, error) || !vector_text (in, "t", &topology, error))
    return NULL;
  if (kind == NULL || topology == NULL || arguments->n_slices < 1 || arguments->n_slices > 1000)
    return vector_skip (error, "devices of another form"), NULL;

  devices = quoit_devices_new_slices (kind, topology, (uint32_t) arguments->n_slices, 0, 0, error);
  return devices == NULL || arguments->box == NULL ? g_steal_pointer (&devices)
                                                   : box_of (devices, arguments->box, error);
}

/* Rows record a long mesh by its first ids and by the hash of all ids joined with commas. */
static gboolean
is_as_recorded (JsonObject *in, const QuoitMesh *mesh)
{
  g_autoptr (JsonArray) first = vector_ids_of_mesh (mesh, 16);
  g_autoptr (JsonNode) got = json_node_init_array (json_node_alloc (), first);
  g_autoptr (GString) ids = g_string_new (NULL);
  g_autofree char *hash = NULL;

  for (uint32_t i = 0; i < quoit_mesh_get_n_devices (mesh); i++)
    g_string_append_printf (ids, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", (gint64) quoit_mesh_get_ids (mesh)[i]);
  hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, ids->str, -1);
  return json_node_equal (got, json_object_get_member (in, "first16"))
         && g_str_has_prefix (hash, json_object_get_string_member (in, "sha256_16"));
}

/* Takes @mesh. */
static JsonNode *
answer_of (JsonObject *in, QuoitMesh *mesh)
{
  g_autoptr (JsonObject) answer = json_object_new ();
  gboolean is_long = json_object_has_member (in, "sha256_16");

  json_object_set_array_member (answer, "shape", vector_shape_of_mesh (mesh));
  if (is_long && is_as_recorded (in, mesh))
    json_object_set_null_member (answer, "ids");
  else
    json_object_set_array_member (answer, "ids", vector_ids_of_mesh (mesh, is_long ? 16 : G_MAXUINT32));
  quoit_mesh_free (mesh);
  return json_node_init_object (json_node_alloc (), answer);
}

/* is_valid_custom_mesh() only; makes no mesh. */
static JsonNode *
custom_mesh (JsonObject *in, GError **error)
{
  g_autoptr (JsonObject) answer = json_object_new ();
  g_autoptr (GArray) sizes = read_sizes (in, "ici", error);
  const char *name;

  if (sizes == NULL || !vector_text (in, "strategy", &name, error))
    return NULL;
  if (name == NULL || *name == '\0')
    return vector_skip (error, "no custom mesh"), NULL;
  if (!quoit_maxtext_custom_mesh_check (name, (const int64_t *) (gconstpointer) sizes->data, sizes->len, error))
    return NULL;

  json_object_set_null_member (answer, "shape");
  json_object_set_null_member (answer, "ids");
  return json_node_init_object (json_node_alloc (), answer);
}

/* One row was made with a number of slices that only its note mentions. */
static gboolean
has_other_slices (JsonNode *in)
{
  JsonObject *row = json_node_get_object (json_node_get_parent (in));

  return json_object_has_member (row, "note")
         && g_str_has_prefix (json_object_get_string_member (row, "note"), "num_slices does not divide");
}

static JsonNode *
create_device_mesh (JsonNode *in, GError **error)
{
  static const char *const members[]
      = { "axes", "k", "t", "slices", "ici", "dcn", "opts", "first16", "sha256_16", "strategy", "ok", NULL };
  JsonObject *object = vector_object (in, members, error);
  g_auto (MeshArguments) arguments = { 0 };
  g_autoptr (QuoitDevices) devices = NULL;
  QuoitMesh *mesh;

  if (object == NULL)
    return NULL;
  if (has_other_slices (in))
    return vector_skip (error, "a number of slices in the settings that the row does not have"), NULL;
  if (json_object_has_member (object, "strategy"))
    return custom_mesh (object, error);
  if (!read_mesh_arguments (object, &arguments, error))
    return NULL;
  devices = devices_of (object, &arguments, error);
  if (devices == NULL)
    return NULL;

  mesh = quoit_maxtext_mesh_new (devices, (const int64_t *) (gconstpointer) arguments.ici->data,
                                 (const int64_t *) (gconstpointer) arguments.dcn->data, arguments.ici->len,
                                 arguments.n_slices, arguments.custom_mesh, arguments.flags, error);
  return mesh == NULL ? NULL : answer_of (object, mesh);
}

static const VectorOp ops[] = {
  { "fill_unspecified_mesh_axes", fill, VECTOR_ANY_ORDER },
  { "maxtext_accelerator", accelerator, VECTOR_ANY_ORDER },
  { "maxtext_create_device_mesh", create_device_mesh, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_maxtext = { "maxtext", tables };
