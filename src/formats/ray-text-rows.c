/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ray-text-rows.h"

#include <string.h>

#include "base/label-names.h"
#include "base/texts.h"
#include "formats/json.h"
#include "formats/quantity.h"
#include "models/ray/label-syntax.h"
#include "models/ray/resource-names.h"

/* A value in the JSON text. */
typedef struct {
  const char *start; /* of a string: behind the opening quote; NULL: no such member */
  guint32 length;
} Span;

/* The members that count. The first group is of `ray list nodes`, the second one of ray.nodes(). */
typedef enum {
  LISTED_ID,
  LISTED_NAME,
  LISTED_ADDRESS,
  LISTED_STATE,
  OBJECT_ID,
  OBJECT_NAME,
  OBJECT_ADDRESS,
  OBJECT_ALIVE,
  OBJECT_ALIVE_TOO,
  IS_HEAD, /* of both */
  N_SCALARS,
  LISTED_LABELS = N_SCALARS,
  LISTED_RESOURCES,
  OBJECT_LABELS,
  OBJECT_RESOURCES,
  N_MEMBERS
} Member;

/* clang-format off */
static const char *const member_names[N_MEMBERS] = {
  [LISTED_ID] = "node_id",
  [LISTED_NAME] = "node_name",
  [LISTED_ADDRESS] = "node_ip",
  [LISTED_STATE] = "state",
  [OBJECT_ID] = "NodeID",
  [OBJECT_NAME] = "NodeName",
  [OBJECT_ADDRESS] = "NodeManagerAddress",
  [OBJECT_ALIVE] = "Alive",
  [OBJECT_ALIVE_TOO] = "alive",
  [IS_HEAD] = "is_head_node",
  [LISTED_LABELS] = "labels",
  [LISTED_RESOURCES] = "resources_total",
  [OBJECT_LABELS] = "Labels",
  [OBJECT_RESOURCES] = "Resources",
};
/* clang-format on */

/* A label, or a resource and its amount. */
typedef struct {
  Span key, value;
} EntryText;

/* Nodes of a cluster resemble each other, so each text is first compared with the one at the same position of the row
 * before. Only texts that differ are searched in the table of interned texts, and checked. */
struct _QuoitRayTextRows {
  const char *end;
  GStringChunk *texts;
  QuoitTexts interned;
  QuoitRayRowArrays arrays;
  EntryText labels[QUOIT_RAY_MOST_ENTRIES], resources[QUOIT_RAY_MOST_ENTRIES]; /* where the arrays were read */
  guint16 n_labels, n_resources;                                               /* how many of their elements are set */
  guint8 member_lengths[N_MEMBERS];
};

/* The row that is being read. */
typedef struct {
  QuoitRayTextRows *rows;
  const char *p; /* the next byte to read */
  Span scalars[N_SCALARS];
  QuoitRayRow *row;
  gboolean has_listed_maps, has_object_maps;
} RowText;

QuoitRayTextRows *
quoit_ray_text_rows_new (const char *text, gsize length, GStringChunk *texts)
{
  QuoitRayTextRows *rows = g_new0 (QuoitRayTextRows, 1);

  rows->end = text + length;
  rows->texts = texts;
  quoit_texts_init (&rows->interned);
  for (guint i = 0; i < N_MEMBERS; i++)
    rows->member_lengths[i] = (guint8) strlen (member_names[i]);
  return rows;
}

void
quoit_ray_text_rows_free (QuoitRayTextRows *rows)
{
  if (rows == NULL)
    return;
  quoit_texts_clear (&rows->interned);
  g_free (rows);
}

/* --- text that is known to be JSON --- */

static inline const char *
skip_blanks (const char *p)
{
  while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
    p++;
  return p;
}

/* Reads the string whose opening quote is at @p. Returns the byte behind it, or NULL if it has escapes. */
static inline const char *
read_string (const QuoitRayTextRows *rows, const char *p, Span *span)
{
  span->start = ++p;
  p = quoit_json_find_special (p, rows->end);
  /* Other special bytes are those of UTF-8. */
  while (*p != '"' && *p != '\\')
    p = quoit_json_find_special (p + 1, rows->end);
  span->length = (guint32) (p - span->start);
  return *p == '"' ? p + 1 : NULL;
}

