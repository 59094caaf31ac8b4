/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/queue.h"

#include <string.h>

#include "planner/buying.h"
#include "planner/lines.h"

/* --- requests --- */

/* What a queue has no answer for, as a word of a request, and why. */
typedef struct {
  gboolean is_set;
  const char *word, *why;
} Word;

/* Sets *@found to a word of the request that says more than which slices and how many, and why it is refused. Slices
 * that are bought have no pool, zone, block, name or label yet. Parts are no class: how many of them a slice holds
 * depends on which of its hosts are free, and on the other parts of the queue. */
static gboolean
find_other_word (const QuoitRequest *request, Word *found)
{
  const char *const place = "slices that are bought have no place yet", *const whole = "whole slices are bought",
                    *const cubes
                    = "cubes that are bought are in no block yet; request as many cubes as slices of 4x4x4 instead";
  const Word words[] = {
    { request->bundles->len > 0, "bundles", place },
    { request->pool != NULL, "pool", place },
    { request->zone != NULL, "zone", place },
    { request->selectors->len > 0, "select", place },
    { request->slices->len > 0, "slice", place },
    { request->excluded->len > 0, "exclude-slice", place },
    { request->excluded_nodes->len > 0, "exclude-node", place },
    { request->keep_to != QUOIT_DOMAIN_NONE, "keep-to", place },
    { request->spread_over != QUOIT_DOMAIN_NONE, "spread", place },
    { request->near != NULL, "near", place },
    { request->cubes != QUOIT_CUBES_NONE, "cubes", cubes },
    { request->cut != QUOIT_CUT_WHOLE, "cut", whole },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (words[i].is_set)
      return *found = words[i], TRUE;
  return FALSE;
}

static gboolean
check_request (const QuoitRequest *request, GError **error)
{
  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    {
      Word found;

      if (find_other_word (quoit_request_alternative (request, i), &found))
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "request with '%s': expected only slices and their number, because %s", found.word,
                           found.why);
    }
  return quoit_request_check_alternatives (request, error);
}

/* Returns the number of slices of the alternative that takes most. */
static guint32
most_slices (const QuoitRequest *request)
{
  guint32 most = 0;

  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    most = MAX (most, quoit_request_min_slices (quoit_request_alternative (request, i)));
  return most;
}

/* Takes the ownership of @request. */
static gboolean
take_request (QuoitQueue *queue, QuoitRequest *request, GError **error)
{
  if (!check_request (request, error))
    return quoit_request_free (request), FALSE;
  if (queue->n_slices + most_slices (request) > QUOIT_BUYING_MAX_SLICES)
    {
      quoit_fail (error, QUOIT_ERROR_INVALID, "queue of '%" G_GUINT64_FORMAT "' slices: expected at most %d",
                  queue->n_slices + most_slices (request), QUOIT_BUYING_MAX_SLICES);
      return quoit_request_free (request), FALSE;
    }
  queue->n_slices += most_slices (request);
  g_ptr_array_add (queue->requests, request);
  return TRUE;
}

gboolean
quoit_queue_add_copy (QuoitQueue *queue, const QuoitRequest *request, GError **error)
{
  return take_request (queue, quoit_request_dup (request, request->name), error);
}

static gboolean
add_request_line (gpointer data, const char *line, GError **error)
{
  QuoitRequest *request = quoit_request_parse_choices ("queued", line, error);

  return request != NULL && take_request (data, request, error);
}

gboolean
quoit_queue_add_lines (QuoitQueue *queue, const char *text, gsize length, GError **error)
{
  const guint n = queue->requests->len;
  const guint64 n_slices = queue->n_slices;

  if (quoit_lines_read (text, length, add_request_line, queue, error))
    return TRUE;
  g_ptr_array_set_size (queue->requests, (gint) n);
  queue->n_slices = n_slices;
  return FALSE;
}

/* --- prices --- */

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

      if (quoit_slice_facts_same_class (&price->facts, facts))
        return price;
    }
  return NULL;
}

gboolean
quoit_price_list_add_price (QuoitPriceList *list, const QuoitSliceFacts *facts, const char *price, gint64 max_slices,
                            GError **error)
{
  QuoitPrice row = { *facts, { 0 }, max_slices };
  const char *unit;

  if (!parse_price (price, &row.price, &unit, error))
    return FALSE;
  if (max_slices < -1 || max_slices > QUOIT_BUYING_MAX_SLICES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "limit '%" G_GINT64_FORMAT "': expected 0 to %d slices", max_slices,
                       QUOIT_BUYING_MAX_SLICES);
  if (quoit_price_list_find (list, facts) != NULL)
    {
      g_autofree char *topology = quoit_shape_format (facts->shape);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "'%s %s hostchips=%u': expected one price for each class",
                         quoit_generation_name (facts->generation), topology, facts->chips_per_host);
    }
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
  g_array_append_val (list->prices, row);
  return TRUE;
}

static gboolean
parse_number (const char *word, const char *what, guint64 most, gint64 *number, GError **error)
{
  const char *value = word + strlen (what) + 1;
  guint64 wide;

  if (*number != -1)
    {
      g_autofree char *quoted = quoit_quote (word);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected %s only once", quoted, what);
    }
  if (!g_ascii_string_to_unsigned (value, 10, 0, most, &wide, NULL))
    {
      g_autofree char *quoted = quoit_quote (value);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected a number from 0 to %" G_GUINT64_FORMAT, what,
                         quoted, most);
    }
  *number = (gint64) wide;
  return TRUE;
}

static gboolean
add_price_words (QuoitPriceList *list, char **words, GError **error)
{
  QuoitGeneration generation;
  QuoitShape shape;
  QuoitSliceFacts facts;
  gint64 chips_per_host = -1, limit = -1;

  if (g_strv_length (words) < 3)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "expected ACCELERATOR TOPOLOGY PRICE [hostchips=N] [limit=N]");
  if (!quoit_generation_parse (words[0], &generation, error) || !quoit_shape_parse (words[1], &shape, error)
      || !quoit_shape_check (generation, shape, error))
    return FALSE;
  for (char **word = words + 3; *word != NULL; word++)
    {
      if (g_str_has_prefix (*word, "hostchips="))
        {
          if (!parse_number (*word, "hostchips", 8, &chips_per_host, error))
            return FALSE;
        }
      else if (g_str_has_prefix (*word, "limit="))
        {
          if (!parse_number (*word, "limit", QUOIT_BUYING_MAX_SLICES, &limit, error))
            return FALSE;
        }
      else
        {
          g_autofree char *quoted = quoit_quote (*word);

          return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected hostchips=N or limit=N", quoted);
        }
    }
  return quoit_slice_facts (generation, shape, (unsigned) MAX (chips_per_host, 0), &facts, error)
         && quoit_price_list_add_price (list, &facts, words[2], limit, error);
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
