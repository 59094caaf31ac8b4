/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's names of strategies, and of the resources of placement groups. */
#pragma once

#include <quoit/request.h>

#include "base/error.h"

/* The number of hexadecimal digits of the ids of nodes and of placement groups. */
enum { QUOIT_RAY_NODE_DIGITS = 56, QUOIT_RAY_GROUP_DIGITS = 36 };

/* Returns whether @text consists of exactly @length hexadecimal digits. */
gboolean quoit_ray_is_hex (const char *text, gsize length);

/* For messages about a strategy that is missing or unknown. */
#define QUOIT_STRATEGY_NAMES "PACK, SPREAD, STRICT_PACK or STRICT_SPREAD"

/* quoit_strategy_name() returns Ray's name, such as "STRICT_SPREAD", or NULL for an unknown strategy. */
const char *quoit_strategy_name (QuoitStrategy strategy);
/* Fails with INVALID. */
gboolean quoit_strategy_parse (const char *text, QuoitStrategy *strategy, GError **error);
/* Like quoit_strategy_parse(), but returns FALSE without an error if @text is not a strategy. */
gboolean quoit_strategy_find (const char *text, QuoitStrategy *strategy);
/* Fails with INVALID if @strategy is not a value of the enumeration. */
gboolean quoit_strategy_check (QuoitStrategy strategy, GError **error);

/* Return the names of the resources by which Ray assigns work to a bundle, or to any bundle, of a placement group:
 * "CPU_group_0_<id>", "CPU_group_<id>". The caller owns the result. Fail with INVALID if @resource is empty or
 * @group_id is not an id. */
char *quoit_ray_bundle_resource (const char *resource, const char *group_id, guint32 bundle, GError **error);
char *quoit_ray_group_resource (const char *resource, const char *group_id, GError **error);
