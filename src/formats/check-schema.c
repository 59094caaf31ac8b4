/* SPDX-License-Identifier: Apache-2.0 */
/* Compares an object with the schema of its kind, value by value, as the API server does. */
#include "formats/check-schema.h"

#include <string.h>

#include "base/name-hash.h"
#include "base/text.h"
#include "formats/ray-kinds.h"
#include "formats/schema/compare.h"

static void compare (QuoitComparison *comparison, const QuoitPlace *place);

/* --- findings --- */

char *
quoit_place_name (const QuoitPlace *place)
{
  g_autofree char *list = NULL;

  if (place->parent == NULL)
    return g_strdup ("the object");
  if (place->name != NULL)
    return g_strdup (place->name);
  list = quoit_place_name (place->parent);
  return g_strdup_printf ("%s[%u]", list, place->index);
}

const QuoitCheckRule *
quoit_comparison_rule (const QuoitComparison *comparison, QuoitCheckSchemaRule rule)
{
  gboolean is_later
      = comparison->is_pod
        || (comparison->has_pods && (rule == QUOIT_CHECK_RULE_FIELD_VALUE || rule == QUOIT_CHECK_RULE_FIELD_MISSING));

  return &quoit_check_schema_rules[is_later ? QUOIT_CHECK_RULE_POD_FIELD : rule];
}

/* Reports a value that is not of its type, unless a reader has reported it. */
static void
report_type (QuoitComparison *comparison, const QuoitPlace *place, const char *expected)
{
  g_autofree char *name = NULL, *what = NULL;
  const char *form = JSON_NODE_HOLDS_OBJECT (place->node)  ? "a map"
                     : JSON_NODE_HOLDS_ARRAY (place->node) ? "a list"
                                                           : NULL;

  if (comparison->is_pod || g_hash_table_contains (comparison->checker->refused, place->node)
      || (comparison->is_status && comparison->reader == QUOIT_SCHEMA_CUSTOM))
    return;
  name = quoit_place_name (place);
  what = form == NULL ? g_strdup (name) : g_strdup_printf ("%s: %s", name, form);
  quoit_check_report (comparison->checker, &quoit_check_reading_rules[QUOIT_CHECK_RULE_FIELD], place->node, what, "%s",
                      expected);
}

typedef void (*ReportFunc) (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                            const char *expected, ...);

/* Reports unless a reader has refused the value. */
static void
report_value (const QuoitComparison *comparison, const QuoitPlace *place, ReportFunc report, const char *expected,
              va_list args)
{
  g_autofree char *name = NULL, *text = NULL;

  if (g_hash_table_contains (comparison->checker->refused, place->node))
    return;
  name = quoit_place_name (place);
  text = g_strdup_vprintf (expected, args);
  report (comparison->checker, quoit_comparison_rule (comparison, QUOIT_CHECK_RULE_FIELD_VALUE), place->node, name,
          "%s", text);
}

void
quoit_comparison_report (const QuoitComparison *comparison, const QuoitPlace *place, const char *expected, ...)
{
  va_list args;

  va_start (args, expected);
  report_value (comparison, place, quoit_check_report, expected, args);
  va_end (args);
}

void
quoit_comparison_report_map (const QuoitComparison *comparison, const QuoitPlace *place, const char *expected, ...)
{
  va_list args;

  va_start (args, expected);
  report_value (comparison, place, quoit_check_report_part, expected, args);
  va_end (args);
}

/* --- fields --- */

static const QuoitSchemaField *
fields_of (const QuoitSchemaType *type)
{
  return quoit_schema_fields + type->first_field;
}

static const QuoitSchemaType *
field_type (const QuoitSchemaField *field)
{
  return &quoit_schema_types[field->type & ~QUOIT_SCHEMA_NEEDED];
}

static int
compare_field (const void *name, const void *field)
{
  return strcmp (name, quoit_schema_text (((const QuoitSchemaField *) field)->name));
}

static const QuoitSchemaField *
find_field (const QuoitSchemaType *type, const char *name)
{
  return bsearch (name, fields_of (type), type->n_fields, sizeof (QuoitSchemaField), compare_field);
}

