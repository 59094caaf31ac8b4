/* SPDX-License-Identifier: Apache-2.0 */
/* Suite "mesh": meshes that JAX 0.12 made of simulated devices. */
#include "mesh.h"

#include <math.h>
#include <string.h>

typedef GArray Numbers; /* of gint64 */

static Numbers *
numbers_new (void)
{
  return g_array_new (FALSE, TRUE, sizeof (gint64));
}

static void
numbers_free (Numbers *numbers)
{
  g_array_unref (numbers);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Numbers, numbers_free)

static const gint64 *
numbers_at (const Numbers *numbers)
{
  return (const gint64 *) (gconstpointer) numbers->data;
}

/* Sizes and coordinates. A text is an argument of Python's int(); C takes the resulting integer. */
static gboolean
read_number (JsonNode *node, gint64 *value, GError **error)
{
  const char *text = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
  char *end = NULL;
  double number;

  if (text == NULL && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64)
    {
      *value = json_node_get_int (node);
      return TRUE;
    }
  if (text == NULL && !vector_number (node, &number))
    return vector_skip (error, "Python only: another type where C takes integers");
  if (text != NULL)
    number = g_ascii_strtod (text, &end);
  if ((text != NULL && (*text == '\0' || *end != '\0')) || !isfinite (number) || fabs (number) > 1e15)
    return vector_skip (error, "Python only: a text that is no number where C takes integers");

  *value = (gint64) number;
  return TRUE;
}

static gboolean
read_numbers (JsonNode *node, Numbers *numbers, GError **error)
{
  JsonArray *array;

  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return vector_skip (error, "Python only: another type where C takes integers");

  array = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      gint64 value;

      if (!read_number (json_array_get_element (array, i), &value, error))
        return FALSE;
      g_array_append_val (numbers, value);
    }
  return TRUE;
}

static gboolean
read_sizes (JsonObject *in, const char *member, Numbers *sizes, GError **error)
{
  return read_numbers (json_object_get_member (in, member), sizes, error);
}

/* A null member counts as absent. */
static gboolean
has (JsonObject *in, const char *member)
{
  JsonNode *node = json_object_get_member (in, member);

  return node != NULL && !JSON_NODE_HOLDS_NULL (node);
}

static const char *
text_of (JsonObject *in, const char *member, const char *otherwise)
{
  return has (in, member) ? json_object_get_string_member (in, member) : otherwise;
}

static gint64
integer_of (JsonObject *in, const char *member, gint64 otherwise)
{
  return has (in, member) ? json_object_get_int_member (in, member) : otherwise;
}

static gboolean
boolean_of (JsonObject *in, const char *member, gboolean otherwise)
{
  return has (in, member) ? json_object_get_boolean_member (in, member) : otherwise;
}

static unsigned
flag_if (JsonObject *in, const char *member, unsigned flag)
{
  return boolean_of (in, member, FALSE) ? flag : 0;
}

/* --- devices --- */

static gboolean
add_device (QuoitDevices *devices, JsonNode *node, GError **error)
{
  g_autoptr (Numbers) numbers = numbers_new ();
  const gint64 *row;

  if (!read_numbers (node, numbers, error))
    return FALSE;
  if (numbers->len != 5)
    return vector_skip (error, "a device of another form");

  row = numbers_at (numbers);
  return quoit_devices_add (devices, row[0], (int32_t[]) { (int32_t) row[1], (int32_t) row[2], (int32_t) row[3] },
                            (int32_t) row[4], 0, 0, error)
         != 0;
}

static QuoitDevices *
listed_devices (JsonObject *in, GError **error)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new (json_object_get_string_member (in, "kind"), error);
  JsonArray *array = json_object_get_array_member (in, "devices");

  for (guint i = 0; devices != NULL && i < json_array_get_length (array); i++)
    if (!add_device (devices, json_array_get_element (array, i), error))
      return NULL;
  return g_steal_pointer (&devices);
}

static QuoitDevices *
slices_of (JsonObject *in, GError **error)
{
  gint64 n_slices = integer_of (in, "slices", 1);
  g_autofree char *topology = NULL;
  g_autoptr (Numbers) chips = numbers_new ();

  if (has (in, "topology"))
    topology = g_strdup (json_object_get_string_member (in, "topology"));
  else if (!read_sizes (in, "chips", chips, error))
    return NULL;
  else if (chips->len != 3)
    return vector_skip (error, "chips of another form"), NULL;
  else
    topology = g_strdup_printf ("%dx%dx%d", (int) numbers_at (chips)[0], (int) numbers_at (chips)[1],
                                (int) numbers_at (chips)[2]);

  return quoit_devices_new_slices (json_object_get_string_member (in, "kind"), topology, (uint32_t) n_slices, 0,
                                   (unsigned) integer_of (in, "devices_per_chip", 0), error);
}

