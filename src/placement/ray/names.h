/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's names of strategies, and of the resources of placement groups. */
#pragma once

#include <quoit/request.h>

#include "base/error.h"

enum { QUOIT_RAY_NODE_DIGITS = 56, QUOIT_RAY_GROUP_DIGITS = 36 }; /* length of their ids */

/* Whether @text consists of @length hexadecimal digits. */
gboolean quoit_ray_is_hex (const char *text, gsize length);

/* quoit_strategy_name() returns Ray's name, such as "STRICT_SPREAD", or NULL for an unknown strategy. */
const char *quoit_strategy_name (QuoitStrategy strategy);
gboolean quoit_strategy_parse (const char *text, QuoitStrategy *strategy);

/* Return a name that the caller owns. Fail with INVALID if the resource has no name or @group_id is not an id. */
char *quoit_ray_bundle_resource (const char *resource, const char *group_id, guint32 bundle, GError **error);
char *quoit_ray_group_resource (const char *resource, const char *group_id, GError **error);
