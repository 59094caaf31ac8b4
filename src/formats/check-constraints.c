/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the constraints of a schema: enumerations, limits, the syntax of texts, lists without repetition, and fields
 * that exclude or need each other. */
#include "formats/schema/compare.h"

#include <string.h>

#include "base/dns.h"
#include "base/name-hash.h"

static const char label_name[] = "at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends";
static const char label_key[] = "at most 63 letters, digits, '-', '_' and '.', perhaps after a DNS name and '/'";
static const char config_key[] = "at most 253 letters, digits, '-', '_' and '.'";

/* --- constraints --- */

static const char *
list_text (const QuoitSchemaConstraint *constraint, guint index)
{
  return quoit_schema_text (quoit_schema_lists[constraint->argument + index]);
}

static void
check_enum (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint,
            const char *text)
{
  g_autoptr (GString) expected = NULL;

  /* Kubernetes' own types have a default for the empty text. */
  if (*text == '\0' && quoit_comparison_is_native (comparison))
    return;
  for (guint i = 0; i < constraint->n; i++)
    if (strcmp (text, list_text (constraint, i)) == 0)
      return;
  expected = g_string_new (NULL);
  for (guint i = 0; i < constraint->n; i++)
    g_string_append_printf (expected, "%s'%s'",
                            i == 0                    ? ""
                            : i == constraint->n - 1u ? " or "
                                                      : ", ",
                            list_text (constraint, i));
  quoit_comparison_report (comparison, place, "%s", expected->str);
}

static void
check_pattern (QuoitComparison *comparison, const QuoitPlace *place, const char *pattern, const char *text)
{
  GRegex *regex = g_hash_table_lookup (comparison->patterns, pattern);
  g_autoptr (GError) error = NULL;
  g_autofree char *expected = NULL;

  if (regex == NULL)
    {
      regex = g_regex_new (pattern, G_REGEX_DOLLAR_ENDONLY, 0, NULL);
      g_hash_table_insert (comparison->patterns, (char *) pattern, regex);
    }
  /* An error is a text that takes too many steps to compare. */
  if (g_regex_match_full (regex, text, -1, 0, 0, NULL, &error) || error != NULL)
    return;
  expected = strstr (pattern, "[KMGTPE]i") != NULL ? g_strdup ("a quantity such as '8', '500m' or '16Gi'")
                                                   : g_strdup_printf ("text of the form %s", pattern);
  quoit_comparison_report (comparison, place, "%s", expected);
}

static void
check_limit (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint,
             gint64 number, const char *unit)
{
  gint64 limit = quoit_schema_values[constraint->argument];
  gboolean is_least = constraint->kind == QUOIT_SCHEMA_MINIMUM || constraint->kind == QUOIT_SCHEMA_MIN_LENGTH
                      || constraint->kind == QUOIT_SCHEMA_MIN_ITEMS;
  g_autofree char *expected = NULL;

  if (is_least ? number >= limit : number <= limit)
    return;
  expected = g_strdup_printf ("at %s %" G_GINT64_FORMAT "%s", is_least ? "least" : "most", limit, unit);
  quoit_comparison_report (comparison, place, "%s", expected);
}

/* Returns the text that equal elements have in common: of a KEYS, the keys with their defaults. NULL: the element has
 * no key, and so is like no other. */
