/* SPDX-License-Identifier: Apache-2.0 */
/* run FILE.ndjson...: compares C's answers with the recorded ones. */
#include "runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const VectorSuite *const suites[] = {
  &vector_suite_cluster_env, &vector_suite_kuberay, &vector_suite_lws,           &vector_suite_maxtext,
  &vector_suite_mesh,        &vector_suite_packing, &vector_suite_placement,     &vector_suite_placement_seq,
  &vector_suite_ray_core,    &vector_suite_ray_tpu, &vector_suite_ray_train_env, &vector_suite_webhook,
};

typedef struct {
  unsigned passed, failed, skipped;
  GHashTable *reasons; /* "suite op: reason" -> number of rows */
} Tally;

typedef struct {
  const char *id, *suite, *op;
  JsonObject *row;
} Row;

/* From the table "classes": class -> name of a code; "*" matches all other classes. */
static GHashTable *codes;

GQuark
vector_skip_quark (void)
{
  return g_quark_from_static_string ("vector-skip-quark");
}

gboolean
vector_skip (GError **error, const char *reason)
{
  g_set_error_literal (error, VECTOR_SKIP, 0, reason);
  return FALSE;
}

static void
count_skip (Tally *tally, const Row *row, const char *reason)
{
  char *key = g_strdup_printf ("%s %s: %s", row->suite, row->op, reason);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (tally->reasons, key));

  tally->skipped++;
  g_hash_table_replace (tally->reasons, key, GUINT_TO_POINTER (n + 1));
}

static void
count_failure (Tally *tally, const Row *row, const char *got, const char *expected)
{
  tally->failed++;
  printf ("FAIL %s %s: got %s, expected %s\n", row->id, row->op, got, expected);
}

/* Returns why json-glib would misread the line, or NULL: it cuts texts at NUL, wraps integers beyond 64 bits, and
   does not know the words that Python writes. */
static const char *
beyond_c (const char *line)
{
  gboolean in_text = FALSE;

  for (const char *p = line; *p != '\0'; p++)
    {
      if (*p == '"')
        in_text = !in_text;
      else if (in_text && *p == '\\')
        {
          p++;
          if (g_str_has_prefix (p, "u0000"))
            return "text that holds NUL";
        }
      else if (!in_text && (g_str_has_prefix (p, "NaN") || g_str_has_prefix (p, "Infinity")))
        return "a number that is not JSON";
      else if (!in_text && (g_ascii_isdigit (*p) || *p == '-'))
        {
          gsize length = strspn (p, "-+.eE0123456789");
          g_autofree char *number = g_strndup (p, length);

          if (strpbrk (number, ".eE") == NULL
              && !g_ascii_string_to_signed (number, 10, G_MININT64, G_MAXINT64, NULL, NULL))
            return "an integer beyond 64 bits";
          p += length - 1;
        }
    }
  return NULL;
}

/* @line with null in place of Python's words, so that the row can be named. This may change texts, but the row is
   only skipped. */
static char *
without_words (const char *line)
{
  static const char *const words[] = { "-Infinity", "Infinity", "NaN" };
  g_autofree char *text = g_strdup (line);

  for (unsigned i = 0; i < G_N_ELEMENTS (words); i++)
    {
      g_auto (GStrv) parts = g_strsplit (text, words[i], -1);

      g_free (text);
      text = g_strjoinv ("null", parts);
    }
  return g_steal_pointer (&text);
}

static gboolean
read_classes (GError **error)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (VECTOR_CLASSES, &text, NULL, error))
    return FALSE;

  codes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    {
      char class[64], code[64];

      if (sscanf (*line, "%63s %63s", class, code) == 2 && *class != '#')
        g_hash_table_replace (codes, g_strdup (class), g_strdup (code));
    }
  return TRUE;
}

/* The name of the code for a class of the modelled systems. */
static const char *
code_of_class (const char *class)
{
  const char *code = g_hash_table_lookup (codes, class);

  return code != NULL ? code : g_hash_table_lookup (codes, "*");
}

/* {"error": CLASS or code, "message": ...} */
static const char *
refusal_of (JsonObject *object)
{
  return json_object_has_member (object, "error") ? json_object_get_string_member (object, "error") : NULL;
}

static gboolean
are_refusals_equal (JsonObject *got, JsonObject *expected)
{
  return g_strcmp0 (refusal_of (got), code_of_class (refusal_of (expected))) == 0;
}

static gboolean is_equal (JsonNode *a, JsonNode *b, VectorOrder order);

