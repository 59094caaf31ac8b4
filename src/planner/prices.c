/* SPDX-License-Identifier: Apache-2.0 */
/* Price lists: rows, and the text of them. */
#include "planner/queue.h"

#include <string.h>

#include "fleet/blocks.h"
#include "planner/buying.h"
#include "planner/lines.h"

/* Reads the price of "10.75/hour". Sets @unit to the text after the slash, which is part of @text, or to NULL. */
static gboolean
parse_price (const char *text, QuoitAmount *price, const char **unit, GError **error)
{
  const char *slash = strchr (text, '/');
  g_autofree char *number = slash == NULL ? g_strdup (text) : g_strndup (text, (gsize) (slash - text));

  *unit = slash == NULL ? NULL : slash + 1;
  if (*unit != NULL && strcmp (*unit, "hour") != 0 && strcmp (*unit, "month") != 0)
    {
      g_autofree char *quoted = quoit_quote (text);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "price %s: expected /hour or /month after the number", quoted);
    }
  if (quoit_amount_parse (number, price, NULL) && price->e4 <= QUOIT_BUYING_MAX_PRICE)
    return TRUE;
  else
    {
      g_autofree char *quoted = quoit_quote (text);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "price %s: expected a number from 0 to %" G_GINT64_FORMAT " with at most 4 decimals", quoted,
                         QUOIT_BUYING_MAX_PRICE / QUOIT_AMOUNT_UNIT);
    }
}

const QuoitPrice *
quoit_price_list_find (const QuoitPriceList *list, const QuoitSliceFacts *facts)
{
  for (guint i = 0; i < list->prices->len; i++)
    {
      const QuoitPrice *price = &g_array_index (list->prices, QuoitPrice, i);

      if (price->block == NULL && price->n_cubes == 0 && quoit_slice_facts_same_class (&price->facts, facts))
        return price;
    }
  return NULL;
}

/* Returns the row as words, without its price, in quotes. The caller owns the text. */
static char *
describe (const QuoitPrice *row)
{
  g_autofree char *topology = quoit_shape_format (row->facts.shape), *word = NULL, *text = NULL;

  if (row->block != NULL)
    word = g_strdup_printf ("block=%s", row->block);
  else if (row->grid.n_dims > 0)
    {
      g_autofree char *grid = quoit_shape_format (row->grid);

      word = g_strdup_printf ("grid=%s", grid);
    }
  else if (row->n_cubes > 0)
    word = g_strdup_printf ("cubes=%u", row->n_cubes);
  else
    word = g_strdup_printf ("hostchips=%u", row->facts.chips_per_host);
  text = g_strdup_printf ("%s %s %s", quoit_generation_name (row->facts.generation), topology, word);
  return quoit_quote (text);
}

/* Whether both rows are prices of the same. */
static gboolean
are_alike (const QuoitPrice *a, const QuoitPrice *b)
{
  return quoit_slice_facts_same_class (&a->facts, &b->facts) && g_strcmp0 (a->block, b->block) == 0
         && a->n_cubes == b->n_cubes && a->grid.n_dims == b->grid.n_dims
         && (a->grid.n_dims == 0 || quoit_shape_equal (a->grid, b->grid));
}

static gboolean
check_row (const QuoitPriceList *list, const QuoitPrice *row, GError **error)
{
  g_autofree char *text = describe (row);

  if (row->max_slices < -1 || row->max_slices > QUOIT_BUYING_MAX_SLICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "limit '%" G_GINT64_FORMAT "': expected 0 to %d %s", row->max_slices,
                       QUOIT_BUYING_MAX_SLICES,
                       row->n_cubes > 0     ? "blocks"
                       : row->block != NULL ? "cubes"
                                            : "slices");
  if ((row->block != NULL || row->n_cubes > 0) && !quoit_slice_facts_are_cube (&row->facts))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "%s: expected cubes, 4x4x4 of v4, v5p or tpu7x on hosts of 4 chips, because only they are in "
                       "blocks",
                       text);
  if (row->block != NULL && *row->block == '\0')
    return quoit_fail (error, QUOIT_ERROR_INVALID, "block '': expected the name of a block");
  for (guint i = 0; i < list->prices->len; i++)
    if (are_alike (&g_array_index (list->prices, QuoitPrice, i), row))
      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected one price for each %s", text,
                         row->n_cubes > 0     ? "size of new blocks"
                         : row->block != NULL ? "block"
                                              : "class");
  return TRUE;
}

