/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <string.h>

#include "text.h"

void
request_options_clear (RequestOptions *options)
{
  g_free (options->accelerator);
  g_free (options->topology);
  g_free (options->slices);
  g_free (options->chips_per_host);
  g_free (options->tpu_per_bundle);
  g_free (options->from);
  g_free (options->until);
  g_free (options->lease);
  g_free (options->wait_for);
  g_free (options->expected);
  g_free (options->priority);
  g_free (options->key);
  g_free (options->owner);
  g_free (options->pool);
  g_free (options->zone);
  g_strfreev (options->selectors);
  g_strfreev (options->named_slices);
  g_strfreev (options->excluded_slices);
  g_strfreev (options->excluded_nodes);
  g_free (options->cut);
  g_free (options->cubes);
  g_free (options->place);
  g_free (options->keep_to);
  g_free (options->spread);
  g_free (options->max_skew);
  g_free (options->min_domains);
  g_free (options->near);
  g_strfreev (options->labels);
  g_free (options->with);
  bundle_options_clear (&options->bundle_options);
}

/* All options, of which each verb has a part. */
static GOptionEntry *
all_entries (RequestOptions *o)
{
  BundleOptions *b = &o->bundle_options;
  const GOptionEntry entries[] = {
    { "dry-run", 0, 0, G_OPTION_ARG_NONE, &o->dry_run, "report what would be reserved, without reserving it", NULL },
    { "wait-for", 0, 0, G_OPTION_ARG_FILENAME, &o->wait_for,
      "if the request does not fit now: wait so long for changes, for example 10m", "TIME" },
    { "from", 0, 0, G_OPTION_ARG_FILENAME, &o->from,
      "reserve ahead: the group begins at this time, for example 2026-05-01T09:30:00Z", "TIME" },
    { "until", 0, 0, G_OPTION_ARG_FILENAME, &o->until,
      "with --from: the time when the group ends (when it is released)", "TIME" },
    { "lease", 0, 0, G_OPTION_ARG_FILENAME, &o->lease,
      "the group ends after this time unless it is renewed, for example 10s", "TIME" },
    { "expect", 0, 0, G_OPTION_ARG_FILENAME, &o->expected, "how long the job is expected to run, for example 2h",
      "TIME" },
    { "priority", 0, 0, G_OPTION_ARG_FILENAME, &o->priority, "a greater number is more important (0)", "N" },
    { "label", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->labels, "a label of the group; repeat the option for several",
      "KEY=VALUE" },
    { "accelerator", 0, 0, G_OPTION_ARG_FILENAME, &o->accelerator,
      "TPU generation of the slices, in any system's spelling; required for slices", "GEN" },
    { "topology", 0, 0, G_OPTION_ARG_FILENAME, &o->topology, "topology of each slice, such as 4x4; required for slices",
      "SHAPE" },
    { "slices", 0, 0, G_OPTION_ARG_FILENAME, &o->slices,
      "number of slices, all or none; 1..2: as many as possible; required without bundles", "N" },
    { "chips-per-host", 0, 0, G_OPTION_ARG_FILENAME, &o->chips_per_host, "1, 2, 4 or 8 (Ray's default)", "N" },
    { "tpu-per-bundle", 0, 0, G_OPTION_ARG_FILENAME, &o->tpu_per_bundle,
      "divide each host into bundles of this amount of TPU, such as 1 or 0.5", "AMOUNT" },
    { "bundle", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &b->bundles,
      "request a bundle instead of slices: TPU=4,CPU=8, or several equal ones: 4x{TPU=4}", "AMOUNTS" },
    { "bundles", 0, 0, G_OPTION_ARG_FILENAME, &b->file,
      "read the bundles from a file, in the form of Ray's placement_group()", "FILE" },
    { "strategy", 0, 0, G_OPTION_ARG_FILENAME, &b->strategy,
      "strategy for bundles: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD (PACK)", "STRATEGY" },
    { "bundle-select", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &b->selectors,
      "place bundle 0, or bundles 0-3, only on nodes with a matching label", "BUNDLES:KEY=VALUE" },
    { "topology-label", 0, 0, G_OPTION_ARG_FILENAME, &b->label,
      "place all bundles on nodes with one value of this label", "KEY" },
    { "topology-values", 0, 0, G_OPTION_ARG_FILENAME, &b->values,
      "divide the bundles, in order, over this number of values of the label (1)", "N" },
    { "soft-target", 0, 0, G_OPTION_ARG_FILENAME, &b->soft_target, "the preferred node of STRICT_PACK", "NODE" },
    { "policy", 0, 0, G_OPTION_ARG_FILENAME, &b->policy,
      "policy for bundles: best, or ray to place them like Ray (best)", "POLICY" },
    { "key", 0, 0, G_OPTION_ARG_FILENAME, &o->key, "request key: a retry returns the same group", "KEY" },
    { "owner", 0, 0, G_OPTION_ARG_FILENAME, &o->owner, "the owner of the group", "NAME" },
    { "pool", 0, 0, G_OPTION_ARG_FILENAME, &o->pool, "use only this pool: POOL or SOURCE/POOL", "NAME" },
    { "zone", 0, 0, G_OPTION_ARG_FILENAME, &o->zone, "use only this availability zone", "NAME" },
    { "select", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->selectors,
      "use only nodes with a matching label, in Ray's syntax", "KEY=VALUE" },
    { "slice", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->named_slices,
      "use only this slice; repeat the option to allow several", "NAME" },
    { "exclude-slice", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->excluded_slices, "do not use this slice", "NAME" },
    { "exclude-node", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->excluded_nodes,
      "do not use this node or its slice; repeat the option for several", "NAME" },
    { "cut", 0, 0, G_OPTION_ARG_FILENAME, &o->cut,
      "cut the slices from larger ones: whole (default: no), aligned, any or partition", "HOW" },
    { "cubes", 0, 0, G_OPTION_ARG_FILENAME, &o->cubes, "join each slice from free cubes of one block: any, or adjacent",
      "WHICH" },
    { "twist", 0, 0, G_OPTION_ARG_NONE, &o->twists, "with --cubes any: wire the slices as twisted tori", NULL },
    { "place", 0, 0, G_OPTION_ARG_FILENAME, &o->place,
      "with --cut or --cubes: which places to use: best (default), first, pack or spread", "POLICY" },
    { "wrap", 0, 0, G_OPTION_ARG_NONE, &o->wraps, "with --cut any: also across wraparound links", NULL },
    { "keep-to", 0, 0, G_OPTION_ARG_FILENAME, &o->keep_to, "all slices in one pool, or in one zone: pool or zone",
      "DOMAIN" },
    { "spread", 0, 0, G_OPTION_ARG_FILENAME, &o->spread, "spread the slices evenly over pools or zones: pool or zone",
      "DOMAIN" },
    { "max-skew", 0, 0, G_OPTION_ARG_FILENAME, &o->max_skew,
      "with --spread: how many slices more than the one with the fewest a domain may have (1)", "N" },
    { "min-domains", 0, 0, G_OPTION_ARG_FILENAME, &o->min_domains,
      "with --spread: with fewer domains, each may have --max-skew slices (1)", "N" },
    { "near", 0, 0, G_OPTION_ARG_FILENAME, &o->near, "prefer slices in the pools, then in the zones, of this group",
      "GROUP" },
    { "else", 0, 0, G_OPTION_ARG_NONE, &o->has_else,
      "the options after it describe an alternative, if nothing before it fits", NULL },
    { "with", 0, 0, G_OPTION_ARG_FILENAME, &o->with,
      "the options after it describe another group; both are reserved, or none", "NAME" },
    G_OPTION_ENTRY_NULL,
  };

  return g_memdup2 (entries, sizeof entries);
}

