/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a request to canonical text and back. The text identifies a repeated request, and it is the input of
 * repair and resize. */
#include "placement/request.h"

#include <string.h>

#include "base/natural.h"
#include "base/text.h"
#include "models/ray/label-syntax.h"

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return quoit_natural_compare (*(const char *const *) a, *(const char *const *) b);
}

/* Appends " WHAT=VALUE". A value with a blank, a quote or a backslash is quoted, so that it can be read back. */
static void
append_value (GString *text, const char *what, const char *value)
{
  g_autofree char *escaped = strpbrk (value, " \"\\") == NULL ? NULL : g_strescape (value, NULL);

  if (escaped == NULL)
    g_string_append_printf (text, " %s=%s", what, value);
  else
    g_string_append_printf (text, " %s=\"%s\"", what, escaped);
}

static void
append_names (GString *text, const char *what, const GPtrArray *names)
{
  g_autoptr (GPtrArray) sorted = NULL;

  if (names == NULL || names->len == 0)
    return;
  sorted = g_ptr_array_copy ((GPtrArray *) names, NULL, NULL);
  g_ptr_array_set_free_func (sorted, NULL);
  g_ptr_array_sort (sorted, by_name);
  for (guint i = 0; i < sorted->len; i++)
    append_value (text, what, sorted->pdata[i]);
}

static void
append_slices (GString *text, const QuoitRequest *request)
{
  quoit_text_append (text, quoit_generation_name (request->generation));
  g_string_append_c (text, ' ');
  quoit_shape_append (text, request->shape);
  quoit_text_append (text, " x ");
  if (request->min_slices != 0)
    {
      quoit_text_append_number (text, request->min_slices);
      quoit_text_append (text, "..");
    }
  quoit_text_append_number (text, request->n_slices);
  /* The hosts of parts are those of the slices that they are cut from. */
  if (request->cut == QUOIT_CUT_WHOLE || request->chips_per_host != 0)
    {
      quoit_text_append (text, " hostchips=");
      quoit_text_append_number (text, quoit_request_chips_per_host (request));
    }
  if (request->cut != QUOIT_CUT_WHOLE)
    append_value (text, "cut", quoit_cut_name (request->cut));
  if (request->cubes != QUOIT_CUBES_NONE)
    append_value (text, "cubes", quoit_cubes_name (request->cubes));
  if (request->place != QUOIT_PLACE_BEST)
    append_value (text, "place", quoit_place_policy_name (request->place));
  if (request->tpu_per_bundle.e4 != 0)
    {
      g_autofree char *amount = quoit_amount_format (request->tpu_per_bundle);

      append_value (text, "tpu-per-bundle", amount);
    }
}

static void
append_bundles (GString *text, const QuoitRequest *request)
{
  g_string_append_printf (text, "%s ", quoit_strategy_name (request->strategy));
  quoit_request_append_runs (request, text);
  if (request->policy == QUOIT_POLICY_RAY)
    append_value (text, "policy", "ray");
  if (request->topology_label != NULL)
    {
      append_value (text, "topology-label", request->topology_label);
      g_string_append (text, " values=");
      quoit_text_append_number (text, request->n_topology_values);
    }
  if (request->soft_target != NULL)
    append_value (text, "soft-target", request->soft_target);
}

/* Appends the names of slices. Sorting thousands of names takes longer than the placement, so the request remembers the
 * text. Names are only added, so their numbers identify them. */
static void
append_slice_names (GString *text, const QuoitRequest *request)
{
  const guint key[] = { request->slices->len, request->excluded->len, request->excluded_nodes->len };
  gsize start = text->len;
  char *names;

  if (!quoit_request_has_slice_names (request))
    return;
  names = quoit_recent_get (request->recent, key, sizeof key);
  if (names != NULL)
    g_string_append (text, names);
  else
    {
      append_names (text, "slice", request->slices);
      append_names (text, "exclude-slice", request->excluded);
      append_names (text, "exclude-node", request->excluded_nodes);
      names = g_atomic_rc_box_dup (text->len - start + 1, text->str + start);
      quoit_recent_put (request->recent, key, sizeof key, names, NULL);
    }
  g_atomic_rc_box_release (names);
}

