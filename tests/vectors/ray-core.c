/* SPDX-License-Identifier: Apache-2.0 */
#include "runner.h"

#include "base/amount.h"

static JsonNode *
fixed_point (JsonNode *in, GError **error)
{
  QuoitAmount amount;

  if (!JSON_NODE_HOLDS_VALUE (in)
      || (json_node_get_value_type (in) != G_TYPE_INT64 && json_node_get_value_type (in) != G_TYPE_DOUBLE))
    return vector_skip (error, "Python only: another type where C takes a number"), NULL;
  if (!quoit_amount_from_double (json_node_get_double (in), &amount, error))
    return NULL;

  return vector_node_of_integer (amount.e4);
}

static const VectorOp ops[] = {
  { "fixed_point", fixed_point, VECTOR_ANY_ORDER },
  { NULL, NULL, VECTOR_ANY_ORDER },
};

static const VectorOp *const tables[] = { ops, vector_ops_ray_core_labels, NULL };

const VectorSuite vector_suite_ray_core = { "ray-core", tables };
