/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bundles of a placement group from JSON or YAML: the arguments of Ray's placement_group(). */
#pragma once

#include "fleet/claims.h"

typedef struct {
  guint16 n_takes;
  const QuoitResource *takes; /* n_takes, sorted by name */
  const QuoitPair *selectors; /* n_selectors */
  guint n_selectors;
} QuoitFileBundle;

typedef struct {
  const QuoitFileBundle *bundles;
  guint n_bundles;
  const char *strategy;       /* NULL: not stated */
  const char *topology_label; /* NULL: none */
} QuoitBundlesFile;

enum { QUOIT_FILE_MOST_BUNDLES = 10000 };

/* Receives the file that was read, which is valid only during the call. */
typedef gboolean (*QuoitBundlesTaker) (const QuoitBundlesFile *file, gpointer data, GError **error);

/* Reads a list of bundles, where each bundle is a map of amounts, or a map with these arguments of
   placement_group(): bundles, strategy, bundle_label_selector, topology_strategy. Calls @take with the result and
   returns its return value. Amounts are what Ray counts; amounts of 0 are left out. Anything else is INVALID, and
   the message has the place. */
gboolean quoit_read_bundles (const char *text, gsize length, QuoitBundlesTaker take, gpointer data, GError **error);