/* Returns whether the bytes at @p are those of @span. */
static inline gboolean
equals (const QuoitRayTextRows *rows, const char *p, Span span)
{
  return (gsize) (rows->end - p) > span.length && memcmp (p, span.start, span.length) == 0;
}

/* Like read_string(), but first compares with a string without escapes. Sets *@is_known if it is that one. */
static inline const char *
read_expected_string (const QuoitRayTextRows *rows, const char *p, Span expected, Span *span, gboolean *is_known)
{
  *is_known = expected.start != NULL && equals (rows, p + 1, expected) && p[1 + expected.length] == '"';
  if (!*is_known)
    return read_string (rows, p, span);
  *span = expected;
  return p + 1 + expected.length + 1;
}

static const char *
skip_number_or_word (const char *p)
{
  while (*p != ',' && *p != '}' && *p != ']' && *p != ' ' && *p != '\n' && *p != '\r' && *p != '\t')
    p++;
  return p;
}

static const char *
skip_string (const QuoitRayTextRows *rows, const char *p)
{
  for (p++; *(p = quoit_json_find_special (p, rows->end)) != '"'; p++)
    p += *p == '\\';
  return p + 1;
}

static const char *
skip_value (const QuoitRayTextRows *rows, const char *p)
{
  guint depth = 0;

  for (;;)
    {
      if (*p == '"')
        p = skip_string (rows, p);
      else if (*p == '{' || *p == '[')
        depth++, p++;
      else if (*p == '}' || *p == ']')
        depth--, p++;
      else if (*p == ',' || *p == ':')
        p++;
      else
        p = skip_number_or_word (p);
      if (depth == 0)
        return p;
      p = skip_blanks (p);
    }
}

/* --- maps --- */

/* Reads the key and the colon at @text->p, and moves to the value. */
static inline gboolean
read_key (RowText *text, Span expected, Span *key, gboolean *is_known)
{
  const char *p = read_expected_string (text->rows, text->p, expected, key, is_known);

  if (p == NULL)
    return FALSE;
  text->p = skip_blanks (skip_blanks (p) + 1);
  return TRUE;
}

/* Moves behind the opening brace, to the first key. Returns FALSE if there is none, and moves behind the map. */
static inline gboolean
enter_map (RowText *text)
{
  text->p = skip_blanks (text->p + 1);
  if (*text->p != '}')
    return TRUE;
  text->p++;
  return FALSE;
}

/* Moves behind the comma after a value, to the next key. Returns FALSE at the end of the map, and moves behind it. */
static inline gboolean
next_member (RowText *text)
{
  const char *p = skip_blanks (text->p);

  text->p = *p == ',' ? skip_blanks (p + 1) : p + 1;
  return *p == ',';
}

static const char *
intern (QuoitRayTextRows *rows, Span span)
{
  return quoit_texts_intern (&rows->interned, span.start, span.length);
}

static gboolean
read_label (RowText *text, guint16 n)
{
  QuoitRayTextRows *rows = text->rows;
  EntryText before = n < rows->n_labels ? rows->labels[n] : (EntryText) { 0 }, entry;
  QuoitPair label = rows->arrays.labels[n];
  gboolean is_known_key, is_known_value;

  if (!read_key (text, before.key, &entry.key, &is_known_key) || *text->p != '"')
    return FALSE;
  text->p = read_expected_string (rows, text->p, before.value, &entry.value, &is_known_value);
  if (text->p == NULL)
    return FALSE;
  if (!is_known_key)
    label.key = intern (rows, entry.key);
  if (!is_known_value)
    label.value = intern (rows, entry.value);
  if ((!is_known_key && !quoit_label_check_key (label.key, NULL))
      || (!is_known_value && !quoit_label_check_value (label.value, NULL)))
    return FALSE;
  rows->arrays.labels[n] = label;
  rows->labels[n] = entry;
  rows->n_labels = MAX (rows->n_labels, n + 1);
  return TRUE;
}

/* Parses digits with at most one point. Both the digits as a number and the power of ten are exact as doubles, so that
 * the quotient is the double nearest to the text, as strtod() returns it. */
static gboolean
parse_decimal (Span token, double *value)
{
  static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
  guint64 digits = 0;
  guint n_decimals = 0;
  gboolean in_fraction = FALSE;

  if (token.length > G_N_ELEMENTS (powers))
    return FALSE;
  for (guint32 i = 0; i < token.length; i++)
    if (token.start[i] == '.')
      in_fraction = TRUE;
    else if (g_ascii_isdigit (token.start[i]))
      {
        digits = digits * 10 + (guint) (token.start[i] - '0');
        n_decimals += in_fraction;
      }
    else
      return FALSE;
  *value = (double) digits / powers[n_decimals];
  return TRUE;
}

