/* SPDX-License-Identifier: Apache-2.0 */
/* The vector runner: rows of recorded answers are given to C functions, and the answers are compared. A suite is a file
 * with a table of its ops; add it to the list in run.c. */
#pragma once

#include <json-glib/json-glib.h>
#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

#include "base/error.h"

/* Answers a row: a node that must equal "out" (transfer full), or NULL with an error: one of QUOIT_ERROR is compared
 * with the class in "err", one of VECTOR_SKIP says why C cannot express the row. */
typedef JsonNode *(*VectorFunction) (JsonNode *in, GError **error);

typedef enum {
  VECTOR_ANY_ORDER = 0, /* of the members of objects */
  VECTOR_SAME_ORDER,
  VECTOR_REFUSALS /* of any order; and "out" is, or has in it, what the system says of a refusal in its own words */
} VectorOrder;

typedef struct {
  const char *op;
  VectorFunction answer;
  VectorOrder order;
} VectorOp;

typedef struct {
  const char *suite;
  const VectorOp *const *tables; /* ends with NULL; each ends with an op of NULL */
} VectorSuite;

/* Tables of a suite that has too many ops for one file. */
extern const VectorOp vector_ops_ray_core_labels[], vector_ops_ray_groups[], vector_ops_ray_nodes[],
    vector_ops_ray_slices[], vector_ops_ray_subslice_search[], vector_ops_ray_subslices[], vector_ops_ray_tpu_host[],
    vector_ops_ray_tpu_labels[], vector_ops_ray_train[], vector_ops_ray_train_runs[], vector_ops_webhook_http[];

extern const VectorSuite vector_suite_cluster_env, vector_suite_kuberay, vector_suite_maxtext, vector_suite_mesh,
    vector_suite_placement, vector_suite_placement_seq, vector_suite_ray_core, vector_suite_ray_tpu,
    vector_suite_ray_train_env, vector_suite_webhook;

#define VECTOR_SKIP (vector_skip_quark ())
GQuark vector_skip_quark (void);

/* Sets @error to a skip with this reason, and returns FALSE. Rows are counted by reason: put no values into it. */
gboolean vector_skip (GError **error, const char *reason);

/* The object @in; a skip where it is none, or has a member that is not in @members, which ends with NULL. */
JsonObject *vector_object (JsonNode *in, const char *const *members, GError **error);

/* NULL for what is absent or null; a skip for what is no text. */
gboolean vector_text (JsonObject *object, const char *member, const char **text, GError **error);

/* @given is NULL for what is absent or null, else it points to @value; a skip for what is no integer. */
gboolean vector_integer (JsonObject *object, const char *member, gint64 *value, const gint64 **given, GError **error);

/* NULL for what is absent or null; a skip for what is no amounts. */
gboolean vector_resources (JsonObject *object, const char *member, QuoitRayResources **resources, GError **error);

JsonArray *vector_array_of_texts (const char *const *texts);

/* The members of @resources, in their order. */
JsonObject *vector_object_of_resources (const QuoitRayResources *resources);

/* Whether the row of @in recorded an object with @member: some ops have more than one form of answer. */
gboolean vector_records (JsonNode *in, const char *member);

/* Leaves in @answer what the row of @in recorded of it: rows of one op record more or less of the same answer. */
void vector_keep_recorded (JsonNode *in, JsonObject *answer);

/* Texts with texts or null; NULL for what is absent or null; a skip for what is neither. */
gboolean vector_labels (JsonNode *node, QuoitRayLabels **labels, GError **error);
JsonObject *vector_object_of_labels (const QuoitRayLabels *labels);

/* Adds "NAME=value" to @pairs, which frees it; nothing for null. A skip for what is no text and no integer. */
gboolean vector_pair (GPtrArray *pairs, const char *name, JsonNode *value, GError **error);
/* The same for every member; nothing for what is absent or null. */
gboolean vector_pairs (GPtrArray *pairs, JsonNode *node, GError **error);

/* What @refused says, as VECTOR_REFUSALS compares it with {"error": CLASS, "message": ...}; takes @refused. */
JsonObject *vector_object_of_refusal (GError *refused);

JsonNode *vector_node_of_nothing (void);
/* What was recorded of the row of @in: for an op of which several answers are right. NULL: an error was. */
JsonNode *vector_recorded (JsonNode *in);

/* FALSE for what is no number; a boolean is one for Python. @node may be NULL. */
gboolean vector_number (JsonNode *node, double *number);
JsonNode *vector_node_of_text (char *text); /* takes @text */
JsonNode *vector_node_of_integer (gint64 value);
JsonNode *vector_node_of_env (char **env); /* takes "NAME=value" texts, makes an object */
