/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_BUNDLES_H
#define QUOIT_BUNDLES_H

#include <quoit/request.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitStrategy:
 *
 * How the bundles of a placement group stand to each other: Ray's four strategies, with Ray's numbers.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_STRATEGY_PACK = 0,         /* on few nodes */
  QUOIT_STRATEGY_SPREAD = 1,       /* on many nodes */
  QUOIT_STRATEGY_STRICT_PACK = 2,  /* all on one node */
  QUOIT_STRATEGY_STRICT_SPREAD = 3 /* each on another node */
} QuoitStrategy;

/**
 * QuoitPolicy:
 *
 * Who decides where bundles go.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_POLICY_BEST = 0, /* quoit: a placement whenever there is one */
  QUOIT_POLICY_RAY = 1   /* what Ray 2.60's control plane answers */
} QuoitPolicy;

/* cdef-end */

G_END_DECLS

#endif