/* Returns the field whose name is similar, or NULL. Letters count without their case. */
static const char *
nearest_field (const QuoitSchemaType *type, const char *name)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);
  unsigned least = (unsigned) (strlen (name) + 2) / 3 + 1;
  const char *best = NULL;

  for (guint i = 0; i < type->n_fields; i++)
    {
      const char *field = quoit_schema_text (fields_of (type)[i].name);
      g_autofree char *lower_field = g_ascii_strdown (field, -1);
      unsigned distance = quoit_text_distance (lower, lower_field);

      if (distance < least)
        {
          least = distance;
          best = field;
        }
    }
  return best;
}

/* Returns the name of the innermost map around @place, or the name of a map in it, that has the field @name. NULL: none
 * of them has it, so that the field is not at a wrong indentation. Free it with g_free(). */
static char *
find_other_place (const QuoitPlace *place, const char *name)
{
  for (const QuoitPlace *outer = place->parent; outer != NULL; outer = outer->parent)
    if (outer->type->form == QUOIT_SCHEMA_OBJECT && find_field (outer->type, name) != NULL)
      return quoit_place_name (outer);
  for (guint i = 0; i < place->type->n_fields; i++)
    {
      const QuoitSchemaField *field = &fields_of (place->type)[i];

      if (field_type (field)->form == QUOIT_SCHEMA_OBJECT && find_field (field_type (field), name) != NULL)
        return g_strdup (quoit_schema_text (field->name));
    }
  return NULL;
}

/* Returns the type that the value at @place has if the object is of type @root; NULL: such an object has no such
 * place. */
static const QuoitSchemaType *
type_in (const QuoitPlace *place, const QuoitSchemaType *root)
{
  const QuoitSchemaType *outer = place->parent == NULL ? root : type_in (place->parent, root);
  const QuoitSchemaField *field = NULL;

  if (outer == NULL || place->parent == NULL)
    return outer;
  if (place->name != NULL && outer->form == QUOIT_SCHEMA_OBJECT)
    field = find_field (outer, place->name);
  if (field != NULL)
    return field_type (field);
  return outer->form == QUOIT_SCHEMA_LIST || outer->form == QUOIT_SCHEMA_MAP ? &quoit_schema_types[outer->item] : NULL;
}

/* Returns another apiVersion of the same kind, where the object has the field at this place; or NULL. */
static const char *
find_other_version (const QuoitComparison *comparison, const QuoitPlace *place, const char *name)
{
  for (guint i = 0; comparison->kind != NULL && i < quoit_schema_n_kinds; i++)
    {
      const QuoitSchemaKind *row = &quoit_schema_kinds[i];
      const QuoitSchemaType *type;

      if (row->kind != comparison->kind->kind || row == comparison->kind || row->reader == QUOIT_SCHEMA_KNOWN)
        continue;
      type = type_in (place, &quoit_schema_types[row->type]);
      if (type != NULL && type->form == QUOIT_SCHEMA_OBJECT && find_field (type, name) != NULL)
        return quoit_schema_text (row->version);
    }
  return NULL;
}

/* Returns the field that was probably meant, or NULL. */
static const char *
report_unknown (QuoitComparison *comparison, const QuoitPlace *place, const char *name, JsonNode *node)
{
  const char *nearest = nearest_field (place->type, name), *version = NULL;
  g_autofree char *owner = quoit_place_name (place), *quoted = quoit_quote (name), *what = NULL, *other = NULL;

  if (nearest == NULL)
    other = find_other_place (place, name);
  if (nearest == NULL && other == NULL)
    version = find_other_version (comparison, place, name);
  what = g_strdup_printf ("field %s", quoted);
  quoit_check_report_part (comparison->checker, quoit_comparison_rule (comparison, QUOIT_CHECK_RULE_FIELD_UNKNOWN),
                           node, what,
                           nearest != NULL   ? "a field of %s; did you mean '%s'?"
                           : other != NULL   ? "a field of %s; %s has this one: check the indentation"
                           : version != NULL ? "a field of %s; apiVersion '%s' has this one"
                                             : "a field of %s",
                           owner,
                           nearest != NULL ? nearest
                           : other != NULL ? other
                                           : version);
  return nearest;
}

