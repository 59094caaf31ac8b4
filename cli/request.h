/* SPDX-License-Identifier: Apache-2.0 */
/* The options that describe a request, for reserve, hold, fits and explain. */
#pragma once

#include <quoit/quoit.h>

/* The options for bundles; see request-bundles.c. */
typedef struct {
  char **bundles, **selectors;
  char *file, *strategy, *policy, *label, *values, *soft_target;
} BundleOptions;

typedef struct {
  char *accelerator, *topology, *slices, *chips_per_host, *tpu_per_bundle, *key, *owner, *pool, *zone, *from, *until,
      *lease, *expected, *wait_for, *priority, *cut, *cubes, *place, *keep_to, *spread, *max_skew, *min_domains, *near;
  char **selectors, **named_slices, **excluded_slices, **excluded_nodes, **labels;
  gboolean wraps, twists, dry_run;
  gboolean has_else; /* --else and --with are parsed before: see request-parts.h */
  char *with;
  BundleOptions bundle_options;
} RequestOptions;

void request_options_clear (RequestOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RequestOptions, request_options_clear)

/* Return the options for session_parse(); g_free() them. All have --label, --lease and --expect. The options for
 * reserve and hold include --dry-run and --priority, and those for reserve also --from and --until. */
GOptionEntry *request_entries (RequestOptions *options);
GOptionEntry *request_entries_for_reserve (RequestOptions *options);
GOptionEntry *request_entries_for_hold (RequestOptions *options);
/* Return the options that can follow --with and --else. --dry-run is one of them, because people add it at the end. */
GOptionEntry *request_entries_for_member (RequestOptions *options);
GOptionEntry *request_entries_for_alternative (RequestOptions *options);

/* Parses --priority. */
bool request_parse_priority (const char *text, int32_t *priority, GError **error);

/* Parses --cut (NULL: @none) and --wrap. */
bool request_parse_cut (const char *text, gboolean wraps, QuoitCut none, QuoitCut *cut, GError **error);

/* Parses --cubes. */
bool request_parse_cubes (const char *text, QuoitCubes *cubes, GError **error);

/* Parses --label: "KEY=VALUE". g_free() the key. */
bool request_parse_label (const char *text, char **key, const char **value, GError **error);

/* Parses --slices: "2" or "1..2". */
bool request_set_slices (QuoitRequest *request, const char *text, GError **error);
/* Builds the request that the options describe. quoit_request_free() it. */
QuoitRequest *request_build (const RequestOptions *options, const char *name, GError **error);
/* Like request_build(), and sets the lease that the options give. */
QuoitRequest *request_build_with_lease (const RequestOptions *options, const char *name, GError **error);

/* Whether none of the options is given. */
bool request_is_empty (const RequestOptions *options);

/* Whether --bundle or --bundles is given. */
bool request_has_bundles (const BundleOptions *options);
bool request_set_bundles (QuoitRequest *request, const BundleOptions *options, GError **error);
void bundle_options_clear (BundleOptions *options);
