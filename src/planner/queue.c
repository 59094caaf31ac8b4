/* SPDX-License-Identifier: Apache-2.0 */
#include "planner/queue.h"

#include "fleet/blocks.h"
#include "planner/buying.h"
#include "planner/lines.h"

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
  const char *const place = "slices that are bought have no place yet", *const whole = "whole slices are bought";
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

guint32
quoit_queue_n_cubes (const QuoitRequest *request)
{
  return request->cubes == QUOIT_CUBES_NONE ? 1 : quoit_shape_chips (request->shape) / QUOIT_CUBE_CHIPS;
}

/* Returns the number of slices of the alternative that takes most. The cubes of joined slices count, too. */
static guint64
most_slices (const QuoitRequest *request)
{
  guint64 most = 0;

  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    {
      const QuoitRequest *alternative = quoit_request_alternative (request, i);

      most = MAX (most, (guint64) quoit_request_min_slices (alternative) * quoit_queue_n_cubes (alternative));
    }
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
      quoit_fail (error, QUOIT_ERROR_INVALID, "queue of '%" G_GUINT64_FORMAT "' slices or cubes: expected at most %d",
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