gboolean
quoit_price_list_add_row (QuoitPriceList *list, const QuoitPrice *given, const char *price, GError **error)
{
  QuoitPrice row = *given;
  const char *unit;

  if (!parse_price (price, &row.price, &unit, error) || !check_row (list, &row, error))
    return FALSE;
  if (list->prices->len > 0 && g_strcmp0 (list->unit, unit) != 0)
    {
      g_autofree char *quoted = quoit_quote (price);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "price %s: expected %s%s like the other prices", quoted,
                         list->unit == NULL ? "no unit" : "/", list->unit == NULL ? "" : list->unit);
    }
  if (list->prices->len == 0)
    {
      g_free (list->unit);
      list->unit = g_strdup (unit);
    }
  row.block = g_strdup (row.block);
  g_array_append_val (list->prices, row);
  return TRUE;
}

/* --- words --- */

static gboolean
parse_grid (const char *text, QuoitPrice *row, GError **error)
{
  const char *at = text;

  row->grid.n_dims = QUOIT_N_AXES;
  row->n_cubes = 1;
  for (guint axis = 0; axis < QUOIT_N_AXES && at != NULL; axis++)
    {
      guint32 side = 0;

      for (guint n = 0; n < 2 && g_ascii_isdigit (*at); n++)
        side = side * 10 + (guint32) (*at++ - '0');
      row->grid.dims[axis] = (guint16) side;
      row->n_cubes *= side;
      at = side < 1 || side > QUOIT_MAX_PRICED_SIDE || *at != (axis < QUOIT_N_AXES - 1 ? 'x' : '\0') ? NULL : at + 1;
    }
  if (at != NULL)
    return TRUE;
  else
    {
      g_autofree char *quoted = quoit_quote (text);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "grid %s: expected the cubes of the block along each axis, such as 4x4x8, each 1 to %d",
                         quoted, QUOIT_MAX_PRICED_SIDE);
    }
}

static gboolean
parse_number (const char *word, const char *what, guint64 least, guint64 most, gint64 *number, GError **error)
{
  const char *value = word + strlen (what) + 1;
  guint64 wide;

  if (*number != -1)
    {
      g_autofree char *quoted = quoit_quote (word);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected %s only once", quoted, what);
    }
  if (!g_ascii_string_to_unsigned (value, 10, least, most, &wide, NULL))
    {
      g_autofree char *quoted = quoit_quote (value);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "%s %s: expected a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, what, quoted,
                         least, most);
    }
  *number = (gint64) wide;
  return TRUE;
}

gboolean
quoit_price_set_cube (QuoitPrice *row, const char *accelerator, GError **error)
{
  QuoitGeneration generation;
  const QuoitGenerationFacts *facts;

  if (!quoit_generation_parse (accelerator, &generation, error))
    return FALSE;
  facts = quoit_generation_facts (generation);
  if (facts->ocs_cube.n_dims == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "generation '%s': expected one with cubes: v4, v5p or tpu7x",
                       quoit_generation_name (generation));
  return quoit_slice_facts (generation, facts->ocs_cube, 4, &row->facts, error);
}

gboolean
quoit_price_set_block (QuoitPrice *row, guint32 n_cubes, const char *grid, GError **error)
{
  if (grid != NULL && n_cubes > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "new block of '%u' cubes with a grid: expected only one of them",
                       n_cubes);
  if (grid != NULL)
    return parse_grid (grid, row, error);
  if (n_cubes == 0 || n_cubes > QUOIT_CUBE_BUYING_MAX)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "new block of '%u' cubes: expected 1 to %d", n_cubes,
                       QUOIT_CUBE_BUYING_MAX);
  row->n_cubes = n_cubes;
  return TRUE;
}