static gboolean
are_objects_equal (JsonObject *a, JsonObject *b, VectorOrder order)
{
  g_autoptr (GList) members = json_object_get_members (a), others = json_object_get_members (b);

  if (order == VECTOR_REFUSALS && refusal_of (a) != NULL && refusal_of (b) != NULL)
    return are_refusals_equal (a, b);
  if (json_object_get_size (a) != json_object_get_size (b))
    return FALSE;
  for (GList *m = members, *o = others; m != NULL; m = m->next, o = o->next)
    {
      if (!json_object_has_member (b, m->data) || (order == VECTOR_SAME_ORDER && strcmp (m->data, o->data) != 0))
        return FALSE;
      if (!is_equal (json_object_get_member (a, m->data), json_object_get_member (b, m->data), order))
        return FALSE;
    }
  return TRUE;
}

static gboolean
are_arrays_equal (JsonArray *a, JsonArray *b, VectorOrder order)
{
  if (json_array_get_length (a) != json_array_get_length (b))
    return FALSE;
  for (unsigned i = 0; i < json_array_get_length (a); i++)
    if (!is_equal (json_array_get_element (a, i), json_array_get_element (b, i), order))
      return FALSE;

  return TRUE;
}

static gboolean
are_values_equal (JsonNode *a, JsonNode *b)
{
  GType x = json_node_get_value_type (a), y = json_node_get_value_type (b);

  if (x == G_TYPE_STRING || x == G_TYPE_BOOLEAN || y == G_TYPE_STRING || y == G_TYPE_BOOLEAN)
    return x == y && json_node_equal (a, b);
  if (x == G_TYPE_INT64 && y == G_TYPE_INT64)
    return json_node_get_int (a) == json_node_get_int (b);

  return json_node_get_double (a) == json_node_get_double (b);
}

/* Whether a refusal of ours matches "CLASS: message", the form in which Python prints an exception. */
static gboolean
is_exception_text (JsonNode *got, JsonNode *expected)
{
  g_auto (GStrv) parts = NULL;

  if (!JSON_NODE_HOLDS_OBJECT (got) || refusal_of (json_node_get_object (got)) == NULL
      || !JSON_NODE_HOLDS_VALUE (expected) || json_node_get_value_type (expected) != G_TYPE_STRING)
    return FALSE;
  parts = g_strsplit (json_node_get_string (expected), ": ", 2);
  return g_strv_length (parts) == 2
         && g_strcmp0 (refusal_of (json_node_get_object (got)), code_of_class (parts[0])) == 0;
}

static gboolean
is_equal (JsonNode *a, JsonNode *b, VectorOrder order)
{
  if (order == VECTOR_REFUSALS && is_exception_text (a, b))
    return TRUE;
  if (json_node_get_node_type (a) != json_node_get_node_type (b))
    return FALSE;

  switch (json_node_get_node_type (a))
    {
    case JSON_NODE_OBJECT:
      return are_objects_equal (json_node_get_object (a), json_node_get_object (b), order);
    case JSON_NODE_ARRAY:
      return are_arrays_equal (json_node_get_array (a), json_node_get_array (b), order);
    case JSON_NODE_VALUE:
      return are_values_equal (a, b);
    default:
      return TRUE;
    }
}

static void
compare_value (Tally *tally, const Row *row, JsonNode *got, VectorOrder order)
{
  JsonNode *expected = json_object_get_member (row->row, json_object_has_member (row->row, "out") ? "out" : "err");
  g_autofree char *got_text = NULL, *expected_text = NULL;

  if (json_object_has_member (row->row, "out") && is_equal (got, expected, order))
    {
      tally->passed++;
      return;
    }
  got_text = json_to_string (got, FALSE);
  expected_text = json_to_string (expected, FALSE);
  count_failure (tally, row, got_text, expected_text);
}

/* The class in "err", or of a refusal that is a text in "out". NULL if the row is not a refusal. */
static const char *
refused_class (const Row *row, VectorOrder order)
{
  JsonNode *out = json_object_get_member (row->row, "out");

  if (out == NULL)
    return json_object_get_string_member (json_object_get_object_member (row->row, "err"), "class");
  return order == VECTOR_REFUSALS && json_node_get_value_type (out) == G_TYPE_STRING ? "a refusal in words" : NULL;
}