/* The index of the device at @place in the row's order, of @n devices with @of_slice per slice. */
static uint32_t
in_order (const char *order, uint32_t place, uint32_t n, uint32_t of_slice)
{
  uint32_t slices = n / of_slice;

  if (strcmp (order, "reversed") == 0)
    return n - 1 - place;
  if (strcmp (order, "rotated-left-1") == 0)
    return (place + 1) % n;
  if (strcmp (order, "slices reversed") == 0)
    return (slices - 1 - place / of_slice) * of_slice + place % of_slice;
  if (strcmp (order, "interleaved") == 0)
    return (slices - 1 - place % slices) * of_slice + place / slices;
  if (strcmp (order, "all but the first device") == 0)
    return place + 1;
  return place;
}

/* The positions of the row's devices in JAX's own list of @n devices. */
static gboolean
read_order (JsonObject *in, uint32_t n, Numbers *places, GError **error)
{
  static const char *const orders[]
      = { "normal",      "reversed",      "rotated-left-1",           "slices reversed",
          "interleaved", "process order", "all but the first device", "all but the last device",
          NULL };
  const char *order;

  if (has (in, "order") && JSON_NODE_HOLDS_ARRAY (json_object_get_member (in, "order")))
    return read_sizes (in, "order", places, error);

  order = text_of (in, "order", "normal");
  if (!g_strv_contains (orders, order))
    return vector_skip (error, "devices in an order that this runner does not know");
  g_array_set_size (places, n - (g_str_has_prefix (order, "all but") ? 1 : 0));
  for (uint32_t i = 0; i < places->len; i++)
    g_array_index (places, gint64, i) = in_order (order, i, n, n / (uint32_t) integer_of (in, "slices", 1));
  return TRUE;
}

/* "all 64": rows with many devices do not list them. Their note records what was done to JAX's own list. */
static void
take_noted (JsonObject *in, Numbers *places)
{
  const char *text = text_of (in, "devices", "all 4294967295"), *note = text_of (in, "note", "");

  g_array_set_size (places, (guint) MIN (places->len, g_ascii_strtoull (text + strlen ("all "), NULL, 10)));
  if (has (in, "devices") && g_str_has_prefix (note, "duplicate coordinate"))
    for (guint i = places->len - 1; i > 0; i--)
      g_array_index (places, gint64, i) = g_array_index (places, gint64, i - 1);
}

/* The devices of the slices in the row's order, without those that the row omits. */
static QuoitDevices *
devices_of (JsonObject *in, GError **error)
{
  gboolean has_slice_index = !g_str_has_prefix (text_of (in, "note", ""), "no slice_index");
  g_autoptr (QuoitDevices) all = NULL, devices = NULL;
  g_autoptr (Numbers) places = numbers_new ();

  if (has (in, "devices") && JSON_NODE_HOLDS_ARRAY (json_object_get_member (in, "devices")))
    return listed_devices (in, error);
  all = slices_of (in, error);
  if (all == NULL || !read_order (in, quoit_devices_get_n_devices (all), places, error))
    return NULL;
  take_noted (in, places);

  devices = quoit_devices_new (quoit_devices_get_kind (all), error);
  for (guint i = 0; i < places->len; i++)
    {
      gint64 place = g_array_index (places, gint64, i);
      uint32_t from = (uint32_t) place;

      if (place < 0 || place >= quoit_devices_get_n_devices (all))
        return vector_skip (error, "a place that is not in the list"), NULL;
      if (!quoit_devices_add (devices, quoit_devices_get_id (all, from), quoit_devices_get_coordinates (all, from),
                              quoit_devices_get_core (all, from), quoit_devices_get_process_index (all, from),
                              has_slice_index ? quoit_devices_get_slice_index (all, from) : -1, error))
        return NULL;
    }
  return g_steal_pointer (&devices);
}

/* --- answers --- */

/* Whether recorded steps give the ids of the mesh. Starting with 0, each step replaces each value by several values
   at equal distance; the last step adds the base. */
