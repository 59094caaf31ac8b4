/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/request.h"

#include <string.h>

#include "base/natural.h"

enum { MAX_NAME_BYTES = 253 };

static void
spec_clear (gpointer data)
{
  QuoitBundleSpec *spec = data;

  g_array_unref (spec->takes);
  g_clear_pointer (&spec->selectors, g_ptr_array_unref);
}

QuoitRequest *
quoit_request_alloc (void)
{
  QuoitRequest *request = g_new0 (QuoitRequest, 1);

  request->selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_selector_free);
  request->slices = g_ptr_array_new_with_free_func (g_free);
  request->excluded = g_ptr_array_new_with_free_func (g_free);
  request->excluded_nodes = g_ptr_array_new_with_free_func (g_free);
  request->bundles = g_array_new (FALSE, FALSE, sizeof (QuoitBundleSpec));
  g_array_set_clear_func (request->bundles, spec_clear);
  request->texts = g_string_chunk_new (256);
  request->resources = g_ptr_array_new ();
  return request;
}

void
quoit_request_free (QuoitRequest *request)
{
  if (request == NULL)
    return;
  g_free (request->name);
  g_free (request->key);
  g_free (request->owner);
  g_free (request->pool);
  g_free (request->zone);
  g_clear_pointer (&request->labels, g_array_unref);
  g_ptr_array_unref (request->selectors);
  g_ptr_array_unref (request->slices);
  g_ptr_array_unref (request->excluded);
  g_ptr_array_unref (request->excluded_nodes);
  g_free (request->near);
  g_clear_pointer (&request->members, g_array_unref);
  quoit_recent_free (request->recent);
  g_array_unref (request->bundles);
  g_ptr_array_unref (request->resources);
  g_string_chunk_free (request->texts);
  g_free (request->topology_label);
  g_free (request->soft_target);
  g_clear_pointer (&request->alternatives, g_ptr_array_unref);
  g_free (request);
}

enum { N_REMEMBERED = 3 }; /* the canonical text, and the eligible slices of two layouts */

void
quoit_request_add_slice_name (QuoitRequest *request, GPtrArray *names, const char *slice)
{
  if (request->recent == NULL)
    request->recent = quoit_recent_new (N_REMEMBERED);
  g_ptr_array_add (names, g_strdup (slice));
}

void
quoit_request_replace_text (char **member, const char *text)
{
  char *copy = g_strdup (text);

  g_free (*member);
  *member = copy;
}

gboolean
quoit_name_check (const char *what, const char *name, GError **error)
{
  g_autofree char *quoted = NULL;
  gsize length = strlen (name);
  gboolean plain = length > 0 && length <= MAX_NAME_BYTES;

  /* A fast path for ASCII names: the check must not cost more than the placement. */
  for (gsize i = 0; i < length && plain; i++)
    plain = name[i] > ' ' && name[i] < 0x7f && name[i] != '@' && name[i] != '/';
  if (plain)
    return TRUE;

  quoted = quoit_quote (name);
  if (length == 0 || length > MAX_NAME_BYTES)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected 1 to %d bytes, got %" G_GSIZE_FORMAT, what, quoted,
                       MAX_NAME_BYTES, length);
  if (!g_utf8_validate (name, -1, NULL))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected UTF-8 text", what, quoted);
  for (const char *p = name; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c == '@' || c == '/' || !g_unichar_isprint (c))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected printable text without '@' or '/', see byte %d",
                           what, quoted, (int) (p - name));
    }
  return TRUE;
}

guint32
quoit_request_chips_per_host (const QuoitRequest *request)
{
  return request->chips_per_host != 0 ? request->chips_per_host
                                      : quoit_default_chips_per_host (request->generation, request->shape);
}

static gboolean
check_complete (const QuoitRequest *request, GError **error)
{
  if (!quoit_request_bundles_complete (request, error) || !quoit_request_check_domains (request, error))
    return FALSE;
  if (!quoit_request_makes_slices (request) && request->place != QUOIT_PLACE_BEST)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "place '%s': expected a request that may be cut; set 'any', 'aligned' or 'partition', or cubes",
                       quoit_place_policy_name (request->place));
  if (request->cubes != QUOIT_CUBES_NONE && !quoit_request_check_cubes (request, error))
    return FALSE;
  if (request->cut != QUOIT_CUT_WHOLE && !quoit_request_check_cut (request, error))
    return FALSE;
  if (request->bundles->len > 0)
    return TRUE;
  if (request->generation == QUOIT_GENERATION_NONE)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request names no accelerator: expected one such as 'v6e'");
  if (request->shape.n_dims == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request names no topology: expected one such as '4x4'");
  if (request->n_slices == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "the request has no number of slices: expected 1 to %d",
                       QUOIT_MAX_SLICES);
  return TRUE;
}

gboolean
quoit_request_check_complete (const QuoitRequest *request, GError **error)
{
  return check_complete (request, error)
         && (request->alternatives == NULL || quoit_request_check_alternatives (request, error));
}

gboolean
quoit_request_validate (const QuoitRequest *request, GError **error)
{
  QuoitSliceFacts facts;

  return quoit_request_check_complete (request, error)
         && quoit_slice_facts (request->generation, request->shape, quoit_request_chips_per_host (request), &facts,
                               error);
}
