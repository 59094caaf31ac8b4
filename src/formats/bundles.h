/* SPDX-License-Identifier: Apache-2.0 */
/* The bundles of a placement group, as a file has them: what Ray's placement_group() is given, in JSON or YAML. */
#pragma once

#include "fleet/claims.h"

typedef struct {
  guint16 n_takes;
  const QuoitResource *takes; /* by name */
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

/* Who is told what was read; it is valid during the call. */
typedef gboolean (*QuoitBundlesTaker) (const QuoitBundlesFile *file, gpointer data, GError **error);

/* A list of bundles, each a map of amounts; or a map with the arguments of placement_group() that say where bundles go:
 * bundles, strategy, bundle_label_selector, topology_strategy. INVALID, with the place, for anything else. Amounts are
 * what Ray counts of them; those of nothing are left out. */
gboolean quoit_read_bundles (const char *text, gsize length, QuoitBundlesTaker take, gpointer data, GError **error);