static gboolean
are_steps_of (JsonObject *recorded, const QuoitMesh *mesh)
{
  g_autoptr (Numbers) values = numbers_new (), steps = numbers_new (), base = numbers_new ();
  guint64 n_expected;

  if (!read_sizes (recorded, "steps", steps, NULL) || !read_sizes (recorded, "base", base, NULL) || steps->len % 2 != 0)
    return FALSE;
  n_expected = base->len;
  for (guint i = 0; i < steps->len; i += 2)
    n_expected *= (guint64) numbers_at (steps)[i];
  if (n_expected != quoit_mesh_get_n_devices (mesh))
    return FALSE;

  g_array_set_size (values, 1);
  for (guint i = 0; i <= steps->len; i += 2)
    {
      Numbers *next = numbers_new ();
      const gint64 *step = i < steps->len ? numbers_at (steps) + i : NULL;

      for (guint v = 0; v < values->len; v++)
        for (gint64 k = 0; k < (step != NULL ? step[0] : (gint64) base->len); k++)
          {
            gint64 value = numbers_at (values)[v] + (step != NULL ? k * step[1] : numbers_at (base)[k]);

            g_array_append_val (next, value);
          }
      numbers_free (values);
      values = next;
    }
  return memcmp (values->data, quoit_mesh_get_ids (mesh), values->len * sizeof (gint64)) == 0;
}

JsonArray *
vector_ids_of_mesh (const QuoitMesh *mesh, uint32_t most)
{
  JsonArray *array = json_array_new ();

  for (uint32_t i = 0; i < MIN (most, quoit_mesh_get_n_devices (mesh)); i++)
    json_array_add_int_element (array, quoit_mesh_get_ids (mesh)[i]);
  return array;
}

JsonArray *
vector_shape_of_mesh (const QuoitMesh *mesh)
{
  JsonArray *array = json_array_new ();

  for (unsigned axis = 0; axis < quoit_mesh_get_n_axes (mesh); axis++)
    json_array_add_int_element (array, quoit_mesh_get_size (mesh, axis));
  return array;
}

static JsonArray *
assignment_of (const QuoitMesh *mesh)
{
  JsonArray *rows = json_array_new ();

  for (unsigned p = 0; p < quoit_mesh_get_n_physical_axes (mesh, 0); p++)
    {
      JsonArray *row = json_array_new ();

      for (unsigned axis = 0; axis < quoit_mesh_get_n_axes (mesh); axis++)
        json_array_add_int_element (row, quoit_mesh_get_share (mesh, 0, p, axis));
      json_array_add_array_element (rows, row);
    }
  return rows;
}

/* Takes @mesh. Keeps the row's form of the ids if they are equal. */
static JsonNode *
answer_of (JsonNode *in, QuoitMesh *mesh)
{
  g_autoptr (JsonObject) answer = json_object_new ();
  JsonNode *recorded = vector_recorded (in);
  JsonObject *out = recorded != NULL && JSON_NODE_HOLDS_OBJECT (recorded) ? json_node_get_object (recorded) : NULL;

  if (out != NULL && json_object_has_member (out, "steps") && are_steps_of (out, mesh))
    {
      json_object_set_member (answer, "steps", json_node_copy (json_object_get_member (out, "steps")));
      json_object_set_member (answer, "base", json_node_copy (json_object_get_member (out, "base")));
    }
  else
    json_object_set_array_member (answer, "ids", vector_ids_of_mesh (mesh, G_MAXUINT32));
  if (vector_has_recorded_member (in, "shape"))
    json_object_set_array_member (answer, "shape", vector_shape_of_mesh (mesh));
  if (vector_has_recorded_member (in, "assignment"))
    json_object_set_array_member (answer, "assignment", assignment_of (mesh));
  quoit_mesh_free (mesh);
  return json_node_init_object (json_node_alloc (), answer);
}

typedef struct {
  JsonObject *in;
  QuoitDevices *devices;
  Numbers *sizes;
} Call;

