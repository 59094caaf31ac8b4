/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the findings of the rules, removes duplicates and returns a sorted list. */
#include "formats/check-rules.h"

#include <string.h>

enum { MOST_FINDINGS = 10000, MOST_VALUE_BYTES = 1024 };

/* A finding, before its path is known. */
typedef struct {
  const QuoitCheckRule *rule;
  JsonNode *node;
  unsigned line, column;
  char *expected, *message;
} Notice;

static void
clear_notice (gpointer data)
{
  Notice *notice = data;

  g_free (notice->expected);
  g_free (notice->message);
}

GArray *
quoit_check_notices_new (void)
{
  GArray *notices = g_array_new (FALSE, FALSE, sizeof (Notice));

  g_array_set_clear_func (notices, clear_notice);
  return notices;
}

/* Returns whether the finding was already reported. That happens if two rules read one field, or if a YAML alias
 * repeats a whole group. */
static gboolean
is_reported (QuoitChecker *checker, const Notice *notice)
{
  return !g_hash_table_add (checker->reported,
                            g_strdup_printf ("%p %s %s", (void *) notice->node, notice->rule->name, notice->message));
}

/* Takes ownership of the texts of @notice. */
static void
add (QuoitChecker *checker, Notice notice)
{
  notice.line = quoit_tree_line (checker->tree, notice.node);
  notice.column = quoit_tree_column (checker->tree, notice.node);
  if (checker->notices->len > MOST_FINDINGS || is_reported (checker, &notice))
    {
      clear_notice (&notice);
      return;
    }
  if (checker->notices->len == MOST_FINDINGS)
    {
      clear_notice (&notice);
      notice.rule = &quoit_check_reading_rules[QUOIT_CHECK_RULE_MORE_FINDINGS];
      notice.expected = g_strdup ("a manifest with fewer");
      notice.message = g_strdup ("after 10000 findings the check stops: expected a manifest with fewer");
    }
  else if (notice.rule->severity == QUOIT_SEVERITY_ERROR)
    g_hash_table_add (checker->refused, notice.node);
  g_array_append_val (checker->notices, notice);
}

const QuoitCheckRule *
quoit_check_find_rule (const QuoitCheckRule *table, const char *name)
{
  while (strcmp (table->name, name) != 0)
    table++;
  return table;
}

void
quoit_check_report (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                    const char *expected, ...)
{
  g_autofree char *quoted = JSON_NODE_HOLDS_VALUE (node) ? quoit_tree_quote (checker->tree, node) : NULL;
  Notice notice = { .rule = rule, .node = node };
  va_list args;

  va_start (args, expected);
  notice.expected = g_strdup_vprintf (expected, args);
  va_end (args);
  notice.message = g_strdup_printf ("%s%s%s: expected %s", what, quoted == NULL ? "" : " ",
                                    quoted == NULL ? "" : quoted, notice.expected);
  add (checker, notice);
}

void
quoit_check_report_part (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                         const char *expected, ...)
{
  Notice notice = { .rule = rule, .node = node };
  va_list args;

  va_start (args, expected);
  notice.expected = g_strdup_vprintf (expected, args);
  va_end (args);
  notice.message = g_strdup_printf ("%s: expected %s", what, notice.expected);
  add (checker, notice);
}

void
quoit_check_report_error (QuoitChecker *checker, const QuoitCheckRule *rule, JsonNode *node, const char *what,
                          GError *error)
{
  const char *expected = quoit_error_expected (error);
  Notice notice = { .rule = rule, .node = node };

  notice.expected = g_strdup (expected != NULL ? expected : error->message);
  if (what == NULL)
    notice.message = g_strdup (error->message);
  else
    notice.message = g_strdup_printf (quoit_error_is_value (error) ? "%s %s" : "%s: %s", what, error->message);
  add (checker, notice);
  g_error_free (error);
}

static char *
value_text (const QuoitTree *tree, JsonNode *node)
{
  const char *plain = quoit_tree_plain (tree, node), *text = plain;
  g_autofree char *json = NULL;

  if (plain == NULL && !JSON_NODE_HOLDS_VALUE (node))
    return NULL;
  if (plain == NULL)
    text = json_node_get_value_type (node) == G_TYPE_STRING ? json_node_get_string (node)
                                                            : (json = json_to_string (node, FALSE));
  if (strlen (text) <= MOST_VALUE_BYTES)
    return g_strdup (text);
  return g_strndup (text, (gsize) (g_utf8_find_prev_char (text, text + MOST_VALUE_BYTES + 1) - text));
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const Notice *x = a, *y = b;

  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  if (x->column != y->column)
    return x->column < y->column ? -1 : 1;
  if (x->rule->severity != y->rule->severity)
    return x->rule->severity < y->rule->severity ? -1 : 1;
  if (x->rule != y->rule)
    return strcmp (x->rule->name, y->rule->name);
  return strcmp (x->message, y->message);
}

static void
clear_finding (gpointer data)
{
  QuoitFinding *finding = data;

  g_free (finding->path);
  g_free (finding->value);
  g_free (finding->expected);
  g_free (finding->message);
}

GArray *
quoit_check_take_findings (QuoitChecker *checker)
{
  GArray *findings = g_array_sized_new (FALSE, FALSE, sizeof (QuoitFinding), checker->notices->len);
  g_autoptr (GHashTable) paths = g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, g_free);

  g_array_set_clear_func (findings, clear_finding);
  if (checker->notices->len == 0)
    return findings;
  g_array_sort (checker->notices, compare_places);
  for (guint i = 0; i < checker->notices->len; i++)
    g_hash_table_insert (paths, g_array_index (checker->notices, Notice, i).node, NULL);
  quoit_tree_find_paths (checker->tree, paths);

  for (guint i = 0; i < checker->notices->len; i++)
    {
      const Notice *notice = &g_array_index (checker->notices, Notice, i);
      QuoitFinding finding
          = { notice->line, notice->column, notice->rule->severity, notice->rule->name, NULL, NULL, NULL, NULL };

      finding.path = g_strdup (g_hash_table_lookup (paths, notice->node));
      finding.value = value_text (checker->tree, notice->node);
      finding.expected = g_strdup (notice->expected);
      finding.message = g_strdup (notice->message);
      g_array_append_val (findings, finding);
    }
  return findings;
}
