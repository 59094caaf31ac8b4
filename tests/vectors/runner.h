/* SPDX-License-Identifier: Apache-2.0 */
/* The vector runner passes the inputs of recorded rows to C functions and compares the answers. A suite is a file
   with a table of ops; new suites go into the list in run.c. */
#pragma once

#include <json-glib/json-glib.h>
#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-tpu.h>

#include "base/error.h"

/* Answers a row. Returns a node that must equal "out" (transfer full), or NULL with an error. The runner compares a
   QUOIT_ERROR with the class in "err"; a VECTOR_SKIP is the reason why C cannot express the row. */
typedef JsonNode *(*VectorFunction) (JsonNode *in, GError **error);

typedef enum {
  VECTOR_ANY_ORDER = 0, /* members of objects in any order */
  VECTOR_SAME_ORDER,
  VECTOR_REFUSALS /* like VECTOR_ANY_ORDER, and "out" is or contains the system's own refusal message */
} VectorOrder;

typedef struct {
  const char *op;
  VectorFunction answer;
  VectorOrder order;
} VectorOp;

typedef struct {
  const char *suite;
  const VectorOp *const *tables; /* ends with NULL; each table ends with a NULL op */
} VectorSuite;

/* Tables of suites that have too many ops for one file. */
extern const VectorOp vector_ops_ray_core_labels[], vector_ops_ray_groups[], vector_ops_ray_nodes[],
    vector_ops_ray_slices[], vector_ops_ray_subslice_search[], vector_ops_ray_subslices[], vector_ops_ray_tpu_host[],
    vector_ops_ray_tpu_labels[], vector_ops_ray_train[], vector_ops_ray_train_runs[], vector_ops_webhook_http[];

extern const VectorSuite vector_suite_cluster_env, vector_suite_kuberay, vector_suite_lws, vector_suite_maxtext,
    vector_suite_mesh, vector_suite_packing, vector_suite_placement, vector_suite_placement_seq, vector_suite_ray_core,
    vector_suite_ray_tpu, vector_suite_ray_train_env, vector_suite_webhook;

#define VECTOR_SKIP (vector_skip_quark ())
GQuark vector_skip_quark (void);

/* Sets @error to a skip with @reason and returns FALSE. The runner counts rows by reason, so @reason must not
   contain values. */
gboolean vector_skip (GError **error, const char *reason);

/* Returns the object @in, or NULL with a skip if @in is not an object or has a member that is not in @members, which
   ends with NULL. */
JsonObject *vector_object (JsonNode *in, const char *const *members, GError **error);

/* Sets @text to NULL if the member is absent or null. FALSE with a skip if it is not a text. */
gboolean vector_text (JsonObject *object, const char *member, const char **text, GError **error);

/* Sets @given to @value, or to NULL if the member is absent or null. FALSE with a skip if it is not an integer. */
gboolean vector_integer (JsonObject *object, const char *member, gint64 *value, const gint64 **given, GError **error);

/* Sets @resources to NULL if the member is absent or null. FALSE with a skip if it is not an object of amounts. */
gboolean vector_resources (JsonObject *object, const char *member, QuoitRayResources **resources, GError **error);

JsonArray *vector_array_of_texts (const char *const *texts);

JsonObject *vector_object_of_resources (const QuoitRayResources *resources);

/* Whether the recorded "out" of the row of @in is an object with @member. Some ops have more than one form of answer.
 */
gboolean vector_has_recorded_member (JsonNode *in, const char *member);

/* Removes the members of @answer that the row of @in does not record. Rows of one op record more or fewer members. */
void vector_keep_recorded (JsonNode *in, JsonObject *answer);

/* Sets @labels to the labels of an object with text or null values, or to NULL if @node is absent or null. FALSE
   with a skip otherwise. */
gboolean vector_labels (JsonNode *node, QuoitRayLabels **labels, GError **error);
JsonObject *vector_object_of_labels (const QuoitRayLabels *labels);

/* Appends the text "NAME=value" to @pairs, which owns it. Appends nothing if @value is null. FALSE with a skip if
   @value is neither a text nor an integer. */
gboolean vector_pair (GPtrArray *pairs, const char *name, JsonNode *value, GError **error);
/* Calls vector_pair() for every member of the object @node. Appends nothing if @node is absent or null. */
gboolean vector_pairs (GPtrArray *pairs, JsonNode *node, GError **error);

/* The message of @refused as {"error": CLASS, "message": ...}, the form that VECTOR_REFUSALS compares. Takes
   @refused. */
JsonObject *vector_object_of_refusal (GError *refused);

JsonNode *vector_null_node (void);
/* The recorded "out" of the row of @in, for ops with several right answers. NULL if the row records an error. */
JsonNode *vector_recorded (JsonNode *in);

/* FALSE if @node, which may be NULL, is not a number. Booleans count as numbers, like in Python. */
gboolean vector_number (JsonNode *node, double *number);
JsonNode *vector_node_of_text (char *text); /* takes @text */
JsonNode *vector_node_of_integer (gint64 value);
JsonNode *vector_node_of_env (char **env); /* takes "NAME=value" texts, makes an object */