static void
call_clear (Call *call)
{
  quoit_devices_free (call->devices);
  numbers_free (call->sizes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Call, call_clear)

/* @sizes names the member with the sizes. */
static gboolean
read_call (JsonNode *in, const char *const *members, const char *sizes, Call *call, GError **error)
{
  call->sizes = numbers_new ();
  call->in = vector_object (in, members, error);
  if (call->in == NULL || !read_sizes (call->in, sizes, call->sizes, error))
    return FALSE;

  call->devices = devices_of (call->in, error);
  return call->devices != NULL;
}

static JsonNode *
create_device_mesh (JsonNode *in, GError **error)
{
  static const char *const members[] = { "kind",
                                         "topology",
                                         "chips",
                                         "devices_per_chip",
                                         "mesh_shape",
                                         "contiguous_submeshes",
                                         "allow_split_physical_axes",
                                         "devices",
                                         "order",
                                         "note",
                                         NULL };
  g_auto (Call) call = { NULL, NULL, NULL };
  QuoitMesh *mesh;

  if (!read_call (in, members, "mesh_shape", &call, error))
    return NULL;
  mesh = quoit_mesh_new (call.devices, numbers_at (call.sizes), call.sizes->len,
                         flag_if (call.in, "contiguous_submeshes", QUOIT_MESH_CONTIGUOUS_SUBMESHES)
                             | flag_if (call.in, "allow_split_physical_axes", QUOIT_MESH_SPLIT_PHYSICAL_AXES),
                         error);
  return mesh == NULL ? NULL : answer_of (in, mesh);
}

static JsonNode *
create_hybrid_device_mesh (JsonNode *in, GError **error)
{
  static const char *const members[] = { "kind",
                                         "topology",
                                         "slices",
                                         "ici",
                                         "dcn",
                                         "allow_split_physical_axes",
                                         "process_is_granule",
                                         "should_sort_granules_by_key",
                                         "order",
                                         "note",
                                         "devices_per_chip",
                                         NULL };
  g_auto (Call) call = { NULL, NULL, NULL };
  g_autoptr (Numbers) dcn = numbers_new ();
  QuoitMesh *mesh;
  unsigned flags;

  if (!read_call (in, members, "ici", &call, error) || !read_sizes (call.in, "dcn", dcn, error))
    return NULL;
  flags = flag_if (call.in, "allow_split_physical_axes", QUOIT_MESH_SPLIT_PHYSICAL_AXES)
          | flag_if (call.in, "process_is_granule", QUOIT_MESH_PROCESS_GRANULES);
  if (!boolean_of (call.in, "should_sort_granules_by_key", TRUE))
    flags |= QUOIT_MESH_GRANULES_AS_LISTED;
  mesh = quoit_mesh_new_hybrid (call.devices, numbers_at (call.sizes), call.sizes->len, numbers_at (dcn), dcn->len,
                                flags, error);
  return mesh == NULL ? NULL : answer_of (in, mesh);
}

static JsonNode *
make_mesh (JsonNode *in, GError **error)
{
  static const char *const members[]
      = { "kind", "topology", "slices", "mesh_shape", "devices_per_chip", "order", NULL };
  g_auto (Call) call = { NULL, NULL, NULL };
  QuoitMesh *mesh;

  if (!read_call (in, members, "mesh_shape", &call, error))
    return NULL;
  mesh = quoit_mesh_new_auto (call.devices, numbers_at (call.sizes), call.sizes->len, error);
  return mesh == NULL ? NULL : answer_of (in, mesh);
}

static JsonNode *
nd_torus (JsonNode *in, GError **error)
{
  static const char *const members[] = { "kind", "physical", "mesh_shape", "allow_split_physical_axes", NULL };
  JsonObject *object = vector_object (in, members, error);
  const char *kind;
  QuoitMesh *mesh;
  g_autoptr (Numbers) sizes = numbers_new (), physical = numbers_new ();

  if (object == NULL || !vector_text (object, "kind", &kind, error) || !read_sizes (object, "physical", physical, error)
      || !read_sizes (object, "mesh_shape", sizes, error))
    return NULL;
  mesh = quoit_mesh_new_torus (kind, numbers_at (physical), physical->len, numbers_at (sizes), sizes->len,
                               flag_if (object, "allow_split_physical_axes", QUOIT_MESH_SPLIT_PHYSICAL_AXES), error);
  return mesh == NULL ? NULL : answer_of (in, mesh);
}

static const VectorOp ops[] = {
  { "create_device_mesh", create_device_mesh, VECTOR_ANY_ORDER },
  { "create_device_mesh_for_nd_torus", nd_torus, VECTOR_ANY_ORDER },
  { "create_hybrid_device_mesh", create_hybrid_device_mesh, VECTOR_ANY_ORDER },
  { "make_mesh", make_mesh, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, NULL };

const VectorSuite vector_suite_mesh = { "mesh", tables };
