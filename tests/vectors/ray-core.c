/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include <quoit/models/ray-host.h>

static JsonNode *
fixed_point (JsonNode *in, GError **error)
{
  if (!JSON_NODE_HOLDS_VALUE (in)
      || (json_node_get_value_type (in) != G_TYPE_INT64 && json_node_get_value_type (in) != G_TYPE_DOUBLE))
    return vector_skip (error, "Python only: another type where C takes a number"), NULL;

  return vector_node_of_integer (quoit_ray_amount_to_ten_thousandths (json_node_get_double (in)));
}

static const VectorOp ops[] = {
  { "fixed_point", fixed_point, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, vector_ops_ray_core_labels, vector_ops_ray_groups, NULL };

const VectorSuite vector_suite_ray_core = { "ray-core", tables };
