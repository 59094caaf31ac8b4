/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/yaml.h"

#include <string.h>
#include <yaml.h>

#include "base/name-hash.h"
#include "formats/yaml-scalar.h"

/* A complete value, with its size, which the limits on aliases need. */
typedef struct {
  JsonNode *node;
  guint32 size;   /* number of values in it, including itself, with aliases expanded */
  guint32 height; /* 0: a scalar */
} Value;

/* A list or map whose end has not been read yet. */
typedef struct {
  JsonNode *node;
  char *anchor;
  char *key; /* of a map: the key that was read; NULL: the next scalar is a key */
  unsigned key_line, key_column;
  guint32 size, height;
} Frame;

/* Builds the tree from the events of libyaml. */
typedef struct {
  QuoitTree *tree;
  GArray *frames;
  GHashTable *anchors; /* name -> Value, of this document */
  JsonNode *root;
  guint32 n_nodes, n_aliased;
  GError **error;
} Builder;

static void
clear_frame (gpointer data)
{
  Frame *frame = data;

  g_clear_pointer (&frame->node, json_node_unref);
  g_clear_pointer (&frame->anchor, g_free);
  g_clear_pointer (&frame->key, g_free);
}

static void
free_value (gpointer data)
{
  Value *value = data;

  json_node_unref (value->node);
  g_free (value);
}

static gboolean
fail_at (const yaml_mark_t *mark, GError **error, const char *text)
{
  return quoit_fail (error, QUOIT_ERROR_INVALID, "line %zu, column %zu: %s", mark->line + 1, mark->column + 1, text);
}

static gboolean
fail_with (const yaml_mark_t *mark, const char *value, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (value);
  g_autofree char *text = g_strdup_printf ("%s: expected %s", quoted, expected);

  return fail_at (mark, error, text);
}

static void
remember_anchor (Builder *builder, const char *anchor, const Value *value)
{
  Value *copy;

  if (anchor == NULL)
    return;
  copy = g_memdup2 (value, sizeof *value);
  json_node_ref (copy->node);
  g_hash_table_replace (builder->anchors, g_strdup (anchor), copy);
}

static Frame *
innermost_frame (Builder *builder)
{
  return builder->frames->len == 0 ? NULL : &g_array_index (builder->frames, Frame, builder->frames->len - 1);
}

static gboolean
refuse_duplicate_key (Builder *builder, const Frame *frame, JsonNode *first)
{
  g_autofree char *quoted = quoit_quote (frame->key);

  return quoit_fail (builder->error, QUOIT_ERROR_INVALID,
                     "line %u, column %u: key %s: expected each key once in a map; line %u has it too", frame->key_line,
                     frame->key_column, quoted, quoit_tree_line (builder->tree, first));
}

/* The key "<<" adds members of other maps that the map itself does not have. They can be added only at the end of
 * the map, when its own members are known. */
static const char merge_key[] = "<<";

static gboolean
merge_map (JsonObject *into, JsonNode *from)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  if (!JSON_NODE_HOLDS_OBJECT (from))
    return FALSE;
  json_object_iter_init (&iter, json_node_get_object (from));
  while (json_object_iter_next (&iter, &name, &member))
    if (!json_object_has_member (into, name))
      json_object_set_member (into, name, json_node_ref (member));
  return TRUE;
}

static gboolean
merge (Builder *builder, const Frame *frame, const yaml_mark_t *mark)
{
  JsonObject *object = json_node_get_object (frame->node);
  JsonNode *member = json_object_get_member (object, merge_key);
  g_autoptr (JsonNode) from = NULL;
  gboolean ok = TRUE;

  if (member == NULL)
    return TRUE;
  from = json_node_ref (member);
  json_object_remove_member (object, merge_key);
  if (!JSON_NODE_HOLDS_ARRAY (from))
    ok = merge_map (object, from);
  else
    for (guint i = 0; ok && i < json_array_get_length (json_node_get_array (from)); i++)
      ok = merge_map (object, json_array_get_element (json_node_get_array (from), i));
  return ok || fail_with (mark, merge_key, "a map, or a list of maps, to merge", builder->error);
}