/* Returns all options without those in @removed. */
static GOptionEntry *
entries_without (RequestOptions *options, const char *const *removed)
{
  GOptionEntry *entries = all_entries (options);
  guint n = 0;

  for (guint i = 0; entries[i].long_name != NULL; i++)
    if (!g_strv_contains (removed, entries[i].long_name))
      entries[n++] = entries[i];
  entries[n] = (GOptionEntry) G_OPTION_ENTRY_NULL;
  return entries;
}

GOptionEntry *
request_entries (RequestOptions *options)
{
  static const char *const removed[] = { "dry-run", "wait-for", "from", "until", "priority", "with", NULL };

  return entries_without (options, removed);
}

GOptionEntry *
request_entries_for_reserve (RequestOptions *options)
{
  return all_entries (options);
}

GOptionEntry *
request_entries_for_hold (RequestOptions *options)
{
  static const char *const removed[] = { "from", "until", "with", NULL };

  return entries_without (options, removed);
}

GOptionEntry *
request_entries_for_member (RequestOptions *options)
{
  static const char *const removed[] = { "wait-for", "from", "until", "else", "with", NULL };

  return entries_without (options, removed);
}

GOptionEntry *
request_entries_for_alternative (RequestOptions *options)
{
  static const char *const removed[]
      = { "wait-for", "from", "until", "lease", "priority", "label", "key", "owner", "else", "with", NULL };

  return entries_without (options, removed);
}

