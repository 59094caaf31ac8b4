/* SPDX-License-Identifier: Apache-2.0 */
/* Names, NAME@ID, and the canonical text of a request. A request can be read back from its canonical text, so two
 * requests with one text are equal. */
#include <string.h>

#include "fuzz.h"
#include "ledger/ledger.h"
#include "placement/request.h"

static void
require_reference (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL, *label = NULL, *again = NULL;
  QuoitGroupRef ref = { NULL, 77 }, back;
  gboolean ok = quoit_group_ref_parse (text, &ref, &name, &error);

  fuzz_require_error (ok, error);
  if (!ok)
    {
      g_assert (name == NULL && ref.name == NULL && ref.id == 77);
      return;
    }
  g_assert (ref.name == name && g_str_has_prefix (text, name));
  if (ref.id == 0)
    return;
  label = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, name, ref.id);
  g_assert (quoit_group_ref_parse (label, &back, &again, NULL));
  g_assert (strcmp (again, name) == 0 && back.id == ref.id);
}

static void
require_name (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *label = g_strconcat (text, "@17", NULL), *name = NULL;
  QuoitGroupRef ref;
  gboolean ok = quoit_name_check ("group name", text, &error);

  fuzz_require_error (ok, error);
  if (!ok)
    return;
  g_assert (*text != '\0' && strlen (text) <= 253 && fuzz_can_be_shown (text) && strpbrk (text, "@/") == NULL);
  g_assert (quoit_group_ref_parse (label, &ref, &name, NULL));
  g_assert (strcmp (name, text) == 0 && ref.id == 17);
}

/* --- the canonical text --- */

static void
add_slice_name (FuzzInput *in, QuoitRequest *request, GPtrArray *names)
{
  g_autofree char *name = fuzz_text (in);

  quoit_request_add_slice_name (request, names, name);
}

/* An input that ends here has none. */
static void
read_places (FuzzInput *in, QuoitRequest *request)
{
  guint8 places = fuzz_byte (in);
  g_autofree char *group = (places & 4) != 0 ? fuzz_text (in) : NULL;

  g_assert (quoit_request_set_keep_to (request, (QuoitDomain) (places % 4 % 3), NULL));
  if (request->keep_to == QUOIT_DOMAIN_NONE && (places & 8) != 0)
    g_assert (quoit_request_set_spread (request, QUOIT_DOMAIN_ZONE, 1 + (places >> 4), 1 + (places >> 6), NULL));
  if (group != NULL)
    quoit_request_set_near_group (request, group, NULL);
  for (guint i = 0; i < (places >> 6 & 3); i++)
    add_slice_name (in, request, request->excluded_nodes);
}