/* Adds a complete value to the open list or map, or makes it the root. Takes ownership of the node. */
static gboolean
add_value (Builder *builder, Value value)
{
  g_autoptr (JsonNode) node = value.node;
  Frame *frame = innermost_frame (builder);
  JsonObject *object;
  JsonNode *first;

  if (frame == NULL)
    {
      builder->root = g_steal_pointer (&node);
      return TRUE;
    }
  frame->size += value.size;
  frame->height = MAX (frame->height, value.height + 1);
  if (JSON_NODE_HOLDS_ARRAY (frame->node))
    {
      json_array_add_element (json_node_get_array (frame->node), g_steal_pointer (&node));
      return TRUE;
    }
  object = json_node_get_object (frame->node);
  first = json_object_get_member (object, frame->key);
  if (first != NULL)
    return refuse_duplicate_key (builder, frame, first);
  json_object_set_member (object, frame->key, g_steal_pointer (&node));
  g_clear_pointer (&frame->key, g_free);
  return TRUE;
}

/* Sets the place of the value. The place of a member is that of its key, because users look for the key. */
static void
set_place (Builder *builder, JsonNode *node, const yaml_mark_t *mark)
{
  const Frame *frame = innermost_frame (builder);

  if (frame != NULL && frame->key != NULL)
    quoit_tree_set_place (builder->tree, node, frame->key_line, frame->key_column);
  else
    quoit_tree_set_place (builder->tree, node, (unsigned) mark->line + 1, (unsigned) mark->column + 1);
}

static gboolean
count_value (Builder *builder, const yaml_mark_t *mark)
{
  if (++builder->n_nodes <= QUOIT_YAML_MOST_NODES)
    return TRUE;
  return fail_at (mark, builder->error, "value 3,000,001: expected at most 3,000,000 values in one file");
}

static gboolean
needs_key (const Frame *frame)
{
  return frame != NULL && frame->key == NULL && JSON_NODE_HOLDS_OBJECT (frame->node);
}

static gboolean
on_scalar (Builder *builder, const yaml_event_t *event)
{
  const char *text = (const char *) event->data.scalar.value, *tag = (const char *) event->data.scalar.tag;
  gboolean is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE, is_text = TRUE;
  const yaml_mark_t *mark = &event->start_mark;
  Value value = { .size = 1 };

  /* The text has no NUL itself, but a double-quoted scalar may have the escape \0. */
  if (strlen (text) != event->data.scalar.length)
    return fail_with (mark, text, "text without NUL", builder->error);
  if (needs_key (innermost_frame (builder)))
    {
      Frame *frame = innermost_frame (builder);

      frame->key = g_strdup (text);
      frame->key_line = (unsigned) mark->line + 1;
      frame->key_column = (unsigned) mark->column + 1;
      return TRUE;
    }
  if (tag != NULL && !quoit_yaml_tag_is_known (tag))
    return fail_with (mark, tag, "no tag", builder->error);
  /* A tag decides, not the quotes. */
  if (tag != NULL)
    is_plain = !quoit_yaml_tag_is_text (tag);
  if (!count_value (builder, mark))
    return FALSE;

  value.node = is_plain ? quoit_yaml_resolve (text, &is_text) : json_node_init_string (json_node_alloc (), text);
  if (tag != NULL && is_plain && !quoit_yaml_tag_fits (tag, value.node, is_text))
    {
      json_node_unref (value.node);
      return fail_with (mark, text, "a value of its tag", builder->error);
    }
  set_place (builder, value.node, mark);
  if (!is_text || (is_plain && strstr (text, "${") != NULL))
    quoit_tree_set_plain (builder->tree, value.node, text);
  remember_anchor (builder, (const char *) event->data.scalar.anchor, &value);
  return add_value (builder, value);
}

static gboolean
on_start (Builder *builder, JsonNode *node, const yaml_mark_t *mark, const yaml_char_t *anchor, const yaml_char_t *tag)
{
  Frame frame = { .node = node, .anchor = g_strdup ((const char *) anchor), .size = 1 };

  if (needs_key (innermost_frame (builder)))
    {
      clear_frame (&frame);
      return fail_at (mark, builder->error, "a list or map: expected a key that is text");
    }
  if (tag != NULL && !quoit_yaml_tag_is_known ((const char *) tag))
    {
      clear_frame (&frame);
      return fail_with (mark, (const char *) tag, "no tag", builder->error);
    }
  if (!count_value (builder, mark))
    {
      clear_frame (&frame);
      return FALSE;
    }
  set_place (builder, node, mark);
  g_array_append_val (builder->frames, frame);
  if (builder->frames->len > QUOIT_YAML_DEPTH)
    return fail_at (mark, builder->error, "a list or map inside 512 others: expected no deeper nesting");
  return TRUE;
}