static bool
add_selector (QuoitRequest *request, const char *text, GError **error)
{
  const char *equals = strchr (text, '=');
  g_autofree char *key = NULL;

  if (equals == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--select '%s': expected KEY=VALUE", text);
      return false;
    }
  key = g_strndup (text, (gsize) (equals - text));
  return quoit_request_add_selector (request, key, equals + 1, error);
}

bool
request_set_slices (QuoitRequest *request, const char *text, GError **error)
{
  static const NumberRule rule = { "--slices", "1 to 1000000 slices, or a range such as 1..2", G_MININT64, G_MAXINT64 };
  const char *dots = strstr (text, "..");
  g_autofree char *first = dots == NULL ? NULL : g_strndup (text, (gsize) (dots - text));
  gint64 least, most;

  if (dots == NULL)
    return text_parse_number (text, &rule, &most, error) && quoit_request_set_slices (request, most, error);
  return text_parse_number (first, &rule, &least, error) && text_parse_number (dots + 2, &rule, &most, error)
         && quoit_request_set_slice_range (request, least, most, error);
}

static bool
set_numbers (QuoitRequest *request, const RequestOptions *options, GError **error)
{
  static const NumberRule chips = { "--chips-per-host", "1, 2, 4 or 8 chips", G_MININT64, G_MAXINT64 };
  gint64 number;

  if (options->slices != NULL && !request_set_slices (request, options->slices, error))
    return false;
  if (options->tpu_per_bundle != NULL && !quoit_request_set_tpu_per_bundle (request, options->tpu_per_bundle, error))
    return false;
  return options->chips_per_host == NULL
         || (text_parse_number (options->chips_per_host, &chips, &number, error)
             && quoit_request_set_chips_per_host (request, number, error));
}

bool
request_parse_priority (const char *text, int32_t *priority, GError **error)
{
  static const NumberRule rule = { "--priority", "-2147483648 to 2147483647", G_MININT32, G_MAXINT32 };
  gint64 number;

  if (!text_parse_number (text, &rule, &number, error))
    return false;
  *priority = (int32_t) number;
  return true;
}

bool
request_parse_label (const char *text, char **key, const char **value, GError **error)
{
  const char *equals = strchr (text, '=');

  if (equals == NULL)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--label '%s': expected KEY=VALUE", text);
      return false;
    }
  *key = g_strndup (text, (gsize) (equals - text));
  *value = equals + 1;
  return true;
}

static bool
set_labels (QuoitRequest *request, char *const *labels, GError **error)
{
  for (guint i = 0; labels != NULL && labels[i] != NULL; i++)
    {
      g_autofree char *key = NULL;
      const char *value;

      if (!request_parse_label (labels[i], &key, &value, error)
          || !quoit_request_set_label (request, key, value, error))
        return false;
    }
  return true;
}

static bool
set_estimates (QuoitRequest *request, const RequestOptions *options, GError **error)
{
  int32_t priority;
  gint64 number;

  if (options->expected != NULL
      && (!text_parse_duration (options->expected, "--expect", &number, error)
          || !quoit_request_set_expected_runtime_ms (request, number, error)))
    return false;
  if (options->priority == NULL)
    return true;
  if (!request_parse_priority (options->priority, &priority, error))
    return false;
  return quoit_request_set_priority (request, priority), true;
}