static QuoitRequest *
read_request (FuzzInput *in)
{
  QuoitRequest *request = quoit_request_alloc ();
  guint8 parts = fuzz_byte (in);

  request->generation = QUOIT_GENERATION_V6E;
  request->shape = (QuoitShape) { { 2, 4, 1 }, 2 };
  request->n_slices = 1 + fuzz_byte (in);
  request->pool = parts & 1 ? fuzz_text (in) : NULL;
  request->zone = parts & 2 ? fuzz_text (in) : NULL;
  for (guint i = 0; i < (parts >> 2 & 3); i++)
    {
      g_autofree char *key = fuzz_text (in), *value = fuzz_text (in);
      QuoitSelector *selector = quoit_selector_new (key, value, NULL);

      if (selector != NULL)
        g_ptr_array_add (request->selectors, selector);
    }
  for (guint i = 0; i < (parts >> 4 & 3); i++)
    add_slice_name (in, request, request->slices);
  for (guint i = 0; i < (parts >> 6 & 3); i++)
    add_slice_name (in, request, request->excluded);
  read_places (in, request);
  if (!quoit_request_has_domains (request) && request->near == NULL)
    request->cut = (QuoitCut) (fuzz_byte (in) % QUOIT_CUT_PARTITION); /* v6e has no cubes */
  if (!quoit_request_has_domains (request) && request->near == NULL && request->cut == QUOIT_CUT_WHOLE)
    request->cubes = (QuoitCubes) (fuzz_byte (in) % (QUOIT_CUBES_ADJACENT + 1));
  if (request->cubes != QUOIT_CUBES_NONE)
    {
      request->generation = QUOIT_GENERATION_V5P;
      request->shape = (QuoitShape) { { 4, 4, 8 }, 3 };
    }
  if (quoit_request_makes_slices (request))
    request->place = (QuoitPlacePolicy) (fuzz_byte (in) % (QUOIT_PLACE_SPREAD + 1));
  return request;
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
add (GPtrArray *facts, const char *what, const char *value)
{
  if (value != NULL)
    g_ptr_array_add (facts, g_strconcat (what, "=", value, NULL));
}

/* "pool=a", "select=k=v"... sorted by bytes. */
static GPtrArray *
facts_of (const QuoitRequest *request)
{
  GPtrArray *facts = g_ptr_array_new_with_free_func (g_free);

  add (facts, "pool", request->pool);
  add (facts, "zone", request->zone);
  for (guint i = 0; i < request->selectors->len; i++)
    {
      const QuoitSelector *selector = request->selectors->pdata[i];
      g_autofree char *text = g_strconcat (quoit_selector_key (selector), "=", quoit_selector_value (selector), NULL);

      add (facts, "select", text);
    }
  for (guint i = 0; i < request->slices->len; i++)
    add (facts, "slice", request->slices->pdata[i]);
  for (guint i = 0; i < request->excluded->len; i++)
    add (facts, "exclude-slice", request->excluded->pdata[i]);
  for (guint i = 0; i < request->excluded_nodes->len; i++)
    add (facts, "exclude-node", request->excluded_nodes->pdata[i]);
  if (request->cut != QUOIT_CUT_WHOLE)
    add (facts, "cut", quoit_cut_name (request->cut));
  if (request->cubes != QUOIT_CUBES_NONE)
    add (facts, "cubes", quoit_cubes_name (request->cubes));
  if (request->place != QUOIT_PLACE_BEST)
    add (facts, "place", quoit_place_policy_name (request->place));
  if (request->keep_to != QUOIT_DOMAIN_NONE)
    add (facts, "keep-to", quoit_domain_name (request->keep_to));
  if (request->spread_over != QUOIT_DOMAIN_NONE)
    {
      g_autofree char *max_skew = g_strdup_printf ("%u", request->max_skew);
      g_autofree char *min_domains = g_strdup_printf ("%u", request->min_domains);

      add (facts, "spread", quoit_domain_name (request->spread_over));
      add (facts, "max-skew", max_skew);
      add (facts, "min-domains", min_domains);
    }
  add (facts, "near", request->near);
  g_ptr_array_sort (facts, by_text);
  return facts;
}

/* Reads one " name=value" or " name=\"value\"" at @at; returns its end. */
static const char *
read_fact (const char *at, GPtrArray *facts)
{
  const char *equals = strchr (at, '=');
  g_autofree char *what = NULL, *value = NULL, *escaped = NULL;
  gsize length = 0;

  g_assert (*at == ' ' && equals != NULL);
  what = g_strndup (at + 1, (gsize) (equals - at - 1));
  at = equals + 1;
  if (*at != '"')
    {
      length = strcspn (at, " ");
      value = g_strndup (at, length);
      add (facts, what, value);
      return at + length;
    }
  for (at++; at[length] != '"'; length += at[length] == '\\' ? 2 : 1)
    g_assert (at[length] != '\0');
  escaped = g_strndup (at, length);
  value = g_strcompress (escaped);
  add (facts, what, value);
  return at + length + 1;
}

static void
require_canonical (const QuoitRequest *request)
{
  g_autofree char *text = quoit_request_format_canonical (request);
  g_autofree char *head = request->cubes != QUOIT_CUBES_NONE
                              ? g_strdup_printf ("v5p 4x4x8 x %u hostchips=4", request->n_slices)
                              : g_strdup_printf ("v6e 2x4 x %u%s", request->n_slices,
                                                 request->cut == QUOIT_CUT_WHOLE ? " hostchips=8" : "");
  g_autoptr (GPtrArray) stated = facts_of (request), read = g_ptr_array_new_with_free_func (g_free);

  g_assert (g_str_has_prefix (text, head));
  for (const char *at = text + strlen (head); *at != '\0';)
    at = read_fact (at, read);
  g_ptr_array_sort (read, by_text);
  g_assert (read->len == stated->len);
  for (guint i = 0; i < read->len; i++)
    g_assert (strcmp (read->pdata[i], stated->pdata[i]) == 0);
}

/* Parsing a text and writing it gives the canonical text, without duplicates and other spellings. Parsing and writing
 * the canonical text does not change it. */
static void
require_read_back (const char *text)
{
  g_autoptr (GError) error = NULL;
  QuoitRequest *request = quoit_request_parse_canonical (text, &error), *again;
  g_autofree char *once = NULL, *twice = NULL;

  fuzz_require_error (request != NULL, error);
  if (request == NULL)
    return;
  once = quoit_request_format_canonical (request);
  again = quoit_request_parse_canonical (once, NULL);
  g_assert (again != NULL && again->bundles->len == request->bundles->len);
  twice = quoit_request_format_canonical (again);
  g_assert (strcmp (once, twice) == 0);
  quoit_request_free (request);
  quoit_request_free (again);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *name = fuzz_text (&in);
  QuoitRequest *request = read_request (&in);

  require_reference (name);
  require_name (name);
  require_canonical (request);
  require_read_back (name);
  quoit_request_free (request);
  return 0;
}