static gboolean
on_end (Builder *builder, const yaml_mark_t *mark)
{
  Frame frame = *innermost_frame (builder);
  Value value = { frame.node, frame.size, frame.height + 1 };
  gboolean ok = !JSON_NODE_HOLDS_OBJECT (frame.node) || merge (builder, &frame, mark);

  if (!ok)
    return FALSE;
  remember_anchor (builder, frame.anchor, &value);
  innermost_frame (builder)->node = NULL;
  g_array_set_size (builder->frames, builder->frames->len - 1);
  return add_value (builder, value);
}

static gboolean
on_alias (Builder *builder, const yaml_event_t *event)
{
  const char *name = (const char *) event->data.alias.anchor;
  const Value *anchor = g_hash_table_lookup (builder->anchors, name);
  const yaml_mark_t *mark = &event->start_mark;
  Value value;

  if (anchor == NULL)
    return fail_with (mark, name, "an earlier anchor of that name whose value has ended", builder->error);
  if (needs_key (innermost_frame (builder)))
    return fail_with (mark, name, "a key that is text, not an alias", builder->error);
  value = *anchor;
  if (builder->frames->len + value.height > QUOIT_YAML_DEPTH)
    return fail_with (mark, name, "no more than 512 lists and maps inside each other", builder->error);
  if (value.size > QUOIT_YAML_MOST_ALIASED - builder->n_aliased)
    return fail_with (mark, name, "aliases for at most 100,000 values together", builder->error);
  builder->n_aliased += value.size;
  json_node_ref (value.node);
  return add_value (builder, value);
}

static gboolean
on_event (Builder *builder, const yaml_event_t *event)
{
  JsonNode *node;

  switch (event->type)
    {
    case YAML_DOCUMENT_END_EVENT:
      if (builder->root != NULL)
        quoit_tree_take_document (builder->tree, g_steal_pointer (&builder->root));
      g_hash_table_remove_all (builder->anchors);
      return TRUE;
    case YAML_SCALAR_EVENT:
      return on_scalar (builder, event);
    case YAML_ALIAS_EVENT:
      return on_alias (builder, event);
    case YAML_SEQUENCE_START_EVENT:
      node = json_node_init_array (json_node_alloc (), NULL);
      json_node_take_array (node, json_array_new ());
      return on_start (builder, node, &event->start_mark, event->data.sequence_start.anchor,
                       event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
      node = json_node_init_object (json_node_alloc (), NULL);
      json_node_take_object (node, json_object_new ());
      return on_start (builder, node, &event->start_mark, event->data.mapping_start.anchor,
                       event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return on_end (builder, &event->start_mark);
    default:
      return TRUE;
    }
}

/* Finds a tab in the indentation of the line with the problem. libyaml refuses such a tab with various messages, so
 * this reader reports it itself. Lines and columns count from 1. */
static gboolean
find_tab (const yaml_parser_t *parser, gsize *line, gsize *column)
{
  const char *at = (const char *) parser->input.string.start, *end = (const char *) parser->input.string.end;

  for (*line = 1; at != NULL && at < end && *line <= parser->problem_mark.line + 1; (*line)++)
    {
      const char *stop = memchr (at, '\n', (gsize) (end - at)), *p = at;

      stop = stop == NULL ? end : stop;
      while (p < stop && *p == ' ')
        p++;
      *column = (gsize) (p - at) + 1;
      if (*line == parser->problem_mark.line + 1)
        return p < stop && *p == '\t';
      at = stop + 1;
    }
  return FALSE;
}

static gboolean
fail_parser (const yaml_parser_t *parser, GError **error)
{
  const char *problem = parser->problem != NULL ? parser->problem : "not YAML";
  gsize line, column;

  if (parser->error == YAML_READER_ERROR)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "byte %zu: %s: expected YAML", parser->problem_offset, problem);
  if (find_tab (parser, &line, &column))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "line %zu, column %zu: a tab: expected spaces", line, column);
  if (parser->context != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "line %zu, column %zu: %s (%s, line %zu): expected YAML",
                       parser->problem_mark.line + 1, parser->problem_mark.column + 1, problem, parser->context,
                       parser->context_mark.line + 1);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "line %zu, column %zu: %s: expected YAML",
                     parser->problem_mark.line + 1, parser->problem_mark.column + 1, problem);
}