static char *
element_identity (const QuoitComparison *comparison, const QuoitSchemaConstraint *constraint, JsonNode *element)
{
  g_autoptr (GString) identity = g_string_new (NULL);

  if (constraint->kind == QUOIT_SCHEMA_SET)
    return json_to_string (element, FALSE);
  for (guint i = 0; i < constraint->n; i++)
    {
      g_auto (GStrv) key = g_strsplit (list_text (constraint, i), "=", 2);
      JsonNode *member = quoit_tree_member (element, key[0]);
      QuoitScalar scalar = member == NULL ? (QuoitScalar) { .type = QUOIT_SCALAR_NULL }
                                          : quoit_scalar_read (&comparison->checker->manifest, member);

      if (scalar.type == QUOIT_SCALAR_UNKNOWN
          || (member == NULL && key[1] == NULL && quoit_comparison_is_native (comparison)))
        return NULL;
      if (scalar.type == QUOIT_SCALAR_INTEGER)
        g_string_append_printf (identity, "%" G_GINT64_FORMAT "\n", scalar.integer);
      else if (scalar.type == QUOIT_SCALAR_STRING)
        g_string_append_printf (identity, "'%s'\n", scalar.text);
      else if (member == NULL)
        g_string_append_printf (identity, "'%s'\n", key[1] != NULL ? key[1] : "");
      else
        return NULL;
    }
  return g_string_free (g_steal_pointer (&identity), FALSE);
}

static void
check_differ (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  JsonArray *array = json_node_get_array (place->node);
  g_autoptr (GString) keys = g_string_new (NULL);

  for (guint i = 0; i < constraint->n; i++)
    {
      const char *key = list_text (constraint, i);

      g_string_append_printf (keys, "%s'%.*s'", i == 0 ? "" : " and ", (int) strcspn (key, "="), key);
    }
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      JsonNode *element = json_array_get_element (array, i);
      char *identity = element_identity (comparison, constraint, element);
      g_autofree char *name = NULL, *what = NULL;

      if (identity == NULL || g_hash_table_add (seen, identity))
        continue;
      name = quoit_place_name (&(QuoitPlace) { place, element, NULL, i, NULL });
      what = g_strdup_printf ("%s, the same again", name);
      if (constraint->kind == QUOIT_SCHEMA_SET)
        quoit_check_report (comparison->checker, quoit_comparison_rule (comparison, QUOIT_CHECK_RULE_FIELD_VALUE),
                            element, what, "each element once");
      else
        quoit_check_report (comparison->checker, quoit_comparison_rule (comparison, QUOIT_CHECK_RULE_FIELD_VALUE),
                            element, what, "elements that differ in %s", keys->str);
    }
}

typedef gboolean (*TextTest) (const char *text);

static void
check_keys (QuoitComparison *comparison, const QuoitPlace *place, TextTest is_key, const char *expected)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init (&iter, json_node_get_object (place->node));
  while (json_object_iter_next (&iter, &name, &member))
    {
      g_autofree char *quoted = NULL, *what = NULL;

      if (strstr (name, "${") != NULL || is_key (name))
        continue;
      quoted = quoit_quote (name);
      what = g_strdup_printf ("key %s", quoted);
      quoit_check_report_part (comparison->checker, quoit_comparison_rule (comparison, QUOIT_CHECK_RULE_FIELD_VALUE),
                               member, what, "%s", expected);
    }
}

/* Returns whether the text has a $NAME, which other tools than quoit replace before the manifest is applied. */
static gboolean
has_other_variable (const char *text)
{
  for (const char *p = strchr (text, '$'); p != NULL; p = strchr (p + 1, '$'))
    if (g_ascii_isalpha (p[1]) || p[1] == '_')
      return TRUE;
  return FALSE;
}

static void
check_label_values (QuoitComparison *comparison, const QuoitPlace *place)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init (&iter, json_node_get_object (place->node));
  while (json_object_iter_next (&iter, &name, &member))
    {
      QuoitScalar scalar = quoit_scalar_read (&comparison->checker->manifest, member);

      if (scalar.type == QUOIT_SCALAR_STRING && !quoit_is_label_value (scalar.text)
          && !has_other_variable (scalar.text))
        quoit_comparison_report (comparison, &(QuoitPlace) { place, member, name, 0, NULL }, "%s", label_name);
    }
}

/* --- members --- */