static gboolean
is_named (const QuoitPlace *place, const char *name)
{
  return place != NULL && g_strcmp0 (place->name, name) == 0;
}

/* These rules are cluster-spec ('headGroupSpec'), group-name ('groupName') and containers. */
gboolean
quoit_comparison_has_own_rule (const QuoitComparison *comparison, const QuoitPlace *place, const char *name)
{
  if (!comparison->has_group_rules)
    return FALSE;
  if (strcmp (name, "headGroupSpec") == 0 || strcmp (name, "rayClusterSpec") == 0)
    return TRUE;
  if (place->parent == NULL)
    return strcmp (name, "spec") == 0;
  if (strcmp (name, "groupName") == 0)
    return is_named (place->parent, "workerGroupSpecs");
  if (strcmp (name, "containers") == 0 || strcmp (name, "spec") == 0 || strcmp (name, "template") == 0)
    for (const QuoitPlace *outer = place; outer != NULL; outer = outer->parent)
      if (is_named (outer, "headGroupSpec") || is_named (outer, "workerGroupSpecs"))
        return TRUE;
  return FALSE;
}

static void
check_missing (QuoitComparison *comparison, const QuoitPlace *place, GHashTable *meant)
{
  if (comparison->is_status)
    return;
  for (guint i = 0; i < place->type->n_fields; i++)
    {
      const QuoitSchemaField *field = &fields_of (place->type)[i];
      const char *name = quoit_schema_text (field->name);
      g_autofree char *owner = NULL, *what = NULL;

      if ((field->type & QUOIT_SCHEMA_NEEDED) == 0 || quoit_tree_member (place->node, name) != NULL
          || quoit_comparison_has_own_rule (comparison, place, name)
          || !g_hash_table_add (comparison->missing, g_strdup_printf ("%p %s", (void *) place->node, name))
          || (meant != NULL && g_hash_table_contains (meant, name)))
        continue;
      owner = quoit_place_name (place);
      what = g_strdup_printf ("%s has no '%s'", owner, name);
      quoit_check_report_part (comparison->checker, quoit_comparison_rule (comparison, QUOIT_CHECK_RULE_FIELD_MISSING),
                               place->node, what, "this field");
    }
}

static void
compare_member (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaField *field, JsonNode *node)
{
  QuoitPlace member = { place, node, quoit_schema_text (field->name), 0, field_type (field) };
  gboolean is_status = comparison->is_status;

  comparison->is_status = is_status || (place->parent == NULL && strcmp (member.name, "status") == 0);
  compare (comparison, &member);
  comparison->is_status = is_status;
}

static void
compare_object (QuoitComparison *comparison, const QuoitPlace *place)
{
  g_autoptr (GHashTable) meant = NULL;
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init (&iter, json_node_get_object (place->node));
  while (json_object_iter_next (&iter, &name, &member))
    {
      const QuoitSchemaField *field = find_field (place->type, name);

      if (field != NULL)
        compare_member (comparison, place, field, member);
      else if ((place->type->flags & QUOIT_SCHEMA_OPEN) == 0 && !comparison->is_pod && strstr (name, "${") == NULL)
        {
          const char *nearest = report_unknown (comparison, place, name, member);

          if (nearest != NULL && meant == NULL)
            meant = g_hash_table_new (quoit_hash_text, g_str_equal);
          if (nearest != NULL)
            g_hash_table_add (meant, (char *) nearest);
        }
    }
  check_missing (comparison, place, meant);
}

/* --- types --- */

static const char *
scalar_word (QuoitScalarType type)
{
  return type == QUOIT_SCALAR_BOOLEAN ? "a boolean" : "a number";
}