static void
append_domains (GString *text, const QuoitRequest *request)
{
  if (request->keep_to != QUOIT_DOMAIN_NONE)
    append_value (text, "keep-to", quoit_domain_name (request->keep_to));
  if (request->spread_over != QUOIT_DOMAIN_NONE)
    {
      append_value (text, "spread", quoit_domain_name (request->spread_over));
      g_string_append (text, " max-skew=");
      quoit_text_append_number (text, request->max_skew);
      g_string_append (text, " min-domains=");
      quoit_text_append_number (text, request->min_domains);
    }
  if (request->near != NULL)
    append_value (text, "near", request->near);
}

char *
quoit_request_format_canonical (const QuoitRequest *request)
{
  GString *text = g_string_sized_new (64);
  g_autoptr (GPtrArray) selectors = NULL;

  if (request->bundles->len > 0)
    append_bundles (text, request);
  else
    append_slices (text, request);
  if (request->pool != NULL)
    append_value (text, "pool", request->pool);
  if (request->zone != NULL)
    append_value (text, "zone", request->zone);
  selectors = request->selectors->len > 0 ? g_ptr_array_new_with_free_func (g_free) : NULL;
  for (guint i = 0; i < request->selectors->len; i++)
    g_ptr_array_add (selectors, g_strconcat (quoit_selector_key (request->selectors->pdata[i]), "=",
                                             quoit_selector_value (request->selectors->pdata[i]), NULL));
  append_names (text, "select", selectors);
  append_slice_names (text, request);
  append_domains (text, request);
  return g_string_free (text, FALSE);
}

/* --- reading --- */

typedef gboolean (*ReadFunc) (QuoitRequest *request, const char *value, GError **error);

static gboolean
read_number (const char *value, guint32 *number, GError **error)
{
  guint64 wide;

  if (!g_ascii_string_to_unsigned (value, 10, 1, QUOIT_MAX_SLICES, &wide, NULL))
    {
      g_autofree char *quoted = quoit_quote (value);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "number %s: expected 1 to %d", quoted, QUOIT_MAX_SLICES);
    }
  *number = (guint32) wide;
  return TRUE;
}

static gboolean
read_host_chips (QuoitRequest *request, const char *value, GError **error)
{
  return read_number (value, &request->chips_per_host, error);
}

static gboolean
read_tpu_per_bundle (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_amount_parse (value, &request->tpu_per_bundle, error);
}

static gboolean
read_policy (QuoitRequest *request, const char *value, GError **error)
{
  request->policy = QUOIT_POLICY_RAY;
  return strcmp (value, "ray") == 0;
}

static gboolean
read_topology_label (QuoitRequest *request, const char *value, GError **error)
{
  quoit_request_replace_text (&request->topology_label, value);
  return quoit_label_check_key (value, error);
}

static gboolean
read_values (QuoitRequest *request, const char *value, GError **error)
{
  return read_number (value, &request->n_topology_values, error);
}

static gboolean
read_soft_target (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_request_replace_text (&request->soft_target, value), TRUE;
}

static gboolean
read_pool (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_request_replace_text (&request->pool, value), TRUE;
}

static gboolean
read_zone (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_request_replace_text (&request->zone, value), TRUE;
}

static gboolean
read_selector (QuoitRequest *request, const char *value, GError **error)
{
  const char *equals = strchr (value, '=');
  g_autofree char *key = equals == NULL ? NULL : g_strndup (value, (gsize) (equals - value));
  QuoitSelector *selector = equals == NULL ? NULL : quoit_selector_new (key, equals + 1, error);

  if (selector != NULL)
    g_ptr_array_add (request->selectors, selector);
  return selector != NULL;
}

static gboolean
read_slice (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_request_add_slice_name (request, request->slices, value), TRUE;
}

static gboolean
read_excluded (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_request_add_slice_name (request, request->excluded, value), TRUE;
}

static gboolean
read_excluded_node (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_request_add_slice_name (request, request->excluded_nodes, value), TRUE;
}

static gboolean
read_cut (QuoitRequest *request, const char *value, GError **error)
{
  (void) error;
  return quoit_cut_find (value, &request->cut);
}

static gboolean
read_cubes (QuoitRequest *request, const char *value, GError **error)
{
  (void) error;
  return quoit_cubes_find (value, &request->cubes);
}