/* Returns the names of the constraint from @from on: "'a', 'b' or 'c'". */
static GString *
list_names (const QuoitSchemaConstraint *constraint, guint from, const char *last)
{
  GString *names = g_string_new (NULL);

  for (guint i = from; i < constraint->n; i++)
    g_string_append_printf (names, "%s'%s'",
                            i == from                 ? ""
                            : i == constraint->n - 1u ? last
                                                      : ", ",
                            list_text (constraint, i));
  return names;
}

/* Counts the members that the map has, from @from on. */
static guint
count_members (const QuoitPlace *place, const QuoitSchemaConstraint *constraint, guint from)
{
  guint n = 0;

  for (guint i = from; i < constraint->n; i++)
    n += quoit_tree_member (place->node, list_text (constraint, i)) != NULL;
  return n;
}

static void
check_number_of_members (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint)
{
  guint n = count_members (place, constraint, 0);
  g_autoptr (GString) names = list_names (constraint, 0, " or ");

  if (n > 1)
    quoit_comparison_report_map (comparison, place, "only one of its %u kinds, such as '%s'", n,
                                 list_text (constraint, 0));
  else if (n == 0 && constraint->kind == QUOIT_SCHEMA_EXACTLY_ONE)
    quoit_comparison_report_map (comparison, place, "%s", names->str);
}

/* Checks the first member of the constraint against the others. */
static void
check_first_member (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint)
{
  const char *first = list_text (constraint, 0);
  gboolean has_first = quoit_tree_member (place->node, first) != NULL;
  guint n = count_members (place, constraint, 1), all = constraint->n - 1u;
  gboolean excludes = constraint->kind == QUOIT_SCHEMA_NOT_BOTH || constraint->kind == QUOIT_SCHEMA_NOT_WITH;
  guint least = constraint->kind == QUOIT_SCHEMA_ALL_OR ? all : 1;
  g_autoptr (GString) others = list_names (constraint, 1, excludes ? " or " : " and ");

  if (excludes && has_first && n > 0)
    quoit_comparison_report_map (comparison, place, "either '%s' or %s, not both", first, others->str);
  else if (!excludes && !has_first && n < least)
    quoit_comparison_report_map (comparison, place, "'%s', or %s", first, others->str);
}

/* --- all --- */

static gboolean
is_dns_label (const char *text)
{
  return quoit_dns_is_label (text, QUOIT_MAX_DNS_LABEL_BYTES);
}

static void
check_syntax (QuoitComparison *comparison, const QuoitPlace *place, const char *text, TextTest is_valid,
              const char *expected)
{
  if (*text != '\0' && !is_valid (text))
    quoit_comparison_report (comparison, place, "%s", expected);
}

static void
check_text (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint,
            const char *text)
{
  if (has_other_variable (text))
    return;
  switch ((QuoitSchemaConstraintKind) constraint->kind)
    {
    case QUOIT_SCHEMA_ENUM:
      check_enum (comparison, place, constraint, text);
      break;
    case QUOIT_SCHEMA_PATTERN:
      check_pattern (comparison, place, quoit_schema_text (constraint->argument), text);
      break;
    case QUOIT_SCHEMA_MIN_LENGTH:
    case QUOIT_SCHEMA_MAX_LENGTH:
      check_limit (comparison, place, constraint, g_utf8_strlen (text, -1), " characters");
      break;
    case QUOIT_SCHEMA_REQUIRED:
    case QUOIT_SCHEMA_NOT_EMPTY:
      if (*text == '\0')
        quoit_comparison_report (comparison, place, "text that is not empty");
      break;
    case QUOIT_SCHEMA_DNS_LABEL:
      check_syntax (comparison, place, text, is_dns_label,
                    "a DNS label: at most 63 lower-case letters, digits and '-', with a letter or digit at both ends");
      break;
    case QUOIT_SCHEMA_SUBDOMAIN:
      check_syntax (comparison, place, text, quoit_is_dns_subdomain,
                    "a DNS name: at most 253 lower-case letters, digits, '-' and '.'");
      break;
    case QUOIT_SCHEMA_PORT_NAME:
      check_syntax (comparison, place, text, quoit_is_port_name,
                    "the name of a port: at most 15 lower-case letters, digits and '-', with a letter");
      break;
    case QUOIT_SCHEMA_ENV_NAME:
      check_syntax (comparison, place, text, quoit_is_env_name, "the name of a variable: printable ASCII without '='");
      break;
    case QUOIT_SCHEMA_CONFIG_KEY:
      check_syntax (comparison, place, text, quoit_is_config_key, config_key);
      break;
    case QUOIT_SCHEMA_LABEL_KEY:
      check_syntax (comparison, place, text, quoit_is_label_key, label_key);
      break;
    case QUOIT_SCHEMA_SCHEDULE:
      check_syntax (comparison, place, text, quoit_is_schedule,
                    "a schedule such as '0 3 * * *': minute, hour, day, month and day of the week");
      break;
    default:
      break;
    }
}