/* What the words after the price state. */
typedef struct {
  gint64 chips_per_host, limit, n_cubes; /* -1: not stated */
  const char *block, *grid;              /* NULL: not stated */
} Words;

/* Sets *@value to the text after "WHAT=", which is part of @word. */
static gboolean
take_text (const char *word, const char *what, const char **value, GError **error)
{
  if (*value != NULL)
    {
      g_autofree char *quoted = quoit_quote (word);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected %s only once", quoted, what);
    }
  *value = word + strlen (what) + 1;
  return TRUE;
}

static gboolean
parse_word (const char *word, Words *words, GError **error)
{
  if (g_str_has_prefix (word, "hostchips="))
    return parse_number (word, "hostchips", 0, 8, &words->chips_per_host, error);
  if (g_str_has_prefix (word, "limit="))
    return parse_number (word, "limit", 0, QUOIT_BUYING_MAX_SLICES, &words->limit, error);
  if (g_str_has_prefix (word, "cubes="))
    return parse_number (word, "cubes", 1, QUOIT_CUBE_BUYING_MAX, &words->n_cubes, error);
  if (g_str_has_prefix (word, "block="))
    return take_text (word, "block", &words->block, error);
  if (g_str_has_prefix (word, "grid="))
    return take_text (word, "grid", &words->grid, error);
  else
    {
      g_autofree char *quoted = quoit_quote (word);

      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "%s: expected hostchips=N, limit=N, block=NAME, cubes=N or grid=AxBxC", quoted);
    }
}

static gboolean
set_cubes (QuoitPrice *row, const Words *words, GError **error)
{
  if ((words->block != NULL) + (words->n_cubes >= 0) + (words->grid != NULL) > 1)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "expected only one of block=NAME (a cube for a block of the fleet), cubes=N (a new block) and "
                       "grid=AxBxC (a new block whose cubes have positions)");
  row->block = (char *) words->block;
  row->n_cubes = (guint32) MAX (words->n_cubes, 0);
  return words->grid == NULL || parse_grid (words->grid, row, error);
}

static gboolean
add_price_words (QuoitPriceList *list, char **texts, GError **error)
{
  QuoitPrice row = { .max_slices = -1 };
  Words words = { -1, -1, -1, NULL, NULL };
  QuoitGeneration generation;
  QuoitShape shape;
  const char *unit; /* quoit_price_list_add_row() compares it */

  if (g_strv_length (texts) < 3)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "expected ACCELERATOR TOPOLOGY PRICE [hostchips=N] [limit=N] [block=NAME|cubes=N|grid=AxBxC]");
  if (!quoit_generation_parse (texts[0], &generation, error) || !quoit_shape_parse (texts[1], &shape, error)
      || !quoit_shape_check (generation, shape, error) || !parse_price (texts[2], &row.price, &unit, error))
    return FALSE;
  for (char **word = texts + 3; *word != NULL; word++)
    if (!parse_word (*word, &words, error))
      return FALSE;
  row.max_slices = words.limit;
  return quoit_slice_facts (generation, shape, (unsigned) MAX (words.chips_per_host, 0), &row.facts, error)
         && set_cubes (&row, &words, error) && quoit_price_list_add_row (list, &row, texts[2], error);
}

static gboolean
add_price_line (gpointer data, const char *line, GError **error)
{
  g_auto (GStrv) all = g_strsplit_set (line, " \t", -1);
  g_autoptr (GPtrArray) words = g_ptr_array_new ();

  for (char **word = all; *word != NULL; word++)
    if (**word != '\0')
      g_ptr_array_add (words, *word);
  g_ptr_array_add (words, NULL);
  return add_price_words (data, (char **) words->pdata, error);
}

gboolean
quoit_price_list_add_lines (QuoitPriceList *list, const char *text, gsize length, GError **error)
{
  const guint n = list->prices->len;

  if (quoit_lines_read (text, length, add_price_line, list, error))
    return TRUE;
  g_array_set_size (list->prices, n);
  if (n == 0)
    g_clear_pointer (&list->unit, g_free);
  return FALSE;
}