static gboolean
read_place (QuoitRequest *request, const char *value, GError **error)
{
  (void) error;
  return quoit_place_policy_find (value, &request->place);
}

static gboolean
read_keep_to (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_domain_find (value, &request->keep_to);
}

static gboolean
read_spread (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_domain_find (value, &request->spread_over);
}

static gboolean
read_max_skew (QuoitRequest *request, const char *value, GError **error)
{
  return read_number (value, &request->max_skew, error);
}

static gboolean
read_min_domains (QuoitRequest *request, const char *value, GError **error)
{
  return read_number (value, &request->min_domains, error);
}

static gboolean
read_near (QuoitRequest *request, const char *value, GError **error)
{
  return quoit_request_set_near_group (request, value, error);
}

/* Another alternative of the request, which the group did not get. */
static gboolean
read_other (QuoitRequest *request, const char *value, GError **error)
{
  g_autoptr (QuoitRequest) other = quoit_request_parse_canonical (value, error);

  (void) request;
  return other != NULL;
}

/* Each word occurs at most once, except select, slice, exclude-slice, exclude-node, instead-of and else. */
static const struct {
  const char *word;
  ReadFunc read;
} words[] = {
  { "hostchips", read_host_chips },
  { "tpu-per-bundle", read_tpu_per_bundle },
  { "policy", read_policy },
  { "topology-label", read_topology_label },
  { "values", read_values },
  { "soft-target", read_soft_target },
  { "pool", read_pool },
  { "zone", read_zone },
  { "select", read_selector },
  { "slice", read_slice },
  { "exclude-slice", read_excluded },
  { "exclude-node", read_excluded_node },
  { "cut", read_cut },
  { "cubes", read_cubes },
  { "place", read_place },
  { "keep-to", read_keep_to },
  { "spread", read_spread },
  { "max-skew", read_max_skew },
  { "min-domains", read_min_domains },
  { "near", read_near },
  { "instead-of", read_other },
  { "else", read_other },
};

/* Returns the quote that closes the one at @open, or the end of the text if it is missing. */
static const char *
find_closing_quote (const char *open)
{
  const char *end = open + 1;

  for (; *end != '\0' && *end != '"'; end++)
    end += *end == '\\' && end[1] != '\0';
  return end;
}

/* Returns the next word; a quoted value may contain blanks. Returns NULL at the end. The caller owns the word. */
static char *
next_word (const char **at)
{
  const char *start = *at + strspn (*at, " "), *end = start;

  while (*end != '\0' && *end != ' ' && *end != '"')
    end++;
  if (*end == '"')
    end = find_closing_quote (end);
  end += *end == '"';
  *at = end;
  return end == start ? NULL : g_strndup (start, (gsize) (end - start));
}

/* Returns the value at @text, the rest of a word. Returns NULL if the closing quote is missing. The caller owns the
 * value. */
static char *
unquote_value (const char *text)
{
  const char *close = *text == '"' ? find_closing_quote (text) : NULL;
  g_autofree char *escaped = close == NULL ? NULL : g_strndup (text + 1, (gsize) (close - text - 1));

  if (close == NULL)
    return g_strdup (text);
  return *close == '\0' ? NULL : g_strcompress (escaped);
}

static gboolean
read_word (QuoitRequest *request, const char *word, GError **error)
{
  const char *equals = strchr (word, '=');
  gsize length;
  g_autofree char *value = NULL;

  if (equals == NULL)
    return FALSE;
  length = (gsize) (equals - word);
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (length == strlen (words[i].word) && strncmp (word, words[i].word, length) == 0)
      {
        value = unquote_value (equals + 1);
        return value != NULL && words[i].read (request, value, error);
      }
  return FALSE;
}

static gboolean
read_count (QuoitRequest *request, const char *word, GError **error)
{
  const char *dots = strstr (word, "..");
  g_autofree char *least = dots == NULL ? NULL : g_strndup (word, (gsize) (dots - word));

  return (dots == NULL || read_number (least, &request->min_slices, error))
         && read_number (dots == NULL ? word : dots + 2, &request->n_slices, error);
}