static bool
parse_domain (const char *option, const char *text, QuoitDomain *domain, GError **error)
{
  static const char *const words[] = { "pool", "zone" };
  guint word;

  if (!text_parse_word (text, option, words, G_N_ELEMENTS (words), &word, error))
    return false;
  *domain = word == 0 ? QUOIT_DOMAIN_POOL : QUOIT_DOMAIN_ZONE;
  return true;
}

static bool
set_spread (QuoitRequest *request, const RequestOptions *options, GError **error)
{
  static const NumberRule skew = { "--max-skew", "1 to 1000000", G_MININT64, G_MAXINT64 };
  static const NumberRule domains = { "--min-domains", "1 to 1000000", G_MININT64, G_MAXINT64 };
  gint64 max_skew = 1, min_domains = 1;
  QuoitDomain domain;

  if (options->spread == NULL)
    {
      if (options->max_skew == NULL && options->min_domains == NULL)
        return true;
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s: expected also --spread DOMAIN",
                   options->max_skew != NULL ? "--max-skew" : "--min-domains");
      return false;
    }
  return parse_domain ("--spread", options->spread, &domain, error)
         && (options->max_skew == NULL || text_parse_number (options->max_skew, &skew, &max_skew, error))
         && (options->min_domains == NULL || text_parse_number (options->min_domains, &domains, &min_domains, error))
         && quoit_request_spread_over (request, domain, max_skew, min_domains, error);
}

bool
request_parse_cut (const char *text, gboolean wraps, QuoitCut none, QuoitCut *cut, GError **error)
{
  static const QuoitCut cuts[] = { QUOIT_CUT_WHOLE, QUOIT_CUT_ALIGNED, QUOIT_CUT_ANY, QUOIT_CUT_PARTITION };
  static const char *const words[] = { "whole", "aligned", "any", "partition" };
  guint word = 0;

  *cut = none;
  if (text != NULL)
    {
      if (!text_parse_word (text, "--cut", words, G_N_ELEMENTS (words), &word, error))
        return false;
      *cut = cuts[word];
    }
  if (!wraps)
    return true;
  if (*cut != QUOIT_CUT_ANY)
    return text_refuse_usage (error, "--wrap: expected --cut any");
  *cut = QUOIT_CUT_ANY_OR_WRAPPED;
  return true;
}

bool
request_parse_cubes (const char *text, QuoitCubes *cubes, GError **error)
{
  static const QuoitCubes values[] = { QUOIT_CUBES_ANY, QUOIT_CUBES_ADJACENT };
  static const char *const words[] = { "any", "adjacent" };
  guint word;

  if (!text_parse_word (text, "--cubes", words, G_N_ELEMENTS (words), &word, error))
    return false;
  *cubes = values[word];
  return true;
}

static bool
set_cubes (QuoitRequest *request, const RequestOptions *options, GError **error)
{
  QuoitCubes chosen = QUOIT_CUBES_NONE;

  if (options->cubes != NULL && !request_parse_cubes (options->cubes, &chosen, error))
    return false;
  if (options->twists && chosen != QUOIT_CUBES_ANY)
    return text_refuse_usage (error, "--twist: expected --cubes any");
  return quoit_request_set_cubes (request, options->twists ? QUOIT_CUBES_ANY_TWISTED : chosen, error);
}

static bool
set_place (QuoitRequest *request, const char *text, GError **error)
{
  static const QuoitPlacePolicy policies[]
      = { QUOIT_PLACE_BEST, QUOIT_PLACE_FIRST, QUOIT_PLACE_PACK, QUOIT_PLACE_SPREAD };
  static const char *const words[] = { "best", "first", "pack", "spread" };
  guint word;

  return text == NULL
         || (text_parse_word (text, "--place", words, G_N_ELEMENTS (words), &word, error)
             && quoit_request_set_place (request, policies[word], error));
}

