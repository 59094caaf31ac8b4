/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as a log of SARIF 2.1.0, which code scanning services and editors read. */
#include "findings.h"

#include <string.h>

#include "cli/rule-texts.h"
#include "json-text.h"
#include "words.h"

static void
add_text (JsonBuilder *builder, const char *name, const char *value)
{
  g_autofree char *valid = value == NULL ? NULL : g_utf8_make_valid (value, -1);

  if (valid == NULL)
    return;
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, valid);
}

static void
add_number (JsonBuilder *builder, const char *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

static void
begin_object (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_object (builder);
}

static void
begin_array (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
}

/* Adds { "text": @text }, a message of SARIF. */
static void
add_message (JsonBuilder *builder, const char *name, const char *text)
{
  begin_object (builder, name);
  add_text (builder, "text", text);
  json_builder_end_object (builder);
}

static const char *
find_rule_text (const char *rule)
{
  for (guint i = 0; i < G_N_ELEMENTS (rule_texts); i++)
    if (strcmp (rule_texts[i].rule, rule) == 0)
      return rule_texts[i].text;
  return NULL;
}

static void
add_rules (JsonBuilder *builder, const GPtrArray *rules)
{
  begin_array (builder, "rules");
  for (guint i = 0; i < rules->len; i++)
    {
      const char *text = find_rule_text (rules->pdata[i]);

      json_builder_begin_object (builder);
      add_text (builder, "id", rules->pdata[i]);
      if (text != NULL)
        add_message (builder, "shortDescription", text);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

/* Returns the URI of @file: a relative reference for a relative path, as services expect them for files of
 * a repository. "./" keeps a colon in the first part from ending a scheme. */
static char *
format_uri (const char *file)
{
  g_autofree char *escaped
      = g_uri_escape_bytes ((const guint8 *) file, strlen (file), G_URI_RESERVED_CHARS_SUBCOMPONENT_DELIMITERS "/:@");
  const char *colon = strchr (escaped, ':'), *slash = strchr (escaped, '/');

  if (*escaped == '/')
    return g_strconcat ("file://", escaped, NULL);
  return g_strconcat (colon != NULL && (slash == NULL || colon < slash) ? "./" : "", escaped, NULL);
}

static void
add_file (JsonBuilder *builder, const char *file)
{
  g_autofree char *uri = format_uri (file);

  begin_object (builder, "artifactLocation");
  add_text (builder, "uri", uri);
  json_builder_end_object (builder);
}

static void
add_physical_location (JsonBuilder *builder, const Finding *finding)
{
  begin_object (builder, "physicalLocation");
  add_file (builder, finding->file);
  if (finding->line > 0)
    {
      begin_object (builder, "region");
      add_number (builder, "startLine", finding->line);
      if (finding->column > 0)
        add_number (builder, "startColumn", finding->column);
      json_builder_end_object (builder);
    }
  json_builder_end_object (builder);
}

static void
add_locations (JsonBuilder *builder, const Finding *finding)
{
  if (finding->file == NULL)
    return;
  begin_array (builder, "locations");
  json_builder_begin_object (builder);
  add_physical_location (builder, finding);
  if (finding->path != NULL)
    {
      begin_array (builder, "logicalLocations");
      json_builder_begin_object (builder);
      add_text (builder, "fullyQualifiedName", finding->path);
      json_builder_end_object (builder);
      json_builder_end_array (builder);
    }
  json_builder_end_object (builder);
  json_builder_end_array (builder);
}

static void
add_result (JsonBuilder *builder, const Finding *finding, const GPtrArray *rules)
{
  guint index;

  json_builder_begin_object (builder);
  add_text (builder, "ruleId", finding->rule);
  if (g_ptr_array_find_with_equal_func ((GPtrArray *) rules, finding->rule, g_str_equal, &index))
    add_number (builder, "ruleIndex", index);
  /* The levels of SARIF have the same names as the severities. */
  add_text (builder, "level", severity_word (finding->severity));
  add_message (builder, "message", finding->message);
  add_locations (builder, finding);
  begin_object (builder, "properties");
  add_text (builder, "value", finding->value);
  add_text (builder, "expected", finding->expected);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
}

/* A file that cannot be read is an error of the run, not of the file. */
static void
add_invocation (JsonBuilder *builder, const Findings *findings)
{
  begin_array (builder, "invocations");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "executionSuccessful");
  json_builder_add_boolean_value (builder, findings->unread->len == 0);
  add_number (builder, "exitCode", findings->exit_status);
  begin_array (builder, "toolExecutionNotifications");
  for (guint i = 0; i < findings->unread->len; i++)
    {
      const UnreadFile *unread = &g_array_index (findings->unread, UnreadFile, i);
      const Finding place = { .file = unread->file };

      json_builder_begin_object (builder);
      add_text (builder, "level", severity_word (QUOIT_SEVERITY_ERROR));
      add_message (builder, "message", unread->message);
      add_locations (builder, &place);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  json_builder_end_array (builder);
}

static void
add_run (JsonBuilder *builder, const Findings *findings)
{
  json_builder_begin_object (builder);
  begin_object (builder, "tool");
  begin_object (builder, "driver");
  add_text (builder, "name", "quoit");
  add_text (builder, "version", quoit_version ());
  add_rules (builder, findings->rules);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  add_text (builder, "columnKind", "unicodeCodePoints");
  add_invocation (builder, findings);
  begin_array (builder, "results");
  for (guint i = 0; i < findings->findings->len; i++)
    add_result (builder, &g_array_index (findings->findings, Finding, i), findings->rules);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

char *
findings_format_sarif (const Findings *findings)
{
  g_autoptr (JsonBuilder) builder = json_builder_new_immutable ();

  json_builder_begin_object (builder);
  add_text (builder, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  add_text (builder, "version", "2.1.0");
  begin_array (builder, "runs");
  add_run (builder, findings);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return json_text_format (builder);
}