static gboolean
read_slices (QuoitRequest *request, const char **at, GError **error)
{
  g_autofree char *generation = next_word (at), *shape = next_word (at), *x = next_word (at), *n = next_word (at);

  return n != NULL && strcmp (x, "x") == 0 && quoit_generation_parse (generation, &request->generation, error)
         && quoit_shape_parse (shape, &request->shape, error) && read_count (request, n, error);
}

/* Bundles begin with a strategy, which is never the name of a generation. */
static gboolean
read_head (QuoitRequest *request, const char **at, GError **error)
{
  const char *rest = *at;
  g_autofree char *first = next_word (&rest);

  if (first == NULL || !quoit_strategy_find (first, &request->strategy))
    return read_slices (request, at, error);
  *at = rest;
  request->has_strategy = TRUE;
  return quoit_request_read_runs (request, at, error);
}

QuoitRequest *
quoit_request_parse_canonical (const char *text, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();
  g_autoptr (GError) why = NULL;
  g_autofree char *quoted = NULL, *word = NULL;
  const char *at = text;
  gboolean ok = read_head (request, &at, &why);

  while (ok && (word = next_word (&at)) != NULL)
    {
      ok = read_word (request, word, &why);
      if (ok)
        g_clear_pointer (&word, g_free);
    }
  if (ok && (request->topology_label == NULL) == (request->n_topology_values == 0)
      && (request->spread_over == QUOIT_DOMAIN_NONE) == (request->max_skew == 0)
      && (request->max_skew == 0) == (request->min_domains == 0) && quoit_request_check_complete (request, &why))
    return g_steal_pointer (&request);
  quoted = quoit_quote (text);
  if (why != NULL)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "request %s: %s", quoted, why->message);
  if (word != NULL)
    {
      g_autofree char *quoted_word = quoit_quote (word);

      return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                              "request %s: %s: expected a word such as hostchips=4 or cubes=any", quoted, quoted_word);
    }
  return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                          "request %s: expected a generation, a topology, x and a number, such as 'v6e 4x4 x 2', or "
                          "bundles",
                          quoted);
}

/* --- alternatives --- */

void
quoit_request_append_other (GString *text, const char *what, const char *other)
{
  append_value (text, what, other);
}

guint32
quoit_request_text_alternative (const char *text)
{
  guint32 n = 0;
  char *word;

  /* Texts of bundles can be long, and few have alternatives. */
  if (strstr (text, " instead-of=") == NULL)
    return 0;
  while ((word = next_word (&text)) != NULL)
    {
      n += g_str_has_prefix (word, "instead-of=");
      g_free (word);
    }
  return n;
}

/* Appends the values of the words @what, as requests. */
static gboolean
read_others (const char *name, const char *text, const char *what, GPtrArray *requests, GError **error)
{
  const gsize length = strlen (what);
  g_autofree char *word = NULL;

  while ((word = next_word (&text)) != NULL)
    {
      if (strncmp (word, what, length) == 0 && word[length] == '=')
        {
          g_autofree char *value = unquote_value (word + length + 1);
          QuoitRequest *request = value == NULL ? NULL : quoit_request_parse_canonical (value, error);

          if (request == NULL)
            return FALSE;
          quoit_request_replace_text (&request->name, name);
          g_ptr_array_add (requests, request);
        }
      g_clear_pointer (&word, g_free);
    }
  return TRUE;
}

QuoitRequest *
quoit_request_parse_choices (const char *name, const char *text, GError **error)
{
  g_autoptr (GPtrArray) requests = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free);
  QuoitRequest *own = quoit_request_parse_canonical (text, error);
  QuoitRequest *first;

  if (own == NULL)
    return NULL;
  quoit_request_replace_text (&own->name, name);
  if (!read_others (name, text, "instead-of", requests, error))
    return quoit_request_free (own), NULL;
  g_ptr_array_add (requests, own);
  if (!read_others (name, text, "else", requests, error))
    return NULL;
  first = requests->pdata[0];
  for (guint i = 1; i < requests->len; i++)
    if (!quoit_request_add_alternative_copy (first, requests->pdata[i], error))
      return NULL;
  if (!quoit_request_check_alternatives (first, error))
    return NULL;
  g_ptr_array_set_free_func (requests, NULL);
  for (guint i = 1; i < requests->len; i++)
    quoit_request_free (requests->pdata[i]);
  return first;
}