/* Returns what is expected instead of a scalar, or NULL if it is of the type. Free the text with g_free(). */
static char *
expected_string (const QuoitScalar *scalar)
{
  if (scalar->type == QUOIT_SCALAR_STRING)
    return NULL;
  if (scalar->type == QUOIT_SCALAR_NONE || scalar->type == QUOIT_SCALAR_NULL)
    return g_strdup ("text");
  return g_strdup_printf ("text: put it in quotes, because Kubernetes reads %s", scalar_word (scalar->type));
}

static char *
expected_integer (const QuoitScalar *scalar)
{
  gint64 number;

  if (scalar->type == QUOIT_SCALAR_INTEGER)
    return NULL;
  if (scalar->type == QUOIT_SCALAR_STRING
      && g_ascii_string_to_signed (scalar->text, 10, G_MININT64, G_MAXINT64, &number, NULL))
    return g_strdup ("a whole number, without quotes");
  return g_strdup ("a whole number");
}

static char *
expected_boolean (const QuoitScalar *scalar)
{
  if (scalar->type == QUOIT_SCALAR_BOOLEAN)
    return NULL;
  if (scalar->type == QUOIT_SCALAR_STRING
      && (strcmp (scalar->text, "true") == 0 || strcmp (scalar->text, "false") == 0))
    return g_strdup ("true or false, without quotes");
  return g_strdup ("true or false");
}

static char *
expected_quantity (const QuoitScalar *scalar)
{
  if (scalar->type == QUOIT_SCALAR_INTEGER || scalar->type == QUOIT_SCALAR_FRACTION
      || (scalar->type == QUOIT_SCALAR_STRING && quoit_is_quantity (scalar->text)))
    return NULL;
  return g_strdup ("a quantity such as '8', '500m' or '16Gi'");
}

static char *
expected_int_or_string (const QuoitScalar *scalar)
{
  if (scalar->type == QUOIT_SCALAR_INTEGER || scalar->type == QUOIT_SCALAR_STRING)
    return NULL;
  if (scalar->type == QUOIT_SCALAR_FRACTION || scalar->type == QUOIT_SCALAR_BOOLEAN)
    return g_strdup_printf ("a whole number or text: put it in quotes, because Kubernetes reads %s",
                            scalar->type == QUOIT_SCALAR_BOOLEAN ? "a boolean" : "a fraction");
  return g_strdup ("a whole number or text");
}

static char *
expected_scalar (QuoitSchemaForm form, const QuoitScalar *scalar)
{
  switch (form)
    {
    case QUOIT_SCHEMA_STRING:
      return expected_string (scalar);
    case QUOIT_SCHEMA_BOOLEAN:
      return expected_boolean (scalar);
    case QUOIT_SCHEMA_INTEGER:
    case QUOIT_SCHEMA_INT32:
      return expected_integer (scalar);
    case QUOIT_SCHEMA_NUMBER:
      return scalar->type == QUOIT_SCALAR_INTEGER || scalar->type == QUOIT_SCALAR_FRACTION ? NULL
                                                                                           : g_strdup ("a number");
    case QUOIT_SCHEMA_INT_OR_STRING:
      return expected_int_or_string (scalar);
    case QUOIT_SCHEMA_QUANTITY:
      return expected_quantity (scalar);
    case QUOIT_SCHEMA_TIME:
      return scalar->type == QUOIT_SCALAR_STRING && quoit_is_time (scalar->text)
                 ? NULL
                 : g_strdup ("a time such as '2026-01-31T12:00:00Z'");
    case QUOIT_SCHEMA_BYTES:
      return scalar->type == QUOIT_SCALAR_STRING && quoit_is_base64 (scalar->text) ? NULL : g_strdup ("text in Base64");
    case QUOIT_SCHEMA_OBJECT:
    case QUOIT_SCHEMA_MAP:
      return g_strdup ("a map");
    case QUOIT_SCHEMA_LIST:
      return g_strdup ("a list");
    case QUOIT_SCHEMA_ANY:
      break;
    }
  return NULL;
}

/* Kubernetes' own types have 32 bits. A CustomResourceDefinition accepts more, but KubeRay then cannot read the object.
 */