/* Sets what depends on the pools and zones of the slices. */
static bool
set_places (QuoitRequest *request, const RequestOptions *options, GError **error)
{
  QuoitDomain domain;
  QuoitCut cut;

  if (!request_parse_cut (options->cut, options->wraps, QUOIT_CUT_WHOLE, &cut, error)
      || !quoit_request_set_cut (request, cut, error) || !set_cubes (request, options, error)
      || !set_place (request, options->place, error))
    return false;
  for (char **n = options->excluded_nodes; n != NULL && *n != NULL; n++)
    quoit_request_exclude_node (request, *n);
  if (options->keep_to != NULL
      && (!parse_domain ("--keep-to", options->keep_to, &domain, error)
          || !quoit_request_keep_to (request, domain, error)))
    return false;
  return set_spread (request, options, error) && quoit_request_set_near (request, options->near, error);
}

static bool
set_options (QuoitRequest *request, const RequestOptions *options, GError **error)
{
  if (options->accelerator != NULL && !quoit_request_set_accelerator (request, options->accelerator, error))
    return false;
  if (options->topology != NULL && !quoit_request_set_topology (request, options->topology, error))
    return false;
  if (!set_numbers (request, options, error) || !request_set_bundles (request, &options->bundle_options, error))
    return false;
  for (char **s = options->selectors; s != NULL && *s != NULL; s++)
    if (!add_selector (request, *s, error))
      return false;

  if (!set_estimates (request, options, error) || !set_labels (request, options->labels, error)
      || !quoit_request_set_key (request, options->key, error)
      || !quoit_request_set_owner (request, options->owner, error))
    return false;
  quoit_request_set_pool (request, options->pool);
  quoit_request_set_zone (request, options->zone);
  for (char **s = options->named_slices; s != NULL && *s != NULL; s++)
    quoit_request_add_slice (request, *s);
  for (char **s = options->excluded_slices; s != NULL && *s != NULL; s++)
    quoit_request_exclude_slice (request, *s);
  return set_places (request, options, error);
}

/* Checks that the generation has the topology. The library would check this too, but only in a complete request, and
 * the user shall see this error before the one about missing options. */
static bool
check_topology (const RequestOptions *options, GError **error)
{
  const QuoitCatalogueGeneration *generation;

  if (options->accelerator == NULL || options->topology == NULL)
    return true;
  generation = quoit_catalogue_lookup_generation (options->accelerator, error);
  return generation != NULL && quoit_catalogue_lookup_topology (generation, options->topology, 0, error) != NULL;
}

static bool
check_required (const RequestOptions *options, GError **error)
{
  const struct {
    const char *given, *option;
  } required[] = {
    { options->accelerator, "--accelerator GEN" },
    { options->topology, "--topology SHAPE" },
    { options->slices, "--slices N" },
  };
  g_autoptr (GPtrArray) missing = g_ptr_array_new ();
  g_autofree char *list = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (required); i++)
    if (required[i].given == NULL)
      g_ptr_array_add (missing, (char *) required[i].option);
  if (missing->len == 0)
    return true;
  if (!check_topology (options, error))
    return false;

  g_ptr_array_add (missing, NULL);
  list = g_strjoinv (", ", (char **) missing->pdata);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected also %s", list);
  return false;
}

bool
request_is_empty (const RequestOptions *options)
{
  static const RequestOptions none;

  return memcmp (options, &none, sizeof none) == 0;
}

QuoitRequest *
request_build (const RequestOptions *options, const char *name, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, error);

  return request != NULL && set_options (request, options, error)
                 && (request_has_bundles (&options->bundle_options) || check_required (options, error))
             ? g_steal_pointer (&request)
             : NULL;
}

QuoitRequest *
request_build_with_lease (const RequestOptions *options, const char *name, GError **error)
{
  g_autoptr (QuoitRequest) request = NULL;
  gint64 lease_ms;

  if (options->lease == NULL)
    return request_build (options, name, error);
  if (!text_parse_duration (options->lease, "--lease", &lease_ms, error))
    return NULL;
  request = request_build (options, name, error);
  return request != NULL && quoit_request_set_lease_ms (request, lease_ms, error) ? g_steal_pointer (&request) : NULL;
}