static void
compare_error (Tally *tally, const Row *row, const GError *got, VectorOrder order)
{
  const char *class = refused_class (row, order);
  g_autofree char *expected = NULL;

  if (class != NULL && got->domain == QUOIT_ERROR
      && g_strcmp0 (quoit_error_code_name ((QuoitErrorCode) got->code), code_of_class (class)) == 0)
    {
      tally->passed++;
      return;
    }
  expected = class != NULL ? g_strdup (class) : json_to_string (json_object_get_member (row->row, "out"), FALSE);
  count_failure (tally, row, got->message, expected);
}

static const VectorOp *
find_op_of_suite (const VectorSuite *suite, const char *name)
{
  for (const VectorOp *const *table = suite->tables; *table != NULL; table++)
    for (const VectorOp *op = *table; op->op != NULL; op++)
      if (strcmp (op->op, name) == 0)
        return op;

  return NULL;
}

static const VectorOp *
find_op (const Row *row)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (suites); i++)
    if (strcmp (suites[i]->suite, row->suite) == 0)
      return find_op_of_suite (suites[i], row->op);

  return NULL;
}

static void
run_row (Tally *tally, const Row *row, const char *beyond)
{
  const VectorOp *op = find_op (row);
  g_autoptr (JsonNode) got = NULL;
  g_autoptr (GError) error = NULL;

  if (op == NULL)
    return count_skip (tally, row, "not in this release");
  if (beyond != NULL)
    return count_skip (tally, row, beyond);

  got = op->answer (json_object_get_member (row->row, "in"), &error);
  if (got == NULL && error == NULL)
    return count_failure (tally, row, "neither an answer nor an error", "one of them");
  if (got != NULL && error != NULL)
    return count_failure (tally, row, "an answer and an error", "one of them");
  if (got != NULL)
    compare_value (tally, row, got, op->order);
  else if (error->domain == VECTOR_SKIP)
    count_skip (tally, row, error->message);
  else
    compare_error (tally, row, error, op->order);
}

static gboolean
has_text (JsonObject *object, const char *member)
{
  JsonNode *node = json_object_get_member (object, member);

  return node != NULL && json_node_get_value_type (node) == G_TYPE_STRING;
}

static void
run_line (Tally *tally, const char *path, unsigned number, const char *line)
{
  const char *beyond = beyond_c (line);
  g_autofree char *written = beyond != NULL ? without_words (line) : NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node = json_from_string (written != NULL ? written : line, &error);
  JsonObject *row = node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;

  if (row == NULL || !has_text (row, "id") || !has_text (row, "suite") || !has_text (row, "op")
      || !json_object_has_member (row, "in")
      || json_object_has_member (row, "out") == json_object_has_member (row, "err"))
    {
      tally->failed++;
      printf ("FAIL %s:%u: not a vector: %s\n", path, number, error != NULL ? error->message : "a member is missing");
      return;
    }
  run_row (tally,
           &(Row) { json_object_get_string_member (row, "id"), json_object_get_string_member (row, "suite"),
                    json_object_get_string_member (row, "op"), row },
           beyond);
}

static void
run_file (Tally *tally, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  unsigned number = 1;

  if (!g_file_get_contents (path, &text, NULL, &error))
    {
      tally->failed++;
      printf ("FAIL %s\n", error->message);
      return;
    }
  for (char *line = text, *end; line != NULL && *line != '\0'; line = end, number++)
    {
      end = strchr (line, '\n');
      if (end != NULL)
        *end++ = '\0';
      if (*line != '\0')
        run_line (tally, path, number, line);
    }
}

static void
print_reasons (GHashTable *reasons)
{
  g_autoptr (GList) keys = g_list_sort (g_hash_table_get_keys (reasons), (GCompareFunc) strcmp);

  if (keys != NULL)
    printf ("skipped\n");
  for (GList *k = keys; k != NULL; k = k->next)
    printf ("%7u  %s\n", GPOINTER_TO_UINT (g_hash_table_lookup (reasons, k->data)), (const char *) k->data);
}

int
main (int argc, char **argv)
{
  Tally tally = { 0, 0, 0, g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  g_autoptr (GError) error = NULL;

  if (!read_classes (&error))
    {
      printf ("FAIL %s\n0 passed, 1 failed, 0 skipped\n", error->message);
      return EXIT_FAILURE;
    }
  for (int i = 1; i < argc; i++)
    run_file (&tally, argv[i]);

  print_reasons (tally.reasons);
  g_hash_table_unref (tally.reasons);
  g_hash_table_unref (codes);
  printf ("%u passed, %u failed, %u skipped\n", tally.passed, tally.failed, tally.skipped);
  return tally.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