static gboolean
parse_amount (const char *name, Span token, QuoitAmount *amount)
{
  char memory[32];
  double value;

  if (*token.start != '"')
    return parse_decimal (token, &value) && quoit_ray_amount (value, amount, NULL);
  if (!quoit_resource_is_rounded (name) || token.length - 2 >= sizeof memory)
    return FALSE;
  memcpy (memory, token.start + 1, token.length - 2);
  memory[token.length - 2] = '\0';
  return quoit_memory_text_parse (memory, amount, NULL);
}

static gboolean
read_resource (RowText *text, guint16 n)
{
  QuoitRayTextRows *rows = text->rows;
  EntryText before = n < rows->n_resources ? rows->resources[n] : (EntryText) { 0 }, entry;
  QuoitResource resource = rows->arrays.resources[n];
  gboolean is_known, is_equal;
  const char *end;

  if (!read_key (text, before.key, &entry.key, &is_known) || entry.key.length == 0
      || entry.key.length > QUOIT_RAY_MOST_NAME_BYTES)
    return FALSE;
  end = *text->p == '"' ? skip_string (rows, text->p) : skip_number_or_word (text->p);
  entry.value = (Span) { text->p, (guint32) (end - text->p) };
  text->p = end;
  is_equal = is_known && before.value.start != NULL && entry.value.length == before.value.length
             && memcmp (entry.value.start, before.value.start, before.value.length) == 0;
  if (!is_known)
    resource.name = intern (rows, entry.key);
  if (!is_equal && !parse_amount (resource.name, entry.value, &resource.amount))
    return FALSE;
  rows->arrays.resources[n] = resource;
  rows->resources[n] = entry;
  rows->n_resources = MAX (rows->n_resources, n + 1);
  return TRUE;
}

static gboolean
read_map (RowText *text, gboolean (*read_entry) (RowText *text, guint16 n), guint16 *n)
{
  if (*text->p != '{' || *n > 0)
    return FALSE;
  for (gboolean is_entry = enter_map (text); is_entry; is_entry = next_member (text))
    if (*n == QUOIT_RAY_MOST_ENTRIES || !read_entry (text, (*n)++))
      return FALSE;
  return TRUE;
}

/* --- rows --- */

static Member
find_member (const QuoitRayTextRows *rows, Span key)
{
  Member member = 0;

  while (member < N_MEMBERS
         && (rows->member_lengths[member] != key.length || memcmp (member_names[member], key.start, key.length) != 0))
    member++;
  return member;
}

static gboolean
read_scalar (RowText *text, Member member)
{
  Span *span = &text->scalars[member];
  const char *start = text->p;

  if (*start == '"')
    return (text->p = read_string (text->rows, start, span)) != NULL;
  text->p = skip_value (text->rows, start);
  *span = (Span) { start, (guint32) (text->p - start) };
  return *start == 't' || *start == 'f' || *start == 'n';
}

static gboolean
read_member (RowText *text)
{
  gboolean is_known;
  Member member;
  Span key;

  if (!read_key (text, (Span) { 0 }, &key, &is_known))
    return FALSE;
  member = find_member (text->rows, key);
  if (member < N_SCALARS)
    return read_scalar (text, member);
  if (member == N_MEMBERS)
    return text->p = skip_value (text->rows, text->p), TRUE;
  text->has_listed_maps |= member == LISTED_LABELS || member == LISTED_RESOURCES;
  text->has_object_maps |= member == OBJECT_LABELS || member == OBJECT_RESOURCES;
  return member == LISTED_LABELS || member == OBJECT_LABELS ? read_map (text, read_label, &text->row->n_labels)
                                                            : read_map (text, read_resource, &text->row->n_resources);
}

static gboolean
is_word (Span span, const char *word)
{
  return span.start != NULL && span.length == strlen (word) && memcmp (span.start, word, span.length) == 0;
}

/* Returns whether the value is a string. Strings begin behind their quote. */
static gboolean
is_string (Span span)
{
  return span.start != NULL && span.start[-1] == '"';
}