static void
check_list (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint)
{
  gint64 length = json_array_get_length (json_node_get_array (place->node));

  if (constraint->kind == QUOIT_SCHEMA_KEYS || constraint->kind == QUOIT_SCHEMA_SET)
    check_differ (comparison, place, constraint);
  else if (constraint->kind == QUOIT_SCHEMA_MAX_ITEMS
           || (constraint->kind == QUOIT_SCHEMA_MIN_ITEMS
               && !quoit_comparison_has_own_rule (comparison, place->parent, place->name)))
    check_limit (comparison, place, constraint, length, length == 1 ? " element" : " elements");
}

static void
check_map (QuoitComparison *comparison, const QuoitPlace *place, const QuoitSchemaConstraint *constraint)
{
  switch ((QuoitSchemaConstraintKind) constraint->kind)
    {
    case QUOIT_SCHEMA_LABEL_KEYS:
      check_keys (comparison, place, quoit_is_label_key, label_key);
      break;
    case QUOIT_SCHEMA_CONFIG_KEYS:
      check_keys (comparison, place, quoit_is_config_key, config_key);
      break;
    case QUOIT_SCHEMA_LABEL_VALUES:
      check_label_values (comparison, place);
      break;
    case QUOIT_SCHEMA_AT_MOST_ONE:
    case QUOIT_SCHEMA_EXACTLY_ONE:
      check_number_of_members (comparison, place, constraint);
      break;
    case QUOIT_SCHEMA_NOT_BOTH:
    case QUOIT_SCHEMA_ONE_OF:
    case QUOIT_SCHEMA_NOT_WITH:
    case QUOIT_SCHEMA_ALL_OR:
      check_first_member (comparison, place, constraint);
      break;
    case QUOIT_SCHEMA_POD_TEMPLATE:
      if (!comparison->is_pod)
        quoit_comparison_check_pods (comparison, place, &quoit_schema_types[constraint->argument]);
      break;
    default:
      quoit_comparison_check_object (comparison, place, (QuoitSchemaConstraintKind) constraint->kind);
      break;
    }
}

void
quoit_comparison_check_constraints (QuoitComparison *comparison, const QuoitPlace *place, const QuoitScalar *scalar)
{
  for (guint i = 0; i < place->type->n_constraints; i++)
    {
      const QuoitSchemaConstraint *constraint = &quoit_schema_constraints[place->type->first_constraint + i];

      if (scalar->type == QUOIT_SCALAR_STRING)
        check_text (comparison, place, constraint, scalar->text);
      else if (scalar->type == QUOIT_SCALAR_INTEGER
               && (constraint->kind == QUOIT_SCHEMA_MINIMUM || constraint->kind == QUOIT_SCHEMA_MAXIMUM))
        check_limit (comparison, place, constraint, scalar->integer, "");
      else if (JSON_NODE_HOLDS_ARRAY (place->node))
        check_list (comparison, place, constraint);
      else if (JSON_NODE_HOLDS_OBJECT (place->node))
        check_map (comparison, place, constraint);
    }
}