static gboolean
build (Builder *builder, yaml_parser_t *parser)
{
  yaml_event_type_t type = YAML_NO_EVENT;
  gboolean ok = TRUE;

  while (ok && type != YAML_STREAM_END_EVENT)
    {
      yaml_event_t event;

      if (!yaml_parser_parse (parser, &event))
        return fail_parser (parser, builder->error);
      type = event.type;
      ok = on_event (builder, &event);
      yaml_event_delete (&event);
    }
  return ok;
}

static gboolean
check_utf8 (const char *text, gsize length, GError **error)
{
  const char *bad, *line_start;
  g_autofree char *quoted = NULL;
  unsigned line = 1;

  if (g_utf8_validate_len (text, length, &bad))
    return TRUE;
  line_start = text;
  for (const char *p = text; (p = memchr (p, '\n', (gsize) (bad - p))) != NULL; line_start = ++p)
    line++;
  quoted = quoit_quote_bytes (bad, 1);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "line %u, column %u (byte %zu): %s: expected UTF-8 text without NUL",
                     line, (unsigned) (bad - line_start) + 1, (gsize) (bad - text), quoted);
}

/* Returns whether libyaml sees the start of a line at @at: after one of its five line endings, or after a byte
 * order mark. */
static gboolean
begins_line (const char *text, const char *at)
{
  static const char *const ends[] = { "\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf" };

  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    if ((gsize) (at - text) >= strlen (ends[i]) && memcmp (at - strlen (ends[i]), ends[i], strlen (ends[i])) == 0)
      return TRUE;
  return at == text;
}

/* Limits the number of %TAG lines. No tag that quoit knows needs them, and libyaml compares each line with all earlier
 * ones, which takes long if there are many. */
static gboolean
check_directives (const char *text, gsize length, GError **error)
{
  static const char directive[] = "%TAG";
  const char *end = text + length, *p = text;
  unsigned n = 0;

  while (length > 0 && (p = g_strstr_len (p, end - p, directive)) != NULL)
    {
      unsigned line = 1;

      if (!begins_line (text, p) || ++n <= QUOIT_YAML_MOST_TAG_LINES)
        {
          p++;
          continue;
        }
      for (const char *q = text; (q = memchr (q, '\n', (gsize) (p - q))) != NULL; q++)
        line++;
      return quoit_fail (error, QUOIT_ERROR_INVALID, "line %u, column 1: '%s': expected at most %d such lines", line,
                         directive, QUOIT_YAML_MOST_TAG_LINES);
    }
  return TRUE;
}

QuoitTree *
quoit_tree_parse_yaml (const char *text, gsize length, GError **error)
{
  g_autoptr (QuoitTree) tree = NULL;
  g_autoptr (GArray) frames = NULL;
  g_autoptr (GHashTable) anchors = NULL;
  Builder builder = { .error = error };
  yaml_parser_t parser;
  gboolean ok;

  if (!check_utf8 (text, length, error) || !check_directives (text, length, error))
    return NULL;

  builder.tree = tree = quoit_tree_new ();
  builder.frames = frames = g_array_new (FALSE, FALSE, sizeof (Frame));
  g_array_set_clear_func (frames, clear_frame);
  builder.anchors = anchors = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, free_value);

  g_assert (yaml_parser_initialize (&parser));
  yaml_parser_set_encoding (&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string (&parser, (const unsigned char *) text, length);
  ok = build (&builder, &parser);
  yaml_parser_delete (&parser);
  g_clear_pointer (&builder.root, json_node_unref);
  if (!ok)
    return NULL;
  if (quoit_tree_n_documents (tree) == 0)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "line 1: the end: expected a YAML document");

  return g_steal_pointer (&tree);
}