static void
check_range (QuoitComparison *comparison, const QuoitPlace *place, const QuoitScalar *scalar)
{
  QuoitSchemaForm form = place->type->form;
  gboolean has_32_bits = form == QUOIT_SCHEMA_INT32 || form == QUOIT_SCHEMA_INT_OR_STRING;
  g_autofree char *name = NULL;

  if (scalar->type != QUOIT_SCALAR_INTEGER || !has_32_bits || comparison->is_pod
      || (scalar->integer >= G_MININT32 && scalar->integer <= G_MAXINT32)
      || g_hash_table_contains (comparison->checker->refused, place->node))
    return;
  if (comparison->reader == QUOIT_SCHEMA_NATIVE)
    quoit_comparison_report (comparison, place, "a number of at most 32 bits");
  else if (form == QUOIT_SCHEMA_INT32)
    {
      name = quoit_place_name (place);
      quoit_check_report (comparison->checker, &quoit_check_schema_rules[QUOIT_CHECK_RULE_FIELD_RANGE], place->node,
                          name, "a number of at most 32 bits, because KubeRay cannot read the object otherwise");
    }
}

static void
compare_members (QuoitComparison *comparison, const QuoitPlace *place)
{
  const QuoitSchemaType *item = &quoit_schema_types[place->type->item];
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init (&iter, json_node_get_object (place->node));
  while (json_object_iter_next (&iter, &name, &member))
    compare (comparison, &(QuoitPlace) { place, member, name, 0, item });
}

/* The API server removes a null member, but not a null element. */
static void
compare_elements (QuoitComparison *comparison, const QuoitPlace *place)
{
  const QuoitSchemaType *item = &quoit_schema_types[place->type->item];
  JsonArray *array = json_node_get_array (place->node);

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      QuoitPlace element = { place, json_array_get_element (array, i), NULL, i, item };
      QuoitScalar null = { .type = QUOIT_SCALAR_NULL };
      g_autofree char *expected = NULL;

      if (!JSON_NODE_HOLDS_NULL (element.node))
        compare (comparison, &element);
      else if (quoit_comparison_is_native (comparison) && item->form == QUOIT_SCHEMA_STRING)
        quoit_comparison_check_constraints (comparison, &element,
                                            &(QuoitScalar) { .type = QUOIT_SCALAR_STRING, .text = "" });
      else if ((item->flags & QUOIT_SCHEMA_NULLABLE) == 0
               && (comparison->reader == QUOIT_SCHEMA_CUSTOM || item->form == QUOIT_SCHEMA_OBJECT))
        {
          expected = expected_scalar (item->form, &null);
          if (expected != NULL)
            report_type (comparison, &element, expected);
        }
    }
}

static void
compare (QuoitComparison *comparison, const QuoitPlace *place)
{
  QuoitSchemaForm form = place->type->form;
  QuoitScalar scalar = quoit_scalar_read (&comparison->checker->manifest, place->node);
  g_autofree char *expected = NULL;

  if (form == QUOIT_SCHEMA_ANY || scalar.type == QUOIT_SCALAR_UNKNOWN || scalar.type == QUOIT_SCALAR_NULL)
    return;
  if (JSON_NODE_HOLDS_OBJECT (place->node) && form == QUOIT_SCHEMA_OBJECT)
    compare_object (comparison, place);
  else if (JSON_NODE_HOLDS_OBJECT (place->node) && form == QUOIT_SCHEMA_MAP)
    compare_members (comparison, place);
  else if (JSON_NODE_HOLDS_ARRAY (place->node) && form == QUOIT_SCHEMA_LIST)
    compare_elements (comparison, place);
  else
    {
      expected = expected_scalar (form, &scalar);
      if (expected != NULL)
        {
          report_type (comparison, place, expected);
          return;
        }
      check_range (comparison, place, &scalar);
    }
  if (!comparison->is_status)
    quoit_comparison_check_constraints (comparison, place, &scalar);
}

void
quoit_comparison_check_pods (const QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaType *type)
{
  QuoitComparison pods = *comparison;
  QuoitPlace template = *place;

  pods.is_pod = TRUE;
  template.type = type;
  compare (&pods, &template);
}

