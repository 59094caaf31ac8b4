/* SPDX-License-Identifier: Apache-2.0 */
#include "document.h"

#include <string.h>

#include "json-text.h"
#include "table-cells.h"
#include "text.h"

typedef enum { SECTION_SENTENCE, SECTION_FACTS, SECTION_OBJECT, SECTION_TABLE, SECTION_MAP, SECTION_LINES } SectionType;

typedef struct {
  SectionType type;
  const char *key, *title;
  char *sentence;
  Table *table;
  GPtrArray *lines;
} Section;

struct _Document {
  GArray *sections;
  const Table *csv_table; /* the table that -o csv prints; NULL: none */
  bool csv_is_chosen;     /* document_take_csv_table() chose csv_table; otherwise csv_table is the first table */
};

static void
section_clear (gpointer data)
{
  Section *section = data;

  g_free (section->sentence);
  table_free (section->table);
  if (section->lines != NULL)
    g_ptr_array_unref (section->lines);
}

Document *
document_new (void)
{
  Document *document = g_new0 (Document, 1);

  document->sections = g_array_new (FALSE, TRUE, sizeof (Section));
  g_array_set_clear_func (document->sections, section_clear);
  return document;
}

void
document_free (Document *document)
{
  if (document == NULL)
    return;
  g_array_unref (document->sections);
  g_free (document);
}

static void
add_section (Document *document, Section section)
{
  g_array_append_val (document->sections, section);
}

void
document_take_sentence (Document *document, char *sentence)
{
  add_section (document, (Section) { .type = SECTION_SENTENCE, .sentence = sentence });
}

void
document_take_facts (Document *document, Table *facts)
{
  add_section (document, (Section) { .type = SECTION_FACTS, .table = facts });
}

void
document_take_object (Document *document, const char *key, const char *title, Table *facts)
{
  add_section (document, (Section) { .type = SECTION_OBJECT, .key = key, .title = title, .table = facts });
}

void
document_take_table (Document *document, const char *key, const char *title, Table *rows)
{
  if (document->csv_table == NULL)
    document->csv_table = rows;
  add_section (document, (Section) { .type = SECTION_TABLE, .key = key, .title = title, .table = rows });
}

void
document_take_csv_table (Document *document, const char *key, const char *title, Table *rows)
{
  g_assert (!document->csv_is_chosen);
  document->csv_table = rows;
  document->csv_is_chosen = true;
  document_take_table (document, key, title, rows);
}

void
document_take_map (Document *document, const char *key, const char *title, Table *pairs)
{
  add_section (document, (Section) { .type = SECTION_MAP, .key = key, .title = title, .table = pairs });
}

void
document_take_lines (Document *document, const char *key, const char *title, GPtrArray *lines)
{
  add_section (document, (Section) { .type = SECTION_LINES, .key = key, .title = title, .lines = lines });
}

static void
build_section (const Section *section, JsonBuilder *builder)
{
  if (section->key != NULL)
    json_builder_set_member_name (builder, section->key);
  switch (section->type)
    {
    case SECTION_SENTENCE:
      break;
    case SECTION_FACTS:
      table_build_members (section->table, builder);
      break;
    case SECTION_OBJECT:
      json_builder_begin_object (builder);
      table_build_members (section->table, builder);
      json_builder_end_object (builder);
      break;
    case SECTION_TABLE:
      table_build_array (section->table, builder);
      break;
    case SECTION_MAP:
      table_build_map (section->table, builder);
      break;
    case SECTION_LINES:
      json_builder_begin_array (builder);
      for (guint i = 0; i < section->lines->len; i++)
        json_builder_add_string_value (builder, section->lines->pdata[i]);
      json_builder_end_array (builder);
      break;
    }
}

static JsonBuilder *
build_document (const Document *document)
{
  JsonBuilder *builder = json_builder_new_immutable ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "schema");
  json_builder_add_string_value (builder, "quoit/1");
  for (guint i = 0; i < document->sections->len; i++)
    build_section (&g_array_index (document->sections, Section, i), builder);
  json_builder_end_object (builder);
  return builder;
}

char *
document_format_json (const Document *document)
{
  g_autoptr (JsonBuilder) builder = build_document (document);

  return json_text_format (builder);
}