/* Sets *@copy to the string, or to NULL if it is empty, null or missing. */
static gboolean
copy_string (const RowText *text, Member member, const char **copy)
{
  Span span = text->scalars[member];

  *copy = NULL;
  if (!is_string (span))
    return span.start == NULL || *span.start == 'n';
  if (span.length > QUOIT_RAY_MOST_NAME_BYTES)
    return FALSE;
  if (span.length > 0)
    *copy = g_string_chunk_insert_len (text->rows->texts, span.start, (gssize) span.length);
  return TRUE;
}

static gboolean
find_boolean (Span span, gboolean *value)
{
  if (is_string (span) || (!is_word (span, "true") && !is_word (span, "false")))
    return FALSE;
  *value = *span.start == 't';
  return TRUE;
}

static gboolean
find_state (RowText *text)
{
  Span state = text->scalars[LISTED_STATE], alive = text->scalars[OBJECT_ALIVE];
  gboolean is_alive = FALSE;

  if (text->row->form == QUOIT_RAY_ROW_OBJECT)
    {
      text->row->state = QUOIT_NODE_DEAD;
      if (alive.start == NULL)
        alive = text->scalars[OBJECT_ALIVE_TOO];
      if (!find_boolean (alive, &is_alive))
        return FALSE;
      text->row->state = is_alive ? QUOIT_NODE_ALIVE : QUOIT_NODE_DEAD;
      return TRUE;
    }
  text->row->state = is_word (state, "ALIVE")      ? QUOIT_NODE_ALIVE
                     : is_word (state, "DRAINING") ? QUOIT_NODE_DRAINING
                                                   : QUOIT_NODE_DEAD;
  return is_string (state) && (text->row->state != QUOIT_NODE_DEAD || is_word (state, "DEAD"));
}

static gboolean
find_head (RowText *text)
{
  Span span = text->scalars[IS_HEAD];
  gboolean is_head = FALSE;

  if (span.start != NULL && !find_boolean (span, &is_head))
    return FALSE;
  if (is_head || quoit_ray_row_resource (text->row, QUOIT_RAY_HEAD_RESOURCE) != NULL)
    text->row->flags |= QUOIT_NODE_RAY_HEAD;
  return TRUE;
}

static gboolean
find_names (RowText *text)
{
  static const Member ids[] = { [QUOIT_RAY_ROW_LISTED] = LISTED_ID, [QUOIT_RAY_ROW_OBJECT] = OBJECT_ID };
  QuoitRayRow *row = text->row;

  row->form = text->scalars[OBJECT_ID].start != NULL ? QUOIT_RAY_ROW_OBJECT : QUOIT_RAY_ROW_LISTED;
  if (text->scalars[OBJECT_ID].start != NULL && text->scalars[LISTED_ID].start != NULL)
    return FALSE;
  if (!is_string (text->scalars[ids[row->form]]) || !copy_string (text, ids[row->form], &row->id) || row->id == NULL)
    return FALSE;
  if (!copy_string (text, ids[row->form] + LISTED_NAME, &row->name)
      || !copy_string (text, ids[row->form] + LISTED_ADDRESS, &row->address))
    return FALSE;
  if (row->name == NULL)
    row->name = row->address != NULL ? row->address : row->id;
  return !(row->form == QUOIT_RAY_ROW_LISTED ? text->has_object_maps : text->has_listed_maps);
}

static gboolean
read_row (RowText *text)
{
  for (gboolean is_entry = enter_map (text); is_entry; is_entry = next_member (text))
    if (!read_member (text))
      return FALSE;
  return find_names (text) && find_state (text) && find_head (text);
}

/* Returns the start of the next element, or NULL if it is no object, or if there is none. */
static const char *
next_object (const char *at)
{
  if (*at == ']')
    return NULL;
  at = skip_blanks (at + 1);
  return *at == '{' ? at : NULL;
}

gboolean
quoit_ray_text_rows_next (QuoitRayTextRows *rows, const char **at, QuoitRayRow *row)
{
  const char *start = next_object (*at);
  RowText text = { .rows = rows, .p = start, .row = row };

  *row = (QuoitRayRow) { .labels = rows->arrays.labels,
                         .resources = rows->arrays.resources,
                         .text = start,
                         .keeps_texts = TRUE,
                         .element = -1 };
  if (start == NULL || !read_row (&text))
    return FALSE;
  row->n_text = (gsize) (text.p - start);
  *at = skip_blanks (text.p);
  return TRUE;
}