static void
comparison_init (QuoitComparison *comparison, QuoitChecker *checker, QuoitSchemaReader reader)
{
  *comparison = (QuoitComparison) { .checker = checker, .reader = reader };
  comparison->patterns = g_hash_table_new_full (quoit_hash_text, g_str_equal, NULL, (GDestroyNotify) g_regex_unref);
  comparison->missing = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
}

static void
comparison_clear (QuoitComparison *comparison)
{
  g_hash_table_unref (comparison->patterns);
  g_hash_table_unref (comparison->missing);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitComparison, comparison_clear)

void
quoit_check_compare (QuoitChecker *checker, JsonNode *object, const QuoitSchemaKind *kind)
{
  g_auto (QuoitComparison) comparison = { 0 };
  QuoitRayKind ray_kind;

  comparison_init (&comparison, checker, (QuoitSchemaReader) kind->reader);
  comparison.kind = kind;
  comparison.has_group_rules = quoit_ray_kind_find (quoit_schema_text (kind->kind), &ray_kind);
  compare (&comparison, &(QuoitPlace) { NULL, object, NULL, 0, &quoit_schema_types[kind->type] });
}

/* Compares the values at @path below @place with @type. A name with "[]" is a list, whose elements are meant. */
static void
compare_below (QuoitComparison *comparison, const QuoitPlace *place, const char *path, const QuoitSchemaType *type)
{
  gsize length = strcspn (path, "."), end = length;
  gboolean is_list = length > 2 && path[length - 1] == ']';
  g_autofree char *name = NULL;
  QuoitPlace member = { place, NULL, NULL, 0, type };

  if (*path == '\0')
    {
      compare (comparison, place);
      return;
    }
  end = is_list ? length - 2 : length;
  name = g_strndup (path, end);
  member.name = name;
  member.node = quoit_tree_member (place->node, name);
  path += path[length] == '.' ? length + 1 : length;
  if (member.node == NULL)
    return;
  if (!is_list)
    compare_below (comparison, &member, path, type);
  else if (JSON_NODE_HOLDS_ARRAY (member.node))
    for (guint i = 0; i < json_array_get_length (json_node_get_array (member.node)); i++)
      {
        JsonNode *node = json_array_get_element (json_node_get_array (member.node), i);

        compare_below (comparison, &(QuoitPlace) { &member, node, NULL, i, type }, path, type);
      }
}

void
quoit_check_compare_metadata (QuoitChecker *checker, JsonNode *object)
{
  g_auto (QuoitComparison) comparison = { 0 };
  const QuoitSchemaType *type = &quoit_schema_types[quoit_schema_meta_type];

  comparison_init (&comparison, checker, QUOIT_SCHEMA_NATIVE);
  compare_below (&comparison, &(QuoitPlace) { NULL, object, NULL, 0, type }, "metadata", type);
}

void
quoit_check_compare_pods (QuoitChecker *checker, JsonNode *object, const char *path)
{
  g_auto (QuoitComparison) comparison = { 0 };
  const QuoitSchemaType *type = &quoit_schema_types[quoit_schema_pod_template_type];

  comparison_init (&comparison, checker, QUOIT_SCHEMA_NATIVE);
  comparison.has_pods = TRUE;
  compare_below (&comparison, &(QuoitPlace) { NULL, object, NULL, 0, type }, path, type);
}

void
quoit_check_compare_jobs (QuoitChecker *checker, JsonNode *object, const char *path, const QuoitSchemaKind *cron_job)
{
  g_auto (QuoitComparison) comparison = { 0 };
  const QuoitSchemaField *spec = find_field (&quoit_schema_types[cron_job->type], "spec");
  const QuoitSchemaField *job = spec == NULL ? NULL : find_field (field_type (spec), "jobTemplate");

  g_return_if_fail (job != NULL);

  comparison_init (&comparison, checker, QUOIT_SCHEMA_NATIVE);
  comparison.is_status = TRUE;
  compare_below (&comparison, &(QuoitPlace) { NULL, object, NULL, 0, field_type (job) }, path, field_type (job));
}
