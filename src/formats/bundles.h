/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a placement group from JSON or YAML: the arguments of Ray's placement_group(). */
#pragma once

#include "fleet/claims.h"

/* One bundle of the file. */
typedef struct {
  guint16 n_takes;
  const QuoitResource *takes; /* the amounts that the bundle takes, sorted by name */
  const QuoitPair *selectors; /* label selectors: key and value */
  guint n_selectors;
} QuoitFileBundle;

/* The whole file. */
typedef struct {
  const QuoitFileBundle *bundles;
  guint n_bundles;
  const char *strategy;       /* NULL: not stated */
  const char *topology_label; /* NULL: none */
} QuoitBundlesFile;

enum { QUOIT_FILE_MOST_BUNDLES = 10000 };

/* Called with the file that was read. @file is valid only during the call. */
typedef gboolean (*QuoitBundlesFunc) (const QuoitBundlesFile *file, gpointer data, GError **error);

/* Reads @text, which is either a list of bundles (each bundle a map of amounts), or a map with these arguments of
   placement_group(): bundles, strategy, bundle_label_selector, topology_strategy. Calls @function with the result, and
   returns what @function returns. Amounts are rounded as Ray rounds them, and amounts of 0 are left out. Any other text
   is INVALID, and the message has the place. */
gboolean quoit_read_bundles (const char *text, gsize length, QuoitBundlesFunc function, gpointer data, GError **error);