/* In JSON, these characters occur in strings only. */
char *
document_format_script (const Document *document)
{
  g_autoptr (JsonBuilder) builder = build_document (document);
  g_autofree char *json = json_text_format_compact (builder);
  GString *script = g_string_sized_new (strlen (json));

  for (const char *c = json; *c != '\0'; c++)
    if (*c == '<' || *c == '>' || *c == '&')
      g_string_append_printf (script, "\\u%04x", (guint) *c);
    else
      g_string_append_c (script, *c);
  return g_string_free (script, FALSE);
}

/* At a terminal, a long line goes on in further lines, which begin with two blanks. */
static char *
format_lines (const GPtrArray *lines, TextForm form)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < lines->len; i++)
    {
      g_autofree char *line = text_for_terminal (lines->pdata[i]);

      if (form.divides)
        text_append_words (text, line, 0, 2, form.width);
      else
        g_string_append (text, line);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

static char *
format_body (const Section *section, TextForm form)
{
  g_autofree char *sentence = NULL, *divided = NULL;

  switch (section->type)
    {
    case SECTION_FACTS:
    case SECTION_OBJECT:
      return table_format_facts (section->table, form);
    case SECTION_TABLE:
    case SECTION_MAP:
      return table_get_n_rows (section->table) == 0 ? g_strdup ("none\n") : table_format_rows (section->table, form);
    case SECTION_LINES:
      return section->lines->len == 0 ? g_strdup ("none\n") : format_lines (section->lines, form);
    case SECTION_SENTENCE:
    default:
      sentence = text_for_terminal (section->sentence);
      if (form.width > 0)
        text_shorten_ids (sentence);
      divided = form.divides ? text_divide (sentence, form.width) : g_strdup (sentence);
      return g_strconcat (divided, "\n", NULL);
    }
}

char *
document_format_text (const Document *document, TextForm form)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < document->sections->len; i++)
    {
      const Section *section = &g_array_index (document->sections, Section, i);
      g_autofree char *body = format_body (section, form);

      if (i > 0 && section->title != NULL)
        g_string_append_c (text, '\n');
      if (section->title != NULL)
        g_string_append_printf (text, "%s%s:%s%s", form.has_colors ? COLOR_BOLD : "", section->title,
                                form.has_colors ? COLOR_END : "", g_str_equal (body, "none\n") ? " " : "\n");
      g_string_append (text, body);
    }
  return g_string_free (text, FALSE);
}

char *
document_format_csv (const Document *document)
{
  return document->csv_table == NULL ? NULL : table_format_csv (document->csv_table);
}

/* --- HTML --- */

static const char style[] = "body{font:14px system-ui,sans-serif;margin:2em;color:#1b1f24;background:#fff}\n"
                            "table{border-collapse:collapse;margin:0 0 1em}\n"
                            "th,td{border:1px solid #c9d1d9;padding:.2em .6em;text-align:left;vertical-align:top}\n"
                            "th{background:#f0f2f5}.n{text-align:right}\n"
                            "@media(prefers-color-scheme:dark){body{color:#e6e9ed;background:#14181d}"
                            "th{background:#262c33}th,td{border-color:#4a525c}}\n";

static void
append_paragraph (GString *html, const char *text)
{
  g_string_append (html, "<p>");
  text_append_markup (html, text);
  g_string_append (html, "</p>\n");
}

static void
append_html_body (GString *html, const Section *section)
{
  switch (section->type)
    {
    case SECTION_FACTS:
    case SECTION_OBJECT:
      table_append_html_facts (section->table, html);
      return;
    case SECTION_TABLE:
    case SECTION_MAP:
      if (table_get_n_rows (section->table) == 0)
        append_paragraph (html, "none");
      else
        table_append_html_rows (section->table, html);
      return;
    case SECTION_LINES:
      for (guint i = 0; i < section->lines->len; i++)
        append_paragraph (html, section->lines->pdata[i]);
      return;
    case SECTION_SENTENCE:
    default:
      append_paragraph (html, section->sentence);
      return;
    }
}

char *
document_format_html (const Document *document, const char *title)
{
  GString *html = g_string_new ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");

  text_append_markup (html, title);
  g_string_append_printf (html, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
  text_append_markup (html, title);
  g_string_append (html, "</h1>\n");
  for (guint i = 0; i < document->sections->len; i++)
    {
      const Section *section = &g_array_index (document->sections, Section, i);

      if (section->title != NULL)
        {
          g_string_append (html, "<h2>");
          text_append_markup (html, section->title);
          g_string_append (html, "</h2>\n");
        }
      append_html_body (html, section);
    }
  g_string_append (html, "</body>\n</html>\n");
  return g_string_free (html, FALSE);
}
